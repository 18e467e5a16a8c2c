//! Durability for a host's own workflow engine, over the same store and without a [`TaskExecution`](crate::TaskExecution).

use briefing_core::RunId;
use briefing_record_store::{
    Checkpoint, Error, EventFilter, ExecutionLease, LeaseClaim, NewCheckpoint, NewEvent, NewSnapshot,
    NewStep, RecordStore, Snapshot, StepOutcome, StoredRuntimeEvent,
};

/// Events, snapshots, checkpoints and leases of a host's runs. Without a store it is switched off: every operation succeeds
/// and answers `None`, so that a workflow engine asks no questions.
///
/// A run belongs to whoever writes its checkpoints: a flow does not take the id of a task execution for its own.
///
/// ```
/// use briefing_core::RunId;
/// use briefing_execution::FlowDurability;
/// use briefing_record_store::{NewEvent, RecordStore};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_record_store::Error> {
/// let run = RunId::new("flow-1")?;
/// let event = NewEvent::new("step.ended", serde_json::json!({"step": 1})).idempotent("step-1");
/// let flow = FlowDurability::new(Some(RecordStore::in_memory()));
/// assert_eq!(flow.append_event(&run, event.clone()).await?.unwrap().sequence, 1);
///
/// let off = FlowDurability::off();
/// assert!(off.append_event(&run, event).await?.is_none());
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct FlowDurability {
    store: Option<RecordStore>,
}

impl FlowDurability {
    /// Durability over a store; `None` switches it off.
    #[must_use]
    pub fn new(store: Option<RecordStore>) -> Self {
        Self { store }
    }

    /// Switched off.
    #[must_use]
    pub fn off() -> Self {
        Self::default()
    }

    /// Whether anything is kept.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.store.is_some()
    }

    /// Appends an event to a run; one that is stored under the same key is answered with the stored one.
    ///
    /// # Errors
    /// As [`RecordStore::append_event`].
    pub async fn append_event(
        &self,
        run: &RunId,
        event: NewEvent,
    ) -> Result<Option<StoredRuntimeEvent>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.append_event(run, event).await.map(Some)
    }

    /// Events of a run, in the order of their sequence.
    ///
    /// # Errors
    /// As [`RecordStore::events`].
    pub async fn events(
        &self,
        run: &RunId,
        filter: &EventFilter,
    ) -> Result<Option<Vec<StoredRuntimeEvent>>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.events(run, filter).await.map(Some)
    }

    /// Saves a snapshot, and removes older ones where it says how many are kept.
    ///
    /// # Errors
    /// As [`RecordStore::put_snapshot`].
    pub async fn save_snapshot(&self, run: &RunId, snapshot: NewSnapshot) -> Result<Option<Snapshot>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        Ok(store.put_snapshot(run, snapshot).await?.snapshot)
    }

    /// The snapshot that was saved last, if there is one.
    ///
    /// # Errors
    /// As [`RecordStore::latest_snapshot`].
    pub async fn load_snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.latest_snapshot(run).await
    }

    /// Writes a checkpoint.
    ///
    /// # Errors
    /// As [`RecordStore::put_checkpoint`].
    pub async fn checkpoint(
        &self,
        run: &RunId,
        checkpoint: NewCheckpoint,
    ) -> Result<Option<Checkpoint>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.put_checkpoint(run, checkpoint).await.map(Some)
    }

    /// The checkpoint that was written last, if there is one.
    ///
    /// # Errors
    /// As [`RecordStore::latest_checkpoint`].
    pub async fn latest_checkpoint(&self, run: &RunId) -> Result<Option<Checkpoint>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.latest_checkpoint(run).await
    }

    /// Writes all that a step of a run leaves behind in one transaction.
    ///
    /// # Errors
    /// As [`RecordStore::commit_step`].
    pub async fn commit_step(&self, run: &RunId, step: NewStep) -> Result<Option<StepOutcome>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.commit_step(run, step).await.map(Some)
    }

    /// Claims the lease of a run.
    ///
    /// # Errors
    /// As [`RecordStore::claim_lease`].
    pub async fn claim_lease(
        &self,
        run: &RunId,
        claim: &LeaseClaim,
    ) -> Result<Option<ExecutionLease>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.claim_lease(run, claim).await.map(Some)
    }

    /// Renews a lease, and says which snapshot its holder works from.
    ///
    /// # Errors
    /// As [`RecordStore::heartbeat_lease`].
    pub async fn heartbeat_lease(
        &self,
        lease: &ExecutionLease,
        snapshot_id: Option<&str>,
    ) -> Result<Option<ExecutionLease>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.heartbeat_lease(lease, snapshot_id).await.map(Some)
    }

    /// Gives a lease back.
    ///
    /// # Errors
    /// As [`RecordStore::release_lease`].
    pub async fn release_lease(&self, lease: &ExecutionLease) -> Result<Option<ExecutionLease>, Error> {
        let Some(store) = &self.store else { return Ok(None) };
        store.release_lease(lease).await.map(Some)
    }
}
