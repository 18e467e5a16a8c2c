//! The text of a page is what its fonts and places say, and what they do not say is marked.
#![cfg(feature = "documents")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod documents_support;

use briefing_formats::{DocumentError, DocumentLimits, document_text};
use documents_support::{codes, page, pdf, read, stream, try_read};

const HELVETICA: &str =
    "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >>";

fn text(content: &str) -> String {
    let text = read(&page(content.as_bytes(), HELVETICA, &[])).text;
    text.strip_prefix("# Page 1\n\n").unwrap().to_owned()
}

#[test]
fn lines_and_spaces_follow_from_places() {
    for (content, expected) in [
        ("BT /F1 12 Tf 20 150 Td (one) Tj 0 -14 Td (two) Tj ET", "one\ntwo\n"),
        ("BT /F1 12 Tf 20 150 Td (one) Tj 0 -40 Td (far below) Tj ET", "one\n\nfar below\n"),
        ("BT /F1 12 Tf 20 150 Td [(wo) -20 (rd) -300 (next)] TJ ET", "word next\n"),
        (
            "BT /F1 12 Tf 1 0 0 1 20 150 Tm (run) Tj ET BT /F1 12 Tf 1 0 0 1 37.2 150 Tm (ning) Tj ET",
            "running\n",
        ),
        ("BT /F1 12 Tf 20 150 Td (x) Tj 5 Ts (2) Tj 0 Ts (y) Tj ET", "x2y\n"),
        ("BT /F1 12 Tf 14 TL 20 150 Td (a) Tj T* (b) Tj (c) ' 0 0 (d) \" ET", "a\nb\nc\nd\n"),
        (
            "q 2 0 0 2 0 0 cm BT /F1 6 Tf 10 75 Td (scaled) Tj ET Q BT /F1 12 Tf 20 136 Td (back) Tj ET",
            "scaled\nback\n",
        ),
        ("BT /F1 12 Tf 20 150 Td (Bold) Tj ET BT /F1 12 Tf 20.3 150 Td (Bold) Tj ET", "Bold\n"),
        ("BT /F1 12 Tf 20 150 Td (Item) Tj 150 0 Td (Count) Tj ET", "Item\tCount\n"),
        ("BT /F1 12 Tf 0 1 -1 0 50 50 Tm (up) Tj 0 1 -1 0 64 50 Tm (wards) Tj ET", "up\nwards\n"),
        (r"BT /F1 12 Tf 20 150 Td (caf\351 \(\200\)) Tj ET", "café (€)\n"),
        ("BT /F1 12 Tf 20 150 Td (# fake) Tj ET", "\\# fake\n"),
    ] {
        assert_eq!(text(content), expected, "{content}");
    }
}

#[test]
fn a_map_to_unicode_beats_the_encoding() {
    let map = b"1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0001> <0003> <4E00> endbfrange 1 beginbfchar <0009> <00660069> endbfchar";
    let font = "/Font << /F1 << /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /DW 1000 >>] /ToUnicode 5 0 R >> >>";
    let content = b"BT /F1 12 Tf 20 150 Td <0001000300090077> Tj ET";
    let document = read(&page(content, font, &[stream("", map)]));
    assert_eq!(document.text, "# Page 1\n\n\u{4e00}\u{4e02}fi\u{fffd}\n");
    assert_eq!((codes(&document), document.notes[0].count), (vec!["document.characters_unknown"], 1));
}

#[test]
fn a_map_that_claims_every_code_costs_no_memory() {
    let map = b"1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfrange <00000000> <FFFFFFFF> <0041> <41> <5A> <0061> endbfrange";
    let font = "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /X /ToUnicode 5 0 R >> >>";
    let document = read(&page(b"BT /F1 12 Tf 20 150 Td (ABC) Tj ET", font, &[stream("", map)]));
    assert_eq!(document.text, "# Page 1\n\nabc\n");
}

#[test]
fn fonts_that_say_nothing_are_named_in_a_note() {
    let symbolic = "/Font << /F1 << /Type /Font /Subtype /TrueType /BaseFont /ABCDEF+X /FontDescriptor << /Flags 4 >> >> >>";
    for (resources, expected, code) in [
        (symbolic, "abc", "document.encoding_guessed"),
        ("", "abc", "document.encoding_guessed"),
        (
            "/Font << /F1 << /Type /Font /Subtype /Type0 /Encoding /Identity-H >> >>",
            "\u{fffd}\u{fffd}",
            "document.characters_unknown",
        ),
        (
            "/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Symbol >> >>",
            "\u{fffd}\u{fffd}\u{fffd}",
            "document.characters_unknown",
        ),
    ] {
        let document = read(&page(b"BT /F1 12 Tf 20 150 Td (abc) Tj ET", resources, &[]));
        assert_eq!(document.text, format!("# Page 1\n\n{expected}\n"), "{resources}");
        assert_eq!(codes(&document), [code], "{resources}");
    }
}

#[test]
fn forms_are_drawn_where_they_stand_and_never_in_circles() {
    let form = |name: &str, inside: &str| {
        stream(
            &format!(
                "/Type /XObject /Subtype /Form /Matrix [1 0 0 1 0 -30] /Resources << {HELVETICA} /XObject << /{name} 5 0 R >> >>"
            ),
            inside.as_bytes(),
        )
    };
    let content = b"BT /F1 12 Tf 20 150 Td (before) Tj ET /X Do /I Do BT /F1 12 Tf 20 90 Td (after) Tj ET";
    let resources = format!("{HELVETICA} /XObject << /X 5 0 R /I 6 0 R >>");
    let image = stream("/Type /XObject /Subtype /Image /Width 1 /Height 1", b"\0");
    let document = read(&page(
        content,
        &resources,
        &[form("Y", "BT /F1 12 Tf 20 150 Td (inside) Tj ET"), image.clone()],
    ));
    assert_eq!(document.text, "# Page 1\n\nbefore\n\ninside\n\nafter\n");
    assert_eq!(codes(&document), ["document.pictures_left_out"]);

    let looped = read(&page(content, &resources, &[form("X", "/X Do /X Do /X Do"), image]));
    assert!(!looped.complete);
    assert!(codes(&looped).contains(&"document.content_unreadable"));
}

#[test]
fn forms_that_multiply_are_stopped_by_a_limit() {
    let form = stream("/Type /XObject /Subtype /Form", "/X Do\n".repeat(30).as_bytes());
    let bytes = page(b"/X Do", "/XObject << /X 5 0 R >>", &[form]);
    let limits = DocumentLimits::default().max_total_bytes(1 << 20);
    let error = document_text(&bytes, &limits).unwrap_err();
    assert_eq!(error, DocumentError::LimitExceeded { limit: "max_total_bytes", allowed: 1 << 20 });
}

#[test]
fn pages_without_text_are_counted_and_a_scan_is_no_success() {
    let objects = |second: &str| {
        vec![
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R 4 0 R 3 0 R 9 0 R] /Count 4 >>".to_vec(),
            format!("<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << {HELVETICA} /XObject << /I 7 0 R >> >> >>").into_bytes(),
            format!("<< /Type /Page /Parent 2 0 R /Contents 6 0 R /Resources << {HELVETICA} >> >>").into_bytes(),
            stream("", b"/I Do"),
            stream("", second.as_bytes()),
            stream("/Type /XObject /Subtype /Image", b""),
        ]
    };
    let document = read(&pdf(&objects("BT /F1 12 Tf (words) Tj ET"), ""));
    assert_eq!(
        document.text, "# Page 1\n\n# Page 2\n\nwords\n\n# Page 3\n",
        "a page comes once, a lost one keeps its place"
    );
    let counts: Vec<_> = document.notes.iter().map(|note| (note.code, note.count)).collect();
    assert_eq!(
        counts,
        [
            ("document.pictures_left_out", 1),
            ("document.pages_without_text", 2),
            ("document.content_unreadable", 1),
        ]
    );
    let scan = try_read(&pdf(&objects(""), "")).unwrap_err();
    assert_eq!(scan.code(), "document.no_text");
    assert!(scan.to_string().contains("perhaps a scan"), "{scan}");
}

#[test]
fn pages_beyond_the_limit_are_cut_with_their_number() {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [4 0 R 5 0 R 6 0 R 7 0 R] /Count 4 >>".to_vec(),
        stream("", b"BT /F1 12 Tf (words) Tj ET"),
    ];
    for _ in 0..4 {
        objects.push(
            format!("<< /Type /Page /Parent 2 0 R /Contents 3 0 R /Resources << {HELVETICA} >> >>")
                .into_bytes(),
        );
    }
    let document = document_text(&pdf(&objects, ""), &DocumentLimits::default().max_pages(1)).unwrap();
    assert_eq!((document.sections.len(), document.complete), (1, false));
    assert_eq!((document.notes[0].code, document.notes[0].count), ("document.pages_cut", 3));
}

#[test]
fn compressed_text_that_breaks_off_is_marked_incomplete() {
    let mut document = lopdf::Document::with_version("1.5");
    let lines: String = (0..400).map(|line| format!("(line {line}) Tj 0 -12 Td ")).collect();
    let content =
        lopdf::Stream::new(lopdf::Dictionary::new(), format!("BT /F1 10 Tf {lines}ET").into_bytes());
    let content = document.add_object(content);
    document.compress();
    let deflated = document.get_object(content).unwrap().as_stream().unwrap().content.clone();
    let bytes = |data: &[u8], filter: &str| {
        let mut bytes = page(b"", HELVETICA, &[stream(&format!("/Filter {filter}"), data)]);
        let at = bytes.windows(14).position(|window| window == b"/Contents 4 0 ").unwrap();
        bytes[at + 10] = b'5';
        bytes
    };
    let hexed: String = deflated.iter().map(|byte| format!("{byte:02x}")).collect();
    for (whole, broken) in [
        (bytes(&deflated, "/FlateDecode"), bytes(&deflated[..deflated.len() * 2 / 3], "/FlateDecode")),
        (
            bytes(format!("{hexed}>").as_bytes(), "[/ASCIIHexDecode /FlateDecode]"),
            bytes(format!("{}>", &hexed[..hexed.len() / 4 * 2]).as_bytes(), "[/ASCIIHexDecode /FlateDecode]"),
        ),
    ] {
        let document = read(&whole);
        assert!(document.complete && document.text.contains("line 399"), "{:?}", document.notes);
        let document = read(&broken);
        assert!(
            !document.complete && document.text.contains("line 9") && !document.text.contains("line 399")
        );
        assert_eq!(codes(&document), ["document.content_unreadable"]);
    }
}

#[test]
fn encrypted_documents_are_refused() {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>".to_vec(),
        stream("", b"(ciphertext) Tj"),
    ];
    objects.push(b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <aa00112233445566778899aabbccddeeff00112233445566778899aabbccddee> /U <bb00112233445566778899aabbccddeeff00112233445566778899aabbccddee> >>".to_vec());
    let bytes = pdf(&objects, "/Encrypt 5 0 R /ID [<00> <00>]");
    assert_eq!(try_read(&bytes), Err(DocumentError::Encrypted));
}
