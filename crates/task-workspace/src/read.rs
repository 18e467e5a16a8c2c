//! Reading one file, all of it or the beginning, and only if it stood still meanwhile.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions};

use crate::error::{Error, FileKind};

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
        let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
        Self {
            size: metadata.size(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            device: metadata.dev(),
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
    /// Whether there is more than `bytes`.
    pub truncated: bool,
}

/// Opens a regular file beneath `root` without waiting for anybody, and says in which state it is.
pub(crate) fn open(root: &Dir, path: &Path, shown: &str) -> Result<(File, FileIdentity), Error> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        // A FIFO without a writer would make the open wait for ever.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file =
        root.open_with(path, &options).map_err(|error| refusal(error, shown, || kind_at(root, path)))?;
    let file = file.into_std();
    let metadata = file.metadata().map_err(|source| Error::Unreadable { path: shown.to_owned(), source })?;
    match FileKind::of(metadata.file_type()) {
        Some(kind) => Err(Error::NotRegularFile { path: shown.to_owned(), kind }),
        None => Ok((file, FileIdentity::of(&metadata))),
    }
}

/// Reads at most `max_bytes`; one byte more is probed to know whether there is more.
pub(crate) fn read(root: &Dir, path: &Path, shown: &str, max_bytes: u64) -> Result<FileRead, Error> {
    let (mut file, identity) = open(root, path, shown)?;
    let unreadable = |source| Error::Unreadable { path: shown.to_owned(), source };
    let expected = usize::try_from(identity.size.min(max_bytes)).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(expected.saturating_add(1));
    file.by_ref().take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    let after = file.metadata().map_err(unreadable)?;
    if FileIdentity::of(&after) != identity {
        return Err(Error::Changed { path: shown.to_owned() });
    }
    let limit = usize::try_from(max_bytes).unwrap_or(usize::MAX);
    let truncated = bytes.len() > limit;
    let total_bytes = identity.size.max(bytes.len() as u64);
    bytes.truncate(limit);
    Ok(FileRead { bytes, identity, total_bytes, truncated })
}

/// The last `max_bytes` of a file that is in the state `identity`.
pub(crate) fn read_tail(
    root: &Dir,
    path: &Path,
    shown: &str,
    identity: FileIdentity,
    max_bytes: u64,
) -> Result<Vec<u8>, Error> {
    use std::io::{Seek as _, SeekFrom};
    let (mut file, found) = open(root, path, shown)?;
    if found != identity {
        return Err(Error::Changed { path: shown.to_owned() });
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(identity.size.saturating_sub(max_bytes)))
        .and_then(|_| file.take(max_bytes).read_to_end(&mut bytes))
        .map_err(|source| Error::Unreadable { path: shown.to_owned(), source })?;
    Ok(bytes)
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
