//! The lines of an export, and figures about a store.

use briefing_core::{Digest, Metadata, RunId};
use serde::{Deserialize, Serialize};

use crate::content::check_depth;
use crate::{Checkpoint, NewRecord, Record, RecordLink, Snapshot, StoredRuntimeEvent, Tombstone};

/// The schema of an export; its first line carries it.
pub const EXPORT_SCHEMA: &str = "briefing.records_export/1";

/// One line of an export. A record comes before its earlier versions, records before the links between them, runs before what they hold; within a kind the order
/// is that of the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
#[non_exhaustive]
pub enum TransferLine {
    /// The first line.
    Header {
        /// [`EXPORT_SCHEMA`].
        schema: String,
        /// The store that was exported.
        record_store_id: String,
    },
    /// An earlier version of the record before it.
    Version(Box<Record>),
    /// A record.
    Record(Box<Record>),
    /// What is left of a record.
    Tombstone(Tombstone),
    /// A link.
    Link(RecordLink),
    /// A run.
    Run {
        /// The run.
        run_id: RunId,
        /// Its scope.
        scope: Metadata,
        /// Its state version.
        state_version: u64,
        /// The number of its last lease.
        fencing: u64,
    },
    /// A snapshot.
    Snapshot(Snapshot),
    /// A checkpoint.
    Checkpoint(Checkpoint),
    /// An event.
    Event(Box<StoredRuntimeEvent>),
    /// The last line; an export without it was cut short.
    End {
        /// What was written.
        report: TransferReport,
    },
}

/// How much was exported or imported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransferReport {
    /// Records.
    pub records: u64,
    /// Earlier versions of records.
    pub versions: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// Links.
    pub links: u64,
    /// Runs.
    pub runs: u64,
    /// Snapshots.
    pub snapshots: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Events.
    pub events: u64,
}

impl TransferLine {
    /// What is wrong with a line that was changed, or that no store would take.
    pub(crate) fn verify(&self) -> Result<(), String> {
        let state = |what: &str, id: &str, state: &serde_json::Value, digest: Digest| {
            check_depth("state", [state]).map_err(|error| error.to_string())?;
            unchanged(what, id, Digest::of(state.to_string().as_bytes()), digest)
        };
        match self {
            Self::Record(record) | Self::Version(record) => {
                let Record { record, content } = &**record;
                unchanged("record", record.id.as_str(), content.digest(), record.digest)?;
                if content.format() != record.format {
                    return Err(format!(
                        "record {}: the content is no {}",
                        record.id,
                        record.format.as_str()
                    ));
                }
                let valid = NewRecord::update(record, content.clone()).validated();
                valid.map(drop).map_err(|error| error.to_string())
            }
            Self::Snapshot(snapshot) => state("snapshot", &snapshot.id, &snapshot.state, snapshot.digest),
            Self::Checkpoint(checkpoint) => {
                state("checkpoint", &checkpoint.id, &checkpoint.state, checkpoint.digest)
            }
            Self::Event(event) => check_depth("payload", [&event.payload]).map_err(|error| error.to_string()),
            Self::Header { .. }
            | Self::Tombstone(_)
            | Self::Link(_)
            | Self::Run { .. }
            | Self::End { .. } => Ok(()),
        }
    }
}

fn unchanged(what: &str, id: &str, found: Digest, stated: Digest) -> Result<(), String> {
    if found == stated {
        return Ok(());
    }
    Err(format!("{what} {id}: the digest of what it holds is {found}, it says {stated}"))
}

impl TransferReport {
    /// Counts one line.
    pub(crate) fn count(&mut self, line: &TransferLine) {
        let number = match line {
            TransferLine::Header { .. } | TransferLine::End { .. } => return,
            TransferLine::Version(_) => &mut self.versions,
            TransferLine::Record(_) => &mut self.records,
            TransferLine::Tombstone(_) => &mut self.tombstones,
            TransferLine::Link(_) => &mut self.links,
            TransferLine::Run { .. } => &mut self.runs,
            TransferLine::Snapshot(_) => &mut self.snapshots,
            TransferLine::Checkpoint(_) => &mut self.checkpoints,
            TransferLine::Event(_) => &mut self.events,
        };
        *number += 1;
    }
}

/// How much a store holds, and how it keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoreStats {
    /// The store.
    pub record_store_id: String,
    /// What keeps it: `sqlite`, `memory`, ...
    pub provider: String,
    /// How much it holds.
    pub holds: TransferReport,
    /// How many changes are on record.
    pub changes: u64,
    /// The size of its file in bytes; 0 without a file.
    pub file_bytes: u64,
    /// How writes are kept safe, in the provider's words.
    pub durability: String,
}
