//! One hunk: its header and its lines, counted.

use super::super::EditError;
use super::parse::{Lines, malformed};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Both,
    Old,
    New,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HunkLine {
    pub(super) side: Side,
    /// With its ending, as it is in the file.
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Where it begins in the diff, counted from 1.
    pub(super) diff_line: usize,
    /// How many lines of the old file are before it.
    pub(super) lines_before: usize,
    pub(super) lines: Vec<HunkLine>,
}

impl Hunk {
    /// The lines as they should be in the file.
    pub(super) fn old_lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|line| line.side != Side::New).map(|line| line.text.as_str())
    }

    /// The lines that take their place.
    pub(super) fn new_lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|line| line.side != Side::Old).map(|line| line.text.as_str())
    }

    /// Whether the first line of the file is in it, with its byte order mark.
    pub(super) fn shows_mark(&self) -> bool {
        let firsts = [self.old_lines().next(), self.new_lines().next()];
        self.lines_before == 0 && firsts.into_iter().flatten().any(|line| line.starts_with('\u{feff}'))
    }

    /// Reads a hunk, whose header is the next line.
    pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Self, EditError> {
        let diff_line = lines.number();
        let header = lines.next().unwrap_or_default();
        let (old, new) = ranges(header).ok_or_else(|| {
            malformed(diff_line, "a hunk begins with `@@ -<line>,<count> +<line>,<count> @@`")
        })?;
        let mut left = (old.count, new.count);
        if left == (0, 0) {
            return Err(malformed(diff_line, "a hunk without lines"));
        }
        let mut hunk = Self { diff_line, lines_before: old.lines_before, lines: Vec::new() };
        let mut at_end = AtEnd::default();
        while left != (0, 0) || lines.peek().is_some_and(|line| line.starts_with('\\')) {
            let number = lines.number();
            let missing = |(old, new): (usize, usize)| {
                let counts = format!("{old} old and {new} new lines");
                malformed(number, format!("the hunk of line {diff_line} should have {counts} more here"))
            };
            let Some(line) = lines.next() else { return Err(missing(left)) };
            if line.starts_with('\\') {
                at_end.mark(&mut hunk.lines).ok_or_else(|| {
                    malformed(number, "a line without newline is marked, but none is before it")
                })?;
                continue;
            }
            let signs = [(' ', Side::Both), ('-', Side::Old), ('+', Side::New)];
            let signed = signs.iter().find_map(|(sign, side)| Some((*side, line.strip_prefix(*sign)?)));
            // Editors cut the one space of an empty context line.
            let unsigned = matches!(line, "" | "\r").then_some((Side::Both, line));
            let Some((side, text)) = signed.or(unsigned) else { return Err(missing(left)) };
            let (in_old, in_new) = (side != Side::New, side != Side::Old);
            if (in_old && left.0 == 0) || (in_new && left.1 == 0) {
                return Err(malformed(
                    number,
                    format!("a line more than the header of the hunk in line {diff_line} states"),
                ));
            }
            if (in_old && at_end.old) || (in_new && at_end.new) {
                return Err(malformed(number, "a line after one that is marked as the file's last"));
            }
            left = (left.0 - usize::from(in_old), left.1 - usize::from(in_new));
            hunk.lines.push(HunkLine { side, text: [text, "\n"].concat() });
        }
        Ok(hunk)
    }
}

/// Whether the file's last line was seen on either side.
#[derive(Default)]
struct AtEnd {
    old: bool,
    new: bool,
}

impl AtEnd {
    /// Takes the newline from the line before.
    fn mark(&mut self, lines: &mut [HunkLine]) -> Option<()> {
        let last = lines.last_mut()?;
        (last.text.pop()? == '\n').then_some(())?;
        self.old |= last.side != Side::New;
        self.new |= last.side != Side::Old;
        Some(())
    }
}

struct Stated {
    lines_before: usize,
    count: usize,
}

fn ranges(header: &str) -> Option<(Stated, Stated)> {
    let (ranges, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some((range(old)?, range(new)?))
}

/// `line,count`, or `line` for one line. Without lines, the place is after the stated one.
fn range(text: &str) -> Option<Stated> {
    let number = |digits: &str| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        if plain { digits.parse::<usize>().ok() } else { None }
    };
    let (line, count) = match text.split_once(',') {
        Some((line, count)) => (number(line)?, number(count)?),
        None => (number(text)?, 1),
    };
    let lines_before = if count == 0 { line } else { line.checked_sub(1)? };
    lines_before.checked_add(count)?;
    Some(Stated { lines_before, count })
}
