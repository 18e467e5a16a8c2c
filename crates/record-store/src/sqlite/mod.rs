//! The embedded provider: one SQLite database, `<root>/.briefing/records/records.db`.
//!
//! All writes go through one named thread for each database, which puts waiting writes into one commit; each write has a
//! savepoint of its own, so one that fails is undone alone. Reads use a few connections of their own, on blocking threads,
//! and each sees one moment of the database.

mod changes;
mod connect;
mod fail;
mod leases;
mod links;
mod maintenance;
mod readers;
mod records;
mod rows;
mod runs;
mod schema;
mod search;
mod select;
mod terms;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use briefing_core::Environment;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use self::fail::Outcome;
use self::readers::Readers;
use self::schema::Looks;
use self::writer::{Tx, Writer};
use crate::Error;
use crate::marks::Marks;
use crate::port::{Leases, Links, Maintenance, RecordBackend, RecordChanges, Records, Runs, TextSearch};
use crate::store::{Options, StoreMode};

/// How many reads of one handle run at the same time.
const READERS: usize = 8;

/// An open database.
#[derive(Debug)]
pub(crate) struct SqliteBackend {
    path: PathBuf,
    store_id: String,
    readers: Arc<Readers>,
    /// How many may read at the same time; more wait.
    reading: Arc<Semaphore>,
    /// `None` in read_only.
    writer: Option<Arc<Writer>>,
    environment: Arc<dyn Environment>,
    marks: Arc<Marks>,
    opened_by: u32,
}

impl SqliteBackend {
    /// Opens the database under a root. It blocks.
    pub(crate) fn open(root: &Path, options: &Options) -> Result<Self, Error> {
        let path = connect::database_path(root);
        let writer = match options.mode {
            StoreMode::ReadWrite => Some(Writer::open(
                &path,
                options.durability,
                options.journal,
                options.busy_timeout,
                &*options.environment,
            )?),
            StoreMode::ReadOnly => {
                if schema::look(&path)? == Looks::New {
                    return Err(Error::NoStore { path });
                }
                None
            }
        };
        let readers = Arc::new(Readers::new(path.clone(), writer.is_none(), options.busy_timeout));
        let store_id = readers.read("opening the database", |connection| {
            let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if version > schema::SCHEMA_VERSION {
                let supported = schema::SCHEMA_VERSION;
                return Err(Error::NewerSchema { path: path.clone(), found: version, supported }.into());
            }
            schema::value(connection, "record_store_id")
        })?;
        let store_id = store_id.ok_or_else(|| Error::Corrupt {
            path: path.clone(),
            detail: "the store's own id is missing".to_owned(),
        })?;
        Ok(Self {
            path,
            store_id,
            writer,
            readers,
            reading: Arc::new(Semaphore::new(READERS)),
            environment: Arc::clone(&options.environment),
            marks: Arc::default(),
            opened_by: std::process::id(),
        })
    }

    /// Refuses a handle that came through a fork: a child must not use its parent's connections
    /// (<https://www.sqlite.org/howtocorrupt.html>, section 2.6).
    fn ensure_own_process(&self, here: u32) -> Result<(), Error> {
        if here == self.opened_by {
            return Ok(());
        }
        Err(Error::Forked { opened_by: self.opened_by, here })
    }

    async fn write<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&mut Tx<'_>) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer(doing)?.write(doing, work).await
    }

    fn writer(&self, operation: &'static str) -> Result<&Writer, Error> {
        self.ensure_own_process(std::process::id())?;
        self.writer.as_deref().ok_or(Error::ReadOnly { operation })
    }

    async fn read<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl Fn(&Connection) -> Outcome<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.ensure_own_process(std::process::id())?;
        let permit = Arc::clone(&self.reading).acquire_owned().await.map_err(|_| Error::Interrupted)?;
        let readers = Arc::clone(&self.readers);
        off_thread(move || {
            let read = readers.read(doing, work);
            drop(permit);
            read
        })
        .await
    }
}

/// Does blocking work where it blocks nobody.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Error::Interrupted)?
}

impl RecordBackend for SqliteBackend {
    fn store_id(&self) -> &str {
        &self.store_id
    }

    fn records(&self) -> &dyn Records {
        self
    }

    fn changes(&self) -> Option<&dyn RecordChanges> {
        Some(self)
    }

    fn text_search(&self) -> Option<&dyn TextSearch> {
        Some(self)
    }

    fn links(&self) -> Option<&dyn Links> {
        Some(self)
    }

    fn runs(&self) -> Option<&dyn Runs> {
        Some(self)
    }

    fn leases(&self) -> Option<&dyn Leases> {
        Some(self)
    }

    fn maintenance(&self) -> Option<&dyn Maintenance> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_came_through_a_fork_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let backend = SqliteBackend::open(root.path(), &Options::new(StoreMode::ReadWrite)).unwrap();
        let error = backend.ensure_own_process(backend.opened_by + 1).unwrap_err();
        assert_eq!(error.code(), "records.forked");
        assert!(backend.ensure_own_process(std::process::id()).is_ok());
    }
}
