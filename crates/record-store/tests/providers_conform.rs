//! Every provider holds every rule of the ports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::{Arc, Mutex};

use briefing_core::RecordId;
use briefing_record_store::port::{RecordBackend, RecordChanges, Records, ViewChanges, ViewPage, ViewState};
use briefing_record_store::{
    Error, Journal, RecordContentSegment, RecordCursor, RecordFilter, RecordStore, StoreMode, Window,
    conformance,
};

async fn check_sqlite(journal: Journal) {
    let folders = Mutex::new(Vec::new());
    let violations = conformance::check_store(|clock| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        folders.lock().unwrap().push(folder);
        async move {
            RecordStore::options(StoreMode::ReadWrite)
                .journal(journal)
                .environment(clock)
                .open(root)
                .await
                .unwrap()
        }
    })
    .await;
    assert!(violations.is_empty(), "{violations:#?}");
    // Each rule had a store of its own, and no rule was left out.
    assert!(folders.lock().unwrap().len() >= conformance::rule_names().len());
}

#[tokio::test]
async fn sqlite_conforms() {
    check_sqlite(Journal::Wal).await;
}

#[tokio::test]
async fn sqlite_with_a_rollback_journal_conforms() {
    check_sqlite(Journal::Rollback).await;
}

#[tokio::test]
async fn the_store_in_memory_conforms() {
    let violations =
        conformance::check_store(|clock| async move { RecordStore::in_memory_with(clock) }).await;
    assert!(violations.is_empty(), "{violations:#?}");
}

/// A provider whose views never change, for all that is written.
#[derive(Debug)]
struct StandsStill(Arc<dyn RecordBackend>);

impl RecordBackend for StandsStill {
    fn store_id(&self) -> &str {
        self.0.store_id()
    }

    fn records(&self) -> &dyn Records {
        self.0.records()
    }

    fn changes(&self) -> Option<&dyn RecordChanges> {
        Some(self)
    }
}

#[async_trait::async_trait]
impl RecordChanges for StandsStill {
    async fn state(&self, _view: &RecordFilter) -> Result<ViewState, Error> {
        Ok(ViewState(0))
    }

    async fn page(
        &self,
        view: &RecordFilter,
        after: Option<RecordCursor>,
        limit: usize,
        max_text_bytes: u64,
    ) -> Result<ViewPage, Error> {
        let page = self.0.changes().unwrap().page(view, after, limit, max_text_bytes).await?;
        Ok(ViewPage { state: ViewState(0), ..page })
    }

    async fn read(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        window: Window,
    ) -> Result<(ViewState, RecordContentSegment), Error> {
        let (_, segment) = self.0.changes().unwrap().read(view, id, window).await?;
        Ok((ViewState(0), segment))
    }

    async fn since(&self, _: &RecordFilter, _: ViewState, _: u64) -> Result<ViewChanges, Error> {
        Ok(ViewChanges { state: ViewState(0), changes: Vec::new() })
    }
}

#[tokio::test]
async fn the_suite_finds_what_a_provider_breaks_and_leaves_out_what_it_does_not_offer() {
    let violations = conformance::check_store(|clock| async move {
        let honest = RecordStore::in_memory_with(clock);
        let backend = Arc::new(StandsStill(honest.backend().clone()));
        RecordStore::with_backend(backend, StoreMode::ReadWrite, RecordFilter::new())
    })
    .await;
    let broken: Vec<_> = violations.iter().map(|violation| violation.rule).collect();
    assert_eq!(
        broken,
        [
            "a_write_outside_a_view_leaves_its_state",
            "a_write_inside_a_view_moves_its_state",
            "changes_lead_from_one_listing_to_the_next"
        ]
    );
}
