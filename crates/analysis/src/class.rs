//! What a character is to the analyser.

/// The part a character plays in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Ends a word.
    Other,
    /// A letter that is not upper case; letters of scripts without case are among these.
    Lower,
    /// An upper-case letter.
    Upper,
    /// A digit or another numeric character.
    Digit,
    /// A combining mark: it belongs to the character before it.
    Mark,
    /// `_`: part of a word wherever it stands, left out of the terms.
    Underscore,
    /// A hyphen or an apostrophe: joins two words when it stands between them, left out of the terms.
    Joiner,
    /// `.`: joins two digits, and is kept in the terms (`2.4.1` must not become `241`).
    Dot,
    /// `+` and `#` at the end of a language's name (`c++`, `c#`), kept in the terms.
    Suffix,
    /// A character of a script that is indexed by character and bigram: Han, Hiragana, Katakana, Bopomofo.
    Cjk,
    /// A character of a script whose words are indexed whole and by bigram: Hangul, Thai, Lao, Khmer, Myanmar.
    Bigram,
    /// The first byte of a character outside ASCII, or a later one.
    High,
}

impl Class {
    /// The class as a set of one.
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }

    /// Whether the character is of one of the classes of a set.
    #[inline(always)]
    pub(crate) const fn is_in(self, set: u16) -> bool {
        self.bit() & set != 0
    }

    /// Whether the character makes a term by itself or with others.
    #[inline(always)]
    pub(crate) const fn is_alphanumeric(self) -> bool {
        matches!(self, Self::Lower | Self::Upper | Self::Digit)
    }

    /// Whether the character belongs to the words that are split by case, digit and `_`.
    #[inline(always)]
    pub(crate) const fn is_word(self) -> bool {
        const WORD: u16 =
            Class::Lower.bit() | Class::Upper.bit() | Class::Digit.bit() | Class::Underscore.bit();
        self.is_in(WORD)
    }

    /// Whether the character stands in the text but not in the terms.
    #[inline(always)]
    pub(crate) const fn is_silent(self) -> bool {
        matches!(self, Self::Underscore | Self::Joiner)
    }
}

/// The classes of the 256 byte values.
static BYTES: [Class; 256] = byte_classes();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler; every index is below 256")]
const fn byte_classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Underscore,
            b'-' | b'\'' => Class::Joiner,
            b'.' => Class::Dot,
            b'+' | b'#' => Class::Suffix,
            128..=255 => Class::High,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
}

/// The class of a byte of UTF-8.
#[inline(always)]
pub(crate) fn of_byte(byte: u8) -> Class {
    // The table has a value for every byte, so the fallback is never compiled in.
    BYTES.get(usize::from(byte)).copied().unwrap_or(Class::Other)
}

/// The class of a character that has gone through compatibility composition.
pub(crate) fn of_char(c: char) -> Class {
    if c.is_ascii() {
        return of_byte(c as u8);
    }
    match c {
        // The commonest first: the rest costs look-ups.
        '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{3096}' => Class::Cjk,
        'а'..='џ' | 'α'..='ω' | 'ß'..='ö' | 'ø'..='ÿ' => Class::Lower,
        'Ѐ'..='Я' | 'À'..='Ö' | 'Ø'..='Þ' => Class::Upper,
        '\u{2010}' | '\u{2011}' | '\u{2019}' => Class::Joiner,
        c if is_cjk(c) => Class::Cjk,
        c if unicode_normalization::char::is_combining_mark(c) => Class::Mark,
        c if is_bigram(c) => Class::Bigram,
        c if c.is_uppercase() => Class::Upper,
        c if c.is_numeric() => Class::Digit,
        c if c.is_alphabetic() => Class::Lower,
        _ => Class::Other,
    }
}

/// Han, Hiragana, Katakana and Bopomofo letters (Unicode's `Scripts.txt`, with the iteration and length marks that the
/// Japanese kana share).
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{2E80}'..='\u{2FDF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303C}'
        | '\u{3041}'..='\u{3096}'
        | '\u{309D}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FF}'
        | '\u{3105}'..='\u{312F}'
        | '\u{31A0}'..='\u{31BF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{1AFF0}'..='\u{1B16F}'
        | '\u{20000}'..='\u{3FFFD}')
}

/// Letters of Hangul, whose particles cling to the word, and of the scripts that set no space between words.
fn is_bigram(c: char) -> bool {
    matches!(c,
        '\u{AC00}'..='\u{D7A3}'
        | '\u{1100}'..='\u{11FF}'
        | '\u{A960}'..='\u{A97C}'
        | '\u{D7B0}'..='\u{D7FB}'
        | '\u{0E01}'..='\u{0E4E}'
        | '\u{0E81}'..='\u{0ECE}'
        | '\u{0EDC}'..='\u{0EDF}'
        | '\u{1000}'..='\u{103F}'
        | '\u{1050}'..='\u{108F}'
        | '\u{1780}'..='\u{17D3}')
        && c.is_alphabetic()
}

/// Whether the character never changes under folding, and never joins with the one before it: enough of the characters
/// of East Asian, Cyrillic and Greek text for the slow checks to be rare.
#[inline]
pub(crate) fn is_inert(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30A1}'..='\u{30FA}'
        | '\u{30FC}'..='\u{30FE}'
        | '\u{AC00}'..='\u{D7A3}'
        | '\u{3400}'..='\u{4DBF}'
        // Without those that lose an accent: ѐ, ё, ѓ, ќ, ѝ; and ς, which becomes σ.
        | 'а'..='я' | 'ђ' | 'є'..='ћ' | 'ў' | 'џ'
        | 'α'..='ρ' | 'σ'..='ω'
        | '\u{3001}' | '\u{3002}' | '\u{300C}' | '\u{300D}')
}

/// Whether the character must be normalised together with the one before it: marks, conjoining and compatibility Hangul
/// letters, the half-width voicing marks, and what is ignored anyway.
pub(crate) fn extends(c: char) -> bool {
    // No mark is in these: Latin before the soft hyphen and after it, Greek and Cyrillic, dashes and quotes.
    let bare =
        matches!(c, '\0'..='\u{AC}' | '\u{AE}'..='\u{2FF}' | '\u{370}'..='\u{482}' | '\u{2010}'..='\u{2027}');
    if bare || is_inert(c) {
        return false;
    }
    matches!(c,
        '\u{1160}'..='\u{11FF}'
        | '\u{3130}'..='\u{318F}'
        | '\u{D7B0}'..='\u{D7FF}'
        | '\u{FF9E}'..='\u{FFDC}')
        || unicode_normalization::char::is_combining_mark(c)
        || is_ignorable(c)
}

/// Characters without a shape of their own: `Default_Ignorable_Code_Point` of Unicode's `DerivedCoreProperties.txt`,
/// which `NFKC_Casefold` removes too. Zero-width spaces and joiners, the soft hyphen, direction marks and variation
/// selectors are among them.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{115F}'..='\u{1160}'
        | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FFF0}'..='\u{FFF8}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether the mark is an accent of the letter, which folding drops: on Latin, Greek and Cyrillic letters, and on ASCII
/// digits (keycaps). The breve of Cyrillic `й` and `ў` and the dots of `ї` make letters of their own, so they stay. In
/// other scripts a mark can carry a vowel or change the letter (dakuten, nukta).
pub(crate) fn is_accent(base: char, mark: char) -> bool {
    // The blocks of combining marks that belong to no other script, and the marks of Cyrillic.
    let is_general = matches!(mark,
        '\u{0300}'..='\u{036F}'
        | '\u{0483}'..='\u{0489}'
        | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE20}'..='\u{FE2F}');
    is_general
        && match base {
            'і' | 'І' => mark != '\u{0308}',
            '\u{0400}'..='\u{052F}' => mark != '\u{0306}',
            c if c.is_ascii() => c.is_ascii_alphanumeric(),
            '\u{00AA}'..='\u{02AF}'
            | '\u{0370}'..='\u{03FF}'
            | '\u{1C80}'..='\u{1C8F}'
            | '\u{1D00}'..='\u{1DBF}'
            | '\u{1E00}'..='\u{1FFF}'
            | '\u{2C60}'..='\u{2C7F}'
            | '\u{A640}'..='\u{A69F}'
            | '\u{A720}'..='\u{A7FF}'
            | '\u{AB30}'..='\u{AB6F}' => base.is_alphabetic(),
            _ => false,
        }
}
