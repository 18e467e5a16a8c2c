//! The events of which an execution is made. What an execution is, is what its events say; docs/recovery.md tells their form.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use briefing_context_reader::ReaderStateChange;
use briefing_core::{
    BindingId, ContextBinding, ContextBudget, ContextConsumption, ContextEntry, ContextPackage, Digest,
    RequiredOverflow, SourceId, SourceKind, TaskContextId, TaskId,
};
use briefing_record_store::{NewEvent, StoredRuntimeEvent};
use briefing_task_workspace::{
    Candidate, CandidateId, ExecutionId, WorkspaceMode, WorkspacePath, WritePolicy,
};
use serde::{Deserialize, Serialize};

use crate::{AgentId, Error, Verdict};

/// The schema string of a stored execution.
pub const EXECUTION_SCHEMA: &str = "briefing.execution/1";

/// What all events of an execution begin with; other events of its run are not its own and are passed over.
pub(crate) const PREFIX: &str = "execution.";

/// The type of the event that holds a package.
pub(crate) const PACKAGE: &str = "execution.package";

/// The type of the first event.
pub(crate) const STARTED: &str = "execution.started";

/// The type of the last event.
pub(crate) const FINISHED: &str = "execution.finished";

/// What an execution is from its start to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Identity {
    pub(crate) schema: String,
    pub(crate) execution_id: ExecutionId,
    pub(crate) task_id: TaskId,
    pub(crate) task_context_id: TaskContextId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    pub(crate) budget: ContextBudget,
    pub(crate) required_overflow: RequiredOverflow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<StoredWorkspace>,
}

/// How the execution's workspace is opened again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredWorkspace {
    pub(crate) root: PathBuf,
    pub(crate) mode: WorkspaceMode,
    pub(crate) execution_id: ExecutionId,
    pub(crate) policy: WritePolicy,
}

/// A source that is bound, and how it is built again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StoredBinding {
    /// How it is bound; the id is set.
    pub binding: ContextBinding,
    /// The id of the binding.
    pub binding_id: BindingId,
    /// The source.
    pub source_id: SourceId,
    /// Its kind, by which its builder is found.
    pub source_kind: SourceKind,
    /// What the source's [`SourceRecipe`](briefing_core::SourceRecipe) said; `None` where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<serde_json::Value>,
}

/// A candidate that is about to be staged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Staging {
    pub(crate) candidate_id: CandidateId,
    pub(crate) target: WorkspacePath,
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
}

/// Something that happened to the execution. Each acknowledged operation is one transaction of these.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "type", content = "payload")]
pub(crate) enum Event {
    #[serde(rename = "execution.started")]
    Started(Box<Identity>),
    #[serde(rename = "execution.entry")]
    Entry(Box<ContextEntry>),
    #[serde(rename = "execution.source")]
    Source(Box<StoredBinding>),
    #[serde(rename = "execution.removed")]
    Removed { binding_id: BindingId },
    #[serde(rename = "execution.package")]
    Package { package: Arc<ContextPackage>, reader: Box<ReaderStateChange> },
    #[serde(rename = "execution.refreshed")]
    Refreshed { reader: Box<ReaderStateChange> },
    #[serde(rename = "execution.consumption")]
    Consumption(ContextConsumption),
    #[serde(rename = "execution.targets")]
    Targets { delivery_id: String, targets: Vec<WorkspacePath> },
    #[serde(rename = "execution.staging")]
    Staging(Staging),
    #[serde(rename = "execution.staged")]
    Staged { candidate: Candidate },
    #[serde(rename = "execution.unstaged")]
    Unstaged { candidate_id: CandidateId, target: WorkspacePath },
    #[serde(rename = "execution.verified")]
    Verified { verdict: Verdict, files: BTreeMap<WorkspacePath, Digest> },
    #[serde(rename = "execution.promoting")]
    Promoting { candidates: Vec<Candidate> },
    #[serde(rename = "execution.delivered")]
    Delivered { files: BTreeMap<WorkspacePath, Digest> },
    #[serde(rename = "execution.blocked")]
    Blocked { code: String, reason: String },
    #[serde(rename = "execution.finished")]
    Finished {},
}

impl Event {
    /// The event as the store takes it. What can only happen once is stored under a key.
    pub(crate) fn to_stored(&self) -> Result<NewEvent, Error> {
        let malformed = |problem: String| Error::Journal { place: "a new event".to_owned(), problem };
        let mut value = serde_json::to_value(self).map_err(|error| malformed(error.to_string()))?;
        let event_type = value.get("type").and_then(|name| name.as_str()).map(str::to_owned);
        let event_type = event_type.ok_or_else(|| malformed("it has no type".to_owned()))?;
        let payload = value.get_mut("payload").map(serde_json::Value::take).unwrap_or_default();
        let event = NewEvent::new(event_type, payload);
        Ok(match self {
            Self::Started(_) => event.idempotent("started"),
            Self::Package { package, .. } => event.idempotent(format!("package:{}", package.package_id())),
            Self::Consumption(consumption) => {
                event.idempotent(format!("consumption:{}", consumption.request_id()))
            }
            _ => event,
        })
    }

    /// The event again; `None` for one that is not the execution's own.
    pub(crate) fn from_stored(stored: StoredRuntimeEvent) -> Result<Option<Self>, Error> {
        if !stored.event_type.starts_with(PREFIX) {
            return Ok(None);
        }
        let place = format!("event {} ({})", stored.sequence, stored.event_type);
        if stored.event_type == STARTED {
            check_schema(stored.payload.get("schema"))?;
        }
        // Put together by hand: the macro would copy the payload, and packages are long.
        let mut value = serde_json::Map::new();
        value.insert("type".to_owned(), stored.event_type.into());
        value.insert("payload".to_owned(), stored.payload);
        let event = serde_json::from_value(value.into())
            .map_err(|error| Error::Journal { place, problem: error.to_string() })?;
        Ok(Some(event))
    }
}

/// Refuses what another major version stored.
pub(crate) fn check_schema(schema: Option<&serde_json::Value>) -> Result<(), Error> {
    match schema.and_then(|schema| schema.as_str()) {
        Some(EXECUTION_SCHEMA) => Ok(()),
        found => {
            let found = found.unwrap_or_default().to_owned();
            Err(briefing_core::Error::UnsupportedSchema { found, supported: EXECUTION_SCHEMA }.into())
        }
    }
}
