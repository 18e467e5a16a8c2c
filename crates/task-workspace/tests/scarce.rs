//! Few handles, no threads: what there is less of than wished for is no reason to fail or to panic.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::process::Command;

use briefing_task_workspace::{GrepRequest, TargetState};
use common::{Tree, path};

/// Runs a test of this file in a process of its own.
fn run_alone(test: &str, limits: &str, variables: &[(&str, &str)]) {
    let script = format!("{limits} exec \"$0\" \"$@\"");
    let run = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads=1"])
        .env("SCARCE", test)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}

fn is_alone(test: &str) -> bool {
    std::env::var("SCARCE").is_ok_and(|name| name == test)
}

#[test]
fn a_folder_of_many_folders_is_moved_and_removed_with_few_handles() {
    if is_alone("a_folder_of_many_folders_is_moved_and_removed_with_few_handles") {
        let tree = Tree::new(&[]);
        for at in 0..300 {
            tree.put(format!("wide/{at}/deep/a.txt"), "a");
        }
        let workspace = tree.read_write();
        workspace.rename(&path("wide"), &path("other")).unwrap();
        let removed = workspace.remove_folder(&path("other"), true).unwrap();
        assert_eq!((removed.files, removed.folders), (300, 601));
        return;
    }
    run_alone("a_folder_of_many_folders_is_moved_and_removed_with_few_handles", "ulimit -n 100;", &[]);
}

#[test]
fn what_threads_would_do_is_done_without_them() {
    if is_alone("what_threads_would_do_is_done_without_them") {
        // No stack is as large as this: no thread can be made.
        assert!(std::thread::Builder::new().spawn(|| ()).is_err());
        let tree = Tree::new(&[("a.txt", b"old\n"), ("b.txt", b"old\n")]);
        let workspace = tree.read_write();
        let candidate = workspace.stage(&path("a.txt"), "new\n").unwrap();
        workspace.promote(&candidate, candidate.target_state).unwrap();
        assert_eq!(tree.bytes("a.txt"), b"new\n");
        let candidate = workspace.stage(&path("c.txt"), "new\n").unwrap();
        workspace.promote(&candidate, TargetState::Absent).unwrap();
        assert_eq!(workspace.grep(&GrepRequest::new("new")).unwrap().matches.len(), 2);
        return;
    }
    let stack = (1_u64 << 60).to_string();
    run_alone("what_threads_would_do_is_done_without_them", "", &[("RUST_MIN_STACK", &stack)]);
}

/// The most memory that this process has had, in KiB (proc(5)).
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_page_holds_what_it_gives_and_not_what_all_files_have() {
    if is_alone("a_page_holds_what_it_gives_and_not_what_all_files_have") {
        let tree = Tree::new(&[]);
        for at in 0..600 {
            tree.put(format!("a{at:04}"), "nothing");
        }
        let line = format!("{}\n", "x".repeat(400));
        tree.put("b0000", line.repeat(200) + "found\n" + &line.repeat(200));
        for at in 1..1_800 {
            std::fs::hard_link(tree.path("b0000"), tree.path(format!("b{at:04}"))).unwrap();
        }
        let workspace = tree.workspace();
        let before = peak_kib();
        let mut request = GrepRequest::new("found").context_lines(200).limit(3);
        for page in 0..3 {
            let found = workspace.grep(&request).unwrap();
            let expected: Vec<_> = (0..3).map(|at| format!("b{:04}", page * 3 + at)).collect();
            assert_eq!(found.matches.iter().map(|found| found.path.clone()).collect::<Vec<_>>(), expected);
            request = request.after(found.next.unwrap());
        }
        let taken = peak_kib() - before;
        assert!(taken < 40 << 10, "it took {taken} KiB");
        return;
    }
    run_alone("a_page_holds_what_it_gives_and_not_what_all_files_have", "", &[]);
}
