//! What users of other tools reported, as cases of our own: paths, reads and writes.
//!
//! Rows of the shared list of cases, and where each is held:
//!
//! | row | case | test |
//! |---|---|---|
//! | BL-01 | links that lead out | `no_operation_reads_or_writes_through_a_link_that_leads_out`; `boundary.rs::no_link_leads_out_and_links_inside_are_followed` |
//! | BL-02 | a sibling with the same prefix | `a_sibling_of_the_root_is_neither_read_nor_written`; `boundary.rs::a_sibling_that_shares_the_text_of_the_root_is_outside` |
//! | BL-04 | a link put in between | `a_link_that_takes_the_place_of_the_target_meanwhile_is_not_followed`; `racing_attacker.rs` |
//! | BL-07 | a root that is a link | `a_root_that_is_a_link_gives_the_same_refs_and_digests` |
//! | BL-08 | the process's own folder | `relative_means_relative_to_the_root`; `boundary.rs::the_grammar_refuses_before_any_file_is_touched` |
//! | BL-10 | FIFOs, sockets, devices | `what_never_ends_is_refused_at_once`; `boundary.rs::the_awkward_tree_is_read_or_refused_at_once` |
//! | BL-12 | huge files and lines | `a_huge_file_and_a_huge_line_cost_what_was_asked_for` |
//! | BL-14 | mode 0755 | `a_promotion_keeps_the_mode`; `writing.rs::owner_mode_and_attributes_stay_and_new_files_obey_the_mask` |
//! | BL-15 | the mask of new files | `new_files_obey_the_mask_of_the_process` |
//! | BL-18 | another file system | `a_temporary_folder_on_another_file_system_plays_no_part`; `staging.rs::a_target_on_another_file_system_is_refused_and_left_whole` |
//! | BL-19 | long names | `the_longest_names_are_written_and_promoted`; `writing.rs::long_names_are_no_longer_in_the_private_area` |
//! | BL-20 | synced before renamed | `the_steps_of_a_write_come_in_their_order`, `a_sync_that_fails_blocks_and_leaves_the_old_bytes`, `the_system_sees_the_syncs_around_the_rename` |
//! | BL-22 | a write from an old read | `a_write_from_an_old_read_is_refused_with_the_current_digest` |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod common;

use std::io;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use briefing_core::{ContextDiagnostic, ContextSource as _, Digest};
use briefing_task_workspace::{
    Edit, Error, GrepRequest, ListRequest, SearchRequest, Step, StepHook, TargetState, TaskWorkspace,
    TextWindow, WorkspaceOptions, WorkspacePath, WorkspaceSourceOptions,
};
use common::{Tree, awkward_tree, list, path, read};

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

/// A process of its own that does one of [`the_program`]'s parts: with a wrapper of the shell, in another folder, under
/// another mask.
fn program(part: &str, root: &Path, wrapper: &[&str]) -> Command {
    let test = std::env::current_exe().unwrap();
    let mut command = match wrapper {
        [] => Command::new(test),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(test);
            command
        }
    };
    command
        .args(["--exact", "the_program", "--test-threads=1", "--nocapture"])
        .env("CASE_PART", part)
        .env("CASE_ROOT", root);
    command
}

fn succeed(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    for line in text(&output.stdout).lines().filter(|line| line.contains("SKIPPED:")) {
        println!("{line}");
    }
}

#[test]
fn the_program() {
    let (Ok(part), Some(root)) = (std::env::var("CASE_PART"), std::env::var_os("CASE_ROOT")) else { return };
    let workspace = TaskWorkspace::open_with(&root, WorkspaceOptions::read_write()).unwrap();
    match part.as_str() {
        "write" => {
            let candidate = workspace.stage(&path("staged.txt"), "staged").unwrap();
            workspace.promote(&candidate, TargetState::Absent).unwrap();
            workspace.write(&path("written.txt"), "written", None).unwrap();
        }
        "relative" => {
            let plain = workspace.workspace_path("plain.md").unwrap();
            assert_eq!(workspace.read(&plain, 99).unwrap().bytes, b"of the root\n");
            workspace.write(&path("new.md"), "new", TargetState::Absent).unwrap();
            assert_eq!(code(workspace.workspace_path("../outside/plain.md")), "workspace.outside_boundary");
            let here = std::env::current_dir().unwrap().join("plain.md");
            assert_eq!(code(workspace.workspace_path(here)), "workspace.outside_boundary");
        }
        "relative_root" => {
            // The root was given relative to this folder, and the process moves on.
            let given = TaskWorkspace::open("root").unwrap();
            std::env::set_current_dir("/").unwrap();
            assert_eq!(given.read(&path("plain.md"), 99).unwrap().bytes, b"of the root\n");
            assert_eq!(given.list(&ListRequest::new()).unwrap().total, 1);
            assert_eq!(given.workspace_path(given.root().join("plain.md")).unwrap(), path("plain.md"));
        }
        "huge" => read_huge_files(&workspace),
        other => panic!("no part {other}"),
    }
}

#[cfg(unix)]
#[test]
fn no_operation_reads_or_writes_through_a_link_that_leads_out() {
    let Some(folder) = awkward_tree() else { return };
    let canary = b"outside canary 7731\n";
    let ledger = folder.path().join("outside/ledger.txt");
    let outside_before = common::everything(&folder.path().join("outside"));
    let root = folder.path().join("root");
    let workspace = TaskWorkspace::open_with(&root, WorkspaceOptions::read_write()).unwrap();
    let hidden = folder.path().canonicalize().unwrap().display().to_string();
    for link in ["link_file", "link_dir/ledger.txt", "link_rel", "link_chain"] {
        let link = path(link);
        let reading = [
            workspace.read(&link, 100).map(drop).unwrap_err(),
            workspace.read_text(&link, TextWindow::chars(0)).map(drop).unwrap_err(),
            workspace.inspect(&link).map(drop).unwrap_err(),
            workspace.file_ref(&link).map(drop).unwrap_err(),
            workspace.copy(&link, &path("copied.txt"), None).map(drop).unwrap_err(),
        ];
        for error in reading {
            assert_eq!(error.code(), "workspace.outside_boundary", "{link}");
            let said = format!("{error} {error:?}");
            assert!(!said.contains(&hidden) && !said.contains("canary"), "{said}");
        }
        let edit = Edit::replace("canary", "x");
        let writing = [
            code(workspace.write(&link, "x", None)),
            code(workspace.append(&link, "x", None)),
            code(workspace.edit(&link, &[edit], None)),
            code(workspace.stage(&link, "x")),
            code(workspace.copy(&path("plain.md"), &link, None)),
            code(workspace.create_folder(&link)),
        ];
        assert!(
            writing.iter().all(|code| matches!(*code, "workspace.link" | "workspace.exists")),
            "{writing:?}"
        );
    }
    assert_eq!(workspace.read(&path("link_inside"), 100).unwrap().bytes, b"# plain\nhello\n");
    for found in
        [workspace.list(&ListRequest::new()), workspace.glob("**/ledger.txt"), workspace.glob("link_*")]
    {
        let found = found.unwrap();
        let through =
            found.entries.iter().any(|entry| entry.path.contains("ledger") || entry.path.contains("link_"));
        assert!(!through, "{:?}", found.entries);
    }
    let files = ListRequest::new().glob("**/*.txt").glob("*.md").glob("link_*");
    let lines = workspace.grep(&GrepRequest::new("canary").files(files.clone())).unwrap();
    assert!(lines.matches.is_empty());
    assert_eq!(workspace.search(&SearchRequest::new("canary").files(files)).unwrap().total, 0);
    assert!(!root.join("copied.txt").exists());
    assert_eq!(std::fs::read(ledger).unwrap(), canary);
    assert_eq!(common::everything(&folder.path().join("outside")), outside_before);
}

#[cfg(unix)]
#[tokio::test]
async fn no_source_offers_what_a_link_leads_to() {
    let Some(folder) = awkward_tree() else { return };
    let workspace = TaskWorkspace::open(folder.path().join("root")).unwrap();
    let source = workspace.source(WorkspaceSourceOptions::new().include_hidden(true)).unwrap();
    let listing = list(&source, 50).await;
    assert!(listing.descriptors.iter().all(|found| !found.index_text.contains("canary")));
    for link in ["link_file", "link_dir/ledger.txt", "link_rel", "link_chain"] {
        assert!(read(&source, link).await.is_err(), "{link}");
    }
}

#[test]
fn a_sibling_of_the_root_is_neither_read_nor_written() {
    let tree = Tree::new(&[("root/plain.md", b"in"), ("root-annex/ledger.txt", b"annex")]);
    let options = WorkspaceOptions::read_write();
    let workspace = TaskWorkspace::open_with(tree.path("root"), options).unwrap();
    for outside in [
        tree.path("root-annex/ledger.txt"),
        tree.path("root-annex"),
        tree.path("root/../root-annex/ledger.txt"),
        "../root-annex/ledger.txt".into(),
        "x/../../root-annex/ledger.txt".into(),
    ] {
        let refused = workspace.workspace_path(&outside).unwrap_err();
        assert_eq!(refused.code(), "workspace.outside_boundary", "{outside:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../root-annex", tree.path("root/annex")).unwrap();
        assert_eq!(code(workspace.read(&path("annex/ledger.txt"), 9)), "workspace.outside_boundary");
        assert_eq!(code(workspace.write(&path("annex/new.txt"), "x", None)), "workspace.link");
        let export = workspace.export_file(&path("plain.md"), tree.path("root-annex"));
        export.unwrap();
    }
    assert_eq!(tree.bytes("root-annex/ledger.txt"), b"annex");
    assert!(!tree.path("root-annex/new.txt").exists());
}

#[cfg(unix)]
#[test]
fn a_link_that_takes_the_place_of_the_target_meanwhile_is_not_followed() {
    let late = [Step::CreateFile, Step::WriteBytes, Step::SyncFile, Step::Replace];
    for at in late {
        for staged in [false, true] {
            let tree = Tree::new(&[("root/n.txt", b"old"), ("outside/ledger.txt", b"canary")]);
            let (target, outside) = (tree.path("root/n.txt"), tree.path("outside/ledger.txt"));
            let armed = Arc::new(Mutex::new(!staged));
            let switch = Arc::clone(&armed);
            let hook: StepHook = Arc::new(move |step| {
                if step == at && *switch.lock().unwrap() {
                    let _ = std::fs::remove_file(&target);
                    std::os::unix::fs::symlink(&outside, &target)?;
                    *switch.lock().unwrap() = false;
                }
                Ok(())
            });
            let options = WorkspaceOptions::read_write().on_step(hook);
            let workspace = TaskWorkspace::open_with(tree.path("root"), options).unwrap();
            let outcome = if staged {
                let candidate = workspace.stage(&path("n.txt"), "new").unwrap();
                *armed.lock().unwrap() = true;
                workspace.promote(&candidate, candidate.target_state)
            } else {
                workspace.write(&path("n.txt"), "new", None)
            };
            let is_past = staged && matches!(at, Step::CreateFile | Step::WriteBytes | Step::SyncFile);
            if is_past {
                outcome.unwrap();
                continue;
            }
            let refused = outcome.unwrap_err();
            assert!(
                matches!(refused.code(), "workspace.link" | "workspace.conflict"),
                "{at:?}, staged: {staged}: {refused:?}"
            );
            assert_eq!(tree.bytes("outside/ledger.txt"), b"canary", "{at:?}, staged: {staged}");
            let left = std::fs::symlink_metadata(tree.path("root/n.txt")).unwrap();
            assert!(left.is_symlink(), "{at:?}: what somebody else put there stays");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_root_that_is_a_link_gives_the_same_refs_and_digests() {
    let tree = Tree::new(&[("real/plain.md", b"hello"), ("real/sub/a.txt", b"a")]);
    std::os::unix::fs::symlink(tree.path("real"), tree.path("link")).unwrap();
    let by_link = TaskWorkspace::open(tree.path("link")).unwrap();
    let real = TaskWorkspace::open(tree.path("real")).unwrap();
    for file in ["plain.md", "sub/a.txt"] {
        let refs: Vec<_> = [
            by_link.workspace_path(file).unwrap(),
            by_link.workspace_path(tree.path("link").join(file)).unwrap(),
            by_link.workspace_path(tree.path("real").join(file).canonicalize().unwrap()).unwrap(),
        ]
        .iter()
        .map(|path| by_link.file_ref(path).unwrap())
        .collect();
        let expected = real.file_ref(&path(file)).unwrap();
        assert!(refs.iter().all(|found| *found == expected), "{refs:#?}");
        assert_eq!(expected.digest, Digest::of(&tree.bytes(Path::new("real").join(file))));
        assert_eq!(real.resolve(&refs[0]).unwrap(), path(file));
    }
}

#[test]
fn relative_means_relative_to_the_root() {
    let tree = Tree::new(&[("root/plain.md", b"of the root\n"), ("outside/plain.md", b"of the process\n")]);
    let here = tree.path("outside");
    succeed(&program("relative", &tree.path("root"), &[]).current_dir(here).output().unwrap());
    assert_eq!(tree.bytes("root/new.md"), b"new");
    assert!(!tree.path("outside/new.md").exists());
    tree.remove("root/new.md");
    let outcome = program("relative_root", &tree.path("root"), &[]).current_dir(tree.0.path()).output();
    succeed(&outcome.unwrap());
    for refused in ["a:b.txt", r"a\b.txt", "./x", "x//y", "/x", "x/../y", "x\0y"] {
        assert!(WorkspacePath::new(refused).is_err(), "{refused:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_never_ends_is_refused_at_once() {
    let Some(folder) = awkward_tree() else { return };
    let root = folder.path().join("root");
    let started = Instant::now();
    let workspace = TaskWorkspace::open_with(&root, WorkspaceOptions::read_write()).unwrap();
    for special in ["queue.txt", "service.sock"] {
        let special = path(special);
        let refused = [
            code(workspace.read(&special, 10)),
            code(workspace.read_text(&special, TextWindow::chars(0))),
            code(workspace.inspect(&special)),
            code(workspace.write(&special, "x", None)),
            code(workspace.append(&special, "x", None)),
            code(workspace.stage(&special, "x")),
            code(workspace.copy(&special, &path("copy.txt"), None)),
            code(workspace.remove_file(&special, None)),
        ];
        assert_eq!(refused, ["workspace.not_regular_file"; 8], "{special}");
    }
    assert_eq!(code(workspace.read(&path("zero.log"), 10)), "workspace.outside_boundary");
    assert!(workspace.list(&ListRequest::new()).unwrap().total > 5);
    let files = ListRequest::new().glob("*.txt").glob("*.sock").glob("zero*");
    workspace.grep(&GrepRequest::new("x").files(files)).unwrap();
    let source = workspace.source(WorkspaceSourceOptions::new()).unwrap();
    let listing = list(&source, 100).await;
    assert_eq!(listing.details("workspace.special_file_skipped", "path"), ["queue.txt", "service.sock"]);
    assert!(read(&source, "queue.txt").await.is_err());
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

/// What the process holds at its peak since the last call of [`forget_peak`], in KiB.
#[cfg(target_os = "linux")]
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
fn forget_peak() -> bool {
    // 5 resets the peak (proc_pid_clear_refs(5)).
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

#[cfg(target_os = "linux")]
fn read_huge_files(workspace: &TaskWorkspace) {
    if !forget_peak() {
        println!("SKIPPED: the peak of memory cannot be reset here");
        return;
    }
    let before = peak_kib();
    let (huge, line) = (path("huge.log"), path("line.txt"));
    let first = workspace.read(&huge, 100).unwrap();
    assert_eq!((first.bytes.len(), first.truncated, first.total_bytes), (100, true, 6 << 30));
    assert_eq!(workspace.read_from(&huge, 5 << 30, 100).unwrap().bytes, [0; 100]);
    assert_eq!(workspace.read(&line, 1).unwrap().bytes, b"p");
    let text = workspace.read_text(&line, TextWindow::lines(1..=1).max_chars(100)).unwrap();
    assert_eq!((text.text.chars().count(), text.more), (100, true));
    let text = workspace.read_text(&line, TextWindow::chars(40_000_000).max_chars(50)).unwrap();
    assert_eq!((text.text.chars().count(), text.offset_chars), (50, 40_000_000));
    let found = workspace.grep(&GrepRequest::new("pump").files(ListRequest::new())).unwrap();
    let names_huge = |it: &ContextDiagnostic| serde_json::to_string(it).unwrap().contains("huge.log");
    assert!(found.diagnostics.iter().any(names_huge), "{:?}", found.diagnostics);
    let used = peak_kib() - before;
    assert!(used < 32 * 1024, "{used} KiB for reads of a few hundred bytes");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert!(forget_peak());
    let before = peak_kib();
    runtime.block_on(async {
        let source = workspace.source(WorkspaceSourceOptions::new()).unwrap();
        source.revision().await.unwrap();
        let listing = list(&source, 10).await;
        assert_eq!(listing.details("workspace.too_large", "path"), ["line.txt"]);
        // A hole in a file reads as NULs, which are no text.
        assert_eq!(listing.get("huge.log").metadata["context_representation"], "metadata_only");
        assert_eq!(listing.details("workspace.type_disagreement", "path"), ["huge.log"]);
        assert!(read(&source, "line.txt").await.unwrap_err().to_string().contains("too large"));
        assert_eq!(common::text(&source, "small.md").await, "the pump\n");
    });
    let used = peak_kib() - before;
    assert!(used < 32 * 1024, "{used} KiB to list three files");
}

#[cfg(not(target_os = "linux"))]
fn read_huge_files(_: &TaskWorkspace) {}

#[cfg(target_os = "linux")]
#[test]
fn a_huge_file_and_a_huge_line_cost_what_was_asked_for() {
    let tree = Tree::new(&[("small.md", b"the pump\n"), ("huge.log", b"first line\n")]);
    let huge = std::fs::OpenOptions::new().write(true).open(tree.path("huge.log")).unwrap();
    huge.set_len(6 << 30).unwrap();
    tree.put("line.txt", "pump ".repeat(10_000_000));
    succeed(&program("huge", tree.0.path(), &[]).output().unwrap());
}

#[cfg(unix)]
#[test]
fn a_promotion_keeps_the_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(folder) = awkward_tree() else { return };
    let root = folder.path().join("root");
    let workspace = TaskWorkspace::open_with(&root, WorkspaceOptions::read_write()).unwrap();
    let mode = || std::fs::metadata(root.join("run.sh")).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(), 0o755);
    for text in ["#!/bin/sh\necho two\n", "#!/bin/sh\necho three\n"] {
        let candidate = workspace.stage(&path("run.sh"), text).unwrap();
        let written = workspace.promote(&candidate, candidate.target_state).unwrap();
        assert_eq!(mode(), 0o755);
        assert_eq!(written.digest, Digest::of(text.as_bytes()));
        assert_eq!(workspace.inspect(&path("run.sh")).unwrap().digest, written.digest);
    }
    let output = Command::new(root.join("run.sh")).output().unwrap();
    assert_eq!(output.stdout, b"three\n", "it still runs");
}

#[cfg(unix)]
#[test]
fn new_files_obey_the_mask_of_the_process() {
    use std::os::unix::fs::PermissionsExt as _;
    for (mask, expected) in [("022", 0o644), ("077", 0o600), ("002", 0o664), ("000", 0o666)] {
        let tree = Tree::new(&[]);
        let script = format!("umask {mask}; exec \"$0\" \"$@\"");
        succeed(&program("write", tree.0.path(), &["sh", "-c", &script]).output().unwrap());
        for file in ["staged.txt", "written.txt"] {
            let mode = std::fs::metadata(tree.path(file)).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode, expected, "{file} under {mask}: {mode:o}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_temporary_folder_on_another_file_system_plays_no_part() {
    use std::os::unix::fs::MetadataExt as _;
    let tree = Tree::new(&[]);
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev());
    let shm = Path::new("/dev/shm");
    let Ok(other) = tempfile::tempdir_in(shm) else {
        println!("SKIPPED: nothing can be made in /dev/shm");
        return;
    };
    if device(other.path()).unwrap() == device(tree.0.path()).unwrap() {
        println!("SKIPPED: /dev/shm is the same file system");
        return;
    }
    let mut command = program("write", tree.0.path(), &[]);
    succeed(&command.env("TMPDIR", other.path()).output().unwrap());
    assert_eq!(
        (tree.bytes("staged.txt"), tree.bytes("written.txt")),
        (b"staged".to_vec(), b"written".to_vec())
    );
    assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0, "nothing was staged there");
}

#[test]
fn the_longest_names_are_written_and_promoted() {
    let Some(folder) = awkward_tree() else { return };
    let root = folder.path().join("root");
    let workspace = TaskWorkspace::open_with(&root, WorkspaceOptions::read_write()).unwrap();
    let long = format!("{}.md", "n".repeat(247));
    assert_eq!(std::fs::read(root.join(&long)).unwrap(), b"long\n");
    for name in [long, "水".repeat(84), format!("deep/{}", "b".repeat(255))] {
        let target = path(&name);
        let candidate = workspace.stage(&target, "new\n").unwrap();
        workspace.promote(&candidate, candidate.target_state).unwrap();
        assert_eq!(std::fs::read(root.join(&name)).unwrap(), b"new\n", "{name}");
        workspace.append(&target, "more\n", candidate.digest).unwrap();
        assert_eq!(workspace.read(&target, 99).unwrap().bytes, b"new\nmore\n", "{name}");
    }
}

/// A hook that keeps the steps, and fails the first of one kind once it is armed.
#[derive(Clone, Default)]
struct Watch {
    seen: Arc<Mutex<Vec<Step>>>,
    fails: Arc<Mutex<Option<Step>>>,
}

impl Watch {
    fn open(&self, root: &Path) -> TaskWorkspace {
        let watch = self.clone();
        let hook: StepHook = Arc::new(move |step| {
            watch.seen.lock().unwrap().push(step);
            let mut fails = watch.fails.lock().unwrap();
            match *fails {
                Some(failing) if failing == step => {
                    *fails = None;
                    Err(io::Error::other("the disk says no"))
                }
                _ => Ok(()),
            }
        });
        TaskWorkspace::open_with(root, WorkspaceOptions::read_write().on_step(hook)).unwrap()
    }

    fn fail(&self, step: Step) {
        *self.fails.lock().unwrap() = Some(step);
    }

    fn take(&self) -> Vec<Step> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

#[test]
fn the_steps_of_a_write_come_in_their_order() {
    let tree = Tree::new(&[("a.txt", b"old")]);
    let watch = Watch::default();
    let workspace = watch.open(tree.0.path());
    watch.take();
    let in_order = |seen: &[Step], expected: &[Step], what: &str| {
        let mut rest = seen.iter();
        for step in expected {
            assert!(rest.any(|it| it == step), "{what}: {step:?} in order in {seen:?}");
        }
        let count = |step| seen.iter().filter(|it| **it == step).count();
        assert_eq!((count(Step::Replace), count(Step::ReadBack)), (1, 1), "{what}: {seen:?}");
    };
    let order = [
        Step::CreateFile,
        Step::WriteBytes,
        Step::SyncFile,
        Step::Replace,
        Step::SyncFolder,
        Step::ReadBack,
        Step::CleanUp,
    ];
    workspace.write(&path("a.txt"), "new", None).unwrap();
    in_order(&watch.take(), &order, "a write");
    workspace.write(&path("new/b.txt"), "new", None).unwrap();
    in_order(&watch.take(), &order, "a new file");
    let candidate = workspace.stage(&path("a.txt"), "staged").unwrap();
    let mut seen = watch.take();
    assert!(!seen.contains(&Step::Replace), "{seen:?}");
    let staging = [
        Step::CreateFile,
        Step::WriteBytes,
        Step::WriteFacts,
        Step::SyncFile,
        Step::SyncStaged,
        Step::ReadStaged,
    ];
    let mut rest = seen.iter();
    assert!(staging.iter().all(|step| rest.any(|it| it == step)), "{seen:?}");
    workspace.promote(&candidate, candidate.target_state).unwrap();
    seen.extend(watch.take());
    in_order(&seen, &order, "a promotion");
}

#[test]
fn a_sync_that_fails_blocks_and_leaves_the_old_bytes() {
    for step in [Step::SyncFile, Step::SyncFolder] {
        let tree = Tree::new(&[("a.txt", b"old")]);
        let watch = Watch::default();
        let workspace = watch.open(tree.0.path());
        let candidate = workspace.stage(&path("a.txt"), "staged").unwrap();
        // A candidate takes over the mode that the target has when it is promoted, and is synced again for it.
        #[cfg(unix)]
        std::fs::set_permissions(tree.path("a.txt"), std::os::unix::fs::PermissionsExt::from_mode(0o640))
            .unwrap();
        for staged in [false, true] {
            for target in ["a.txt", "new.txt"] {
                if staged && target == "new.txt" {
                    continue;
                }
                let before = tree.everything();
                watch.fail(step);
                let outcome = match staged {
                    false => workspace.write(&path(target), "new", None),
                    true => workspace.promote(&candidate, candidate.target_state),
                };
                let Err(Error::NotWritten { step: failed, source, .. }) = outcome else {
                    panic!("{step:?}, {target}, staged: {staged}: {outcome:?}")
                };
                assert_eq!((failed, source.to_string()), (step, "the disk says no".to_owned()));
                assert_eq!(tree.everything(), before, "{step:?}, {target}, staged: {staged}");
                assert_eq!(workspace.read_candidate(&candidate.id).unwrap(), b"staged");
            }
        }
        // What was blocked goes through when the disk is well again.
        workspace.promote(&candidate, candidate.target_state).unwrap();
        assert_eq!(tree.bytes("a.txt"), b"staged");
    }
    for step in [Step::SyncFile, Step::WriteFacts, Step::SyncStaged, Step::ReadStaged] {
        let tree = Tree::new(&[("a.txt", b"old")]);
        let watch = Watch::default();
        let workspace = watch.open(tree.0.path());
        watch.fail(step);
        assert_eq!(code(workspace.stage(&path("a.txt"), "staged")), "workspace.not_written", "{step:?}");
        assert!(workspace.candidates().unwrap().is_empty(), "{step:?}: no candidate that nobody was told of");
        assert_eq!(tree.bytes("a.txt"), b"old");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_system_sees_the_syncs_around_the_rename() {
    let tree = Tree::new(&[("trace/none", b""), ("root/staged.txt.is", b"")]);
    let log = tree.path("trace/calls").display().to_string();
    let calls = "trace=fsync,fdatasync,rename,renameat,renameat2,linkat";
    let wrapper = ["strace", "-f", "-y", "-e", calls, "-o", &log];
    let outcome = program("write", &tree.path("root"), &wrapper).output();
    let Some(outcome) = outcome.ok().filter(|outcome| outcome.status.success()) else {
        println!("SKIPPED: no strace here");
        return;
    };
    succeed(&outcome);
    let calls = std::fs::read_to_string(tree.path("trace/calls")).unwrap();
    let calls: Vec<_> =
        calls.lines().filter(|line| line.contains(" = 0") || line.contains("<unfinished")).collect();
    for file in ["staged.txt", "written.txt"] {
        let renamed =
            calls.iter().position(|call| call.contains("rename") && call.contains(&format!("\"{file}\"")));
        let renamed = renamed.unwrap_or_else(|| panic!("{file}: {calls:#?}"));
        let synced = |calls: &[&str], folder: &str| {
            calls.iter().any(|call| call.contains("sync(") && call.contains(folder))
        };
        let folder = if file == "staged.txt" { "/staged/candidate-" } else { "/tmp/file-" };
        assert!(synced(&calls[..renamed], folder), "{file}: the bytes before\n{calls:#?}");
        assert!(synced(&calls[renamed..], "/root>"), "{file}: its folder after\n{calls:#?}");
    }
}

#[test]
fn a_write_from_an_old_read_is_refused_with_the_current_digest() {
    use std::io::Write as _;
    let tree = Tree::new(&[("report.md", b"first\n")]);
    let workspace = tree.read_write();
    let target = path("report.md");
    let read = workspace.inspect(&target).unwrap().digest;
    let mut theirs = std::fs::OpenOptions::new().append(true).open(tree.path("report.md")).unwrap();
    theirs.write_all(b"added by somebody else\n").unwrap();
    drop(theirs);
    let current = Digest::of(b"first\nadded by somebody else\n");
    let candidate = workspace.stage(&target, "made from the old read\n").unwrap();
    let attempts = [
        workspace.promote(&candidate, read.into()).map(drop),
        workspace.write(&target, "made from the old read\n", read).map(drop),
        workspace.append(&target, "x", read).map(drop),
        workspace.edit(&target, &[Edit::replace("first", "second")], read).map(drop),
        workspace.remove_file(&target, read).map(drop),
    ];
    for attempt in attempts {
        let error = attempt.unwrap_err();
        let Error::Conflict { expected, found, .. } = &error else { panic!("{error:?}") };
        assert_eq!((*expected, *found), (read.into(), current.into()));
        assert!(error.to_string().contains(&current.to_string()), "{error}");
    }
    assert_eq!(tree.bytes("report.md"), b"first\nadded by somebody else\n");
    assert_eq!(workspace.read_candidate(&candidate.id).unwrap(), b"made from the old read\n");
}
