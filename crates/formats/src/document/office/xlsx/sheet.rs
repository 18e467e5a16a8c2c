//! One sheet.

use super::super::package::Package;
use super::super::xml::{Element, Event, Xml};
use super::address;
use super::cells::{self, SharedFormulas, Start};
use super::formats::Formats;
use super::grid::Grid;
use super::strings::Strings;
use crate::document::notes::Note;
use crate::document::output::Output;
use crate::document::{DocumentError, markdown};

/// Reads a sheet cell by cell.
pub(super) struct SheetReader<'a> {
    strings: &'a Strings,
    formats: &'a Formats,
    /// For notes.
    place: &'a str,
    cells_left: u64,
    shared: SharedFormulas,
    grid: Grid,
    hidden_rows: Vec<(u32, u32)>,
    hidden_columns: Vec<(u32, u32)>,
    formulas: u64,
}

impl<'a> SheetReader<'a> {
    pub(super) fn new(strings: &'a Strings, formats: &'a Formats, place: &'a str, cells_left: u64) -> Self {
        Self {
            strings,
            formats,
            place,
            cells_left,
            shared: SharedFormulas::default(),
            grid: Grid::default(),
            hidden_rows: Vec::new(),
            hidden_columns: Vec::new(),
            formulas: 0,
        }
    }

    /// Writes the sheet; gives how many cells may still be read.
    pub(super) fn read(
        mut self,
        package: &mut Package<'_>,
        part: &str,
        out: &mut Output,
    ) -> Result<u64, DocumentError> {
        let text = package.part(part)?;
        let mut xml = Xml::new(&text, part, package.limits, package.guard);
        let mut row = 0;
        while let Some(event) = xml.next()? {
            let Event::Start(element) = event else { continue };
            match element.name() {
                "col" if element.switch("hidden") == Some(true) => {
                    if let (Some(first), Some(last)) = (element.number("min"), element.number("max")) {
                        self.hidden_columns.push((first, last));
                    }
                }
                "row" => {
                    row = element.number("r").unwrap_or(row + 1);
                    if !self.row(&element, row, &mut xml, out)? {
                        break;
                    }
                }
                "drawing" | "picture" => {
                    out.notes.add(Note::DrawingsLeftOut, self.place);
                }
                _ => {}
            }
        }
        self.grid.write(out);
        self.tell(out);
        drop(text);
        comments(package, part, self.place, out)?;
        Ok(self.cells_left)
    }

    /// Reads a row; `false` when no more is wanted.
    fn row(
        &mut self,
        element: &Element<'_>,
        row: u32,
        xml: &mut Xml<'_>,
        out: &mut Output,
    ) -> Result<bool, DocumentError> {
        let hidden = element.switch("hidden") == Some(true);
        let mut column = 0;
        let mut cells = Vec::new();
        let mut goes_on = true;
        while let Some(element) = xml.child()? {
            if element.name() != "c" {
                xml.skip()?;
                continue;
            }
            let [said, kind, style] = element.plain_all(["r", "t", "s"]);
            let said = said.and_then(|said| address::parsed(&said));
            column = said.map_or(column + 1, |(column, _)| column).min(address::COLUMNS);
            let style = style.and_then(|style| style.trim().parse().ok()).unwrap_or(0);
            let start = Start { kind, style, at: (column, row) };
            let shown = cells::read(&start, xml, self.strings, self.formats, &mut self.shared)?;
            if shown.text.trim().is_empty() {
                continue;
            }
            if self.cells_left == 0 {
                out.notes.add(Note::CellsCut, self.place);
                goes_on = false;
                break;
            }
            self.cells_left -= 1;
            self.formulas += u64::from(shown.is_formula);
            let text = markdown::cell(&shown.text);
            self.grid.hold(text.len() as u64);
            cells.push((column, text));
            // What is held is more than what fits, at four bytes a char.
            if self.grid.chars() / 4 > out.room() {
                goes_on = false;
                break;
            }
        }
        if !cells.is_empty() {
            if hidden {
                extend(&mut self.hidden_rows, row);
            }
            if self.grid.breaks_before(row) {
                self.write_before(&mut cells, row, out);
            } else {
                self.grid.push(row, cells);
            }
        }
        if out.is_full() {
            return Ok(false);
        }
        if !goes_on && self.cells_left > 0 {
            self.grid.write(out);
            out.set_full();
        }
        Ok(goes_on)
    }

    /// Writes what is held, and holds the row that does not follow on it.
    fn write_before(&mut self, cells: &mut Vec<(u32, String)>, row: u32, out: &mut Output) {
        self.grid.write(out);
        let held: usize = cells.iter().map(|(_, text)| text.len()).sum();
        self.grid.hold(held as u64);
        self.grid.push(row, std::mem::take(cells));
    }

    fn tell(&self, out: &mut Output) {
        out.notes.add_many(Note::FormulasWithoutValue, self.formulas, self.place);
        let count = |runs: &[(u32, u32)]| {
            runs.iter().map(|(first, last)| u64::from(last.saturating_sub(*first)) + 1).sum::<u64>()
        };
        let mut named = Vec::new();
        if !self.hidden_rows.is_empty() {
            out.notes.add_many(Note::HiddenRows, count(&self.hidden_rows), self.place);
            named.push(format!("Hidden rows: {}", address::runs(&self.hidden_rows, |row| row.to_string())));
        }
        if !self.hidden_columns.is_empty() {
            out.notes.add_many(Note::HiddenColumns, count(&self.hidden_columns), self.place);
            named.push(format!("Hidden columns: {}", address::runs(&self.hidden_columns, address::letters)));
        }
        if !named.is_empty() {
            out.label(&named.join("\n"));
        }
    }
}

fn extend(runs: &mut Vec<(u32, u32)>, number: u32) {
    match runs.last_mut() {
        Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
        _ => runs.push((number, number)),
    }
}

/// The comments on cells, below the sheet.
fn comments(
    package: &mut Package<'_>,
    part: &str,
    place: &str,
    out: &mut Output,
) -> Result<(), DocumentError> {
    if out.is_full() {
        return Ok(());
    }
    for relationship in package.relationships(part)? {
        let Some(part) = relationship.target.filter(|_| relationship.kind == "comments") else { continue };
        if !package.has(&part) {
            out.notes.add(Note::ContentUnreadable, place);
            continue;
        }
        let text = package.part(&part)?;
        let mut xml = Xml::new(&text, &part, package.limits, package.guard);
        let mut is_first = true;
        while let Some(element) = xml.find("comment")? {
            let at = element.attribute("ref").unwrap_or_default().into_owned();
            let mut said = String::new();
            super::strings::rich(&mut xml, &mut said)?;
            if said.trim().is_empty() {
                continue;
            }
            if std::mem::take(&mut is_first) {
                out.label("Comments:");
            }
            out.line(&format!("- {}: {}", markdown::one_line(&at), markdown::one_line(&said)));
        }
    }
    Ok(())
}
