//! What can go wrong with the execution of a task.

use std::sync::Arc;

use briefing_core::{
    BindingId, ConsumerId, ContextPackage, Digest, PackageId, Phase, PortError, RequestId, SourceError,
    SourceId, SourceKind,
};
use briefing_task_workspace::{ExecutionId, WorkspacePath};

/// Why an execution refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that breaks the rules of its type.
    #[error(transparent)]
    Value(#[from] briefing_core::Error),
    /// A reader refused or failed; a stale reader is refreshed by [`refresh`](crate::TaskExecution::refresh).
    #[error(transparent)]
    Reader(#[from] briefing_context_reader::Error),
    /// The context refused or failed.
    #[error(transparent)]
    Context(#[from] briefing_task_context::Error),
    /// The workspace refused or failed.
    #[error(transparent)]
    Workspace(#[from] briefing_task_workspace::Error),
    /// The record store refused or failed; nothing was recorded.
    #[error(transparent)]
    Records(#[from] briefing_record_store::Error),
    /// Recovery was switched on without a record store to keep the execution in.
    #[error("recovery needs a record store: give one with records(..)")]
    NoRecords,
    /// The operation needs a workspace, and the execution has none.
    #[error("the execution has no workspace: give one with workspace(..), or home(..) and agent(..)")]
    NoWorkspace,
    /// A read without an intent, in an execution without a target.
    #[error("nothing says what to read: give an intent, or the execution a target")]
    NoTarget,
    /// The folder of the agent's own boundary could not be made.
    #[error("{}: the agent's own folder could not be made", path.display())]
    Home {
        /// The folder.
        path: std::path::PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// An execution with this id is stored; it is resumed, not started again.
    #[error("execution {execution_id} was started before; resume it")]
    Exists {
        /// The execution.
        execution_id: ExecutionId,
    },
    /// No execution with this id is stored.
    #[error("execution {execution_id} is not in this view of the store")]
    Unknown {
        /// The execution.
        execution_id: ExecutionId,
    },
    /// Another worker works on the execution by now. Nothing of this handle is recorded any more.
    #[error("execution {execution_id}: the lease is lost: {reason}")]
    LeaseLost {
        /// The execution.
        execution_id: ExecutionId,
        /// What became of it.
        reason: String,
    },
    /// It is not known whether a write was recorded, so this handle may be behind the store. Resume the execution.
    #[error("execution {execution_id}: a write was cut short, so what is recorded is not known; resume it")]
    OutOfStep {
        /// The execution.
        execution_id: ExecutionId,
    },
    /// What is stored of the execution cannot be understood.
    #[error("what is stored of the execution cannot be read at {place}: {problem}")]
    Journal {
        /// The event or snapshot.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A source that was bound cannot be rebuilt: nobody knows its kind, or its builder failed.
    #[error("binding {binding_id}: a source of the kind {source_kind} was not rebuilt: {reason}")]
    SourceNotRebuilt {
        /// The binding.
        binding_id: BindingId,
        /// The kind of its source.
        source_kind: SourceKind,
        /// Why not, and what would help.
        reason: String,
        /// What the builder said.
        #[source]
        source: Option<SourceError>,
    },
    /// A source was rebuilt as another one.
    #[error("binding {binding_id}: the {source_kind} source was {stored}, it was rebuilt as {rebuilt}")]
    OtherSource {
        /// The binding.
        binding_id: BindingId,
        /// The kind of its source.
        source_kind: SourceKind,
        /// The source that was bound.
        stored: SourceId,
        /// The source that was rebuilt.
        rebuilt: SourceId,
    },
    /// An id that an entry or a binding of the execution has already.
    #[error("the id {id} is taken by an entry or a binding of the execution")]
    DuplicateId {
        /// The id.
        id: BindingId,
    },
    /// A consumer that reads here already, with another model or other capabilities.
    #[error("{consumer_id} reads in the phase {phase} with another model or other capabilities already")]
    ConsumerDiffers {
        /// The consumer.
        consumer_id: ConsumerId,
        /// The phase.
        phase: Phase,
    },
    /// A consumer that has read nothing in this phase.
    #[error("{consumer_id} has read nothing in the phase {phase}")]
    UnknownReader {
        /// The consumer.
        consumer_id: ConsumerId,
        /// The phase.
        phase: Phase,
    },
    /// Content that had to be delivered was not. Neither the execution nor the reader remembers the package.
    #[error("the package is not complete")]
    RequiredUndelivered {
        /// The package that was read, for the audit; nobody may work with it.
        package: Arc<ContextPackage>,
        /// What is missing.
        #[source]
        source: Box<briefing_context_reader::Error>,
    },
    /// A package that this execution did not read, or not with this content.
    #[error("package {package_id} was not read by execution {execution_id}")]
    ForeignPackage {
        /// The package.
        package_id: PackageId,
        /// The execution.
        execution_id: ExecutionId,
    },
    /// A request id under which another consumption is recorded.
    #[error("request {request_id} is recorded as a consumption of package {package_id} with other content")]
    RequestConflict {
        /// The request.
        request_id: RequestId,
        /// The package that is recorded.
        package_id: PackageId,
    },
    /// No targets were declared, so there is nothing to stage, verify or promote.
    #[error("the execution delivers to nothing: declare its targets first")]
    NoDelivery,
    /// Targets were declared before.
    #[error("the execution delivers to other targets already")]
    TargetsDeclared,
    /// A file that the execution does not deliver to.
    #[error("{target} is no declared target of the execution")]
    UndeclaredTarget {
        /// The file.
        target: WorkspacePath,
    },
    /// Targets for which nothing is staged.
    #[error("nothing is staged for {}", targets.iter().map(WorkspacePath::as_str).collect::<Vec<_>>().join(", "))]
    NotStaged {
        /// The targets.
        targets: Vec<WorkspacePath>,
    },
    /// The verifier failed. What is staged is still unverified.
    #[error("the verifier failed")]
    Verifier(#[from] PortError),
    /// What is staged was not accepted by a verifier.
    #[error("what is staged was not accepted: {found}")]
    NotAccepted {
        /// What is known instead.
        found: String,
    },
    /// The bytes of a candidate are not those that were verified.
    #[error("{target}: {verified} was verified, the candidate is {found}")]
    NotAsVerified {
        /// The target.
        target: WorkspacePath,
        /// What was verified.
        verified: Digest,
        /// What is staged; `none` where nothing is.
        found: String,
    },
    /// A promotion was begun; it is brought to an end by `promote_delivery`, or by resuming the execution.
    #[error("a promotion is under way")]
    Promoting,
    /// The delivery is done; nothing is delivered twice.
    #[error("the execution has delivered already")]
    AlreadyDelivered,
    /// The execution is blocked: it did not deliver, and does not claim to.
    #[error("the execution is blocked ({code}): {reason}")]
    Blocked {
        /// The code of what blocked it.
        code: String,
        /// What blocked it.
        reason: String,
    },
    /// The execution is finished.
    #[error("the execution is finished")]
    Finished,
    /// A task was stopped by the runtime.
    #[error("the work was cut short")]
    CutShort,
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Value(error) => error.code(),
            Self::Reader(error) => error.code(),
            Self::Context(error) => error.code(),
            Self::Workspace(error) => error.code(),
            Self::Records(error) => error.code(),
            Self::NoRecords => "execution.no_records",
            Self::NoWorkspace => "execution.no_workspace",
            Self::NoTarget => "execution.no_target",
            Self::Home { .. } => "execution.home",
            Self::Exists { .. } => "execution.exists",
            Self::Unknown { .. } => "execution.unknown",
            Self::LeaseLost { .. } => "execution.lease_lost",
            Self::OutOfStep { .. } => "execution.out_of_step",
            Self::Journal { .. } => "execution.journal",
            Self::SourceNotRebuilt { .. } => "execution.source_not_rebuilt",
            Self::OtherSource { .. } => "execution.other_source",
            Self::DuplicateId { .. } => "execution.duplicate_id",
            Self::ConsumerDiffers { .. } => "execution.consumer_differs",
            Self::UnknownReader { .. } => "execution.unknown_reader",
            Self::RequiredUndelivered { source, .. } => source.code(),
            Self::ForeignPackage { .. } => "execution.foreign_package",
            Self::RequestConflict { .. } => "execution.request_conflict",
            Self::NoDelivery => "execution.no_delivery",
            Self::TargetsDeclared => "execution.targets_declared",
            Self::UndeclaredTarget { .. } => "execution.undeclared_target",
            Self::NotStaged { .. } => "execution.not_staged",
            Self::Verifier(error) => error.code(),
            Self::NotAccepted { .. } => "execution.not_accepted",
            Self::NotAsVerified { .. } => "execution.not_as_verified",
            Self::Promoting => "execution.promoting",
            Self::AlreadyDelivered => "execution.already_delivered",
            Self::Blocked { .. } => "execution.blocked",
            Self::Finished => "execution.finished",
            Self::CutShort => "execution.cut_short",
        }
    }

    /// Whether a restored reader must be refreshed before it reads again.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.code() == "context.stale"
    }
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}
