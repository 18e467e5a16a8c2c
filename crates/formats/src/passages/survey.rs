//! The lines of a text, each with a score that says how well it may begin a passage.

use super::code::CodeLines;
use super::flavor::Flavor;
use super::markup::{Heading, MarkupLines};

/// How well a passage may begin at a line. Within a level, less indented lines and higher headings are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score(u8);

impl Score {
    /// Inside a line: only where the line alone is too long.
    pub(super) const INSIDE_A_LINE: Self = Self(0);
    /// The line belongs to the one before it: an item to its doc comment, a closing bracket, a blank line.
    pub(super) const ATTACHED: Self = Self(1);
    const LINE: u8 = 16;
    const PARAGRAPH: u8 = 32;
    const SECTION: u8 = 48;

    /// Any line; `depth` is its indentation.
    pub(super) fn line(depth: usize) -> Self {
        Self(Self::LINE + closeness(depth))
    }

    /// A line after a pause that does not end a section; `depth` is its indentation.
    pub(super) fn paragraph(depth: usize) -> Self {
        Self(Self::PARAGRAPH + closeness(depth))
    }

    /// A line where the text pauses of itself; `depth` is the heading's level.
    pub(super) fn section(depth: usize) -> Self {
        Self(Self::SECTION + closeness(depth))
    }

    pub(super) fn begins_section(self) -> bool {
        self.0 >= Self::SECTION
    }

    pub(super) fn is_line_border(self) -> bool {
        self > Self::INSIDE_A_LINE
    }
}

/// 15 at the margin, 0 from depth 15 on.
fn closeness(depth: usize) -> u8 {
    u8::try_from(15_usize.saturating_sub(depth)).unwrap_or(0)
}

/// A line, or a part of a line that is too long for one passage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// The line, counted from 1.
    pub(super) line: usize,
    /// How long it is.
    pub(super) chars: usize,
    pub(super) score: Score,
}

/// What one look over the text found.
pub(super) struct Survey {
    pub(super) units: Vec<Unit>,
    /// Headings by the byte at which they begin, in order.
    pub(super) headings: Vec<Heading>,
}

/// Looks at each line once.
pub(super) fn survey(text: &str, flavor: Flavor, max_chars: usize) -> Survey {
    let mut survey = Survey { units: Vec::with_capacity(text.len() / 32), headings: Vec::new() };
    let ascii = text.is_ascii();
    let mut code = CodeLines::default();
    let mut markup = MarkupLines::default();
    let mut blank_before = true;
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let blank = is_blank(line);
        let score = match flavor {
            Flavor::Code => code.score(line, blank),
            Flavor::Headings(mark) => markup.score(line, start, blank, Some(mark), &mut survey),
            Flavor::Underlined => markup.score(line, start, blank, None, &mut survey),
            Flavor::Plain if blank => Score::ATTACHED,
            Flavor::Plain if blank_before => Score::section(0),
            Flavor::Plain => Score::line(0),
        };
        blank_before = blank;
        let chars = if ascii { line.len() } else { line.chars().count() };
        let unit = Unit { start, line: index + 1, chars, score };
        if chars <= max_chars {
            survey.units.push(unit)
        } else {
            split_line(line, unit, max_chars, &mut survey.units)
        }
        start += line.len();
    }
    survey
}

pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// Cuts a line into parts of at most `max_chars`, after white space where some is near the end of a part.
fn split_line(line: &str, whole: Unit, max_chars: usize, units: &mut Vec<Unit>) {
    let mut unit = Unit { chars: 0, ..whole };
    let mut space: Option<(usize, usize)> = None;
    for (at, char) in line.char_indices() {
        if unit.chars == max_chars {
            let (next, carried) = space.take().unwrap_or((at, 0));
            units.push(Unit { chars: max_chars - carried, ..unit });
            unit = Unit { start: whole.start + next, chars: carried, score: Score::INSIDE_A_LINE, ..unit };
        }
        unit.chars += 1;
        if let Some((_, carried)) = &mut space {
            *carried += 1;
        }
        if char.is_whitespace() && unit.chars > max_chars - max_chars / 4 && unit.chars < max_chars {
            space = Some((at + char.len_utf8(), 0));
        }
    }
    units.push(unit);
}
