//! Patches: unified diffs of one or several files, parsed whole before anything is applied.
//!
//! The format is that of POSIX `diff -u` with the extended headers of git (`git help diff`, "Generating patch text").
//!
//! `diffy` parses and applies such diffs too, but not with these promises (0.5.2): it leaves out lines beyond those that a
//! hunk's header counts, takes a diff's missing last newline for that of the file, skips plain files among git ones, and
//! places hunks out of order and without a word about ties.

mod header;
mod hunk;
mod names;
mod parse;
mod place;

use super::EditError;
use super::document::Document;
use hunk::Hunk;
pub(super) use names::written as written_name;
pub use place::Mismatch;

/// A unified diff of one or more files.
///
/// ```
/// use briefing_task_workspace::{Patch, PatchKind};
///
/// let patch = Patch::parse("--- a/pump.md\n+++ b/pump.md\n@@ -1,2 +1,2 @@\n # Pump\n-weekly\n+daily\n")?;
/// let [file] = patch.files() else { panic!("one file") };
/// assert_eq!((file.path(), &file.kind), (Some("pump.md"), &PatchKind::Modify));
/// assert_eq!(file.apply_to(Some(b"# Pump\r\nweekly\r\n"))?.unwrap(), b"# Pump\r\ndaily\r\n");
/// # Ok::<(), briefing_task_workspace::EditError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    files: Vec<FilePatch>,
}

impl Patch {
    /// Parses a diff, plain (`---`, `+++`, `@@`) or of git. Other text before, between and after the files is passed
    /// over, unless it looks like more lines of a hunk.
    ///
    /// A diff all of whose lines end in `\r\n` is read as if they ended in `\n`. Its last line may lack its newline; that
    /// a file has none at its end is said by `\ No newline at end of file` alone. A context line may be empty where it
    /// should be one space.
    ///
    /// # Errors
    /// [`EditError::PatchMalformed`] with the line of the diff, also where the counts of a hunk are wrong;
    /// [`EditError::PatchUnsupported`] for binary patches, symbolic links, submodules and merges; and
    /// [`EditError::NothingToDo`] where there is no file in it.
    pub fn parse(diff: &str) -> Result<Self, EditError> {
        let files = parse::files(diff, false)?;
        if files.is_empty() {
            return Err(EditError::NothingToDo { what: "no file is changed by the diff" });
        }
        Ok(Self { files })
    }

    /// The files, in the order of the diff. A file may occur twice; the second patch goes on top of the first.
    #[must_use]
    pub fn files(&self) -> &[FilePatch] {
        &self.files
    }

    /// The change of one file, whose names do not matter.
    pub(super) fn of_one_file(diff: &str) -> Result<FilePatch, EditError> {
        let mut files = parse::files(diff, true)?.into_iter();
        match (files.next(), files.next()) {
            (None, _) => Err(EditError::NothingToDo { what: "the diff holds no hunk" }),
            (Some(_), Some(_)) => Err(EditError::PatchTarget { reason: "it changes more than the one file" }),
            (Some(file), None) if file.kind != PatchKind::Modify => {
                Err(EditError::PatchTarget { reason: "it does more than change the content of the file" })
            }
            (Some(file), None) if file.executable.is_some() => {
                Err(EditError::PatchTarget { reason: "it changes the mode of the file" })
            }
            (Some(file), None) => Ok(file),
        }
    }
}

/// What a patch does to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatchKind {
    /// Changes the content, the mode, or both.
    Modify,
    /// Makes a file that must not exist.
    Create,
    /// Removes a file.
    Delete,
    /// Gives a file another name, and perhaps other content.
    Rename {
        /// The old name.
        from: String,
    },
    /// Makes a file from the content of another one, perhaps changed.
    Copy {
        /// The other file.
        from: String,
    },
}

/// What a patch says about one file.
///
/// Names are as the diff has them, less its quoting, and less `a/` and `b/` where the old name begins with the one and the
/// new name with the other (or is `/dev/null`). Nothing is checked about them: they may be absolute or hold `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilePatch {
    /// The file before; `None` if it is created, or where a diff without names is applied to a file.
    pub old_path: Option<String>,
    /// The file after; `None` if it is deleted, or where a diff without names is applied to a file.
    pub new_path: Option<String>,
    /// What is done.
    pub kind: PatchKind,
    /// Whether the file is executable afterwards, if the patch says so: a new file's mode, or a change of it.
    pub executable: Option<bool>,
    hunks: Vec<Hunk>,
}

impl FilePatch {
    /// The name that the file has afterwards, or had if it is deleted. A plain diff may have two names without meaning a
    /// renaming (`--- pump.md.orig`, `+++ pump.md`): the new one is the file's.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.new_path.as_deref().or(self.old_path.as_deref())
    }

    /// How many places it changes.
    #[must_use]
    pub fn hunk_count(&self) -> usize {
        self.hunks.len()
    }

    /// The content after the patch, or `None` if the file is deleted. `bytes` is the content before, `None` if there is no
    /// file; for a renaming or a copy it is that of `from`.
    ///
    /// All hunks are applied or none. Context and deleted lines must be found exactly; where no line of the hunks ends in
    /// `\r\n`, their `\n` stands for either ending, and new lines take the endings of the lines that they replace or stand
    /// beside. A hunk is looked for at the stated line, moved by as much as the one before it was, then outwards from
    /// there, never before the end of the hunk before it. Two places at the same distance are an error, and so is a
    /// hunk without old lines for which there is no such line: it is not looked for elsewhere. A byte order mark may be
    /// left out of the diff.
    ///
    /// # Errors
    /// [`EditError::PatchContext`] where a hunk does not fit, [`EditError::PatchTarget`] where the file exists but must
    /// not, or must but does not, or would be deleted with more in it than the patch knows; and the errors of
    /// [`apply_edits`](crate::apply_edits) about encodings.
    pub fn apply_to(&self, bytes: Option<&[u8]>) -> Result<Option<Vec<u8>>, EditError> {
        let bytes = match (&self.kind, bytes) {
            (PatchKind::Create, Some(_)) => {
                return Err(EditError::PatchTarget { reason: "the file to create exists" });
            }
            (PatchKind::Create, None) => &[],
            (_, None) => return Err(EditError::PatchTarget { reason: "the file does not exist" }),
            (_, Some(bytes)) => bytes,
        };
        // A renaming or a change of mode asks nothing of the content: it need not be text.
        let result = if self.hunks.is_empty() {
            bytes.to_vec()
        } else {
            self.applied_to(Document::open(bytes)?)?.finish()?
        };
        match self.kind {
            PatchKind::Delete if result.is_empty() => Ok(None),
            PatchKind::Delete => {
                Err(EditError::PatchTarget { reason: "the file to delete holds more than the patch deletes" })
            }
            _ => Ok(Some(result)),
        }
    }

    pub(super) fn applied_to(&self, mut document: Document) -> Result<Document, EditError> {
        if self.hunks.iter().any(Hunk::shows_mark) {
            document.show_mark();
        }
        let splices = place::splices(document.text(), &self.hunks)?;
        document.splice(&splices)?;
        document.hide_mark()?;
        Ok(document)
    }
}
