//! Fonts: from the bytes of a string to text and to how far it moves the pen.

use lopdf::{Dictionary, Document, Object};

use super::budget::Budget;
use super::cmap::CMap;
use super::glyphs::{self, Table};
use super::legacy::Legacy;
use super::widths::Widths;
use crate::document::DocumentError;

/// A font as far as text needs it.
#[derive(Debug)]
pub(super) struct Font {
    to_unicode: CMap,
    codes: Codes,
    widths: Widths,
    pub(super) vertical: bool,
    /// Nothing says what its codes mean.
    pub(super) guessed: bool,
}

#[derive(Debug)]
enum Codes {
    /// Of one byte, with what each means.
    Simple(Table),
    /// Of a predefined map.
    Legacy(Legacy),
    /// Of glyphs, mostly two bytes each.
    Glyphs,
}

/// What showing a string does.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) struct Shown {
    /// The widths of the characters, in thousandths of the font's size.
    pub(super) width: f64,
    pub(super) characters: f64,
    /// Spaces of one byte, to which word spacing applies (9.3.3).
    pub(super) spaces: f64,
    /// Characters without a meaning.
    pub(super) unknown: u64,
}

impl Font {
    pub(super) fn read(
        font: &Dictionary,
        document: &Document,
        budget: &Budget<'_>,
    ) -> Result<Self, DocumentError> {
        let to_unicode = match font.get_deref(b"ToUnicode", document).and_then(Object::as_stream) {
            Ok(stream) => budget.inflate(stream)?.map(|data| CMap::parse(&data.content)).unwrap_or_default(),
            Err(_) => CMap::default(),
        };
        let name = |key: &[u8]| font.get_deref(key, document).and_then(Object::as_name).ok();
        let base = String::from_utf8_lossy(name(b"BaseFont").unwrap_or_default()).into_owned();
        if name(b"Subtype") == Some(b"Type0") {
            return Ok(Self::composite(font, to_unicode, document));
        }
        let family = base.split_once('+').map_or(base.as_str(), |(_, family)| family);
        let is_symbol = family.starts_with("Symbol") || family.contains("Dingbats");
        let has_encoding = font.has(b"Encoding");
        let descriptor = font.get_deref(b"FontDescriptor", document).and_then(Object::as_dict).ok();
        let is_symbolic = descriptor
            .and_then(|descriptor| descriptor.get_deref(b"Flags", document).ok()?.as_i64().ok())
            .is_some_and(|flags| flags & 4 != 0);
        let program = match descriptor.map(|descriptor| descriptor.get_deref(b"FontFile", document)) {
            Some(Ok(Object::Stream(stream))) if to_unicode.is_empty() => budget.inflate(stream)?,
            _ => None,
        };
        let program = program.as_ref().map(|program| program.content.as_slice());
        Ok(Self {
            guessed: to_unicode.is_empty() && !has_encoding && !is_symbol && is_symbolic && program.is_none(),
            codes: Codes::Simple(glyphs::table(font, is_symbol, program, document)),
            widths: Widths::of_simple(font, &base, document),
            vertical: false,
            to_unicode,
        })
    }

    fn composite(font: &Dictionary, to_unicode: CMap, document: &Document) -> Self {
        let encoding = font.get_deref(b"Encoding", document).and_then(Object::as_name).unwrap_or_default();
        let encoding = String::from_utf8_lossy(encoding);
        let descendant = font
            .get_deref(b"DescendantFonts", document)
            .and_then(Object::as_array)
            .ok()
            .and_then(|fonts| document.dereference(fonts.first()?).ok())
            .and_then(|(_, font)| font.as_dict().ok());
        Self {
            codes: Legacy::of_name(&encoding).map_or(Codes::Glyphs, Codes::Legacy),
            widths: descendant.map_or(Widths::Fixed(1000.0), |font| Widths::of_composite(font, document)),
            vertical: encoding.ends_with("-V") || encoding == "V",
            guessed: false,
            to_unicode,
        }
    }

    /// For text that is drawn without a font, or with one that is missing.
    pub(super) fn missing(document: &Document) -> Self {
        Self {
            to_unicode: CMap::default(),
            codes: Codes::Simple(glyphs::table(&Dictionary::new(), false, None, document)),
            widths: Widths::Fixed(500.0),
            vertical: false,
            guessed: true,
        }
    }

    /// Appends the text of a string.
    pub(super) fn show(&self, bytes: &[u8], text: &mut String) -> Shown {
        if let Codes::Legacy(map) = &self.codes
            && self.to_unicode.is_empty()
        {
            return self.show_legacy(*map, bytes, text);
        }
        let mut shown = Shown::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = match &self.codes {
                Codes::Simple(_) => 1,
                _ => self.to_unicode.code_length(rest).unwrap_or(2).min(rest.len()),
            };
            let (now, after) = rest.split_at(length);
            rest = after;
            let code = now.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
            shown.width += if self.vertical { 1000.0 } else { self.widths.of(code) };
            shown.characters += 1.0;
            if now == b" " {
                shown.spaces += 1.0;
            }
            if self.to_unicode.push(code, length, text) {
                continue;
            }
            let known = match (&self.codes, now) {
                (Codes::Simple(table), [byte]) => table.get(usize::from(*byte)).and_then(Option::as_deref),
                _ => None,
            };
            if let Some(known) = known {
                text.push_str(known);
            } else {
                text.push(char::REPLACEMENT_CHARACTER);
                shown.unknown += 1;
            }
        }
        shown
    }

    /// The widths of predefined maps belong to glyphs that only the font knows: East Asian characters are as wide as
    /// high, others half that.
    fn show_legacy(&self, map: Legacy, bytes: &[u8], text: &mut String) -> Shown {
        let start = text.len();
        let unknown = map.push(bytes, text);
        let mut shown = Shown { unknown, ..Shown::default() };
        for char in text.get(start..).unwrap_or_default().chars() {
            shown.characters += 1.0;
            shown.width += if char.is_ascii() && !self.vertical { 500.0 } else { 1000.0 };
        }
        shown
    }
}
