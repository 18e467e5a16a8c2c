//! What reading a document gives.

use std::ops::Range;

use super::DocumentFormat;

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentText {
    /// What the bytes are.
    pub format: DocumentFormat,
    /// The text in Markdown conventions: `#` headings, `-` and `1.` items, pipe tables. Never blank.
    pub text: String,
    /// Its parts, in order, without gaps or overlap.
    pub sections: Vec<DocumentSection>,
    /// What was left out, marked or guessed; one note a code, in the order in which they first came up.
    pub notes: Vec<DocumentNote>,
    /// Whether all the text that the document shows is in `text`. When `false`, a note says what was cut.
    pub complete: bool,
}

/// What part of a document a section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SectionKind {
    /// A page of a PDF.
    Page,
    /// A sheet of a workbook.
    Sheet,
    /// A slide of a presentation, with its speaker notes.
    Slide,
    /// The body of a word processor's document.
    Body,
    /// Its footnotes and endnotes.
    Notes,
    /// Its comments.
    Comments,
    /// Its headers and footers, each distinct one once.
    HeadersAndFooters,
}

impl SectionKind {
    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Sheet => "sheet",
            Self::Slide => "slide",
            Self::Body => "body",
            Self::Notes => "notes",
            Self::Comments => "comments",
            Self::HeadersAndFooters => "headers_and_footers",
        }
    }
}

/// A part of a document's text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentSection {
    /// What it is.
    pub kind: SectionKind,
    /// Its number within its kind, from 1, in the order in which the document shows them.
    pub number: u32,
    /// The name of a sheet, the title of a slide; else empty.
    pub title: String,
    /// Whether the document hides it from its viewer.
    pub hidden: bool,
    /// Its place in [`DocumentText::text`], in UTF-8 bytes; always on char borders.
    pub bytes: Range<usize>,
}

/// What a reader of the text should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentNote {
    /// A stable machine-readable code such as `document.pictures_left_out`.
    pub code: &'static str,
    /// One sentence.
    pub message: &'static str,
    /// How often it came up.
    pub count: u64,
    /// Where, as far as known: `page 3`, `sheet Stock`; the first [`PLACES`](Self::PLACES).
    pub places: Vec<String>,
}

impl DocumentNote {
    /// How many places a note names.
    pub const PLACES: usize = 16;
}
