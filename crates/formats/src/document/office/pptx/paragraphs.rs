//! The paragraphs of a shape (DrawingML, ECMA-376 part 1, 21.1.2).

use super::super::numbers;
use super::super::xml::{Element, Xml};
use crate::document::{DocumentError, markdown};

/// Which paragraphs are items of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bullets {
    /// Those that say so.
    WhereSaid,
    /// All but those that say no: such placeholders inherit bullets.
    UnlessDenied,
}

/// How a paragraph begins.
#[derive(Debug, Default)]
struct Properties {
    level: usize,
    /// Whether it has a bullet or a number.
    marked: Option<bool>,
    /// The scheme of its number, and where that begins.
    numbered: Option<(String, u32)>,
}

/// How many levels there are (21.1.2.2.7).
const LEVELS: usize = 9;

/// Reads the text body that was entered last.
pub(super) fn read(xml: &mut Xml<'_>, bullets: Bullets) -> Result<String, DocumentError> {
    let mut lines: Vec<String> = Vec::new();
    let mut counters = [0_u32; LEVELS];
    while let Some(element) = xml.child()? {
        if element.name() != "p" {
            xml.skip()?;
            continue;
        }
        let (properties, text) = paragraph(xml)?;
        let text = markdown::paragraph(&text);
        if text.is_empty() {
            continue;
        }
        let level = properties.level.min(LEVELS - 1);
        let is_item = properties.marked.unwrap_or(bullets == Bullets::UnlessDenied || level > 0);
        if let Some(deeper) = counters.get_mut(level + 1..) {
            deeper.fill(0);
        }
        let marker = match (is_item, &properties.numbered) {
            (true, Some((scheme, start))) => {
                let counter = counters.get_mut(level).map(|counter| {
                    *counter += 1;
                    start.saturating_add(*counter - 1)
                });
                numbered(counter.unwrap_or(*start), scheme)
            }
            (true, None) => "-".to_owned(),
            (false, _) => String::new(),
        };
        if properties.numbered.is_none()
            && let Some(counter) = counters.get_mut(level)
        {
            *counter = 0;
        }
        let indent = "   ".repeat(level);
        if marker.is_empty() {
            // Paragraphs that are no items stand apart.
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(text);
        } else {
            lines.push(format!("{indent}{marker} {}", text.replace('\n', &format!("\n{indent}   "))));
        }
    }
    Ok(lines.join("\n"))
}

fn paragraph(xml: &mut Xml<'_>) -> Result<(Properties, String), DocumentError> {
    let mut properties = Properties::default();
    let mut text = String::new();
    while let Some(element) = xml.child()? {
        match element.name() {
            "pPr" => properties = read_properties(&element, xml)?,
            "br" => {
                text.push('\n');
                xml.skip()?;
            }
            "endParaRPr" => xml.skip()?,
            _ => inline(xml, &mut text)?,
        }
    }
    Ok((properties, text))
}

/// Runs, fields and formulas: whatever holds a `t`.
fn inline(xml: &mut Xml<'_>, text: &mut String) -> Result<(), DocumentError> {
    while let Some(element) = xml.child()? {
        match element.name() {
            "t" => text.push_str(&xml.text()?),
            "rPr" | "pPr" => xml.skip()?,
            _ => inline(xml, text)?,
        }
    }
    Ok(())
}

fn read_properties(element: &Element<'_>, xml: &mut Xml<'_>) -> Result<Properties, DocumentError> {
    let mut properties = Properties { level: element.number("lvl").unwrap_or(0), ..Properties::default() };
    while let Some(element) = xml.child()? {
        match element.name() {
            "buNone" => properties.marked = Some(false),
            "buChar" | "buBlip" => properties.marked = Some(true),
            "buAutoNum" => {
                properties.marked = Some(true);
                let scheme = element.attribute("type").unwrap_or_default().into_owned();
                properties.numbered = Some((scheme, element.number("startAt").unwrap_or(1)));
            }
            _ => {}
        }
        xml.skip()?;
    }
    Ok(properties)
}

/// A number by its scheme, such as `arabicPeriod` or `alphaLcParenR` (20.1.10.61).
fn numbered(number: u32, scheme: &str) -> String {
    let format = match scheme {
        scheme if scheme.starts_with("alphaLc") => "lowerLetter",
        scheme if scheme.starts_with("alphaUc") => "upperLetter",
        scheme if scheme.starts_with("romanLc") => "lowerRoman",
        scheme if scheme.starts_with("romanUc") => "upperRoman",
        scheme if scheme.starts_with("ea1Chs") || scheme.starts_with("ea1Cht") => "chineseCounting",
        _ => "decimal",
    };
    let written = numbers::written(number, format);
    match scheme {
        scheme if scheme.ends_with("ParenBoth") => format!("({written})"),
        scheme if scheme.ends_with("ParenR") => format!("{written})"),
        _ => format!("{written}."),
    }
}
