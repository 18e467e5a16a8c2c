//! Agents, and the boundary that each has of its own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use briefing_core::Environment;
use briefing_task_workspace::{ExecutionId, TaskWorkspace, WorkspaceOptions};
use serde::{Deserialize, Serialize};

use crate::Error;

/// Names an agent: 1 to 100 of the characters `A-Z a-z 0-9 . _ -`, not beginning or ending with a dot, since it names the
/// folder of the agent's own boundary.
///
/// ```
/// use briefing_execution::AgentId;
/// assert_eq!(AgentId::new("reviewer")?.as_str(), "reviewer");
/// assert_eq!(AgentId::new("../other").unwrap_err().code(), "value.invalid");
/// # Ok::<(), briefing_execution::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentId(ExecutionId);

impl AgentId {
    /// Takes an id that can name a folder everywhere, unchanged.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub fn new(id: impl Into<String>) -> Result<Self, Error> {
        let id = id.into();
        let expected = "1 to 100 of the characters A-Z a-z 0-9 . _ -, not beginning or ending with a dot";
        match ExecutionId::new(id.clone()) {
            Ok(id) => Ok(Self(id)),
            Err(_) => Err(briefing_core::Error::invalid("agent_id", format!("{id:?}"), expected).into()),
        }
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for AgentId {
    type Error = Error;
    fn try_from(id: String) -> Result<Self, Error> {
        Self::new(id)
    }
}

impl From<AgentId> for String {
    fn from(id: AgentId) -> String {
        id.0.into()
    }
}

/// The folder of an agent's own boundary under its home.
pub(crate) fn boundary_of(home: &Path, agent: &AgentId) -> PathBuf {
    home.join(".briefing").join("task_workspaces").join(agent.as_str())
}

/// Opens an agent's own boundary, made where it is not there. Nobody else's files are in it, so it may be written to.
pub(crate) async fn open_boundary(
    home: &Path,
    agent: &AgentId,
    execution: ExecutionId,
    environment: Arc<dyn Environment>,
) -> Result<TaskWorkspace, Error> {
    let path = boundary_of(home, agent);
    let options = WorkspaceOptions::read_write().execution(execution).environment(environment);
    let open = move || {
        std::fs::create_dir_all(&path).map_err(|source| Error::Home { path: path.clone(), source })?;
        Ok(TaskWorkspace::open_with(&path, options)?)
    };
    tokio::task::spawn_blocking(open).await.map_err(|_| Error::CutShort)?
}
