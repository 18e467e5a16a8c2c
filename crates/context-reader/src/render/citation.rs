//! The citation of a block: where it comes from, which version, how much of it.

use std::fmt::Write as _;

use briefing_core::{Completeness, ContextBlock, Representation};

/// A block's citation, ready to be shown: nothing in it can break a line or turn text around.
#[derive(Debug)]
pub(crate) struct Citation {
    /// `path:10-42`, or the ref.
    pub(crate) place: String,
    pub(crate) source: String,
    pub(crate) role: &'static str,
    pub(crate) completeness: &'static str,
    /// A short digest of the content, or the source's revision.
    pub(crate) version: Option<String>,
    /// What to add where the content is not the source's own text.
    pub(crate) form: Option<&'static str>,
    /// Where the rest of a cut content begins, in chars.
    pub(crate) next_char: Option<usize>,
}

impl Citation {
    pub(crate) fn of(block: &ContextBlock) -> Self {
        let path = block.metadata.get("path").and_then(|path| path.as_str());
        let place = match (path, block.lines()) {
            (Some(path), Some(lines)) if block.source_ref.as_str() != path => {
                format!("{path}:{}-{}", lines.start, lines.end)
            }
            _ => block.source_ref.as_str().to_owned(),
        };
        let revision = block.source_revision.as_ref().map(|revision| revision.as_str().to_owned());
        let digest = block.content_digest.as_ref().map(|digest| format!("blake3:{}", digest.short()));
        Self {
            place: shown(&place),
            source: shown(block.source_id.as_ref().map_or(block.binding_id.as_str(), |id| id.as_str())),
            role: block.role.as_str(),
            completeness: block.completeness.as_str(),
            version: digest.or(revision).map(|version| shown(&version)),
            form: block.representation.map(Representation::as_str),
            next_char: block.next_range_start.filter(|_| block.completeness == Completeness::Truncated),
        }
    }

    /// `files, information, complete, blake3:0123456789ab`.
    pub(crate) fn facts(&self) -> String {
        let mut facts = format!("{}, {}, {}", self.source, self.role, self.completeness);
        for fact in [self.version.as_deref(), self.form].into_iter().flatten() {
            let _ = write!(facts, ", {fact}");
        }
        if let Some(next) = self.next_char {
            let _ = write!(facts, ", goes on at char {next}");
        }
        facts
    }
}

/// Makes a name safe to show on one line: control characters and those that turn the reading direction are written as
/// `\u{…}`.
pub(crate) fn shown(name: &str) -> String {
    let unsafe_char = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        if unsafe_char(c) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}
