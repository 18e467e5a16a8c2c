//! What a reader has delivered already, by the identity of the content.

use std::collections::BTreeSet;

use briefing_core::{Completeness, Digest, Role};
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;

/// The identity of a delivered content. `version` is the content's digest where the source knows it, else the source's
/// revision; a part that was cut also carries the intent that it was cut for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Disclosed {
    binding_id: String,
    source_id: String,
    source_ref: String,
    role: Role,
    version: String,
}

impl Disclosed {
    fn of(candidate: &Candidate, intent: Option<Digest>) -> Self {
        let version = candidate.version();
        Self {
            binding_id: candidate.binding_id.to_string(),
            source_id: candidate.source_name().to_owned(),
            source_ref: candidate.source_ref.to_string(),
            role: candidate.role,
            version: intent.map_or_else(|| version.clone(), |intent| format!("{version}@{intent}")),
        }
    }

    /// The first field that is blank, if any.
    pub(crate) fn blank_field(&self) -> Option<&'static str> {
        let fields = [
            ("binding_id", &self.binding_id),
            ("source_id", &self.source_id),
            ("source_ref", &self.source_ref),
            ("version", &self.version),
        ];
        fields.into_iter().find(|(_, value)| value.trim().is_empty()).map(|(name, _)| name)
    }
}

/// Everything that a reader has delivered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disclosure {
    pub(crate) seen: BTreeSet<Disclosed>,
}

impl Disclosure {
    /// Whether the candidate was delivered whole before, or cut for the same intent.
    pub(crate) fn holds(&self, candidate: &Candidate, intent: Digest) -> bool {
        self.seen.contains(&Disclosed::of(candidate, None))
            || self.seen.contains(&Disclosed::of(candidate, Some(intent)))
    }

    /// Remembers a delivery. A reference discloses nothing.
    pub(crate) fn record(&mut self, candidate: &Candidate, completeness: Completeness, intent: Digest) {
        match completeness {
            Completeness::Complete | Completeness::Empty => {
                self.seen.insert(Disclosed::of(candidate, None));
            }
            Completeness::Truncated | Completeness::Lossy => {
                self.seen.insert(Disclosed::of(candidate, Some(intent)));
            }
            Completeness::RefOnly | Completeness::Failed => {}
        }
    }
}
