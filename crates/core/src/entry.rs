//! What an application puts into a `TaskContext`: direct entries, and bindings of sources.

use serde::{Deserialize, Serialize};

use crate::{BindingId, Content, Metadata, Role, SourceRef};

/// A piece of context that the application states directly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextEntry {
    /// The id; generated where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<BindingId>,
    /// What it is for.
    pub role: Role,
    /// What it says.
    pub content: Content,
    /// Whether every package must carry it whole.
    #[serde(default)]
    pub required: bool,
    /// Higher comes first among required entries, and among optional ones.
    #[serde(default)]
    pub priority: i64,
    /// The ref that blocks and explicit requests use; the id where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ref: Option<SourceRef>,
    /// One line for selectors; the ref where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Free facts; `content_kind`, `media_type` and `context_representation` are understood.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl ContextEntry {
    /// An optional entry.
    #[must_use]
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self {
            id: None,
            role,
            content: content.into(),
            required: false,
            priority: 0,
            source_ref: None,
            summary: None,
            metadata: Metadata::new(),
        }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: BindingId) -> Self {
        self.id = Some(id);
        self
    }

    /// Makes it required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Sets the priority.
    #[must_use]
    pub fn with_priority(mut self, priority: i64) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the summary.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }
}

/// How a source is attached to a `TaskContext`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContextBinding {
    /// The id; generated where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<BindingId>,
    /// Whether delivery fails when this source cannot be listed. Its descriptors stay optional unless they say otherwise.
    pub required: bool,
    /// Bindings with a higher priority are listed first; ties keep the order in which they were attached.
    pub priority: i64,
    /// How long the binding is meant to hold; free text, `task` where left out.
    pub scope: String,
    /// What the source holds, for the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The only refs that the binding may offer; an empty list offers nothing, `None` everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_refs: Option<Vec<SourceRef>>,
    /// Free facts.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl Default for ContextBinding {
    fn default() -> Self {
        Self {
            id: None,
            required: false,
            priority: 0,
            scope: "task".to_owned(),
            description: None,
            allowed_refs: None,
            metadata: Metadata::new(),
        }
    }
}

impl ContextBinding {
    /// A binding with this id.
    #[must_use]
    pub fn named(id: BindingId) -> Self {
        Self { id: Some(id), ..Self::default() }
    }

    /// Makes it required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Says what the source holds.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Restricts what may be offered.
    #[must_use]
    pub fn allowing(mut self, refs: Vec<SourceRef>) -> Self {
        self.allowed_refs = Some(refs);
        self
    }
}
