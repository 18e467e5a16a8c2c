//! Why a document gave no text.

use std::time::Duration;

/// Why a document gave no text at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// No parser for this kind of bytes is built in.
    #[error("cannot read {what}")]
    Unsupported {
        /// What the bytes are.
        what: String,
    },
    /// A password stands before the text.
    #[error("the document is encrypted")]
    Encrypted,
    /// The bytes break the rules of their format.
    #[error("the document is damaged: {reason}")]
    Damaged {
        /// Which rule, and where.
        reason: String,
    },
    /// The document costs more than [`DocumentLimits`](super::DocumentLimits) allow.
    #[error("the document exceeds {limit} ({allowed})")]
    LimitExceeded {
        /// The field of the limits.
        limit: &'static str,
        /// Its value.
        allowed: u64,
    },
    /// The parser took longer than [`time_limit`](super::DocumentLimits::time_limit).
    #[error("the document was not read within {allowed:?}")]
    TimedOut {
        /// The time limit.
        allowed: Duration,
    },
    /// So many parsers that timed out have not stopped yet that no other is started.
    #[error("{running} parsers that timed out are still running")]
    Busy {
        /// How many.
        running: usize,
    },
    /// The parser panicked, or no thread could be started for it.
    #[error("the parser failed: {reason}")]
    Panicked {
        /// Its last words.
        reason: String,
    },
    /// The document was read and holds no text: a scan without recognised text, a page tree that leads nowhere.
    #[error("the document holds no text: {reason}")]
    NoText {
        /// What was found instead.
        reason: String,
    },
}

impl DocumentError {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported { .. } => "document.unsupported",
            Self::Encrypted => "document.encrypted",
            Self::Damaged { .. } => "document.damaged",
            Self::LimitExceeded { .. } => "document.limit_exceeded",
            Self::TimedOut { .. } => "document.timed_out",
            Self::Busy { .. } => "document.busy",
            Self::Panicked { .. } => "document.panicked",
            Self::NoText { .. } => "document.no_text",
        }
    }

    #[cfg(any(feature = "pdf", feature = "office"))]
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged { reason: reason.into() }
    }

    pub(crate) fn limit(limit: &'static str, allowed: u64) -> Self {
        Self::LimitExceeded { limit, allowed }
    }
}
