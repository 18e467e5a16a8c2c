//! How bound sources are built again after a restart.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::{ContextSource, SourceError, SourceErrorKind, SourceKind};
use briefing_record_store::{
    RecordFilter, RecordSourceOptions, RecordStore, RecordStoreContextSource, SessionMemory,
    SessionMemoryContextSource,
};
use briefing_skill_library::SkillSource;
use briefing_task_workspace::{TaskWorkspace, WorkspaceSource, WorkspaceSourceOptions};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{Error, StoredBinding};

/// Builds sources of one kind again.
#[async_trait]
pub trait SourceBuilder: Send + Sync {
    /// Builds the source that was bound. Its id must be the one that is stored.
    ///
    /// # Errors
    /// [`SourceError`] where it cannot be built; the resume fails with it.
    async fn build(&self, bound: &StoredBinding) -> Result<Arc<dyn ContextSource>, SourceError>;
}

/// Who builds sources again, by kind. The kinds `task_workspace`, `record_store`, `session_memory` and
/// `skill_library` need no builder; one that is registered for them is asked instead.
///
/// ```
/// use std::sync::Arc;
/// use briefing_core::{MemoryDocument, MemorySource, SourceKind};
/// use briefing_execution::SourceRegistry;
///
/// let mut registry = SourceRegistry::new();
/// registry.register(SourceKind::new("memory")?, |bound| {
///     let notes = MemorySource::new(&bound.source_id, "memory")?;
///     notes.put(MemoryDocument::new("pump", "The pump is checked every week.")?);
///     Ok(Arc::new(notes))
/// });
/// # Ok::<(), briefing_core::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct SourceRegistry {
    builders: BTreeMap<SourceKind, Arc<dyn SourceBuilder>>,
}

impl std::fmt::Debug for SourceRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.builders.keys()).finish()
    }
}

struct ByFunction<F>(F);

#[async_trait]
impl<F> SourceBuilder for ByFunction<F>
where
    F: Fn(&StoredBinding) -> Result<Arc<dyn ContextSource>, SourceError> + Send + Sync,
{
    async fn build(&self, bound: &StoredBinding) -> Result<Arc<dyn ContextSource>, SourceError> {
        (self.0)(bound)
    }
}

impl SourceRegistry {
    /// Nobody but the built-in ones.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a function for a kind, in the place of an earlier builder.
    pub fn register<F>(&mut self, kind: SourceKind, build: F) -> &mut Self
    where
        F: Fn(&StoredBinding) -> Result<Arc<dyn ContextSource>, SourceError> + Send + Sync + 'static,
    {
        self.register_builder(kind, Arc::new(ByFunction(build)))
    }

    /// Registers a builder for a kind, in the place of an earlier one.
    pub fn register_builder(&mut self, kind: SourceKind, builder: Arc<dyn SourceBuilder>) -> &mut Self {
        self.builders.insert(kind, builder);
        self
    }
}

/// What sources are built from.
pub(crate) struct Rebuild<'a> {
    pub(crate) registry: &'a SourceRegistry,
    /// The store as it was handed over, not the execution's view of it.
    pub(crate) store: &'a RecordStore,
    /// The execution's workspace.
    pub(crate) workspace: Option<&'a TaskWorkspace>,
    /// Where that workspace was when the execution was stored.
    pub(crate) stored_root: Option<PathBuf>,
}

/// How a source over a workspace is built.
#[derive(Deserialize)]
struct WorkspaceRecipe {
    root: PathBuf,
    #[serde(default)]
    options: WorkspaceSourceOptions,
}

/// How a source over records is built.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordsRecipe {
    record_store_id: String,
    #[serde(default)]
    view: RecordFilter,
    #[serde(default)]
    options: RecordSourceOptions,
    #[serde(default)]
    session_id: Option<String>,
}

impl Rebuild<'_> {
    /// Builds a source again, and checks that it is the one that was bound.
    pub(crate) async fn source(&self, bound: &StoredBinding) -> Result<Arc<dyn ContextSource>, Error> {
        let kind = bound.source_kind.as_str();
        let source: Arc<dyn ContextSource> = match self.registry.builders.get(&bound.source_kind) {
            Some(builder) => {
                let failed = |error| not_rebuilt(bound, "its builder failed", Some(error));
                builder.build(bound).await.map_err(failed)?
            }
            None if kind == WorkspaceSource::KIND => self.over_workspace(bound)?,
            None if kind == RecordStoreContextSource::KIND => {
                let (store, recipe) = self.over_store(bound)?;
                Arc::new(RecordStoreContextSource::new(&store, recipe.options).map_err(from_store(bound))?)
            }
            None if kind == SessionMemoryContextSource::KIND => {
                let (store, recipe) = self.over_store(bound)?;
                let session_id = recipe.session_id.unwrap_or_default();
                let memory = SessionMemory::new(&store, session_id).map_err(from_store(bound))?;
                let source = SessionMemoryContextSource::new(&memory, recipe.options);
                Arc::new(source.map_err(from_store(bound))?)
            }
            None if kind == SkillSource::KIND => self.over_skills(bound).await?,
            None => {
                let reason = "nobody is registered for this kind; register a builder for it";
                return Err(not_rebuilt(bound, reason, None));
            }
        };
        if *source.source_id() != bound.source_id || *source.source_kind() != bound.source_kind {
            return Err(Error::OtherSource {
                binding_id: bound.binding_id.clone(),
                source_kind: bound.source_kind.clone(),
                stored: bound.source_id.clone(),
                rebuilt: source.source_id().clone(),
            });
        }
        Ok(source)
    }

    fn over_workspace(&self, bound: &StoredBinding) -> Result<Arc<dyn ContextSource>, Error> {
        let failed = |error: briefing_task_workspace::Error| {
            not_rebuilt(bound, "its workspace cannot be used", Some(error.into()))
        };
        let recipe: WorkspaceRecipe = recipe(bound)?;
        let source = match self.workspace {
            // The execution's own workspace, wherever it is by now.
            Some(workspace) if self.stored_root.as_ref() == Some(&recipe.root) => {
                workspace.source(recipe.options)
            }
            _ => WorkspaceSource::from_configuration(bound.configuration.clone().unwrap_or_default()),
        };
        Ok(Arc::new(source.map_err(failed)?))
    }

    /// The same revisions of the same library. Each is read and checked for it, which blocks.
    async fn over_skills(&self, bound: &StoredBinding) -> Result<Arc<dyn ContextSource>, Error> {
        let configuration = bound.configuration.clone().unwrap_or_default();
        let built = tokio::task::spawn_blocking(move || SkillSource::from_configuration(configuration));
        let source = built.await.map_err(|_| Error::CutShort)?.map_err(|error| {
            let reason = format!("its skills cannot be used: {error}");
            not_rebuilt(bound, reason, Some(error.into()))
        })?;
        Ok(Arc::new(source))
    }

    /// The view of the store that a source was over.
    fn over_store(&self, bound: &StoredBinding) -> Result<(RecordStore, RecordsRecipe), Error> {
        let recipe: RecordsRecipe = recipe(bound)?;
        if recipe.record_store_id != self.store.store_id() {
            let reason = format!(
                "it is over the store {}, not over {}; register a builder that opens that one",
                recipe.record_store_id,
                self.store.store_id()
            );
            return Err(not_rebuilt(bound, reason, None));
        }
        let view = self.store.view(&recipe.view).map_err(from_store(bound))?;
        if *view.bounds() != recipe.view {
            let reason =
                "it saw more of the store than the view that is resumed from; resume from the whole store";
            return Err(not_rebuilt(bound, reason, None));
        }
        Ok((view, recipe))
    }
}

fn recipe<T: DeserializeOwned>(bound: &StoredBinding) -> Result<T, Error> {
    let Some(configuration) = &bound.configuration else {
        return Err(not_rebuilt(bound, "it said nothing about how it is built", None));
    };
    serde_json::from_value(configuration.clone()).map_err(|error| {
        let cause = SourceError::new(SourceErrorKind::Contract, error.to_string()).with_cause(error);
        not_rebuilt(bound, "its configuration cannot be read", Some(cause))
    })
}

fn from_store(bound: &StoredBinding) -> impl Fn(briefing_record_store::Error) -> Error {
    move |error| not_rebuilt(bound, "its store cannot be used", Some(error.into()))
}

fn not_rebuilt(bound: &StoredBinding, reason: impl Into<String>, source: Option<SourceError>) -> Error {
    Error::SourceNotRebuilt {
        binding_id: bound.binding_id.clone(),
        source_kind: bound.source_kind.clone(),
        reason: reason.into(),
        source,
    }
}
