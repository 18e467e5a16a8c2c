//! Rows of cells as tables, without ever filling in what is empty.

use super::address;
use crate::document::markdown;
use crate::document::output::Output;

/// A table may have so many empty places for each cell …
const EMPTY_PER_CELL: u64 = 4;
/// … and so many more in all. Beyond, cells are listed by address, as is one that stands alone.
const EMPTY_MORE: u64 = 64;

/// A cell with its column, from 1, and its escaped text.
type Cell = (u32, String);

/// The rows of a run without an empty row in between.
#[derive(Debug, Default)]
pub(super) struct Grid {
    rows: Vec<(u32, Vec<Cell>)>,
    cells: u64,
    chars: u64,
}

impl Grid {
    /// How many chars are held.
    pub(super) fn chars(&self) -> u64 {
        self.chars
    }

    /// Whether a row does not follow on the last one.
    pub(super) fn breaks_before(&self, row: u32) -> bool {
        self.rows.last().is_some_and(|(last, _)| last.checked_add(1) != Some(row))
    }

    pub(super) fn push(&mut self, row: u32, mut cells: Vec<Cell>) {
        // Cells are in order in all but damaged files.
        cells.sort_by_key(|(column, _)| *column);
        self.cells += cells.len() as u64;
        self.rows.push((row, cells));
    }

    pub(super) fn hold(&mut self, chars: u64) {
        self.chars += chars;
    }

    /// Writes the rows and empties the grid.
    pub(super) fn write(&mut self, out: &mut Output) {
        let rows = std::mem::take(&mut self.rows);
        let cells = std::mem::take(&mut self.cells);
        self.chars = 0;
        let columns = || rows.iter().flat_map(|(_, cells)| cells.iter().map(|(column, _)| *column));
        let (Some(first), Some(last)) = (columns().min(), columns().max()) else { return };
        let (Some((top, _)), Some((bottom, _))) = (rows.first(), rows.last()) else { return };
        let places = u64::from(last - first + 1) * rows.len() as u64;
        if cells == 1 || places > cells * (EMPTY_PER_CELL + 1) + EMPTY_MORE {
            list(&rows, out);
            return;
        }
        let (from, to) = (address::letters(first), address::letters(last));
        out.label(&format!("Cells {from}{top}:{to}{bottom}"));
        let mut is_first = true;
        for (_, cells) in &rows {
            let mut cells = cells.iter().peekable();
            // Two cells at one address, as damaged files have them, stand together.
            let line: Vec<String> = (first..=last)
                .map(|column| {
                    let mut text = String::new();
                    while let Some((_, piece)) = cells.next_if(|(at, _)| *at == column) {
                        if !text.is_empty() {
                            text.push_str("<br>");
                        }
                        text.push_str(piece);
                    }
                    text
                })
                .collect();
            if std::mem::take(&mut is_first) {
                out.block(&markdown::row(line.iter().map(String::as_str)));
                out.line(&markdown::rule(line.len()));
            } else {
                out.line(&markdown::row(line.iter().map(String::as_str)));
            }
            if out.is_full() {
                return;
            }
        }
    }
}

fn list(rows: &[(u32, Vec<Cell>)], out: &mut Output) {
    let mut is_first = true;
    for (row, cells) in rows {
        for (column, text) in cells {
            let item = format!("- {}{row}: {text}", address::letters(*column));
            if std::mem::take(&mut is_first) {
                out.block(&item)
            } else {
                out.line(&item)
            }
            if out.is_full() {
                return;
            }
        }
    }
}
