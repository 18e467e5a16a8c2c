//! The ports of a provider: small traits, one for each ability. A provider implements what it has.
//!
//! A provider need not know of modes and views beyond what its methods are given: the facade
//! [`RecordStore`](crate::RecordStore) refuses writes in read_only, merges the view's scope into what is written and narrows
//! every filter by the view. A `view` argument bounds what a method may show or change.

use std::io::{BufRead, Write};
use std::path::Path;

use async_trait::async_trait;
use briefing_core::{RecordId, RunId};
use serde::{Deserialize, Serialize};

use crate::{
    Checkpoint, Error, EventFilter, ExecutionLease, LeaseClaim, LeaseProof, LinkFilter, ListRequest, NewLink,
    NewRecord, NewStep, PruneReport, Record, RecordContentSegment, RecordCursor, RecordFilter, RecordLink,
    RecordPage, RecordRef, SearchHit, SearchRequest, Snapshot, StepOutcome, StoreStats, StoredRuntimeEvent,
    Tombstone, TransferReport, Window,
};

/// A provider of record storage. What it answers with `None` it does not have.
pub trait RecordBackend: Send + Sync + std::fmt::Debug {
    /// The store's own random id; it goes with the data when the data is moved.
    fn store_id(&self) -> &str;

    /// Records.
    fn records(&self) -> &dyn Records;

    /// The account of what changed; the context sources need it.
    fn changes(&self) -> Option<&dyn RecordChanges> {
        None
    }

    /// Search by words.
    fn text_search(&self) -> Option<&dyn TextSearch> {
        None
    }

    /// Links.
    fn links(&self) -> Option<&dyn Links> {
        None
    }

    /// Checkpoints, snapshots and events.
    fn runs(&self) -> Option<&dyn Runs> {
        None
    }

    /// Leases.
    fn leases(&self) -> Option<&dyn Leases> {
        None
    }

    /// Figures, checks, copies.
    fn maintenance(&self) -> Option<&dyn Maintenance> {
        None
    }
}

/// Records and their versions.
#[async_trait]
pub trait Records: Send + Sync {
    /// Puts records in one transaction: all of them, or none. They are validated and bound to the view already.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::VersionConflict`]; [`Error::OutsideView`] where the record that would be changed is not in
    /// the view.
    async fn put_many(&self, view: &RecordFilter, records: Vec<NewRecord>) -> Result<Vec<RecordRef>, Error>;

    /// The records with these ids, in this order; `None` for what is not in the view. One read transaction.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn get_many(&self, view: &RecordFilter, ids: &[RecordId]) -> Result<Vec<Option<Record>>, Error>;

    /// What the store says about a record, without its content.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn describe(&self, view: &RecordFilter, id: &RecordId) -> Result<RecordRef, Error>;

    /// A page of records.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn list(&self, request: &ListRequest) -> Result<RecordPage, Error>;

    /// How many records a filter means.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn count(&self, filter: &RecordFilter) -> Result<u64, Error>;

    /// Deletes a record with all its versions and links, and leaves a tombstone.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::VersionConflict`].
    async fn delete(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        if_version: Option<u64>,
    ) -> Result<Tombstone, Error>;

    /// All versions of a record, the latest first.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    async fn history(&self, view: &RecordFilter, id: &RecordId) -> Result<Vec<RecordRef>, Error>;

    /// A window of a record's content, of the latest version or of the one that is named.
    ///
    /// # Errors
    /// [`Error::NotFound`]: no such record in the view, or no such version.
    async fn read_bounded(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        version: Option<u64>,
        window: Window,
    ) -> Result<RecordContentSegment, Error>;
}

/// The state of a view at one moment: equal states of one view mean equal records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ViewState(pub u64);

/// A record with its text, as a context source describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewedRecord {
    /// Its place in the order of the store, which it keeps as long as it lives and no other gets.
    pub place: RecordCursor,
    /// What the store says about it.
    pub record: RecordRef,
    /// Its text, or the beginning of it; `None` for bytes.
    pub text: Option<String>,
    /// Whether `text` is the whole.
    pub whole: bool,
}

/// A page of a view, in the order of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewPage {
    /// The state in which the page was read.
    pub state: ViewState,
    /// The records.
    pub records: Vec<ViewedRecord>,
    /// Whether more come after the last one.
    pub more: bool,
}

/// What became of a record of a view.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewChange {
    /// It is in the view, and new or otherwise than it was.
    Upsert(Box<ViewedRecord>),
    /// What had this place is not in the view (any more).
    Remove(RecordCursor),
}

/// What changed in a view since a state of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewChanges {
    /// The state to which the changes lead.
    pub state: ViewState,
    /// The changes; each record at most once.
    pub changes: Vec<ViewChange>,
}

/// The account of what changed in a view. A write that is outside a view before and after leaves its state as it is.
#[async_trait]
pub trait RecordChanges: Send + Sync {
    /// The state of a view. It costs what changed since it was asked before, not what the view holds.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn state(&self, view: &RecordFilter) -> Result<ViewState, Error>;

    /// A page of a view after a place, with the texts up to `max_text_bytes` each, read in one transaction.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn page(
        &self,
        view: &RecordFilter,
        after: Option<RecordCursor>,
        limit: usize,
        max_text_bytes: u64,
    ) -> Result<ViewPage, Error>;

    /// A window of a record of a view, with the state in which it was read.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a record outside the view.
    async fn read(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        window: Window,
    ) -> Result<(ViewState, RecordContentSegment), Error>;

    /// What changed since a state, with the texts up to `max_text_bytes` each, read in one transaction.
    ///
    /// # Errors
    /// [`Error::ChangesPruned`] where the account no longer reaches back; [`Error::ChangesTooLarge`] where a new listing, which
    /// comes in pages, is due.
    async fn since(
        &self,
        view: &RecordFilter,
        state: ViewState,
        max_text_bytes: u64,
    ) -> Result<ViewChanges, Error>;
}

/// Search by words.
#[async_trait]
pub trait TextSearch: Send + Sync {
    /// The best hits, those with every word of the query first, then by score, then the earliest put.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn search(&self, request: &SearchRequest) -> Result<Vec<SearchHit>, Error>;
}

/// Links between records.
#[async_trait]
pub trait Links: Send + Sync {
    /// Makes links in one transaction.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an end that is not in the view.
    async fn link_many(&self, view: &RecordFilter, links: Vec<NewLink>) -> Result<Vec<RecordLink>, Error>;

    /// Links whose ends are both in the view, the earliest first.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn links(&self, view: &RecordFilter, filter: &LinkFilter) -> Result<Vec<RecordLink>, Error>;

    /// Removes a link; says whether it was there.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn unlink(&self, view: &RecordFilter, id: &str) -> Result<bool, Error>;
}

/// Checkpoints, snapshots and runtime events of runs.
///
/// A run takes the scope of the view that first writes to it. To a view with another scope it does not exist: reads give
/// nothing, writes are refused with [`Error::OutsideView`].
#[async_trait]
pub trait Runs: Send + Sync {
    /// Writes a step in one transaction.
    ///
    /// # Errors
    /// [`Error::StateConflict`], [`Error::LeaseLost`], [`Error::EventConflict`], [`Error::SequenceConflict`],
    /// [`Error::OutsideView`]; [`Error::NotFound`] for a snapshot that a checkpoint names and the run does not have.
    async fn commit_step(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step: NewStep,
    ) -> Result<StepOutcome, Error>;

    /// The run's state version; 0 for a run without checkpoints.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn state_version(&self, view: &RecordFilter, run: &RunId) -> Result<u64, Error>;

    /// The run's checkpoints, the latest first.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn checkpoints(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step_id: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<Checkpoint>, Error>;

    /// The run's snapshots, the latest first.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        limit: Option<usize>,
    ) -> Result<Vec<Snapshot>, Error>;

    /// Removes all but the run's last snapshots and those that a live lease or the latest checkpoint names.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn prune_snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        keep_last: u64,
    ) -> Result<PruneReport, Error>;

    /// Removes a snapshot that nothing names; says whether it was there.
    ///
    /// # Errors
    /// [`Error::Value`] where a live lease or the latest checkpoint names it.
    async fn delete_snapshot(&self, view: &RecordFilter, run: &RunId, id: &str) -> Result<bool, Error>;

    /// Events of a run, in the order of their sequence.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn events(
        &self,
        view: &RecordFilter,
        run: &RunId,
        filter: &EventFilter,
    ) -> Result<Vec<StoredRuntimeEvent>, Error>;
}

/// Leases of runs. Time is that of the store's [`Environment`](briefing_core::Environment).
#[async_trait]
pub trait Leases: Send + Sync {
    /// Claims the lease of a run that nobody holds, or that the same owner holds.
    ///
    /// # Errors
    /// [`Error::LeaseHeld`], [`Error::StateConflict`], [`Error::OutsideView`].
    async fn claim(
        &self,
        view: &RecordFilter,
        run: &RunId,
        claim: &LeaseClaim,
    ) -> Result<ExecutionLease, Error>;

    /// Renews a lease, and says which snapshot its holder works from.
    ///
    /// # Errors
    /// [`Error::LeaseLost`]; [`Error::NotFound`] for a snapshot that the run does not have.
    async fn heartbeat(
        &self,
        view: &RecordFilter,
        run: &RunId,
        proof: &LeaseProof,
        snapshot_id: Option<&str>,
    ) -> Result<ExecutionLease, Error>;

    /// Gives a lease back.
    ///
    /// # Errors
    /// [`Error::LeaseLost`].
    async fn release(
        &self,
        view: &RecordFilter,
        run: &RunId,
        proof: &LeaseProof,
    ) -> Result<ExecutionLease, Error>;

    /// The lease of a run, live or not.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn lease(&self, view: &RecordFilter, run: &RunId) -> Result<Option<ExecutionLease>, Error>;
}

/// Figures, checks and copies of a whole store.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// How much the store holds.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn stats(&self) -> Result<StoreStats, Error>;

    /// Looks for damage and returns what was found; empty is sound.
    ///
    /// # Errors
    /// What the provider says where it cannot look.
    async fn check(&self) -> Result<Vec<String>, Error>;

    /// Copies the store, as it is at one moment, to a new file, while others go on working with it.
    ///
    /// # Errors
    /// [`Error::Io`] where the file exists or cannot be made.
    async fn backup(&self, to: &Path) -> Result<(), Error>;

    /// Writes the store, as it is at one moment, as JSON Lines.
    ///
    /// # Errors
    /// [`Error::Io`] where `out` fails.
    async fn export(&self, out: Box<dyn Write + Send>) -> Result<TransferReport, Error>;

    /// Takes in what an export wrote: all of it, or nothing.
    ///
    /// # Errors
    /// [`Error::Import`] naming the line.
    async fn import(&self, input: Box<dyn BufRead + Send>) -> Result<TransferReport, Error>;

    /// Forgets what changed before the last `keep` changes. A reader that stands further back lists its view anew.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn prune_changes(&self, keep: u64) -> Result<u64, Error>;

    /// Gives the store a new id: for a copy that lives on beside its original.
    ///
    /// # Errors
    /// What the provider says where it fails.
    async fn reidentify(&self) -> Result<String, Error>;
}
