//! Styles: which of them are headings, and which are numbered.

use std::collections::BTreeMap;

use super::super::package::Package;
use super::super::xml::{Element, Xml};
use crate::document::DocumentError;

/// How many styles are followed from one to the one it is based on.
const MAX_CHAIN: usize = 32;

#[derive(Debug, Default)]
struct Style {
    based_on: Option<String>,
    /// From 0; 9 is body text.
    outline: Option<usize>,
    number: Option<String>,
    level: Option<usize>,
}

/// The styles of paragraphs, by id.
#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: BTreeMap<String, Style>,
}

impl Styles {
    pub(super) fn read(package: &mut Package<'_>, part: &str) -> Result<Self, DocumentError> {
        let text = package.part(part)?;
        let mut xml = Xml::new(&text, part, package.limits, package.guard);
        let mut styles = BTreeMap::new();
        while let Some(element) = xml.find("style")? {
            if element.attribute("type").is_some_and(|kind| kind != "paragraph") {
                xml.skip()?;
                continue;
            }
            let id = element.attribute("styleId").unwrap_or_default().into_owned();
            styles.insert(id, style(&mut xml)?);
        }
        Ok(Self { styles })
    }

    /// The outline level of a style, from 0.
    pub(super) fn outline(&self, style: Option<&str>) -> Option<usize> {
        self.chain(style).find_map(|style| style.outline)
    }

    /// The numbering of a style: its id and its level.
    pub(super) fn number<'a>(&'a self, style: Option<&'a str>) -> (Option<&'a str>, Option<usize>) {
        (
            self.chain(style).find_map(|style| style.number.as_deref()),
            self.chain(style).find_map(|style| style.level),
        )
    }

    fn chain<'a>(&'a self, style: Option<&'a str>) -> impl Iterator<Item = &'a Style> {
        std::iter::successors(style.and_then(|id| self.styles.get(id)), |style| {
            style.based_on.as_deref().and_then(|id| self.styles.get(id))
        })
        .take(MAX_CHAIN)
    }
}

fn style(xml: &mut Xml<'_>) -> Result<Style, DocumentError> {
    let mut style = Style::default();
    let mut named = None;
    while let Some(element) = xml.child()? {
        match element.name() {
            "name" => named = element.attribute("val").and_then(|name| outline_of_name(&name)),
            "basedOn" => style.based_on = value(&element),
            "pPr" => {
                properties(xml, &mut style)?;
                continue;
            }
            _ => {}
        }
        xml.skip()?;
    }
    style.outline = style.outline.or(named);
    Ok(style)
}

fn properties(xml: &mut Xml<'_>, style: &mut Style) -> Result<(), DocumentError> {
    while let Some(element) = xml.child()? {
        match element.name() {
            "outlineLvl" => style.outline = element.number("val"),
            "numPr" => {
                while let Some(element) = xml.child()? {
                    match element.name() {
                        "numId" => style.number = value(&element),
                        "ilvl" => style.level = element.number("val"),
                        _ => {}
                    }
                    xml.skip()?;
                }
                continue;
            }
            _ => {}
        }
        xml.skip()?;
    }
    Ok(())
}

fn value(element: &Element<'_>) -> Option<String> {
    element.attribute("val").map(std::borrow::Cow::into_owned)
}

/// Built-in styles keep their English names in every language, whatever their ids are (17.7.4.9).
fn outline_of_name(name: &str) -> Option<usize> {
    let name = name.trim().to_ascii_lowercase();
    if name == "title" {
        return Some(0);
    }
    let level: usize = name.strip_prefix("heading ")?.parse().ok()?;
    (1..=9).contains(&level).then(|| level - 1)
}
