//! Why a handler could not read or write.

use std::error::Error as StdError;

/// Why a handler refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandlerError {
    /// A text that is to be written breaks the rules of the format.
    #[error("no {handler} at line {line}, column {column}: {reason}")]
    Malformed {
        /// The handler.
        handler: String,
        /// The line, counted from 1.
        line: usize,
        /// The column, in chars and counted from 1.
        column: usize,
        /// The rule that is broken.
        reason: String,
    },
    /// The bytes of the file give no text.
    #[error("the file cannot be read as text")]
    Undecodable {
        /// What stands in the way.
        #[source]
        source: briefing_formats::Error,
    },
    /// The text cannot be written in the encoding of the file.
    #[error("the text cannot be written as {encoding}: {reason}")]
    Encoding {
        /// The encoding's name, as [`briefing_formats::decode`] names it.
        encoding: String,
        /// What stands in the way.
        reason: String,
    },
    /// The handler does not do this.
    #[error("the handler {handler} does not write {what}")]
    Unsupported {
        /// The handler.
        handler: String,
        /// What it was asked for.
        what: &'static str,
    },
    /// The id is taken.
    #[error("a handler with the id {id:?} is registered already")]
    Duplicate {
        /// The id.
        id: String,
    },
    /// A value of the wrong shape.
    #[error("the value at {path} is {found}; accepted is {accepted}")]
    Value {
        /// Where in the value, as a JSON path: `$` is the value itself, `$[2].id` a member of its third item.
        path: String,
        /// What is there.
        found: String,
        /// What may be there.
        accepted: &'static str,
    },
    /// More than the handler takes in at once.
    #[error("{bytes} bytes are more than the {max_bytes} that the handler {handler} takes")]
    TooLarge {
        /// The handler.
        handler: String,
        /// How many bytes there are.
        bytes: usize,
        /// How many there may be.
        max_bytes: usize,
    },
    /// A custom handler failed in its own way.
    #[error("the handler {handler} failed")]
    Failed {
        /// The handler.
        handler: String,
        /// How.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl HandlerError {
    /// A custom handler's own failure.
    #[must_use]
    pub fn failed(handler: &str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Failed { handler: handler.to_owned(), source: source.into() }
    }

    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "workspace.handler_malformed",
            Self::Undecodable { .. } => "workspace.handler_undecodable",
            Self::Encoding { .. } => "workspace.handler_encoding",
            Self::Unsupported { .. } => "workspace.handler_unsupported",
            Self::Duplicate { .. } => "workspace.handler_duplicate",
            Self::Value { .. } => "workspace.handler_value",
            Self::TooLarge { .. } => "workspace.handler_too_large",
            Self::Failed { .. } => "workspace.handler_failed",
        }
    }

    /// A value of the wrong shape at `path`.
    pub(super) fn value(path: impl Into<String>, found: impl Into<String>, accepted: &'static str) -> Self {
        Self::Value { path: path.into(), found: found.into(), accepted }
    }
}

/// What a value is, for messages.
pub(super) fn noun(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
