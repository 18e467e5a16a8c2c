//! The provider in memory: for tests, and for small things that need not outlive the process.
//!
//! One lock guards everything, and no index helps a search or a filter: both look at every record. A write that fails
//! leaves all as it was: it checks before it changes anything, or works on a copy that takes the place of the original in
//! the end. What is large is shared between copies, so a copy costs as much as there are records, not as they hold.

mod changes;
mod leases;
mod links;
mod records;
mod runs;
mod search;
mod transfer;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use briefing_core::{Environment, RecordId};

use self::changes::Log;
use self::records::{Buried, Living};
use self::runs::RunBook;
use crate::marks::Marks;
use crate::port::{Leases, Links, Maintenance, RecordBackend, RecordChanges, Records, Runs, TextSearch};
use crate::{Error, RecordFilter, RecordLink};

/// A store that is gone with its last handle.
#[derive(Debug)]
pub(crate) struct MemoryBackend {
    store_id: String,
    environment: Arc<dyn Environment>,
    state: Mutex<State>,
    marks: Marks,
}

/// Everything that the store holds.
#[derive(Debug, Clone, Default)]
struct State {
    /// Records by their places, which are the changes that made them.
    records: BTreeMap<u64, Arc<Living>>,
    places: HashMap<RecordId, u64>,
    /// What is left of deleted records, by the places that they had.
    tombstones: BTreeMap<u64, Arc<Buried>>,
    /// The places that a record had before it was deleted.
    graves: HashMap<RecordId, Vec<u64>>,
    log: Log,
    /// The earliest first.
    links: Vec<Arc<RecordLink>>,
    runs: RunBook,
}

impl State {
    /// A record and its place, whatever the view.
    fn find(&self, id: &RecordId) -> Option<(u64, &Arc<Living>)> {
        let place = *self.places.get(id)?;
        Some((place, self.records.get(&place)?))
    }

    /// A record that must be in the view.
    fn seen(&self, view: &RecordFilter, id: &RecordId) -> Result<(u64, &Arc<Living>), Error> {
        let found = self.find(id).filter(|(_, living)| view.admits(&living.latest.record));
        found.ok_or_else(|| Error::not_found("record", id))
    }
}

impl MemoryBackend {
    pub(crate) fn new(environment: Arc<dyn Environment>) -> Self {
        Self {
            store_id: environment.new_id("store"),
            environment,
            state: Mutex::default(),
            marks: Marks::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordBackend for MemoryBackend {
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

/// Refuses a number that a database could not keep: what one provider takes in, all do.
fn in_range(number: u64) -> Result<u64, Error> {
    match i64::try_from(number) {
        Ok(_) => Ok(number),
        Err(_) => Err(briefing_core::Error::invalid("number", number, "at most 2^63 - 1").into()),
    }
}

/// A content that is not as the store keeps it.
fn damaged(id: &RecordId, detail: &str) -> Error {
    Error::Corrupt { path: PathBuf::from("memory"), detail: format!("record {id}: {detail}") }
}
