//! How long a document takes to become text, against the parser crates alone: lopdf's own text for PDF, unzipping and
//! reading every event of the same parts for Office documents.

use std::fmt::Write as _;
use std::io::{Cursor, Read as _, Write as _};

use briefing_formats::{DocumentLimits, document_text};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lopdf::{Document, Object, Stream, dictionary};
use quick_xml::events::Event;

const REL: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const WORDS: &str = "The pump is checked every week, and the seal is replaced when it leaks.";

fn package(
    main: &str,
    kind: &str,
    parts: &[(String, String)],
    relationships: &[(String, String)],
) -> Vec<u8> {
    let types = format!(
        "<Types><Override PartName=\"/{main}\" ContentType=\"application/vnd.openxmlformats-officedocument.{kind}.main+xml\"/></Types>"
    );
    let rels = |of: &[(String, String)]| {
        let mut rows = String::from("<Relationships>");
        for (at, (kind, target)) in of.iter().enumerate() {
            write!(rows, "<Relationship Id=\"rId{at}\" Type=\"{REL}/{kind}\" Target=\"{target}\"/>")
                .expect("a string");
        }
        rows + "</Relationships>"
    };
    let (folder, name) = main.split_once('/').expect("a folder");
    let mut all = vec![
        ("[Content_Types].xml".to_owned(), types),
        ("_rels/.rels".to_owned(), rels(&[("officeDocument".to_owned(), main.to_owned())])),
        (format!("{folder}/_rels/{name}.rels"), rels(relationships)),
    ];
    all.extend_from_slice(parts);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in all {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("an entry");
        zip.write_all(text.as_bytes()).expect("its bytes");
    }
    zip.finish().expect("a zip").into_inner()
}

/// 10,000 rows of eight cells: shared strings, numbers, dates.
fn sheet() -> Vec<u8> {
    let (mut strings, mut rows) = (String::from("<sst>"), String::from("<worksheet><sheetData>"));
    for row in 1..=10_000 {
        write!(strings, "<si><t>item number {row}</t></si>").expect("a string");
        write!(rows, "<row r=\"{row}\"><c r=\"A{row}\" t=\"s\"><v>{}</v></c>", row - 1).expect("a string");
        for column in ["B", "C", "D", "E", "F"] {
            write!(rows, "<c r=\"{column}{row}\"><v>{}.25</v></c>", row * 3).expect("a string");
        }
        write!(rows, "<c r=\"G{row}\" s=\"1\"><v>45429</v></c><c r=\"H{row}\" t=\"b\"><v>1</v></c></row>")
            .expect("a string");
    }
    let workbook =
        format!("<workbook xmlns:r=\"{REL}\"><sheets><sheet name=\"S\" r:id=\"rId0\"/></sheets></workbook>");
    let styles = "<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>";
    let parts = [
        ("xl/workbook.xml".to_owned(), workbook),
        ("xl/worksheets/sheet1.xml".to_owned(), rows + "</sheetData></worksheet>"),
        ("xl/sharedStrings.xml".to_owned(), strings + "</sst>"),
        ("xl/styles.xml".to_owned(), styles.to_owned()),
    ];
    let relationships = [
        ("worksheet", "worksheets/sheet1.xml"),
        ("sharedStrings", "sharedStrings.xml"),
        ("styles", "styles.xml"),
    ];
    package(
        "xl/workbook.xml",
        "spreadsheetml.sheet",
        &parts,
        &relationships.map(|(kind, to)| (kind.to_owned(), to.to_owned())),
    )
}

/// 5,000 paragraphs of three runs with their properties.
fn letter() -> Vec<u8> {
    let run = format!(
        "<w:r><w:rPr><w:rFonts w:ascii=\"Arial\"/><w:sz w:val=\"22\"/></w:rPr><w:t xml:space=\"preserve\">{WORDS} </w:t></w:r>"
    );
    let paragraph = format!(
        "<w:p w:rsidR=\"00A77427\"><w:pPr><w:pStyle w:val=\"Normal\"/><w:jc w:val=\"both\"/></w:pPr>{}</w:p>",
        run.repeat(3)
    );
    let document =
        format!("<w:document xmlns:w=\"w\"><w:body>{}</w:body></w:document>", paragraph.repeat(5_000));
    package(
        "word/document.xml",
        "wordprocessingml.document",
        &[("word/document.xml".to_owned(), document)],
        &[],
    )
}

/// 100 slides of a title and ten items.
fn deck() -> Vec<u8> {
    let shape = |placeholder: &str, paragraphs: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"x\"/><p:nvPr><p:ph type=\"{placeholder}\"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"
        )
    };
    let paragraph = format!(
        "<a:p><a:pPr lvl=\"1\"/><a:r><a:rPr lang=\"en-GB\" dirty=\"0\"/><a:t>{WORDS}</a:t></a:r></a:p>"
    );
    let slide = format!(
        "<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><p:cSld><p:spTree>{}{}</p:spTree></p:cSld></p:sld>",
        shape("title", &paragraph),
        shape("body", &paragraph.repeat(10))
    );
    let ids: String = (0..100).map(|at| format!("<p:sldId id=\"{}\" r:id=\"rId{at}\"/>", 256 + at)).collect();
    let mut parts = vec![(
        "ppt/presentation.xml".to_owned(),
        format!(
            "<p:presentation xmlns:p=\"p\" xmlns:r=\"{REL}\"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
        ),
    )];
    let mut relationships = Vec::new();
    for at in 0..100 {
        parts.push((format!("ppt/slides/slide{at}.xml"), slide.clone()));
        relationships.push(("slide".to_owned(), format!("slides/slide{at}.xml")));
    }
    package("ppt/presentation.xml", "presentationml.presentation", &parts, &relationships)
}

/// 200 pages of 45 lines, compressed.
fn pages() -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(
        dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding" },
    );
    let mut kids = Vec::new();
    for _ in 0..200 {
        let lines = format!("({WORDS}) Tj T* ").repeat(45);
        let content = format!("BT /F1 10 Tf 12 TL 50 780 Td {lines}ET");
        let content = document.add_object(Stream::new(dictionary! {}, content.into_bytes()));
        let page = dictionary! {
            "Type" => "Page", "Parent" => tree, "Contents" => content,
            "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
        };
        kids.push(Object::Reference(document.add_object(page)));
    }
    let count = i64::try_from(kids.len()).expect("few");
    document.set_object(tree, dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count });
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    document.compress();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a PDF");
    bytes
}

/// Unzips every part and counts its events.
fn events(bytes: &[u8]) -> usize {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip");
    let mut count = 0;
    for at in 0..zip.len() {
        let mut text = String::new();
        zip.by_index(at).expect("an entry").read_to_string(&mut text).expect("UTF-8");
        let mut reader = quick_xml::Reader::from_str(&text);
        while !matches!(reader.read_event().expect("XML"), Event::Eof) {
            count += 1;
        }
    }
    count
}

fn lopdf_text(bytes: &[u8]) -> usize {
    let document = Document::load_mem(bytes).expect("a PDF");
    let pages: Vec<u32> = document.get_pages().keys().copied().collect();
    document.extract_text(&pages).expect("text").len()
}

fn documents(criterion: &mut Criterion) {
    let limits = DocumentLimits::default();
    let mut group = criterion.benchmark_group("documents");
    group.sample_size(20);
    let small = package(
        "word/document.xml",
        "wordprocessingml.document",
        &[(
            "word/document.xml".to_owned(),
            "<w:document xmlns:w=\"w\"><w:body><w:p><w:r><w:t>x</w:t></w:r></w:p></w:body></w:document>"
                .to_owned(),
        )],
        &[],
    );
    for (name, bytes) in [
        ("one word docx", small),
        ("long docx", letter()),
        ("10,000 rows xlsx", sheet()),
        ("100 slides pptx", deck()),
    ] {
        let text = document_text(&bytes, &limits).expect("text").text;
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("{name}: text"), |bencher| {
            bencher.iter(|| document_text(&bytes, &limits))
        });
        group.bench_function(format!("{name}: baseline, zip and quick-xml"), |bencher| {
            bencher.iter(|| events(&bytes))
        });
    }
    let bytes = pages();
    let text = document_text(&bytes, &limits).expect("text").text;
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("200 pages pdf: text", |bencher| bencher.iter(|| document_text(&bytes, &limits)));
    group.bench_function("200 pages pdf: baseline, lopdf", |bencher| bencher.iter(|| lopdf_text(&bytes)));
    group.finish();
}

criterion_group!(benches, documents);
criterion_main!(benches);
