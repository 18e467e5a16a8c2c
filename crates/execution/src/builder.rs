//! How an execution is started.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use briefing_context_reader::SelectionPolicy;
use briefing_core::{
    BindingId, ContextBinding, ContextBudget, ContextEntry, ContextSource, Environment, RequiredOverflow,
    RunId, SemanticSelector, SystemEnvironment, TokenCounter,
};
use briefing_record_store::{
    EventFilter, RecordFilter, RecordSourceOptions, RecordStore, RecordStoreContextSource,
};
use briefing_task_context::{IndexConfig, TaskContext};
use briefing_task_workspace::{ExecutionId, TaskWorkspace, WorkspacePath, WorkspaceSourceOptions};
use tokio::sync::Mutex;

use crate::agent::open_boundary;
use crate::event::{EXECUTION_SCHEMA, Event, Identity, STARTED, StoredWorkspace};
use crate::execution::{ReaderSettings, Shared, stored_binding};
use crate::journal::Journal;
use crate::state::State;
use crate::{AgentId, Error, TaskExecution};

/// The key of an execution's scope in a record store.
pub(crate) const SCOPE: &str = "execution_id";

/// How long a lease lives without a heartbeat, where nothing else is said: long enough for a heartbeat (a third of it) to be
/// late, short enough for another worker to wait for.
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(30);

/// A source that is bound when the execution starts.
enum Bound {
    Source(Arc<dyn ContextSource>),
    /// The files of the execution's own view of the workspace.
    Workspace(WorkspaceSourceOptions),
    /// The records of the execution's own view of the store.
    Records(RecordSourceOptions),
}

/// Describes an execution and starts it.
pub struct ExecutionBuilder {
    task_id: String,
    execution_id: Option<ExecutionId>,
    agent: Option<AgentId>,
    target: Option<String>,
    home: Option<PathBuf>,
    workspace: Option<TaskWorkspace>,
    records: Option<RecordStore>,
    entries: Vec<ContextEntry>,
    sources: Vec<(Bound, ContextBinding)>,
    budget: ContextBudget,
    required_overflow: RequiredOverflow,
    index: IndexConfig,
    settings: ReaderSettings,
    targets: Vec<String>,
    recovery: bool,
    worker: Option<String>,
    lease_ttl: Duration,
    environment: Arc<dyn Environment>,
}

impl std::fmt::Debug for ExecutionBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecutionBuilder").field("task_id", &self.task_id).finish_non_exhaustive()
    }
}

impl ExecutionBuilder {
    pub(crate) fn new(task_id: String) -> Self {
        Self {
            task_id,
            execution_id: None,
            agent: None,
            target: None,
            home: None,
            workspace: None,
            records: None,
            entries: Vec::new(),
            sources: Vec::new(),
            budget: ContextBudget::default(),
            required_overflow: RequiredOverflow::Fail,
            index: IndexConfig::default(),
            settings: ReaderSettings::default(),
            targets: Vec::new(),
            recovery: false,
            worker: None,
            lease_ttl: LEASE_TTL,
            environment: Arc::new(SystemEnvironment),
        }
    }

    /// Sets what the task is to reach: the query of a read without an intent, and what a verifier judges by.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Names the agent.
    #[must_use]
    pub fn agent(mut self, agent: AgentId) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Sets the folder of the application. Where no workspace is given, the agent gets a boundary of its own under it,
    /// `.briefing/task_workspaces/<agent-id>`, which may be written to since nobody else's files are there.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Sets the workspace. The execution gets a view of its own: in a read-only workspace, new files are kept apart from
    /// those of any other execution.
    #[must_use]
    pub fn workspace(mut self, workspace: TaskWorkspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Sets the record store. The execution gets a view of its own, bounded by the scope `execution_id`.
    #[must_use]
    pub fn records(mut self, records: RecordStore) -> Self {
        self.records = Some(records);
        self
    }

    /// Adds an entry to the context.
    #[must_use]
    pub fn entry(mut self, entry: ContextEntry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Binds a source to the context.
    #[must_use]
    pub fn source(mut self, source: Arc<dyn ContextSource>, binding: ContextBinding) -> Self {
        self.sources.push((Bound::Source(source), binding));
        self
    }

    /// Binds the files of the execution's own view of the workspace to the context.
    #[must_use]
    pub fn workspace_source(mut self, options: WorkspaceSourceOptions, binding: ContextBinding) -> Self {
        self.sources.push((Bound::Workspace(options), binding));
        self
    }

    /// Binds the records of the execution's own view of the record store to the context.
    #[must_use]
    pub fn records_source(mut self, options: RecordSourceOptions, binding: ContextBinding) -> Self {
        self.sources.push((Bound::Records(options), binding));
        self
    }

    /// Sets what each package may cost, for every reader of the execution.
    #[must_use]
    pub fn budget(mut self, budget: ContextBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets what happens to required content that does not fit, for every read of the execution; `fail` unless set. An
    /// intent may ask for the lossy digest by itself.
    #[must_use]
    pub fn required_overflow(mut self, required_overflow: RequiredOverflow) -> Self {
        self.required_overflow = required_overflow;
        self
    }

    /// Sets how the context's index orders candidates. It is not stored: whoever resumes sets it again.
    #[must_use]
    pub fn index(mut self, index: IndexConfig) -> Self {
        self.index = index;
        self
    }

    /// Sets who chooses among optional candidates. It is not stored: whoever resumes sets it again.
    #[must_use]
    pub fn selector(mut self, selector: Arc<dyn SemanticSelector>) -> Self {
        self.settings.selector = Some(selector);
        self
    }

    /// Sets what happens without a selector. It is not stored: whoever resumes sets it again.
    #[must_use]
    pub fn selection_policy(mut self, policy: SelectionPolicy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Sets who counts tokens of an encoding that is not built in. It is not stored: whoever resumes sets it again.
    #[must_use]
    pub fn token_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.settings.counter = Some(counter);
        self
    }

    /// Adds a file of the workspace to which the execution delivers; see
    /// [`declare_targets`](TaskExecution::declare_targets).
    #[must_use]
    pub fn delivers_to(mut self, target: impl Into<String>) -> Self {
        self.targets.push(target.into());
        self
    }

    /// Switches recovery on or off; it is off unless set. With recovery, each acknowledged operation is recorded in the
    /// store, and [`resume`](TaskExecution::resume) goes on after a crash.
    #[must_use]
    pub fn recovery(mut self, recovery: bool) -> Self {
        self.recovery = recovery;
        self
    }

    /// Names the worker that holds the run's lease; a fresh name unless set. A worker that comes back under the name that it
    /// had gets the lease at once, any other waits until it has run out.
    #[must_use]
    pub fn worker(mut self, worker: impl Into<String>) -> Self {
        self.worker = Some(worker.into());
        self
    }

    /// Sets how long the lease lives without a heartbeat; 30 s unless set. A heartbeat is sent each third of it.
    #[must_use]
    pub fn lease_ttl(mut self, ttl: Duration) -> Self {
        self.lease_ttl = ttl;
        self
    }

    /// Sets the execution's id; a fresh one unless set.
    #[must_use]
    pub fn execution_id(mut self, execution_id: ExecutionId) -> Self {
        self.execution_id = Some(execution_id);
        self
    }

    /// Sets where time and ids come from, for tests and replays.
    #[must_use]
    pub fn environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = environment;
        self
    }

    /// Starts the execution.
    ///
    /// # Errors
    /// [`Error::Value`] for a blank task or a budget with a zero in it; [`Error::NoRecords`] for recovery without a store;
    /// [`Error::Exists`] where the execution was started before; [`Error::Records`] where another worker holds its lease;
    /// [`Error::DuplicateId`]; and what keeps workspace and store from being used.
    pub async fn start(self) -> Result<TaskExecution, Error> {
        self.budget.validate()?;
        let environment = self.environment;
        let execution_id =
            self.execution_id.map_or_else(|| ExecutionId::new(environment.new_id("exec")), Ok)?;
        let workspace = match (self.workspace, &self.home, &self.agent) {
            (Some(workspace), _, _) => Some(workspace.for_execution(execution_id.clone())?),
            (None, Some(home), Some(agent)) => {
                Some(open_boundary(home, agent, execution_id.clone(), Arc::clone(&environment)).await?)
            }
            _ => None,
        };
        let records = self.records.map(|store| view_of(&store, &execution_id)).transpose()?;
        let context = TaskContext::builder(&self.task_id)?.environment(Arc::clone(&environment)).build()?;
        context.configure_index(self.index);
        let identity = Identity {
            schema: EXECUTION_SCHEMA.to_owned(),
            execution_id: execution_id.clone(),
            task_id: context.task_id().clone(),
            task_context_id: context.id().clone(),
            agent_id: self.agent,
            target: self.target,
            budget: self.budget,
            required_overflow: self.required_overflow,
            workspace: workspace.as_ref().map(stored_workspace),
        };

        let mut events = vec![Event::Started(Box::new(identity.clone()))];
        for mut entry in self.entries {
            let id = context.put(entry.clone())?;
            entry.id = Some(id);
            events.push(Event::Entry(Box::new(entry)));
        }
        for (bound, binding) in self.sources {
            let source: Arc<dyn ContextSource> = match bound {
                Bound::Source(source) => source,
                Bound::Workspace(options) => {
                    Arc::new(workspace.as_ref().ok_or(Error::NoWorkspace)?.source(options)?)
                }
                Bound::Records(options) => Arc::new(RecordStoreContextSource::new(
                    records.as_ref().ok_or(Error::NoRecords)?,
                    options,
                )?),
            };
            let id: BindingId = context.attach(Arc::clone(&source), binding.clone())?;
            events.push(Event::Source(Box::new(stored_binding(&*source, binding, id))));
        }

        let journal = match (self.recovery, &records) {
            (false, _) => None,
            (true, None) => return Err(Error::NoRecords),
            (true, Some(store)) => {
                if is_stored(store, &execution_id, STARTED).await? {
                    return Err(Error::Exists { execution_id });
                }
                let worker = self.worker.unwrap_or_else(|| fresh_worker(&*environment));
                Some(Journal::claim(store.clone(), execution_id.clone(), worker, self.lease_ttl).await?)
            }
        };
        let places: Vec<u64> = match &journal {
            Some(journal) => match journal.append(&events).await {
                Ok(places) => places,
                Err(error) => {
                    // Whoever tries next need not wait until the lease has run out.
                    let _ = journal.release().await;
                    return Err(error);
                }
            },
            None => (1..).take(events.len()).collect(),
        };
        let mut state = State::begin(identity, places.first().copied().unwrap_or_default());
        for (place, event) in places.into_iter().zip(events).skip(1) {
            state.apply(place, event)?;
        }
        let shared = Arc::new(Shared {
            execution_id,
            context,
            workspace,
            records,
            journal,
            settings: self.settings,
            environment,
            readers: Mutex::default(),
            delivering: Arc::default(),
            state: Mutex::new(state),
        });
        let execution = TaskExecution { shared };
        if !self.targets.is_empty() {
            let targets: Result<Vec<_>, _> = self.targets.into_iter().map(WorkspacePath::new).collect();
            execution.declare_targets(&targets?).await?;
        }
        Ok(execution)
    }
}

/// The view of a store that an execution works on.
pub(crate) fn view_of(store: &RecordStore, execution_id: &ExecutionId) -> Result<RecordStore, Error> {
    Ok(store.view(&RecordFilter::new().scope(SCOPE, execution_id.as_str()))?)
}

/// Whether an event of a type is stored for an execution.
pub(crate) async fn is_stored(
    store: &RecordStore,
    execution_id: &ExecutionId,
    event_type: &str,
) -> Result<bool, Error> {
    let filter =
        EventFilter { event_type: Some(event_type.to_owned()), limit: Some(1), ..EventFilter::default() };
    Ok(!store.events(&RunId::new(execution_id.as_str())?, &filter).await?.is_empty())
}

/// A name that no other worker has.
pub(crate) fn fresh_worker(environment: &dyn Environment) -> String {
    format!("{}-{}", environment.new_id("worker"), std::process::id())
}

/// How a workspace is opened again.
pub(crate) fn stored_workspace(workspace: &TaskWorkspace) -> StoredWorkspace {
    StoredWorkspace {
        root: workspace.root().to_owned(),
        mode: workspace.mode(),
        execution_id: workspace.execution_id().clone(),
        policy: workspace.policy().clone(),
    }
}
