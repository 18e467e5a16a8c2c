//! What can go wrong between a caller and a `TaskContext`.

use briefing_core::BindingId;

/// Errors of a `TaskContext` and its index that a caller must act on. A source that fails is not among them: it becomes
/// a diagnostic of its binding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value breaks the rules of its type.
    #[error(transparent)]
    Value(#[from] briefing_core::Error),
    /// An entry or binding with this id exists already.
    #[error("the id {id} is already used by an entry or a binding")]
    DuplicateId {
        /// The id.
        id: BindingId,
    },
    /// The intent filters for kinds of source that are not attached.
    #[error("unknown source kind {}; attached are: {}", unknown.join(", "), attached.join(", "))]
    UnknownSourceKind {
        /// The kinds that nobody has.
        unknown: Vec<String>,
        /// The kinds that are attached.
        attached: Vec<String>,
    },
    /// The intent insists on vectors and the index has none.
    #[error("vector recall is required but unavailable: {reason}")]
    VectorUnavailable {
        /// Why there are none.
        reason: String,
    },
    /// A source's revision moved while it was being listed.
    #[error("the source bound as {binding_id} changed while it was being listed")]
    RevisionMoved {
        /// The binding.
        binding_id: BindingId,
    },
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Value(error) => error.code(),
            Self::DuplicateId { .. } => "context.duplicate_id",
            Self::UnknownSourceKind { .. } => "context.unknown_source_kind",
            Self::VectorUnavailable { .. } => "context.vector_unavailable",
            Self::RevisionMoved { .. } => "context.stale",
        }
    }
}
