//! Folding: which spellings count as the same.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds text for comparison: compatibility forms (NFKC, Unicode Standard Annex 15), lower case with `ß` as `ss`, and no
/// diacritics on Latin and Greek letters (of Cyrillic only stress and diaeresis, so that `ё` meets `е` but `й` stays apart
/// from `и`). Invisible characters vanish. Vowel signs of other scripts, kana voicing and Hangul stay.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if upper { text.to_ascii_lowercase().into() } else { text.into() };
    }
    let lower: String = normalize(text).filter(|c| !is_ignorable(*c)).flat_map(char::to_lowercase).collect();
    let mut base = ' ';
    let bare = lower.nfd().filter(|c| {
        if is_mark(*c) {
            return !is_dropped(base, *c);
        }
        base = *c;
        true
    });
    let bare: String = bare.collect();
    let mut folded = String::with_capacity(bare.len());
    for c in bare.nfc() {
        match c {
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            'ı' => folded.push('i'),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'đ' => folded.push('d'),
            'ł' => folded.push('l'),
            c => folded.push(c),
        }
    }
    folded.into()
}

/// Compatibility composition.
pub(super) fn normalize(text: &str) -> impl Iterator<Item = char> + '_ {
    text.nfkc()
}

/// Whether a mark on this base is spelling, not meaning.
fn is_dropped(base: char, mark: char) -> bool {
    let general = matches!(mark, '\u{300}'..='\u{36f}');
    match base {
        'a'..='z' | '\u{df}'..='\u{24f}' | '\u{250}'..='\u{2af}' | '\u{1e00}'..='\u{1eff}' => general,
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => general,
        '\u{400}'..='\u{52f}' => matches!(mark, '\u{300}' | '\u{301}' | '\u{308}'),
        _ => false,
    }
}

/// Combining marks of any script.
pub(super) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

/// Characters that nobody sees and that split nothing.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}')
}

/// Han, Hiragana, Katakana and Bopomofo: written without spaces between words.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{303b}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}' | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Hangul syllables and jamo.
pub(super) fn is_hangul(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}')
}
