//! Runs: checkpoints, snapshots and runtime events, all kept under the id of a run.

use briefing_core::{Digest, Environment, Error as ValueError, Fingerprint, Metadata, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::check_depth;
use crate::{Error, ExecutionLease, LeaseProof};

/// A checkpoint to write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCheckpoint {
    /// The state to go on from.
    pub state: Value,
    /// The step that it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// The state version on which the write depends: the run must have it. A run without checkpoints has 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_state_version: Option<u64>,
    /// The state version that it gives the run: more than the run has. `None` is one more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_version: Option<u64>,
    /// The snapshot that a recovery from it needs; it is kept as long as this is the run's latest checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
}

impl NewCheckpoint {
    /// A checkpoint of a state.
    #[must_use]
    pub fn new(state: Value) -> Self {
        Self { state, step_id: None, expected_state_version: None, state_version: None, snapshot_id: None }
    }

    /// Sets the step that it ends.
    #[must_use]
    pub fn step(mut self, step_id: impl Into<String>) -> Self {
        self.step_id = Some(step_id.into());
        self
    }

    /// Makes the write depend on the run's state version.
    #[must_use]
    pub fn expecting(mut self, state_version: u64) -> Self {
        self.expected_state_version = Some(state_version);
        self
    }

    /// Names the snapshot that a recovery from it needs.
    #[must_use]
    pub fn snapshot(mut self, snapshot_id: impl Into<String>) -> Self {
        self.snapshot_id = Some(snapshot_id.into());
        self
    }

    /// The state version that it gives a run which has `current`.
    pub(crate) fn next_version(&self, run_id: &RunId, current: u64) -> Result<u64, Error> {
        let conflict = |expected, actual| Error::StateConflict { run_id: run_id.clone(), expected, actual };
        if let Some(expected) = self.expected_state_version.filter(|expected| *expected != current) {
            return Err(conflict(expected, current));
        }
        let next = self.state_version.unwrap_or(current + 1);
        if next <= current { Err(conflict(current + 1, next)) } else { Ok(next) }
    }

    /// The checkpoint as it is stored, but for its place, with the canonical text of its state.
    pub(crate) fn taken(
        self,
        run_id: &RunId,
        state_version: u64,
        environment: &dyn Environment,
    ) -> (Checkpoint, String) {
        let text = self.state.to_string();
        let checkpoint = Checkpoint {
            id: environment.new_id("ckpt"),
            run_id: run_id.clone(),
            step_id: self.step_id,
            sequence: 0,
            state_version,
            snapshot_id: self.snapshot_id,
            digest: Digest::of(text.as_bytes()),
            size_bytes: text.len() as u64,
            created_at_millis: environment.now_unix_millis(),
            state: self.state,
        };
        (checkpoint, text)
    }
}

/// A checkpoint. Which is the latest is decided by the order in which they were committed, not by a clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The checkpoint.
    pub id: String,
    /// Its run.
    pub run_id: RunId,
    /// The step that it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Its place in the order of the store.
    pub sequence: u64,
    /// The state version that it gave the run.
    pub state_version: u64,
    /// The snapshot that a recovery from it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// The digest of the state's canonical JSON.
    pub digest: Digest,
    /// The length of the state's canonical JSON in bytes.
    pub size_bytes: u64,
    /// When it was written, in milliseconds since the Unix epoch.
    pub created_at_millis: u64,
    /// The state.
    pub state: Value,
}

/// A snapshot of an execution to write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSnapshot {
    /// What is remembered.
    pub state: Value,
    /// The step it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// How many of the run's snapshots are kept, this one included; `None` keeps all. Checkpoints are never touched, nor a
    /// snapshot that a live lease or the run's latest checkpoint names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_last: Option<u64>,
}

impl NewSnapshot {
    /// A snapshot that takes no other's place.
    #[must_use]
    pub fn new(state: Value) -> Self {
        Self { state, step_id: None, keep_last: None }
    }

    /// Sets the step it belongs to.
    #[must_use]
    pub fn step(mut self, step_id: impl Into<String>) -> Self {
        self.step_id = Some(step_id.into());
        self
    }

    /// Keeps only the last snapshots of the run.
    #[must_use]
    pub fn keep_last(mut self, snapshots: u64) -> Self {
        self.keep_last = Some(snapshots);
        self
    }

    /// The snapshot as it is stored, but for its place, with the canonical text of its state.
    pub(crate) fn taken(self, run_id: &RunId, environment: &dyn Environment) -> (Snapshot, String) {
        let text = self.state.to_string();
        let snapshot = Snapshot {
            id: environment.new_id("snap"),
            run_id: run_id.clone(),
            step_id: self.step_id,
            sequence: 0,
            digest: Digest::of(text.as_bytes()),
            size_bytes: text.len() as u64,
            created_at_millis: environment.now_unix_millis(),
            state: self.state,
        };
        (snapshot, text)
    }
}

/// A snapshot of an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    /// The snapshot.
    pub id: String,
    /// Its run.
    pub run_id: RunId,
    /// The step it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Its place in the order of the store.
    pub sequence: u64,
    /// The digest of the state's canonical JSON.
    pub digest: Digest,
    /// The length of the state's canonical JSON in bytes.
    pub size_bytes: u64,
    /// When it was written, in milliseconds since the Unix epoch.
    pub created_at_millis: u64,
    /// What is remembered.
    pub state: Value,
}

/// What a pruning of snapshots did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PruneReport {
    /// How many snapshots the run still has.
    pub retained: u64,
    /// How many of these were kept only because a lease or the latest checkpoint names them.
    pub pinned: u64,
    /// How many were removed.
    pub removed: u64,
    /// How many bytes of state were removed.
    pub removed_bytes: u64,
}

/// What an event is about beside its payload; everything is optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventContext {
    /// The state version of the run that the event saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_version: Option<u64>,
    /// The event that contains this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// The event that caused this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    /// The node of a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// The operator that worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator_id: Option<String>,
    /// The interrupt it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupt_id: Option<String>,
    /// The request that resumes the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_request_id: Option<String>,
    /// Who acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// Who held the lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_owner_id: Option<String>,
    /// The exchange with a model or a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange_id: Option<String>,
    /// Under what it is counted.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub aggregation_scope: Metadata,
    /// A snapshot that belongs to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_ref: Option<String>,
    /// Artefacts that belong to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifact_refs: Vec<String>,
}

/// An event to append.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewEvent {
    /// What sort of event it is.
    pub event_type: String,
    /// Its id; `None` lets the store make one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// A key under which it is stored once: the same event again is answered with the stored one, another event under the
    /// same key is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The sequence number on which the append depends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_sequence: Option<u64>,
    /// When it happened, in milliseconds since the Unix epoch; `None` is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at_millis: Option<u64>,
    /// What it is about.
    #[serde(default)]
    pub context: EventContext,
    /// What happened.
    #[serde(default)]
    pub payload: Value,
}

impl NewEvent {
    /// An event of a type.
    #[must_use]
    pub fn new(event_type: impl Into<String>, payload: Value) -> Self {
        Self {
            event_type: event_type.into(),
            event_id: None,
            idempotency_key: None,
            expected_sequence: None,
            created_at_millis: None,
            context: EventContext::default(),
            payload,
        }
    }

    /// Stores it once under a key.
    #[must_use]
    pub fn idempotent(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Makes the append depend on the place that it gets.
    #[must_use]
    pub fn expecting(mut self, sequence: u64) -> Self {
        self.expected_sequence = Some(sequence);
        self
    }

    /// Sets what it is about.
    #[must_use]
    pub fn context(mut self, context: EventContext) -> Self {
        self.context = context;
        self
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.event_type.trim().is_empty() {
            return Err(ValueError::Blank { field: "event_type" }.into());
        }
        Ok(())
    }

    /// Answers with the event that is stored under the same key, if it is the same.
    pub(crate) fn repeated(&self, stored: StoredRuntimeEvent) -> Result<StoredRuntimeEvent, Error> {
        let print = |event_type: &str, context: &EventContext, payload: &Value| {
            let mut print = Fingerprint::new("briefing.runtime_event/1");
            print.text(event_type).json(context).json(payload).finish()
        };
        let same = print(&self.event_type, &self.context, &self.payload)
            == print(&stored.event_type, &stored.context, &stored.payload);
        if same {
            return Ok(stored);
        }
        let key = self.idempotency_key.clone().unwrap_or_default();
        Err(Error::EventConflict { run_id: stored.run_id, key, sequence: stored.sequence })
    }

    /// Refuses a place that is not the one on which the append depends.
    pub(crate) fn check_place(&self, run_id: &RunId, sequence: u64) -> Result<(), Error> {
        match self.expected_sequence.filter(|expected| *expected != sequence) {
            None => Ok(()),
            Some(expected) => {
                Err(Error::SequenceConflict { run_id: run_id.clone(), expected, actual: sequence })
            }
        }
    }

    /// The event as it is stored at its place.
    pub(crate) fn placed(
        self,
        run_id: &RunId,
        sequence: u64,
        environment: &dyn Environment,
    ) -> StoredRuntimeEvent {
        let now = environment.now_unix_millis();
        StoredRuntimeEvent {
            run_id: run_id.clone(),
            sequence,
            event_id: self.event_id.unwrap_or_else(|| environment.new_id("evt")),
            event_type: self.event_type,
            idempotency_key: self.idempotency_key,
            context: self.context,
            payload: self.payload,
            created_at_millis: self.created_at_millis.unwrap_or(now),
            persisted_at_millis: now,
        }
    }
}

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRuntimeEvent {
    /// The run (an execution's id is its run's).
    pub run_id: RunId,
    /// Its place in the run: from 1, without gaps.
    pub sequence: u64,
    /// Its id.
    pub event_id: String,
    /// What sort of event it is.
    pub event_type: String,
    /// The key under which it is stored once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// What it is about.
    #[serde(default)]
    pub context: EventContext,
    /// What happened.
    #[serde(default)]
    pub payload: Value,
    /// When it happened, in milliseconds since the Unix epoch.
    pub created_at_millis: u64,
    /// When it was stored, in milliseconds since the Unix epoch.
    pub persisted_at_millis: u64,
}

/// Which events of a run are meant, in the order of their sequence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EventFilter {
    /// Only this type.
    pub event_type: Option<String>,
    /// Only this event.
    pub event_id: Option<String>,
    /// From this sequence number on.
    pub from_sequence: Option<u64>,
    /// Up to this sequence number, itself included.
    pub to_sequence: Option<u64>,
    /// The most events; `None` is all.
    pub limit: Option<usize>,
}

/// Everything that one step of a run writes. It is one transaction: all of it is there afterwards, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewStep {
    /// The lease under which it is written; it must be the run's live one. Without one, the step is written whoever holds the
    /// lease: workers that share a run name theirs.
    pub lease: Option<LeaseProof>,
    /// A snapshot. A checkpoint of the same step that names none names this one.
    pub snapshot: Option<NewSnapshot>,
    /// A checkpoint.
    pub checkpoint: Option<NewCheckpoint>,
    /// Events, in their order.
    pub events: Vec<NewEvent>,
}

impl NewStep {
    /// A step that writes nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes under a lease.
    #[must_use]
    pub fn under(mut self, lease: &ExecutionLease) -> Self {
        self.lease = Some(lease.proof());
        self
    }

    /// Writes a snapshot.
    #[must_use]
    pub fn snapshot(mut self, snapshot: NewSnapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Writes a checkpoint.
    #[must_use]
    pub fn checkpoint(mut self, checkpoint: NewCheckpoint) -> Self {
        self.checkpoint = Some(checkpoint);
        self
    }

    /// Refuses what could not be read again.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let states = self.snapshot.iter().map(|snapshot| &snapshot.state);
        check_depth("state", states.chain(self.checkpoint.iter().map(|checkpoint| &checkpoint.state)))?;
        for event in &self.events {
            check_depth("payload", [&event.payload])?;
            check_depth("aggregation_scope", event.context.aggregation_scope.values())?;
        }
        Ok(())
    }

    /// Appends an event.
    #[must_use]
    pub fn event(mut self, event: NewEvent) -> Self {
        self.events.push(event);
        self
    }
}

/// What a step wrote.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepOutcome {
    /// The snapshot.
    pub snapshot: Option<Snapshot>,
    /// What its retention removed.
    pub pruned: Option<PruneReport>,
    /// The checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// The events: new, or stored before under the same key.
    pub events: Vec<StoredRuntimeEvent>,
}
