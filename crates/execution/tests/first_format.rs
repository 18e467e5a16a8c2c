//! What the first version stored is still resumed, and what a later major version stored is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::path::Path;
use std::sync::Arc;

use briefing_core::{ContextBinding, MemoryDocument, MemorySource, SeededEnvironment, SourceKind};
use briefing_execution::{DeliveryStage, Error, ExecutionStatus, SourceRegistry, TaskExecution, Verdict};
use briefing_record_store::{RecordSourceOptions, RecordStore};
use briefing_task_workspace::WorkspaceSourceOptions;
use support::{Wants, bound, entry, id, notes, path, writable};

/// The lines of a store that holds one execution of the first format: two packages, a consumption, a snapshot in the middle,
/// a refresh, a rejected and an accepted candidate. The root of its workspace is `/workspace`.
const FIRST_FORMAT: &str = include_str!("data/execution-1.jsonl");

async fn imported(lines: &str) -> RecordStore {
    // The store that was exported, by its id.
    let store = RecordStore::in_memory_with(Arc::new(SeededEnvironment::new(1, 1_700_000_000_000)));
    store.import(Box::new(std::io::Cursor::new(lines.as_bytes().to_vec()))).await.unwrap();
    store
}

fn registry() -> SourceRegistry {
    let mut registry = SourceRegistry::new();
    registry.register(SourceKind::new("memory").unwrap(), |stored| {
        let notes = MemorySource::new(&stored.source_id, "memory")?;
        notes.put(MemoryDocument::new("valve", "The pump has a valve.")?);
        Ok(Arc::new(notes))
    });
    registry
}

#[tokio::test]
async fn an_execution_of_the_first_format_is_resumed_and_finished() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("pump.md"), "The pump is checked every week.\n").unwrap();
    let store = imported(FIRST_FORMAT).await;
    let resuming = || TaskExecution::resuming(&store, &id("first")).worker("worker").registry(registry());
    let elsewhere = resuming().open().await.unwrap_err();
    assert_eq!(elsewhere.code(), "workspace.root_unusable", "it is opened where it was stored");

    let execution = resuming().workspace(writable(root.path())).open().await.unwrap();
    let meta = execution.meta().await;
    assert_eq!(meta.status, ExecutionStatus::Active);
    assert_eq!(meta.target.as_deref(), Some("a good report about the pump"));
    assert_eq!((meta.entries.len(), meta.bindings.len(), meta.readers.len()), (2, 3, 2));
    assert_eq!((meta.context_packages.len(), meta.context_consumptions.len()), (2, 1));
    let delivery = meta.delivery.unwrap();
    assert_eq!((delivery.stage, delivery.verdict), (DeliveryStage::Accepted, Some(Verdict::Accepted)));
    for package in execution.packages().await {
        assert!(!package.blocks().is_empty());
    }
    // The candidate went with the folder.
    let gone = execution.promote_delivery().await.unwrap_err();
    assert_eq!(gone.code(), "execution.not_as_verified");
    execution.stage_delivery(&path("report.md"), "a good report").await.unwrap();
    execution.verify_with(&Wants("good")).await.unwrap();
    execution.promote_delivery().await.unwrap();
    let meta = execution.finish().await.unwrap();
    assert_eq!(meta.status, ExecutionStatus::Finished { delivered: true });
}

#[tokio::test]
async fn another_major_version_is_refused_by_name() {
    for place in ["execution.started", "snapshot"] {
        let store = RecordStore::in_memory();
        let execution = TaskExecution::builder("task")
            .records(store.clone())
            .recovery(true)
            .execution_id(id("later"))
            .start()
            .await
            .unwrap();
        let run = briefing_core::RunId::new("later").unwrap();
        if place == "snapshot" {
            let state = serde_json::json!({ "schema": "briefing.execution/2", "covers": 1 });
            let step = briefing_record_store::NewStep::new()
                .snapshot(briefing_record_store::NewSnapshot::new(state.clone()))
                .checkpoint(briefing_record_store::NewCheckpoint::new(state));
            execution.suspend().await.unwrap();
            store.commit_step(&run, step).await.unwrap();
        } else {
            let other = RecordStore::in_memory();
            let mut payload = support::events(&store, "later").await.remove(0).payload;
            payload["schema"] = "briefing.execution/2".into();
            let event = briefing_record_store::NewEvent::new("execution.started", payload);
            let view = briefing_record_store::RecordFilter::new().scope("execution_id", "later");
            other.view(&view).unwrap().append_event(&run, event).await.unwrap();
            let refused = TaskExecution::resume(&other, &id("later"), &registry()).await.unwrap_err();
            assert_eq!(refused.code(), "schema.unsupported", "{refused}");
            continue;
        }
        let refused = TaskExecution::resume(&store, &id("later"), &registry()).await.unwrap_err();
        assert_eq!(refused.code(), "schema.unsupported", "{refused}");
        assert!(refused.to_string().contains("briefing.execution/2"), "{refused}");
    }
}

#[tokio::test]
async fn an_event_that_this_version_does_not_know_is_an_error_and_not_passed_over() {
    let store = imported(FIRST_FORMAT).await;
    let run = briefing_core::RunId::new("first").unwrap();
    let event = briefing_record_store::NewEvent::new("execution.teleported", serde_json::json!({}));
    store.append_event(&run, event).await.unwrap();
    let refused = TaskExecution::resume(&store, &id("first"), &registry()).await.unwrap_err();
    assert!(matches!(refused, Error::Journal { .. }), "{refused}");
    assert!(refused.to_string().contains("execution.teleported"), "{refused}");
}

/// Writes the file of the format. It is run once for each major version of it:
/// `FIRST_FORMAT_ROOT=/workspace FIRST_FORMAT_FILE=... cargo test --test first_format -- --ignored`.
#[tokio::test]
#[ignore = "writes the file that the other tests read"]
async fn write_the_file_of_the_format() {
    let (Ok(root), Ok(file)) = (std::env::var("FIRST_FORMAT_ROOT"), std::env::var("FIRST_FORMAT_FILE"))
    else {
        return;
    };
    let root = Path::new(&root);
    std::fs::create_dir_all(root).unwrap();
    std::fs::write(root.join("pump.md"), "The pump is checked every week.\n").unwrap();
    let environment = Arc::new(SeededEnvironment::new(1, 1_700_000_000_000));
    let store = RecordStore::in_memory_with(environment.clone());
    let execution = TaskExecution::builder("maintenance")
        .target("a good report about the pump")
        .agent(briefing_execution::AgentId::new("reporter").unwrap())
        .entry(entry("The pump is ours.").required())
        .workspace(writable(root))
        .workspace_source(WorkspaceSourceOptions::new(), ContextBinding::default())
        .source(notes(&[("valve", "The pump has a valve.")]), bound("notes"))
        .records(store.clone())
        .records_source(RecordSourceOptions::new().source_id("records"), ContextBinding::default())
        .recovery(true)
        .worker("worker")
        .execution_id(id("first"))
        .environment(environment)
        .delivers_to("report.md")
        .start()
        .await
        .unwrap();
    let package = execution.read_task_context("planner", "planning", "the pump").await.unwrap();
    execution.record_consumption(&package, "request-1", None).await.unwrap();
    execution.checkpoint().await.unwrap();
    let gone = execution.put_entry(entry("The pump is theirs.")).await.unwrap();
    execution.remove(&gone).await.unwrap();
    execution.put_entry(entry("The pump is wet.")).await.unwrap();
    execution.refresh("planner", "planning").await.unwrap();
    execution.read_task_context("writer", "execution", "the pump").await.unwrap();
    execution.stage_delivery(&path("report.md"), "a bad report").await.unwrap();
    execution.verify_with(&Wants("good")).await.unwrap();
    execution.stage_delivery(&path("report.md"), "a good report").await.unwrap();
    execution.verify_with(&Wants("good")).await.unwrap();
    store.export(Box::new(std::fs::File::create(file).unwrap())).await.unwrap();
}
