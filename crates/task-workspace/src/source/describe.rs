//! Descriptors of files and passages, and the names by which both are read.

use briefing_core::media::MediaKind;
use briefing_core::{
    DescriptorKey, Digest, Error, LineRange, Metadata, Representation, Revision, SourceDescriptor, SourceId,
    SourceRef,
};
use serde_json::json;

use super::prepare::{Prepared, PreparedText};
use super::scan::Scan;

/// The longest summary, in chars.
const MAX_SUMMARY_CHARS: usize = 120;

/// How many lines are looked at for a summary.
const SUMMARY_LINES: usize = 50;

/// How a file that is not text is offered.
pub(super) const METADATA_ONLY: &str = "metadata_only";
const IMAGE: &str = "image_attachment_or_metadata";

/// Makes the descriptors of one file, in the names of one source at one revision.
pub(super) struct Describer<'a> {
    pub(super) source_id: &'a SourceId,
    pub(super) revision: &'a Revision,
    pub(super) scan: &'a Scan,
    pub(super) file: &'a Prepared,
}

impl Describer<'_> {
    /// The descriptor at `part`: the whole file at 0, its passages after it.
    pub(super) fn part(&self, part: usize) -> Result<Option<SourceDescriptor>, Error> {
        match (part.checked_sub(1), &self.file.text) {
            (None, _) => self.whole().map(Some),
            (Some(index), Some(text)) if index < text.passages.len() => self.passage(text, index).map(Some),
            (Some(_), _) => Ok(None),
        }
    }

    fn named(&self, key: &str, source_ref: &str) -> Result<SourceDescriptor, Error> {
        let (key, source_ref) = (DescriptorKey::new(key)?, SourceRef::new(source_ref)?);
        Ok(SourceDescriptor::new(self.source_id.clone(), self.revision.clone(), key, source_ref))
    }

    fn whole(&self) -> Result<SourceDescriptor, Error> {
        let file = self.file;
        let mut descriptor = self.named(&file.path, &file.path)?;
        descriptor.content_digest = file.digest;
        descriptor.metadata = facts(file);
        if let Some(text) = &file.text {
            descriptor.estimated_chars = text.chars;
            descriptor.summary = summary(&text.text);
            if text.passages.is_empty() {
                descriptor.index_text.clone_from(&text.text);
            }
        }
        Ok(descriptor)
    }

    fn passage(&self, text: &PreparedText, index: usize) -> Result<SourceDescriptor, Error> {
        let path = &*self.file.path;
        let key = passage_key(self.scan, path, index);
        let source_ref = passage_ref(self.scan, path, text, index);
        let mut descriptor = self.named(&key, &source_ref)?;
        let Some(passage) = text.passages.get(index) else { return Ok(descriptor) };
        let content = text.text.get(passage.bytes.clone()).unwrap_or_default();
        descriptor.parent_key = Some(DescriptorKey::new(path)?);
        if !passage.title.is_empty() {
            descriptor.title.clone_from(&passage.title);
        }
        descriptor.summary = summary(content);
        descriptor.index_text = content.to_owned();
        descriptor.estimated_chars = passage.chars;
        descriptor.content_digest = Some(Digest::of(content.as_bytes()));
        descriptor.metadata = passage_facts(self.file, passage.lines);
        Ok(descriptor)
    }
}

/// The key of a passage; a file that happens to be named so keeps its name.
pub(super) fn passage_key(scan: &Scan, path: &str, index: usize) -> String {
    let mut key = format!("{path}#{index:06}");
    while scan.is_file(&key) {
        key.push('#');
    }
    key
}

/// The ref of a passage: its lines, and its chars in the file where the lines alone do not tell it from another.
pub(super) fn passage_ref(scan: &Scan, path: &str, text: &PreparedText, index: usize) -> String {
    let Some(passage) = text.passages.get(index) else { return path.to_owned() };
    let LineRange { start, end } = passage.lines;
    let by_lines = format!("{path}#L{start}-{end}");
    let before = index.checked_sub(1).and_then(|before| text.passages.get(before));
    let shares_a_line = before.is_some_and(|before| before.lines.end == start)
        || text.passages.get(index + 1).is_some_and(|after| after.lines.start == end);
    if !shares_a_line && !scan.is_file(&by_lines) {
        return by_lines;
    }
    let first = text.starts.get(index).copied().unwrap_or_default();
    format!("{by_lines}:C{first}-{}", first + passage.chars)
}

/// The path that the ref of a passage names.
pub(super) fn path_of_passage(source_ref: &str) -> Option<&str> {
    source_ref.rsplit_once("#L").map(|(path, _)| path)
}

/// What is said about a whole file.
pub(super) fn facts(file: &Prepared) -> Metadata {
    let mut facts = Metadata::new();
    facts.insert("path".to_owned(), json!(&*file.path));
    facts.insert("total_bytes".to_owned(), json!(file.identity.size));
    facts.insert("content_kind".to_owned(), json!(file.kind.as_str()));
    if let Some(media_type) = file.media_type {
        facts.insert("media_type".to_owned(), json!(media_type));
    }
    match &file.text {
        Some(text) => {
            if text.encoding != "utf-8" {
                facts.insert("encoding".to_owned(), json!(text.encoding));
            }
            if file.kind != MediaKind::Text {
                facts.insert("context_representation".to_owned(), json!(Representation::ParsedText.as_str()));
            }
            if text.lines > 0 {
                facts.insert("lines".to_owned(), json!({ "start": 1, "end": text.lines }));
            }
        }
        None => {
            let form = if file.kind == MediaKind::Image { IMAGE } else { METADATA_ONLY };
            facts.insert("context_representation".to_owned(), json!(form));
        }
    }
    facts
}

/// What is said about a passage: little, for there are many.
pub(super) fn passage_facts(file: &Prepared, lines: LineRange) -> Metadata {
    let mut facts = Metadata::new();
    facts.insert("path".to_owned(), json!(&*file.path));
    facts.insert("lines".to_owned(), json!({ "start": lines.start, "end": lines.end }));
    facts.insert("content_kind".to_owned(), json!(file.kind.as_str()));
    if file.kind != MediaKind::Text {
        facts.insert("context_representation".to_owned(), json!(Representation::ParsedText.as_str()));
    }
    facts
}

/// The first line that says something, without the marks of headings and comments.
fn summary(text: &str) -> String {
    let line = text.lines().take(SUMMARY_LINES).find(|line| line.chars().any(char::is_alphanumeric));
    let marks = |char: char| char.is_whitespace() || "#/*!;<>-=%\"'".contains(char);
    let line = line.unwrap_or_default().trim_start_matches(marks);
    let end = line.char_indices().nth(MAX_SUMMARY_CHARS).map_or(line.len(), |(end, _)| end);
    line.get(..end).unwrap_or_default().trim_end().to_owned()
}
