//! The folder of a library: what lies where, its lock, and how entries are made to last.
//!
//! ```text
//! <root>/lock                              taken by whoever changes something
//!        tmp/                              drafts, and what was taken away; swept by the next change
//!        revisions/<name>/<hex>/           one revision; it appears and goes by one rename
//!                               manifest.json   its files, under the digest of the ref
//!                               facts.json      whether it is trusted, and when it was installed
//!                               files/          the skill's own files
//! ```
//!
//! The tree itself is the index: there is no list beside it that could tell another story after a crash.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::SkillRevisionRef;

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const FACTS: &str = "facts.json";
pub(crate) const FILES: &str = "files";

/// The largest manifest or file of facts that is read, in bytes.
pub(crate) const MAX_FACTS_BYTES: u64 = 64 << 20;

/// What may change about a revision that itself never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    pub(crate) trusted: bool,
    pub(crate) installed_at_millis: u64,
}

/// The folder of a library.
#[derive(Debug, Clone)]
pub(crate) struct Area {
    root: PathBuf,
}

impl Area {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub(crate) fn revisions(&self) -> PathBuf {
        self.root.join("revisions")
    }

    pub(crate) fn revisions_of(&self, revision: &SkillRevisionRef) -> PathBuf {
        self.revisions().join(revision.name().as_str())
    }

    /// Where a revision lies.
    pub(crate) fn place(&self, revision: &SkillRevisionRef) -> PathBuf {
        let digest = revision.digest().to_string();
        self.revisions_of(revision).join(digest.rsplit(':').next().unwrap_or_default())
    }

    /// Where a file of a revision lies.
    pub(crate) fn file(&self, revision: &SkillRevisionRef, path: &str) -> PathBuf {
        let mut place = self.place(revision).join(FILES);
        place.extend(path.split('/'));
        place
    }

    /// Makes the folders of the library.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        for folder in [self.root.clone(), self.tmp(), self.revisions()] {
            make_folders(&folder)?;
        }
        Ok(())
    }

    /// Waits until nobody else changes the library, and keeps others from it as long as the answer lives.
    pub(crate) fn lock(&self) -> io::Result<File> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(self.root.join("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Removes what an earlier change left in `tmp`. Only under the lock.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.tmp())? {
            remove_all(&entry?.path())?;
        }
        Ok(())
    }
}

/// Removes a file or a folder with all it holds, without following a link; it may be gone already.
pub(crate) fn remove_all(path: &Path) -> io::Result<()> {
    let removed = fs::symlink_metadata(path).and_then(|found| match found.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    });
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a folder and those above it that are missing, and makes each last.
pub(crate) fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    if let Some(above) = above {
        make_folders(above)?;
    }
    match fs::create_dir(folder) {
        // Somebody else made it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        made => made?,
    }
    sync_folder(above.unwrap_or(Path::new(".")))
}

/// Makes the entries of a folder last. Windows keeps them by its own journal and syncs no folders.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Writes a new file and makes its bytes last.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Writes a new file of JSON and makes it last.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    write_new(path, &bytes)
}
