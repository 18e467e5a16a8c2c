//! The walk: every file that the workspace offers, by the rules of `.gitignore`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use briefing_core::{ContextDiagnostic, Severity};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::error::{Error, FileKind};
use crate::name::{self, FileName};
use crate::read::FileIdentity;
use crate::{TaskWorkspace, path};

/// How many diagnostics of one code a walk reports one by one; the rest are counted.
const MAX_DIAGNOSTICS_OF_A_CODE: usize = 100;

/// How many threads walk.
const THREADS: usize = 2;

/// What a walk leaves out.
#[derive(Debug, Clone)]
pub(crate) struct WalkRules {
    include_hidden: bool,
    respect_ignore_files: bool,
    globs: Gitignore,
}

impl WalkRules {
    pub(crate) fn new(
        root: &Path,
        include_hidden: bool,
        respect_ignore_files: bool,
        globs: &[String],
    ) -> Result<Self, Error> {
        let mut builder = GitignoreBuilder::new(root);
        for glob in globs {
            let refused = |source| Error::IgnoreGlob { glob: glob.clone(), source };
            builder.add_line(None, glob).map_err(refused)?;
        }
        let globs = builder.build().map_err(|source| Error::IgnoreGlob { glob: globs.join(" "), source })?;
        Ok(Self { include_hidden, respect_ignore_files, globs })
    }

    fn walker(&self, root: &Path) -> WalkBuilder {
        let mut builder = WalkBuilder::new(root);
        let (globs, root) = (self.globs.clone(), root.to_path_buf());
        builder
            .hidden(!self.include_hidden)
            .parents(self.respect_ignore_files)
            .ignore(self.respect_ignore_files)
            .git_ignore(self.respect_ignore_files)
            .git_exclude(self.respect_ignore_files)
            // The user's own rules would make the answer depend on the machine.
            .git_global(false)
            .require_git(false)
            .follow_links(false)
            .threads(THREADS)
            .filter_entry(move |entry| {
                let name = entry.file_name();
                let is_dir = entry.file_type().is_some_and(|file_type| file_type.is_dir());
                let relative = entry.path().strip_prefix(&root).unwrap_or(entry.path());
                entry.depth() == 0
                    || !(name == ".git"
                        || name.to_str().is_some_and(path::is_private)
                        || globs.matched(relative, is_dir).is_ignore())
            });
        builder
    }
}

/// A file that was found.
#[derive(Debug, Clone)]
pub(crate) struct FoundFile {
    pub(crate) name: FileName,
    pub(crate) identity: FileIdentity,
}

/// What a walk gave: files in the order of their paths' bytes, and what was left out other than by rule.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) diagnostics: Vec<ContextDiagnostic>,
}

/// Walks the workspace: one stat for each file, none for what the rules leave out.
pub(crate) fn walk(workspace: &TaskWorkspace, rules: &WalkRules) -> Result<Walked, Error> {
    workspace.check_root()?;
    let found = Mutex::new(Found::default());
    rules.walker(workspace.root()).build_parallel().run(|| {
        Box::new(|entry| {
            let seen = see(workspace, entry);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.files.extend(seen.file);
            found.notes.extend(seen.notes);
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.files.sort_unstable_by(|one, other| one.name.bytes().cmp(&other.name.bytes()));
    Ok(Walked { files: found.files, diagnostics: report(found.notes) })
}

#[derive(Default)]
struct Found {
    files: Vec<FoundFile>,
    notes: Vec<Note>,
}

#[derive(Default)]
struct Seen {
    file: Option<FoundFile>,
    notes: Vec<Note>,
}

/// Something that is not offered; ordered by code, then path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    code: &'static str,
    path: String,
    what: &'static str,
    fact: String,
}

fn see(workspace: &TaskWorkspace, entry: Result<DirEntry, ignore::Error>) -> Seen {
    let mut seen = Seen::default();
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            seen.notes.extend(fault(workspace, &error, None));
            return seen;
        }
    };
    let relative = entry.path().strip_prefix(workspace.root()).unwrap_or(entry.path());
    if let Some(error) = entry.error() {
        seen.notes.extend(fault(workspace, error, Some(relative)));
    }
    let Some(file_type) = entry.file_type() else { return seen };
    let note =
        |code, what, fact: &str| Note { code, path: name::shown(relative), what, fact: fact.to_owned() };
    if file_type.is_symlink() {
        let target = match workspace.dir().metadata(relative) {
            Ok(_) => "inside",
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => "outside",
            Err(_) => "missing",
        };
        seen.notes.push(note("workspace.link_skipped", "target", target));
        return seen;
    }
    match FileKind::of(file_type) {
        Some(FileKind::Directory) => {}
        Some(kind) => seen.notes.push(note("workspace.special_file_skipped", "kind", kind.as_str())),
        None => match entry.metadata() {
            Ok(metadata) => {
                let identity = FileIdentity::of(&metadata);
                seen.file = Some(FoundFile { name: FileName::new(relative), identity });
            }
            Err(error) => seen.notes.extend(fault(workspace, &error, Some(relative))),
        },
    }
    seen
}

/// What a failed step of the walk means; nothing where the file merely vanished meanwhile.
fn fault(workspace: &TaskWorkspace, error: &ignore::Error, at: Option<&Path>) -> Option<Note> {
    let at = at.or_else(|| path_of(error)?.strip_prefix(workspace.root()).ok());
    let shown = at.map(name::shown).unwrap_or_default();
    match error.io_error() {
        Some(error) if error.kind() == io::ErrorKind::NotFound => None,
        Some(error) => {
            let fact = error.kind().to_string();
            Some(Note { code: "workspace.unreadable", path: shown, what: "reason", fact })
        }
        // Everything else that the walker reports is a rule that it could not parse.
        None => Some(Note {
            code: "workspace.ignore_rule_invalid",
            path: shown,
            what: "reason",
            fact: "a rule cannot be parsed".to_owned(),
        }),
    }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err),
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        _ => None,
    }
}

fn report(mut notes: Vec<Note>) -> Vec<ContextDiagnostic> {
    notes.sort_unstable();
    notes.dedup();
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for note in notes {
        let count = counts.entry(note.code).or_default();
        *count += 1;
        if *count <= MAX_DIAGNOSTICS_OF_A_CODE {
            diagnostics.push(
                ContextDiagnostic::new(note.code, severity_of(note.code))
                    .with("path", note.path)
                    .with(note.what, note.fact),
            );
        }
    }
    for (code, count) in counts {
        if let Some(more) = count.checked_sub(MAX_DIAGNOSTICS_OF_A_CODE).filter(|more| *more > 0) {
            diagnostics.push(ContextDiagnostic::new(code, severity_of(code)).with("more", more));
        }
    }
    diagnostics
}

fn severity_of(code: &str) -> Severity {
    match code {
        "workspace.unreadable" | "workspace.ignore_rule_invalid" => Severity::Warning,
        _ => Severity::Info,
    }
}
