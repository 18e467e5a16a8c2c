//! Records: what is put, and what the store says about it.

use briefing_core::{Digest, Metadata, RecordId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::check_depth;
use crate::{ContentFormat, Error, RecordContent};

/// A record to put.
///
/// ```
/// use briefing_record_store::NewRecord;
/// let record = NewRecord::new("notes", "The pump is checked every week.")
///     .kind("observation")
///     .scope("tenant", "acme")
///     .tag("maintenance")
///     .summary("Pump check");
/// assert_eq!(record.collection, "notes");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRecord {
    /// The id; `None` lets the store make one that sorts by time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RecordId>,
    /// The collection it belongs to.
    pub collection: String,
    /// What sort of record it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What it holds.
    pub content: RecordContent,
    /// One line about it; it is searched too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// A file that holds the content, as a name for whoever keeps files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// To whom and what it belongs: views and filters match these keys exactly, by JSON value.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub scope: Metadata,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub source: Metadata,
    /// Labels that filters match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Free facts; not searched, not filtered.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub meta: Metadata,
    /// The version on which the write depends: the record must have it. `None` is a new record, whose id must be free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_version: Option<u64>,
}

impl NewRecord {
    /// A new record of a collection.
    #[must_use]
    pub fn new(collection: impl Into<String>, content: impl Into<RecordContent>) -> Self {
        Self {
            id: None,
            collection: collection.into(),
            kind: None,
            content: content.into(),
            summary: None,
            path: None,
            scope: Metadata::new(),
            source: Metadata::new(),
            tags: Vec::new(),
            meta: Metadata::new(),
            if_version: None,
        }
    }

    /// The next version of a record that was read: everything as it is there, with another content. The write fails if the
    /// record has moved on since.
    #[must_use]
    pub fn update(of: &RecordRef, content: impl Into<RecordContent>) -> Self {
        Self {
            id: Some(of.id.clone()),
            collection: of.collection.clone(),
            kind: of.kind.clone(),
            content: content.into(),
            summary: of.summary.clone(),
            path: of.path.clone(),
            scope: of.scope.clone(),
            source: of.source.clone(),
            tags: of.tags.clone(),
            meta: of.meta.clone(),
            if_version: Some(of.version),
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn id(mut self, id: RecordId) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets the kind.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// Sets the summary.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Sets one key of the scope.
    #[must_use]
    pub fn scope(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.scope.insert(key.into(), value.into());
        self
    }

    /// Sets one fact about where it comes from.
    #[must_use]
    pub fn source(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.source.insert(key.into(), value.into());
        self
    }

    /// Sets one free fact.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Makes the write depend on the version that was read.
    #[must_use]
    pub fn if_version(mut self, version: u64) -> Self {
        self.if_version = Some(version);
        self
    }

    /// Refuses what no store takes, and puts the tags in order without repeats.
    pub(crate) fn validated(mut self) -> Result<Self, Error> {
        let blank = |field| Err(briefing_core::Error::Blank { field }.into());
        if self.collection.trim().is_empty() {
            return blank("collection");
        }
        if self.kind.as_ref().is_some_and(|kind| kind.trim().is_empty()) {
            return blank("kind");
        }
        if self.tags.iter().any(|tag| tag.trim().is_empty()) {
            return blank("tags");
        }
        if self.if_version.is_some() && self.id.is_none() {
            return Err(
                briefing_core::Error::invalid("if_version", "a version without an id", "an id").into()
            );
        }
        if let RecordContent::Json(value) = &self.content {
            check_depth("content", [value])?;
        }
        for (field, facts) in [("scope", &self.scope), ("source", &self.source), ("meta", &self.meta)] {
            check_depth(field, facts.values())?;
        }
        self.tags.sort();
        self.tags.dedup();
        Ok(self)
    }
}

/// What the store says about a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordRef {
    /// The record.
    pub id: RecordId,
    /// From 1; one more with each change.
    pub version: u64,
    /// The collection it belongs to.
    pub collection: String,
    /// What sort of record it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// A file that holds the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The form of the content.
    pub format: ContentFormat,
    /// The digest of the stored content.
    pub digest: Digest,
    /// The length of the stored content in bytes.
    pub size_bytes: u64,
    /// The length of a text or of JSON in chars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_chars: Option<u64>,
    /// One line about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// To whom and what it belongs.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub scope: Metadata,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub source: Metadata,
    /// Its tags, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Free facts.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub meta: Metadata,
    /// When its first version was put, in milliseconds since the Unix epoch.
    pub created_at_millis: u64,
    /// When this version was put, in milliseconds since the Unix epoch.
    pub updated_at_millis: u64,
}

impl RecordRef {
    /// The length of the content in the unit of its windows: chars for text and JSON, bytes for bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.size_chars.unwrap_or(self.size_bytes)
    }
}

/// A record with its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What the store says about it.
    #[serde(flatten)]
    pub record: RecordRef,
    /// What it holds.
    pub content: RecordContent,
}

/// The portable form of a reference to one version of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordReference {
    /// The store that holds it.
    pub record_store_id: String,
    /// The record's kind; `record` where it has none.
    pub kind: String,
    /// Its collection.
    pub collection: String,
    /// The record.
    pub record_id: RecordId,
    /// The version.
    pub version: u64,
    /// A file that holds the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_ref: Option<String>,
    /// The digest of the content.
    pub digest: Digest,
    /// The length of the content in bytes.
    pub size_bytes: u64,
    /// When the record was first put, in milliseconds since the Unix epoch.
    pub created_at_millis: u64,
    /// Labels for whoever decides about access: the record's `meta.policy_labels`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_labels: Vec<String>,
    /// How the store can read it.
    pub backend_capabilities: Vec<String>,
}

impl RecordReference {
    pub(crate) fn new(record_store_id: &str, record: &RecordRef) -> Self {
        let labels = record.meta.get("policy_labels").and_then(Value::as_array);
        let labels = labels.into_iter().flatten().filter_map(|label| label.as_str().map(str::to_owned));
        Self {
            record_store_id: record_store_id.to_owned(),
            kind: record.kind.clone().unwrap_or_else(|| "record".to_owned()),
            collection: record.collection.clone(),
            record_id: record.id.clone(),
            version: record.version,
            content_ref: record.path.clone(),
            digest: record.digest,
            size_bytes: record.size_bytes,
            created_at_millis: record.created_at_millis,
            policy_labels: labels.collect(),
            backend_capabilities: vec!["bounded_read".to_owned(), "stream_read".to_owned()],
        }
    }
}

/// What is left of a record that was deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tombstone {
    /// The record.
    pub id: RecordId,
    /// The last version that it had; a record put under the same id later goes on from it.
    pub version: u64,
    /// The collection it belonged to.
    pub collection: String,
    /// The kind it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The scope it had.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub scope: Metadata,
    /// The tags it had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The digest of its last content.
    pub digest: Digest,
    /// When it was deleted, in milliseconds since the Unix epoch.
    pub deleted_at_millis: u64,
}
