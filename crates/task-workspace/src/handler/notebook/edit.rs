//! A list of cells written over a notebook.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::cells::{Cell, Notebook, free_id};
use crate::handler::HandlerError;
use crate::handler::error::noun;

const KINDS: [&str; 3] = ["code", "markdown", "raw"];

/// The notebook with these cells; a new one where there was none.
pub(super) fn edited(notebook: Option<&Notebook>, value: &Value) -> Result<Value, HandlerError> {
    let Value::Array(items) = value else {
        return Err(HandlerError::value("$", noun(value), "an array of cells"));
    };
    let wanted = items
        .iter()
        .enumerate()
        .map(|(index, item)| Wanted::of(index, item))
        .collect::<Result<Vec<_>, _>>()?;
    let known: HashMap<&str, &Cell> =
        notebook.iter().flat_map(|notebook| &notebook.cells).map(|cell| (cell.id.as_str(), cell)).collect();
    let mut taken: HashSet<String> = known.keys().map(|id| (*id).to_owned()).collect();
    let mut listed = HashSet::new();
    for cell in &wanted {
        let Some(id) = cell.id else { continue };
        cell.check_id(id, notebook.map(|_| &known))?;
        if !listed.insert(id) {
            return Err(cell.wrong("id", format!("{id:?} once more"), "each id once"));
        }
        taken.insert(id.to_owned());
    }
    let with_ids = notebook.is_none_or(Notebook::has_ids);
    let mut next = known.len() + 1;
    let mut cells = Vec::with_capacity(wanted.len());
    for cell in &wanted {
        cells.push(match cell.id.and_then(|id| known.get(id)) {
            Some(old) => cell.over(old),
            None => {
                let id = with_ids.then(|| cell.id.map_or_else(|| free_id(&mut taken, next), str::to_owned));
                next += usize::from(cell.id.is_none());
                cell.fresh(id)?
            }
        });
    }
    let mut root = notebook.map_or_else(
        || json!({"metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
        |notebook| notebook.root.clone(),
    );
    if let Value::Object(root) = &mut root {
        root.insert("cells".to_owned(), Value::Array(cells));
    }
    Ok(root)
}

/// A cell as a host wants it.
struct Wanted<'v> {
    index: usize,
    id: Option<&'v str>,
    kind: Option<&'v str>,
    source: Option<&'v str>,
}

impl<'v> Wanted<'v> {
    fn of(index: usize, item: &'v Value) -> Result<Self, HandlerError> {
        let mut cell = Self { index, id: None, kind: None, source: None };
        let Value::Object(members) = item else {
            return Err(HandlerError::value(
                format!("$[{index}]"),
                noun(item),
                "an object with id, kind and source",
            ));
        };
        for (key, value) in members {
            let place = match key.as_str() {
                "id" => &mut cell.id,
                "kind" => &mut cell.kind,
                "source" => &mut cell.source,
                _ => return Err(cell.wrong(key, "a key that no cell has".to_owned(), "id, kind and source")),
            };
            match value {
                Value::String(text) => *place = Some(text),
                other => return Err(cell.wrong(key, noun(other).to_owned(), "a text")),
            }
        }
        Ok(cell)
    }

    fn wrong(&self, key: &str, found: String, accepted: &'static str) -> HandlerError {
        HandlerError::value(format!("$[{}].{key}", self.index), found, accepted)
    }

    /// `known` is what the file has, if there is a file: of an id in a new one, only the grammar counts.
    fn check_id(&self, id: &str, known: Option<&HashMap<&str, &Cell>>) -> Result<(), HandlerError> {
        let Some(known) = known else {
            let sound = (1..=64).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            return if sound {
                Ok(())
            } else {
                Err(self.wrong("id", format!("{id:?}"), "1 to 64 ASCII letters, digits, - and _"))
            };
        };
        match known.get(id) {
            None => {
                let accepted = "an id of the file, or none for a new cell";
                Err(self.wrong("id", format!("{id:?}, which the file does not have"), accepted))
            }
            Some(old) => match self.kind {
                Some(kind) if kind != old.kind && !KINDS.contains(&kind) => Err(self.wrong_kind(kind)),
                _ => Ok(()),
            },
        }
    }

    fn wrong_kind(&self, kind: &str) -> HandlerError {
        self.wrong("kind", format!("{kind:?}"), "code, markdown or raw")
    }

    /// This cell in place of the one that the file has.
    fn over(&self, old: &Cell) -> Value {
        let mut value = old.value.clone();
        let kind = self.kind.unwrap_or(&old.kind);
        let source = self.source.unwrap_or(&old.source);
        let Value::Object(members) = &mut value else { return value };
        if source != old.source {
            let as_lines = members.get("source").is_none_or(Value::is_array);
            members.insert("source".to_owned(), if as_lines { lines(source) } else { source.into() });
        }
        if kind != old.kind {
            members.insert("cell_type".to_owned(), kind.into());
            members.remove("outputs");
            members.remove("execution_count");
        }
        if kind == "code" && (source != old.source || kind != old.kind) {
            clear_outputs(members);
        }
        value
    }

    /// This cell as a new one.
    fn fresh(&self, id: Option<String>) -> Result<Value, HandlerError> {
        let kind = match self.kind {
            Some(kind) if KINDS.contains(&kind) => kind,
            Some(kind) => return Err(self.wrong_kind(kind)),
            None => return Err(self.wrong("kind", "missing".to_owned(), "code, markdown or raw")),
        };
        let Some(source) = self.source else {
            return Err(self.wrong("source", "missing".to_owned(), "a text"));
        };
        let mut members = Map::new();
        members.insert("cell_type".to_owned(), kind.into());
        if kind == "code" {
            members.insert("execution_count".to_owned(), Value::Null);
        }
        members.extend(id.map(|id| ("id".to_owned(), id.into())));
        members.insert("metadata".to_owned(), json!({}));
        if kind == "code" {
            members.insert("outputs".to_owned(), json!([]));
        }
        members.insert("source".to_owned(), lines(source));
        Ok(Value::Object(members))
    }
}

fn clear_outputs(members: &mut Map<String, Value>) {
    members.insert("execution_count".to_owned(), Value::Null);
    members.insert("outputs".to_owned(), json!([]));
}

/// A text as the list of its lines, as notebooks store it.
fn lines(text: &str) -> Value {
    text.split_inclusive('\n').map(Value::from).collect()
}
