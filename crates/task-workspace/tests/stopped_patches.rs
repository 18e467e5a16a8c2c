//! A program that stops or fails before any step of a patch of several files leaves all of them old or all of them new.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_task_workspace::{Error, Step, TaskWorkspace, WorkspaceOptions};
use common::Tree;

/// A change, a new file in a new folder, a removal, a renaming, and two changes of the mode alone.
const PATCH: &str = "\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-old a
+new a
diff --git a/deep/new.sh b/deep/new.sh
new file mode 100755
--- /dev/null
+++ b/deep/new.sh
@@ -0,0 +1 @@
+new
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/moved.sh b/zmoved.sh
rename from moved.sh
rename to zmoved.sh
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/walk.sh b/walk.sh
old mode 100755
new mode 100644
";

fn prepared() -> Tree {
    let tree = Tree::new(&[
        ("a.txt", b"old a\n"),
        ("gone.txt", b"gone\n"),
        ("moved.sh", b"moved\n"),
        ("run.sh", b"run\n"),
        ("walk.sh", b"walk\n"),
    ]);
    for (name, mode) in
        [("a.txt", 0o600), ("gone.txt", 0o644), ("moved.sh", 0o750), ("run.sh", 0o644), ("walk.sh", 0o755)]
    {
        std::fs::set_permissions(tree.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    tree
}

/// The files with their bytes and whether they can be executed; folders that were made on the way do not count.
fn state(tree: &Tree) -> Vec<(String, String, bool)> {
    let files = tree.everything().into_iter().filter(|(name, _)| !name.ends_with('/'));
    let fact = |(name, bytes): (String, Vec<u8>)| {
        let mode = std::fs::metadata(tree.path(&name)).unwrap().mode();
        (name, String::from_utf8(bytes).unwrap(), mode & 0o111 != 0)
    };
    files.map(fact).collect()
}

fn open(
    root: &Path,
    stop_at: usize,
    stop: fn() -> io::Error,
) -> Result<(TaskWorkspace, Arc<AtomicUsize>), Error> {
    let reached = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reached);
    let hook = move |_: Step| match counter.fetch_add(1, Ordering::SeqCst) + 1 {
        at if at == stop_at => Err(stop()),
        _ => Ok(()),
    };
    let options = WorkspaceOptions::read_write().on_step(Arc::new(hook));
    Ok((TaskWorkspace::open_with(root, options)?, reached))
}

fn killed() -> io::Error {
    let _ = Command::new("kill").arg("-9").arg(std::process::id().to_string()).status();
    loop {
        std::thread::park();
    }
}

#[test]
fn the_program_that_is_stopped() {
    let Ok(root) = std::env::var("STOPPED_ROOT") else { return };
    let stop_at = std::env::var("STOPPED_AT").unwrap().parse().unwrap();
    let (workspace, _) = open(Path::new(&root), stop_at, killed).unwrap();
    workspace.apply_patch(PATCH, None).unwrap();
}

/// Runs the program that is killed before its step `stop_at`; whether it came to its end.
fn run_killed(root: &Path, stop_at: usize) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_program_that_is_stopped", "--test-threads=1"])
        .env("STOPPED_ROOT", root)
        .env("STOPPED_AT", stop_at.to_string())
        .output()
        .unwrap()
        .status;
    assert!(status.success() || status.code().is_none(), "it failed otherwise at {stop_at}");
    status.success()
}

fn assert_swept(tree: &Tree, at: &str) {
    for folder in ["tmp", "journal"] {
        let left =
            std::fs::read_dir(tree.path(".briefing/workspace").join(folder)).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{at}: something is left in {folder}");
    }
}

/// The state before the patch and after it.
fn both_states() -> [Vec<(String, String, bool)>; 2] {
    let tree = prepared();
    let old = state(&tree);
    tree.read_write().apply_patch(PATCH, None).unwrap();
    let new = state(&tree);
    let names: Vec<_> = new.iter().map(|(name, _, executable)| (name.as_str(), *executable)).collect();
    let expected =
        [("a.txt", false), ("deep/new.sh", true), ("run.sh", true), ("walk.sh", false), ("zmoved.sh", true)];
    assert_eq!(names, expected);
    [old, new]
}

#[test]
fn a_program_that_is_killed_before_any_step_leaves_all_old_or_all_new() {
    let [old, new] = both_states();
    let (mut was_old, mut was_new) = (0, 0);
    for stop_at in 1.. {
        let tree = prepared();
        let ended = run_killed(tree.0.path(), stop_at);
        // Opening the workspace again brings it to an end.
        tree.read_write();
        let found = state(&tree);
        match found {
            found if found == old => was_old += 1,
            found if found == new => was_new += 1,
            found => panic!("killed before step {stop_at}: {found:?}"),
        }
        assert_swept(&tree, &format!("killed before step {stop_at}"));
        if ended {
            break;
        }
    }
    assert!(was_old > 10 && was_new > 10, "{was_old} old, {was_new} new");
}

#[test]
fn a_program_that_is_killed_while_it_recovers_leaves_all_new_at_the_end() {
    let [_, new] = both_states();
    // The last step before the journal is gone is the one after which the most is done.
    let mut recovered = 0;
    for first in 1.. {
        let tree = prepared();
        if run_killed(tree.0.path(), first) {
            break;
        }
        let journal = tree.path(".briefing/workspace/journal");
        if std::fs::read_dir(journal).map_or(0, Iterator::count) == 0 {
            continue;
        }
        for stop_at in 1.. {
            match open(tree.0.path(), stop_at, || io::Error::other("stopped")) {
                Ok((_, reached)) if reached.load(Ordering::SeqCst) < stop_at => break,
                Ok(_) | Err(_) => {}
            }
        }
        tree.read_write();
        assert_eq!(state(&tree), new, "killed before step {first}");
        recovered += 1;
    }
    assert!(recovered > 10, "{recovered}");
}

#[test]
fn a_step_that_fails_leaves_all_old_or_all_new() {
    let [old, new] = both_states();
    let (mut failed, mut made) = (0, 0);
    for stop_at in 1.. {
        let tree = prepared();
        let opened = open(tree.0.path(), stop_at, || io::Error::other("no more"));
        let (workspace, reached) = opened.unwrap();
        let result = workspace.apply_patch(PATCH, None);
        let found = state(&tree);
        match result {
            Ok(_) => {
                assert_eq!(found, new, "step {stop_at} failed without a word");
                made += 1;
            }
            Err(error) => {
                assert_eq!(found, old, "step {stop_at}: {error}");
                assert_swept(&tree, &format!("step {stop_at}"));
                // Nothing stands in the way of another attempt.
                tree.read_write().apply_patch(PATCH, None).unwrap();
                assert_eq!(state(&tree), new);
                failed += 1;
            }
        }
        if reached.load(Ordering::SeqCst) < stop_at {
            break;
        }
    }
    assert!(failed > 20 && made > 0, "{failed} failed, {made} made");
}
