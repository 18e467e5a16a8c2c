//! The change feed gives what a listing in full would.

mod common;

use std::collections::BTreeMap;

use briefing_core::{
    ChangeFeed, ContextSource, ProjectionProfile, Revision, SourceChange, SourceChangeSet, SourceDescriptor,
    SourceError, SourceErrorKind,
};
use briefing_task_workspace::WorkspaceSource;
use common::{Tree, list, shared};
use proptest::prelude::*;

async fn changes(
    source: &WorkspaceSource,
    from: &Revision,
    to: &Revision,
) -> Result<SourceChangeSet, SourceError> {
    source.changes(from, to, &ProjectionProfile::standard()).await
}

fn apply(listing: &mut BTreeMap<String, SourceDescriptor>, set: SourceChangeSet) {
    for change in set.changes {
        match change {
            SourceChange::Upsert(found) => {
                drop(listing.insert(found.descriptor_key.as_str().to_owned(), *found))
            }
            SourceChange::Remove(key) => drop(listing.remove(key.as_str())),
        }
    }
    for found in listing.values_mut() {
        found.source_revision = set.to_revision.clone();
    }
}

#[derive(Debug, Clone)]
enum Edit {
    Put(&'static str, usize),
    Remove(&'static str),
}

const NAMES: [&str; 7] = ["a.md", "b.txt", "dir/c.rs", "dir/d.txt", "b.txt#000000", "b.txt#L1-2", "wide.txt"];

fn content(name: &str, size: usize) -> Vec<u8> {
    let lines = (0..size)
        .map(|line| format!("Line {line} of {size} words, and then some more of them to fill it.\n\n"));
    let text: String = lines.collect();
    match name {
        "wide.txt" if size > 20 => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "wide.txt" if size > 10 => b"\xe6\xb0\xb4\xe6\xb3\xb5\xff\n".to_vec(),
        _ => text.into_bytes(),
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = prop::sample::select(NAMES.to_vec());
    prop_oneof![3 => (name.clone(), 0_usize..60).prop_map(|(name, size)| Edit::Put(name, size)), 1 => name.prop_map(Edit::Remove)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]
    #[test]
    fn changes_applied_give_the_listing_in_full(rounds in prop::collection::vec(prop::collection::vec(edit(), 0..5), 1..5)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let tree = Tree::new(&[("b.txt", &content("b.txt", 50)), ("kept.txt", b"kept")]);
            let source = tree.source();
            let first = list(&source, 10).await;
            let (mut held, mut at) = (first.by_key(), first.revision);
            for edits in rounds {
                for edit in edits {
                    match edit {
                        Edit::Put(name, size) => tree.put(name, content(name, size)),
                        Edit::Remove(name) => drop(std::fs::remove_file(tree.path(name))),
                    }
                }
                let to = source.revision().await.unwrap();
                let set = changes(&source, &at, &to).await.unwrap();
                let notes = set.diagnostics.clone();
                apply(&mut held, set);
                at = to;
                let full = list(&tree.source(), 100).await;
                assert_eq!(held.keys().collect::<Vec<_>>(), full.by_key().keys().collect::<Vec<_>>());
                assert_eq!(held, full.by_key());
                let sorted = |notes: &[briefing_core::ContextDiagnostic]| {
                    let mut notes: Vec<_> = notes.iter().map(|note| serde_json::to_string(note).unwrap()).collect();
                    notes.sort();
                    notes
                };
                assert_eq!(sorted(&notes), sorted(&full.diagnostics));
            }
        });
    }
}

#[tokio::test]
async fn only_what_changed_is_named() {
    let tree = Tree::new(&[("a.txt", b"one"), ("b.txt", &content("b.txt", 50)), ("c.txt", b"three")]);
    let source = tree.source();
    let from = list(&source, 100).await;
    tree.put("a.txt", "another");
    tree.put("b.txt", "short now");
    let to = source.revision().await.unwrap();
    let set = changes(&source, &from.revision, &to).await.unwrap();
    let upserts = set.changes.iter().filter(|change| matches!(change, SourceChange::Upsert(_))).count();
    let passages = from.keys().iter().filter(|key| key.starts_with("b.txt#")).count();
    assert_eq!((upserts, set.changes.len() - upserts), (2, passages));
}

#[tokio::test]
async fn what_was_never_listed_is_unavailable() {
    let tree = Tree::new(&[("a.txt", b"one")]);
    let source = tree.source();
    let from = source.revision().await.unwrap();
    tree.put("b.txt", "two");
    let to = source.revision().await.unwrap();
    assert_eq!(changes(&source, &from, &to).await.unwrap_err().kind(), SourceErrorKind::Unavailable);
    let unknown = Revision::new("scan:0").unwrap();
    assert_eq!(changes(&source, &unknown, &to).await.unwrap_err().kind(), SourceErrorKind::Unavailable);
}

#[tokio::test]
async fn a_file_that_moved_under_the_listing_is_named_by_the_next_change() {
    let tree = Tree::new(&[("a.txt", b"one"), ("b.txt", b"two")]);
    let source = tree.source();
    source.revision().await.unwrap();
    tree.put("a.txt", "longer");
    let from = common::list_again(&source, 10).await;
    assert_eq!(from.keys(), ["b.txt"]);
    let to = source.revision().await.unwrap();
    let mut held = from.by_key();
    apply(&mut held, changes(&source, &from.revision, &to).await.unwrap());
    assert_eq!(held, list(&source, 10).await.by_key());
}

#[tokio::test]
async fn of_two_files_with_equal_content_only_the_deleted_one_goes() {
    let Some(path) = shared("search/identical_content.json") else { return };
    let case: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let tree = Tree::new(&[]);
    for (path, text) in case["step1"].as_object().unwrap() {
        tree.put(path, text.as_str().unwrap());
    }
    let source = tree.source();
    let from = list(&source, 10).await;
    tree.remove(case["step2_delete"][0].as_str().unwrap());
    let to = source.revision().await.unwrap();
    let mut held = from.by_key();
    apply(&mut held, changes(&source, &from.revision, &to).await.unwrap());
    let same: Vec<_> = held
        .values()
        .filter(|found| found.index_text.contains("same"))
        .map(|found| found.source_ref.to_string())
        .collect();
    assert_eq!(same, ["a.txt"]);
}
