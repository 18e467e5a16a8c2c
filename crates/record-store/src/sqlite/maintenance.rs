//! Figures, checks and copies of the whole database.

use std::fs;
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use briefing_core::{Digest, RunId};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OptionalExtension};

use super::SqliteBackend;
use super::fail::{Fail, Outcome, from_db};
use super::records::{self, Prepared};
use super::rows::{self, COLUMNS, Kept};
use super::terms::Terms;
use super::writer::Tx;
use super::{changes, connect, links, runs, schema};
use crate::filter::Labels;
use crate::port::Maintenance;
use crate::transfer::{LineReader, LineWriter, StoreStats, TransferLine, TransferReport};
use crate::{Error, LinkFilter, NewRecord, Record, RecordFilter, Tombstone};

fn count(connection: &Connection, table: &str) -> Outcome<u64> {
    let sql = format!("SELECT count(*) FROM {table}");
    Ok(from_db(connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?))
}

fn holds(connection: &Connection) -> Outcome<TransferReport> {
    Ok(TransferReport {
        records: count(connection, "records")?,
        versions: count(connection, "versions")?,
        tombstones: count(connection, "tombstones")?,
        links: count(connection, "links")?,
        runs: count(connection, "runs")?,
        snapshots: count(connection, "snapshots")?,
        checkpoints: count(connection, "checkpoints")?,
        events: count(connection, "events")?,
    })
}

/// Everything that is wrong with the database.
fn check(connection: &Connection) -> Outcome<Vec<String>> {
    let mut wrong = Vec::new();
    let mut select = connection.prepare("PRAGMA integrity_check")?;
    for said in select.query_map([], |row| row.get::<_, String>(0))? {
        wrong.push(said?);
    }
    wrong.retain(|said| said != "ok");
    for (table, kept) in [("records", Kept::Latest), ("versions", Kept::Earlier)] {
        let mut select = connection.prepare(&format!("SELECT {COLUMNS} FROM {table} ORDER BY number"))?;
        let mut found = select.query([])?;
        while let Some(row) = found.next()? {
            let row = match rows::record_row(row)?.read() {
                Ok(row) => row,
                Err(Fail::Damaged(detail)) => {
                    wrong.push(detail);
                    continue;
                }
                Err(fail) => return Err(fail),
            };
            let stored = rows::stored(connection, &row, kept)?;
            let record = &row.record;
            if let Kept::Latest = kept {
                wrong.extend(labels_differ(connection, &row)?);
            }
            if Digest::of(&stored) != record.digest {
                wrong.push(format!(
                    "record {} version {}: the content is not what was put",
                    record.id, record.version
                ));
            }
        }
    }
    for table in ["checkpoints", "snapshots"] {
        let mut select = connection.prepare(&format!("SELECT id, digest, state FROM {table}"))?;
        let mut found = select.query([])?;
        while let Some(row) = found.next()? {
            let (id, state): (String, String) = (row.get(0)?, row.get(2)?);
            if Digest::of(state.as_bytes()) != rows::digest_of(&row.get::<_, Vec<u8>>(1)?)? {
                wrong.push(format!("{table} {id}: the state is not what was put"));
            }
        }
    }
    let pairs = [
        ("records without terms", "records WHERE number NOT IN (SELECT id FROM record_terms_docsize)"),
        ("terms without a record", "record_terms_docsize WHERE id NOT IN (SELECT number FROM records)"),
        ("labels without a record", "record_labels WHERE record NOT IN (SELECT number FROM records)"),
        ("records without labels", "records WHERE number NOT IN (SELECT record FROM record_labels)"),
        (
            "links to nowhere",
            "links WHERE source NOT IN (SELECT number FROM records)
             OR target NOT IN (SELECT number FROM records)",
        ),
        (
            "chunks without a version",
            "chunks WHERE changed NOT IN
             (SELECT changed FROM records UNION SELECT changed FROM versions)",
        ),
    ];
    for (what, which) in pairs {
        let number = count(connection, which)?;
        if number > 0 {
            wrong.push(format!("{number} {what}"));
        }
    }
    Ok(wrong)
}

/// Says so where a record's labels are not those that its row tells.
fn labels_differ(connection: &Connection, row: &rows::RecordRow) -> Outcome<Option<String>> {
    let texts = Labels::from(&row.record).texts();
    let mut borne = connection.prepare_cached(
        "SELECT 1 FROM record_labels WHERE record = ?2 AND label = (SELECT id FROM labels WHERE text = ?1)",
    )?;
    for text in &texts {
        if borne.query_row((text, row.number), |_| Ok(())).optional()?.is_none() {
            return Ok(Some(format!("record {}: it is not listed under {text:?}", row.record.id)));
        }
    }
    Ok(None)
}

fn export(
    connection: &Connection,
    store_id: &str,
    path: &Path,
    out: &mut dyn Write,
) -> Outcome<TransferReport> {
    let told = |error| Fail::Store(Error::io("the export cannot be written", path, error));
    let mut lines = LineWriter::begin(out, store_id).map_err(told)?;
    let mut put = |line: TransferLine| lines.put(&line).map_err(told);
    let mut select = connection.prepare(&format!("SELECT {COLUMNS} FROM records ORDER BY number"))?;
    let mut earlier = connection
        .prepare(&format!("SELECT {COLUMNS} FROM versions WHERE number = ?1 ORDER BY version DESC"))?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        let row = rows::record_row(row)?.read()?;
        let number = row.number;
        let content = rows::content(connection, &row, Kept::Latest)?;
        put(TransferLine::Record(Box::new(Record { record: row.record, content })))?;
        let mut found = earlier.query([number])?;
        while let Some(row) = found.next()? {
            let row = rows::record_row(row)?.read()?;
            let content = rows::content(connection, &row, Kept::Earlier)?;
            put(TransferLine::Version(Box::new(Record { record: row.record, content })))?;
        }
    }
    for tombstone in tombstones(connection)? {
        put(TransferLine::Tombstone(tombstone))?;
    }
    for link in links::select(connection, &LinkFilter::default())? {
        put(TransferLine::Link(link))?;
    }
    let mut select = connection.prepare("SELECT id FROM runs ORDER BY number")?;
    let ids: Vec<String> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for id in ids {
        let run_id = RunId::new(id)?;
        let Some(row) = runs::seen(connection, &RecordFilter::new(), &run_id)? else { continue };
        let (state_version, fencing) = (row.state_version, row.fencing);
        put(TransferLine::Run { run_id: run_id.clone(), scope: row.scope, state_version, fencing })?;
        for snapshot in runs::snapshots(connection, row.number, &run_id, None)?.into_iter().rev() {
            put(TransferLine::Snapshot(snapshot))?;
        }
        for checkpoint in runs::checkpoints(connection, row.number, &run_id, None, None)?.into_iter().rev() {
            put(TransferLine::Checkpoint(checkpoint))?;
        }
        for event in runs::events(connection, row.number, &crate::EventFilter::default())? {
            put(TransferLine::Event(Box::new(event)))?;
        }
    }
    lines.end().map_err(told)
}

fn tombstones(connection: &Connection) -> Outcome<Vec<Tombstone>> {
    let mut select = connection.prepare(
        "SELECT id, version, collection, kind, scope, tags, digest, deleted_at FROM tombstones ORDER BY number",
    )?;
    let mut found = select.query([])?;
    let mut tombstones = Vec::new();
    while let Some(row) = found.next()? {
        tombstones.push(Tombstone {
            id: briefing_core::RecordId::new(row.get::<_, String>(0)?)?,
            version: from_db(row.get(1)?),
            collection: row.get(2)?,
            kind: row.get(3)?,
            scope: rows::metadata(&row.get::<_, String>(4)?)?,
            tags: serde_json::from_str(&row.get::<_, String>(5)?)?,
            digest: rows::digest_of(&row.get::<_, Vec<u8>>(6)?)?,
            deleted_at_millis: from_db(row.get(7)?),
        });
    }
    Ok(tombstones)
}

/// Takes in the lines of an export.
struct Import<'a, 'tx> {
    tx: &'a mut Tx<'tx>,
    terms: Terms,
    /// The record to which earlier versions belong.
    record: Option<briefing_core::RecordId>,
    /// The run to which snapshots, checkpoints and events belong.
    run: Option<(RunId, runs::RunRow)>,
}

impl Import<'_, '_> {
    fn take(&mut self, line: TransferLine) -> Outcome<()> {
        match line {
            TransferLine::Header { .. } | TransferLine::End { .. } => Ok(()),
            TransferLine::Record(record) => {
                let Record { record, content } = *record;
                let prepared = self.prepared(&record, content);
                records::restore(self.tx, &record, prepared)?;
                self.record = Some(record.id);
                Ok(())
            }
            TransferLine::Version(record) => {
                let Record { record, content } = *record;
                let of = self.record.clone().filter(|of| *of == record.id);
                let of = of.ok_or_else(|| Error::not_found("record before its version", &record.id))?;
                let prepared = self.prepared(&record, content);
                records::restore_version(self.tx, &of, &record, prepared)
            }
            TransferLine::Tombstone(tombstone) => {
                let changed = self.tx.next_change();
                let place = super::fail::to_db(changed)?;
                records::write_tombstone(self.tx, place, changed, &tombstone)?;
                self.tx.log(changed, place, &[], &[])
            }
            TransferLine::Link(link) => links::put(self.tx, &RecordFilter::new(), &link),
            TransferLine::Run { run_id, scope, state_version, fencing } => {
                if runs::seen(self.tx.connection, &RecordFilter::new(), &run_id)?.is_some() {
                    return Err(briefing_core::Error::invalid(
                        "run_id",
                        &run_id,
                        "a run that is not there yet",
                    )
                    .into());
                }
                let row = runs::create(self.tx, &run_id, &scope, state_version, fencing)?;
                self.run = Some((run_id, row));
                Ok(())
            }
            TransferLine::Snapshot(snapshot) => {
                let row = self.run_of(&snapshot.run_id)?;
                runs::write_snapshot(self.tx, row, &snapshot, &snapshot.state.to_string())
            }
            TransferLine::Checkpoint(checkpoint) => {
                let row = self.run_of(&checkpoint.run_id)?;
                runs::write_checkpoint(self.tx, row, &checkpoint, &checkpoint.state.to_string())
            }
            TransferLine::Event(event) => {
                let row = self.run_of(&event.run_id)?;
                runs::write_event(self.tx, row, &event)
            }
        }
    }

    fn run_of(&self, run_id: &RunId) -> Outcome<&runs::RunRow> {
        match &self.run {
            Some((id, row)) if id == run_id => Ok(row),
            _ => Err(Error::not_found("run before what it holds", run_id).into()),
        }
    }

    fn prepared(&mut self, record: &crate::RecordRef, content: crate::RecordContent) -> Prepared {
        Prepared::new(NewRecord::update(record, content), &mut self.terms)
    }
}

fn import(tx: &mut Tx<'_>, input: &mut dyn BufRead) -> Outcome<TransferReport> {
    let mut lines = LineReader::new(input);
    let mut import = Import { tx, terms: Terms::default(), record: None, run: None };
    while let Some((_, line)) = lines.next()? {
        import.take(line).map_err(|fail| match fail {
            Fail::Store(error) => lines.fault(error.to_string()).into(),
            Fail::Damaged(detail) => lines.fault(detail).into(),
            Fail::Sql(error) => match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::ConstraintViolation) => {
                    lines.fault(format!("it is there already: {error}")).into()
                }
                _ => Fail::Sql(error),
            },
        })?;
    }
    Ok(lines.report())
}

/// An input as a file of its own.
fn spool(input: &mut dyn BufRead) -> std::io::Result<BufReader<fs::File>> {
    let mut file = tempfile::tempfile()?;
    std::io::copy(input, &mut file)?;
    file.rewind()?;
    Ok(BufReader::new(file))
}

fn backup(connection: &Connection, to: &Path) -> Outcome<()> {
    let mut copy = Connection::open(to)?;
    let backup = Backup::new(connection, &mut copy)?;
    // All pages in one step: one moment of the store.
    match backup.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(Error::Busy { waited_millis: 0 }.into()),
    }
}

#[async_trait]
impl Maintenance for SqliteBackend {
    async fn stats(&self) -> Result<StoreStats, Error> {
        let (id, path) = (self.store_id.clone(), self.path.clone());
        self.read("counting", move |connection| {
            // A connection that takes the file for one that does not change knows nothing of its log; the header tells.
            let journal = match schema::look(&path)? {
                schema::Looks::Store { wal: true } => "write-ahead log",
                _ => "rollback journal",
            };
            Ok(StoreStats {
                record_store_id: id.clone(),
                provider: "sqlite".to_owned(),
                holds: holds(connection)?,
                changes: count(connection, "changes")?,
                file_bytes: fs::metadata(&path).map(|file| file.len()).unwrap_or_default(),
                durability: format!("{journal}, schema {}", schema::SCHEMA_VERSION),
            })
        })
        .await
    }

    async fn check(&self) -> Result<Vec<String>, Error> {
        // The integrity check of FTS5 looks at the structure of the table that its connection remembers from an earlier
        // search, and takes what others have merged since for damage.
        self.readers.forget_idle();
        self.read("checking", check).await
    }

    async fn backup(&self, to: &Path) -> Result<(), Error> {
        let to = to.to_owned();
        let made = to.clone();
        super::off_thread(move || {
            let made_new = connect::private_file().create_new(true).open(&made);
            made_new.map(drop).map_err(|error| Error::io("the copy cannot be made", &made, error))
        })
        .await?;
        let copied = {
            let to = to.clone();
            self.read("copying the database", move |connection| backup(connection, &to)).await
        };
        if copied.is_err() {
            // Half a copy is none; that it stays is worth no second error.
            let _ = super::off_thread(move || {
                let _ = fs::remove_file(&to);
                Ok(())
            })
            .await;
        }
        copied
    }

    async fn export(&self, out: Box<dyn Write + Send>) -> Result<TransferReport, Error> {
        let (id, path, out) = (self.store_id.clone(), self.path.clone(), Mutex::new(Some(out)));
        self.read("exporting", move |connection| {
            // A second try would write everything twice.
            let out = out.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(mut out) = out else { return Err(Error::Busy { waited_millis: 0 }.into()) };
            export(connection, &id, &path, &mut *out)
        })
        .await
    }

    async fn import(&self, mut input: Box<dyn BufRead + Send>) -> Result<TransferReport, Error> {
        let writer = self.writer("importing")?;
        let path = self.path.clone();
        // All is read before the writer is asked for: a slow input must not keep others from writing.
        let mut spooled = super::off_thread(move || {
            spool(&mut *input).map_err(|error| Error::io("the import cannot be read", &path, error))
        })
        .await?;
        writer.write_much("importing", move |tx| import(tx, &mut spooled)).await
    }

    async fn prune_changes(&self, keep: u64) -> Result<u64, Error> {
        self.write("pruning the log of changes", move |tx| changes::prune(tx.connection, keep)).await
    }

    async fn reidentify(&self) -> Result<String, Error> {
        let id = self.environment.new_id("store");
        self.write("giving the store a new id", move |tx| {
            schema::set_value(tx.connection, "record_store_id", &id)?;
            Ok(id)
        })
        .await
    }
}
