//! Where the events of an execution are kept: the run of a record store, under its lease.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use briefing_core::RunId;
use briefing_record_store::{
    Error as RecordsError, ExecutionLease, LeaseClaim, NewCheckpoint, NewSnapshot, NewStep, RecordStore,
};
use briefing_task_workspace::ExecutionId;
use serde_json::json;
use tokio::task::AbortHandle;

use crate::Error;
use crate::event::{EXECUTION_SCHEMA, Event};
use crate::state::State;

/// After how many events a snapshot is taken. More make a resume read more events, fewer make each snapshot, which holds
/// everything that was disclosed, dearer than what it spares.
pub(crate) const EVENTS_PER_SNAPSHOT: u64 = 64;

/// How many snapshots are kept: the one that the latest checkpoint names, and the one before it.
const SNAPSHOTS: u64 = 2;

/// The run of an execution, while this worker holds its lease.
#[derive(Debug)]
pub(crate) struct Journal {
    store: RecordStore,
    execution_id: ExecutionId,
    run: RunId,
    lease: ExecutionLease,
    lost: OnceLock<String>,
    out_of_step: AtomicBool,
    heartbeat: Mutex<Option<AbortHandle>>,
}

impl Journal {
    /// Claims the run.
    pub(crate) async fn claim(
        store: RecordStore,
        execution_id: ExecutionId,
        worker: String,
        ttl: Duration,
    ) -> Result<Arc<Self>, Error> {
        let run = RunId::new(execution_id.as_str())?;
        let ttl_millis = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let lease = store.claim_lease(&run, &LeaseClaim::new(worker, ttl_millis)).await?;
        let journal = Arc::new(Self {
            store,
            execution_id,
            run,
            lease,
            lost: OnceLock::new(),
            out_of_step: AtomicBool::new(false),
            heartbeat: Mutex::default(),
        });
        let beat = tokio::spawn(beat(Arc::downgrade(&journal), ttl / 3));
        *journal.heartbeat.lock().unwrap_or_else(PoisonError::into_inner) = Some(beat.abort_handle());
        Ok(journal)
    }

    pub(crate) fn worker(&self) -> &str {
        &self.lease.owner
    }

    /// Refuses where nothing can be recorded any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let execution_id = || self.execution_id.clone();
        if let Some(reason) = self.lost.get() {
            return Err(Error::LeaseLost { execution_id: execution_id(), reason: reason.clone() });
        }
        if self.out_of_step.load(Ordering::Acquire) {
            return Err(Error::OutOfStep { execution_id: execution_id() });
        }
        Ok(())
    }

    /// Records events in one transaction; answers with their places.
    pub(crate) async fn append(&self, events: &[Event]) -> Result<Vec<u64>, Error> {
        self.check()?;
        let mut step = NewStep::new().under(&self.lease);
        for event in events {
            step = step.event(event.to_stored()?);
        }
        let outcome = self.commit(step).await?;
        Ok(outcome.events.iter().map(|event| event.sequence).collect())
    }

    /// Keeps a snapshot of the state, and a checkpoint that names it.
    pub(crate) async fn snapshot(&self, state: &mut State) -> Result<(), Error> {
        self.check()?;
        let covers = state.sequence;
        let snapshot = NewSnapshot::new(state.to_snapshot()?).keep_last(SNAPSHOTS);
        let mark = json!({ "schema": EXECUTION_SCHEMA, "covers": covers });
        let step = NewStep::new().under(&self.lease).snapshot(snapshot).checkpoint(NewCheckpoint::new(mark));
        self.commit(step).await?;
        state.covered = covers;
        Ok(())
    }

    async fn commit(&self, step: NewStep) -> Result<briefing_record_store::StepOutcome, Error> {
        match self.store.commit_step(&self.run, step).await {
            Err(RecordsError::LeaseLost { reason, .. }) => {
                let _ = self.lost.set(reason.to_owned());
            }
            Err(RecordsError::Interrupted) => self.out_of_step.store(true, Ordering::Release),
            other => return Ok(other?),
        }
        self.check().and(Err(Error::CutShort))
    }

    /// Gives the lease back; nothing is recorded afterwards.
    pub(crate) async fn release(&self) -> Result<(), Error> {
        self.stop();
        if self.lost.set("it was given back".to_owned()).is_err() {
            return Ok(());
        }
        self.store.release_lease(&self.lease).await?;
        Ok(())
    }

    fn stop(&self) {
        if let Some(beat) = self.heartbeat.lock().unwrap_or_else(PoisonError::into_inner).take() {
            beat.abort();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Renews the lease until it is lost or nobody needs it any more.
async fn beat(journal: Weak<Journal>, period: Duration) {
    loop {
        tokio::time::sleep(period.max(Duration::from_millis(1))).await;
        let Some(journal) = journal.upgrade() else { return };
        // Another failure is tried again: whether the lease outlived it shows at the next write.
        if let Err(RecordsError::LeaseLost { reason, .. }) =
            journal.store.heartbeat_lease(&journal.lease, None).await
        {
            let _ = journal.lost.set(reason.to_owned());
            return;
        }
    }
}
