//! From the text of a diff to its files.

use std::borrow::Cow;

use super::super::EditError;
use super::FilePatch;
use super::header::Header;
use super::hunk::Hunk;

pub(super) fn malformed(diff_line: usize, reason: impl Into<String>) -> EditError {
    EditError::PatchMalformed { diff_line, reason: reason.into() }
}

/// The lines of a diff, without their newlines.
pub(super) struct Lines<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn of(diff: &'a str) -> Self {
        let lines = diff.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line));
        Self { lines: lines.collect(), at: 0 }
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn peek_second(&self) -> Option<&'a str> {
        self.lines.get(self.at + 1).copied()
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    /// The next line as a header has it, where a `\r` at the end says nothing.
    pub(super) fn next_header(&mut self) -> &'a str {
        let line = self.next().unwrap_or_default();
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The number of the next line, counted from 1.
    pub(super) fn number(&self) -> usize {
        self.at + 1
    }
}

/// The files of a diff. If `nameless` is allowed, the first hunks may lack a header.
pub(super) fn files(diff: &str, nameless: bool) -> Result<Vec<FilePatch>, EditError> {
    let diff = plain_endings(diff);
    let mut lines = Lines::of(&diff);
    let (mut files, mut open) = (Vec::new(), None::<(Header, Vec<Hunk>)>);
    while let Some(line) = lines.peek() {
        let number = lines.number();
        let has_hunks = open.as_ref().is_some_and(|(_, hunks)| !hunks.is_empty());
        let awaits_names = open
            .as_ref()
            .is_some_and(|(header, hunks)| header.is_git && header.names.is_none() && hunks.is_empty());
        let names =
            line.starts_with("--- ") && lines.peek_second().is_some_and(|next| next.starts_with("+++ "));
        if line.starts_with("diff --git ") {
            close(&mut open, &mut files)?;
            open = Some((Header::parse_git(&mut lines)?, Vec::new()));
        } else if names && awaits_names {
            if let Some((header, _)) = &mut open {
                header.read_names(&mut lines)?;
            }
        } else if names {
            close(&mut open, &mut files)?;
            let mut header = Header::nameless(number);
            header.read_names(&mut lines)?;
            open = Some((header, Vec::new()));
        } else if let Some(what) = unsupported(line) {
            return Err(EditError::PatchUnsupported { diff_line: number, what });
        } else if line.starts_with("@@") {
            let (_, hunks) = match &mut open {
                Some(open) => open,
                None if nameless && files.is_empty() => open.insert((Header::nameless(number), Vec::new())),
                None => return Err(malformed(number, "a hunk without the names of its file before it")),
            };
            let hunk = Hunk::parse(&mut lines)?;
            let end = hunks.last().map_or(0, |hunk| hunk.lines_before + hunk.old_lines().count());
            if hunk.lines_before < end {
                return Err(malformed(number, "a hunk that begins before the end of the one before it"));
            }
            hunks.push(hunk);
        } else if open.is_some() && ends_patch(line) {
            close(&mut open, &mut files)?;
            lines.next();
        } else if has_hunks && line.starts_with([' ', '+', '-', '\\']) {
            return Err(malformed(number, "a line more than the header of the hunk before it states"));
        } else if open.is_some() && !has_hunks && line.starts_with(['+', '-']) {
            return Err(malformed(number, "a changed line, or a name, that no hunk or header holds"));
        } else {
            lines.next();
        }
    }
    close(&mut open, &mut files)?;
    Ok(files)
}

fn close(open: &mut Option<(Header, Vec<Hunk>)>, files: &mut Vec<FilePatch>) -> Result<(), EditError> {
    if let Some((header, hunks)) = open.take() {
        files.push(header.into_file(hunks)?);
    }
    Ok(())
}

/// The signature of a mail with a patch, or the first line of the next mail or commit: what follows is no part of the diff.
fn ends_patch(line: &str) -> bool {
    matches!(line, "-- " | "--") || line.starts_with("From ") || line.starts_with("commit ")
}

fn unsupported(line: &str) -> Option<&'static str> {
    let line = line.trim_end_matches('\r');
    let is_binary =
        line == "GIT binary patch" || (line.starts_with("Binary files ") && line.ends_with(" differ"));
    let is_merge = ["diff --cc ", "diff --combined ", "@@@ "].iter().any(|start| line.starts_with(start));
    match (is_binary, is_merge) {
        (true, _) => Some("a binary patch"),
        (_, true) => Some("the diff of a merge"),
        _ => None,
    }
}

/// A diff that was saved with `\r\n` throughout says nothing about the endings of the file. In one that was made from a file
/// with such endings, the headers end in `\n`.
fn plain_endings(diff: &str) -> Cow<'_, str> {
    let all = diff.contains('\n')
        && diff.split_inclusive('\n').all(|line| line.ends_with("\r\n") || !line.ends_with('\n'));
    if all { Cow::Owned(diff.replace("\r\n", "\n")) } else { Cow::Borrowed(diff) }
}
