//! Briefing decides what an agent sees.
//!
//! An application attaches its sources to a [`TaskContext`](prelude::TaskContext), opens a
//! [`ContextReader`](prelude::ContextReader) for one consumer, and gets back an immutable, budgeted, cited
//! [`ContextPackage`](prelude::ContextPackage).
//!
//! ```
//! use std::sync::Arc;
//! use briefing::prelude::*;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("pump.md"), "# Pump\nThe cooling pump is checked every week.\n")?;
//! # let root = folder.path();
//! let context = TaskContext::new("maintenance")?;
//! context.put(ContextEntry::new(Role::Instruction, "Answer in one sentence.").required())?;
//! let workspace = TaskWorkspace::open(root)?;
//! context.attach(Arc::new(workspace.source(WorkspaceSourceOptions::new())?), ContextBinding::default())?;
//!
//! let mut reader = context
//!     .reader(ContextConsumer::new("assistant")?)
//!     .budget(ContextBudget::tokens(500))
//!     .open()
//!     .await?;
//! let package = reader.read(&ContextReadIntent::new("how often is the pump checked?")?).await?;
//! reader.ensure_required_delivery(&package)?;
//! assert!(package.usage().tokens.as_ref().unwrap().tokens <= 500);
//! assert!(render(&package, RenderFormat::Markdown).contains("checked every week"));
//! # Ok(()) }
//! ```
//!
//! This crate holds no logic: it re-exports the crates that do.

pub use briefing_context_reader as context_reader;
pub use briefing_core as core;
pub use briefing_execution as execution;
pub use briefing_formats as formats;
#[cfg(feature = "openai")]
pub use briefing_model_http as model_http;
pub use briefing_record_store as record_store;
pub use briefing_skill_library as skill_library;
pub use briefing_task_context as task_context;
pub use briefing_task_workspace as task_workspace;
pub use briefing_tokens as tokens;

/// What most applications need.
pub mod prelude {
    pub use briefing_context_reader::{
        ContextReader, ContextReading, ModelSelector, ReaderState, SelectionPolicy, render, rendered_tokens,
    };
    pub use briefing_core::{
        Completeness, Content, ContextBinding, ContextBudget, ContextConsumer, ContextConsumption,
        ContextEntry, ContextFilters, ContextPackage, ContextReadIntent, ContextSource, OmissionReason,
        Phase, RenderFormat, Role, SemanticSelector, SourceRef, TokenCounter,
    };
    pub use briefing_execution::{
        AgentId, DeliveryVerifier, ExecutionStatus, FlowDurability, ModelVerifier, ProposedDelivery,
        SourceRegistry, TaskExecution, Verdict, context_read,
    };
    pub use briefing_record_store::{
        NewMemory, NewRecord, Recall, RecordFilter, RecordSourceOptions, RecordStore,
        RecordStoreContextSource, SearchRequest, SessionMemory, SessionMemoryContextSource, StoreMode,
    };
    pub use briefing_skill_library::{
        InstallOptions, SkillBinding, SkillLibrary, SkillRevisionRef, SkillSourceOptions,
    };
    pub use briefing_task_context::{IndexConfig, IndexStrategy, TaskContext};
    pub use briefing_task_workspace::{
        Candidate, Edit, ExecutionId, GrepRequest, TargetState, TaskWorkspace, WorkspaceMode,
        WorkspaceOptions, WorkspacePath, WorkspaceSourceOptions, WritePolicy,
    };
    pub use briefing_tokens::{Encoding, Tokenizer};
}
