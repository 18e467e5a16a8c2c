//! Links, indexed from both ends.

use async_trait::async_trait;
use briefing_core::RecordId;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::SqliteBackend;
use super::fail::{Outcome, from_db, to_db};
use super::rows;
use super::writer::Tx;
use crate::port::Links;
use crate::{Error, LinkFilter, NewLink, RecordFilter, RecordLink};

/// Makes a link as it is given; its ends must be in the view.
pub(super) fn put(tx: &Tx<'_>, view: &RecordFilter, link: &RecordLink) -> Outcome<()> {
    let end = |id: &RecordId| -> Outcome<i64> { Ok(rows::seen(tx.connection, view, id)?.number) };
    tx.connection
        .prepare_cached(
            "INSERT INTO links(id, source, target, relation, created_at, meta) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            &link.id,
            end(&link.source)?,
            end(&link.target)?,
            &link.relation,
            to_db(link.created_at_millis)?,
            rows::json_of(&link.meta),
        ))?;
    Ok(())
}

/// The links that a filter means, the earliest first, whatever the view.
pub(super) fn select(connection: &Connection, filter: &LinkFilter) -> Outcome<Vec<RecordLink>> {
    let mut sql = String::from(
        "SELECT l.id, s.id, t.id, l.relation, l.created_at, l.meta FROM links l
         JOIN records s ON s.number = l.source JOIN records t ON t.number = l.target WHERE true",
    );
    let mut values = Vec::new();
    let place = "(SELECT number FROM records WHERE id = ?)";
    let text = |id: &RecordId| Value::Text(id.as_str().to_owned());
    if let Some(id) = &filter.either {
        // A union, so that each half uses the index of its end.
        sql.push_str(&format!(
            " AND l.number IN (SELECT number FROM links WHERE source = {place}
                               UNION SELECT number FROM links WHERE target = {place})"
        ));
        values.extend([text(id), text(id)]);
    }
    for (column, id) in [("source", &filter.source), ("target", &filter.target)] {
        if let Some(id) = id {
            sql.push_str(&format!(" AND l.{column} = {place}"));
            values.push(text(id));
        }
    }
    if let Some(relation) = &filter.relation {
        sql.push_str(" AND l.relation = ?");
        values.push(Value::Text(relation.clone()));
    }
    sql.push_str(" ORDER BY l.number");
    let mut select = connection.prepare_cached(&sql)?;
    let mut found = select.query(params_from_iter(values))?;
    let mut links = Vec::new();
    while let Some(row) = found.next()? {
        let id = |at: usize| -> Outcome<RecordId> { Ok(RecordId::new(row.get::<_, String>(at)?)?) };
        links.push(RecordLink {
            id: row.get(0)?,
            source: id(1)?,
            target: id(2)?,
            relation: row.get(3)?,
            created_at_millis: from_db(row.get(4)?),
            meta: rows::metadata(&row.get::<_, String>(5)?)?,
        });
    }
    Ok(links)
}

/// Links of which both ends are in the view.
fn visible(connection: &Connection, view: &RecordFilter, links: Vec<RecordLink>) -> Outcome<Vec<RecordLink>> {
    if *view == RecordFilter::new() {
        return Ok(links);
    }
    let admits = |id: &RecordId| -> Outcome<bool> {
        Ok(rows::row_of(connection, id)?.is_some_and(|row| view.admits(&row.record)))
    };
    let mut visible = Vec::with_capacity(links.len());
    for link in links {
        if admits(&link.source)? && admits(&link.target)? {
            visible.push(link);
        }
    }
    Ok(visible)
}

#[async_trait]
impl Links for SqliteBackend {
    async fn link_many(&self, view: &RecordFilter, links: Vec<NewLink>) -> Result<Vec<RecordLink>, Error> {
        let (view, environment) = (view.clone(), self.environment.clone());
        self.write("linking records", move |tx| {
            let mut made = Vec::with_capacity(links.len());
            for NewLink { source, target, relation, meta } in links {
                let id = environment.new_id("link");
                let created_at_millis = environment.now_unix_millis();
                let link = RecordLink { id, source, target, relation, created_at_millis, meta };
                put(tx, &view, &link)?;
                made.push(link);
            }
            Ok(made)
        })
        .await
    }

    async fn links(&self, view: &RecordFilter, filter: &LinkFilter) -> Result<Vec<RecordLink>, Error> {
        let (view, filter) = (view.clone(), filter.clone());
        self.read("reading links", move |connection| visible(connection, &view, select(connection, &filter)?))
            .await
    }

    async fn unlink(&self, view: &RecordFilter, id: &str) -> Result<bool, Error> {
        let (view, id) = (view.clone(), id.to_owned());
        self.write("removing a link", move |tx| {
            let all = "SELECT s.id, t.id FROM links l JOIN records s ON s.number = l.source
                       JOIN records t ON t.number = l.target WHERE l.id = ?1";
            let mut ends = tx.connection.prepare_cached(all)?;
            let ends = ends.query_row([&id], |row| Ok([row.get::<_, String>(0)?, row.get(1)?]));
            let ends = match ends {
                Ok(ends) => ends,
                Err(rusqlite::Error::QueryReturnedNoRows) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            for end in ends {
                let row = rows::row_of(tx.connection, &RecordId::new(end)?)?;
                if !row.is_some_and(|row| view.admits(&row.record)) {
                    return Ok(false);
                }
            }
            tx.connection.prepare_cached("DELETE FROM links WHERE id = ?1")?.execute([&id])?;
            Ok(true)
        })
        .await
    }
}
