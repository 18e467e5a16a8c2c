//! What changed in a view, and the state that a view is in.

use std::collections::BTreeSet;

use async_trait::async_trait;
use briefing_core::RecordId;
use rusqlite::Connection;

use super::SqliteBackend;
use super::fail::{Fail, Outcome, from_db, to_db};
use super::rows::{self, Kept, RecordRow};
use super::schema;
use super::select::{Label, Selection};
use crate::marks::{Marks, PAGE_TEXT_BYTES, beginning};
use crate::port::{RecordChanges, ViewChange, ViewChanges, ViewPage, ViewState, ViewedRecord};
use crate::{ContentFormat, Error, Order, RecordContentSegment, RecordCursor, RecordFilter, Window};

/// The `store` value that holds the last change that was forgotten.
const FLOOR: &str = "changes_floor";

/// The most text of an account of changes, in bytes.
const CHANGES_TEXT_BYTES: u64 = 64 * 1024 * 1024;

/// The last change of the log.
pub(super) fn head(connection: &Connection) -> Outcome<u64> {
    let mut select = connection.prepare_cached("SELECT max(seq) FROM changes")?;
    let head: Option<i64> = select.query_row([], |row| row.get(0))?;
    Ok(head.map_or(0, from_db))
}

/// What tells whether a change is one of a view.
struct Matcher {
    groups: Vec<Vec<i64>>,
    /// The places of the records that are named; `None` where none are.
    places: Option<BTreeSet<i64>>,
}

impl Matcher {
    /// Also gives the last change that can be one of the view.
    fn new(connection: &Connection, view: &RecordFilter) -> Outcome<(Self, u64)> {
        let mut bound = None;
        let mut narrow = |last: u64| bound = Some(bound.map_or(last, |bound: u64| bound.min(last)));
        let mut groups = Vec::new();
        for texts in view.label_groups() {
            let mut group = Vec::new();
            let mut last = 0;
            for text in texts {
                if let Some(label) = Label::find(connection, &text)? {
                    group.push(label.number);
                    last = last.max(label.changed);
                }
            }
            narrow(last);
            groups.push(group);
        }
        let places = match view.ids.as_slice() {
            [] => None,
            ids => {
                let (places, last) = places_of(connection, ids)?;
                narrow(last);
                Some(places)
            }
        };
        let bound = match bound {
            Some(bound) => bound,
            None => head(connection)?,
        };
        Ok((Self { groups, places }, bound))
    }

    /// Whether every change up to the bound that bears the one label is one of the view.
    fn is_exact(&self) -> bool {
        self.groups.len() + usize::from(self.places.is_some()) <= 1
    }

    fn matches(&self, record: i64, before: Option<&str>, after: Option<&str>) -> bool {
        let bears = |labels: Option<&str>| {
            let Some(labels) = labels else { return false };
            let labels: Vec<i64> = labels.split(',').filter_map(|label| label.parse().ok()).collect();
            self.groups.iter().all(|group| group.iter().any(|label| labels.contains(label)))
        };
        self.places.as_ref().is_none_or(|places| places.contains(&record)) && (bears(before) || bears(after))
    }
}

/// The places that these records have or had, and their last change.
fn places_of(connection: &Connection, ids: &[RecordId]) -> Outcome<(BTreeSet<i64>, u64)> {
    let mut places = BTreeSet::new();
    let mut last = 0;
    for id in ids {
        let mut select = connection.prepare_cached(
            "SELECT number, changed FROM records WHERE id = ?1
             UNION ALL SELECT number, changed FROM tombstones WHERE id = ?1",
        )?;
        let mut rows = select.query([id.as_str()])?;
        while let Some(row) = rows.next()? {
            places.insert(row.get(0)?);
            last = last.max(from_db(row.get(1)?));
        }
    }
    Ok((places, last))
}

/// The state of a view: the last change that is one of it.
fn state(connection: &Connection, view: &RecordFilter, marks: &Marks) -> Outcome<ViewState> {
    let (matcher, bound) = Matcher::new(connection, view)?;
    if matcher.is_exact() {
        return Ok(ViewState(bound));
    }
    let last_after = |from: u64| {
        let mut select = connection.prepare_cached(
            "SELECT seq, record, before, after FROM changes WHERE seq <= ?1 AND seq > ?2 ORDER BY seq DESC",
        )?;
        let mut rows = select.query((to_db(bound)?, to_db(from)?))?;
        while let Some(row) = rows.next()? {
            if matcher.matches(row.get(1)?, text(row, 2)?, text(row, 3)?) {
                return Ok(Some(from_db(row.get(0)?)));
            }
        }
        Ok(None)
    };
    marks.state(view, bound, last_after, || Ok((floor(connection)?, head(connection)?)))
}

fn text<'row>(row: &'row rusqlite::Row<'_>, at: usize) -> Outcome<Option<&'row str>> {
    Ok(row.get_ref(at)?.as_str_or_null().map_err(rusqlite::Error::from)?)
}

fn floor(connection: &Connection) -> Outcome<u64> {
    let value = schema::value(connection, FLOOR)?;
    Ok(value.and_then(|value| value.parse().ok()).unwrap_or_default())
}

/// Forgets all but the last `keep` changes, of which the last always stays; says how many were forgotten.
pub(super) fn prune(connection: &Connection, keep: u64) -> Outcome<u64> {
    let last = head(connection)?;
    let to = last.saturating_sub(keep.max(1));
    let forgotten = connection.execute("DELETE FROM changes WHERE seq <= ?1", [to_db(to)?])?;
    if forgotten > 0 {
        schema::set_value(connection, FLOOR, &to.to_string())?;
    }
    Ok(forgotten as u64)
}

/// A record with its text, or the beginning of a long one.
fn viewed(
    connection: &Connection,
    (row, inline): (RecordRow, Option<Vec<u8>>),
    max_text_bytes: u64,
) -> Outcome<ViewedRecord> {
    let place = RecordCursor::at(from_db(row.number));
    if row.record.format == ContentFormat::Bytes {
        return Ok(ViewedRecord { place, record: row.record, text: None, whole: true });
    }
    let whole = row.record.size_bytes <= max_text_bytes;
    let text = if whole {
        let stored = match inline {
            Some(inline) => inline,
            None => rows::stored(connection, &row, Kept::Latest)?,
        };
        String::from_utf8(stored)
            .map_err(|error| Fail::Damaged(format!("record {}: {error}", row.record.id)))?
    } else {
        let cut = rows::window(connection, &row, Kept::Latest, beginning(max_text_bytes))?;
        cut.content.into_text().unwrap_or_default()
    };
    Ok(ViewedRecord { place, record: row.record, text: Some(text), whole })
}

#[async_trait]
impl RecordChanges for SqliteBackend {
    async fn state(&self, view: &RecordFilter) -> Result<ViewState, Error> {
        let (view, marks) = (view.clone(), self.marks.clone());
        self.read("asking for the state of a view", move |connection| state(connection, &view, &marks)).await
    }

    async fn page(
        &self,
        view: &RecordFilter,
        after: Option<RecordCursor>,
        limit: usize,
        max_text_bytes: u64,
    ) -> Result<ViewPage, Error> {
        let (view, marks) = (view.clone(), self.marks.clone());
        self.read("listing a view", move |connection| {
            let state = state(connection, &view, &marks)?;
            let selection = Selection::new(connection, &view)?;
            let after = after.map(RecordCursor::place);
            let numbers = selection.numbers(connection, Order::Oldest, after, limit.saturating_add(1))?;
            let mut records = Vec::with_capacity(numbers.len().min(limit));
            let mut bytes = 0;
            for place in numbers.iter().take(limit) {
                if bytes > PAGE_TEXT_BYTES {
                    break;
                }
                let Some(row) = rows::row_with_content(connection, *place)? else { continue };
                bytes += row.0.record.size_bytes.min(max_text_bytes);
                records.push(viewed(connection, row, max_text_bytes)?);
            }
            let more = records.len() < numbers.len();
            Ok(ViewPage { state, records, more })
        })
        .await
    }

    async fn read(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        window: Window,
    ) -> Result<(ViewState, RecordContentSegment), Error> {
        let (view, id, marks) = (view.clone(), id.clone(), self.marks.clone());
        self.read("reading a record of a view", move |connection| {
            let state = state(connection, &view, &marks)?;
            let row = rows::seen(connection, &view, &id)?;
            let cut = rows::window(connection, &row, Kept::Latest, window)?;
            Ok((state, RecordContentSegment::new(row.record, cut)))
        })
        .await
    }

    async fn since(
        &self,
        view: &RecordFilter,
        from: ViewState,
        max_text_bytes: u64,
    ) -> Result<ViewChanges, Error> {
        let (view, marks) = (view.clone(), self.marks.clone());
        self.read("asking what changed in a view", move |connection| {
            let state = state(connection, &view, &marks)?;
            let floor = floor(connection)?;
            if from.0 < floor {
                return Err(Error::ChangesPruned { asked: from.0, floor }.into());
            }
            let (matcher, _) = Matcher::new(connection, &view)?;
            let mut select = connection.prepare_cached(
                "SELECT record, before, after FROM changes WHERE seq > ?1 AND seq <= ?2 ORDER BY seq",
            )?;
            let mut rows = select.query((to_db(from.0)?, to_db(state.0)?))?;
            let mut places = BTreeSet::new();
            while let Some(row) = rows.next()? {
                let place = row.get(0)?;
                if matcher.matches(place, text(row, 1)?, text(row, 2)?) {
                    places.insert(place);
                }
            }
            drop(rows);
            let mut changes = Vec::with_capacity(places.len());
            let mut bytes = 0;
            for place in places {
                let row = rows::row_with_content(connection, place)?;
                let row = row.filter(|(row, _)| view.admits(&row.record));
                bytes += row.as_ref().map_or(0, |(row, _)| row.record.size_bytes.min(max_text_bytes));
                if bytes > CHANGES_TEXT_BYTES {
                    return Err(Error::ChangesTooLarge { limit_bytes: CHANGES_TEXT_BYTES }.into());
                }
                changes.push(match row {
                    Some(row) => ViewChange::Upsert(Box::new(viewed(connection, row, max_text_bytes)?)),
                    None => ViewChange::Remove(RecordCursor::at(from_db(place))),
                });
            }
            Ok(ViewChanges { state, changes })
        })
        .await
    }
}
