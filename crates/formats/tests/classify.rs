//! Signals and bytes together give the kind.

mod common;

use briefing_core::media::{MediaKind, MediaSignals};
use briefing_formats::{Classification, classify, is_text};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
const PDF: &[u8] = b"%PDF-1.4\n1 0 obj\n<< >>\nendobj\nxref\n0 1\ntrailer << >>\nstartxref\n9\n%%EOF\n";

fn named(path: &str, bytes: &[u8]) -> Classification {
    classify(&MediaSignals { path: Some(path), ..MediaSignals::default() }, bytes)
}

#[test]
fn kinds_follow_the_table() {
    use MediaKind::{Audio, Binary, Image, Office, Pdf, Text, Unknown};
    let elf = [b"\x7fELF\x02\x01\x01".as_slice(), &[0; 57]].concat();
    let gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff";
    let table: &[(&str, &[u8], MediaKind, bool)] = &[
        ("a.txt", b"plain", Text, false),
        ("a.py", b"", Text, false),
        ("empty", b"", Text, false),
        ("a.png", b"", Unknown, true),
        ("a.txt", PNG, Image, true),
        ("a", PNG, Image, false),
        ("a.png", PNG, Image, false),
        ("a.pdf", PNG, Unknown, true),
        ("a.png", b"just words\n", Unknown, true),
        ("a.md", &elf, Binary, true),
        ("tool", &elf, Binary, false),
        ("a.pdf", PDF, Pdf, false),
        ("a.pdf", b"%PDF-1.7\n no structure yet", Pdf, false),
        ("a.pdf", b"words", Unknown, true),
        ("a", PDF, Pdf, false),
        ("a.txt", PDF, Pdf, true),
        ("a.md", b"%PDF-1.7 is how such a file begins.\n", Text, false),
        ("a", b"%PDF-1.7 is how such a file begins.\n", Text, false),
        ("a.txt", b"BMI and MZ are letters", Text, false),
        ("a.txt", b"MZ is a code", Text, false),
        ("GIF.md", b"GIF89a is a version of GIF", Text, false),
        ("notes", b"ID3 is a kind of tag", Text, false),
        ("a.gif", gif, Image, false),
        ("a.tga", b"\0\0\x02\0\0\0\0\0\0\0", Image, false),
        ("a.rtf", br"{\rtf1\ansi words}", Office, false),
        ("a.docx", b"words", Unknown, true),
        ("a.dat", b"1 2 3\n", Unknown, true),
        ("a.bin", b"\x00\x01\x02", Binary, false),
        ("a.m4a", b"\0\0\0\x18ftypM4A \0\0\0\0", Audio, false),
        ("a.unlisted", "水泵".as_bytes(), Text, false),
        ("a.unlisted", b"\x00\x9f\x01\xff", Binary, false),
        ("a.txt", b"\xff\xfeh\0i\0", Text, false),
        ("control.txt", b"\x01\x02\x03 ok", Text, false),
        ("control", b"\x01\x02\x03 ok", Binary, false),
    ];
    for (path, bytes, kind, disagrees) in table {
        let found = named(path, bytes);
        assert_eq!((found.kind, found.disagreement.is_some()), (*kind, *disagrees), "{path}: {found:?}");
    }
}

#[test]
fn a_claim_of_text_does_not_override_the_bytes() {
    let signals = MediaSignals { declared: Some("text"), path: Some("a.txt"), ..MediaSignals::default() };
    let found = classify(&signals, PNG);
    assert_eq!((found.kind, found.media_type), (MediaKind::Image, Some("image/png")));
}

#[test]
fn contradicting_signals_stay_unknown_whatever_the_bytes_are() {
    let signals =
        MediaSignals { mime: Some("application/pdf"), path: Some("a.png"), ..MediaSignals::default() };
    assert_eq!(classify(&signals, PNG).kind, MediaKind::Unknown);
}

#[test]
fn shared_type_fixtures_are_classified_as_the_manifest_says() {
    use MediaKind::{Binary, Image, Office, Pdf, Text, Unknown};
    for (name, kind) in [
        ("types/ascii_only.pdf", Pdf),
        ("types/ascii_only_no_suffix", Pdf),
        ("types/elf_named.md", Binary),
        ("types/picture_named.txt", Image),
        ("types/quotes_pdf_header.md", Text),
        ("types/text_named.png", Unknown),
        ("types/zip_named.docx", Unknown),
        ("docs/real.docx", Office),
        ("docs/hidden.xlsx", Office),
        ("docs/order_hidden.pptx", Office),
        ("docs/real.pdf", Pdf),
        ("text/empty.py", Text),
        ("text/gbk.c", Text),
        ("text/utf16le_bom.htm", Text),
        ("text/utf32le_bom.txt", Text),
        ("text/literal_replacement_char.txt", Text),
    ] {
        let Some(bytes) = common::fixture(name) else { continue };
        assert_eq!(named(name, &bytes).kind, kind, "{name}");
    }
}

#[test]
fn office_documents_without_a_suffix_are_told_by_their_entries() {
    for name in ["docs/real.docx", "docs/hidden.xlsx", "docs/order_hidden.pptx"] {
        let Some(bytes) = common::fixture(name) else { continue };
        let found = named("upload", &bytes);
        assert_eq!(found.kind, MediaKind::Office, "{name}");
        assert!(found.media_type.is_some_and(|mime| mime.contains("openxmlformats")), "{found:?}");
    }
}

#[test]
fn a_character_cut_at_the_end_is_still_text() {
    let bytes = "水泵检查".as_bytes();
    for end in 1..bytes.len() {
        assert!(is_text(&bytes[..end]), "{end}");
    }
}
