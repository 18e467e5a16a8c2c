//! Records and memories as sources of context.

mod describe;
mod options;
mod views;

use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::{
    ChangeFeed, ContextSource, Cursor, DescriptorPage, ProjectionProfile, ReadRequest, Revision,
    SourceChangeSet, SourceError, SourceId, SourceKind, SourceRead, SourceRecipe, SourceRef,
};
use serde_json::json;

pub use self::options::RecordSourceOptions;
use self::views::Views;
use crate::{Error, RecordStore, SessionMemory};

/// A view of a store as a source of the kind `record_store`.
///
/// Each record is described as a whole and, where its text is longer than 1,600 chars, passage by passage
/// (`rec-…#C0-1402`: chars of the record's text). Records outside the view do not exist for it: they are not listed, not
/// read, and a write to them leaves its revision as it is. The revision is the view's last change, so it costs the same
/// however many records there are, and what changed between two revisions is told by the store's log.
///
/// ```
/// use std::sync::Arc;
/// use briefing_core::{ContextBinding, ContextConsumer, ContextReadIntent};
/// use briefing_context_reader::ContextReading as _;
/// use briefing_record_store::{StoreMode, NewRecord, RecordSourceOptions, RecordStore, RecordStoreContextSource};
/// use briefing_task_context::TaskContext;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let root = folder.path();
/// let store = RecordStore::open(root, StoreMode::ReadWrite).await?;
/// store.put(NewRecord::new("notes", "The pump is checked every week.")).await?;
///
/// let context = TaskContext::new("maintenance")?;
/// let source = RecordStoreContextSource::new(&store, RecordSourceOptions::new())?;
/// context.attach(Arc::new(source), ContextBinding::default())?;
/// let mut reader = context.reader(ContextConsumer::new("assistant")?).open().await?;
/// let package = reader.read(&ContextReadIntent::new("how often is the pump checked?")?).await?;
/// assert_eq!(package.blocks().len(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct RecordStoreContextSource {
    views: Arc<Views>,
    recipe: serde_json::Value,
}

impl RecordStoreContextSource {
    /// The kind of all sources over records.
    pub const KIND: &str = "record_store";

    /// A source over a store, or over a view of one.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a provider without an account of changes; [`Error::Value`] for a blank source id.
    pub fn new(store: &RecordStore, options: RecordSourceOptions) -> Result<Self, Error> {
        let views = Views::new(Self::KIND, vec![store.clone()], options)?;
        let recipe = json!({
            "record_store_id": store.store_id(),
            "view": store.bounds(),
            "options": views.options,
        });
        Ok(Self { views: Arc::new(views), recipe })
    }
}

/// The memory of a session as a source of the kind `session_memory`: what the session remembers, and what is remembered for
/// all sessions, as far as it is in force. Blocks carry where a memory comes from (`source`) and when it was written.
#[derive(Debug, Clone)]
pub struct SessionMemoryContextSource(RecordStoreContextSource);

impl SessionMemoryContextSource {
    /// The kind of all sources over memories.
    pub const KIND: &str = "session_memory";

    /// A source over the memory of a session.
    ///
    /// # Errors
    /// As [`RecordStoreContextSource::new`].
    pub fn new(memory: &SessionMemory, options: RecordSourceOptions) -> Result<Self, Error> {
        let views = Views::new(Self::KIND, memory.views()?.to_vec(), options)?;
        let recipe = json!({
            "record_store_id": memory.store_id(),
            "view": memory.bounds(),
            "session_id": memory.session_id(),
            "options": views.options,
        });
        Ok(Self(RecordStoreContextSource { views: Arc::new(views), recipe }))
    }
}

#[async_trait]
impl ContextSource for RecordStoreContextSource {
    fn source_id(&self) -> &SourceId {
        &self.views.source_id
    }

    fn source_kind(&self) -> &SourceKind {
        &self.views.source_kind
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        self.views.revision().await
    }

    async fn enumerate_descriptors(
        &self,
        _profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        self.views.page(cursor, limit).await
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        self.views.read(source_ref, request).await
    }

    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        Some(self)
    }

    fn recipe(&self) -> Option<&dyn SourceRecipe> {
        Some(self)
    }
}

#[async_trait]
impl ChangeFeed for RecordStoreContextSource {
    async fn changes(
        &self,
        from: &Revision,
        to: &Revision,
        _profile: &ProjectionProfile,
    ) -> Result<SourceChangeSet, SourceError> {
        self.views.changes(from, to).await
    }
}

impl SourceRecipe for RecordStoreContextSource {
    /// The store's id, the bounds of the view (or the session) and the options: whoever resumes opens the store with this id
    /// and makes the source anew.
    fn configuration(&self) -> serde_json::Value {
        self.recipe.clone()
    }
}

#[async_trait]
impl ContextSource for SessionMemoryContextSource {
    fn source_id(&self) -> &SourceId {
        self.0.source_id()
    }

    fn source_kind(&self) -> &SourceKind {
        self.0.source_kind()
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        self.0.revision().await
    }

    async fn enumerate_descriptors(
        &self,
        profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        self.0.enumerate_descriptors(profile, cursor, limit).await
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        self.0.read_exact(source_ref, request).await
    }

    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        self.0.change_feed()
    }

    fn recipe(&self) -> Option<&dyn SourceRecipe> {
        self.0.recipe()
    }
}
