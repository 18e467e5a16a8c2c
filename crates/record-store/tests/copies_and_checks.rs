//! Backups, and what a check finds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::time::Duration;

use briefing_record_store::{Journal, NewRecord, RecordFilter, RecordStore, StoreMode};
use support::{database, id, open};

#[tokio::test]
async fn a_backup_is_one_moment_of_a_store_that_others_write_to() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    for number in 0..200 {
        let pair = ["a", "b"]
            .map(|half| NewRecord::new("pairs", "x ".repeat(500)).id(id(&format!("{number}{half}"))));
        store.put_many(pair.to_vec()).await.unwrap();
    }
    let writing = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 200..400 {
                let pair =
                    ["a", "b"].map(|half| NewRecord::new("pairs", "x").id(id(&format!("{number}{half}"))));
                store.put_many(pair.to_vec()).await.unwrap();
            }
        }
    });
    let restored = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(database(restored.path()).parent().unwrap()).unwrap();
    store.backup(database(restored.path())).await.unwrap();
    writing.await.unwrap();
    let copy = open(restored.path()).await;
    let there = copy.count(&RecordFilter::new()).await.unwrap();
    assert!(there >= 400 && there % 2 == 0, "{there} records");
    assert!(copy.check().await.unwrap().is_empty());
    assert_eq!(copy.store_id(), store.store_id());
}

#[tokio::test]
async fn a_backup_never_overwrites() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let to = root.path().join("there.db");
    std::fs::write(&to, "something else").unwrap();
    assert_eq!(store.backup(&to).await.unwrap_err().code(), "records.io");
    assert_eq!(std::fs::read(&to).unwrap(), b"something else");
}

#[tokio::test]
async fn a_backup_of_a_store_that_stays_locked_is_busy_and_leaves_no_half_copy() {
    let root = tempfile::tempdir().unwrap();
    let options = RecordStore::options(StoreMode::ReadWrite).journal(Journal::Rollback);
    let store = options.busy_timeout(Duration::from_millis(100)).open(root.path()).await.unwrap();
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    let other = rusqlite::Connection::open(database(root.path())).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let to = root.path().join("copy.db");
    assert_eq!(store.backup(&to).await.unwrap_err().code(), "records.busy");
    assert!(!to.exists());
    other.execute_batch("ROLLBACK").unwrap();
    store.backup(&to).await.unwrap();
    assert!(to.exists());
}

#[tokio::test]
async fn a_check_finds_what_is_not_as_it_was_put() {
    let faults = [
        ("UPDATE records SET content = CAST('other' AS BLOB) WHERE id = 'short'", "not what was put"),
        ("DELETE FROM chunks WHERE first > 0", "not what was put"),
        ("DELETE FROM record_labels", "without labels"),
        ("DELETE FROM record_labels WHERE record = 1 AND label = 2", "not listed under"),
        ("DELETE FROM record_terms WHERE rowid = 1", "without terms"),
        ("UPDATE records SET format = 9 WHERE id = 'short'", "unknown form"),
    ];
    for (fault, found) in faults {
        let root = tempfile::tempdir().unwrap();
        let store = open(root.path()).await;
        store.put(NewRecord::new("notes", "short").id(id("short")).tag("t")).await.unwrap();
        store.put(NewRecord::new("notes", "long ".repeat(50_000)).id(id("long"))).await.unwrap();
        assert!(store.check().await.unwrap().is_empty());
        rusqlite::Connection::open(database(root.path())).unwrap().execute_batch(fault).unwrap();
        let wrong = store.check().await.unwrap();
        assert!(wrong.iter().any(|line| line.contains(found)), "{fault}: {wrong:?}");
    }
}

#[tokio::test]
async fn a_damaged_page_is_a_typed_error() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    for number in 0..50 {
        store.put(NewRecord::new("notes", "text ".repeat(500)).id(id(&format!("n{number}")))).await.unwrap();
    }
    let copy = root.path().join("copy.db");
    store.backup(&copy).await.unwrap();
    let mut bytes = std::fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 60_000].fill(0xEE);
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(database(other.path()).parent().unwrap()).unwrap();
    std::fs::write(database(other.path()), &bytes).unwrap();
    let damaged = open(other.path()).await;
    let mut codes = std::collections::BTreeSet::new();
    for number in 0..50 {
        codes.extend(damaged.get(&id(&format!("n{number}"))).await.err().map(|error| error.code()));
    }
    match damaged.check().await {
        Ok(wrong) => assert!(!wrong.is_empty()),
        Err(error) => assert_eq!(error.code(), "records.corrupt"),
    }
    assert!(codes.iter().all(|code| *code == "records.corrupt"), "{codes:?}");
}
