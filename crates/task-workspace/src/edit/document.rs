//! A text and its bytes, changed together.

use std::ops::Range;

use briefing_formats::{decode, encode, is_text, raw_offsets};

use super::EditError;

/// A place of a text and what is written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Splice {
    /// The place, in bytes of the text.
    pub(super) range: Range<usize>,
    /// The new text.
    pub(super) text: String,
}

/// The text of some bytes, with what it takes to write it back.
#[derive(Debug, Clone)]
pub(super) struct Document {
    text: String,
    encoding: &'static str,
    /// The byte order mark, where it is not part of the text.
    mark: Vec<u8>,
    /// The bytes of the text, where they are not those of `text` itself.
    raw: Option<Vec<u8>>,
    had_bom: bool,
}

const MARK: char = '\u{feff}';

impl Document {
    pub(super) fn open(bytes: &[u8]) -> Result<Self, EditError> {
        if !is_text(bytes) {
            // A text with a fault, such as UTF-8 that is cut, is told from no text at all by what is wrong with it.
            return match decode(bytes) {
                Err(source) if !bytes.contains(&0) => Err(EditError::Undecodable { source }),
                _ => Err(EditError::NotText),
            };
        }
        let decoded = decode(bytes).map_err(|source| EditError::Undecodable { source })?;
        let mark_bytes = if decoded.had_bom {
            encode("", decoded.encoding, true).map_err(|source| EditError::Undecodable { source })?.len()
        } else {
            0
        };
        let (mark, body) = bytes.split_at_checked(mark_bytes).unwrap_or((&[], bytes));
        let raw = (decoded.encoding != "utf-8").then(|| body.to_vec());
        Ok(Self {
            text: decoded.text,
            encoding: decoded.encoding,
            mark: mark.to_vec(),
            raw,
            had_bom: decoded.had_bom,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn encoding(&self) -> &'static str {
        self.encoding
    }

    pub(super) fn had_bom(&self) -> bool {
        self.had_bom
    }

    /// Makes the byte order mark, if there is one, a character of the text.
    pub(super) fn show_mark(&mut self) {
        if self.mark.is_empty() {
            return;
        }
        self.text.insert(0, MARK);
        if let Some(raw) = &mut self.raw {
            raw.splice(0..0, self.mark.iter().copied());
        }
        self.mark.clear();
    }

    /// Makes a byte order mark that is a character of the text a mark again.
    pub(super) fn hide_mark(&mut self) -> Result<(), EditError> {
        let has_marks = self.encoding.starts_with("utf-");
        if !has_marks || !self.mark.is_empty() || !self.text.starts_with(MARK) {
            return Ok(());
        }
        let mark = encode("", self.encoding, true).map_err(|source| self.unencodable(source))?;
        if let Some(raw) = &mut self.raw {
            raw.drain(..mark.len().min(raw.len()));
        }
        self.text.remove(0);
        self.mark = mark;
        Ok(())
    }

    /// Writes each text at its place. The places ascend and do not overlap.
    pub(super) fn splice(&mut self, splices: &[Splice]) -> Result<(), EditError> {
        if let Some(raw) = &self.raw {
            let ends: Vec<usize> =
                splices.iter().flat_map(|splice| [splice.range.start, splice.range.end]).collect();
            let places = raw_offsets(raw, self.encoding, &self.text, &ends)
                .map_err(|source| self.unencodable(source))?;
            let new = splices.iter().map(|splice| encode(&splice.text, self.encoding, false));
            let new: Vec<Vec<u8>> =
                new.collect::<Result<_, _>>().map_err(|source| self.unencodable(source))?;
            let places = places.as_chunks::<2>().0.iter().map(|[start, end]| *start..*end);
            self.raw = Some(spliced(raw, places.zip(new.iter().map(Vec::as_slice))));
        }
        let places = splices.iter().map(|splice| (splice.range.clone(), splice.text.as_bytes()));
        let bytes = spliced(self.text.as_bytes(), places);
        // Places lie between characters, so this never fails; if one did not, refusing is better than a panic.
        self.text = String::from_utf8(bytes).map_err(|_| EditError::Misread { encoding: self.encoding })?;
        Ok(())
    }

    fn unencodable(&self, source: briefing_formats::Error) -> EditError {
        EditError::Unencodable { encoding: self.encoding, source }
    }

    /// The bytes, proven to be read as the text again: a change can take away what an encoding was guessed by.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, EditError> {
        let misread = EditError::Misread { encoding: self.encoding };
        let is_utf8 = self.raw.is_none();
        let mut bytes = std::mem::take(&mut self.mark);
        match &self.raw {
            Some(raw) => bytes.extend_from_slice(raw),
            None if bytes.is_empty() => bytes = std::mem::take(&mut self.text).into_bytes(),
            None => bytes.extend_from_slice(self.text.as_bytes()),
        }
        if !is_text(&bytes) {
            return Err(misread);
        }
        // Text in UTF-8 that passes as text has no NUL, and so is read as nothing else.
        if is_utf8 {
            return Ok(bytes);
        }
        match decode(&bytes) {
            Ok(decoded) if decoded.text == self.text => Ok(bytes),
            _ => Err(misread),
        }
    }
}

fn spliced<'a>(bytes: &[u8], splices: impl Iterator<Item = (Range<usize>, &'a [u8])>) -> Vec<u8> {
    let (mut result, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for (range, new) in splices {
        result.extend_from_slice(bytes.get(at..range.start).unwrap_or_default());
        result.extend_from_slice(new);
        at = range.end;
    }
    result.extend_from_slice(bytes.get(at..).unwrap_or_default());
    result
}
