//! A reader's state as a value that outlives the process.

use std::collections::BTreeMap;
use std::sync::Arc;

use briefing_core::{
    BindingId, ContextBudget, ContextConsumer, ContextPackage, PackageId, Phase, Revision, TaskContextId,
};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::continuation::{Continuation, Continuations};
use crate::disclosure::{Disclosed, Disclosure};

/// The schema string of a stored reader state.
pub const READER_STATE_SCHEMA: &str = "briefing.reader_state/1";

/// What a reader remembers: who reads, the budget, what was pinned, what was delivered, and how far its reads came. It
/// round-trips through JSON; every field is required and unknown ones are refused, so nothing is forgotten silently.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReaderState {
    pub(crate) schema: String,
    pub(crate) task_context_id: TaskContextId,
    pub(crate) consumer: ContextConsumer,
    pub(crate) phase: Phase,
    pub(crate) budget: ContextBudget,
    pub(crate) context_revision: u64,
    pub(crate) source_revisions: BTreeMap<BindingId, Option<Revision>>,
    pub(crate) disclosed: Vec<Disclosed>,
    pub(crate) continuations: Vec<Continuation>,
    pub(crate) packages: Vec<PackageId>,
}

impl ReaderState {
    /// Reads a stored state.
    ///
    /// # Errors
    /// [`Error::State`] naming the field that is missing, malformed or unknown; [`Error::Value`] for another schema.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let document: serde_json::Value = serde_json::from_str(text)
            .map_err(|error| state_error("document", format!("{error}, expected JSON")))?;
        let found = document.get("schema").and_then(|schema| schema.as_str()).unwrap_or_default();
        if found != READER_STATE_SCHEMA {
            let found = found.to_owned();
            return Err(
                briefing_core::Error::UnsupportedSchema { found, supported: READER_STATE_SCHEMA }.into()
            );
        }
        let state: Self = serde_json::from_value(document)
            .map_err(|error| state_error("document", format!("{error}, expected {READER_STATE_SCHEMA}")))?;
        state.validate()?;
        Ok(state)
    }

    /// Checks what the types alone do not, for a state that was stored inside another document.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn validate(&self) -> Result<(), Error> {
        if self.schema != READER_STATE_SCHEMA {
            let found = self.schema.clone();
            return Err(
                briefing_core::Error::UnsupportedSchema { found, supported: READER_STATE_SCHEMA }.into()
            );
        }
        if let Some(field) = self.disclosed.iter().find_map(Disclosed::blank_field) {
            return Err(state_error(
                format!("disclosed.{field}"),
                "blank, expected the identity of a delivered content",
            ));
        }
        for continuation in &self.continuations {
            let pending = &continuation.progress.pending;
            let ascending = pending.is_sorted_by(|a, b| a < b);
            if !ascending || pending.last().is_some_and(|last| *last >= continuation.progress.offset) {
                return Err(state_error(
                    "continuations.progress",
                    "pending positions must ascend and lie below the offset",
                ));
            }
        }
        Ok(())
    }

    /// The stored form.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A state holds only texts, numbers and string-keyed maps, which always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The ids of the packages that must be handed over with the state.
    #[must_use]
    pub fn package_ids(&self) -> &[PackageId] {
        &self.packages
    }

    /// How many contents the reader has delivered.
    #[must_use]
    pub fn disclosed_count(&self) -> usize {
        self.disclosed.len()
    }

    /// Who reads.
    #[must_use]
    pub fn consumer(&self) -> &ContextConsumer {
        &self.consumer
    }

    /// In which phase.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    pub(crate) fn disclosure(&self) -> Disclosure {
        Disclosure { seen: self.disclosed.iter().cloned().collect() }
    }

    pub(crate) fn continuations(&self) -> Continuations {
        let all = self.continuations.iter().map(|continuation| {
            let Continuation { binding_id, source_revision, intent, progress } = continuation.clone();
            ((binding_id, intent), (source_revision, progress))
        });
        Continuations { all: all.collect() }
    }

    /// Checks that exactly the packages of this state are handed over.
    pub(crate) fn check_packages(&self, packages: &[Arc<ContextPackage>]) -> Result<(), Error> {
        let given: Vec<&PackageId> = packages.iter().map(|package| package.package_id()).collect();
        if given != self.packages.iter().collect::<Vec<_>>() {
            return Err(state_error(
                "packages",
                format!("found {given:?}, expected {:?} in this order", self.packages),
            ));
        }
        Ok(())
    }
}

pub(crate) fn state_error(field: impl Into<String>, problem: impl Into<String>) -> Error {
    Error::State { field: field.into(), problem: problem.into() }
}
