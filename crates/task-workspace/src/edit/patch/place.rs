//! Where hunks go: exactly where their old lines are, however far from the stated line.

use std::fmt;
use std::ops::Range;

use super::super::EditError;
use super::super::document::Splice;
use super::super::lines::{ending, most_frequent_ending, with_endings_of};
use super::hunk::{Hunk, Side};

/// How many chars of a line an error shows.
const SHOWN_CHARS: usize = 200;

/// Why a hunk does not fit. Lines of the file are counted from 1, in the file as it was before the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// Its old lines are nowhere; told is the first difference at the place where they should be.
    Line {
        /// The line of the file.
        file_line: usize,
        /// What the hunk expects there, with its ending, cut if it is long.
        expected: String,
        /// What is there, or `None` past the end of the file.
        found: Option<String>,
        /// Whether the hunk's new lines are there: it may have been applied before.
        already_applied: bool,
    },
    /// Its old lines are at two places equally far from where they should be.
    Ambiguous {
        /// The line of the file at which the first place begins.
        earlier: usize,
        /// The line at which the second one begins.
        later: usize,
    },
    /// It says that the file ends with it, but lines follow.
    NotAtEnd {
        /// The first line that follows.
        file_line: usize,
    },
    /// It only adds lines, and its place is none: after the end, inside the hunk before it, or after a last line that has
    /// no newline.
    NoPlace {
        /// The line before which it would add.
        file_line: usize,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file_line, expected, found, already_applied } => {
                write!(f, "line {file_line} of the file should be {expected:?} and ")?;
                match found {
                    Some(found) => write!(f, "is {found:?}")?,
                    None => write!(f, "is past its end")?,
                }
                let hint = if *already_applied { "; its new lines are there already" } else { "" };
                f.write_str(hint)
            }
            Self::Ambiguous { earlier, later } => {
                write!(f, "it fits at lines {earlier} and {later} equally well")
            }
            Self::NotAtEnd { file_line } => write!(f, "it says that the file ends before line {file_line}"),
            Self::NoPlace { file_line } => write!(f, "no line can be added before line {file_line}"),
        }
    }
}

/// The file's lines, and how those of the hunks are compared with them.
struct File<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    /// Where each line begins, and where the last one ends.
    starts: Vec<usize>,
    /// Whether `\n` in a hunk stands for `\r\n` too.
    any_ending: bool,
}

impl File<'_> {
    fn is(&self, line: &str, wanted: &str) -> bool {
        let apart_from_ending =
            || line.strip_suffix("\r\n").is_some_and(|line| wanted.strip_suffix('\n') == Some(line));
        line == wanted || (self.any_ending && apart_from_ending())
    }

    fn holds(&self, wanted: &[&str], at: usize) -> bool {
        let there = self.lines.get(at..at + wanted.len());
        there.is_some_and(|there| there.iter().zip(wanted).all(|(line, wanted)| self.is(line, wanted)))
    }

    /// All places at which some lines are among those of a range, found in linear time (Knuth, Morris and Pratt 1977).
    fn places(&self, wanted: &[&str], range: Range<usize>) -> Vec<usize> {
        let (mut borders, mut places) = (vec![0_usize; wanted.len()], Vec::new());
        let border =
            |borders: &[usize], matched: usize| borders.get(matched.wrapping_sub(1)).copied().unwrap_or(0);
        let mut matched = 0;
        for (index, line) in wanted.iter().enumerate().skip(1) {
            while matched > 0 && wanted.get(matched) != Some(line) {
                matched = border(&borders, matched);
            }
            matched += usize::from(wanted.get(matched) == Some(line));
            if let Some(slot) = borders.get_mut(index) {
                *slot = matched;
            }
        }
        matched = 0;
        for (index, line) in self.lines.iter().enumerate().take(range.end).skip(range.start) {
            let fits = |matched: usize| wanted.get(matched).is_some_and(|wanted| self.is(line, wanted));
            while matched > 0 && !fits(matched) {
                matched = border(&borders, matched);
            }
            matched += usize::from(fits(matched));
            if matched == wanted.len() {
                places.push(index + 1 - matched);
                matched = border(&borders, matched);
            }
        }
        places
    }
}

/// What the hunks, in their order, make of the text.
pub(super) fn splices(text: &str, hunks: &[Hunk]) -> Result<Vec<Splice>, EditError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let starts = lines.iter().scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some(start)
    });
    let starts = starts.chain(std::iter::once(text.len())).collect();
    let has_crlf = hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.ends_with("\r\n"));
    let file = File { text, lines, starts, any_ending: !has_crlf };
    let (mut splices, mut from, mut moved) = (Vec::new(), 0, 0_isize);
    for (hunk, number) in hunks.iter().zip(1..) {
        let expected = hunk.lines_before.saturating_add_signed(moved);
        let at = place(&file, hunk, expected, from).map_err(|mismatch| EditError::PatchContext {
            hunk: number,
            diff_line: hunk.diff_line,
            mismatch,
        })?;
        moved = at.wrapping_sub(hunk.lines_before).cast_signed();
        from = at + hunk.old_lines().count();
        write(&file, hunk, at, &mut splices);
    }
    Ok(splices)
}

/// The line (from 0) at which a hunk goes.
fn place(file: &File<'_>, hunk: &Hunk, expected: usize, from: usize) -> Result<usize, Mismatch> {
    let wanted: Vec<&str> = hunk.old_lines().collect();
    let total = file.lines.len();
    let at = if wanted.is_empty() {
        let after_unended =
            expected == total && file.lines.last().is_some_and(|last| ending(last).is_empty());
        if expected < from || expected > total || after_unended {
            return Err(Mismatch::NoPlace { file_line: expected.saturating_add(1) });
        }
        expected
    } else if expected >= from && expected < total && file.holds(&wanted, expected) {
        expected
    } else {
        match *nearest_places(file, &wanted, expected, from).as_slice() {
            [] => return Err(difference(file, hunk, &wanted, expected.clamp(from, total.max(from)))),
            [one, other, ..] if one.abs_diff(expected) == other.abs_diff(expected) => {
                return Err(Mismatch::Ambiguous { earlier: one.min(other) + 1, later: one.max(other) + 1 });
            }
            [nearest, ..] => nearest,
        }
    };
    let end = at + wanted.len();
    if end < total && hunk.new_lines().last().is_some_and(|line| ending(line).is_empty()) {
        return Err(Mismatch::NotAtEnd { file_line: end + 1 });
    }
    Ok(at)
}

/// The places of some lines from a line on, the nearest ones first. Farther ones may be missing: what moved seldom moved
/// far, so it is looked for in ever wider circles.
fn nearest_places(file: &File<'_>, wanted: &[&str], expected: usize, from: usize) -> Vec<usize> {
    let total = file.lines.len();
    let mut reach = 64_usize;
    loop {
        let start = expected.saturating_sub(reach).max(from);
        let end = expected.saturating_add(reach).saturating_add(wanted.len()).min(total);
        let mut places = file.places(wanted, start.min(end)..end);
        if !places.is_empty() || (start == from && end == total) {
            places.sort_by_key(|place| place.abs_diff(expected));
            return places;
        }
        reach = reach.saturating_mul(4);
    }
}

fn difference(file: &File<'_>, hunk: &Hunk, wanted: &[&str], at: usize) -> Mismatch {
    let here = file.lines.iter().skip(at).map(Some).chain(std::iter::repeat(None));
    let differs = |(wanted, line): &(&&str, Option<&&str>)| !line.is_some_and(|line| file.is(line, wanted));
    let (index, (expected, found)) =
        wanted.iter().zip(here).enumerate().find(|(_, pair)| differs(pair)).unwrap_or((0, (&"", None)));
    let new: Vec<&str> = hunk.new_lines().collect();
    Mismatch::Line {
        file_line: at + index + 1,
        expected: shown(expected),
        found: found.map(|line| shown(line)),
        already_applied: !new.is_empty() && file.holds(&new, at),
    }
}

fn shown(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Adds what a hunk changes, run by run: context is left as it is.
fn write(file: &File<'_>, hunk: &Hunk, at: usize, splices: &mut Vec<Splice>) {
    // Where the old lines are there letter by letter, the new ones are meant so too.
    let is_literal = hunk.old_lines().any(|line| !ending(line).is_empty())
        && hunk.old_lines().zip(file.lines.iter().skip(at)).all(|(old, line)| old == *line);
    let as_it_is = is_literal || !file.any_ending;
    let mut at = at;
    for run in hunk.lines.chunk_by(|one, next| (one.side == Side::Both) == (next.side == Side::Both)) {
        let deleted = run.iter().filter(|line| line.side != Side::New).count();
        let end = at + deleted;
        if run.first().is_some_and(|line| line.side != Side::Both) {
            let new: String =
                run.iter().filter(|line| line.side == Side::New).map(|line| line.text.as_str()).collect();
            let start = file.starts.get(at).copied().unwrap_or(file.text.len());
            let range = start..file.starts.get(end).copied().unwrap_or(file.text.len());
            let text = if as_it_is {
                new
            } else {
                let neighbours = [at.checked_sub(1), Some(end)].into_iter().flatten();
                let near = neighbours.filter_map(|line| file.lines.get(line)).map(|line| ending(line));
                let near = near.into_iter().find(|ending| !ending.is_empty());
                let near = near.unwrap_or_else(|| most_frequent_ending(file.text));
                with_endings_of(file.text.get(range.clone()).unwrap_or_default(), &new, near)
            };
            splices.push(Splice { range, text });
        }
        at = end;
    }
}
