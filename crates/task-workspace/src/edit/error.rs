//! Why an edit was refused.

use super::patch::Mismatch;

/// Why some edits or a patch were refused. Nothing is applied then, and nothing was applied before it.
///
/// Lines are counted from 1. In errors of one edit among several, `edit` is its place in the list, counted from 1, and
/// lines are those of the text as the edits before it left it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Nothing is asked for: no edit at all, nothing to look for or to insert, a patch without a change.
    #[error("nothing to do: {what}")]
    NothingToDo {
        /// What is empty.
        what: &'static str,
    },
    /// The text to replace does not occur.
    #[error("edit {edit}: the text to replace does not occur{}", nearest(*nearest_line))]
    NoMatch {
        /// Which edit.
        edit: usize,
        /// The first line where it would match if white space did not count.
        nearest_line: Option<usize>,
    },
    /// The text to replace occurs another number of times than expected.
    #[error(
        "edit {edit}: the text to replace occurs {found} times and not {expected}, first at line {}",
        list(lines)
    )]
    Count {
        /// Which edit.
        edit: usize,
        /// How many matches were expected.
        expected: usize,
        /// How many there are.
        found: usize,
        /// The lines where the first few of them begin.
        lines: Vec<usize>,
    },
    /// Lines that the file does not have.
    #[error("edit {edit}: lines {start} to {end} of a file that has {total_lines}")]
    Range {
        /// Which edit.
        edit: usize,
        /// The first line asked for. An insertion names the line that it goes before twice.
        start: usize,
        /// The last line asked for.
        end: usize,
        /// How many lines there are.
        total_lines: usize,
    },
    /// The bytes are no text.
    #[error("the content is no text, and only text is edited")]
    NotText,
    /// The bytes are text that cannot be read without a loss.
    #[error("the content cannot be read as text without a loss")]
    Undecodable {
        /// What stands in the way.
        #[source]
        source: briefing_formats::Error,
    },
    /// The new text cannot be written in the file's encoding.
    #[error("the new text cannot be written in the file's encoding, {encoding}")]
    Unencodable {
        /// The encoding.
        encoding: &'static str,
        /// What stands in the way: the character and its place in the new text, or a place where the bytes cannot be
        /// parted.
        #[source]
        source: briefing_formats::Error,
    },
    /// The edited bytes would no longer be read as the edited text: too little of the file would be left to tell its
    /// encoding by, or the new text holds characters that no text holds, such as NUL.
    #[error("the edited file would no longer be read as the text that it is, in {encoding}")]
    Misread {
        /// The encoding.
        encoding: &'static str,
    },
    /// A diff that is not one.
    #[error("line {diff_line} of the diff: {reason}")]
    PatchMalformed {
        /// The line of the diff.
        diff_line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A diff asks for something that patches here never do: binary content, links, submodules, merges.
    #[error("line {diff_line} of the diff: {what} is not supported")]
    PatchUnsupported {
        /// The line of the diff.
        diff_line: usize,
        /// What it asks for.
        what: &'static str,
    },
    /// A hunk that does not fit the file.
    #[error("hunk {hunk} (line {diff_line} of the diff) does not fit: {mismatch}")]
    PatchContext {
        /// Which hunk of the file, counted from 1.
        hunk: usize,
        /// Where it begins in the diff.
        diff_line: usize,
        /// Why it does not fit.
        mismatch: Mismatch,
    },
    /// A patch that does not go with what is there: a file to create that exists, one to change that does not, a patch of
    /// several files where one is edited.
    #[error("the patch does not go with what is there: {reason}")]
    PatchTarget {
        /// What does not go together.
        reason: &'static str,
    },
}

impl EditError {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NothingToDo { .. } => "workspace.edit_empty",
            Self::NoMatch { .. } => "workspace.edit_no_match",
            Self::Count { .. } => "workspace.edit_count",
            Self::Range { .. } => "workspace.edit_range",
            Self::NotText => "workspace.edit_not_text",
            Self::Undecodable { .. } => "workspace.edit_undecodable",
            Self::Unencodable { .. } => "workspace.edit_unencodable",
            Self::Misread { .. } => "workspace.edit_misread",
            Self::PatchMalformed { .. } => "workspace.patch_malformed",
            Self::PatchUnsupported { .. } => "workspace.patch_unsupported",
            Self::PatchContext { .. } => "workspace.patch_context",
            Self::PatchTarget { .. } => "workspace.patch_target",
        }
    }
}

fn nearest(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("; with other white space it occurs at line {line}"))
}

fn list(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
