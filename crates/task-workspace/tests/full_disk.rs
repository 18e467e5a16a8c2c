//! A full disk leaves every target with its old bytes, and every candidate as it was staged.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use briefing_task_workspace::{Edit, Error, TargetState, TaskWorkspace, WorkspaceOptions};
use common::path;

/// A small file system of its own, gone with this value.
struct Disk(tempfile::TempDir);

impl Disk {
    fn of_one_mebibyte() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "none"]).arg(folder.path());
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        let mut out = std::io::stdout();
        writeln!(out, "SKIPPED: no file system can be mounted here").unwrap();
        None
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    /// Takes all the room that is left.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.root().join("filler")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.root()).status();
    }
}

#[test]
fn what_finds_no_room_is_refused_and_nothing_is_lost() {
    let Some(disk) = Disk::of_one_mebibyte() else { return };
    let old = "old line\n".repeat(2_000);
    for name in ["a.txt", "b.txt"] {
        std::fs::write(disk.root().join(name), &old).unwrap();
    }
    let open = || TaskWorkspace::open_with(disk.root(), WorkspaceOptions::read_write()).unwrap();
    let workspace = open();
    let staged = workspace.stage(&path("a.txt"), "small").unwrap();
    let [one, two] =
        ["new/one.txt", "new/two.txt"].map(|name| workspace.stage(&path(name), "x".repeat(9_000)).unwrap());
    disk.fill();

    let large = "x".repeat(200_000);
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old line\n+new line\n\
                 --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old line\n+new line\n";
    let outcomes = [
        workspace.write(&path("a.txt"), &large, None).map(drop),
        workspace.write(&path("c.txt"), &large, TargetState::Absent).map(drop),
        workspace.append(&path("a.txt"), &large, None).map(drop),
        workspace.copy(&path("a.txt"), &path("d.txt"), TargetState::Absent).map(drop),
        workspace.edit(&path("a.txt"), &[Edit::lines(1..=1, "new line\n")], None).map(drop),
        workspace.apply_patch(patch, None).map(drop),
        workspace.stage(&path("a.txt"), &large).map(drop),
    ];
    for (at, outcome) in outcomes.into_iter().enumerate() {
        assert!(matches!(&outcome, Err(Error::NotWritten { .. })), "{at}: {outcome:?}");
    }
    // A unit needs room for its journal; it is made whole, or not at all.
    let pairs = [(&one, TargetState::Absent), (&two, TargetState::Absent)];
    let unit = workspace.promote_all(&pairs);
    let made = ["new/one.txt", "new/two.txt"].map(|name| disk.root().join(name).exists());
    assert_eq!(made, [unit.is_ok(); 2], "{unit:?}");

    for name in ["a.txt", "b.txt"] {
        assert_eq!(std::fs::read_to_string(disk.root().join(name)).unwrap(), old, "{name}");
    }
    assert!(!disk.root().join("c.txt").exists() && !disk.root().join("d.txt").exists());

    // With room again, a new handle finds every candidate whole.
    std::fs::remove_file(disk.root().join("filler")).unwrap();
    let workspace = open();
    assert_eq!(workspace.read_candidate(&staged.id).unwrap(), b"small");
    if unit.is_err() {
        workspace.promote_all(&pairs).unwrap();
    }
    workspace.promote(&staged, staged.target_state).unwrap();
    assert_eq!(std::fs::read(disk.root().join("a.txt")).unwrap(), b"small");
    let left = std::fs::read_dir(disk.root().join(".briefing/workspace/tmp")).unwrap().count();
    assert_eq!(left, 0, "no draft is left behind");
    drop(workspace);
}
