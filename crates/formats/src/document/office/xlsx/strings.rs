//! Shared strings, and the text of rich strings.

use std::borrow::Cow;

use super::super::package::Package;
use super::super::xml::Xml;
use crate::document::DocumentError;

/// The shared strings, one after another in one allocation.
#[derive(Debug, Default)]
pub(super) struct Strings {
    text: String,
    ends: Vec<u32>,
}

impl Strings {
    pub(super) fn read(package: &mut Package<'_>, part: &str) -> Result<Self, DocumentError> {
        let text = package.part(part)?;
        let mut xml = Xml::new(&text, part, package.limits, package.guard);
        let mut strings = Self::default();
        while xml.find("si")?.is_some() {
            rich(&mut xml, &mut strings.text)?;
            let end = u32::try_from(strings.text.len())
                .map_err(|_| DocumentError::limit("max_entry_bytes", u64::from(u32::MAX)))?;
            strings.ends.push(end);
        }
        Ok(strings)
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.text.get(start..end)
    }
}

/// Appends the text of the string item that was entered last: its runs, without the reading aids (`rPh`).
pub(super) fn rich(xml: &mut Xml<'_>, text: &mut String) -> Result<(), DocumentError> {
    while let Some(element) = xml.child()? {
        match element.name() {
            "t" => text.push_str(&unescaped(xml.text()?)),
            "rPh" | "phoneticPr" | "rPr" => xml.skip()?,
            _ => rich(xml, text)?,
        }
    }
    Ok(())
}

/// `_x000D_` and the like stand for chars that XML cannot hold (`ST_Xstring`, 22.9.2.19).
pub(super) fn unescaped(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains("_x") {
        return text;
    }
    let mut written = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find("_x") {
        let (before, escape) = rest.split_at(at);
        written.push_str(before);
        let code = escape
            .get(2..6)
            .filter(|_| escape.get(6..7) == Some("_"))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .and_then(char::from_u32);
        match code {
            Some(char) => {
                written.push(char);
                rest = escape.get(7..).unwrap_or_default();
            }
            None => {
                written.push_str("_x");
                rest = escape.get(2..).unwrap_or_default();
            }
        }
    }
    written.push_str(rest);
    Cow::Owned(written)
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_stand_for_chars() {
        for (text, written) in [
            ("a_x000D_b", "a\rb"),
            ("_x005F_x000D_", "_x000D_"),
            ("_xZZZZ_ _x00", "_xZZZZ_ _x00"),
            ("plain_x", "plain_x"),
        ] {
            assert_eq!(unescaped(text.into()), written);
        }
    }
}
