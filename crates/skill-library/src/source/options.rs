//! Which revisions a source offers, and how.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::SkillRevisionRef;

/// One revision that a source offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SkillBinding {
    /// The exact revision.
    pub revision_ref: SkillRevisionRef,
    /// Whether every package must carry its instructions.
    pub required: bool,
    /// Paths of its files that every package must carry as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_resources: Vec<String>,
}

impl SkillBinding {
    /// Offers a revision: its instructions are delivered where they fit the question.
    #[must_use]
    pub fn optional(revision_ref: SkillRevisionRef) -> Self {
        Self { revision_ref, required: false, required_resources: Vec::new() }
    }

    /// Requires a revision: its instructions are in every package, or the package says that they are missing.
    #[must_use]
    pub fn required(revision_ref: SkillRevisionRef) -> Self {
        Self { revision_ref, required: true, required_resources: Vec::new() }
    }

    /// Requires one of its files too.
    #[must_use]
    pub fn require_resource(mut self, path: impl Into<String>) -> Self {
        self.required_resources.push(path.into());
        self
    }
}

/// What a source over a library offers. The defaults: source id `skills`, no revision, texts up to 4 MiB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SkillSourceOptions {
    /// The source's name. It says nothing of a task or an execution, so that all of them share one listing.
    pub source_id: String,
    /// The revisions, in the order in which they are listed.
    pub bindings: Vec<SkillBinding>,
    /// Resources with more bytes are offered by reference, with their size.
    pub max_text_bytes: u64,
}

impl Default for SkillSourceOptions {
    fn default() -> Self {
        Self { source_id: "skills".to_owned(), bindings: Vec::new(), max_text_bytes: 4 << 20 }
    }
}

impl SkillSourceOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source's name.
    #[must_use]
    pub fn source_id(mut self, source_id: impl Into<String>) -> Self {
        self.source_id = source_id.into();
        self
    }

    /// Offers a revision.
    #[must_use]
    pub fn bind(mut self, binding: SkillBinding) -> Self {
        self.bindings.push(binding);
        self
    }

    /// Sets the size, in bytes, beyond which a resource is offered by reference.
    #[must_use]
    pub fn max_text_bytes(mut self, max_text_bytes: u64) -> Self {
        self.max_text_bytes = max_text_bytes;
        self
    }
}

/// How a source is built again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipe {
    pub(super) root: PathBuf,
    #[serde(default)]
    pub(super) options: SkillSourceOptions,
}
