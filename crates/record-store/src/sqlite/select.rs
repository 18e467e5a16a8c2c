//! Which rows a filter means, as SQL over the index of labels.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::fail::{Outcome, from_db, to_db};
use crate::{Order, RecordFilter};

/// A longer list of labels is passed as one value, and not walked label by label.
const LISTED: usize = 8;

/// How many rows of a label are counted to find the rarest one.
const PROBE: i64 = 2_000;

/// A filter as conditions on rows.
pub(super) struct Selection {
    /// The groups of labels, by number, the rarest first: a record has one of each group.
    groups: Vec<Vec<i64>>,
    ids: Vec<String>,
    created_from: Option<i64>,
    created_before: Option<i64>,
    /// A label that no record has ever borne: nothing is meant.
    empty: bool,
}

/// Conditions with their values.
#[derive(Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
}

impl Sql {
    pub(super) fn push(&mut self, text: &str, values: impl IntoIterator<Item = Value>) {
        self.text.push_str(text);
        self.values.extend(values);
    }
}

/// A label that some record bears or has borne.
pub(super) struct Label {
    pub(super) number: i64,
    /// The last change of a record that bore it before or after.
    pub(super) changed: u64,
}

impl Label {
    pub(super) fn find(connection: &Connection, text: &str) -> Outcome<Option<Self>> {
        let mut select = connection.prepare_cached("SELECT id, changed FROM labels WHERE text = ?1")?;
        let label =
            select.query_row([text], |row| Ok(Self { number: row.get(0)?, changed: from_db(row.get(1)?) }));
        Ok(label.optional()?)
    }
}

impl Selection {
    pub(super) fn new(connection: &Connection, filter: &RecordFilter) -> Outcome<Self> {
        let mut groups = Vec::new();
        let mut empty = false;
        for texts in filter.label_groups() {
            let mut group = Vec::new();
            for text in texts {
                group.extend(Label::find(connection, &text)?.map(|label| label.number));
            }
            empty |= group.is_empty();
            groups.push(group);
        }
        if groups.len() > 1 && !empty {
            let mut counted = Vec::new();
            for group in groups {
                counted.push((frequency(connection, &group)?, group));
            }
            counted.sort_by_key(|(count, _)| *count);
            groups = counted.into_iter().map(|(_, group)| group).collect();
        }
        Ok(Self {
            groups,
            ids: filter.ids.iter().map(|id| id.as_str().to_owned()).collect(),
            created_from: filter.created_from_millis.map(to_db).transpose()?,
            created_before: filter.created_before_millis.map(to_db).transpose()?,
            empty,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    /// The conditions on a row whose number is `number`, without the groups before `from`.
    pub(super) fn conditions(&self, number: &str, from: usize) -> Sql {
        let mut sql = Sql::default();
        for group in self.groups.iter().skip(from) {
            let (list, values) = listed(group);
            let test = format!(
                " AND EXISTS(SELECT 1 FROM record_labels WHERE label IN ({list}) AND record = {number})"
            );
            sql.push(&test, values);
        }
        if !self.ids.is_empty() {
            let test = format!(
                " AND {number} IN (SELECT number FROM records WHERE id IN (SELECT value FROM json_each(?)))"
            );
            sql.push(&test, [Value::Text(serde_json::json!(self.ids).to_string())]);
        }
        for (bound, sign) in [(self.created_from, ">="), (self.created_before, "<")] {
            if let Some(millis) = bound {
                let test =
                    format!(" AND (SELECT r.created_at FROM records r WHERE r.number = {number}) {sign} ?");
                sql.push(&test, [Value::Integer(millis)]);
            }
        }
        sql
    }

    /// The numbers of the first rows after a place, at most `limit`.
    pub(super) fn numbers(
        &self,
        connection: &Connection,
        order: Order,
        after: Option<u64>,
        limit: usize,
    ) -> Outcome<Vec<i64>> {
        if self.empty {
            return Ok(Vec::new());
        }
        let (sign, direction, first) = match order {
            Order::Newest => ("<", "DESC", i64::MAX),
            Order::Oldest => (">", "ASC", -1),
        };
        let after = after.map(to_db).transpose()?.unwrap_or(first);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut sql = Sql::default();
        // Each label of the rarest group is walked in order; the rest is tested row by row.
        match self.groups.first().filter(|group| self.ids.is_empty() && group.len() <= LISTED) {
            None => {
                sql.push(&format!("SELECT number FROM records WHERE number {sign} ?"), [after.into()]);
                let conditions = self.conditions("records.number", 0);
                sql.push(&conditions.text, conditions.values);
                sql.push(&format!(" ORDER BY number {direction} LIMIT ?"), [limit.into()]);
            }
            Some(group) => {
                sql.push("SELECT record FROM (", []);
                for (at, label) in group.iter().enumerate() {
                    if at > 0 {
                        sql.push(" UNION ", []);
                    }
                    sql.push(
                        &format!(
                            "SELECT record FROM (SELECT d.record FROM record_labels d WHERE d.label = ? AND d.record {sign} ?"
                        ),
                        [(*label).into(), after.into()],
                    );
                    let conditions = self.conditions("d.record", 1);
                    sql.push(&conditions.text, conditions.values);
                    sql.push(&format!(" ORDER BY d.record {direction} LIMIT ?)"), [limit.into()]);
                }
                sql.push(&format!(") ORDER BY record {direction} LIMIT ?"), [limit.into()]);
            }
        }
        let mut select = connection.prepare_cached(&sql.text)?;
        let numbers = select.query_map(params_from_iter(sql.values), |row| row.get(0))?;
        Ok(numbers.collect::<Result<_, _>>()?)
    }

    /// How many rows are meant.
    pub(super) fn count(&self, connection: &Connection) -> Outcome<i64> {
        if self.empty {
            return Ok(0);
        }
        let mut sql = Sql::default();
        match self.groups.first() {
            Some(group) if group.len() == 1 => {
                sql.push(
                    "SELECT count(*) FROM record_labels d WHERE d.label = ?",
                    group.iter().map(|label| Value::Integer(*label)),
                );
                let conditions = self.conditions("d.record", 1);
                sql.push(&conditions.text, conditions.values);
            }
            _ => {
                sql.push("SELECT count(*) FROM records WHERE true", []);
                let conditions = self.conditions("records.number", 0);
                sql.push(&conditions.text, conditions.values);
            }
        }
        let mut select = connection.prepare_cached(&sql.text)?;
        Ok(select.query_row(params_from_iter(sql.values), |row| row.get(0))?)
    }
}

fn frequency(connection: &Connection, group: &[i64]) -> Outcome<i64> {
    let mut sum = 0;
    for label in group {
        let mut select = connection
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM record_labels WHERE label = ?1 LIMIT ?2)")?;
        sum += select.query_row((label, PROBE), |row| row.get::<_, i64>(0))?;
    }
    Ok(sum)
}

/// A list of labels as SQL, with its values.
fn listed(labels: &[i64]) -> (String, Vec<Value>) {
    if labels.len() <= LISTED {
        let values = labels.iter().map(|label| Value::Integer(*label));
        return (vec!["?"; labels.len()].join(", "), values.collect());
    }
    let all = serde_json::json!(labels).to_string();
    ("SELECT value FROM json_each(?)".to_owned(), vec![Value::Text(all)])
}
