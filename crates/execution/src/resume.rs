//! Resuming: what the events say is built again, and a delivery that was cut short is brought to where they say it is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use briefing_context_reader::{ContextReading, SelectionPolicy};
use briefing_core::{Environment, RunId, SemanticSelector, SystemEnvironment, TokenCounter};
use briefing_record_store::{EventFilter, RecordStore};
use briefing_task_context::{IndexConfig, TaskContext};
use briefing_task_workspace::{ExecutionId, TaskWorkspace, WorkspaceOptions};
use tokio::sync::Mutex;

use crate::builder::{LEASE_TTL, fresh_worker, is_stored, view_of};
use crate::event::{Event, FINISHED, PACKAGE, STARTED, StoredWorkspace, check_schema};
use crate::execution::{ReaderSettings, Shared};
use crate::journal::Journal;
use crate::reading::Slot;
use crate::registry::Rebuild;
use crate::state::{ReaderKey, State};
use crate::{Error, SourceRegistry, TaskExecution};

/// Describes how an execution is resumed.
#[derive(Debug)]
pub struct ResumeBuilder {
    store: RecordStore,
    execution_id: ExecutionId,
    registry: SourceRegistry,
    workspace: Option<TaskWorkspace>,
    index: IndexConfig,
    settings: ReaderSettings,
    worker: Option<String>,
    lease_ttl: Duration,
    environment: Arc<dyn Environment>,
}

impl TaskExecution {
    /// Goes on with an execution that was started with recovery: from its last acknowledged operation, whenever and however
    /// its process ended. See [`resuming`](Self::resuming) for what else can be set.
    ///
    /// # Errors
    /// As [`ResumeBuilder::open`].
    pub async fn resume(
        store: &RecordStore,
        execution_id: &ExecutionId,
        registry: &SourceRegistry,
    ) -> Result<Self, Error> {
        Self::resuming(store, execution_id).registry(registry.clone()).open().await
    }

    /// Starts to describe how an execution is resumed. The store is the one (or the view) that the execution was started
    /// with.
    #[must_use]
    pub fn resuming(store: &RecordStore, execution_id: &ExecutionId) -> ResumeBuilder {
        ResumeBuilder {
            store: store.clone(),
            execution_id: execution_id.clone(),
            registry: SourceRegistry::new(),
            workspace: None,
            index: IndexConfig::default(),
            settings: ReaderSettings::default(),
            worker: None,
            lease_ttl: LEASE_TTL,
            environment: Arc::new(SystemEnvironment),
        }
    }
}

impl ResumeBuilder {
    /// Sets who builds custom sources again.
    #[must_use]
    pub fn registry(mut self, registry: SourceRegistry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the workspace, for one that was moved or is opened with other settings; otherwise it is opened as it is stored.
    #[must_use]
    pub fn workspace(mut self, workspace: TaskWorkspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Sets how the context's index orders candidates.
    #[must_use]
    pub fn index(mut self, index: IndexConfig) -> Self {
        self.index = index;
        self
    }

    /// Sets who chooses among optional candidates.
    #[must_use]
    pub fn selector(mut self, selector: Arc<dyn SemanticSelector>) -> Self {
        self.settings.selector = Some(selector);
        self
    }

    /// Sets what happens without a selector.
    #[must_use]
    pub fn selection_policy(mut self, policy: SelectionPolicy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Sets who counts tokens of an encoding that is not built in.
    #[must_use]
    pub fn token_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.settings.counter = Some(counter);
        self
    }

    /// Names the worker; see [`ExecutionBuilder::worker`](crate::ExecutionBuilder::worker).
    #[must_use]
    pub fn worker(mut self, worker: impl Into<String>) -> Self {
        self.worker = Some(worker.into());
        self
    }

    /// Sets how long the lease lives without a heartbeat; 30 s unless set.
    #[must_use]
    pub fn lease_ttl(mut self, ttl: Duration) -> Self {
        self.lease_ttl = ttl;
        self
    }

    /// Sets where time and ids come from, for tests and replays.
    #[must_use]
    pub fn environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = environment;
        self
    }

    /// Resumes. A promotion that was cut short is brought to its end: what is at the targets already is not promoted again,
    /// and where that cannot be told, the execution comes back blocked. An execution that was finished comes back for the
    /// audit; it takes no lease.
    ///
    /// # Errors
    /// [`Error::Unknown`]; [`Error::Records`] where another worker holds the lease; [`Error::SourceNotRebuilt`] and
    /// [`Error::OtherSource`] naming the binding; [`Error::Value`] where another major version stored it; [`Error::Journal`]; and
    /// what keeps workspace and store from being used.
    pub async fn open(self) -> Result<TaskExecution, Error> {
        let records = view_of(&self.store, &self.execution_id)?;
        if !is_stored(&records, &self.execution_id, STARTED).await? {
            return Err(Error::Unknown { execution_id: self.execution_id });
        }
        let mut journal = None;
        if !is_stored(&records, &self.execution_id, FINISHED).await? {
            let worker = self.worker.clone().unwrap_or_else(|| fresh_worker(&*self.environment));
            let id = self.execution_id.clone();
            journal = Some(Journal::claim(records.clone(), id, worker, self.lease_ttl).await?);
        }
        let rebuilt = self.rebuild(records, journal.clone()).await;
        if let (Err(_), Some(journal)) = (&rebuilt, &journal) {
            // Whoever tries next need not wait until the lease has run out. Where it cannot be given back, it does.
            let _ = journal.release().await;
        }
        rebuilt
    }

    /// Builds the execution again from its events, which nobody else adds to any more.
    async fn rebuild(
        self,
        records: RecordStore,
        journal: Option<Arc<Journal>>,
    ) -> Result<TaskExecution, Error> {
        let state = load(&records, &self.execution_id).await?;
        let identity = &state.identity;
        let stored_root = identity.workspace.as_ref().map(|stored| stored.root.clone());
        let workspace = match (self.workspace, &identity.workspace) {
            (Some(workspace), _) => Some(workspace.for_execution(self.execution_id.clone())?),
            (None, Some(stored)) => Some(open_stored(stored.clone(), Arc::clone(&self.environment)).await?),
            (None, None) => None,
        };
        let put_again = (state.entries.len() + state.bindings.len()) as u64;
        let context = TaskContext::builder(identity.task_id.as_str())?
            .id(identity.task_context_id.clone())
            .environment(Arc::clone(&self.environment))
            .revision(state.context_revision.saturating_sub(put_again))
            .build()?;
        context.configure_index(self.index);
        for entry in &state.entries {
            context.put(entry.clone())?;
        }
        let rebuild = Rebuild {
            registry: &self.registry,
            store: &self.store,
            workspace: workspace.as_ref(),
            stored_root,
        };
        for bound in &state.bindings {
            context.attach(rebuild.source(bound).await?, bound.binding.clone())?;
        }
        let readers = readers(&context, &state, &self.settings).await?;
        let shared = Arc::new(Shared {
            execution_id: self.execution_id,
            context,
            workspace,
            records: Some(records),
            journal,
            settings: self.settings,
            environment: self.environment,
            readers: Mutex::new(readers),
            delivering: Arc::default(),
            state: Mutex::new(state),
        });
        shared.settle_delivery().await?;
        Ok(TaskExecution { shared })
    }
}

/// Opens a workspace as it is stored.
async fn open_stored(
    stored: StoredWorkspace,
    environment: Arc<dyn Environment>,
) -> Result<TaskWorkspace, Error> {
    let open = move || {
        let mut options = WorkspaceOptions::read_only()
            .execution(stored.execution_id)
            .policy(stored.policy)
            .environment(environment);
        options.mode = stored.mode;
        TaskWorkspace::open_with(&stored.root, options)
    };
    Ok(tokio::task::spawn_blocking(open).await.map_err(|_| Error::CutShort)??)
}

/// The readers as they were, each with the packages that it had read.
async fn readers(
    context: &TaskContext,
    state: &State,
    settings: &ReaderSettings,
) -> Result<BTreeMap<ReaderKey, Arc<Mutex<Slot>>>, Error> {
    let mut readers = BTreeMap::new();
    for (key, stored) in &state.readers {
        let packages: Vec<_> =
            stored.package_ids().iter().filter_map(|id| state.package(id).map(Arc::clone)).collect();
        let mut builder = context.restore_reader(stored.clone(), packages).selection_policy(settings.policy);
        if let Some(selector) = &settings.selector {
            builder = builder.selector(Arc::clone(selector));
        }
        if let Some(counter) = &settings.counter {
            builder = builder.token_counter(Arc::clone(counter));
        }
        let reader = builder.restore(key.0.as_str(), key.1.as_str()).await?;
        readers.insert(key.clone(), Arc::new(Mutex::new(Slot { reader: Some(reader) })));
    }
    Ok(readers)
}

/// The sum of an execution's events: from the snapshot that the latest checkpoint names, if there is one, and those after it.
async fn load(records: &RecordStore, execution_id: &ExecutionId) -> Result<State, Error> {
    let run = RunId::new(execution_id.as_str())?;
    let mut state = match records.latest_checkpoint(&run).await? {
        None => None,
        Some(checkpoint) => {
            check_schema(checkpoint.state.get("schema"))?;
            let missing = || Error::Journal {
                place: format!("checkpoint {}", checkpoint.id),
                problem: "it names no snapshot that is there".to_owned(),
            };
            let snapshots = records.snapshots(&run, None).await?;
            let named = |id: &str| checkpoint.snapshot_id.as_deref() == Some(id);
            let snapshot = snapshots.into_iter().find(|snapshot| named(&snapshot.id)).ok_or_else(missing)?;
            let covers = snapshot.state.get("covers").and_then(serde_json::Value::as_u64);
            let filter = EventFilter {
                event_type: Some(PACKAGE.to_owned()),
                to_sequence: Some(covers.unwrap_or_default()),
                ..EventFilter::default()
            };
            let packages = records.events(&run, &filter).await?;
            Some(State::from_snapshot(&snapshot.id, snapshot.state, packages)?)
        }
    };
    let from = state.as_ref().map_or(1, |state| state.sequence + 1);
    let filter = EventFilter { from_sequence: Some(from), ..EventFilter::default() };
    for stored in records.events(&run, &filter).await? {
        let sequence = stored.sequence;
        match (Event::from_stored(stored)?, &mut state) {
            (None, _) => {}
            (Some(Event::Started(identity)), None) => state = Some(State::begin(*identity, sequence)),
            (Some(event), Some(state)) => state.apply(sequence, event)?,
            (Some(_), None) => {
                let problem = "it comes before the execution was started".to_owned();
                return Err(Error::Journal { place: format!("event {sequence}"), problem });
            }
        }
    }
    state.ok_or_else(|| Error::Unknown { execution_id: execution_id.clone() })
}
