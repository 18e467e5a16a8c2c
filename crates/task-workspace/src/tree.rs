//! Changing the tree: folders, moves, removals; and files from outside and to outside.

use std::fs::File;
use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::boundary::OpenFile;
use crate::error::{Error, FileKind};
use crate::hold::{Hold, not_found, unreadable};
use crate::identity;
use crate::options::WorkspaceMode;
use crate::path::is_private;
use crate::place::{Layer, Place, links_of_entry};
use crate::put::not_written;
use crate::read::{self, FileIdentity};
use crate::steps::Step;
use crate::swap::{self, Name};
use crate::target::TargetState;
use crate::write::{Bytes, Expected, Written, check_expected};
use crate::{TaskWorkspace, WorkspacePath, area, beneath};

/// What a removal took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Removed {
    /// How many files and links.
    pub files: u64,
    /// How many folders.
    pub folders: u64,
}

impl TaskWorkspace {
    /// Makes a folder, with the folders on the way to it. One that is there is left as it is.
    ///
    /// # Errors
    /// [`Error::Exists`] where something else has the name, and as [`write`](Self::write).
    pub fn create_folder(&self, path: &WorkspacePath) -> Result<(), Error> {
        let hold = self.hold()?;
        hold.check_write(path)?;
        let place = hold.place_of_folder(path)?;
        match place.metadata()? {
            Some(found) if found.is_dir() => return Ok(()),
            Some(found) if found.is_symlink() => {
                return Err(Error::Link { path: place.shown(), at: place.shown() });
            }
            Some(_) => return Err(Error::Exists { path: place.shown() }),
            None => place.check_collision()?,
        }
        let mut inner = Place::reach_inside(place)?;
        let made = inner.make_folders(self.steps());
        made.map_err(not_written(&inner, Step::CreateFolders))
    }

    /// Moves a file or a folder to a path that has nothing. The file keeps its locator.
    ///
    /// # Errors
    /// [`Error::Exists`] where something is at `to`; [`Error::Protected`] and [`Error::Denied`] for either path, or for
    /// something in the folder; [`Error::PrivateArea`] for a folder that holds a private area;
    /// [`Error::ReadOnly`] for what is outside the fallback of a read-only workspace; and as [`write`](Self::write).
    pub fn rename(&self, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), Error> {
        let hold = self.hold()?;
        hold.check_write(from)?;
        hold.check_write(to)?;
        if to.is_at_or_in(from) && to != from {
            // A folder cannot go into itself; another spelling of one name is one place to some file systems.
            return Err(Error::NameCollision {
                path: to.as_str().to_owned(),
                existing: from.as_str().to_owned(),
            });
        }
        let source = hold.place(from)?;
        let found = source.metadata()?.ok_or_else(|| not_found(from))?;
        if found.is_symlink() {
            return Err(Error::Link { path: source.shown(), at: source.shown() });
        }
        if from == to {
            return Ok(());
        }
        if found.is_dir() {
            source.check_no_private_area()?;
            hold.check_contents(&source, to)?;
        } else {
            source.see()?;
        }
        let mut target = hold.place(to)?;
        if target.metadata()?.is_some() {
            return Err(Error::Exists { path: target.shown() });
        }
        target.check_collision()?;
        let made = target.make_folders(self.steps());
        made.map_err(not_written(&target, Step::CreateFolders))?;
        hold.move_entry(&source, &target)
    }

    /// Removes a file, or a link without following it.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::NotRegularFile`] for a folder; [`Error::Conflict`], [`Error::ReadOnly`],
    /// [`Error::Denied`], [`Error::Protected`]; [`Error::NotWritten`] where the system is in the way.
    pub fn remove_file(&self, path: &WorkspacePath, expected: impl Into<Expected>) -> Result<(), Error> {
        let hold = self.hold()?;
        hold.check_write(path)?;
        let place = hold.place(path)?;
        let found = place.metadata()?.ok_or_else(|| not_found(path))?;
        if found.is_symlink() || cap_std::fs::Metadata::is_file(&found) && links_of_entry(&found) > 1 {
            // Only this one name goes, whatever it stands for.
            if let Some(expected) = expected.into().0 {
                return Err(Error::Conflict { path: place.shown(), expected, found: TargetState::Absent });
            }
            return hold.unlink(&place);
        }
        let seen = place.see()?.ok_or_else(|| not_found(path))?;
        check_expected(&place, Some(&seen), expected.into().0)?;
        hold.make(&mut [hold.removal(place, seen)?])
    }

    /// Removes a folder: an empty one, or with everything in it. Links in it are removed and not followed.
    ///
    /// # Errors
    /// [`Error::FolderNotEmpty`] where `with_contents` is not set; [`Error::NotFolder`]; [`Error::PrivateArea`] for a
    /// folder that holds a private area; [`Error::Denied`] and [`Error::Protected`] for anything in it;
    /// [`Error::ReadOnly`]; [`Error::NotWritten`] where the system is in the way (some of it may be gone then).
    pub fn remove_folder(&self, path: &WorkspacePath, with_contents: bool) -> Result<Removed, Error> {
        let hold = self.hold()?;
        hold.check_write(path)?;
        let place = hold.place(path)?;
        let found = place.metadata()?.ok_or_else(|| not_found(path))?;
        if !found.is_dir() {
            return Err(Error::NotFolder { path: place.shown(), at: place.shown() });
        }
        place.check_no_private_area()?;
        let (held, held_bytes) = hold.check_contents(&place, path)?;
        if !with_contents && held != Removed::default() {
            return Err(Error::FolderNotEmpty { path: place.shown() });
        }
        let failed = not_written(&place, Step::Remove);
        let Some(dir) = place.dir() else { return Err(not_found(path)) };
        let removed = self
            .steps()
            .reach(Step::Remove)
            .and_then(|()| beneath::enter(dir, place.name()))
            .and_then(Dir::remove_open_dir_all)
            .and_then(|()| area::sync(dir));
        removed.map_err(failed)?;
        self.rules().shrink(0, held_bytes);
        Ok(Removed { folders: held.folders + 1, ..held })
    }

    /// Copies a file from outside into the workspace. The host alone decides which file that is.
    ///
    /// # Errors
    /// [`Error::Unreadable`] and [`Error::NotRegularFile`] for the file outside, [`Error::PrivateArea`] where it is one of
    /// the private area, [`Error::Changed`] where it changes meanwhile; and as [`write`](Self::write).
    pub fn import_file(
        &self,
        outside: impl AsRef<Path>,
        to: &WorkspacePath,
        expected: impl Into<Expected>,
    ) -> Result<Written, Error> {
        let shown = outside.as_ref().display().to_string();
        let unreadable = |source| Error::Unreadable { path: shown.clone(), source };
        let metadata = std::fs::metadata(outside.as_ref()).map_err(unreadable)?;
        if let Some(kind) = FileKind::of(metadata.file_type()) {
            return Err(Error::NotRegularFile { path: shown, kind });
        }
        let real = std::fs::canonicalize(outside.as_ref()).map_err(unreadable)?;
        let inside = self.part_inside(&real).unwrap_or_default();
        if inside.iter().any(|segment| segment.to_str().is_some_and(is_private)) {
            return Err(Error::PrivateArea { path: shown });
        }
        let file = open_outside(&real).map_err(unreadable)?;
        let identity = read::regular(&file, &shown)?;
        let source = OpenFile { file, identity, layer: Layer::Root };
        self.hold()?.write(to, Bytes::Of(&source, &shown), expected.into().0)
    }

    /// Copies a file of the workspace to a folder outside, under its own name, whole and synced; a file that is there is
    /// not overwritten.
    ///
    /// # Errors
    /// [`Error::OutsideBoundary`] where the folder is the workspace's or lies in it; [`Error::Exists`]; as
    /// [`read`](Self::read) for the file; [`Error::NotWritten`] where the system is in the way.
    pub fn export_file(&self, from: &WorkspacePath, folder: impl AsRef<Path>) -> Result<(), Error> {
        let shown = || folder.as_ref().display().to_string();
        let unusable = |source| Error::Unreadable { path: shown(), source };
        let outside = std::fs::canonicalize(folder.as_ref()).map_err(unusable)?;
        if self.part_inside(&outside).is_some() {
            return Err(Error::OutsideBoundary { path: shown() });
        }
        let dir = Dir::open_ambient_dir(&outside, ambient_authority()).map_err(unusable)?;
        let mut source = self.open_file(from)?;
        let failed = |step| {
            let path = from.as_str().to_owned();
            move |source| Error::NotWritten { path: path.clone(), step, source }
        };
        let draft = format!(".{}", self.environment().new_id("briefing"));
        let mut file = area::create(&dir, &draft).map_err(failed(Step::CreateFile))?;
        let written = io::copy(&mut source.file, &mut file).and_then(|_| file.sync_all());
        let name = from.file_name();
        let placed = written.map_err(failed(Step::WriteBytes)).and_then(|()| {
            let after = source.file.metadata().map_err(unreadable(from))?;
            if FileIdentity::of(&after) != source.identity {
                return Err(Error::Changed { path: from.as_str().to_owned() });
            }
            let (from_name, to) =
                (Name { dir: &dir, name: draft.as_ref() }, Name { dir: &dir, name: name.as_ref() });
            match swap::move_to_free(from_name, to).and_then(|()| area::sync(&dir)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(Error::Exists { path: outside.join(name).display().to_string() })
                }
                done => done.map_err(failed(Step::Replace)),
            }
        });
        if placed.is_err() {
            let _ = area::remove(&dir, &draft);
        }
        placed
    }
}

/// Opens a file without waiting for the other end of a pipe.
fn open_outside(path: &Path) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    options.open(path)
}

impl Hold<'_> {
    /// Where a new folder goes; one that is there outside the fallback is no error.
    fn place_of_folder(&self, path: &WorkspacePath) -> Result<Place, Error> {
        let outside = Place::reach(self.workspace.dir(), Layer::Root, path)?;
        let is_folder = outside.metadata()?.is_some_and(|found| found.is_dir());
        if self.workspace.mode() == WorkspaceMode::ReadWrite || is_folder {
            Ok(outside)
        } else {
            self.place(path)
        }
    }

    /// Checks everything in a folder as if it were written one by one, also where it would be after a move to `to`. Counts
    /// it, and the bytes of the files that have no other name.
    fn check_contents(&self, folder: &Place, to: &WorkspacePath) -> Result<(Removed, u64), Error> {
        let (mut counted, mut bytes) = (Removed::default(), 0_u64);
        folder.each_within(|inner, entry| {
            let inner = inner.to_string_lossy();
            for root in [&folder.path, to] {
                // A name that no path of a workspace can have is under no rule.
                if let Ok(path) = WorkspacePath::new(format!("{root}/{inner}")) {
                    self.check_write(&path)?;
                }
            }
            let metadata = entry.metadata().map_err(unreadable(&folder.path))?;
            if metadata.is_dir() {
                counted.folders += 1;
            } else {
                counted.files += 1;
                let is_its_own = metadata.is_file() && links_of_entry(&metadata) == 1;
                bytes = bytes.saturating_add(if is_its_own { metadata.len() } else { 0 });
            }
            Ok(())
        })?;
        Ok((counted, bytes))
    }

    fn move_entry(&self, source: &Place, target: &Place) -> Result<(), Error> {
        let failed = not_written(target, Step::Replace);
        let (Some(from), Some(to)) = (source.dir(), target.dir()) else {
            return Err(failed(io::Error::from(io::ErrorKind::NotFound)));
        };
        self.steps().reach(Step::Replace).map_err(&failed)?;
        let (from, to) = (Name { dir: from, name: source.name() }, Name { dir: to, name: target.name() });
        match swap::move_to_free(from, to) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Exists { path: target.shown() });
            }
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                return Err(Error::OtherFileSystem { path: target.shown() });
            }
            Err(error) => return Err(failed(error)),
        }
        let synced = self
            .steps()
            .reach(Step::SyncFolder)
            .and_then(|()| area::sync(to.dir))
            .and_then(|()| area::sync(from.dir));
        let kept = synced
            .map_err(not_written(target, Step::SyncFolder))
            .and_then(|()| identity::note_move(self, &source.path, &target.path));
        if let Err(error) = kept {
            swap::move_to_free(to, from)
                .and_then(|()| area::sync(from.dir))
                .map_err(|source| Error::Stranded { path: target.shown(), kept: target.shown(), source })?;
            return Err(error);
        }
        Ok(())
    }

    fn unlink(&self, place: &Place) -> Result<(), Error> {
        let failed = not_written(place, Step::Remove);
        let Some(dir) = place.dir() else { return Err(not_found(&place.path)) };
        let removed = self
            .steps()
            .reach(Step::Remove)
            .and_then(|()| dir.remove_file(place.name()))
            .and_then(|()| area::sync(dir));
        removed.map_err(failed)
    }
}
