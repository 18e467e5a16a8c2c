//! Plain text: delimiter lines that are longer than any that the content holds.

use briefing_core::ContextBlock;

use super::markdown::longest_run;
use super::{Citation, Notes};
use crate::deliver::shown_text;

pub(super) fn segment(block: &ContextBlock, number: usize) -> String {
    let citation = Citation::of(block);
    let content = shown_text(block);
    let bar = "=".repeat(content.as_deref().map_or(0, |content| longest_run(content, '=')).max(3) + 1);
    let title = format!("{bar} {number}. {} ({})\n", citation.place, citation.facts());
    let Some(content) = content else { return title };
    let newline = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
    format!("{title}{content}{newline}{bar} end of {number}\n")
}

pub(super) fn tail(notes: &Notes) -> String {
    notes.lines().iter().map(|line| format!("{line}\n")).collect()
}
