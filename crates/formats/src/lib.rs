//! What kind of thing some bytes are, their text or that of the document they hold, and the passages of that text.
//!
//! This crate owns four questions about content: its kind ([`classify`], [`is_text`]), its characters ([`decode`], and back to
//! bytes [`encode`]), the text of a document ([`document_text`]: PDF with the feature `pdf`; DOCX, XLSX and PPTX with the
//! feature `office`; all with `documents`) and the pieces in which a text is best found and read ([`passages`]; the text of a document is cut as
//! Markdown, under a name such as `x.md`). It never opens a path and never does I/O: whoever holds the bytes hands them
//! in.
//!
//! Lengths: *bytes* are raw bytes of the content or UTF-8 bytes of its text, as the name says; *chars* are Unicode scalar
//! values.
//!
//! ```
//! use briefing_core::media::{MediaKind, MediaSignals};
//! use briefing_formats::{PassageLimits, classify, decode, passages};
//!
//! let bytes = b"\xff\xfe#\0 \0P\0u\0m\0p\0\n\0";
//! let signals = MediaSignals { path: Some("notes/pump.md"), ..MediaSignals::default() };
//! assert_eq!(classify(&signals, bytes).kind, MediaKind::Text);
//!
//! let decoded = decode(bytes)?;
//! assert_eq!((decoded.text.as_str(), decoded.encoding), ("# Pump\n", "utf-16le"));
//!
//! let found = passages("notes/pump.md", &decoded.text, PassageLimits::default());
//! assert_eq!((found.len(), found[0].title.as_str()), (1, "Pump"));
//! # Ok::<(), briefing_formats::Error>(())
//! ```

mod classify;
mod decode;
mod document;
mod encode;
mod error;
mod passages;
mod signature;
mod text;

pub use classify::{Classification, classify};
pub use decode::{Decoded, decode};
pub use document::{
    DocumentError, DocumentFormat, DocumentLimits, DocumentNote, DocumentSection, DocumentText, SectionKind,
    document_text,
};
pub use encode::{encode, raw_offsets};
pub use error::Error;
pub use passages::{Passage, PassageLimits, passages};
pub use text::is_text;
