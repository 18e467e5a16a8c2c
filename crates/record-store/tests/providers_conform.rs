//! Every provider holds every rule of the ports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Mutex;

use briefing_record_store::{Journal, Mode, RecordStore, conformance};

async fn check_sqlite(journal: Journal) {
    let folders = Mutex::new(Vec::new());
    let violations = conformance::check_store(|clock| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        folders.lock().unwrap().push(folder);
        async move {
            RecordStore::options(Mode::ReadWrite)
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
