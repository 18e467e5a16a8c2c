//! The lossy digest: a bounded account of instructions that are too large to be delivered.
//!
//! It always names the whole text and all of its sections, and says how much it leaves out. What room is left goes to the
//! description (a quarter), the headings in order (half of the rest), the names of resources (a sixth), and everything else
//! to the text of the sections, in fair shares: a section that needs less than its share leaves the rest to the others.

mod fill;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use self::fill::{Taken, fair_shares, need, take};
use crate::Error;
use crate::markdown::{Piece, Section, cut, pieces};

/// The longest heading in a digest, in chars.
const MAX_HEADING_CHARS: usize = 80;

/// A description is cut to no less than this, in chars; below it is left out.
const MIN_DESCRIPTION_CHARS: usize = 24;

/// What a digest is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    /// The ref of the whole text.
    pub(super) full_ref: &'a str,
    /// The text of which the instructions are the end, and where they begin, in bytes.
    pub(super) text: &'a str,
    pub(super) from: usize,
    /// Their sections; none where they have no headings.
    pub(super) sections: &'a [Section],
    /// The paths of the skill's other files.
    pub(super) resources: &'a [String],
}

/// A digest, and what it leaves out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Digested {
    pub(super) text: String,
    /// The length of the instructions, in chars.
    pub(super) original_chars: usize,
    /// How many of these chars are not in the digest as they are.
    pub(super) omitted_chars: usize,
    /// For each section, how many of its chars are.
    pub(super) carried_chars: Vec<usize>,
    /// The indices of sections of which no text is in it.
    pub(super) omitted_sections: Vec<usize>,
    /// How many of the resources are named.
    pub(super) named_resources: usize,
}

/// A section, or the whole where there are no sections.
struct Part<'a> {
    heading: String,
    /// How many chars of its heading are not shown.
    cut_off: usize,
    chars: usize,
    pieces: Vec<Piece<'a>>,
}

/// Makes a digest of at most `max_chars` chars.
///
/// # Errors
/// [`Error::DigestLimit`] where the refs and the account of what is left out do not fit.
pub(super) fn digest(outline: &Outline<'_>, max_chars: usize) -> Result<Digested, Error> {
    let parts = parts(outline);
    let original_chars = outline.text.get(outline.from..).unwrap_or_default().chars().count();
    let head = head(outline, original_chars);
    let counts = Counts {
        chars: original_chars,
        sections: outline.sections.len(),
        resources: outline.resources.len(),
    };
    let needed_chars = chars(&head) + chars(&counts.told(counts));
    let Some(mut room) = max_chars.checked_sub(needed_chars) else {
        return Err(Error::DigestLimit { limit_chars: max_chars, needed_chars });
    };
    let description = described(outline.description, room / 4);
    room -= chars(&description);
    let shown = headings_that_fit(&parts, room / 2);
    let (headed, further) = parts.split_at_checked(shown).unwrap_or_default();
    room -= headed.iter().map(|part| chars(&part.heading_line(part.chars))).sum::<usize>();
    let (named_resources, resources) = named(outline.resources, room / 6);
    room -= chars(&resources);
    let mut taken = filled(headed, room);
    let mut left = room - taken.iter().map(Taken::used).sum::<usize>();
    for part in further {
        // Short sections leave room for more of them.
        let Some(rest) = left.checked_sub(chars(&part.heading_line(part.chars))) else { break };
        let more = take(&part.pieces, rest);
        left = rest - more.used();
        taken.push(more);
    }

    let mut text = head;
    text.push_str(&description);
    for (part, taken) in parts.iter().zip(&taken) {
        text.push_str(&part.heading_line(carried(part, taken)));
        text.push_str(&taken.text);
    }
    text.push_str(&resources);
    let mut carried_chars: Vec<usize> =
        parts.iter().zip(&taken).map(|(part, taken)| carried(part, taken)).collect();
    let omitted_chars = original_chars.saturating_sub(carried_chars.iter().sum());
    carried_chars.resize(parts.len(), 0);
    carried_chars.truncate(outline.sections.len());
    let is_bare = |at: &usize| taken.get(*at).is_none_or(|taken| taken.text.is_empty() && !taken.complete);
    let omitted_sections: Vec<usize> = (0..outline.sections.len()).filter(is_bare).collect();
    let left_out = Counts {
        chars: omitted_chars,
        sections: omitted_sections.len(),
        resources: outline.resources.len() - named_resources,
    };
    text.push_str(&counts.told(left_out));
    Ok(Digested { text, original_chars, omitted_chars, carried_chars, omitted_sections, named_resources })
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn carried(part: &Part<'_>, taken: &Taken) -> usize {
    if taken.complete { part.chars.saturating_sub(part.cut_off) } else { taken.carried }
}

fn parts<'a>(outline: &Outline<'a>) -> Vec<Part<'a>> {
    if outline.sections.is_empty() {
        let body = outline.text.get(outline.from..).unwrap_or_default();
        return vec![Part { heading: String::new(), cut_off: 0, chars: chars(body), pieces: pieces(body) }];
    }
    let part = |section: &Section| {
        let body = outline.text.get(section.after_heading..section.bytes.end).unwrap_or_default();
        let marks = "#".repeat(section.level.max(1));
        let title = cut(&section.title, MAX_HEADING_CHARS);
        let raw = outline.text.get(section.bytes.start..section.after_heading).unwrap_or_default();
        let shown = if title == section.title { chars(&title) } else { chars(&title) - 1 };
        Part {
            heading: format!("{marks} {title} [#section-{}, ", section.number),
            cut_off: heading_chars(raw).saturating_sub(shown),
            chars: section.chars,
            pieces: pieces(body),
        }
    };
    outline.sections.iter().map(part).collect()
}

/// How many chars a heading has without what makes it one: marks before and after it, a line below it.
fn heading_chars(raw: &str) -> usize {
    let raw = raw.trim();
    let underlined =
        |line: &str| !line.is_empty() && line.trim().chars().all(|char| matches!(char, '=' | '-'));
    let text = raw.rsplit_once('\n').filter(|(_, last)| underlined(last)).map_or(raw, |(text, _)| text);
    chars(text.trim_matches(|char: char| char.is_whitespace() || char == '#'))
}

impl Part<'_> {
    /// The line above the text; the longest where nearly all chars are carried.
    fn heading_line(&self, carried: usize) -> String {
        match self.heading.is_empty() {
            true => "\n".to_owned(),
            false => format!("\n{}{carried} of {} chars]\n", self.heading, self.chars),
        }
    }
}

/// What stands first and is never left out: what this is, and the refs.
fn head(outline: &Outline<'_>, original_chars: usize) -> String {
    let Outline { name, full_ref, sections, .. } = outline;
    let mut head = format!(
        "# {name}: lossy digest\nShortened from {original_chars} chars of instructions; it does not stand for them. \
         Whole text: {full_ref}\n"
    );
    if let (Some(first), Some(last)) = (sections.first(), sections.last()) {
        let _ = writeln!(
            head,
            "Its sections: that ref with #section-{} to #section-{} after it",
            first.number, last.number
        );
    }
    head
}

/// How much there is, or is left out.
#[derive(Debug, Clone, Copy)]
struct Counts {
    chars: usize,
    sections: usize,
    resources: usize,
}

impl Counts {
    /// The last line: how much of this is left out. It is longest where everything is.
    fn told(self, out: Self) -> String {
        let mut line = format!("\nLeft out: {} of {} chars", out.chars, self.chars);
        if self.sections > 0 {
            let _ = write!(line, "; all text of {} of {} sections", out.sections, self.sections);
        }
        if self.resources > 0 {
            let _ = write!(line, "; the names of {} of {} resources", out.resources, self.resources);
        }
        line.push('\n');
        line
    }
}

fn described(description: &str, room: usize) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let room = room.saturating_sub(2);
    if chars(&line) > room && room < MIN_DESCRIPTION_CHARS {
        return String::new();
    }
    format!("\n{}\n", cut(&line, room))
}

/// How many headings, in order, fit into `room`; the whole without a heading always does where anything can.
fn headings_that_fit(parts: &[Part<'_>], room: usize) -> usize {
    let mut left = room;
    let fits = |part: &&Part<'_>| match left.checked_sub(chars(&part.heading_line(part.chars))) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    parts.iter().take_while(fits).count()
}

/// The names of resources that fit, and how many they are.
fn named(resources: &[String], room: usize) -> (usize, String) {
    const BEFORE: &str = "\nResources: ";
    let Some(mut left) = room.checked_sub(chars(BEFORE) + 1) else { return (0, String::new()) };
    let mut names = Vec::new();
    for name in resources {
        let Some(rest) = left.checked_sub(chars(name) + 2) else { break };
        left = rest;
        names.push(name.as_str());
    }
    match names.len() {
        0 => (0, String::new()),
        named => (named, format!("{BEFORE}{}\n", names.join(", "))),
    }
}

/// The text of each part within `room` in all.
fn filled(parts: &[Part<'_>], room: usize) -> Vec<Taken> {
    let needs: Vec<usize> = parts.iter().map(|part| need(&part.pieces)).collect();
    let shares = fair_shares(&needs, room);
    let mut taken: Vec<Taken> =
        parts.iter().zip(&shares).map(|(part, share)| take(&part.pieces, *share)).collect();
    // What could not be used in one place (a code block is taken whole or not) is offered to the others, in order.
    let mut left = room - taken.iter().map(Taken::used).sum::<usize>();
    for (part, taken) in parts.iter().zip(&mut taken) {
        if !taken.complete {
            let before = taken.used();
            let more = take(&part.pieces, before + left);
            if more.carried > taken.carried {
                left = (left + before).saturating_sub(more.used());
                *taken = more;
            }
        }
    }
    taken
}
