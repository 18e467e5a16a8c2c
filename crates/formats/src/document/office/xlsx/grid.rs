//! Rows of cells as tables, without ever filling in what is empty.

use std::ops::RangeInclusive;

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
        let mut line = String::new();
        for (at, (_, cells)) in rows.iter().enumerate() {
            written(cells, first..=last, &mut line);
            if at == 0 {
                out.block(&line);
                out.line(&markdown::rule((last - first + 1) as usize));
            } else {
                out.line(&line);
            }
            if out.is_full() {
                return;
            }
        }
    }
}

/// A row of a pipe table. Two cells at one address, as damaged files have them, stand together.
fn written(cells: &[Cell], columns: RangeInclusive<u32>, line: &mut String) {
    line.clear();
    line.push('|');
    let mut cells = cells.iter().peekable();
    for column in columns {
        let mut before = " ";
        while let Some((_, text)) = cells.next_if(|(at, _)| *at == column) {
            line.push_str(before);
            line.push_str(text);
            before = "<br>";
        }
        line.push_str(" |");
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
