//! The boundary: one handle on the root, and everything beneath it opened from there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::error::Error;
use crate::read::{self, FileIdentity, FileRead};
use crate::source::{WorkspaceSource, WorkspaceSourceOptions};
use crate::{WorkspacePath, name, path};

/// The folder of a task, read-only. Cheap to clone; clones share the handle.
#[derive(Debug, Clone)]
pub struct TaskWorkspace(Arc<Boundary>);

#[derive(Debug)]
struct Boundary {
    dir: Dir,
    /// The root as it was given, made absolute.
    given: PathBuf,
    /// The root with its own links resolved: what is walked.
    root: PathBuf,
}

impl TaskWorkspace {
    /// Opens the folder. The root itself may be reached through links; beneath it no link leads out.
    ///
    /// # Errors
    /// [`Error::Root`] where it does not exist, is no folder, or cannot be opened.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, Error> {
        let unusable = |source| Error::Root { source };
        let given = std::path::absolute(root.as_ref()).map_err(unusable)?;
        let root = std::fs::canonicalize(&given).map_err(unusable)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(unusable)?;
        Ok(Self(Arc::new(Boundary { dir, given, root })))
    }

    /// The root, its own links resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.0.root
    }

    /// The path in the workspace that `path` means: a relative path is relative to the root, an absolute one must be
    /// beneath it, in either spelling where the root was given through a link. Whole components are compared, and no file
    /// is touched.
    ///
    /// # Errors
    /// [`Error::OutsideBoundary`] for a path elsewhere, and as [`WorkspacePath::new`].
    pub fn workspace_path(&self, path: impl AsRef<Path>) -> Result<WorkspacePath, Error> {
        let path = path.as_ref();
        let relative = match path.is_absolute() {
            true => name::relative_to(path, &self.0.given)
                .or_else(|| name::relative_to(path, &self.0.root))
                .ok_or_else(|| Error::OutsideBoundary { path: path.display().to_string() })?,
            false => path.to_path_buf(),
        };
        match relative.to_str() {
            Some(text) => WorkspacePath::new(text),
            None => Err(Error::InvalidPath { path: name::shown(&relative), reason: "it is not UTF-8" }),
        }
    }

    /// Reads a file, at most `max_bytes` of it. Links are followed where they stay inside.
    ///
    /// # Errors
    /// [`Error::OutsideBoundary`] and [`Error::PrivateArea`] before a byte is read; [`Error::NotFound`];
    /// [`Error::NotRegularFile`] at once for a FIFO, socket, device or folder; [`Error::Changed`] where the file
    /// moved during the read; [`Error::Unreadable`] for the rest.
    pub fn read(&self, path: &WorkspacePath, max_bytes: u64) -> Result<FileRead, Error> {
        let shown = path.as_str();
        let dir = &self.0.dir;
        let resolved = dir.canonicalize(path).map_err(|error| read::refusal(error, shown, || None))?;
        if resolved.iter().any(|segment| segment.to_str().is_some_and(path::is_private)) {
            return Err(Error::PrivateArea { path: shown.to_owned() });
        }
        if let Some(kind) = read::kind_at(dir, &resolved) {
            return Err(Error::NotRegularFile { path: shown.to_owned(), kind });
        }
        read::read(dir, &resolved, shown, max_bytes)
    }

    /// Offers the files as a source of context.
    ///
    /// # Errors
    /// [`Error::IgnoreGlob`] for a glob that cannot be parsed, [`Error::Value`] for a blank source id.
    pub fn source(&self, options: WorkspaceSourceOptions) -> Result<WorkspaceSource, Error> {
        WorkspaceSource::new(self.clone(), options)
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.0.dir
    }

    /// Checks that the root's path still leads to the folder that was opened: a walk goes by path, reads by handle.
    pub(crate) fn check_root(&self) -> Result<(), Error> {
        let unusable = |source| Error::Root { source };
        let walked = FileIdentity::of(&std::fs::metadata(&self.0.root).map_err(unusable)?);
        let held = self.0.dir.try_clone().and_then(|dir| dir.into_std_file().metadata()).map_err(unusable)?;
        let held = FileIdentity::of(&held);
        if (walked.inode, walked.device) == (held.inode, held.device) {
            return Ok(());
        }
        Err(unusable(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "another folder took the root's place",
        )))
    }
}
