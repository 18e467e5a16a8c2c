//! Runs: checkpoints, snapshots, runtime events and leases, all kept under the id of a run.

use briefing_core::{Digest, Metadata, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::check_depth;

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

    pub(crate) fn fingerprint(&self) -> Digest {
        fingerprint(&self.event_type, &self.context, &self.payload)
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

impl StoredRuntimeEvent {
    pub(crate) fn fingerprint(&self) -> Digest {
        fingerprint(&self.event_type, &self.context, &self.payload)
    }
}

/// What makes two events under one key the same.
fn fingerprint(event_type: &str, context: &EventContext, payload: &Value) -> Digest {
    let mut print = briefing_core::Fingerprint::new("briefing.runtime_event/1");
    print.text(event_type).json(context).json(payload);
    print.finish()
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
    pub(crate) fn validate(&self) -> Result<(), crate::Error> {
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

/// A lease to claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseClaim {
    /// Who claims it.
    pub owner: String,
    /// How long it lives without a heartbeat, in milliseconds.
    pub ttl_millis: u64,
    /// The state version on which the claim depends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_state_version: Option<u64>,
}

impl LeaseClaim {
    /// A claim of `owner`.
    #[must_use]
    pub fn new(owner: impl Into<String>, ttl_millis: u64) -> Self {
        Self { owner: owner.into(), ttl_millis, expected_state_version: None }
    }

    /// Makes the claim depend on the run's state version.
    #[must_use]
    pub fn expecting(mut self, state_version: u64) -> Self {
        self.expected_state_version = Some(state_version);
        self
    }
}

/// What shows that somebody holds a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseProof {
    /// Who holds it.
    pub owner: String,
    /// The secret of this claim.
    pub token: String,
    /// The number of this claim.
    pub fencing: u64,
}

/// The lease of a run: who may work on it, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionLease {
    /// The run.
    pub run_id: RunId,
    /// Who holds it.
    pub owner: String,
    /// The secret of this claim.
    pub token: String,
    /// The number of this claim: each claim of a run has a higher one than all before.
    pub fencing: u64,
    /// How long it lives without a heartbeat, in milliseconds.
    pub ttl_millis: u64,
    /// Until when it lives, in milliseconds since the Unix epoch.
    pub until_millis: u64,
    /// When it was claimed, in milliseconds since the Unix epoch.
    pub claimed_at_millis: u64,
    /// When it was last renewed, in milliseconds since the Unix epoch.
    pub heartbeat_at_millis: u64,
    /// When it was given back, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at_millis: Option<u64>,
    /// The run's state version when it was claimed or last renewed.
    pub state_version: u64,
    /// A snapshot that its holder works from; it is kept while the lease lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
}

impl ExecutionLease {
    /// What shows that it is held.
    #[must_use]
    pub fn proof(&self) -> LeaseProof {
        LeaseProof { owner: self.owner.clone(), token: self.token.clone(), fencing: self.fencing }
    }

    /// Whether it is held at a time, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn is_live(&self, now_millis: u64) -> bool {
        self.released_at_millis.is_none() && now_millis < self.until_millis
    }

    /// Whether `proof` shows this lease while it is live; otherwise what became of it.
    pub(crate) fn check(&self, proof: &LeaseProof, now_millis: u64) -> Result<(), crate::Error> {
        let reason = if self.fencing != proof.fencing {
            "it was claimed again since"
        } else if self.owner != proof.owner || self.token != proof.token {
            "owner and token are not those of the claim"
        } else if self.released_at_millis.is_some() {
            "it was released"
        } else if now_millis >= self.until_millis {
            "it expired"
        } else {
            return Ok(());
        };
        Err(lost(&self.run_id, proof, reason))
    }
}

/// What became of a lease of a run that has none.
pub(crate) const NEVER_LEASED: &str = "the run was never leased";

pub(crate) fn lost(run_id: &RunId, proof: &LeaseProof, reason: &'static str) -> crate::Error {
    crate::Error::LeaseLost {
        run_id: run_id.clone(),
        owner: proof.owner.clone(),
        fencing: proof.fencing,
        reason,
    }
}
