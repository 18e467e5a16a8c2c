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

/// An input that gives nothing before it is let go.
struct Slow(std::sync::mpsc::Receiver<()>);

impl std::io::Read for Slow {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        self.0.recv().map_or(Ok(0), |()| panic!("the input fails"))
    }
}

#[tokio::test]
async fn an_import_that_is_read_slowly_or_panics_keeps_nobody_from_writing() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let (let_go, slow) = std::sync::mpsc::channel();
    let importing = tokio::spawn({
        let store = store.clone();
        async move { store.import(Box::new(std::io::BufReader::new(Slow(slow)))).await }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    assert!(!importing.is_finished());
    let_go.send(()).unwrap();
    assert_eq!(importing.await.unwrap().unwrap_err().code(), "records.interrupted");
    store.put(NewRecord::new("notes", "y")).await.unwrap();
}

/// An environment that fails while it is told to.
#[derive(Debug, Default)]
struct Fails(std::sync::atomic::AtomicBool);

impl briefing_core::Environment for Fails {
    fn now_unix_millis(&self) -> u64 {
        1
    }

    fn new_id(&self, prefix: &str) -> String {
        assert!(!self.0.load(std::sync::atomic::Ordering::SeqCst), "no ids today");
        format!("{prefix}-{}", uuid::Uuid::now_v7())
    }
}

#[tokio::test]
async fn a_panic_of_the_callers_code_fails_alone_and_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let environment = std::sync::Arc::new(Fails::default());
    let options = briefing_record_store::RecordStore::options(briefing_record_store::StoreMode::ReadWrite);
    let store = options.environment(environment.clone()).open(root.path()).await.unwrap();
    environment.0.store(true, std::sync::atomic::Ordering::SeqCst);
    let records = vec![NewRecord::new("notes", "x").id(id("given")), NewRecord::new("notes", "y")];
    assert_eq!(store.put_many(records).await.unwrap_err().code(), "records.interrupted");
    environment.0.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(store.count(&RecordFilter::new()).await.unwrap(), 0);
    store.put(NewRecord::new("notes", "y")).await.unwrap();
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
