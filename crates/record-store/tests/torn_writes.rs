//! A write that fails in its middle, or whose caller goes away, leaves all of itself or nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::time::Duration;

use briefing_record_store::{
    EventFilter, LinkFilter, NewCheckpoint, NewEvent, NewLink, NewRecord, NewSnapshot, NewStep, RecordFilter,
};
use serde_json::json;
use support::{database, id, open, run};

/// Lets every insertion into a table fail, as a full disk would in the middle of a step.
fn fail_inserts_into(root: &std::path::Path, table: &str) {
    let connection = rusqlite::Connection::open(database(root)).unwrap();
    connection
        .execute_batch(&format!(
            "CREATE TRIGGER fault BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'injected'); END"
        ))
        .unwrap();
}

fn mend(root: &std::path::Path) {
    rusqlite::Connection::open(database(root)).unwrap().execute_batch("DROP TRIGGER fault").unwrap();
}

#[tokio::test]
async fn a_step_that_fails_at_any_statement_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let run = run("run");
    store.put_checkpoint(&run, NewCheckpoint::new(json!(0))).await.unwrap();
    let step = NewStep::new()
        .snapshot(NewSnapshot::new(json!(1)))
        .checkpoint(NewCheckpoint::new(json!(1)).expecting(1))
        .event(NewEvent::new("e", json!(1)));
    for table in ["snapshots", "checkpoints", "events"] {
        fail_inserts_into(root.path(), table);
        let error = store.commit_step(&run, step.clone()).await.unwrap_err();
        assert_eq!(error.code(), "records.database", "{table}");
        mend(root.path());
        assert_eq!(store.state_version(&run).await.unwrap(), 1, "{table}");
        assert_eq!(store.checkpoint_history(&run, None, None).await.unwrap().len(), 1, "{table}");
        assert!(store.snapshots(&run, None).await.unwrap().is_empty(), "{table}");
        assert!(store.events(&run, &EventFilter::default()).await.unwrap().is_empty(), "{table}");
    }
    store.commit_step(&run, step).await.unwrap();
}

#[tokio::test]
async fn a_put_that_fails_at_any_statement_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let first = store.put(NewRecord::new("notes", "the pump").id(id("n1"))).await.unwrap();
    for table in ["records", "chunks", "record_labels", "changes", "versions", "record_terms_docsize"] {
        fail_inserts_into(root.path(), table);
        let long = "long ".repeat(40_000);
        let update = NewRecord::update(&first, long.clone()).tag("fresh");
        store.put(update).await.unwrap_err();
        store.put(NewRecord::new("others", long).id(id("n2"))).await.map(drop).unwrap_or_default();
        mend(root.path());
        if store.describe(&id("n2")).await.is_ok() {
            // A table that a new record does not touch.
            store.delete(&id("n2"), None).await.unwrap();
        }
        assert_eq!(store.get(&first.id).await.unwrap().content, "the pump".into(), "{table}");
        assert_eq!(store.count(&RecordFilter::new().tag("fresh")).await.unwrap(), 0, "{table}");
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new(), "{table}");
    }
}

#[tokio::test]
async fn of_writes_in_one_commit_those_that_fail_are_undone_alone() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "x").id(id("taken"))).await.unwrap();
    // All are waiting when the writer takes them, so they share commits.
    let writes = (0..300).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let name = if number % 3 == 0 { "taken".to_owned() } else { format!("n{number}") };
            let record = NewRecord::new("notes", "x").id(id(&name)).tag(format!("tag-{number}"));
            store.put(record).await.is_ok()
        })
    });
    let mut done = 0;
    for write in writes.collect::<Vec<_>>() {
        done += u64::from(write.await.unwrap());
    }
    assert_eq!(done, 200);
    assert_eq!(store.count(&RecordFilter::new()).await.unwrap(), 201);
    assert_eq!(store.count(&RecordFilter::new().tag("tag-1")).await.unwrap(), 1);
    assert_eq!(store.count(&RecordFilter::new().tag("tag-3")).await.unwrap(), 0);
    assert!(store.check().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_all_of_its_write_or_nothing() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    for moment in 0..60_u64 {
        let records = (0..20).map(|number| {
            NewRecord::new("notes", "some text about a pump").id(id(&format!("{moment}-{number}")))
        });
        let write = store.put_many(records.collect());
        let _ = tokio::time::timeout(Duration::from_micros(moment * 60), write).await;
    }
    // A write through the same queue comes after all that were queued before.
    store.put(NewRecord::new("last", "x")).await.unwrap();
    let there = store.count(&RecordFilter::new().collection("notes")).await.unwrap();
    assert_eq!(there % 20, 0, "{there} records");
    assert!(store.check().await.unwrap().is_empty());
}

#[tokio::test]
async fn links_are_gone_with_the_record_in_the_same_moment() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    for name in ["a", "b"] {
        store.put(NewRecord::new("notes", name).id(id(name))).await.unwrap();
    }
    store.link(NewLink::new(id("a"), "cites", id("b"))).await.unwrap();
    fail_inserts_into(root.path(), "tombstones");
    store.delete(&id("b"), None).await.unwrap_err();
    mend(root.path());
    assert_eq!(store.links(&LinkFilter::default()).await.unwrap().len(), 1);
    store.delete(&id("b"), None).await.unwrap();
    assert!(store.links(&LinkFilter::default()).await.unwrap().is_empty());
}
