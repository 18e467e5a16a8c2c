//! Any text is a valid query, and the words that a person would look for are found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::PathBuf;
use std::sync::Arc;

use briefing_core::{ContextBinding, ContextReadIntent, MemoryDocument, MemorySource};
use briefing_task_context::TaskContext;
use serde_json::Value;

mod support;
use support::{found, offered};

fn context(documents: impl IntoIterator<Item = (String, String)>) -> (TaskContext, Arc<MemorySource>) {
    let context = TaskContext::new("task").unwrap();
    let source = Arc::new(MemorySource::new("docs", "memory").unwrap());
    for (name, text) in documents {
        source.put(MemoryDocument::new(name, text).unwrap());
    }
    context.attach(source.clone(), ContextBinding::default()).unwrap();
    (context, source)
}

#[tokio::test]
async fn recorded_queries_find_what_they_must() {
    let shared = std::env::var_os("BRIEFING_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = shared.unwrap_or(beside).join("fixtures/search/queries.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED: no queries at {}", path.display());
        return;
    };
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let documents = recorded["docs"].as_object().unwrap().iter();
    let (context, _) =
        context(documents.map(|(name, text)| (name.clone(), text.as_str().unwrap().to_owned())));
    for case in recorded["queries"].as_array().unwrap() {
        let query = case["q"].as_str().unwrap();
        let Some(wanted) = case["must_include"].as_array() else {
            assert_eq!(ContextReadIntent::new(query).unwrap_err().code(), "value.blank");
            continue;
        };
        let found = found(&context, query).await;
        for wanted in wanted {
            assert!(found.iter().any(|name| wanted == name), "{query:?} finds {found:?}, not {wanted}");
        }
    }
}

#[tokio::test]
async fn a_literal_occurrence_of_the_query_comes_first() {
    let texts = [
        ("a", "budget token budget token budget token"),
        ("b", "how much is a token budget worth, and what else is there to say about this long matter"),
        ("c", "nothing"),
    ];
    let (context, _) = context(texts.map(|(name, text)| (name.to_owned(), text.to_owned())));
    assert_eq!(found(&context, "a token budget").await, ["b", "a"]);
}

#[tokio::test]
async fn a_compound_is_found_however_it_is_joined() {
    let spellings = ["retry-limit", "retry_limit", "retryLimit", "retry limit"];
    let (context, _) =
        context(spellings.map(|text| (text.replace(' ', "/"), format!("the {text} of a call"))));
    for query in spellings {
        assert_eq!(found(&context, query).await.len(), spellings.len(), "{query} finds every spelling");
    }
    let written = ["retry-limit", "retry_limit", "retryLimit"];
    for query in written {
        assert_eq!(found(&context, query).await[0], query, "what is written as asked comes first");
    }
}

#[tokio::test]
async fn a_moved_source_is_listed_again() {
    let (context, source) = context([("a".to_owned(), "pump".to_owned())]);
    assert_eq!(found(&context, "pump").await, ["a"]);
    source.put(MemoryDocument::new("b", "pump pump").unwrap());
    source.remove("a");
    assert_eq!(found(&context, "pump").await, ["b"]);
}

#[tokio::test]
async fn a_listing_larger_than_memory_allows_is_found_on_disk() {
    let documents =
        (0..5_000).map(|n| (format!("d{n:05}"), format!("common word number{n} {}", "x ".repeat(400))));
    let (context, _) = context(documents);
    assert_eq!(found(&context, "number4321").await[0], "d04321");
    assert_eq!(found(&context, "4321").await, ["d04321"]);
    assert_eq!(found(&context, "common").await.len(), 100);
}

#[tokio::test]
async fn content_must_hold_every_wanted_text_however_many_there_are() {
    let words: Vec<String> = (0..70).map(|n| format!("word{n:02}")).collect();
    let (context, _) = context([
        ("all".to_owned(), words.join(" ")),
        ("all-but-the-last".to_owned(), words[..69].join(" ")),
    ]);
    let filters = serde_json::json!({ "content_contains": words });
    let intent = ContextReadIntent::new("word00").unwrap();
    let intent = intent.with_filters(briefing_core::ContextFilters::from_json(&filters).unwrap());
    assert_eq!(offered(&context, &intent).await, ["all"]);
}
