//! Runs, through the store's mode and view.

use briefing_core::RunId;

use super::RecordStore;
use crate::{
    Checkpoint, Error, EventFilter, ExecutionLease, LeaseClaim, NewCheckpoint, NewEvent, NewSnapshot,
    NewStep, PruneReport, Snapshot, StepOutcome, StoredRuntimeEvent,
};

impl RecordStore {
    /// Writes all that a step of a run leaves behind in one transaction: after a crash all of it is there, or nothing.
    ///
    /// # Errors
    /// [`Error::StateConflict`], [`Error::LeaseLost`], [`Error::EventConflict`], [`Error::SequenceConflict`],
    /// [`Error::OutsideView`], [`Error::ReadOnly`]; [`Error::NotFound`] for a snapshot that the run does not have.
    pub async fn commit_step(&self, run: &RunId, step: NewStep) -> Result<StepOutcome, Error> {
        self.ensure_writable("commit_step")?;
        step.validate()?;
        self.runs_port()?.commit_step(&self.view, run, step).await
    }

    /// Writes a checkpoint.
    ///
    /// # Errors
    /// As [`commit_step`](Self::commit_step).
    pub async fn put_checkpoint(&self, run: &RunId, checkpoint: NewCheckpoint) -> Result<Checkpoint, Error> {
        let outcome = self.commit_step(run, NewStep::new().checkpoint(checkpoint)).await?;
        outcome.checkpoint.ok_or(Error::Interrupted)
    }

    /// The run's state version; 0 for a run without checkpoints.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn state_version(&self, run: &RunId) -> Result<u64, Error> {
        self.runs_port()?.state_version(&self.view, run).await
    }

    /// The checkpoint that was committed last.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn latest_checkpoint(&self, run: &RunId) -> Result<Option<Checkpoint>, Error> {
        let latest = self.checkpoint_history(run, None, Some(1)).await?;
        Ok(latest.into_iter().next())
    }

    /// The run's checkpoints, the latest first; of one step, if it is named.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn checkpoint_history(
        &self,
        run: &RunId,
        step_id: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<Checkpoint>, Error> {
        self.runs_port()?.checkpoints(&self.view, run, step_id, limit).await
    }

    /// Writes a snapshot.
    ///
    /// # Errors
    /// As [`commit_step`](Self::commit_step).
    pub async fn put_snapshot(&self, run: &RunId, snapshot: NewSnapshot) -> Result<StepOutcome, Error> {
        self.commit_step(run, NewStep::new().snapshot(snapshot)).await
    }

    /// The snapshot that was committed last.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn latest_snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, Error> {
        Ok(self.snapshots(run, Some(1)).await?.into_iter().next())
    }

    /// The run's snapshots, the latest first.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn snapshots(&self, run: &RunId, limit: Option<usize>) -> Result<Vec<Snapshot>, Error> {
        self.runs_port()?.snapshots(&self.view, run, limit).await
    }

    /// Removes all but the run's last snapshots and those that a live lease or the latest checkpoint names.
    ///
    /// # Errors
    /// [`Error::ReadOnly`], [`Error::OutsideView`]; [`Error::Value`] for keeping none.
    pub async fn prune_snapshots(&self, run: &RunId, keep_last: u64) -> Result<PruneReport, Error> {
        self.ensure_writable("prune_snapshots")?;
        self.runs_port()?.prune_snapshots(&self.view, run, keep_last).await
    }

    /// Removes a snapshot that nothing names; says whether it was there.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; [`Error::Value`] where a live lease or the latest checkpoint names it.
    pub async fn delete_snapshot(&self, run: &RunId, id: &str) -> Result<bool, Error> {
        self.ensure_writable("delete_snapshot")?;
        self.runs_port()?.delete_snapshot(&self.view, run, id).await
    }

    /// Appends an event to a run; one that was stored under the same key is answered with the stored one.
    ///
    /// # Errors
    /// As [`commit_step`](Self::commit_step).
    pub async fn append_event(&self, run: &RunId, event: NewEvent) -> Result<StoredRuntimeEvent, Error> {
        let mut outcome = self.commit_step(run, NewStep::new().event(event)).await?;
        outcome.events.pop().ok_or(Error::Interrupted)
    }

    /// Events of a run, in the order of their sequence.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn events(&self, run: &RunId, filter: &EventFilter) -> Result<Vec<StoredRuntimeEvent>, Error> {
        self.runs_port()?.events(&self.view, run, filter).await
    }

    /// Claims the lease of a run that nobody holds, or that the same owner holds.
    ///
    /// # Errors
    /// [`Error::LeaseHeld`], [`Error::StateConflict`], [`Error::OutsideView`], [`Error::ReadOnly`], [`Error::Value`].
    pub async fn claim_lease(&self, run: &RunId, claim: &LeaseClaim) -> Result<ExecutionLease, Error> {
        self.ensure_writable("claim_lease")?;
        self.leases_port()?.claim(&self.view, run, claim).await
    }

    /// Renews a lease, and says which snapshot its holder works from.
    ///
    /// # Errors
    /// [`Error::LeaseLost`], [`Error::ReadOnly`]; [`Error::NotFound`] for a snapshot that the run does not have.
    pub async fn heartbeat_lease(
        &self,
        lease: &ExecutionLease,
        snapshot_id: Option<&str>,
    ) -> Result<ExecutionLease, Error> {
        self.ensure_writable("heartbeat_lease")?;
        self.leases_port()?.heartbeat(&self.view, &lease.run_id, &lease.proof(), snapshot_id).await
    }

    /// Gives a lease back.
    ///
    /// # Errors
    /// [`Error::LeaseLost`], [`Error::ReadOnly`].
    pub async fn release_lease(&self, lease: &ExecutionLease) -> Result<ExecutionLease, Error> {
        self.ensure_writable("release_lease")?;
        self.leases_port()?.release(&self.view, &lease.run_id, &lease.proof()).await
    }

    /// The lease of a run, live or not.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn lease(&self, run: &RunId) -> Result<Option<ExecutionLease>, Error> {
        self.leases_port()?.lease(&self.view, run).await
    }
}
