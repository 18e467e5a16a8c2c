//! Consumers read through readers of their own, and consumption is what a successful request worked with.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_core::{
    BlockId, Completeness, ContextBudget, ContextConsumer, ContextReadIntent, RequestId, RequiredOverflow,
    SourceRef,
};
use briefing_execution::{Error, ExecutionStatus, TaskExecution, TaskIntent};
use briefing_record_store::{NewRecord, RecordSourceOptions, RecordStore, RecordStoreContextSource};
use support::{Restless, bound, entry, notes};

const PUMP: &str = "The pump is checked every week.";

#[tokio::test]
async fn the_target_is_the_query_of_a_read_without_an_intent() {
    let execution = TaskExecution::builder("task")
        .target("when is the pump checked?")
        .entry(entry(PUMP))
        .start()
        .await
        .unwrap();
    let package = execution.read_task_context("planner", "planning", TaskIntent::Target).await.unwrap();
    assert_eq!(package.query(), "when is the pump checked?");
    assert_eq!((package.consumer_id().as_str(), package.phase().as_str()), ("planner", "planning"));

    let aimless = TaskExecution::builder("task").start().await.unwrap();
    let refused = aimless.read_task_context("planner", "planning", TaskIntent::Target).await.unwrap_err();
    assert_eq!(refused.code(), "execution.no_target");
}

#[tokio::test]
async fn each_consumer_and_phase_has_a_reader_of_its_own() {
    let execution = TaskExecution::builder("task").entry(entry(PUMP)).start().await.unwrap();
    for (consumer, phase) in [("worker", "execution"), ("worker", "repair"), ("verifier", "execution")] {
        let package = execution.read_task_context(consumer, phase, "the pump").await.unwrap();
        assert_eq!(package.blocks().len(), 1, "{consumer} {phase}");
    }
    let again = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(again.blocks().len(), 0, "what was disclosed is not disclosed again");
    let meta = execution.meta().await;
    assert_eq!((meta.readers.len(), meta.context_packages.len()), (3, 4));
}

#[tokio::test]
async fn a_reader_pins_the_context_anew_for_each_read() {
    let store = RecordStore::in_memory();
    store.put(NewRecord::new("notes", PUMP)).await.unwrap();
    let records = RecordStoreContextSource::new(&store, RecordSourceOptions::new()).unwrap();
    let execution =
        TaskExecution::builder("task").source(Arc::new(records), bound("records")).start().await.unwrap();
    execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    store.put(NewRecord::new("notes", "The pump has a valve.")).await.unwrap();
    execution.put_entry(entry("The pump is blue.")).await.unwrap();
    let package = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(package.blocks().len(), 2, "what is new, and what has not changed stays disclosed");
}

#[tokio::test]
async fn a_source_that_changes_while_it_is_read_is_read_again_three_times() {
    for (moves, settles) in [(1, true), (3, true), (4, false)] {
        let source = Restless { inner: notes(&[("pump", PUMP)]), moves: AtomicUsize::new(moves) };
        let execution =
            TaskExecution::builder("task").source(Arc::new(source), bound("notes")).start().await.unwrap();
        let read = execution.read_task_context("worker", "execution", "the pump").await;
        match read {
            Ok(package) => assert!(settles && package.blocks().len() == 1, "{moves}"),
            Err(error) => assert!(!settles && error.is_stale(), "{moves}: {error}"),
        }
    }
}

#[tokio::test]
async fn a_package_without_required_content_is_not_delivered_and_discloses_nothing() {
    let long = "The pump is checked. ".repeat(40);
    let execution = TaskExecution::builder("task")
        .entry(entry(PUMP))
        .entry(entry(&long).required())
        .budget(ContextBudget::chars(100))
        .start()
        .await
        .unwrap();
    let refused = execution.read_task_context("worker", "execution", "the pump").await.unwrap_err();
    let Error::RequiredUndelivered { package, .. } = &refused else { panic!("{refused}") };
    assert_eq!(refused.code(), "context.required_undelivered");
    assert!(package.omissions().iter().any(|omission| omission.required));
    let meta = execution.meta().await;
    assert_eq!((meta.context_packages.len(), meta.readers.len()), (0, 0));
    let unread = execution.record_consumption(package, "request", None).await.unwrap_err();
    assert_eq!(unread.code(), "execution.foreign_package");

    let required = meta.entries[1].clone();
    execution.remove(&required).await.unwrap();
    let package = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(package.blocks().len(), 1, "what the failed read saw was not disclosed");
}

#[tokio::test]
async fn one_overflow_policy_travels_to_every_reader() {
    let seen = Arc::new(AtomicUsize::new(0));
    struct Spy(Arc<AtomicUsize>);
    #[async_trait::async_trait]
    impl briefing_core::SemanticSelector for Spy {
        async fn select(
            &self,
            request: &briefing_core::SelectionRequest,
        ) -> Result<Vec<String>, briefing_core::PortError> {
            assert_eq!(request.intent.required_overflow(), RequiredOverflow::LossyDigest);
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(request.candidates.iter().map(|card| card.key.clone()).collect())
        }
    }
    let execution = TaskExecution::builder("task")
        .source(notes(&[("pump", PUMP), ("valve", "a valve")]), bound("notes"))
        .required_overflow(RequiredOverflow::LossyDigest)
        .selector(Arc::new(Spy(seen.clone())))
        .start()
        .await
        .unwrap();
    let whole = ContextReadIntent::new("the pump").unwrap();
    execution.read_task_context("worker", "execution", whole).await.unwrap();
    execution.read_task_context("planner", "planning", "the pump").await.unwrap();
    assert_eq!(seen.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_consumer_does_not_change_its_abilities_within_a_phase() {
    let execution = TaskExecution::builder("task").entry(entry(PUMP)).start().await.unwrap();
    let seeing = ContextConsumer::new("worker").unwrap().accepting_images();
    execution.read_task_context(seeing.clone(), "execution", "the pump").await.unwrap();
    execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    execution.read_task_context(seeing, "execution", "the pump").await.unwrap();
    let other = ContextConsumer::new("worker").unwrap().with_model("another");
    let refused = execution.read_task_context(other, "execution", "the pump").await.unwrap_err();
    assert_eq!(refused.code(), "execution.consumer_differs");
}

#[tokio::test]
async fn a_request_is_recorded_once_and_with_one_content() {
    let execution = TaskExecution::builder("task")
        .entry(entry(PUMP))
        .entry(entry("The pump has a valve."))
        .start()
        .await
        .unwrap();
    let package = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    let worker = package.consumer_id();
    assert_eq!(execution.unconsumed(worker, package.phase()).await.len(), 1);
    let first = package.blocks()[0].block_id.clone();
    let recorded =
        execution.record_consumption(&package, "request", Some(vec![first.clone()])).await.unwrap();
    assert_eq!(recorded.block_ids(), std::slice::from_ref(&first));
    let again = execution.record_consumption(&package, "request", Some(vec![first])).await.unwrap();
    assert_eq!(again, recorded);
    let other = execution.record_consumption(&package, "request", None).await.unwrap_err();
    assert_eq!(other.code(), "execution.request_conflict");
    let unknown = vec![BlockId::new("b77").unwrap()];
    assert!(execution.record_consumption(&package, "next", Some(unknown)).await.is_err());
    let meta = execution.meta().await;
    assert_eq!(meta.context_consumptions, std::slice::from_ref(&recorded));
    assert_eq!(execution.consumption(&RequestId::new("request").unwrap()).await, Some(recorded));
    assert!(execution.unconsumed(worker, package.phase()).await.is_empty());
}

#[tokio::test]
async fn a_package_of_another_execution_is_not_consumed_here() {
    let start = || TaskExecution::builder("task").entry(entry(PUMP)).start();
    let (one, other) = (start().await.unwrap(), start().await.unwrap());
    let package = one.read_task_context("worker", "execution", "the pump").await.unwrap();
    let refused = other.record_consumption(&package, "request", None).await.unwrap_err();
    assert_eq!(refused.code(), "execution.foreign_package");
    assert!(other.meta().await.context_consumptions.is_empty());
}

#[tokio::test]
async fn the_audit_names_what_was_read_and_is_json() {
    let execution = TaskExecution::builder("task")
        .target("say when")
        .source(notes(&[("pump", PUMP)]), bound("notes"))
        .start()
        .await
        .unwrap();
    let intent =
        ContextReadIntent::new("the pump").unwrap().with_explicit_refs([SourceRef::new("pump").unwrap()]);
    let package = execution.read_task_context("worker", "execution", intent).await.unwrap();
    assert_eq!(package.blocks()[0].completeness, Completeness::Complete);
    let meta = execution.meta().await;
    assert_eq!(meta.status, ExecutionStatus::Active);
    assert_eq!(meta.bindings[0].source_kind, "memory");
    assert!(!meta.bindings[0].has_recipe);
    let json = serde_json::to_value(&meta).unwrap();
    assert_eq!(json["status"], "active");
    assert_eq!(json["context_packages"][0]["package_id"], package.package_id().as_str());
    let back: briefing_execution::ExecutionMeta = serde_json::from_value(json).unwrap();
    assert_eq!(back, meta);
    assert_eq!(execution.package(package.package_id()).await.as_deref(), Some(&*package));
}

#[tokio::test]
async fn nothing_goes_on_after_the_end() {
    let execution = TaskExecution::builder("task").entry(entry(PUMP)).start().await.unwrap();
    let package = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    let meta = execution.finish().await.unwrap();
    assert_eq!(meta.status, ExecutionStatus::Finished { delivered: false });
    let codes = [
        execution.read_task_context("worker", "execution", "the pump").await.unwrap_err().code(),
        execution.record_consumption(&package, "request", None).await.unwrap_err().code(),
        execution.put_entry(entry("x")).await.unwrap_err().code(),
        execution.finish().await.unwrap_err().code(),
    ];
    assert_eq!(codes, ["execution.finished"; 4]);
}
