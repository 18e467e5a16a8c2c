//! A table from a value.

use std::collections::HashSet;

use csv::StringRecord;
use serde_json::{Map, Value};

use super::dialect::{Dialect, Kept, kept};
use super::show::are_distinct;
use crate::handler::HandlerError;
use crate::handler::error::noun;

/// The text of `value` in the dialect of the previous text.
pub(super) fn written(
    previous: Option<&str>,
    delimiter: Option<u8>,
    value: &Value,
) -> Result<String, HandlerError> {
    let previous = previous.filter(|text| !text.is_empty()).unwrap_or_default();
    let dialect =
        if previous.is_empty() { Dialect::new(delimiter) } else { Dialect::of(previous, delimiter) };
    let old: Vec<StringRecord> = dialect.rows(previous).collect();
    let dialect = dialect.with_habit_of(&old, previous);
    let rows = rows_of(value, old.first().cloned())?;
    let reads_back = |text: &String| Dialect::of(text, delimiter).rows(text).eq(rows.iter().cloned());
    // What a short table looks like can speak for another delimiter; quotes settle that.
    Some(dialect.text_of(&rows, kept(&old, previous)))
        .filter(reads_back)
        .or_else(|| Some(dialect.quoting_all().text_of(&rows, Kept::new())).filter(reads_back))
        .ok_or_else(|| {
            let found = "a table that would be read as another";
            HandlerError::value("$", found, "a table that reads back equal")
        })
}

fn rows_of(value: &Value, header: Option<StringRecord>) -> Result<Vec<StringRecord>, HandlerError> {
    let accepted = "an array of arrays, or an array of objects";
    let Value::Array(items) = value else { return Err(HandlerError::value("$", noun(value), accepted)) };
    match items.first() {
        None => Ok(header.into_iter().collect()),
        Some(Value::Array(_)) => items.iter().enumerate().map(|(at, row)| row_of_array(at, row)).collect(),
        Some(Value::Object(_)) => rows_of_objects(items, header),
        Some(other) => Err(HandlerError::value("$[0]", noun(other), "an array or an object")),
    }
}

fn row_of_array(at: usize, row: &Value) -> Result<StringRecord, HandlerError> {
    match row {
        Value::Array(cells) if cells.is_empty() => {
            Err(HandlerError::value(format!("$[{at}]"), "an empty array", "an array with at least one cell"))
        }
        Value::Array(cells) => cells
            .iter()
            .enumerate()
            .map(|(column, cell)| cell_of(cell, || format!("$[{at}][{column}]")))
            .collect(),
        other => {
            Err(HandlerError::value(format!("$[{at}]"), noun(other), "an array, as the first row is one"))
        }
    }
}

fn rows_of_objects(items: &[Value], header: Option<StringRecord>) -> Result<Vec<StringRecord>, HandlerError> {
    let objects = items
        .iter()
        .enumerate()
        .map(|(at, row)| {
            let accepted = "an object, as the first row is one";
            row.as_object().ok_or_else(|| HandlerError::value(format!("$[{at}]"), noun(row), accepted))
        })
        .collect::<Result<Vec<&Map<String, Value>>, _>>()?;
    if header.as_ref().is_some_and(|header| !are_distinct(header)) {
        let accepted = "an array of arrays, as names in the header of the file repeat";
        return Err(HandlerError::value("$", "an array of objects", accepted));
    }
    let mut names: Vec<String> = header.iter().flatten().map(str::to_owned).collect();
    let mut known: HashSet<String> = names.iter().cloned().collect();
    for name in objects.iter().flat_map(|object| object.keys()) {
        if known.insert(name.clone()) {
            names.push(name.clone());
        }
    }
    if names.is_empty() {
        return Err(HandlerError::value(
            "$[0]",
            "an object without keys",
            "an object with a key for each column",
        ));
    }
    let mut rows = vec![StringRecord::from(names.clone())];
    for (at, object) in objects.into_iter().enumerate() {
        let cells = names.iter().map(|name| match object.get(name) {
            Some(cell) => cell_of(cell, || format!("$[{at}].{name}")),
            None => Ok(String::new()),
        });
        rows.push(cells.collect::<Result<_, _>>()?);
    }
    Ok(rows)
}

fn cell_of(cell: &Value, path: impl FnOnce() -> String) -> Result<String, HandlerError> {
    match cell {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Bool(_) | Value::Number(_) => Ok(cell.to_string()),
        Value::Array(_) | Value::Object(_) => {
            Err(HandlerError::value(path(), noun(cell), "a text, a number, true, false or null"))
        }
    }
}
