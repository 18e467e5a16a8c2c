//! What a notebook is made of.

use std::collections::HashSet;

use serde_json::{Value, json};

/// A notebook that was found sound as far as it is read.
#[derive(Debug)]
pub(super) struct Notebook {
    /// All of it.
    pub(super) root: Value,
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) cells: Vec<Cell>,
}

/// A cell.
#[derive(Debug)]
pub(super) struct Cell {
    /// The id, or the name in its place.
    pub(super) id: String,
    /// `code`, `markdown`, `raw`, or what older formats have.
    pub(super) kind: String,
    pub(super) source: String,
    /// All of it.
    pub(super) value: Value,
}

impl Notebook {
    /// Takes a notebook apart, or says what is not as it should be.
    pub(super) fn of(root: Value) -> Result<Self, String> {
        let number = |key: &str| root.get(key).and_then(Value::as_u64);
        let major = number("nbformat").ok_or("`nbformat` is no number")?;
        let cells = match major {
            4 => root.get("cells").and_then(Value::as_array).ok_or("`cells` is no array")?.clone(),
            3 => old_cells(&root)?,
            other => return Err(format!("nbformat {other} is not known")),
        };
        let ids = ids(&cells);
        let cells = cells
            .into_iter()
            .zip(ids)
            .enumerate()
            .map(|(index, (value, id))| {
                Cell::of(id, value).ok_or_else(|| format!("cell {} has no kind or no source", index + 1))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { major, minor: number("nbformat_minor").unwrap_or(0), cells, root })
    }

    pub(super) fn is_old(&self) -> bool {
        self.major < 4
    }

    /// Whether its cells have ids, as they do from nbformat 4.5 on.
    pub(super) fn has_ids(&self) -> bool {
        self.minor >= 5
    }

    /// The language of its code, or nothing.
    pub(super) fn language(&self) -> &str {
        let metadata = self.root.get("metadata");
        let at = |part: &str, key: &str| metadata?.get(part)?.get(key)?.as_str();
        at("language_info", "name").or_else(|| at("kernelspec", "language")).unwrap_or_default()
    }

    /// The cells as a host sees them.
    pub(super) fn value(&self) -> Value {
        let cell = |cell: &Cell| json!({"id": cell.id, "kind": cell.kind, "source": cell.source});
        self.cells.iter().map(cell).collect()
    }
}

impl Cell {
    fn of(id: String, value: Value) -> Option<Self> {
        let kind = value.get("cell_type")?.as_str()?.to_owned();
        let source = value.get("source").or_else(|| value.get("input"))?;
        let source = joined(source)?;
        Some(Self { id, kind, source, value })
    }

    /// Its outputs; a cell without any has none.
    pub(super) fn outputs(&self) -> &[Value] {
        self.value.get("outputs").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// The cells of nbformat 3, which lie in worksheets.
fn old_cells(root: &Value) -> Result<Vec<Value>, String> {
    let sheets = root.get("worksheets").and_then(Value::as_array).ok_or("`worksheets` is no array")?;
    let mut cells = Vec::new();
    for sheet in sheets {
        let of_sheet = sheet.get("cells").and_then(Value::as_array).ok_or("a worksheet has no `cells`")?;
        cells.extend_from_slice(of_sheet);
    }
    Ok(cells)
}

/// The ids of the cells; one that is missing or repeated is replaced by the first free name from `cell-<number>` on.
fn ids(cells: &[Value]) -> Vec<String> {
    let stored =
        |cell: &Value| cell.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
    let mut taken: HashSet<String> = cells.iter().filter_map(stored).collect();
    let mut seen = HashSet::new();
    let mut id = |(index, cell): (usize, &Value)| match stored(cell).filter(|id| seen.insert(id.clone())) {
        Some(id) => id,
        None => free_id(&mut taken, index + 1),
    };
    cells.iter().enumerate().map(&mut id).collect()
}

/// The first of `cell-<from>`, `cell-<from + 1>`, … that is not taken; from now on it is.
pub(super) fn free_id(taken: &mut HashSet<String>, from: usize) -> String {
    let mut number = from;
    loop {
        let id = format!("cell-{number}");
        if taken.insert(id.clone()) {
            return id;
        }
        number = number.saturating_add(1);
    }
}

/// A text of a notebook: a string, or the strings of its lines.
pub(super) fn joined(text: &Value) -> Option<String> {
    match text {
        Value::String(text) => Some(text.clone()),
        Value::Array(lines) => lines.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
