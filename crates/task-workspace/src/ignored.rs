//! The rules of ignore files, read through the handle of the tree that they lie in.
//!
//! The walker would open them by path, and so follow a link out or wait for the other end of a pipe. Here only a regular file
//! is one, up to a size. Those above the root hold too, as they do for git: whoever opens a part of a tree gets what its
//! rules leave of that part. They are the only files outside that are read, and nothing but rules comes of them. The order of the rules is the walker's
//! (`ignore`): `.ignore` before `.gitignore` before `.git/info/exclude`, in each the deepest folder first, and none of git
//! from above a folder that has a `.git` of its own.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{beneath, place};

/// The largest ignore file that is obeyed, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// What is wrong with an ignore file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A line is no rule.
    Line,
    /// It is a link, a folder, a pipe.
    NoFile,
    /// It is larger than any is read.
    TooLarge,
    /// The system does not let it be read.
    Unreadable(io::ErrorKind),
}

/// The rules of a tree, folder by folder, as they are asked for.
#[derive(Debug)]
pub(crate) struct IgnoreFiles {
    dir: Dir,
    root: PathBuf,
    /// The rules of the folders above the root.
    outside: Option<Arc<FolderRules>>,
    known: RwLock<HashMap<PathBuf, Arc<FolderRules>>>,
    faults: Mutex<Vec<(PathBuf, Fault)>>,
}

/// The rules of a folder, and of those above it.
#[derive(Debug)]
struct FolderRules {
    above: Option<Arc<FolderRules>>,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// Whether it is the root of a tree of git.
    has_git: bool,
    /// Whether it is above the root, and its rules are about absolute paths.
    is_outside: bool,
}

impl IgnoreFiles {
    /// The rules of the tree whose root is open as `dir`, and those above it.
    pub(crate) fn of(dir: Dir, root: &Path) -> Self {
        let root = root.to_path_buf();
        let mut files = Self { dir, root, outside: None, known: RwLock::default(), faults: Mutex::default() };
        let above: Vec<_> = files.root.ancestors().skip(1).map(Path::to_path_buf).collect();
        // From the top down: each folder knows the one above it.
        for (at, folder) in above.iter().enumerate().rev() {
            let beyond = files.outside.take();
            let read = |name: &str| {
                let shown = "../".repeat(at + 1) + name;
                files.rules_of(folder, Path::new(&shown), lines_outside(&folder.join(name)))
            };
            let rules = FolderRules {
                above: beyond,
                ignore: read(".ignore"),
                git: read(".gitignore"),
                exclude: read(".git/info/exclude"),
                has_git: fs::symlink_metadata(folder.join(".git")).is_ok(),
                is_outside: true,
            };
            files.outside = Some(Arc::new(rules));
        }
        files
    }

    /// What the rules say about an entry: leave it out, offer it even if it is hidden, or nothing.
    pub(crate) fn matched(&self, relative: &Path, is_dir: bool) -> Match<()> {
        let rules = self.rules_in(relative.parent().unwrap_or(Path::new("")));
        let (mut ignore, mut git, mut exclude) = (Match::None, Match::None, Match::None);
        let (mut at, mut is_below_git) = (Some(&*rules), true);
        let absolute = self.outside.as_ref().map(|_| self.root.join(relative));
        while let Some(rules) = at {
            let path = absolute.as_deref().filter(|_| rules.is_outside).unwrap_or(relative);
            let first = |found: &mut Match<()>, rules: &Gitignore| {
                if found.is_none() {
                    *found = rules.matched(path, is_dir).map(|_| ());
                }
            };
            first(&mut ignore, &rules.ignore);
            if is_below_git {
                first(&mut git, &rules.git);
                first(&mut exclude, &rules.exclude);
            }
            is_below_git &= !rules.has_git;
            at = rules.above.as_deref();
        }
        ignore.or(git).or(exclude)
    }

    /// What was wrong, by the path of the ignore file.
    pub(crate) fn faults(&self) -> Vec<(PathBuf, Fault)> {
        std::mem::take(&mut *self.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn rules_in(&self, folder: &Path) -> Arc<FolderRules> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).get(folder).cloned();
        if let Some(known) = known {
            return known;
        }
        let above = match folder.parent() {
            Some(above) => Some(self.rules_in(above)),
            None => self.outside.clone(),
        };
        let is_met = |found: io::Result<bool>| found.unwrap_or(true);
        let rules = Arc::new(FolderRules {
            above,
            ignore: self.read(folder, ".ignore"),
            git: self.read(folder, ".gitignore"),
            exclude: self.read(folder, ".git/info/exclude"),
            has_git: is_met(self.has_git(folder)),
            is_outside: false,
        });
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(folder.to_path_buf()).or_insert(rules))
    }

    fn has_git(&self, folder: &Path) -> io::Result<bool> {
        match beneath::open_dir(&self.dir, folder).and_then(|dir| dir.symlink_metadata(".git")) {
            Err(error) if place::is_absence(&error) => Ok(false),
            found => found.map(|_| true),
        }
    }

    fn read(&self, folder: &Path, name: &str) -> Gitignore {
        let path = folder.join(name);
        self.rules_of(folder, &path, self.lines_of(&path))
    }

    /// The rules in the lines of a file; `path` is how its faults name it.
    fn rules_of(&self, folder: &Path, path: &Path, lines: Result<Option<Vec<u8>>, Fault>) -> Gitignore {
        let mut builder = GitignoreBuilder::new(folder);
        let note = |fault| {
            self.faults.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_path_buf(), fault));
        };
        match lines {
            Ok(Some(text)) => {
                let is_rule = |line: &[u8]| {
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    std::str::from_utf8(line).is_ok_and(|line| builder.add_line(None, line).is_ok())
                };
                let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
                // Every line is taken, also after one that is no rule.
                if text.split(|byte| *byte == b'\n').map(is_rule).filter(|is_rule| !is_rule).count() > 0 {
                    note(Fault::Line);
                }
            }
            Ok(None) => return Gitignore::empty(),
            Err(fault) => note(fault),
        }
        builder.build().unwrap_or_else(|_| {
            note(Fault::Line);
            Gitignore::empty()
        })
    }

    fn lines_of(&self, path: &Path) -> Result<Option<Vec<u8>>, Fault> {
        let file = match beneath::open_file(&self.dir, path) {
            Ok(file) => file,
            Err(error) if beneath::met_a_link(&error) => return Err(Fault::NoFile),
            Err(error) if place::is_absence(&error) || error.kind() == io::ErrorKind::NotADirectory => {
                return Ok(None);
            }
            Err(error) => return Err(Fault::Unreadable(error.kind())),
        };
        lines_in(file).map(Some)
    }
}

/// The lines of a file above the root. What is no regular file is not opened.
fn lines_outside(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if place::is_absence(&error) || error.kind() == io::ErrorKind::NotADirectory => {
            return Ok(None);
        }
        // What lies above may be nobody's business here.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        found => found.map_err(|error| Fault::Unreadable(error.kind()))?,
    };
    if !found.is_file() {
        return Err(Fault::NoFile);
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        // What takes its place meanwhile is neither followed nor waited for.
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path).map_err(|error| Fault::Unreadable(error.kind()))?;
    lines_in(file).map(Some)
}

fn lines_in(file: File) -> Result<Vec<u8>, Fault> {
    let unreadable = |error: io::Error| Fault::Unreadable(error.kind());
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(Fault::NoFile);
    }
    let mut text = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > MAX_BYTES { Err(Fault::TooLarge) } else { Ok(text) }
}
