//! PresentationML (ECMA-376 part 1, 19): slides in show order, with their speaker notes.

mod paragraphs;
mod shapes;

use self::shapes::Shapes;
use super::package::{Package, Relationship};
use super::xml::{Event, Xml};
use crate::document::notes::Note;
use crate::document::output::Output;
use crate::document::{DocumentError, SectionKind, markdown};

/// Reads the presentation; gives what to say of one without text.
pub(super) fn read(package: &mut Package<'_>, main: &str, out: &mut Output) -> Result<String, DocumentError> {
    let relationships = package.relationships(main)?;
    let slides = order(package, main)?;
    for (at, id) in slides.iter().enumerate() {
        if at as u64 >= package.limits.max_pages {
            out.notes.add_many(Note::PagesCut, (slides.len() - at) as u64, "");
            break;
        }
        if out.is_full() {
            break;
        }
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let part = relationships.iter().find(|it| it.id == *id).and_then(|it| it.target.clone());
        match part.filter(|part| package.has(part)) {
            Some(part) => slide(package, &part, number, out)?,
            None => {
                out.open(SectionKind::Slide, number, "", false);
                out.label(&format!("# Slide {number}"));
                out.notes.add(Note::ContentUnreadable, &format!("slide {number}"));
            }
        }
    }
    Ok(format!("none of its {} slides has text", slides.len()))
}

/// The relationships of the slides in show order.
fn order(package: &mut Package<'_>, main: &str) -> Result<Vec<String>, DocumentError> {
    let text = package.part(main)?;
    let mut xml = Xml::new(&text, main, package.limits, package.guard);
    let mut slides = Vec::new();
    if xml.find("sldIdLst")?.is_some() {
        while let Some(element) = xml.child()? {
            if element.name() == "sldId" {
                slides.push(element.prefixed("id").unwrap_or_default().into_owned());
            }
            xml.skip()?;
        }
    }
    Ok(slides)
}

fn slide(package: &mut Package<'_>, part: &str, number: u32, out: &mut Output) -> Result<(), DocumentError> {
    let place = format!("slide {number}");
    let relationships = package.relationships(part)?;
    let text = package.part(part)?;
    let mut xml = Xml::new(&text, part, package.limits, package.guard);
    let mut hidden = false;
    let mut shapes = Shapes::default();
    while let Some(event) = xml.next()? {
        let Event::Start(element) = event else { continue };
        match element.name() {
            "sld" => hidden = element.plain("show").is_some_and(|show| matches!(show.trim(), "0" | "false")),
            "spTree" => shapes.read(&mut xml)?,
            _ => {}
        }
    }
    drop(text);
    if hidden {
        out.notes.add(Note::HiddenSlide, &place);
    }
    out.open(SectionKind::Slide, number, &shapes.title, hidden);
    let title = markdown::one_line(&shapes.title);
    let colon = if title.is_empty() { "" } else { ": " };
    let mark = if hidden { " (hidden)" } else { "" };
    let heading = format!("# Slide {number}{colon}{title}{mark}");
    if title.is_empty() {
        out.label(&heading)
    } else {
        out.block(&heading)
    }
    for block in &shapes.blocks {
        out.block(block);
    }
    shapes.tell(&place, &mut out.notes);
    notes(package, &relationships, &place, out)
}

/// The speaker notes of a slide.
fn notes(
    package: &mut Package<'_>,
    relationships: &[Relationship],
    place: &str,
    out: &mut Output,
) -> Result<(), DocumentError> {
    for relationship in relationships {
        match (relationship.kind.as_str(), relationship.target.as_deref()) {
            ("comments", _) => out.notes.add(Note::CommentsLeftOut, place),
            ("notesSlide", Some(part)) if package.has(part) => {
                let text = package.part(part)?;
                let mut xml = Xml::new(&text, part, package.limits, package.guard);
                let mut shapes = Shapes::of_notes();
                if xml.find("spTree")?.is_some() {
                    shapes.read(&mut xml)?;
                }
                if !shapes.blocks.is_empty() {
                    out.label("Notes:");
                    for block in &shapes.blocks {
                        out.block(block);
                    }
                }
            }
            ("notesSlide", _) => out.notes.add(Note::ContentUnreadable, place),
            _ => {}
        }
    }
    Ok(())
}
