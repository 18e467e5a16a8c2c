//! A candidate waits apart, is promoted only as it was verified, and is never lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;

use briefing_core::Digest;
use briefing_task_workspace::{
    CandidateId, Error, ExecutionId, TargetState, TaskWorkspace, WorkspaceOptions, WorkspacePath,
};
use common::{Tree, path};

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

#[test]
fn a_staged_candidate_leaves_the_target_alone_and_outlasts_the_handle() {
    let tree = Tree::new(&[("a.txt", b"old")]);
    let staged = tree.read_write().stage(&path("a.txt"), "new").unwrap();
    assert_eq!(tree.everything(), BTreeMap::from([("a.txt".to_owned(), b"old".to_vec())]));
    let workspace = tree.read_write();
    assert_eq!(workspace.candidates().unwrap(), std::slice::from_ref(&staged));
    assert_eq!(workspace.candidate(&staged.id).unwrap(), staged);
    assert_eq!(workspace.read_candidate(&staged.id).unwrap(), b"new");
    assert_eq!((staged.digest, staged.size_bytes), (Digest::of(b"new"), 3));
    assert_eq!(staged.target_state, TargetState::Present(Digest::of(b"old")));

    let written = workspace.promote(&staged, staged.target_state).unwrap();
    assert_eq!((written.digest, written.before), (staged.digest, staged.target_state));
    assert_eq!(tree.bytes("a.txt"), b"new");
    assert!(workspace.candidates().unwrap().is_empty());
    assert_eq!(code(workspace.promote(&staged, TargetState::Absent)), "workspace.unknown_candidate");
    assert_eq!(std::fs::read_dir(tree.path(".briefing/workspace/staged")).unwrap().count(), 0);
}

#[test]
fn a_target_that_changed_since_is_not_overwritten() {
    let tree = Tree::new(&[("a.txt", b"old")]);
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("a.txt"), "new").unwrap();
    std::fs::write(tree.path("a.txt"), "old+").unwrap();
    let error = workspace.promote(&candidate, candidate.target_state).unwrap_err();
    let Error::Conflict { expected, found, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*expected, *found), (candidate.target_state, TargetState::Present(Digest::of(b"old+"))));
    tree.remove("a.txt");
    assert_eq!(code(workspace.promote(&candidate, candidate.target_state)), "workspace.conflict");
    assert_eq!(workspace.read_candidate(&candidate.id).unwrap(), b"new");
    workspace.promote(&candidate, TargetState::Absent).unwrap();

    let fresh = workspace.stage(&path("b.txt"), "mine").unwrap();
    tree.put("b.txt", "theirs");
    assert_eq!(code(workspace.promote(&fresh, TargetState::Absent)), "workspace.conflict");
    assert_eq!(tree.bytes("b.txt"), b"theirs");
}

#[test]
fn only_the_bytes_that_were_verified_are_promoted() {
    let tree = Tree::new(&[("a.txt", b"old")]);
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("a.txt"), "new").unwrap();
    let slot = tree.path(".briefing/workspace/staged").join(candidate.id.as_str());
    std::fs::write(&slot, "bad").unwrap();
    let error = workspace.promote(&candidate, candidate.target_state).unwrap_err();
    assert_eq!(error.code(), "workspace.candidate_damaged");
    assert_eq!(code(workspace.read_candidate(&candidate.id)), "workspace.candidate_damaged");
    assert_eq!(tree.bytes("a.txt"), b"old");
    // Another opening does not take it for one that was promoted.
    let again = tree.read_write();
    assert_eq!(again.candidates().unwrap().len(), 1);
    std::fs::write(&slot, "new").unwrap();
    again.promote(&candidate, candidate.target_state).unwrap();

    let mut forged = again.stage(&path("a.txt"), "third").unwrap();
    forged.target = path("b.txt");
    assert_eq!(code(again.promote(&forged, TargetState::Absent)), "workspace.candidate_damaged");
}

#[test]
fn a_discarded_candidate_is_gone_and_its_target_is_not() {
    let tree = Tree::new(&[("a.txt", b"old")]);
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("a.txt"), "new").unwrap();
    workspace.discard(&candidate.id).unwrap();
    assert_eq!(code(workspace.discard(&candidate.id)), "workspace.unknown_candidate");
    assert_eq!(code(workspace.read_candidate(&candidate.id)), "workspace.unknown_candidate");
    assert_eq!(code(CandidateId::new("../../a.txt")), "workspace.invalid_id");
    assert_eq!(tree.bytes("a.txt"), b"old");
}

#[test]
fn several_targets_are_promoted_together_or_not_at_all() {
    let tree = Tree::new(&[("a.txt", b"old a"), ("b.txt", b"old b")]);
    let workspace = tree.read_write();
    let stage = |target: &str, bytes: &str| workspace.stage(&path(target), bytes).unwrap();
    let (a, b, c) = (stage("a.txt", "new a"), stage("b.txt", "new b"), stage("d/c.txt", "new c"));
    let before = tree.everything();
    let unit = |b_expected| [(&a, a.target_state), (&b, b_expected), (&c, TargetState::Absent)];
    assert_eq!(code(workspace.promote_all(&unit(TargetState::Absent))), "workspace.conflict");
    assert_eq!(tree.everything(), before);
    // The last of them cannot be made: the others are undone.
    tree.put("D/x", "");
    assert_eq!(code(workspace.promote_all(&unit(b.target_state))), "workspace.name_collision");
    std::fs::remove_dir_all(tree.path("D")).unwrap();
    assert_eq!(tree.everything(), before);
    assert_eq!(workspace.candidates().unwrap().len(), 3);

    let other = stage("a.txt", "another a");
    let twice = [(&a, a.target_state), (&other, a.target_state)];
    assert_eq!(code(workspace.promote_all(&twice)), "workspace.target_twice");
    let inside = stage("d", "d");
    let nested = [(&inside, TargetState::Absent), (&c, TargetState::Absent)];
    assert_eq!(code(workspace.promote_all(&nested)), "workspace.target_twice");

    let written = workspace.promote_all(&unit(b.target_state)).unwrap();
    assert_eq!(written.len(), 3);
    assert_eq!(
        ["a.txt", "b.txt", "d/c.txt"].map(|file| String::from_utf8(tree.bytes(file)).unwrap()),
        ["new a", "new b", "new c"]
    );
    assert_eq!(std::fs::read_dir(tree.path(".briefing/workspace/journal")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_leaves_old_bytes_and_candidate() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new(&[("sub/a.txt", b"old")]);
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("sub/a.txt"), "new").unwrap();
    let lock = |mode| {
        std::fs::set_permissions(tree.path("sub"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    lock(0o555);
    let is_all_powerful = std::fs::write(tree.path("sub/probe"), "").is_ok();
    if !is_all_powerful {
        assert_eq!(code(workspace.promote(&candidate, candidate.target_state)), "workspace.not_written");
        assert_eq!(tree.bytes("sub/a.txt"), b"old");
        assert_eq!(workspace.read_candidate(&candidate.id).unwrap(), b"new");
    }
    lock(0o755);
    workspace.promote(&candidate, candidate.target_state).unwrap();
}

#[test]
fn an_open_delivery_keeps_every_other_write_off_its_targets() {
    let tree = Tree::new(&[("out/report.md", b"old"), ("src/report.md", b"s"), ("notes.md", b"n")]);
    let workspace = tree.read_write();
    let delivery = workspace.open_delivery(&[path("out/report.md")]).unwrap();
    let before = tree.everything();
    // Every view of the workspace, in this process or another, and every operation.
    for view in [workspace.clone(), tree.read_write()] {
        let refused = [
            code(view.write(&path("out/report.md"), "x", None)),
            code(view.write(&path("OUT/Report.md"), "x", None)),
            code(view.append(&path("out/report.md"), "x", None)),
            code(view.copy(&path("notes.md"), &path("out/report.md"), None)),
            code(view.rename(&path("out/report.md"), &path("gone.md"))),
            code(view.rename(&path("out"), &path("elsewhere"))),
            code(view.rename(&path("notes.md"), &path("out/report.md"))),
            code(view.remove_file(&path("out/report.md"), None)),
            code(view.remove_folder(&path("out"), true)),
            code(view.write(&path("out"), "x", None)),
            code(view.write(&path("out/report.md/x"), "x", None)),
        ];
        assert_eq!(refused, ["workspace.protected"; 11]);
    }
    assert_eq!(tree.everything(), before);
    // A folder whose content would come to lie on a target.
    let future = workspace.open_delivery(&[path("new/report.md")]).unwrap();
    assert_eq!(code(workspace.rename(&path("src"), &path("new"))), "workspace.protected");
    workspace.close_delivery(&future.id).unwrap();

    let candidate = workspace.stage(&path("out/report.md"), "new").unwrap();
    workspace.promote(&candidate, candidate.target_state).unwrap();
    assert_eq!(tree.bytes("out/report.md"), b"new");
    assert_eq!(workspace.deliveries().unwrap(), std::slice::from_ref(&delivery));
    assert_eq!(code(workspace.close_delivery("delivery-unknown")), "workspace.unknown_delivery");
    assert_eq!(code(workspace.close_delivery("../identity")), "workspace.unknown_delivery");
    workspace.close_delivery(&delivery.id).unwrap();
    workspace.write(&path("out/report.md"), "x", None).unwrap();
}

#[test]
fn a_read_only_workspace_promotes_new_targets_to_its_fallback() {
    let tree = Tree::new(&[("a.txt", b"old")]);
    let options = WorkspaceOptions::read_only().execution(ExecutionId::new("run").unwrap());
    let workspace = TaskWorkspace::open_with(tree.0.path(), options).unwrap();
    let candidate = workspace.stage(&path("b.txt"), "new").unwrap();
    let written = workspace.promote(&candidate, TargetState::Absent).unwrap();
    assert!(written.in_fallback);
    assert_eq!(tree.bytes(".briefing/files/run/b.txt"), b"new");
    assert!(!tree.path("b.txt").exists());
    // A file that came meanwhile is not overwritten.
    let late = workspace.stage(&path("c.txt"), "new").unwrap();
    tree.put("c.txt", "theirs");
    assert_eq!(code(workspace.promote(&late, TargetState::Absent)), "workspace.read_only");
    assert_eq!(tree.bytes("c.txt"), b"theirs");
}

#[test]
fn a_staging_folder_of_the_system_plays_no_part() {
    // Candidates lie on the target's own file system; TMPDIR is never asked.
    let tree = Tree::new(&[]);
    let workspace = tree.read_write();
    let candidate = workspace.stage(&WorkspacePath::new("a.txt").unwrap(), "x").unwrap();
    assert!(tree.path(".briefing/workspace/staged").join(candidate.id.as_str()).exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_target_on_another_file_system_is_refused_and_left_whole() {
    let tree = Tree::new(&[("plain.txt", b"p")]);
    std::fs::create_dir(tree.path("mounted")).unwrap();
    let mount = |arguments: &[&str]| {
        let status = std::process::Command::new("mount").args(arguments).arg(tree.path("mounted")).output();
        status.is_ok_and(|output| output.status.success())
    };
    if !mount(&["-t", "tmpfs", "none"]) {
        use std::io::Write as _;
        writeln!(std::io::stdout(), "SKIPPED: no file system can be mounted here").unwrap();
        return;
    }
    tree.put("mounted/a.txt", "old");
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("mounted/a.txt"), "new").unwrap();
    let promoted = code(workspace.promote(&candidate, candidate.target_state));
    let written = code(workspace.write(&path("mounted/b.txt"), "new", None));
    let moved = code(workspace.rename(&path("plain.txt"), &path("mounted/plain.txt")));
    let old = tree.bytes("mounted/a.txt");
    let kept = workspace.read_candidate(&candidate.id).unwrap();
    std::process::Command::new("umount").arg(tree.path("mounted")).status().unwrap();
    assert_eq!([promoted, written, moved], ["workspace.other_file_system"; 3]);
    assert_eq!((old, kept), (b"old".to_vec(), b"new".to_vec()));
}

#[test]
fn what_a_stopped_machine_left_of_a_staging_is_swept_and_other_candidates_stay() {
    let tree = Tree::new(&[]);
    let staged = tree.read_write().stage(&path("a.txt"), "kept").unwrap();
    for (id, facts) in [("candidate-empty", &b""[..]), ("candidate-zeros", &[0; 64])] {
        tree.put(format!(".briefing/workspace/staged/{id}"), "torn");
        tree.put(format!(".briefing/workspace/staged/{id}.json"), facts);
    }
    let workspace = tree.read_write();
    assert_eq!(workspace.candidates().unwrap(), std::slice::from_ref(&staged));
    assert_eq!(workspace.read_candidate(&staged.id).unwrap(), b"kept");
    assert_eq!(std::fs::read_dir(tree.path(".briefing/workspace/staged")).unwrap().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_promotion_leaves_exactly_the_attributes_that_the_target_has_by_then() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new(&[("a.sh", b"old")]);
    let (target, flags) = (tree.path("a.sh"), rustix::fs::XattrFlags::empty());
    let set = |name: &str, value: &[u8]| rustix::fs::setxattr(&target, name, value, flags);
    if set("user.first", b"1").is_err() {
        return;
    }
    let workspace = tree.read_write();
    let candidate = workspace.stage(&path("a.sh"), "new").unwrap();
    rustix::fs::removexattr(&target, "user.first").unwrap();
    set("user.second", b"2").unwrap();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o751)).unwrap();
    workspace.promote(&candidate, candidate.target_state).unwrap();
    let mut names = [0_u8; 256];
    let length = rustix::fs::listxattr(&target, &mut names).unwrap();
    assert_eq!(&names[..length], b"user.second\0");
    assert_eq!(std::fs::metadata(&target).unwrap().permissions().mode() & 0o7777, 0o751);
}

#[test]
fn a_candidate_is_found_under_the_id_that_its_caller_chose_and_no_id_is_used_twice() {
    let tree = Tree::new(&[]);
    let workspace = tree.read_write();
    let id = CandidateId::new("candidate-mine").unwrap();
    let staged = workspace.stage_as(id.clone(), &path("a.txt"), "new").unwrap();
    assert_eq!((workspace.candidate(&id).unwrap(), &staged.id), (staged.clone(), &id));
    assert_eq!(code(workspace.stage_as(id.clone(), &path("b.txt"), "other")), "workspace.candidate_exists");
    assert_eq!(workspace.read_candidate(&id).unwrap(), b"new", "the first one stands");
}

#[test]
fn a_delivery_that_is_opened_again_under_its_id_has_the_new_targets() {
    let tree = Tree::new(&[]);
    let workspace = tree.read_write();
    workspace.open_delivery_as("mine", &[path("a.txt")]).unwrap();
    workspace.open_delivery_as("mine", &[path("b.txt")]).unwrap();
    assert_eq!(workspace.deliveries().unwrap().len(), 1);
    workspace.write(&path("a.txt"), "free", None).unwrap();
    assert_eq!(code(workspace.write(&path("b.txt"), "x", None)), "workspace.protected");
    workspace.close_delivery("mine").unwrap();
    assert_eq!(code(workspace.open_delivery_as("../mine", &[])), "workspace.invalid_id");
}

#[test]
fn views_for_executions_share_policy_and_quota_but_no_fallback() {
    let tree = Tree::new(&[("a.txt", b"old")]);
    let policy = briefing_task_workspace::WritePolicy::new().deny("secret/**").max_total_bytes(10);
    let options = WorkspaceOptions::read_only().policy(policy.clone());
    let workspace = TaskWorkspace::open_with(tree.path(""), options).unwrap();
    let view = |name: &str| workspace.for_execution(ExecutionId::new(name).unwrap()).unwrap();
    let (one, other) = (view("one"), view("other"));
    assert_eq!((one.policy(), one.execution_id().as_str()), (&policy, "one"));
    one.write(&path("b.txt"), "123456", None).unwrap();
    assert_eq!(code(other.read(&path("b.txt"), 10)), "workspace.not_found");
    assert_eq!(code(other.write(&path("secret/b.txt"), "1", None)), "workspace.denied");
    assert_eq!(code(other.write(&path("c.txt"), "123456", None)), "workspace.quota_exceeded");
    assert_eq!(view("one").read(&path("b.txt"), 10).unwrap().bytes, b"123456");
    let json = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<briefing_task_workspace::WritePolicy>(&json).unwrap(), policy);
}
