//! What may be written.

use std::sync::Mutex;
use std::sync::PoisonError;

use serde::{Deserialize, Serialize};

use crate::glob::PathGlob;
use crate::{Error, WorkspacePath, path};

/// What may be written: paths by glob, and sizes. By default every path but those of version control (`.git`, `.hg`,
/// `.svn`, at any depth: a file there can run as a program), of any size.
///
/// Globs have the syntax of [`globset`]: `*` and `?` stay within a segment, `**` spans segments, and a glob is matched with
/// the whole path. Case is ignored, in every script, as some file systems do; what is denied is also denied in the other
/// spellings that Windows and HFS+ take for it (`.git.`, `GIT~1`, a character that is not shown). A glob that can match no path (an absolute
/// one, one with `..`) is refused.
///
/// ```
/// use briefing_task_workspace::WritePolicy;
/// let policy = WritePolicy::new().allow("out/**").deny("**/*.key").max_file_bytes(1 << 20);
/// assert_eq!(policy.max_file_bytes, Some(1_048_576));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WritePolicy {
    /// Where there are any, only paths that match one of these may be written.
    pub allow: Vec<String>,
    /// Paths that match one of these may not be written, whatever `allow` says.
    pub deny: Vec<String>,
    /// The largest file, in bytes.
    pub max_file_bytes: Option<u64>,
    /// By how much the workspace may grow while it is open, in bytes; staged candidates count.
    pub max_total_bytes: Option<u64>,
}

impl Default for WritePolicy {
    fn default() -> Self {
        let deny = ["**/.git", "**/.git/**", "**/.hg", "**/.hg/**", "**/.svn", "**/.svn/**"];
        Self {
            allow: Vec::new(),
            deny: deny.map(str::to_owned).to_vec(),
            max_file_bytes: None,
            max_total_bytes: None,
        }
    }
}

impl WritePolicy {
    /// The default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Every path and every size, also the files of version control.
    #[must_use]
    pub fn unrestricted() -> Self {
        Self { deny: Vec::new(), ..Self::default() }
    }

    /// Allows only what this and other such globs match.
    #[must_use]
    pub fn allow(mut self, glob: impl Into<String>) -> Self {
        self.allow.push(glob.into());
        self
    }

    /// Forbids what the glob matches.
    #[must_use]
    pub fn deny(mut self, glob: impl Into<String>) -> Self {
        self.deny.push(glob.into());
        self
    }

    /// Sets the size of the largest file, in bytes.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = Some(bytes);
        self
    }

    /// Sets by how many bytes the workspace may grow.
    #[must_use]
    pub fn max_total_bytes(mut self, bytes: u64) -> Self {
        self.max_total_bytes = Some(bytes);
        self
    }
}

/// A policy that is ready to be asked, and how much was written under it.
#[derive(Debug)]
pub(crate) struct Rules {
    policy: WritePolicy,
    allow: Vec<PathGlob>,
    deny: Vec<PathGlob>,
    pub(crate) max_file_bytes: Option<u64>,
    max_total_bytes: Option<u64>,
    grown: Mutex<i64>,
}

impl Rules {
    pub(crate) fn of(policy: &WritePolicy) -> Result<Self, Error> {
        Ok(Self {
            policy: policy.clone(),
            allow: policy.allow.iter().map(|glob| PathGlob::new(glob, true)).collect::<Result<_, _>>()?,
            deny: policy.deny.iter().map(|glob| PathGlob::new(glob, true)).collect::<Result<_, _>>()?,
            max_file_bytes: policy.max_file_bytes,
            max_total_bytes: policy.max_total_bytes,
            grown: Mutex::new(0),
        })
    }

    pub(crate) fn policy(&self) -> &WritePolicy {
        &self.policy
    }

    /// Checks that the path may be written.
    pub(crate) fn check_path(&self, path: &WorkspacePath) -> Result<(), Error> {
        let denied = |rule| Err(Error::Denied { path: path.as_str().to_owned(), rule });
        let taken = path::as_taken(path.as_str());
        let is_denied = |glob: &&PathGlob| glob.is_match(path.as_str()) || glob.is_match(&taken);
        if let Some(glob) = self.deny.iter().find(is_denied) {
            return denied(format!("it matches the denied {:?}", glob.as_str()));
        }
        if !self.allow.is_empty() && !self.allow.iter().any(|glob| glob.is_match(path.as_str())) {
            return denied("it matches none of the allowed globs".to_owned());
        }
        Ok(())
    }

    /// Checks the size of one file, in bytes.
    pub(crate) fn check_size(&self, path: &WorkspacePath, size_bytes: u64) -> Result<(), Error> {
        match self.max_file_bytes {
            Some(limit_bytes) if size_bytes > limit_bytes => {
                Err(Error::TooLarge { path: path.as_str().to_owned(), size_bytes, limit_bytes })
            }
            _ => Ok(()),
        }
    }

    /// How many bytes a file may have that has `before` now, as far as the quota goes.
    pub(crate) fn room(&self, before: u64) -> Option<u64> {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let grown = *self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        let left = signed(self.max_total_bytes?).saturating_sub(grown).saturating_add(signed(before));
        Some(u64::try_from(left).unwrap_or_default().max(before))
    }

    /// What a file is told that would have more than that.
    pub(crate) fn exceeded(&self, path: &WorkspacePath, before: u64, after: u64) -> Error {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let grown = *self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        let grown_bytes = grown.saturating_add(signed(after).saturating_sub(signed(before)));
        let limit_bytes = self.max_total_bytes.unwrap_or(u64::MAX);
        Error::QuotaExceeded { path: path.as_str().to_owned(), grown_bytes, limit_bytes }
    }

    /// Takes `after - before` bytes of the quota, before they are written.
    pub(crate) fn grow(&self, path: &WorkspacePath, before: u64, after: u64) -> Result<(), Error> {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        let grown_bytes = grown.saturating_add(signed(after).saturating_sub(signed(before)));
        match self.max_total_bytes {
            Some(limit_bytes) if after > before && grown_bytes > signed(limit_bytes) => {
                Err(Error::QuotaExceeded { path: path.as_str().to_owned(), grown_bytes, limit_bytes })
            }
            _ => {
                *grown = grown_bytes;
                Ok(())
            }
        }
    }

    /// Gives back what [`grow`](Self::grow) took, where the write failed or something was removed.
    pub(crate) fn shrink(&self, before: u64, after: u64) {
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let mut grown = self.grown.lock().unwrap_or_else(PoisonError::into_inner);
        *grown = grown.saturating_sub(signed(after).saturating_sub(signed(before)));
    }
}
