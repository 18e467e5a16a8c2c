//! Finding a text letter by letter, or with other line endings, and nothing more lenient than that.

use std::ops::Range;

use super::EditError;
use super::document::Splice;
use super::lines::{most_frequent_ending, with_endings_of};

/// How many matches an error names the lines of.
const NAMED_MATCHES: usize = 5;

pub(super) fn splices(
    text: &str,
    old: &str,
    new: &str,
    expected: usize,
    edit: usize,
) -> Result<Vec<Splice>, EditError> {
    if old.is_empty() {
        return Err(EditError::NothingToDo { what: "the text to replace is empty" });
    }
    let literal = old.contains('\r') || new.contains('\r');
    let mut matches = letter_by_letter(text, old, literal);
    if matches.is_empty() && !literal && old.contains('\n') {
        matches = with_any_ending(text, old);
    }
    if matches.is_empty() {
        return Err(EditError::NoMatch { edit, nearest_line: line_without_white_space(text, old) });
    }
    if matches.len() != expected {
        let lines = line_numbers(text, matches.iter().take(NAMED_MATCHES).map(|found| found.start));
        return Err(EditError::Count { edit, expected, found: matches.len(), lines });
    }
    let or_else = if new.contains('\n') { most_frequent_ending(text) } else { "\n" };
    let splices = matches.into_iter().map(|range| {
        let replaced = text.get(range.clone()).unwrap_or_default();
        let text = if literal { new.to_owned() } else { with_endings_of(replaced, new, or_else) };
        Splice { range, text }
    });
    Ok(splices.collect())
}

/// Unless all is `literal`, a `\n` is not found in the middle of a `\r\n`: replacing it would leave half an ending.
fn letter_by_letter(text: &str, old: &str, literal: bool) -> Vec<Range<usize>> {
    let (mut found, mut from) = (Vec::new(), 0);
    let splits_endings = !literal && old.starts_with('\n');
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        let start = from + at;
        if splits_endings && text.get(..start).is_some_and(|before| before.ends_with('\r')) {
            from = start + 1;
        } else {
            from = start + old.len();
            found.push(start..from);
        }
    }
    found
}

/// Matches in the text as it would be if all its endings were `\n`.
fn with_any_ending(text: &str, old: &str) -> Vec<Range<usize>> {
    let mut plain = String::with_capacity(text.len());
    // Where a `\r` was left out, as places in `plain`.
    let mut left_out = Vec::new();
    let mut parts = text.split("\r\n").peekable();
    while let Some(part) = parts.next() {
        plain.push_str(part);
        if parts.peek().is_some() {
            left_out.push(plain.len());
            plain.push('\n');
        }
    }
    // Ends come in order, and a match ends before the next one starts.
    let mut left_out = left_out.into_iter().peekable();
    let mut before = 0;
    let mut in_text = move |place: usize| {
        while left_out.next_if(|left_out| *left_out < place).is_some() {
            before += 1;
        }
        place + before
    };
    plain.match_indices(old).map(|(start, _)| in_text(start)..in_text(start + old.len())).collect()
}

fn line_numbers(text: &str, places: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut at, mut line) = (0, 1);
    places
        .map(|place| {
            line += text.get(at..place).unwrap_or_default().matches('\n').count();
            at = place;
            line
        })
        .collect()
}

/// The line where `old` would be found first if neither text had any white space.
fn line_without_white_space(text: &str, old: &str) -> Option<usize> {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let wanted = bare(old);
    let found = (!wanted.is_empty()).then(|| bare(text).find(&wanted))??;
    let mut passed = 0;
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        passed += line.split_whitespace().map(str::len).sum::<usize>();
        if passed > found {
            return Some(number);
        }
    }
    None
}
