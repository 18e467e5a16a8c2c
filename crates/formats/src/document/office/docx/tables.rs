//! Tables.

use super::super::xml::{Element, Xml};
use super::blocks::{Block, plain};
use super::story::Story;
use crate::document::{DocumentError, markdown};

/// How many columns a cell may claim to span; a table has no more (17.4.17).
const MAX_SPAN: usize = 63;

type Row = Vec<Vec<Block>>;

impl Story<'_> {
    /// A table. One of a single cell only frames its content.
    pub(super) fn table(&mut self, xml: &mut Xml<'_>, out: &mut Vec<Block>) -> Result<(), DocumentError> {
        let mut rows = Vec::new();
        self.rows(xml, &mut rows)?;
        if let [row] = rows.as_mut_slice()
            && let [cell] = row.as_mut_slice()
        {
            out.append(cell);
            return Ok(());
        }
        let written: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.iter().map(|blocks| markdown::cell(&plain(blocks))).collect::<Vec<_>>())
            .filter(|row| !row.is_empty())
            .collect();
        if written.iter().flatten().any(|cell| !cell.is_empty()) {
            out.push(Block::Table(written));
        }
        Ok(())
    }

    fn rows(&mut self, xml: &mut Xml<'_>, rows: &mut Vec<Row>) -> Result<(), DocumentError> {
        while let Some(element) = xml.child()? {
            match element.name() {
                "tr" => {
                    let mut row = Row::new();
                    let deleted = self.cells(xml, &mut row)?;
                    if deleted {
                        self.deletions += 1;
                    } else {
                        rows.push(row);
                    }
                }
                "tblPr" | "tblGrid" | "sdtPr" | "sdtEndPr" => xml.skip()?,
                "del" | "moveFrom" => {
                    self.deletions += 1;
                    xml.skip()?;
                }
                _ => self.rows(xml, rows)?,
            }
        }
        Ok(())
    }

    /// Reads the cells of a row; says whether the row is deleted.
    fn cells(&mut self, xml: &mut Xml<'_>, row: &mut Row) -> Result<bool, DocumentError> {
        let mut deleted = false;
        while let Some(element) = xml.child()? {
            match element.name() {
                "tc" => self.cell(xml, row)?,
                "trPr" => {
                    while let Some(element) = xml.child()? {
                        deleted |= element.name() == "del";
                        xml.skip()?;
                    }
                }
                "tblPrEx" | "sdtPr" | "sdtEndPr" => xml.skip()?,
                _ => deleted |= self.cells(xml, row)?,
            }
        }
        Ok(deleted)
    }

    /// Reads a cell. What it spans stays empty beside it, so that columns keep their places.
    fn cell(&mut self, xml: &mut Xml<'_>, row: &mut Row) -> Result<(), DocumentError> {
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
        row.push(blocks);
        row.extend(std::iter::repeat_n(Vec::new(), span - 1));
        Ok(())
    }
}

fn span_of(element: &Element<'_>) -> usize {
    element.number::<usize>("val").unwrap_or(1).clamp(1, MAX_SPAN)
}
