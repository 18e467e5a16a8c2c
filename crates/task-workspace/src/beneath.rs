//! Opening beneath a folder that is held open, without following a single link.
//!
//! On Linux one `openat2` with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS` does it. Elsewhere, and where the kernel or a
//! sandbox refuses that call, each folder on the way is opened from the one before it (`cap-std`, which opens a single
//! name without following it). Neither can be led astray by a folder that turns into a link meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions};

/// Opens a file for reading, and does not wait for anybody. What it is has to be looked at by the caller.
pub(crate) fn open_file(root: &Dir, path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    if let Some(file) = linux::open(root, path, rustix::fs::OFlags::RDONLY)? {
        return Ok(file);
    }
    let (dir, name) = parent(root, path)?;
    open_name(&dir, name)
}

/// Opens a folder.
pub(crate) fn open_dir(root: &Dir, path: &Path) -> io::Result<Dir> {
    #[cfg(target_os = "linux")]
    if let Some(file) = linux::open(root, path, rustix::fs::OFlags::DIRECTORY)? {
        return Ok(Dir::from_std_file(file));
    }
    let mut segments = path.iter();
    let Some(first) = segments.next() else { return root.try_clone() };
    segments.try_fold(enter(root, first)?, |dir, name| enter(&dir, name))
}

/// Opens one folder of a folder.
pub(crate) fn enter(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    dir.open_dir_nofollow(name).map_err(|error| match error.kind() {
        // A link is answered as "no folder" where a folder was asked for.
        io::ErrorKind::NotADirectory if is_link(dir, name) => link(),
        _ => error,
    })
}

/// Opens one file of a folder for reading.
pub(crate) fn open_name(dir: &Dir, name: &OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    without_waiting(&mut options);
    dir.open_with(name, &options).map(cap_std::fs::File::into_std)
}

/// Lets an open follow no link and wait for nobody.
pub(crate) fn without_waiting(options: &mut OpenOptions) {
    options.follow(FollowSymlinks::No);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        // A FIFO without a writer would make the open wait for ever.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
}

/// A link was met where none is followed, on a platform that has no number for it.
#[derive(Debug, thiserror::Error)]
#[error("a link is in the way")]
struct MetALink;

/// Whether an error says that a link was met.
pub(crate) fn met_a_link(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return true;
    }
    error.get_ref().is_some_and(|inner| inner.is::<MetALink>())
}

fn link() -> io::Error {
    io::Error::other(MetALink)
}

fn is_link(dir: &Dir, name: &OsStr) -> bool {
    dir.symlink_metadata(name).is_ok_and(|metadata| metadata.is_symlink())
}

fn parent<'a>(root: &Dir, path: &'a Path) -> io::Result<(Dir, &'a OsStr)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok((folder.iter().try_fold(root.try_clone()?, |dir, name| enter(&dir, name))?, name))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use cap_std::fs::Dir;
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    use rustix::io::Errno;

    /// Whether the kernel answered that it has no such call, or a sandbox that it may not be used.
    static REFUSED: AtomicBool = AtomicBool::new(false);

    /// How often a look-up that a rename disturbed is tried again (openat2(2): `EAGAIN`).
    const ATTEMPTS: usize = 32;

    /// `None` where the call cannot be used, also for paths that are too long for one call.
    pub(super) fn open(root: &Dir, path: &Path, flags: OFlags) -> io::Result<Option<File>> {
        if REFUSED.load(Ordering::Relaxed) || path.as_os_str().is_empty() {
            return Ok(None);
        }
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..ATTEMPTS {
            match rustix::fs::openat2(root, path, flags, Mode::empty(), resolve) {
                Ok(file) => return Ok(Some(File::from(file))),
                Err(Errno::AGAIN) => {}
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {
                    REFUSED.store(true, Ordering::Relaxed);
                    return Ok(None);
                }
                Err(Errno::NAMETOOLONG) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}
