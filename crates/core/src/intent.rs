//! What a consumer asks for.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::role::words;
use crate::{ContextFilters, Digest, Error, Fingerprint, Metadata, Role, SourceRef};

words! {
    /// Whether optional content is chosen at all.
    OptionalSelection, "optional_selection" {
        /// Choose among the candidates.
        Select = "select",
        /// Deliver required and explicit content only.
        None = "none",
    }
}

words! {
    /// What happens to required content that does not fit.
    RequiredOverflow, "required_overflow" {
        /// It is left out, and delivery fails.
        Fail = "fail",
        /// Its source may answer with a bounded outline that says what it leaves out.
        LossyDigest = "lossy_digest",
    }
}

words! {
    /// Whether optional content comes with its text.
    DeliveryMode, "delivery_mode" {
        /// With its text.
        Content = "content",
        /// As refs; required content still comes with its text.
        RefsOnly = "refs_only",
    }
}

words! {
    /// Whether a hybrid index may fall back to words alone.
    VectorPolicy, "vector_policy" {
        /// It may, and says so.
        Optional = "optional",
        /// It may not; the read fails instead.
        Required = "required",
    }
}

/// What a consumer asks for.
///
/// ```
/// use briefing_core::{ContextReadIntent, Role};
/// let intent = ContextReadIntent::new("  which evidence supports the review?  ")?.with_roles([Role::Information]);
/// assert_eq!(intent.query(), "which evidence supports the review?");
/// assert!(ContextReadIntent::from_json(r#"{"query": "q", "candidate_limt": 3}"#).is_err());
/// # Ok::<(), briefing_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextReadIntent {
    #[serde(deserialize_with = "query")]
    query: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    explicit_refs: Vec<SourceRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roles: Vec<Role>,
    #[serde(default, skip_serializing_if = "ContextFilters::is_empty")]
    filters: ContextFilters,
    #[serde(default = "select")]
    optional_selection: OptionalSelection,
    #[serde(default = "fail")]
    required_overflow: RequiredOverflow,
    #[serde(default = "content")]
    delivery_mode: DeliveryMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_block_chars: Option<NonZeroUsize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    candidate_limit: Option<NonZeroUsize>,
    #[serde(default = "optional")]
    vector_policy: VectorPolicy,
    #[serde(default)]
    exclude_already_in_prompt: bool,
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    facts: Metadata,
}

fn query<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked_query(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

fn checked_query(text: &str) -> Result<String, Error> {
    match text.trim() {
        "" => Err(Error::Blank { field: "query" }),
        text => Ok(text.to_owned()),
    }
}

fn select() -> OptionalSelection {
    OptionalSelection::Select
}

fn fail() -> RequiredOverflow {
    RequiredOverflow::Fail
}

fn content() -> DeliveryMode {
    DeliveryMode::Content
}

fn optional() -> VectorPolicy {
    VectorPolicy::Optional
}

impl ContextReadIntent {
    /// Asks for whatever serves `query`; surrounding white space is dropped.
    ///
    /// # Errors
    /// [`Error::Blank`] for a blank query.
    pub fn new(query: impl AsRef<str>) -> Result<Self, Error> {
        Ok(Self {
            query: checked_query(query.as_ref())?,
            explicit_refs: Vec::new(),
            roles: Vec::new(),
            filters: ContextFilters::default(),
            optional_selection: select(),
            required_overflow: fail(),
            delivery_mode: content(),
            max_block_chars: None,
            candidate_limit: None,
            vector_policy: optional(),
            exclude_already_in_prompt: false,
            facts: Metadata::new(),
        })
    }

    /// Reads the JSON form; unknown fields are refused.
    ///
    /// # Errors
    /// [`Error::Invalid`] saying what is wrong and where.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        serde_json::from_str(text)
            .map_err(|error| Error::invalid("intent", error, "a ContextReadIntent in JSON"))
    }

    /// Names refs that must be delivered if any source offers them.
    #[must_use]
    pub fn with_explicit_refs(mut self, refs: impl IntoIterator<Item = SourceRef>) -> Self {
        self.explicit_refs = refs.into_iter().collect();
        self
    }

    /// Lets only these roles through; none means all.
    #[must_use]
    pub fn with_roles(mut self, roles: impl IntoIterator<Item = Role>) -> Self {
        self.roles = roles.into_iter().collect();
        self
    }

    /// Sets the structural filters.
    #[must_use]
    pub fn with_filters(mut self, filters: ContextFilters) -> Self {
        self.filters = filters;
        self
    }

    /// Sets whether optional content is chosen.
    #[must_use]
    pub fn with_optional_selection(mut self, optional_selection: OptionalSelection) -> Self {
        self.optional_selection = optional_selection;
        self
    }

    /// Sets what happens to required content that does not fit.
    #[must_use]
    pub fn with_required_overflow(mut self, required_overflow: RequiredOverflow) -> Self {
        self.required_overflow = required_overflow;
        self
    }

    /// Sets whether optional content comes with its text.
    #[must_use]
    pub fn with_delivery_mode(mut self, delivery_mode: DeliveryMode) -> Self {
        self.delivery_mode = delivery_mode;
        self
    }

    /// Lowers the chars of one block, and lets optional content be cut there.
    #[must_use]
    pub fn with_max_block_chars(mut self, max_block_chars: NonZeroUsize) -> Self {
        self.max_block_chars = Some(max_block_chars);
        self
    }

    /// Lowers how many optional candidates each binding may offer in one read.
    #[must_use]
    pub fn with_candidate_limit(mut self, candidate_limit: NonZeroUsize) -> Self {
        self.candidate_limit = Some(candidate_limit);
        self
    }

    /// Sets whether a hybrid index may fall back to words alone.
    #[must_use]
    pub fn with_vector_policy(mut self, vector_policy: VectorPolicy) -> Self {
        self.vector_policy = vector_policy;
        self
    }

    /// Leaves out entries whose metadata says `already_in_prompt: true`.
    #[must_use]
    pub fn excluding_already_in_prompt(mut self) -> Self {
        self.exclude_already_in_prompt = true;
        self
    }

    /// Adds facts about the task for the selector.
    #[must_use]
    pub fn with_facts(mut self, facts: Metadata) -> Self {
        self.facts = facts;
        self
    }

    /// The query, without surrounding white space.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Refs asked for by name.
    #[must_use]
    pub fn explicit_refs(&self) -> &[SourceRef] {
        &self.explicit_refs
    }

    /// The roles that are let through; none means all.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Whether content with this role is let through.
    #[must_use]
    pub fn admits_role(&self, role: Role) -> bool {
        self.roles.is_empty() || self.roles.contains(&role)
    }

    /// The structural filters.
    #[must_use]
    pub fn filters(&self) -> &ContextFilters {
        &self.filters
    }

    /// Whether optional content is chosen.
    #[must_use]
    pub fn optional_selection(&self) -> OptionalSelection {
        self.optional_selection
    }

    /// What happens to required content that does not fit.
    #[must_use]
    pub fn required_overflow(&self) -> RequiredOverflow {
        self.required_overflow
    }

    /// Whether optional content comes with its text.
    #[must_use]
    pub fn delivery_mode(&self) -> DeliveryMode {
        self.delivery_mode
    }

    /// The lowered limit on chars of one block.
    #[must_use]
    pub fn max_block_chars(&self) -> Option<usize> {
        self.max_block_chars.map(NonZeroUsize::get)
    }

    /// The lowered limit on optional candidates of one binding.
    #[must_use]
    pub fn candidate_limit(&self) -> Option<usize> {
        self.candidate_limit.map(NonZeroUsize::get)
    }

    /// Whether a hybrid index may fall back to words alone.
    #[must_use]
    pub fn vector_policy(&self) -> VectorPolicy {
        self.vector_policy
    }

    /// Whether entries that the prompt already holds are left out.
    #[must_use]
    pub fn excludes_already_in_prompt(&self) -> bool {
        self.exclude_already_in_prompt
    }

    /// Facts about the task for the selector.
    #[must_use]
    pub fn facts(&self) -> &Metadata {
        &self.facts
    }

    /// Identifies *what* is asked for: query, refs, roles and filters, but not limits or delivery. Two intents with equal
    /// fingerprints continue one another.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        let mut fingerprint = Fingerprint::new("briefing.intent/1");
        fingerprint.text(&self.query).json(&self.explicit_refs).json(&self.roles).json(&self.filters);
        fingerprint.finish()
    }
}
