//! Ignore files are looked for beneath the root alone, and only a regular file of a bounded size is one.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::path::Path;
use std::time::Duration;

use briefing_task_workspace::{ListRequest, Listing, TaskWorkspace};
use common::{Tree, path};

fn listed(root: &Path) -> Listing {
    let (done, answer) = std::sync::mpsc::channel();
    let root = root.to_path_buf();
    std::thread::spawn(move || {
        let request = ListRequest::new().include_hidden(true);
        done.send(TaskWorkspace::open(root).unwrap().list(&request).unwrap())
    });
    answer.recv_timeout(Duration::from_secs(20)).expect("it hangs")
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.path.as_str()).collect()
}

fn fifo(at: impl AsRef<Path>) {
    std::fs::create_dir_all(at.as_ref().parent().unwrap()).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at.as_ref()).status().unwrap().success());
}

#[test]
fn a_pipe_in_place_of_an_ignore_file_stops_no_walk() {
    for name in [".gitignore", ".ignore", ".git/info/exclude", "sub/.gitignore", "sub/.git"] {
        let tree = Tree::new(&[("a.txt", b"a"), ("sub/b.txt", b"b")]);
        fifo(tree.path(name));
        let listing = listed(&tree.path(""));
        assert_eq!(paths(&listing), ["a.txt", "sub/b.txt"], "{name}");
    }
}

#[test]
fn a_link_in_place_of_an_ignore_file_is_not_followed() {
    let outside = Tree::new(&[("rules", b"*.txt\n")]);
    for name in [".gitignore", ".ignore", "sub/.gitignore", ".git/info/exclude"] {
        let tree = Tree::new(&[("a.txt", b"a"), ("sub/b.txt", b"b")]);
        std::fs::create_dir_all(tree.path(name).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(outside.path("rules"), tree.path(name)).unwrap();
        assert_eq!(paths(&listed(&tree.path(""))), ["a.txt", "sub/b.txt"], "{name}");
    }
}

#[test]
fn a_link_to_something_endless_stops_no_walk() {
    let tree = Tree::new(&[("a.txt", b"a")]);
    std::os::unix::fs::symlink("/dev/zero", tree.path(".gitignore")).unwrap();
    assert_eq!(paths(&listed(&tree.path(""))), ["a.txt"]);
}

#[test]
fn rules_above_the_root_hide_nothing() {
    let tree = Tree::new(&[
        (".gitignore", b"*.txt\n"),
        (".ignore", b"*.txt\n"),
        (".git/info/exclude", b"*.txt\n"),
        ("root/a.txt", b"a"),
        ("root/sub/b.txt", b"b"),
    ]);
    assert_eq!(paths(&listed(&tree.path("root"))), ["a.txt", "sub/b.txt"]);
    let in_folder = ListRequest::new().folder(path("sub"));
    let listing = TaskWorkspace::open(tree.path("root")).unwrap().list(&in_folder).unwrap();
    assert_eq!(paths(&listing), ["sub/b.txt"]);
}

#[test]
fn rules_of_the_root_hold_in_a_folder_that_is_listed_alone() {
    let tree = Tree::new(&[
        (".gitignore", b"*.log\n/sub/deep/only.txt\n!keep.log\n"),
        (".git/info/exclude", b"excluded.txt\n"),
        ("sub/.ignore", b"!b.log\nlocal.txt\n"),
        ("sub/b.log", b"b"),
        ("sub/deep/c.log", b"c"),
        ("sub/deep/keep.log", b"k"),
        ("sub/deep/only.txt", b"o"),
        ("sub/deep/local.txt", b"l"),
        ("sub/deep/excluded.txt", b"e"),
        ("sub/deep/d.txt", b"d"),
    ]);
    let workspace = TaskWorkspace::open(tree.path("")).unwrap();
    let listing = workspace.list(&ListRequest::new().folder(path("sub"))).unwrap();
    assert_eq!(paths(&listing), ["sub/b.log", "sub/deep/d.txt", "sub/deep/keep.log"]);
}
