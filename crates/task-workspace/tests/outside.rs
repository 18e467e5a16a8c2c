//! Files from outside and to outside: never from or into the private area, under whatever name.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{Tree, path};

#[test]
fn nothing_is_exported_into_the_workspace_also_where_its_folder_was_moved() {
    let tree = Tree::new(&[("root/a.txt", b"a"), ("root/sub/b.txt", b"b")]);
    let workspace = briefing_task_workspace::TaskWorkspace::open_with(
        tree.path("root"),
        briefing_task_workspace::WorkspaceOptions::read_write(),
    )
    .unwrap();
    workspace.workspace_id().unwrap();
    std::fs::rename(tree.path("root"), tree.path("moved")).unwrap();
    for folder in ["moved", "moved/sub", "moved/.briefing", "moved/.briefing/workspace"] {
        let refused = workspace.export_file(&path("a.txt"), tree.path(folder)).unwrap_err();
        assert_eq!(refused.code(), "workspace.outside_boundary", "{folder}");
    }
    assert!(!tree.path("moved/sub/a.txt").exists());
    assert!(!tree.path("moved/.briefing/a.txt").exists());
}

#[test]
fn nothing_is_imported_from_the_private_area() {
    let tree = Tree::new(&[]);
    let workspace = tree.read_write();
    workspace.workspace_id().unwrap();
    let link = tree.path("way");
    std::os::unix::fs::symlink(tree.path(".briefing/workspace"), &link).unwrap();
    for from in [tree.path(".briefing/workspace/identity.json"), link.join("identity.json")] {
        let refused = workspace.import_file(&from, &path("a.json"), None).unwrap_err();
        assert_eq!(refused.code(), "workspace.private_area");
    }
    assert!(!tree.path("a.json").exists());
}

#[test]
fn past_the_end_there_is_nothing_however_far() {
    let tree = Tree::new(&[("a.txt", b"abc")]);
    for offset in [3, 4, i64::MAX as u64, 1 << 63, u64::MAX] {
        let read = tree.workspace().read_from(&path("a.txt"), offset, 10).unwrap();
        assert_eq!((read.bytes.len(), read.total_bytes, read.truncated), (0, 3, false), "{offset}");
    }
}
