//! Edits of one file.

use serde::Serialize;

use crate::edit::{self, Edit};
use crate::error::Error;
use crate::write::{Bytes, Expected, Written, bytes_of, check_expected};
use crate::{TaskWorkspace, WorkspacePath};

/// The largest file that is edited, in bytes: it is held in memory.
pub(crate) const MAX_EDITED_BYTES: u64 = 256 << 20;

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
}
