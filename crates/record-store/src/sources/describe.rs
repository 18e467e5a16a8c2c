//! Descriptors of records and of their passages, and the names by which both are read.

use briefing_core::media::MediaKind;
use briefing_core::{
    ContextDiagnostic, DescriptorKey, Digest, Error, Metadata, Revision, Role, Severity, SourceDescriptor,
    SourceId, SourceRef,
};
use briefing_formats::{PassageLimits, passages};
use serde_json::Value;

use super::options::RecordSourceOptions;
use crate::port::ViewedRecord;
use crate::{ContentFormat, RecordCursor, RecordRef};

/// The longest title and the longest summary, in chars.
const MAX_TITLE_CHARS: usize = 120;
const MAX_SUMMARY_CHARS: usize = 120;

/// Makes the descriptors of records in the names of one source at one revision.
pub(super) struct Describer<'a> {
    pub(super) source_id: &'a SourceId,
    pub(super) revision: &'a Revision,
    pub(super) options: &'a RecordSourceOptions,
    /// Which of the source's views the records are of.
    pub(super) view: usize,
}

impl Describer<'_> {
    /// The record as a whole, and its passages where it is longer than one.
    pub(super) fn all(&self, seen: &ViewedRecord) -> Result<Vec<SourceDescriptor>, Error> {
        let record = &seen.record;
        let text = seen.text.as_deref().unwrap_or_default();
        let limits = PassageLimits::default();
        let cut = if text.len() > limits.max_chars && text.chars().count() > limits.max_chars {
            passages(record.path.as_deref().unwrap_or(name_of(record.format)), text, limits)
        } else {
            Vec::new()
        };
        let mut whole = self.named(&whole_key(self.view, seen.place), record.id.as_str())?;
        whole.role = self.role(record);
        whole.title = title(record);
        whole.summary = summary(record, text);
        whole.estimated_chars = usize::try_from(record.size_chars.unwrap_or_default()).unwrap_or(usize::MAX);
        whole.content_digest = Some(record.digest);
        whole.metadata = facts(record);
        if cut.is_empty() {
            text.clone_into(&mut whole.index_text);
        }
        let mut all = Vec::with_capacity(cut.len() + 1);
        let (parent, mut first) = (whole.descriptor_key.clone(), 0);
        all.push(whole);
        for (index, passage) in cut.into_iter().enumerate() {
            let content = text.get(passage.bytes).unwrap_or_default();
            let end = first + passage.chars;
            let key = passage_key(self.view, seen.place, index);
            let mut part = self.named(&key, &passage_ref(record.id.as_str(), first, end))?;
            part.role = self.role(record);
            part.title = if passage.title.is_empty() { title(record) } else { passage.title };
            part.summary = shortened(first_line(content), MAX_SUMMARY_CHARS);
            content.clone_into(&mut part.index_text);
            part.estimated_chars = passage.chars;
            part.content_digest = Some(Digest::of(content.as_bytes()));
            part.parent_key = Some(parent.clone());
            part.metadata = passage_facts(record);
            all.push(part);
            first = end;
        }
        Ok(all)
    }

    /// What is worse about the record's description than it could be.
    pub(super) fn diagnostic(&self, seen: &ViewedRecord) -> Option<ContextDiagnostic> {
        if seen.whole {
            return None;
        }
        let diagnostic = ContextDiagnostic::new("record_store.indexed_in_part", Severity::Warning)
            .with("record_id", seen.record.id.as_str())
            .with("size_bytes", seen.record.size_bytes)
            .with("max_text_bytes", self.options.max_text_bytes);
        Some(diagnostic)
    }

    fn role(&self, record: &RecordRef) -> Role {
        let role = record.kind.as_ref().and_then(|kind| self.options.roles.get(kind));
        role.copied().unwrap_or(Role::Information)
    }

    fn named(&self, key: &str, source_ref: &str) -> Result<SourceDescriptor, Error> {
        let (key, source_ref) = (DescriptorKey::new(key)?, SourceRef::new(source_ref)?);
        Ok(SourceDescriptor::new(self.source_id.clone(), self.revision.clone(), key, source_ref))
    }
}

/// Keys sort as the source lists: by view, then in the order of the store. A place has at most 19 digits.
pub(super) fn whole_key(view: usize, place: RecordCursor) -> String {
    format!("{view}-{:019}", place.place())
}

pub(super) fn passage_key(view: usize, place: RecordCursor, index: usize) -> String {
    format!("{}#{index:06}", whole_key(view, place))
}

/// The ref of a passage: the record, and its chars in the record's text.
fn passage_ref(id: &str, first: usize, end: usize) -> String {
    format!("{id}#C{first}-{end}")
}

/// The record and the chars that the ref of a passage names.
pub(super) fn passage_of(source_ref: &str) -> Option<(&str, u64, u64)> {
    let (id, chars) = source_ref.rsplit_once("#C")?;
    let (first, end) = chars.split_once('-')?;
    let (first, end) = (first.parse().ok()?, end.parse().ok()?);
    (first < end).then_some((id, first, end))
}

/// A name that tells how to look for passages where a record names no file.
fn name_of(format: ContentFormat) -> &'static str {
    match format {
        ContentFormat::Json => "record.json",
        _ => "record.md",
    }
}

/// What is said about a record; empty facts are left out, for there are many records.
pub(super) fn facts(record: &RecordRef) -> Metadata {
    let mut facts = passage_facts(record);
    let mut tell = |fact: &str, value: Value| drop(facts.insert(fact.to_owned(), value));
    tell("version", record.version.into());
    tell("created_at_millis", record.created_at_millis.into());
    tell("updated_at_millis", record.updated_at_millis.into());
    if !record.scope.is_empty() {
        tell("scope", record.scope.clone().into());
    }
    if !record.tags.is_empty() {
        tell("tags", record.tags.clone().into());
    }
    if !record.source.is_empty() {
        tell("source", record.source.clone().into());
    }
    if record.format == ContentFormat::Bytes {
        tell("total_bytes", record.size_bytes.into());
        tell("context_representation", "metadata_only".into());
    }
    facts
}

/// What is said about a passage: little, for there are more.
fn passage_facts(record: &RecordRef) -> Metadata {
    let kind = if record.format == ContentFormat::Bytes { MediaKind::Unknown } else { MediaKind::Text };
    let mut facts = Metadata::new();
    let mut tell = |fact: &str, value: Value| drop(facts.insert(fact.to_owned(), value));
    tell("record_id", record.id.as_str().into());
    tell("collection", record.collection.as_str().into());
    tell("content_kind", kind.as_str().into());
    if let Some(kind) = &record.kind {
        tell("kind", kind.as_str().into());
    }
    facts
}

fn title(record: &RecordRef) -> String {
    let summary = record.summary.as_deref().map(first_line).filter(|line| !line.is_empty());
    summary.map_or_else(|| record.id.to_string(), |line| shortened(line, MAX_TITLE_CHARS))
}

fn summary(record: &RecordRef, text: &str) -> String {
    match &record.summary {
        Some(summary) => shortened(summary.trim(), MAX_SUMMARY_CHARS),
        None => shortened(first_line(text), MAX_SUMMARY_CHARS),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

fn shortened(text: &str, max_chars: usize) -> String {
    let end = text.char_indices().nth(max_chars).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default().trim_end().to_owned()
}
