//! Several processes write to one store at the same time: nothing is lost, nothing is done twice, nobody sees a raw lock.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::io::Read as _;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use briefing_record_store::{
    EventFilter, LeaseClaim, ListRequest, NewCheckpoint, NewEvent, NewRecord, Order, RecordFilter,
    RecordStore, SearchRequest,
};
use serde_json::json;
use support::{child, child_arguments, open, run, say};

/// How long the writers write. `RECORDS_SECONDS` sets another time.
const SECONDS: u64 = 4;

/// How many writers each process has.
const WRITERS: u64 = 4;

fn finish(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "a child failed:\n{out}\n{err}");
    out.into_owned()
}

/// The number after `key=` in what a child told.
fn told(out: &str, key: &str) -> u64 {
    let line = out.lines().find_map(|line| line.split(&format!("{key}=")).nth(1)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
#[ignore = "runs as a child of another test"]
fn child_writes_for_some_time() {
    let Some(arguments) = child_arguments() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let until = Instant::now() + Duration::from_millis(arguments[2].parse().unwrap());
    runtime.block_on(async {
        let store = open(Path::new(&arguments[0])).await;
        let mut writers = Vec::new();
        for writer in 0..WRITERS {
            let (store, name) = (store.clone(), format!("{}-{writer}", arguments[1]));
            writers.push(tokio::spawn(async move {
                let (run, mut written, mut conflicts) = (run("shared"), 0_u64, 0_u64);
                while Instant::now() < until {
                    let record =
                        NewRecord::new("notes", format!("record {written} of {name}")).tag(name.as_str());
                    let put = store.put(record).await.unwrap();
                    store.append_event(&run, NewEvent::new("wrote", json!(put.id))).await.unwrap();
                    // A counter by compare and set.
                    let state = store.state_version(&run).await.unwrap();
                    match store.put_checkpoint(&run, NewCheckpoint::new(json!(name)).expecting(state)).await {
                        Ok(_) => {}
                        Err(error) if error.code() == "records.state_conflict" => conflicts += 1,
                        Err(error) => panic!("{error}"),
                    }
                    written += 1;
                }
                (written, conflicts)
            }));
        }
        let (mut written, mut conflicts) = (0, 0);
        for writer in writers {
            let (some, lost) = writer.await.unwrap();
            written += some;
            conflicts += lost;
        }
        say(&format!("written={written} conflicts={conflicts}"));
    });
}

#[tokio::test]
async fn eight_writers_in_two_processes_lose_nothing() {
    let seconds = std::env::var("RECORDS_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    let millis = seconds.unwrap_or(SECONDS) * 1_000;
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let children = ["one", "two"].map(|name| {
        child("child_writes_for_some_time", &format!("{}|{name}|{millis}", root.path().display()))
    });
    // A reader pages meanwhile, and never sees a raw lock or a page out of order.
    let until = Instant::now() + Duration::from_millis(millis);
    let mut pages = 0;
    while Instant::now() < until {
        let mut after = None;
        loop {
            let request = ListRequest::default().order(Order::Oldest).limit(50).after(after);
            let page = store.list(&request).await.unwrap();
            assert!(after < page.next || page.next.is_none());
            pages += 1;
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        store.search(&SearchRequest::new("record").limit(5)).await.unwrap();
    }
    let (mut written, mut conflicts) = (0, 0);
    for child in children {
        let out = finish(child);
        written += told(&out, "written");
        conflicts += told(&out, "conflicts");
    }
    say(&format!("{written} records, {conflicts} conflicts, {pages} pages in {millis} ms"));
    assert!(written >= 16, "only {written} records");
    assert_eq!(store.count(&RecordFilter::new()).await.unwrap(), written);
    let events = store.events(&run("shared"), &EventFilter::default()).await.unwrap();
    assert_eq!(events.len() as u64, written);
    assert!((1_u64..).zip(&events).all(|(sequence, event)| event.sequence == sequence));
    // Every checkpoint that was not refused moved the state by one.
    assert_eq!(store.state_version(&run("shared")).await.unwrap(), written - conflicts);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[test]
#[ignore = "runs as a child of another test"]
fn child_claims_leases() {
    let Some(arguments) = child_arguments() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = open(Path::new(&arguments[0])).await;
        // All children begin at about the same time.
        let mut go = [0];
        let _ = std::fs::File::open(&arguments[2]).unwrap().read(&mut go);
        let mut won = Vec::new();
        for round in 0..40 {
            let claim = LeaseClaim::new(arguments[1].as_str(), 600_000);
            match store.claim_lease(&run(&format!("run-{round}")), &claim).await {
                Ok(_) => won.push(round.to_string()),
                Err(error) => assert_eq!(error.code(), "records.lease_held"),
            }
        }
        say(&format!("won:{}", won.join(",")));
    });
}

#[tokio::test]
async fn of_four_processes_that_claim_a_lease_one_gets_it() {
    let root = tempfile::tempdir().unwrap();
    drop(open(root.path()).await);
    let go = root.path().join("go");
    std::fs::write(&go, b"1").unwrap();
    let children = ["a", "b", "c", "d"].map(|name| {
        child("child_claims_leases", &format!("{}|{name}|{}", root.path().display(), go.display()))
    });
    let mut won: Vec<u64> = Vec::new();
    for child in children {
        let out = finish(child);
        let line = out.lines().find_map(|line| line.split("won:").nth(1)).unwrap();
        won.extend(line.split(',').filter_map(|round| round.trim().parse::<u64>().ok()));
    }
    won.sort_unstable();
    assert_eq!(won, (0..40).collect::<Vec<_>>(), "each lease has one winner");
}

#[tokio::test]
async fn many_stores_opened_at_once_agree_on_one_identity() {
    let root = tempfile::tempdir().unwrap();
    let mut children = Vec::new();
    for name in 0..4 {
        children.push(child("child_writes_for_some_time", &format!("{}|{name}|100", root.path().display())));
    }
    for child in children {
        finish(child);
    }
    let store = open(root.path()).await;
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

/// A store whose database another connection holds locked for writing.
async fn locked_store(root: &Path, timeout: Duration) -> (RecordStore, rusqlite::Connection) {
    let options = RecordStore::options(briefing_record_store::StoreMode::ReadWrite).busy_timeout(timeout);
    let store = options.open(root).await.unwrap();
    let other = rusqlite::Connection::open(support::database(root)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    (store, other)
}

#[tokio::test]
async fn a_store_that_is_slow_to_open_keeps_nobody_from_opening_another() {
    let (slow, quick) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = RecordStore::options(briefing_record_store::StoreMode::ReadWrite)
        .journal(briefing_record_store::Journal::Rollback)
        .busy_timeout(Duration::from_secs(20));
    drop(options.clone().open(slow.path()).await.unwrap());
    let other = rusqlite::Connection::open(support::database(slow.path())).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let root = slow.path().to_owned();
    // The writer of the handle before is gone, or about to go; a new one waits for the lock.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let opening = tokio::spawn(async move { options.open(root).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    open(quick.path()).await.put(NewRecord::new("notes", "x")).await.unwrap();
    assert!(!opening.is_finished());
    other.execute_batch("ROLLBACK").unwrap();
    opening.await.unwrap().unwrap();
}

#[tokio::test]
async fn more_readers_than_connections_wait_and_are_all_served() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    store.put(NewRecord::new("notes", "the pump")).await.unwrap();
    let searches = (0..400).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.search(&SearchRequest::new("pump")).await.unwrap().len() })
    });
    for search in searches.collect::<Vec<_>>() {
        assert_eq!(search.await.unwrap(), 1);
    }
}

#[tokio::test]
async fn a_lock_that_lasts_too_long_is_a_typed_error_and_nothing_is_written() {
    let root = tempfile::tempdir().unwrap();
    let (store, other) = locked_store(root.path(), Duration::from_millis(200)).await;
    let error = store.put(NewRecord::new("notes", "x")).await.unwrap_err();
    assert_eq!(error.code(), "records.busy");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.count(&RecordFilter::new()).await.unwrap(), 0);
    store.put(NewRecord::new("notes", "x")).await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn a_lock_elsewhere_does_not_stall_other_tasks_nor_readers() {
    let root = tempfile::tempdir().unwrap();
    let (store, other) = locked_store(root.path(), Duration::from_secs(30)).await;
    let writing = tokio::spawn({
        let store = store.clone();
        async move { store.put(NewRecord::new("notes", "x")).await }
    });
    let begun = Instant::now();
    let mut ticks = 0;
    while begun.elapsed() < Duration::from_millis(1_000) {
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_eq!(store.count(&RecordFilter::new()).await.unwrap(), 0);
        ticks += 1;
    }
    assert!(ticks > 20, "the runtime stood still: {ticks} ticks in a second");
    assert!(!writing.is_finished());
    other.execute_batch("ROLLBACK").unwrap();
    writing.await.unwrap().unwrap();
}
