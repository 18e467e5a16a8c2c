//! Builds small documents.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{Cursor, Write};

use briefing_formats::{DocumentError, DocumentLimits, DocumentText, document_text};
use zip::write::SimpleFileOptions;

pub(crate) const REL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
const OFFICE: &str = "application/vnd.openxmlformats-officedocument";

/// A zip of these parts.
pub(crate) fn zip(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A package: its main part, and the parts that it refers to (kind of relationship, name below its folder, content).
pub(crate) struct Package {
    main: &'static str,
    content_type: String,
    parts: Vec<(String, Vec<u8>)>,
    relationships: Vec<(String, String)>,
}

impl Package {
    pub(crate) fn new(main: &'static str, content_type: &str) -> Self {
        Self {
            main,
            content_type: format!("{OFFICE}.{content_type}.main+xml"),
            parts: vec![],
            relationships: vec![],
        }
    }

    fn folder(&self) -> &'static str {
        self.main.split('/').next().unwrap()
    }

    /// Adds a part that the main part refers to, as `rId1`, `rId2`, ….
    pub(crate) fn part(mut self, kind: &str, name: &str, content: &str) -> Self {
        self.relationships.push((kind.to_owned(), name.to_owned()));
        let folder = self.folder();
        self.raw(&format!("{folder}/{name}"), content)
    }

    /// Adds a part that nothing refers to.
    pub(crate) fn raw(mut self, name: &str, content: &str) -> Self {
        self.parts.push((name.to_owned(), content.as_bytes().to_vec()));
        self
    }

    /// Adds the relationships of a part: kind and target.
    pub(crate) fn relationships_of(self, part: &str, relationships: &[(&str, &str)]) -> Self {
        let (folder, name) = part.rsplit_once('/').unwrap();
        let owned: Vec<_> =
            relationships.iter().map(|(kind, target)| ((*kind).to_owned(), (*target).to_owned())).collect();
        self.raw(&format!("{folder}/_rels/{name}.rels"), &rels(&owned))
    }

    pub(crate) fn bytes(self, main: &str) -> Vec<u8> {
        let types = format!(
            r#"<?xml version="1.0"?><Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/{}" ContentType="{}"/></Types>"#,
            self.main, self.content_type
        );
        let name = self.main.rsplit('/').next().unwrap();
        let mut parts = vec![
            ("[Content_Types].xml".to_owned(), types.into_bytes()),
            (
                "_rels/.rels".to_owned(),
                rels(&[("officeDocument".to_owned(), self.main.to_owned())]).into_bytes(),
            ),
            (self.main.to_owned(), main.as_bytes().to_vec()),
            (format!("{}/_rels/{name}.rels", self.folder()), rels(&self.relationships).into_bytes()),
        ];
        parts.extend(self.parts);
        zip(&parts)
    }
}

fn rels(relationships: &[(String, String)]) -> String {
    let rows: String = relationships
        .iter()
        .enumerate()
        .map(|(at, (kind, target))| {
            format!(r#"<Relationship Id="rId{}" Type="{REL}/{kind}" Target="{target}"/>"#, at + 1)
        })
        .collect();
    format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>"#)
}

pub(crate) fn docx() -> Package {
    Package::new("word/document.xml", "wordprocessingml.document")
}

/// A part of a DOCX; its root is `root`.
pub(crate) fn word(root: &str, inside: &str) -> String {
    format!(
        r#"<w:{root} xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="wps" xmlns:v="v" xmlns:a="a" xmlns:m="m">{inside}</w:{root}>"#
    )
}

pub(crate) fn body(inside: &str) -> String {
    word("document", &format!("<w:body>{inside}</w:body>"))
}

/// A paragraph of one run.
pub(crate) fn p(text: &str) -> String {
    format!("<w:p>{}</w:p>", r(text))
}

/// A run.
pub(crate) fn r(text: &str) -> String {
    format!(r#"<w:r><w:t xml:space="preserve">{text}</w:t></w:r>"#)
}

pub(crate) fn xlsx() -> Package {
    Package::new("xl/workbook.xml", "spreadsheetml.sheet")
}

/// A workbook of these sheets (name, further attributes), which are `rId1`, `rId2`, ….
pub(crate) fn workbook(properties: &str, sheets: &[(&str, &str)]) -> String {
    let sheets: String = sheets
        .iter()
        .enumerate()
        .map(|(at, (name, more))| {
            format!(r#"<sheet name="{name}" sheetId="{0}" {more} r:id="rId{0}"/>"#, at + 1)
        })
        .collect();
    format!(r#"<workbook xmlns="x" xmlns:r="{REL}">{properties}<sheets>{sheets}</sheets></workbook>"#)
}

pub(crate) fn sheet(inside: &str) -> String {
    format!(r#"<worksheet xmlns="x" xmlns:r="{REL}">{inside}</worksheet>"#)
}

/// A workbook of one sheet with this sheet data.
pub(crate) fn one_sheet(data: &str) -> Vec<u8> {
    xlsx()
        .part("worksheet", "worksheets/sheet1.xml", &sheet(&format!("<sheetData>{data}</sheetData>")))
        .bytes(&workbook("", &[("S", "")]))
}

pub(crate) fn pptx() -> Package {
    Package::new("ppt/presentation.xml", "presentationml.presentation")
}

/// A presentation that shows these relationships in order.
pub(crate) fn presentation(slides: &[usize]) -> String {
    let ids: String =
        slides.iter().map(|id| format!(r#"<p:sldId id="{}" r:id="rId{id}"/>"#, 255 + id)).collect();
    format!(r#"<p:presentation xmlns:p="p" xmlns:r="{REL}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"#)
}

pub(crate) fn slide(attributes: &str, shapes: &str) -> String {
    format!(
        r#"<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="{REL}" {attributes}><p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/></p:nvGrpSpPr><p:grpSpPr/>{shapes}</p:spTree></p:cSld></p:sld>"#
    )
}

/// A shape; `placeholder` is the inside of `nvPr`.
pub(crate) fn shape(placeholder: &str, paragraphs: &str) -> String {
    format!(
        r#"<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"#
    )
}

pub(crate) fn ap(text: &str) -> String {
    format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")
}

/// A PDF of these objects, numbered from 1; the first is the catalog.
pub(crate) fn pdf(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(bytes.len());
        bytes.extend_from_slice(format!("{} 0 obj\n", at + 1).as_bytes());
        bytes.extend_from_slice(object);
        bytes.extend_from_slice(b"\nendobj\n");
    }
    let start = bytes.len();
    bytes.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for offset in offsets {
        bytes.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
    }
    let size = objects.len() + 1;
    bytes.extend_from_slice(
        format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n").as_bytes(),
    );
    bytes
}

/// A stream object.
pub(crate) fn stream(entries: &str, data: &[u8]) -> Vec<u8> {
    [format!("<< {entries} /Length {} >>\nstream\n", data.len()).as_bytes(), data, b"\nendstream"].concat()
}

/// A PDF of one page with this content, these resources and further objects, which are numbered from 5.
pub(crate) fn page(content: &[u8], resources: &str, more: &[Vec<u8>]) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        format!("<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << {resources} >> >>").into_bytes(),
        stream("", content),
    ];
    objects.extend_from_slice(more);
    pdf(&objects, "")
}

pub(crate) fn read(bytes: &[u8]) -> DocumentText {
    try_read(bytes).unwrap()
}

pub(crate) fn try_read(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    document_text(bytes, &DocumentLimits::default())
}

/// The codes of the notes.
pub(crate) fn codes(document: &DocumentText) -> Vec<&'static str> {
    document.notes.iter().map(|note| note.code).collect()
}
