//! Listing files and folders, page by page, and by glob.

use std::borrow::Cow;
use std::path::PathBuf;

use briefing_core::ContextDiagnostic;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::glob::PathGlob;
use crate::name::FileName;
use crate::path::{is_private, is_same_to_some};
use crate::place::Layer;
use crate::walk::{self, FoundFile, Scope, VERSION_CONTROL, WalkRules, Walked};
use crate::{TaskWorkspace, WorkspacePath, beneath, read};

/// What is to be listed. The defaults: every file beneath the root, hidden ones and keys and credentials left out, the
/// rules of ignore files obeyed, 1,000 entries a page.
///
/// ```
/// use briefing_task_workspace::{ListRequest, WorkspacePath};
/// let request = ListRequest::new().folder(WorkspacePath::new("src")?).glob("**/*.rs").limit(50);
/// assert_eq!(request.limit, 50);
/// # Ok::<(), briefing_task_workspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRequest {
    /// Only what is in this folder. Where a link leads to it, paths are those of the folder itself.
    pub folder: Option<WorkspacePath>,
    /// Only what lies in the folder itself, not deeper; folders are listed too.
    pub one_level: bool,
    /// Only entries whose path, from the root on, matches one of these, where there are any. `*` and `?` stay within a
    /// segment, `**` spans segments; a glob without `/` is matched with the name alone. Case counts.
    pub globs: Vec<String>,
    /// Whether files and folders whose names begin with a dot are listed. `.git` and `.briefing` never are.
    pub include_hidden: bool,
    /// Whether files are listed that hold keys or credentials by their names: `.env`, `id_rsa`, `*.pem` and kin. Those
    /// that are left out are named in a diagnostic.
    pub include_secrets: bool,
    /// Whether `.gitignore`, `.ignore` and `.git/info/exclude` are obeyed: those beneath the root that are regular files of
    /// at most 4 MiB. Others are named in a diagnostic.
    pub respect_ignore_files: bool,
    /// Only what comes after this path: where the page before ended.
    pub after: Option<String>,
    /// The most entries.
    pub limit: usize,
}

impl Default for ListRequest {
    fn default() -> Self {
        Self {
            folder: None,
            one_level: false,
            globs: Vec::new(),
            include_hidden: false,
            include_secrets: false,
            respect_ignore_files: true,
            after: None,
            limit: 1_000,
        }
    }
}

impl ListRequest {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lists only what is in the folder.
    #[must_use]
    pub fn folder(mut self, folder: WorkspacePath) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Lists what lies in the folder itself, its folders too, and nothing deeper.
    #[must_use]
    pub fn one_level(mut self) -> Self {
        self.one_level = true;
        self
    }

    /// Lists only files that match this or another glob.
    #[must_use]
    pub fn glob(mut self, glob: impl Into<String>) -> Self {
        self.globs.push(glob.into());
        self
    }

    /// Lists hidden files or not.
    #[must_use]
    pub fn include_hidden(mut self, include: bool) -> Self {
        self.include_hidden = include;
        self
    }

    /// Lists files that hold keys or credentials by their names, or not.
    #[must_use]
    pub fn include_secrets(mut self, include: bool) -> Self {
        self.include_secrets = include;
        self
    }

    /// Obeys ignore files or not.
    #[must_use]
    pub fn respect_ignore_files(mut self, respect: bool) -> Self {
        self.respect_ignore_files = respect;
        self
    }

    /// Goes on after a page.
    #[must_use]
    pub fn after(mut self, path: impl Into<String>) -> Self {
        self.after = Some(path.into());
        self
    }

    /// Sets the most entries of a page.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// What sort of thing a listed entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
}

/// A file or folder that was listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListingEntry {
    /// Its path as refs show it: a name that is not UTF-8 is escaped.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its size, in bytes; 0 for a folder.
    pub size_bytes: u64,
    /// When its content changed last, in milliseconds since 1970.
    pub modified_unix_millis: i64,
    /// Whether it is in the execution's fallback.
    pub in_fallback: bool,
}

/// A page of a listing, in the order of the paths' bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Listing {
    /// The entries.
    pub entries: Vec<ListingEntry>,
    /// Where the next page goes on ([`ListRequest::after`]); `None` where this is the last.
    pub next: Option<String>,
    /// How many entries there are on all pages together.
    pub total: usize,
    /// What was left out other than by rule: links, special files, folders that cannot be read.
    pub diagnostics: Vec<ContextDiagnostic>,
}

impl TaskWorkspace {
    /// Lists files, and folders where one level is asked for.
    ///
    /// # Errors
    /// [`Error::Glob`], [`Error::OutOfRange`] for a limit of 0, [`Error::InvalidPath`] for an `after` that no page gave; for
    /// the folder [`Error::NotFound`], [`Error::NotFolder`], [`Error::OutsideBoundary`], [`Error::PrivateArea`] and
    /// [`Error::NotListed`]; [`Error::Root`].
    pub fn list(&self, request: &ListRequest) -> Result<Listing, Error> {
        check_limit(request.limit)?;
        let after = request.after.as_deref().map(real_name).transpose()?;
        let walked = self.find_files(request)?;
        let total = walked.files.len();
        let skip = after.map_or(0, |after| {
            walked.files.partition_point(|file| file.name.bytes().as_ref() <= after.as_ref())
        });
        let page = walked.files.get(skip..).unwrap_or_default();
        let entries: Vec<_> = page.iter().take(request.limit).map(ListingEntry::of).collect();
        let next =
            (page.len() > entries.len()).then(|| entries.last().map(|last| last.path.clone())).flatten();
        Ok(Listing { entries, next, total, diagnostics: walked.diagnostics })
    }

    /// Lists the files that match a glob: `**/*.rs`, or `*.rs` for names at any depth.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn glob(&self, glob: impl Into<String>) -> Result<Listing, Error> {
        self.list(&ListRequest::new().glob(glob).limit(usize::MAX))
    }

    /// The files that a request means, all of them.
    pub(crate) fn find_files(&self, request: &ListRequest) -> Result<Walked, Error> {
        let globs = Globs::of(&request.globs)?;
        let rules = WalkRules::new(self.root(), request.include_hidden, request.respect_ignore_files, &[])?
            .include_secrets(request.include_secrets);
        let folder = request.folder.as_ref().map(|folder| self.real_folder(folder)).transpose()?;
        let depth = request.one_level.then_some(1);
        let scope = Scope { folder, depth, folders: request.one_level };
        let mut walked = walk::walk(self, &rules, &scope)?;
        walked.files.retain(|file| globs.match_name(&file.name));
        Ok(walked)
    }

    /// The folder that a path leads to, without links.
    fn real_folder(&self, folder: &WorkspacePath) -> Result<PathBuf, Error> {
        let shown = folder.as_str();
        let not_listed = || Err(Error::NotListed { path: shown.to_owned() });
        if shown.split('/').any(is_version_control) {
            return not_listed();
        }
        let not_folder = || Err(Error::NotFolder { path: shown.to_owned(), at: shown.to_owned() });
        let fallback = self.fallback()?;
        let in_fallback =
            fallback.is_some_and(|fallback| beneath::open_dir(fallback, folder.as_ref()).is_ok());
        let is_file = |dir: &Dir| dir.symlink_metadata(folder).is_ok_and(|found| found.is_file());
        match self.dir().canonicalize(folder) {
            Err(_) if in_fallback => Ok(PathBuf::from(shown)),
            Err(_) if fallback.is_some_and(is_file) => not_folder(),
            Err(error) => Err(read::refusal(error, shown, || None)),
            Ok(real) if real.iter().any(|segment| segment.to_str().is_some_and(is_private)) => {
                Err(Error::PrivateArea { path: shown.to_owned() })
            }
            Ok(real) if real.iter().any(|segment| segment.to_str().is_some_and(is_version_control)) => {
                not_listed()
            }
            Ok(real) => match beneath::open_dir(self.dir(), &real) {
                Ok(_) => Ok(real),
                Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => not_folder(),
                Err(_) => Err(Error::Changed { path: shown.to_owned() }),
            },
        }
    }
}

/// Whether a segment names the folder of version control on some file system.
fn is_version_control(segment: &str) -> bool {
    is_same_to_some(segment, VERSION_CONTROL)
}

impl ListingEntry {
    fn of(file: &FoundFile) -> Self {
        Self {
            path: file.name.shown().to_string(),
            kind: if file.is_folder { EntryKind::Folder } else { EntryKind::File },
            size_bytes: if file.is_folder { 0 } else { file.identity.size },
            modified_unix_millis: i64::try_from(file.identity.modified_ns / 1_000_000).unwrap_or(i64::MAX),
            in_fallback: file.layer == Layer::Fallback,
        }
    }
}

pub(super) fn check_limit(limit: usize) -> Result<(), Error> {
    match limit {
        0 => Err(Error::OutOfRange { what: "the limit", found: "0".to_owned(), accepted: "1 or more" }),
        _ => Ok(()),
    }
}

/// The bytes of the name that a cursor shows.
pub(super) fn real_name(shown: &str) -> Result<Cow<'_, [u8]>, Error> {
    crate::name::unescape(shown).ok_or_else(|| Error::InvalidPath {
        path: shown.to_owned(),
        reason: "no name is shown like this: a backslash is doubled, or begins \\xNN",
    })
}

/// Globs of which a file has to match one, where there are any.
struct Globs(Vec<PathGlob>);

impl Globs {
    fn of(globs: &[String]) -> Result<Self, Error> {
        globs.iter().map(|glob| PathGlob::new(glob, false)).collect::<Result<_, _>>().map(Self)
    }

    fn match_name(&self, name: &FileName) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let bytes = name.bytes();
        let path = String::from_utf8_lossy(&bytes);
        let last = path.rsplit('/').next().unwrap_or(&path);
        self.0.iter().any(|glob| glob.is_match(if glob.as_str().contains('/') { &path } else { last }))
    }
}
