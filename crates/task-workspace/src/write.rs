//! Writing one file: whole, at its end, or as a copy.

use std::io::{self, Read};

use briefing_core::Digest;
use serde::{Deserialize, Serialize};

use crate::boundary::OpenFile;
use crate::error::Error;
use crate::hold::{Hold, not_found};
use crate::place::{Layer, Place, Seen};
use crate::put::{self, Attributes};
use crate::read::FileIdentity;
use crate::target::TargetState;
use crate::unit::{Change, What};
use crate::{TaskWorkspace, WorkspacePath};

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Written {
    /// The file.
    pub path: WorkspacePath,
    /// The digest of what it holds now.
    pub digest: Digest,
    /// How many bytes it holds now.
    pub size_bytes: u64,
    /// What was there before.
    pub before: TargetState,
    /// Whether it is in the execution's fallback, because the workspace is read-only.
    pub in_fallback: bool,
}

impl Written {
    pub(crate) fn of(change: &Change, size_bytes: u64) -> Self {
        let digest = match &change.what {
            What::Put(finished) => finished.digest,
            What::Remove(_) => Digest::of(b""),
        };
        Self {
            path: change.place.path.clone(),
            digest,
            size_bytes,
            before: change.before(),
            in_fallback: change.place.layer == Layer::Fallback,
        }
    }

    /// Whether the file has other bytes than before.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.before != TargetState::Present(self.digest)
    }
}

/// Where the bytes of a write come from.
pub(crate) enum Bytes<'a> {
    All(&'a [u8]),
    /// After what the file holds.
    Appended(&'a [u8]),
    From(&'a mut dyn Read),
    /// Those of a file that is named so, if it stays as it is meanwhile.
    Of(&'a OpenFile, &'a str),
}

impl TaskWorkspace {
    /// Writes a file, whole: in the private area first, synced, then moved to its path in one step, and the folder
    /// synced. Missing folders are made. With `expected` it is only written where the file is in that state, and a file
    /// that is expected to be absent is never overwritten. Bytes that are there already are not written again.
    ///
    /// An existing file's owner, mode and extended attributes are kept. In a read-only workspace a new file goes to the
    /// execution's fallback.
    ///
    /// ```
    /// use briefing_task_workspace::{TaskWorkspace, TargetState, WorkspaceOptions, WorkspacePath};
    /// # let folder = tempfile::tempdir()?;
    /// let workspace = TaskWorkspace::open_with(folder.path(), WorkspaceOptions::read_write())?;
    /// let notes = WorkspacePath::new("notes/today.md")?;
    /// let written = workspace.write(&notes, "checked\n", TargetState::Absent)?;
    /// let stale = workspace.write(&notes, "again\n", TargetState::Absent).unwrap_err();
    /// assert_eq!(stale.code(), "workspace.conflict");
    /// workspace.write(&notes, "again\n", written.digest)?;
    /// workspace.write(&notes, "and again\n", None)?; // whatever is there
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Conflict`] with both states where the file is not as `expected`; [`Error::ReadOnly`],
    /// [`Error::Denied`], [`Error::Protected`], [`Error::TooLarge`], [`Error::QuotaExceeded`], [`Error::Busy`]; [`Error::Link`],
    /// [`Error::HardLinked`], [`Error::NotRegularFile`], [`Error::NotFolder`], [`Error::NameCollision`];
    /// [`Error::NotWritten`], [`Error::CannotKeep`] and [`Error::OtherFileSystem`] where the system is in the way. After
    /// each of them the file is as it was.
    pub fn write(
        &self,
        path: &WorkspacePath,
        bytes: impl AsRef<[u8]>,
        expected: impl Into<Expected>,
    ) -> Result<Written, Error> {
        let bytes = bytes.as_ref();
        self.rules().check_size(path, bytes.len() as u64)?;
        self.hold()?.write(path, Bytes::All(bytes), expected.into().0)
    }

    /// Writes what `reader` gives, whole, without holding it in memory.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_from(
        &self,
        path: &WorkspacePath,
        mut reader: impl Read,
        expected: impl Into<Expected>,
    ) -> Result<Written, Error> {
        self.hold()?.write(path, Bytes::From(&mut reader), expected.into().0)
    }

    /// Adds bytes at the end of a file, or makes it. The file is replaced as a whole, like any other write: whoever reads
    /// it sees all of them or none.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn append(
        &self,
        path: &WorkspacePath,
        bytes: impl AsRef<[u8]>,
        expected: impl Into<Expected>,
    ) -> Result<Written, Error> {
        self.hold()?.write(path, Bytes::Appended(bytes.as_ref()), expected.into().0)
    }

    /// Copies a file of the workspace to a path. Links on the way to `from` are followed where they stay inside.
    ///
    /// # Errors
    /// As [`read`](Self::read) for `from`, and as [`write`](Self::write) for `to`.
    pub fn copy(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        expected: impl Into<Expected>,
    ) -> Result<Written, Error> {
        let source = self.open_file(from)?;
        self.hold()?.write(to, Bytes::Of(&source, from.as_str()), expected.into().0)
    }
}

/// What a write expects at its path: a [`TargetState`], a [`Digest`], or `None` for whatever is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected(pub(crate) Option<TargetState>);

impl From<Option<TargetState>> for Expected {
    fn from(expected: Option<TargetState>) -> Self {
        Self(expected)
    }
}

impl From<TargetState> for Expected {
    fn from(expected: TargetState) -> Self {
        Self(Some(expected))
    }
}

impl From<Digest> for Expected {
    fn from(expected: Digest) -> Self {
        Self(Some(TargetState::Present(expected)))
    }
}

impl Hold<'_> {
    /// Writes one file.
    pub(crate) fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes<'_>,
        expected: Option<TargetState>,
    ) -> Result<Written, Error> {
        self.check_write(path)?;
        let place = self.place(path)?;
        let seen = place.see()?;
        check_expected(&place, seen.as_ref(), expected)?;
        self.replace(place, seen, bytes)
    }

    /// Writes a file whose state was checked.
    pub(crate) fn replace(
        &self,
        place: Place,
        seen: Option<Seen>,
        bytes: Bytes<'_>,
    ) -> Result<Written, Error> {
        if let (Bytes::All(bytes), Some(seen)) = (&bytes, &seen)
            && Digest::of(bytes) == seen.digest
        {
            return Ok(unchanged(&place, seen));
        }
        let mut changes = [self.draft(place, seen, bytes)?];
        let [change] = &changes;
        let written = Written::of(change, change.size_bytes());
        if !written.changed() {
            if let What::Put(finished) = &change.what {
                // What is left is swept up later.
                let _ = finished.slot.clear();
            }
            return Ok(written);
        }
        self.make(&mut changes)?;
        Ok(written)
    }

    /// Writes the new bytes to the private area.
    pub(crate) fn draft(&self, place: Place, seen: Option<Seen>, bytes: Bytes<'_>) -> Result<Change, Error> {
        self.draft_with(place, seen, bytes, Attributes::default())
    }

    /// The same, with other attributes than those of the file that is there.
    pub(crate) fn draft_with(
        &self,
        place: Place,
        seen: Option<Seen>,
        bytes: Bytes<'_>,
        attributes: Attributes<'_>,
    ) -> Result<Change, Error> {
        if seen.is_none() {
            place.check_collision()?;
        }
        let rules = self.workspace.rules();
        let before = seen.as_ref().map_or(0, |seen| seen.identity.size);
        // Bytes that nobody has counted yet are not written beyond what the policy allows in all.
        let room = if matches!(bytes, Bytes::All(_)) { None } else { rules.room(before) };
        let limit = rules.max_file_bytes.into_iter().chain(room).min();
        let slot = self.slot()?;
        let attributes = Attributes { like: attributes.like.or(seen.as_ref()), ..attributes };
        let executable = attributes.executable;
        let finish = |reader: &mut dyn Read| match put::finish(
            self.steps(),
            &place,
            slot,
            reader,
            limit,
            attributes,
        ) {
            Err(Error::TooLarge { size_bytes, limit_bytes, .. }) if room == Some(limit_bytes) => {
                Err(rules.exceeded(&place.path, before, size_bytes))
            }
            finished => finished,
        };
        let finished = match bytes {
            Bytes::All(bytes) => finish(&mut &*bytes)?,
            Bytes::From(reader) => finish(reader)?,
            Bytes::Of(source, shown) => {
                // One byte more shows that it grows. A file of `/proc` says that it has no bytes.
                let most = if source.identity.size == 0 { u64::MAX } else { source.identity.size + 1 };
                let finished = finish(&mut (&source.file).take(most))?;
                let after = source.file.metadata().map(|metadata| FileIdentity::of(&metadata));
                if !after.is_ok_and(|after| after == source.identity) {
                    let _ = finished.slot.clear();
                    return Err(Error::Changed { path: shown.to_owned() });
                }
                finished
            }
            Bytes::Appended(bytes) => match &seen {
                Some(seen) => finish(&mut from_start(seen, &place)?.chain(bytes))?,
                None => finish(&mut &*bytes)?,
            },
        };
        Ok(Change { place, seen, what: What::Put(finished), executable })
    }

    /// The change that takes a file away.
    pub(crate) fn removal(&self, place: Place, seen: Seen) -> Result<Change, Error> {
        Ok(Change { place, seen: Some(seen), what: What::Remove(self.slot()?), executable: None })
    }

    /// Where an existing file is, and what it is.
    pub(crate) fn existing(&self, path: &WorkspacePath) -> Result<(Place, Seen), Error> {
        let place = self.place(path)?;
        let seen = place.see()?.ok_or_else(|| not_found(path))?;
        Ok((place, seen))
    }
}

/// The file from its first byte, in the state in which it was seen.
fn from_start<'a>(seen: &'a Seen, place: &Place) -> Result<impl Read + use<'a>, Error> {
    use std::io::{Seek as _, SeekFrom};
    let mut file = &seen.file;
    file.seek(SeekFrom::Start(0)).map_err(crate::hold::unreadable(&place.path))?;
    Ok(file.take(seen.identity.size))
}

/// The bytes of a file that was seen; at most `limit_bytes`.
pub(crate) fn bytes_of(seen: &Seen, place: &Place, limit_bytes: u64) -> Result<Vec<u8>, Error> {
    if seen.identity.size > limit_bytes {
        return Err(Error::TooLarge { path: place.shown(), size_bytes: seen.identity.size, limit_bytes });
    }
    let mut bytes = Vec::new();
    let read: io::Result<usize> = from_start(seen, place)?.read_to_end(&mut bytes);
    read.map_err(crate::hold::unreadable(&place.path))?;
    if Digest::of(&bytes) != seen.digest {
        return Err(Error::Changed { path: place.shown() });
    }
    Ok(bytes)
}

pub(crate) fn check_expected(
    place: &Place,
    seen: Option<&Seen>,
    expected: Option<TargetState>,
) -> Result<(), Error> {
    let found = TargetState::from(seen.map(|seen| seen.digest));
    match expected {
        Some(expected) if expected != found => Err(Error::Conflict { path: place.shown(), expected, found }),
        _ => Ok(()),
    }
}

fn unchanged(place: &Place, seen: &Seen) -> Written {
    Written {
        path: place.path.clone(),
        digest: seen.digest,
        size_bytes: seen.identity.size,
        before: TargetState::Present(seen.digest),
        in_fallback: place.layer == Layer::Fallback,
    }
}
