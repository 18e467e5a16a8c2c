//! How text becomes the terms of the word index.
//!
//! One analysis serves both sides: what is indexed and what is asked. It needs no dictionary.
//!
//! - Text is folded ([`fold`]): compatibility forms, case, and the diacritics of Latin and Greek do not tell words apart.
//! - A run of letters, digits, marks and `_` is a word. It gives the whole word without its underscores, and the parts
//!   between underscores, case changes and digits: `parseHTTPRequest` and `parse_http_request` both give
//!   `parsehttprequest`, `parse`, `http` and `request`. Hyphens, dots and colons separate words.
//! - A run of Han, Hiragana or Katakana gives every character and every pair of neighbours; a run of Hangul gives the
//!   whole word and its pairs, so that a stem is found without its particle. On question-to-passage sets (CMRC 2018, DRCD)
//!   characters and pairs find more than dictionary segmentation does.
//! - A single letter before `++` or `#` also gives that name: `c++`, `c#`.
//! - Of a word longer than [`MAX_WORD`] bytes only the beginning is a term.
//!
//! Only terms and their frequencies are indexed, not their positions; a token's position and offsets say which word of the
//! text it came from.

mod fold;
#[cfg(test)]
mod tests;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

pub(crate) use self::fold::fold;
use self::fold::{is_cjk, is_hangul, is_ignorable, is_mark, normalize};

/// The longest term, in bytes. Longer words are data, not language.
pub(crate) const MAX_WORD: usize = 256;
/// A word that falls into more parts than this is a digest or encoded data; only the whole is a term.
const MAX_PARTS: usize = 12;

/// What a term is to the word it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TermKind {
    /// The whole word.
    Whole,
    /// A part of an identifier.
    Part,
    /// Two neighbours in a run of CJK characters.
    CjkBigram,
    /// One character of a run of CJK characters.
    CjkChar,
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryTerm {
    pub(crate) text: String,
    pub(crate) kind: TermKind,
    /// Terms of the same word share a group.
    pub(crate) group: usize,
}

/// The analyser. Its buffers are reused from text to text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Analyzer {
    /// The folded text of all words, one after the other; terms are ranges of it.
    folded: String,
    terms: Vec<Term>,
    borders: Vec<usize>,
}

/// A term: where its text lies in the folded text, and which word of the original it came from.
#[derive(Debug, Clone, Copy)]
struct Term {
    start: usize,
    end: usize,
    kind: TermKind,
    word: usize,
    from: usize,
    to: usize,
}

/// Classes of ASCII bytes; every other byte begins or continues a character that needs a closer look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Separator,
    Lower,
    Upper,
    Digit,
    Underscore,
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Lower,
        b'A'..=b'Z' => Class::Upper,
        b'0'..=b'9' => Class::Digit,
        b'_' => Class::Underscore,
        0x80.. => Class::Other,
        _ => Class::Separator,
    }
}

impl Analyzer {
    /// The terms of a query: each text once, under the first word that gives it.
    pub(crate) fn terms(&self, text: &str) -> Vec<QueryTerm> {
        let mut analyzer = self.clone();
        analyzer.analyze(text);
        let mut terms: Vec<QueryTerm> = Vec::new();
        for term in &analyzer.terms {
            let text = analyzer.folded.get(term.start..term.end).unwrap_or_default();
            if !terms.iter().any(|seen| seen.text == text) {
                terms.push(QueryTerm { text: text.to_owned(), kind: term.kind, group: term.word });
            }
        }
        terms
    }

    fn analyze(&mut self, text: &str) {
        self.folded.clear();
        self.terms.clear();
        let bytes = text.as_bytes();
        let class_at = |at: usize| bytes.get(at).map_or(Class::Separator, |byte| class(*byte));
        let mut at = 0;
        let mut word = 0;
        while at < bytes.len() {
            if class_at(at) == Class::Separator {
                at += 1;
                continue;
            }
            let from = at;
            let mut plain = true;
            while class_at(at) != Class::Separator {
                plain &= class_at(at) != Class::Other;
                at += 1;
            }
            // Separators are ASCII, so both ends are char borders.
            let Some(run) = text.get(from..at) else { continue };
            if plain {
                self.ascii_word(run, word, from, at);
                self.language_name(run, text.get(at..).unwrap_or_default(), word, from, at);
                word += 1;
            } else {
                word = self.mixed_run(run, word, from, at);
            }
        }
    }

    /// A word of ASCII letters, digits and underscores.
    fn ascii_word(&mut self, run: &str, word: usize, from: usize, to: usize) {
        let start = self.folded.len();
        self.borders.clear();
        let mut previous = Class::Separator;
        let bytes = run.as_bytes();
        for (n, byte) in bytes.iter().enumerate() {
            let this = class(*byte);
            if this != Class::Underscore {
                let next = bytes.get(n + 1).map_or(Class::Separator, |byte| class(*byte));
                if is_border(previous, this, next) {
                    self.borders.push(self.folded.len());
                }
                self.folded.push(byte.to_ascii_lowercase() as char);
            }
            previous = this;
        }
        self.emit_word(start, word, from, to);
    }

    /// `c++`, `c#`, `f#`.
    fn language_name(&mut self, run: &str, rest: &str, word: usize, from: usize, to: usize) {
        let mark = ["++", "#"].into_iter().find(|mark| rest.starts_with(mark));
        let (Some(mark), 1) = (mark, run.len()) else { return };
        let after = rest.get(mark.len()..).and_then(|rest| rest.chars().next());
        if !run.starts_with(|c: char| c.is_ascii_alphabetic()) || after.is_some_and(char::is_alphanumeric) {
            return;
        }
        let start = self.folded.len();
        self.folded.push_str(&run.to_ascii_lowercase());
        self.folded.push_str(mark);
        self.push(start, self.folded.len(), TermKind::Whole, word, from, to + mark.len());
    }

    /// A run in which not everything is ASCII: normalised first, then taken apart by script. Returns the next word's number.
    fn mixed_run(&mut self, run: &str, mut word: usize, from: usize, to: usize) -> usize {
        let normal: Vec<char> = normalize(run).filter(|c| !is_ignorable(*c)).collect();
        let mut at = 0;
        while let Some(first) = normal.get(at).copied() {
            let script = script_of(first);
            let begin = at;
            at += 1;
            while normal.get(at).is_some_and(|c| continues(script, *c)) {
                at += 1;
            }
            let piece = normal.get(begin..at).unwrap_or_default();
            match script {
                Script::Separator => continue,
                Script::Word => self.folded_word(piece, word, from, to),
                Script::Cjk => self.cjk_run(piece, false, word, from, to),
                Script::Hangul => self.cjk_run(piece, true, word, from, to),
            }
            word += 1;
        }
        word
    }

    fn folded_word(&mut self, piece: &[char], word: usize, from: usize, to: usize) {
        let start = self.folded.len();
        self.borders.clear();
        let class_of = |c: char| match c {
            '_' => Class::Underscore,
            c if c.is_numeric() => Class::Digit,
            c if c.is_uppercase() => Class::Upper,
            _ => Class::Lower,
        };
        let mut previous = Class::Separator;
        for (n, c) in piece.iter().enumerate() {
            if is_mark(*c) {
                self.folded.push(*c);
                continue;
            }
            let this = class_of(*c);
            if this != Class::Underscore {
                let next = piece.get(n + 1).map_or(Class::Separator, |c| class_of(*c));
                if is_border(previous, this, next) {
                    self.borders.push(self.folded.len());
                }
                self.folded.push(*c);
            }
            previous = this;
        }
        self.fold_tail(start);
        self.emit_word(start, word, from, to);
    }

    /// Folds what was pushed since `start`, part by part, so that the borders stay where they belong.
    fn fold_tail(&mut self, start: usize) {
        let raw = self.folded.split_off(start);
        let ends =
            self.borders.iter().skip(1).map(|border| border - start).chain([raw.len()]).collect::<Vec<_>>();
        let mut borders = Vec::with_capacity(self.borders.len());
        let mut begin = 0;
        for end in ends {
            borders.push(self.folded.len());
            self.folded.push_str(&fold(raw.get(begin..end).unwrap_or_default()));
            begin = end;
        }
        self.borders = borders;
    }

    /// Emits the whole word that lies at the end of the folded text, and its parts.
    fn emit_word(&mut self, start: usize, word: usize, from: usize, to: usize) {
        let end = self.folded.len();
        if end == start {
            return;
        }
        if end - start > MAX_WORD {
            let mut cut = start + MAX_WORD;
            while !self.folded.is_char_boundary(cut) {
                cut -= 1;
            }
            self.push(start, cut, TermKind::Whole, word, from, to);
            return;
        }
        self.push(start, end, TermKind::Whole, word, from, to);
        if self.borders.len() < 2 || self.borders.len() > MAX_PARTS {
            return;
        }
        let borders = std::mem::take(&mut self.borders);
        for (n, part) in borders.iter().enumerate() {
            let part_end = borders.get(n + 1).copied().unwrap_or(end);
            // One letter alone says nothing; one digit tells versions apart.
            let text = self.folded.get(*part..part_end).unwrap_or_default();
            if text.chars().nth(1).is_some() || text.starts_with(char::is_numeric) {
                self.push(*part, part_end, TermKind::Part, word, from, to);
            }
        }
        self.borders = borders;
    }

    fn cjk_run(&mut self, piece: &[char], spaced: bool, word: usize, from: usize, to: usize) {
        let start = self.folded.len();
        let folded: Vec<char> = fold(&piece.iter().collect::<String>()).chars().collect();
        let mut starts = Vec::with_capacity(folded.len() + 1);
        for c in &folded {
            starts.push(self.folded.len());
            self.folded.push(*c);
        }
        let end = self.folded.len();
        starts.push(end);
        if spaced && end - start <= MAX_WORD {
            self.push(start, end, TermKind::Whole, word, from, to);
        }
        if !spaced {
            for pair in starts.windows(2) {
                if let [begin, end] = pair {
                    self.push(*begin, *end, TermKind::CjkChar, word, from, to);
                }
            }
        }
        // Of two Hangul characters the whole is the pair.
        if spaced && folded.len() <= 2 {
            return;
        }
        for triple in starts.windows(3) {
            if let [begin, _, end] = triple {
                self.push(*begin, *end, TermKind::CjkBigram, word, from, to);
            }
        }
    }

    fn push(&mut self, start: usize, end: usize, kind: TermKind, word: usize, from: usize, to: usize) {
        self.terms.push(Term { start, end, kind, word, from, to });
    }
}

/// Whether a part begins at a character of class `this`.
fn is_border(previous: Class, this: Class, next: Class) -> bool {
    match (previous, this) {
        (Class::Separator | Class::Underscore, _) => true,
        (Class::Lower, Class::Upper) => true,
        // HTTPResponse: the last capital belongs to what follows.
        (Class::Upper, Class::Upper) => next == Class::Lower,
        (Class::Digit, Class::Lower | Class::Upper) | (Class::Lower | Class::Upper, Class::Digit) => true,
        _ => false,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Separator,
    Word,
    Cjk,
    Hangul,
}

fn script_of(c: char) -> Script {
    match c {
        c if is_cjk(c) => Script::Cjk,
        c if is_hangul(c) => Script::Hangul,
        c if c.is_alphanumeric() || c == '_' || is_mark(c) => Script::Word,
        _ => Script::Separator,
    }
}

/// Whether `c` goes on with a run of `script`. Marks stay with whatever they mark.
fn continues(script: Script, c: char) -> bool {
    script_of(c) == script || (is_mark(c) && script != Script::Separator)
}

/// The tokens of one text.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    analyzer: &'a Analyzer,
    next: usize,
    token: Token,
}

impl TokenStream for Tokens<'_> {
    fn advance(&mut self) -> bool {
        let Some(term) = self.analyzer.terms.get(self.next) else { return false };
        self.next += 1;
        self.token.text.clear();
        self.token.text.push_str(self.analyzer.folded.get(term.start..term.end).unwrap_or_default());
        self.token.position = term.word;
        self.token.offset_from = term.from;
        self.token.offset_to = term.to;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

impl Tokenizer for Analyzer {
    type TokenStream<'a> = Tokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens<'a> {
        self.analyze(text);
        Tokens { analyzer: self, next: 0, token: Token::default() }
    }
}
