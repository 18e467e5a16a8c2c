//! A package never costs more tokens than its budget, counted on the rendered text.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use briefing_context_reader::{ContextReading, render};
use briefing_core::{
    ContextBinding, ContextBudget, ContextConsumer, ContextEntry, ContextReadIntent, MemoryDocument,
    MemorySource, RenderFormat, Role, TokenCounter,
};
use briefing_task_context::TaskContext;
use briefing_tokens::{Encoding, Tokenizer};
use proptest::prelude::*;

fn context(texts: &[String]) -> TaskContext {
    let context = TaskContext::new("task").unwrap();
    let source = MemorySource::new("notes", "memory").unwrap();
    for (n, text) in texts.iter().enumerate() {
        source.put(MemoryDocument::new(format!("note-{n}.md"), format!("pump {text}")).unwrap());
    }
    context.attach(Arc::new(source), ContextBinding::default()).unwrap();
    context
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_package_exceeds_its_token_budget(
        texts in prop::collection::vec("[\\PC\\n`=<&]{0,400}", 1..12),
        max_tokens in 20_usize..900,
        format in prop::sample::select(RenderFormat::ALL),
        encoding in prop::sample::select(&[Encoding::O200kBase, Encoding::Cl100kBase][..]),
    ) {
        let budget = ContextBudget::tokens(max_tokens).rendered_as(format).encoding(encoding.to_string());
        let read = runtime().block_on(async {
            let consumer = ContextConsumer::new("worker").unwrap();
            let mut reader = context(&texts).reader(consumer).budget(budget).open().await.unwrap();
            reader.read(&ContextReadIntent::new("pump").unwrap()).await
        });
        match read {
            Ok(package) => {
                let tokenizer = Tokenizer::new(encoding);
                let counted = TokenCounter::count(&tokenizer, &render(&package, format)).unwrap();
                let used = package.usage().tokens.as_ref().unwrap();
                prop_assert_eq!(counted, used.tokens);
                prop_assert!(counted <= max_tokens);
            }
            Err(error) => prop_assert_eq!(error.code(), "context.budget_too_small"),
        }
    }
}

#[test]
fn required_content_that_does_not_fit_the_tokens_fails_closed() {
    runtime().block_on(async {
        let context = context(&[]);
        context.put(ContextEntry::new(Role::Instruction, "many words ".repeat(200)).required()).unwrap();
        let consumer = ContextConsumer::new("worker").unwrap();
        let mut reader = context.reader(consumer).budget(ContextBudget::tokens(100)).open().await.unwrap();
        let package = reader.read(&ContextReadIntent::new("pump").unwrap()).await.unwrap();
        let error = reader.ensure_required_delivery(&package).unwrap_err();
        assert_eq!(error.code(), "context.required_undelivered");
    });
}

#[test]
fn a_budget_below_an_empty_package_is_a_typed_error() {
    runtime().block_on(async {
        let consumer = ContextConsumer::new("worker").unwrap();
        let mut reader = context(&[]).reader(consumer).budget(ContextBudget::tokens(1)).open().await.unwrap();
        let error = reader.read(&ContextReadIntent::new("pump").unwrap()).await.unwrap_err();
        assert_eq!(error.code(), "context.budget_too_small");
    });
}

#[test]
fn an_unknown_encoding_is_refused_when_the_reader_is_opened() {
    runtime().block_on(async {
        let consumer = ContextConsumer::new("worker").unwrap();
        let budget = ContextBudget::tokens(100).encoding("p50k_base");
        let error = context(&[]).reader(consumer).budget(budget).open().await.unwrap_err();
        assert_eq!(error.code(), "tokens.unknown_encoding");
    });
}
