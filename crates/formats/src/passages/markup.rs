//! Borders of prose with markup: headings, paragraphs, and fences that hide both.

use super::survey::{Score, Survey};

/// A heading.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    /// Where its line begins, in bytes.
    pub(super) start: usize,
    /// Where its text is, in bytes.
    pub(super) text: std::ops::Range<usize>,
    /// 1 for the highest.
    pub(super) depth: usize,
}

/// The longest text that an underline makes a heading, in bytes.
const MAX_UNDERLINED_BYTES: usize = 200;

/// Scores the lines of prose one after another.
#[derive(Debug, Default)]
pub(super) struct MarkupLines {
    lines_seen: usize,
    /// Inside `---` at the start of the text.
    in_front_matter: bool,
    /// The fence that is open: its char and how often it is repeated.
    fence: Option<(u8, usize)>,
    /// The last line, where an underline may follow: its place.
    paragraph: Option<std::ops::Range<usize>>,
    blank_before: bool,
    /// Nothing but blank lines since a heading.
    after_heading: bool,
    /// Underlines by depth, in the order in which they came up.
    underlines: Vec<u8>,
}

impl MarkupLines {
    pub(super) fn score(
        &mut self,
        line: &str,
        start: usize,
        blank: bool,
        mark: Option<u8>,
        survey: &mut Survey,
    ) -> Score {
        self.lines_seen += 1;
        let body = line.trim_ascii();
        if self.skips_front_matter(body) || (mark == Some(b'#') && self.is_fenced(body)) {
            self.paragraph = None;
            self.after_heading = false;
            let score = if blank { Score::line(8) } else { Score::ATTACHED };
            self.blank_before = blank;
            return score;
        }
        if blank {
            (self.blank_before, self.paragraph) = (true, None);
            return Score::ATTACHED;
        }
        let indent = line.len() - line.trim_ascii_start().len();
        if let Some((mark, depth)) = mark.and_then(|mark| Some((mark, heading_depth(line, mark)?))) {
            let text = heading_text(body, mark);
            let at = start + indent + (text.as_ptr() as usize).saturating_sub(body.as_ptr() as usize);
            survey.headings.push(Heading { start, text: at..at + text.len(), depth });
            return self.headed(depth);
        }
        let underlined = match mark {
            Some(b'#') => {
                // CommonMark fixes the depths.
                self.depth_of(b'=');
                self.underlines(body, b"=-", survey)
            }
            Some(_) => false,
            None => self.underlines(body, b"=-~^\"*+#", survey),
        };
        if underlined {
            self.headed(1);
            return Score::ATTACHED;
        }
        let score = match (self.after_heading, self.blank_before) {
            (true, _) => Score::ATTACHED,
            (false, true) => Score::paragraph(indent),
            (false, false) => Score::line(indent),
        };
        self.blank_before = false;
        self.after_heading = false;
        self.paragraph = (body.len() <= MAX_UNDERLINED_BYTES && !body.starts_with(['-', '>', '|', '*', '+']))
            .then(|| start + indent..start + indent + body.len());
        score
    }

    fn headed(&mut self, depth: usize) -> Score {
        (self.after_heading, self.blank_before, self.paragraph) = (true, false, None);
        Score::section(depth)
    }

    fn skips_front_matter(&mut self, body: &str) -> bool {
        if self.lines_seen == 1 && body == "---" {
            self.in_front_matter = true;
            return true;
        }
        let inside = self.in_front_matter;
        if inside && (body == "---" || body == "...") {
            self.in_front_matter = false;
        }
        inside
    }

    /// Whether the line is inside a fence, or closes one. The line that opens a fence is not.
    fn is_fenced(&mut self, body: &str) -> bool {
        let first = body.bytes().next().unwrap_or(0);
        let run = body.bytes().take_while(|byte| *byte == first).count();
        match self.fence {
            Some((char, opened)) => {
                if first == char && run >= opened && body.len() == run {
                    self.fence = None;
                }
                true
            }
            None => {
                if matches!(first, b'`' | b'~')
                    && run >= 3
                    && !(first == b'`' && body.get(run..).is_some_and(|rest| rest.contains('`')))
                {
                    self.fence = Some((first, run));
                }
                false
            }
        }
    }

    /// Whether the line underlines the one before it, which then was a heading (CommonMark 4.3; in reStructuredText the
    /// order in which the underlines come up gives their depth).
    fn underlines(&mut self, body: &str, marks: &[u8], survey: &mut Survey) -> bool {
        let Some(first) = body.bytes().next().filter(|first| marks.contains(first)) else { return false };
        if body.len() < 2 || !body.bytes().all(|byte| byte == first) {
            return false;
        }
        let (Some(text), Some(unit)) = (self.paragraph.take(), survey.units.last_mut()) else { return false };
        let depth = self.depth_of(first);
        unit.score = Score::section(depth);
        survey.headings.push(Heading { start: unit.start, text, depth });
        true
    }
}

impl MarkupLines {
    fn depth_of(&mut self, underline: u8) -> usize {
        let known = self.underlines.iter().position(|mark| *mark == underline);
        if known.is_none() {
            self.underlines.push(underline);
        }
        known.map_or(self.underlines.len(), |at| at + 1)
    }
}

/// How deep a heading the line is: `# ` is 1. At most six marks, at most three columns from the margin.
fn heading_depth(line: &str, mark: u8) -> Option<usize> {
    let bytes = line.as_bytes();
    let margin =
        if mark == b'#' { bytes.iter().take(4).take_while(|byte| **byte == b' ').count() } else { 0 };
    let rest = bytes.get(margin..)?;
    let depth = rest.iter().take(8).take_while(|byte| **byte == mark).count();
    let spaced = matches!(rest.get(depth), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    (margin < 4 && (1..=6).contains(&depth) && spaced).then_some(depth)
}

fn heading_text(body: &str, mark: u8) -> &str {
    let text = body.trim_start_matches(char::from(mark)).trim();
    let closed = text.trim_end_matches(char::from(mark));
    if closed.len() < text.len() && closed.ends_with(' ') { closed.trim_end() } else { text }
}
