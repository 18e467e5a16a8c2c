//! The package: an immutable, budgeted, cited, auditable answer to one intent.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    BindingId, BlockId, Completeness, ConsumerId, ContextBlock, ContextBudget, ContextDiagnostic,
    ContextOmission, Digest, Error, Fingerprint, PackageId, Phase, RenderFormat, RequestId, Revision,
    SourceKind, TaskContextId,
};

/// The schema string of a stored package.
pub const PACKAGE_SCHEMA: &str = "briefing.package/1";

/// What one binding's candidates were drawn from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageScope {
    /// The kind of source.
    pub source_kind: SourceKind,
    /// The strategy that really ordered the candidates: `structural`, `lexical` or `hybrid`.
    pub strategy: String,
    /// How many optional candidates earlier reads of this intent had settled.
    pub offset: usize,
}

/// How much of one binding a package covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCoverage {
    /// What the candidates were drawn from.
    pub scope: CoverageScope,
    /// How many candidates were offered to this read.
    pub returned_candidates: usize,
    /// Optional candidates that were not offered because no word of the query occurs in them.
    #[serde(default)]
    pub unmatched_candidates: usize,
    /// Whether every candidate has been delivered or rejected, by this read or an earlier one of the same intent.
    pub exhaustive: bool,
    /// Whether the same intent can be read again for more.
    pub continuation_available: bool,
}

/// Exact tokens of the rendered package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// The encoding that counted.
    pub encoding: String,
    /// The format that was counted.
    pub format: RenderFormat,
    /// Tokens of the package rendered in that format.
    pub tokens: usize,
}

/// What a package costs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PackageUsage {
    /// Content chars of all blocks.
    pub chars: usize,
    /// Tokens, where the budget counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
}

/// Everything that a package is sealed from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackageParts {
    /// The package's id.
    pub package_id: PackageId,
    /// The context it was read from.
    pub task_context_id: TaskContextId,
    /// The context's revision.
    pub context_revision: u64,
    /// Who reads.
    pub consumer_id: ConsumerId,
    /// In which phase.
    pub phase: Phase,
    /// The query that was asked.
    pub query: String,
    /// What it was allowed to cost.
    pub budget: ContextBudget,
    /// What it costs.
    pub usage: PackageUsage,
    /// The revision of each bound source; `None` where the source could not say.
    pub source_revisions: BTreeMap<BindingId, Option<Revision>>,
    /// How much of each binding is covered.
    pub source_coverage: BTreeMap<BindingId, SourceCoverage>,
    /// What is delivered.
    pub blocks: Vec<ContextBlock>,
    /// What is not, and why.
    pub omissions: Vec<ContextOmission>,
    /// How it came to be.
    pub diagnostics: Vec<ContextDiagnostic>,
}

/// An immutable, budgeted, cited, auditable answer to one intent.
///
/// It is made by a `ContextReader`, travels as a value, and round-trips through JSON. Its digest covers everything but
/// its id, so two packages with equal digests show a consumer the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct ContextPackage {
    parts: PackageParts,
    digest: Digest,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    schema: String,
    digest: Digest,
    #[serde(flatten)]
    parts: PackageParts,
}

impl From<ContextPackage> for Wire {
    fn from(package: ContextPackage) -> Self {
        Self { schema: PACKAGE_SCHEMA.to_owned(), digest: package.digest, parts: package.parts }
    }
}

impl TryFrom<Wire> for ContextPackage {
    type Error = Error;

    fn try_from(wire: Wire) -> Result<Self, Error> {
        if wire.schema != PACKAGE_SCHEMA {
            return Err(Error::UnsupportedSchema { found: wire.schema, supported: PACKAGE_SCHEMA });
        }
        let package = Self::seal(wire.parts)?;
        if package.digest != wire.digest {
            return Err(Error::DigestMismatch {
                package_id: package.parts.package_id.to_string(),
                stated: wire.digest.to_string(),
                actual: package.digest.to_string(),
            });
        }
        Ok(package)
    }
}

impl ContextPackage {
    /// Checks the parts and seals them.
    ///
    /// # Errors
    /// [`Error::Invalid`] where block ids repeat, a block's content and completeness contradict one another, the usage is
    /// not what the blocks add up to or exceeds the budget, or a coverage claims to be exhaustive and continuable at once.
    pub fn seal(parts: PackageParts) -> Result<Self, Error> {
        let mut seen = BTreeSet::new();
        for block in &parts.blocks {
            if !seen.insert(&block.block_id) {
                return Err(Error::invalid(
                    "blocks.block_id",
                    &block.block_id,
                    "an id that is not used twice",
                ));
            }
            if block.content.is_none() != (block.completeness == Completeness::RefOnly) {
                return Err(Error::invalid(
                    format!("blocks.{}.completeness", block.block_id),
                    block.completeness,
                    "ref_only exactly where there is no content",
                ));
            }
        }
        let chars: usize = parts.blocks.iter().map(|block| block.content_chars).sum();
        if parts.usage.chars != chars || chars > parts.budget.max_chars() {
            return Err(Error::invalid(
                "usage.chars",
                parts.usage.chars,
                format!("{chars} as the blocks add up to, at most {}", parts.budget.max_chars()),
            ));
        }
        if let (Some(used), Some(limit)) = (&parts.usage.tokens, parts.budget.token_budget())
            && used.tokens > limit.max_tokens()
        {
            return Err(Error::invalid(
                "usage.tokens",
                used.tokens,
                format!("at most {}", limit.max_tokens()),
            ));
        }
        for (binding_id, coverage) in &parts.source_coverage {
            if coverage.exhaustive && coverage.continuation_available {
                return Err(Error::invalid(
                    format!("source_coverage.{binding_id}"),
                    "exhaustive and continuation_available",
                    "at most one of them",
                ));
            }
        }
        let digest = digest_of(&parts);
        Ok(Self { parts, digest })
    }

    /// Reads a stored package and verifies its schema and digest.
    ///
    /// # Errors
    /// [`Error::UnsupportedSchema`], [`Error::DigestMismatch`], or [`Error::Invalid`] for anything else.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let malformed =
            |error: serde_json::Error| Error::invalid("package", error, "a briefing.package/1 document");
        serde_json::from_str::<Wire>(text).map_err(malformed)?.try_into()
    }

    /// The stored form.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        // A package holds only texts, numbers and string-keyed maps, which always have a JSON form.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The package's id.
    #[must_use]
    pub fn package_id(&self) -> &PackageId {
        &self.parts.package_id
    }

    /// The digest of everything but the id.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The context it was read from.
    #[must_use]
    pub fn task_context_id(&self) -> &TaskContextId {
        &self.parts.task_context_id
    }

    /// The context's revision.
    #[must_use]
    pub fn context_revision(&self) -> u64 {
        self.parts.context_revision
    }

    /// Who reads.
    #[must_use]
    pub fn consumer_id(&self) -> &ConsumerId {
        &self.parts.consumer_id
    }

    /// In which phase.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.parts.phase
    }

    /// The query that was asked.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.parts.query
    }

    /// What it was allowed to cost.
    #[must_use]
    pub fn budget(&self) -> &ContextBudget {
        &self.parts.budget
    }

    /// What it costs.
    #[must_use]
    pub fn usage(&self) -> &PackageUsage {
        &self.parts.usage
    }

    /// The revision of each bound source.
    #[must_use]
    pub fn source_revisions(&self) -> &BTreeMap<BindingId, Option<Revision>> {
        &self.parts.source_revisions
    }

    /// How much of each binding is covered.
    #[must_use]
    pub fn source_coverage(&self) -> &BTreeMap<BindingId, SourceCoverage> {
        &self.parts.source_coverage
    }

    /// What is delivered.
    #[must_use]
    pub fn blocks(&self) -> &[ContextBlock] {
        &self.parts.blocks
    }

    /// What is not, and why.
    #[must_use]
    pub fn omissions(&self) -> &[ContextOmission] {
        &self.parts.omissions
    }

    /// How it came to be.
    #[must_use]
    pub fn diagnostics(&self) -> &[ContextDiagnostic] {
        &self.parts.diagnostics
    }
}

/// The digest of everything that the parts hold but the ids that are made up for each package.
fn digest_of(parts: &PackageParts) -> Digest {
    let mut fingerprint = Fingerprint::new(PACKAGE_SCHEMA);
    fingerprint
        .json(&parts.task_context_id)
        .number(parts.context_revision)
        .json(&parts.consumer_id)
        .json(&parts.phase)
        .text(&parts.query)
        .json(&parts.budget)
        .json(&parts.usage)
        .json(&parts.source_revisions)
        .json(&parts.source_coverage)
        .json(&parts.blocks)
        .json(&parts.omissions)
        .json(&parts.diagnostics);
    fingerprint.finish()
}

/// Says which blocks of which package a successful request used. It is recorded only after the response came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextConsumption {
    package_id: PackageId,
    request_id: RequestId,
    consumer_id: ConsumerId,
    phase: Phase,
    block_ids: Vec<BlockId>,
}

impl ContextConsumption {
    /// The request used every block of the package.
    #[must_use]
    pub fn of(package: &ContextPackage, request_id: RequestId) -> Self {
        Self {
            package_id: package.package_id().clone(),
            request_id,
            consumer_id: package.consumer_id().clone(),
            phase: package.phase().clone(),
            block_ids: package.blocks().iter().map(|block| block.block_id.clone()).collect(),
        }
    }

    /// The request used only these blocks.
    ///
    /// # Errors
    /// [`Error::Invalid`] where an id repeats or the package does not hold it.
    pub fn of_blocks(
        package: &ContextPackage,
        request_id: RequestId,
        block_ids: Vec<BlockId>,
    ) -> Result<Self, Error> {
        let mut seen = BTreeSet::new();
        for id in &block_ids {
            if !package.blocks().iter().any(|block| block.block_id == *id) || !seen.insert(id.clone()) {
                return Err(Error::invalid("block_ids", id, "ids of the package's blocks, each once"));
            }
        }
        Ok(Self { block_ids, ..Self::of(package, request_id) })
    }

    /// The package.
    #[must_use]
    pub fn package_id(&self) -> &PackageId {
        &self.package_id
    }

    /// The request.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// Who consumed.
    #[must_use]
    pub fn consumer_id(&self) -> &ConsumerId {
        &self.consumer_id
    }

    /// In which phase.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The blocks.
    #[must_use]
    pub fn block_ids(&self) -> &[BlockId] {
        &self.block_ids
    }
}
