//! Reading one file, all of it or the beginning, and only if it stood still meanwhile.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use cap_std::fs::Dir;

use crate::error::{Error, FileKind};
use crate::{beneath, path};

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FileIdentity {
    /// Its size, in bytes.
    pub size: u64,
    /// When its content changed last, in nanoseconds since 1970.
    pub modified_ns: i128,
    /// When its content or its attributes changed last, in nanoseconds since 1970: nobody can set this one, so it shows
    /// an edit that puts the modification time back. 0 where the platform has none.
    pub changed_ns: i128,
    /// Its inode; 0 where the platform has none.
    pub inode: u64,
    /// The device that holds it; 0 where the platform has none.
    pub device: u64,
}

impl FileIdentity {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            size: metadata.size(),
            modified_ns: since_1970(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: since_1970(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
        }
    }

    /// The same of what `statat` said.
    #[cfg(unix)]
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified_ns: since_1970(stat.st_mtime, stat.st_mtime_nsec),
            changed_ns: since_1970(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            device: stat.st_dev,
        }
    }

    /// The same of an entry that was looked at through its folder.
    pub(crate) fn of_entry(metadata: &cap_std::fs::Metadata) -> Self {
        #[cfg(unix)]
        {
            use cap_std::fs::MetadataExt as _;
            Self {
                size: metadata.size(),
                modified_ns: since_1970(metadata.mtime(), metadata.mtime_nsec()),
                changed_ns: since_1970(metadata.ctime(), metadata.ctime_nsec()),
                inode: metadata.ino(),
                device: metadata.dev(),
            }
        }
        #[cfg(not(unix))]
        {
            let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
            let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
            let modified_ns = since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX));
            Self { size: metadata.len(), modified_ns, changed_ns: 0, inode: 0, device: 0 }
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let modified =
            metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let modified_ns = modified.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX));
        Self { size: metadata.len(), modified_ns, changed_ns: 0, inode: 0, device: 0 }
    }
}

/// A time in nanoseconds since 1970. The width of either part differs from platform to platform.
#[cfg(unix)]
fn since_1970(seconds: impl Into<i128>, nanoseconds: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + nanoseconds.into()
}

/// What a read gave.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRead {
    /// The bytes, at most as many as were asked for.
    pub bytes: Vec<u8>,
    /// The state of the file before and after the read.
    pub identity: FileIdentity,
    /// The size of the whole file, in bytes.
    pub total_bytes: u64,
    /// Whether there is more after `bytes`.
    pub truncated: bool,
}

/// How often a path is resolved again whose links changed meanwhile.
const ATTEMPTS: usize = 16;

/// Opens a file beneath `root`, following links where they stay beneath it and out of the private area.
///
/// A path without links is opened at once. Links are resolved first, and what they lead to is opened without following
/// any: a folder that turns into a link in between is noticed, and the path resolved again.
pub(crate) fn open_following(root: &Dir, path: &Path, shown: &str) -> Result<File, Error> {
    match beneath::open_file(root, path) {
        Err(error) if beneath::met_a_link(&error) => {}
        opened => return opened.map_err(|error| refusal(error, shown, || kind_at(root, path))),
    }
    for _ in 0..ATTEMPTS {
        let resolved = root.canonicalize(path).map_err(|error| refusal(error, shown, || None))?;
        if resolved.iter().any(|segment| segment.to_str().is_some_and(path::is_private)) {
            return Err(Error::PrivateArea { path: shown.to_owned() });
        }
        match beneath::open_file(root, &resolved) {
            Err(error) if beneath::met_a_link(&error) || error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened.map_err(|error| refusal(error, shown, || kind_at(root, &resolved))),
        }
    }
    Err(Error::Changed { path: shown.to_owned() })
}

/// Opens a regular file beneath `root` without following a link, and says in which state it is.
pub(crate) fn open(root: &Dir, path: &Path, shown: &str) -> Result<(File, FileIdentity), Error> {
    let file = beneath::open_file(root, path).map_err(|error| match beneath::met_a_link(&error) {
        true => Error::Changed { path: shown.to_owned() },
        false => refusal(error, shown, || kind_at(root, path)),
    })?;
    let identity = regular(&file, shown)?;
    Ok((file, identity))
}

/// The state of an open file; refused where it is no regular file.
pub(crate) fn regular(file: &File, shown: &str) -> Result<FileIdentity, Error> {
    let metadata = file.metadata().map_err(|source| Error::Unreadable { path: shown.to_owned(), source })?;
    match FileKind::of(metadata.file_type()) {
        Some(kind) => Err(Error::NotRegularFile { path: shown.to_owned(), kind }),
        None => Ok(FileIdentity::of(&metadata)),
    }
}

/// Reads at most `max_bytes` of an open file, from `offset` on; one byte more is probed to know whether there is more.
pub(crate) fn read_window(
    mut file: File,
    identity: FileIdentity,
    shown: &str,
    offset: u64,
    max_bytes: u64,
) -> Result<FileRead, Error> {
    let unreadable = |source| Error::Unreadable { path: shown.to_owned(), source };
    let expected = identity.size.saturating_sub(offset).min(max_bytes);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(usize::MAX).saturating_add(1));
    if offset > 0 {
        match file.seek(SeekFrom::Start(offset)) {
            // No file of this file system reaches so far.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let total_bytes = identity.size;
                return Ok(FileRead { bytes: Vec::new(), identity, total_bytes, truncated: false });
            }
            sought => sought.map_err(unreadable)?,
        };
    }
    file.by_ref().take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    let after = file.metadata().map_err(unreadable)?;
    if FileIdentity::of(&after) != identity {
        return Err(Error::Changed { path: shown.to_owned() });
    }
    let limit = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let truncated = bytes.len() > limit;
    // A file of `/proc` says that it has no bytes.
    let read_to = if bytes.is_empty() { 0 } else { offset.saturating_add(bytes.len() as u64) };
    let total_bytes = identity.size.max(read_to);
    bytes.truncate(limit);
    Ok(FileRead { bytes, identity, total_bytes, truncated })
}

/// What sits at a path, where it is no regular file.
pub(crate) fn kind_at(root: &Dir, path: &Path) -> Option<FileKind> {
    let file_type = root.metadata(path).ok()?.file_type();
    if file_type.is_file() {
        return None;
    }
    if file_type.is_dir() {
        return Some(FileKind::Directory);
    }
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt as _;
        if file_type.is_fifo() {
            return Some(FileKind::Fifo);
        }
        if file_type.is_socket() {
            return Some(FileKind::Socket);
        }
        if file_type.is_char_device() || file_type.is_block_device() {
            return Some(FileKind::Device);
        }
    }
    Some(FileKind::Other)
}

/// Turns what the system said into a refusal; `kind` looks what is there instead of a file.
pub(crate) fn refusal(error: io::Error, shown: &str, kind: impl FnOnce() -> Option<FileKind>) -> Error {
    let path = shown.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::NotFound { path },
        // The handle's own refusal to leave the root is no answer of the system and carries no number of one.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Error::OutsideBoundary { path },
        // A long name cannot exist.
        io::ErrorKind::InvalidFilename => Error::NotFound { path },
        _ => match kind() {
            Some(kind) => Error::NotRegularFile { path, kind },
            None => Error::Unreadable { path, source: error },
        },
    }
}
