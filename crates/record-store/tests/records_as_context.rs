//! Records and memories as sources of context.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;

use briefing_context_reader::ContextReading as _;
use briefing_core::{
    Completeness, ContextBinding, ContextBudget, ContextConsumer, ContextPackage, ContextReadIntent,
    ContextSource, ProjectionProfile, ReadRequest, Role, SourceChange, SourceDescriptor, SourceErrorKind,
    SourceRef, conformance,
};
use briefing_record_store::{
    NewMemory, NewRecord, RecordFilter, RecordSourceOptions, RecordStore, RecordStoreContextSource,
    SessionMemory, SessionMemoryContextSource,
};
use briefing_task_context::TaskContext;
use support::{id, open};

fn source(store: &RecordStore) -> RecordStoreContextSource {
    RecordStoreContextSource::new(store, RecordSourceOptions::new()).unwrap()
}

async fn listing(source: &dyn ContextSource, limit: usize) -> Vec<SourceDescriptor> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let profile = ProjectionProfile::standard();
        let page = source.enumerate_descriptors(&profile, cursor.as_ref(), limit).await.unwrap();
        let (descriptors, _, next) = page.into_parts();
        all.extend(descriptors);
        cursor = next;
        if cursor.is_none() {
            return all;
        }
    }
}

async fn fill(store: &RecordStore) {
    for number in 0..20 {
        let text = format!("Note {number}: the pump is checked every week.");
        store.put(NewRecord::new("notes", text).id(id(&format!("n{number:02}"))).kind("note")).await.unwrap();
    }
    let long: String =
        (0..400).map(|line| format!("Line {line} about the 冷却水泵 and its seal.\n")).collect();
    store.put(NewRecord::new("manuals", long).id(id("manual")).summary("The manual")).await.unwrap();
    store.put(NewRecord::new("notes", serde_json::json!({"pump": ["a", "b"]})).id(id("json"))).await.unwrap();
    store.put(NewRecord::new("notes", vec![0_u8, 159]).id(id("bytes"))).await.unwrap();
    store.put(NewRecord::new("notes", "").id(id("empty"))).await.unwrap();
}

#[tokio::test]
async fn both_sources_conform() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    fill(&store).await;
    for view in [store.clone(), store.view(&RecordFilter::new().collection("notes").kind("note")).unwrap()] {
        let violations = conformance::check_source(&source(&view)).await;
        assert!(violations.is_empty(), "{violations:#?}");
    }
    let memory = SessionMemory::new(&store, "s1").unwrap();
    for number in 0..5 {
        memory.remember(NewMemory::new(format!("fact {number}"))).await.unwrap();
        memory.remember(NewMemory::new(format!("rule {number}")).global()).await.unwrap();
    }
    let memories = SessionMemoryContextSource::new(&memory, RecordSourceOptions::new()).unwrap();
    let violations = conformance::check_source(&memories).await;
    assert!(violations.is_empty(), "{violations:#?}");
    assert_eq!(memories.source_kind().as_str(), "session_memory");
}

#[tokio::test]
async fn an_in_memory_store_is_a_source_too() {
    let store = RecordStore::in_memory();
    fill(&store).await;
    let violations = conformance::check_source(&source(&store)).await;
    assert!(violations.is_empty(), "{violations:#?}");
}

#[tokio::test]
async fn a_long_record_is_described_passage_by_passage_without_a_gap() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    fill(&store).await;
    let source = source(&store);
    let all = listing(&source, 7).await;
    let whole = all.iter().find(|descriptor| descriptor.source_ref.as_str() == "manual").unwrap();
    assert_eq!(whole.title, "The manual");
    let parts: Vec<_> = all
        .iter()
        .filter(|descriptor| descriptor.parent_key.as_ref() == Some(&whole.descriptor_key))
        .collect();
    assert!(parts.len() > 5);
    let read = async |source_ref: &SourceRef, chars| {
        source.read_exact(source_ref, &ReadRequest::whole(chars)).await.unwrap()
    };
    let mut joined = String::new();
    for part in &parts {
        let read = read(&part.source_ref, 5_000).await;
        assert_eq!((read.completeness, read.content_digest), (Completeness::Complete, part.content_digest));
        joined.push_str(&read.content.to_text().unwrap());
    }
    assert_eq!(joined, read(&whole.source_ref, 100_000).await.content.to_text().unwrap());
    // A cut passage says where the rest begins, in chars of the passage.
    let cut = read(&parts[1].source_ref, 100).await;
    assert_eq!((cut.completeness, cut.next_range_start), (Completeness::Truncated, Some(100)));
    let rest = ReadRequest::whole(5_000).starting_at(100);
    let rest = source.read_exact(&parts[1].source_ref, &rest).await.unwrap();
    assert_eq!(rest.content.chars() + 100, parts[1].estimated_chars);
}

#[tokio::test]
async fn pages_of_every_size_list_the_same() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    for number in 0..6 {
        let long: String = (0..900).map(|line| format!("Line {line} of record {number}.\n")).collect();
        store.put(NewRecord::new("manuals", long)).await.unwrap();
        store.put(NewRecord::new("notes", "short")).await.unwrap();
    }
    let source = source(&store);
    let all = listing(&source, 10_000).await;
    assert!(all.len() > 60);
    for limit in [1, 2, 5, 13, 14, 64] {
        assert_eq!(listing(&source, limit).await, all, "{limit}");
    }
    // Two listings at the same time do not take each other's pages.
    let (one, other) = tokio::join!(listing(&source, 3), listing(&source, 4));
    assert!(one == all && other == all);
}

#[tokio::test]
async fn too_much_changed_text_is_refused_and_a_new_listing_comes_in_pages() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let source = source(&store);
    let from = source.revision().await.unwrap();
    listing(&source, 100).await;
    for _ in 0..5 {
        store.put(NewRecord::new("notes", "x".repeat(16_000_000))).await.unwrap();
    }
    let to = source.revision().await.unwrap();
    let feed = source.change_feed().unwrap();
    let refusal = feed.changes(&from, &to, &ProjectionProfile::standard()).await.unwrap_err();
    assert!(refusal.to_string().contains("bytes of text"), "{refusal}");
}

#[tokio::test]
async fn records_outside_the_view_do_not_exist() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    fill(&store).await;
    let view = source(&store.view(&RecordFilter::new().collection("notes")).unwrap());
    assert!(listing(&view, 100).await.iter().all(|descriptor| descriptor.source_ref != *"manual"));
    for name in ["manual", "manual#C0-10", "n00#C0-9999", "none", "n00#C5-5", "bytes#C0-1x"] {
        let read = view.read_exact(&SourceRef::new(name).unwrap(), &ReadRequest::whole(10)).await;
        assert_eq!(read.unwrap_err().kind(), SourceErrorKind::NotFound, "{name}");
    }
    let bytes = view.read_exact(&SourceRef::new("bytes").unwrap(), &ReadRequest::whole(10)).await;
    assert_eq!(bytes.unwrap_err().kind(), SourceErrorKind::Unsupported);
    let revision = view.revision().await.unwrap();
    store.put(NewRecord::new("manuals", "another")).await.unwrap();
    assert_eq!(view.revision().await.unwrap(), revision);
    store.put(NewRecord::new("notes", "another")).await.unwrap();
    assert_ne!(view.revision().await.unwrap(), revision);
}

#[tokio::test]
async fn changes_lead_from_one_listing_to_the_next() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    fill(&store).await;
    let source = source(&store);
    let before = listing(&source, 50).await;
    let from = before[0].source_revision.clone();
    // A record grows past one passage, a long one shrinks, one goes, one comes.
    let note = store.describe(&id("n03")).await.unwrap();
    store.put(NewRecord::update(&note, "long text. ".repeat(500))).await.unwrap();
    let manual = store.describe(&id("manual")).await.unwrap();
    store.put(NewRecord::update(&manual, "short")).await.unwrap();
    store.delete(&id("n05"), None).await.unwrap();
    store.put(NewRecord::new("notes", "a new one")).await.unwrap();
    let to = source.revision().await.unwrap();
    let feed = source.change_feed().unwrap();
    let set = feed.changes(&from, &to, &ProjectionProfile::standard()).await.unwrap();
    let mut held: std::collections::BTreeMap<_, _> =
        before.into_iter().map(|descriptor| (descriptor.descriptor_key.clone(), descriptor)).collect();
    for change in set.changes {
        match change {
            SourceChange::Upsert(descriptor) => {
                held.insert(descriptor.descriptor_key.clone(), *descriptor);
            }
            SourceChange::Remove(key) => drop(held.remove(&key)),
        }
    }
    let told: Vec<_> =
        held.into_values().map(|descriptor| (descriptor.descriptor_key, descriptor.content_digest)).collect();
    let now = listing(&source, 3).await;
    let now: Vec<_> =
        now.into_iter().map(|descriptor| (descriptor.descriptor_key, descriptor.content_digest)).collect();
    assert_eq!(told, now, "keys sort as the source lists");
    // Another instance has listed nothing, so it cannot know what has to be removed.
    let stranger = RecordStoreContextSource::new(&store, RecordSourceOptions::new()).unwrap();
    let refusal = stranger.change_feed().unwrap().changes(&from, &to, &ProjectionProfile::standard()).await;
    assert_eq!(refusal.unwrap_err().kind(), SourceErrorKind::Unavailable);
}

#[tokio::test]
async fn a_listing_during_which_the_store_moves_on_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    fill(&store).await;
    let source = source(&store);
    let profile = ProjectionProfile::standard();
    let page = source.enumerate_descriptors(&profile, None, 5).await.unwrap();
    store.put(NewRecord::new("notes", "x")).await.unwrap();
    let next = source.enumerate_descriptors(&profile, page.next_cursor(), 5).await;
    assert_eq!(next.unwrap_err().kind(), SourceErrorKind::Changed);
}

#[tokio::test]
async fn a_text_that_is_too_long_to_index_whole_says_so_and_is_read_whole() {
    let store = RecordStore::in_memory();
    store.put(NewRecord::new("notes", "word ".repeat(10_000)).id(id("long"))).await.unwrap();
    let options = RecordSourceOptions::new().max_text_bytes(8_000).role("x", Role::State);
    let source = RecordStoreContextSource::new(&store, options).unwrap();
    let page = source.enumerate_descriptors(&ProjectionProfile::standard(), None, 500).await.unwrap();
    assert_eq!(page.diagnostics()[0].code, "record_store.indexed_in_part");
    let read =
        source.read_exact(&SourceRef::new("long").unwrap(), &ReadRequest::whole(100_000)).await.unwrap();
    assert_eq!((read.completeness, read.content.chars()), (Completeness::Complete, 50_000));
}

async fn read(context: &TaskContext, query: &str) -> Arc<ContextPackage> {
    let consumer = ContextConsumer::new("assistant").unwrap();
    let mut reader = context.reader(consumer).budget(ContextBudget::chars(6_000)).open().await.unwrap();
    reader.read(&ContextReadIntent::new(query).unwrap()).await.unwrap()
}

#[tokio::test]
async fn a_package_holds_the_records_that_answer_and_follows_writes() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    fill(&store).await;
    let context = TaskContext::new("maintenance").unwrap();
    context.attach(Arc::new(source(&store)), ContextBinding::default()).unwrap();
    let package = read(&context, "冷却水泵").await;
    assert!(package.blocks()[0].source_ref.as_str().starts_with("manual"), "{:?}", package.blocks()[0]);
    store.put(NewRecord::new("notes", "The turbine was replaced.").id(id("turbine"))).await.unwrap();
    let package = read(&context, "turbine").await;
    assert_eq!(package.blocks()[0].source_ref.as_str(), "turbine");
    store.delete(&id("turbine"), None).await.unwrap();
    let package = read(&context, "turbine").await;
    assert!(package.blocks().iter().all(|block| block.source_ref.as_str() != "turbine"));
}

#[tokio::test]
async fn memories_of_other_sessions_and_superseded_ones_are_not_offered() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let (mine, other) =
        (SessionMemory::new(&store, "s1").unwrap(), SessionMemory::new(&store, "s2").unwrap());
    let old = mine.remember(NewMemory::new("prefers metric units").source("turn", 3)).await.unwrap();
    other.remember(NewMemory::new("prefers no units")).await.unwrap();
    mine.remember(NewMemory::new("the company sells pumps").global()).await.unwrap();
    let source = SessionMemoryContextSource::new(&mine, RecordSourceOptions::new()).unwrap();
    let refs = async || {
        let all = listing(&source, 100).await;
        all.into_iter().map(|descriptor| descriptor.summary).collect::<Vec<_>>()
    };
    assert_eq!(refs().await, ["prefers metric units", "the company sells pumps"]);
    let revision = source.revision().await.unwrap();
    other.remember(NewMemory::new("something else")).await.unwrap();
    assert_eq!(source.revision().await.unwrap(), revision, "another session does not make it stale");
    let new = mine.supersede(&old.id, NewMemory::new("prefers imperial units")).await.unwrap();
    let to = source.revision().await.unwrap();
    assert_ne!(to, revision);
    let set =
        source.change_feed().unwrap().changes(&revision, &to, &ProjectionProfile::standard()).await.unwrap();
    assert_eq!(set.changes.len(), 2);
    let mut now = refs().await;
    now.sort();
    assert_eq!(now, ["prefers imperial units", "the company sells pumps"]);
    let read = source.read_exact(&SourceRef::new(&new.id).unwrap(), &ReadRequest::whole(100)).await.unwrap();
    assert_eq!(read.metadata["source"]["supersedes"], serde_json::json!(old.id));
}
