//! The vocabulary of Briefing: values, ports and errors that more than one crate speaks.
//!
//! This crate owns the *words*: ids and digests, roles and budgets, descriptors and reads, blocks, omissions and
//! packages, and the traits ("ports") through which sources, selectors and tokenizers are plugged in. It never does
//! I/O, never looks at a clock and needs no async runtime; everything here is plain data or a trait.
//!
//! Lengths: *chars* are Unicode scalar values, *bytes* are UTF-8 bytes, *tokens* are exact counts of a named encoding.
//!
//! ```
//! use briefing_core::{ContextBudget, ContextReadIntent};
//!
//! let budget = ContextBudget::chars(6_000).blocks(12);
//! assert!(budget.validate().is_ok());
//!
//! let intent = ContextReadIntent::new("how is a token budget enforced")?;
//! assert_eq!(intent.query(), "how is a token budget enforced");
//! assert_eq!(ContextReadIntent::new("   ").unwrap_err().code(), "value.blank");
//! # Ok::<(), briefing_core::Error>(())
//! ```

mod block;
mod budget;
mod change;
#[cfg(feature = "conformance")]
pub mod conformance;
mod consumer;
mod content;
mod descriptor;
mod digest;
mod entry;
mod environment;
mod error;
mod filter;
mod id;
mod intent;
pub mod media;
mod memory;
mod package;
mod ports;
mod role;
mod select;
mod source;

pub use block::{ContextBlock, ContextDiagnostic, ContextOmission, LineRange, OmissionReason, Severity};
pub use budget::{ContextBudget, RenderFormat, TokenBudget};
pub use change::{ChangeFeed, SourceChange, SourceChangeSet};
pub use consumer::ContextConsumer;
pub use content::Content;
pub use descriptor::{Cursor, DescriptorPage, SourceDescriptor};
pub use digest::{Digest, Digester, Fingerprint};
pub use entry::{ContextBinding, ContextEntry};
pub use environment::{Environment, SeededEnvironment, SystemEnvironment};
pub use error::{Error, PortError, SourceError, SourceErrorKind};
pub use filter::{ContextFilters, MetadataFilter, OneOrMany};
pub use id::{
    BindingId, BlockId, ConsumerId, DescriptorKey, PackageId, Phase, ProjectionProfile, RecordId, RequestId,
    Revision, RunId, SourceId, SourceKind, SourceRef, TaskContextId, TaskId,
};
pub use intent::{ContextReadIntent, DeliveryMode, OptionalSelection, RequiredOverflow, VectorPolicy};
pub use memory::{MemoryDocument, MemorySource};
pub use package::{
    ContextConsumption, ContextPackage, CoverageScope, PACKAGE_SCHEMA, PackageParts, PackageUsage,
    SourceCoverage, TokenUsage,
};
pub use ports::{EmbeddingProvider, Embeddings, ModelPrompt, ModelRequest, Summarizer, TokenCounter};
pub use role::{Completeness, Representation, Role};
pub use select::{SelectionBudget, SelectionCard, SelectionGuidance, SelectionRequest, SemanticSelector};
pub use source::{ContextSource, ReadRequest, ScopedRead, SourceRead, SourceRecipe};

/// Free facts attached to an entry, descriptor, read or block: a JSON object.
pub type Metadata = serde_json::Map<String, serde_json::Value>;
