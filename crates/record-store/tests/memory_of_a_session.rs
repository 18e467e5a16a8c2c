//! What a session remembers, recalls, supersedes and forgets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use briefing_record_store::{
    MemoryScope, NewMemory, Recall, Record, RecordFilter, RecordStore, SessionMemory,
};
use support::id;

fn texts(records: Vec<Record>) -> Vec<String> {
    records.into_iter().map(|record| record.content.into_text().unwrap()).collect()
}

#[tokio::test]
async fn memories_are_recalled_by_query_by_scope_by_tag_and_by_recency() {
    let store = RecordStore::in_memory();
    let memory = SessionMemory::new(&store, "s1").unwrap();
    memory.remember(NewMemory::new("the user prefers metric units").tag("preference")).await.unwrap();
    memory.remember(NewMemory::new("the user lives in Kyoto 京都")).await.unwrap();
    memory.remember(NewMemory::new("units are printed after numbers").global()).await.unwrap();
    let other = SessionMemory::new(&store, "s2").unwrap();
    other.remember(NewMemory::new("secret units")).await.unwrap();
    let recall = async |recall: Recall| texts(memory.recall(&recall).await.unwrap());
    assert_eq!(recall(Recall::query("京都")).await, ["the user lives in Kyoto 京都"]);
    assert_eq!(recall(Recall::query("units")).await.len(), 2);
    let global = Recall::query("units").scope(MemoryScope::Global);
    assert_eq!(recall(global).await, ["units are printed after numbers"]);
    assert_eq!(recall(Recall::latest(10).tag("preference")).await, ["the user prefers metric units"]);
    assert_eq!(recall(Recall::latest(2)).await.len(), 2);
    assert_eq!(recall(Recall::query("unrelated")).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_superseded_memory_stays_on_record_and_both_say_so() {
    let store = RecordStore::in_memory();
    let memory = SessionMemory::new(&store, "s1").unwrap();
    let old = memory.remember(NewMemory::new("metric units").source("turn", 1)).await.unwrap();
    let new = memory.supersede(&old.id, NewMemory::new("imperial units").source("turn", 9)).await.unwrap();
    assert_eq!(texts(memory.recall(&Recall::query("units")).await.unwrap()), ["imperial units"]);
    assert_eq!(new.source["supersedes"], serde_json::json!(old.id));
    let old = store.get(&old.id).await.unwrap();
    assert_eq!(old.record.meta["superseded_by"], serde_json::json!(new.id));
    assert_eq!(old.content, "metric units".into());
    let again = memory.supersede(&old.record.id, NewMemory::new("x")).await;
    assert_eq!(again.unwrap_err().code(), "value.invalid");
    let newer = memory.supersede(&new.id, NewMemory::new("no units")).await.unwrap();
    assert_eq!(newer.source["supersedes"], serde_json::json!(new.id));
}

#[tokio::test]
async fn a_forgotten_memory_leaves_no_content() {
    let store = RecordStore::in_memory();
    let memory = SessionMemory::new(&store, "s1").unwrap();
    let mine = memory.remember(NewMemory::new("a secret")).await.unwrap();
    let global = memory.remember(NewMemory::new("a rule").global()).await.unwrap();
    let theirs = SessionMemory::new(&store, "s2").unwrap().remember(NewMemory::new("theirs")).await.unwrap();
    memory.forget(&mine.id).await.unwrap();
    memory.forget(&global.id).await.unwrap();
    for unknown in [&mine.id, &theirs.id, &id("none")] {
        assert_eq!(memory.forget(unknown).await.unwrap_err().code(), "records.not_found");
    }
    assert_eq!(store.count(&RecordFilter::new()).await.unwrap(), 1);
}

#[tokio::test]
async fn a_session_needs_a_name_and_a_view_that_holds_memories() {
    let store = RecordStore::in_memory();
    assert_eq!(SessionMemory::new(&store, " ").unwrap_err().code(), "value.blank");
    let notes = store.view(&RecordFilter::new().collection("notes")).unwrap();
    assert_eq!(SessionMemory::new(&notes, "s").unwrap_err().code(), "records.outside_view");
    let memory = SessionMemory::new(&store.read_only(), "s").unwrap();
    assert_eq!(memory.remember(NewMemory::new("x")).await.unwrap_err().code(), "records.read_only");
}
