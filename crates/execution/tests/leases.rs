//! A worker that lost its lease records nothing any more, and says so.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use briefing_core::Environment;
use briefing_execution::{SourceRegistry, TaskExecution};
use briefing_record_store::RecordStore;
use support::{entry, event_types, id};

fn starting(store: &RecordStore) -> briefing_execution::ExecutionBuilder {
    TaskExecution::builder("task")
        .entry(entry("The pump is checked every week."))
        .records(store.clone())
        .recovery(true)
        .execution_id(id("e"))
}

#[tokio::test]
async fn an_execution_has_one_worker_at_a_time() {
    let store = RecordStore::in_memory();
    let execution = starting(&store).start().await.unwrap();
    let held = TaskExecution::resume(&store, &id("e"), &SourceRegistry::new()).await.unwrap_err();
    assert_eq!(held.code(), "records.lease_held");
    let twice = starting(&store).start().await.unwrap_err();
    assert_eq!(twice.code(), "execution.exists");
    execution.suspend().await.unwrap();
    let refused = execution.put_entry(entry("more")).await.unwrap_err();
    assert_eq!(refused.code(), "execution.lease_lost");
    TaskExecution::resume(&store, &id("e"), &SourceRegistry::new()).await.unwrap();
}

#[tokio::test]
async fn a_worker_whose_name_is_taken_over_is_fenced_off() {
    let store = RecordStore::in_memory();
    let first = starting(&store).worker("worker").start().await.unwrap();
    let package = first.read_task_context("worker", "execution", "the pump").await.unwrap();
    let second = TaskExecution::resuming(&store, &id("e")).worker("worker").open().await.unwrap();
    let before = event_types(&store, "e").await;
    for _ in 0..2 {
        let lost = first.record_consumption(&package, "request", None).await.unwrap_err();
        assert_eq!(lost.code(), "execution.lease_lost", "{lost}");
    }
    let codes = [
        first.read_task_context("worker", "execution", "the pump").await.map(drop).unwrap_err().code(),
        first.put_entry(entry("more")).await.map(drop).unwrap_err().code(),
        first.checkpoint().await.map(drop).unwrap_err().code(),
        first.finish().await.map(drop).unwrap_err().code(),
    ];
    assert_eq!(codes, ["execution.lease_lost"; 4]);
    assert!(first.meta().await.context_consumptions.is_empty(), "what was not recorded is not believed");
    assert_eq!(event_types(&store, "e").await, before);
    second.record_consumption(&package, "request", None).await.unwrap();
}

#[tokio::test]
async fn heartbeats_keep_a_short_lease_alive_and_end_with_the_execution() {
    let store = RecordStore::in_memory();
    let ttl = Duration::from_millis(300);
    let execution = starting(&store).lease_ttl(ttl).start().await.unwrap();
    tokio::time::sleep(ttl * 3).await;
    execution.put_entry(entry("still here")).await.unwrap();
    drop(execution);
    tokio::time::sleep(ttl * 2).await;
    TaskExecution::resume(&store, &id("e"), &SourceRegistry::new()).await.unwrap();
}

/// A clock that jumps.
#[derive(Debug)]
struct Jumping(std::sync::atomic::AtomicU64);

impl Environment for Jumping {
    fn now_unix_millis(&self) -> u64 {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
    fn new_id(&self, prefix: &str) -> String {
        briefing_core::SystemEnvironment.new_id(prefix)
    }
}

#[tokio::test]
async fn a_worker_that_slept_through_its_lease_finds_out_before_it_writes() {
    let clock = Arc::new(Jumping(1_000_000.into()));
    let store = RecordStore::in_memory_with(clock.clone());
    let execution = starting(&store).start().await.unwrap();
    clock.0.fetch_add(31_000, std::sync::atomic::Ordering::SeqCst);
    let lost = execution.put_entry(entry("too late")).await.unwrap_err();
    assert_eq!(lost.code(), "execution.lease_lost");
    assert!(lost.to_string().contains("expired"), "{lost}");
}

#[tokio::test]
async fn recovery_needs_a_store() {
    let refused = TaskExecution::builder("task").recovery(true).start().await.unwrap_err();
    assert_eq!(refused.code(), "execution.no_records");
    // Off, nothing is recorded.
    let store = RecordStore::in_memory();
    let execution = starting(&store).recovery(false).start().await.unwrap();
    execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(execution.checkpoint().await.unwrap(), 3);
    assert!(event_types(&store, "e").await.is_empty());
}
