//! Handlers: one format each, from bytes to what a model or a host is shown, and from a value back to bytes.
//!
//! A [`FileHandler`] is functions over bytes and touches no file. The [registry](Handlers) of a workspace says who is
//! asked for a file, and in which order. The built-in handlers:
//!
//! | id | files | shown as | value | writes |
//! |---|---|---|---|---|
//! | `notebook` | `.ipynb` | cells and their text outputs | the cells | cells |
//! | `json-lines` | `.jsonl`, `.ndjson` | the text | the lines | an array, or text |
//! | `json` | `.json` and kin | indented text, keys in the file's order | the value | any value, or text |
//! | `tsv`, `csv` | `.tsv`, `.csv` | a table with row numbers | the rows | rows |
//! | `markdown` | `.md` and kin | the text | the outline | text |
//! | `text` | any text | the text | none | text |
//!
//! A handler of your own needs an id, a test and a way to read; with a priority below 100 it is asked before those.
//!
//! ```
//! use std::sync::Arc;
//! use briefing_core::media::MediaKind;
//! use briefing_task_workspace::handler::{FileFacts, FileHandler, FormatRequest, Formatted, HandlerError, Handlers};
//!
//! /// Logs of a pump: only the lines that report a fault.
//! #[derive(Debug)]
//! struct PumpLog;
//!
//! impl FileHandler for PumpLog {
//!     fn id(&self) -> &str { "pump-log" }
//!     fn priority(&self) -> i32 { 10 }
//!     fn matches(&self, file: &FileFacts<'_>) -> bool { file.has_suffix(&["pumplog"]) }
//!     fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
//!         let log = std::str::from_utf8(bytes).map_err(|error| HandlerError::failed(self.id(), error))?;
//!         let faults: Vec<_> = log.lines().filter(|line| line.contains("FAULT")).collect();
//!         Ok(Formatted::new(self.id(), &faults.join("\n"), request).with_value(faults.into()))
//!     }
//! }
//!
//! let mut handlers = Handlers::default();
//! handlers.register(Arc::new(PumpLog))?;
//!
//! let file = FileFacts::new("week-31.pumplog", MediaKind::Text);
//! let asked = handlers.for_file(&file);
//! assert_eq!(asked.iter().map(|handler| handler.id()).collect::<Vec<_>>(), ["pump-log", "text"]);
//! let read = asked[0].read(b"08:00 ok\n08:05 FAULT seal\n", &FormatRequest::window(0, 11))?;
//! assert_eq!((read.text.as_str(), read.next_offset_chars), ("08:05 FAULT", Some(11)));
//! assert_eq!(handlers.register(Arc::new(PumpLog)).unwrap_err().code(), "workspace.handler_duplicate");
//! # Ok::<(), HandlerError>(())
//! ```

#[cfg(feature = "conformance")]
pub mod conformance;
mod csv;
mod error;
mod form;
mod formatted;
mod json;
mod markdown;
mod notebook;
mod registry;
mod text;

use std::fmt::Debug;

use briefing_core::media::MediaKind;
use serde_json::Value;

pub use self::csv::CsvHandler;
pub use self::error::HandlerError;
pub use self::formatted::{FormatRequest, Formatted};
pub use self::json::{JsonHandler, JsonLinesHandler};
pub use self::markdown::MarkdownHandler;
pub use self::notebook::NotebookHandler;
pub use self::registry::Handlers;
pub use self::text::TextHandler;

/// One format: how its bytes are shown, and how a value becomes its bytes again.
///
/// Both directions are pure: the same bytes give the same result, nothing is remembered between calls, and no bytes
/// make them panic. `conformance::check_handler` (feature `conformance`) holds a handler to that.
pub trait FileHandler: Debug + Send + Sync {
    /// Its unique and stable name, for instance `csv`.
    fn id(&self) -> &str;

    /// Where it stands among the handlers that match: the lowest is asked first, and of equals the lower id. The
    /// built-in handlers have 100 and more.
    fn priority(&self) -> i32;

    /// Whether it knows the format of this file.
    fn matches(&self, file: &FileFacts<'_>) -> bool;

    /// The file as it is shown, and its value.
    ///
    /// A fault in the content that leaves it readable as text belongs in the diagnostics, not in an error.
    ///
    /// # Errors
    /// [`HandlerError`] where nothing can be shown.
    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError>;

    /// The whole new content of the file for `value`. `previous` is the file's content so far, if there is one: its
    /// encoding, layout and order are kept as far as the format allows.
    ///
    /// What [`read`](Self::read) gave as the value is accepted here by a handler that writes values, and reads back
    /// equal.
    ///
    /// # Errors
    /// [`HandlerError::Unsupported`] where the handler does not write this kind of value, which is what the default
    /// says; [`HandlerError::Value`] for a value of the wrong shape.
    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        let _ = previous;
        Err(HandlerError::Unsupported { handler: self.id().to_owned(), what: value.noun() })
    }
}

/// What is known about a file before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts<'a> {
    /// Its path or name.
    pub path: &'a str,
    /// What kind of thing it is, as somebody judged from its name or its bytes.
    pub kind: MediaKind,
    /// A MIME type that was declared for it; parameters allowed.
    pub media_type: Option<&'a str>,
}

impl<'a> FileFacts<'a> {
    /// A file of a kind, without a MIME type.
    #[must_use]
    pub fn new(path: &'a str, kind: MediaKind) -> Self {
        Self { path, kind, media_type: None }
    }

    /// Whether the path ends with one of these suffixes, which are given in lower case and without a dot. A name that
    /// only begins with a dot has no suffix.
    #[must_use]
    pub fn has_suffix(&self, suffixes: &[&str]) -> bool {
        let name = self.path.rsplit(['/', '\\']).next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(stem, suffix)| {
            !stem.is_empty() && suffixes.iter().any(|known| known.eq_ignore_ascii_case(suffix))
        })
    }

    /// Whether the declared MIME type is one of these, which are given in lower case; parameters do not count.
    #[must_use]
    pub fn has_media_type(&self, media_types: &[&str]) -> bool {
        media_types.iter().any(|known| known.eq_ignore_ascii_case(self.essence()))
    }

    /// The declared MIME type without its parameters, or nothing.
    fn essence(&self) -> &'a str {
        self.media_type.and_then(|declared| declared.split(';').next()).unwrap_or_default().trim()
    }

    /// Whether this is text with one of the suffixes or MIME types.
    fn is_text_of(&self, suffixes: &[&str], media_types: &[&str]) -> bool {
        self.kind == MediaKind::Text && (self.has_suffix(suffixes) || self.has_media_type(media_types))
    }
}

/// What is written.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatValue {
    /// The text of the file.
    Text(String),
    /// A value that the handler turns into the file's format.
    Json(Value),
}

impl FormatValue {
    /// What it is, for messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Json(_) => "a JSON value",
        }
    }
}

impl From<String> for FormatValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for FormatValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Value> for FormatValue {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}
