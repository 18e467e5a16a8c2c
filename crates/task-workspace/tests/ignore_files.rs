//! Only a regular file of a bounded size is an ignore file; those above the root hold as they do for git.
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
fn rules_above_the_root_hold_up_to_the_root_of_the_tree_of_git() {
    let tree = Tree::new(&[
        (".gitignore", b"*.txt\n"),
        ("tree/.gitignore", b"*.log\n/root/only.md\n"),
        ("tree/.ignore", b"*.tmp\n"),
        ("tree/.git/info/exclude", b"excluded.md\n"),
        ("tree/root/a.txt", b"a"),
        ("tree/root/a.log", b"a"),
        ("tree/root/only.md", b"o"),
        ("tree/root/excluded.md", b"e"),
        ("tree/root/sub/b.txt", b"b"),
        ("tree/root/sub/b.tmp", b"b"),
        ("tree/root/sub/only.md", b"o"),
    ]);
    let root = tree.path("tree/root");
    assert_eq!(paths(&listed(&root)), ["a.txt", "sub/b.txt", "sub/only.md"]);
    let in_folder = ListRequest::new().folder(path("sub"));
    let listing = TaskWorkspace::open(root).unwrap().list(&in_folder).unwrap();
    assert_eq!(paths(&listing), ["sub/b.txt", "sub/only.md"]);
}

#[test]
fn what_is_no_file_above_the_root_is_named_and_stops_no_walk() {
    let tree = Tree::new(&[("root/a.txt", b"a"), ("rules", b"*.txt\n")]);
    fifo(tree.path(".gitignore"));
    std::os::unix::fs::symlink(tree.path("rules"), tree.path(".ignore")).unwrap();
    let listing = listed(&tree.path("root"));
    assert_eq!(paths(&listing), ["a.txt"]);
    let told = format!("{:?}", listing.diagnostics);
    assert!(told.contains("../.gitignore") && told.contains("../.ignore"), "{told}");
    assert!(!told.contains(tree.path("").to_str().unwrap()), "no path of the host: {told}");
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
