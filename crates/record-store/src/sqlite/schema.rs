//! The tables, and what a file must be to be opened.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use briefing_core::Environment;
use rusqlite::{Connection, TransactionBehavior};

use super::fail::{Fail, Outcome};
use crate::Error;

/// `BRFS`: marks a database as a record store.
pub(super) const APPLICATION_ID: i32 = 0x4252_4653;

/// The version of the tables below.
pub(super) const SCHEMA_VERSION: i64 = 1;

/// One record is one row of `records`. `number` is the change that created it and orders the store; `changed` is the
/// change that wrote this version and names its chunks. Content comes last, so that a row's facts are read without it.
///
/// `record_labels` holds each record under its collection, kind, tags and keys of scope; a label's `changed` is the last
/// change of a record that bore it before or after. `changes` is the log: the labels before and after each change.
const SCHEMA: &str = "
CREATE TABLE store(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE records(
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    collection TEXT NOT NULL,
    kind TEXT,
    path TEXT,
    format INTEGER NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    chars INTEGER,
    summary TEXT,
    scope TEXT NOT NULL,
    source TEXT NOT NULL,
    tags TEXT NOT NULL,
    meta TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    content BLOB
) STRICT;

CREATE TABLE versions(
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    collection TEXT NOT NULL,
    kind TEXT,
    path TEXT,
    format INTEGER NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    chars INTEGER,
    summary TEXT,
    scope TEXT NOT NULL,
    source TEXT NOT NULL,
    tags TEXT NOT NULL,
    meta TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    content BLOB,
    PRIMARY KEY(number, version)
) STRICT;

CREATE TABLE chunks(
    changed INTEGER NOT NULL,
    first INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY(changed, first)
) STRICT;

CREATE TABLE tombstones(
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    collection TEXT NOT NULL,
    kind TEXT,
    scope TEXT NOT NULL,
    tags TEXT NOT NULL,
    digest BLOB NOT NULL,
    deleted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tombstones_by_id ON tombstones(id);

CREATE TABLE labels(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, changed INTEGER NOT NULL) STRICT;
CREATE TABLE record_labels(
    label INTEGER NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY(label, record)
) STRICT, WITHOUT ROWID;

CREATE TABLE changes(
    seq INTEGER PRIMARY KEY,
    record INTEGER NOT NULL,
    before TEXT,
    after TEXT
) STRICT;

CREATE VIRTUAL TABLE record_terms USING fts5(
    summary, body, content='', contentless_delete=1, tokenize=\"ascii tokenchars '+#.'\"
);

CREATE TABLE links(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    source INTEGER NOT NULL,
    target INTEGER NOT NULL,
    relation TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    meta TEXT NOT NULL
) STRICT;
CREATE INDEX links_by_source ON links(source, relation);
CREATE INDEX links_by_target ON links(target, relation);

CREATE TABLE runs(
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    state_version INTEGER NOT NULL,
    fencing INTEGER NOT NULL
) STRICT;
CREATE TABLE checkpoints(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL,
    step TEXT,
    state_version INTEGER NOT NULL,
    snapshot TEXT,
    digest BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE INDEX checkpoints_by_run ON checkpoints(run);
CREATE TABLE snapshots(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL,
    step TEXT,
    digest BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE INDEX snapshots_by_run ON snapshots(run);
CREATE TABLE leases(
    run INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    token TEXT NOT NULL,
    fencing INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    until INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    released_at INTEGER,
    state_version INTEGER NOT NULL,
    snapshot TEXT
) STRICT;
CREATE TABLE events(
    run INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    idempotency_key TEXT,
    event TEXT NOT NULL,
    PRIMARY KEY(run, sequence)
) STRICT;
CREATE UNIQUE INDEX events_by_key ON events(run, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX events_by_type ON events(run, type, sequence);
";

/// What a file is by its first bytes, without opening it as a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    /// No file, or an empty one.
    New,
    /// A record store that this version reads.
    Store {
        /// Whether its changes go to a write-ahead log.
        wal: bool,
    },
}

/// Looks at a file's header (<https://www.sqlite.org/fileformat.html>, section 1.3) and refuses what must not be touched.
pub(super) fn look(path: &Path) -> Result<Looks, Error> {
    let mut header = Vec::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Looks::New),
        Err(error) => return Err(Error::io("the database cannot be read", path, error)),
    };
    file.take(100)
        .read_to_end(&mut header)
        .map_err(|error| Error::io("the database cannot be read", path, error))?;
    if header.is_empty() {
        return Ok(Looks::New);
    }
    let foreign = |found: &str| Error::Foreign { path: path.to_owned(), found: found.to_owned() };
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(foreign("its first bytes are not those of an SQLite database"));
    }
    let number = |at: usize| {
        let bytes = header.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        bytes.map(i32::from_be_bytes)
    };
    let page_size = header.get(16..18).and_then(|bytes| <[u8; 2]>::try_from(bytes).ok());
    let page_size = page_size.map_or(0, u16::from_be_bytes);
    let versions = (header.get(18).copied(), header.get(19).copied());
    let sound = (page_size == 1 || (page_size >= 512 && page_size.is_power_of_two()))
        && matches!(versions, (Some(1 | 2), Some(1 | 2)));
    let (Some(user_version), Some(application_id), true) = (number(60), number(68), sound) else {
        return Err(Error::Corrupt { path: path.to_owned(), detail: "its header makes no sense".to_owned() });
    };
    let newer = i64::from(user_version) > SCHEMA_VERSION;
    if newer || application_id != APPLICATION_ID {
        // Whose database it is can only be told of one that is sound.
        probe(path).map_err(|error| Error::Corrupt { path: path.to_owned(), detail: error.to_string() })?;
        // Whoever marks databases as their own does not number ours.
        return Err(if newer && [0, APPLICATION_ID].contains(&application_id) {
            let found = user_version.into();
            Error::NewerSchema { path: path.to_owned(), found, supported: SCHEMA_VERSION }
        } else {
            foreign("an SQLite database of another program")
        });
    }
    Ok(Looks::Store { wal: versions.1 == Some(2) })
}

/// Reads a database's list of tables without locking or changing anything.
fn probe(path: &Path) -> rusqlite::Result<()> {
    let connection = super::connect::immutable(path)?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
}

/// Makes the tables where there are none, and brings old ones up to date. Runs in one transaction that no other process can
/// come between, in rollback mode, so that the header of the file always tells what it is.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    environment: &dyn Environment,
) -> Outcome<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version > SCHEMA_VERSION {
        return Err(Fail::Store(Error::NewerSchema {
            path: path.to_owned(),
            found: version,
            supported: SCHEMA_VERSION,
        }));
    }
    if version == 0 {
        transaction.execute_batch(SCHEMA)?;
        let id = environment.new_id("store");
        let now = environment.now_unix_millis().to_string();
        let mut insert = transaction.prepare("INSERT INTO store(key, value) VALUES(?1, ?2)")?;
        insert.execute(("record_store_id", &id))?;
        insert.execute(("created_at_millis", &now))?;
        drop(insert);
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    transaction.commit()?;
    Ok(())
}

/// A value of the `store` table.
pub(super) fn value(connection: &Connection, key: &str) -> Outcome<Option<String>> {
    use rusqlite::OptionalExtension as _;
    let mut select = connection.prepare_cached("SELECT value FROM store WHERE key = ?1")?;
    Ok(select.query_row([key], |row| row.get(0)).optional()?)
}

/// Sets a value of the `store` table.
pub(super) fn set_value(connection: &Connection, key: &str, value: &str) -> Outcome<()> {
    let mut replace = connection.prepare_cached("REPLACE INTO store(key, value) VALUES(?1, ?2)")?;
    replace.execute((key, value))?;
    Ok(())
}
