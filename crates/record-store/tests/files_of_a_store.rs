//! Which files a store makes, and which it leaves alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use briefing_record_store::{NewRecord, RecordFilter, RecordStore, SearchRequest, StoreMode};
use support::{child, child_arguments, database, id, open, say, shared};

/// Every file beneath a folder with its bytes.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files.insert(format!("{}/", path.display()), Vec::new());
                folders.push(path);
            } else {
                files.insert(path.display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Waits until the writer's thread has closed the database, and so brought its log to an end.
fn wait_until_closed(root: &Path) {
    let log = database(root).with_extension("db-wal");
    for _ in 0..500 {
        if !log.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the writer does not close the database");
}

#[test]
fn a_store_is_closed_when_its_runtime_is_gone() {
    let mut multi = tokio::runtime::Builder::new_multi_thread();
    let mut single = tokio::runtime::Builder::new_current_thread();
    for builder in [&mut multi, &mut single] {
        for _ in 0..40 {
            let root = tempfile::tempdir().unwrap();
            let runtime = builder.enable_all().build().unwrap();
            runtime.block_on(async {
                let store = open(root.path()).await;
                store.put(NewRecord::new("notes", "pump")).await.unwrap();
            });
            drop(runtime);
            assert!(!database(root.path()).with_extension("db-wal").exists());
        }
    }
}

#[tokio::test]
async fn a_reader_waits_for_a_writer_that_is_closing() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "pump")).await.unwrap();
    drop(store);
    wait_until_closed(root.path());
    // Between taking away the one and the other of its files a writer leaves the log alone.
    let log = database(root.path()).with_extension("db-wal");
    fs::write(&log, [1]).unwrap();
    let closing = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::remove_file(log).unwrap();
    });
    let store = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap();
    assert_eq!(store.search(&SearchRequest::new("pump")).await.unwrap().len(), 1);
    closing.join().unwrap();
}

#[tokio::test]
async fn read_only_makes_nothing_where_there_is_no_store() {
    let root = tempfile::tempdir().unwrap();
    let error = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap_err();
    assert_eq!(error.code(), "records.no_store");
    assert!(tree(root.path()).is_empty());
    let missing = root.path().join("not/there");
    assert_eq!(
        RecordStore::open(&missing, StoreMode::ReadOnly).await.unwrap_err().code(),
        "records.no_store"
    );
    assert!(!missing.exists());
}

#[tokio::test]
async fn read_only_changes_no_byte_and_makes_no_file() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "the pump").id(id("n1"))).await.unwrap();
    drop(store);
    wait_until_closed(root.path());
    let before = tree(root.path());
    let reader = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap();
    assert_eq!(reader.get(&id("n1")).await.unwrap().record.version, 1);
    assert_eq!(reader.search(&SearchRequest::new("pump")).await.unwrap().len(), 1);
    assert!(reader.check().await.unwrap().is_empty());
    assert_eq!(reader.put(NewRecord::new("notes", "x")).await.unwrap_err().code(), "records.read_only");
    assert_eq!(tree(root.path()), before);
}

#[tokio::test]
async fn a_read_only_folder_can_be_read() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    drop(store);
    wait_until_closed(root.path());
    let folder = database(root.path()).parent().unwrap().to_owned();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    let reader = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap();
    assert_eq!(reader.count(&RecordFilter::new()).await.unwrap(), 1);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn a_read_only_handle_follows_a_writer_that_comes_and_goes() {
    let root = tempfile::tempdir().unwrap();
    drop(open(root.path()).await);
    wait_until_closed(root.path());
    let reader = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap();
    for round in 1..=3 {
        let writer = open(root.path()).await;
        writer.put(NewRecord::new("notes", format!("round {round}"))).await.unwrap();
        assert_eq!(reader.count(&RecordFilter::new()).await.unwrap(), round);
        drop(writer);
        assert_eq!(reader.count(&RecordFilter::new()).await.unwrap(), round);
    }
}

/// The child of the next test: writes one record and stays.
#[test]
#[ignore = "runs as a child of another test"]
fn child_writes_and_waits() {
    let Some(arguments) = child_arguments() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = open(Path::new(&arguments[0])).await;
        store.put(NewRecord::new("notes", "from a writer that was killed")).await.unwrap();
        say("written");
        std::thread::sleep(std::time::Duration::from_secs(60));
    });
}

#[tokio::test]
async fn read_only_reads_what_a_killed_writer_left_without_changing_the_database() {
    use std::io::{BufRead as _, BufReader};
    let root = tempfile::tempdir().unwrap();
    let mut writer = child("child_writes_and_waits", &root.path().display().to_string());
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("written")));
    writer.kill().unwrap();
    writer.wait().unwrap();
    let log = database(root.path()).with_extension("db-wal");
    let before = (fs::read(database(root.path())).unwrap(), fs::read(&log).unwrap());
    let reader = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap();
    assert_eq!(reader.count(&RecordFilter::new()).await.unwrap(), 1);
    drop(reader);
    assert_eq!((fs::read(database(root.path())).unwrap(), fs::read(&log).unwrap()), before);
    // Without the index of the log only a writer may bring it to an end.
    fs::remove_file(database(root.path()).with_extension("db-shm")).unwrap();
    let error = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap_err();
    assert_eq!(error.code(), "records.recovery_needed");
    assert_eq!(open(root.path()).await.count(&RecordFilter::new()).await.unwrap(), 1);
}

#[tokio::test]
async fn only_the_owner_may_enter_and_read() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for folder in [".briefing", ".briefing/records"] {
        assert_eq!(mode(&root.path().join(folder)), 0o700, "{folder}");
    }
    for entry in fs::read_dir(root.path().join(".briefing/records")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    let copy = root.path().join("copy.db");
    store.backup(&copy).await.unwrap();
    assert_eq!(mode(&copy), 0o600);
}

#[tokio::test]
async fn what_is_no_store_of_this_version_is_refused_and_left_as_it_is() {
    let Some(fixtures) = shared("fixtures/store") else { return };
    for (name, code) in [
        ("damaged.db", "records.corrupt"),
        ("newer_schema.db", "records.newer_schema"),
        ("not_a_db.db", "records.foreign"),
    ] {
        for mode in [StoreMode::ReadOnly, StoreMode::ReadWrite] {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir_all(database(root.path()).parent().unwrap()).unwrap();
            fs::copy(fixtures.join(name), database(root.path())).unwrap();
            fs::set_permissions(database(root.path()), fs::Permissions::from_mode(0o600)).unwrap();
            let before = tree(root.path());
            let error = RecordStore::open(root.path(), mode).await.unwrap_err();
            assert_eq!(error.code(), code, "{name} {mode:?}: {error}");
            assert_eq!(tree(root.path()), before, "{name} {mode:?}");
        }
    }
}

#[tokio::test]
async fn an_empty_file_is_a_new_store_for_a_writer_only() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(database(root.path()).parent().unwrap()).unwrap();
    fs::write(database(root.path()), b"").unwrap();
    let error = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap_err();
    assert_eq!(error.code(), "records.no_store");
    assert_eq!(fs::read(database(root.path())).unwrap(), b"");
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    assert!(store.check().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(database(root.path()).parent().unwrap()).unwrap();
    let other = rusqlite::Connection::open(database(root.path())).unwrap();
    let theirs = "CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1);
                  PRAGMA application_id = 77; PRAGMA user_version = 7;";
    other.execute_batch(theirs).unwrap();
    drop(other);
    let before = tree(root.path());
    let error = RecordStore::open(root.path(), StoreMode::ReadWrite).await.unwrap_err();
    assert_eq!(error.code(), "records.foreign");
    assert_eq!(tree(root.path()), before);
}

#[tokio::test]
async fn a_moved_folder_keeps_its_identity_and_a_copy_can_get_another() {
    let root = tempfile::tempdir().unwrap();
    let (here, there) = (root.path().join("here"), root.path().join("there"));
    let store = open(&here).await;
    let identity = store.store_id().to_owned();
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    drop(store);
    wait_until_closed(&here);
    fs::rename(&here, &there).unwrap();
    let moved = open(&there).await;
    assert_eq!(moved.store_id(), identity);
    moved.put(NewRecord::new("notes", "y")).await.unwrap();
    let another = moved.reidentify().await.unwrap();
    assert_ne!(another, identity);
    assert_eq!(open(&there).await.store_id(), another);
    // The old place is empty and gets a store of its own.
    let fresh = open(&here).await;
    assert_ne!(fresh.store_id(), identity);
    assert_eq!(fresh.count(&RecordFilter::new()).await.unwrap(), 0);
}

#[tokio::test]
async fn the_latest_checkpoint_and_the_lists_keep_the_order_of_commits_after_a_reopening() {
    let Some(fixture) = shared("fixtures/store/checkpoint_order.json") else { return };
    let fixture: serde_json::Value = serde_json::from_slice(&fs::read(fixture).unwrap()).unwrap();
    let root = tempfile::tempdir().unwrap();
    let run = support::run("run");
    for write in fixture["write_in_order"].as_array().unwrap() {
        // Each is written by a store of its own, whose clock says something else.
        let clock = briefing_core::SeededEnvironment::new(1, write["clock"].as_u64().unwrap());
        let options = RecordStore::options(StoreMode::ReadWrite).environment(std::sync::Arc::new(Ids(clock)));
        let store = options.open(root.path()).await.unwrap();
        let name = write["id"].as_str().unwrap();
        store.put(NewRecord::new("notes", "x").id(id(name))).await.unwrap();
        let checkpoint = briefing_record_store::NewCheckpoint::new(write["id"].clone());
        store.put_checkpoint(&run, checkpoint).await.unwrap();
    }
    let store = open(root.path()).await;
    assert_eq!(store.latest_checkpoint(&run).await.unwrap().unwrap().state, fixture["latest"]);
    let request = briefing_record_store::ListRequest::default().order(briefing_record_store::Order::Oldest);
    let listed: Vec<_> = store.list(&request).await.unwrap().records.into_iter().map(|one| one.id).collect();
    assert_eq!(serde_json::json!(listed), fixture["list"]);
}

/// A clock that stands still, with ids of the system's.
#[derive(Debug)]
struct Ids(briefing_core::SeededEnvironment);

impl briefing_core::Environment for Ids {
    fn now_unix_millis(&self) -> u64 {
        self.0.now_unix_millis()
    }

    fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}-{}", uuid::Uuid::now_v7().simple())
    }
}

/// The beginning of a rollback journal of a transaction that found a database of no pages
/// (<https://www.sqlite.org/fileformat.html>, section 3).
fn journal_of_the_first_transaction() -> Vec<u8> {
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    for number in [0_u32, 0x1234_5678, 0, 512, 4_096] {
        journal.extend(number.to_be_bytes());
    }
    journal.resize(512, 0);
    journal
}

#[tokio::test]
async fn a_writer_that_was_killed_while_it_made_the_store_leaves_a_new_one() {
    let root = tempfile::tempdir().unwrap();
    let options =
        RecordStore::options(StoreMode::ReadWrite).journal(briefing_record_store::Journal::Rollback);
    let first = options.open(root.path()).await.unwrap().store_id().to_owned();
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let journal = database(root.path()).with_extension("db-journal");
    fs::write(&journal, journal_of_the_first_transaction()).unwrap();
    let before = tree(root.path());
    let error = RecordStore::open(root.path(), StoreMode::ReadOnly).await.unwrap_err();
    assert_eq!(error.code(), "records.recovery_needed", "{error}");
    assert_eq!(tree(root.path()), before);
    for _ in 0..2 {
        let store = open(root.path()).await;
        assert_ne!(store.store_id(), first);
        store.put(NewRecord::new("notes", "x")).await.unwrap();
        assert!(store.check().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_write_to_a_database_that_was_removed_or_replaced_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    fs::remove_dir_all(root.path().join(".briefing")).unwrap();
    assert_eq!(store.put(NewRecord::new("notes", "y")).await.unwrap_err().code(), "records.moved");
    // Another store under the same path is served by a writer of its own.
    let other = open(root.path()).await;
    other.put(NewRecord::new("notes", "z")).await.unwrap();
    assert_eq!(other.count(&RecordFilter::new()).await.unwrap(), 1);
    assert_eq!(store.put(NewRecord::new("notes", "y")).await.unwrap_err().code(), "records.moved");
}

#[tokio::test]
async fn a_store_of_every_released_schema_opens() {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let mut opened = 0;
    for entry in fs::read_dir(schemas).unwrap() {
        let released = entry.unwrap().path();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(database(root.path()).parent().unwrap()).unwrap();
        fs::copy(&released, database(root.path())).unwrap();
        let store = open(root.path()).await;
        assert!(store.check().await.unwrap().is_empty(), "{}", released.display());
        let note = store.get(&id("note")).await.unwrap();
        assert_eq!((note.record.version, note.content), (2, "The seal is checked every month.".into()));
        assert_eq!(store.search(&SearchRequest::new("seal")).await.unwrap().len(), 1);
        let run = support::run("run");
        assert_eq!(
            store.latest_checkpoint(&run).await.unwrap().unwrap().state,
            serde_json::json!({"step": 1})
        );
        assert_eq!(
            store.events(&run, &briefing_record_store::EventFilter::default()).await.unwrap().len(),
            1
        );
        store.put(NewRecord::new("notes", "a new one")).await.unwrap();
        opened += 1;
    }
    assert!(opened >= 1);
}

/// Makes the file for the test above when a schema is released; `RECORDS_CHILD` names where it goes.
#[test]
#[ignore = "run by hand when a schema is released"]
fn make_released_schema() {
    let Some(arguments) = child_arguments() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let root = tempfile::tempdir().unwrap();
        let store = open(root.path()).await;
        let record = NewRecord::new("notes", "The pump is checked every week.").id(id("note")).tag("x");
        let note = store.put(record).await.unwrap();
        store.put(NewRecord::update(&note, "The seal is checked every month.")).await.unwrap();
        let step = briefing_record_store::NewStep::new()
            .checkpoint(briefing_record_store::NewCheckpoint::new(serde_json::json!({"step": 1})))
            .event(briefing_record_store::NewEvent::new("began", serde_json::json!({})));
        store.commit_step(&support::run("run"), step).await.unwrap();
        store.backup(&arguments[0]).await.unwrap();
    });
}
