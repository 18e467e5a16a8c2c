//! What a cell shows.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::xml::Xml;
use super::address;
use super::formats::Formats;
use super::strings::{self, Strings};
use crate::document::DocumentError;

/// A cell as it is read.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) text: Cow<'a, str>,
    /// It has no stored value, so its formula stands for it.
    pub(super) is_formula: bool,
}

/// The formulas that cells share, by their index: the address of the cell that spells each out.
#[derive(Debug, Default)]
pub(super) struct SharedFormulas(HashMap<u32, String>);

/// What the start of a cell says.
pub(super) struct Start<'a> {
    pub(super) kind: Option<Cow<'a, str>>,
    pub(super) style: usize,
    /// Its column and row.
    pub(super) at: (u32, u32),
}

impl Start<'_> {
    fn address(&self) -> String {
        format!("{}{}", address::letters(self.at.0), self.at.1)
    }
}

/// Reads the cell that was entered last.
pub(super) fn read<'a, 'x: 'a>(
    start: &Start<'_>,
    xml: &mut Xml<'x>,
    strings: &'a Strings,
    formats: &Formats,
    shared: &mut SharedFormulas,
) -> Result<Shown<'a>, DocumentError> {
    let kind = start.kind.as_deref().unwrap_or("n");
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
                            shared.0.insert(index, start.address());
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
    let shown = |text: Cow<'a, str>| Ok(Shown { text, is_formula: false });
    // Writers that calculate nothing leave the value of a formula empty; only a string may be so.
    let value = value.filter(|value| kind == "str" || !value.trim().is_empty());
    match (value, formula) {
        _ if !inline.is_empty() => shown(inline.into()),
        (None, Some(formula)) => Ok(Shown { text: formula.into(), is_formula: true }),
        (None, None) => shown("".into()),
        (Some(value), _) => match kind {
            "s" => {
                let index = value.trim().parse::<usize>().ok();
                let text = index.and_then(|index| strings.get(index)).ok_or_else(|| {
                    xml.damaged(&format!(
                        "the cell {} refers to a shared string that is missing",
                        start.address()
                    ))
                })?;
                shown(text.into())
            }
            "b" => shown(if value.trim() == "1" || value.trim() == "true" { "TRUE" } else { "FALSE" }.into()),
            "str" | "inlineStr" => shown(strings::unescaped(value)),
            "e" | "d" => shown(value),
            _ => shown(formats.written(value, start.style)),
        },
    }
}
