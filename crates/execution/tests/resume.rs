//! Wherever its process dies, an execution goes on from its last acknowledged state and delivers once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "support/dying.rs"]
mod dying;
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use briefing_core::{ConsumerId, ContextBinding, Phase, RequestId};
use briefing_execution::{
    DeliveryStage, Error, ExecutionMeta, ExecutionStatus, SourceRegistry, TaskExecution,
};
use briefing_record_store::{RecordSourceOptions, RecordStore};
use briefing_task_workspace::WorkspaceSourceOptions;
use dying::{Death, Dying};
use support::{Wants, entry, event_types, events, id, path, writable};

const STEPS: [(&str, &str); 3] =
    [("planner", "planning"), ("worker", "execution"), ("critic", "verification")];
const FILES: [(&str, &str); 2] = [("out/a.md", "good a"), ("out/b.md", "good b")];

/// Starts the execution, or goes on with it where it was started.
async fn open(store: &RecordStore, root: &Path) -> Result<TaskExecution, Error> {
    match TaskExecution::resuming(store, &id("e")).worker("worker").open().await {
        Err(Error::Unknown { .. }) => {
            TaskExecution::builder("task")
                .target("the pump")
                .entry(entry("The pump is ours.").required())
                .workspace(writable(root))
                .workspace_source(WorkspaceSourceOptions::new(), ContextBinding::default())
                .records(store.clone())
                .records_source(RecordSourceOptions::new(), ContextBinding::default())
                .recovery(true)
                .worker("worker")
                .execution_id(id("e"))
                .start()
                .await
        }
        opened => opened,
    }
}

/// Does what is left to do, as an application would after a restart.
async fn drive(store: &RecordStore, root: &Path, checkpoints: bool) -> Result<ExecutionMeta, Error> {
    let execution = open(store, root).await?;
    if let ExecutionStatus::Finished { .. } | ExecutionStatus::Blocked { .. } = execution.status().await {
        return Ok(execution.meta().await);
    }
    for (consumer, phase) in STEPS {
        let request = RequestId::new(format!("request-{consumer}"))?;
        if execution.consumption(&request).await.is_some() {
            continue;
        }
        let waiting = execution.unconsumed(&ConsumerId::new(consumer)?, &Phase::new(phase)?).await;
        let package = match waiting.into_iter().next() {
            Some(package) => package,
            None => execution.read_task_context(consumer, phase, "the pump").await?,
        };
        assert_eq!(package.blocks().len(), 2, "{consumer}");
        execution.record_consumption(&package, request, None).await?;
        if checkpoints {
            execution.checkpoint().await?;
        }
    }
    execution.declare_targets(&FILES.map(|(target, _)| path(target))).await?;
    loop {
        let delivery = execution.meta().await.delivery.unwrap();
        match delivery.stage {
            DeliveryStage::Open | DeliveryStage::Rejected => {
                // The first attempt is a bad one.
                let bad = delivery.stage == DeliveryStage::Open && delivery.candidates.is_empty();
                for (target, text) in FILES {
                    let known = delivery.candidates.get(&path(target));
                    let text = if bad && target == "out/a.md" { "a bad one" } else { text };
                    if known.is_none() || delivery.stage == DeliveryStage::Rejected {
                        execution.stage_delivery(&path(target), text).await?;
                    }
                }
            }
            DeliveryStage::Staged => drop(execution.verify_with(&Wants("good")).await?),
            DeliveryStage::Delivered => break,
            _ => drop(execution.promote_delivery().await?),
        }
    }
    execution.finish().await
}

async fn check(store: &RecordStore, root: &Path, meta: &ExecutionMeta, place: &str) {
    assert_eq!(meta.status, ExecutionStatus::Finished { delivered: true }, "{place}");
    for (target, text) in FILES {
        assert_eq!(std::fs::read_to_string(root.join(target)).unwrap(), text, "{place}");
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for event in event_types(store, "e").await {
        *counts.entry(event).or_default() += 1;
    }
    for (event, expected) in [
        ("execution.started", 1),
        ("execution.entry", 1),
        ("execution.source", 2),
        ("execution.package", STEPS.len()),
        ("execution.consumption", STEPS.len()),
        ("execution.promoting", 1),
        ("execution.delivered", 1),
        ("execution.finished", 1),
    ] {
        assert_eq!(counts.get(event), Some(&expected), "{place}: {event} in {counts:?}");
    }
    let requests: Vec<_> =
        meta.context_consumptions.iter().map(|consumption| consumption.request_id().as_str()).collect();
    assert_eq!(requests, ["request-planner", "request-worker", "request-critic"], "{place}");
    let workspace = writable(root);
    assert!(workspace.deliveries().unwrap().is_empty(), "{place}");
    assert!(workspace.candidates().unwrap().is_empty(), "{place}");
}

#[tokio::test]
async fn an_execution_that_dies_at_any_commit_is_resumed_to_the_same_end() {
    let mut deaths = 0;
    for checkpoints in [false, true] {
        for death in [Death::Before, Death::After] {
            for at in 0.. {
                let root = tempfile::tempdir().unwrap();
                std::fs::write(root.path().join("pump.md"), "The pump is old.\n").unwrap();
                let store = RecordStore::in_memory();
                let (mortal, dying) = Dying::at(&store, at, death);
                let first = drive(&dying, root.path(), checkpoints).await;
                if !mortal.is_dead() {
                    assert!(at > 15, "only {at} commits");
                    check(&store, root.path(), &first.unwrap(), "undisturbed").await;
                    break;
                }
                deaths += 1;
                let place = format!("{death:?} commit {at}, checkpoints {checkpoints}");
                let first = first.unwrap_err();
                assert_eq!(first.code(), "execution.out_of_step", "{place}: {first}");
                let meta = drive(&store, root.path(), checkpoints).await;
                let meta = meta.unwrap_or_else(|error| panic!("{place}: {error}"));
                check(&store, root.path(), &meta, &place).await;
                // Once more, for the audit.
                let again = drive(&store, root.path(), checkpoints).await.unwrap();
                assert_eq!(again.context_consumptions, meta.context_consumptions);
            }
        }
    }
    support::say(&format!("{deaths} deaths"));
}

#[tokio::test]
async fn an_execution_that_dies_again_and_again_comes_to_its_end() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("pump.md"), "The pump is old.\n").unwrap();
    let store = RecordStore::in_memory();
    let mut lives = 0;
    let meta = loop {
        lives += 1;
        assert!(lives < 100);
        // Each life acknowledges one commit and dies at the next, before or after it is written.
        let death = if lives % 2 == 0 { Death::Before } else { Death::After };
        let (mortal, dying) = Dying::at(&store, 1, death);
        match drive(&dying, root.path(), false).await {
            Ok(meta) if !mortal.is_dead() => break meta,
            _ => {}
        }
    };
    assert!(lives > 8, "{lives}");
    check(&store, root.path(), &meta, "many lives").await;
}

/// A delivery up to an accepted candidate, then a promotion whose process dies once it is begun, or once it is done.
async fn dies_in_promotion(store: &RecordStore, root: &Path, delivered: bool) {
    std::fs::write(root.join("pump.md"), "The pump is old.\n").unwrap();
    let types = event_types_of_a_whole_life().await;
    let begun = types.iter().position(|event| event == "execution.promoting").unwrap();
    let commits = commit_of(&types, begun);
    let (at, death) = if delivered { (commits + 1, Death::Before) } else { (commits, Death::After) };
    let (mortal, dying) = Dying::at(store, at, death);
    drive(&dying, root, false).await.unwrap_err();
    assert!(mortal.is_dead());
    assert_eq!(events(store, "e").await.last().unwrap().event_type, "execution.promoting");
}

async fn event_types_of_a_whole_life() -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("pump.md"), "The pump is old.\n").unwrap();
    let store = RecordStore::in_memory();
    drive(&store, root.path(), false).await.unwrap();
    event_types(&store, "e").await
}

/// Which commit writes an event: the first one writes start, entry and both sources.
fn commit_of(types: &[String], event: usize) -> usize {
    assert_eq!(types[3], "execution.source");
    event - 3
}

async fn resumed(store: &RecordStore) -> TaskExecution {
    TaskExecution::resuming(store, &id("e")).worker("worker").open().await.unwrap()
}

#[tokio::test]
async fn a_promotion_that_was_done_is_not_done_again() {
    let (root, store) = (tempfile::tempdir().unwrap(), RecordStore::in_memory());
    dies_in_promotion(&store, root.path(), true).await;
    let target = root.path().join("out/a.md");
    let before = std::fs::metadata(&target).unwrap();
    let execution = resumed(&store).await;
    assert_eq!(execution.status().await, ExecutionStatus::Delivered);
    assert_eq!(execution.promote_delivery().await.unwrap_err().code(), "execution.already_delivered");
    let after = std::fs::metadata(&target).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        assert_eq!(before.ino(), after.ino());
    }
}

#[tokio::test]
async fn a_promotion_that_was_begun_and_not_done_is_done_at_the_resume() {
    let (root, store) = (tempfile::tempdir().unwrap(), RecordStore::in_memory());
    dies_in_promotion(&store, root.path(), false).await;
    assert!(!root.path().join("out/a.md").exists());
    let execution = resumed(&store).await;
    assert_eq!(execution.status().await, ExecutionStatus::Delivered);
    assert_eq!(std::fs::read_to_string(root.path().join("out/b.md")).unwrap(), "good b");
}

#[tokio::test]
async fn a_promotion_that_somebody_got_in_the_way_of_comes_back_blocked() {
    for delivered in [false, true] {
        let (root, store) = (tempfile::tempdir().unwrap(), RecordStore::in_memory());
        dies_in_promotion(&store, root.path(), delivered).await;
        std::fs::create_dir_all(root.path().join("out")).unwrap();
        std::fs::write(root.path().join("out/b.md"), "theirs").unwrap();
        let execution = resumed(&store).await;
        let status = execution.status().await;
        assert!(matches!(status, ExecutionStatus::Blocked { .. }), "{delivered}: {status:?}");
        assert_eq!(std::fs::read_to_string(root.path().join("out/b.md")).unwrap(), "theirs");
        assert_eq!(root.path().join("out/a.md").exists(), delivered, "nothing is promoted by halves");
        drop(execution);
        // It stays blocked, and can be looked at and finished.
        let meta = resumed(&store).await.finish().await.unwrap();
        assert!(matches!(meta.status, ExecutionStatus::Blocked { finished: true, .. }));
    }
}

#[tokio::test]
async fn a_snapshot_spares_events_and_packages_are_never_written_twice() {
    let (root, store) = (tempfile::tempdir().unwrap(), RecordStore::in_memory());
    std::fs::write(root.path().join("pump.md"), "The pump is old.\n").unwrap();
    let execution = open(&store, root.path()).await.unwrap();
    let package = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    for number in 0..200 {
        execution.record_consumption(&package, format!("request-{number}").as_str(), None).await.unwrap();
    }
    let run = briefing_core::RunId::new("e").unwrap();
    let snapshots = store.snapshots(&run, None).await.unwrap();
    assert_eq!(snapshots.len(), 2, "taken by themselves, and only the last two are kept");
    let text = snapshots[0].state.to_string();
    assert!(!text.contains("The pump is old"), "packages live in their events only");
    assert!(text.contains(package.package_id().as_str()));
    let meta = execution.meta().await;
    drop(execution);
    let execution = resumed(&store).await;
    let again = execution.meta().await;
    assert_eq!(
        (again.context_packages, again.context_consumptions),
        (meta.context_packages, meta.context_consumptions)
    );
    assert_eq!(execution.package(package.package_id()).await.as_deref(), Some(&*package));
}

#[tokio::test]
async fn what_a_host_writes_into_the_run_is_passed_over() {
    let (root, store) = (tempfile::tempdir().unwrap(), RecordStore::in_memory());
    std::fs::write(root.path().join("pump.md"), "The pump is old.\n").unwrap();
    let execution = open(&store, root.path()).await.unwrap();
    let run = briefing_core::RunId::new("e").unwrap();
    let note = briefing_record_store::NewEvent::new("host.note", serde_json::json!({"n": 1}));
    store.append_event(&run, note).await.unwrap();
    execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    drop(execution);
    assert_eq!(resumed(&store).await.packages().await.len(), 1);
    let nobody = TaskExecution::resume(&store, &id("nobody"), &SourceRegistry::new()).await.unwrap_err();
    assert_eq!(nobody.code(), "execution.unknown");
    // Asking for it made no run.
    assert!(store.lease(&briefing_core::RunId::new("nobody").unwrap()).await.unwrap().is_none());
}
