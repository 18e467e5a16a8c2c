//! Names for passages: the trail of headings, or the first line of an item.

use std::ops::Range;

use briefing_core::LineRange;

use super::Passage;
use super::code::{first_item_line, names_an_item};
use super::flavor::Flavor;
use super::markup::Heading;
use super::survey::{Survey, Unit};

/// The longest title, in chars.
const MAX_TITLE_CHARS: usize = 100;

/// Turns the chosen ranges of units into passages.
pub(super) fn name(text: &str, flavor: Flavor, survey: &Survey, cuts: &[Range<usize>]) -> Vec<Passage> {
    let mut trail = Trail { headings: &survey.headings, next: 0, open: Vec::new() };
    let mut enclosing = "";
    let mut passages = Vec::with_capacity(cuts.len());
    for cut in cuts {
        let units = survey.units.get(cut.clone()).unwrap_or_default();
        let (Some(first), Some(last)) = (units.first(), units.last()) else { continue };
        let end = survey.units.get(cut.end).map_or(text.len(), |unit: &Unit| unit.start);
        let content = text.get(first.start..end).unwrap_or_default();
        let title = match flavor {
            Flavor::Plain => String::new(),
            Flavor::Headings(_) | Flavor::Underlined => trail.title(text, first.start..end),
            Flavor::Code => code_title(content, &mut enclosing),
        };
        passages.push(Passage {
            lines: LineRange { start: first.line, end: last.line },
            bytes: first.start..end,
            chars: units.iter().map(|unit| unit.chars).sum(),
            title,
        });
    }
    passages
}

/// Headings that are open at a place of the text, the highest first.
struct Trail<'a> {
    headings: &'a [Heading],
    next: usize,
    open: Vec<&'a Heading>,
}

impl Trail<'_> {
    /// The trail at the first words of the passage that are no heading.
    fn title(&mut self, text: &str, bytes: Range<usize>) -> String {
        let mut title = None;
        let mut covered = bytes.start;
        while let Some(heading) = self.headings.get(self.next).filter(|heading| heading.start < bytes.end) {
            if title.is_none() && !self.open.is_empty() && has_words(text.get(covered..heading.start)) {
                title = Some(self.joined(text));
            }
            covered = text
                .get(heading.text.end..)
                .and_then(|rest| rest.find('\n'))
                .map_or(text.len(), |line_end| heading.text.end + line_end);
            self.open.retain(|open| open.depth < heading.depth);
            self.open.push(heading);
            self.next += 1;
        }
        title.unwrap_or_else(|| self.joined(text))
    }

    fn joined(&self, text: &str) -> String {
        let mut title = String::new();
        for words in self.open.iter().filter_map(|heading| text.get(heading.text.clone())) {
            if !title.is_empty() && !words.is_empty() {
                title.push_str(" > ");
            }
            title.push_str(words);
        }
        cut(&title).to_owned()
    }
}

fn has_words(between: Option<&str>) -> bool {
    between.is_some_and(|between| between.chars().any(char::is_alphanumeric))
}

/// The first line of the item, behind the item at the margin that encloses it.
fn code_title<'a>(content: &'a str, enclosing: &mut &'a str) -> String {
    let first = first_item_line(content).unwrap_or_default();
    let title = match first.starts_with([' ', '\t']) {
        true if !enclosing.is_empty() => format!("{} > {}", cut(item_name(enclosing)), item_name(first)),
        _ => item_name(first).to_owned(),
    };
    if let Some(last) = content.lines().rev().find(|line| names_an_item(line)) {
        *enclosing = last;
    }
    cut(&title).to_owned()
}

fn item_name(line: &str) -> &str {
    line.trim().trim_end_matches(['{', ' '])
}

fn cut(title: &str) -> &str {
    title.char_indices().nth(MAX_TITLE_CHARS).and_then(|(end, _)| title.get(..end)).unwrap_or(title)
}
