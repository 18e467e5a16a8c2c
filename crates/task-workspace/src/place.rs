//! Where a write goes: an open folder and a name in it, reached without following a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use briefing_core::{Digest, Digester};
use cap_std::fs::{Dir, DirEntry, Metadata};

use crate::error::{Error, FileKind};
use crate::path::{is_private, is_same_to_some};
use crate::read::FileIdentity;
use crate::steps::{Step, Steps};
use crate::target::TargetState;
use crate::{WorkspacePath, area, beneath};

/// Which of a workspace's two trees a file is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layer {
    /// The root.
    Root,
    /// The files that the execution of a read-only workspace wrote.
    Fallback,
}

/// A place for a file.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) layer: Layer,
    pub(crate) path: WorkspacePath,
    /// The deepest folder on the way that exists.
    dir: Dir,
    /// The folders beneath it that do not, outermost first.
    missing: Vec<String>,
}

/// A file that is at a place.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) file: File,
    pub(crate) metadata: std::fs::Metadata,
    pub(crate) identity: FileIdentity,
    pub(crate) digest: Digest,
}

impl Place {
    /// Goes from `root` as far towards the path as there are folders.
    pub(crate) fn reach(root: &Dir, layer: Layer, path: &WorkspacePath) -> Result<Self, Error> {
        let mut dir = root.try_clone().map_err(|source| unreadable(path, source))?;
        let mut segments = path.as_str().split('/').peekable();
        let mut passed = String::new();
        while let Some(segment) = segments.next() {
            if segments.peek().is_none() {
                break;
            }
            if !passed.is_empty() {
                passed.push('/');
            }
            passed.push_str(segment);
            dir = match beneath::enter(&dir, OsStr::new(segment)) {
                Ok(dir) => dir,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let mut missing: Vec<_> =
                        std::iter::once(segment).chain(segments).map(str::to_owned).collect();
                    missing.pop();
                    return Ok(Self { layer, path: path.clone(), dir, missing });
                }
                Err(error) => return Err(blocked(path, &passed, error)),
            };
        }
        Ok(Self { layer, path: path.clone(), dir, missing: Vec::new() })
    }

    /// The place of something in the folder that is to be made here.
    pub(crate) fn reach_inside(folder: Self) -> Result<Self, Error> {
        let Self { layer, path, dir, mut missing } = folder;
        missing.push(path.file_name().to_owned());
        Ok(Self { layer, path, dir, missing })
    }

    pub(crate) fn name(&self) -> &OsStr {
        OsStr::new(self.path.file_name())
    }

    pub(crate) fn shown(&self) -> String {
        self.path.as_str().to_owned()
    }

    /// The folder that holds the name, where all folders on the way are there.
    pub(crate) fn dir(&self) -> Option<&Dir> {
        self.missing.is_empty().then_some(&self.dir)
    }

    /// How many folders on the way are there.
    pub(crate) fn depth(&self) -> usize {
        let folders = self.path.as_str().matches('/').count();
        folders.saturating_sub(self.missing.len())
    }

    /// Makes the missing folders, each synced into the one before it.
    pub(crate) fn make_folders(&mut self, steps: &Steps) -> io::Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        steps.reach(Step::CreateFolders)?;
        for name in std::mem::take(&mut self.missing) {
            self.dir = area::make_folder(&self.dir, &name, false)?;
        }
        Ok(())
    }

    /// What has the name, itself, without following it.
    pub(crate) fn metadata(&self) -> Result<Option<Metadata>, Error> {
        let Some(dir) = self.dir() else { return Ok(None) };
        match dir.symlink_metadata(self.name()) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if is_absence(&error) => Ok(None),
            Err(source) => Err(unreadable(&self.path, source)),
        }
    }

    /// The file at the place with its digest, or nothing.
    ///
    /// # Errors
    /// [`Error::Link`], [`Error::NotRegularFile`] and [`Error::HardLinked`] for what no write may touch.
    pub(crate) fn see(&self) -> Result<Option<Seen>, Error> {
        let (Some(dir), Some(found)) = (self.dir(), self.metadata()?) else { return Ok(None) };
        if found.is_symlink() {
            return Err(Error::Link { path: self.shown(), at: self.shown() });
        }
        if !found.is_file() {
            let kind = crate::read::kind_at(dir, self.name().as_ref()).unwrap_or(FileKind::Other);
            return Err(Error::NotRegularFile { path: self.shown(), kind });
        }
        let mut file = match beneath::open_name(dir, self.name()) {
            Ok(file) => file,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(blocked(&self.path, self.path.as_str(), error)),
        };
        let metadata = file.metadata().map_err(|source| unreadable(&self.path, source))?;
        if let Some(kind) = FileKind::of(metadata.file_type()) {
            return Err(Error::NotRegularFile { path: self.shown(), kind });
        }
        let identity = FileIdentity::of(&metadata);
        let links = links_of(&metadata);
        if links > 1 {
            return Err(Error::HardLinked { path: self.shown(), links });
        }
        let (digest, _) = digest_of(&mut file).map_err(|source| unreadable(&self.path, source))?;
        let after = file.metadata().map_err(|source| unreadable(&self.path, source))?;
        if FileIdentity::of(&after) != identity {
            return Err(Error::Changed { path: self.shown() });
        }
        Ok(Some(Seen { file, metadata, identity, digest }))
    }

    /// What is there, by digest.
    pub(crate) fn state(&self) -> Result<TargetState, Error> {
        Ok(self.see()?.map(|seen| seen.digest).into())
    }

    /// Refuses a new name that some file systems take for one that is there.
    pub(crate) fn check_collision(&self) -> Result<(), Error> {
        let new = match self.missing.first() {
            Some(folder) => folder.as_str(),
            None => self.path.file_name(),
        };
        let entries = self.dir.entries().map_err(|source| unreadable(&self.path, source))?;
        for entry in entries {
            let name = entry.map_err(|source| unreadable(&self.path, source))?.file_name();
            if let Some(name) = name.to_str()
                && name != new
                && is_same_to_some(name, new)
            {
                return Err(Error::NameCollision { path: self.shown(), existing: name.to_owned() });
            }
        }
        Ok(())
    }

    /// Refuses a folder that holds a private area of its own, at any depth.
    pub(crate) fn check_no_private_area(&self) -> Result<(), Error> {
        self.each_within(|_, entry| match entry.file_name().to_str().is_some_and(is_private) {
            true => Err(Error::PrivateArea { path: self.shown() }),
            false => Ok(()),
        })
    }

    /// Calls `see` with each thing in the folder at the place, at any depth, and its path from that folder on. One folder at
    /// a time is held open, however many there are.
    pub(crate) fn each_within(
        &self,
        mut see: impl FnMut(&Path, &DirEntry) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(dir) = self.dir() else { return Ok(()) };
        let refused = |source| unreadable(&self.path, source);
        let top = beneath::enter(dir, self.name()).map_err(refused)?;
        let mut folders = vec![PathBuf::new()];
        while let Some(inner) = folders.pop() {
            for entry in beneath::open_dir(&top, &inner).and_then(|dir| dir.entries()).map_err(refused)? {
                let entry = entry.map_err(refused)?;
                let inner = inner.join(entry.file_name());
                see(&inner, &entry)?;
                if entry.file_type().map_err(refused)?.is_dir() {
                    folders.push(inner);
                }
            }
        }
        Ok(())
    }
}

/// How many names a file has.
fn links_of(metadata: &std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        metadata.nlink()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        1
    }
}

/// The same of an entry that was looked at through its folder.
pub(crate) fn links_of_entry(metadata: &Metadata) -> u64 {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt as _;
        metadata.nlink()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        1
    }
}

/// The digest of everything that a reader gives, and how many bytes that is.
pub(crate) fn digest_of(reader: &mut impl Read) -> io::Result<(Digest, u64)> {
    let mut digester = Digester::new();
    let mut buffer = vec![0; 64 * 1024];
    let mut size = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok((digester.finish(), size)),
            Ok(read) => {
                digester.update(buffer.get(..read).unwrap_or_default());
                size += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Nothing has the name, or none can.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename)
}

fn unreadable(path: &WorkspacePath, source: io::Error) -> Error {
    Error::Unreadable { path: path.as_str().to_owned(), source }
}

/// What stops a write on its way, at the segment `at`.
fn blocked(path: &WorkspacePath, at: &str, error: io::Error) -> Error {
    let (path, at) = (path.as_str().to_owned(), at.to_owned());
    if beneath::met_a_link(&error) {
        return Error::Link { path, at };
    }
    match error.kind() {
        io::ErrorKind::NotADirectory => Error::NotFolder { path, at },
        io::ErrorKind::InvalidFilename => {
            Error::InvalidPath { path, reason: "a segment is too long for the file system" }
        }
        _ => Error::Unreadable { path, source: error },
    }
}
