//! JSON text cut into tokens and parts, with every literal as it is written.
//!
//! `serde_json` judges whether a text is JSON; what stands here takes that for granted and only looks for borders. So
//! the order of keys, repeated keys and the digits of a number stay what they are, which a `Value` cannot promise.

use serde::de::IgnoredAny;

/// Where a text stops being JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Counted from 1.
    pub(crate) line: usize,
    /// In chars, counted from 1.
    pub(crate) column: usize,
    pub(crate) reason: String,
}

/// Whether `text` is one JSON value. Any depth is: nothing here recurses.
pub(crate) fn check(text: &str) -> Result<(), Fault> {
    let Err(error) = serde_json::from_str::<IgnoredAny>(text) else { return Ok(()) };
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    // The parser counts bytes, and those up to the fault.
    let before = line.char_indices().take_while(|(at, _)| *at < error.column()).count();
    let message = error.to_string();
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    Err(Fault { line: error.line().max(1), column: before.max(1), reason: reason.to_owned() })
}

/// A token: punctuation, a string with its quotes, or another scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) raw: &'t str,
    /// Where it begins, in bytes.
    pub(crate) start: usize,
}

impl Token<'_> {
    /// The byte that says what it is.
    pub(crate) fn kind(&self) -> u8 {
        self.raw.as_bytes().first().copied().unwrap_or_default()
    }

    pub(crate) fn end(&self) -> usize {
        self.start + self.raw.len()
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self.kind(), b'-' | b'0'..=b'9')
    }
}

/// The tokens of a JSON text.
pub(crate) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

pub(crate) fn tokens(text: &str) -> Tokens<'_> {
    Tokens { text, at: 0 }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let rest = self.text.as_bytes().get(start..)?;
        let length = match rest.first()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string_length(rest),
            _ => rest
                .iter()
                .position(|byte| byte.is_ascii_whitespace() || b"{}[],:\"".contains(byte))
                .unwrap_or(rest.len()),
        };
        self.at = start + length;
        Some(Token { raw: self.text.get(start..self.at)?, start })
    }
}

/// How long the string at the start of `bytes` is, with both quotes.
fn string_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    bytes.len()
}

/// A JSON value taken apart by one level.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parts<'t> {
    Object(Vec<Member<'t>>),
    Array(Vec<&'t str>),
    Scalar,
}

/// A member of an object: its key as a string and as it is written, and its value as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member<'t> {
    pub(crate) key: String,
    pub(crate) raw_key: &'t str,
    pub(crate) raw: &'t str,
}

/// Takes a JSON value apart.
pub(crate) fn parts(text: &str) -> Parts<'_> {
    let mut tokens = tokens(text);
    let is_object = match tokens.next().map(|open| open.kind()) {
        Some(b'{') => true,
        Some(b'[') => false,
        _ => return Parts::Scalar,
    };
    let (mut items, mut members) = (Vec::new(), Vec::new());
    let (mut depth, mut key, mut item): (usize, _, Option<(usize, usize)>) = (1, "", None);
    for token in tokens {
        let kind = token.kind();
        if depth == 1 && kind == b':' {
            key = item.take().and_then(|(start, end)| text.get(start..end)).unwrap_or_default();
            continue;
        }
        if depth == 1 && matches!(kind, b',' | b'}' | b']') {
            if let Some(raw) = item.take().and_then(|(start, end)| text.get(start..end)) {
                if is_object {
                    members.push(Member { key: string_of(key), raw_key: key, raw });
                } else {
                    items.push(raw);
                }
            }
            continue;
        }
        match kind {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        item = Some((item.map_or(token.start, |(start, _)| start), token.end()));
    }
    if is_object { Parts::Object(members) } else { Parts::Array(items) }
}

/// The string that a literal stands for; a literal with half a surrogate pair stands for itself.
pub(crate) fn string_of(literal: &str) -> String {
    serde_json::from_str(literal).unwrap_or_else(|_| literal.to_owned())
}

/// How deep a JSON text is nested: 0 for a scalar.
pub(crate) fn depth_of(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for token in tokens(text) {
        match token.kind() {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
