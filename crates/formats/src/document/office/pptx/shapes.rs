//! The shapes of a slide.

use super::super::xml::{Element, Xml};
use super::paragraphs::{self, Bullets};
use crate::document::notes::{Note, Notes};
use crate::document::{DocumentError, markdown};

/// The text of a tree of shapes, in the order in which the slide draws them.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    pub(super) title: String,
    pub(super) blocks: Vec<String>,
    /// Of a page of notes only its body is text: the rest shows the slide again, and the page.
    only_body: bool,
    pictures: u64,
    charts: u64,
    diagrams: u64,
    embedded: u64,
    hidden: u64,
}

/// What a shape says of itself.
#[derive(Debug, Default)]
struct Frame {
    hidden: bool,
    /// The type of its placeholder; a placeholder without a type holds any content.
    placeholder: Option<String>,
}

impl Shapes {
    pub(super) fn of_notes() -> Self {
        Self { only_body: true, ..Self::default() }
    }

    /// Reads the shapes within the element that was entered last, to its end.
    pub(super) fn read(&mut self, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        while let Some(element) = xml.child()? {
            self.shape(&element, xml)?;
        }
        Ok(())
    }

    fn shape(&mut self, element: &Element<'_>, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        match element.name() {
            "sp" | "cxnSp" | "grpSp" | "graphicFrame" | "pic" => {
                let is_picture = element.name() == "pic";
                let mut frame = Frame::default();
                while let Some(child) = xml.child()? {
                    match child.name() {
                        "nvSpPr" | "nvCxnSpPr" | "nvGrpSpPr" | "nvGraphicFramePr" | "nvPicPr" => {
                            read_frame(xml, &mut frame)?;
                            if frame.hidden {
                                self.hidden += 1;
                            } else if is_picture && !self.only_body {
                                self.pictures += 1;
                            }
                        }
                        _ if frame.hidden => xml.skip()?,
                        "txBody" => self.body(&frame, xml)?,
                        "graphic" => self.graphic(xml)?,
                        "spPr" | "grpSpPr" | "style" | "blipFill" | "xfrm" => xml.skip()?,
                        _ => self.shape(&child, xml)?,
                    }
                }
                Ok(())
            }
            "nvGrpSpPr" | "grpSpPr" => xml.skip(),
            _ => self.read(xml),
        }
    }

    fn body(&mut self, frame: &Frame, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        let kind = frame.placeholder.as_deref();
        let bullets = match kind {
            // Date, footer and number of the slide are the same on every one.
            Some("dt" | "ftr" | "sldNum" | "hdr" | "sldImg") => return xml.skip(),
            _ if self.only_body && kind != Some("body") => return xml.skip(),
            _ if self.only_body => Bullets::WhereSaid,
            Some("title" | "ctrTitle" | "subTitle") | None => Bullets::WhereSaid,
            Some(_) => Bullets::UnlessDenied,
        };
        let text = paragraphs::read(xml, bullets)?;
        if text.is_empty() {
            return Ok(());
        }
        if matches!(kind, Some("title" | "ctrTitle")) && self.title.is_empty() {
            self.title = text.replace('\n', " ");
        } else {
            self.blocks.push(text);
        }
        Ok(())
    }

    fn graphic(&mut self, xml: &mut Xml<'_>) -> Result<(), DocumentError> {
        while let Some(element) = xml.child()? {
            match element.name() {
                "tbl" => {
                    let rows = table(xml)?;
                    if rows.iter().flatten().any(|cell| !cell.is_empty()) {
                        self.blocks.push(markdown::table(&rows));
                    }
                    continue;
                }
                "chart" => self.charts += 1,
                "relIds" => self.diagrams += 1,
                "oleObj" => self.embedded += 1,
                _ => {
                    self.graphic(xml)?;
                    continue;
                }
            }
            xml.skip()?;
        }
        Ok(())
    }

    /// Says what was left out.
    pub(super) fn tell(&self, place: &str, notes: &mut Notes) {
        for (note, count) in [
            (Note::PicturesLeftOut, self.pictures),
            (Note::ChartsLeftOut, self.charts),
            (Note::DiagramsLeftOut, self.diagrams),
            (Note::EmbeddedLeftOut, self.embedded),
            (Note::HiddenShapesLeftOut, self.hidden),
        ] {
            notes.add_many(note, count, place);
        }
    }
}

fn read_frame(xml: &mut Xml<'_>, frame: &mut Frame) -> Result<(), DocumentError> {
    while let Some(element) = xml.child()? {
        match element.name() {
            "cNvPr" => frame.hidden = element.switch("hidden") == Some(true),
            "ph" => {
                let kind = element.attribute("type").unwrap_or(std::borrow::Cow::Borrowed("obj"));
                frame.placeholder = Some(kind.into_owned());
            }
            "nvPr" => {
                read_frame(xml, frame)?;
                continue;
            }
            _ => {}
        }
        xml.skip()?;
    }
    Ok(())
}

fn table(xml: &mut Xml<'_>) -> Result<Vec<Vec<String>>, DocumentError> {
    let mut rows = Vec::new();
    while let Some(element) = xml.child()? {
        if element.name() != "tr" {
            xml.skip()?;
            continue;
        }
        let mut row = Vec::new();
        while let Some(element) = xml.child()? {
            if element.name() != "tc" {
                xml.skip()?;
                continue;
            }
            let mut cell = String::new();
            while let Some(element) = xml.child()? {
                if element.name() == "txBody" {
                    cell = markdown::cell(&paragraphs::read(xml, Bullets::WhereSaid)?);
                } else {
                    xml.skip()?;
                }
            }
            row.push(cell);
        }
        rows.push(row);
    }
    Ok(rows)
}
