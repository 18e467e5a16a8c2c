//! Markdown: a heading with the citation, then the content in a fence that it cannot close.

use briefing_core::ContextBlock;

use super::{Citation, Notes};
use crate::deliver::shown_text;

pub(super) fn segment(block: &ContextBlock, number: usize) -> String {
    let citation = Citation::of(block);
    let heading = format!("## {number}. {} ({})\n\n", code_span(&citation.place), citation.facts());
    let Some(content) = shown_text(block) else { return heading };
    let fence = "`".repeat(longest_run(&content, '`').max(2) + 1);
    let newline = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    format!("{heading}{fence}{}\n{content}{newline}{fence}\n\n", language(&citation.place))
}

pub(super) fn tail(notes: &Notes) -> String {
    notes.lines().iter().map(|line| format!("{line}\n")).collect()
}

/// The suffix of the cited file as an info string; readers of Markdown know most of them.
fn language(place: &str) -> &str {
    let path = place.rsplit_once(':').map_or(place, |(path, _)| path);
    let name = path.rsplit('/').next().unwrap_or_default();
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    // What begins with a digit is a version rather than a language.
    let begins = suffix.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = begins && suffix.len() <= 10 && suffix.chars().all(|c| c.is_ascii_alphanumeric());
    if plain { suffix } else { "" }
}

/// A code span that holds `text` whatever backticks are in it.
fn code_span(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text, '`') + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

/// The length of the longest run of `wanted` in `text`, in chars.
pub(super) fn longest_run(text: &str, wanted: char) -> usize {
    let (longest, _) = text.chars().fold((0, 0), |(longest, run), c| {
        let run = if c == wanted { run + 1 } else { 0 };
        (longest.max(run), run)
    });
    longest
}
