//! The aggregate: entries and bindings under one revision.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use briefing_core::{
    BindingId, ContextBinding, ContextEntry, ContextSource, Environment, SourceKind, TaskContextId, TaskId,
};
use futures::future::join_all;

use crate::index::{self, IndexAnswer, IndexCache, IndexConfig, IndexQuery};
use crate::snapshot::{ContextSnapshot, PinnedEntry, PinnedSource, revision_of};
use crate::{Error, SystemEnvironment};

/// The one aggregate of a task's information. Cloning it gives another handle to the same context.
#[derive(Debug, Clone)]
pub struct TaskContext {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: TaskContextId,
    task_id: TaskId,
    environment: Arc<dyn Environment>,
    cache: IndexCache,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    revision: u64,
    config: IndexConfig,
    entries: Vec<PinnedEntry>,
    bindings: Vec<Bound>,
    /// The ids of both.
    ids: HashSet<BindingId>,
}

struct Bound {
    id: BindingId,
    binding: Arc<ContextBinding>,
    source: Arc<dyn ContextSource>,
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound").field("id", &self.id).field("source_id", self.source.source_id()).finish()
    }
}

impl State {
    /// The id to use: the given one if it is free, else a fresh one.
    fn claim_id(
        &mut self,
        given: Option<BindingId>,
        fresh: impl Fn() -> Result<BindingId, briefing_core::Error>,
    ) -> Result<BindingId, Error> {
        let id = given.map_or_else(fresh, Ok)?;
        if self.ids.insert(id.clone()) { Ok(id) } else { Err(Error::DuplicateId { id }) }
    }
}

/// What a catalogue says about one binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The binding.
    pub binding_id: BindingId,
    /// What the source holds, as the binding describes it.
    pub description: Option<String>,
    /// How long the binding is meant to hold.
    pub scope: String,
}

/// Builds a [`TaskContext`] with an id, an environment or an index cache of the caller's choice.
#[derive(Debug)]
pub struct TaskContextBuilder {
    task_id: TaskId,
    id: Option<TaskContextId>,
    environment: Arc<dyn Environment>,
    cache: IndexCache,
    revision: u64,
}

impl TaskContextBuilder {
    /// Sets the context's id instead of a fresh one.
    #[must_use]
    pub fn id(mut self, id: TaskContextId) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets where time and fresh ids come from.
    #[must_use]
    pub fn environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = environment;
        self
    }

    /// Sets the cache that keeps index partitions, instead of the one that the process shares.
    #[must_use]
    pub fn index_cache(mut self, cache: IndexCache) -> Self {
        self.cache = cache;
        self
    }

    /// Sets the revision to begin with, for a context that is rebuilt: what is put and attached raises it from there to
    /// where it was.
    #[must_use]
    pub fn revision(mut self, revision: u64) -> Self {
        self.revision = revision;
        self
    }

    /// Makes the context.
    ///
    /// # Errors
    /// [`Error::Value`] where the environment hands out a blank id.
    pub fn build(self) -> Result<TaskContext, Error> {
        let id = self.id.map_or_else(|| TaskContextId::new(self.environment.new_id("ctx")), Ok)?;
        Ok(TaskContext {
            inner: Arc::new(Inner {
                id,
                task_id: self.task_id,
                environment: self.environment,
                cache: self.cache,
                state: RwLock::new(State { revision: self.revision, ..State::default() }),
            }),
        })
    }
}

impl TaskContext {
    /// An empty context for a task.
    ///
    /// # Errors
    /// [`Error::Value`] for a blank task id.
    pub fn new(task_id: impl AsRef<str>) -> Result<Self, Error> {
        Self::builder(task_id)?.build()
    }

    /// Starts a context with other settings.
    ///
    /// # Errors
    /// [`Error::Value`] for a blank task id.
    pub fn builder(task_id: impl AsRef<str>) -> Result<TaskContextBuilder, Error> {
        Ok(TaskContextBuilder {
            task_id: TaskId::new(task_id)?,
            id: None,
            environment: Arc::new(SystemEnvironment),
            cache: IndexCache::shared().clone(),
            revision: 0,
        })
    }

    /// The context's id.
    #[must_use]
    pub fn id(&self) -> &TaskContextId {
        &self.inner.id
    }

    /// The task.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.inner.task_id
    }

    /// Where time and fresh ids come from.
    #[must_use]
    pub fn environment(&self) -> &Arc<dyn Environment> {
        &self.inner.environment
    }

    /// The revision: raised by one with every entry or binding that comes or goes.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.read_state(|state| state.revision)
    }

    /// Adds an entry and returns its id.
    ///
    /// # Errors
    /// [`Error::DuplicateId`] where an entry or a binding has the id already.
    pub fn put(&self, mut entry: ContextEntry) -> Result<BindingId, Error> {
        let mut state = self.inner.state.write().unwrap_or_else(PoisonError::into_inner);
        let id =
            state.claim_id(entry.id.take(), || BindingId::new(self.inner.environment.new_id("entry")))?;
        entry.id = Some(id.clone());
        state.entries.push(PinnedEntry { id: id.clone(), entry: Arc::new(entry) });
        state.revision += 1;
        Ok(id)
    }

    /// Attaches a source and returns the binding's id.
    ///
    /// # Errors
    /// [`Error::DuplicateId`] where an entry or a binding has the id already.
    pub fn attach(
        &self,
        source: Arc<dyn ContextSource>,
        mut binding: ContextBinding,
    ) -> Result<BindingId, Error> {
        let mut state = self.inner.state.write().unwrap_or_else(PoisonError::into_inner);
        let id =
            state.claim_id(binding.id.take(), || BindingId::new(self.inner.environment.new_id("binding")))?;
        binding.id = Some(id.clone());
        state.bindings.push(Bound { id: id.clone(), binding: Arc::new(binding), source });
        state.bindings.sort_by_key(|bound| std::cmp::Reverse(bound.binding.priority));
        state.revision += 1;
        Ok(id)
    }

    /// Removes the entry or binding with this id; says whether there was one.
    pub fn remove(&self, id: &str) -> bool {
        let mut state = self.inner.state.write().unwrap_or_else(PoisonError::into_inner);
        if !state.ids.remove(id) {
            return false;
        }
        state.entries.retain(|entry| entry.id != *id);
        state.bindings.retain(|bound| bound.id != *id);
        state.revision += 1;
        true
    }

    /// Sets how the internal index orders candidates. Packages read before keep their order.
    pub fn configure_index(&self, config: IndexConfig) {
        self.inner.state.write().unwrap_or_else(PoisonError::into_inner).config = config;
    }

    /// The kinds of source that are really bound, and through which bindings.
    #[must_use]
    pub fn source_catalog(&self) -> BTreeMap<SourceKind, Vec<CatalogEntry>> {
        self.read_state(|state| {
            let mut catalog: BTreeMap<SourceKind, Vec<CatalogEntry>> = BTreeMap::new();
            for bound in &state.bindings {
                catalog.entry(bound.source.source_kind().clone()).or_default().push(CatalogEntry {
                    binding_id: bound.id.clone(),
                    description: bound.binding.description.clone(),
                    scope: bound.binding.scope.clone(),
                });
            }
            catalog
        })
    }

    /// Pins the context and the revision of every source.
    pub async fn snapshot(&self) -> ContextSnapshot {
        let (context_revision, entries, bound) = self.read_state(|state| {
            let bound: Vec<_> = state
                .bindings
                .iter()
                .map(|bound| (bound.id.clone(), Arc::clone(&bound.binding), Arc::clone(&bound.source)))
                .collect();
            (state.revision, state.entries.clone(), bound)
        });
        let pin = |(binding_id, binding, source)| async move {
            let source: Arc<dyn ContextSource> = source;
            let revision = revision_of(&*source).await;
            PinnedSource { binding_id, binding, source, revision }
        };
        let sources = join_all(bound.into_iter().map(pin)).await;
        ContextSnapshot {
            context_id: self.inner.id.clone(),
            task_id: self.inner.task_id.clone(),
            context_revision,
            entries: entries.into(),
            sources: sources.into(),
        }
    }

    /// Whether nothing has moved since the snapshot: not the context, and no source's revision.
    pub async fn is_current(&self, snapshot: &ContextSnapshot) -> bool {
        if snapshot.context_id != self.inner.id || snapshot.context_revision != self.revision() {
            return false;
        }
        let unmoved = snapshot
            .sources
            .iter()
            .map(|pinned| async { revision_of(&*pinned.source).await == pinned.revision });
        join_all(unmoved).await.into_iter().all(|unmoved| unmoved)
    }

    /// Asks the internal index for candidates. This is what a reader calls; an application reads through a reader.
    ///
    /// # Errors
    /// [`Error`] for a malformed or impossible question, and [`Error::RevisionMoved`] where a source changed while it was
    /// being listed. A failing source is a diagnostic in the answer.
    pub async fn query_index(
        &self,
        snapshot: &ContextSnapshot,
        query: IndexQuery<'_>,
    ) -> Result<IndexAnswer, Error> {
        let config = self.read_state(|state| state.config.clone());
        index::query(&self.inner.cache, &config, snapshot, query).await
    }

    fn read_state<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.inner.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}
