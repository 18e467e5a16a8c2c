//! The execution of one task.

use std::collections::BTreeMap;
use std::sync::Arc;

use briefing_context_reader::SelectionPolicy;
use briefing_core::{
    BindingId, ContextBinding, ContextEntry, ContextSource, Environment, SemanticSelector, TaskId,
    TokenCounter,
};
use briefing_record_store::RecordStore;
use briefing_task_context::TaskContext;
use briefing_task_workspace::{ExecutionId, TaskWorkspace};
use tokio::sync::Mutex;

use crate::event::{Event, StoredBinding};
use crate::journal::{EVENTS_PER_SNAPSHOT, Journal};
use crate::reading::Slot;
use crate::state::{ReaderKey, State};
use crate::{Error, ExecutionBuilder};

/// The execution of one task: it owns the task's context and its own views of the agent's workspace and record store, and
/// remembers what was read, consumed and delivered. With recovery all of that outlives the process.
///
/// It is cheap to clone; clones are handles on the same execution. What an operation acknowledged stays, and dropping the
/// future of one leaves nothing by halves: what was begun to be recorded is recorded to its end.
///
/// ```
/// use briefing_core::{ContextEntry, Role};
/// use briefing_execution::TaskExecution;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_execution::Error> {
/// let execution = TaskExecution::builder("maintenance")
///     .target("say when the pump is checked")
///     .entry(ContextEntry::new(Role::Information, "The pump is checked every week."))
///     .start()
///     .await?;
///
/// let package = execution.read_task_context("planner", "planning", "when is the pump checked?").await?;
/// // ... a request with the package succeeds ...
/// execution.record_consumption(&package, "request-1", None).await?;
/// assert_eq!(execution.meta().await.context_consumptions.len(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct TaskExecution {
    pub(crate) shared: Arc<Shared>,
}

/// What all handles of an execution share.
pub(crate) struct Shared {
    pub(crate) execution_id: ExecutionId,
    pub(crate) context: TaskContext,
    pub(crate) workspace: Option<TaskWorkspace>,
    pub(crate) records: Option<RecordStore>,
    pub(crate) journal: Option<Arc<Journal>>,
    pub(crate) settings: ReaderSettings,
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) readers: Mutex<BTreeMap<ReaderKey, Arc<Mutex<Slot>>>>,
    /// One delivery operation at a time.
    pub(crate) delivering: Arc<Mutex<()>>,
    pub(crate) state: Mutex<State>,
}

/// What each reader of an execution is given.
#[derive(Clone, Default)]
pub(crate) struct ReaderSettings {
    pub(crate) selector: Option<Arc<dyn SemanticSelector>>,
    pub(crate) policy: SelectionPolicy,
    pub(crate) counter: Option<Arc<dyn TokenCounter>>,
}

impl std::fmt::Debug for ReaderSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReaderSettings").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskExecution").field("execution_id", &self.execution_id).finish_non_exhaustive()
    }
}

/// What an operation records, and what it does in memory once that is recorded.
pub(crate) struct Step<T> {
    pub(crate) events: Vec<Event>,
    pub(crate) then: Box<dyn FnOnce() -> Result<T, Error> + Send>,
}

impl<T: Send + 'static> Step<T> {
    pub(crate) fn new(events: Vec<Event>, then: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Self {
        Self { events, then: Box::new(then) }
    }

    /// Records an event and answers with a value.
    pub(crate) fn answering(event: Event, answer: T) -> Self {
        Self::new(vec![event], move || Ok(answer))
    }
}

impl Shared {
    /// Refuses where nothing can be recorded any more.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.journal.as_ref().map_or(Ok(()), |journal| journal.check())
    }

    /// Decides by the state what is to be recorded, records it, and only then changes what is in memory. All of that happens
    /// even where the caller no longer waits for it.
    pub(crate) async fn commit<T: Send + 'static>(
        self: &Arc<Self>,
        decide: impl FnOnce(&State) -> Result<Step<T>, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let shared = Arc::clone(self);
        let work = async move {
            shared.check()?;
            let mut state = shared.state.lock().await;
            state.ensure_unfinished()?;
            let step = decide(&state)?;
            shared.record(&mut state, step.events).await?;
            (step.then)()
        };
        tokio::spawn(work).await.map_err(|_| Error::CutShort)?
    }

    async fn record(&self, state: &mut State, events: Vec<Event>) -> Result<(), Error> {
        let places = match &self.journal {
            Some(journal) if !events.is_empty() => journal.append(&events).await?,
            _ => (state.sequence + 1..).take(events.len()).collect(),
        };
        for (place, event) in places.into_iter().zip(events) {
            state.apply(place, event)?;
        }
        if let Some(journal) = &self.journal
            && state.sequence.saturating_sub(state.covered) >= EVENTS_PER_SNAPSHOT
        {
            // The events are recorded: a snapshot that fails is tried again with the next ones.
            let _ = journal.snapshot(state).await;
        }
        Ok(())
    }

    pub(crate) fn workspace(&self) -> Result<&TaskWorkspace, Error> {
        self.workspace.as_ref().ok_or(Error::NoWorkspace)
    }
}

/// A binding as it is stored.
pub(crate) fn stored_binding(
    source: &dyn ContextSource,
    mut binding: ContextBinding,
    binding_id: BindingId,
) -> StoredBinding {
    binding.id = Some(binding_id.clone());
    StoredBinding {
        binding,
        binding_id,
        source_id: source.source_id().clone(),
        source_kind: source.source_kind().clone(),
        configuration: source.recipe().map(briefing_core::SourceRecipe::configuration),
    }
}

impl TaskExecution {
    /// Starts to describe the execution of a task.
    #[must_use]
    pub fn builder(task_id: impl Into<String>) -> ExecutionBuilder {
        ExecutionBuilder::new(task_id.into())
    }

    /// The execution's id; with recovery also that of its run.
    #[must_use]
    pub fn execution_id(&self) -> &ExecutionId {
        &self.shared.execution_id
    }

    /// The task.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        self.shared.context.task_id()
    }

    /// The execution's own view of the agent's workspace: the files that it keeps apart are no other execution's.
    #[must_use]
    pub fn workspace(&self) -> Option<&TaskWorkspace> {
        self.shared.workspace.as_ref()
    }

    /// The execution's own view of the record store: what is put takes its scope, and no other records are seen.
    #[must_use]
    pub fn records(&self) -> Option<&RecordStore> {
        self.shared.records.as_ref()
    }

    /// Adds an entry to the context and returns its id.
    ///
    /// # Errors
    /// [`Error::DuplicateId`], [`Error::Finished`], and what keeps an event from being recorded.
    pub async fn put_entry(&self, entry: ContextEntry) -> Result<BindingId, Error> {
        let shared = Arc::clone(&self.shared);
        self.shared.commit(move |state| shared.putting(state, entry)).await
    }

    /// Binds a source to the context and returns the binding's id. With recovery, a source that is to come back by itself
    /// has a [`SourceRecipe`](briefing_core::SourceRecipe), or a builder in the registry of whoever resumes.
    ///
    /// # Errors
    /// As [`put_entry`](Self::put_entry).
    pub async fn attach(
        &self,
        source: Arc<dyn ContextSource>,
        binding: ContextBinding,
    ) -> Result<BindingId, Error> {
        let shared = Arc::clone(&self.shared);
        self.shared.commit(move |state| shared.attaching(state, source, binding)).await
    }

    /// Removes an entry or a binding; says whether there was one.
    ///
    /// # Errors
    /// [`Error::Finished`], and what keeps an event from being recorded.
    pub async fn remove(&self, id: &BindingId) -> Result<bool, Error> {
        let (shared, binding_id) = (Arc::clone(&self.shared), id.clone());
        let decide = move |state: &State| {
            let known = state.is_taken(&binding_id);
            let events = known.then(|| Event::Removed { binding_id: binding_id.clone() });
            Ok(Step::new(events.into_iter().collect(), move || {
                Ok(known && shared.context.remove(binding_id.as_str()))
            }))
        };
        self.shared.commit(decide).await
    }

    /// Keeps a snapshot of the execution and a checkpoint that names it, so that a resume reads fewer events. This happens
    /// by itself after 64 events; without recovery it does nothing. Answers with the last event that is covered.
    ///
    /// # Errors
    /// What keeps a step from being recorded.
    pub async fn checkpoint(&self) -> Result<u64, Error> {
        let shared = Arc::clone(&self.shared);
        let work = async move {
            let mut state = shared.state.lock().await;
            if let Some(journal) = &shared.journal {
                journal.snapshot(&mut state).await?;
            }
            Ok(state.sequence)
        };
        tokio::spawn(work).await.map_err(|_| Error::CutShort)?
    }

    /// Keeps a snapshot and gives the lease back, so that another worker can resume at once. Nothing can be recorded by any
    /// handle of this execution afterwards. Without recovery it does nothing.
    ///
    /// # Errors
    /// As [`checkpoint`](Self::checkpoint).
    pub async fn suspend(&self) -> Result<(), Error> {
        let Some(journal) = &self.shared.journal else { return Ok(()) };
        self.checkpoint().await?;
        journal.release().await
    }
}

impl Shared {
    /// The step that puts an entry.
    fn putting(self: Arc<Self>, state: &State, mut entry: ContextEntry) -> Result<Step<BindingId>, Error> {
        let id = self.claim_id(state, entry.id.take(), "entry")?;
        entry.id = Some(id);
        let event = Event::Entry(Box::new(entry.clone()));
        Ok(Step::new(vec![event], move || Ok(self.context.put(entry)?)))
    }

    /// The step that binds a source.
    fn attaching(
        self: Arc<Self>,
        state: &State,
        source: Arc<dyn ContextSource>,
        mut binding: ContextBinding,
    ) -> Result<Step<BindingId>, Error> {
        let id = self.claim_id(state, binding.id.take(), "binding")?;
        let stored = stored_binding(&*source, binding, id);
        let binding = stored.binding.clone();
        let event = Event::Source(Box::new(stored));
        Ok(Step::new(vec![event], move || Ok(self.context.attach(source, binding)?)))
    }

    fn claim_id(&self, state: &State, given: Option<BindingId>, prefix: &str) -> Result<BindingId, Error> {
        let id = given.map_or_else(|| BindingId::new(self.environment.new_id(prefix)), Ok)?;
        if state.is_taken(&id) { Err(Error::DuplicateId { id }) } else { Ok(id) }
    }
}
