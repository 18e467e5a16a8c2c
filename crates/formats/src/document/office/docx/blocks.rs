//! Paragraphs, headings, items and tables.

use super::super::xml::{Element, Xml};
use super::story::Story;
use crate::document::{DocumentError, markdown};

/// A block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Block {
    Heading(usize, String),
    Item {
        level: usize,
        marker: String,
        text: String,
    },
    Paragraph(String),
    /// Rows of escaped cells.
    Table(Vec<Vec<String>>),
}

/// How far an item is indented by level, in spaces: enough to stand below both `- ` and `1. `.
const INDENT: &str = "   ";

impl Block {
    /// The block in Markdown.
    pub(super) fn written(&self) -> String {
        match self {
            Self::Heading(level, text) => markdown::heading(*level, text),
            Self::Paragraph(text) => markdown::paragraph(text),
            Self::Table(rows) => markdown::table(rows),
            Self::Item { level, marker, text } => {
                let indent = INDENT.repeat(*level);
                markdown::paragraph(text)
                    .lines()
                    .enumerate()
                    .map(|(at, line)| {
                        if at == 0 {
                            format!("{indent}{marker} {line}")
                        } else {
                            format!("\n{indent}{INDENT}{line}")
                        }
                    })
                    .collect()
            }
        }
    }

    /// The block as plain lines, for places that hold no blocks.
    fn plain(&self) -> String {
        match self {
            Self::Heading(_, text) | Self::Paragraph(text) => text.clone(),
            Self::Item { marker, text, .. } => format!("{marker} {text}"),
            Self::Table(rows) => rows.iter().map(|row| row.join(", ")).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// Blocks as lines of plain text.
pub(super) fn plain(blocks: &[Block]) -> String {
    blocks.iter().map(Block::plain).collect::<Vec<_>>().join("\n")
}

/// Blocks as lines of one block.
pub(super) fn joined(blocks: &[Block]) -> String {
    markdown::paragraph(plain(blocks).trim())
}

/// What the properties of a paragraph say.
#[derive(Debug, Default)]
struct Properties {
    style: Option<String>,
    outline: Option<usize>,
    number: Option<String>,
    level: Option<usize>,
    mark_deleted: bool,
}

impl Story<'_> {
    /// Reads the blocks within the element that was entered last, to its end.
    pub(super) fn blocks(&mut self, xml: &mut Xml<'_>, out: &mut Vec<Block>) -> Result<(), DocumentError> {
        while let Some(element) = xml.child()? {
            self.block(&element, xml, out)?;
        }
        Ok(())
    }

    /// Reads one child of a body, a cell, a text box, ….
    pub(super) fn block(
        &mut self,
        element: &Element<'_>,
        xml: &mut Xml<'_>,
        out: &mut Vec<Block>,
    ) -> Result<(), DocumentError> {
        match element.name() {
            "p" => self.paragraph(xml, out),
            "tbl" => self.table(xml, out),
            "del" | "moveFrom" => {
                self.deletions += 1;
                xml.skip()
            }
            "altChunk" => {
                self.embedded += 1;
                xml.skip()
            }
            "sectPr" | "sdtPr" | "sdtEndPr" | "tcPr" | "customXmlPr" => xml.skip(),
            // Formulas and runs may stand between paragraphs.
            "oMathPara" | "oMath" | "r" => {
                let (mut text, mut boxes) = (String::new(), Vec::new());
                self.inline(xml, &mut text, &mut boxes)?;
                out.push(Block::Paragraph(text));
                out.append(&mut boxes);
                Ok(())
            }
            _ => self.blocks(xml, out),
        }
    }

    fn paragraph(&mut self, xml: &mut Xml<'_>, out: &mut Vec<Block>) -> Result<(), DocumentError> {
        let mut properties = Properties::default();
        let mut text = std::mem::take(&mut self.runs_on);
        let mut boxes = Vec::new();
        while let Some(element) = xml.child()? {
            if element.name() == "pPr" {
                properties = self.properties(xml)?;
            } else {
                self.inline_child(&element, xml, &mut text, &mut boxes)?;
            }
        }
        if properties.mark_deleted {
            self.runs_on = text;
        } else {
            out.push(self.styled(&properties, text));
        }
        out.append(&mut boxes);
        Ok(())
    }

    fn properties(&mut self, xml: &mut Xml<'_>) -> Result<Properties, DocumentError> {
        let mut found = Properties::default();
        while let Some(element) = xml.child()? {
            let value = || element.attribute("val").map(std::borrow::Cow::into_owned);
            match element.name() {
                "pStyle" => found.style = value(),
                "outlineLvl" => found.outline = element.number("val"),
                "numPr" => {
                    while let Some(element) = xml.child()? {
                        match element.name() {
                            "numId" => {
                                found.number = element.attribute("val").map(std::borrow::Cow::into_owned)
                            }
                            "ilvl" => found.level = element.number("val"),
                            _ => {}
                        }
                        xml.skip()?;
                    }
                    continue;
                }
                "rPr" => {
                    while let Some(element) = xml.child()? {
                        found.mark_deleted |= matches!(element.name(), "del" | "moveFrom");
                        xml.skip()?;
                    }
                    continue;
                }
                _ => {}
            }
            xml.skip()?;
        }
        Ok(found)
    }

    /// A paragraph as its style and its numbering make it.
    fn styled(&mut self, properties: &Properties, text: String) -> Block {
        let style = properties.style.as_deref();
        // A level of 9 is body text (17.3.1.20).
        let outline = properties.outline.or_else(|| self.styles.outline(style)).filter(|level| *level < 9);
        if text.trim().is_empty() {
            return Block::Paragraph(String::new());
        }
        let (of_style, level_of_style) = self.styles.number(style);
        let number = properties.number.as_deref().or(of_style).filter(|number| *number != "0");
        let label = number.and_then(|number| {
            let level = properties
                .level
                .or(level_of_style)
                .or_else(|| style.and_then(|style| self.numbering.level_of_style(number, style)))
                .unwrap_or(0);
            self.numbering.next(number, level).map(|label| (level, label))
        });
        match (outline, label) {
            (Some(outline), Some((_, label))) if label != "-" => {
                Block::Heading(outline + 1, format!("{label} {text}"))
            }
            (Some(outline), _) => Block::Heading(outline + 1, text),
            (None, Some((level, marker))) => Block::Item { level: level.min(8), marker, text },
            (None, None) => Block::Paragraph(text),
        }
    }
}
