//! A patch of several files is made whole or not at all, touches what it says it touches, and overwrites nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_task_workspace::{Error, TaskWorkspace, WorkspacePath};
use common::{Tree, path};

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

fn changed(name: &str, old: &str, new: &str) -> String {
    format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{old}\n+{new}\n")
}

fn created(name: &str, text: &str) -> String {
    format!(
        "diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+{text}\n"
    )
}

fn deleted(name: &str, text: &str) -> String {
    format!(
        "diff --git a/{name} b/{name}\ndeleted file mode 100644\n--- a/{name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{text}\n"
    )
}

fn renamed(from: &str, to: &str) -> String {
    format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
}

fn copied(from: &str, to: &str) -> String {
    format!("diff --git a/{from} b/{to}\nsimilarity index 100%\ncopy from {from}\ncopy to {to}\n")
}

fn paths(names: &[&str]) -> Vec<WorkspacePath> {
    names.iter().map(|name| path(name)).collect()
}

/// Nothing is left on its way in the private area.
fn assert_swept(tree: &Tree) {
    for folder in ["tmp", "journal"] {
        let left =
            std::fs::read_dir(tree.path(".briefing/workspace").join(folder)).map_or(0, Iterator::count);
        assert_eq!(left, 0, "something is left in {folder}");
    }
}

fn tree_of_five() -> Tree {
    Tree::new(&[
        ("change.txt", b"old\n"),
        ("delete.txt", b"gone\n"),
        ("move.txt", b"moved\n"),
        ("original.txt", b"shared\n"),
        ("other.txt", b"other\n"),
    ])
}

#[test]
fn one_patch_changes_creates_deletes_renames_and_copies() {
    let tree = tree_of_five();
    let workspace = tree.read_write();
    let moved_and_changed = format!(
        "{}--- a/move.txt\n+++ b/deep/er/moved.txt\n@@ -1 +1 @@\n-moved\n+there\n",
        renamed("move.txt", "deep/er/moved.txt")
    );
    let patch = [
        moved_and_changed,
        changed("change.txt", "old", "new"),
        created("deep/made.txt", "made"),
        created("deep/er/too.txt", "too"),
        deleted("delete.txt", "gone"),
        copied("original.txt", "copy.txt"),
        // The original of a copy is what it was before the patch.
        changed("original.txt", "shared", "its own"),
    ]
    .concat();
    let expected = paths(&[
        "change.txt",
        "copy.txt",
        "deep/er/moved.txt",
        "deep/er/too.txt",
        "deep/made.txt",
        "delete.txt",
        "move.txt",
        "original.txt",
    ]);
    let backwards: Vec<_> = expected.iter().rev().cloned().collect();
    assert_eq!(workspace.apply_patch(&patch, Some(&backwards)).unwrap(), expected);
    let files: Vec<_> = tree.everything().into_iter().filter(|(name, _)| !name.ends_with('/')).collect();
    let wanted = [
        ("change.txt", "new\n"),
        ("copy.txt", "shared\n"),
        ("deep/er/moved.txt", "there\n"),
        ("deep/er/too.txt", "too\n"),
        ("deep/made.txt", "made\n"),
        ("original.txt", "its own\n"),
        ("other.txt", "other\n"),
    ];
    assert_eq!(files, wanted.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())));
    assert_swept(&tree);
}

#[test]
fn a_patch_that_does_not_fit_one_file_changes_none() {
    let tree = tree_of_five();
    let workspace = tree.read_write();
    let before = tree.everything();
    for (misfit, refused) in [
        (changed("other.txt", "not there", "x"), "workspace.patch_context"),
        (changed("none.txt", "x", "y"), "workspace.patch_target"),
        (created("other.txt", "x"), "workspace.patch_target"),
        (deleted("other.txt", "less"), "workspace.patch_context"),
        (deleted("none.txt", "x"), "workspace.patch_target"),
        (renamed("none.txt", "z.txt"), "workspace.patch_target"),
        (copied("none.txt", "z.txt"), "workspace.patch_target"),
        // What is there is never overwritten.
        (renamed("original.txt", "other.txt"), "workspace.patch_target"),
        (copied("original.txt", "other.txt"), "workspace.patch_target"),
        (created("other.txt/x", "x"), "workspace.not_folder"),
        (created("OTHER.txt", "x"), "workspace.name_collision"),
        (renamed("original.txt", "Other.txt"), "workspace.name_collision"),
        (created("../x", "x"), "workspace.outside_boundary"),
        (created(".git/hooks/x", "x"), "workspace.denied"),
        (changed("change.txt", "new", "newer"), "workspace.target_twice"),
        (renamed("change.txt", "z.txt"), "workspace.target_twice"),
        ("diff --git a/other.txt b/other.txt\nGIT binary patch\n".to_owned(), "workspace.patch_unsupported"),
        ("--- a/other.txt\n+++ b/other.txt\n@@ -1 +1 @@\n-other\n".to_owned(), "workspace.patch_malformed"),
    ] {
        let good = changed("change.txt", "old", "new");
        for patch in [[good.clone(), misfit.clone()].concat(), [misfit.clone(), good].concat()] {
            assert_eq!(code(workspace.apply_patch(&patch, None)), refused, "{patch}");
        }
        assert_eq!(tree.everything(), before, "{misfit}");
        assert_swept(&tree);
    }
}

#[test]
fn two_new_names_that_some_file_system_takes_for_one_are_refused() {
    let tree = Tree::new(&[("both/A.txt", b"1\n"), ("both/a.txt", b"2\n"), ("Dir/x", b""), ("dir/x", b"")]);
    let workspace = tree.read_write();
    let before = tree.everything();
    for (one, other) in
        [("New.txt", "new.txt"), ("New/a", "new/b"), ("x/caf\u{e9}", "x/cafe\u{301}"), ("m.txt", "M.txt")]
    {
        let patch = [created(one, "x"), created("m", "x"), created(other, "y")].concat();
        let refusal = code(workspace.apply_patch(&patch, None));
        assert!(["workspace.name_collision", "workspace.target_twice"].contains(&refusal), "{refusal}");
        assert_eq!(tree.everything(), before);
        assert_swept(&tree);
    }
    // Names that are there already stay apart.
    let patch = [created("Dir/new", "x"), created("dir/new", "y")].concat();
    assert_eq!(code(workspace.apply_patch(&patch, None)), "workspace.target_twice");
    workspace.apply_patch(&[created("Dir/new", "x"), created("dir/other", "y")].concat(), None).unwrap();
    assert_eq!(tree.bytes("dir/other"), b"y\n");
}

#[test]
fn a_patch_touches_exactly_the_files_that_are_expected() {
    let tree = tree_of_five();
    let workspace = tree.read_write();
    let before = tree.everything();
    let plain_names = "--- a/change.txt.orig\n+++ b/change.txt\n@@ -1 +1 @@\n-old\n+new\n";
    for (patch, touched, allowed) in [
        (changed("change.txt", "old", "new"), &["change.txt"][..], &["other.txt"][..]),
        (changed("change.txt", "old", "new"), &["change.txt"], &[]),
        (changed("change.txt", "old", "new"), &["change.txt"], &["change.txt", "other.txt"]),
        // A renaming takes a file away, whatever it is called afterwards.
        (renamed("move.txt", "z.txt"), &["move.txt", "z.txt"], &["z.txt"]),
        (renamed("move.txt", "z.txt"), &["move.txt", "z.txt"], &["move.txt"]),
        (copied("move.txt", "z.txt"), &["z.txt"], &["move.txt", "z.txt"]),
        (copied("move.txt", "z.txt"), &["z.txt"], &["move.txt"]),
        (deleted("delete.txt", "gone"), &["delete.txt"], &["change.txt"]),
        (created("z.txt", "x"), &["z.txt"], &["Z.txt"]),
        (
            [created("z.txt", "x"), renamed("move.txt", "y.txt")].concat(),
            &["move.txt", "y.txt", "z.txt"],
            &["move.txt", "z.txt"],
        ),
        (plain_names.to_owned(), &["change.txt"], &["change.txt.orig"]),
        // It is told even of a patch that does not fit.
        (changed("change.txt", "not there", "new"), &["change.txt"], &["other.txt"]),
    ] {
        let error = workspace.apply_patch(&patch, Some(&paths(allowed))).unwrap_err();
        let Error::PatchFiles { expected, found } = &error else { panic!("{error}: {patch}") };
        assert_eq!(expected.iter().map(String::as_str).collect::<Vec<_>>(), allowed);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), touched);
        assert_eq!(tree.everything(), before, "{patch}");
    }
    let twice = paths(&["z.txt", "move.txt", "z.txt"]);
    workspace.apply_patch(&renamed("move.txt", "z.txt"), Some(&twice)).unwrap();
}

#[test]
fn lines_of_content_that_look_like_headers_are_content() {
    let tree = Tree::new(&[("a.sql", b"-- old\n-- b/x\nrest\n"), ("b.sql", b"one\n")]);
    let patch = "--- a/a.sql\n+++ b/a.sql\n@@ -1,3 +1,2 @@\n--- old\n--- b/x\n+++ new\n rest\n--- a/b.sql\n+++ b/b.sql\n@@ -1 +1,2 @@\n one\n+-- two\n-- \n2.40.1\n";
    let touched = tree.read_write().apply_patch(patch, Some(&paths(&["a.sql", "b.sql"]))).unwrap();
    assert_eq!(touched.len(), 2);
    assert_eq!(tree.bytes("a.sql"), b"++ new\nrest\n");
    assert_eq!(tree.bytes("b.sql"), b"one\n-- two\n");
}

#[test]
fn a_patch_that_changes_nothing_touches_no_file() {
    let tree = Tree::new(&[("a.txt", b"same\n")]);
    let modified = || std::fs::metadata(tree.path("a.txt")).unwrap().modified().unwrap();
    let before = modified();
    let workspace = tree.read_write();
    assert_eq!(workspace.apply_patch(&changed("a.txt", "same", "same"), None).unwrap(), paths(&["a.txt"]));
    assert_eq!(modified(), before);
    assert_swept(&tree);
}

#[test]
fn the_bytes_that_a_patch_was_made_for_are_the_bytes_that_it_replaces() {
    // A writer that knows no locks changes the file all the time: none of its changes is lost.
    let tree = Tree::new(&[("count.txt", b"0\n"), ("other.txt", b"x\n")]);
    let workspace = tree.read_write();
    let begun = std::time::Instant::now();
    workspace.apply_patch(&changed("other.txt", "x", "y"), None).unwrap();
    // From before the patch to long after it.
    let step = begun.elapsed() / 15;
    let (mut applied, mut refused) = (0, 0);
    for round in 0..60 {
        let theirs = format!("{round} theirs\n");
        let patch = [changed("count.txt", "0", "mine"), changed("other.txt", "x", "x2")].concat();
        tree.put("count.txt", "0\n");
        tree.put("other.txt", "x\n");
        let (done, rewritten) = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                std::thread::sleep(step * round);
                let swapped = tree.path("swap.txt");
                std::fs::write(&swapped, &theirs).unwrap();
                std::fs::rename(&swapped, tree.path("count.txt")).unwrap();
            });
            let done = workspace.apply_patch(&patch, None);
            (done, writer.join())
        });
        rewritten.unwrap();
        let now = String::from_utf8(tree.bytes("count.txt")).unwrap();
        assert_eq!(now, theirs, "the last writer's bytes are there, for no patch came after them");
        match done {
            Ok(_) => applied += 1,
            Err(error) => {
                let known = [
                    "workspace.conflict",
                    "workspace.patch_context",
                    "workspace.read_back",
                    "workspace.changed",
                ];
                assert!(known.contains(&error.code()), "{error:?}");
                assert_eq!(tree.bytes("other.txt"), b"x\n", "{error}");
                refused += 1;
            }
        }
    }
    assert!(applied > 0 && refused > 0, "{applied} applied, {refused} refused");
}

#[cfg(unix)]
mod modes {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    fn mode(tree: &Tree, name: &str) -> u32 {
        std::fs::metadata(tree.path(name)).unwrap().mode() & 0o7777
    }

    fn set_mode(tree: &Tree, name: &str, mode: u32) {
        std::fs::set_permissions(tree.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn switched(name: &str, executable: bool) -> String {
        let (old, new) = if executable { ("644", "755") } else { ("755", "644") };
        format!("diff --git a/{name} b/{name}\nold mode 100{old}\nnew mode 100{new}\n")
    }

    fn apply(workspace: &TaskWorkspace, patch: &str) {
        workspace.apply_patch(patch, None).unwrap_or_else(|error| panic!("{error}: {patch}"));
    }

    #[test]
    fn a_patch_makes_files_that_can_be_executed() {
        let tree = Tree::new(&[("plain", b"")]);
        let plain = mode(&tree, "plain");
        apply(
            &tree.read_write(),
            &[created("run.sh", "x").replace("100644", "100755"), created("text.txt", "x")].concat(),
        );
        assert_eq!(mode(&tree, "text.txt"), plain);
        assert_eq!(mode(&tree, "run.sh"), plain | (plain & 0o444) >> 2);
        assert_ne!(mode(&tree, "run.sh") & 0o100, 0);
    }

    #[test]
    fn a_change_of_the_mode_alone_is_made() {
        let tree = Tree::new(&[("run.sh", b"x\n"), ("bin", b"\0\xff"), ("other.txt", b"old\n")]);
        let workspace = tree.read_write();
        for (before, executable, after) in [
            (0o644, true, 0o755),
            (0o640, true, 0o750),
            (0o600, true, 0o700),
            (0o755, false, 0o644),
            (0o711, false, 0o600),
            (0o4755, false, 0o4644),
            (0o755, true, 0o755),
            (0o644, false, 0o644),
        ] {
            for name in ["run.sh", "bin"] {
                set_mode(&tree, name, before);
                let bytes = tree.bytes(name);
                assert_eq!(
                    workspace.apply_patch(&switched(name, executable), Some(&paths(&[name]))).unwrap(),
                    paths(&[name])
                );
                assert_eq!((mode(&tree, name), tree.bytes(name)), (after, bytes), "{before:o}");
            }
        }
        // With others, and with new content.
        set_mode(&tree, "run.sh", 0o644);
        apply(
            &workspace,
            &[changed("other.txt", "old", "new"), switched("run.sh", true), switched("bin", true)].concat(),
        );
        assert_eq!((mode(&tree, "run.sh"), mode(&tree, "bin") & 0o111), (0o755, 0o111));
        let both = format!("{}--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-x\n+y\n", switched("run.sh", false));
        apply(&workspace, &both);
        assert_eq!((mode(&tree, "run.sh"), tree.bytes("run.sh")), (0o644, b"y\n".to_vec()));
        assert_swept(&tree);
        // A patch that does not fit changes no mode either.
        let misfit = [switched("run.sh", true), changed("other.txt", "old", "x")].concat();
        assert_eq!(code(workspace.apply_patch(&misfit, None)), "workspace.patch_context");
        assert_eq!(mode(&tree, "run.sh"), 0o644);
    }

    #[test]
    fn a_renamed_file_keeps_its_mode_and_a_copy_can_be_executed_too() {
        let tree = Tree::new(&[("run.sh", b"x\n"), ("odd.txt", b"x\n")]);
        set_mode(&tree, "run.sh", 0o750);
        set_mode(&tree, "odd.txt", 0o606);
        let workspace = tree.read_write();
        apply(&workspace, &copied("run.sh", "copy.sh"));
        assert_ne!(mode(&tree, "copy.sh") & 0o100, 0);
        apply(&workspace, &copied("odd.txt", "copy.txt"));
        assert_eq!(mode(&tree, "copy.txt") & 0o111, 0);
        apply(&workspace, &[renamed("run.sh", "sub/run.sh"), renamed("odd.txt", "sub/odd.txt")].concat());
        assert_eq!((mode(&tree, "sub/run.sh"), mode(&tree, "sub/odd.txt")), (0o750, 0o606));
        let off = renamed("sub/run.sh", "run.sh").replacen(
            "similarity",
            "old mode 100755\nnew mode 100644\nsimilarity",
            1,
        );
        apply(&workspace, &off);
        assert_eq!(mode(&tree, "run.sh"), 0o640);
        let on = copied("run.sh", "again.sh").replacen(
            "similarity",
            "old mode 100644\nnew mode 100755\nsimilarity",
            1,
        );
        apply(&workspace, &on);
        assert_ne!(mode(&tree, "again.sh") & 0o100, 0);
    }

    #[test]
    fn modes_of_what_is_no_file_are_refused() {
        let tree = Tree::new(&[("a.txt", b"x\n")]);
        let workspace = tree.read_write();
        for (mode, refused) in [
            ("120000", "workspace.patch_unsupported"),
            ("160000", "workspace.patch_unsupported"),
            ("100777", "workspace.patch_malformed"),
            ("104755", "workspace.patch_malformed"),
        ] {
            let patch = created("new", "x").replace("100644", mode);
            assert_eq!(code(workspace.apply_patch(&patch, None)), refused, "{mode}");
            let patch = format!("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode {mode}\n");
            assert_eq!(code(workspace.apply_patch(&patch, None)), refused, "{mode}");
        }
        assert_eq!(tree.everything().len(), 1);
    }
}
