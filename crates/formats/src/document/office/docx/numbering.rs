//! Lists: the markers of their items.

use std::collections::BTreeMap;

use super::super::numbers;
use super::super::package::Package;
use super::super::xml::Xml;
use crate::document::DocumentError;

/// Lists have nine levels (17.9.3).
const LEVELS: usize = 9;

#[derive(Debug, Clone, Default)]
struct Level {
    start: Option<u32>,
    format: String,
    /// Such as `%1.%2.`.
    text: String,
    style: Option<String>,
}

#[derive(Debug, Clone)]
struct Number {
    definition: String,
    /// By level: where to begin anew.
    starts: [Option<u32>; LEVELS],
    used: bool,
}

/// The lists of a document and how far each has counted.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: BTreeMap<String, [Level; LEVELS]>,
    numbers: BTreeMap<String, Number>,
    counters: BTreeMap<String, [Option<u32>; LEVELS]>,
}

impl Numbering {
    pub(super) fn read(package: &mut Package<'_>, part: &str) -> Result<Self, DocumentError> {
        let text = package.part(part)?;
        let mut xml = Xml::new(&text, part, package.limits, package.guard);
        let mut found = Self::default();
        if xml.find("numbering")?.is_none() {
            return Ok(found);
        }
        while let Some(element) = xml.child()? {
            match element.name() {
                "abstractNum" => {
                    let id = element.attribute("abstractNumId").unwrap_or_default().into_owned();
                    let levels = definition(&mut xml)?;
                    found.definitions.insert(id, levels);
                }
                "num" => {
                    let id = element.attribute("numId").unwrap_or_default().into_owned();
                    let number = number(&mut xml)?;
                    found.numbers.insert(id, number);
                }
                _ => xml.skip()?,
            }
        }
        Ok(found)
    }

    /// The level that a definition ties to a style.
    pub(super) fn level_of_style(&self, number: &str, style: &str) -> Option<usize> {
        let definition = self.definitions.get(&self.numbers.get(number)?.definition)?;
        definition.iter().position(|level| level.style.as_deref() == Some(style))
    }

    /// The marker of the next item: `-` for bullets, else what the list writes, such as `2.` or `b)`.
    pub(super) fn next(&mut self, number: &str, level: usize) -> Option<String> {
        let number = self.numbers.get_mut(number)?;
        let definition = self.definitions.get(&number.definition)?;
        let counters = self.counters.entry(number.definition.clone()).or_default();
        if !std::mem::replace(&mut number.used, true) {
            for (counter, start) in counters.iter_mut().zip(number.starts) {
                // Counting goes up by one before the number is shown.
                *counter = start.map(|start| start.saturating_sub(1)).or(*counter);
            }
        }
        let level = level.min(LEVELS - 1);
        let format = definition.get(level)?;
        let start = format.start.unwrap_or(1);
        let counter = counters.get_mut(level)?;
        *counter = Some(counter.map_or(start, |count| count.saturating_add(1)));
        if let Some(below) = counters.get_mut(level + 1..) {
            below.fill(None);
        }
        match format.format.as_str() {
            "bullet" => Some("-".to_owned()),
            "none" if format.text.is_empty() => None,
            _ => Some(marker(&format.text, definition, counters)).filter(|marker| !marker.is_empty()),
        }
    }
}

/// Puts the counts into a text such as `%1.%2.`.
fn marker(text: &str, definition: &[Level; LEVELS], counters: &[Option<u32>; LEVELS]) -> String {
    let mut marker = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let digit = chars.peek().and_then(|next| next.to_digit(10)).filter(|_| char == '%');
        let Some(place) = digit.and_then(|digit| (digit as usize).checked_sub(1)) else {
            marker.push(char);
            continue;
        };
        chars.next();
        if let (Some(level), Some(counter)) = (definition.get(place), counters.get(place)) {
            let count = counter.unwrap_or_else(|| level.start.unwrap_or(1));
            marker.push_str(&numbers::written(count, &level.format));
        }
    }
    marker.trim().to_owned()
}

fn definition(xml: &mut Xml<'_>) -> Result<[Level; LEVELS], DocumentError> {
    let mut levels: [Level; LEVELS] = Default::default();
    while let Some(element) = xml.child()? {
        let place: usize = element.number("ilvl").unwrap_or(LEVELS);
        match levels.get_mut(place) {
            Some(level) if element.name() == "lvl" => *level = read_level(xml)?,
            _ => xml.skip()?,
        }
    }
    Ok(levels)
}

fn read_level(xml: &mut Xml<'_>) -> Result<Level, DocumentError> {
    let mut level = Level { format: "decimal".to_owned(), ..Level::default() };
    while let Some(element) = xml.child()? {
        let value = || element.attribute("val").unwrap_or_default().into_owned();
        match element.name() {
            "start" => level.start = element.number("val"),
            "numFmt" => level.format = value(),
            "lvlText" => level.text = value(),
            "pStyle" => level.style = Some(value()),
            _ => {}
        }
        xml.skip()?;
    }
    Ok(level)
}

fn number(xml: &mut Xml<'_>) -> Result<Number, DocumentError> {
    let mut number = Number { definition: String::new(), starts: [None; LEVELS], used: false };
    while let Some(element) = xml.child()? {
        match element.name() {
            "abstractNumId" => {
                number.definition = element.attribute("val").unwrap_or_default().into_owned();
                xml.skip()?;
            }
            "lvlOverride" => {
                let place: usize = element.number("ilvl").unwrap_or(LEVELS);
                while let Some(element) = xml.child()? {
                    if element.name() == "startOverride"
                        && let Some(start) = number.starts.get_mut(place)
                    {
                        *start = element.number("val");
                    }
                    xml.skip()?;
                }
            }
            _ => xml.skip()?,
        }
    }
    Ok(number)
}
