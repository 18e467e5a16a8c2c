//! What can go wrong in a store.

use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use briefing_core::{RecordId, RunId, SourceError, SourceErrorKind};

/// The cause that a provider kept; shared, because one failed commit fails every write in it.
pub type Cause = Arc<dyn StdError + Send + Sync>;

/// Why a store refused or failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that breaks the rules of its type.
    #[error(transparent)]
    Value(#[from] briefing_core::Error),
    /// What was named is not in the store, or not in this view of it.
    #[error("no {what} {id:?} in this view of the store")]
    NotFound {
        /// What was looked for: record, version, checkpoint, snapshot ...
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// A record with this id exists; to change it, put it with the version that was read.
    #[error("record {id} exists with version {version}; to change it, put it with if_version({version})")]
    Exists {
        /// The record.
        id: RecordId,
        /// Its version.
        version: u64,
    },
    /// The record is not at the version on which the write depends.
    #[error("record {id}: expected version {expected}, it is {}", state(*.actual))]
    VersionConflict {
        /// The record.
        id: RecordId,
        /// The version that was expected.
        expected: u64,
        /// The version that it has; `None` where there is no such record.
        actual: Option<u64>,
    },
    /// A write through a store that was opened read_only.
    #[error("{operation}: the store is open read_only")]
    ReadOnly {
        /// What was tried.
        operation: &'static str,
    },
    /// There is no store to open, and the mode does not allow making one.
    #[error("there is no record store at {}", path.display())]
    NoStore {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// An operation that reaches past the bounds of the view.
    #[error("{asked} is outside this view of the store, which has {view}")]
    OutsideView {
        /// What was asked for.
        asked: String,
        /// The bound of the view that it breaks.
        view: String,
    },
    /// A checkpoint that depends on another state version than the run has.
    #[error("run {run_id}: expected state version {expected}, it is {actual}")]
    StateConflict {
        /// The run.
        run_id: RunId,
        /// The state version that was expected, or the least that would be accepted.
        expected: u64,
        /// The state version of the run, or the one that was given.
        actual: u64,
    },
    /// Somebody else holds the lease.
    #[error("run {run_id} is leased by {owner:?} until {until_millis} ms")]
    LeaseHeld {
        /// The run.
        run_id: RunId,
        /// Who holds it.
        owner: String,
        /// Until when, in milliseconds since the Unix epoch.
        until_millis: u64,
    },
    /// The lease that was shown is not the run's live one.
    #[error("run {run_id}: the lease of {owner:?} with fencing number {fencing} is lost: {reason}")]
    LeaseLost {
        /// The run.
        run_id: RunId,
        /// Who showed it.
        owner: String,
        /// Its fencing number.
        fencing: u64,
        /// What became of it.
        reason: &'static str,
    },
    /// An idempotency key that was used for another event.
    #[error("run {run_id}: the key {key:?} belongs to another event, stored as number {sequence}")]
    EventConflict {
        /// The run.
        run_id: RunId,
        /// The idempotency key.
        key: String,
        /// The sequence number of the stored event.
        sequence: u64,
    },
    /// An event that depends on another place in the run's sequence than the next one.
    #[error("run {run_id}: expected sequence number {expected}, the next one is {actual}")]
    SequenceConflict {
        /// The run.
        run_id: RunId,
        /// The number that was expected.
        expected: u64,
        /// The number that an event would get.
        actual: u64,
    },
    /// An ability that this provider does not have.
    #[error("this store has no {ability}")]
    Unsupported {
        /// The ability.
        ability: &'static str,
    },
    /// A database that a later version made. It is left as it is.
    #[error("{}: the schema is version {found}, this program reads up to {supported}", path.display())]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// The version in the database.
        found: i64,
        /// The latest version that is understood.
        supported: i64,
    },
    /// A file under the store's name that is something else. It is left as it is.
    #[error("{} is no record store: {found}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: String,
    },
    /// A damaged database. It is left as it is.
    #[error("{} is damaged: {detail}", path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What is damaged.
        detail: String,
    },
    /// Another process kept the database locked for too long; nothing was written.
    #[error("another process kept the database locked for {waited_millis} ms")]
    Busy {
        /// How long was waited, in milliseconds.
        waited_millis: u64,
    },
    /// A writer stopped in the middle of something that only a store opened read_write may bring to an end.
    #[error("{} was not closed in order; open it read_write once", path.display())]
    RecoveryNeeded {
        /// The database.
        path: PathBuf,
    },
    /// The database was moved, removed or replaced while it was open; nothing was written. Open the store anew.
    #[error("{} is not the file any more that was opened", path.display())]
    Moved {
        /// Where the database was.
        path: PathBuf,
    },
    /// A handle that was opened before a fork is used in the child.
    #[error("the store was opened by process {opened_by}; process {here} must open it for itself")]
    Forked {
        /// The process that opened it.
        opened_by: u32,
        /// The process that uses it.
        here: u32,
    },
    /// The log of changes no longer reaches back to where the caller stands.
    #[error("the changes since {asked} are not known any more, only those since {floor}")]
    ChangesPruned {
        /// The change that the caller holds.
        asked: u64,
        /// The earliest change from which the log is whole.
        floor: u64,
    },
    /// What changed holds more text than one account of changes may; the view has to be listed anew.
    #[error("the changes hold more than {limit_bytes} bytes of text")]
    ChangesTooLarge {
        /// The most bytes of an account.
        limit_bytes: u64,
    },
    /// A line of an import that cannot be taken in; nothing of the import was kept.
    #[error("line {line} of the import: {reason}")]
    Import {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A file or folder of the store that cannot be used.
    #[error("{}: {doing}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The database failed in a way that has no name of its own.
    #[error("the database failed: {doing}")]
    Database {
        /// What was tried.
        doing: &'static str,
        /// What the database said.
        #[source]
        source: Cause,
    },
    /// The work was cut short: the runtime or the writer is shutting down. It is not known whether it was done.
    #[error("the work on the store was cut short")]
    Interrupted,
}

fn state(version: Option<u64>) -> String {
    version.map_or_else(|| "absent".to_owned(), |version| format!("version {version}"))
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Value(error) => error.code(),
            Self::NotFound { .. } => "records.not_found",
            Self::Exists { .. } => "records.exists",
            Self::VersionConflict { .. } => "records.version_conflict",
            Self::ReadOnly { .. } => "records.read_only",
            Self::NoStore { .. } => "records.no_store",
            Self::OutsideView { .. } => "records.outside_view",
            Self::StateConflict { .. } => "records.state_conflict",
            Self::LeaseHeld { .. } => "records.lease_held",
            Self::LeaseLost { .. } => "records.lease_lost",
            Self::EventConflict { .. } => "records.event_conflict",
            Self::SequenceConflict { .. } => "records.sequence_conflict",
            Self::Unsupported { .. } => "records.unsupported",
            Self::NewerSchema { .. } => "records.newer_schema",
            Self::Foreign { .. } => "records.foreign",
            Self::Corrupt { .. } => "records.corrupt",
            Self::Busy { .. } => "records.busy",
            Self::RecoveryNeeded { .. } => "records.recovery_needed",
            Self::Moved { .. } => "records.moved",
            Self::Forked { .. } => "records.forked",
            Self::ChangesPruned { .. } => "records.changes_pruned",
            Self::ChangesTooLarge { .. } => "records.changes_too_large",
            Self::Import { .. } => "records.import",
            Self::Io { .. } => "records.io",
            Self::Database { .. } => "records.database",
            Self::Interrupted => "records.interrupted",
        }
    }

    pub(crate) fn not_found(what: &'static str, id: impl AsRef<str>) -> Self {
        Self::NotFound { what, id: id.as_ref().to_owned() }
    }

    pub(crate) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { doing, path: path.to_owned(), source: Arc::new(source) }
    }
}

impl From<Error> for SourceError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotFound { .. } | Error::OutsideView { .. } => SourceErrorKind::NotFound,
            Error::Value(_) => SourceErrorKind::Contract,
            Error::Unsupported { .. } => SourceErrorKind::Unsupported,
            _ => SourceErrorKind::Unavailable,
        };
        Self::new(kind, error.to_string()).with_cause(error)
    }
}
