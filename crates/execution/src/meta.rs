//! What an execution tells about itself, for the audit.

use briefing_core::{
    BindingId, ConsumerId, ContextConsumption, Digest, PackageId, PackageUsage, Phase, SourceId, SourceKind,
    TaskContextId, TaskId,
};
use briefing_task_workspace::ExecutionId;
use serde::{Deserialize, Serialize};

use crate::{AgentId, DeliveryMeta, TaskExecution};

/// What an execution has come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ExecutionStatus {
    /// It goes on.
    Active,
    /// It did not deliver, and needs a decision.
    Blocked {
        /// The code of what blocked it.
        code: String,
        /// What blocked it.
        reason: String,
        /// Whether it was finished all the same.
        finished: bool,
    },
    /// Its targets hold what was verified; it is not finished yet.
    Delivered,
    /// It is over.
    Finished {
        /// Whether its targets hold what was verified.
        delivered: bool,
    },
}

/// A reader of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReaderMeta {
    /// Who reads.
    pub consumer_id: ConsumerId,
    /// In which phase.
    pub phase: Phase,
    /// How many packages it has read.
    pub packages: usize,
    /// How many contents it has delivered.
    pub disclosed: usize,
}

/// A source that is bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BindingMeta {
    /// The binding.
    pub binding_id: BindingId,
    /// Its source.
    pub source_id: SourceId,
    /// The kind of its source.
    pub source_kind: SourceKind,
    /// Whether the source said how it is built again.
    pub has_recipe: bool,
}

/// A package that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PackageMeta {
    /// The package.
    pub package_id: PackageId,
    /// The digest of what it holds.
    pub digest: Digest,
    /// Who read it.
    pub consumer_id: ConsumerId,
    /// In which phase.
    pub phase: Phase,
    /// What was asked.
    pub query: String,
    /// How many blocks it holds.
    pub blocks: usize,
    /// How much was left out of it.
    pub omissions: usize,
    /// What it costs.
    pub usage: PackageUsage,
    /// The event that holds it.
    pub sequence: u64,
}

/// What an execution tells about itself. The packages themselves are answered by
/// [`package`](TaskExecution::package).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExecutionMeta {
    /// The execution.
    pub execution_id: ExecutionId,
    /// The task.
    pub task_id: TaskId,
    /// The task's context.
    pub task_context_id: TaskContextId,
    /// The agent.
    pub agent_id: Option<AgentId>,
    /// What the task is to reach.
    pub target: Option<String>,
    /// What it has come to.
    #[serde(flatten)]
    pub status: ExecutionStatus,
    /// The worker that holds the run's lease; `None` without recovery.
    pub worker: Option<String>,
    /// The last event.
    pub sequence: u64,
    /// The ids of the direct entries.
    pub entries: Vec<BindingId>,
    /// The bound sources.
    pub bindings: Vec<BindingMeta>,
    /// The readers.
    pub readers: Vec<ReaderMeta>,
    /// The packages, oldest first.
    pub context_packages: Vec<PackageMeta>,
    /// The consumptions, oldest first.
    pub context_consumptions: Vec<ContextConsumption>,
    /// The delivery, where targets were declared.
    pub delivery: Option<DeliveryMeta>,
}

impl TaskExecution {
    /// What the execution has come to.
    pub async fn status(&self) -> ExecutionStatus {
        self.shared.state.lock().await.status()
    }

    /// What the execution tells about itself.
    pub async fn meta(&self) -> ExecutionMeta {
        let state = self.shared.state.lock().await;
        let identity = &state.identity;
        let readers = state.readers.values().map(|reader| ReaderMeta {
            consumer_id: reader.consumer().id().clone(),
            phase: reader.phase().clone(),
            packages: reader.package_ids().len(),
            disclosed: reader.disclosed_count(),
        });
        let bindings = state.bindings.iter().map(|bound| BindingMeta {
            binding_id: bound.binding_id.clone(),
            source_id: bound.source_id.clone(),
            source_kind: bound.source_kind.clone(),
            has_recipe: bound.configuration.is_some(),
        });
        let packages = state.packages.iter().map(|(place, package)| PackageMeta {
            package_id: place.package_id.clone(),
            digest: place.digest,
            consumer_id: package.consumer_id().clone(),
            phase: package.phase().clone(),
            query: package.query().to_owned(),
            blocks: package.blocks().len(),
            omissions: package.omissions().len(),
            usage: package.usage().clone(),
            sequence: place.sequence,
        });
        ExecutionMeta {
            execution_id: identity.execution_id.clone(),
            task_id: identity.task_id.clone(),
            task_context_id: identity.task_context_id.clone(),
            agent_id: identity.agent_id.clone(),
            target: identity.target.clone(),
            status: state.status(),
            worker: self.shared.journal.as_ref().map(|journal| journal.worker().to_owned()),
            sequence: state.sequence,
            entries: state.entries.iter().filter_map(|entry| entry.id.clone()).collect(),
            bindings: bindings.collect(),
            readers: readers.collect(),
            context_packages: packages.collect(),
            context_consumptions: state.consumptions.clone(),
            delivery: state.delivery.as_ref().map(DeliveryMeta::of),
        }
    }
}
