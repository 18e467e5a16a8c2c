//! The steps that change what a name means, each whole or not at all.
//!
//! On Linux they are `renameat2` with `RENAME_NOREPLACE` and `RENAME_EXCHANGE`. Where the file system has no such thing,
//! a hard link takes a free name (it fails where the name is taken), and a plain rename replaces.

use std::ffi::OsStr;
use std::io;

use cap_std::fs::Dir;

/// A name in a folder that is held open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(crate) dir: &'a Dir,
    pub(crate) name: &'a OsStr,
}

/// Moves a file or folder to a name that nothing has.
///
/// # Errors
/// `AlreadyExists` where something has the name.
pub(crate) fn move_to_free(from: Name<'_>, to: Name<'_>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Some(done) = linux::rename(from, to, rustix::fs::RenameFlags::NOREPLACE) {
        return done;
    }
    if from.dir.symlink_metadata(from.name)?.is_dir() {
        // A folder has no links; a rename onto an empty folder would replace it.
        return match to.dir.symlink_metadata(to.name) {
            Ok(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                from.dir.rename(from.name, to.dir, to.name)
            }
            Err(error) => Err(error),
        };
    }
    from.dir.hard_link(from.name, to.dir, to.name)?;
    from.dir.remove_file(from.name)
}

/// Lets two files change places; `false` where the file system cannot.
pub(crate) fn exchange(one: Name<'_>, other: Name<'_>) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    if let Some(done) = linux::rename(one, other, rustix::fs::RenameFlags::EXCHANGE) {
        return done.map(|()| true);
    }
    let _ = (one, other);
    Ok(false)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use rustix::fs::RenameFlags;
    use rustix::io::Errno;

    use super::Name;

    /// `None` where the kernel or the file system does not know the flag (rename(2): `EINVAL`).
    pub(super) fn rename(from: Name<'_>, to: Name<'_>, flags: RenameFlags) -> Option<io::Result<()>> {
        match rustix::fs::renameat_with(from.dir, from.name, to.dir, to.name, flags) {
            Err(Errno::INVAL | Errno::NOSYS) => None,
            done => Some(done.map_err(io::Error::from)),
        }
    }
}
