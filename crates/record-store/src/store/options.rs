//! How a store is opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use briefing_core::Environment;
use serde::{Deserialize, Serialize};

use super::RecordStore;
use crate::sqlite::SqliteBackend;
use crate::{Error, RecordFilter};

/// What may be done with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreMode {
    /// Reading. No file is made or changed.
    ReadOnly,
    /// Reading and writing; a store is made where there is none.
    ReadWrite,
}

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// A loss of power: each commit is on the disk before it is acknowledged.
    #[default]
    Full,
    /// A crash of the process. A loss of power may take the last commits, never half of one.
    Normal,
}

/// How changes are journalled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Journal {
    /// A write-ahead log, but a rollback journal on a file system over a network, where a log would be damaged.
    #[default]
    Auto,
    /// A write-ahead log: readers and the writer do not wait for one another.
    Wal,
    /// A rollback journal.
    Rollback,
}

#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) mode: StoreMode,
    pub(crate) durability: Durability,
    pub(crate) journal: Journal,
    pub(crate) busy_timeout: Duration,
    pub(crate) environment: Arc<dyn Environment>,
}

impl Options {
    pub(crate) fn new(mode: StoreMode) -> Self {
        Self {
            mode,
            durability: Durability::default(),
            journal: Journal::default(),
            busy_timeout: Duration::from_secs(30),
            environment: Arc::new(briefing_core::SystemEnvironment),
        }
    }
}

/// Opens a store with other settings than the usual ones.
///
/// ```
/// use briefing_record_store::{Durability, StoreMode, RecordStore};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_record_store::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let root = folder.path();
/// let store = RecordStore::options(StoreMode::ReadWrite).durability(Durability::Normal).open(root).await?;
/// assert_eq!(store.mode(), StoreMode::ReadWrite);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct StoreOptions(Options);

impl StoreOptions {
    pub(super) fn new(mode: StoreMode) -> Self {
        Self(Options::new(mode))
    }

    /// What an acknowledged write survives; [`Durability::Full`] unless set.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.0.durability = durability;
        self
    }

    /// How changes are journalled; [`Journal::Auto`] unless set.
    #[must_use]
    pub fn journal(mut self, journal: Journal) -> Self {
        self.0.journal = journal;
        self
    }

    /// How long a write waits for another process before it fails with [`Error::Busy`]; 30 s unless set.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.0.busy_timeout = timeout;
        self
    }

    /// Where time and ids come from; the system's clock and UUIDv7 unless set. Lists keep the order of the store whatever
    /// the ids are.
    #[must_use]
    pub fn environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.0.environment = environment;
        self
    }

    /// Opens the store under a root.
    ///
    /// # Errors
    /// As [`RecordStore::open`].
    pub async fn open(self, root: impl AsRef<Path>) -> Result<RecordStore, Error> {
        let (root, options) = (root.as_ref().to_owned(), self.0);
        let mode = options.mode;
        let opened = tokio::task::spawn_blocking(move || SqliteBackend::open(&root, &options)).await;
        let backend = opened.map_err(|_| Error::Interrupted)??;
        Ok(RecordStore::with_backend(Arc::new(backend), mode, RecordFilter::new()))
    }
}
