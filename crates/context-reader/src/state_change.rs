//! What a reader's state gained since an earlier one, for stores that append and never rewrite.

use std::collections::BTreeMap;

use briefing_core::{BindingId, ContextBudget, ContextConsumer, PackageId, Phase, Revision, TaskContextId};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::continuation::Continuation;
use crate::disclosure::Disclosed;
use crate::state::{READER_STATE_SCHEMA, ReaderState, state_error};

/// The schema string of a stored change.
pub const READER_STATE_CHANGE_SCHEMA: &str = "briefing.reader_state_change/1";

/// What a reader's state gained since an earlier one. A reader never forgets what it delivered, so a change only adds: what
/// was disclosed, the packages, and the continuations that came or moved on. Who reads and what is pinned is in it whole.
///
/// ```
/// use briefing_context_reader::{ContextReading, ReaderStateChange};
/// use briefing_core::{ContextConsumer, ContextEntry, ContextReadIntent, Role};
/// use briefing_task_context::TaskContext;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let context = TaskContext::new("maintenance")?;
/// context.put(ContextEntry::new(Role::Information, "The pump is checked every week."))?;
/// let mut reader = context.reader(ContextConsumer::new("planner")?).open().await?;
/// let before = reader.export_state();
/// reader.read(&ContextReadIntent::new("when is the pump checked?")?).await?;
/// let after = reader.export_state();
///
/// let change = after.change_since(Some(&before))?;
/// let stored = serde_json::to_string(&change)?;
/// let change: ReaderStateChange = serde_json::from_str(&stored)?;
/// assert_eq!(change.apply_to(Some(before))?, after);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReaderStateChange {
    schema: String,
    task_context_id: TaskContextId,
    consumer: ContextConsumer,
    phase: Phase,
    budget: ContextBudget,
    context_revision: u64,
    source_revisions: BTreeMap<BindingId, Option<Revision>>,
    /// How many contents the earlier state had disclosed.
    disclosed_before: usize,
    disclosed: Vec<Disclosed>,
    continuations: Vec<Continuation>,
    /// How many packages the earlier state had read.
    packages_before: usize,
    packages: Vec<PackageId>,
}

impl ReaderStateChange {
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

    /// The state after the change. `None` is the state of a reader that has read nothing.
    ///
    /// # Errors
    /// [`Error::State`] where the change does not begin at this state; [`Error::Value`] for another schema.
    pub fn apply_to(self, earlier: Option<ReaderState>) -> Result<ReaderState, Error> {
        if self.schema != READER_STATE_CHANGE_SCHEMA {
            let supported = READER_STATE_CHANGE_SCHEMA;
            return Err(briefing_core::Error::UnsupportedSchema { found: self.schema, supported }.into());
        }
        let mut state = earlier.unwrap_or_else(|| ReaderState {
            schema: READER_STATE_SCHEMA.to_owned(),
            task_context_id: self.task_context_id.clone(),
            consumer: self.consumer.clone(),
            phase: self.phase.clone(),
            budget: self.budget.clone(),
            context_revision: self.context_revision,
            source_revisions: BTreeMap::new(),
            disclosed: Vec::new(),
            continuations: Vec::new(),
            packages: Vec::new(),
        });
        let same = state.task_context_id == self.task_context_id
            && state.consumer == self.consumer
            && state.phase == self.phase;
        let begins_here =
            self.disclosed_before == state.disclosed.len() && self.packages_before == state.packages.len();
        if !same || !begins_here {
            let problem = format!(
                "it begins after {} contents and {} packages of {} in {}, expected {} and {} of {} in {}",
                self.disclosed_before,
                self.packages_before,
                self.consumer.id(),
                self.phase,
                state.disclosed.len(),
                state.packages.len(),
                state.consumer.id(),
                state.phase,
            );
            return Err(state_error("change", problem));
        }
        state.budget = self.budget;
        state.context_revision = self.context_revision;
        state.source_revisions = self.source_revisions;
        let expected = state.disclosed.len() + self.disclosed.len();
        state.disclosed.extend(self.disclosed);
        // Exports list contents and continuations in order, so an applied state equals the exported one.
        state.disclosed.sort();
        state.disclosed.dedup();
        if state.disclosed.len() != expected {
            return Err(state_error("change.disclosed", "a content is disclosed twice"));
        }
        for continuation in self.continuations {
            let at = state.continuations.binary_search_by(|old| place(old).cmp(&place(&continuation)));
            match at.map(|at| state.continuations.get_mut(at)) {
                Ok(Some(old)) => *old = continuation,
                Ok(None) => {}
                Err(at) => state.continuations.insert(at, continuation),
            }
        }
        state.packages.extend(self.packages);
        state.validate()?;
        Ok(state)
    }
}

/// What a continuation is kept under.
fn place(continuation: &Continuation) -> (&BindingId, &briefing_core::Digest) {
    (&continuation.binding_id, &continuation.intent)
}

impl ReaderState {
    /// What this state gained since an earlier one of the same reader; `None` is a reader that had read nothing.
    ///
    /// # Errors
    /// [`Error::State`] where the earlier state is no earlier state of this reader.
    pub fn change_since(&self, earlier: Option<&Self>) -> Result<ReaderStateChange, Error> {
        let no_earlier = |field: &str| {
            state_error(field, "found what the later state does not hold, expected an earlier one")
        };
        let (known, read) = match earlier {
            Some(earlier)
                if (&earlier.task_context_id, &earlier.consumer, &earlier.phase)
                    != (&self.task_context_id, &self.consumer, &self.phase) =>
            {
                return Err(no_earlier("reader"));
            }
            Some(earlier) => (earlier.disclosed.as_slice(), earlier.packages.as_slice()),
            None => Default::default(),
        };
        // Both lists are sorted: what is not in step is new.
        let mut disclosed = Vec::new();
        let mut rest = known.iter().peekable();
        for content in &self.disclosed {
            if rest.next_if(|old| *old == content).is_none() {
                disclosed.push(content.clone());
            }
        }
        if rest.peek().is_some() {
            return Err(no_earlier("disclosed"));
        }
        let packages = self.packages.strip_prefix(read).ok_or_else(|| no_earlier("packages"))?;
        let earlier = earlier.map(|earlier| earlier.continuations.as_slice()).unwrap_or_default();
        let old = |continuation: &Continuation| {
            let at = earlier.binary_search_by(|old| place(old).cmp(&place(continuation))).ok()?;
            earlier.get(at)
        };
        let moved = self.continuations.iter().filter(|continuation| old(continuation) != Some(continuation));
        Ok(ReaderStateChange {
            schema: READER_STATE_CHANGE_SCHEMA.to_owned(),
            task_context_id: self.task_context_id.clone(),
            consumer: self.consumer.clone(),
            phase: self.phase.clone(),
            budget: self.budget.clone(),
            context_revision: self.context_revision,
            source_revisions: self.source_revisions.clone(),
            disclosed_before: known.len(),
            disclosed,
            continuations: moved.cloned().collect(),
            packages_before: read.len(),
            packages: packages.to_vec(),
        })
    }
}
