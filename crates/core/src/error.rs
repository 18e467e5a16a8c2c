//! Errors of the vocabulary itself, and the error types that ports answer with.

use std::error::Error as StdError;
use std::fmt;

/// A value that breaks the rules of its type. Every variant names the field, what was found and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that must say something was empty or only white space.
    #[error("{field} must not be blank")]
    Blank {
        /// The field that was blank.
        field: &'static str,
    },
    /// A value outside what its field accepts.
    #[error("{field}: found {found}, expected {expected}")]
    Invalid {
        /// The field, as a dotted path where it is nested.
        field: String,
        /// What was found, shortened where it is long.
        found: String,
        /// What would be accepted.
        expected: String,
    },
    /// Filter keys that try to steer the retrieval mechanism, which the index owns.
    #[error("filters: the retrieval mechanism belongs to the index; remove {}", keys.join(", "))]
    FilterMechanism {
        /// The refused keys, sorted.
        keys: Vec<String>,
    },
    /// A stored document whose `schema` this version cannot read.
    #[error("schema: found {found:?}, this version reads {supported:?}")]
    UnsupportedSchema {
        /// The schema string in the document.
        found: String,
        /// The schema string that is understood here.
        supported: &'static str,
    },
    /// A stored package whose content does not match its digest.
    #[error("package {package_id}: content digest is {actual}, the package says {stated}")]
    DigestMismatch {
        /// The package.
        package_id: String,
        /// The digest that the package carries.
        stated: String,
        /// The digest of what it holds.
        actual: String,
    },
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blank { .. } => "value.blank",
            Self::Invalid { .. } => "value.invalid",
            Self::FilterMechanism { .. } => "context.filter_mechanism",
            Self::UnsupportedSchema { .. } => "schema.unsupported",
            Self::DigestMismatch { .. } => "package.digest_mismatch",
        }
    }

    /// An [`Error::Invalid`], with `found` shortened to 80 chars.
    pub fn invalid(field: impl Into<String>, found: impl fmt::Display, expected: impl Into<String>) -> Self {
        let found = found.to_string();
        let found = match found.char_indices().nth(80) {
            Some((end, _)) => format!("{}…", found.get(..end).unwrap_or_default()),
            None => found,
        };
        Self::Invalid { field: field.into(), found, expected: expected.into() }
    }
}

/// Why a source could not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceErrorKind {
    /// The source does not hold the ref (any more).
    NotFound,
    /// What the ref names is no longer what was described.
    Changed,
    /// The content exists but cannot be read: permission, I/O, a device instead of a file.
    Unreadable,
    /// The content cannot be given in the representation that was asked for.
    Unsupported,
    /// The request or the answer broke the port's contract.
    Contract,
    /// The source as a whole is out of reach.
    Unavailable,
}

impl SourceErrorKind {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "source.not_found",
            Self::Changed => "source.changed",
            Self::Unreadable => "source.unreadable",
            Self::Unsupported => "source.unsupported",
            Self::Contract => "source.contract",
            Self::Unavailable => "source.unavailable",
        }
    }
}

/// What a [`ContextSource`](crate::ContextSource) answers when it fails.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    kind: SourceErrorKind,
    message: String,
    #[source]
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl SourceError {
    /// An error with a message that names the object, without its cause.
    pub fn new(kind: SourceErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    /// The source does not hold `source_ref`.
    #[must_use]
    pub fn not_found(source_ref: &str) -> Self {
        Self::new(SourceErrorKind::NotFound, format!("no such ref: {source_ref}"))
    }

    /// Keeps the cause for those who walk the chain.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Why it failed.
    #[must_use]
    pub fn kind(&self) -> SourceErrorKind {
        self.kind
    }

    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl From<Error> for SourceError {
    fn from(error: Error) -> Self {
        Self::new(SourceErrorKind::Contract, error.to_string()).with_cause(error)
    }
}

/// What a port that only the host can supply (selector, tokenizer, model, embeddings) answers when it fails.
#[derive(Debug, thiserror::Error)]
#[error("{port}: {message}")]
pub struct PortError {
    port: &'static str,
    message: String,
    #[source]
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl PortError {
    /// An error of the port named `port`.
    pub fn new(port: &'static str, message: impl Into<String>) -> Self {
        Self { port, message: message.into(), cause: None }
    }

    /// Keeps the cause for those who walk the chain.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The port that failed.
    #[must_use]
    pub fn port(&self) -> &'static str {
        self.port
    }

    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "port.failed"
    }
}
