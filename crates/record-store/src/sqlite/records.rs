//! Records: putting, reading, listing, deleting.

use async_trait::async_trait;
use briefing_core::{Digest, Environment, RecordId};
use rusqlite::OptionalExtension;

use super::SqliteBackend;
use super::fail::{Outcome, from_db, to_db};
use super::rows::{self, COLUMNS, Kept, RecordRow};
use super::select::Selection;
use super::terms::Terms;
use super::writer::Tx;
use crate::filter::Labels;
use crate::port::Records;
use crate::{
    ContentFormat, Error, ListRequest, NewRecord, Record, RecordContentSegment, RecordCursor, RecordFilter,
    RecordPage, RecordRef, Tombstone, Window,
};

/// A record with all that is worked out before the writer sees it.
pub(super) struct Prepared {
    /// What was put; its content has been taken out.
    new: NewRecord,
    format: ContentFormat,
    stored: Vec<u8>,
    digest: Digest,
    chars: Option<u64>,
    summary_terms: String,
    body_terms: String,
    labels: Vec<String>,
}

impl Prepared {
    pub(super) fn new(mut new: NewRecord, terms: &mut Terms) -> Self {
        let content = std::mem::replace(&mut new.content, crate::RecordContent::Bytes(Vec::new()));
        let format = content.format();
        let body_terms = terms.of_content(&content);
        let stored = content.into_stored();
        let chars = (format != ContentFormat::Bytes)
            .then(|| stored.iter().filter(|byte| *byte & 0xC0 != 0x80).count() as u64);
        let labels = Labels::from(&new).texts();
        Self {
            digest: Digest::of(&stored),
            summary_terms: new.summary.as_deref().map(|summary| terms.of_text(summary)).unwrap_or_default(),
            new,
            format,
            stored,
            chars,
            body_terms,
            labels,
        }
    }

    fn take_terms(&mut self) -> (String, String) {
        (std::mem::take(&mut self.summary_terms), std::mem::take(&mut self.body_terms))
    }
}

/// The times and the version of a row that is written.
struct Stamp {
    version: u64,
    created_at_millis: u64,
    updated_at_millis: u64,
}

/// Puts one record: a new one, or the next version of one that is there.
pub(super) fn put(
    tx: &mut Tx<'_>,
    view: &RecordFilter,
    prepared: Prepared,
    environment: &dyn Environment,
) -> Outcome<RecordRef> {
    let now = environment.now_unix_millis();
    let Some(id) = prepared.new.id.clone() else {
        let id = RecordId::new(environment.new_id("rec"))?;
        if let Some(existing) = rows::row_of(tx.connection, &id)? {
            return Err(Error::Exists { id, version: existing.record.version }.into());
        }
        return insert(
            tx,
            id,
            prepared,
            &Stamp { version: 1, created_at_millis: now, updated_at_millis: now },
        );
    };
    let existing = rows::row_of(tx.connection, &id)?;
    match (existing, prepared.new.if_version.filter(|version| *version > 0)) {
        (Some(existing), expected) => {
            let version = existing.record.version;
            if !view.admits(&existing.record) {
                return Err(match expected {
                    Some(expected) => Error::VersionConflict { id, expected, actual: None },
                    None => {
                        Error::OutsideView { asked: format!("record {id}"), view: "other bounds".to_owned() }
                    }
                }
                .into());
            }
            match expected {
                None => Err(Error::Exists { id, version }.into()),
                Some(expected) if expected != version => {
                    Err(Error::VersionConflict { id, expected, actual: Some(version) }.into())
                }
                Some(_) => update(tx, &existing, prepared, now),
            }
        }
        (None, Some(expected)) => Err(Error::VersionConflict { id, expected, actual: None }.into()),
        (None, None) => {
            let version = last_version(tx, &id)? + 1;
            insert(tx, id, prepared, &Stamp { version, created_at_millis: now, updated_at_millis: now })
        }
    }
}

/// The last version of a record that was deleted; 0 where there was none.
fn last_version(tx: &Tx<'_>, id: &RecordId) -> Outcome<u64> {
    let mut select = tx.connection.prepare_cached("SELECT max(version) FROM tombstones WHERE id = ?1")?;
    let version: Option<i64> = select.query_row([id.as_str()], |row| row.get(0))?;
    Ok(version.map_or(0, from_db))
}

/// A record that an import brings, as it was.
pub(super) fn restore(tx: &mut Tx<'_>, record: &RecordRef, prepared: Prepared) -> Outcome<RecordRef> {
    let stamp = Stamp {
        version: record.version,
        created_at_millis: record.created_at_millis,
        updated_at_millis: record.updated_at_millis,
    };
    if let Some(existing) = rows::row_of(tx.connection, &record.id)? {
        return Err(Error::Exists { id: record.id.clone(), version: existing.record.version }.into());
    }
    insert(tx, record.id.clone(), prepared, &stamp)
}

/// An earlier version that an import brings for the record that was just restored.
pub(super) fn restore_version(
    tx: &mut Tx<'_>,
    of: &RecordId,
    record: &RecordRef,
    prepared: Prepared,
) -> Outcome<()> {
    let owner = rows::row_of(tx.connection, of)?.ok_or_else(|| Error::not_found("record", of))?;
    let changed = tx.next_change();
    let stamp = Stamp {
        version: record.version,
        created_at_millis: record.created_at_millis,
        updated_at_millis: record.updated_at_millis,
    };
    write_row(tx, "versions", owner.number, changed, &record.id, &prepared, &stamp)?;
    // The number is taken: the log has a row for it that changes nothing.
    tx.log(changed, owner.number, &[], &[])
}

fn insert(tx: &mut Tx<'_>, id: RecordId, mut prepared: Prepared, stamp: &Stamp) -> Outcome<RecordRef> {
    let changed = tx.next_change();
    let place = to_db(changed)?;
    write_row(tx, "records", place, changed, &id, &prepared, stamp)?;
    tx.set_terms(place, false, Some(prepared.take_terms()))?;
    let mut labels = Vec::with_capacity(prepared.labels.len());
    for text in &prepared.labels {
        let label = tx.label(text)?;
        add_label(tx, label, place)?;
        labels.push(label);
    }
    tx.log(changed, place, &[], &labels)?;
    Ok(described(id, prepared, stamp))
}

fn update(tx: &mut Tx<'_>, existing: &RecordRow, mut prepared: Prepared, now: u64) -> Outcome<RecordRef> {
    let changed = tx.next_change();
    let place = existing.number;
    let old = &existing.record;
    tx.connection
        .prepare_cached(&format!(
            "INSERT INTO versions({COLUMNS}, content) SELECT {COLUMNS}, content FROM records WHERE number = ?1"
        ))?
        .execute([place])?;
    tx.connection.prepare_cached("DELETE FROM records WHERE number = ?1")?.execute([place])?;
    let stamp =
        Stamp { version: old.version + 1, created_at_millis: old.created_at_millis, updated_at_millis: now };
    write_row(tx, "records", place, changed, &old.id, &prepared, &stamp)?;
    tx.set_terms(place, true, Some(prepared.take_terms()))?;
    let old_texts = Labels::from(old).texts();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for text in &old_texts {
        let label = tx.label(text)?;
        before.push(label);
        if !prepared.labels.contains(text) {
            remove_label(tx, label, place)?;
        }
    }
    for text in &prepared.labels {
        let label = tx.label(text)?;
        after.push(label);
        if !old_texts.contains(text) {
            add_label(tx, label, place)?;
        }
    }
    tx.log(changed, place, &before, &after)?;
    Ok(described(old.id.clone(), prepared, &stamp))
}

fn write_row(
    tx: &Tx<'_>,
    table: &'static str,
    place: i64,
    changed: u64,
    id: &RecordId,
    prepared: &Prepared,
    stamp: &Stamp,
) -> Outcome<()> {
    let new = &prepared.new;
    let changed = to_db(changed)?;
    let inline = (prepared.stored.len() <= rows::INLINE_BYTES).then_some(&prepared.stored);
    let sql = format!(
        "INSERT INTO {table}({COLUMNS}, content)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
    );
    let tags = if new.tags.is_empty() { "[]".to_owned() } else { serde_json::to_string(&new.tags)? };
    tx.connection.prepare_cached(&sql)?.execute(rusqlite::params![
        place,
        changed,
        id.as_str(),
        to_db(stamp.version)?,
        new.collection,
        new.kind,
        new.path,
        rows::format_number(prepared.format),
        prepared.digest.as_bytes(),
        to_db(prepared.stored.len() as u64)?,
        prepared.chars.map(to_db).transpose()?,
        new.summary,
        rows::json_of(&new.scope),
        rows::json_of(&new.source),
        tags,
        rows::json_of(&new.meta),
        to_db(stamp.created_at_millis)?,
        to_db(stamp.updated_at_millis)?,
        inline,
    ])?;
    if inline.is_none() {
        let mut insert =
            tx.connection.prepare_cached("INSERT INTO chunks(changed, first, data) VALUES(?1, ?2, ?3)")?;
        for (first, data) in rows::chunks(prepared.format, &prepared.stored) {
            insert.execute((changed, to_db(first)?, data))?;
        }
    }
    Ok(())
}

fn add_label(tx: &Tx<'_>, label: i64, place: i64) -> Outcome<()> {
    tx.connection
        .prepare_cached("INSERT OR IGNORE INTO record_labels(label, record) VALUES(?1, ?2)")?
        .execute((label, place))?;
    Ok(())
}

fn remove_label(tx: &Tx<'_>, label: i64, place: i64) -> Outcome<()> {
    tx.connection
        .prepare_cached("DELETE FROM record_labels WHERE label = ?1 AND record = ?2")?
        .execute((label, place))?;
    Ok(())
}

fn described(id: RecordId, prepared: Prepared, stamp: &Stamp) -> RecordRef {
    let new = prepared.new;
    RecordRef {
        id,
        version: stamp.version,
        collection: new.collection,
        kind: new.kind,
        path: new.path,
        format: prepared.format,
        digest: prepared.digest,
        size_bytes: prepared.stored.len() as u64,
        size_chars: prepared.chars,
        summary: new.summary,
        scope: new.scope,
        source: new.source,
        tags: new.tags,
        meta: new.meta,
        created_at_millis: stamp.created_at_millis,
        updated_at_millis: stamp.updated_at_millis,
    }
}

fn delete(
    tx: &mut Tx<'_>,
    view: &RecordFilter,
    id: &RecordId,
    if_version: Option<u64>,
    now: u64,
) -> Outcome<Tombstone> {
    let RecordRow { number: place, record, .. } = rows::seen(tx.connection, view, id)?;
    if let Some(expected) = if_version.filter(|expected| *expected != record.version) {
        let actual = Some(record.version);
        return Err(Error::VersionConflict { id: id.clone(), expected, actual }.into());
    }
    let changed = tx.next_change();
    let connection = tx.connection;
    connection
        .prepare_cached(
            "DELETE FROM chunks WHERE changed IN
                 (SELECT changed FROM records WHERE number = ?1 UNION SELECT changed FROM versions WHERE number = ?1)",
        )?
        .execute([place])?;
    for table in ["records", "versions"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE number = ?1"))?.execute([place])?;
    }
    tx.set_terms(place, true, None)?;
    connection.prepare_cached("DELETE FROM links WHERE source = ?1 OR target = ?1")?.execute([place])?;
    let mut before = Vec::new();
    for text in Labels::from(&record).texts() {
        let label = tx.label(&text)?;
        remove_label(tx, label, place)?;
        before.push(label);
    }
    tx.log(changed, place, &before, &[])?;
    let tombstone = Tombstone {
        id: record.id,
        version: record.version,
        collection: record.collection,
        kind: record.kind,
        scope: record.scope,
        tags: record.tags,
        digest: record.digest,
        deleted_at_millis: now,
    };
    write_tombstone(tx, place, changed, &tombstone)?;
    Ok(tombstone)
}

/// A tombstone in the place of the record that it stands for.
pub(super) fn write_tombstone(tx: &Tx<'_>, place: i64, changed: u64, tombstone: &Tombstone) -> Outcome<()> {
    tx.connection
        .prepare_cached(
            "INSERT INTO tombstones(number, id, version, changed, collection, kind, scope, tags, digest, deleted_at)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(rusqlite::params![
            place,
            tombstone.id.as_str(),
            to_db(tombstone.version)?,
            to_db(changed)?,
            tombstone.collection,
            tombstone.kind,
            rows::json_of(&tombstone.scope),
            serde_json::to_string(&tombstone.tags)?,
            tombstone.digest.as_bytes(),
            to_db(tombstone.deleted_at_millis)?,
        ])?;
    Ok(())
}

#[async_trait]
impl Records for SqliteBackend {
    async fn put_many(&self, view: &RecordFilter, records: Vec<NewRecord>) -> Result<Vec<RecordRef>, Error> {
        let prepare = move || {
            let mut terms = Terms::default();
            records.into_iter().map(|record| Prepared::new(record, &mut terms)).collect::<Vec<_>>()
        };
        let prepared = super::off_thread(move || Ok(prepare())).await?;
        let (view, environment) = (view.clone(), self.environment.clone());
        self.write("putting records", move |tx| {
            prepared.into_iter().map(|record| put(tx, &view, record, &*environment)).collect()
        })
        .await
    }

    async fn get_many(&self, view: &RecordFilter, ids: &[RecordId]) -> Result<Vec<Option<Record>>, Error> {
        let (view, ids) = (view.clone(), ids.to_vec());
        self.read("reading records", move |connection| {
            let one = |id: &RecordId| {
                let Some(row) = rows::row_of(connection, id)?.filter(|row| view.admits(&row.record)) else {
                    return Ok(None);
                };
                let content = rows::content(connection, &row, Kept::Latest)?;
                Ok(Some(Record { record: row.record, content }))
            };
            ids.iter().map(one).collect()
        })
        .await
    }

    async fn describe(&self, view: &RecordFilter, id: &RecordId) -> Result<RecordRef, Error> {
        let (view, id) = (view.clone(), id.clone());
        self.read("reading a record", move |connection| Ok(rows::seen(connection, &view, &id)?.record)).await
    }

    async fn list(&self, request: &ListRequest) -> Result<RecordPage, Error> {
        let request = request.clone();
        self.read("listing records", move |connection| {
            let selection = Selection::new(connection, &request.filter)?;
            let after = request.after.map(RecordCursor::place);
            let wanted = request.limit.saturating_add(1);
            let mut numbers = selection.numbers(connection, request.order, after, wanted)?;
            let more = numbers.len() > request.limit;
            numbers.truncate(request.limit);
            let mut records = Vec::with_capacity(numbers.len());
            for place in &numbers {
                records.extend(rows::row_at(connection, *place)?.map(|row| row.record));
            }
            let next = numbers.last().filter(|_| more).map(|place| RecordCursor::at(from_db(*place)));
            Ok(RecordPage { records, next })
        })
        .await
    }

    async fn count(&self, filter: &RecordFilter) -> Result<u64, Error> {
        let filter = filter.clone();
        self.read("counting records", move |connection| {
            Ok(from_db(Selection::new(connection, &filter)?.count(connection)?))
        })
        .await
    }

    async fn delete(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        if_version: Option<u64>,
    ) -> Result<Tombstone, Error> {
        let (view, id, now) = (view.clone(), id.clone(), self.environment.now_unix_millis());
        self.write("deleting a record", move |tx| delete(tx, &view, &id, if_version, now)).await
    }

    async fn history(&self, view: &RecordFilter, id: &RecordId) -> Result<Vec<RecordRef>, Error> {
        let (view, id) = (view.clone(), id.clone());
        self.read("reading the history of a record", move |connection| {
            let latest = rows::seen(connection, &view, &id)?;
            let sql = format!("SELECT {COLUMNS} FROM versions WHERE number = ?1 ORDER BY version DESC");
            let mut select = connection.prepare_cached(&sql)?;
            let earlier = select.query_map([latest.number], rows::record_row)?;
            let mut history = vec![latest.record];
            for row in earlier {
                history.push(row?.read()?.record);
            }
            // An earlier version may have belonged to somebody else.
            history.retain(|version| view.admits(version));
            Ok(history)
        })
        .await
    }

    async fn read_bounded(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        version: Option<u64>,
        window: Window,
    ) -> Result<RecordContentSegment, Error> {
        let (view, id) = (view.clone(), id.clone());
        self.read("reading a record", move |connection| {
            let latest = rows::seen(connection, &view, &id)?;
            let (row, kept) = match version.filter(|version| *version != latest.record.version) {
                None => (latest, Kept::Latest),
                Some(version) => {
                    let sql = format!("SELECT {COLUMNS} FROM versions WHERE number = ?1 AND version = ?2");
                    let mut select = connection.prepare_cached(&sql)?;
                    let raw =
                        select.query_row((latest.number, to_db(version)?), rows::record_row).optional()?;
                    let row = raw.map(rows::Raw::read).transpose()?.filter(|row| view.admits(&row.record));
                    let row = row.ok_or_else(|| Error::not_found("version", format!("{id} v{version}")))?;
                    (row, Kept::Earlier)
                }
            };
            let cut = rows::window(connection, &row, kept, window)?;
            Ok(RecordContentSegment::new(row.record, cut))
        })
        .await
    }
}
