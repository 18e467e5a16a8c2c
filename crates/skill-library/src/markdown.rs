//! Markdown as its headings part it, by a CommonMark parser: a `#` in a code fence is no heading, an underlined line is one.

use std::ops::Range;

use briefing_core::LineRange;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The longest trail of titles, in chars.
pub(crate) const MAX_TITLE_CHARS: usize = 120;

/// How many headings part a text. Those after them stand in the last section, so that a text of nothing but headings does not
/// become as many descriptors.
const MAX_HEADINGS: usize = 2_000;

/// What the text before the first heading is called.
pub(crate) const PREAMBLE: &str = "Preamble";

/// A part of a text: a heading and what follows it up to the next heading of any depth, or what stands before the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// 0 for the preamble, else the number of its heading.
    pub(crate) number: usize,
    /// 0 for the preamble, else 1 to 6.
    pub(crate) level: usize,
    /// The text of its heading on one line.
    pub(crate) title: String,
    /// The titles of the headings above it and its own.
    pub(crate) trail: String,
    /// Where it is in the text, in bytes, with its heading.
    pub(crate) bytes: Range<usize>,
    /// Where what follows its heading begins, in bytes.
    pub(crate) after_heading: usize,
    /// How long it is, in chars.
    pub(crate) chars: usize,
    pub(crate) lines: LineRange,
}

struct Heading {
    level: usize,
    text: String,
    bytes: Range<usize>,
}

/// The sections of `text` from byte `from` on. They follow one another without a gap; a preamble of white space alone is a
/// part of the first section. A text without headings has none. Headings inside of quotes and lists part nothing.
pub(crate) fn sections(text: &str, from: usize) -> Vec<Section> {
    let mut headings = headings(text, from);
    headings.truncate(MAX_HEADINGS);
    let mut starts: Vec<(usize, Option<&Heading>)> = Vec::with_capacity(headings.len() + 1);
    let first = headings.first().map_or(text.len(), |heading| heading.bytes.start);
    if text.get(from..first).is_some_and(|before| !before.trim().is_empty()) && !headings.is_empty() {
        starts.push((from, None));
    }
    for heading in &headings {
        starts.push((if starts.is_empty() { from } else { heading.bytes.start }, Some(heading)));
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]).collect();
    let mut line = 1 + text.get(..from).unwrap_or_default().matches('\n').count();
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut number = 0;
    let mut sections = Vec::with_capacity(starts.len());
    for ((start, heading), end) in starts.into_iter().zip(ends) {
        let content = text.get(start..end).unwrap_or_default();
        let breaks = content.matches('\n').count();
        let lines = LineRange { start: line, end: line + breaks - usize::from(content.ends_with('\n')) };
        line += breaks;
        let (level, title) = match heading {
            None => (0, PREAMBLE.to_owned()),
            Some(heading) => {
                number += 1;
                open.retain(|(level, _)| *level < heading.level);
                open.push((heading.level, cut(&heading.text, MAX_TITLE_CHARS)));
                (heading.level, heading.text.clone())
            }
        };
        let trail = match level {
            0 => title.clone(),
            _ => open.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" > "),
        };
        sections.push(Section {
            number,
            level,
            title,
            trail: cut(&trail, MAX_TITLE_CHARS),
            after_heading: heading.map_or(start, |heading| heading.bytes.end),
            bytes: start..end,
            chars: content.chars().count(),
            lines,
        });
    }
    sections
}

fn headings(text: &str, from: usize) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    let (mut depth, mut inside) = (0_usize, false);
    for (event, range) in Parser::new_ext(text.get(from..).unwrap_or_default(), options()).into_offset_iter()
    {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                if depth == 0 {
                    inside = true;
                    let start = line_start(text, from + range.start).max(from);
                    let bytes = start..from + range.end;
                    headings.push(Heading { level: depth_of(level), text: String::new(), bytes });
                }
                depth += 1;
            }
            Event::Start(_) => depth += 1,
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                if depth == 0 && matches!(end, TagEnd::Heading(_)) {
                    inside = false;
                }
            }
            Event::Text(piece) | Event::Code(piece) | Event::InlineHtml(piece) if inside => {
                if let Some(heading) = headings.last_mut() {
                    heading.text.push_str(&piece);
                }
            }
            Event::SoftBreak | Event::HardBreak if inside => {
                if let Some(heading) = headings.last_mut() {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    for heading in &mut headings {
        heading.text = heading.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if heading.text.is_empty() {
            heading.text.push_str("(no title)");
        }
    }
    headings
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
}

fn depth_of(level: HeadingLevel) -> usize {
    level as usize
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// How a piece of a section may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Between words.
    Words,
    /// Not at all: a part of a code block would not be closed, one of a table not read.
    Whole,
}

/// A block of a section, or an item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece<'a> {
    /// Without the line ends after it.
    pub(crate) text: &'a str,
    pub(crate) cut: Cut,
    /// Whether a blank line stands before it.
    pub(crate) apart: bool,
}

/// The pieces of a text that begins after a heading: together they are all of it but white space.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut blocks: Vec<(Range<usize>, Cut)> = Vec::new();
    // Depth, and the depth at which the block or the item that is open began.
    let (mut depth, mut lists) = (0_usize, 0_usize);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                let opaque =
                    matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Table(_) | Tag::MetadataBlock(_));
                if depth == 0 && matches!(tag, Tag::List(_)) {
                    lists = 1;
                } else if depth == lists {
                    blocks.push((range, if opaque { Cut::Whole } else { Cut::Words }));
                } else if opaque && let Some((_, cut)) = blocks.last_mut() {
                    *cut = Cut::Whole;
                }
                depth += 1;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                lists = if depth == 0 { 0 } else { lists };
            }
            Event::Rule if depth == 0 => blocks.push((range, Cut::Whole)),
            _ => {}
        }
    }
    placed(text, blocks)
}

/// Blocks from the starts of their lines on, and what stands between them (definitions of links) as blocks of its own.
fn placed(text: &str, blocks: Vec<(Range<usize>, Cut)>) -> Vec<Piece<'_>> {
    let mut pieces = Vec::with_capacity(blocks.len());
    let mut at = 0;
    let mut push = |at: &mut usize, end: usize, cut| {
        let raw = text.get(*at..end).unwrap_or_default();
        let content = raw.trim_end();
        let skipped = content.len() - content.trim_start_matches(['\n', '\r']).len();
        let before = text.get(..*at + skipped).unwrap_or_default().trim_end_matches([' ', '\t']);
        let content = content.get(skipped..).unwrap_or_default();
        if !content.trim().is_empty() {
            let breaks = before.len() - before.trim_end().len();
            let apart = before.get(before.len() - breaks..).is_some_and(|gap| gap.matches('\n').count() > 1);
            pieces.push(Piece { text: content, cut, apart });
        }
        *at = end.max(*at);
    };
    for (range, cut) in blocks {
        let start = line_start(text, range.start).max(at);
        if start > at {
            push(&mut at, start, Cut::Words);
        }
        push(&mut at, range.end, cut);
    }
    push(&mut at, text.len(), Cut::Words);
    pieces
}

/// The beginning of a text, at most `max_chars` chars, with `…` in place of what was cut.
pub(crate) fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some(_) if max_chars == 0 => String::new(),
        Some(_) => {
            let mut kept: String = text.chars().take(max_chars - 1).collect();
            // Between words where there is one near the end; scripts without spaces are cut anywhere.
            if let Some(space) = kept.rfind(char::is_whitespace).filter(|space| *space * 2 >= kept.len()) {
                kept.truncate(space);
            }
            kept.truncate(kept.trim_end().len());
            kept.push('…');
            kept
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<(usize, String)> {
        sections(text, 0).into_iter().map(|section| (section.number, section.trail)).collect()
    }

    #[test]
    fn fences_hide_headings_and_underlines_make_them() {
        let text = "Intro\n\n```sh\n# no heading\n```\n\nFirst *one*\n====\na\n\n> # quoted\n\n- # listed\n\n## Second `two`\nb\n    # code\n";
        let expected = [(0, "Preamble"), (1, "First one"), (2, "First one > Second two")]
            .map(|(n, t)| (n, t.to_owned()));
        assert_eq!(titles(text), expected);
        assert!(titles("no heading\n").is_empty());
        assert_eq!(titles("\n\n# Only\n")[0].0, 1);
    }

    #[test]
    fn a_text_of_nothing_but_headings_has_a_bounded_number_of_sections() {
        let text = format!("# {}\n{}", "long ".repeat(50_000), "## x\n".repeat(50_000));
        let found = sections(&text, 0);
        assert_eq!(found.len(), MAX_HEADINGS);
        assert_eq!(found.iter().map(|section| section.chars).sum::<usize>(), text.chars().count());
        assert!(found.iter().all(|section| section.trail.chars().count() <= MAX_TITLE_CHARS));
    }

    #[test]
    fn sections_are_the_text_and_know_their_lines() {
        let text = "x\n---\nname: a\n---\n# A\na\n\n## B\n\nb\n# C";
        let from = text.find("# A").unwrap();
        let found = sections(text, from);
        let joined: String = found.iter().map(|section| &text[section.bytes.clone()]).collect();
        assert_eq!(joined, &text[from..]);
        let lines: Vec<_> = found.iter().map(|section| (section.lines.start, section.lines.end)).collect();
        assert_eq!(lines, [(5, 7), (8, 10), (11, 11)]);
    }

    #[test]
    fn pieces_are_all_of_the_text() {
        let text = "Para one\nmore.\n\n- item a\n- item b\n\n  ```\n  code\n  ```\n\n[link]: x\n\n```\n# c\n```\n| a |\n|---|\n| 1 |\n";
        let found = pieces(text);
        let shown: Vec<_> = found.iter().map(|piece| (piece.text, piece.cut == Cut::Whole)).collect();
        assert_eq!(
            shown,
            [
                ("Para one\nmore.", false),
                ("- item a", false),
                ("- item b\n\n  ```\n  code\n  ```", true),
                ("[link]: x", false),
                ("```\n# c\n```", true),
                ("| a |\n|---|\n| 1 |", true),
            ]
        );
        let apart: Vec<_> = found.iter().map(|piece| piece.apart).collect();
        assert_eq!(apart, [false, true, false, true, true, false]);
    }

    #[test]
    fn a_cut_text_says_so_and_stays_within() {
        assert_eq!(cut("one two three", 12), "one two…");
        assert_eq!(cut("one", 3), "one");
        assert_eq!(cut("水泵每周检查", 4), "水泵每…");
        assert_eq!(cut("abc", 0), "");
    }
}
