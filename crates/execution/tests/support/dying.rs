//! A store whose process dies at a commit, and one whose commits can be held up.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use briefing_core::RunId;
use briefing_record_store::port::{
    Leases, Links, Maintenance, RecordBackend, RecordChanges, Records, Runs, TextSearch,
};
use briefing_record_store::{
    Checkpoint, Error, EventFilter, NewStep, PruneReport, RecordFilter, RecordStore, Snapshot, StepOutcome,
    StoreMode, StoredRuntimeEvent,
};
use tokio::sync::Semaphore;

/// When the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Death {
    /// Before the commit is written.
    Before,
    /// After it is written, before anybody hears of it.
    After,
}

/// Dies at its `at`th commit (from 0); nothing is written afterwards.
#[derive(Debug)]
pub(crate) struct Dying {
    inner: Arc<dyn RecordBackend>,
    commits: AtomicUsize,
    at: usize,
    death: Death,
    dead: AtomicBool,
    gate: Semaphore,
}

impl Dying {
    pub(crate) fn at(store: &RecordStore, at: usize, death: Death) -> (Arc<Self>, RecordStore) {
        Self::gated(store, at, death, Semaphore::MAX_PERMITS)
    }

    /// Commits wait for a permit each.
    pub(crate) fn gated(
        store: &RecordStore,
        at: usize,
        death: Death,
        permits: usize,
    ) -> (Arc<Self>, RecordStore) {
        let backend = Arc::new(Self {
            inner: Arc::clone(store.backend()),
            commits: AtomicUsize::new(0),
            at,
            death,
            dead: AtomicBool::new(false),
            gate: Semaphore::new(permits),
        });
        let store = RecordStore::with_backend(backend.clone(), StoreMode::ReadWrite, RecordFilter::new());
        (backend, store)
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    pub(crate) fn commits(&self) -> usize {
        self.commits.load(Ordering::SeqCst)
    }

    pub(crate) fn admit(&self, commits: usize) {
        self.gate.add_permits(commits);
    }
}

impl RecordBackend for Dying {
    fn store_id(&self) -> &str {
        self.inner.store_id()
    }
    fn records(&self) -> &dyn Records {
        self.inner.records()
    }
    fn changes(&self) -> Option<&dyn RecordChanges> {
        self.inner.changes()
    }
    fn text_search(&self) -> Option<&dyn TextSearch> {
        self.inner.text_search()
    }
    fn links(&self) -> Option<&dyn Links> {
        self.inner.links()
    }
    fn runs(&self) -> Option<&dyn Runs> {
        Some(self)
    }
    fn leases(&self) -> Option<&dyn Leases> {
        self.inner.leases()
    }
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        self.inner.maintenance()
    }
}

#[async_trait]
impl Runs for Dying {
    async fn commit_step(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step: NewStep,
    ) -> Result<StepOutcome, Error> {
        self.gate.acquire().await.unwrap().forget();
        let number = self.commits.fetch_add(1, Ordering::SeqCst);
        if self.is_dead() {
            return Err(Error::Interrupted);
        }
        if number < self.at {
            return self.inner.runs().unwrap().commit_step(view, run, step).await;
        }
        self.dead.store(true, Ordering::SeqCst);
        if self.death == Death::After {
            self.inner.runs().unwrap().commit_step(view, run, step).await?;
        }
        Err(Error::Interrupted)
    }
    async fn state_version(&self, view: &RecordFilter, run: &RunId) -> Result<u64, Error> {
        self.inner.runs().unwrap().state_version(view, run).await
    }
    async fn checkpoints(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step_id: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<Checkpoint>, Error> {
        self.inner.runs().unwrap().checkpoints(view, run, step_id, limit).await
    }
    async fn snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        limit: Option<usize>,
    ) -> Result<Vec<Snapshot>, Error> {
        self.inner.runs().unwrap().snapshots(view, run, limit).await
    }
    async fn prune_snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        keep_last: u64,
    ) -> Result<PruneReport, Error> {
        self.inner.runs().unwrap().prune_snapshots(view, run, keep_last).await
    }
    async fn delete_snapshot(&self, view: &RecordFilter, run: &RunId, id: &str) -> Result<bool, Error> {
        self.inner.runs().unwrap().delete_snapshot(view, run, id).await
    }
    async fn events(
        &self,
        view: &RecordFilter,
        run: &RunId,
        filter: &EventFilter,
    ) -> Result<Vec<StoredRuntimeEvent>, Error> {
        self.inner.runs().unwrap().events(view, run, filter).await
    }
}
