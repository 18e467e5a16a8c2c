//! How much a document may cost.

use std::time::Duration;

/// The bounds of one [`document_text`](super::document_text).
///
/// Two kinds. What a document may cost (`max_input_bytes`, `max_entry_bytes`, `max_total_bytes`, `max_depth`,
/// `time_limit`): beyond it there is an error and no text. How much text is wanted (`max_text_chars`, `max_cells`,
/// `max_pages`): beyond it there is the text that fits, with [`complete`](super::DocumentText::complete) `false` and a
/// note.
///
/// Peak memory is bounded by these limits and not by what the input says of itself. For an Office document it is about
/// `max_input_bytes + 2 * max_entry_bytes`, 100 bytes for each of `max_cells`, and the text. A PDF takes a few times its
/// size; one that is built to be large in memory is refused at about eight times `max_total_bytes`, since each item of
/// an array becomes an object. Who reads documents of strangers on a server runs the whole in a process with a limit of
/// its own.
///
/// ```
/// use briefing_formats::DocumentLimits;
/// let limits = DocumentLimits::default().max_pages(20).max_text_chars(100_000);
/// assert_eq!(limits.max_pages, 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentLimits {
    /// The longest input, in bytes. Default: 64 MiB.
    pub max_input_bytes: u64,
    /// How far one compressed part (an entry of a zip, a stream of a PDF) may inflate, in bytes. Default: 32 MiB, which
    /// holds a sheet of about a million cells.
    pub max_entry_bytes: u64,
    /// How far all parts that are read may inflate together, in bytes. Default: 128 MiB.
    pub max_total_bytes: u64,
    /// The longest text, in chars. Default: 8,000,000, about two million tokens of English.
    pub max_text_chars: u64,
    /// How many cells of sheets, and of the tables of a DOCX, are read. Default: 1,000,000.
    pub max_cells: u64,
    /// How many pages, sheets or slides are read. Default: 5,000.
    pub max_pages: u64,
    /// How deep elements may nest. Default: 256; values over [`DEEPEST`](Self::DEEPEST) count as that.
    pub max_depth: usize,
    /// How long the caller waits. Default: 20 seconds.
    pub time_limit: Duration,
}

impl DocumentLimits {
    /// The largest `max_depth`: as deep as the parser's stack is sure to reach.
    pub const DEEPEST: usize = 1_000;

    /// Sets [`max_input_bytes`](Self::max_input_bytes).
    #[must_use]
    pub fn max_input_bytes(mut self, bytes: u64) -> Self {
        self.max_input_bytes = bytes;
        self
    }

    /// Sets [`max_entry_bytes`](Self::max_entry_bytes).
    #[must_use]
    pub fn max_entry_bytes(mut self, bytes: u64) -> Self {
        self.max_entry_bytes = bytes;
        self
    }

    /// Sets [`max_total_bytes`](Self::max_total_bytes).
    #[must_use]
    pub fn max_total_bytes(mut self, bytes: u64) -> Self {
        self.max_total_bytes = bytes;
        self
    }

    /// Sets [`max_text_chars`](Self::max_text_chars).
    #[must_use]
    pub fn max_text_chars(mut self, chars: u64) -> Self {
        self.max_text_chars = chars;
        self
    }

    /// Sets [`max_cells`](Self::max_cells).
    #[must_use]
    pub fn max_cells(mut self, cells: u64) -> Self {
        self.max_cells = cells;
        self
    }

    /// Sets [`max_pages`](Self::max_pages).
    #[must_use]
    pub fn max_pages(mut self, pages: u64) -> Self {
        self.max_pages = pages;
        self
    }

    /// Sets [`max_depth`](Self::max_depth).
    #[must_use]
    pub fn max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth.min(Self::DEEPEST);
        self
    }

    /// Sets [`time_limit`](Self::time_limit).
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self {
            max_input_bytes: 64 << 20,
            max_entry_bytes: 32 << 20,
            max_total_bytes: 128 << 20,
            max_text_chars: 8_000_000,
            max_cells: 1_000_000,
            max_pages: 5_000,
            max_depth: 256,
            time_limit: Duration::from_secs(20),
        }
    }
}
