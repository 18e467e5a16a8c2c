//! SpreadsheetML (ECMA-376 part 1, 18): sheets in the order of their tabs.

mod address;
mod cells;
mod dates;
mod formats;
mod grid;
mod sheet;
mod strings;

use self::formats::Formats;
use self::sheet::SheetReader;
use self::strings::Strings;
use super::package::Package;
use super::xml::{Event, Xml};
use crate::document::notes::Note;
use crate::document::output::Output;
use crate::document::{DocumentError, SectionKind, markdown};

/// A sheet as the workbook lists it.
struct Tab {
    name: String,
    hidden: bool,
    relationship: String,
}

/// Reads the workbook; gives what to say of one without text.
pub(super) fn read(package: &mut Package<'_>, main: &str, out: &mut Output) -> Result<String, DocumentError> {
    let relationships = package.relationships(main)?;
    let (tabs, since_1904) = workbook(package, main)?;
    let part = |kind: &str| relationships.iter().find(|it| it.kind == kind).and_then(|it| it.target.clone());
    let strings = match part("sharedStrings").filter(|part| package.has(part)) {
        Some(part) => Strings::read(package, &part)?,
        None => Strings::default(),
    };
    let formats = match part("styles").filter(|part| package.has(part)) {
        Some(part) => Formats::read(package, &part, since_1904)?,
        None => Formats::empty(since_1904),
    };
    let mut cells_left = package.limits.max_cells;
    for (at, tab) in tabs.iter().enumerate() {
        if at as u64 >= package.limits.max_pages {
            out.notes.add_many(Note::PagesCut, (tabs.len() - at) as u64, "");
            break;
        }
        if out.is_full() {
            break;
        }
        let place = format!("sheet {}", tab.name);
        let hidden = if tab.hidden { " (hidden)" } else { "" };
        if tab.hidden {
            out.notes.add(Note::HiddenSheet, &place);
        }
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        out.open(SectionKind::Sheet, number, &tab.name, tab.hidden);
        out.label(&format!("# Sheet: {}{hidden}", markdown::one_line(&tab.name)));
        let target = relationships.iter().find(|it| it.id == tab.relationship);
        match target.and_then(|it| Some((it.kind.as_str(), it.target.as_deref()?))) {
            Some(("worksheet", part)) if package.has(part) => {
                cells_left =
                    SheetReader::new(&strings, &formats, &place, cells_left).read(package, part, out)?;
            }
            Some(("chartsheet", _)) => out.notes.add(Note::ChartsLeftOut, &place),
            _ => out.notes.add(Note::ContentUnreadable, &place),
        }
    }
    Ok(format!("none of its {} sheets has a cell with text", tabs.len()))
}

/// The sheets, and whether dates count from 1904.
fn workbook(package: &mut Package<'_>, main: &str) -> Result<(Vec<Tab>, bool), DocumentError> {
    let text = package.part(main)?;
    let mut xml = Xml::new(&text, main, package.limits, package.guard);
    let (mut tabs, mut since_1904) = (Vec::new(), false);
    while let Some(event) = xml.next()? {
        let Event::Start(element) = event else { continue };
        match element.name() {
            "workbookPr" => since_1904 = element.switch("date1904").unwrap_or(false),
            "sheet" => tabs.push(Tab {
                name: element.plain("name").unwrap_or_default().into_owned(),
                hidden: element.plain("state").is_some_and(|state| state != "visible"),
                relationship: element.prefixed("id").unwrap_or_default().into_owned(),
            }),
            _ => {}
        }
    }
    Ok((tabs, since_1904))
}
