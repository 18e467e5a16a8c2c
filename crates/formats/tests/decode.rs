//! Decoding loses nothing and makes nothing up.

mod common;

use briefing_formats::{Error, decode};
use proptest::prelude::*;

#[test]
fn encodings_are_named_and_marks_are_not_text() {
    let utf16le: Vec<u8> = "Weekly 检查\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16be: Vec<u8> = "Weekly 检查\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let utf32be: Vec<u8> = "ok🧭".chars().flat_map(|char| u32::from(char).to_be_bytes()).collect();
    let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
    for (bytes, text, encoding, had_bom, guessed) in [
        (b"plain".to_vec(), "plain", "utf-8", false, false),
        (marked(b"\xef\xbb\xbf", b"a"), "a", "utf-8", true, false),
        (marked(b"\xff\xfe", &utf16le), "Weekly 检查\n", "utf-16le", true, false),
        (marked(b"\xfe\xff", &utf16be), "Weekly 检查\n", "utf-16be", true, false),
        (utf16le, "Weekly 检查\n", "utf-16le", false, true),
        (utf16be, "Weekly 检查\n", "utf-16be", false, true),
        (marked(b"\0\0\xfe\xff", &utf32be), "ok🧭", "utf-32be", true, false),
        (Vec::new(), "", "utf-8", false, false),
        ("a\u{fffd}b".as_bytes().to_vec(), "a\u{fffd}b", "utf-8", false, false),
    ] {
        let decoded = decode(&bytes).unwrap();
        let seen = (decoded.text.as_str(), decoded.encoding, decoded.had_bom, decoded.guessed);
        assert_eq!(seen, (text, encoding, had_bom, guessed));
    }
}

#[test]
fn older_encodings_of_the_fixtures_give_the_right_characters() {
    for (name, encoding, words) in [
        ("text/gbk.c", "gbk", "// 模块：库存盘点\n"),
        ("text/gbk_edit_target.c", "gbk", "/* 旧注释：请勿删除 */\n"),
        ("text/shift_jis.csv", "shift_jis", "消しゴム,7\n"),
        ("text/cp1252.pas", "windows-1252", "// réglage n° 7 — prix en €\n"),
        ("text/utf16le_bom.htm", "utf-16le", "第一章 预算\r\n"),
        ("text/utf16be_bom.txt", "utf-16be", "第一章 预算\r\n"),
        ("text/utf32le_bom.txt", "utf-32le", "width thirty-two\n"),
        ("text/utf8_bom.rs", "utf-8", "pub fn start()"),
    ] {
        let Some(bytes) = common::fixture(name) else { continue };
        let decoded = decode(&bytes).unwrap();
        assert_eq!(decoded.encoding, encoding, "{name}");
        assert!(
            decoded.text.contains(words) && !decoded.text.contains('\u{feff}'),
            "{name}: {}",
            decoded.text
        );
    }
}

#[test]
fn what_no_encoding_gives_whole_is_undecodable_with_the_reason() {
    let damaged = ["水泵检查每周一次".as_bytes(), b"\xff", "更换密封圈".as_bytes()].concat();
    let cut = &"水泵检查每周一次".as_bytes()[..22];
    for (bytes, reason) in [
        (damaged.as_slice(), "damaged at byte 24"),
        (cut, "damaged at byte 21"),
        (b"\xff\xfea", "odd number"),
        (b"\xff\xfe\0\xd8", "lone surrogate"),
        (b"\xff\xfe\0\0\xff\xff\xff\xff", "no character"),
        (b"caf\xe9\0", "NUL"),
        (b"\xef\xbb\xbf\xff", "damaged at byte 3"),
    ] {
        let error = decode(bytes).unwrap_err();
        assert_eq!(error.code(), "formats.undecodable");
        let Error::Undecodable { reason: seen } = error else { panic!("another variant") };
        assert!(seen.contains(reason), "{seen}");
    }
}

proptest! {
    #[test]
    fn no_replacement_character_is_made_up(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(decoded) = decode(&bytes) {
            let in_input = bytes.windows(3).any(|three| three == "\u{fffd}".as_bytes())
                || bytes.windows(2).any(|two| matches!(two, [0xfd, 0xff] | [0xff, 0xfd]));
            let made_up = decoded.text.contains(char::REPLACEMENT_CHARACTER) && !in_input;
            prop_assert!(!made_up);
        }
    }

    #[test]
    fn utf8_comes_back_unchanged(text in "\\PC{0,200}") {
        prop_assert_eq!(decode(text.as_bytes()).unwrap().text, text.strip_prefix('\u{feff}').unwrap_or(&text));
    }
}
