//! A table as it is shown, and its value.

use std::collections::HashSet;

use briefing_core::{ContextDiagnostic, Severity};
use briefing_formats::Decoded;
use csv::StringRecord;
use serde_json::{Map, Value};

use super::dialect::Dialect;
use crate::handler::form::with_form;
use crate::handler::formatted::Window;
use crate::handler::{FormatRequest, Formatted};

/// A value of more cells is not given: a cell of a `Value` takes some hundred bytes.
const MAX_VALUE_CELLS: usize = 1_000_000;

pub(super) fn show(
    handler: &str,
    decoded: &Decoded,
    dialect: &Dialect,
    request: &FormatRequest,
) -> Formatted {
    let mut window = Window::new(request);
    let mut rows = dialect.rows(&decoded.text).peekable();
    let header = rows.peek().filter(|first| is_header(first)).cloned();
    let width = rows.peek().map_or(0, StringRecord::len);
    match &header {
        Some(header) => {
            show_row(&mut window, "#", header.iter());
            rows.next();
        }
        None if width > 0 => {
            let names: Vec<String> = (1..=width).map(|column| format!("column {column}")).collect();
            show_row(&mut window, "#", names.iter().map(String::as_str));
        }
        None => {}
    }
    if width > 0 {
        window.push(&format!("|{}\n", "---|".repeat(width + 1)));
    }
    let (mut ragged, mut first_ragged, mut count, mut cells) = (0_usize, None, 0_usize, width);
    for (index, row) in rows.enumerate() {
        count += 1;
        cells += row.len();
        if row.len() != width {
            ragged += 1;
            first_ragged.get_or_insert(index + 1);
        }
        show_row(&mut window, &(index + 1).to_string(), row.iter());
    }
    let mut formatted = with_form(window.into_formatted(handler), decoded);
    if let Some(first) = first_ragged {
        formatted.diagnostics.push(
            ContextDiagnostic::new("workspace.csv_rows_ragged", Severity::Warning)
                .with("rows", ragged)
                .with("of_rows", count)
                .with("first_row", first)
                .with("cells_expected", width),
        );
    }
    if dialect.has_stray_quotes {
        formatted.diagnostics.push(ContextDiagnostic::new("workspace.csv_quotes_stray", Severity::Warning));
    }
    if !request.with_value {
        return formatted;
    }
    formatted.with_value_or_reason(if cells > MAX_VALUE_CELLS {
        Err(format!("{cells} cells are more than {MAX_VALUE_CELLS}"))
    } else {
        let names = header.filter(|header| ragged == 0 && are_distinct(header));
        Ok(value(dialect.rows(&decoded.text), names.as_ref()))
    })
}

fn show_row<'c>(window: &mut Window, number: &str, cells: impl Iterator<Item = &'c str>) {
    window.push("| ");
    window.push(number);
    for cell in cells {
        window.push(" | ");
        show_cell(window, cell);
    }
    window.push(" |\n");
}

fn show_cell(window: &mut Window, cell: &str) {
    let mut rest = cell;
    while let Some(at) = rest.find(['\\', '|', '\n', '\r', '\t']) {
        let (before, after) = rest.split_at(at);
        window.push(before);
        window.push(match after.as_bytes().first() {
            Some(b'\\') => r"\\",
            Some(b'|') => r"\|",
            Some(b'\n') => r"\n",
            Some(b'\r') => r"\r",
            _ => r"\t",
        });
        rest = after.get(1..).unwrap_or_default();
    }
    window.push(rest);
}

/// Whether a first row names columns: not where all its cells are numbers, empty ones aside.
fn is_header(first: &StringRecord) -> bool {
    let mut filled = first.iter().filter(|cell| !cell.trim().is_empty()).peekable();
    filled.peek().is_none() || !filled.all(is_number)
}

/// A number in digits: `inf` and `nan` are words here.
fn is_number(cell: &str) -> bool {
    cell.trim().parse::<f64>().is_ok() && cell.contains(|char: char| char.is_ascii_digit())
}

pub(super) fn are_distinct(header: &StringRecord) -> bool {
    let mut seen = HashSet::new();
    header.iter().all(|name| seen.insert(name))
}

fn value(rows: impl Iterator<Item = StringRecord>, names: Option<&StringRecord>) -> Value {
    match names {
        Some(names) => rows
            .skip(1)
            .map(|row| {
                let cells = names.iter().zip(row.iter());
                let cells = cells.map(|(name, cell)| (name.to_owned(), Value::from(cell)));
                Value::Object(Map::from_iter(cells))
            })
            .collect(),
        None => rows.map(|row| row.iter().map(Value::from).collect::<Value>()).collect(),
    }
}
