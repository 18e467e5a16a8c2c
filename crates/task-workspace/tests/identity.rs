//! A file is known by its locator and its content version, and an alias means something in its own request only.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_core::Digest;
use briefing_task_workspace::{AliasTable, Error, FileRef, TargetState, TaskWorkspace, WorkspaceOptions};
use common::{Tree, path};

#[test]
fn the_workspace_keeps_its_id_where_its_folder_goes() {
    let tree = Tree::new(&[("root/a.txt", b"a")]);
    let open = |name: &str| TaskWorkspace::open(tree.path(name)).unwrap();
    let file = open("root").file_ref(&path("a.txt")).unwrap();
    std::fs::rename(tree.path("root"), tree.path("moved")).unwrap();
    assert_eq!(open("moved").workspace_id().unwrap(), file.workspace_id);
    assert_eq!(open("moved").resolve(&file).unwrap(), path("a.txt"));
    assert_eq!(open("moved").file_ref(&path("a.txt")).unwrap(), file);
    let new = open("moved").reidentify().unwrap();
    assert_ne!(new, file.workspace_id);
    let Err(Error::ForeignRef { expected, found, .. }) = open("moved").resolve(&file) else { panic!() };
    assert_eq!((expected, found), (new, file.workspace_id));
}

#[test]
fn the_locator_stays_with_the_file_and_the_version_with_its_bytes() {
    let tree = Tree::new(&[("a.txt", b"one"), ("sub/b.txt", b"b"), ("sub/deep/c.txt", b"c")]);
    let workspace = tree.read_write();
    let first = workspace.file_ref(&path("a.txt")).unwrap();
    assert_eq!((first.digest, first.size_bytes), (Digest::of(b"one"), 3));
    workspace.write(&path("a.txt"), "two", None).unwrap();
    let second = workspace.file_ref(&path("a.txt")).unwrap();
    assert_eq!(second.locator, first.locator);
    assert_ne!(second.digest, first.digest);
    let Err(Error::StaleRef { expected, found, .. }) = workspace.resolve(&first) else { panic!() };
    assert_eq!((expected, found), (first.digest.into(), TargetState::Present(Digest::of(b"two"))));

    workspace.rename(&path("a.txt"), &path("sub/a.txt")).unwrap();
    assert_eq!(workspace.resolve(&second).unwrap(), path("sub/a.txt"));
    let (b, c) = (
        workspace.file_ref(&path("sub/b.txt")).unwrap(),
        workspace.file_ref(&path("sub/deep/c.txt")).unwrap(),
    );
    workspace.rename(&path("sub"), &path("x/y")).unwrap();
    let workspace = tree.read_write();
    assert_eq!(workspace.resolve(&second).unwrap(), path("x/y/a.txt"));
    assert_eq!(workspace.resolve(&b).unwrap(), path("x/y/b.txt"));
    assert_eq!(workspace.resolve(&c).unwrap(), path("x/y/deep/c.txt"));
    // What comes to an old path is another file, also with the same bytes.
    workspace.write(&path("a.txt"), "two", None).unwrap();
    workspace.write(&path("sub/b.txt"), "b", None).unwrap();
    assert_ne!(workspace.locator(&path("a.txt")).unwrap(), second.locator);
    assert_ne!(workspace.locator(&path("sub/b.txt")).unwrap(), b.locator);
    assert_eq!(workspace.resolve(&second).unwrap(), path("x/y/a.txt"));
    // There and back again.
    workspace.remove_file(&path("a.txt"), None).unwrap();
    workspace.rename(&path("x/y/a.txt"), &path("a.txt")).unwrap();
    assert_eq!(workspace.locator(&path("a.txt")).unwrap(), first.locator);
    assert_eq!(workspace.resolve(&second).unwrap(), path("a.txt"));
    workspace.remove_file(&path("a.txt"), None).unwrap();
    let Err(Error::StaleRef { found, .. }) = workspace.resolve(&second) else { panic!() };
    assert_eq!(found, TargetState::Absent);
}

#[test]
fn a_file_that_a_patch_moves_takes_its_locator_along() {
    let tree = Tree::new(&[("a.txt", b"old\n")]);
    let workspace = tree.read_write();
    let file = workspace.file_ref(&path("a.txt")).unwrap();
    let away =
        "diff --git a/a.txt b/sub/c.txt\nsimilarity index 100%\nrename from a.txt\nrename to sub/c.txt\n";
    workspace.apply_patch(away, None).unwrap();
    assert_eq!(workspace.locator(&path("sub/c.txt")).unwrap(), file.locator);
    assert_eq!(workspace.resolve(&file).unwrap(), path("sub/c.txt"));
    workspace.write(&path("a.txt"), "old\n", None).unwrap();
    assert_ne!(workspace.locator(&path("a.txt")).unwrap(), file.locator, "what comes later is another file");
}

#[test]
fn a_move_that_a_crash_cut_short_is_no_move() {
    use std::io::Write as _;
    let tree = Tree::new(&[("a.txt", b"a"), ("b.txt", b"b")]);
    let workspace = tree.read_write();
    let locator = workspace.locator(&path("b.txt")).unwrap();
    workspace.rename(&path("a.txt"), &path("c.txt")).unwrap();
    let moved = workspace.locator(&path("c.txt")).unwrap();
    let moves = tree.path(".briefing/workspace/moves.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&moves).unwrap();
    file.write_all(b"\n{\"from\":\"b.txt\",\"to").unwrap();
    let workspace = tree.read_write();
    assert_eq!(workspace.locator(&path("b.txt")).unwrap(), locator);
    workspace.rename(&path("b.txt"), &path("d.txt")).unwrap();
    assert_eq!(workspace.locator(&path("d.txt")).unwrap(), locator);
    assert_eq!(workspace.locator(&path("c.txt")).unwrap(), moved);
}

#[test]
fn a_ref_travels_as_json_and_takes_no_other_fields() {
    let tree = Tree::new(&[("a.txt", b"a")]);
    let file = tree.workspace().file_ref(&path("a.txt")).unwrap();
    let json = serde_json::to_value(&file).unwrap();
    assert_eq!(serde_json::from_value::<FileRef>(json.clone()).unwrap(), file);
    let mut more = json;
    more["note"] = "x".into();
    assert!(serde_json::from_value::<FileRef>(more).is_err());
}

#[test]
fn aliases_are_checked_and_put_back_and_nothing_is_guessed() {
    let tree = Tree::new(&[("a.txt", b"a"), ("b.txt", b"b")]);
    let workspace = tree.read_write();
    let mut table = AliasTable::new();
    let (a, b) = (workspace.file_ref(&path("a.txt")).unwrap(), workspace.file_ref(&path("b.txt")).unwrap());
    assert_eq!(table.add(a.clone()), "[[ref:ref_1]]");
    assert_eq!(table.add(b.clone()), "[[ref:ref_2]]");
    assert_eq!(table.add(a.clone()), "[[ref:ref_1]]");
    let text = "\u{6c34} see [[ref:ref_2]], [[ref:ref_1]] and [[ref:ref_2]]; [[other]] stays";
    assert_eq!(table.check(text).unwrap(), [&b, &a]);
    assert_eq!(
        table.rewrite(text, |file| file.path.to_string()).unwrap(),
        "\u{6c34} see b.txt, a.txt and b.txt; [[other]] stays"
    );
    assert_eq!(workspace.resolve_aliases(&table, text).unwrap(), [path("b.txt"), path("a.txt")]);
    for unknown in
        ["ref_3", "ref_0", "ref_01", "ref_", "ref_-1", "ref_1 ", "REF_1", "loc_1", "ref_99999999999999999999"]
    {
        assert_eq!(table.resolve(unknown).unwrap_err().code(), "workspace.unknown_alias", "{unknown}");
    }
    assert_eq!(table.check("[[ref:ref_3]]").unwrap_err().code(), "workspace.unknown_alias");
    for malformed in [
        "\u{6c34}[[ref:ref_1",
        "\u{6c34}[[ref:ref_1]",
        "\u{6c34}[[ref: ref_1]]",
        "\u{6c34}[[ref:ref_1 [[ref:ref_2]]",
    ] {
        let Err(Error::MalformedAlias { at_char, .. }) = table.check(malformed) else {
            panic!("{malformed}")
        };
        assert_eq!(at_char, 1, "{malformed}");
    }
    // An alias of a file that changed since is stale.
    workspace.write(&path("a.txt"), "changed", None).unwrap();
    assert_eq!(workspace.resolve_aliases(&table, text).unwrap_err().code(), "workspace.stale_ref");
    // Another request knows nothing of it.
    assert_eq!(AliasTable::new().check(text).unwrap_err().code(), "workspace.unknown_alias");
}

#[test]
fn what_an_execution_moves_in_its_fallback_moved_for_nobody_else() {
    let tree = Tree::new(&[]);
    let apart = TaskWorkspace::open_with(tree.path(""), WorkspaceOptions::read_only()).unwrap();
    apart.write(&path("new.txt"), "apart", None).unwrap();
    let workspace = tree.read_write();
    workspace.write(&path("new.txt"), "in the root", None).unwrap();
    let file = workspace.file_ref(&path("new.txt")).unwrap();
    let its_own = apart.file_ref(&path("new.txt")).unwrap();
    apart.rename(&path("new.txt"), &path("final.txt")).unwrap();
    assert_eq!(workspace.resolve(&file).unwrap(), path("new.txt"));
    assert_eq!(workspace.locator(&path("new.txt")).unwrap(), file.locator);
    assert_eq!(apart.resolve(&its_own).unwrap(), path("final.txt"));
}
