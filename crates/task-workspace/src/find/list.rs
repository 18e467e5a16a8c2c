//! Listing files and folders, page by page, and by glob.

use std::path::PathBuf;

use briefing_core::ContextDiagnostic;
use globset::{GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::path::is_private;
use crate::place::Layer;
use crate::policy::compile;
use crate::walk::{self, FoundFile, Scope, WalkRules, Walked};
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
    /// Only what is in this folder.
    pub folder: Option<WorkspacePath>,
    /// Only what lies in the folder itself, not deeper; folders are listed too.
    pub one_level: bool,
    /// Only files whose path matches one of these, where there are any. `*` stays within a segment, `**` spans segments;
    /// a glob without `/` is matched with the file's name.
    pub globs: Vec<String>,
    /// Whether files and folders whose names begin with a dot are listed. `.git` and `.briefing` never are.
    pub include_hidden: bool,
    /// Whether files are listed that hold keys or credentials by their names: `.env`, `id_rsa`, `*.pem` and kin. Those
    /// that are left out are named in a diagnostic.
    pub include_secrets: bool,
    /// Whether `.gitignore`, `.ignore` and `.git/info/exclude` are obeyed.
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
    /// [`Error::Glob`], [`Error::OutOfRange`] for a limit of 0; for the folder [`Error::NotFound`],
    /// [`Error::NotFolder`], [`Error::OutsideBoundary`] and [`Error::PrivateArea`]; [`Error::Root`].
    pub fn list(&self, request: &ListRequest) -> Result<Listing, Error> {
        check_limit(request.limit)?;
        let walked = self.find_files(request)?;
        let total = walked.files.len();
        let skip = skip_until(&walked.files, request.after.as_deref());
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
        walked.files.retain(|file| globs.match_file(file.name.shown()));
        Ok(walked)
    }

    /// The folder that a path leads to, without links.
    fn real_folder(&self, folder: &WorkspacePath) -> Result<PathBuf, Error> {
        let shown = folder.as_str();
        let in_fallback = match self.fallback()? {
            Some(fallback) => beneath::open_dir(fallback, folder.as_ref()).is_ok(),
            None => false,
        };
        match self.dir().canonicalize(folder) {
            Err(_) if in_fallback => Ok(PathBuf::from(shown)),
            Err(error) => Err(read::refusal(error, shown, || None)),
            Ok(real) if real.iter().any(|segment| segment.to_str().is_some_and(is_private)) => {
                Err(Error::PrivateArea { path: shown.to_owned() })
            }
            Ok(real) => match beneath::open_dir(self.dir(), &real) {
                Ok(_) => Ok(real),
                Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                    Err(Error::NotFolder { path: shown.to_owned(), at: shown.to_owned() })
                }
                Err(_) => Err(Error::Changed { path: shown.to_owned() }),
            },
        }
    }
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

/// How many files come at or before a path.
pub(super) fn skip_until(files: &[FoundFile], after: Option<&str>) -> usize {
    let Some(after) = after.and_then(crate::name::unescape) else { return 0 };
    files.partition_point(|file| file.name.bytes().as_ref() <= after.as_ref())
}

/// Globs of which a file has to match one, where there are any.
struct Globs {
    paths: GlobSet,
    names: GlobSet,
    any: bool,
}

impl Globs {
    fn of(globs: &[String]) -> Result<Self, Error> {
        let set = |of_names: bool| {
            let mut builder = GlobSetBuilder::new();
            for glob in globs.iter().filter(|glob| glob.contains('/') != of_names) {
                builder.add(compile(glob, false)?);
            }
            builder.build().map_err(|error| Error::Glob { glob: globs.join(" "), reason: error.to_string() })
        };
        Ok(Self { paths: set(false)?, names: set(true)?, any: globs.is_empty() })
    }

    fn match_file(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.any || self.paths.is_match(path) || self.names.is_match(name)
    }
}
