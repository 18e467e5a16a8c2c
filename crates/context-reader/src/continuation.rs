//! How far the reads of an intent came in each binding.

use std::collections::{BTreeMap, BTreeSet};

use briefing_core::{BindingId, Digest, Revision, SourceCoverage};
use briefing_task_context::{BindingOffer, ContextSnapshot, Progress};
use serde::{Deserialize, Serialize};

/// A reader's continuation of one intent in one binding at one revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Continuation {
    pub(crate) binding_id: BindingId,
    pub(crate) source_revision: Revision,
    pub(crate) intent: Digest,
    pub(crate) progress: Progress,
}

/// All continuations of a reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Continuations {
    pub(crate) all: BTreeMap<(BindingId, Digest), (Revision, Progress)>,
}

impl Continuations {
    /// How far this intent came, in bindings whose revision has not moved since.
    pub(crate) fn of(&self, intent: Digest, snapshot: &ContextSnapshot) -> BTreeMap<BindingId, Progress> {
        let current = |binding_id: &BindingId| {
            let (revision, progress) = self.all.get(&(binding_id.clone(), intent))?;
            let pinned = snapshot.sources().iter().find(|pinned| pinned.binding_id == *binding_id)?;
            (pinned.revision.as_ref() == Ok(revision)).then(|| (binding_id.clone(), progress.clone()))
        };
        snapshot.sources().iter().filter_map(|pinned| current(&pinned.binding_id)).collect()
    }

    /// Remembers how far a read came.
    pub(crate) fn advance(&mut self, intent: Digest, steps: Vec<(BindingId, Revision, Progress)>) {
        for (binding_id, revision, progress) in steps {
            self.all.insert((binding_id, intent), (revision, progress));
        }
    }
}

/// What became of one binding's candidates in a read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    /// Positions that were offered and still wait: the budget was spent on others, or the read failed.
    pub(crate) waiting: BTreeSet<usize>,
    /// The binding does not advance: required content of it failed, or nothing was chosen at all.
    pub(crate) held: bool,
}

impl Outcome {
    /// Where the next read of the intent begins.
    pub(crate) fn progress(&self, before: &Progress, offer: &BindingOffer) -> Progress {
        if self.held {
            return before.clone();
        }
        let offered: BTreeSet<usize> = offer.optional.iter().filter_map(|offer| offer.position).collect();
        let never_came_up = before.pending.iter().copied().filter(|position| !offered.contains(position));
        let mut pending: Vec<usize> = never_came_up.chain(self.waiting.iter().copied()).collect();
        pending.sort_unstable();
        Progress { offset: offer.next_offset, pending }
    }

    /// What the package says about the binding.
    pub(crate) fn coverage(&self, before: &Progress, offer: &BindingOffer) -> SourceCoverage {
        let still_pending = before.pending.len() > offer.optional.len();
        let exhaustive = !offer.more && self.waiting.is_empty() && !still_pending;
        SourceCoverage {
            scope: briefing_core::CoverageScope {
                source_kind: offer.pinned.source_kind().clone(),
                strategy: offer.strategy.to_owned(),
                offset: offer.settled,
            },
            returned_candidates: offer.anchors.len() + offer.optional.len(),
            unmatched_candidates: offer.unmatched,
            exhaustive,
            continuation_available: !exhaustive,
        }
    }
}
