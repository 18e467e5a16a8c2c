//! Without a selector the index's order decides, and what holds no word of the query stays away.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use async_trait::async_trait;
use briefing_context_reader::{ContextReading, ModelSelector};
use briefing_core::{
    ContextBinding, ContextBudget, ContextConsumer, ContextReadIntent, MemoryDocument, MemorySource,
    ModelPrompt, ModelRequest, OmissionReason, PortError,
};
use briefing_task_context::TaskContext;
use serde_json::{Value, json};

fn context(documents: &[(&str, &str)]) -> TaskContext {
    let context = TaskContext::new("task").unwrap();
    let source = MemorySource::new("notes", "memory").unwrap();
    for (name, text) in documents {
        source.put(MemoryDocument::new(name, *text).unwrap());
    }
    context.attach(Arc::new(source), ContextBinding::default()).unwrap();
    context
}

const NOTES: &[(&str, &str)] = &[
    ("fan", "The fan runs at night."),
    ("pump-1", "The cooling pump is checked every week."),
    ("pump-2", "A pump needs oil."),
    ("lamp", "Lamps are replaced."),
];

#[tokio::test]
async fn the_best_match_comes_first_and_the_rest_stays_away() {
    let context = context(NOTES);
    let mut reader = context.reader(ContextConsumer::new("worker").unwrap()).open().await.unwrap();
    let package = reader.read(&ContextReadIntent::new("cooling pump").unwrap()).await.unwrap();
    let refs: Vec<_> = package.blocks().iter().map(|block| block.source_ref.as_str()).collect();
    assert_eq!(refs, ["pump-1", "pump-2"]);
    assert!(package.diagnostics().iter().any(|diagnostic| diagnostic.code == "context.selection_ranked"));
    let coverage = package.source_coverage().values().next().unwrap();
    assert_eq!((coverage.unmatched_candidates, coverage.exhaustive), (2, true));
}

#[tokio::test]
async fn a_query_that_matches_nothing_says_so() {
    let context = context(NOTES);
    let mut reader = context.reader(ContextConsumer::new("worker").unwrap()).open().await.unwrap();
    let package = reader.read(&ContextReadIntent::new("zebra").unwrap()).await.unwrap();
    assert!(package.blocks().is_empty());
    assert!(package.diagnostics().iter().any(|diagnostic| diagnostic.code == "context.nothing_matched"));
}

#[tokio::test]
async fn reading_on_delivers_everything_once_and_then_is_exhaustive() {
    let documents: Vec<(String, String)> =
        (0..30).map(|n| (format!("d{n:02}"), format!("pump number {n}"))).collect();
    let borrowed: Vec<(&str, &str)> =
        documents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let context = context(&borrowed);
    let mut reader = context
        .reader(ContextConsumer::new("worker").unwrap())
        .budget(ContextBudget::default().blocks(4))
        .open()
        .await
        .unwrap();
    let intent = ContextReadIntent::new("pump").unwrap();
    let mut seen = Vec::new();
    loop {
        let package = reader.read(&intent).await.unwrap();
        seen.extend(package.blocks().iter().map(|block| block.source_ref.to_string()));
        let coverage = package.source_coverage().values().next().unwrap();
        if coverage.exhaustive {
            break;
        }
        assert!(coverage.continuation_available && seen.len() < 40);
    }
    seen.sort();
    let wanted: Vec<String> = documents.into_iter().map(|(name, _)| name).collect();
    assert_eq!(seen, wanted);
}

struct FixedModel(Value);

#[async_trait]
impl ModelRequest for FixedModel {
    async fn ask(&self, prompt: &ModelPrompt) -> Result<Value, PortError> {
        assert!(prompt.input["candidates"].as_array().is_some_and(|cards| !cards.is_empty()));
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn a_model_may_only_answer_with_offered_keys() {
    for (answer, wanted) in [
        (json!(["c2"]), None),
        (json!(["c9"]), Some(OmissionReason::SelectionInvalid)),
        (json!({"keys": ["c1"]}), Some(OmissionReason::SelectionFailed)),
    ] {
        let context = context(NOTES);
        let selector = Arc::new(ModelSelector::new(Arc::new(FixedModel(answer))));
        let reader = context.reader(ContextConsumer::new("worker").unwrap()).selector(selector);
        let package =
            reader.open().await.unwrap().read(&ContextReadIntent::new("pump").unwrap()).await.unwrap();
        match wanted {
            None => assert_eq!(package.blocks().len(), 1),
            Some(reason) => {
                assert!(package.blocks().is_empty());
                assert!(package.omissions().iter().all(|omission| omission.reason == reason));
            }
        }
    }
}
