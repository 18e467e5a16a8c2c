//! Borders of code: items at the margin, with their doc comments and attributes kept to them.

use super::survey::Score;

/// Scores the lines of code one after another.
#[derive(Debug)]
pub(super) struct CodeLines {
    before: Before,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A blank line, or the start of the text.
    Blank,
    /// A comment, attribute or decorator that belongs to what follows.
    Preface,
    /// A closing bracket or `end` at the margin.
    ItemEnd,
    Other,
}

impl Default for CodeLines {
    fn default() -> Self {
        Self { before: Before::Blank }
    }
}

impl CodeLines {
    pub(super) fn score(&mut self, line: &str, blank: bool) -> Score {
        if blank {
            self.before = Before::Blank;
            return Score::ATTACHED;
        }
        let body = line.trim_ascii_start();
        let depth = line.len() - body.len();
        let score = match self.before {
            _ if closes(body) => Score::ATTACHED,
            Before::Preface => Score::ATTACHED,
            Before::Blank | Before::ItemEnd if depth == 0 => Score::section(0),
            Before::Blank => Score::paragraph(depth),
            Before::ItemEnd | Before::Other => Score::line(depth),
        };
        self.before = match () {
            () if is_preface(body) => Before::Preface,
            () if depth == 0 && closes(body) => Before::ItemEnd,
            () => Before::Other,
        };
        score
    }
}

/// Closes what came before, or goes on with it.
fn closes(body: &str) -> bool {
    match body.as_bytes() {
        [b'}' | b')' | b']' | b'{', ..] | [b'*', b'/' | b' ', ..] => true,
        [b'<', b'/', ..] => true,
        [b'e', ..] => ["end", "else", "elif", "elsif", "except"].iter().any(|word| {
            body.strip_prefix(word)
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        }),
        [b'c', ..] => body.starts_with("catch"),
        [b'f', ..] => body.starts_with("finally"),
        _ => false,
    }
}

/// A comment, attribute, decorator or annotation.
pub(super) fn is_preface(body: &str) -> bool {
    match body.as_bytes() {
        [b'/', b'/' | b'*', ..] | [b'*', b' ' | b'/' | b'\n' | b'\r', ..] | [b'*'] => true,
        // No letter: C's directives and CSS's ids are no comments.
        [b'#', next, ..] => !next.is_ascii_alphanumeric(),
        [b'@', next, ..] => next.is_ascii_alphabetic(),
        [b'-', b'-', ..] | [b';', ..] | [b'%', b' ' | b'%', ..] => true,
        [b'<', b'!', b'-', b'-', ..] => true,
        _ => false,
    }
}

/// The first line of the item that `passage` shows: the first that is no comment, attribute or bracket.
pub(super) fn first_item_line(passage: &str) -> Option<&str> {
    passage.lines().find(|line| {
        let body = line.trim();
        !body.is_empty() && !is_preface(body) && !closes(body)
    })
}

/// Whether the line stands at the margin and may name an item.
pub(super) fn names_an_item(line: &str) -> bool {
    line.starts_with(|first: char| first.is_alphabetic() || first == '_' || first == '<' || first == '[')
}
