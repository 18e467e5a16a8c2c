//! The private area `.briefing`: what the workspace keeps for itself, and the lock that its writers take.
//!
//! ```text
//! .briefing/files/<execution-id>/   what a read-only workspace's execution wrote
//! .briefing/workspace/lock          taken by whoever writes
//!                     identity.json the workspace's random id
//!                     moves.jsonl   which file was moved where
//!                     tmp/          files that are being written
//!                     staged/       candidates: <id> holds the bytes, <id>.json the facts
//!                     journal/      units of changes that are being made
//!                     kept/         what could not be put back after a failed write
//!                     deliveries/   open deliveries and their targets
//! ```

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::beneath;
use crate::error::Error;
use crate::path::PRIVATE_FOLDER;

/// The folder of files that are being written.
pub(crate) const TMP: &str = "tmp";
/// The folder of candidates.
pub(crate) const STAGED: &str = "staged";
/// The folder of units that are being made.
pub(crate) const JOURNAL: &str = "journal";
/// The folder of files that could not be put back; nothing in it is ever removed.
pub(crate) const KEPT: &str = "kept";
/// The folder of open deliveries.
pub(crate) const DELIVERIES: &str = "deliveries";

/// The largest private file of facts that is read, in bytes.
const MAX_FACTS_BYTES: u64 = 64 << 20;

/// `.briefing/workspace`, held open.
#[derive(Debug)]
pub(crate) struct Area {
    dir: Dir,
}

impl Area {
    /// The area, if there is one.
    pub(crate) fn find(root: &Dir) -> Result<Option<Self>, Error> {
        match open(root) {
            Ok(dir) => Ok(Some(Self { dir })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unusable("opening it")(source)),
        }
    }

    /// The area, made where it is not there. Only its owner may look into it.
    pub(crate) fn make(root: &Dir) -> Result<Self, Error> {
        if let Some(area) = Self::find(root)? {
            return Ok(area);
        }
        let made = make_folder(root, PRIVATE_FOLDER, false)
            .and_then(|private| make_folder(&private, "workspace", true))
            .and_then(|dir| sync(root).map(|()| dir));
        Ok(Self { dir: made.map_err(unusable("making it"))? })
    }

    /// What a writer locks: nobody else writes as long as it holds that.
    pub(crate) fn lock_file(&self) -> Result<File, Error> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        open_own(&self.dir, "lock", &mut options).map_err(unusable("locking it"))
    }

    /// The area's own folder.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// One of its folders, if it is there.
    pub(crate) fn folder(&self, name: &'static str) -> Result<Option<Dir>, Error> {
        match beneath::enter(&self.dir, OsStr::new(name)) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unusable("opening one of its folders")(source)),
        }
    }

    /// One of its folders, made where it is not there.
    pub(crate) fn make_folder(&self, name: &'static str) -> Result<Dir, Error> {
        make_folder(&self.dir, name, true).map_err(unusable("making one of its folders"))
    }
}

fn open(root: &Dir) -> io::Result<Dir> {
    beneath::enter(&beneath::enter(root, OsStr::new(PRIVATE_FOLDER))?, OsStr::new("workspace"))
}

/// Opens a folder, made where it is not there, and synced then.
pub(crate) fn make_folder(dir: &Dir, name: &str, for_owner_only: bool) -> io::Result<Dir> {
    match beneath::enter(dir, OsStr::new(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    if for_owner_only {
        use cap_std::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    match dir.create_dir_with(name, &builder) {
        // Somebody else made it meanwhile.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => sync(dir)?,
    }
    beneath::enter(dir, OsStr::new(name))
}

/// Makes the entries of a folder last.
#[cfg(unix)]
pub(crate) fn sync(dir: &Dir) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags};
    // The handle itself may be one that only names the folder.
    let readable =
        rustix::fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(rustix::fs::fsync(readable)?)
}

/// Syncs new files and the folder that they were made in at the same time: a file system with a journal then writes it once.
#[cfg(unix)]
pub(crate) fn sync_together(files: [&File; 2], dir: &Dir) -> io::Result<()> {
    std::thread::scope(|scope| {
        // Where the system gives no thread, this one syncs them.
        let others = files.map(|file| {
            std::thread::Builder::new().spawn_scoped(scope, || file.sync_all()).map_err(|_| file)
        });
        let synced = sync(dir);
        let all = others.into_iter().map(|other| match other.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(synced)) => synced,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(file) => file.sync_all(),
        });
        all.fold(synced, io::Result::and)
    })
}

#[cfg(not(unix))]
pub(crate) fn sync_together(files: [&File; 2], _dir: &Dir) -> io::Result<()> {
    files.into_iter().try_for_each(File::sync_all)
}

/// Windows keeps entries by its own journal and syncs no folders.
#[cfg(not(unix))]
pub(crate) fn sync(_dir: &Dir) -> io::Result<()> {
    Ok(())
}

pub(crate) fn unusable(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::PrivateAreaUnusable { what, source }
}

/// Opens a regular file of a private folder, and neither follows a link nor waits for the other end of a pipe.
pub(crate) fn open_own(dir: &Dir, name: &str, options: &mut OpenOptions) -> io::Result<File> {
    beneath::without_waiting(options);
    let file = dir.open_with(name, options)?.into_std();
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// Makes a new file in a private folder; no other may have the name.
pub(crate) fn create(dir: &Dir, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).follow(FollowSymlinks::No);
    dir.open_with(name, &options).map(cap_std::fs::File::into_std)
}

/// Whether nothing in a private folder has the id, bare or with a suffix that the area gives.
pub(crate) fn is_free(dir: &Dir, id: &str) -> io::Result<bool> {
    for suffix in ["", ".json", ".old"] {
        match dir.symlink_metadata(format!("{id}{suffix}")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found.map(|_| false),
        }
    }
    Ok(true)
}

/// Removes a file that may be gone already.
pub(crate) fn remove(dir: &Dir, name: &str) -> io::Result<()> {
    match dir.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads a private file of facts; `None` where it is not there.
pub(crate) fn read_facts<T: DeserializeOwned>(dir: &Dir, name: &str) -> Result<Option<T>, Error> {
    let file = match beneath::open_name(dir, OsStr::new(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(unusable("reading one of its files")(source)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_FACTS_BYTES).read_to_end(&mut bytes).map_err(unusable("reading one of its files"))?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::PrivateFile { file: name.to_owned(), reason: error.to_string() })
}

/// Whether a file has no byte but zeros: what some file systems leave of a file that was made and not synced before the
/// machine stopped.
pub(crate) fn never_synced(dir: &Dir, name: &str) -> io::Result<bool> {
    let mut bytes = Vec::new();
    beneath::open_name(dir, OsStr::new(name))?.take(MAX_FACTS_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes.iter().all(|byte| *byte == 0))
}

/// Writes a file of facts that is there whole or not at all, and lasts when this returns.
pub(crate) fn write_facts(dir: &Dir, name: &str, facts: &impl Serialize) -> io::Result<()> {
    let draft = format!("{name}.new");
    let _ = remove(dir, &draft);
    let mut file = create(dir, &draft)?;
    let written = write_json(&mut file, facts).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| dir.rename(&draft, dir, name)).and_then(|()| sync(dir));
    if placed.is_err() {
        let _ = remove(dir, &draft);
    }
    placed
}

pub(crate) fn write_json(file: &mut File, facts: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(facts)?;
    bytes.push(b'\n');
    file.write_all(&bytes)
}

/// The names in a private folder, in order.
pub(crate) fn names(dir: &Dir) -> Result<Vec<String>, Error> {
    let listed: io::Result<Vec<_>> =
        dir.entries().and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
    let mut names: Vec<_> = listed
        .map_err(unusable("listing one of its folders"))?
        .into_iter()
        .filter_map(|name| name.into_string().ok())
        .collect();
    names.sort_unstable();
    Ok(names)
}
