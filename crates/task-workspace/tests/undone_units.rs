//! A unit that fails while somebody else changes its targets, and what the next writer makes of one that was stopped.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_task_workspace::{Candidate, Step, TargetState, TaskWorkspace, UnitEnd, WorkspaceOptions};
use common::{Tree, path};

/// Opens a workspace that calls `act` before the `at`-th time that it reaches the step.
fn hooked(
    tree: &Tree,
    step: Step,
    at: usize,
    act: impl Fn(PathBuf) -> io::Result<()> + Send + Sync + 'static,
) -> TaskWorkspace {
    let (root, reached) = (tree.path(""), AtomicUsize::new(0));
    let hook = move |now: Step| match now == step && reached.fetch_add(1, Ordering::SeqCst) + 1 == at {
        true => act(root.clone()),
        false => Ok(()),
    };
    TaskWorkspace::open_with(tree.path(""), WorkspaceOptions::read_write().on_step(Arc::new(hook))).unwrap()
}

fn staged(tree: &Tree, targets: &[&str]) -> Vec<Candidate> {
    let workspace = tree.read_write();
    targets.iter().map(|target| workspace.stage(&path(target), format!("new {target}")).unwrap()).collect()
}

fn unit(candidates: &[Candidate]) -> Vec<(&Candidate, TargetState)> {
    candidates.iter().map(|candidate| (candidate, candidate.target_state)).collect()
}

#[test]
fn every_target_is_put_back_also_where_somebody_removes_one() {
    let tree = Tree::new(&[("a", b"old a"), ("b", b"old b"), ("c", b"old c")]);
    let candidates = staged(&tree, &["a", "b", "c"]);
    let workspace = hooked(&tree, Step::Replace, 3, |root| {
        std::fs::remove_file(root.join("b"))?;
        std::fs::write(root.join("c"), "foreign c")
    });
    workspace.promote_all(&unit(&candidates)).unwrap_err();
    assert_eq!(tree.bytes("a"), b"old a");
    assert_eq!(tree.bytes("b"), b"old b", "what was there before is put back");
    assert_eq!(tree.bytes("c"), b"foreign c");
    for id in [&candidates[0].id, &candidates[2].id] {
        tree.read_write().read_candidate(id).unwrap();
    }
}

#[test]
fn what_cannot_be_put_back_takes_nothing_else_along() {
    let tree = Tree::new(&[("a", b"old a"), ("b", b"old b"), ("c", b"old c")]);
    let candidates = staged(&tree, &["a", "c"]);
    let patch = "--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-old b\n\\ No newline at end of file\n";
    let with_removal = format!(
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old a\n\\ No newline at end of file\n+new a\n{patch}--- a/c\n+++ b/c\n@@ -1 +1 @@\n-old c\n\\ No newline at end of file\n+new c\n"
    );
    let workspace = hooked(&tree, Step::Replace, 2, |root| {
        // The removal of b cannot be undone, and c is not what it was.
        std::fs::write(root.join("b"), "foreign b")?;
        std::fs::write(root.join("c"), "foreign c")
    });
    let stranded = workspace.apply_patch(&with_removal, None).unwrap_err();
    assert_eq!(stranded.code(), "workspace.stranded");
    let kept = match &stranded {
        briefing_task_workspace::Error::Stranded { kept, .. } => kept.clone(),
        other => panic!("{other}"),
    };
    assert_eq!(tree.bytes("a"), b"old a", "one that cannot be put back does not keep the others");
    assert_eq!(tree.bytes("b"), b"foreign b");
    assert_eq!(tree.bytes(format!(".briefing/workspace/{kept}")), b"old b", "the error says where it is");
    drop(workspace);
    let next = tree.read_write();
    next.write(&path("d"), "d", None).unwrap();
    assert_eq!(tree.bytes("a"), b"old a");
    assert_eq!(next.read_candidate(&candidates[0].id).unwrap(), b"new a");
    assert_eq!(tree.bytes(format!(".briefing/workspace/{kept}")), b"old b");
}

#[test]
fn a_stopped_unit_whose_folder_became_a_link_or_a_file_keeps_nobody_from_writing() {
    for becomes_link in [true, false] {
        let elsewhere = Tree::new(&[("b", b"elsewhere")]);
        let tree = Tree::new(&[("a", b"old a"), ("out/b", b"old b")]);
        let candidates = staged(&tree, &["a", "out/b"]);
        let (target, root) = (elsewhere.path(""), tree.path(""));
        let workspace = hooked(&tree, Step::Replace, 2, move |root| {
            // As a crash leaves it: the journal and the first change are kept for the next writer.
            let area = root.join(".briefing/workspace");
            let copied =
                std::process::Command::new("cp").arg("-a").arg(&area).arg(root.join("area")).status()?;
            assert!(copied.success());
            Err(io::Error::other("stopped"))
        });
        workspace.promote_all(&unit(&candidates)).unwrap_err();
        drop(workspace);
        std::fs::remove_dir_all(root.join(".briefing/workspace")).unwrap();
        std::fs::rename(root.join("area"), root.join(".briefing/workspace")).unwrap();
        std::fs::write(root.join("a"), "new a").unwrap();
        std::fs::remove_dir_all(root.join("out")).unwrap();
        match becomes_link {
            true => std::os::unix::fs::symlink(&target, root.join("out")).unwrap(),
            false => std::fs::write(root.join("out"), "a file").unwrap(),
        }
        let next = TaskWorkspace::open_with(&root, WorkspaceOptions::read_write()).unwrap();
        assert_eq!(next.recovered()[0].end, UnitEnd::RolledBack);
        assert_eq!(tree.bytes("a"), b"old a");
        assert_eq!(elsewhere.bytes("b"), b"elsewhere");
        next.write(&path("c"), "c", None).unwrap();
        assert_eq!(next.read_candidate(&candidates[0].id).unwrap(), b"new a");
        assert_eq!(next.read_candidate(&candidates[1].id).unwrap(), b"new out/b");
    }
}

#[test]
fn a_copy_of_a_file_that_changes_meanwhile_is_not_written() {
    let tree = Tree::new(&[("a", b"old a")]);
    let workspace = hooked(&tree, Step::WriteBytes, 1, |root| std::fs::write(root.join("a"), "longer a"));
    let changed = workspace.copy(&path("a"), &path("b"), None).unwrap_err();
    assert_eq!(changed.code(), "workspace.changed");
    assert!(!tree.path("b").exists());
}

#[test]
fn an_import_of_a_file_that_changes_meanwhile_is_not_written() {
    let outside = Tree::new(&[("a", b"old a")]);
    let tree = Tree::new(&[]);
    let source = outside.path("a");
    let changing = source.clone();
    let workspace = hooked(&tree, Step::WriteBytes, 1, move |_| std::fs::write(&changing, "longer a"));
    let changed = workspace.import_file(&source, &path("b"), None).unwrap_err();
    assert_eq!(changed.code(), "workspace.changed");
    assert!(!tree.path("b").exists());
}
