//! The notes that gather while a document is read.

use super::DocumentNote;

/// What a note can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    TextCut,
    PagesCut,
    CellsCut,
    ContentUnreadable,
    PicturesLeftOut,
    ChartsLeftOut,
    DiagramsLeftOut,
    EmbeddedLeftOut,
    DrawingsLeftOut,
    SymbolsLeftOut,
    FormFieldsLeftOut,
    CommentsLeftOut,
    HiddenTextLeftOut,
    HiddenShapesLeftOut,
    TrackedDeletionsLeftOut,
    FormulasWithoutValue,
    HiddenSheet,
    HiddenRows,
    HiddenColumns,
    HiddenSlide,
    PagesWithoutText,
    CharactersUnknown,
    EncodingGuessed,
}

impl Note {
    fn code(self) -> &'static str {
        self.told().0
    }

    /// The code, and the sentence.
    fn told(self) -> (&'static str, &'static str) {
        match self {
            Self::TextCut => ("document.text_cut", "The text ends at max_text_chars; the document goes on."),
            Self::PagesCut => {
                ("document.pages_cut", "Pages, sheets or slides after max_pages were not read; counted here.")
            }
            Self::CellsCut => {
                ("document.cells_cut", "Cells of sheets or tables after max_cells were not read.")
            }
            Self::ContentUnreadable => (
                "document.content_unreadable",
                "A part of the document is damaged or missing, so that its text is not here.",
            ),
            Self::PicturesLeftOut => ("document.pictures_left_out", "Pictures have no text here."),
            Self::ChartsLeftOut => ("document.charts_left_out", "Charts have no text here."),
            Self::DiagramsLeftOut => ("document.diagrams_left_out", "Diagrams (SmartArt) have no text here."),
            Self::EmbeddedLeftOut => ("document.embedded_left_out", "Embedded documents were not read."),
            Self::DrawingsLeftOut => (
                "document.drawings_left_out",
                "The drawings of a sheet (pictures, charts, shapes) were not read.",
            ),
            Self::SymbolsLeftOut => (
                "document.symbols_left_out",
                "Signs of symbol fonts that have no Unicode char were left out.",
            ),
            Self::FormFieldsLeftOut => {
                ("document.form_fields_left_out", "What is filled into the fields of a form was not read.")
            }
            Self::CommentsLeftOut => ("document.comments_left_out", "Comments were not read."),
            Self::HiddenTextLeftOut => ("document.hidden_text_left_out", "Text set to hidden was left out."),
            Self::HiddenShapesLeftOut => ("document.hidden_shapes_left_out", "Hidden shapes were left out."),
            Self::TrackedDeletionsLeftOut => {
                ("document.tracked_deletions_left_out", "Text whose deletion is tracked was left out.")
            }
            Self::FormulasWithoutValue => (
                "document.formulas_without_value",
                "Cells without a stored value show their formula, as `=…`.",
            ),
            Self::HiddenSheet => ("document.hidden_sheet", "Hidden sheets are marked `(hidden)`."),
            Self::HiddenRows => {
                ("document.hidden_rows", "Hidden rows are shown, and named below their sheet.")
            }
            Self::HiddenColumns => {
                ("document.hidden_columns", "Hidden columns are shown, and named below their sheet.")
            }
            Self::HiddenSlide => ("document.hidden_slide", "Hidden slides are marked `(hidden)`."),
            Self::PagesWithoutText => {
                ("document.pages_without_text", "Pages have no text: they are empty, or pictures of text.")
            }
            Self::CharactersUnknown => (
                "document.characters_unknown",
                "Characters whose font does not tell what they mean stand as U+FFFD.",
            ),
            Self::EncodingGuessed => (
                "document.encoding_guessed",
                "A font does not tell what its characters mean; they were read as Latin letters.",
            ),
        }
    }

    /// Whether text that the document shows is missing.
    fn is_loss(self) -> bool {
        matches!(self, Self::TextCut | Self::PagesCut | Self::CellsCut | Self::ContentUnreadable)
    }
}

/// The notes so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    notes: Vec<DocumentNote>,
    loss: bool,
}

impl Notes {
    pub(crate) fn add(&mut self, note: Note, place: &str) {
        self.add_many(note, 1, place);
    }

    pub(crate) fn add_many(&mut self, note: Note, count: u64, place: &str) {
        if count == 0 {
            return;
        }
        self.loss |= note.is_loss();
        let code = note.code();
        let at = self.notes.iter().position(|known| known.code == code).unwrap_or_else(|| {
            self.notes.push(DocumentNote { code, message: note.told().1, count: 0, places: Vec::new() });
            self.notes.len() - 1
        });
        let Some(known) = self.notes.get_mut(at) else { return };
        known.count = known.count.saturating_add(count);
        if known.places.len() < DocumentNote::PLACES
            && !place.is_empty()
            && known.places.last().is_none_or(|last| last != place)
        {
            known.places.push(place.to_owned());
        }
    }

    pub(crate) fn has_loss(&self) -> bool {
        self.loss
    }

    pub(crate) fn into_vec(self) -> Vec<DocumentNote> {
        self.notes
    }
}
