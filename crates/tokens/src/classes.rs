//! What the pre-tokenizers' regular expressions ask of a char, as one byte of flags.

use std::sync::LazyLock;

use regex_syntax::Parser;
use regex_syntax::hir::{Class, HirKind};

/// Flags of one char. Every char has exactly one; 0 stands for the end of the text.
pub(crate) type CharClass = u8;

/// `\p{Lu}` and `\p{Lt}`.
pub(crate) const CAPITAL: CharClass = 1;
/// `\p{Ll}`.
pub(crate) const SMALL: CharClass = 1 << 1;
/// `\p{Lm}` and `\p{Lo}`.
pub(crate) const CASELESS: CharClass = 1 << 2;
/// `\p{M}`.
pub(crate) const MARK: CharClass = 1 << 3;
/// `\p{N}`.
pub(crate) const NUMBER: CharClass = 1 << 4;
/// `\s` other than [`NEWLINE`].
pub(crate) const SPACE: CharClass = 1 << 5;
/// `[\r\n]`.
pub(crate) const NEWLINE: CharClass = 1 << 6;
/// Everything else.
pub(crate) const SYMBOL: CharClass = 1 << 7;

/// `\p{L}`.
pub(crate) const LETTER: CharClass = CAPITAL | SMALL | CASELESS;

const PAGE: usize = 256;
const PAGES: usize = (char::MAX as usize + 1) / PAGE;

/// The class of every char: ASCII directly, the others through a table of pages, of which most are the same.
#[derive(Debug)]
pub(crate) struct CharClasses {
    ascii: [CharClass; 128],
    page_of: Vec<u16>,
    pages: Vec<CharClass>,
}

static CLASSES: LazyLock<CharClasses> = LazyLock::new(CharClasses::build);

impl CharClasses {
    pub(crate) fn get() -> &'static Self {
        &CLASSES
    }

    fn build() -> Self {
        let mut flat = vec![SYMBOL; PAGES * PAGE];
        for (pattern, class) in [
            (r"[\p{Lu}\p{Lt}]", CAPITAL),
            (r"\p{Ll}", SMALL),
            (r"[\p{Lm}\p{Lo}]", CASELESS),
            (r"\p{M}", MARK),
            (r"\p{N}", NUMBER),
            (r"\s", SPACE),
            (r"[\r\n]", NEWLINE),
        ] {
            for (first, last) in ranges(pattern) {
                if let Some(range) = flat.get_mut(first as usize..=last as usize) {
                    range.fill(class);
                }
            }
        }
        let mut ascii = [SYMBOL; 128];
        ascii.iter_mut().zip(&flat).for_each(|(to, from)| *to = *from);

        let mut page_of = Vec::with_capacity(PAGES);
        let mut pages: Vec<CharClass> = Vec::new();
        for page in flat.chunks_exact(PAGE) {
            let known = pages.chunks_exact(PAGE).position(|other| other == page);
            let index = known.unwrap_or_else(|| {
                pages.extend_from_slice(page);
                pages.len() / PAGE - 1
            });
            page_of.push(u16::try_from(index).unwrap_or(u16::MAX));
        }
        Self { ascii, page_of, pages }
    }

    #[inline]
    pub(crate) fn of_ascii(&self, byte: u8) -> Option<CharClass> {
        self.ascii.get(usize::from(byte)).copied()
    }

    #[inline]
    pub(crate) fn of(&self, c: char) -> CharClass {
        let code = c as usize;
        let page = self.page_of.get(code / PAGE).copied().unwrap_or_default();
        self.pages.get(usize::from(page) * PAGE + code % PAGE).copied().unwrap_or(SYMBOL)
    }
}

/// The chars that a class pattern names. The patterns are constants; a test proves that they all parse.
fn ranges(pattern: &str) -> Vec<(char, char)> {
    match Parser::new().parse(pattern).map(|hir| hir.into_kind()) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_its_chars() {
        let classes = CharClasses::get();
        for (c, class) in [
            ('A', CAPITAL),
            ('ǅ', CAPITAL),
            ('a', SMALL),
            ('ſ', SMALL),
            ('ʰ', CASELESS),
            ('中', CASELESS),
            ('\u{301}', MARK),
            ('7', NUMBER),
            ('Ⅷ', NUMBER),
            ('½', NUMBER),
            (' ', SPACE),
            ('\t', SPACE),
            ('\u{85}', SPACE),
            ('\u{3000}', SPACE),
            ('\n', NEWLINE),
            ('\r', NEWLINE),
            ('\u{2028}', SPACE),
            ('/', SYMBOL),
            ('\0', SYMBOL),
            ('\u{200d}', SYMBOL),
            ('😀', SYMBOL),
            (char::MAX, SYMBOL),
        ] {
            assert_eq!(classes.of(c), class, "{c:?}");
        }
    }

    #[test]
    fn letters_and_numbers_are_those_of_the_standard_library_where_it_names_them() {
        let classes = CharClasses::get();
        for c in '\0'..='\u{7f}' {
            assert_eq!(classes.of_ascii(c as u8), Some(classes.of(c)), "{c:?}");
        }
        for c in '\0'..=char::MAX {
            assert_eq!(c.is_whitespace(), classes.of(c) & (SPACE | NEWLINE) != 0, "{c:?}");
        }
    }
}
