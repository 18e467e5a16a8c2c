//! Putting a finished file in its place, or taking a file away, in one step that can be undone.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write as _};

use briefing_core::{Digest, Digester};
use cap_std::fs::Dir;

use crate::error::Error;
use crate::place::{Place, Seen, digest_of, is_absence};
use crate::read::FileIdentity;
use crate::steps::{Step, Steps};
use crate::swap::{self, Name};
use crate::target::TargetState;
use crate::{area, beneath};

/// A name in the private area for a file on its way.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) dir: Dir,
    /// Which folder of the area that is.
    pub(crate) folder: &'static str,
    pub(crate) name: String,
}

impl Slot {
    fn name(&self) -> Name<'_> {
        Name { dir: &self.dir, name: OsStr::new(&self.name) }
    }

    /// Where the old file is kept while it has no place of its own.
    pub(crate) fn beside(&self) -> String {
        format!("{}.old", self.name)
    }

    /// Forgets whatever is left in the slot.
    pub(crate) fn clear(&self) -> io::Result<()> {
        area::remove(&self.dir, &self.beside())?;
        area::remove(&self.dir, &self.name)
    }
}

/// A file in the private area, whole.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) slot: Slot,
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
}

/// What a new file takes over besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attributes<'a> {
    /// The owner, the mode and the extended attributes of this file.
    pub(crate) like: Option<&'a Seen>,
    /// Whether it can be executed, where something is said about that. Only Unix keeps it.
    pub(crate) executable: Option<bool>,
}

/// Writes what `reader` gives to a new file in the slot, and syncs it. Nothing is left where it fails.
pub(crate) fn finish(
    steps: &Steps,
    place: &Place,
    slot: Slot,
    reader: &mut dyn Read,
    limit_bytes: Option<u64>,
    attributes: Attributes<'_>,
) -> Result<Finished, Error> {
    let (finished, file) = draft(steps, place, slot, reader, limit_bytes, attributes)?;
    match steps.reach(Step::SyncFile).and_then(|()| file.sync_all()) {
        Ok(()) => Ok(finished),
        Err(error) => {
            let _ = finished.slot.clear();
            Err(not_written(place, Step::SyncFile)(error))
        }
    }
}

/// The same without the sync.
pub(crate) fn draft(
    steps: &Steps,
    place: &Place,
    slot: Slot,
    reader: &mut dyn Read,
    limit_bytes: Option<u64>,
    attributes: Attributes<'_>,
) -> Result<(Finished, File), Error> {
    let created = steps.reach(Step::CreateFile).and_then(|()| area::create(&slot.dir, &slot.name));
    // Where it cannot be made, what has the name is somebody else's.
    let file = created.map_err(not_written(place, Step::CreateFile))?;
    let written = write(steps, place, file, reader, limit_bytes).and_then(|(file, digest, size_bytes)| {
        if attributes.like.is_some() || attributes.executable.is_some() {
            steps.reach(Step::KeepAttributes).map_err(not_written(place, Step::KeepAttributes))?;
        }
        if let Some(old) = attributes.like {
            keep_attributes(place, &file, old)?;
        }
        if let Some(executable) = attributes.executable {
            set_executable(&file, executable).map_err(|source| Error::CannotKeep {
                path: place.shown(),
                what: "mode",
                source,
            })?;
        }
        Ok((file, digest, size_bytes))
    });
    match written {
        Ok((file, digest, size_bytes)) => Ok((Finished { slot, digest, size_bytes }, file)),
        Err(error) => {
            // What is left is swept up when the workspace is opened the next time.
            let _ = slot.clear();
            Err(error)
        }
    }
}

fn write(
    steps: &Steps,
    place: &Place,
    mut file: File,
    reader: &mut dyn Read,
    limit_bytes: Option<u64>,
) -> Result<(File, Digest, u64), Error> {
    let failed = not_written(place, Step::WriteBytes);
    steps.reach(Step::WriteBytes).map_err(&failed)?;
    let (mut digester, mut size_bytes) = (Digester::new(), 0_u64);
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = match reader.read(&mut buffer) {
            Ok(0) => return Ok((file, digester.finish(), size_bytes)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        size_bytes += read as u64;
        if let Some(limit_bytes) = limit_bytes.filter(|limit| size_bytes > *limit) {
            return Err(Error::TooLarge { path: place.shown(), size_bytes, limit_bytes });
        }
        digester.update(bytes);
        file.write_all(bytes).map_err(&failed)?;
    }
}

/// Gives a new file the owner, the group, the extended attributes and the mode of the old one, or refuses. Says whether it
/// had others.
pub(crate) fn keep_attributes(place: &Place, file: &File, old: &Seen) -> Result<bool, Error> {
    let cannot = |what| move |source| Error::CannotKeep { path: place.shown(), what, source };
    let mut changed = false;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let new = file.metadata().map_err(cannot("owner"))?;
        if (new.uid(), new.gid()) != (old.metadata.uid(), old.metadata.gid()) {
            std::os::unix::fs::fchown(file, Some(old.metadata.uid()), Some(old.metadata.gid()))
                .map_err(cannot("owner"))?;
            changed = true;
        }
        #[cfg(any(target_os = "linux", target_os = "macos"))]
        {
            changed |= attributes::copy(&old.file, file).map_err(cannot("extended attributes"))?;
        }
        // After the owner: a change of owner takes the set-user-id bit away.
        let mode = old.metadata.mode() & 0o7777;
        let now = file.metadata().map_err(cannot("mode"))?.mode() & 0o7777;
        if now != mode {
            file.set_permissions(std::fs::Permissions::from_mode(mode)).map_err(cannot("mode"))?;
            changed = true;
        }
    }
    #[cfg(not(unix))]
    if file.metadata().map_err(cannot("permissions"))?.permissions() != old.metadata.permissions() {
        file.set_permissions(old.metadata.permissions()).map_err(cannot("permissions"))?;
        changed = true;
    }
    Ok(changed)
}

/// Lets whoever may read a file execute it too, or nobody. Git keeps no more of a mode than that.
#[cfg(unix)]
fn set_executable(file: &File, executable: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let mode = file.metadata()?.mode() & 0o7777;
    let new = if executable { mode | 0o100 | (mode & 0o444) >> 2 } else { mode & !0o111 };
    if new == mode {
        return Ok(());
    }
    file.set_permissions(std::fs::Permissions::from_mode(new))
}

/// Where the platform has no such bit, as git does there: nothing.
#[cfg(not(unix))]
fn set_executable(_file: &File, _executable: bool) -> io::Result<()> {
    Ok(())
}

/// Whether a file can be executed by its owner; `None` where the platform has no such bit.
#[cfg(unix)]
pub(crate) fn is_executable(metadata: &std::fs::Metadata) -> Option<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Some(metadata.mode() & 0o100 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(_metadata: &std::fs::Metadata) -> Option<bool> {
    None
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod attributes {
    use std::ffi::CString;
    use std::fs::File;
    use std::io;

    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    /// Names and values are at most 64 KiB each on Linux (xattr(7)).
    const MAX_BYTES: usize = 64 * 1024;

    /// Copies what users and access lists keep there, and takes away what only the new file has. The attributes of the
    /// system's own security follow the new file. Says whether there was anything to do.
    pub(super) fn copy(old: &File, new: &File) -> io::Result<bool> {
        let (wanted, found) = (names(old)?, names(new)?);
        let (mut value, mut known) = (vec![0_u8; MAX_BYTES], vec![0_u8; MAX_BYTES]);
        let mut changed = false;
        for name in &wanted {
            let read = match fgetxattr(old, name, &mut value) {
                Err(Errno::NODATA) => continue,
                read => read?,
            };
            let value = value.get(..read).unwrap_or_default();
            let is_there = match fgetxattr(new, name, &mut known) {
                Err(Errno::NODATA) => false,
                read => known.get(..read?).unwrap_or_default() == value,
            };
            if !is_there {
                fsetxattr(new, name, value, XattrFlags::empty())?;
                changed = true;
            }
        }
        for name in found.iter().filter(|name| !wanted.contains(name)) {
            fremovexattr(new, name)?;
            changed = true;
        }
        Ok(changed)
    }

    fn names(file: &File) -> io::Result<Vec<CString>> {
        let mut names = vec![0_u8; MAX_BYTES];
        let length = match flistxattr(file, &mut names) {
            Ok(0) | Err(Errno::NOTSUP) => return Ok(Vec::new()),
            listed => listed?,
        };
        let names = names.get(..length).unwrap_or_default().split(|byte| *byte == 0);
        let is_kept = |name: &&[u8]| {
            name.starts_with(b"user.")
                || name.starts_with(b"system.posix_acl_")
                || name.starts_with(b"com.apple.")
        };
        Ok(names.filter(is_kept).filter_map(|name| CString::new(name).ok()).collect())
    }
}

/// A change that was made to a place and can still be undone.
#[derive(Debug)]
pub(crate) struct Made<'a> {
    pub(crate) slot: &'a Slot,
    pub(crate) place: &'a Place,
    pub(crate) how: How,
    /// The file that is at the place now, where it is known.
    pub(crate) new: Option<FileIdentity>,
}

/// How a change was made, and so where the old file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// The slot is empty now.
    Created,
    /// The old file is in the slot.
    Exchanged,
    /// The old file is beside the slot, under a second name.
    Replaced,
    /// The old file is in the slot, and nothing is at the place.
    Removed,
}

/// Puts the file of the slot in the place, where `seen` is, or nothing.
pub(crate) fn put<'a>(
    steps: &Steps,
    slot: &'a Slot,
    place: &'a Place,
    seen: Option<&Seen>,
) -> Result<Made<'a>, Error> {
    let failed = not_written(place, Step::Replace);
    let Some(dir) = place.dir() else {
        return Err(failed(io::Error::from(io::ErrorKind::NotFound)));
    };
    let to = Name { dir, name: place.name() };
    let new = identity(slot.name()).map_err(&failed)?;
    let made = |how| Made { slot, place, how, new: Some(new) };
    steps.reach(Step::Replace).map_err(&failed)?;
    let Some(seen) = seen else {
        return match swap::move_to_free(slot.name(), to) {
            Ok(()) => Ok(made(How::Created)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(conflict(place, None)),
            Err(error) => Err(refused(place, Step::Replace, error)),
        };
    };
    let still_there = |name: Name<'_>| identity(name).is_ok_and(|found| is_same_file(&found, &seen.identity));
    match swap::exchange(slot.name(), to) {
        Ok(true) if still_there(slot.name()) => Ok(made(How::Exchanged)),
        Ok(true) => {
            // Somebody was faster: what came out is not what was looked at, and goes back.
            let back = made(How::Exchanged).undo();
            back.map_err(|source| stranded(place, &slot.name, source))?;
            Err(conflict(place, Some(seen.digest)))
        }
        Ok(false) => replace(slot, place, to, seen, &still_there).map(|()| made(How::Replaced)),
        Err(error) if is_absence(&error) => Err(conflict(place, Some(seen.digest))),
        Err(error) => Err(refused(place, Step::Replace, error)),
    }
}

/// Replaces by a plain rename, where two files cannot change places.
fn replace(
    slot: &Slot,
    place: &Place,
    to: Name<'_>,
    seen: &Seen,
    still_there: &dyn Fn(Name<'_>) -> bool,
) -> Result<(), Error> {
    if !still_there(to) {
        return Err(conflict(place, Some(seen.digest)));
    }
    let beside = slot.beside();
    let kept = to.dir.hard_link(to.name, &slot.dir, &beside);
    let replaced = kept.and_then(|()| slot.dir.rename(&slot.name, to.dir, to.name));
    replaced.map_err(|error| {
        let _ = area::remove(&slot.dir, &beside);
        refused(place, Step::Replace, error)
    })
}

/// Takes the file away that `seen` is, into the slot.
pub(crate) fn remove<'a>(
    steps: &Steps,
    slot: &'a Slot,
    place: &'a Place,
    seen: &Seen,
) -> Result<Made<'a>, Error> {
    let failed = not_written(place, Step::Remove);
    let Some(dir) = place.dir() else {
        return Err(failed(io::Error::from(io::ErrorKind::NotFound)));
    };
    steps.reach(Step::Remove).map_err(&failed)?;
    match swap::move_to_free(Name { dir, name: place.name() }, slot.name()) {
        Ok(()) => {}
        Err(error) if is_absence(&error) => return Err(conflict(place, Some(seen.digest))),
        Err(error) => return Err(refused(place, Step::Remove, error)),
    }
    let made = Made { slot, place, how: How::Removed, new: None };
    if identity(slot.name()).is_ok_and(|found| is_same_file(&found, &seen.identity)) {
        return Ok(made);
    }
    made.undo().map_err(|source| stranded(place, &slot.name, source))?;
    Err(conflict(place, Some(seen.digest)))
}

impl Made<'_> {
    pub(crate) fn place(&self) -> &Place {
        self.place
    }

    /// Reads the place back, whole, and compares.
    pub(crate) fn read_back(&self, expected: TargetState) -> Result<(), Error> {
        let found = self.place.state()?;
        if found == expected {
            return Ok(());
        }
        Err(Error::ReadBack { path: self.place.shown(), expected, found })
    }

    /// Puts everything back as it was. A file that somebody else put there meanwhile stays.
    pub(crate) fn undo(&self) -> io::Result<()> {
        let Some(dir) = self.place.dir() else { return Ok(()) };
        let (here, slot) = (Name { dir, name: self.place.name() }, self.slot.name());
        if let Some(new) = &self.new {
            match identity(here) {
                Ok(found) if (found.device, found.inode) == (new.device, new.inode) => {}
                Ok(_) => return Ok(()),
                Err(error) if is_absence(&error) && self.how == How::Created => return Ok(()),
                Err(error) if is_absence(&error) => {
                    // Somebody took the new file away: the old one goes to the free name.
                    let beside = self.slot.beside();
                    let name = if self.how == How::Replaced { &beside } else { &self.slot.name };
                    swap::move_to_free(Name { dir: &self.slot.dir, name: OsStr::new(name) }, here)?;
                    return area::sync(dir);
                }
                Err(error) => return Err(error),
            }
        }
        match self.how {
            How::Created => swap::move_to_free(here, slot)?,
            How::Exchanged => {
                swap::exchange(slot, here)?;
            }
            How::Replaced => {
                let old = OsString::from(self.slot.beside());
                here.dir.hard_link(here.name, &self.slot.dir, &self.slot.name)?;
                self.slot.dir.rename(&old, here.dir, here.name)?;
            }
            How::Removed => swap::move_to_free(slot, here)?,
        }
        area::sync(dir)
    }

    /// The error of an undo that failed.
    pub(crate) fn stranded(&self, source: io::Error) -> Error {
        let name = if self.how == How::Replaced { self.slot.beside() } else { self.slot.name.clone() };
        stranded(self.place, &name, source)
    }
}

pub(crate) fn not_written(place: &Place, step: Step) -> impl Fn(io::Error) -> Error {
    let path = place.shown();
    move |source| Error::NotWritten { path: path.clone(), step, source }
}

/// What had the place stays in the slot until the unit moves it to the folder that the error names.
fn stranded(place: &Place, name: &str, source: io::Error) -> Error {
    Error::Stranded { path: place.shown(), kept: format!("{}/{name}", area::KEPT), source }
}

fn refused(place: &Place, step: Step, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::CrossesDevices => Error::OtherFileSystem { path: place.shown() },
        _ => Error::NotWritten { path: place.shown(), step, source: error },
    }
}

/// The target is not what it was when it was looked at.
pub(crate) fn conflict(place: &Place, expected: Option<Digest>) -> Error {
    match place.state() {
        Ok(found) => Error::Conflict { path: place.shown(), expected: expected.into(), found },
        Err(error) => error,
    }
}

/// The state of what has a name, itself.
fn identity(at: Name<'_>) -> io::Result<FileIdentity> {
    let file = at.dir.symlink_metadata(at.name)?;
    if !file.is_file() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    Ok(FileIdentity::of_entry(&file))
}

/// A rename touches the time of the last change of attributes, and nothing else.
fn is_same_file(found: &FileIdentity, seen: &FileIdentity) -> bool {
    let facts =
        |identity: &FileIdentity| (identity.device, identity.inode, identity.size, identity.modified_ns);
    facts(found) == facts(seen)
}

/// The digest of what is in a slot, if anything is.
pub(crate) fn digest_in(dir: &Dir, name: &str) -> io::Result<Option<(Digest, u64)>> {
    match beneath::open_name(dir, OsStr::new(name)) {
        Ok(mut file) => digest_of(&mut file).map(Some),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}
