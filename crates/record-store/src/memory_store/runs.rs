//! Runs: steps that are written whole, checkpoints, snapshots and events.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::{Environment, Error as ValueError, Metadata, RunId};

use super::{MemoryBackend, in_range};
use crate::port::Runs;
use crate::{
    Checkpoint, Error, EventFilter, ExecutionLease, NewCheckpoint, NewEvent, NewSnapshot, NewStep,
    PruneReport, RecordFilter, Snapshot, StepOutcome, StoredRuntimeEvent,
};

/// All runs, and what is counted across them.
#[derive(Debug, Clone, Default)]
pub(super) struct RunBook {
    pub(super) runs: HashMap<RunId, Arc<Run>>,
    pub(super) counted: Counted,
    event_ids: HashSet<String>,
}

/// The last places that were given; they are never given again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    snapshot: u64,
    checkpoint: u64,
}

/// A run and all that it holds, the earliest first.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// Its place among the runs, from 1.
    pub(super) number: u64,
    pub(super) scope: Metadata,
    pub(super) state_version: u64,
    pub(super) fencing: u64,
    pub(super) lease: Option<ExecutionLease>,
    pub(super) snapshots: Vec<Arc<Snapshot>>,
    pub(super) checkpoints: Vec<Arc<Checkpoint>>,
    pub(super) events: BTreeMap<u64, Arc<StoredRuntimeEvent>>,
    keys: HashMap<String, u64>,
}

/// A copy of a run to write to; nothing is written before it is kept.
pub(super) struct Draft {
    id: RunId,
    pub(super) run: Run,
    counted: Counted,
    event_ids: Vec<String>,
}

impl RunBook {
    /// A run as a view sees it.
    pub(super) fn seen(&self, view: &RecordFilter, id: &RunId) -> Option<&Run> {
        self.runs.get(id).map(|run| &**run).filter(|run| view.admits_scope(&run.scope))
    }

    /// A run to write to; a new one takes the view's scope.
    pub(super) fn draft(&self, view: &RecordFilter, id: &RunId) -> Result<Draft, Error> {
        let run = match self.runs.get(id) {
            Some(run) if view.admits_scope(&run.scope) => Run::clone(run),
            Some(_) => {
                let scope = serde_json::Value::Object(view.scope.clone());
                return Err(Error::OutsideView {
                    asked: format!("run {id}"),
                    view: format!("scope {scope}"),
                });
            }
            None => Run::new(self.runs.len() as u64 + 1, view.scope.clone(), 0, 0),
        };
        Ok(Draft { id: id.clone(), run, counted: self.counted, event_ids: Vec::new() })
    }

    pub(super) fn keep(&mut self, draft: Draft) {
        self.counted = draft.counted;
        self.event_ids.extend(draft.event_ids);
        self.runs.insert(draft.id, Arc::new(draft.run));
    }

    /// Whether an event has this id.
    fn has_event(&self, draft: &Draft, id: &str) -> bool {
        self.event_ids.contains(id) || draft.event_ids.iter().any(|known| known == id)
    }

    /// The runs in the order in which they were made.
    pub(super) fn in_order(&self) -> Vec<(&RunId, &Run)> {
        let mut runs: Vec<(&RunId, &Run)> = self.runs.iter().map(|(id, run)| (id, &**run)).collect();
        runs.sort_by_key(|(_, run)| run.number);
        runs
    }

    /// A run that an import brings; says whether it was not there yet.
    pub(super) fn restore(
        &mut self,
        id: &RunId,
        scope: Metadata,
        state_version: u64,
        fencing: u64,
    ) -> Result<bool, Error> {
        if self.runs.contains_key(id) {
            return Ok(false);
        }
        let (state_version, fencing) = (in_range(state_version)?, in_range(fencing)?);
        let run = Run::new(self.runs.len() as u64 + 1, scope, state_version, fencing);
        self.runs.insert(id.clone(), Arc::new(run));
        Ok(true)
    }

    /// A snapshot that an import brings, behind all others.
    pub(super) fn restore_snapshot(&mut self, mut snapshot: Snapshot) -> Result<(), Error> {
        in_range(snapshot.created_at_millis)?;
        if let Some(run) = self.runs.get_mut(&snapshot.run_id) {
            self.counted.snapshot += 1;
            snapshot.sequence = self.counted.snapshot;
            snapshot.size_bytes = snapshot.state.to_string().len() as u64;
            Arc::make_mut(run).snapshots.push(Arc::new(snapshot));
        }
        Ok(())
    }

    /// A checkpoint that an import brings, behind all others.
    pub(super) fn restore_checkpoint(&mut self, mut checkpoint: Checkpoint) -> Result<(), Error> {
        in_range(checkpoint.state_version)?;
        in_range(checkpoint.created_at_millis)?;
        if let Some(run) = self.runs.get_mut(&checkpoint.run_id) {
            self.counted.checkpoint += 1;
            checkpoint.sequence = self.counted.checkpoint;
            checkpoint.size_bytes = checkpoint.state.to_string().len() as u64;
            Arc::make_mut(run).checkpoints.push(Arc::new(checkpoint));
        }
        Ok(())
    }

    /// An event that an import brings, at its place; says whether place, id and key were free.
    pub(super) fn restore_event(&mut self, event: StoredRuntimeEvent) -> Result<bool, Error> {
        in_range(event.sequence)?;
        let Some(run) = self.runs.get_mut(&event.run_id) else { return Ok(false) };
        let run = Arc::make_mut(run);
        let key_is_free = event.idempotency_key.as_ref().is_none_or(|key| !run.keys.contains_key(key));
        let free = key_is_free && !run.events.contains_key(&event.sequence);
        if !free || !self.event_ids.insert(event.event_id.clone()) {
            return Ok(false);
        }
        run.add(event);
        Ok(true)
    }
}

impl Run {
    fn new(number: u64, scope: Metadata, state_version: u64, fencing: u64) -> Self {
        Self {
            number,
            scope,
            state_version,
            fencing,
            lease: None,
            snapshots: Vec::new(),
            checkpoints: Vec::new(),
            events: BTreeMap::new(),
            keys: HashMap::new(),
        }
    }

    fn add(&mut self, event: StoredRuntimeEvent) {
        if let Some(key) = &event.idempotency_key {
            self.keys.insert(key.clone(), event.sequence);
        }
        self.events.insert(event.sequence, Arc::new(event));
    }

    /// Refuses a snapshot that the run does not have.
    pub(super) fn require_snapshot(&self, id: &str) -> Result<(), Error> {
        match self.snapshots.iter().any(|snapshot| snapshot.id == id) {
            true => Ok(()),
            false => Err(Error::not_found("snapshot", id)),
        }
    }

    /// The snapshots that something names: the latest checkpoint of the run, or its live lease.
    fn pinned(&self, now: u64) -> BTreeSet<String> {
        let lease = self.lease.as_ref().filter(|lease| lease.is_live(now));
        let latest = self.checkpoints.last().and_then(|checkpoint| checkpoint.snapshot_id.clone());
        latest.into_iter().chain(lease.and_then(|lease| lease.snapshot_id.clone())).collect()
    }

    fn prune(&mut self, keep_last: u64, now: u64) -> Result<PruneReport, Error> {
        if keep_last == 0 {
            return Err(ValueError::invalid("keep_last", 0, "at least 1").into());
        }
        let pinned = self.pinned(now);
        let keep = usize::try_from(keep_last).unwrap_or(usize::MAX);
        let old = self.snapshots.len().saturating_sub(keep);
        let mut report = PruneReport::default();
        let mut kept = Vec::with_capacity(self.snapshots.len());
        for (at, snapshot) in self.snapshots.drain(..).enumerate() {
            if at < old && !pinned.contains(&snapshot.id) {
                report.removed += 1;
                report.removed_bytes += snapshot.size_bytes;
            } else {
                kept.push(snapshot);
            }
        }
        self.snapshots = kept;
        report.retained = self.snapshots.len() as u64;
        report.pinned = report.retained.saturating_sub(keep_last);
        Ok(report)
    }
}

impl Draft {
    fn step(
        &mut self,
        book: &RunBook,
        step: NewStep,
        environment: &dyn Environment,
    ) -> Result<StepOutcome, Error> {
        if let Some(proof) = &step.lease {
            self.run.held_lease(&self.id, proof, environment.now_unix_millis())?;
        }
        let mut outcome = StepOutcome::default();
        let keep_last = step.snapshot.as_ref().and_then(|snapshot| snapshot.keep_last);
        if let Some(snapshot) = step.snapshot {
            outcome.snapshot = Some(self.put_snapshot(snapshot, environment));
        }
        if let Some(mut checkpoint) = step.checkpoint {
            let own = outcome.snapshot.as_ref().map(|snapshot| snapshot.id.clone());
            checkpoint.snapshot_id = checkpoint.snapshot_id.or(own);
            outcome.checkpoint = Some(self.put_checkpoint(checkpoint, environment)?);
        }
        for event in step.events {
            outcome.events.push(self.append(book, event, environment)?);
        }
        if let Some(keep_last) = keep_last {
            outcome.pruned = Some(self.run.prune(keep_last, environment.now_unix_millis())?);
        }
        Ok(outcome)
    }

    fn put_snapshot(&mut self, new: NewSnapshot, environment: &dyn Environment) -> Snapshot {
        let (mut snapshot, _) = new.taken(&self.id, environment);
        self.counted.snapshot += 1;
        snapshot.sequence = self.counted.snapshot;
        self.run.snapshots.push(Arc::new(snapshot.clone()));
        snapshot
    }

    fn put_checkpoint(
        &mut self,
        new: NewCheckpoint,
        environment: &dyn Environment,
    ) -> Result<Checkpoint, Error> {
        let state_version = new.next_version(&self.id, self.run.state_version)?;
        if let Some(id) = &new.snapshot_id {
            self.run.require_snapshot(id)?;
        }
        let (mut checkpoint, _) = new.taken(&self.id, in_range(state_version)?, environment);
        self.counted.checkpoint += 1;
        checkpoint.sequence = self.counted.checkpoint;
        self.run.checkpoints.push(Arc::new(checkpoint.clone()));
        self.run.state_version = state_version;
        Ok(checkpoint)
    }

    fn append(
        &mut self,
        book: &RunBook,
        new: NewEvent,
        environment: &dyn Environment,
    ) -> Result<StoredRuntimeEvent, Error> {
        new.validate()?;
        if let Some(key) = &new.idempotency_key
            && let Some(stored) = self.run.keys.get(key).and_then(|sequence| self.run.events.get(sequence))
        {
            return new.repeated(StoredRuntimeEvent::clone(stored));
        }
        let sequence = self.run.events.last_key_value().map_or(0, |(last, _)| *last) + 1;
        new.check_place(&self.id, sequence)?;
        if let Some(id) = new.event_id.as_ref().filter(|id| book.has_event(self, id)) {
            return Err(ValueError::invalid("event_id", id, "an id that no event has").into());
        }
        let event = new.placed(&self.id, in_range(sequence)?, environment);
        self.event_ids.push(event.event_id.clone());
        self.run.add(event.clone());
        Ok(event)
    }
}

fn admits(filter: &EventFilter, event: &StoredRuntimeEvent) -> bool {
    filter.event_type.as_ref().is_none_or(|event_type| *event_type == event.event_type)
        && filter.event_id.as_ref().is_none_or(|id| *id == event.event_id)
        && filter.from_sequence.is_none_or(|from| event.sequence >= from)
        && filter.to_sequence.is_none_or(|to| event.sequence <= to)
}

#[async_trait]
impl Runs for MemoryBackend {
    async fn commit_step(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step: NewStep,
    ) -> Result<StepOutcome, Error> {
        let mut state = self.state();
        let mut draft = state.runs.draft(view, run)?;
        let outcome = draft.step(&state.runs, step, &*self.environment)?;
        state.runs.keep(draft);
        Ok(outcome)
    }

    async fn state_version(&self, view: &RecordFilter, run: &RunId) -> Result<u64, Error> {
        Ok(self.state().runs.seen(view, run).map_or(0, |run| run.state_version))
    }

    async fn checkpoints(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step_id: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<Checkpoint>, Error> {
        let state = self.state();
        let all = state.runs.seen(view, run).into_iter().flat_map(|run| run.checkpoints.iter().rev());
        let meant = all.filter(|checkpoint| step_id.is_none() || checkpoint.step_id.as_deref() == step_id);
        Ok(meant.take(limit.unwrap_or(usize::MAX)).map(|checkpoint| Checkpoint::clone(checkpoint)).collect())
    }

    async fn snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        limit: Option<usize>,
    ) -> Result<Vec<Snapshot>, Error> {
        let state = self.state();
        let all = state.runs.seen(view, run).into_iter().flat_map(|run| run.snapshots.iter().rev());
        Ok(all.take(limit.unwrap_or(usize::MAX)).map(|snapshot| Snapshot::clone(snapshot)).collect())
    }

    async fn prune_snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        keep_last: u64,
    ) -> Result<PruneReport, Error> {
        let mut state = self.state();
        if state.runs.seen(view, run).is_none() {
            return Ok(PruneReport::default());
        }
        let mut draft = state.runs.draft(view, run)?;
        let report = draft.run.prune(keep_last, self.environment.now_unix_millis())?;
        state.runs.keep(draft);
        Ok(report)
    }

    async fn delete_snapshot(&self, view: &RecordFilter, run: &RunId, id: &str) -> Result<bool, Error> {
        let mut state = self.state();
        let Some(seen) = state.runs.seen(view, run) else { return Ok(false) };
        if seen.pinned(self.environment.now_unix_millis()).contains(id) {
            let free = "a snapshot that neither the latest checkpoint nor a live lease names";
            return Err(ValueError::invalid("snapshot_id", id, free).into());
        }
        let Some(run) = state.runs.runs.get_mut(run) else { return Ok(false) };
        let snapshots = &mut Arc::make_mut(run).snapshots;
        let before = snapshots.len();
        snapshots.retain(|snapshot| snapshot.id != id);
        Ok(snapshots.len() < before)
    }

    async fn events(
        &self,
        view: &RecordFilter,
        run: &RunId,
        filter: &EventFilter,
    ) -> Result<Vec<StoredRuntimeEvent>, Error> {
        let state = self.state();
        let Some(run) = state.runs.seen(view, run) else { return Ok(Vec::new()) };
        for bound in [filter.from_sequence, filter.to_sequence].into_iter().flatten() {
            in_range(bound)?;
        }
        let meant = run.events.values().filter(|event| admits(filter, event));
        let meant = meant.take(filter.limit.unwrap_or(usize::MAX));
        Ok(meant.map(|event| StoredRuntimeEvent::clone(event)).collect())
    }
}
