//! What a reader asks the index, and what the index answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use briefing_core::{
    BindingId, ContextDiagnostic, ContextReadIntent, DescriptorKey, Digest, Metadata, Role, SourceRef,
};
use serde::{Deserialize, Serialize};

use crate::PinnedSource;

/// What a reader asks.
#[derive(Debug, Clone, Copy)]
pub struct IndexQuery<'a> {
    /// What the consumer asked for.
    pub intent: &'a ContextReadIntent,
    /// The most optional candidates that one binding may offer.
    pub window: usize,
    /// How far earlier reads of this intent came, per binding. A binding that is missing begins anew.
    pub progress: &'a BTreeMap<BindingId, Progress>,
    /// Whether optional candidates in which no word of the query occurs stay away. Only a ranking index can tell.
    pub matched_only: bool,
}

/// How far reads of one intent came in one binding's ranking: every position below `offset` is settled (delivered or
/// rejected), but for the pending ones, which were offered and still wait.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The first position that was never offered.
    pub offset: usize,
    /// Positions below `offset` that wait to be offered again, ascending.
    pub pending: Vec<usize>,
}

impl Progress {
    /// How many candidates are settled.
    #[must_use]
    pub fn settled(&self) -> usize {
        self.offset.saturating_sub(self.pending.len())
    }
}

/// A descriptor as the index keeps it: everything but its index text.
#[derive(Debug, Clone)]
pub struct IndexedDescriptor {
    /// Unique within the source's revision.
    pub key: DescriptorKey,
    /// What to read.
    pub source_ref: SourceRef,
    /// What it is for.
    pub role: Role,
    /// A short name.
    pub title: Box<str>,
    /// One line about it.
    pub summary: Box<str>,
    /// How many chars an exact read is expected to give.
    pub estimated_chars: usize,
    /// The key of the descriptor whose content contains this one's.
    pub parent_key: Option<DescriptorKey>,
    /// Whether every package must carry it whole.
    pub required: bool,
    /// Higher comes first.
    pub priority: i64,
    /// The digest of the whole content, where the source knows it.
    pub content_digest: Option<Digest>,
    /// Facts.
    pub metadata: Metadata,
}

/// One candidate.
#[derive(Debug, Clone)]
pub struct Offer {
    /// What is offered.
    pub descriptor: Arc<IndexedDescriptor>,
    /// The ref of the content that contains it.
    pub parent_ref: Option<SourceRef>,
    /// Whether the intent asked for it by name.
    pub explicit: bool,
    /// The position in the binding's ranking; `None` for required and explicit candidates, which are not ranked.
    pub position: Option<usize>,
    /// How well it answers the query; comparable between sources of one read. 0 where nothing was ranked.
    pub score: f32,
    /// Whether it holds the query literally.
    pub literal: bool,
}

/// What one binding offers.
#[derive(Debug, Clone)]
pub struct BindingOffer {
    /// The source.
    pub pinned: PinnedSource,
    /// The strategy that really ordered the candidates.
    pub strategy: &'static str,
    /// How many optional candidates earlier reads had settled.
    pub settled: usize,
    /// Required candidates and those asked for by name, in offered order.
    pub anchors: Vec<Offer>,
    /// Optional candidates, best first; those that wait from earlier reads come with the others, in rank order.
    pub optional: Vec<Offer>,
    /// The first position that neither this read nor an earlier one offered.
    pub next_offset: usize,
    /// Whether there is anything at or after `next_offset`.
    pub more: bool,
    /// Optional candidates that stay away because no word of the query occurs in them; known once nothing more is left.
    pub unmatched: usize,
}

/// Something that a filter of the intent hides although delivery must account for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// The binding that would have offered it.
    pub binding_id: BindingId,
    /// What is hidden.
    pub source_ref: SourceRef,
    /// Whether it is required (else it was asked for by name).
    pub required: bool,
}

/// What the index answers.
#[derive(Debug, Clone, Default)]
pub struct IndexAnswer {
    /// What each binding offers, in the order of the snapshot. A failed binding is missing here.
    pub offers: Vec<BindingOffer>,
    /// Required descriptors and explicit refs that filters hide.
    pub hidden: Vec<Hidden>,
    /// Required bindings that could not be listed.
    pub failed_required: Vec<BindingId>,
    /// How the answer came to be.
    pub diagnostics: Vec<ContextDiagnostic>,
}
