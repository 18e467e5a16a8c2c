//! What the policy allows is what is written, in whatever order and spelling: no operation goes round it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_task_workspace::{TargetState, TaskWorkspace, WorkspaceOptions, WritePolicy};
use common::{Tree, path};

fn opened(tree: &Tree, policy: WritePolicy) -> TaskWorkspace {
    TaskWorkspace::open_with(tree.path(""), WorkspaceOptions::read_write().policy(policy)).unwrap()
}

#[test]
fn a_promotion_that_changes_nothing_gives_its_share_back() {
    let bytes = [b'x'; 60];
    let tree = Tree::new(&[("a.txt", &bytes)]);
    let workspace = opened(&tree, WritePolicy::new().max_total_bytes(100));
    for _ in 0..3 {
        let candidate = workspace.stage(&path("a.txt"), bytes).unwrap();
        workspace.promote(&candidate, candidate.target_state).unwrap();
    }
    workspace.write(&path("b.txt"), [b'y'; 100], None).unwrap();
    assert_eq!(workspace.write(&path("c.txt"), "z", None).unwrap_err().code(), "workspace.quota_exceeded");
}

#[test]
fn a_folder_that_is_removed_gives_its_share_back() {
    let tree = Tree::new(&[]);
    let workspace = opened(&tree, WritePolicy::new().max_total_bytes(100));
    for _ in 0..3 {
        workspace.write(&path("d/in/a.txt"), [b'x'; 60], None).unwrap();
        workspace.remove_folder(&path("d"), true).unwrap();
    }
    workspace.write(&path("b.txt"), [b'y'; 100], None).unwrap();
    assert_eq!(workspace.write(&path("c.txt"), "z", None).unwrap_err().code(), "workspace.quota_exceeded");
}

/// Gives bytes as long as anybody takes them, and counts.
struct Endless<'a>(&'a mut u64);

impl std::io::Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        assert!(*self.0 < 16 << 20, "nobody stops it");
        buffer.fill(b'x');
        *self.0 += buffer.len() as u64;
        Ok(buffer.len())
    }
}

#[test]
fn a_reader_that_never_ends_is_stopped_by_the_quota() {
    let tree = Tree::new(&[]);
    let workspace = opened(&tree, WritePolicy::new().max_total_bytes(1_000));
    let mut given = 0;
    let refused = workspace.write_from(&path("a.txt"), Endless(&mut given), None).unwrap_err();
    assert_eq!(refused.code(), "workspace.quota_exceeded");
    workspace.write(&path("b.txt"), [b'y'; 1_000], None).unwrap();
}

#[test]
fn a_promotion_obeys_the_largest_size_of_the_handle_that_makes_it() {
    let tree = Tree::new(&[]);
    let candidate = opened(&tree, WritePolicy::new()).stage(&path("a.txt"), [b'x'; 60]).unwrap();
    let workspace = opened(&tree, WritePolicy::new().max_file_bytes(50));
    let refused = workspace.promote(&candidate, TargetState::Absent).unwrap_err();
    assert_eq!(refused.code(), "workspace.too_large");
    assert_eq!(workspace.read_candidate(&candidate.id).unwrap(), [b'x'; 60]);
}

#[test]
fn what_is_denied_is_denied_in_every_spelling_that_some_file_system_takes_for_it() {
    let tree = Tree::new(&[]);
    let workspace = opened(&tree, WritePolicy::new().deny("**/*.key"));
    for spelling in [
        ".git./hooks/post-checkout",
        ".git /config",
        "sub/.git. ./config",
        ".g\u{200c}it/config",
        "GIT~1/config",
        "git~1/config",
        "a.key.",
        "a.k\u{feff}ey",
        "sub/a.KEY ",
    ] {
        let refused = workspace.write(&path(spelling), "x", None).unwrap_err();
        assert_eq!(refused.code(), "workspace.denied", "{spelling}");
    }
    for open in [".github/a.", "git~2/a", ".gitignore", "a.keys", "a.key.txt", "..."] {
        workspace.write(&path(open), "x", None).unwrap();
    }
}
