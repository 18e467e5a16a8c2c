//! The text within a paragraph: runs, fields, links, revisions, references.

use super::super::xml::{Element, Xml};
use super::blocks::Block;
use super::story::Story;
use crate::document::DocumentError;

impl Story<'_> {
    /// Reads what is within the element that was entered last, to its end. Text boxes come as blocks, to follow the
    /// paragraph that they are anchored in.
    pub(super) fn inline(
        &mut self,
        xml: &mut Xml<'_>,
        text: &mut String,
        boxes: &mut Vec<Block>,
    ) -> Result<(), DocumentError> {
        let mut hidden = false;
        while let Some(element) = xml.child()? {
            match element.name() {
                "rPr" => hidden = is_hidden(xml)?,
                // A hidden run may still begin or end a field.
                "fldChar" => self.inline_child(&element, xml, text, boxes)?,
                "t" if hidden => {
                    self.hidden += 1;
                    xml.skip()?;
                }
                _ if hidden => xml.skip()?,
                _ => self.inline_child(&element, xml, text, boxes)?,
            }
        }
        Ok(())
    }

    pub(super) fn inline_child(
        &mut self,
        element: &Element<'_>,
        xml: &mut Xml<'_>,
        text: &mut String,
        boxes: &mut Vec<Block>,
    ) -> Result<(), DocumentError> {
        let id = || element.attribute("id").unwrap_or_default();
        match element.name() {
            "t" => {
                let piece = xml.text()?;
                self.show(&piece, text);
                return Ok(());
            }
            "tab" | "ptab" => self.show("\t", text),
            "br" | "cr" => self.show("\n", text),
            "noBreakHyphen" => self.show("-", text),
            "sym" => {
                let sign = element.attribute("char").and_then(|code| symbol(&code));
                match sign {
                    Some(sign) => self.show(sign.encode_utf8(&mut [0; 4]), text),
                    None => self.symbols += 1,
                }
            }
            "footnoteReference" => {
                let number = self.anchors.footnotes.number(&id());
                self.show(&format!("[^{number}]"), text);
            }
            "endnoteReference" => {
                let number = self.anchors.endnotes.number(&id());
                self.show(&format!("[^e{number}]"), text);
            }
            "commentReference" => {
                let number = self.anchors.comments.number(&id());
                self.show(&format!("[^c{number}]"), text);
            }
            "fldChar" => match element.attribute("fldCharType").as_deref() {
                Some("begin") => self.fields.push(false),
                Some("separate") => {
                    if let Some(in_result) = self.fields.last_mut() {
                        *in_result = true;
                    }
                }
                _ => drop(self.fields.pop()),
            },
            "del" | "moveFrom" => self.deletions += 1,
            "blip" | "imagedata" => self.pictures += 1,
            "chart" => self.charts += 1,
            "relIds" => self.diagrams += 1,
            "OLEObject" => self.embedded += 1,
            // Properties, instructions of fields, and the reading aid above a ruby base.
            "rPr" | "pPr" | "sdtPr" | "sdtEndPr" | "instrText" | "delInstrText" | "delText" | "rt"
            | "rubyPr" | "fldData" | "annotationRef" => {}
            "txbxContent" => {
                // A text box lives in a world of its own: a field may not reach into it.
                let fields = std::mem::take(&mut self.fields);
                let runs_on = std::mem::take(&mut self.runs_on);
                self.blocks(xml, boxes)?;
                (self.fields, self.runs_on) = (fields, runs_on);
                return Ok(());
            }
            _ => return self.inline(xml, text, boxes),
        }
        xml.skip()
    }

    fn show(&self, piece: &str, text: &mut String) {
        if self.fields.iter().all(|in_result| *in_result) {
            text.push_str(piece);
        }
    }
}

fn is_hidden(xml: &mut Xml<'_>) -> Result<bool, DocumentError> {
    let mut hidden = false;
    while let Some(element) = xml.child()? {
        if element.name() == "vanish" {
            hidden = element.is_on();
        }
        xml.skip()?;
    }
    Ok(hidden)
}

/// The sign that a char of a symbol font shows: fonts put them at U+F000 and after (17.3.3.30).
fn symbol(code: &str) -> Option<char> {
    let code = u32::from_str_radix(code.trim(), 16).ok()?;
    match code {
        0xF0B7 | 0xF0A7 | 0xF06C | 0xF09F => Some('•'),
        0xF0FC => Some('✓'),
        0xF0FE | 0xF052 => Some('☑'),
        0xF0FD | 0xF051 => Some('☒'),
        0xF0A8 | 0xF06F | 0xF0A3 => Some('☐'),
        0xF0E0 | 0xF0AE => Some('→'),
        0xE000..=0xF8FF => None,
        code => char::from_u32(code),
    }
}
