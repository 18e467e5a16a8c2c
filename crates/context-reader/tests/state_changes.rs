//! The changes of a reader's state add up to the state, and fit nowhere else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;

use briefing_context_reader::{
    ContextReader, ContextReading, Error, MovedPin, ReaderState, ReaderStateChange,
};
use briefing_core::{
    ContextBinding, ContextBudget, ContextConsumer, ContextEntry, ContextReadIntent, MemoryDocument,
    MemorySource, Role,
};
use briefing_task_context::TaskContext;
use proptest::prelude::*;

fn context(documents: usize) -> (TaskContext, Arc<MemorySource>) {
    let context = TaskContext::new("task").unwrap();
    let notes = Arc::new(MemorySource::new("notes", "memory").unwrap());
    for number in 0..documents {
        notes.put(MemoryDocument::new(format!("note-{number}"), format!("pump fact {number}")).unwrap());
    }
    context.attach(notes.clone(), ContextBinding::default()).unwrap();
    context.put(ContextEntry::new(Role::Information, "the pump is ours")).unwrap();
    (context, notes)
}

async fn reader(context: &TaskContext, blocks: usize) -> ContextReader {
    let consumer = ContextConsumer::new("worker").unwrap();
    context.reader(consumer).budget(ContextBudget::default().blocks(blocks)).open().await.unwrap()
}

/// Reads, refreshes or changes the source as told; after each, the change is applied to what is known so far.
async fn folded(steps: Vec<u8>) -> (ReaderState, ReaderState) {
    let (context, notes) = context(30);
    let mut reader = reader(&context, 4).await;
    let mut known: Option<ReaderState> = None;
    for (number, step) in steps.into_iter().enumerate() {
        match step % 4 {
            0 => notes.put(MemoryDocument::new("note-3", format!("pump fact, version {number}")).unwrap()),
            1 => drop(
                context.put(ContextEntry::new(Role::Information, format!("pump note {number}"))).unwrap(),
            ),
            _ => {}
        }
        reader.refresh().await;
        let query = ["pump fact", "the pump is ours", "pump note"][usize::from(step) % 3];
        reader.read(&ContextReadIntent::new(query).unwrap()).await.unwrap();
        let change = reader.export_state().change_since(known.as_ref()).unwrap();
        let text = serde_json::to_string(&change).unwrap();
        let change: ReaderStateChange = serde_json::from_str(&text).unwrap();
        known = Some(change.apply_to(known).unwrap());
    }
    (known.unwrap(), reader.export_state())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn changes_add_up_to_the_exported_state(steps in proptest::collection::vec(any::<u8>(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (folded, exported) = runtime.block_on(folded(steps));
        prop_assert_eq!(folded, exported);
    }
}

#[tokio::test]
async fn a_change_fits_only_the_state_that_it_was_taken_from() {
    let (context, _) = context(30);
    let mut reader = reader(&context, 4).await;
    let intent = ContextReadIntent::new("pump fact").unwrap();
    reader.read(&intent).await.unwrap();
    let first = reader.export_state();
    reader.read(&intent).await.unwrap();
    let second = reader.export_state();
    let change = second.change_since(Some(&first)).unwrap();
    assert!(serde_json::to_string(&change).unwrap().len() < second.to_json().len());
    assert_eq!(change.clone().apply_to(Some(first.clone())).unwrap(), second);
    for wrong in [Some(second.clone()), None] {
        assert_eq!(change.clone().apply_to(wrong).unwrap_err().code(), "context.invalid_state");
    }
    assert_eq!(first.change_since(Some(&second)).unwrap_err().code(), "context.invalid_state");
    let mut later = serde_json::to_value(&change).unwrap();
    later["schema"] = "briefing.reader_state_change/2".into();
    let later: ReaderStateChange = serde_json::from_value(later).unwrap();
    assert_eq!(later.apply_to(Some(first)).unwrap_err().code(), "schema.unsupported");
}

#[tokio::test]
async fn a_stale_reader_names_what_moved() {
    let (context, notes) = context(3);
    let mut open = reader(&context, 4).await;
    let intent = ContextReadIntent::new("pump fact").unwrap();
    open.read(&intent).await.unwrap();
    let (state, packages) = (open.export_state(), open.packages().to_vec());
    notes.put(MemoryDocument::new("note-9", "pump fact 9").unwrap());
    let Err(Error::Stale { moved, .. }) = open.read(&intent).await else { panic!() };
    assert!(
        matches!(&moved[..], [MovedPin::Source { was: Some(was), is: Some(is), .. }] if was != is),
        "{moved:?}"
    );
    context.put(ContextEntry::new(Role::Information, "more")).unwrap();
    let mut restored = context.restore_reader(state, packages).restore("worker", "direct").await.unwrap();
    assert_eq!(restored.moved_since_export().len(), 2);
    let stale = restored.read(&intent).await.unwrap_err();
    assert!(stale.to_string().contains("the context was at revision 2 and is at 3"), "{stale}");
    restored.refresh().await;
    assert!(restored.moved_since_export().is_empty());
    restored.read(&intent).await.unwrap();
}
