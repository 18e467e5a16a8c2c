//! An id is given once: a crash, or an environment that counts anew in each process, takes nothing from what has it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_core::SeededEnvironment;
use briefing_task_workspace::{Error, Step, StepHook, TaskWorkspace, WorkspaceOptions};
use common::{Tree, path};

/// Stages, promotes and opens a delivery in a process of its own that is killed before its step `stop_at`; whether it came
/// to its end.
fn run_killed(root: &Path, stop_at: usize) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_program_that_is_killed", "--test-threads=1", "--nocapture"])
        .env("KILLED_ROOT", root)
        .env("KILLED_AT", stop_at.to_string())
        .output()
        .unwrap();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || output.status.code().is_none(), "{failed}");
    output.status.success()
}

#[test]
fn the_program_that_is_killed() {
    let Some(root) = std::env::var_os("KILLED_ROOT") else { return };
    let stop_at: usize = std::env::var("KILLED_AT").unwrap().parse().unwrap();
    let reached = AtomicUsize::new(0);
    let hook: StepHook = Arc::new(move |_: Step| {
        if reached.fetch_add(1, Ordering::SeqCst) + 1 == stop_at {
            let _ = Command::new("kill").arg("-9").arg(std::process::id().to_string()).status();
            loop {
                std::thread::park();
            }
        }
        Ok(())
    });
    let options = WorkspaceOptions::read_write().on_step(hook);
    let workspace = TaskWorkspace::open_with(&root, options).unwrap();
    let first = workspace.stage(&path("a.txt"), "one").unwrap();
    workspace.stage(&path("b.txt"), "two").unwrap();
    workspace.promote(&first, first.target_state).unwrap();
    workspace.open_delivery(&[path("c.txt")]).unwrap();
}

/// Every id that the private area holds.
fn ids_in(tree: &Tree) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in ["staged", "journal", "deliveries", "kept"] {
        let Ok(entries) = std::fs::read_dir(tree.path(".briefing/workspace").join(folder)) else { continue };
        for entry in entries {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            found.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    found
}

#[test]
fn ids_are_not_given_again_after_a_crash() {
    let mut killed = 0;
    for stop_at in 1.. {
        let tree = Tree::new(&[("a.txt", b"a"), ("b.txt", b"b")]);
        let finished = run_killed(tree.0.path(), stop_at);
        let seen = ids_in(&tree);
        let workspace = tree.read_write();
        let known: BTreeSet<_> = workspace.candidates().unwrap().into_iter().map(|it| it.id).collect();
        let fresh = workspace.stage(&path("d.txt"), "three").unwrap();
        assert!(!known.contains(&fresh.id));
        let name = format!("staged/{}", fresh.id);
        assert!(
            !seen.contains_key(&name) && !seen.contains_key(&format!("{name}.json")),
            "{name} at {stop_at}"
        );
        for id in known {
            workspace.read_candidate(&id).unwrap_or_else(|error| panic!("{id} at {stop_at}: {error}"));
        }
        if finished {
            break;
        }
        killed += 1;
    }
    assert!(killed > 8, "{killed}");
}

#[test]
fn ids_that_an_environment_repeats_take_nothing_away() {
    let tree = Tree::new(&[("a.txt", b"a"), ("b.txt", b"b"), ("c.txt", b"c")]);
    let outside = Tree::new(&[]);
    // Each opening counts its ids from the start again, as a replay does.
    let open = || {
        let options = WorkspaceOptions::read_write().environment(Arc::new(SeededEnvironment::new(7, 1_000)));
        TaskWorkspace::open_with(tree.0.path(), options).unwrap()
    };
    let mut candidates = Vec::new();
    let mut deliveries = BTreeSet::new();
    for (round, target) in ["a.txt", "b.txt", "c.txt", "new.txt"].into_iter().enumerate() {
        let workspace = open();
        candidates.push((workspace.stage(&path(target), format!("round {round}")).unwrap(), round));
        deliveries.insert(workspace.open_delivery(&[path(&format!("out/{target}"))]).unwrap().id);
        for (candidate, round) in &candidates {
            let bytes = workspace.read_candidate(&candidate.id).unwrap();
            assert_eq!(bytes, format!("round {round}").into_bytes(), "{}", candidate.id);
        }
        assert_eq!(workspace.deliveries().unwrap().len(), round + 1, "no delivery takes another's place");
        workspace.write(&path("plain.txt"), format!("{round}"), None).unwrap();
        let old = workspace.workspace_id().unwrap();
        assert_ne!(workspace.reidentify().unwrap(), old);
    }
    assert_eq!(deliveries.len(), 4);
    let unit: Vec<_> = candidates.iter().map(|(candidate, _)| (candidate, candidate.target_state)).collect();
    open().promote_all(&unit).unwrap();
    assert_eq!(tree.bytes("new.txt"), b"round 3");
    // What somebody else has under the name of a draft stays.
    for number in 1..9 {
        outside.put(format!(".briefing-7-{number}"), "theirs");
    }
    let before = outside.everything();
    let refused = open().export_file(&path("a.txt"), outside.0.path());
    assert!(matches!(refused, Err(Error::NotWritten { step: Step::CreateFile, .. })), "{refused:?}");
    assert_eq!(outside.everything(), before);
}
