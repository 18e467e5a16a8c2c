//! What moved since the walk is refused, never served as if it were what was described.

mod common;

use briefing_core::{ContextSource, ProjectionProfile, SourceErrorKind};
use common::{Tree, list, list_again, read, text};

#[tokio::test]
async fn a_file_that_changed_or_vanished_since_the_walk_is_changed() {
    let tree = Tree::new(&[("a.txt", b"one"), ("b.txt", b"two"), ("c.txt", b"three"), ("kept.txt", b"four")]);
    let source = tree.source();
    list(&source, 10).await;
    tree.put("a.txt", "other");
    tree.remove("b.txt");
    tree.remove("c.txt");
    std::fs::create_dir(tree.path("c.txt")).unwrap();
    tree.put("new.txt", "new");
    for path in ["a.txt", "b.txt", "c.txt"] {
        assert_eq!(read(&source, path).await.unwrap_err().kind(), SourceErrorKind::Changed, "{path}");
    }
    assert_eq!(read(&source, "new.txt").await.unwrap_err().kind(), SourceErrorKind::NotFound);
    assert_eq!(text(&source, "kept.txt").await, "four");
    source.revision().await.unwrap();
    assert_eq!(text(&source, "a.txt").await, "other");
    assert_eq!(read(&source, "b.txt").await.unwrap_err().kind(), SourceErrorKind::NotFound);
}

#[cfg(unix)]
#[tokio::test]
async fn an_edit_that_puts_the_time_back_is_seen() {
    let tree = Tree::new(&[("a.txt", b"one")]);
    let source = tree.source();
    list(&source, 10).await;
    let modified = std::fs::metadata(tree.path("a.txt")).unwrap().modified().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    tree.put("a.txt", "two");
    std::fs::File::options().write(true).open(tree.path("a.txt")).unwrap().set_modified(modified).unwrap();
    assert_eq!(read(&source, "a.txt").await.unwrap_err().kind(), SourceErrorKind::Changed);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_replaced_by_a_link_out_of_the_root_is_not_followed() {
    let tree = Tree::new(&[("root/a.txt", b"inside"), ("out.txt", b"canary")]);
    let workspace = briefing_task_workspace::TaskWorkspace::open(tree.path("root")).unwrap();
    let source = workspace.source(briefing_task_workspace::WorkspaceSourceOptions::new()).unwrap();
    source.revision().await.unwrap();
    tree.remove("root/a.txt");
    std::os::unix::fs::symlink(tree.path("out.txt"), tree.path("root/a.txt")).unwrap();
    assert_eq!(read(&source, "a.txt").await.unwrap_err().kind(), SourceErrorKind::Changed);
    let listing = list_again(&source, 10).await;
    assert!(listing.descriptors.iter().all(|found| !found.index_text.contains("canary")));
}

#[tokio::test]
async fn a_listing_goes_on_when_files_move_under_it_and_says_so() {
    let tree = Tree::new(&[("a.txt", b"one"), ("b.txt", b"two"), ("c.txt", b"three")]);
    let source = tree.source();
    source.revision().await.unwrap();
    tree.remove("a.txt");
    tree.put("b.txt", "longer");
    let listing = list_again(&source, 10).await;
    assert_eq!(listing.keys(), ["c.txt"]);
    assert_eq!(listing.details("workspace.not_found", "path"), ["a.txt"]);
    assert_eq!(listing.details("workspace.changed", "path"), ["b.txt"]);
}

#[tokio::test]
async fn a_cursor_of_a_listing_that_is_not_kept_is_changed() {
    let tree = Tree::new(&[("a.txt", b"one"), ("b.txt", b"two")]);
    let source = tree.source();
    let profile = ProjectionProfile::standard();
    let page = source.enumerate_descriptors(&profile, None, 1).await.unwrap();
    let cursor = page.next_cursor().unwrap().clone();
    tree.put("c.txt", "new");
    source.revision().await.unwrap();
    let next = source.enumerate_descriptors(&profile, Some(&cursor), 1).await.unwrap();
    assert_eq!(next.source_revision(), page.source_revision());
    for round in 0..10 {
        tree.put("c.txt", "x".repeat(round + 10));
        source.revision().await.unwrap();
    }
    let error = source.enumerate_descriptors(&profile, Some(&cursor), 1).await.unwrap_err();
    assert_eq!(error.kind(), SourceErrorKind::Changed);
    let nonsense = briefing_core::Cursor::new("page 2").unwrap();
    let error = source.enumerate_descriptors(&profile, Some(&nonsense), 1).await.unwrap_err();
    assert_eq!(error.kind(), SourceErrorKind::Contract);
}

#[tokio::test]
async fn a_cursor_that_counts_further_than_any_file_has_parts_is_refused() {
    let tree = Tree::new(&[("a.md", b"text")]);
    let source = tree.source();
    let revision = source.revision().await.unwrap();
    let beyond = briefing_core::Cursor::new(format!("{revision}@0.{}", usize::MAX)).unwrap();
    let refused =
        source.enumerate_descriptors(&ProjectionProfile::standard(), Some(&beyond), 1).await.unwrap_err();
    assert_eq!(refused.kind(), SourceErrorKind::Contract);
}
