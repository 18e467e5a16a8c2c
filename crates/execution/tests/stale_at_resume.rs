//! After a resume a reader whose sources moved is stale until it is refreshed; what has not changed stays disclosed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use briefing_context_reader::{Error as ReaderError, MovedPin};
use briefing_core::ConsumerId;
use briefing_execution::{Error, TaskExecution};
use briefing_record_store::RecordStore;
use briefing_task_workspace::{TaskWorkspace, WorkspaceSourceOptions};
use support::{bound, entry, id};

#[tokio::test]
async fn what_moved_is_named_and_only_what_changed_is_disclosed_again() {
    let (moving, still) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(moving.path().join("a.md"), "The pump is blue.\n").unwrap();
    std::fs::write(moving.path().join("b.md"), "The pump is loud.\n").unwrap();
    std::fs::write(still.path().join("c.md"), "The pump is old.\n").unwrap();
    let store = RecordStore::in_memory();
    let source = |root: &std::path::Path, name: &str| {
        let workspace = TaskWorkspace::open(root).unwrap();
        std::sync::Arc::new(workspace.source(WorkspaceSourceOptions::new().source_id(name)).unwrap())
    };
    let execution = TaskExecution::builder("task")
        .source(source(moving.path(), "moving"), bound("moving"))
        .source(source(still.path(), "still"), bound("still"))
        .entry(entry("The pump is ours."))
        .records(store.clone())
        .recovery(true)
        .worker("worker")
        .execution_id(id("e"))
        .start()
        .await
        .unwrap();
    let before = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(before.blocks().len(), 4);
    drop(execution);

    let resume = || TaskExecution::resuming(&store, &support::id("e")).worker("worker").open();
    // Nothing moved: the reader goes on.
    let execution = resume().await.unwrap();
    let nothing = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(nothing.blocks().len(), 0);
    drop(execution);

    std::fs::write(moving.path().join("a.md"), "The pump is green by now.\n").unwrap();
    let execution = resume().await.unwrap();
    for _ in 0..2 {
        let stale = execution.read_task_context("worker", "execution", "the pump").await.unwrap_err();
        assert!(stale.is_stale(), "{stale}");
        let told = stale.to_string();
        assert!(told.contains("moving") && !told.contains("still"), "{told}");
        let Error::Reader(ReaderError::Stale { moved, .. }) = &stale else { panic!("{stale}") };
        assert_eq!(moved.len(), 1);
        let MovedPin::Source { binding_id, was, is, .. } = &moved[0] else { panic!("{moved:?}") };
        assert_eq!(*binding_id, "moving");
        assert!(was.is_some() && is.is_some() && was != is);
    }
    // Another reader is not concerned.
    let other = execution.read_task_context("other", "execution", "the pump").await.unwrap();
    assert_eq!(other.blocks().len(), 4);
    assert!(execution.refresh("worker", "execution").await.unwrap());
    assert!(!execution.refresh("worker", "execution").await.unwrap(), "nothing moved since");
    let after = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(after.blocks().len(), 1, "what has not changed stays disclosed");
    assert_eq!(after.blocks()[0].source_ref, "a.md");
    drop(execution);

    // The refresh was recorded.
    let execution = resume().await.unwrap();
    execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    let unknown = execution.refresh("nobody", "execution").await.unwrap_err();
    assert_eq!(unknown.code(), "execution.unknown_reader");
    let id = ConsumerId::new("worker").unwrap();
    assert!(!execution.refresh(id, "execution").await.unwrap());
}

#[tokio::test]
async fn entries_that_came_and_went_leave_the_context_at_its_revision() {
    let store = RecordStore::in_memory();
    let start = TaskExecution::builder("task")
        .entry(entry("The pump is ours."))
        .records(store.clone())
        .recovery(true)
        .worker("worker")
        .execution_id(id("e"));
    let execution = start.start().await.unwrap();
    let gone = execution.put_entry(entry("The pump is theirs.")).await.unwrap();
    assert!(execution.remove(&gone).await.unwrap());
    assert!(!execution.remove(&gone).await.unwrap());
    execution.put_entry(entry("The pump is wet.")).await.unwrap();
    let before = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    for snapshot in [false, true] {
        let execution = TaskExecution::resuming(&store, &id("e")).worker("worker").open().await.unwrap();
        let package = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
        assert_eq!(package.context_revision(), before.context_revision());
        assert_eq!(package.blocks().len(), 0);
        if !snapshot {
            execution.checkpoint().await.unwrap();
        }
    }
}
