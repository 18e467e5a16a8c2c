//! What is written reads back as what it was, or is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_formats::{Error, decode, encode, raw_offsets};
use proptest::prelude::*;

#[test]
fn text_of_every_fixture_comes_back_byte_for_byte() {
    for name in [
        "text/gbk.c",
        "text/gbk_edit_target.c",
        "text/shift_jis.csv",
        "text/cp1252.pas",
        "text/utf16le_bom.htm",
        "text/utf16be_bom.txt",
        "text/utf32le_bom.txt",
        "text/utf8_bom.rs",
        "text/mixed_eol.txt",
        "text/empty.py",
    ] {
        let Some(bytes) = common::fixture(name) else { continue };
        let decoded = decode(&bytes).unwrap();
        assert_eq!(encode(&decoded.text, decoded.encoding, decoded.had_bom).unwrap(), bytes, "{name}");
    }
}

#[test]
fn a_character_without_a_place_is_named_with_its_offset() {
    for (text, encoding, character, text_byte) in [
        ("prix: 检", "windows-1252", '检', 6),
        ("é\u{1F9ED}", "gbk", '\u{1F9ED}', 2),
        // The standard's encoder writes a backslash for it, which is another character.
        ("a\u{a5}", "shift_jis", '\u{a5}', 1),
        ("x\u{2212}", "euc-jp", '\u{2212}', 1),
    ] {
        let error = encode(text, encoding, false).unwrap_err();
        assert_eq!(
            error,
            Error::Unencodable { encoding: encoding.to_owned(), character, text_byte },
            "{text} in {encoding}"
        );
        assert_eq!(error.code(), "formats.unencodable");
    }
}

#[test]
fn marks_and_names_that_do_not_exist_are_refused() {
    assert_eq!(encode("a", "gbk", true).unwrap_err().code(), "formats.no_mark");
    for name in ["", "utf-7", "utf-16", "replacement", "latin1", "klingon"] {
        assert_eq!(encode("a", name, false).unwrap_err().code(), "formats.unknown_encoding", "{name}");
        assert_eq!(encode("a", name, true).unwrap_err().code(), "formats.unknown_encoding", "{name}");
    }
    for (name, mark) in [
        ("utf-8", b"\xef\xbb\xbf".as_slice()),
        ("utf-16le", b"\xff\xfe"),
        ("utf-16be", b"\xfe\xff"),
        ("utf-32le", b"\xff\xfe\0\0"),
        ("utf-32be", b"\0\0\xfe\xff"),
    ] {
        assert_eq!(encode("", name, true).unwrap(), mark, "{name}");
    }
}

#[test]
fn places_of_the_text_are_found_in_the_bytes() {
    for (text, encoding) in [
        ("a检\u{1F9ED}b", "utf-8"),
        ("a检\u{1F9ED}b", "utf-16le"),
        ("a检\u{1F9ED}b", "utf-32be"),
        ("a检查b", "gbk"),
        ("a検査ｱb", "shift_jis"),
        ("a検査ｱb", "euc-jp"),
        ("aéb", "windows-1252"),
    ] {
        let bytes = encode(text, encoding, false).unwrap();
        let places: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len())).collect();
        let expected: Vec<usize> =
            places.iter().map(|at| encode(&text[..*at], encoding, false).unwrap().len()).collect();
        assert_eq!(raw_offsets(&bytes, encoding, text, &places).unwrap(), expected, "{encoding}");
    }
    // 0x8862 of Big5 is one code of two characters; there is no byte between them.
    let pair = "\u{ca}\u{304}!";
    assert_eq!(raw_offsets(b"\x88\x62!", "big5", pair, &[0, 4, 5]).unwrap(), [0, 2, 3]);
    for (offsets, text_byte) in [([2, 4], 2), ([1, 2], 1), ([4, 9], 9), ([4, 2], 2)] {
        let error = raw_offsets(b"\x88\x62!", "big5", pair, &offsets).unwrap_err();
        assert_eq!(error, Error::NoBoundary { encoding: "big5".to_owned(), text_byte });
    }
}

proptest! {
    #[test]
    fn what_decodes_encodes_to_the_same_text_or_is_refused(bytes in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        proptest::collection::vec(0x80..=0xfe_u8, 0..60),
        proptest::collection::vec(prop_oneof![Just(0xb0_u8), Just(0xa1), Just(b'a'), Just(b'\n')], 0..60),
    ]) {
        if let Ok(decoded) = decode(&bytes) {
            match encode(&decoded.text, decoded.encoding, decoded.had_bom) {
                Ok(again) if again == bytes => {}
                Ok(again) => prop_assert_ne!(decoded.encoding, "utf-8", "{:?}", again),
                Err(error) => prop_assert_eq!(error.code(), "formats.unencodable"),
            }
        }
    }

    #[test]
    fn unicode_comes_back_in_every_form_of_it(text in any::<String>()) {
        for encoding in ["utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"] {
            let bytes = encode(&text, encoding, true).unwrap();
            let decoded = decode(&bytes).unwrap();
            // UTF-16LE that begins with a NUL reads as UTF-32LE: the mark is the same.
            if !text.starts_with('\0') {
                prop_assert_eq!((decoded.text.as_str(), decoded.encoding, decoded.had_bom), (text.as_str(), encoding, true));
            }
        }
    }

    #[test]
    fn what_an_older_encoding_takes_it_gives_back(text in "[ -~é€ñ检查水泵カタ漢ж]{0,40}") {
        for encoding in ["gbk", "gb18030", "shift_jis", "euc-jp", "big5", "euc-kr", "windows-1252", "koi8-r"] {
            if let Ok(bytes) = encode(&text, encoding, false) {
                let (back, _, damaged) = encoding_rs::Encoding::for_label(encoding.as_bytes()).unwrap().decode(&bytes);
                prop_assert!(!damaged && back == text, "{}: {} {}", encoding, text, back);
            }
        }
    }
}
