//! Leases: who may work on a run.

use async_trait::async_trait;
use briefing_core::{Error as ValueError, RunId};

use super::runs::Run;
use super::{MemoryBackend, in_range};
use crate::port::Leases;
use crate::run::{NEVER_LEASED, lost};
use crate::{Error, ExecutionLease, LeaseClaim, LeaseProof, RecordFilter};

impl Run {
    /// The run's live lease, which `proof` must show.
    pub(super) fn held_lease(
        &self,
        id: &RunId,
        proof: &LeaseProof,
        now: u64,
    ) -> Result<&ExecutionLease, Error> {
        let lease = self.lease.as_ref().ok_or_else(|| lost(id, proof, NEVER_LEASED))?;
        lease.check(proof, now)?;
        Ok(lease)
    }
}

#[async_trait]
impl Leases for MemoryBackend {
    async fn claim(
        &self,
        view: &RecordFilter,
        run: &RunId,
        claim: &LeaseClaim,
    ) -> Result<ExecutionLease, Error> {
        if claim.owner.trim().is_empty() {
            return Err(ValueError::Blank { field: "owner" }.into());
        }
        if claim.ttl_millis == 0 {
            return Err(ValueError::invalid("ttl_millis", 0, "at least 1").into());
        }
        let mut state = self.state();
        let mut draft = state.runs.draft(view, run)?;
        let now = self.environment.now_unix_millis();
        let held = draft.run.lease.as_ref();
        if let Some(held) = held.filter(|held| held.is_live(now) && held.owner != claim.owner) {
            let (owner, until_millis) = (held.owner.clone(), held.until_millis);
            return Err(Error::LeaseHeld { run_id: run.clone(), owner, until_millis });
        }
        let actual = draft.run.state_version;
        if let Some(expected) = claim.expected_state_version.filter(|expected| *expected != actual) {
            return Err(Error::StateConflict { run_id: run.clone(), expected, actual });
        }
        let lease = ExecutionLease {
            run_id: run.clone(),
            owner: claim.owner.clone(),
            token: self.environment.new_id("lease"),
            fencing: in_range(draft.run.fencing + 1)?,
            ttl_millis: in_range(claim.ttl_millis)?,
            until_millis: in_range(now.saturating_add(claim.ttl_millis))?,
            claimed_at_millis: now,
            heartbeat_at_millis: now,
            released_at_millis: None,
            state_version: draft.run.state_version,
            snapshot_id: None,
        };
        draft.run.fencing = lease.fencing;
        draft.run.lease = Some(lease.clone());
        state.runs.keep(draft);
        Ok(lease)
    }

    async fn heartbeat(
        &self,
        view: &RecordFilter,
        run: &RunId,
        proof: &LeaseProof,
        snapshot_id: Option<&str>,
    ) -> Result<ExecutionLease, Error> {
        let mut state = self.state();
        if state.runs.seen(view, run).is_none() {
            return Err(lost(run, proof, NEVER_LEASED));
        }
        let mut draft = state.runs.draft(view, run)?;
        let now = self.environment.now_unix_millis();
        let mut lease = draft.run.held_lease(run, proof, now)?.clone();
        if let Some(id) = snapshot_id {
            draft.run.require_snapshot(id)?;
            lease.snapshot_id = Some(id.to_owned());
        }
        lease.heartbeat_at_millis = now;
        lease.until_millis = in_range(now.saturating_add(lease.ttl_millis))?;
        lease.state_version = draft.run.state_version;
        draft.run.lease = Some(lease.clone());
        state.runs.keep(draft);
        Ok(lease)
    }

    async fn release(
        &self,
        view: &RecordFilter,
        run: &RunId,
        proof: &LeaseProof,
    ) -> Result<ExecutionLease, Error> {
        let mut state = self.state();
        if state.runs.seen(view, run).is_none() {
            return Err(lost(run, proof, NEVER_LEASED));
        }
        let mut draft = state.runs.draft(view, run)?;
        let now = self.environment.now_unix_millis();
        let mut lease = draft.run.held_lease(run, proof, now)?.clone();
        lease.released_at_millis = Some(now);
        draft.run.lease = Some(lease.clone());
        state.runs.keep(draft);
        Ok(lease)
    }

    async fn lease(&self, view: &RecordFilter, run: &RunId) -> Result<Option<ExecutionLease>, Error> {
        Ok(self.state().runs.seen(view, run).and_then(|run| run.lease.clone()))
    }
}
