//! Changing a file's text without touching the rest of its bytes: functions over bytes, no file is opened here.
//!
//! Every byte outside the edited places stays what it was: line endings, mixed ones too, a byte order mark, a missing
//! final newline, and the spelling of an older encoding. Where that cannot be kept, the edit is refused with an
//! [`EditError`] that says why; nothing is ever applied in part or approximately.
//!
//! A line ends after `\n`; a `\r` before it belongs to the ending, and a `\r` elsewhere is a character like others.

mod diff;
mod document;
mod error;
mod lines;
mod patch;
mod replace;

use std::ops::RangeInclusive;

use briefing_core::LineRange;
use serde::{Deserialize, Deserializer, Serialize};

pub use diff::unified_diff;
use document::Document;
pub use error::EditError;
pub use patch::{FilePatch, Mismatch, Patch, PatchKind};

/// One change of a text. Several are applied in order, each to what the ones before it left.
///
/// ```
/// use briefing_task_workspace::{Edit, apply_edits};
///
/// let edits = [Edit::replace("beta", "BETA"), Edit::insert(1, "# words\n")];
/// let edited = apply_edits(b"alpha\r\nbeta\r\n", &edits)?;
/// assert_eq!(edited.bytes, b"# words\r\nalpha\r\nBETA\r\n");
/// # Ok::<(), briefing_task_workspace::EditError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Edit {
    /// Replaces a text wherever it occurs, from left to right and without overlap, if it occurs as often as expected.
    ///
    /// `new` is written as it is; nothing in it is expanded. A `\n` in `old` also matches `\r\n` if neither text holds a
    /// `\r` and `old` occurs nowhere letter by letter; and if neither holds a `\r`, a `\n` in `new` is written as the
    /// ending that it stands for in the matched text, or else as the file's most frequent one. If either text holds a
    /// `\r`, all is literal.
    Replace {
        /// What is looked for.
        old: String,
        /// What takes its place.
        new: String,
        /// How often `old` must occur.
        #[serde(default = "once")]
        expected_count: usize,
    },
    /// Puts a text in the place of whole lines, or deletes them.
    ///
    /// The text is whole lines too: a last one without an ending gets one. Each new line takes the ending of the line
    /// that it replaces, those beyond them the ending of the last replaced line, or else the file's most frequent one;
    /// only a text that holds a `\r` keeps its endings as they are. If the last line of a file without a final newline is
    /// replaced, there is none afterwards. An empty text deletes the lines with their endings; all other lines keep
    /// theirs.
    Lines {
        /// The lines.
        #[serde(deserialize_with = "strict_range")]
        lines: LineRange,
        /// What takes their place.
        text: String,
    },
    /// Inserts a text as whole lines, with the endings of the line before the place, or else of the one after it.
    ///
    /// After the last line of a file without a final newline, that line gets an ending and the new last line has none.
    Insert {
        /// The line that it goes before; one more than the file has appends.
        before_line: usize,
        /// The lines; one at least, and the last one needs no ending.
        text: String,
    },
    /// Applies a unified diff of this one file, all hunks or none. Names in the diff are not looked at, and may be absent.
    /// The rules are those of [`FilePatch::apply_to`].
    Patch {
        /// The diff.
        diff: String,
    },
}

impl Edit {
    /// Replaces `old`, which occurs once, by `new`.
    #[must_use]
    pub fn replace(old: impl Into<String>, new: impl Into<String>) -> Self {
        Self::Replace { old: old.into(), new: new.into(), expected_count: once() }
    }

    /// The same replacement, of a text that occurs `count` times. Other kinds of edit have no count and stay what they are.
    #[must_use]
    pub fn expecting(mut self, count: usize) -> Self {
        if let Self::Replace { expected_count, .. } = &mut self {
            *expected_count = count;
        }
        self
    }

    /// Puts `text` in the place of some lines, counted from 1.
    #[must_use]
    pub fn lines(lines: RangeInclusive<usize>, text: impl Into<String>) -> Self {
        Self::Lines { lines: LineRange { start: *lines.start(), end: *lines.end() }, text: text.into() }
    }

    /// Inserts `text` before a line, counted from 1.
    #[must_use]
    pub fn insert(before_line: usize, text: impl Into<String>) -> Self {
        Self::Insert { before_line, text: text.into() }
    }

    /// Applies a unified diff.
    #[must_use]
    pub fn patch(diff: impl Into<String>) -> Self {
        Self::Patch { diff: diff.into() }
    }
}

fn once() -> usize {
    1
}

/// A range without fields that nobody knows.
fn strict_range<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LineRange, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        start: usize,
        end: usize,
    }
    let Strict { start, end } = Strict::deserialize(deserializer)?;
    Ok(LineRange { start, end })
}

/// What edits made of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edited {
    /// The new content.
    pub bytes: Vec<u8>,
    /// How many places were written: matches of a replacement, ranges of lines, insertions, hunks.
    pub replacements: usize,
    /// The lines of the new content from the first to the last that differs from the old; where lines are only gone, the
    /// line that now stands at their place. `None` if the bytes are the same, or if nothing is left.
    pub changed_lines: Option<LineRange>,
    /// The encoding that was read and written, as [`briefing_formats::decode`] names it.
    pub encoding: &'static str,
}

/// Applies `edits` to the bytes of a text file, all of them or none. The file's encoding is found as
/// [`briefing_formats::decode`] finds it, and kept.
///
/// Takes time linear in the bytes for each edit.
///
/// # Errors
/// Every variant of [`EditError`]. Bytes that are no text are refused, so is new text that the encoding has no characters
/// for, and a result that would be read as something else.
pub fn apply_edits(bytes: &[u8], edits: &[Edit]) -> Result<Edited, EditError> {
    if edits.is_empty() {
        return Err(EditError::NothingToDo { what: "no edit" });
    }
    let original = Document::open(bytes)?;
    let (mut document, mut replacements) = (original.clone(), 0);
    for (edit, number) in edits.iter().zip(1..) {
        let splices = match edit {
            Edit::Replace { old, new, expected_count } => {
                replace::splices(document.text(), old, new, *expected_count, number)?
            }
            Edit::Lines { lines, text } => lines::replacing(document.text(), *lines, text, number)?,
            Edit::Insert { before_line, text } => {
                lines::inserting(document.text(), *before_line, text, number)?
            }
            Edit::Patch { diff } => {
                let patch = Patch::of_one_file(diff)?;
                document = patch.applied_to(document)?;
                replacements += patch.hunk_count();
                continue;
            }
        };
        replacements += splices.len();
        document.splice(&splices)?;
    }
    let changed_lines = lines::changed(original.text(), document.text());
    let encoding = document.encoding();
    Ok(Edited { bytes: document.finish()?, replacements, changed_lines, encoding })
}
