//! Patches of several files, applied as one unit.

use std::collections::BTreeSet;

use crate::change::MAX_EDITED_BYTES;
use crate::edit::{EditError, FilePatch, Patch, PatchKind};
use crate::error::Error;
use crate::hold::Hold;
use crate::place::{Place, Seen};
use crate::put::{self, Attributes};
use crate::read;
use crate::staging::check_targets_apart;
use crate::unit::{Change, FileMove};
use crate::write::{Bytes, bytes_of};
use crate::{TaskWorkspace, WorkspacePath};

impl TaskWorkspace {
    /// Applies a patch of several files as one unit: all hunks of all files, or nothing. Where `expected_files` is given,
    /// the patch must touch exactly these; a renaming touches both names, a copy the new one.
    ///
    /// A renamed file keeps its owner, mode and extended attributes. On Unix a file can be executed afterwards if the
    /// patch says so, and a copy also if its original can.
    ///
    /// ```
    /// use briefing_task_workspace::{TaskWorkspace, WorkspaceOptions, WorkspacePath};
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("pump.md"), "# Pump\nweekly\n")?;
    /// let workspace = TaskWorkspace::open_with(folder.path(), WorkspaceOptions::read_write())?;
    /// let pump = WorkspacePath::new("pump.md")?;
    /// let diff = "--- a/pump.md\n+++ b/pump.md\n@@ -2 +2 @@\n-weekly\n+daily\n";
    /// assert_eq!(workspace.apply_patch(diff, Some(&[pump.clone()]))?, [pump.clone()]);
    /// assert_eq!(workspace.read(&pump, 100)?.bytes, b"# Pump\ndaily\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Patch`] for a patch that cannot be parsed, [`Error::Edit`] for one that does not fit a file, or makes a
    /// file that exists; [`Error::PatchFiles`] where it touches other files than expected; errors of
    /// [`WorkspacePath::new`] for its paths; [`Error::TargetTwice`]; as [`read`](Self::read) for the original of a copy;
    /// and as [`write`](Self::write).
    pub fn apply_patch(
        &self,
        diff: &str,
        expected_files: Option<&[WorkspacePath]>,
    ) -> Result<Vec<WorkspacePath>, Error> {
        let patch = Patch::parse(diff).map_err(|source| Error::Patch { source: Box::new(source) })?;
        let files: Vec<_> = patch.files().iter().map(Patched::of).collect::<Result<_, _>>()?;
        let touched: Vec<&WorkspacePath> = files.iter().flat_map(Patched::touched).collect();
        let distinct: BTreeSet<_> = touched.iter().copied().collect();
        if let Some(expected) = expected_files {
            let expected: BTreeSet<_> = expected.iter().collect();
            if expected != distinct {
                let shown =
                    |paths: &BTreeSet<&WorkspacePath>| paths.iter().map(ToString::to_string).collect();
                return Err(Error::PatchFiles { expected: shown(&expected), found: shown(&distinct) });
            }
        }
        check_targets_apart(&touched)?;
        let hold = self.hold()?;
        let planned: Vec<_> = files.iter().map(|file| hold.plan(file)).collect::<Result<_, _>>()?;
        let mut changes = Vec::new();
        for plan in planned {
            if let Err(error) = hold.draft_all(plan, &mut changes) {
                hold.drop_drafts(&changes);
                return Err(error);
            }
        }
        changes.sort_by(|one, other| one.place.path.cmp(&other.place.path));
        let moves: Vec<_> = files.iter().filter_map(Patched::moved).collect();
        hold.make_with_moves(&mut changes, &moves)?;
        Ok(distinct.into_iter().cloned().collect())
    }
}

/// What a patch says about a file, with its paths in the workspace.
struct Patched<'a> {
    patch: &'a FilePatch,
    /// The file afterwards, or the one that is deleted.
    path: WorkspacePath,
    /// Where its content comes from.
    from: WorkspacePath,
}

impl<'a> Patched<'a> {
    fn of(patch: &'a FilePatch) -> Result<Self, Error> {
        let path = WorkspacePath::new(patch.path().unwrap_or_default())?;
        let from = match &patch.kind {
            PatchKind::Rename { from } | PatchKind::Copy { from } => WorkspacePath::new(from)?,
            _ => path.clone(),
        };
        Ok(Self { patch, path, from })
    }

    fn touched(&self) -> impl Iterator<Item = &WorkspacePath> {
        let renamed = matches!(self.patch.kind, PatchKind::Rename { .. });
        renamed.then_some(&self.from).into_iter().chain([&self.path])
    }

    fn moved(&self) -> Option<FileMove> {
        let renamed = matches!(self.patch.kind, PatchKind::Rename { .. });
        renamed.then(|| (self.from.clone(), self.path.clone()))
    }

    fn apply_to(&self, bytes: Option<&[u8]>) -> Result<Option<Vec<u8>>, Error> {
        self.patch.apply_to(bytes).map_err(|source| refused(&self.from, source))
    }
}

fn refused(path: &WorkspacePath, source: EditError) -> Error {
    Error::Edit { path: path.as_str().to_owned(), source: Box::new(source) }
}

/// What is to happen to a file: its places as they were when its new content was made of the old one.
enum Plan {
    Put { place: Place, seen: Option<Seen>, bytes: Vec<u8>, executable: Option<bool> },
    Move { from: Place, seen: Seen, to: Place, bytes: Vec<u8>, executable: Option<bool> },
    Remove { place: Place, seen: Seen },
}

impl Hold<'_> {
    /// Looks at the places of a file, and makes its new content. Nothing is written.
    fn plan(&self, file: &Patched<'_>) -> Result<Plan, Error> {
        file.touched().try_for_each(|path| self.check_write(path))?;
        let executable = file.patch.executable;
        if let PatchKind::Copy { .. } = file.patch.kind {
            let (old, original) = self.original(&file.from)?;
            let bytes = file.apply_to(old.as_deref())?.unwrap_or_default();
            let place = self.free_place(&file.path)?;
            return Ok(Plan::Put { place, seen: None, bytes, executable: executable.or(original) });
        }
        let place = self.place(&file.from)?;
        let seen = place.see()?;
        let old = seen.as_ref().map(|seen| bytes_of(seen, &place, MAX_EDITED_BYTES)).transpose()?;
        let new = file.apply_to(old.as_deref())?;
        match (new, seen) {
            (Some(bytes), Some(seen)) if matches!(file.patch.kind, PatchKind::Rename { .. }) => {
                let to = self.free_place(&file.path)?;
                Ok(Plan::Move { from: place, seen, to, bytes, executable })
            }
            (Some(bytes), seen) => Ok(Plan::Put { place, seen, bytes, executable }),
            (None, Some(seen)) => Ok(Plan::Remove { place, seen }),
            (None, None) => Err(crate::hold::not_found(&file.path)),
        }
    }

    /// The content of a copy's original, which is only read, and whether it can be executed.
    fn original(&self, path: &WorkspacePath) -> Result<(Option<Vec<u8>>, Option<bool>), Error> {
        let open = match self.workspace.open_file(path) {
            Err(Error::NotFound { .. }) => return Ok((None, None)),
            open => open?,
        };
        let metadata = open.file.metadata().map_err(crate::hold::unreadable(path))?;
        let executable = put::is_executable(&metadata).filter(|executable| *executable);
        let read = read::read_window(open.file, open.identity, path.as_str(), 0, MAX_EDITED_BYTES)?;
        if read.truncated {
            let (path, size_bytes, limit_bytes) =
                (path.as_str().to_owned(), read.total_bytes, MAX_EDITED_BYTES);
            return Err(Error::TooLarge { path, size_bytes, limit_bytes });
        }
        Ok((Some(read.bytes), executable))
    }

    /// The place of a file that must not exist yet.
    fn free_place(&self, path: &WorkspacePath) -> Result<Place, Error> {
        let place = self.place(path)?;
        match place.metadata()? {
            None => Ok(place),
            Some(_) => Err(refused(path, EditError::PatchTarget { reason: "the file to create exists" })),
        }
    }

    /// Writes the new bytes to the private area, and adds what is to be done with them.
    fn draft_all(&self, plan: Plan, changes: &mut Vec<Change>) -> Result<(), Error> {
        match plan {
            Plan::Put { place, seen, bytes, executable } => {
                self.workspace.rules().check_size(&place.path, bytes.len() as u64)?;
                let attributes = Attributes { like: None, executable };
                let change = self.draft_with(place, seen, Bytes::All(&bytes), attributes)?;
                match change.is_none() {
                    true => self.drop_drafts(std::slice::from_ref(&change)),
                    false => changes.push(change),
                }
            }
            Plan::Move { from, seen, to, bytes, executable } => {
                self.workspace.rules().check_size(&to.path, bytes.len() as u64)?;
                let attributes = Attributes { like: Some(&seen), executable };
                changes.push(self.draft_with(to, None, Bytes::All(&bytes), attributes)?);
                changes.push(self.removal(from, seen)?);
            }
            Plan::Remove { place, seen } => changes.push(self.removal(place, seen)?),
        }
        Ok(())
    }
}
