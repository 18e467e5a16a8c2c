//! Any sequence of operations gives what a plain model in memory gives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use briefing_core::Digest;
use briefing_task_workspace::{Candidate, TargetState, TaskWorkspace};
use common::{Tree, path};
use proptest::prelude::*;

/// Paths that meet as files and folders.
const PATHS: [&str; 8] = ["a", "b", "a/c", "a/c/d", "b/e", "f/g/h", "f", "f/g"];

#[derive(Debug, Clone)]
enum Operation {
    Write { at: usize, bytes: Vec<u8>, expected: Guess },
    Append { at: usize, bytes: Vec<u8> },
    Copy { from: usize, to: usize },
    Rename { from: usize, to: usize },
    RemoveFile { at: usize, expected: Guess },
    RemoveFolder { at: usize, with_contents: bool },
    CreateFolder { at: usize },
    Stage { at: usize, bytes: Vec<u8> },
    Promote { candidate: usize, expected: Guess },
    PromoteAll,
    Discard { candidate: usize },
    Reopen,
}

/// What a caller expects at a target.
#[derive(Debug, Clone, Copy)]
enum Guess {
    Anything,
    Right,
    Absent,
    Other,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let at = || 0..PATHS.len();
    let bytes = || prop::collection::vec(0_u8..3, 0..4);
    let guess =
        || prop_oneof![Just(Guess::Anything), Just(Guess::Right), Just(Guess::Absent), Just(Guess::Other)];
    let one = prop_oneof![
        4 => (at(), bytes(), guess()).prop_map(|(at, bytes, expected)| Operation::Write { at, bytes, expected }),
        2 => (at(), bytes()).prop_map(|(at, bytes)| Operation::Append { at, bytes }),
        2 => (at(), at()).prop_map(|(from, to)| Operation::Copy { from, to }),
        4 => (at(), at()).prop_map(|(from, to)| Operation::Rename { from, to }),
        2 => (at(), guess()).prop_map(|(at, expected)| Operation::RemoveFile { at, expected }),
        2 => (at(), any::<bool>()).prop_map(|(at, with_contents)| Operation::RemoveFolder { at, with_contents }),
        2 => at().prop_map(|at| Operation::CreateFolder { at }),
        3 => (at(), bytes()).prop_map(|(at, bytes)| Operation::Stage { at, bytes }),
        3 => (0_usize..4, guess()).prop_map(|(candidate, expected)| Operation::Promote { candidate, expected }),
        1 => Just(Operation::PromoteAll),
        1 => (0_usize..4).prop_map(|candidate| Operation::Discard { candidate }),
        1 => Just(Operation::Reopen),
    ];
    prop::collection::vec(one, 1..40)
}

/// Files and folders by path.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    files: BTreeMap<String, Vec<u8>>,
    folders: BTreeSet<String>,
}

fn folders_of(path: &str) -> Vec<String> {
    path.match_indices('/').map(|(at, _)| path[..at].to_owned()).collect()
}

fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

impl Model {
    fn state(&self, path: &str) -> TargetState {
        self.files.get(path).map(|bytes| Digest::of(bytes)).into()
    }

    fn can_be_reached(&self, path: &str) -> bool {
        folders_of(path).iter().all(|folder| !self.files.contains_key(folder))
    }

    fn make_folders(&mut self, path: &str) {
        self.folders.extend(folders_of(path));
    }

    fn write(&mut self, path: &str, bytes: Vec<u8>, expected: Option<TargetState>) -> bool {
        let refused = !self.can_be_reached(path)
            || self.folders.contains(path)
            || expected.is_some_and(|expected| expected != self.state(path));
        if !refused {
            self.make_folders(path);
            self.files.insert(path.to_owned(), bytes);
        }
        !refused
    }

    fn rename(&mut self, from: &str, to: &str) -> bool {
        let is_there = |path: &str| self.files.contains_key(path) || self.folders.contains(path);
        if from == to {
            return is_there(from);
        }
        if !is_there(from) || is_there(to) || is_in(to, from) || !self.can_be_reached(to) {
            return false;
        }
        self.make_folders(to);
        let moved = |path: &str| format!("{to}{}", &path[from.len()..]);
        let is_moved = |path: &str| path == from || is_in(path, from);
        let files = std::mem::take(&mut self.files);
        self.files = files
            .into_iter()
            .map(|(path, bytes)| if is_moved(&path) { (moved(&path), bytes) } else { (path, bytes) })
            .collect();
        let folders = std::mem::take(&mut self.folders);
        self.folders =
            folders.into_iter().map(|path| if is_moved(&path) { moved(&path) } else { path }).collect();
        true
    }

    fn remove_folder(&mut self, path: &str, with_contents: bool) -> bool {
        let is_empty = !self.files.keys().chain(&self.folders).any(|other| is_in(other, path));
        if !self.folders.contains(path) || !(is_empty || with_contents) {
            return false;
        }
        self.files.retain(|other, _| !is_in(other, path));
        self.folders.retain(|other| other != path && !is_in(other, path));
        true
    }

    fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        let folders = self.folders.iter().map(|folder| (format!("{folder}/"), Vec::new()));
        self.files.clone().into_iter().chain(folders).collect()
    }
}

struct Run {
    tree: Tree,
    workspace: TaskWorkspace,
    model: Model,
    staged: Vec<(Candidate, Vec<u8>)>,
}

impl Run {
    fn expected(&self, guess: Guess, path: &str) -> Option<TargetState> {
        match guess {
            Guess::Anything => None,
            Guess::Right => Some(self.model.state(path)),
            Guess::Absent => Some(TargetState::Absent),
            Guess::Other => Some(TargetState::Present(Digest::of(b"something else"))),
        }
    }

    /// Does the operation in both worlds; whether each did it.
    fn act(&mut self, operation: &Operation) -> (bool, bool) {
        let workspace = self.workspace.clone();
        match operation {
            Operation::Write { at, bytes, expected } => {
                let expected = self.expected(*expected, PATHS[*at]);
                let real = workspace.write(&path(PATHS[*at]), bytes, expected).is_ok();
                (real, self.model.write(PATHS[*at], bytes.clone(), expected))
            }
            Operation::Append { at, bytes } => {
                let real = workspace.append(&path(PATHS[*at]), bytes, None).is_ok();
                let mut whole = self.model.files.get(PATHS[*at]).cloned().unwrap_or_default();
                whole.extend(bytes);
                (real, self.model.write(PATHS[*at], whole, None))
            }
            Operation::Copy { from, to } => {
                let real = workspace.copy(&path(PATHS[*from]), &path(PATHS[*to]), None).is_ok();
                let bytes = self.model.files.get(PATHS[*from]).cloned();
                (real, bytes.is_some_and(|bytes| self.model.write(PATHS[*to], bytes, None)))
            }
            Operation::Rename { from, to } => (
                workspace.rename(&path(PATHS[*from]), &path(PATHS[*to])).is_ok(),
                self.model.rename(PATHS[*from], PATHS[*to]),
            ),
            Operation::RemoveFile { at, expected } => {
                let expected = self.expected(*expected, PATHS[*at]);
                let real = workspace.remove_file(&path(PATHS[*at]), expected).is_ok();
                let is_as_expected = expected.is_none_or(|expected| expected == self.model.state(PATHS[*at]));
                (real, is_as_expected && self.model.files.remove(PATHS[*at]).is_some())
            }
            Operation::RemoveFolder { at, with_contents } => (
                workspace.remove_folder(&path(PATHS[*at]), *with_contents).is_ok(),
                self.model.remove_folder(PATHS[*at], *with_contents),
            ),
            Operation::CreateFolder { at } => {
                let real = workspace.create_folder(&path(PATHS[*at])).is_ok();
                let is_free =
                    self.model.can_be_reached(PATHS[*at]) && !self.model.files.contains_key(PATHS[*at]);
                if is_free {
                    self.model.make_folders(PATHS[*at]);
                    self.model.folders.insert(PATHS[*at].to_owned());
                }
                (real, is_free)
            }
            Operation::Stage { at, bytes } => {
                let staged = workspace.stage(&path(PATHS[*at]), bytes);
                let is_ok = staged.is_ok();
                self.staged.extend(staged.map(|candidate| (candidate, bytes.clone())));
                let could = self.model.can_be_reached(PATHS[*at]) && !self.model.folders.contains(PATHS[*at]);
                (is_ok, could)
            }
            Operation::Promote { candidate, expected } => {
                let Some((found, bytes)) = self.staged.get(*candidate).cloned() else { return (true, true) };
                let target = found.target.as_str();
                let expected = self.expected(*expected, target).unwrap_or(found.target_state);
                let real = workspace.promote(&found, expected).is_ok();
                let model = self.model.write(target, bytes, Some(expected));
                if model {
                    self.staged.remove(*candidate);
                }
                (real, model)
            }
            Operation::PromoteAll => {
                let unit: Vec<_> = self
                    .staged
                    .iter()
                    .map(|(found, _)| (found, self.model.state(found.target.as_str())))
                    .collect();
                let real = workspace.promote_all(&unit).is_ok();
                let mut after = self.model.clone();
                let targets: Vec<_> = self.staged.iter().map(|(found, _)| found.target.as_str()).collect();
                let apart = targets.iter().enumerate().all(|(at, target)| {
                    targets
                        .iter()
                        .skip(at + 1)
                        .all(|other| other != target && !is_in(other, target) && !is_in(target, other))
                });
                let all = apart
                    && self
                        .staged
                        .iter()
                        .all(|(found, bytes)| after.write(found.target.as_str(), bytes.clone(), None));
                if all {
                    self.model = after;
                    self.staged.clear();
                }
                (real, all)
            }
            Operation::Discard { candidate } => {
                let Some((found, _)) = self.staged.get(*candidate).cloned() else { return (true, true) };
                self.staged.remove(*candidate);
                (workspace.discard(&found.id).is_ok(), true)
            }
            Operation::Reopen => {
                self.workspace = self.tree.read_write();
                (true, true)
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_operations_gives_what_the_model_gives(operations in operations()) {
        let tree = Tree::new(&[]);
        let workspace = tree.read_write();
        let mut run = Run { tree, workspace, model: Model::default(), staged: Vec::new() };
        for (at, operation) in operations.iter().enumerate() {
            let (real, model) = run.act(operation);
            prop_assert_eq!(real, model, "operation {} of {:?}", at, operations);
            let found = run.tree.everything();
            prop_assert_eq!(&found, &run.model.everything(), "after operation {} of {:?}", at, operations);
            for (file, bytes) in &run.model.files {
                prop_assert_eq!(&run.workspace.read(&path(file), 99).unwrap().bytes, bytes);
            }
            let mut staged: Vec<_> = run.workspace.candidates().unwrap().into_iter().map(|found| found.id).collect();
            staged.sort();
            let mut known: Vec<_> = run.staged.iter().map(|(found, _)| found.id.clone()).collect();
            known.sort();
            prop_assert_eq!(staged, known);
            for (found, bytes) in &run.staged {
                prop_assert_eq!(&run.workspace.read_candidate(&found.id).unwrap(), bytes);
            }
        }
    }
}
