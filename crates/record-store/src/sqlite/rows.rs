//! Rows and the values that they are read into.

use briefing_core::{Digest, Metadata, RecordId};
use rusqlite::{Connection, OptionalExtension, Row};

use super::fail::{Fail, Outcome, from_db, to_db};
use crate::content::{Cut, cut};
use crate::{ContentFormat, Error, RecordContent, RecordFilter, RecordRef, Window};

/// The longest content that is kept in its row, in bytes. Longer ones are kept in chunks of about this length, so that a
/// window is read without the rest.
pub(super) const INLINE_BYTES: usize = 64 * 1024;

/// The columns of [`record_row`], in its order.
pub(super) const COLUMNS: &str = "number, changed, id, version, collection, kind, path, format, digest, size, chars, \
     summary, scope, source, tags, meta, created_at, updated_at";

/// A record's row without its content.
#[derive(Debug, Clone)]
pub(super) struct RecordRow {
    pub(super) number: i64,
    /// The change that wrote this version; names its chunks.
    pub(super) changed: i64,
    pub(super) record: RecordRef,
}

pub(super) fn record_row(row: &Row<'_>) -> rusqlite::Result<Raw> {
    Ok(Raw {
        number: row.get(0)?,
        changed: row.get(1)?,
        id: row.get(2)?,
        version: row.get(3)?,
        collection: row.get(4)?,
        kind: row.get(5)?,
        path: row.get(6)?,
        format: row.get(7)?,
        digest: row.get(8)?,
        size: row.get(9)?,
        chars: row.get(10)?,
        summary: row.get(11)?,
        scope: row.get(12)?,
        source: row.get(13)?,
        tags: row.get(14)?,
        meta: row.get(15)?,
        created_at: row.get(16)?,
        updated_at: row.get(17)?,
    })
}

/// A row as it stands in the database.
pub(super) struct Raw {
    number: i64,
    changed: i64,
    id: String,
    version: i64,
    collection: String,
    kind: Option<String>,
    path: Option<String>,
    format: i64,
    digest: Vec<u8>,
    size: i64,
    chars: Option<i64>,
    summary: Option<String>,
    scope: String,
    source: String,
    tags: String,
    meta: String,
    created_at: i64,
    updated_at: i64,
}

impl Raw {
    pub(super) fn read(self) -> Outcome<RecordRow> {
        let record = RecordRef {
            id: RecordId::new(&self.id)?,
            version: from_db(self.version),
            collection: self.collection,
            kind: self.kind,
            path: self.path,
            format: format_of(self.format)?,
            digest: digest_of(&self.digest)?,
            size_bytes: from_db(self.size),
            size_chars: self.chars.map(from_db),
            summary: self.summary,
            scope: metadata(&self.scope)?,
            source: metadata(&self.source)?,
            tags: if self.tags == "[]" { Vec::new() } else { serde_json::from_str(&self.tags)? },
            meta: metadata(&self.meta)?,
            created_at_millis: from_db(self.created_at),
            updated_at_millis: from_db(self.updated_at),
        };
        Ok(RecordRow { number: self.number, changed: self.changed, record })
    }
}

/// A record's row by its id.
pub(super) fn row_of(connection: &Connection, id: &RecordId) -> Outcome<Option<RecordRow>> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE id = ?1");
    let raw = connection.prepare_cached(&sql)?.query_row([id.as_str()], record_row).optional()?;
    raw.map(Raw::read).transpose()
}

/// The row of a record that must be in a view.
pub(super) fn seen(connection: &Connection, view: &RecordFilter, id: &RecordId) -> Outcome<RecordRow> {
    let row = row_of(connection, id)?.filter(|row| view.admits(&row.record));
    row.ok_or_else(|| Error::not_found("record", id).into())
}

/// A record's row by its number, with its content where that is kept in the row.
pub(super) fn row_with_content(
    connection: &Connection,
    number: i64,
) -> Outcome<Option<(RecordRow, Option<Vec<u8>>)>> {
    let sql = format!("SELECT {COLUMNS}, content FROM records WHERE number = ?1");
    let mut select = connection.prepare_cached(&sql)?;
    let raw = select.query_row([number], |row| Ok((record_row(row)?, row.get(18)?))).optional()?;
    raw.map(|(raw, inline)| Ok((raw.read()?, inline))).transpose()
}

/// A record's row by its number.
pub(super) fn row_at(connection: &Connection, number: i64) -> Outcome<Option<RecordRow>> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE number = ?1");
    let raw = connection.prepare_cached(&sql)?.query_row([number], record_row).optional()?;
    raw.map(Raw::read).transpose()
}

pub(super) fn metadata(json: &str) -> Outcome<Metadata> {
    if json == "{}" { Ok(Metadata::new()) } else { Ok(serde_json::from_str(json)?) }
}

/// A JSON object for the database: its canonical text.
pub(super) fn json_of(metadata: &Metadata) -> String {
    if metadata.is_empty() {
        return "{}".to_owned();
    }
    serde_json::Value::Object(metadata.clone()).to_string()
}

pub(super) fn format_number(format: ContentFormat) -> i64 {
    match format {
        ContentFormat::Text => 0,
        ContentFormat::Json => 1,
        ContentFormat::Bytes => 2,
    }
}

pub(super) fn format_of(number: i64) -> Outcome<ContentFormat> {
    match number {
        0 => Ok(ContentFormat::Text),
        1 => Ok(ContentFormat::Json),
        2 => Ok(ContentFormat::Bytes),
        _ => Err(Fail::Damaged(format!("a content of the unknown form {number}"))),
    }
}

pub(super) fn digest_of(bytes: &[u8]) -> Outcome<Digest> {
    let bytes = <[u8; 32]>::try_from(bytes)
        .map_err(|_| Fail::Damaged(format!("a digest of {} bytes", bytes.len())))?;
    Ok(Digest::from_bytes(bytes))
}

/// Where a version's content is kept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kept {
    /// The latest version.
    Latest,
    /// An earlier one.
    Earlier,
}

/// The whole content of a version, as bytes.
pub(super) fn stored(connection: &Connection, row: &RecordRow, kept: Kept) -> Outcome<Vec<u8>> {
    if let Some(inline) = inline(connection, row, kept)? {
        return Ok(inline);
    }
    let mut whole = Vec::with_capacity(usize::try_from(row.record.size_bytes).unwrap_or_default());
    let mut select =
        connection.prepare_cached("SELECT data FROM chunks WHERE changed = ?1 ORDER BY first")?;
    let mut rows = select.query([row.changed])?;
    while let Some(chunk) = rows.next()? {
        whole.extend_from_slice(chunk.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?);
    }
    Ok(whole)
}

/// The whole content of a version.
pub(super) fn content(connection: &Connection, row: &RecordRow, kept: Kept) -> Outcome<RecordContent> {
    RecordContent::from_stored(row.record.format, stored(connection, row, kept)?)
        .map_err(|error| Fail::Damaged(format!("record {}: {error}", row.record.id)))
}

fn inline(connection: &Connection, row: &RecordRow, kept: Kept) -> Outcome<Option<Vec<u8>>> {
    let version = to_db(row.record.version)?;
    let content = match kept {
        Kept::Latest => connection
            .prepare_cached("SELECT content FROM records WHERE number = ?1")?
            .query_row([row.number], |row| row.get(0))?,
        Kept::Earlier => connection
            .prepare_cached("SELECT content FROM versions WHERE number = ?1 AND version = ?2")?
            .query_row((row.number, version), |row| row.get(0))?,
    };
    Ok(content)
}

/// A window of a version's content; of a long one only the chunks that it touches are read.
pub(super) fn window(connection: &Connection, row: &RecordRow, kept: Kept, window: Window) -> Outcome<Cut> {
    let format = row.record.format;
    let (first, part) = match inline(connection, row, kept)? {
        Some(inline) => (0, inline),
        None => {
            // Past the end the last chunk gives an empty window.
            let offset = to_db(window.offset.min(row.record.length()))?;
            let end = window.limit.map_or(i64::MAX, |limit| {
                i64::try_from(window.offset.saturating_add(limit)).unwrap_or(i64::MAX)
            });
            let mut select = connection.prepare_cached(
                "SELECT first, data FROM chunks WHERE changed = ?1 AND first < ?3 AND first >=
                     (SELECT max(first) FROM chunks WHERE changed = ?1 AND first <= ?2)
                 ORDER BY first",
            )?;
            let mut rows = select.query((row.changed, offset, end.max(offset.saturating_add(1))))?;
            let (mut first, mut part) = (None, Vec::new());
            while let Some(chunk) = rows.next()? {
                first.get_or_insert(chunk.get::<_, i64>(0)?);
                part.extend_from_slice(chunk.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?);
            }
            (from_db(first.unwrap_or_default()), part)
        }
    };
    cut(format, part, first, window)
        .map_err(|error| Fail::Damaged(format!("record {}: {error}", row.record.id)))
}

/// Cuts a long content into chunks: where each begins in the unit of its windows, and its bytes. Text is cut between chars.
pub(super) fn chunks(format: ContentFormat, stored: &[u8]) -> Vec<(u64, &[u8])> {
    let mut chunks = Vec::new();
    let (mut first, mut rest) = (0, stored);
    while !rest.is_empty() {
        let mut end = INLINE_BYTES.min(rest.len());
        if format != ContentFormat::Bytes {
            // A byte that continues a char is no place to cut; a char has at most four.
            while end > 1 && rest.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
                end -= 1;
            }
        }
        let (chunk, after) = rest.split_at(end);
        chunks.push((first, chunk));
        first += match format {
            ContentFormat::Bytes => chunk.len() as u64,
            _ => chunk.iter().filter(|byte| *byte & 0xC0 != 0x80).count() as u64,
        };
        rest = after;
    }
    chunks
}
