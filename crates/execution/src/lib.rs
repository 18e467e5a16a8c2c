//! `TaskExecution`: what an agent application imports to run one task durably.
//!
//! An execution owns the task's context and its own views of the agent's workspace and record store. Each planner, worker,
//! card or verifier reads through a reader of its own, which the execution keeps; what a request consumed is recorded after
//! its response came; and what the task delivers is staged, verified and promoted by digest, or the execution is blocked.
//! With recovery, every acknowledged operation is an event in the record store, and a killed execution goes on from there.
//!
//! It plans nothing, calls no model by itself and judges nothing: that is for the application and its ports.
//!
//! ```
//! use async_trait::async_trait;
//! use briefing_core::{ContextBinding, PortError};
//! use briefing_execution::{DeliveryVerifier, ProposedDelivery, SourceRegistry, TaskExecution, Verdict};
//! use briefing_record_store::RecordStore;
//! use briefing_task_workspace::{ExecutionId, TaskWorkspace, WorkspaceOptions, WorkspacePath};
//! use briefing_task_workspace::WorkspaceSourceOptions;
//!
//! struct Mentions(&'static str);
//! #[async_trait]
//! impl DeliveryVerifier for Mentions {
//!     async fn verify(&self, delivery: &ProposedDelivery) -> Result<Verdict, PortError> {
//!         let mentions = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(self.0);
//!         match delivery.files.iter().all(|file| mentions(&file.bytes)) {
//!             true => Ok(Verdict::Accepted),
//!             false => Ok(Verdict::Rejected { reasons: vec![format!("{} is missing", self.0)] }),
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("pump.md"), "The cooling pump is checked every week.\n")?;
//! # let root = folder.path();
//! let store = RecordStore::in_memory();
//! let id = ExecutionId::new("report-7")?;
//! let execution = TaskExecution::builder("maintenance")
//!     .target("a report that says how often the pump is checked")
//!     .workspace(TaskWorkspace::open_with(root, WorkspaceOptions::read_write())?)
//!     .workspace_source(WorkspaceSourceOptions::new(), ContextBinding::default())
//!     .records(store.clone())
//!     .recovery(true)
//!     .worker("worker-1")
//!     .execution_id(id.clone())
//!     .delivers_to("report.md")
//!     .start()
//!     .await?;
//! let package = execution.read_task_context("writer", "execution", "how often is the pump checked?").await?;
//! execution.record_consumption(&package, "request-1", None).await?;
//! drop(execution); // the process dies here
//!
//! let execution = TaskExecution::resuming(&store, &id).worker("worker-1").open().await?;
//! let report = WorkspacePath::new("report.md")?;
//! execution.stage_delivery(&report, "The pump is checked every week.\n").await?;
//! assert_eq!(execution.verify_with(&Mentions("every week")).await?, Verdict::Accepted);
//! execution.promote_delivery().await?;
//! let meta = execution.finish().await?;
//! assert_eq!((meta.context_packages.len(), meta.context_consumptions.len()), (1, 1));
//! # let _ = SourceRegistry::new();
//! # Ok(()) }
//! ```

mod agent;
mod builder;
mod consumption;
mod delivery;
mod error;
mod event;
mod execution;
mod flow;
mod journal;
mod meta;
mod read_block;
mod reading;
mod registry;
mod resume;
mod state;
mod verifier;
mod view;

pub use agent::AgentId;
pub use builder::ExecutionBuilder;
pub use delivery::{DeliveryMeta, DeliveryStage};
pub use error::Error;
pub use event::{EXECUTION_SCHEMA, StoredBinding};
pub use execution::TaskExecution;
pub use flow::FlowDurability;
pub use meta::{BindingMeta, ExecutionMeta, ExecutionStatus, PackageMeta, ReaderMeta};
pub use read_block::context_read;
pub use reading::TaskIntent;
pub use registry::{SourceBuilder, SourceRegistry};
pub use resume::ResumeBuilder;
pub use verifier::{DeliveryVerifier, ModelVerifier, ProposedDelivery, ProposedFile, Verdict};
pub use view::{MODEL_VIEW_SCHEMA, ModelView, OmissionCount, model_view};
