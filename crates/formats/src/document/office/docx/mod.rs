//! WordprocessingML (ECMA-376 part 1, 17): body, notes, comments, headers and footers.

mod blocks;
mod inline;
mod numbering;
mod story;
mod styles;
mod tables;

use std::collections::BTreeMap;

use self::blocks::Block;
use self::numbering::Numbering;
use self::story::{Anchors, Story};
use self::styles::Styles;
use super::package::{Package, Relationship};
use super::xml::{Event, Xml};
use crate::document::notes::Note;
use crate::document::output::Output;
use crate::document::{DocumentError, SectionKind, markdown};

/// Reads the document; gives what to say of one without text.
pub(super) fn read(package: &mut Package<'_>, main: &str, out: &mut Output) -> Result<String, DocumentError> {
    let relationships = package.relationships(main)?;
    let styles = match part_of(&relationships, "styles", package) {
        Some(part) => Styles::read(package, &part)?,
        None => Styles::default(),
    };
    let numbering = match part_of(&relationships, "numbering", package) {
        Some(part) => Numbering::read(package, &part)?,
        None => Numbering::default(),
    };
    let mut story = Story::new(&styles, numbering, package.limits.max_cells);
    body(package, main, &mut story, out)?;
    let anchors = std::mem::take(&mut story.anchors);
    if !out.is_full() {
        notes(package, &relationships, &mut story, &anchors, out)?;
        comments(package, &relationships, &mut story, &anchors, out)?;
        headers(package, &relationships, &mut story, out)?;
    }
    story.tell(&mut out.notes);
    Ok(if story.pictures > 0 { "it holds pictures only".to_owned() } else { "its body is empty".to_owned() })
}

fn part_of(relationships: &[Relationship], kind: &str, package: &Package<'_>) -> Option<String> {
    relationships
        .iter()
        .filter(|it| it.kind == kind)
        .find_map(|it| it.target.clone().filter(|part| package.has(part)))
}

fn body(
    package: &mut Package<'_>,
    main: &str,
    story: &mut Story<'_>,
    out: &mut Output,
) -> Result<(), DocumentError> {
    let text = package.part(main)?;
    let mut xml = Xml::new(&text, main, package.limits, package.guard);
    if xml.find("body")?.is_none() {
        return Err(xml.damaged("it has no body"));
    }
    out.open(SectionKind::Body, 1, "", false);
    let mut writer = BlockWriter::default();
    let mut blocks = Vec::new();
    while let Some(element) = xml.child()? {
        story.block(&element, &mut xml, &mut blocks)?;
        writer.write(&mut blocks, out);
        if out.is_full() {
            return Ok(());
        }
    }
    story.end(&mut blocks, &mut out.notes);
    writer.write(&mut blocks, out);
    Ok(())
}

/// Writes blocks: items of a list without a line between them, all else apart.
#[derive(Debug, Default)]
struct BlockWriter {
    after_item: bool,
}

impl BlockWriter {
    fn write(&mut self, blocks: &mut Vec<Block>, out: &mut Output) {
        for block in blocks.drain(..) {
            let is_item = matches!(block, Block::Item { .. });
            let text = block.written();
            if is_item && self.after_item {
                out.line(&text);
            } else {
                out.block(&text);
            }
            self.after_item = is_item;
        }
    }
}

/// Footnotes and endnotes, in the order in which the body refers to them.
fn notes(
    package: &mut Package<'_>,
    relationships: &[Relationship],
    story: &mut Story<'_>,
    anchors: &Anchors,
    out: &mut Output,
) -> Result<(), DocumentError> {
    let kinds = [
        ("footnotes", "footnote", "", &anchors.footnotes.ids, "# Footnotes"),
        ("endnotes", "endnote", "e", &anchors.endnotes.ids, "# Endnotes"),
    ];
    let mut opened = false;
    for (kind, element, mark, ids, title) in kinds {
        if ids.is_empty() {
            continue;
        }
        let Some(part) = part_of(relationships, kind, package) else {
            out.notes.add_many(Note::ContentUnreadable, ids.len() as u64, kind);
            continue;
        };
        let texts = entries(package, &part, element, story, &mut out.notes)?;
        if !std::mem::replace(&mut opened, true) {
            out.open(SectionKind::Notes, 1, "", false);
        }
        out.label(title);
        for (at, id) in ids.iter().enumerate() {
            let text = texts.get(id).map(|entry| entry.text.as_str()).unwrap_or_default();
            out.block(&format!("[^{mark}{}]: {text}", at + 1));
        }
    }
    Ok(())
}

/// Comments: those that the body refers to in its order, then the rest.
fn comments(
    package: &mut Package<'_>,
    relationships: &[Relationship],
    story: &mut Story<'_>,
    anchors: &Anchors,
    out: &mut Output,
) -> Result<(), DocumentError> {
    let Some(part) = part_of(relationships, "comments", package) else { return Ok(()) };
    let mut texts = entries(package, &part, "comment", story, &mut out.notes)?;
    if texts.is_empty() {
        return Ok(());
    }
    out.open(SectionKind::Comments, 1, "", false);
    out.label("# Comments");
    for (at, id) in anchors.comments.ids.iter().enumerate() {
        if let Some(entry) = texts.remove(id) {
            out.block(&format!("[^c{}]: {}", at + 1, entry.signed()));
        }
    }
    for entry in texts.into_values() {
        out.block(&entry.signed());
    }
    Ok(())
}

/// A footnote, endnote or comment.
struct Entry {
    author: String,
    text: String,
}

impl Entry {
    fn signed(&self) -> String {
        if self.author.is_empty() { self.text.clone() } else { format!("{}: {}", self.author, self.text) }
    }
}

fn entries(
    package: &mut Package<'_>,
    part: &str,
    name: &str,
    story: &mut Story<'_>,
    notes: &mut crate::document::notes::Notes,
) -> Result<BTreeMap<String, Entry>, DocumentError> {
    let text = package.part(part)?;
    let mut xml = Xml::new(&text, part, package.limits, package.guard);
    let mut found = BTreeMap::new();
    while let Some(element) = xml.find(name)? {
        let id = element.attribute("id").unwrap_or_default().into_owned();
        let author = element.attribute("author").unwrap_or_default();
        let author = markdown::one_line(&author).into_owned();
        let mut blocks = Vec::new();
        story.blocks(&mut xml, &mut blocks)?;
        story.end(&mut blocks, notes);
        found.insert(id, Entry { author, text: blocks::joined(&blocks) });
    }
    Ok(found)
}

/// Each distinct header and footer once.
fn headers(
    package: &mut Package<'_>,
    relationships: &[Relationship],
    story: &mut Story<'_>,
    out: &mut Output,
) -> Result<(), DocumentError> {
    let mut seen: Vec<(&str, String)> = Vec::new();
    for relationship in relationships {
        let title = match relationship.kind.as_str() {
            "header" => "Header",
            "footer" => "Footer",
            _ => continue,
        };
        let Some(part) = relationship.target.as_deref().filter(|part| package.has(part)) else { continue };
        let text = package.part(part)?;
        let mut xml = Xml::new(&text, part, package.limits, package.guard);
        let mut blocks = Vec::new();
        if let Some(Event::Start(_)) = first_element(&mut xml)? {
            story.blocks(&mut xml, &mut blocks)?;
            story.end(&mut blocks, &mut out.notes);
        }
        let text = blocks::joined(&blocks);
        if !text.trim().is_empty() && !seen.iter().any(|known| known.0 == title && known.1 == text) {
            seen.push((title, text));
        }
    }
    if !seen.is_empty() {
        out.open(SectionKind::HeadersAndFooters, 1, "", false);
        out.label("# Headers and footers");
        // The order of relationships is of no meaning.
        seen.sort_by(|one, other| other.0.cmp(one.0).then_with(|| one.1.cmp(&other.1)));
        for (title, text) in seen {
            out.block(&format!("{title}: {text}"));
        }
    }
    Ok(())
}

fn first_element<'a>(xml: &mut Xml<'a>) -> Result<Option<Event<'a>>, DocumentError> {
    loop {
        match xml.next()? {
            Some(Event::Text(_)) => {}
            other => return Ok(other),
        }
    }
}
