//! What a cell shows.

use std::collections::HashMap;

use super::super::xml::{Element, Xml};
use super::formats::Formats;
use super::strings::{self, Strings};
use crate::document::DocumentError;

/// A cell as it is read.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// It has no stored value, so its formula stands for it.
    pub(super) is_formula: bool,
}

/// The formulas that cells share, by their index: the address of the cell that spells each out.
#[derive(Debug, Default)]
pub(super) struct SharedFormulas(HashMap<u32, String>);

/// Reads the cell that was entered last.
pub(super) fn read(
    element: &Element<'_>,
    address: &str,
    xml: &mut Xml<'_>,
    strings: &Strings,
    formats: &Formats,
    shared: &mut SharedFormulas,
) -> Result<Shown, DocumentError> {
    let kind = element.plain("t");
    let kind = kind.as_deref().unwrap_or("n");
    let style: usize = element.number("s").unwrap_or(0);
    let (mut value, mut formula, mut inline) = (None, None, String::new());
    while let Some(child) = xml.child()? {
        match child.name() {
            "v" => value = Some(xml.text()?),
            "f" => {
                let index: Option<u32> = child.number("si");
                let text = xml.text()?;
                formula = Some(match (text.is_empty(), index) {
                    (false, index) => {
                        if let Some(index) = index {
                            shared.0.insert(index, address.to_owned());
                        }
                        format!("={text}")
                    }
                    (true, Some(index)) => {
                        let from = shared.0.get(&index).map_or("another cell", String::as_str);
                        format!("=(formula of {from})")
                    }
                    (true, None) => "=".to_owned(),
                });
            }
            "is" => strings::rich(xml, &mut inline)?,
            _ => xml.skip()?,
        }
    }
    let shown = |text: String| Ok(Shown { text, is_formula: false });
    // Writers that calculate nothing leave the value of a formula empty; only a string may be so.
    let value = value.filter(|value| kind == "str" || !value.trim().is_empty());
    match (value, formula) {
        _ if !inline.is_empty() => shown(inline),
        (None, Some(formula)) => Ok(Shown { text: formula, is_formula: true }),
        (None, None) => shown(String::new()),
        (Some(value), _) => match kind {
            "s" => {
                let index = value.trim().parse::<usize>().ok();
                let text = index.and_then(|index| strings.get(index)).ok_or_else(|| {
                    xml.damaged(&format!("the cell {address} refers to a shared string that is missing"))
                })?;
                shown(text.to_owned())
            }
            "b" => {
                shown(if value.trim() == "1" || value.trim() == "true" { "TRUE" } else { "FALSE" }.to_owned())
            }
            "str" | "inlineStr" => shown(strings::unescaped(&value)),
            "e" | "d" => shown(value.trim().to_owned()),
            _ => shown(formats.written(&value, style)),
        },
    }
}
