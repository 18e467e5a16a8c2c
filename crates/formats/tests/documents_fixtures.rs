//! The shared documents are read as their manifest expects.
#![cfg(feature = "documents")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;
mod documents_support;

use briefing_core::media::{MediaKind, MediaSignals};
use briefing_formats::{DocumentError, DocumentFormat, SectionKind, classify};
use documents_support::{codes, try_read};

/// What a document must give.
enum Expected {
    /// Lines in this order, whether the text is complete, and a note.
    Text(DocumentFormat, &'static [&'static str], bool, Option<&'static str>),
    Error(&'static str),
}

use Expected::{Error, Text};

const EXPECTED: &[(&str, Expected)] = &[
    ("docs/bomb.docx", Error("document.limit_exceeded")),
    ("docs/bomb.xlsx", Error("document.limit_exceeded")),
    ("docs/entities.docx", Error("document.damaged")),
    (
        "docs/far_cell.xlsx",
        Text(
            DocumentFormat::Xlsx,
            &["# Sheet: Stock", "| bolts | 40 |", "- XFD1048576: far corner"],
            true,
            None,
        ),
    ),
    ("docs/gbk_euc_h.pdf", Text(DocumentFormat::Pdf, &["# Page 1", "库存盘点"], true, None)),
    ("docs/header_only.pdf", Error("document.damaged")),
    (
        "docs/hidden.xlsx",
        Text(
            DocumentFormat::Xlsx,
            &[
                "# Sheet: Open",
                "| Rope | 12 | 2024-05-17 |",
                "| hidden row | 99 |",
                "Hidden rows: 4",
                "# Sheet: Back (hidden)",
                "- A1: hidden sheet",
                "# Sheet: Deep (hidden)",
                "- A1: very hidden sheet",
            ],
            true,
            Some("document.hidden_sheet"),
        ),
    ),
    ("docs/kids_loop.pdf", Error("document.no_text")),
    (
        "docs/order_hidden.pptx",
        Text(
            DocumentFormat::Pptx,
            &[
                "# Slide 1: bravo slide",
                "note for bravo slide",
                "# Slide 2: charlie slide (hidden)",
                "note for charlie slide",
                "# Slide 3: alpha slide",
                "note for alpha slide",
            ],
            true,
            Some("document.hidden_slide"),
        ),
    ),
    (
        "docs/real.docx",
        Text(
            DocumentFormat::Docx,
            &[
                "# Harbour notes",
                "The ferry leaves at 06:40 from pier two.",
                "| Pier | Draft |",
                "| Two | 3.1 m |",
                "中文段落：码头二号位。",
                "# Headers and footers",
                "Header: Header: internal",
            ],
            true,
            None,
        ),
    ),
    (
        "docs/real.pdf",
        Text(
            DocumentFormat::Pdf,
            &[
                "# Page 1",
                "Well survey 2024",
                "Depth 31 m, flow 2.4 l/s",
                "# Page 2",
                "Page two: pump swapped",
            ],
            true,
            None,
        ),
    ),
    (
        "docs/tracked_changes.docx",
        Text(
            DocumentFormat::Docx,
            &["The fee is 750 per month.", "| Room | Seats |", "| North | 24 |"],
            true,
            Some("document.tracked_deletions_left_out"),
        ),
    ),
    (
        "docs/truncated.pdf",
        Text(DocumentFormat::Pdf, &["Pump inspection, week 19"], false, Some("document.content_unreadable")),
    ),
    (
        "types/ascii_only.pdf",
        Text(DocumentFormat::Pdf, &["Pump inspection, week 19", "Pressure 4.2 bar, no leak"], true, None),
    ),
    ("types/ascii_only_no_suffix", Text(DocumentFormat::Pdf, &["Pump inspection, week 19"], true, None)),
    ("types/elf_named.md", Error("document.unsupported")),
    ("types/picture_named.txt", Error("document.unsupported")),
    ("types/quotes_pdf_header.md", Error("document.damaged")),
    ("types/text_named.png", Error("document.unsupported")),
    ("types/zip_named.docx", Error("document.unsupported")),
];

#[test]
fn every_document_of_the_manifest_is_read_as_it_expects() {
    let Some(manifest) = common::fixture("MANIFEST.json") else { return };
    let entries: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let mut seen = 0;
    for entry in entries.as_array().unwrap() {
        let file = entry["file"].as_str().unwrap();
        if !file.starts_with("docs/") && !file.starts_with("types/") {
            continue;
        }
        let (_, expected) =
            EXPECTED.iter().find(|(name, _)| *name == file).unwrap_or_else(|| panic!("no case for {file}"));
        let bytes = common::fixture(file).expect("the manifest names only files that are there");
        seen += 1;
        match (expected, try_read(&bytes)) {
            (Text(format, lines, complete, note), Ok(document)) => {
                assert_eq!((document.format, document.complete), (*format, *complete), "{file}");
                let mut rest = document.text.lines();
                for line in *lines {
                    assert!(rest.any(|it| it == *line), "{file}: {line:?} in order in\n{}", document.text);
                }
                if let Some(note) = note {
                    assert!(codes(&document).contains(note), "{file}: {:?}", document.notes);
                }
            }
            (Error(code), Err(error)) => assert_eq!(error.code(), *code, "{file}: {error}"),
            (_, outcome) => panic!("{file}: {outcome:?}"),
        }
    }
    assert_eq!(seen, EXPECTED.len());
}

#[test]
fn deleted_text_is_nowhere() {
    let Some(bytes) = common::fixture("docs/tracked_changes.docx") else { return };
    assert!(!try_read(&bytes).unwrap().text.contains("900"));
}

#[test]
fn hidden_sheets_and_slides_are_marked_in_the_sections_too() {
    for (file, kind, hidden) in [
        ("docs/hidden.xlsx", SectionKind::Sheet, [("Open", false), ("Back", true), ("Deep", true)]),
        (
            "docs/order_hidden.pptx",
            SectionKind::Slide,
            [("bravo slide", false), ("charlie slide", true), ("alpha slide", false)],
        ),
    ] {
        let Some(bytes) = common::fixture(file) else { return };
        let document = try_read(&bytes).unwrap();
        let found: Vec<_> =
            document.sections.iter().map(|section| (section.title.as_str(), section.hidden)).collect();
        assert_eq!(found, hidden);
        assert!(document.sections.iter().all(|section| section.kind == kind));
    }
}

#[test]
fn bombs_are_refused_by_the_limit_of_a_part() {
    for file in ["docs/bomb.docx", "docs/bomb.xlsx"] {
        let Some(bytes) = common::fixture(file) else { return };
        let allowed = 32 << 20;
        assert_eq!(try_read(&bytes), Err(DocumentError::LimitExceeded { limit: "max_entry_bytes", allowed }));
    }
}

#[test]
fn the_kind_that_classification_shows_is_the_one_that_is_read() {
    for (file, kind) in [
        ("docs/real.docx", MediaKind::Office),
        ("docs/hidden.xlsx", MediaKind::Office),
        ("docs/order_hidden.pptx", MediaKind::Office),
        ("docs/real.pdf", MediaKind::Pdf),
    ] {
        let Some(bytes) = common::fixture(file) else { return };
        let shown = classify(&MediaSignals { path: Some(file), ..MediaSignals::default() }, &bytes);
        assert_eq!(shown.kind, kind);
        let by_type = shown.media_type.and_then(DocumentFormat::of_media_type);
        assert_eq!((by_type, DocumentFormat::of_bytes(&bytes)), (by_type, by_type), "{file}");
        assert!(by_type.is_some());
    }
}
