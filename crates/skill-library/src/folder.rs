//! Reading a skill's folder: plain files and folders beneath one handle, no link followed.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::Error;
use crate::package::{Collector, MAX_DEPTH};

/// Names that are no part of a skill, wherever they stand: what version control, this workspace, Python and macOS leave.
const LEFT_OUT: [&str; 6] = [".git", ".hg", ".svn", ".briefing", "__pycache__", ".DS_Store"];

/// Hands every file beneath `folder` to the collector; answers with the paths that were left out.
pub(crate) fn collect(folder: &Path, collector: &mut Collector) -> Result<Vec<String>, Error> {
    let mut walk = Walk { root: folder, collector, left_out: Vec::new() };
    let root = walk::open_root(folder).map_err(Error::unreadable(folder))?;
    walk.folder(&root, "", 0)?;
    walk.left_out.sort_unstable();
    Ok(walk.left_out)
}

struct Walk<'a> {
    root: &'a Path,
    collector: &'a mut Collector,
    left_out: Vec<String>,
}

/// What a name stands for.
enum Found {
    Folder,
    File,
    Link,
    Special,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &walk::Folder, prefix: &str, depth: usize) -> Result<(), Error> {
        let mut names = folder.names().map_err(self.failed(prefix))?;
        names.sort_unstable();
        let mut held = false;
        for name in names {
            let Some(text) = name.to_str() else {
                let path = format!("{prefix}{}", name.to_string_lossy());
                return Err(Error::Path { path, reason: "its name is no UTF-8" });
            };
            let path = format!("{prefix}{text}");
            if LEFT_OUT.contains(&text) {
                self.left_out.push(path);
                continue;
            }
            held = true;
            self.collector.meet_entry()?;
            match folder.kind(&name).map_err(self.failed(&path))? {
                Found::Link => return Err(Error::NotAFile { path, kind: "a symbolic link" }),
                Found::Special => return Err(Error::NotAFile { path, kind: "a device, pipe or socket" }),
                Found::Folder if depth >= MAX_DEPTH => {
                    return Err(Error::Path { path, reason: "it is more than 32 names deep" });
                }
                Found::Folder => {
                    let inner = folder.enter(&name).map_err(self.failed(&path))?;
                    self.folder(&inner, &format!("{path}/"), depth + 1)?;
                }
                Found::File => {
                    let file = folder.open(&name).map_err(self.failed(&path))?;
                    let bytes =
                        read_at_most(file, self.collector.file_limit(&path)).map_err(self.failed(&path))?;
                    self.collector.take(path, bytes)?;
                }
            }
        }
        if !held && !prefix.is_empty() {
            // A revision holds files; a folder without any is not kept.
            self.left_out.push(prefix.to_owned());
        }
        Ok(())
    }

    fn failed(&self, path: &str) -> impl FnOnce(io::Error) -> Error {
        Error::unreadable(self.root.join(path))
    }
}

/// Reads a file, and one byte more than it may have where it has more.
fn read_at_most(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a plain file without following a link at its end and without waiting for a pipe.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    plain(options.open(path)?)
}

fn plain(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "no plain file"))
}

#[cfg(unix)]
mod walk {
    //! By handles: whatever is swapped while we walk, nothing outside the folder is read.

    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

    use super::Found;

    pub(super) struct Folder(OwnedFd);

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// The folder that the caller names; it may be a link itself.
    pub(super) fn open_root(path: &Path) -> io::Result<Folder> {
        Ok(Folder(rustix::fs::open(path, FOLDER, Mode::empty())?))
    }

    impl Folder {
        pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.0)? {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if name != b"." && name != b".." {
                    names.push(OsStr::from_bytes(name).to_owned());
                }
            }
            Ok(names)
        }

        pub(super) fn kind(&self, name: &OsStr) -> io::Result<Found> {
            let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => Found::Folder,
                FileType::RegularFile => Found::File,
                FileType::Symlink => Found::Link,
                _ => Found::Special,
            })
        }

        pub(super) fn enter(&self, name: &OsStr) -> io::Result<Self> {
            Ok(Self(rustix::fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
        }

        pub(super) fn open(&self, name: &OsStr) -> io::Result<File> {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            super::plain(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
        }
    }
}

#[cfg(not(unix))]
mod walk {
    //! By paths: links are refused where they are seen; one that is swapped in meanwhile is not.

    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io;
    use std::path::{Path, PathBuf};

    use super::Found;

    pub(super) struct Folder(PathBuf);

    pub(super) fn open_root(path: &Path) -> io::Result<Folder> {
        std::fs::read_dir(path)?;
        Ok(Folder(path.to_owned()))
    }

    impl Folder {
        pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
            std::fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
        }

        pub(super) fn kind(&self, name: &OsStr) -> io::Result<Found> {
            let kind = std::fs::symlink_metadata(self.0.join(name))?.file_type();
            Ok(match () {
                () if kind.is_symlink() => Found::Link,
                () if kind.is_dir() => Found::Folder,
                () if kind.is_file() => Found::File,
                () => Found::Special,
            })
        }

        pub(super) fn enter(&self, name: &OsStr) -> io::Result<Self> {
            Ok(Self(self.0.join(name)))
        }

        pub(super) fn open(&self, name: &OsStr) -> io::Result<File> {
            super::open_plain(&self.0.join(name))
        }
    }
}
