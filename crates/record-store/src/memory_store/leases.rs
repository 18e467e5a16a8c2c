//! Leases: who may work on a run.

use async_trait::async_trait;
use briefing_core::RunId;

use super::runs::Run;
use super::{MemoryBackend, in_range};
use crate::lease::{NEVER_LEASED, lost};
use crate::port::Leases;
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
        claim.validate()?;
        let mut state = self.state();
        let mut draft = state.runs.draft(view, run)?;
        let Run { lease: held, state_version, fencing, .. } = &draft.run;
        let lease = claim.granted(run, held.clone(), *state_version, *fencing + 1, &*self.environment)?;
        in_range(lease.fencing)?;
        in_range(lease.until_millis)?;
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
        lease.renew(now, draft.run.state_version);
        in_range(lease.until_millis)?;
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
