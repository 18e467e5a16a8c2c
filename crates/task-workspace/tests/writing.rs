//! A write is whole or not there, and changes nothing that it was not asked to change.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;

use briefing_core::Digest;
use briefing_task_workspace::{
    ExecutionId, TargetState, TaskWorkspace, WorkspaceOptions, WorkspacePath, WritePolicy,
};
use common::{Tree, path};

fn code<T: std::fmt::Debug>(result: Result<T, briefing_task_workspace::Error>) -> &'static str {
    result.unwrap_err().code()
}

#[test]
fn a_file_is_made_with_its_folders_and_replaced_whole() {
    let tree = Tree::new(&[]);
    let workspace = tree.read_write();
    let made = workspace.write(&path("a/b/c.txt"), "one", None).unwrap();
    assert_eq!((made.before, made.size_bytes, made.in_fallback), (TargetState::Absent, 3, false));
    assert_eq!(made.digest, Digest::of(b"one"));
    let replaced = workspace.write(&path("a/b/c.txt"), "three", None).unwrap();
    assert_eq!(replaced.before, TargetState::Present(made.digest));
    assert!(replaced.changed());
    assert_eq!(tree.bytes("a/b/c.txt"), b"three");
    let same = workspace.write(&path("a/b/c.txt"), "three", None).unwrap();
    assert!(!same.changed());
    assert!(std::fs::read_dir(tree.path(".briefing/workspace/tmp")).unwrap().next().is_none());
}

#[test]
fn a_write_with_another_expectation_is_a_conflict_that_names_both_states() {
    let tree = Tree::new(&[("a.txt", b"one")]);
    let workspace = tree.read_write();
    let (one, two) = (Digest::of(b"one"), Digest::of(b"two"));
    let error = workspace.write(&path("a.txt"), "new", two).unwrap_err();
    assert_eq!(error.code(), "workspace.conflict");
    assert!(error.to_string().contains(&one.to_string()) && error.to_string().contains(&two.to_string()));
    assert_eq!(code(workspace.write(&path("a.txt"), "new", TargetState::Absent)), "workspace.conflict");
    assert_eq!(code(workspace.write(&path("b.txt"), "new", one)), "workspace.conflict");
    assert_eq!(code(workspace.append(&path("a.txt"), "new", two)), "workspace.conflict");
    assert_eq!(code(workspace.remove_file(&path("a.txt"), two)), "workspace.conflict");
    assert_eq!(tree.everything(), BTreeMap::from([("a.txt".to_owned(), b"one".to_vec())]));
    workspace.write(&path("a.txt"), "two", one).unwrap();
    workspace.append(&path("a.txt"), "+", two).unwrap();
    assert_eq!(tree.bytes("a.txt"), b"two+");
    workspace.append(&path("b.txt"), "new", TargetState::Absent).unwrap();
    assert_eq!(tree.bytes("b.txt"), b"new");
}

#[test]
fn a_read_only_workspace_keeps_new_files_apart_and_never_changes_an_old_one() {
    let tree = Tree::new(&[("a.txt", b"old"), ("sub/b.txt", b"b")]);
    let before = tree.everything();
    let run = ExecutionId::new("run-1").unwrap();
    let open = |id: &ExecutionId| {
        TaskWorkspace::open_with(tree.0.path(), WorkspaceOptions::read_only().execution(id.clone())).unwrap()
    };
    let workspace = open(&run);
    assert!(!tree.path(".briefing").exists(), "opening makes nothing");
    let attempts = [
        code(workspace.write(&path("a.txt"), "new", None)),
        code(workspace.append(&path("a.txt"), "new", None)),
        code(workspace.copy(&path("sub/b.txt"), &path("a.txt"), None)),
        code(workspace.remove_file(&path("a.txt"), None)),
        code(workspace.rename(&path("a.txt"), &path("c.txt"))),
        code(workspace.remove_folder(&path("sub"), true)),
        code(workspace.stage(&path("a.txt"), "new")),
    ];
    assert_eq!(attempts, ["workspace.read_only"; 7]);
    assert_eq!(code(workspace.write(&path("a.txt/x"), "new", None)), "workspace.not_folder");

    let made = workspace.write(&path("sub/new.txt"), "mine", None).unwrap();
    assert!(made.in_fallback);
    assert_eq!(tree.everything(), before);
    assert_eq!(tree.bytes(".briefing/files/run-1/sub/new.txt"), b"mine");
    assert_eq!(workspace.read(&path("sub/new.txt"), 10).unwrap().bytes, b"mine");
    workspace.write(&path("sub/new.txt"), "mine again", made.digest).unwrap();
    // A file that comes to the same path later does not hide it.
    tree.put("sub/new.txt", "theirs");
    assert_eq!(workspace.read(&path("sub/new.txt"), 10).unwrap().bytes, b"mine again");
    workspace.write(&path("sub/new.txt"), "mine still", None).unwrap();
    assert_eq!(tree.bytes("sub/new.txt"), b"theirs");
    assert!(workspace.inspect(&path("sub/new.txt")).unwrap().in_fallback);

    assert_eq!(open(&run).read(&path("sub/new.txt"), 20).unwrap().bytes, b"mine still");
    let other = open(&ExecutionId::new("run-2").unwrap());
    assert_eq!(other.read(&path("sub/new.txt"), 20).unwrap().bytes, b"theirs");
    workspace.remove_file(&path("sub/new.txt"), None).unwrap();
    assert_eq!(workspace.read(&path("sub/new.txt"), 20).unwrap().bytes, b"theirs");
}

#[test]
fn the_policy_says_where_and_how_much() {
    let tree = Tree::new(&[("out/a.txt", b"12345"), ("in.txt", b"x")]);
    let policy = WritePolicy::new().allow("out/**").deny("**/*.KEY").max_file_bytes(10).max_total_bytes(12);
    let workspace =
        TaskWorkspace::open_with(tree.0.path(), WorkspaceOptions::read_write().policy(policy)).unwrap();
    for (refused, rule) in [
        ("in.txt", "none of the allowed"),
        ("out/x.key", "*.KEY"),
        ("out/.git/hooks/x", ".git"),
        ("new", "none"),
    ] {
        let error = workspace.write(&path(refused), "", None).unwrap_err();
        assert_eq!(error.code(), "workspace.denied");
        assert!(error.to_string().contains(rule), "{error}");
    }
    assert_eq!(code(workspace.write(&path("out/b"), "12345678901", None)), "workspace.too_large");
    assert_eq!(code(workspace.append(&path("out/a.txt"), "123456", None)), "workspace.too_large");
    assert_eq!(code(workspace.write_from(&path("out/b"), &b"12345678901"[..], None)), "workspace.too_large");
    workspace.write(&path("out/b"), "1234567890", None).unwrap();
    assert_eq!(code(workspace.write(&path("out/c"), "123", None)), "workspace.quota_exceeded");
    assert_eq!(code(workspace.stage(&path("out/c"), "123")), "workspace.quota_exceeded");
    workspace.remove_file(&path("out/b"), None).unwrap();
    workspace.write(&path("out/c"), "123", None).unwrap();
    let candidate = workspace.stage(&path("out/a.txt"), "123456789").unwrap();
    assert_eq!(code(workspace.write(&path("out/d"), "1", None)), "workspace.quota_exceeded");
    workspace.promote(&candidate, candidate.target_state).unwrap();
    workspace.write(&path("out/d"), "12345", None).unwrap();
    assert_eq!(code(workspace.write(&path("out/e"), "1", None)), "workspace.quota_exceeded");
    let bad = WorkspaceOptions::read_write().policy(WritePolicy::new().deny("a[b"));
    assert_eq!(code(TaskWorkspace::open_with(tree.0.path(), bad)), "workspace.glob_invalid");
}

#[test]
fn a_name_that_some_file_system_takes_for_another_is_refused() {
    let tree = Tree::new(&[("README.md", b"r"), ("stra\u{df}e/x", b"x"), ("caf\u{e9}.txt", b"c")]);
    let workspace = tree.read_write();
    let before = tree.everything();
    for name in ["readme.md", "Readme.md", "STRASSE/y", "stra\u{df}E/y", "cafe\u{301}.txt", "CAF\u{c9}.TXT"] {
        let refused = [
            code(workspace.write(&path(name), "", None)),
            code(workspace.create_folder(&path(name))),
            code(workspace.rename(&path("README.md"), &path(name))),
            code(workspace.stage(&path(name), "")),
        ];
        assert_eq!(refused, ["workspace.name_collision"; 4], "{name}");
    }
    assert_eq!(tree.everything(), before);
    workspace.write(&path("read me.md"), "", None).unwrap();
}

#[cfg(unix)]
#[test]
fn owner_mode_and_attributes_stay_and_new_files_obey_the_mask() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let tree = Tree::new(&[("run.sh", b"#!/bin/sh\n")]);
    let file = tree.path("run.sh");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o4751)).unwrap();
    let is_root = std::os::unix::fs::chown(&file, Some(12), Some(34)).is_ok();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o4751)).unwrap();
    let tagged = std::process::Command::new("python3")
        .args(["-c", "import os,sys; os.setxattr(sys.argv[1], 'user.origin', b'pump')"])
        .arg(&file)
        .status()
        .is_ok_and(|status| status.success());
    let workspace = tree.read_write();
    workspace.write(&path("run.sh"), "#!/bin/sh\necho\n", None).unwrap();
    let candidate = workspace.stage(&path("run.sh"), "#!/bin/sh\necho 2\n").unwrap();
    workspace.promote(&candidate, candidate.target_state).unwrap();
    let metadata = std::fs::metadata(&file).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o4751);
    if is_root {
        assert_eq!((metadata.uid(), metadata.gid()), (12, 34));
    }
    if tagged {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&file, "user.origin", &mut value).unwrap();
        assert_eq!(&value[..length], b"pump");
    }
    let plain = tree.path("plain");
    std::fs::write(&plain, "").unwrap();
    workspace.write(&path("new.txt"), "", None).unwrap();
    let mode = |name: &str| std::fs::metadata(tree.path(name)).unwrap().mode() & 0o7777;
    assert_eq!(mode("new.txt"), mode("plain"));
}

#[test]
fn long_names_are_no_longer_in_the_private_area() {
    let tree = Tree::new(&[]);
    let workspace = tree.read_write();
    for name in ["a".repeat(250), "\u{6c34}".repeat(84)] {
        let path = path(&name);
        workspace.write(&path, "one", None).unwrap();
        let candidate = workspace.stage(&path, "two").unwrap();
        workspace.promote(&candidate, candidate.target_state).unwrap();
        assert_eq!(tree.bytes(&name), b"two");
    }
    assert_eq!(code(workspace.write(&path(&"a".repeat(256)), "", None)), "workspace.not_written");
    let deep = vec!["folder"; 700].join("/");
    workspace.write(&path(&format!("{deep}/file")), "deep", None).unwrap();
    assert_eq!(workspace.read(&path(&format!("{deep}/file")), 9).unwrap().bytes, b"deep");
}

#[test]
fn files_and_folders_move_and_go() {
    let tree = Tree::new(&[("a/one.txt", b"1"), ("a/deep/two.txt", b"2"), ("b.txt", b"b")]);
    let workspace = tree.read_write();
    workspace.rename(&path("b.txt"), &path("c/d/b.txt")).unwrap();
    workspace.rename(&path("a"), &path("c/a")).unwrap();
    assert_eq!(tree.bytes("c/a/deep/two.txt"), b"2");
    assert_eq!(code(workspace.rename(&path("c/a/one.txt"), &path("c/d/b.txt"))), "workspace.exists");
    assert_eq!(code(workspace.rename(&path("c"), &path("c/a/c"))), "workspace.name_collision");
    assert_eq!(code(workspace.rename(&path("none"), &path("x"))), "workspace.not_found");
    workspace.create_folder(&path("e/f")).unwrap();
    workspace.create_folder(&path("e/f")).unwrap();
    assert_eq!(code(workspace.create_folder(&path("c/d/b.txt"))), "workspace.exists");
    assert_eq!(code(workspace.remove_file(&path("e"), None)), "workspace.not_regular_file");
    assert_eq!(code(workspace.remove_folder(&path("e"), false)), "workspace.folder_not_empty");
    workspace.remove_folder(&path("e/f"), false).unwrap();
    let removed = workspace.remove_folder(&path("c"), true).unwrap();
    assert_eq!((removed.files, removed.folders), (3, 4));
    assert_eq!(tree.everything().into_keys().collect::<Vec<_>>(), ["e/"]);
}

#[test]
fn no_operation_reaches_the_private_area_in_any_spelling() {
    for name in [
        ".briefing/x",
        "a/.Briefing/x",
        ".BRIEFING",
        ".brie\u{fb01}ng/x",
        ".briefing./x",
        ".briefing /x",
        ".brief\u{200c}ing/x",
        "BRIEFI~1/x",
        ".\u{ff42}riefing/x",
    ] {
        assert_eq!(code(WorkspacePath::new(name)), "workspace.private_area", "{name:?}");
    }
    // A private area of another workspace, deeper down, is not moved or removed with its folder.
    let tree = Tree::new(&[("sub/inner/.briefing/workspace/identity.json", b"{}"), ("sub/a", b"a")]);
    let workspace = tree.read_write();
    assert_eq!(code(workspace.remove_folder(&path("sub"), true)), "workspace.private_area");
    assert_eq!(code(workspace.rename(&path("sub"), &path("other"))), "workspace.private_area");
    assert!(tree.path("sub/inner/.briefing/workspace/identity.json").exists());
}

#[test]
fn files_come_in_and_go_out_whole() {
    let tree = Tree::new(&[("in/a.txt", b"a")]);
    let outside = Tree::new(&[("host.txt", b"host"), ("there.txt", b"old")]);
    let workspace = tree.read_write();
    workspace.import_file(outside.path("host.txt"), &path("in/host.txt"), TargetState::Absent).unwrap();
    assert_eq!(tree.bytes("in/host.txt"), b"host");
    assert_eq!(code(workspace.import_file(outside.0.path(), &path("x"), None)), "workspace.not_regular_file");
    workspace.export_file(&path("in/a.txt"), outside.0.path()).unwrap();
    assert_eq!(outside.bytes("a.txt"), b"a");
    assert_eq!(code(workspace.export_file(&path("in/a.txt"), outside.0.path())), "workspace.exists");
    assert_eq!(code(workspace.export_file(&path("in/a.txt"), tree.path("in"))), "workspace.outside_boundary");
    assert_eq!(outside.everything().len(), 3);
}
