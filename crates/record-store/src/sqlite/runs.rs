//! Runs: steps in one transaction, checkpoints, snapshots and events.

use async_trait::async_trait;
use briefing_core::{Environment, Error as ValueError, Metadata, RunId};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::SqliteBackend;
use super::fail::{Outcome, from_db, to_db};
use super::writer::Tx;
use super::{leases, rows};
use crate::port::Runs;
use crate::{
    Checkpoint, Error, EventFilter, NewCheckpoint, NewEvent, NewSnapshot, NewStep, PruneReport, RecordFilter,
    Snapshot, StepOutcome, StoredRuntimeEvent,
};

/// A run's row.
pub(super) struct RunRow {
    pub(super) number: i64,
    pub(super) scope: Metadata,
    pub(super) state_version: u64,
    pub(super) fencing: u64,
}

fn find(connection: &Connection, run: &RunId) -> Outcome<Option<RunRow>> {
    let mut select =
        connection.prepare_cached("SELECT number, scope, state_version, fencing FROM runs WHERE id = ?1")?;
    let row: Option<(i64, String, i64, i64)> = select
        .query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((number, scope, state_version, fencing)) = row else { return Ok(None) };
    let scope = rows::metadata(&scope)?;
    Ok(Some(RunRow { number, scope, state_version: from_db(state_version), fencing: from_db(fencing) }))
}

/// A run as a view sees it.
pub(super) fn seen(connection: &Connection, view: &RecordFilter, run: &RunId) -> Outcome<Option<RunRow>> {
    Ok(find(connection, run)?.filter(|row| view.admits_scope(&row.scope)))
}

/// A run to write to; a new one takes the view's scope.
pub(super) fn open(tx: &Tx<'_>, view: &RecordFilter, run: &RunId) -> Outcome<RunRow> {
    match find(tx.connection, run)? {
        Some(row) if view.admits_scope(&row.scope) => Ok(row),
        Some(_) => {
            let scope = serde_json::Value::Object(view.scope.clone()).to_string();
            Err(Error::OutsideView { asked: format!("run {run}"), view: format!("scope {scope}") }.into())
        }
        None => create(tx, run, &view.scope, 0, 0),
    }
}

/// A new run.
pub(super) fn create(
    tx: &Tx<'_>,
    run: &RunId,
    scope: &Metadata,
    state_version: u64,
    fencing: u64,
) -> Outcome<RunRow> {
    tx.connection
        .prepare_cached("INSERT INTO runs(id, scope, state_version, fencing) VALUES(?1, ?2, ?3, ?4)")?
        .execute((run.as_str(), rows::json_of(scope), to_db(state_version)?, to_db(fencing)?))?;
    Ok(RunRow { number: tx.connection.last_insert_rowid(), scope: scope.clone(), state_version, fencing })
}

fn commit_step(
    tx: &Tx<'_>,
    view: &RecordFilter,
    run: &RunId,
    step: NewStep,
    environment: &dyn Environment,
) -> Outcome<StepOutcome> {
    let mut row = open(tx, view, run)?;
    if let Some(proof) = &step.lease {
        leases::check(tx.connection, &row, run, proof, environment.now_unix_millis())?;
    }
    let mut outcome = StepOutcome::default();
    let keep_last = step.snapshot.as_ref().and_then(|snapshot| snapshot.keep_last);
    if let Some(snapshot) = step.snapshot {
        outcome.snapshot = Some(put_snapshot(tx, &row, run, snapshot, environment)?);
    }
    if let Some(mut checkpoint) = step.checkpoint {
        let own = outcome.snapshot.as_ref().map(|snapshot| snapshot.id.clone());
        checkpoint.snapshot_id = checkpoint.snapshot_id.or(own);
        outcome.checkpoint = Some(put_checkpoint(tx, &mut row, run, checkpoint, environment)?);
    }
    for event in step.events {
        outcome.events.push(append(tx, &row, run, event, environment)?);
    }
    if let Some(keep_last) = keep_last {
        outcome.pruned = Some(prune(tx, &row, keep_last, environment.now_unix_millis())?);
    }
    Ok(outcome)
}

fn put_snapshot(
    tx: &Tx<'_>,
    row: &RunRow,
    run: &RunId,
    new: NewSnapshot,
    environment: &dyn Environment,
) -> Outcome<Snapshot> {
    let (mut snapshot, text) = new.taken(run, environment);
    write_snapshot(tx, row, &snapshot, &text)?;
    snapshot.sequence = from_db(tx.connection.last_insert_rowid());
    Ok(snapshot)
}

/// Writes a snapshot behind all others.
pub(super) fn write_snapshot(tx: &Tx<'_>, row: &RunRow, snapshot: &Snapshot, state: &str) -> Outcome<()> {
    tx.connection
        .prepare_cached(
            "INSERT INTO snapshots(id, run, step, digest, created_at, state) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            &snapshot.id,
            row.number,
            &snapshot.step_id,
            snapshot.digest.as_bytes(),
            to_db(snapshot.created_at_millis)?,
            state,
        ))?;
    Ok(())
}

fn put_checkpoint(
    tx: &Tx<'_>,
    row: &mut RunRow,
    run: &RunId,
    new: NewCheckpoint,
    environment: &dyn Environment,
) -> Outcome<Checkpoint> {
    let state_version = new.next_version(run, row.state_version)?;
    if let Some(id) = &new.snapshot_id {
        require_snapshot(tx.connection, row, id)?;
    }
    let (mut checkpoint, text) = new.taken(run, state_version, environment);
    write_checkpoint(tx, row, &checkpoint, &text)?;
    checkpoint.sequence = from_db(tx.connection.last_insert_rowid());
    tx.connection
        .prepare_cached("UPDATE runs SET state_version = ?2 WHERE number = ?1")?
        .execute((row.number, to_db(state_version)?))?;
    row.state_version = state_version;
    Ok(checkpoint)
}

/// Writes a checkpoint behind all others.
pub(super) fn write_checkpoint(
    tx: &Tx<'_>,
    row: &RunRow,
    checkpoint: &Checkpoint,
    state: &str,
) -> Outcome<()> {
    tx.connection
        .prepare_cached(
            "INSERT INTO checkpoints(id, run, step, state_version, snapshot, digest, created_at, state)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            &checkpoint.id,
            row.number,
            &checkpoint.step_id,
            to_db(checkpoint.state_version)?,
            &checkpoint.snapshot_id,
            checkpoint.digest.as_bytes(),
            to_db(checkpoint.created_at_millis)?,
            state,
        ))?;
    Ok(())
}

/// Refuses a snapshot that the run does not have.
pub(super) fn require_snapshot(connection: &Connection, row: &RunRow, id: &str) -> Outcome<()> {
    let mut select = connection.prepare_cached("SELECT 1 FROM snapshots WHERE id = ?1 AND run = ?2")?;
    match select.query_row((id, row.number), |_| Ok(())).optional()? {
        Some(()) => Ok(()),
        None => Err(Error::not_found("snapshot", id).into()),
    }
}

fn append(
    tx: &Tx<'_>,
    row: &RunRow,
    run: &RunId,
    new: NewEvent,
    environment: &dyn Environment,
) -> Outcome<StoredRuntimeEvent> {
    new.validate()?;
    if let Some(key) = &new.idempotency_key {
        let mut select = tx
            .connection
            .prepare_cached("SELECT event FROM events WHERE run = ?1 AND idempotency_key = ?2")?;
        let stored: Option<String> = select.query_row((row.number, key), |row| row.get(0)).optional()?;
        if let Some(stored) = stored {
            return Ok(new.repeated(serde_json::from_str(&stored)?)?);
        }
    }
    let mut select = tx.connection.prepare_cached("SELECT max(sequence) FROM events WHERE run = ?1")?;
    let last: Option<i64> = select.query_row([row.number], |row| row.get(0))?;
    let sequence = last.map_or(0, from_db) + 1;
    new.check_place(run, sequence)?;
    if let Some(id) = &new.event_id {
        let mut select = tx.connection.prepare_cached("SELECT 1 FROM events WHERE id = ?1")?;
        if select.query_row([id], |_| Ok(())).optional()?.is_some() {
            return Err(ValueError::invalid("event_id", id, "an id that no event has").into());
        }
    }
    let event = new.placed(run, sequence, environment);
    write_event(tx, row, &event)?;
    Ok(event)
}

/// Writes an event at its place.
pub(super) fn write_event(tx: &Tx<'_>, row: &RunRow, event: &StoredRuntimeEvent) -> Outcome<()> {
    tx.connection
        .prepare_cached(
            "INSERT INTO events(run, sequence, id, type, idempotency_key, event) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            row.number,
            to_db(event.sequence)?,
            &event.event_id,
            &event.event_type,
            &event.idempotency_key,
            serde_json::to_string(event)?,
        ))?;
    Ok(())
}

/// The snapshots that something names: the latest checkpoint of the run, or its live lease.
const PINNED: &str = "(SELECT snapshot FROM
         (SELECT snapshot FROM checkpoints WHERE run = ?1 ORDER BY number DESC LIMIT 1)
     WHERE snapshot IS NOT NULL
     UNION SELECT snapshot FROM leases
     WHERE run = ?1 AND snapshot IS NOT NULL AND released_at IS NULL AND until > ?2)";

fn prune(tx: &Tx<'_>, row: &RunRow, keep_last: u64, now: u64) -> Outcome<PruneReport> {
    if keep_last == 0 {
        return Err(ValueError::invalid("keep_last", 0, "at least 1").into());
    }
    let (run, now, keep) = (row.number, to_db(now)?, i64::try_from(keep_last).unwrap_or(i64::MAX));
    let old = format!(
        "run = ?1 AND number NOT IN (SELECT number FROM snapshots WHERE run = ?1 ORDER BY number DESC LIMIT ?3)
         AND id NOT IN {PINNED}"
    );
    let (removed, removed_bytes): (i64, i64) = tx
        .connection
        .prepare_cached(&format!(
            "SELECT count(*), coalesce(sum(octet_length(state)), 0) FROM snapshots WHERE {old}"
        ))?
        .query_row((run, now, keep), |row| Ok((row.get(0)?, row.get(1)?)))?;
    tx.connection.prepare_cached(&format!("DELETE FROM snapshots WHERE {old}"))?.execute((run, now, keep))?;
    let retained: i64 = tx
        .connection
        .prepare_cached("SELECT count(*) FROM snapshots WHERE run = ?1")?
        .query_row([run], |row| row.get(0))?;
    let retained = from_db(retained);
    Ok(PruneReport {
        retained,
        pinned: retained.saturating_sub(keep_last),
        removed: from_db(removed),
        removed_bytes: from_db(removed_bytes),
    })
}

fn checkpoint_of(row: &Row<'_>, run: &RunId) -> Outcome<Checkpoint> {
    let state: String = row.get(7)?;
    Ok(Checkpoint {
        id: row.get(0)?,
        run_id: run.clone(),
        step_id: row.get(1)?,
        sequence: from_db(row.get(2)?),
        state_version: from_db(row.get(3)?),
        snapshot_id: row.get(4)?,
        digest: rows::digest_of(&row.get::<_, Vec<u8>>(5)?)?,
        size_bytes: state.len() as u64,
        created_at_millis: from_db(row.get(6)?),
        state: serde_json::from_str(&state)?,
    })
}

/// The checkpoints of a run, the latest first.
pub(super) fn checkpoints(
    connection: &Connection,
    number: i64,
    run: &RunId,
    step_id: Option<&str>,
    limit: Option<usize>,
) -> Outcome<Vec<Checkpoint>> {
    let mut select = connection.prepare_cached(
        "SELECT id, step, number, state_version, snapshot, digest, created_at, state FROM checkpoints
         WHERE run = ?1 AND (?2 IS NULL OR step = ?2) ORDER BY number DESC LIMIT ?3",
    )?;
    let mut found = select.query((number, step_id, at_most(limit)))?;
    let mut checkpoints = Vec::new();
    while let Some(row) = found.next()? {
        checkpoints.push(checkpoint_of(row, run)?);
    }
    Ok(checkpoints)
}

/// The snapshots of a run, the latest first.
pub(super) fn snapshots(
    connection: &Connection,
    number: i64,
    run: &RunId,
    limit: Option<usize>,
) -> Outcome<Vec<Snapshot>> {
    let mut select = connection.prepare_cached(
        "SELECT id, step, number, digest, created_at, state FROM snapshots
         WHERE run = ?1 ORDER BY number DESC LIMIT ?2",
    )?;
    let mut found = select.query((number, at_most(limit)))?;
    let mut snapshots = Vec::new();
    while let Some(row) = found.next()? {
        let state: String = row.get(5)?;
        snapshots.push(Snapshot {
            id: row.get(0)?,
            run_id: run.clone(),
            step_id: row.get(1)?,
            sequence: from_db(row.get(2)?),
            digest: rows::digest_of(&row.get::<_, Vec<u8>>(3)?)?,
            size_bytes: state.len() as u64,
            created_at_millis: from_db(row.get(4)?),
            state: serde_json::from_str(&state)?,
        });
    }
    Ok(snapshots)
}

/// The events of a run, in their order.
pub(super) fn events(
    connection: &Connection,
    number: i64,
    filter: &EventFilter,
) -> Outcome<Vec<StoredRuntimeEvent>> {
    let mut sql = String::from("SELECT event FROM events WHERE run = ?");
    let mut values = vec![Value::Integer(number)];
    let mut narrow = |test: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(test);
            values.push(value);
        }
    };
    narrow(" AND type = ?", filter.event_type.clone().map(Value::Text));
    narrow(" AND id = ?", filter.event_id.clone().map(Value::Text));
    narrow(" AND sequence >= ?", filter.from_sequence.map(to_db).transpose()?.map(Value::Integer));
    narrow(" AND sequence <= ?", filter.to_sequence.map(to_db).transpose()?.map(Value::Integer));
    narrow(" ORDER BY sequence LIMIT ?", Some(Value::Integer(at_most(filter.limit))));
    let mut select = connection.prepare_cached(&sql)?;
    let mut found = select.query(params_from_iter(values))?;
    let mut events = Vec::new();
    while let Some(row) = found.next()? {
        events.push(serde_json::from_str(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?);
    }
    Ok(events)
}

/// A limit for the database, for which a negative one is none.
fn at_most(limit: Option<usize>) -> i64 {
    limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

#[async_trait]
impl Runs for SqliteBackend {
    async fn commit_step(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step: NewStep,
    ) -> Result<StepOutcome, Error> {
        let (view, run, environment) = (view.clone(), run.clone(), self.environment.clone());
        self.write("writing a step", move |tx| commit_step(tx, &view, &run, step, &*environment)).await
    }

    async fn state_version(&self, view: &RecordFilter, run: &RunId) -> Result<u64, Error> {
        let (view, run) = (view.clone(), run.clone());
        self.read("reading a run", move |connection| {
            Ok(seen(connection, &view, &run)?.map_or(0, |row| row.state_version))
        })
        .await
    }

    async fn checkpoints(
        &self,
        view: &RecordFilter,
        run: &RunId,
        step_id: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Vec<Checkpoint>, Error> {
        let (view, run, step_id) = (view.clone(), run.clone(), step_id.map(str::to_owned));
        self.read("reading checkpoints", move |connection| {
            let Some(row) = seen(connection, &view, &run)? else { return Ok(Vec::new()) };
            checkpoints(connection, row.number, &run, step_id.as_deref(), limit)
        })
        .await
    }

    async fn snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        limit: Option<usize>,
    ) -> Result<Vec<Snapshot>, Error> {
        let (view, run) = (view.clone(), run.clone());
        self.read("reading snapshots", move |connection| {
            let Some(row) = seen(connection, &view, &run)? else { return Ok(Vec::new()) };
            snapshots(connection, row.number, &run, limit)
        })
        .await
    }

    async fn prune_snapshots(
        &self,
        view: &RecordFilter,
        run: &RunId,
        keep_last: u64,
    ) -> Result<PruneReport, Error> {
        let (view, run, environment) = (view.clone(), run.clone(), self.environment.clone());
        self.write("pruning snapshots", move |tx| match seen(tx.connection, &view, &run)? {
            Some(row) => prune(tx, &row, keep_last, environment.now_unix_millis()),
            None => Ok(PruneReport::default()),
        })
        .await
    }

    async fn delete_snapshot(&self, view: &RecordFilter, run: &RunId, id: &str) -> Result<bool, Error> {
        let (view, run, id) = (view.clone(), run.clone(), id.to_owned());
        let environment = self.environment.clone();
        self.write("deleting a snapshot", move |tx| {
            let Some(row) = seen(tx.connection, &view, &run)? else { return Ok(false) };
            let now = to_db(environment.now_unix_millis())?;
            let pinned = format!("SELECT 1 WHERE ?3 IN {PINNED}");
            let mut pinned = tx.connection.prepare_cached(&pinned)?;
            if pinned.query_row((row.number, now, &id), |_| Ok(())).optional()?.is_some() {
                let free = "a snapshot that neither the latest checkpoint nor a live lease names";
                return Err(ValueError::invalid("snapshot_id", &id, free).into());
            }
            let mut delete =
                tx.connection.prepare_cached("DELETE FROM snapshots WHERE id = ?1 AND run = ?2")?;
            Ok(delete.execute((&id, row.number))? > 0)
        })
        .await
    }

    async fn events(
        &self,
        view: &RecordFilter,
        run: &RunId,
        filter: &EventFilter,
    ) -> Result<Vec<StoredRuntimeEvent>, Error> {
        let (view, run, filter) = (view.clone(), run.clone(), filter.clone());
        self.read("reading events", move |connection| {
            let Some(row) = seen(connection, &view, &run)? else { return Ok(Vec::new()) };
            events(connection, row.number, &filter)
        })
        .await
    }
}
