//! What a reader pins, and what moved away from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use briefing_core::{BindingId, Revision};
use briefing_task_context::{ContextSnapshot, PinnedSource};
use serde::{Deserialize, Serialize};

use crate::Error;

/// A pin that no longer holds: the context's own, or that of one binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MovedPin {
    /// Entries or bindings came or went.
    Context {
        /// The revision that was pinned.
        was: u64,
        /// The revision now.
        is: u64,
    },
    /// A source has another revision, or is bound or unbound since.
    Source {
        /// The binding.
        binding_id: BindingId,
        /// The revision that was pinned; `None` where the source could not say, or was not bound.
        was: Option<Revision>,
        /// The revision now; `None` where the source cannot say, or is not bound.
        is: Option<Revision>,
    },
}

impl fmt::Display for MovedPin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |revision: &Option<Revision>| {
            revision.as_ref().map_or_else(|| "of unknown revision".to_owned(), ToString::to_string)
        };
        match self {
            Self::Context { was, is } => write!(f, "the context was at revision {was} and is at {is}"),
            Self::Source { binding_id, was, is } => {
                write!(f, "binding {binding_id} was {} and is {}", named(was), named(is))
            }
        }
    }
}

/// The revisions that a reader holds to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pins {
    pub(crate) context: u64,
    pub(crate) sources: BTreeMap<BindingId, Option<Revision>>,
}

impl Pins {
    pub(crate) fn of(snapshot: &ContextSnapshot) -> Self {
        let revision = |pinned: &PinnedSource| pinned.revision.as_ref().ok().cloned();
        let sources =
            snapshot.sources().iter().map(|pinned| (pinned.binding_id.clone(), revision(pinned))).collect();
        Self { context: snapshot.context_revision(), sources }
    }

    /// What is at another revision in `now`.
    pub(crate) fn moved(&self, now: &Self) -> Vec<MovedPin> {
        let context =
            (self.context != now.context).then_some(MovedPin::Context { was: self.context, is: now.context });
        let bindings: BTreeSet<&BindingId> = self.sources.keys().chain(now.sources.keys()).collect();
        let source = |binding_id: &BindingId| {
            let (was, is) = (self.sources.get(binding_id), now.sources.get(binding_id));
            (was != is).then(|| MovedPin::Source {
                binding_id: binding_id.clone(),
                was: was.cloned().flatten(),
                is: is.cloned().flatten(),
            })
        };
        context.into_iter().chain(bindings.into_iter().filter_map(source)).collect()
    }

    /// The error of a reader whose pins moved to `now`.
    pub(crate) fn stale(&self, what: &str, now: &Self) -> Error {
        Error::Stale { what: what.to_owned(), moved: self.moved(now) }
    }
}
