//! Folders and files that turn into links as fast as a thread can swap them lead nowhere: nothing outside is read, listed,
//! changed or made. `WORKSPACE_RACE_SECONDS` sets for how long (30 where it is not set).
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use briefing_core::{ContextSource, ProjectionProfile, ReadRequest};
use briefing_task_workspace::{TargetState, TaskWorkspace, WorkspaceSourceOptions};
use common::{Tree, everything, path};

/// Swaps `root/sub`, `root/deep/er` and `root/file.txt` for links and back until it is stopped.
fn attack(root: &Path, outside: &Path, stop: &AtomicBool, swaps: &AtomicU64) {
    let pairs = [("sub", ""), ("deep/er", ""), ("file.txt", "file.txt"), ("area", ".briefing")];
    while !stop.load(Ordering::Relaxed) {
        for (name, target) in pairs {
            let (at, aside) = (root.join(name), root.join(format!("{name}.aside")));
            let target = if name == "area" { root.join(target) } else { outside.join(target) };
            if std::fs::rename(&at, &aside).is_ok() {
                let _ = symlink(&target, &at);
                std::thread::yield_now();
                // Whatever came to the name meanwhile is the workspace's own and goes.
                let _ = std::fs::remove_file(&at);
                let _ = std::fs::remove_dir_all(&at);
                let _ = std::fs::rename(&aside, &at);
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Does everything that a workspace does, round after round; answers how often something was done and refused.
fn work(workspace: &TaskWorkspace, until: Instant) -> (u64, u64) {
    let (mut done, mut refused) = (0, 0);
    let mut count = |ok: bool| if ok { done += 1 } else { refused += 1 };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut round = 0_u64;
    while Instant::now() < until {
        round += 1;
        for name in
            ["sub/a.txt", "deep/er/a.txt", "file.txt", "sub/only-outside.txt", "area/workspace/identity.json"]
        {
            let name = path(name);
            let read = workspace.read(&name, 1_000);
            if let Ok(read) = &read {
                assert!(!read.bytes.windows(7).any(|part| part == b"OUTSIDE"), "{name} was read outside");
                assert!(
                    !read.bytes.windows(9).any(|part| part == b"workspace"),
                    "{name} was read in private"
                );
            }
            count(read.is_ok());
            count(workspace.inspect(&name).is_ok());
        }
        let bytes = format!("inside {round}");
        for name in ["sub/a.txt", "sub/new.txt", "deep/er/b.txt", "file.txt", "area/lock"] {
            let name = path(name);
            count(workspace.write(&name, &bytes, None).is_ok());
            count(workspace.append(&name, "+", None).is_ok());
            if let Ok(candidate) = workspace.stage(&name, format!("{bytes} staged")) {
                let promoted = workspace.promote(&candidate, candidate.target_state);
                count(promoted.is_ok());
                if promoted.is_err() {
                    let _ = workspace.discard(&candidate.id);
                }
            }
        }
        count(workspace.rename(&path("sub/new.txt"), &path("deep/er/moved.txt")).is_ok());
        count(workspace.remove_file(&path("deep/er/moved.txt"), None).is_ok());
        count(workspace.create_folder(&path("sub/folder/inner")).is_ok());
        count(workspace.remove_folder(&path("sub/folder"), true).is_ok());
        count(workspace.copy(&path("file.txt"), &path("sub/copy.txt"), None).is_ok());
        let pair =
            (workspace.stage(&path("sub/u1.txt"), &bytes), workspace.stage(&path("deep/er/u2.txt"), &bytes));
        if let (Ok(one), Ok(two)) = &pair {
            count(workspace.promote_all(&[(one, one.target_state), (two, two.target_state)]).is_ok());
        }
        for candidate in workspace.candidates().unwrap() {
            workspace.discard(&candidate.id).unwrap();
        }
        if round.is_multiple_of(4) {
            runtime.block_on(list_and_read(workspace));
        }
    }
    (done, refused)
}

async fn list_and_read(workspace: &TaskWorkspace) {
    let source = workspace.source(WorkspaceSourceOptions::new()).unwrap();
    if source.revision().await.is_err() {
        return;
    }
    let mut cursor = None;
    loop {
        let profile = ProjectionProfile::standard();
        let Ok(page) = source.enumerate_descriptors(&profile, cursor.as_ref(), 500).await else { return };
        let (found, _, next) = page.into_parts();
        for descriptor in found {
            let name = descriptor.source_ref.as_str();
            assert!(!name.contains("only-outside"), "{name} is outside");
            assert!(!name.contains("identity.json"), "{name} is private");
            assert!(!descriptor.index_text.contains("OUTSIDE"), "{name} was described from outside");
            if let Ok(read) = source.read_exact(&descriptor.source_ref, &ReadRequest::whole(10_000)).await {
                assert!(
                    !read.content.to_text().unwrap_or_default().contains("OUTSIDE"),
                    "{name} was read outside"
                );
            }
        }
        match next {
            Some(next) => cursor = Some(next),
            None => return,
        }
    }
}

#[test]
fn nothing_escapes_while_folders_turn_into_links() {
    let seconds = std::env::var("WORKSPACE_RACE_SECONDS").map_or(30, |text| text.parse().unwrap());
    let outside = Tree::new(&[
        ("a.txt", b"OUTSIDE"),
        ("b.txt", b"OUTSIDE"),
        ("file.txt", b"OUTSIDE"),
        ("only-outside.txt", b"OUTSIDE"),
        ("folder/x.txt", b"OUTSIDE"),
    ]);
    let tree = Tree::new(&[
        ("sub/a.txt", b"inside"),
        ("deep/er/a.txt", b"inside"),
        ("file.txt", b"inside"),
        ("area/a.txt", b"inside"),
    ]);
    let before = everything(outside.0.path());
    let workspace = tree.read_write();
    workspace.workspace_id().unwrap();
    let identity = tree.bytes(".briefing/workspace/identity.json");
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    let until = Instant::now() + Duration::from_secs(seconds);
    let (done, refused) = std::thread::scope(|scope| {
        scope.spawn(|| attack(tree.0.path(), outside.0.path(), &stop, &swaps));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&workspace, until)));
        stop.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    assert_eq!(everything(outside.0.path()), before, "something outside changed");
    assert_eq!(tree.bytes(".briefing/workspace/identity.json"), identity);
    assert_eq!(workspace.write(&path("after.txt"), "x", TargetState::Absent).unwrap().size_bytes, 1);
    let swaps = swaps.load(Ordering::Relaxed);
    writeln!(std::io::stdout(), "{seconds} s: {swaps} swaps, {done} operations done, {refused} refused")
        .unwrap();
    assert!(swaps > 50 && done > 50 && refused > 10, "{swaps} swaps, {done} done, {refused} refused");
}

#[test]
fn no_write_follows_a_link_and_hard_links_are_left_alone() {
    let outside = Tree::new(&[("ledger.txt", b"OUTSIDE")]);
    let tree = Tree::new(&[("plain.md", b"in"), ("sub/x", b"x")]);
    let at = |name: &str| tree.path(name);
    symlink(outside.path("ledger.txt"), at("file")).unwrap();
    symlink(outside.0.path(), at("dir")).unwrap();
    symlink("plain.md", at("inside")).unwrap();
    symlink("sub", at("inside-dir")).unwrap();
    symlink(outside.path("new.txt"), at("dangling")).unwrap();
    symlink(".briefing", at("private")).unwrap();
    std::fs::hard_link(outside.path("ledger.txt"), at("hard")).unwrap();
    let before = (everything(tree.0.path()), everything(outside.0.path()));
    let workspace = tree.read_write();
    for name in ["file", "inside", "dangling", "dir/new.txt", "inside-dir/x", "private/workspace/lock", "dir"]
    {
        let name = path(name);
        let codes = [
            workspace.write(&name, "x", None).unwrap_err().code(),
            workspace.append(&name, "x", None).unwrap_err().code(),
            workspace.stage(&name, "x").unwrap_err().code(),
            workspace.copy(&path("plain.md"), &name, None).unwrap_err().code(),
            workspace.rename(&path("plain.md"), &path(&format!("{name}/y"))).unwrap_err().code(),
            workspace.rename(&name, &path("z")).unwrap_err().code(),
            workspace.create_folder(&path(&format!("{name}/y"))).unwrap_err().code(),
        ];
        assert_eq!(codes, ["workspace.link"; 7], "{name}");
    }
    let hard = path("hard");
    let codes = [
        workspace.write(&hard, "x", None).unwrap_err().code(),
        workspace.append(&hard, "x", None).unwrap_err().code(),
        workspace.stage(&hard, "x").unwrap_err().code(),
        workspace.rename(&hard, &path("z")).unwrap_err().code(),
    ];
    assert_eq!(codes, ["workspace.hard_linked"; 4]);
    assert_eq!((everything(tree.0.path()), everything(outside.0.path())), before);
    // Taking a name away touches nothing but the name.
    workspace.remove_file(&hard, None).unwrap();
    workspace.remove_file(&path("dir"), None).unwrap();
    workspace.remove_file(&path("dangling"), None).unwrap();
    assert_eq!(everything(outside.0.path()), before.1);
}
