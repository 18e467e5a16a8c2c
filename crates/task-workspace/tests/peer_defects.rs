//! What another framework of this kind got wrong, and the test that holds it here.
//!
//! | what went wrong | test |
//! |---|---|
//! | the guard of the private area compared the text of unresolved paths, and two operations had none | `no_operation_reaches_the_private_area`; `writing.rs::no_operation_reaches_the_private_area_in_any_spelling` |
//! | a failed write, edit, copy or import destroyed the old content | `an_operation_that_fails_at_any_step_leaves_every_byte`; `stopped_writes.rs::a_program_killed_before_any_step_leaves_old_or_new_and_every_candidate` |
//! | an edit turned CRLF to LF; an empty text to look for tore the file apart | `edits.rs::all_other_bytes_of_the_fixtures_stay`, `edits.rs::asking_for_nothing_is_refused` |
//! | promotions were not synced, did not look at the target, lost its mode, and failed after it was replaced | `public_cases.rs::the_steps_of_a_write_come_in_their_order`, `staging.rs::a_target_that_changed_since_is_not_overwritten`, `public_cases.rs::a_promotion_keeps_the_mode`, `stopped_writes.rs::a_step_that_fails_leaves_the_old_state_and_the_error_names_it` |
//! | a root that was moved could promote nothing any more | `a_root_that_moves_keeps_its_identity_and_its_candidates` |
//! | the targets of a delivery were protected from one handle only, and not from patches | `a_delivery_is_protected_from_edits_and_patches_of_every_handle`; `staging.rs::an_open_delivery_keeps_every_other_write_off_its_targets` |
//! | globs with `..`, and patterns through a link, listed names outside | `no_glob_lists_a_name_outside` |
//! | one corrupt document emptied the whole source | `documents_in_the_source.rs::a_bad_document_harms_no_other_file` |
//! | a document was measured by its container | `documents_in_the_source.rs::a_document_is_measured_by_its_text_and_not_by_its_container` |
//! | bytes that cannot be decoded, and programs without a suffix, were "complete" and empty | `what_is_no_text_is_never_complete_and_empty`; `listing.rs::what_is_not_text_is_offered_by_reference` |
//! | windows lost chars after a byte order mark, and a window narrower than a char stood still | `windows_of_any_width_join_to_the_text` |
//! | every check of a revision, and every read, walked and read the tree | `a_revision_is_told_without_reading_the_files`, `reads_do_not_walk` |
//! | a read of one byte loaded the whole file | `public_cases.rs::a_huge_file_and_a_huge_line_cost_what_was_asked_for` |
//! | an execution could read what another wrote | `one_execution_cannot_reach_what_another_wrote` |
//! | `.env`, keys and the inside of `.git` were offered | `secrets_and_version_control_are_not_offered`; `walk.rs::hidden_files_are_left_out_but_their_rules_hold` |
//! | a link that was put in between was followed | `racing_attacker.rs::no_write_follows_a_link_and_hard_links_are_left_alone`; `public_cases.rs::a_link_that_takes_the_place_of_the_target_meanwhile_is_not_followed` |
//! | a deleted line that begins with `-- ` was taken for a name | `a_deleted_line_that_looks_like_a_name_is_a_line` |
//! | an optional text that is longer than a block was left out | `a_long_text_is_delivered_by_its_passages` |
//! | tables, headers, notes and formulas of documents went missing | `formats/tests/documents_fixtures.rs::every_document_of_the_manifest_is_read_as_it_expects` |
//! | a page that was exactly full claimed that there was more | `a_page_that_is_exactly_full_is_the_last` |
//! | what an execution wrote could not be reached once a file came to its path | `writing.rs::a_read_only_workspace_keeps_new_files_apart_and_never_changes_an_old_one`, `a_file_at_the_same_path_does_not_hide_what_the_execution_wrote` |
//! | each execution had a source id, and so an index, of its own | `the_source_of_every_execution_has_the_same_id_and_revision` |
//! | a crash made ids be given twice | `fresh_ids.rs::ids_are_not_given_again_after_a_crash`, `fresh_ids.rs::ids_that_an_environment_repeats_take_nothing_away`; `identity.rs::a_move_that_a_crash_cut_short_is_no_move` |
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod common;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_context_reader::ContextReading;
use briefing_core::{
    Completeness, ContextBinding, ContextConsumer, ContextReadIntent, ContextSource as _, ReadRequest,
    SourceErrorKind, SourceRef,
};
use briefing_task_context::TaskContext;
use briefing_task_workspace::{
    Edit, Error, ExecutionId, GrepRequest, ListRequest, SearchRequest, StepHook, TargetState, TaskWorkspace,
    TextWindow, WorkspaceOptions, WorkspacePath, WorkspaceSourceOptions,
};
use common::{Tree, list, path, read, text};

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

fn of_execution(tree: &Tree, id: &str) -> TaskWorkspace {
    let options = WorkspaceOptions::read_only().execution(ExecutionId::new(id).unwrap());
    TaskWorkspace::open_with(tree.0.path(), options).unwrap()
}

fn patch(from: &str, to: &str) -> String {
    format!("--- a/{from}\n+++ b/{to}\n@@ -1 +1 @@\n-old\n+new\n")
}

#[test]
fn no_operation_reaches_the_private_area() {
    let tree = Tree::new(&[("sub/a.txt", b"old\n")]);
    let workspace = tree.read_write();
    let id = workspace.workspace_id().unwrap();
    let identity = ".briefing/workspace/identity.json";
    let before = tree.bytes(identity);
    for spelling in
        [identity, "sub/../.briefing/workspace/identity.json", "./.briefing/workspace/identity.json"]
    {
        assert!(WorkspacePath::new(spelling).is_err(), "{spelling}");
        assert!(workspace.workspace_path(tree.path(spelling)).is_err(), "{spelling}");
        for diff in [
            patch(spelling, spelling),
            format!("--- /dev/null\n+++ b/{spelling}\n@@ -0,0 +1 @@\n+new\n"),
            format!(
                "diff --git a/sub/a.txt b/{spelling}\nsimilarity index 100%\nrename from sub/a.txt\nrename to {spelling}\n"
            ),
        ] {
            assert!(workspace.apply_patch(&diff, None).is_err(), "{diff}");
        }
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".briefing/workspace", tree.path("state")).unwrap();
        std::os::unix::fs::symlink(tree.path(identity), tree.path("id.json")).unwrap();
        for link in ["state/identity.json", "id.json"] {
            let refused = code(workspace.read(&path(link), 9));
            assert!(
                matches!(refused, "workspace.private_area" | "workspace.outside_boundary"),
                "{link}: {refused}"
            );
            let writing = [
                code(workspace.write(&path(link), "x", None)),
                code(workspace.edit(&path(link), &[Edit::insert(1, "x")], None)),
                code(workspace.apply_patch(&patch(link, link), None)),
            ];
            assert!(writing.iter().all(|code| *code == "workspace.link"), "{link}: {writing:?}");
        }
        assert_eq!(code(workspace.remove_file(&path("state/identity.json"), None)), "workspace.link");
        workspace.remove_file(&path("id.json"), None).unwrap();
        assert!(tree.path("id.json").symlink_metadata().is_err(), "the link itself goes, and nothing else");
        let listed = workspace.list(&ListRequest::new().folder(path("state")));
        assert_eq!(code(listed), "workspace.private_area");
    }
    assert_eq!(tree.bytes(identity), before);
    assert_eq!(tree.read_write().workspace_id().unwrap(), id);
}

#[test]
fn an_operation_that_fails_at_any_step_leaves_every_byte() {
    type Operation = (&'static str, fn(&TaskWorkspace, &Path) -> Result<(), Error>);
    let operations: [Operation; 8] = [
        ("write", |workspace, _| workspace.write(&path("a.txt"), "new", None).map(drop)),
        ("append", |workspace, _| workspace.append(&path("a.txt"), "more", None).map(drop)),
        ("edit", |workspace, _| {
            workspace.edit(&path("a.txt"), &[Edit::replace("old", "new")], None).map(drop)
        }),
        ("patch", |workspace, _| {
            let diff = format!("{}{}", patch("a.txt", "a.txt"), patch("b.txt", "b.txt"));
            workspace.apply_patch(&diff, None).map(drop)
        }),
        ("copy", |workspace, _| workspace.copy(&path("b.txt"), &path("c.txt"), None).map(drop)),
        ("import", |workspace, outside| workspace.import_file(outside, &path("a.txt"), None).map(drop)),
        ("formatted", |workspace, _| {
            workspace.write_formatted(&path("a.txt"), &"new\n".into(), None).map(drop)
        }),
        ("remove", |workspace, _| workspace.remove_file(&path("a.txt"), None).map(drop)),
    ];
    let outside = Tree::new(&[("host.txt", b"host")]);
    for (name, operation) in operations {
        let mut failed = 0;
        for stop_at in 1.. {
            let tree = Tree::new(&[("a.txt", b"old\n"), ("b.txt", b"old\n"), ("c.txt", b"c\n")]);
            let before = tree.everything();
            let reached = Arc::new(AtomicUsize::new(0));
            let counter = Arc::clone(&reached);
            let hook: StepHook = Arc::new(move |_| match counter.fetch_add(1, Ordering::SeqCst) + 1 {
                at if at == stop_at => Err(io::Error::from(io::ErrorKind::StorageFull)),
                _ => Ok(()),
            });
            let options = WorkspaceOptions::read_write().on_step(hook);
            let workspace = TaskWorkspace::open_with(tree.0.path(), options).unwrap();
            match operation(&workspace, &outside.path("host.txt")) {
                Ok(()) if reached.load(Ordering::SeqCst) < stop_at => break,
                // A cleaning up that fails is no failure.
                Ok(()) => assert_ne!(tree.everything(), before, "{name} at {stop_at}"),
                Err(error) => {
                    failed += 1;
                    assert_eq!(tree.everything(), before, "{name} at {stop_at}: {error}");
                    drop(workspace);
                    operation(&tree.read_write(), &outside.path("host.txt")).unwrap();
                }
            }
        }
        assert!(failed >= 3, "{name} has only {failed} steps that can fail");
    }
}

#[test]
fn a_root_that_moves_keeps_its_identity_and_its_candidates() {
    let tree = Tree::new(&[("root/a.txt", b"old")]);
    let open =
        |name: &str| TaskWorkspace::open_with(tree.path(name), WorkspaceOptions::read_write()).unwrap();
    let workspace = open("root");
    let id = workspace.workspace_id().unwrap();
    let (staged, late) =
        (workspace.stage(&path("a.txt"), "new").unwrap(), workspace.stage(&path("b.txt"), "b").unwrap());
    let file = workspace.file_ref(&path("a.txt")).unwrap();
    std::fs::rename(tree.path("root"), tree.path("moved")).unwrap();
    let moved = open("moved");
    assert_eq!(moved.workspace_id().unwrap(), id);
    assert_eq!(moved.resolve(&file).unwrap(), path("a.txt"));
    moved.promote(&staged, staged.target_state).unwrap();
    assert_eq!(tree.bytes("moved/a.txt"), b"new");
    // A handle that was open meanwhile still holds the same folder.
    workspace.promote(&late, TargetState::Absent).unwrap();
    assert_eq!(tree.bytes("moved/b.txt"), b"b");
    assert!(!tree.path("root").exists());
    assert_eq!(moved.locator(&path("a.txt")).unwrap(), file.locator);
    assert!(moved.candidates().unwrap().is_empty());
}

#[test]
fn a_delivery_is_protected_from_edits_and_patches_of_every_handle() {
    let tree = Tree::new(&[("out/a.txt", b"old\n"), ("b.txt", b"old\n")]);
    let workspace = tree.read_write();
    let delivery = workspace.open_delivery(&[path("out/a.txt")]).unwrap();
    let before = tree.everything();
    let host = Tree::new(&[("host.txt", b"host")]);
    let onto =
        "diff --git a/b.txt b/out/a.txt\nsimilarity index 100%\nrename from b.txt\nrename to out/a.txt\n";
    let away =
        "diff --git a/out/a.txt b/c.txt\nsimilarity index 100%\nrename from out/a.txt\nrename to c.txt\n";
    for view in [workspace.clone(), tree.read_write()] {
        let target = path("out/a.txt");
        let refused = [
            code(view.edit(&target, &[Edit::replace("old", "new")], None)),
            code(view.write_formatted(&target, &"new".into(), None)),
            code(view.write_from(&target, &b"new"[..], None)),
            code(view.import_file(host.path("host.txt"), &target, None)),
            code(view.apply_patch(&patch("out/a.txt", "out/a.txt"), None)),
            code(view.apply_patch(onto, None)),
            code(view.apply_patch(away, None)),
            code(view.apply_patch("--- a/out/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n", None)),
        ];
        assert_eq!(refused, ["workspace.protected"; 8]);
    }
    assert_eq!(tree.everything(), before);
    // A patch is of the files that the caller expects, renames included.
    workspace.close_delivery(&delivery.id).unwrap();
    assert_eq!(code(workspace.apply_patch(away, Some(&[path("out/a.txt")]))), "workspace.patch_files");
    workspace.apply_patch(away, Some(&[path("c.txt"), path("out/a.txt")])).unwrap();
    assert_eq!(tree.bytes("c.txt"), b"old\n");
}

#[test]
fn no_glob_lists_a_name_outside() {
    let tree =
        Tree::new(&[("outside/secret.txt", b"canary"), ("root/a.txt", b"a"), ("root/sub/b.txt", b"b")]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../outside", tree.path("root/out")).unwrap();
        std::os::unix::fs::symlink(tree.path("outside"), tree.path("root/sub/out")).unwrap();
    }
    let workspace = TaskWorkspace::open(tree.path("root")).unwrap();
    let absolute = format!("{}/*", tree.path("outside").display());
    for glob in
        ["../*", "../**/*", "*/../../*", "sub/../../outside/*", "out/*", "sub/out/*", "**/secret*", &absolute]
    {
        for hidden in [false, true] {
            let request = ListRequest::new().glob(glob).include_hidden(hidden);
            match workspace.list(&request) {
                Ok(found) => {
                    let names: Vec<_> = found.entries.iter().map(|entry| entry.path.as_str()).collect();
                    assert!(names.is_empty(), "{glob}: {names:?}");
                }
                Err(error) => assert_eq!(error.code(), "workspace.glob_invalid", "{glob}"),
            }
            if let Ok(page) = workspace.grep(&GrepRequest::new("canary").files(request)) {
                assert!(page.matches.is_empty(), "{glob}: {page:?}");
            }
        }
    }
    let all = workspace.list(&ListRequest::new().include_hidden(true)).unwrap();
    let names: Vec<_> = all.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(names, ["a.txt", "sub/b.txt"]);
    #[cfg(unix)]
    for folder in ["out", "sub/out"] {
        assert_eq!(
            code(workspace.list(&ListRequest::new().folder(path(folder)))),
            "workspace.outside_boundary"
        );
    }
}

#[tokio::test]
async fn what_is_no_text_is_never_complete_and_empty() {
    let this_program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let tree = Tree::new(&[
        ("latin.txt", b"Le caf\xe9 est tr\xe8s bon, \xe0 bient\xf4t.\n"),
        ("mixed.txt", b"\xe6\xb0\xb4\xff\xfe\xc3\x28\n"),
        ("program", &this_program[..this_program.len().min(100_000)]),
        ("empty.txt", b""),
    ]);
    let source = tree.source();
    let listing = list(&source, 100).await;
    for file in ["latin.txt", "mixed.txt", "program", "empty.txt"] {
        let is_reference = listing.get(file).metadata.get("context_representation").is_some();
        match read(&source, file).await {
            Ok(read) => {
                let shown = read.content.to_text().unwrap().into_owned();
                assert!(!is_reference && !shown.contains('\u{fffd}'), "{file}");
                assert_eq!(shown.is_empty(), file == "empty.txt", "{file}");
                assert_eq!(read.completeness, Completeness::Complete);
            }
            Err(error) => {
                assert_eq!(error.kind(), SourceErrorKind::Unsupported, "{file}");
                assert!(is_reference, "{file}");
            }
        }
    }
    assert_eq!(text(&source, "latin.txt").await, "Le café est très bon, à bientôt.\n");
    assert!(read(&source, "program").await.is_err());
}

#[tokio::test]
async fn windows_of_any_width_join_to_the_text() {
    let words = "水泵 wird geprüft 🦀\r\nline two\n".repeat(7);
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(words.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let marked = [b"\xef\xbb\xbf".as_slice(), words.as_bytes()].concat();
    let tree = Tree::new(&[("plain.txt", words.as_bytes()), ("marked.txt", &marked), ("wide.txt", &utf16)]);
    let (workspace, source) = (tree.workspace(), tree.source());
    list(&source, 100).await;
    let total = words.chars().count();
    for file in ["plain.txt", "marked.txt", "wide.txt"] {
        for width in [1, 2, 7, 100, total, total + 1] {
            let (mut joined, mut next, mut pages) = (String::new(), Some(0), 0);
            while let Some(offset) = next {
                let window = TextWindow::chars(offset).max_chars(width);
                let part = workspace.read_text(&path(file), window).unwrap();
                assert!(part.text.chars().count() <= width);
                assert!(part.next_chars.is_none_or(|next| next > offset), "{file} by {width} stands still");
                joined.push_str(&part.text);
                next = part.next_chars;
                pages += 1;
            }
            assert_eq!(
                (joined.as_str(), pages),
                (words.as_str(), total.div_ceil(width)),
                "{file} by {width}"
            );
            let (mut joined, mut next) = (String::new(), Some(0));
            while let Some(start_char) = next {
                let request = ReadRequest { start_char, ..ReadRequest::whole(width) };
                let part = source.read_exact(&SourceRef::new(file).unwrap(), &request).await.unwrap();
                assert!(part.next_range_start.is_none_or(|next| next > start_char), "{file} by {width}");
                joined.push_str(&part.content.to_text().unwrap());
                next = part.next_range_start;
            }
            assert_eq!(joined, words, "the source: {file} by {width}");
        }
    }
    assert_eq!(
        code(workspace.read_text(&path("plain.txt"), TextWindow::chars(0).max_chars(0))),
        "workspace.out_of_range"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_that_asks_for_revisions() {
    if let Some(root) = std::env::var_os("REVISIONS_ROOT") {
        count_bytes_read(Path::new(&root));
    }
}

#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
fn count_bytes_read(root: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let source = TaskWorkspace::open(root).unwrap().source(WorkspaceSourceOptions::new()).unwrap();
        let before = bytes_read();
        let first = source.revision().await.unwrap();
        let cold = bytes_read() - before;
        list(&source, 100).await;
        let before = bytes_read();
        for _ in 0..20 {
            assert_eq!(source.revision().await.unwrap(), first);
        }
        let warm = bytes_read() - before;
        // The content is 20 MB; the rules of ignore files and what the system says of itself are read each time.
        assert!(cold < 200_000 && warm < 20 * 200_000, "{cold} bytes cold, {warm} for 20 warm revisions");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_revision_is_told_without_reading_the_files() {
    let tree = Tree::new(&[(".gitignore", b"*.log\n")]);
    for number in 0..200 {
        tree.put(format!("f{}/{number}.txt", number % 10), "pump ".repeat(20_000));
    }
    // What a process reads is counted for all its threads, so that it has to be one of its own.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_program_that_asks_for_revisions", "--test-threads=1", "--nocapture"])
        .env("REVISIONS_ROOT", tree.0.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn reads_do_not_walk() {
    let tree = Tree::new(&[("a.txt", b"a"), ("b.txt", b"b")]);
    let source = tree.source();
    let revision = source.revision().await.unwrap();
    tree.put("c.txt", "c");
    // A walk would find the new file; what is read is of the walk before.
    assert_eq!(read(&source, "c.txt").await.unwrap_err().kind(), SourceErrorKind::NotFound);
    assert_eq!(read(&source, "a.txt").await.unwrap().source_revision, revision);
    assert_ne!(source.revision().await.unwrap(), revision);
    assert_eq!(text(&source, "c.txt").await, "c");
}

#[tokio::test]
async fn one_execution_cannot_reach_what_another_wrote() {
    let tree = Tree::new(&[("a.txt", b"a")]);
    let (mine, theirs) = (of_execution(&tree, "run-1"), of_execution(&tree, "run-2"));
    theirs.write(&path("plan.txt"), "canary", None).unwrap();
    mine.write(&path("own.txt"), "own", None).unwrap();
    assert_eq!(tree.bytes(".briefing/files/run-2/plan.txt"), b"canary");
    assert_eq!(code(mine.read(&path("plan.txt"), 9)), "workspace.not_found");
    for spelling in
        [".briefing/files/run-2/plan.txt", "../run-2/plan.txt", "x/../.briefing/files/run-2/plan.txt"]
    {
        assert!(WorkspacePath::new(spelling).is_err(), "{spelling}");
        assert!(mine.workspace_path(tree.path(spelling)).is_err(), "{spelling}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".briefing/files/run-2", tree.path("other")).unwrap();
        std::os::unix::fs::symlink("../run-2/plan.txt", tree.path(".briefing/files/run-1/link.txt")).unwrap();
        assert_eq!(code(mine.read(&path("other/plan.txt"), 9)), "workspace.private_area");
        assert!(mine.read(&path("link.txt"), 9).is_err());
    }
    let hidden = ListRequest::new().include_hidden(true).respect_ignore_files(false);
    let listed = mine.list(&hidden).unwrap();
    assert_eq!(
        listed.entries.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(),
        ["a.txt", "own.txt"]
    );
    assert!(mine.grep(&GrepRequest::new("canary").files(hidden.clone())).unwrap().matches.is_empty());
    assert_eq!(mine.search(&SearchRequest::new("canary").files(hidden)).unwrap().total, 0);
    let options = WorkspaceSourceOptions::new().include_hidden(true).respect_ignore_files(false);
    let source = mine.source(options).unwrap();
    assert_eq!(list(&source, 100).await.keys(), ["a.txt", "own.txt"]);
    assert!(read(&source, ".briefing/files/run-2/plan.txt").await.is_err());
    for id in ["../run-2", "run-1/../run-2", ".", ""] {
        assert_eq!(code(ExecutionId::new(id)), "workspace.invalid_id", "{id:?}");
    }
}

#[tokio::test]
async fn secrets_and_version_control_are_not_offered() {
    let secret = b"canary: do not tell\n";
    let secrets = [
        ".env",
        ".env.production",
        "deploy/prod.env",
        "id_rsa",
        "keys/server.pem",
        "keys/server.key",
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".netrc",
        ".git/config",
        "sub/.git/hooks/post",
    ];
    let tree = Tree::new(&[
        ("readme.md", b"no canary\n"),
        (".env.example", b"KEY=\n"),
        ("id_rsa.pub", b"ssh-rsa A\n"),
    ]);
    for file in secrets {
        tree.put(file, secret);
    }
    let all = WorkspaceSourceOptions::new().include_hidden(true).respect_ignore_files(false);
    let workspace = tree.workspace();
    for options in [WorkspaceSourceOptions::new(), all.clone()] {
        let source = workspace.source(options).unwrap();
        let listing = list(&source, 100).await;
        for found in &listing.descriptors {
            assert!(!found.index_text.contains("do not tell"), "{}", found.source_ref);
        }
        for file in secrets {
            assert_eq!(read(&source, file).await.unwrap_err().kind(), SourceErrorKind::NotFound, "{file}");
        }
        let named = listing.details("workspace.secret_file_skipped", "path");
        assert!(
            named.contains(&"id_rsa".to_owned()) && named.contains(&"keys/server.pem".to_owned()),
            "{named:?}"
        );
    }
    let files = ListRequest::new().include_hidden(true).respect_ignore_files(false);
    let found = workspace.grep(&GrepRequest::new("do not tell").files(files.clone())).unwrap();
    assert!(found.matches.is_empty(), "{found:?}");
    assert!(found.diagnostics.iter().any(|it| it.code == "workspace.secret_file_skipped"));
    assert_eq!(workspace.search(&SearchRequest::new("do not tell").files(files.clone())).unwrap().total, 0);
    let listed = workspace.list(&files).unwrap();
    let names: Vec<_> = listed.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(names, [".env.example", "id_rsa.pub", "readme.md"]);
    // Who asks for them gets them; what is version control's own is never offered.
    let asked = workspace.list(&files.include_secrets(true)).unwrap();
    assert_eq!(asked.total, names.len() + secrets.len() - 2);
    let source = workspace.source(all.include_secrets(true)).unwrap();
    list(&source, 100).await;
    assert_eq!(text(&source, "id_rsa").await.as_bytes(), secret);
    assert!(read(&source, ".git/config").await.is_err());
}

#[test]
fn a_deleted_line_that_looks_like_a_name_is_a_line() {
    let tree = Tree::new(&[("q.sql", b"-- old comment\nselect 1;\n++ x\n")]);
    let workspace = tree.read_write();
    let diff = "--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,3 @@\n--- old comment\n+-- new comment\n select 1;\n-++ x\n+++ y\n";
    workspace.apply_patch(diff, Some(&[path("q.sql")])).unwrap();
    assert_eq!(tree.bytes("q.sql"), b"-- new comment\nselect 1;\n++ y\n");
    assert_eq!(tree.everything().len(), 1);
}

#[tokio::test]
async fn a_long_text_is_delivered_by_its_passages() {
    let filler: String = (0..900).map(|line| format!("Paragraph {line} says nothing of note.\n\n")).collect();
    let long = format!("# Book\n\n{filler}\nThe desalination plant is audited on Monday.\n\n{filler}");
    assert!(long.len() > 50_000);
    let tree = Tree::new(&[("book.md", long.as_bytes()), ("other.md", b"Lunch is at noon.\n")]);
    let context = TaskContext::new("task").unwrap();
    context.attach(Arc::new(tree.source()), ContextBinding::default()).unwrap();
    let mut reader = context.reader(ContextConsumer::new("worker").unwrap()).open().await.unwrap();
    let package =
        reader.read(&ContextReadIntent::new("when is the desalination plant audited").unwrap()).await;
    let package = package.unwrap();
    let texts: Vec<_> = package
        .blocks()
        .iter()
        .map(|block| (block.source_ref.as_str(), block.content.as_ref().unwrap().to_text().unwrap()))
        .collect();
    let (source_ref, text) = texts
        .iter()
        .find(|(_, text)| text.contains("audited on Monday"))
        .unwrap_or_else(|| panic!("{texts:#?}"));
    assert!(source_ref.starts_with("book.md#L") && text.chars().count() < 6_000, "{source_ref}");
}

#[tokio::test]
async fn a_page_that_is_exactly_full_is_the_last() {
    let tree = Tree::new(&[("a.txt", b"pump\n"), ("b.txt", b"pump\n"), ("c.txt", b"pump\n")]);
    let workspace = tree.workspace();
    for limit in [1, 2, 3, 4] {
        let more = limit < 3;
        let listed = workspace.list(&ListRequest::new().limit(limit)).unwrap();
        assert_eq!((listed.next.is_some(), listed.total, listed.entries.len()), (more, 3, limit.min(3)));
        let lines = workspace.grep(&GrepRequest::new("pump").limit(limit)).unwrap();
        assert_eq!((lines.next.is_some(), lines.matches.len()), (more, limit.min(3)), "{limit}");
        let hits = workspace.search(&SearchRequest::new("pump").limit(limit)).unwrap();
        assert_eq!((hits.total, hits.hits.len()), (3, limit.min(3)));
        let source = tree.source();
        let profile = briefing_core::ProjectionProfile::standard();
        let page = source.enumerate_descriptors(&profile, None, limit).await.unwrap();
        let (descriptors, _, next) = page.into_parts();
        assert_eq!((descriptors.len(), next.is_some()), (limit.min(3), more), "{limit}");
    }
    for (bytes, truncated) in [(4, true), (5, false), (6, false)] {
        assert_eq!(workspace.read(&path("a.txt"), bytes).unwrap().truncated, truncated);
    }
    for (chars, more) in [(4, true), (5, false), (6, false)] {
        let part = workspace.read_text(&path("a.txt"), TextWindow::chars(0).max_chars(chars)).unwrap();
        assert_eq!((part.more, part.next_chars.is_some()), (more, more));
    }
    // A file that is too large to be looked into is named.
    tree.put("large.txt", "pump\n".repeat(100));
    let found = workspace.grep(&GrepRequest::new("pump").max_file_bytes(100)).unwrap();
    let said = serde_json::to_string(&found.diagnostics).unwrap();
    assert!(said.contains("large.txt"), "{said}");
}

#[tokio::test]
async fn a_file_at_the_same_path_does_not_hide_what_the_execution_wrote() {
    let tree = Tree::new(&[("a.txt", b"a")]);
    let workspace = of_execution(&tree, "run");
    workspace.write(&path("plan.txt"), "mine", None).unwrap();
    tree.put("plan.txt", "theirs");
    assert_eq!(workspace.read(&path("plan.txt"), 9).unwrap().bytes, b"mine");
    let listed = workspace.list(&ListRequest::new()).unwrap();
    let plan = listed.entries.iter().find(|entry| entry.path == "plan.txt").unwrap();
    assert!(plan.in_fallback && listed.total == 2);
    let source = workspace.source(WorkspaceSourceOptions::new()).unwrap();
    list(&source, 10).await;
    assert_eq!(text(&source, "plan.txt").await, "mine");
    assert_eq!(of_execution(&tree, "run").read(&path("plan.txt"), 9).unwrap().bytes, b"mine");
    assert_eq!(tree.bytes("plan.txt"), b"theirs");
}

#[tokio::test]
async fn the_source_of_every_execution_has_the_same_id_and_revision() {
    let tree = Tree::new(&[("a.txt", b"a")]);
    let sources: Vec<_> = ["run-1", "run-2"]
        .map(|id| of_execution(&tree, id).source(WorkspaceSourceOptions::new()).unwrap())
        .into_iter()
        .chain([tree.read_write().source(WorkspaceSourceOptions::new()).unwrap(), tree.source()])
        .collect();
    let mut known = BTreeSet::new();
    for source in &sources {
        known.insert((source.source_id().to_string(), source.revision().await.unwrap().to_string()));
    }
    assert_eq!(known.len(), 1, "{known:?}");
    // An own file makes the listing another, and only for the execution that wrote it.
    let mine = of_execution(&tree, "run-1");
    mine.write(&path("own.txt"), "own", None).unwrap();
    let source = mine.source(WorkspaceSourceOptions::new()).unwrap();
    assert_ne!(source.revision().await.unwrap(), sources[1].revision().await.unwrap());
    assert_eq!(source.source_id(), sources[1].source_id());
}
