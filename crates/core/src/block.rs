//! What a package is made of: blocks, omissions and diagnostics.

use serde::{Deserialize, Serialize};

use crate::role::words;
use crate::{
    BindingId, BlockId, Completeness, Content, Digest, Metadata, Representation, Revision, Role, SourceId,
    SourceKind, SourceRef,
};

/// A range of lines, counted from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRange {
    /// The first line.
    pub start: usize,
    /// The last line.
    pub end: usize,
}

impl LineRange {
    /// Reads the `lines` fact (`{"start": 10, "end": 42}`) of some metadata.
    #[must_use]
    pub fn from_metadata(metadata: &Metadata) -> Option<Self> {
        serde_json::from_value(metadata.get("lines")?.clone()).ok()
    }
}

/// A piece of delivered context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextBlock {
    /// Unique within the package.
    pub block_id: BlockId,
    /// The entry or binding that it came through.
    pub binding_id: BindingId,
    /// The source, or `None` for a direct entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<SourceId>,
    /// The kind of source; `task_context` for a direct entry.
    pub source_kind: SourceKind,
    /// The source's revision, or `None` for a direct entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_revision: Option<Revision>,
    /// What was read.
    pub source_ref: SourceRef,
    /// What it is for.
    pub role: Role,
    /// A short name.
    #[serde(default)]
    pub title: String,
    /// How much of the content it carries.
    pub completeness: Completeness,
    /// The content; `None` where only the ref is delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// The form, where it is not the source's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub representation: Option<Representation>,
    /// What it costs of the char budget.
    pub content_chars: usize,
    /// The digest of the delivered content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_digest: Option<Digest>,
    /// Whether it was required.
    pub required: bool,
    /// Where the rest of a truncated content begins, in chars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_range_start: Option<usize>,
    /// Other refs that the content rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<SourceRef>,
    /// Facts about it.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl ContextBlock {
    /// A block that delivers the ref alone; set the rest on the value.
    #[must_use]
    pub fn reference(
        block_id: BlockId,
        binding_id: BindingId,
        source_kind: SourceKind,
        source_ref: SourceRef,
        role: Role,
    ) -> Self {
        Self {
            block_id,
            binding_id,
            source_id: None,
            source_kind,
            source_revision: None,
            title: source_ref.as_str().to_owned(),
            source_ref,
            role,
            completeness: Completeness::RefOnly,
            content: None,
            representation: None,
            content_chars: 0,
            content_digest: None,
            required: false,
            next_range_start: None,
            refs: Vec::new(),
            metadata: Metadata::new(),
        }
    }

    /// The lines of the file that the content is, where the source said so.
    #[must_use]
    pub fn lines(&self) -> Option<LineRange> {
        LineRange::from_metadata(&self.metadata)
    }
}

words! {
    /// Why something was left out.
    #[non_exhaustive]
    OmissionReason, "reason" {
        /// This reader delivered the same content before.
        AlreadyDisclosed = "already_disclosed",
        /// The caller asked to leave out what its prompt already holds.
        AlreadyInPrompt = "already_in_prompt",
        /// The package carries the whole that this is a part of.
        CoveredByCompleteParent = "covered_by_complete_parent",
        /// The intent asked for no optional content.
        ExplicitlySkipped = "explicitly_skipped",
        /// Nothing of the budget was left when optional content came up.
        SelectionBudgetExhausted = "selection_budget_exhausted",
        /// The selector answered with keys that were not offered, or repeated one.
        SelectionInvalid = "selection_invalid",
        /// The selector failed.
        SelectionFailed = "selection_failed",
        /// The selector did not choose it.
        NotSelected = "not_selected",
        /// Several candidates, no selector, and a policy that insists on one.
        SemanticSelectorUnavailable = "semantic_selector_unavailable",
        /// It does not fit the chars that were left.
        CharacterBudgetExhausted = "character_budget_exhausted",
        /// The package already holds as many blocks as it may.
        BlockBudgetExhausted = "block_budget_exhausted",
        /// It does not fit the tokens that were left.
        TokenBudgetExhausted = "token_budget_exhausted",
        /// Required, but it could not be delivered whole.
        RequiredContentIncompatible = "required_content_incompatible",
        /// Required, but hidden by a filter of this intent.
        RequiredFiltered = "required_filtered",
        /// The source failed to read it.
        SourceReadFailed = "source_read_failed",
        /// Asked for by name, but no source offers it.
        ExplicitRefUnknown = "explicit_ref_unknown",
        /// Asked for by name, but hidden by a filter of this intent.
        ExplicitRefFiltered = "explicit_ref_filtered",
    }
}

/// Something that was left out, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextOmission {
    /// The entry or binding that offered it; `None` where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding_id: Option<BindingId>,
    /// What was left out.
    pub source_ref: SourceRef,
    /// Why.
    pub reason: OmissionReason,
    /// Whether delivery had to carry it: required content, and what was asked for by name but does not exist.
    pub required: bool,
}

words! {
    /// How much a diagnostic matters.
    Severity, "severity" {
        /// A fact for the audit.
        Info = "info",
        /// Something is worse than it could be.
        Warning = "warning",
        /// Something that was asked for failed.
        Error = "error",
    }
}

/// A fact about how a package came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextDiagnostic {
    /// A stable machine-readable code, for instance `context.source_read_failed`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// The facts.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub details: Metadata,
}

impl ContextDiagnostic {
    /// A diagnostic without details.
    #[must_use]
    pub fn new(code: impl Into<String>, severity: Severity) -> Self {
        Self { code: code.into(), severity, details: Metadata::new() }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}
