//! One run of blocks and what is known while it is read.

use std::collections::HashMap;

use super::blocks::Block;
use super::numbering::Numbering;
use super::styles::Styles;
use crate::document::notes::{Note, Notes};

/// Ids in the order in which the text first refers to them.
#[derive(Debug, Default)]
pub(super) struct Referred {
    pub(super) ids: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Referred {
    /// The number of an id, from 1.
    pub(super) fn number(&mut self, id: &str) -> usize {
        if let Some(number) = self.numbers.get(id) {
            return *number;
        }
        self.ids.push(id.to_owned());
        self.numbers.insert(id.to_owned(), self.ids.len());
        self.ids.len()
    }
}

/// What the text refers to.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    pub(super) footnotes: Referred,
    pub(super) endnotes: Referred,
    pub(super) comments: Referred,
}

/// The state of reading: the body, a note, a comment or a header.
#[derive(Debug)]
pub(super) struct Story<'a> {
    pub(super) styles: &'a Styles,
    pub(super) numbering: Numbering,
    pub(super) anchors: Anchors,
    /// The fields that are open, each with whether its result has begun; the instructions before it are no text.
    pub(super) fields: Vec<bool>,
    /// The text of paragraphs whose mark is deleted: it runs on in the next paragraph.
    pub(super) runs_on: String,
    /// How many cells of tables may still be read.
    pub(super) cells_left: u64,
    pub(super) cells_cut: u64,
    pub(super) pictures: u64,
    pub(super) charts: u64,
    pub(super) diagrams: u64,
    pub(super) embedded: u64,
    pub(super) symbols: u64,
    pub(super) hidden: u64,
    pub(super) deletions: u64,
}

impl<'a> Story<'a> {
    pub(super) fn new(styles: &'a Styles, numbering: Numbering, max_cells: u64) -> Self {
        Self {
            styles,
            numbering,
            anchors: Anchors::default(),
            fields: Vec::new(),
            runs_on: String::new(),
            cells_left: max_cells,
            cells_cut: 0,
            pictures: 0,
            charts: 0,
            diagrams: 0,
            embedded: 0,
            symbols: 0,
            hidden: 0,
            deletions: 0,
        }
    }

    /// Ends a story: what is left over, and the fields that were never closed, whose text may be missing.
    pub(super) fn end(&mut self, blocks: &mut Vec<Block>, notes: &mut Notes) {
        let rest = std::mem::take(&mut self.runs_on);
        if !rest.is_empty() {
            blocks.push(Block::Paragraph(rest));
        }
        if self.fields.iter().any(|in_result| !in_result) {
            notes.add(Note::ContentUnreadable, "a field without an end");
        }
        self.fields.clear();
    }

    /// Says what was left out.
    pub(super) fn tell(&self, notes: &mut Notes) {
        for (note, count) in [
            (Note::CellsCut, self.cells_cut),
            (Note::PicturesLeftOut, self.pictures),
            (Note::ChartsLeftOut, self.charts),
            (Note::DiagramsLeftOut, self.diagrams),
            (Note::EmbeddedLeftOut, self.embedded),
            (Note::SymbolsLeftOut, self.symbols),
            (Note::HiddenTextLeftOut, self.hidden),
            (Note::TrackedDeletionsLeftOut, self.deletions),
        ] {
            notes.add_many(note, count, "");
        }
    }
}
