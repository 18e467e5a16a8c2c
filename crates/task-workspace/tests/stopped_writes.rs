//! A program that is killed before any step of a write leaves old or new bytes, never a mix, and no candidate is lost; a
//! step that fails leaves everything as it was.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_task_workspace::{Error, Step, StepHook, TargetState, TaskWorkspace, UnitEnd, WorkspaceOptions};
use common::{Tree, path};

/// What the program does that is stopped.
const SCENARIOS: [&str; 7] =
    ["write_new", "write_over", "stage", "promote_new", "promote_over", "unit", "recover"];

fn counting(stop_at: usize, stop: fn() -> io::Error) -> (StepHook, Arc<AtomicUsize>) {
    let reached = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&reached);
    let hook = move |_: Step| match counter.fetch_add(1, Ordering::SeqCst) + 1 {
        at if at == stop_at => Err(stop()),
        _ => Ok(()),
    };
    (Arc::new(hook), reached)
}

fn killed() -> io::Error {
    let _ = Command::new("kill").arg("-9").arg(std::process::id().to_string()).status();
    loop {
        std::thread::park();
    }
}

fn open(
    root: &Path,
    stop_at: usize,
    stop: fn() -> io::Error,
) -> Result<(TaskWorkspace, Arc<AtomicUsize>), Error> {
    let (hook, reached) = counting(stop_at, stop);
    Ok((TaskWorkspace::open_with(root, WorkspaceOptions::read_write().on_step(hook))?, reached))
}

fn act(workspace: &TaskWorkspace, scenario: &str) -> Result<(), Error> {
    let staged = workspace.candidates()?;
    let find = |target: &str| {
        let found = staged.iter().find(|candidate| candidate.target.as_str() == target);
        found.ok_or_else(|| Error::NotFound { path: target.to_owned() })
    };
    match scenario {
        "write_new" => workspace.write(&path("deep/er/new.txt"), "new", TargetState::Absent).map(drop),
        "write_over" => workspace.write(&path("a.txt"), "new a", None).map(drop),
        "stage" => workspace.stage(&path("c.txt"), "staged c").map(drop),
        "promote_new" => workspace.promote(find("deep/new.txt")?, TargetState::Absent).map(drop),
        "promote_over" => {
            let candidate = find("a.txt")?;
            workspace.promote(candidate, candidate.target_state).map(drop)
        }
        "unit" => {
            let unit: Vec<_> = staged.iter().map(|candidate| (candidate, candidate.target_state)).collect();
            workspace.promote_all(&unit).map(drop)
        }
        // Opening does the work.
        "recover" => workspace.write(&path("other.txt"), "other", None).map(drop),
        other => panic!("no scenario {other}"),
    }
}

/// A tree with two files and three candidates.
fn prepared() -> Tree {
    let tree = Tree::new(&[("a.txt", b"old a"), ("b.txt", b"old b")]);
    let workspace = tree.read_write();
    for (target, bytes) in [("a.txt", "new a"), ("b.txt", "new b"), ("deep/new.txt", "new c")] {
        workspace.stage(&path(target), bytes).unwrap();
    }
    tree
}

/// Runs a scenario in a process of its own that is killed before its step `stop_at`; whether it came to its end.
fn run_killed(root: &Path, scenario: &str, stop_at: usize) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_program_that_is_stopped", "--test-threads=1"])
        .env("STOPPED_SCENARIO", scenario)
        .env("STOPPED_ROOT", root)
        .env("STOPPED_AT", stop_at.to_string())
        .output()
        .unwrap()
        .status;
    assert!(status.success() || status.code().is_none(), "{scenario} at {stop_at} failed otherwise");
    status.success()
}

#[test]
fn the_program_that_is_stopped() {
    let (Ok(scenario), Ok(root)) = (std::env::var("STOPPED_SCENARIO"), std::env::var("STOPPED_ROOT")) else {
        return;
    };
    let stop_at = std::env::var("STOPPED_AT").unwrap().parse().unwrap();
    let (workspace, _) = open(Path::new(&root), stop_at, killed).unwrap();
    act(&workspace, &scenario).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What must hold whenever the tree is opened again: each target is old or new, and where it is old its candidate is
/// still staged, whole.
fn check_nothing_is_lost(tree: &Tree, at: &str) -> TaskWorkspace {
    let workspace = tree.read_write();
    let staged: BTreeMap<_, _> = workspace
        .candidates()
        .unwrap()
        .into_iter()
        .map(|candidate| {
            let bytes = workspace.read_candidate(&candidate.id).unwrap();
            (candidate.target.as_str().to_owned(), text(&bytes))
        })
        .collect();
    let files = tree.everything();
    for (target, old, new) in [
        ("a.txt", Some("old a"), "new a"),
        ("b.txt", Some("old b"), "new b"),
        ("deep/new.txt", None, "new c"),
    ] {
        let found = files.get(target).map(|bytes| text(bytes));
        let is_new = found.as_deref() == Some(new);
        assert!(is_new || found.as_deref() == old, "{at}: {target} is {found:?}");
        if !is_new {
            assert_eq!(staged.get(target).map(String::as_str), Some(new), "{at}: the candidate of {target}");
        }
    }
    for folder in ["tmp", "journal"] {
        let folder = tree.path(".briefing/workspace").join(folder);
        let left = std::fs::read_dir(folder).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{at}: something is left over");
    }
    workspace
}

#[test]
fn a_program_killed_before_any_step_leaves_old_or_new_and_every_candidate() {
    for scenario in &SCENARIOS[..6] {
        let mut stop_at = 1;
        loop {
            let at = format!("{scenario} at step {stop_at}");
            let tree = prepared();
            let finished = run_killed(tree.0.path(), scenario, stop_at);
            let workspace = check_nothing_is_lost(&tree, &at);
            if *scenario == "unit" {
                let new = ["a.txt", "b.txt", "deep/new.txt"].map(|file| {
                    workspace.read(&path(file), 99).is_ok_and(|read| read.bytes.starts_with(b"new"))
                });
                assert!(new == [true; 3] || new == [false; 3], "{at}: a mix: {new:?}");
                assert!(workspace.recovered().iter().all(|unit| unit.end == UnitEnd::Finished), "{at}");
            }
            let written = tree.path("deep/er/new.txt");
            assert!(!written.exists() || std::fs::read(written).unwrap() == b"new", "{at}");
            // What was not done can be done again.
            match act(&workspace, scenario) {
                Ok(()) => {}
                Err(Error::NotFound { .. } | Error::Conflict { .. }) => {}
                Err(error) => panic!("{at}: {error}"),
            }
            if finished {
                assert!(stop_at > 4, "{scenario} has only {stop_at} steps");
                break;
            }
            stop_at += 1;
        }
    }
}

#[test]
fn a_recovery_that_is_killed_itself_is_brought_to_an_end_by_the_next() {
    for first in 8..30 {
        let probe = prepared();
        if run_killed(probe.0.path(), "unit", first) {
            break;
        }
        let mut second = 1;
        loop {
            let tree = prepared();
            assert!(!run_killed(tree.0.path(), "unit", first));
            let finished = run_killed(tree.0.path(), "recover", second);
            let workspace = check_nothing_is_lost(&tree, &format!("unit at {first}, recovery at {second}"));
            let new = ["a.txt", "b.txt", "deep/new.txt"]
                .map(|file| workspace.read(&path(file), 99).is_ok_and(|read| read.bytes.starts_with(b"new")));
            assert!(new == [true; 3] || new == [false; 3], "unit at {first}, recovery at {second}: {new:?}");
            if finished {
                break;
            }
            second += 1;
        }
    }
}

#[test]
fn a_step_that_fails_leaves_the_old_state_and_the_error_names_it() {
    let full = || io::Error::from(io::ErrorKind::StorageFull);
    for scenario in &SCENARIOS[..6] {
        for stop_at in 1.. {
            let tree = prepared();
            let before = tree.everything();
            // The first step is reached by opening; it has an error of its own.
            let outcome = open(tree.0.path(), stop_at, full)
                .and_then(|(workspace, reached)| act(&workspace, scenario).map(|()| reached));
            let reached = match outcome {
                Ok(reached) => reached.load(Ordering::SeqCst),
                Err(Error::NotWritten { source, .. } | Error::PrivateAreaUnusable { source, .. }) => {
                    assert_eq!(source.kind(), io::ErrorKind::StorageFull);
                    let files = |tree: BTreeMap<String, Vec<u8>>| {
                        tree.into_iter().filter(|(name, _)| !name.ends_with('/')).collect::<Vec<_>>()
                    };
                    let at = format!("{scenario} at {stop_at}");
                    assert_eq!(files(tree.everything()), files(before), "{at}");
                    let workspace = check_nothing_is_lost(&tree, &at);
                    assert_eq!(workspace.candidates().unwrap().len(), 3, "{at}");
                    act(&workspace, scenario).unwrap();
                    continue;
                }
                Err(error) => panic!("{scenario} at {stop_at}: {error:?}"),
            };
            if reached < stop_at {
                break;
            }
        }
    }
}

#[test]
fn a_unit_whose_target_somebody_changed_is_rolled_back() {
    let mut rolled_back = 0;
    for stop_at in 1.. {
        let tree = prepared();
        if run_killed(tree.0.path(), "unit", stop_at) {
            break;
        }
        let in_journal =
            std::fs::read_dir(tree.path(".briefing/workspace/journal")).map_or(0, Iterator::count);
        if in_journal == 0 {
            continue;
        }
        tree.put("b.txt", "theirs");
        let workspace = tree.read_write();
        let recovered = workspace.recovered();
        assert_eq!(recovered.len(), 1);
        assert_eq!(recovered[0].end, UnitEnd::RolledBack);
        rolled_back += 1;
        assert_eq!(tree.bytes("b.txt"), b"theirs");
        assert_eq!(tree.bytes("a.txt"), b"old a");
        assert!(!tree.path("deep/new.txt").exists());
        for candidate in workspace.candidates().unwrap() {
            if candidate.target.as_str() != "b.txt" {
                workspace.promote(&candidate, candidate.target_state).unwrap();
            }
        }
        assert_eq!(tree.bytes("a.txt"), b"new a");
    }
    assert!(rolled_back > 3);
}
