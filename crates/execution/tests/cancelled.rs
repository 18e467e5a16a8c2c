//! Dropping the future of an operation loses nothing that was acknowledged and leaves nothing by halves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "support/dying.rs"]
mod dying;
mod support;

use std::future::Future;
use std::time::Duration;

use briefing_execution::{DeliveryStage, TaskExecution};
use briefing_record_store::RecordStore;
use dying::{Death, Dying};
use support::{Wants, entry, event_types, id, path, writable};

/// Polls a future until it waits for a commit, and drops it there.
async fn dropped_at_a_commit<T>(gate: &Dying, work: impl Future<Output = T>) {
    let before = gate.commits();
    let stopped = tokio::time::timeout(Duration::from_millis(150), work).await;
    assert!(stopped.is_err(), "it did not wait for its commit");
    assert_eq!(gate.commits(), before);
}

/// Lets one commit through and waits until it is done.
async fn admit(gate: &Dying) {
    let expected = gate.commits() + 1;
    gate.admit(1);
    while gate.commits() < expected {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn memory_and_store_agree_whenever_a_future_is_dropped() {
    let root = tempfile::tempdir().unwrap();
    let store = RecordStore::in_memory();
    let (gate, gated) = Dying::gated(&store, usize::MAX, Death::Before, 1);
    let execution = TaskExecution::builder("task")
        .entry(entry("The pump is checked every week."))
        .workspace(writable(root.path()))
        .records(gated)
        .recovery(true)
        .worker("worker")
        .execution_id(id("e"))
        .start()
        .await
        .unwrap();

    // A read that is dropped before it is recorded is recorded to its end, and the reader remembers it.
    dropped_at_a_commit(&gate, execution.read_task_context("worker", "execution", "the pump")).await;
    admit(&gate).await;
    let packages = execution.packages().await;
    assert_eq!(packages.len(), 1);
    gate.admit(1);
    let again = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(again.blocks().len(), 0, "what was recorded counts as disclosed");

    dropped_at_a_commit(&gate, execution.record_consumption(&packages[0], "request", None)).await;
    admit(&gate).await;
    assert_eq!(execution.meta().await.context_consumptions.len(), 1);
    // The caller asks again, and it is still one.
    execution.record_consumption(&packages[0], "request", None).await.unwrap();

    let report = path("report.md");
    gate.admit(1);
    execution.declare_targets(std::slice::from_ref(&report)).await.unwrap();
    dropped_at_a_commit(&gate, execution.stage_delivery(&report, "a good report")).await;
    gate.admit(2);
    gate.admit(1);
    execution.verify_with(&Wants("good")).await.unwrap();
    dropped_at_a_commit(&gate, execution.promote_delivery()).await;
    gate.admit(2);
    while execution.meta().await.delivery.unwrap().stage != DeliveryStage::Delivered {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(std::fs::read(root.path().join("report.md")).unwrap(), b"a good report");
    gate.admit(9);
    let sequence = execution.meta().await.sequence;
    assert_eq!(sequence as usize, event_types(&store, "e").await.len());
    execution.finish().await.unwrap();
    assert_eq!(event_types(&store, "e").await.last().unwrap(), "execution.finished");
}

#[tokio::test]
async fn a_read_that_is_dropped_before_it_is_done_discloses_nothing() {
    let source = support::Restless {
        inner: support::notes(&[("pump", "The pump is checked every week.")]),
        moves: 0.into(),
    };
    let execution = TaskExecution::builder("task")
        .source(std::sync::Arc::new(source), support::bound("notes"))
        .start()
        .await
        .unwrap();
    for polls in 1..40 {
        let read = execution.read_task_context("worker", "execution", "the pump");
        let mut read = Box::pin(read);
        for _ in 0..polls {
            let once = std::future::poll_fn(|context| std::task::Poll::Ready(read.as_mut().poll(context)));
            if once.await.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(read);
        tokio::time::sleep(Duration::from_millis(5)).await;
        let meta = execution.meta().await;
        let disclosed: usize = meta.readers.iter().map(|reader| reader.disclosed).sum();
        let blocks: usize = meta.context_packages.iter().map(|package| package.blocks).sum();
        assert_eq!(disclosed, blocks, "after {polls} polls");
    }
}
