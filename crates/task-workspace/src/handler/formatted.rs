//! What a read asks for, and what it gives: a window of the shown text, and the value behind it.

use std::fmt;

use briefing_core::{ContextDiagnostic, Digest, Severity};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which part of the shown text is wanted, and whether the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatRequest {
    /// Where in the shown text to begin, in chars.
    pub offset_chars: usize,
    /// How many chars of it to give at most. Zero counts as one, so that paging always advances.
    pub max_chars: usize,
    /// Whether the value is wanted too.
    pub with_value: bool,
}

impl FormatRequest {
    /// All of the text, and the value.
    #[must_use]
    pub fn whole() -> Self {
        Self::window(0, usize::MAX)
    }

    /// `max_chars` chars of the text from `offset_chars` on, and the value.
    #[must_use]
    pub fn window(offset_chars: usize, max_chars: usize) -> Self {
        Self { offset_chars, max_chars, with_value: true }
    }

    /// The same without the value, which saves building it.
    #[must_use]
    pub fn without_value(mut self) -> Self {
        self.with_value = false;
        self
    }
}

/// A file as a handler shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Formatted {
    /// The id of the handler.
    pub handler: String,
    /// The part of the shown text that was asked for.
    pub text: String,
    /// Where it begins in the shown text, in chars.
    pub offset_chars: usize,
    /// How long the shown text is, in chars.
    pub total_chars: usize,
    /// Where the next part begins, in chars; `None` where the text ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_offset_chars: Option<usize>,
    /// Whether the shown text is the file's own text, char for char, so that an exact edit may quote it.
    pub verbatim: bool,
    /// The value behind the text: always the whole one, whatever window was asked for. `None` where the format has none,
    /// where it was not asked for, and where a diagnostic says why it cannot be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The encoding of the file's text, as [`briefing_formats::decode`] names it; `None` for a format that is no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The digest of the bytes that are shown, for the expectation of a write that follows. The workspace sets it; `None`
    /// where a handler was asked directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// What is worth knowing: what was left out, and what is wrong with the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<ContextDiagnostic>,
}

impl Formatted {
    /// The part of `text` that `request` asks for.
    #[must_use]
    pub fn new(handler: &str, text: &str, request: &FormatRequest) -> Self {
        let mut window = Window::new(request);
        window.push(text);
        window.into_formatted(handler)
    }

    /// Whether the text is all of the shown text.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.offset_chars == 0 && self.next_offset_chars.is_none()
    }

    /// With the value behind the text.
    #[must_use]
    pub fn with_value(mut self, value: Value) -> Self {
        self.value = Some(value);
        self
    }

    /// With the encoding of the file.
    #[must_use]
    pub fn with_encoding(mut self, encoding: &str) -> Self {
        self.encoding = Some(encoding.to_owned());
        self
    }

    /// Says that the shown text is the file's own.
    #[must_use]
    pub fn as_verbatim(mut self) -> Self {
        self.verbatim = true;
        self
    }

    /// With one more diagnostic.
    #[must_use]
    pub fn with_diagnostic(mut self, diagnostic: ContextDiagnostic) -> Self {
        self.diagnostics.push(diagnostic);
        self
    }

    /// With the value, or a diagnostic that says why there is none.
    pub(super) fn with_value_or_reason(self, value: Result<Value, String>) -> Self {
        match value {
            Ok(value) => self.with_value(value),
            Err(reason) => self.with_diagnostic(
                ContextDiagnostic::new("workspace.handler_value_withheld", Severity::Info)
                    .with("reason", reason),
            ),
        }
    }
}

/// Takes the shown text piece by piece, keeps the part that was asked for, and counts the rest: a window of a large file
/// costs the window.
#[derive(Debug)]
pub(super) struct Window {
    offset_chars: usize,
    max_chars: usize,
    seen_chars: usize,
    kept_chars: usize,
    text: String,
}

impl Window {
    pub(super) fn new(request: &FormatRequest) -> Self {
        Self {
            offset_chars: request.offset_chars,
            max_chars: request.max_chars.max(1),
            seen_chars: 0,
            kept_chars: 0,
            text: String::new(),
        }
    }

    pub(super) fn push(&mut self, piece: &str) {
        let chars = piece.chars().count();
        let skipped = self.offset_chars.saturating_sub(self.seen_chars);
        let wanted = self.max_chars - self.kept_chars;
        self.seen_chars += chars;
        if skipped >= chars || wanted == 0 {
            return;
        }
        let rest = piece.get(byte_at(piece, skipped)..).unwrap_or_default();
        let kept = (chars - skipped).min(wanted);
        self.text.push_str(if kept == chars - skipped {
            rest
        } else {
            rest.get(..byte_at(rest, kept)).unwrap_or_default()
        });
        self.kept_chars += kept;
    }

    pub(super) fn into_formatted(self, handler: &str) -> Formatted {
        let end = self.offset_chars.saturating_add(self.kept_chars);
        Formatted {
            handler: handler.to_owned(),
            text: self.text,
            offset_chars: self.offset_chars,
            total_chars: self.seen_chars,
            next_offset_chars: (end < self.seen_chars).then_some(end),
            verbatim: false,
            value: None,
            encoding: None,
            digest: None,
            diagnostics: Vec::new(),
        }
    }
}

impl fmt::Write for Window {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push(piece);
        Ok(())
    }
}

fn byte_at(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}
