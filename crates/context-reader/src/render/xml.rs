//! XML: one element a block, its citation in attributes, its content escaped.

use std::fmt::Write as _;

use briefing_core::ContextBlock;
use quick_xml::escape::escape;

use super::{Citation, Notes};
use crate::deliver::shown_text;

pub(super) fn segment(block: &ContextBlock, number: usize) -> String {
    let citation = Citation::of(block);
    let mut element = format!("<block n=\"{number}\"");
    let attributes = [
        ("ref", Some(citation.place.as_str())),
        ("source", Some(citation.source.as_str())),
        ("role", Some(citation.role)),
        ("completeness", Some(citation.completeness)),
        ("version", citation.version.as_deref()),
        ("form", citation.form),
    ];
    for (name, value) in attributes {
        if let Some(value) = value {
            let _ = write!(element, " {name}=\"{}\"", escape(value));
        }
    }
    if let Some(next) = citation.next_char {
        let _ = write!(element, " next_char=\"{next}\"");
    }
    match shown_text(block) {
        None => element.push_str("/>\n"),
        Some(content) => {
            let (content, replaced) = allowed(&content);
            if replaced > 0 {
                let _ = write!(element, " replaced_chars=\"{replaced}\"");
            }
            let _ = writeln!(element, ">{}</block>", escape(&content).replace('\r', "&#13;"));
        }
    }
    element
}

pub(super) fn tail(notes: &Notes) -> String {
    let lines: String =
        notes.lines().iter().map(|line| format!("<note>{}</note>\n", escape(line.as_str()))).collect();
    format!("{lines}</context>\n")
}

/// Replaces what XML 1.0 cannot hold (control characters other than tab, line feed and carriage return, U+FFFE and U+FFFF)
/// by U+FFFD, and counts how often.
fn allowed(content: &str) -> (String, usize) {
    let forbidden =
        |c: char| (c < ' ' && !matches!(c, '\t' | '\n' | '\r')) || matches!(c, '\u{fffe}' | '\u{ffff}');
    let replaced = content.chars().filter(|c| forbidden(*c)).count();
    (content.chars().map(|c| if forbidden(c) { '\u{fffd}' } else { c }).collect(), replaced)
}
