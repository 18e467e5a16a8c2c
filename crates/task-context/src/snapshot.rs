//! What a reader pins: the context's revision, its entries, and each source's revision.

use std::fmt;
use std::sync::Arc;

use briefing_core::{
    BindingId, ContextBinding, ContextEntry, ContextSource, Revision, SourceId, SourceKind, TaskContextId,
    TaskId,
};

/// A pinned entry.
#[derive(Debug, Clone)]
pub struct PinnedEntry {
    /// The entry's id.
    pub id: BindingId,
    /// The entry.
    pub entry: Arc<ContextEntry>,
}

/// A pinned source.
#[derive(Clone)]
pub struct PinnedSource {
    /// The binding's id.
    pub binding_id: BindingId,
    /// How it is bound.
    pub binding: Arc<ContextBinding>,
    /// The source itself, to read from.
    pub source: Arc<dyn ContextSource>,
    /// Its revision, or why it could not say.
    pub revision: Result<Revision, UnknownRevision>,
}

/// Why a source's revision is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRevision {
    /// The source error's code.
    pub code: &'static str,
    /// The source error's message.
    pub message: String,
}

impl PinnedSource {
    /// The source's id.
    #[must_use]
    pub fn source_id(&self) -> &SourceId {
        self.source.source_id()
    }

    /// The source's kind.
    #[must_use]
    pub fn source_kind(&self) -> &SourceKind {
        self.source.source_kind()
    }
}

/// A source's revision now.
pub(crate) async fn revision_of(source: &dyn ContextSource) -> Result<Revision, UnknownRevision> {
    source
        .revision()
        .await
        .map_err(|error| UnknownRevision { code: error.code(), message: error.to_string() })
}

impl fmt::Debug for PinnedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedSource")
            .field("binding_id", &self.binding_id)
            .field("source_id", self.source_id())
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

/// An immutable view of a `TaskContext` at one moment.
#[derive(Debug, Clone)]
pub struct ContextSnapshot {
    pub(crate) context_id: TaskContextId,
    pub(crate) task_id: TaskId,
    pub(crate) context_revision: u64,
    pub(crate) entries: Arc<[PinnedEntry]>,
    pub(crate) sources: Arc<[PinnedSource]>,
}

impl ContextSnapshot {
    /// The context.
    #[must_use]
    pub fn context_id(&self) -> &TaskContextId {
        &self.context_id
    }

    /// The task.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.task_id
    }

    /// The context's revision.
    #[must_use]
    pub fn context_revision(&self) -> u64 {
        self.context_revision
    }

    /// The entries, in the order in which they were put.
    #[must_use]
    pub fn entries(&self) -> &[PinnedEntry] {
        &self.entries
    }

    /// The sources, by priority and then in the order in which they were attached.
    #[must_use]
    pub fn sources(&self) -> &[PinnedSource] {
        &self.sources
    }
}
