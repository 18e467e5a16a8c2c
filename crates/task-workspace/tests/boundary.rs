//! Nothing leads out of the root, and nothing that is no file is waited for.

mod common;

use std::time::{Duration, Instant};

use briefing_task_workspace::{Error, FileKind, TaskWorkspace, WorkspacePath};
use common::{Tree, awkward_tree};

#[test]
fn the_grammar_refuses_before_any_file_is_touched() {
    for (path, code) in [
        ("", "workspace.invalid_path"),
        ("./x", "workspace.invalid_path"),
        ("x/.", "workspace.invalid_path"),
        ("x//y", "workspace.invalid_path"),
        ("x/", "workspace.invalid_path"),
        ("a\\b.txt", "workspace.invalid_path"),
        ("a:b.txt", "workspace.outside_boundary"),
        ("name:stream", "workspace.invalid_path"),
        ("a\0b", "workspace.invalid_path"),
        ("con", "workspace.invalid_path"),
        ("x/NUL.txt", "workspace.invalid_path"),
        ("Com1", "workspace.invalid_path"),
        ("lpt\u{b9}.log", "workspace.invalid_path"),
        ("/x", "workspace.outside_boundary"),
        ("\\\\server\\share", "workspace.outside_boundary"),
        ("C:x", "workspace.outside_boundary"),
        ("C:\\x", "workspace.outside_boundary"),
        ("..", "workspace.outside_boundary"),
        ("x/../y", "workspace.outside_boundary"),
        ("x\\..\\y", "workspace.outside_boundary"),
        (".briefing/store.db", "workspace.private_area"),
        ("x/.Briefing/y", "workspace.private_area"),
    ] {
        assert_eq!(WorkspacePath::new(path).unwrap_err().code(), code, "{path:?}");
    }
    for path in ["a", "a/b.txt", "...", "..a", "console.rs", "com10", "水泵.md", "-rf.txt", "a b"] {
        assert_eq!(WorkspacePath::new(path).unwrap().as_str(), path);
    }
}

#[test]
fn a_sibling_that_shares_the_text_of_the_root_is_outside() {
    let tree = Tree::new(&[("root/plain.md", b"in"), ("root-annex/ledger.txt", b"out")]);
    let workspace = TaskWorkspace::open(tree.path("root")).unwrap();
    for path in [
        tree.path("root-annex/ledger.txt"),
        tree.path("root/../root-annex/ledger.txt"),
        "../root-annex/l".into(),
    ] {
        assert_eq!(
            workspace.workspace_path(&path).unwrap_err().code(),
            "workspace.outside_boundary",
            "{path:?}"
        );
    }
    assert_eq!(workspace.workspace_path(tree.path("root/plain.md")).unwrap().as_str(), "plain.md");
}

#[cfg(unix)]
#[test]
fn a_root_that_is_a_link_reads_by_every_spelling() {
    let tree = Tree::new(&[("real/plain.md", b"hello")]);
    std::os::unix::fs::symlink(tree.path("real"), tree.path("link")).unwrap();
    let workspace = TaskWorkspace::open(tree.path("link")).unwrap();
    for path in
        ["plain.md".into(), tree.path("link/plain.md"), tree.path("real/plain.md").canonicalize().unwrap()]
    {
        let path = workspace.workspace_path(path).unwrap();
        assert_eq!(
            (path.as_str(), workspace.read(&path, 10).unwrap().bytes.as_slice()),
            ("plain.md", b"hello".as_slice())
        );
    }
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_and_links_inside_are_followed() {
    use std::os::unix::fs::symlink;
    let tree = Tree::new(&[
        ("out/ledger.txt", b"canary"),
        ("root/plain.md", b"hello"),
        ("root/.briefing/key", b"secret"),
    ]);
    let root = tree.path("root");
    symlink(tree.path("out/ledger.txt"), root.join("file")).unwrap();
    symlink(tree.path("out"), root.join("dir")).unwrap();
    symlink("../out/ledger.txt", root.join("relative")).unwrap();
    symlink("file", root.join("chain")).unwrap();
    symlink("plain.md", root.join("inside")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink(".briefing/key", root.join("private")).unwrap();
    symlink(".briefing", root.join("state")).unwrap();
    let workspace = TaskWorkspace::open(&root).unwrap();
    let read = |path: &str| workspace.read(&WorkspacePath::new(path).unwrap(), 100);
    for path in ["file", "dir/ledger.txt", "relative", "chain"] {
        let error = read(path).unwrap_err();
        assert_eq!(error.code(), "workspace.outside_boundary", "{path}");
        assert!(!format!("{error}").contains("ledger.txt\"") || path.ends_with("ledger.txt"));
        assert!(!format!("{error:?}").contains(tree.0.path().to_str().unwrap()), "{error:?}");
    }
    assert_eq!(read("inside").unwrap().bytes, b"hello");
    assert_eq!(read("private").unwrap_err().code(), "workspace.private_area");
    assert_eq!(read("state/key").unwrap_err().code(), "workspace.private_area");
    assert_eq!(read("loop").unwrap_err().code(), "workspace.unreadable");
    assert_eq!(read("nothing").unwrap_err().code(), "workspace.not_found");
    assert_eq!(read("plain.md/x").unwrap_err().code(), "workspace.not_found");
}

#[test]
fn a_read_stops_at_its_limit_and_says_so() {
    let tree = Tree::new(&[("a.txt", b"0123456789")]);
    let path = WorkspacePath::new("a.txt").unwrap();
    for (max, bytes, truncated) in
        [(0, "", true), (4, "0123", true), (10, "0123456789", false), (99, "0123456789", false)]
    {
        let read = tree.workspace().read(&path, max).unwrap();
        assert_eq!(
            (read.bytes.as_slice(), read.truncated, read.total_bytes),
            (bytes.as_bytes(), truncated, 10)
        );
    }
}

#[test]
fn the_awkward_tree_is_read_or_refused_at_once() {
    let Some(folder) = awkward_tree() else { return };
    let workspace = TaskWorkspace::open(folder.path().join("root")).unwrap();
    let started = Instant::now();
    let code = |path: &str| match workspace.read(&WorkspacePath::new(path).unwrap(), 100) {
        Ok(_) => "read",
        Err(error) => error.code(),
    };
    for path in ["link_file", "link_dir/ledger.txt", "link_rel", "link_chain", "zero.log"] {
        assert_eq!(code(path), "workspace.outside_boundary", "{path}");
    }
    for path in ["queue.txt", "service.sock", "nest"] {
        assert_eq!(code(path), "workspace.not_regular_file", "{path}");
    }
    for path in ["link_inside", "plain.md", "-rf.txt", "data[1]*.txt", "trailing ", "two\nlines.txt"] {
        assert_eq!(code(path), "read", "{path}");
    }
    let huge = workspace.read(&WorkspacePath::new("huge.log").unwrap(), 100).unwrap();
    assert_eq!((huge.bytes.len(), huge.truncated, huge.total_bytes), (100, true, 6 << 30));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn the_refusal_names_what_is_there_instead() {
    let Some(folder) = awkward_tree() else { return };
    let workspace = TaskWorkspace::open(folder.path().join("root")).unwrap();
    for (path, expected) in
        [("queue.txt", FileKind::Fifo), ("service.sock", FileKind::Socket), ("nest", FileKind::Directory)]
    {
        let error = workspace.read(&WorkspacePath::new(path).unwrap(), 1).unwrap_err();
        assert!(matches!(&error, Error::NotRegularFile { kind, .. } if *kind == expected), "{error:?}");
    }
}
