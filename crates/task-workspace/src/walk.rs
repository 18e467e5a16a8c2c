//! The walk: every file that the workspace offers, by the rules of `.gitignore`.
//!
//! Folders are listed by path and entries are looked at through a handle on their folder that no link leads to: what a
//! folder that turns into a link lists meanwhile is not there for that handle, and is left out.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use briefing_core::{ContextDiagnostic, Severity};
use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match, WalkBuilder, WalkState};

use crate::error::{Error, FileKind};
use crate::ignored::{Fault, IgnoreFiles};
use crate::name::{self, FileName};
use crate::place::{self, Layer};
use crate::read::FileIdentity;
use crate::{TaskWorkspace, beneath, path, secret, threads};

/// How many diagnostics of one code a walk reports one by one; the rest are counted.
const MAX_DIAGNOSTICS_OF_A_CODE: usize = 100;

/// What git keeps at the root of a tree: a folder, or a file that names one.
pub(crate) const VERSION_CONTROL: &str = ".git";

/// How many threads walk.
const THREADS: usize = 2;

/// What a walk leaves out.
#[derive(Debug, Clone)]
pub(crate) struct WalkRules {
    include_hidden: bool,
    include_secrets: bool,
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
        Ok(Self { include_hidden, include_secrets: false, respect_ignore_files, globs })
    }

    /// Finds or leaves out files that hold keys or credentials by their names.
    pub(crate) fn include_secrets(mut self, include: bool) -> Self {
        self.include_secrets = include;
        self
    }

    /// What the execution wrote is offered whatever the rules of ignore files say.
    fn of_fallback(&self) -> Self {
        Self { respect_ignore_files: false, ..self.clone() }
    }

    fn walker(&self, root: &Path, scope: &Scope, ignored: Option<Arc<IgnoreFiles>>) -> WalkBuilder {
        let start = scope.folder.as_ref().map_or_else(|| root.to_path_buf(), |folder| root.join(folder));
        let mut builder = WalkBuilder::new(start);
        builder.max_depth(scope.depth);
        let (globs, root, include_hidden) = (self.globs.clone(), root.to_path_buf(), self.include_hidden);
        builder
            // The walker would read ignore files by their paths, and also those above the root.
            .standard_filters(false)
            .follow_links(false)
            .threads(THREADS)
            .filter_entry(move |entry| {
                let name = entry.file_name();
                let is_dir = entry.file_type().is_some_and(|file_type| file_type.is_dir());
                let relative = || entry.path().strip_prefix(&root).unwrap_or(entry.path());
                if entry.depth() == 0 {
                    return true;
                }
                if name == VERSION_CONTROL
                    || name.to_str().is_some_and(path::is_private)
                    || (!globs.is_empty() && globs.matched(relative(), is_dir).is_ignore())
                {
                    return false;
                }
                match ignored.as_ref().map(|ignored| ignored.matched(relative(), is_dir)) {
                    Some(Match::Ignore(())) => false,
                    // A rule can name a hidden file.
                    Some(Match::Whitelist(())) => true,
                    Some(Match::None) | None => include_hidden || !is_hidden(entry),
                }
            });
        builder
    }
}

/// Whether the name begins with a dot; on Windows also whether the file is marked so.
fn is_hidden(entry: &DirEntry) -> bool {
    #[cfg(windows)]
    {
        use std::os::windows::fs::MetadataExt as _;
        /// `FILE_ATTRIBUTE_HIDDEN` (Win32 file attribute constants).
        const HIDDEN: u32 = 2;
        if entry.metadata().is_ok_and(|metadata| metadata.file_attributes() & HIDDEN != 0) {
            return true;
        }
    }
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// What part of the tree is walked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// Only what is in this folder, which no link leads to.
    pub(crate) folder: Option<PathBuf>,
    /// How many folders deep; 1 is what lies in the folder itself.
    pub(crate) depth: Option<usize>,
    /// Whether folders are found too.
    pub(crate) folders: bool,
}

/// A file that was found.
#[derive(Debug, Clone)]
pub(crate) struct FoundFile {
    pub(crate) name: FileName,
    pub(crate) identity: FileIdentity,
    pub(crate) layer: Layer,
    /// A folder is only found where the scope asks for folders.
    pub(crate) is_folder: bool,
}

/// What a walk gave: files in the order of their paths' bytes, and what was left out other than by rule.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) files: Vec<FoundFile>,
    pub(crate) diagnostics: Vec<ContextDiagnostic>,
}

/// Walks the workspace: one stat for each file, none for what the rules leave out. Files of the execution's fallback take
/// the place of those that have the same path in the root.
pub(crate) fn walk(workspace: &TaskWorkspace, rules: &WalkRules, scope: &Scope) -> Result<Walked, Error> {
    workspace.check_root()?;
    let mut found = walk_layer(workspace.root(), workspace.dir(), Layer::Root, rules, scope)?;
    if let Some(fallback) = workspace.fallback()? {
        let path = workspace.fallback_path();
        let more = walk_layer(&path, fallback, Layer::Fallback, &rules.of_fallback(), scope)?;
        found.files.extend(more.files);
        found.notes.extend(more.notes);
    }
    found.files.sort_unstable_by(|one, other| {
        one.name.bytes().cmp(&other.name.bytes()).then(other.layer.cmp(&one.layer))
    });
    found.files.dedup_by(|later, earlier| later.name.bytes() == earlier.name.bytes());
    Ok(Walked { files: found.files, diagnostics: report(found.notes) })
}

fn walk_layer(
    path: &Path,
    dir: &Dir,
    layer: Layer,
    rules: &WalkRules,
    scope: &Scope,
) -> Result<Found, Error> {
    let ignored = match rules.respect_ignore_files {
        true => {
            let dir = dir.try_clone().map_err(|source| Error::Root { source })?;
            Some(Arc::new(IgnoreFiles::of(dir, path)))
        }
        false => None,
    };
    let tree = Tree { path, dir, layer, folders: scope.folders, secrets: rules.include_secrets };
    let found = Mutex::new(Found::default());
    let walker = rules.walker(path, scope, ignored.clone());
    let see_each = || {
        let (tree, found) = (&tree, &found);
        let mut folder = OpenFolder::default();
        let mut mine = Collected { mine: Found::default(), all: found };
        move |entry| {
            let seen = tree.see(&mut folder, entry);
            mine.mine.files.extend(seen.file);
            mine.mine.notes.extend(seen.notes);
            WalkState::Continue
        }
    };
    // The walker takes its threads for granted.
    if threads::are_there() {
        walker.build_parallel().run(|| Box::new(see_each()));
    } else {
        let mut see = see_each();
        walker.build().for_each(|entry| {
            see(entry);
        });
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.notes.extend(ignored.iter().flat_map(|ignored| ignored.faults()).map(note_of));
    Ok(found)
}

fn note_of((path, fault): (PathBuf, Fault)) -> Note {
    let invalid = "workspace.ignore_rule_invalid";
    let (code, fact) = match fault {
        Fault::Line => (invalid, "a rule cannot be parsed".to_owned()),
        Fault::NoFile => (invalid, "it is no regular file".to_owned()),
        Fault::TooLarge => (invalid, "it is too large".to_owned()),
        Fault::Unreadable(kind) => ("workspace.unreadable", kind.to_string()),
    };
    Note { code, path: name::shown(&path), what: "reason", fact }
}

#[derive(Default)]
struct Found {
    files: Vec<FoundFile>,
    notes: Vec<Note>,
}

/// What one thread found, handed over when it is done.
struct Collected<'a> {
    mine: Found,
    all: &'a Mutex<Found>,
}

impl Drop for Collected<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.files.append(&mut self.mine.files);
        all.notes.append(&mut self.mine.notes);
    }
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

/// The folder whose entries a thread looks at, held open.
#[derive(Default)]
struct OpenFolder(Option<(PathBuf, Option<Dir>)>);

impl OpenFolder {
    /// The state of an entry, looked at through its folder; `None` where it is not there.
    fn look(&mut self, root: &Dir, relative: &Path) -> io::Result<Option<(FileType, FileIdentity)>> {
        let Some(name) = relative.file_name() else { return Ok(None) };
        let parent = relative.parent().unwrap_or(Path::new(""));
        if self.0.as_ref().is_none_or(|(known, _)| known.as_os_str() != parent.as_os_str()) {
            let dir = match parent.as_os_str().is_empty() {
                true => Some(root.try_clone()?),
                false => match beneath::open_dir(root, parent) {
                    Ok(dir) => Some(dir),
                    // It is a link or gone by now: nothing that was listed there is its own.
                    Err(error) if beneath::met_a_link(&error) || place::is_absence(&error) => None,
                    Err(error) if error.kind() == io::ErrorKind::NotADirectory => None,
                    Err(error) => return Err(error),
                },
            };
            self.0 = Some((parent.to_path_buf(), dir));
        }
        let Some((_, Some(dir))) = &self.0 else { return Ok(None) };
        match look(dir, name) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What sort of thing an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileType {
    File,
    Link,
    Other(FileKind),
}

#[cfg(unix)]
fn look(dir: &Dir, name: &OsStr) -> io::Result<(FileType, FileIdentity)> {
    let stat = rustix::fs::statat(dir, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)?;
    let sort = match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile => FileType::File,
        rustix::fs::FileType::Symlink => FileType::Link,
        rustix::fs::FileType::Directory => FileType::Other(FileKind::Directory),
        rustix::fs::FileType::Fifo => FileType::Other(FileKind::Fifo),
        rustix::fs::FileType::Socket => FileType::Other(FileKind::Socket),
        rustix::fs::FileType::CharacterDevice | rustix::fs::FileType::BlockDevice => {
            FileType::Other(FileKind::Device)
        }
        rustix::fs::FileType::Unknown => FileType::Other(FileKind::Other),
    };
    Ok((sort, FileIdentity::of_stat(&stat)))
}

#[cfg(not(unix))]
fn look(dir: &Dir, name: &OsStr) -> io::Result<(FileType, FileIdentity)> {
    let metadata = dir.symlink_metadata(name)?;
    let sort = match (metadata.is_file(), metadata.is_symlink(), metadata.is_dir()) {
        (true, ..) => FileType::File,
        (_, true, _) => FileType::Link,
        (.., true) => FileType::Other(FileKind::Directory),
        _ => FileType::Other(FileKind::Other),
    };
    Ok((sort, FileIdentity::of_entry(&metadata)))
}

/// A tree that is walked.
struct Tree<'a> {
    path: &'a Path,
    dir: &'a Dir,
    layer: Layer,
    folders: bool,
    /// Whether files that hold keys or credentials by their names are found.
    secrets: bool,
}

impl Tree<'_> {
    fn see(&self, folder: &mut OpenFolder, entry: Result<DirEntry, ignore::Error>) -> Seen {
        let mut seen = Seen::default();
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                seen.notes.extend(fault(self.path, &error, None));
                return seen;
            }
        };
        let relative = entry.path().strip_prefix(self.path).unwrap_or(entry.path());
        if let Some(error) = entry.error() {
            seen.notes.extend(fault(self.path, error, Some(relative)));
        }
        let is_dir = entry.file_type().is_some_and(|file_type| file_type.is_dir());
        if entry.depth() == 0 || (is_dir && !self.folders) {
            return seen;
        }
        let note =
            |code, what, fact: &str| Note { code, path: name::shown(relative), what, fact: fact.to_owned() };
        match folder.look(self.dir, relative) {
            Ok(None) => {}
            Ok(Some((FileType::Link, _))) => {
                let target = match self.dir.metadata(relative) {
                    Ok(_) => "inside",
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => "outside",
                    Err(_) => "missing",
                };
                seen.notes.push(note("workspace.link_skipped", "target", target));
            }
            Ok(Some((FileType::Other(FileKind::Directory), identity))) if self.folders => {
                seen.file = Some(self.found(relative, identity, true));
            }
            Ok(Some((FileType::Other(FileKind::Directory), _))) => {}
            Ok(Some((FileType::Other(kind), _))) => {
                seen.notes.push(note("workspace.special_file_skipped", "kind", kind.as_str()));
            }
            Ok(Some((FileType::File, _))) if !self.secrets && secret::is_secret(relative) => {
                let why = "its name is one of keys or credentials";
                seen.notes.push(note("workspace.secret_file_skipped", "reason", why));
            }
            Ok(Some((FileType::File, identity))) => {
                seen.file = Some(self.found(relative, identity, false));
            }
            Err(error) => {
                seen.notes.push(note("workspace.unreadable", "reason", &error.kind().to_string()));
            }
        }
        seen
    }

    fn found(&self, relative: &Path, identity: FileIdentity, is_folder: bool) -> FoundFile {
        FoundFile { name: FileName::new(relative), identity, layer: self.layer, is_folder }
    }
}

/// What a failed step of the walk means; nothing where the file merely vanished meanwhile.
fn fault(root: &Path, error: &ignore::Error, at: Option<&Path>) -> Option<Note> {
    let at = at.or_else(|| path_of(error)?.strip_prefix(root).ok());
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
