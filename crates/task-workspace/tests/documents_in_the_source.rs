//! Documents are offered by their parsed text, measured by it and read as it; what cannot be parsed is a reference, and
//! harms nothing beside it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use briefing_context_reader::ContextReading;
use briefing_core::conformance::check_source;
use briefing_core::{
    Completeness, Content, ContextBinding, ContextBlock, ContextBudget, ContextConsumer, ContextReadIntent,
    ContextSource, Digest, LineRange, ReadRequest, RenderFormat, Representation, SourceErrorKind, SourceRead,
    SourceRef,
};
use briefing_task_context::TaskContext;
use briefing_task_workspace::WorkspaceSource;
use common::pdf::{encrypted_office, encrypted_pdf, pdf_of_pages};
use common::{Listing, Tree, list, read, shared, text};

/// What the source makes of each shared document: lines in their order, or the code of the parser's error.
const DOCUMENTS: &[(&str, Result<&[&str], &str>)] = &[
    ("bomb.docx", Err("document.limit_exceeded")),
    ("bomb.xlsx", Err("document.limit_exceeded")),
    ("entities.docx", Err("document.damaged")),
    ("far_cell.xlsx", Ok(&["# Sheet: Stock", "| bolts | 40 |", "- XFD1048576: far corner"])),
    ("gbk_euc_h.pdf", Ok(&["# Page 1", "库存盘点"])),
    ("header_only.pdf", Err("document.damaged")),
    ("hidden.xlsx", Ok(&["# Sheet: Open", "| Rope | 12 | 2024-05-17 |", "# Sheet: Back (hidden)"])),
    ("kids_loop.pdf", Err("document.no_text")),
    ("order_hidden.pptx", Ok(&["# Slide 1: bravo slide", "# Slide 2: charlie slide (hidden)"])),
    ("real.docx", Ok(&["# Harbour notes", "| Two | 3.1 m |", "中文段落：码头二号位。"])),
    ("real.pdf", Ok(&["# Page 1", "Well survey 2024", "# Page 2", "Page two: pump swapped"])),
    ("tracked_changes.docx", Ok(&["The fee is 750 per month.", "| North | 24 |"])),
    ("truncated.pdf", Ok(&["Pump inspection, week 19"])),
];

/// The shared documents beside two files that are none.
fn documents() -> Option<Tree> {
    let folder = shared("docs")?;
    let tree = Tree::new(&[("notes.md", b"# Notes\n\nThe pump.\n"), ("empty.txt", b"")]);
    for (name, _) in DOCUMENTS {
        tree.put(name, std::fs::read(folder.join(name)).unwrap());
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), DOCUMENTS.len(), "each shared document has a row");
    Some(tree)
}

/// A PDF of forty pages, which is more than one passage.
fn long_pdf() -> Vec<u8> {
    let page = |number: usize| -> String {
        (0..12)
            .map(|line| format!("Page {number}, line {line}: the pump of hall {number} is checked.\n"))
            .collect()
    };
    let pages: Vec<_> = (1..=40).map(page).collect();
    pdf_of_pages(&pages.iter().map(String::as_str).collect::<Vec<_>>(), "", &[])
}

async fn read_as(
    source: &WorkspaceSource,
    source_ref: &str,
    form: Representation,
) -> Result<SourceRead, SourceErrorKind> {
    let request = ReadRequest::whole(10_000_000).as_representation(form);
    let read = source.read_exact(&SourceRef::new(source_ref).unwrap(), &request).await;
    read.map_err(|error| error.kind())
}

#[tokio::test]
async fn a_document_is_described_and_read_as_its_parsed_text() {
    let Some(tree) = documents() else { return };
    let source = tree.source();
    let listing = list(&source, 3).await;
    for (name, expected) in DOCUMENTS {
        let found = listing.get(name);
        let size = std::fs::metadata(tree.path(name)).unwrap().len();
        assert_eq!(found.metadata["total_bytes"], size, "{name}");
        assert_eq!(found.content_digest, Some(Digest::of(&tree.bytes(name))), "{name}: of the container");
        let kind = if name.ends_with(".pdf") { "pdf" } else { "office" };
        assert_eq!(found.metadata["content_kind"], kind, "{name}");
        let Ok(lines) = expected else { continue };
        assert_eq!(found.metadata["context_representation"], "parsed_text", "{name}");
        for form in [None, Some(Representation::ParsedText)] {
            let read = match form {
                None => read(&source, name).await.unwrap(),
                Some(form) => read_as(&source, name, form).await.unwrap(),
            };
            assert_eq!(read.completeness, Completeness::Complete, "{name}");
            assert_eq!(
                (&read.metadata, read.content_digest),
                (&found.metadata, found.content_digest),
                "{name}"
            );
            let Content::Text(text) = &read.content else { panic!("{name}") };
            assert_eq!(text.chars().count(), found.estimated_chars, "{name}");
            assert_eq!(*text, found.index_text, "{name}: one passage is indexed as it is read");
            let mut rest = text.lines();
            for line in *lines {
                assert!(rest.any(|it| it == *line), "{name}: {line:?} in order in\n{text}");
            }
        }
    }
    assert!(!text(&source, "tracked_changes.docx").await.contains("900"));
    assert_eq!(listing.details("workspace.document_incomplete", "path"), ["truncated.pdf"]);
    assert!(listing.details("workspace.document_note", "path").contains(&"hidden.xlsx".to_owned()));
}

#[tokio::test]
async fn a_document_is_measured_by_its_text_and_not_by_its_container() {
    let Some(tree) = documents() else { return };
    let listing = list(&tree.source(), 100).await;
    for (name, container_bytes, at_most_chars) in
        [("real.docx", 30_000, 1_000), ("order_hidden.pptx", 30_000, 1_000), ("hidden.xlsx", 5_000, 1_000)]
    {
        let found = listing.get(name);
        assert!(found.metadata["total_bytes"].as_u64().unwrap() > container_bytes, "{name}");
        assert!((1..at_most_chars).contains(&found.estimated_chars), "{name}: {}", found.estimated_chars);
    }
    for (name, expected) in DOCUMENTS {
        if expected.is_err() {
            assert_eq!(listing.get(name).estimated_chars, 0, "{name}: there is no text to measure");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_parsed_is_a_reference_with_a_reason() {
    let Some(tree) = documents() else { return };
    tree.put("locked.pdf", encrypted_pdf());
    tree.put("locked.docx", encrypted_office());
    tree.put("zip.docx", b"PK\x03\x04 and nothing more");
    let source = tree.source();
    let listing = list(&source, 100).await;
    let unreadable: Vec<(String, String)> = listing
        .details("workspace.document_unreadable", "path")
        .into_iter()
        .zip(listing.details("workspace.document_unreadable", "code"))
        .collect();
    let mut expected: Vec<(String, String)> = DOCUMENTS
        .iter()
        .filter_map(|(name, expected)| Some(((*name).to_owned(), (*expected).err()?.to_owned())))
        .collect();
    for locked in ["locked.docx", "locked.pdf"] {
        expected.push((locked.to_owned(), "document.encrypted".to_owned()));
    }
    expected.sort();
    let others: Vec<_> = unreadable.iter().filter(|(name, _)| name != "zip.docx").cloned().collect();
    assert_eq!(others, expected);
    for name in expected.iter().map(|(name, _)| name.as_str()).chain(["zip.docx"]) {
        let found = listing.get(name);
        assert_eq!(found.metadata["context_representation"], "metadata_only", "{name}");
        assert_eq!((found.index_text.as_str(), found.summary.as_str()), ("", ""), "{name}");
        let reasons = listing.diagnostics.iter().filter(|it| it.details["path"] == name).count();
        assert!(reasons > 0, "{name}: nothing says why");
        let error = read(&source, name).await.unwrap_err();
        assert_eq!(error.kind(), SourceErrorKind::Unsupported, "{name}: never an empty success");
        let parsed = read_as(&source, name, Representation::ParsedText).await;
        assert_eq!(parsed.unwrap_err(), SourceErrorKind::Unsupported, "{name}");
    }
}

#[tokio::test]
async fn the_refusal_to_read_a_document_says_what_its_parser_said() {
    let Some(tree) = documents() else { return };
    let source = tree.source();
    list(&source, 100).await;
    for (name, reason) in [("bomb.docx", "max_entry_bytes"), ("kids_loop.pdf", "holds no text")] {
        let error = read(&source, name).await.unwrap_err();
        assert!(error.to_string().contains(reason), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_bad_document_harms_no_other_file() {
    let Some(tree) = documents() else { return };
    let good = documents().unwrap();
    for (name, expected) in DOCUMENTS {
        if expected.is_err() {
            good.remove(name);
        }
    }
    let shown = |listing: &Listing| -> Vec<_> {
        let bad = |key: &str| DOCUMENTS.iter().any(|(name, expected)| *name == key && expected.is_err());
        let descriptors = listing.descriptors.iter().filter(|found| !bad(found.descriptor_key.as_str()));
        descriptors
            .map(|found| {
                let facts = (found.content_digest, found.estimated_chars, found.metadata.clone());
                (found.source_ref.to_string(), found.index_text.clone(), facts)
            })
            .collect()
    };
    for limit in [1, 4, 100] {
        let (with, without) = (list(&tree.source(), limit).await, list(&good.source(), limit).await);
        assert_eq!(shown(&with), shown(&without));
        assert_eq!(with.descriptors.len(), without.descriptors.len() + 5);
    }
    assert_eq!(text(&tree.source(), "notes.md").await, "# Notes\n\nThe pump.\n");
}

#[tokio::test]
async fn a_name_that_contradicts_the_bytes_is_said_and_never_believed() {
    let Some(tree) = documents() else { return };
    let docx = tree.bytes("real.docx");
    let pdf = pdf_of_pages(&["Pump inspection"], "", &[]);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    tree.put("really_docx.pdf", &docx);
    tree.put("really_pdf.docx", &pdf);
    tree.put("really_png.docx", png);
    tree.put("really_text.pdf", "just words\n");
    tree.put("really_pdf.md", &pdf);
    tree.put("really_docx", &docx);
    let source = tree.source();
    let listing = list(&source, 100).await;
    let contradicted = listing.details("workspace.type_disagreement", "path");
    for name in ["really_docx.pdf", "really_pdf.docx", "really_png.docx", "really_text.pdf"] {
        assert!(contradicted.contains(&name.to_owned()), "{name}: {contradicted:?}");
        let found = listing.get(name);
        assert_eq!(found.metadata["content_kind"], "unknown", "{name}");
        assert_eq!(found.metadata["context_representation"], "metadata_only", "{name}");
        assert_eq!(read(&source, name).await.unwrap_err().kind(), SourceErrorKind::Unsupported, "{name}");
    }
    // A name that says text, or nothing, gives way to the bytes.
    for (name, line) in [("really_pdf.md", "Pump inspection"), ("really_docx", "# Harbour notes")] {
        assert_eq!(listing.get(name).metadata["context_representation"], "parsed_text", "{name}");
        let shown = text(&source, name).await;
        assert!(shown.contains(line) && !shown.contains("endobj"), "{name}: {shown}");
    }
}

#[tokio::test]
async fn passages_of_a_document_join_to_its_text_and_read_back_with_their_digests() {
    let tree = Tree::new(&[("long.pdf", &long_pdf())]);
    let source = tree.source();
    let listing = list(&source, 5).await;
    let whole = listing.get("long.pdf");
    let full = text(&source, "long.pdf").await;
    assert!(full.contains("# Page 40") && full.contains("Page 1, line 0: the pump"), "{full}");
    assert_eq!(whole.estimated_chars, full.chars().count());
    assert!(whole.index_text.is_empty());
    let passages: Vec<_> = listing.descriptors.iter().filter(|found| found.parent_key.is_some()).collect();
    assert!(passages.len() > 5, "{}", passages.len());
    let mut joined = String::new();
    for passage in passages {
        let name = passage.source_ref.as_str();
        assert!(passage.title.contains("Page") || passage.summary.contains("Page"), "{name}");
        assert_eq!(passage.metadata["context_representation"], "parsed_text");
        assert_eq!(passage.metadata["content_kind"], "pdf");
        assert!(LineRange::from_metadata(&passage.metadata).is_some());
        for form in [None, Some(Representation::ParsedText)] {
            let read = match form {
                None => read(&source, name).await.unwrap(),
                Some(form) => read_as(&source, name, form).await.unwrap(),
            };
            assert_eq!(read.content.to_text().unwrap(), passage.index_text, "{name}");
            assert_eq!(read.content_digest, passage.content_digest, "{name}");
            assert_eq!(passage.content_digest, Some(Digest::of(passage.index_text.as_bytes())));
            assert_eq!(read.metadata, passage.metadata, "{name}");
        }
        assert_eq!(passage.index_text.chars().count(), passage.estimated_chars);
        joined.push_str(&passage.index_text);
        let picture = read_as(&source, name, Representation::ImageAttachment).await;
        assert_eq!(picture.unwrap_err(), SourceErrorKind::Unsupported);
    }
    assert_eq!(joined, full);
}

#[tokio::test]
async fn windows_of_a_document_advance_in_chars_and_join() {
    let Some(tree) = documents() else { return };
    let source = tree.source();
    let whole = text(&source, "real.docx").await;
    let (mut joined, mut next) = (String::new(), Some(0));
    while let Some(start_char) = next {
        let request = ReadRequest { start_char, ..ReadRequest::whole(17) };
        let part = source.read_exact(&SourceRef::new("real.docx").unwrap(), &request).await.unwrap();
        let Content::Text(text) = &part.content else { panic!() };
        assert!(text.chars().count() <= 17);
        assert_eq!(part.metadata["context_representation"], "parsed_text");
        joined.push_str(text);
        next = part.next_range_start;
    }
    assert_eq!(joined, whole);
}

#[tokio::test]
async fn a_picture_is_data_only_where_it_is_asked_for() {
    let Some(tree) = documents() else { return };
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    tree.put("logo.png", png);
    let source = tree.source();
    let listing = list(&source, 100).await;
    let found = listing.get("logo.png");
    assert_eq!(found.metadata["context_representation"], "image_attachment_or_metadata");
    assert!(found.index_text.is_empty() && found.summary.is_empty());
    assert_eq!(read(&source, "logo.png").await.unwrap_err().kind(), SourceErrorKind::Unsupported);
    let attached = read_as(&source, "logo.png", Representation::ImageAttachment).await.unwrap();
    let Content::Structured(parts) = &attached.content else { panic!() };
    let url = parts[0]["image_url"]["url"].as_str().unwrap();
    let data = url.strip_prefix("data:image/png;base64,").unwrap();
    use base64::Engine as _;
    assert_eq!(base64::engine::general_purpose::STANDARD.decode(data).unwrap(), png);
    assert_eq!(attached.content_digest, Some(Digest::of(png)));
    for document in ["real.pdf", "real.docx", "bomb.docx"] {
        let refused = read_as(&source, document, Representation::ImageAttachment).await;
        assert_eq!(refused.unwrap_err(), SourceErrorKind::Unsupported, "{document}");
    }
}

#[tokio::test]
async fn a_document_that_changed_since_the_walk_is_not_read_as_it_was() {
    let tree = Tree::new(&[("a.pdf", &pdf_of_pages(&["old"], "", &[]))]);
    let source = tree.source();
    list(&source, 10).await;
    assert!(text(&source, "a.pdf").await.contains("old"));
    tree.put("a.pdf", pdf_of_pages(&["newer text"], "", &[]));
    assert_eq!(read(&source, "a.pdf").await.unwrap_err().kind(), SourceErrorKind::Changed);
    list(&source, 10).await;
    assert!(text(&source, "a.pdf").await.contains("newer text"));
}

#[tokio::test]
async fn the_source_conforms_over_documents() {
    let Some(tree) = documents() else { return };
    tree.put("long.pdf", long_pdf());
    tree.put("locked.pdf", encrypted_pdf());
    let violations = check_source(&tree.source()).await;
    assert!(violations.is_empty(), "{violations:#?}");
}

async fn scoped(source: &WorkspaceSource, source_ref: &str, locator: &str, max_chars: usize) -> SourceRead {
    let request = ReadRequest::whole(max_chars);
    let scoped = source.scoped_read().unwrap();
    scoped.read_scoped(&SourceRef::new(source_ref).unwrap(), locator, &request).await.unwrap()
}

#[tokio::test]
async fn a_scoped_read_shows_the_window_around_what_is_looked_for() {
    let filler: String = (0..200).map(|line| format!("line {line} says nothing of it\n")).collect();
    let noted = format!("{filler}The 水泵 is in hall 7.\n{filler}a valve that is checked weekly\n{filler}");
    let tree =
        Tree::new(&[("long.pdf", &long_pdf()), ("notes.md", noted.as_bytes()), ("short.md", b"The pump.\n")]);
    let source = tree.source();
    list(&source, 100).await;
    for (file, locator, wanted) in [
        ("notes.md", "水泵", "The 水泵 is in hall 7."),
        ("notes.md", "the 水泵 IS", "The 水泵 is in hall 7."),
        ("notes.md", "is the valve checked, and weekly?", "a valve that is checked weekly"),
        ("long.pdf", "Page 31, line 4", "Page 31, line 4: the pump"),
        ("long.pdf", "hall 40", "hall 40 is checked"),
        ("short.md", "pump", "The pump."),
    ] {
        let read = scoped(&source, file, locator, 120).await;
        let again = scoped(&source, file, locator, 120).await;
        assert_eq!(read, again, "{file}: the same question, the same window");
        let Content::Text(window) = &read.content else { panic!() };
        assert!(window.contains(wanted), "{file}, {locator:?}: {window:?}");
        assert!(window.chars().count() <= 120);
        let whole = text(&source, file).await;
        assert!(whole.contains(window.as_str()), "{file}: a window is a part of the text, char for char");
        let cut = whole != *window;
        assert_eq!(read.completeness == Completeness::Truncated, cut, "{file}");
        assert!(!read.diagnostics.iter().any(|it| it.code == "workspace.locator_not_found"), "{file}");
    }
    // The first of several literal matches.
    let first = scoped(&source, "long.pdf", "line 4: the pump", 60).await;
    assert!(first.content.to_text().unwrap().contains("Page 1, line 4"), "{first:?}");
    // What is nowhere is read from the start, and that is said.
    let absent = scoped(&source, "notes.md", "zebra", 50).await;
    assert!(absent.content.to_text().unwrap().starts_with("line 0 says"));
    assert!(absent.diagnostics.iter().any(|it| it.code == "workspace.locator_not_found"), "{absent:?}");
    let whole = scoped(&source, "short.md", "zebra", 50).await;
    assert!(whole.diagnostics.is_empty(), "nothing is missing from a whole text");
    // The errors are those of an exact read.
    let scoped = source.scoped_read().unwrap();
    let missing = scoped.read_scoped(&SourceRef::new("none.md").unwrap(), "x", &ReadRequest::whole(5)).await;
    assert_eq!(missing.unwrap_err().kind(), SourceErrorKind::NotFound);
}

#[tokio::test]
async fn a_package_delivers_a_passage_of_a_document_with_its_citation() {
    let pages: Vec<String> = (1..=40)
        .map(|number| match number {
            23 => "The quarterly audit of the desalination plant is on Monday.\n".to_owned(),
            _ => (0..12).map(|line| format!("Page {number}, line {line}: hall {number} is dry.\n")).collect(),
        })
        .collect();
    let pages: Vec<_> = pages.iter().map(String::as_str).collect();
    let tree = Tree::new(&[
        ("plant.pdf", &pdf_of_pages(&pages, "", &[])),
        ("broken.pdf", b"%PDF-1.4\n%%EOF\n"),
        ("lunch.md", b"Lunch is at noon.\n"),
    ]);
    let context = TaskContext::new("task").unwrap();
    let source = Arc::new(tree.source());
    context.attach(source.clone(), ContextBinding::default()).unwrap();
    let mut reader = context
        .reader(ContextConsumer::new("worker").unwrap())
        .budget(ContextBudget::chars(2_500))
        .open()
        .await
        .unwrap();
    let intent = ContextReadIntent::new("desalination plant audit").unwrap();
    let package = reader.read(&intent).await.unwrap();
    let shown = |block: &ContextBlock| block.content.as_ref().unwrap().to_text().unwrap().into_owned();
    let block = package
        .blocks()
        .iter()
        .find(|block| shown(block).contains("desalination"))
        .unwrap_or_else(|| panic!("{:#?}", package.to_json()));
    let source_ref = block.source_ref.as_str();
    assert!(source_ref.starts_with("plant.pdf#L"), "{source_ref}");
    assert_eq!(block.metadata["context_representation"], "parsed_text");
    assert_eq!(block.metadata["path"], "plant.pdf");
    assert_eq!(block.completeness, Completeness::Complete);
    // Whoever follows the citation reads the same.
    assert_eq!(text(&source, source_ref).await, shown(block));
    let rendered = briefing_context_reader::render(&package, RenderFormat::Markdown);
    assert!(
        rendered.contains("plant.pdf") && rendered.contains("desalination plant is on Monday"),
        "{rendered}"
    );
    assert!(!rendered.contains("endobj") && !rendered.contains("%PDF"));
}
