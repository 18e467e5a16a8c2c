//! How a text is laid out, as its name tells.

use briefing_core::media::{MediaKind, kind_of_path};

/// What borders to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    /// Prose with headings after this char, repeated by depth.
    Headings(u8),
    /// Prose whose headings are underlined.
    Underlined,
    /// Items of code at the margin, with blank lines between.
    Code,
    /// Paragraphs.
    Plain,
}

const PROSE_SUFFIXES: [&str; 11] =
    ["asc", "csv", "eml", "log", "ndjson", "jsonl", "srt", "text", "tsv", "txt", "vtt"];

impl Flavor {
    pub(super) fn of(path_or_name: &str) -> Self {
        let suffix = path_or_name.rsplit_once('.').map_or("", |(_, suffix)| suffix).to_ascii_lowercase();
        match suffix.as_str() {
            "md" | "markdown" | "mdx" | "rmd" => Self::Headings(b'#'),
            "rst" => Self::Underlined,
            "adoc" | "asciidoc" => Self::Headings(b'='),
            "org" => Self::Headings(b'*'),
            suffix if PROSE_SUFFIXES.contains(&suffix) => Self::Plain,
            _ if kind_of_path(path_or_name) == MediaKind::Text => Self::Code,
            _ => Self::Plain,
        }
    }
}
