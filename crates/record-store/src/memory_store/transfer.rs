//! Figures, checks, export and import of the whole store.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::{Digest, RecordId, RunId};

use super::{MemoryBackend, State, in_range};
use crate::port::{Maintenance, RecordBackend};
use crate::transfer::{LineReader, LineWriter, StoreStats, TransferLine, TransferReport};
use crate::{Error, Record, RecordFilter};

impl State {
    fn holds(&self) -> TransferReport {
        let mut holds = TransferReport {
            records: self.records.len() as u64,
            versions: self.records.values().map(|living| living.earlier.len() as u64).sum(),
            tombstones: self.tombstones.len() as u64,
            links: self.links.len() as u64,
            runs: self.runs.runs.len() as u64,
            ..TransferReport::default()
        };
        for run in self.runs.runs.values() {
            holds.snapshots += run.snapshots.len() as u64;
            holds.checkpoints += run.checkpoints.len() as u64;
            holds.events += run.events.len() as u64;
        }
        holds
    }

    /// Everything that is wrong.
    fn check(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let versions = self.records.values().map(|living| &living.latest);
        let earlier = self.records.values().flat_map(|living| living.earlier.values());
        for version in versions.chain(earlier) {
            let record = &version.record;
            if Digest::of(&version.stored) != record.digest {
                let (id, number) = (&record.id, record.version);
                wrong.push(format!("record {id} version {number}: the content is not what was put"));
            }
        }
        let nowhere = |id: &RecordId| self.find(id).is_none();
        let lost = self.links.iter().filter(|link| nowhere(&link.source) || nowhere(&link.target)).count();
        if lost > 0 {
            wrong.push(format!("{lost} links to nowhere"));
        }
        wrong
    }

    fn export(&self, store_id: &str, out: &mut dyn Write) -> io::Result<TransferReport> {
        let mut lines = LineWriter::begin(out, store_id)?;
        for living in self.records.values() {
            let whole = living.latest.whole().map_err(io::Error::other)?;
            lines.put(&TransferLine::Record(Box::new(whole)))?;
            for version in living.earlier.values().rev() {
                let whole = version.whole().map_err(io::Error::other)?;
                lines.put(&TransferLine::Version(Box::new(whole)))?;
            }
        }
        for buried in self.tombstones.values() {
            lines.put(&TransferLine::Tombstone(buried.tombstone.clone()))?;
        }
        for link in &self.links {
            lines.put(&TransferLine::Link(link.as_ref().clone()))?;
        }
        for (run_id, run) in self.runs.in_order() {
            lines.put(&TransferLine::Run {
                run_id: run_id.clone(),
                scope: run.scope.clone(),
                state_version: run.state_version,
                fencing: run.fencing,
            })?;
            for snapshot in &run.snapshots {
                lines.put(&TransferLine::Snapshot(snapshot.as_ref().clone()))?;
            }
            for checkpoint in &run.checkpoints {
                lines.put(&TransferLine::Checkpoint(checkpoint.as_ref().clone()))?;
            }
            for event in run.events.values() {
                lines.put(&TransferLine::Event(Box::new(event.as_ref().clone())))?;
            }
        }
        lines.end()
    }
}

/// The lines of an import up to the first that is none, with their numbers, and what came of reading them.
struct Lines {
    lines: Vec<(u64, TransferLine)>,
    outcome: Result<TransferReport, Error>,
}

impl Lines {
    fn read(input: &mut dyn BufRead) -> Self {
        let mut reader = LineReader::new(input);
        let mut lines = Vec::new();
        let outcome = loop {
            match reader.next() {
                Ok(Some(line)) => lines.push(line),
                Ok(None) => break Ok(reader.report()),
                Err(error) => break Err(error),
            }
        };
        Self { lines, outcome }
    }
}

/// Takes in the lines of an export.
struct Import<'a> {
    state: &'a mut State,
    /// The record to which earlier versions belong.
    record: Option<RecordId>,
    /// The run to which snapshots, checkpoints and events belong.
    run: Option<RunId>,
    /// The ids that are taken: each kind has its own.
    links: HashSet<String>,
    snapshots: HashSet<String>,
    checkpoints: HashSet<String>,
}

impl<'a> Import<'a> {
    fn new(state: &'a mut State) -> Self {
        let links = state.links.iter().map(|link| link.id.clone()).collect();
        let (mut snapshots, mut checkpoints) = (HashSet::new(), HashSet::new());
        for run in state.runs.runs.values() {
            snapshots.extend(run.snapshots.iter().map(|snapshot| snapshot.id.clone()));
            checkpoints.extend(run.checkpoints.iter().map(|checkpoint| checkpoint.id.clone()));
        }
        Self { state, record: None, run: None, links, snapshots, checkpoints }
    }

    /// What is wrong with a line that cannot be taken in.
    fn take(&mut self, line: TransferLine) -> Result<(), String> {
        let told = |error: Error| error.to_string();
        match line {
            TransferLine::Header { .. } | TransferLine::End { .. } => Ok(()),
            TransferLine::Record(record) => {
                let Record { record, content } = *record;
                self.state.restore(&record, content).map_err(told)?;
                self.record = Some(record.id);
                Ok(())
            }
            TransferLine::Version(record) => {
                let Record { record, content } = *record;
                if self.record.as_ref() != Some(&record.id) {
                    return Err(told(Error::not_found("record before its version", &record.id)));
                }
                let is_new = self.state.restore_version(&record, content).map_err(told)?;
                unless_there(is_new, || format!("version {} of record {}", record.version, record.id))
            }
            TransferLine::Tombstone(tombstone) => {
                in_range(tombstone.version).map_err(told)?;
                in_range(tombstone.deleted_at_millis).map_err(told)?;
                let changed = self.state.log.add(None, Arc::default(), Arc::default());
                self.state.bury(changed, changed, tombstone);
                Ok(())
            }
            TransferLine::Link(link) => {
                self.state.check_link(&RecordFilter::new(), &link).map_err(told)?;
                unless_there(self.links.insert(link.id.clone()), || format!("link {}", link.id))?;
                self.state.links.push(Arc::new(link));
                Ok(())
            }
            TransferLine::Run { run_id, scope, state_version, fencing } => {
                if !self.state.runs.restore(&run_id, scope, state_version, fencing).map_err(told)? {
                    let free = "a run that is not there yet";
                    return Err(briefing_core::Error::invalid("run_id", &run_id, free).to_string());
                }
                self.run = Some(run_id);
                Ok(())
            }
            TransferLine::Snapshot(snapshot) => {
                self.require_run(&snapshot.run_id)?;
                let is_new = self.snapshots.insert(snapshot.id.clone());
                unless_there(is_new, || format!("snapshot {}", snapshot.id))?;
                self.state.runs.restore_snapshot(snapshot).map_err(told)
            }
            TransferLine::Checkpoint(checkpoint) => {
                self.require_run(&checkpoint.run_id)?;
                let is_new = self.checkpoints.insert(checkpoint.id.clone());
                unless_there(is_new, || format!("checkpoint {}", checkpoint.id))?;
                self.state.runs.restore_checkpoint(checkpoint).map_err(told)
            }
            TransferLine::Event(event) => {
                self.require_run(&event.run_id)?;
                let name = format!("event {}", event.event_id);
                unless_there(self.state.runs.restore_event(*event).map_err(told)?, || name)
            }
        }
    }

    fn require_run(&self, run_id: &RunId) -> Result<(), String> {
        match &self.run {
            Some(id) if id == run_id => Ok(()),
            _ => Err(Error::not_found("run before what it holds", run_id).to_string()),
        }
    }
}

fn unless_there(is_new: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is_new { Ok(()) } else { Err(format!("it is there already: {}", what())) }
}

#[async_trait]
impl Maintenance for MemoryBackend {
    async fn stats(&self) -> Result<StoreStats, Error> {
        let state = self.state();
        Ok(StoreStats {
            record_store_id: self.store_id().to_owned(),
            provider: "memory".to_owned(),
            holds: state.holds(),
            changes: state.log.len(),
            file_bytes: 0,
            durability: "none: it is gone with the process".to_owned(),
        })
    }

    async fn check(&self) -> Result<Vec<String>, Error> {
        Ok(self.state().check())
    }

    async fn backup(&self, _to: &Path) -> Result<(), Error> {
        Err(Error::Unsupported { ability: "backup" })
    }

    async fn export(&self, mut out: Box<dyn Write + Send>) -> Result<TransferReport, Error> {
        let (state, id) = (State::clone(&self.state()), self.store_id().to_owned());
        let done = tokio::task::spawn_blocking(move || state.export(&id, &mut *out)).await;
        done.map_err(|_| Error::Interrupted)?
            .map_err(|error| Error::io("the export cannot be written", Path::new("memory"), error))
    }

    async fn import(&self, mut input: Box<dyn BufRead + Send>) -> Result<TransferReport, Error> {
        let read = tokio::task::spawn_blocking(move || Lines::read(&mut *input)).await;
        let Lines { lines, outcome } = read.map_err(|_| Error::Interrupted)?;
        let mut state = self.state();
        let mut draft = state.clone();
        let mut import = Import::new(&mut draft);
        for (line, content) in lines {
            import.take(content).map_err(|reason| Error::Import { line, reason })?;
        }
        let report = outcome?;
        *state = draft;
        Ok(report)
    }

    async fn prune_changes(&self, keep: u64) -> Result<u64, Error> {
        Ok(self.state().log.prune(keep))
    }

    async fn reidentify(&self) -> Result<String, Error> {
        Err(Error::Unsupported { ability: "new identity, for it is never opened anew" })
    }
}
