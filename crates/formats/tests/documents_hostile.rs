//! Whatever the bytes are, reading them ends within its limits: with text, or with an error that says why.
#![cfg(feature = "documents")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod common;
mod documents_support;

use std::time::{Duration, Instant};

use briefing_formats::{
    DocumentError, DocumentFormat, DocumentLimits, DocumentText, SectionKind, document_text,
};
use documents_support::{
    ap, body, docx, one_sheet, p, page, pptx, presentation, r, read, shape, slide, stream, try_read,
};
use proptest::prelude::*;

const FONT: &str = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>";

/// One document of each format.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let slides = pptx().part("slide", "slides/slide1.xml", &slide("", &shape("", &ap("one 字"))));
    let mut samples = vec![
        (
            "docx",
            docx().bytes(&body(
                &[p("one"), p("two 字"), "<w:tbl><w:tr><w:tc/><w:tc/></w:tr></w:tbl>".to_owned()].concat(),
            )),
        ),
        ("xlsx", one_sheet(r#"<row r="1"><c r="A1"><v>1</v></c><c r="C1" t="str"><v>字</v></c></row>"#)),
        ("pptx", slides.bytes(&presentation(&[1]))),
        ("pdf", page(b"BT /F1 12 Tf 20 50 Td (one) Tj [(two) -400 (three)] TJ ET", FONT, &[])),
    ];
    for name in [
        "docs/real.docx",
        "docs/hidden.xlsx",
        "docs/order_hidden.pptx",
        "docs/real.pdf",
        "docs/gbk_euc_h.pdf",
    ] {
        samples.extend(common::fixture(name).map(|bytes| (name, bytes)));
    }
    samples
}

/// What every document keeps to.
fn check(document: &DocumentText, limits: &DocumentLimits) {
    assert!(!document.text.trim().is_empty());
    assert!(document.text.chars().count() as u64 <= limits.max_text_chars);
    let mut end = 0;
    for section in &document.sections {
        assert_eq!(section.bytes.start, end, "sections lie side by side");
        end = section.bytes.end;
        let text = document.text.get(section.bytes.clone()).expect("on char borders");
        let heading = text.lines().next().unwrap_or_default();
        match section.kind {
            SectionKind::Page => assert!(heading.starts_with("# Page ") || cut(document), "{heading:?}"),
            SectionKind::Sheet => assert!(heading.starts_with("# Sheet: ") || cut(document), "{heading:?}"),
            SectionKind::Slide => assert!(heading.starts_with("# Slide ") || cut(document), "{heading:?}"),
            _ => {}
        }
    }
    assert_eq!(end, document.text.len(), "sections cover the text");
    assert_eq!(document.sections.first().map(|section| section.bytes.start), Some(0));
    let lossy =
        ["document.text_cut", "document.pages_cut", "document.cells_cut", "document.content_unreadable"];
    let losses = document.notes.iter().filter(|note| lossy.contains(&note.code)).count();
    assert_eq!(document.complete, losses == 0);
}

fn cut(document: &DocumentText) -> bool {
    document.notes.iter().any(|note| note.code == "document.text_cut")
}

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    /// The bytes with one to four faults in them.
    fn mutated(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(at.max(1)),
                1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes[at] = [0, 0xFF, b'<', b'>', b'9', b'('][self.below(6)],
                3 => {
                    let from = self.below(bytes.len());
                    let length = self.below(64).min(bytes.len() - from.max(at));
                    let chunk = bytes[from..from + length].to_vec();
                    bytes[at..at + length].copy_from_slice(&chunk);
                }
                4 => {
                    let length = self.below(64).min(bytes.len() - at);
                    bytes.drain(at..at + length);
                }
                _ => {
                    let chunk = bytes[at..(at + self.below(64)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, chunk);
                }
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        bytes
    }
}

#[test]
fn damaged_copies_give_text_or_an_error_and_nothing_else() {
    let rounds =
        std::env::var("BRIEFING_MUTATIONS").ok().and_then(|number| number.parse().ok()).unwrap_or(500);
    let limits = DocumentLimits::default().max_total_bytes(16 << 20).time_limit(Duration::from_secs(20));
    for (name, bytes) in samples() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut read = 0;
        for round in 0..rounds {
            let mutated = random.mutated(&bytes);
            let began = Instant::now();
            match document_text(&mutated, &limits) {
                Ok(document) => {
                    read += 1;
                    check(&document, &limits);
                }
                Err(DocumentError::TimedOut { .. } | DocumentError::Busy { .. }) => {
                    panic!("{name} {round} hangs")
                }
                Err(DocumentError::Panicked { reason }) => panic!("{name} {round}: {reason}"),
                Err(_) => {}
            }
            assert!(began.elapsed() < Duration::from_secs(10), "{name} {round}");
        }
        println!("{name}: {read} of {rounds} damaged copies were read");
    }
}

#[test]
fn damaged_parts_within_a_sound_zip_do_no_harm_either() {
    let inside = [
        p("one"),
        format!("<w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r>{}</w:p>", r("x")),
        "<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>".to_owned(),
    ]
    .concat();
    let main = body(&inside);
    let data = r#"<row r="1"><c r="A1" s="1"><v>45429.5</v></c><c r="C1" t="inlineStr"><is><t>x</t></is></c></row><row r="9"><c r="XFD9"><f>A1</f></c></row>"#;
    let mut random = Random(7);
    let limits = DocumentLimits::default();
    for round in 0..600 {
        let text = |random: &mut Random, xml: &str| {
            String::from_utf8_lossy(&random.mutated(xml.as_bytes())).into_owned()
        };
        let bytes = match round % 3 {
            0 => docx().bytes(&text(&mut random, &main)),
            1 => one_sheet(&text(&mut random, data)),
            _ => {
                let broken = text(&mut random, &slide("", &shape("", &ap("x"))));
                pptx().part("slide", "slides/slide1.xml", &broken).bytes(&presentation(&[1]))
            }
        };
        match document_text(&bytes, &limits) {
            Ok(document) => check(&document, &limits),
            Err(error) => assert!(
                matches!(error, DocumentError::Damaged { .. } | DocumentError::NoText { .. }),
                "{round}: {error}"
            ),
        }
    }
}

#[test]
fn the_same_bytes_give_the_same_text() {
    for (name, bytes) in samples() {
        assert_eq!(try_read(&bytes), try_read(&bytes), "{name}");
        check(&read(&bytes), &DocumentLimits::default());
    }
}

#[test]
fn text_is_cut_at_its_limit_with_a_note() {
    for (name, bytes) in samples() {
        let whole = read(&bytes);
        let chars = whole.text.chars().count() as u64;
        // All but the last line end is text.
        for max in 1..(chars - 1).min(60) {
            let limits = DocumentLimits::default().max_text_chars(max);
            let document = document_text(&bytes, &limits).unwrap();
            check(&document, &limits);
            assert!(whole.text.starts_with(document.text.trim_end()), "{name} at {max}");
            assert!(!document.complete && cut(&document), "{name} at {max}: {document:?}");
        }
        let fits = document_text(&bytes, &DocumentLimits::default().max_text_chars(chars)).unwrap();
        assert_eq!(fits, whole, "{name}");
    }
}

#[test]
fn limits_of_cost_are_errors_that_name_them() {
    let deep = format!("{}{}{}", "<w:sdt>".repeat(300), p("deep"), "</w:sdt>".repeat(300));
    let limit = |limit, allowed| Err(DocumentError::LimitExceeded { limit, allowed });
    let defaults = DocumentLimits::default();
    let sample = docx().bytes(&body(&p(&"word ".repeat(10_000))));
    let table: [(&[u8], DocumentLimits, Result<DocumentText, DocumentError>); 5] = [
        (&sample, defaults.max_input_bytes(100), limit("max_input_bytes", 100)),
        (&sample, defaults.max_entry_bytes(2_000), limit("max_entry_bytes", 2_000)),
        (&sample, defaults.max_total_bytes(20_000), limit("max_total_bytes", 20_000)),
        (&docx().bytes(&body(&deep)), defaults, limit("max_depth", 256)),
        (
            &sample,
            defaults.time_limit(Duration::ZERO),
            Err(DocumentError::TimedOut { allowed: Duration::ZERO }),
        ),
    ];
    for (bytes, limits, expected) in table {
        assert_eq!(document_text(bytes, &limits), expected);
    }
}

#[test]
fn the_deepest_nesting_that_can_be_allowed_fits_the_stack() {
    let limits = DocumentLimits::default().max_depth(usize::MAX);
    assert_eq!(limits.max_depth, DocumentLimits::DEEPEST);
    let levels = DocumentLimits::DEEPEST - 20;
    for (open, close) in [
        ("<w:sdt>", "</w:sdt>"),
        ("<w:p><w:r><w:txbxContent>", "</w:txbxContent></w:r></w:p>"),
        ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
    ] {
        let levels = levels / open.matches('<').count();
        let inside = format!("{}{}{}", open.repeat(levels), p("deep"), close.repeat(levels));
        let document = document_text(&docx().bytes(&body(&inside)), &limits).unwrap();
        assert!(document.text.contains("deep"));
    }
    let arrays = [b"BT /F1 12 Tf (x) Tj ET ".to_vec(), b"[".repeat(200_000), b"<<".repeat(200_000)].concat();
    assert!(read(&page(&arrays, FONT, &[])).text.contains('x'));
    let objects = page(b"BT /F1 12 Tf (x) Tj ET", FONT, &[b"[".repeat(200_000)]);
    assert!(read(&objects).text.contains('x'));
}

#[test]
fn zips_that_claim_more_than_they_hold_are_refused() {
    let mut bytes = docx().bytes(&body(&p("x")));
    // The record of ZIP64 with 2^40 entries, before the directory's end.
    let mut record = b"PK\x06\x06".to_vec();
    record.extend_from_slice(&44_u64.to_le_bytes());
    record.extend_from_slice(&[0; 12]);
    record.extend_from_slice(&(1_u64 << 40).to_le_bytes());
    record.extend_from_slice(&(1_u64 << 40).to_le_bytes());
    record.extend_from_slice(&[0; 16]);
    let end = bytes.len() - 22;
    bytes.splice(end..end, record);
    let error = try_read(&bytes).unwrap_err();
    assert!(matches!(error, DocumentError::LimitExceeded { limit: "entries of a zip", .. }), "{error}");
}

#[test]
fn office_files_with_a_password_are_encrypted_and_old_ones_unsupported() {
    let mut compound = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    compound.resize(2048, 0);
    assert_eq!(try_read(&compound).unwrap_err().code(), "document.unsupported");
    compound.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(try_read(&compound), Err(DocumentError::Encrypted));
}

#[test]
fn streams_of_objects_that_inflate_without_end_are_refused() {
    // Each pair of bytes stands for 128 blanks (ISO 32000-1, 7.4.5).
    let runs = [129, b' '].repeat((40 << 20) / 128);
    let bomb = |entries: &str| stream(&format!("/Filter /RunLengthDecode {entries}"), &runs);
    let content = page(b"", FONT, &[bomb("/Type /ObjStm /N 1 /First 4")]);
    assert_eq!(try_read(&content).unwrap_err().code(), "document.limit_exceeded");
    let mut objects = page(b"", FONT, &[bomb("")]);
    let at = objects.windows(14).position(|window| window == b"/Contents 4 0 ").unwrap();
    objects[at + 10] = b'5';
    assert_eq!(
        try_read(&objects),
        Err(DocumentError::LimitExceeded { limit: "max_entry_bytes", allowed: 32 << 20 })
    );
}

#[test]
fn a_pdf_that_is_large_in_memory_is_refused() {
    let array = |items: usize| [b"[".to_vec(), b"0 ".repeat(items), b"]".to_vec()].concat();
    let limits = DocumentLimits::default().max_total_bytes(1 << 20);
    let refused = Err(DocumentError::LimitExceeded { limit: "max_total_bytes", allowed: 1 << 20 });
    let text = b"BT /F1 12 Tf (x) Tj ET";
    assert_eq!(document_text(&page(text, FONT, &[array(200_000)]), &limits), refused, "one object");
    let many: Vec<_> = (0..10).map(|_| array(20_000)).collect();
    assert_eq!(document_text(&page(text, FONT, &many), &limits), refused, "many objects");
    assert!(document_text(&page(text, FONT, &[array(20_000)]), &limits).is_ok());
}

#[test]
fn many_documents_at_once_are_all_read() {
    let bytes = docx().bytes(&body(&p("x")));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert_eq!(read(&bytes).text, "x\n"));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_paragraphs_keep_their_words_in_order(words in proptest::collection::vec("[a-z字#|-]{1,8}", 1..40)) {
        let inside: String = words.iter().map(|word| p(word)).collect();
        let document = read(&docx().bytes(&body(&inside)));
        check(&document, &DocumentLimits::default());
        let found: Vec<String> = document.text.split_whitespace().map(|word| word.replace('\\', "")).collect();
        prop_assert_eq!(found, words);
    }

    #[test]
    fn any_bytes_after_a_signature_come_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..400), zip in any::<bool>()) {
        let signature: &[u8] = if zip { b"PK\x03\x04" } else { b"%PDF-1.7\n" };
        let bytes = [signature, &bytes].concat();
        prop_assert!(try_read(&bytes).is_err());
        prop_assert_eq!(DocumentFormat::of_bytes(&bytes), (!zip).then_some(DocumentFormat::Pdf));
    }
}
