//! Leases: who may work on a run.

use async_trait::async_trait;
use briefing_core::{Environment, RunId};
use rusqlite::{Connection, OptionalExtension};

use super::SqliteBackend;
use super::fail::{Outcome, from_db, to_db};
use super::runs::{self, RunRow};
use super::writer::Tx;
use crate::lease::{NEVER_LEASED, lost};
use crate::port::Leases;
use crate::{Error, ExecutionLease, LeaseClaim, LeaseProof, RecordFilter};

fn select(connection: &Connection, row: &RunRow, run: &RunId) -> Outcome<Option<ExecutionLease>> {
    let mut select = connection.prepare_cached(
        "SELECT owner, token, fencing, ttl, until, claimed_at, heartbeat_at, released_at, state_version, snapshot
         FROM leases WHERE run = ?1",
    )?;
    let lease = select.query_row([row.number], |row| {
        Ok(ExecutionLease {
            run_id: run.clone(),
            owner: row.get(0)?,
            token: row.get(1)?,
            fencing: from_db(row.get(2)?),
            ttl_millis: from_db(row.get(3)?),
            until_millis: from_db(row.get(4)?),
            claimed_at_millis: from_db(row.get(5)?),
            heartbeat_at_millis: from_db(row.get(6)?),
            released_at_millis: row.get::<_, Option<i64>>(7)?.map(from_db),
            state_version: from_db(row.get(8)?),
            snapshot_id: row.get(9)?,
        })
    });
    Ok(lease.optional()?)
}

fn write(tx: &Tx<'_>, row: &RunRow, lease: &ExecutionLease) -> Outcome<()> {
    tx.connection
        .prepare_cached(
            "REPLACE INTO leases(run, owner, token, fencing, ttl, until, claimed_at, heartbeat_at, released_at,
                                 state_version, snapshot)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(rusqlite::params![
            row.number,
            lease.owner,
            lease.token,
            to_db(lease.fencing)?,
            to_db(lease.ttl_millis)?,
            to_db(lease.until_millis)?,
            to_db(lease.claimed_at_millis)?,
            to_db(lease.heartbeat_at_millis)?,
            lease.released_at_millis.map(to_db).transpose()?,
            to_db(lease.state_version)?,
            lease.snapshot_id,
        ])?;
    Ok(())
}

/// The run of a lease. One that the view does not see was never leased in it.
fn seen(tx: &Tx<'_>, view: &RecordFilter, run: &RunId, proof: &LeaseProof) -> Outcome<RunRow> {
    let row = runs::seen(tx.connection, view, run)?;
    row.ok_or_else(|| lost(run, proof, NEVER_LEASED).into())
}

/// Refuses a proof that is not of the run's live lease.
pub(super) fn check(
    connection: &Connection,
    row: &RunRow,
    run: &RunId,
    proof: &LeaseProof,
    now: u64,
) -> Outcome<ExecutionLease> {
    let lease = select(connection, row, run)?.ok_or_else(|| lost(run, proof, NEVER_LEASED))?;
    lease.check(proof, now)?;
    Ok(lease)
}

fn claim(
    tx: &Tx<'_>,
    view: &RecordFilter,
    run: &RunId,
    claim: &LeaseClaim,
    environment: &dyn Environment,
) -> Outcome<ExecutionLease> {
    claim.validate()?;
    let row = runs::open(tx, view, run)?;
    let (held, fencing) = (select(tx.connection, &row, run)?, row.fencing + 1);
    let lease = claim.granted(run, held, row.state_version, fencing, environment)?;
    tx.connection
        .prepare_cached("UPDATE runs SET fencing = ?2 WHERE number = ?1")?
        .execute((row.number, to_db(fencing)?))?;
    write(tx, &row, &lease)?;
    Ok(lease)
}

#[async_trait]
impl Leases for SqliteBackend {
    async fn claim(
        &self,
        view: &RecordFilter,
        run: &RunId,
        request: &LeaseClaim,
    ) -> Result<ExecutionLease, Error> {
        let (view, run, request) = (view.clone(), run.clone(), request.clone());
        let environment = self.environment.clone();
        self.write("claiming a lease", move |tx| claim(tx, &view, &run, &request, &*environment)).await
    }

    async fn heartbeat(
        &self,
        view: &RecordFilter,
        run: &RunId,
        proof: &LeaseProof,
        snapshot_id: Option<&str>,
    ) -> Result<ExecutionLease, Error> {
        let (view, run, proof) = (view.clone(), run.clone(), proof.clone());
        let (snapshot_id, environment) = (snapshot_id.map(str::to_owned), self.environment.clone());
        self.write("renewing a lease", move |tx| {
            let row = seen(tx, &view, &run, &proof)?;
            let now = environment.now_unix_millis();
            let mut lease = check(tx.connection, &row, &run, &proof, now)?;
            if let Some(id) = &snapshot_id {
                runs::require_snapshot(tx.connection, &row, id)?;
                lease.snapshot_id = snapshot_id;
            }
            lease.renew(now, row.state_version);
            write(tx, &row, &lease)?;
            Ok(lease)
        })
        .await
    }

    async fn release(
        &self,
        view: &RecordFilter,
        run: &RunId,
        proof: &LeaseProof,
    ) -> Result<ExecutionLease, Error> {
        let (view, run, proof) = (view.clone(), run.clone(), proof.clone());
        let environment = self.environment.clone();
        self.write("releasing a lease", move |tx| {
            let row = seen(tx, &view, &run, &proof)?;
            let now = environment.now_unix_millis();
            let mut lease = check(tx.connection, &row, &run, &proof, now)?;
            lease.released_at_millis = Some(now);
            write(tx, &row, &lease)?;
            Ok(lease)
        })
        .await
    }

    async fn lease(&self, view: &RecordFilter, run: &RunId) -> Result<Option<ExecutionLease>, Error> {
        let (view, run) = (view.clone(), run.clone());
        self.read("reading a lease", move |connection| match runs::seen(connection, &view, &run)? {
            Some(row) => select(connection, &row, &run),
            None => Ok(None),
        })
        .await
    }
}
