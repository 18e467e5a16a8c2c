//! PDF (ISO 32000): pages in their order, the text of each in the order in which the page draws it.
//!
//! lopdf reads the objects. Fonts, character maps and content streams are read here, since their cost must be bounded
//! (lopdf makes an entry for every code of a range that a `ToUnicode` map claims, up to four billion) and since a line of
//! text is known only by where its pieces stand.

mod budget;
mod cmap;
mod content;
mod fonts;
mod glyphs;
mod layout;
mod legacy;
mod load;
mod matrix;
mod page;
mod resources;
mod widths;

use std::collections::HashSet;

use lopdf::xref::XrefRecovery;
use lopdf::{Document, Object, ObjectId};

use self::budget::Budget;
use self::page::PageReader;
use super::guard::Guard;
use super::notes::Note;
use super::output::Output;
use super::{DocumentError, DocumentFormat, DocumentLimits, DocumentText, SectionKind, markdown};

pub(super) fn read(
    bytes: &[u8],
    limits: &DocumentLimits,
    guard: &Guard,
) -> Result<DocumentText, DocumentError> {
    let document = load::load(bytes, limits, guard)?;
    if document.is_encrypted() {
        return Err(DocumentError::Encrypted);
    }
    let mut out = Output::new(limits);
    if document.xref_recovery == Some(XrefRecovery::Reconstructed) {
        out.notes.add(Note::ContentUnreadable, "the cross-reference table, which was rebuilt");
    }
    if has_form_fields(&document) {
        out.notes.add(Note::FormFieldsLeftOut, "");
    }
    let budget = Budget::new(limits, guard);
    let mut reader = PageReader::new(&document, &budget);
    let (mut pages, mut pictures) = (0_u64, 0);
    for id in unique_pages(&document) {
        guard.check()?;
        pages += 1;
        if pages > limits.max_pages {
            out.notes.add(Note::PagesCut, "");
            continue;
        }
        if out.is_full() {
            break;
        }
        let place = format!("page {pages}");
        out.open(SectionKind::Page, u32::try_from(pages).unwrap_or(u32::MAX), "", false);
        out.label(&format!("# Page {pages}"));
        let page = reader.read(id)?;
        out.notes.add_many(Note::CharactersUnknown, page.unknown, &place);
        out.notes.add_many(Note::EncodingGuessed, u64::from(page.guessed), &place);
        out.notes.add_many(Note::ContentUnreadable, u64::from(page.damaged), &place);
        out.notes.add_many(Note::PicturesLeftOut, page.pictures, &place);
        pictures += page.pictures;
        if page.text.trim().is_empty() {
            out.notes.add(Note::PagesWithoutText, &place);
        }
        for paragraph in page.text.split("\n\n") {
            out.block(&markdown::paragraph(paragraph));
        }
    }
    let found = match (pages, pictures) {
        (0, _) => "its page tree leads to no page".to_owned(),
        (_, 0) => format!("none of its {pages} pages has text"),
        _ => format!("none of its {pages} pages has text, only {pictures} pictures: perhaps a scan"),
    };
    out.finish(DocumentFormat::Pdf, &found)
}

/// The pages, each once: a page tree may lead in circles.
fn unique_pages(document: &Document) -> impl Iterator<Item = ObjectId> {
    let mut seen = HashSet::new();
    document.page_iter().filter(move |id| seen.insert(*id))
}

fn has_form_fields(document: &Document) -> bool {
    document
        .catalog()
        .and_then(|catalog| catalog.get_deref(b"AcroForm", document))
        .and_then(Object::as_dict)
        .and_then(|form| form.get_deref(b"Fields", document))
        .and_then(Object::as_array)
        .is_ok_and(|fields| !fields.is_empty())
}
