//! The text as it grows, within its limit, with its sections.

use super::markdown;
use super::notes::{Note, Notes};
use super::{DocumentError, DocumentFormat, DocumentLimits, DocumentSection, DocumentText, SectionKind};

/// The text so far.
#[derive(Debug)]
pub(crate) struct Output {
    text: String,
    chars: u64,
    max_chars: u64,
    full: bool,
    sections: Vec<DocumentSection>,
    /// Whether there is anything but labels.
    spoken: bool,
    pub(crate) notes: Notes,
}

impl Output {
    pub(crate) fn new(limits: &DocumentLimits) -> Self {
        Self {
            text: String::new(),
            chars: 0,
            max_chars: limits.max_text_chars,
            full: false,
            sections: Vec::new(),
            spoken: false,
            notes: Notes::default(),
        }
    }

    /// Begins a section; the one before it ends here.
    pub(crate) fn open(&mut self, kind: SectionKind, number: u32, title: &str, hidden: bool) {
        self.blank_line();
        self.close();
        let title = markdown::one_line(title).into_owned();
        let at = self.text.len();
        self.sections.push(DocumentSection { kind, number, title, hidden, bytes: at..at });
    }

    fn close(&mut self) {
        let end = self.text.len();
        if let Some(last) = self.sections.last_mut() {
            last.bytes.end = end;
        }
    }

    /// Writes a heading that the document does not spell out itself.
    pub(crate) fn label(&mut self, heading: &str) {
        self.blank_line();
        self.push(heading);
        self.push("\n");
    }

    /// Writes a block of the document's own text, apart from the block before it by a blank line.
    pub(crate) fn block(&mut self, block: &str) {
        if block.trim().is_empty() {
            return;
        }
        self.blank_line();
        self.line(block);
    }

    /// Writes a line of the document's own text.
    pub(crate) fn line(&mut self, line: &str) {
        self.spoken |= !line.trim().is_empty();
        self.push(line);
        self.push("\n");
    }

    /// Whether nothing more fits.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// How many chars still fit.
    pub(crate) fn room(&self) -> u64 {
        self.max_chars.saturating_sub(self.chars)
    }

    /// Says that text was cut, where a parser stopped before the text did.
    pub(crate) fn set_full(&mut self) {
        if !self.full {
            self.full = true;
            self.notes.add(Note::TextCut, "");
        }
    }

    fn blank_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.push("\n");
        }
    }

    fn push(&mut self, piece: &str) {
        if self.full {
            return;
        }
        let room = usize::try_from(self.room()).unwrap_or(usize::MAX);
        let chars =
            if piece.len() <= room { piece.chars().count() } else { piece.chars().take(room + 1).count() };
        if chars <= room {
            self.text.push_str(piece);
            self.chars += chars as u64;
            return;
        }
        let end = piece.char_indices().nth(room).map_or(piece.len(), |(at, _)| at);
        self.text.push_str(piece.get(..end).unwrap_or_default());
        self.chars = self.max_chars;
        // A blank tail is no text.
        if piece.get(end..).is_some_and(|rest| !rest.trim().is_empty()) {
            self.set_full();
        }
    }

    /// The outcome; `found` says what a document without text holds instead.
    pub(crate) fn finish(
        mut self,
        format: DocumentFormat,
        found: &str,
    ) -> Result<DocumentText, DocumentError> {
        if !self.spoken {
            return Err(DocumentError::NoText { reason: found.to_owned() });
        }
        if self.text.trim().is_empty() {
            return Err(DocumentError::limit("max_text_chars", self.max_chars));
        }
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
        self.close();
        let end = self.text.len();
        for section in &mut self.sections {
            section.bytes = section.bytes.start.min(end)..section.bytes.end.min(end);
        }
        Ok(DocumentText {
            format,
            text: self.text,
            sections: self.sections,
            complete: !self.notes.has_loss(),
            notes: self.notes.into_vec(),
        })
    }
}
