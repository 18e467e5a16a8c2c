//! The workspace's files as a source of context.

mod changes;
mod describe;
mod exact;
mod options;
mod page;
mod prepare;
mod scan;
mod scoped;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use briefing_core::{
    ChangeFeed, Content, ContextDiagnostic, ContextSource, Cursor, DescriptorPage, ProjectionProfile,
    ReadRequest, Revision, ScopedRead, Severity, SourceChangeSet, SourceError, SourceErrorKind, SourceId,
    SourceKind, SourceRead, SourceRecipe, SourceRef,
};

pub use self::options::WorkspaceSourceOptions;
use self::prepare::PreparedFiles;
use self::scan::{KeptScans, Scan};
use crate::error::Error;
use crate::walk::{self, Scope, WalkRules};
use crate::{TaskWorkspace, WorkspaceMode, WorkspaceOptions};

/// The files of a workspace as a source of the kind `task_workspace`.
///
/// [`revision`](ContextSource::revision) walks the tree; listings and reads refer to that walk, and a file that moved
/// since is refused as changed. Each text file is described as a whole and, where it is longer than one passage, passage
/// by passage (`src/lib.rs#L10-42`); what is not text is offered by reference. The last few walks are kept, so that the
/// [`ChangeFeed`] can say what changed between two of them.
///
/// A file is told to be unchanged by its size, times and inode. An edit that keeps the size and falls into the same tick
/// of the file system's clock as the walk goes unseen until the next edit.
///
/// It needs a Tokio runtime: all file access happens on its blocking threads.
#[derive(Debug, Clone)]
pub struct WorkspaceSource(Arc<Inner>);

/// What the blocking threads share.
#[derive(Debug)]
struct Inner {
    workspace: TaskWorkspace,
    source_id: SourceId,
    source_kind: SourceKind,
    options: WorkspaceSourceOptions,
    prepared: PreparedFiles,
    rules: WalkRules,
    scans: Mutex<KeptScans>,
}

impl WorkspaceSource {
    /// The kind of all sources over a workspace.
    pub const KIND: &str = "task_workspace";

    pub(crate) fn new(workspace: TaskWorkspace, options: WorkspaceSourceOptions) -> Result<Self, Error> {
        let rules = WalkRules::new(
            workspace.root(),
            options.include_hidden,
            options.respect_ignore_files,
            &options.ignore_globs,
        )?
        .include_secrets(options.include_secrets);
        Ok(Self(Arc::new(Inner {
            source_id: SourceId::new(&options.source_id)?,
            source_kind: SourceKind::new(Self::KIND)?,
            workspace,
            options,
            prepared: PreparedFiles::default(),
            rules,
            scans: Mutex::default(),
        })))
    }

    /// Builds a source again from what its [`SourceRecipe`] said.
    ///
    /// # Errors
    /// [`Error::Configuration`] for JSON that is no such configuration, and as [`TaskWorkspace::open`] and
    /// [`TaskWorkspace::source`].
    pub fn from_configuration(configuration: serde_json::Value) -> Result<Self, Error> {
        let recipe: options::Recipe =
            serde_json::from_value(configuration).map_err(|source| Error::Configuration { source })?;
        let mut how = WorkspaceOptions::read_only();
        how.execution = recipe.execution;
        TaskWorkspace::open_with(recipe.root, how)?.source(recipe.options)
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let inner = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&inner)).await.map_err(|error| {
            SourceError::new(SourceErrorKind::Unavailable, "the work on the files was cut short")
                .with_cause(error)
        })?
    }
}

impl Inner {
    /// Walks the tree and keeps the answer; an unchanged tree gives the scan that is kept already.
    fn rescan(&self) -> Result<Arc<Scan>, Error> {
        let walked = walk::walk(&self.workspace, &self.rules, &Scope::default())?;
        let mut scans = self.scans.lock().unwrap_or_else(PoisonError::into_inner);
        scans.take_in(walked, &self.options)
    }

    /// The scan that reads refer to.
    fn latest(&self) -> Result<Arc<Scan>, Error> {
        let latest = self.scans.lock().unwrap_or_else(PoisonError::into_inner).latest();
        latest.map_or_else(|| self.rescan(), Ok)
    }

    /// The scan of a revision, if it is still kept.
    fn scan_of(&self, revision: &str) -> Option<Arc<Scan>> {
        self.scans.lock().unwrap_or_else(PoisonError::into_inner).of(revision)
    }
}

#[async_trait]
impl ContextSource for WorkspaceSource {
    fn source_id(&self) -> &SourceId {
        &self.0.source_id
    }

    fn source_kind(&self) -> &SourceKind {
        &self.0.source_kind
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        self.blocking(|inner| Ok(inner.rescan()?.revision().clone())).await
    }

    async fn enumerate_descriptors(
        &self,
        _profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        let cursor = cursor.cloned();
        self.blocking(move |inner| page::page(inner, cursor.as_ref(), limit)).await
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        let (source_ref, request) = (source_ref.clone(), request.clone());
        self.blocking(move |inner| exact::read_exact(inner, &source_ref, &request)).await
    }

    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        Some(self)
    }

    fn recipe(&self) -> Option<&dyn SourceRecipe> {
        Some(self)
    }

    fn scoped_read(&self) -> Option<&dyn ScopedRead> {
        Some(self)
    }
}

#[async_trait]
impl ScopedRead for WorkspaceSource {
    async fn read_scoped(
        &self,
        source_ref: &SourceRef,
        locator: &str,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        let (source_ref, locator) = (source_ref.clone(), locator.to_owned());
        let mut request = request.clone();
        self.blocking(move |inner| {
            let all = ReadRequest { max_chars: usize::MAX, start_char: 0, ..request.clone() };
            let whole = exact::read_exact(inner, &source_ref, &all)?;
            let place = match &whole.content {
                Content::Text(text) => scoped::start_of_window(text, &locator, request.max_chars),
                _ => return Ok(whole),
            };
            request.start_char = place.unwrap_or(0);
            let mut read = exact::read_exact(inner, &source_ref, &request)?;
            if place.is_none() && read.next_range_start.is_some() {
                let fact = ContextDiagnostic::new("workspace.locator_not_found", Severity::Info);
                read.diagnostics.push(fact.with("source_ref", source_ref.as_str()));
            }
            Ok(read)
        })
        .await
    }
}

#[async_trait]
impl ChangeFeed for WorkspaceSource {
    async fn changes(
        &self,
        from: &Revision,
        to: &Revision,
        _profile: &ProjectionProfile,
    ) -> Result<SourceChangeSet, SourceError> {
        let (from, to) = (from.clone(), to.clone());
        self.blocking(move |inner| changes::changes(inner, &from, &to)).await
    }
}

impl SourceRecipe for WorkspaceSource {
    fn configuration(&self) -> serde_json::Value {
        let workspace = &self.0.workspace;
        let mut recipe =
            serde_json::json!({ "root": workspace.root().to_string_lossy(), "options": self.0.options });
        if workspace.mode() == WorkspaceMode::ReadOnly
            && let Some(recipe) = recipe.as_object_mut()
        {
            recipe.insert("execution".to_owned(), workspace.execution_id().as_str().into());
        }
        recipe
    }
}
