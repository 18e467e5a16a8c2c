//! How a workspace is opened.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use briefing_core::{Environment, SystemEnvironment};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::policy::WritePolicy;
use crate::steps::Steps;

/// Whether existing files may be changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceMode {
    /// Existing files are never changed. New files go to the execution's fallback, `.briefing/files/<execution-id>/`,
    /// where reads of their paths find them.
    #[default]
    ReadOnly,
    /// Files are made and changed where their paths say.
    ReadWrite,
}

/// Names the execution whose new files a read-only workspace keeps apart: 1 to 100 of the characters
/// `A-Z a-z 0-9 . _ -`, not beginning with a dot.
///
/// ```
/// use briefing_task_workspace::ExecutionId;
/// assert_eq!(ExecutionId::new("run-7")?.as_str(), "run-7");
/// assert_eq!(ExecutionId::new("../x").unwrap_err().code(), "workspace.invalid_id");
/// # Ok::<(), briefing_task_workspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExecutionId(String);

impl ExecutionId {
    /// Takes an id that can name a folder everywhere, unchanged.
    ///
    /// # Errors
    /// [`Error::InvalidId`].
    pub fn new(id: impl Into<String>) -> Result<Self, Error> {
        names_a_file("execution id", id.into()).map(Self)
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ExecutionId {
    type Error = Error;
    fn try_from(id: String) -> Result<Self, Error> {
        Self::new(id)
    }
}

impl From<ExecutionId> for String {
    fn from(id: ExecutionId) -> String {
        id.0
    }
}

/// An id that is safe as a file's name.
pub(crate) fn names_a_file(what: &'static str, id: String) -> Result<String, Error> {
    let accepted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if (1..=100).contains(&id.len()) && id.bytes().all(accepted) && !id.starts_with('.') && !id.ends_with('.')
    {
        return Ok(id);
    }
    Err(Error::InvalidId { what, id })
}

/// How a workspace is opened. The defaults: read-only, a fresh execution id, the default [`WritePolicy`],
/// and writers that wait for one another for a minute.
///
/// ```
/// use briefing_task_workspace::{ExecutionId, WorkspaceMode, WorkspaceOptions, WritePolicy};
/// let options = WorkspaceOptions::read_write()
///     .execution(ExecutionId::new("run-7")?)
///     .policy(WritePolicy::new().allow("src/**").max_file_bytes(1 << 20));
/// assert_eq!(options.mode, WorkspaceMode::ReadWrite);
/// # Ok::<(), briefing_task_workspace::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkspaceOptions {
    /// Whether existing files may be changed.
    pub mode: WorkspaceMode,
    /// The execution; `None` for a fresh id.
    pub execution: Option<ExecutionId>,
    /// What may be written.
    pub policy: WritePolicy,
    /// How long a writer waits for another one at most.
    pub max_wait: Duration,
    /// Where time and ids come from.
    pub environment: Arc<dyn Environment>,
    pub(crate) steps: Steps,
}

impl Default for WorkspaceOptions {
    fn default() -> Self {
        Self {
            mode: WorkspaceMode::ReadOnly,
            execution: None,
            policy: WritePolicy::default(),
            max_wait: Duration::from_secs(60),
            environment: Arc::new(SystemEnvironment),
            steps: Steps::default(),
        }
    }
}

impl WorkspaceOptions {
    /// Existing files are never changed.
    #[must_use]
    pub fn read_only() -> Self {
        Self::default()
    }

    /// Files are made and changed where their paths say.
    #[must_use]
    pub fn read_write() -> Self {
        Self { mode: WorkspaceMode::ReadWrite, ..Self::default() }
    }

    /// Names the execution, so that a later one can find its files again.
    #[must_use]
    pub fn execution(mut self, execution: ExecutionId) -> Self {
        self.execution = Some(execution);
        self
    }

    /// Sets what may be written.
    #[must_use]
    pub fn policy(mut self, policy: WritePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how long a writer waits at most, in this process or another, before it is refused with
    /// [`Error::Busy`]. Reads wait for nobody.
    #[must_use]
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.max_wait = wait;
        self
    }

    /// Sets where time and ids come from, for tests and replays.
    #[must_use]
    pub fn environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = environment;
        self
    }

    /// Calls `hook` before each step of a write; where it fails, the step fails.
    #[cfg(feature = "failpoints")]
    #[must_use]
    pub fn on_step(mut self, hook: crate::steps::StepHook) -> Self {
        self.steps = Steps::hooked(hook);
        self
    }
}
