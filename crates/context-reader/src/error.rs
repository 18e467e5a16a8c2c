//! What can go wrong between a consumer and its reader.

use briefing_core::{BindingId, PortError, SourceRef};

use crate::pins::MovedPin;

/// Errors of a reader. A source or selector that fails is not among them: it becomes omissions and diagnostics.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The context or a source moved; nothing was delivered. Call `refresh` and read again.
    #[error("stale: {what}{}; refresh the reader and read again", listed(moved))]
    Stale {
        /// What happened.
        what: String,
        /// Which bindings moved, from which revision to which, where the reader knows; empty where it does not.
        moved: Vec<MovedPin>,
    },
    /// The context refused the question.
    #[error(transparent)]
    Context(briefing_task_context::Error),
    /// A value breaks the rules of its type.
    #[error(transparent)]
    Value(#[from] briefing_core::Error),
    /// The budget counts in an encoding that nobody here can count.
    #[error("no token counter for the encoding {encoding:?}; built in are o200k_base and cl100k_base")]
    UnknownEncoding {
        /// The encoding.
        encoding: String,
    },
    /// The given token counter counts in another encoding than the budget.
    #[error("the token counter counts {counter:?}, the budget {budget:?}")]
    EncodingMismatch {
        /// The counter's encoding.
        counter: String,
        /// The budget's encoding.
        budget: String,
    },
    /// The token budget does not even hold an empty package.
    #[error("max_tokens {max_tokens} is too small: an empty package takes {needed} tokens")]
    BudgetTooSmall {
        /// The budget.
        max_tokens: usize,
        /// What an empty package takes.
        needed: usize,
    },
    /// A port that the host supplied failed where the read cannot go on without it.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The package was read by another reader.
    #[error(
        "the package does not belong to this reader: its {field} is {found:?}, the reader's {expected:?}"
    )]
    ForeignPackage {
        /// The field that differs.
        field: &'static str,
        /// The package's value.
        found: String,
        /// The reader's value.
        expected: String,
    },
    /// Content that had to be delivered was not.
    #[error(
        "required content was not delivered whole to {consumer}: refs [{}], bindings [{}]",
        refs.iter().map(SourceRef::as_str).collect::<Vec<_>>().join(", "),
        bindings.iter().map(BindingId::as_str).collect::<Vec<_>>().join(", ")
    )]
    RequiredUndelivered {
        /// The consumer.
        consumer: String,
        /// The refs that are missing, or present as a reference only.
        refs: Vec<SourceRef>,
        /// Required bindings that could not be listed.
        bindings: Vec<BindingId>,
    },
    /// A reader state cannot be used here.
    #[error("reader state, {field}: {problem}")]
    State {
        /// The field.
        field: String,
        /// What is wrong with it, and what would be accepted.
        problem: String,
    },
    /// A worker thread was stopped by the runtime.
    #[error("a worker stopped before it was done")]
    Worker(#[from] tokio::task::JoinError),
}

fn listed(moved: &[MovedPin]) -> String {
    moved.iter().map(|pin| format!("; {pin}")).collect()
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stale { .. } => "context.stale",
            Self::Context(error) => error.code(),
            Self::Value(error) => error.code(),
            Self::UnknownEncoding { .. } => "tokens.unknown_encoding",
            Self::EncodingMismatch { .. } => "tokens.encoding_mismatch",
            Self::BudgetTooSmall { .. } => "context.budget_too_small",
            Self::Port(error) => error.code(),
            Self::ForeignPackage { .. } => "context.foreign_package",
            Self::RequiredUndelivered { .. } => "context.required_undelivered",
            Self::State { .. } => "context.invalid_state",
            Self::Worker(_) => "context.worker_stopped",
        }
    }

    pub(crate) fn stale(what: impl Into<String>) -> Self {
        Self::Stale { what: what.into(), moved: Vec::new() }
    }
}

impl From<briefing_task_context::Error> for Error {
    fn from(error: briefing_task_context::Error) -> Self {
        match error {
            briefing_task_context::Error::RevisionMoved { .. } => Self::stale(error.to_string()),
            other => Self::Context(other),
        }
    }
}
