//! Documents to text: PDF, and the Office Open XML formats DOCX, XLSX and PPTX.
//!
//! [`document_text`] looks at the bytes, chooses the parser and runs it behind a wall ([`isolation`]) under limits
//! ([`DocumentLimits`]). Every parser writes into one [`Output`](output::Output), which keeps the sections and the limit
//! of the text, and says in [`Notes`](notes::Notes) what it left out.

mod error;
mod format;
#[cfg_attr(
    not(all(feature = "pdf", feature = "office")),
    allow(dead_code, reason = "each parser uses a part of it")
)]
mod guard;
#[cfg_attr(not(feature = "pdf"), allow(dead_code, reason = "only lopdf has no other way to be stopped"))]
mod isolation;
mod limits;
#[cfg(any(feature = "pdf", feature = "office"))]
#[cfg_attr(
    not(all(feature = "pdf", feature = "office")),
    allow(dead_code, reason = "each parser uses a part of it")
)]
mod markdown;
#[cfg(any(feature = "pdf", feature = "office"))]
#[cfg_attr(
    not(all(feature = "pdf", feature = "office")),
    allow(dead_code, reason = "each parser has notes of its own")
)]
mod notes;
#[cfg(feature = "office")]
mod office;
mod outcome;
#[cfg(any(feature = "pdf", feature = "office"))]
#[cfg_attr(
    not(all(feature = "pdf", feature = "office")),
    allow(dead_code, reason = "each parser uses a part of it")
)]
mod output;
#[cfg(feature = "pdf")]
mod pdf;

pub use self::error::DocumentError;
pub use self::format::DocumentFormat;
pub use self::limits::DocumentLimits;
pub use self::outcome::{DocumentNote, DocumentSection, DocumentText, SectionKind};

use self::format::Found;
use self::guard::Guard;

/// Reads the text of a document.
///
/// The bytes alone decide which format it is. The text keeps Markdown conventions:
///
/// | what | how it is written |
/// | --- | --- |
/// | page of a PDF | `# Page 3`, then its lines in the order in which the page draws them |
/// | sheet | `# Sheet: Stock`, then for every run of rows its range (`Cells A1:C9`) and a pipe table; cells that lie far apart are listed by address |
/// | slide | `# Slide 2: Title` in show order, its text, then `Notes:` and the speaker notes |
/// | heading, list, table of a DOCX | `##`, `-` or its number, pipe table |
/// | footnotes, endnotes, comments | `[^1]`, `[^e1]`, `[^c1]` where they are anchored; listed once after the body |
/// | headers and footers of a DOCX | each distinct one once, after everything else |
/// | hidden sheet, hidden slide | `(hidden)` after its heading; hidden rows and columns are shown and named below the sheet |
/// | date, time, share of a sheet | `2024-05-17`, `2024-05-17T13:30:00`, `12.5%`, by the cell's number format |
///
/// Tracked insertions are in, tracked deletions are out; fields show their result; of alternative contents one is
/// taken. Text set to hidden, pictures, charts and embedded documents are left out, and a [`DocumentNote`] counts them.
/// Properties of a document (author, title) are no text.
///
/// The parser runs on a thread of its own: a panic becomes an error (the process's panic hook still sees it, on a thread
/// named `briefing-document`), and after [`DocumentLimits::time_limit`] the caller gets [`DocumentError::TimedOut`] while
/// the parser is told to stop. Parsers that were told so and still run are counted: beyond four, further documents are
/// refused with [`DocumentError::Busy`]. A stack overflow or an allocation that fails would still end the process; depth
/// and sizes are bounded so that neither comes near. With `panic = "abort"` there is no such wall.
///
/// # Errors
///
/// See [`DocumentError`]. A document that holds no text is an error, never an empty success.
///
/// ```
/// use briefing_formats::{DocumentError, DocumentLimits, document_text};
/// let found = document_text(b"just words", &DocumentLimits::default());
/// assert!(matches!(found, Err(DocumentError::Unsupported { .. })));
/// ```
pub fn document_text(bytes: &[u8], limits: &DocumentLimits) -> Result<DocumentText, DocumentError> {
    if bytes.len() as u64 > limits.max_input_bytes {
        return Err(DocumentError::limit("max_input_bytes", limits.max_input_bytes));
    }
    let found = Found::in_bytes(bytes)?;
    let limits = DocumentLimits { max_depth: limits.max_depth.min(DocumentLimits::DEEPEST), ..*limits };
    let bytes = bytes.to_vec();
    isolation::isolated(limits.time_limit, move |guard| read(found, &bytes, &limits, guard))
}

#[cfg_attr(
    not(all(feature = "pdf", feature = "office")),
    allow(unused_variables, reason = "a parser that is not built in reads nothing")
)]
fn read(
    found: Found,
    bytes: &[u8],
    limits: &DocumentLimits,
    guard: &Guard,
) -> Result<DocumentText, DocumentError> {
    match found {
        #[cfg(feature = "pdf")]
        Found::Pdf => pdf::read(bytes, limits, guard),
        #[cfg(feature = "office")]
        Found::Zip => office::read(bytes, limits, guard),
        #[cfg(not(feature = "pdf"))]
        Found::Pdf => Err(DocumentError::Unsupported { what: "PDF (feature `pdf` is off)".to_owned() }),
        #[cfg(not(feature = "office"))]
        Found::Zip => {
            Err(DocumentError::Unsupported { what: "Office documents (feature `office` is off)".to_owned() })
        }
    }
}
