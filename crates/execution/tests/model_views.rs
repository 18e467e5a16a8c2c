//! The view for a model folds optional omissions and nothing that is required.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;

use briefing_context_reader::ContextReading;
use briefing_core::{ContextBudget, ContextConsumer, ContextReadIntent, MemoryDocument, MemorySource, Role};
use briefing_execution::{MODEL_VIEW_SCHEMA, ModelView, TaskExecution, model_view};
use briefing_task_context::TaskContext;
use support::{bound, entry};

#[tokio::test]
async fn repeated_optional_omissions_are_counted_by_reason_with_examples() {
    let notes = MemorySource::new("notes", "memory").unwrap();
    for number in 0..40 {
        notes.put(MemoryDocument::new(format!("note-{number:02}"), format!("pump fact {number}")).unwrap());
    }
    let execution = TaskExecution::builder("task")
        .entry(entry("Never touch the pump.").required())
        .source(Arc::new(notes), bound("notes"))
        .budget(ContextBudget::default().blocks(11))
        .start()
        .await
        .unwrap();
    let package = execution.read_task_context("worker", "execution", "pump fact").await.unwrap();
    let view = execution.model_view(&package).unwrap();
    assert_eq!(view.schema, MODEL_VIEW_SCHEMA);
    assert_eq!(view.blocks, package.blocks(), "blocks stay whole");
    let counted: usize = view.omitted.iter().map(|omitted| omitted.count).sum();
    assert_eq!(counted, package.omissions().len(), "none is lost");
    assert!(view.omitted.len() < package.omissions().len());
    assert!(view.omitted.iter().all(|omitted| omitted.examples.len() <= 3 && !omitted.examples.is_empty()));
    let text = serde_json::to_string(&view).unwrap();
    assert_eq!(serde_json::from_str::<ModelView>(&text).unwrap(), view);
    assert!(text.len() < package.to_json().to_string().len());
}

#[tokio::test]
async fn a_package_without_required_content_has_no_view() {
    let context = TaskContext::new("task").unwrap();
    context.put(briefing_core::ContextEntry::new(Role::Instruction, "x".repeat(500)).required()).unwrap();
    let consumer = ContextConsumer::new("worker").unwrap();
    let mut reader = context.reader(consumer).budget(ContextBudget::chars(100)).open().await.unwrap();
    let package = reader.read(&ContextReadIntent::new("anything").unwrap()).await.unwrap();
    assert_eq!(model_view(&package).unwrap_err().code(), "context.required_undelivered");
}
