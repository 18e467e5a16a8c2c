//! Changing the content of files: edits of one, and patches of several.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::edit::{self, Edit, Patch, PatchKind};
use crate::error::Error;
use crate::hold::{Hold, not_found};
use crate::staging::check_targets_apart;
use crate::unit::Change;
use crate::write::{Bytes, Expected, Written, bytes_of, check_expected};
use crate::{TaskWorkspace, WorkspacePath};

/// The largest file that is edited, in bytes: it is held in memory.
const MAX_EDITED_BYTES: u64 = 256 << 20;

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EditedFile {
    /// The file and its states.
    pub written: Written,
    /// How many places were written: matches, ranges of lines, insertions, hunks.
    pub replacements: usize,
    /// The encoding that was kept.
    pub encoding: String,
    /// What changed, as a unified diff.
    pub diff: String,
}

impl TaskWorkspace {
    /// Applies edits to a text file, all of them or none. Every byte that no edit touches stays: line ends, byte order
    /// mark, encoding, a missing last newline.
    ///
    /// ```
    /// use briefing_task_workspace::{Edit, TaskWorkspace, WorkspaceOptions, WorkspacePath};
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("pump.toml"), "every = 7\r\nunit = \"day\"\r\n")?;
    /// let workspace = TaskWorkspace::open_with(folder.path(), WorkspaceOptions::read_write())?;
    /// let path = WorkspacePath::new("pump.toml")?;
    /// let edited = workspace.edit(&path, &[Edit::replace("every = 7", "every = 14")], None)?;
    /// assert_eq!(edited.replacements, 1);
    /// assert_eq!(workspace.read(&path, 100)?.bytes, b"every = 14\r\nunit = \"day\"\r\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Edit`] with the reason; [`Error::NotFound`]; [`Error::TooLarge`] for a file over 256 MiB; and as
    /// [`write`](Self::write). After each of them the file is as it was.
    pub fn edit(
        &self,
        path: &WorkspacePath,
        edits: &[Edit],
        expected: impl Into<Expected>,
    ) -> Result<EditedFile, Error> {
        let hold = self.hold()?;
        hold.check_write(path)?;
        let (place, seen) = hold.existing(path)?;
        check_expected(&place, Some(&seen), expected.into().0)?;
        let old = bytes_of(&seen, &place, MAX_EDITED_BYTES)?;
        let refused = |source| Error::Edit { path: path.as_str().to_owned(), source: Box::new(source) };
        let edited = edit::apply_edits(&old, edits).map_err(refused)?;
        self.rules().check_size(path, edited.bytes.len() as u64)?;
        let diff = edit::unified_diff(path.as_str(), &*old, &*edited.bytes).to_string();
        let written = hold.replace(place, Some(seen), Bytes::All(&edited.bytes))?;
        let encoding = edited.encoding.to_owned();
        Ok(EditedFile { written, replacements: edited.replacements, encoding, diff })
    }

    /// Applies a patch of several files as one unit: all hunks of all files, or nothing. Where `expected_files` is given,
    /// the patch must touch exactly these.
    ///
    /// # Errors
    /// [`Error::Patch`] for a patch that cannot be parsed, [`Error::Edit`] for one that does not fit a file;
    /// [`Error::PatchFiles`] where it touches other files than expected; errors of [`WorkspacePath::new`] for its paths;
    /// [`Error::TargetTwice`]; and as [`write`](Self::write).
    pub fn apply_patch(
        &self,
        diff: &str,
        expected_files: Option<&[WorkspacePath]>,
    ) -> Result<Vec<WorkspacePath>, Error> {
        let patch = Patch::parse(diff).map_err(|source| Error::Patch { source: Box::new(source) })?;
        let hold = self.hold()?;
        let mut after: BTreeMap<WorkspacePath, Option<Vec<u8>>> = BTreeMap::new();
        let mut moves = Vec::new();
        let mut take = |path: WorkspacePath, bytes| match after.insert(path.clone(), bytes) {
            None => Ok(()),
            Some(_) => Err(Error::TargetTwice { path: path.as_str().to_owned() }),
        };
        for file in patch.files() {
            let path = WorkspacePath::new(file.path().unwrap_or_default())?;
            let from = match &file.kind {
                PatchKind::Rename { from } | PatchKind::Copy { from } => WorkspacePath::new(from)?,
                _ => path.clone(),
            };
            let old = hold.bytes_at(&from)?;
            let new = file
                .apply_to(old.as_deref())
                .map_err(|source| Error::Edit { path: from.as_str().to_owned(), source: Box::new(source) })?;
            if matches!(file.kind, PatchKind::Rename { .. }) {
                moves.push((from.clone(), path.clone()));
                take(from, None)?;
            }
            take(path, new)?;
        }
        let touched: Vec<_> = after.keys().cloned().collect();
        if let Some(expected) = expected_files {
            let mut expected: Vec<_> = expected.to_vec();
            expected.sort();
            if expected != touched {
                let shown = |paths: &[WorkspacePath]| paths.iter().map(ToString::to_string).collect();
                return Err(Error::PatchFiles { expected: shown(&expected), found: shown(&touched) });
            }
        }
        check_targets_apart(&touched.iter().collect::<Vec<_>>())?;
        let mut changes = Vec::new();
        for (path, bytes) in after {
            let change = hold.change(&path, bytes.as_deref());
            match change {
                Ok(change) => changes.extend(change),
                Err(error) => {
                    hold.drop_drafts(&changes);
                    return Err(error);
                }
            }
        }
        hold.make_with_moves(&mut changes, &moves)?;
        Ok(touched)
    }
}

impl Hold<'_> {
    /// What is at a path; nothing where nothing is.
    fn bytes_at(&self, path: &WorkspacePath) -> Result<Option<Vec<u8>>, Error> {
        self.check_write(path)?;
        let place = self.place(path)?;
        place.see()?.map(|seen| bytes_of(&seen, &place, MAX_EDITED_BYTES)).transpose()
    }

    /// The change that gives a path other bytes, or takes its file away; none where there is nothing to do.
    fn change(&self, path: &WorkspacePath, bytes: Option<&[u8]>) -> Result<Option<Change>, Error> {
        self.check_write(path)?;
        let place = self.place(path)?;
        let seen = place.see()?;
        let change = match (bytes, seen) {
            (Some(bytes), seen) => {
                self.workspace.rules().check_size(path, bytes.len() as u64)?;
                self.draft(place, seen, Bytes::All(bytes))?
            }
            (None, Some(seen)) => self.removal(place, seen)?,
            (None, None) => return Err(not_found(path)),
        };
        if change.before() == change.after() {
            self.drop_drafts(std::slice::from_ref(&change));
            return Ok(None);
        }
        Ok(Some(change))
    }
}
