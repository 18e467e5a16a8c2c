//! An edit of a file changes what it says and nothing else, and only where a write may go.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_core::Digest;
use briefing_task_workspace::{
    Edit, Error, ExecutionId, TargetState, TaskWorkspace, WorkspaceOptions, WorkspacePath, WritePolicy,
};
use common::{Tree, path, shared};

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

fn with_policy(tree: &Tree, policy: WritePolicy) -> TaskWorkspace {
    TaskWorkspace::open_with(tree.0.path(), WorkspaceOptions::read_write().policy(policy)).unwrap()
}

/// A diff that puts `new` in the place of the only line of a file.
fn one_line(name: &str, old: &str, new: &str) -> String {
    format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{old}\n+{new}\n")
}

#[test]
fn an_edit_says_what_it_did() {
    let tree = Tree::new(&[("a.txt", b"one\r\ntwo\r\ntwo\r\n")]);
    let workspace = tree.read_write();
    let before = Digest::of(&tree.bytes("a.txt"));
    let edits = [Edit::replace("two", "2").expecting(2), Edit::insert(1, "zero")];
    let edited = workspace.edit(&path("a.txt"), &edits, before).unwrap();
    let bytes = tree.bytes("a.txt");
    assert_eq!(bytes, b"zero\r\none\r\n2\r\n2\r\n");
    assert_eq!((edited.replacements, edited.encoding.as_str()), (3, "utf-8"));
    assert_eq!((edited.written.digest, edited.written.size_bytes), (Digest::of(&bytes), bytes.len() as u64));
    assert_eq!(edited.written.before, TargetState::Present(before));
    // What is shown is the patch that does the same.
    let copy = Tree::new(&[("a.txt", b"one\r\ntwo\r\ntwo\r\n")]);
    copy.read_write().apply_patch(&edited.diff, Some(&[path("a.txt")])).unwrap();
    assert_eq!(copy.bytes("a.txt"), bytes);
    let same = workspace.edit(&path("a.txt"), &[Edit::replace("zero", "zero")], None).unwrap();
    assert!(!same.written.changed() && same.diff.is_empty());
}

#[test]
fn a_file_in_another_state_is_a_conflict_that_names_both() {
    let tree = Tree::new(&[("a.txt", b"theirs")]);
    let workspace = tree.read_write();
    let (mine, theirs) = (Digest::of(b"mine"), Digest::of(b"theirs"));
    let edit = [Edit::replace("theirs", "ours")];
    for expected in [TargetState::Present(mine), TargetState::Absent] {
        let error = workspace.edit(&path("a.txt"), &edit, expected).unwrap_err();
        let Error::Conflict { path, expected: told, found } = &error else { panic!("{error}") };
        assert_eq!((path.as_str(), *told, *found), ("a.txt", expected, theirs.into()));
        assert!(error.to_string().contains(&theirs.to_string()));
        assert!(error.to_string().contains(&expected.to_string()));
    }
    assert_eq!(tree.bytes("a.txt"), b"theirs");
    assert_eq!(code(workspace.edit(&path("none.txt"), &edit, mine)), "workspace.not_found");
    assert_eq!(code(workspace.edit(&path("none/none.txt"), &edit, None)), "workspace.not_found");
    assert_eq!(tree.everything().len(), 1, "nothing was made");
    assert_eq!(code(workspace.edit(&path("a.txt"), &[], theirs)), "workspace.edit_empty");
    let second_fails = [Edit::replace("theirs", "ours"), Edit::replace("nowhere", "x")];
    assert_eq!(code(workspace.edit(&path("a.txt"), &second_fails, theirs)), "workspace.edit_no_match");
    assert_eq!(tree.bytes("a.txt"), b"theirs");
    workspace.edit(&path("a.txt"), &edit, theirs).unwrap();
    assert_eq!(tree.bytes("a.txt"), b"ours");
}

#[test]
fn every_byte_beside_the_edit_stays() {
    let new = "$1 $& $$ \\0";
    for (name, edit, old, new) in [
        ("mixed_eol.txt", Edit::replace("beta", new), &b"beta"[..], new.as_bytes()),
        ("no_final_newline.txt", Edit::replace("last", new), b"last", new.as_bytes()),
        ("gbk_edit_target.c", Edit::lines(2..=2, new), b"int total = 0;", new.as_bytes()),
        ("cp1252.pas", Edit::replace("begin", new), b"begin", new.as_bytes()),
        ("cp1252.pas", Edit::replace("façade", "€"), b"fa\xe7ade", b"\x80"),
        ("config_bom.json", Edit::replace("900", new), b"900", new.as_bytes()),
        ("utf16le_bom.htm", Edit::replace("40", "水"), b"4\x000\0", b"\x34\x6c"),
        ("shift_jis.csv", Edit::replace("12", new), b"12", new.as_bytes()),
        ("dollar_target.sh", Edit::replace("SLOT", new), b"SLOT", new.as_bytes()),
    ] {
        let Some(fixture) = shared(&format!("text/{name}")) else { return };
        let bytes = std::fs::read(fixture).unwrap();
        let tree = Tree::new(&[(name, &bytes)]);
        let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
        let expected = [&bytes[..at], new, &bytes[at + old.len()..]].concat();
        let edited = tree.read_write().edit(&path(name), &[edit], None);
        edited.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(tree.bytes(name), expected, "{name}");
    }
    // What the encoding has no character for is refused before anything is written.
    let Some(fixture) = shared("text/cp1252.pas") else { return };
    let bytes = std::fs::read(fixture).unwrap();
    let tree = Tree::new(&[("cp1252.pas", &bytes)]);
    let error = tree.read_write().edit(&path("cp1252.pas"), &[Edit::insert(1, "水泵")], None).unwrap_err();
    assert_eq!((error.code(), tree.bytes("cp1252.pas")), ("workspace.edit_unencodable", bytes));
}

#[cfg(unix)]
#[test]
fn an_edited_file_can_still_be_executed() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let tree = Tree::new(&[("run.sh", b"#!/bin/sh\necho 1\n")]);
    let mode =
        |mode| std::fs::set_permissions(tree.path("run.sh"), std::fs::Permissions::from_mode(mode)).unwrap();
    let workspace = tree.read_write();
    for (bits, new) in [(0o755, "2"), (0o700, "3"), (0o640, "4")] {
        mode(bits);
        let text = String::from_utf8(tree.bytes("run.sh")).unwrap();
        let old = text.trim_end().chars().last().unwrap().to_string();
        workspace
            .edit(&path("run.sh"), &[Edit::replace(format!("echo {old}"), format!("echo {new}"))], None)
            .unwrap();
        let diff = format!("--- a/run.sh\n+++ b/run.sh\n@@ -2 +2 @@\n-echo {new}\n+echo 1\n");
        workspace.apply_patch(&diff, None).unwrap();
        assert_eq!(std::fs::metadata(tree.path("run.sh")).unwrap().mode() & 0o7777, bits);
    }
}

#[cfg(unix)]
#[test]
fn a_file_with_other_names_and_a_link_are_not_edited() {
    let tree = Tree::new(&[
        ("root/a.txt", b"old\n"),
        ("root/c.txt", b"old\n"),
        ("root/sub/b.txt", b"old\n"),
        ("out.txt", b"old\n"),
    ]);
    std::fs::hard_link(tree.path("out.txt"), tree.path("root/hard.txt")).unwrap();
    std::os::unix::fs::symlink("a.txt", tree.path("root/inside.txt")).unwrap();
    std::os::unix::fs::symlink("../out.txt", tree.path("root/outside.txt")).unwrap();
    std::os::unix::fs::symlink("sub", tree.path("root/linked")).unwrap();
    let workspace = TaskWorkspace::open_with(tree.path("root"), WorkspaceOptions::read_write()).unwrap();
    let before = tree.everything();
    for (name, refused) in [
        ("hard.txt", "workspace.hard_linked"),
        ("inside.txt", "workspace.link"),
        ("outside.txt", "workspace.link"),
        ("linked/b.txt", "workspace.link"),
        ("sub", "workspace.not_regular_file"),
        ("a.txt/x", "workspace.not_folder"),
    ] {
        assert_eq!(
            code(workspace.edit(&path(name), &[Edit::replace("old", "new")], None)),
            refused,
            "{name}"
        );
        let both = [one_line("c.txt", "old", "new"), one_line(name, "old", "new")].concat();
        assert_eq!(code(workspace.apply_patch(&both, None)), refused, "{name}");
        let moved = format!("diff --git a/{name} b/new.txt\nrename from {name}\nrename to new.txt\n");
        assert_eq!(code(workspace.apply_patch(&moved, None)), refused, "{name}");
    }
    assert_eq!(tree.everything(), before);
}

#[test]
fn the_policy_holds_for_edits_and_patches() {
    let tree = Tree::new(&[
        ("in/a.txt", b"12345\n"),
        ("in/b.txt", b"12345\n"),
        ("out.txt", b"12345\n"),
        ("in/.git/config", b"12345\n"),
    ]);
    let before = tree.everything();
    let policy = WritePolicy::new().allow("in/**").deny("**/b.*").max_file_bytes(10).max_total_bytes(2);
    let workspace = with_policy(&tree, policy);
    for (name, new, refused) in [
        ("out.txt", "1", "workspace.denied"),
        ("in/b.txt", "1", "workspace.denied"),
        ("in/.git/config", "1", "workspace.denied"),
        ("in/a.txt", "12345678901", "workspace.too_large"),
        ("in/a.txt", "123456789", "workspace.quota_exceeded"),
    ] {
        assert_eq!(
            code(workspace.edit(&path(name), &[Edit::replace("12345", new)], None)),
            refused,
            "{name}"
        );
        assert_eq!(code(workspace.apply_patch(&one_line(name, "12345", new), None)), refused, "{name}");
        let both = [one_line("in/a.txt", "12345", "1"), one_line(name, "12345", new)].concat();
        let refused = if name == "in/a.txt" { "workspace.target_twice" } else { refused };
        assert_eq!(code(workspace.apply_patch(&both, None)), refused, "{name}");
    }
    assert_eq!(tree.everything(), before);
    workspace.edit(&path("in/a.txt"), &[Edit::replace("12345", "1234567")], None).unwrap();
    assert_eq!(
        code(workspace.edit(&path("in/a.txt"), &[Edit::replace("7", "78")], None)),
        "workspace.quota_exceeded"
    );
}

#[test]
fn what_a_unit_takes_away_makes_room_for_what_it_adds() {
    let tree = Tree::new(&[("z.txt", b"1234567890\n")]);
    let workspace = with_policy(&tree, WritePolicy::new().max_total_bytes(3));
    workspace.apply_patch("diff --git a/z.txt b/a.txt\nrename from z.txt\nrename to a.txt\n", None).unwrap();
    let more = "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-1234567890\n+12345678901234\n";
    assert_eq!(code(workspace.apply_patch(more, None)), "workspace.quota_exceeded");
    workspace.apply_patch(&more.replace("12345678901234", "1234567890123"), None).unwrap();
    assert_eq!(code(workspace.write(&path("c.txt"), "1", None)), "workspace.quota_exceeded");
    assert_eq!(tree.everything().into_keys().collect::<Vec<_>>(), ["b.txt"]);
}

#[test]
fn nothing_but_a_promotion_writes_the_target_of_a_delivery() {
    let tree = Tree::new(&[
        ("out/report.md", b"draft\n"),
        ("sub/deep/kept.md", b"kept\n"),
        ("free.txt", b"free\n"),
        ("host.txt", b"host\n"),
    ]);
    let workspace = tree.read_write();
    let delivery =
        workspace.open_delivery(&[path("out/report.md"), path("sub/deep"), path("new.md")]).unwrap();
    let before = tree.everything();
    // Another handle, as another process has it, is bound too.
    for workspace in [&workspace, &tree.read_write()] {
        for name in ["out/report.md", "OUT/Report.md", "sub/deep/kept.md", "sub/deep/more.md", "new.md"] {
            let target = path(name);
            let edit = [Edit::replace("draft", "x")];
            let free = path("free.txt");
            let patches = [
                one_line(name, "draft", "x"),
                format!("{}{}", one_line("free.txt", "free", "x"), one_line(name, "draft", "x")),
                format!(
                    "diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n"
                ),
                format!(
                    "diff --git a/{name} b/{name}\ndeleted file mode 100644\n--- a/{name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-draft\n"
                ),
                format!("diff --git a/free.txt b/{name}\nrename from free.txt\nrename to {name}\n"),
                format!("diff --git a/free.txt b/{name}\ncopy from free.txt\ncopy to {name}\n"),
                format!("diff --git a/{name} b/free2.txt\nrename from {name}\nrename to free2.txt\n"),
                format!("diff --git a/{name} b/{name}\nold mode 100644\nnew mode 100755\n"),
            ];
            for patch in patches {
                assert_eq!(code(workspace.apply_patch(&patch, None)), "workspace.protected", "{patch}");
            }
            let refused = [
                code(workspace.edit(&target, &edit, None)),
                code(workspace.write(&target, "x", None)),
                code(workspace.write_from(&target, &b"x"[..], None)),
                code(workspace.append(&target, "x", None)),
                code(workspace.copy(&free, &target, None)),
                code(workspace.rename(&free, &target)),
                code(workspace.rename(&target, &path("moved.md"))),
                code(workspace.remove_file(&target, None)),
                code(workspace.import_file(tree.path("host.txt"), &target, None)),
                code(workspace.create_folder(&target)),
            ];
            assert_eq!(refused, ["workspace.protected"; 10], "{name}");
        }
        for folder in ["out", "sub", "sub/deep"] {
            let folder = path(folder);
            assert_eq!(code(workspace.rename(&folder, &path("moved"))), "workspace.protected");
            assert_eq!(code(workspace.remove_folder(&folder, true)), "workspace.protected");
        }
    }
    assert_eq!(tree.everything(), before);
    // What is read only is not protected: a copy of a target is an ordinary file.
    workspace.copy(&path("out/report.md"), &path("copy.md"), None).unwrap();
    workspace
        .apply_patch(
            "diff --git a/out/report.md b/copy2.md\ncopy from out/report.md\ncopy to copy2.md\n",
            None,
        )
        .unwrap();
    assert_eq!(tree.bytes("copy2.md"), b"draft\n");
    let candidate = workspace.stage(&path("out/report.md"), "final\n").unwrap();
    workspace.promote(&candidate, candidate.target_state).unwrap();
    tree.read_write().close_delivery(&delivery.id).unwrap();
    workspace.edit(&path("out/report.md"), &[Edit::replace("final", "x")], None).unwrap();
}

#[test]
fn no_spelling_of_a_path_reaches_the_private_area() {
    let tree = Tree::new(&[("a.txt", b"old\n"), ("sub/b.txt", b"b")]);
    let workspace = tree.read_write();
    let identity = workspace.workspace_id().unwrap();
    let area = tree.path(".briefing").canonicalize().unwrap();
    let before = common::everything(&area);
    let absolute = tree.0.path().canonicalize().unwrap();
    for (name, refused) in [
        (".briefing/x", "workspace.private_area"),
        (".BRIEFING/x", "workspace.private_area"),
        (".briefing", "workspace.private_area"),
        ("sub/.briefing/x", "workspace.private_area"),
        (".briefing/workspace/identity.json", "workspace.private_area"),
        ("sub/../.briefing/x", "workspace.outside_boundary"),
        ("../x", "workspace.outside_boundary"),
        ("./.briefing/x", "workspace.invalid_path"),
        (".//.briefing/x", "workspace.invalid_path"),
    ] {
        assert_eq!(code(WorkspacePath::new(name)), refused, "{name}");
        // Joined to the root, a `.` is no segment any more.
        let refusal = code(workspace.workspace_path(absolute.join(name)));
        assert!([refused, "workspace.private_area"].contains(&refusal), "{refusal}: {name}");
        for patch in [
            one_line(name, "old", "new"),
            format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n"),
            format!("--- a/{name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
            format!("diff --git a/a.txt b/{name}\nrename from a.txt\nrename to {name}\n"),
            format!("diff --git a/a.txt b/{name}\ncopy from a.txt\ncopy to {name}\n"),
            format!("diff --git a/{name} b/c.txt\nrename from {name}\nrename to c.txt\n"),
            format!("diff --git a/{name} b/c.txt\ncopy from {name}\ncopy to c.txt\n"),
            format!("--- a/a.txt\n+++ b/{name}\n@@ -1 +1 @@\n-old\n+new\n"),
        ] {
            let refusal = code(workspace.apply_patch(&patch, None));
            assert!([refused, "workspace.patch_malformed"].contains(&refusal), "{refusal}: {patch}");
        }
    }
    let inside = absolute.join(".briefing/x").display().to_string();
    assert_eq!(code(WorkspacePath::new(&inside)), "workspace.outside_boundary");
    let patch = format!("--- /dev/null\n+++ {inside}\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(code(workspace.apply_patch(&patch, None)), "workspace.outside_boundary");
    // A folder that is a link to it is a link like others.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".briefing", tree.path("area")).unwrap();
        std::os::unix::fs::symlink(".briefing/workspace/identity.json", tree.path("id.json")).unwrap();
        let (target, free) = (path("area/x"), path("a.txt"));
        let refused = [
            code(workspace.edit(&path("id.json"), &[Edit::replace("a", "b")], None)),
            code(workspace.edit(&target, &[Edit::replace("a", "b")], None)),
            code(workspace.write(&target, "x", None)),
            code(workspace.append(&target, "x", None)),
            code(workspace.copy(&free, &target, None)),
            code(workspace.rename(&free, &target)),
            code(workspace.rename(&path("area/workspace"), &path("w"))),
            code(workspace.remove_file(&path("area/workspace/identity.json"), None)),
            code(workspace.remove_folder(&path("area/workspace"), true)),
            code(workspace.create_folder(&target)),
            code(workspace.import_file(tree.path("a.txt"), &target, None)),
            code(workspace.stage(&target, "x")),
            code(workspace.apply_patch(&format!("--- /dev/null\n+++ b/{target}\n@@ -0,0 +1 @@\n+x\n"), None)),
        ];
        assert_eq!(refused, ["workspace.link"; 13]);
        let read = [
            code(workspace.copy(&path("id.json"), &path("c.txt"), None)),
            code(workspace.read(&path("area/workspace/identity.json"), 9)),
            code(
                workspace
                    .apply_patch("diff --git a/id.json b/c.txt\ncopy from id.json\ncopy to c.txt\n", None),
            ),
            code(workspace.export_file(&path("id.json"), Tree::new(&[]).0.path())),
        ];
        assert_eq!(read, ["workspace.private_area"; 4]);
    }
    assert_eq!(common::everything(&area), before);
    assert_eq!(tree.read_write().workspace_id().unwrap(), identity);
    assert_eq!(tree.bytes("a.txt"), b"old\n");
}

#[test]
fn a_read_only_workspace_edits_what_its_run_wrote_and_nothing_else() {
    let tree = Tree::new(&[("a.txt", b"old\n"), ("sub/b.txt", b"old\n")]);
    let before = tree.everything();
    let options = WorkspaceOptions::read_only().execution(ExecutionId::new("run-1").unwrap());
    let workspace = TaskWorkspace::open_with(tree.0.path(), options).unwrap();
    workspace.write(&path("mine.txt"), "old\n", None).unwrap();
    let edit = [Edit::replace("old", "new")];
    let renamed =
        |from: &str, to: &str| format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    let copied =
        |from: &str, to: &str| format!("diff --git a/{from} b/{to}\ncopy from {from}\ncopy to {to}\n");
    for patch in [
        one_line("a.txt", "old", "new"),
        [one_line("mine.txt", "old", "new"), one_line("sub/b.txt", "old", "new")].concat(),
        renamed("a.txt", "c.txt"),
        "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n".to_owned(),
        "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n".to_owned(),
    ] {
        assert_eq!(code(workspace.apply_patch(&patch, None)), "workspace.read_only", "{patch}");
    }
    for patch in [renamed("mine.txt", "a.txt"), copied("mine.txt", "a.txt")] {
        assert_eq!(code(workspace.apply_patch(&patch, None)), "workspace.read_only", "{patch}");
    }
    assert_eq!(code(workspace.edit(&path("a.txt"), &edit, None)), "workspace.read_only");
    assert!(workspace.edit(&path("mine.txt"), &edit, None).unwrap().written.in_fallback);
    workspace.apply_patch(&one_line("mine.txt", "new", "newer"), None).unwrap();
    assert_eq!(workspace.read(&path("mine.txt"), 9).unwrap().bytes, b"newer\n");
    // A copy of an old file is a new one.
    workspace.apply_patch(&copied("sub/b.txt", "copy.txt"), None).unwrap();
    workspace.apply_patch(&renamed("mine.txt", "moved.txt"), None).unwrap();
    assert_eq!(workspace.read(&path("copy.txt"), 9).unwrap().bytes, b"old\n");
    assert_eq!(code(workspace.read(&path("mine.txt"), 9)), "workspace.not_found");
    assert_eq!(tree.bytes(".briefing/files/run-1/moved.txt"), b"newer\n");
    assert_eq!(tree.everything(), before);
}
