//! Tables.

use super::super::xml::{Element, Xml};
use super::blocks::{Block, plain};
use super::story::Story;
use crate::document::{DocumentError, markdown};

/// How many columns a cell may claim to span; a table has no more (17.4.17).
const MAX_SPAN: usize = 63;

/// A table as it grows, its cells escaped.
#[derive(Debug, Default)]
struct Table {
    rows: Vec<Vec<String>>,
    /// The blocks of the first cell, as long as it is the only one.
    only: Option<Vec<Block>>,
    cells: usize,
}

impl Story<'_> {
    /// A table. One of a single cell only frames its content.
    pub(super) fn table(&mut self, xml: &mut Xml<'_>, out: &mut Vec<Block>) -> Result<(), DocumentError> {
        let mut table = Table::default();
        self.rows(xml, &mut table)?;
        if let Some(mut framed) = table.only {
            out.append(&mut framed);
        } else if table.rows.iter().flatten().any(|cell| !cell.is_empty()) {
            table.rows.retain(|row| !row.is_empty());
            out.push(Block::Table(table.rows));
        }
        Ok(())
    }

    fn rows(&mut self, xml: &mut Xml<'_>, table: &mut Table) -> Result<(), DocumentError> {
        while let Some(element) = xml.child()? {
            match element.name() {
                "tr" => {
                    let mut row = Vec::new();
                    let deleted = self.cells(xml, table, &mut row)?;
                    if deleted {
                        self.deletions += 1;
                        table.only = None;
                    } else {
                        table.rows.push(row);
                    }
                }
                "tblPr" | "tblGrid" | "sdtPr" | "sdtEndPr" => xml.skip()?,
                "del" | "moveFrom" => {
                    self.deletions += 1;
                    xml.skip()?;
                }
                _ => self.rows(xml, table)?,
            }
        }
        Ok(())
    }

    /// Reads the cells of a row; says whether the row is deleted.
    fn cells(
        &mut self,
        xml: &mut Xml<'_>,
        table: &mut Table,
        row: &mut Vec<String>,
    ) -> Result<bool, DocumentError> {
        let mut deleted = false;
        while let Some(element) = xml.child()? {
            match element.name() {
                "tc" if self.cells_left == 0 => {
                    self.cells_cut += 1;
                    xml.skip()?;
                }
                "tc" => self.cell(xml, table, row)?,
                "trPr" => {
                    while let Some(element) = xml.child()? {
                        deleted |= element.name() == "del";
                        xml.skip()?;
                    }
                }
                "tblPrEx" | "sdtPr" | "sdtEndPr" => xml.skip()?,
                _ => deleted |= self.cells(xml, table, row)?,
            }
        }
        Ok(deleted)
    }

    /// Reads a cell. What it spans stays empty beside it, so that columns keep their places.
    fn cell(
        &mut self,
        xml: &mut Xml<'_>,
        table: &mut Table,
        row: &mut Vec<String>,
    ) -> Result<(), DocumentError> {
        let mut blocks = Vec::new();
        let (mut span, mut deleted) = (1, false);
        while let Some(element) = xml.child()? {
            if element.name() == "tcPr" {
                while let Some(element) = xml.child()? {
                    match element.name() {
                        "gridSpan" => span = span_of(&element),
                        "cellDel" => deleted = true,
                        _ => {}
                    }
                    xml.skip()?;
                }
            } else {
                self.block(&element, xml, &mut blocks)?;
            }
        }
        if deleted {
            self.deletions += 1;
            blocks.clear();
        }
        blocks.retain(|block| *block != Block::Paragraph(String::new()));
        self.cells_left = self.cells_left.saturating_sub(span as u64);
        row.push(markdown::cell(&plain(&blocks)));
        row.extend(std::iter::repeat_n(String::new(), span - 1));
        table.cells += 1;
        table.only = (table.cells == 1).then_some(blocks);
        Ok(())
    }
}

fn span_of(element: &Element<'_>) -> usize {
    element.number::<usize>("val").unwrap_or(1).clamp(1, MAX_SPAN)
}
