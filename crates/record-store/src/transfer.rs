//! The lines of an export, and figures about a store.

use std::io::{self, BufRead, Write};

use briefing_core::{Digest, Metadata, RunId};
use serde::{Deserialize, Serialize};

use crate::content::check_depth;
use crate::{Checkpoint, Error, NewRecord, Record, RecordLink, Snapshot, StoredRuntimeEvent, Tombstone};

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

/// Writes the lines of an export and counts them.
pub(crate) struct LineWriter<'a> {
    out: &'a mut dyn Write,
    report: TransferReport,
}

impl<'a> LineWriter<'a> {
    /// Begins with the header.
    pub(crate) fn begin(out: &'a mut dyn Write, store_id: &str) -> io::Result<Self> {
        let mut lines = Self { out, report: TransferReport::default() };
        let record_store_id = store_id.to_owned();
        lines.put(&TransferLine::Header { schema: EXPORT_SCHEMA.to_owned(), record_store_id })?;
        Ok(lines)
    }

    pub(crate) fn put(&mut self, line: &TransferLine) -> io::Result<()> {
        self.report.count(line);
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.out.write_all(&text)
    }

    /// Ends with the last line.
    pub(crate) fn end(mut self) -> io::Result<TransferReport> {
        let report = self.report;
        self.put(&TransferLine::End { report })?;
        self.out.flush()?;
        Ok(report)
    }
}

/// Reads the lines of an export, each checked by itself and by its place.
pub(crate) struct LineReader<'a> {
    input: &'a mut dyn BufRead,
    text: Vec<u8>,
    /// The number of the last line that was read, from 1.
    number: u64,
    ended: bool,
    report: TransferReport,
}

impl<'a> LineReader<'a> {
    pub(crate) fn new(input: &'a mut dyn BufRead) -> Self {
        Self { input, text: Vec::new(), number: 0, ended: false, report: TransferReport::default() }
    }

    /// The fault of the last line that was read.
    pub(crate) fn fault(&self, reason: impl Into<String>) -> Error {
        Error::Import { line: self.number, reason: reason.into() }
    }

    /// How much was read.
    pub(crate) fn report(&self) -> TransferReport {
        self.report
    }

    /// The next line with its number; `None` at the end of a whole export.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, TransferLine)>, Error> {
        loop {
            self.number += 1;
            self.text.clear();
            let read = self.input.read_until(b'\n', &mut self.text);
            if read.map_err(|error| self.fault(error.to_string()))? == 0 {
                return match self.ended {
                    true => Ok(None),
                    false => Err(self.fault("the export was cut short: it has no last line")),
                };
            }
            if !self.text.iter().all(u8::is_ascii_whitespace) {
                let line = self.line()?;
                return Ok(Some((self.number, line)));
            }
        }
    }

    fn line(&mut self) -> Result<TransferLine, Error> {
        if self.ended {
            return Err(self.fault("a line after the last one"));
        }
        let line = serde_json::from_slice(&self.text).map_err(|error| self.fault(error.to_string()))?;
        match &line {
            TransferLine::Header { schema, .. } if self.number == 1 && schema == EXPORT_SCHEMA => {}
            TransferLine::Header { schema, .. } if self.number == 1 => {
                let reason = format!("the schema is {schema:?}, this program reads {EXPORT_SCHEMA:?}");
                return Err(self.fault(reason));
            }
            _ if self.number == 1 => {
                return Err(self.fault(format!("no header with the schema {EXPORT_SCHEMA:?}")));
            }
            TransferLine::End { report: told } if *told != self.report => {
                return Err(self.fault("the export holds another number of lines than it says"));
            }
            TransferLine::End { .. } => self.ended = true,
            _ => {}
        }
        self.report.count(&line);
        line.verify().map_err(|reason| self.fault(reason))?;
        Ok(line)
    }
}

impl TransferLine {
    /// What is wrong with a line that was changed, or that no store would take.
    fn verify(&self) -> Result<(), String> {
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
    fn count(&mut self, line: &TransferLine) {
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
