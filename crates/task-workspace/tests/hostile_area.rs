//! What somebody else put into the private area breaks nothing but itself: no operation hangs on it, none is led out.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;
use std::time::Duration;

use briefing_task_workspace::{TargetState, TaskWorkspace, WorkspaceOptions};
use common::{Tree, path};

pub(crate) fn fifo(at: &Path) {
    let made = std::process::Command::new("mkfifo").arg(at).status().unwrap();
    assert!(made.success());
}

/// Does some work that has to come to an end.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    answer.recv_timeout(Duration::from_secs(20)).expect("it hangs")
}

#[test]
fn a_pipe_in_place_of_the_moves_is_refused_at_once() {
    let tree = Tree::new(&[("a.txt", b"a")]);
    let workspace = tree.read_write();
    workspace.workspace_id().unwrap();
    fifo(&tree.path(".briefing/workspace/moves.jsonl"));
    let refused = in_time(move || workspace.rename(&path("a.txt"), &path("b.txt")).unwrap_err());
    assert_eq!(refused.code(), "workspace.private_area_unusable");
    assert_eq!(tree.bytes("a.txt"), b"a");
}

#[test]
fn a_candidate_that_cannot_be_read_keeps_nobody_from_writing() {
    let tree = Tree::new(&[]);
    let candidate = tree.read_write().stage(&path("a.txt"), "a").unwrap();
    for (name, junk) in [("torn.json", &b"{\"schema\":\"briefing.can"[..]), ("deep.json", &[b'['; 100_000])] {
        tree.put(format!(".briefing/workspace/staged/{name}"), junk);
    }
    let workspace = TaskWorkspace::open_with(tree.path(""), WorkspaceOptions::read_write()).unwrap();
    workspace.write(&path("b.txt"), "b", None).unwrap();
    workspace.promote(&candidate, TargetState::Absent).unwrap();
    assert_eq!(workspace.candidates().unwrap_err().code(), "workspace.private_file");
    assert!(tree.path(".briefing/workspace/staged/torn.json").exists(), "nothing is thrown away unread");
}

#[test]
fn a_folder_among_the_files_on_their_way_keeps_nobody_from_writing() {
    let tree = Tree::new(&[]);
    tree.read_write().write(&path("a.txt"), "a", None).unwrap();
    tree.put(".briefing/workspace/tmp/folder/kept.txt", "kept");
    tree.put(".briefing/workspace/staged/folder/kept.txt", "kept");
    tree.put(".briefing/workspace/journal/folder/kept.txt", "kept");
    let workspace = TaskWorkspace::open_with(tree.path(""), WorkspaceOptions::read_write()).unwrap();
    workspace.write(&path("b.txt"), "b", None).unwrap();
}

#[test]
fn a_journal_that_names_what_is_no_slot_moves_nothing() {
    let outside = Tree::new(&[("secret.txt", b"secret")]);
    let tree = Tree::new(&[]);
    let digest = tree.read_write().write(&path("b.txt"), "secret", None).unwrap().digest;
    tree.remove("b.txt");
    std::os::unix::fs::symlink(outside.path(""), tree.path(".briefing/workspace/tmp/way")).unwrap();
    let names = ["../kept/x", "/etc/hostname", "way/secret.txt", "..", ""];
    for name in names {
        let entry = serde_json::json!({
            "path": "a.txt", "layer": "root", "execution": "e", "folder": "tmp", "slot": name,
            "before": "absent", "after": {"present": digest.to_string()},
        });
        let journal = serde_json::json!({"schema": "briefing.unit/1", "unit": "u", "changes": [entry]});
        tree.put(".briefing/workspace/journal/u.json", journal.to_string());
        let opened = TaskWorkspace::open_with(tree.path(""), WorkspaceOptions::read_write());
        assert_eq!(opened.unwrap_err().code(), "workspace.private_file", "{name}");
        assert_eq!(outside.bytes("secret.txt"), b"secret");
        assert!(!tree.path("a.txt").exists());
    }
}

#[test]
fn a_candidate_with_a_second_name_elsewhere_is_not_promoted() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let outside = Tree::new(&[("mine.txt", b"new")]);
    let tree = Tree::new(&[("a.txt", b"old")]);
    std::fs::set_permissions(tree.path("a.txt"), std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::set_permissions(outside.path("mine.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("a.txt"), "new").unwrap();
    let slot = tree.path(format!(".briefing/workspace/staged/{}", candidate.id));
    std::fs::remove_file(&slot).unwrap();
    std::fs::hard_link(outside.path("mine.txt"), &slot).unwrap();
    let refused = workspace.promote(&candidate, candidate.target_state).unwrap_err();
    assert_eq!(refused.code(), "workspace.hard_linked");
    assert_eq!(std::fs::metadata(outside.path("mine.txt")).unwrap().mode() & 0o777, 0o600);
    assert_eq!(tree.bytes("a.txt"), b"old");
}
