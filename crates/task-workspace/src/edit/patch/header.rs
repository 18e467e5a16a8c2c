//! The extended header of git, and what it and the names make of a file.

use super::super::EditError;
use super::hunk::Hunk;
use super::names::{self, NO_FILE};
use super::parse::{Lines, malformed};
use super::{FilePatch, PatchKind};

/// What is known of a file before its hunks.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) diff_line: usize,
    /// Whether it began with `diff --git`.
    pub(super) is_git: bool,
    /// The names of the `diff --git` line.
    git_names: Option<(String, String)>,
    /// The names of `---` and `+++`.
    pub(super) names: Option<(String, String)>,
    renamed: (Option<String>, Option<String>),
    copied: (Option<String>, Option<String>),
    created: bool,
    deleted: bool,
    executable: Option<bool>,
}

impl Header {
    /// A file of which nothing but its hunks is given.
    pub(super) fn nameless(diff_line: usize) -> Self {
        Self { diff_line, ..Self::default() }
    }

    /// Reads `---` and `+++`, which are the next two lines.
    pub(super) fn read_names(&mut self, lines: &mut Lines<'_>) -> Result<(), EditError> {
        let mut name = |prefix| {
            let number = lines.number();
            names::in_header(lines.next_header().strip_prefix(prefix).unwrap_or_default(), number)
        };
        self.names = Some((name("--- ")?, name("+++ ")?));
        Ok(())
    }

    /// Reads a header of git; the next line is its `diff --git`.
    pub(super) fn parse_git(lines: &mut Lines<'_>) -> Result<Self, EditError> {
        let diff_line = lines.number();
        let rest = lines.next_header().strip_prefix("diff --git ").unwrap_or_default();
        let git_names = names::both(rest, diff_line)?;
        let mut header = Self { diff_line, is_git: true, git_names, ..Self::default() };
        while let Some(line) = lines.peek() {
            let (number, line) = (lines.number(), line.strip_suffix('\r').unwrap_or(line));
            let slot = if let Some(mode) = line.strip_prefix("old mode ") {
                executable(mode, number)?;
                None
            } else if let Some(mode) = line.strip_prefix("new mode ") {
                header.executable = Some(executable(mode, number)?);
                None
            } else if let Some(mode) = line.strip_prefix("new file mode ") {
                header.executable = Some(executable(mode, number)?);
                header.created = true;
                None
            } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
                executable(mode, number)?;
                header.deleted = true;
                None
            } else if let Some(index) = line.strip_prefix("index ") {
                if let Some((_, mode)) = index.split_once(' ') {
                    executable(mode, number)?;
                }
                None
            } else if line.starts_with("similarity index ") || line.starts_with("dissimilarity index ") {
                None
            } else if let Some(name) = line.strip_prefix("rename from ") {
                Some((&mut header.renamed.0, name))
            } else if let Some(name) = line.strip_prefix("rename to ") {
                Some((&mut header.renamed.1, name))
            } else if let Some(name) = line.strip_prefix("copy from ") {
                Some((&mut header.copied.0, name))
            } else if let Some(name) = line.strip_prefix("copy to ") {
                Some((&mut header.copied.1, name))
            } else {
                break;
            };
            if let Some((slot, name)) = slot {
                *slot = Some(names::whole(name, number)?);
            }
            lines.next();
        }
        Ok(header)
    }

    /// The file that the header and its hunks describe.
    pub(super) fn into_file(self, hunks: Vec<Hunk>) -> Result<FilePatch, EditError> {
        let fault = |reason: &str| malformed(self.diff_line, reason);
        if hunks.is_empty() && !self.is_git {
            return Err(fault("no hunk follows the names"));
        }
        if self.created && self.deleted {
            return Err(fault("a file that is both created and deleted"));
        }
        let (old, new) = self.paths()?;
        let kind = match (&self.renamed, &self.copied) {
            ((Some(from), Some(_)), (None, None)) => PatchKind::Rename { from: from.clone() },
            ((None, None), (Some(from), Some(_))) => PatchKind::Copy { from: from.clone() },
            ((None, None), (None, None)) => match (&old, &new) {
                _ if self.names.is_none() && !self.is_git => PatchKind::Modify,
                (None, None) => return Err(fault("no file on either side")),
                (None, Some(_)) => PatchKind::Create,
                (Some(_), None) => PatchKind::Delete,
                (Some(_), Some(_)) => PatchKind::Modify,
            },
            _ => return Err(fault("a renaming or a copy needs its two names, and cannot be both")),
        };
        if kind == PatchKind::Modify && self.is_git && old != new {
            return Err(fault("two names without a renaming or a copy"));
        }
        if kind == PatchKind::Modify && hunks.is_empty() && self.executable.is_none() {
            return Err(fault("nothing is said about the file"));
        }
        let on_one_side = |side: fn(&Hunk) -> bool| hunks.iter().any(side);
        if kind == PatchKind::Create && on_one_side(|hunk| hunk.old_lines().next().is_some()) {
            return Err(fault("a file is created, but there are old lines"));
        }
        if kind == PatchKind::Delete && on_one_side(|hunk| hunk.new_lines().next().is_some()) {
            return Err(fault("a file is deleted, but there are new lines"));
        }
        Ok(FilePatch { old_path: old, new_path: new, kind, executable: self.executable, hunks })
    }

    /// The old and the new path; `None` for no file.
    fn paths(&self) -> Result<(Option<String>, Option<String>), EditError> {
        let fault = |reason: &str| malformed(self.diff_line, reason);
        let in_git = self
            .git_names
            .as_ref()
            .map(|(old, new)| names::without_prefixes(old, new).unwrap_or((old.as_str(), new.as_str())));
        // The first line shows both names, and so whether they have prefixes; `--- /dev/null` alone cannot.
        let keeps_prefixes =
            self.git_names.as_ref().is_some_and(|(old, new)| names::without_prefixes(old, new).is_none());
        let in_header = self.names.as_ref().map(|(old, new)| {
            let stripped = if keeps_prefixes { None } else { names::without_prefixes(old, new) };
            stripped.unwrap_or((old.as_str(), new.as_str()))
        });
        let moved = [&self.renamed, &self.copied]
            .into_iter()
            .find_map(|(from, to)| Some((from.as_deref()?, to.as_deref()?)));
        let (old, new) = match moved.or(in_header).or(in_git) {
            Some(names) => names,
            None if self.is_git => return Err(fault("the names of the file cannot be told apart")),
            None => return Ok((None, None)),
        };
        // Where the same names are given twice, they must be the same.
        for (given_old, given_new) in [in_git, in_header].into_iter().flatten() {
            let agree = |given: &str, taken: &str| given == taken || given == NO_FILE || taken == NO_FILE;
            if self.is_git && !(agree(given_old, old) && agree(given_new, new)) {
                return Err(fault("the header names different files"));
            }
        }
        if in_header
            .is_some_and(|(old, new)| (self.created && old != NO_FILE) || (self.deleted && new != NO_FILE))
        {
            return Err(fault("a file is created or deleted, but its names say another thing"));
        }
        let there = |name: &str, absent: bool| (name != NO_FILE && !absent).then(|| name.to_owned());
        Ok((there(old, self.created), there(new, self.deleted)))
    }
}

/// Whether a mode is that of an executable file; modes of other things than files are refused.
fn executable(mode: &str, diff_line: usize) -> Result<bool, EditError> {
    match mode {
        // 100664 is what git wrote before it knew two modes only.
        "100644" | "100664" => Ok(false),
        "100755" => Ok(true),
        "120000" => Err(EditError::PatchUnsupported { diff_line, what: "a symbolic link" }),
        "160000" => Err(EditError::PatchUnsupported { diff_line, what: "a submodule" }),
        _ => Err(malformed(diff_line, format!("{mode:?} is no mode of a file"))),
    }
}
