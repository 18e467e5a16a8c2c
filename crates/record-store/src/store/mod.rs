//! The store as its users hold it: one provider, a mode, and the bounds of a view.

mod maintenance;
mod options;
mod records;
mod retrieve;
mod runs;

use std::path::Path;
use std::sync::Arc;

pub(crate) use self::options::Options;
pub use self::options::{Durability, Journal, StoreMode, StoreOptions};
pub use self::records::ContentStream;
pub use self::retrieve::{
    BodyState, OmittedRecords, RetrievalDiagnostic, RetrievalPackage, RetrievalSelection, RetrieveRequest,
    RetrievedItem,
};
use crate::port::{Leases, Links, RecordBackend, RecordChanges, Runs, TextSearch};
use crate::{Error, RecordFilter};

/// A store of records, or a view of one. Cheap to clone; all clones share one provider.
///
/// ```
/// use briefing_record_store::{StoreMode, NewRecord, RecordFilter, RecordStore};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_record_store::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let root = folder.path();
/// let store = RecordStore::open(root, StoreMode::ReadWrite).await?;
/// let acme = store.view(&RecordFilter::new().scope("tenant", "acme"))?;
/// let note = acme.put(NewRecord::new("notes", "The pump is checked every week.")).await?;
///
/// assert_eq!(note.scope["tenant"], "acme");
/// let other = store.view(&RecordFilter::new().scope("tenant", "other"))?;
/// assert_eq!(other.get(&note.id).await.unwrap_err().code(), "records.not_found");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct RecordStore {
    backend: Arc<dyn RecordBackend>,
    mode: StoreMode,
    view: Arc<RecordFilter>,
}

/// What a store can do, as its provider and its mode allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether it may be written to.
    pub write: bool,
    /// An account of changes, which context sources need.
    pub changes: bool,
    /// Search by words.
    pub text_search: bool,
    /// Links.
    pub links: bool,
    /// Checkpoints, snapshots and events.
    pub runs: bool,
    /// Leases.
    pub leases: bool,
    /// Figures, checks and copies.
    pub maintenance: bool,
    /// Search by embeddings.
    pub vectors: bool,
}

impl RecordStore {
    /// Opens the store under a root, `<root>/.briefing/records/records.db`.
    ///
    /// # Errors
    /// [`Error::NoStore`] in read_only where there is none; [`Error::NewerSchema`], [`Error::Foreign`], [`Error::Corrupt`] for a
    /// file that is no store of this version, which stays as it is; [`Error::Io`], [`Error::Busy`].
    pub async fn open(root: impl AsRef<Path>, mode: StoreMode) -> Result<Self, Error> {
        Self::options(mode).open(root).await
    }

    /// A new, empty store in memory, for tests and for small things: it is gone with its last handle, looks at every record
    /// to search or filter, and has no backup. Otherwise it does what a store on disk does.
    ///
    /// ```
    /// use briefing_record_store::{NewRecord, RecordStore};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_record_store::Error> {
    /// let store = RecordStore::in_memory();
    /// let note = store.put(NewRecord::new("notes", "The pump is checked every week.")).await?;
    /// assert_eq!(store.get(&note.id).await?.record.version, 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn in_memory() -> Self {
        Self::in_memory_with(Arc::new(briefing_core::SystemEnvironment))
    }

    /// A store [in memory](Self::in_memory) that takes time and ids from an environment.
    #[must_use]
    pub fn in_memory_with(environment: Arc<dyn briefing_core::Environment>) -> Self {
        let backend = crate::memory_store::MemoryBackend::new(environment);
        Self::with_backend(Arc::new(backend), StoreMode::ReadWrite, RecordFilter::new())
    }

    /// Opens a store with other settings than the usual ones.
    #[must_use]
    pub fn options(mode: StoreMode) -> StoreOptions {
        StoreOptions::new(mode)
    }

    /// A store with a provider of one's own.
    #[must_use]
    pub fn with_backend(backend: Arc<dyn RecordBackend>, mode: StoreMode, view: RecordFilter) -> Self {
        Self { backend, mode, view: Arc::new(view) }
    }

    /// The provider, for one that wraps another. It knows nothing of this store's mode and view.
    #[must_use]
    pub fn backend(&self) -> &Arc<dyn RecordBackend> {
        &self.backend
    }

    /// The same store within narrower bounds: every operation sees only what the bounds admit, and what is put takes their
    /// scope and tags. Runs are bounded by scope alone; a view with other bounds has none. Bounds of time are for lists, not
    /// for views.
    ///
    /// What is unique in the whole store tells that it is there: an id that is taken outside the view cannot be put, and a
    /// record under an id that was deleted goes on with its version. The scores of a search weigh words by all records.
    ///
    /// # Errors
    /// [`Error::OutsideView`] where this view cannot hold what is asked for; [`briefing_core::Error::Invalid`] for bounds of time.
    pub fn view(&self, bounds: &RecordFilter) -> Result<Self, Error> {
        if bounds.created_from_millis.is_some() || bounds.created_before_millis.is_some() {
            let (found, expected) = ("bounds of time", "collections, kinds, scope, tags or ids");
            return Err(briefing_core::Error::invalid("view", found, expected).into());
        }
        let view = Arc::new(self.view.narrowed_by(bounds)?);
        Ok(Self { view, ..self.clone() })
    }

    /// The same store, which may not be written to.
    #[must_use]
    pub fn read_only(&self) -> Self {
        Self { mode: StoreMode::ReadOnly, ..self.clone() }
    }

    /// The store's own random id; it goes with the data when the folder is moved.
    #[must_use]
    pub fn store_id(&self) -> &str {
        self.backend.store_id()
    }

    /// What may be done with it.
    #[must_use]
    pub fn mode(&self) -> StoreMode {
        self.mode
    }

    /// The bounds of this view.
    #[must_use]
    pub fn bounds(&self) -> &RecordFilter {
        &self.view
    }

    /// What it can do.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        Capabilities {
            write: self.mode == StoreMode::ReadWrite,
            changes: self.backend.changes().is_some(),
            text_search: self.backend.text_search().is_some(),
            links: self.backend.links().is_some(),
            runs: self.backend.runs().is_some(),
            leases: self.backend.leases().is_some(),
            maintenance: self.backend.maintenance().is_some(),
            vectors: false,
        }
    }

    fn ensure_writable(&self, operation: &'static str) -> Result<(), Error> {
        match self.mode {
            StoreMode::ReadWrite => Ok(()),
            StoreMode::ReadOnly => Err(Error::ReadOnly { operation }),
        }
    }

    pub(crate) fn changes(&self) -> Result<&dyn RecordChanges, Error> {
        self.backend.changes().ok_or(Error::Unsupported { ability: "account of changes" })
    }

    fn text_search(&self) -> Result<&dyn TextSearch, Error> {
        self.backend.text_search().ok_or(Error::Unsupported { ability: "search by words" })
    }

    fn links_port(&self) -> Result<&dyn Links, Error> {
        self.backend.links().ok_or(Error::Unsupported { ability: "links" })
    }

    fn runs_port(&self) -> Result<&dyn Runs, Error> {
        self.ensure_runs()?;
        self.backend.runs().ok_or(Error::Unsupported { ability: "checkpoints, snapshots and events" })
    }

    fn leases_port(&self) -> Result<&dyn Leases, Error> {
        self.ensure_runs()?;
        self.backend.leases().ok_or(Error::Unsupported { ability: "leases" })
    }

    /// Refuses runs through a view of records: a run has a scope, but no collection, kind, tags or record id.
    fn ensure_runs(&self) -> Result<(), Error> {
        let by_scope = RecordFilter { scope: self.view.scope.clone(), ..RecordFilter::default() };
        if *self.view == by_scope {
            return Ok(());
        }
        let view = "bounds that no run can meet: collections, kinds, tags or ids".to_owned();
        Err(Error::OutsideView { asked: "a run".to_owned(), view })
    }
}
