//! How a source tells what changed between two of its revisions.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    ContextDiagnostic, DescriptorKey, ProjectionProfile, Revision, SourceDescriptor, SourceError, SourceId,
};

/// One change of a source's listing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceChange {
    /// The descriptor is new, or replaces the one with the same key.
    Upsert(Box<SourceDescriptor>),
    /// The descriptor with this key is gone.
    Remove(DescriptorKey),
}

/// Everything that changed in a source's listing from one revision to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceChangeSet {
    /// The source.
    pub source_id: SourceId,
    /// The revision that the receiver holds.
    pub from_revision: Revision,
    /// The revision that the changes lead to.
    pub to_revision: Revision,
    /// The changes; each key at most once.
    pub changes: Vec<SourceChange>,
    /// What the source cannot offer at the new revision, or only in a worse form: the whole list, not a difference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<ContextDiagnostic>,
}

/// An optional ability of a source: to say what changed instead of being listed again.
#[async_trait]
pub trait ChangeFeed: Send + Sync {
    /// The changes that lead from one revision to another.
    ///
    /// # Errors
    /// Any [`SourceError`]; the caller then lists the source in full.
    async fn changes(
        &self,
        from: &Revision,
        to: &Revision,
        profile: &ProjectionProfile,
    ) -> Result<SourceChangeSet, SourceError>;
}
