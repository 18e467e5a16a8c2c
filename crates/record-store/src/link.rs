//! Links between records.

use briefing_core::{Metadata, RecordId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A link to make. Both ends must exist.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// Where it begins.
    pub source: RecordId,
    /// Where it leads.
    pub target: RecordId,
    /// What the source is to the target.
    pub relation: String,
    /// Free facts.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub meta: Metadata,
}

impl NewLink {
    /// A link from one record to another.
    #[must_use]
    pub fn new(source: RecordId, relation: impl Into<String>, target: RecordId) -> Self {
        Self { source, target, relation: relation.into(), meta: Metadata::new() }
    }

    /// Sets one free fact.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }
}

/// A link between two records. It goes when one of them is deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordLink {
    /// The link.
    pub id: String,
    /// Where it begins.
    pub source: RecordId,
    /// Where it leads.
    pub target: RecordId,
    /// What the source is to the target.
    pub relation: String,
    /// When it was made, in milliseconds since the Unix epoch.
    pub created_at_millis: u64,
    /// Free facts.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub meta: Metadata,
}

/// Which links are meant. Every part that is set narrows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkFilter {
    /// Links that begin or end here.
    pub either: Option<RecordId>,
    /// Links that begin here.
    pub source: Option<RecordId>,
    /// Links that lead here.
    pub target: Option<RecordId>,
    /// Links of this relation.
    pub relation: Option<String>,
}

impl LinkFilter {
    /// Links that begin or end at a record.
    #[must_use]
    pub fn of(record: RecordId) -> Self {
        Self { either: Some(record), ..Self::default() }
    }

    /// Whether it means a link.
    #[must_use]
    pub fn admits(&self, link: &RecordLink) -> bool {
        self.either.as_ref().is_none_or(|id| *id == link.source || *id == link.target)
            && self.source.as_ref().is_none_or(|id| *id == link.source)
            && self.target.as_ref().is_none_or(|id| *id == link.target)
            && self.relation.as_ref().is_none_or(|relation| *relation == link.relation)
    }
}

/// What ties a record to the execution that it is evidence of; all that is set becomes facts of the link.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Evidence {
    /// The execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// The operation in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// The runtime event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_event_id: Option<String>,
    /// The checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// The exchange with a model or a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange_id: Option<String>,
    /// Artefacts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifact_refs: Vec<String>,
}
