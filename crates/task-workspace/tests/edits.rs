//! Edits change what they name and not one byte more.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_core::LineRange;
use briefing_formats::{decode, encode};
use briefing_task_workspace::{Edit, EditError, Edited, apply_edits};
use proptest::prelude::*;

fn fixture(name: &str) -> Option<Vec<u8>> {
    common::shared(name).map(|path| std::fs::read(path).unwrap())
}

fn edit(bytes: &[u8], edit: Edit) -> Result<Edited, EditError> {
    apply_edits(bytes, &[edit])
}

#[track_caller]
fn edited(text: &str, one: Edit) -> String {
    String::from_utf8(edit(text.as_bytes(), one).unwrap().bytes).unwrap()
}

#[track_caller]
fn swapped(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    [&bytes[..at], new, &bytes[at + old.len()..]].concat()
}

#[test]
fn all_other_bytes_of_the_fixtures_stay() {
    for (name, old, new, count) in [
        ("text/mixed_eol.txt", "beta", "BETA", 1),
        ("text/mixed_eol.txt", "zeta", "ZETA", 1),
        ("text/no_final_newline.txt", "without", "has no", 1),
        ("text/gbk_edit_target.c", "int total = 0;", "long sum = 10;", 3),
        ("text/cp1252.pas", "begin", "BEGIN", 1),
        ("text/utf8_bom.rs", "pub fn", "fn", 1),
        ("text/dollar_target.sh", "SLOT", "$$ $& $1 ${0} $' \\1 \\n", 1),
    ] {
        let Some(bytes) = fixture(name) else { continue };
        let result = edit(&bytes, Edit::replace(old, new).expecting(count))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        // Found and replaced as bytes, one after the other, which is all that an edit of ASCII text may do.
        let expected = (0..count).fold(bytes, |bytes, _| swapped(&bytes, old.as_bytes(), new.as_bytes()));
        assert_eq!((result.bytes, result.replacements), (expected, count), "{name}");
    }
}

#[test]
fn whole_lines_and_patches_leave_the_other_bytes_of_the_fixtures_too() {
    let Some(bytes) = fixture("text/gbk_edit_target.c") else { return };
    let expected = swapped(&bytes, b"0;\nint total = 0;\n", b"0;\nint sum;\nint total = 0;\n");
    assert_eq!(edit(&bytes, Edit::insert(3, "int sum;")).unwrap().bytes, expected);
    let diff = "@@ -1,3 +1,4 @@\n /* 旧注释：请勿删除 */\n int total = 0;\n+int sum;\n int total = 0;\n";
    assert_eq!(edit(&bytes, Edit::patch(diff)).unwrap().bytes, expected);
    let Some(bytes) = fixture("text/mixed_eol.txt") else { return };
    // Lines of this file end at `\n`: its fifth one holds a lone `\r`.
    for (one, old, new) in [
        (Edit::lines(2..=2, "BETA"), b"beta\r\n".as_slice(), b"BETA\r\n".as_slice()),
        (Edit::lines(3..=3, "G"), b"gamma\n", b"G\n"),
        (Edit::lines(5..=5, "E"), b"epsilon\rzeta\r\n", b"E\r\n"),
        (Edit::insert(4, "new"), b"gamma\n", b"gamma\nnew\n"),
        (Edit::replace("beta\ngamma\n", "b\ng\n"), b"beta\r\ngamma\n", b"b\r\ng\n"),
    ] {
        assert_eq!(edit(&bytes, one.clone()).unwrap().bytes, swapped(&bytes, old, new), "{one:?}");
    }
    let Some(bytes) = fixture("text/no_final_newline.txt") else { return };
    assert_eq!(
        edit(&bytes, Edit::insert(1, "first")).unwrap().bytes,
        [b"first\n".as_slice(), &bytes].concat()
    );
}

#[test]
fn utf16_and_utf32_are_edited_in_their_own_units() {
    for name in ["text/utf16le_bom.htm", "text/utf16be_bom.txt", "text/utf32le_bom.txt"] {
        let Some(bytes) = fixture(name) else { continue };
        let before = decode(&bytes).unwrap();
        let word = before.text.split_whitespace().last().unwrap().to_owned();
        let in_file = |text: &str| encode(text, before.encoding, false).unwrap();
        let count = before.text.matches(&word).count();
        let result = edit(&bytes, Edit::replace(&word, "检查🧭\n!").expecting(count)).unwrap();
        let ending = if before.text.contains("\r\n") { "\r\n" } else { "\n" };
        if count == 1 {
            let new = in_file(&format!("检查🧭{ending}!"));
            assert_eq!(result.bytes, swapped(&bytes, &in_file(&word), &new), "{name}");
        }
        assert_eq!(result.encoding, before.encoding);
        let after = decode(&result.bytes).unwrap();
        assert_eq!((after.encoding, after.had_bom), (before.encoding, true));
        assert_eq!(after.text, before.text.replace(&word, &format!("检查🧭{ending}!")));
    }
}

#[test]
fn bytes_that_no_encoder_writes_stay_beside_an_edit() {
    // NEC's and IBM's rows of Shift_JIS hold the same characters twice: 0xED40 decodes to what 0xFA5C encodes.
    let bytes = [b"\x83\x4a\x83\x5e\x83\x4a\x83\x69 ".as_slice(), b"\xed\x40 total = 0;\n"].concat();
    let decoded = decode(&bytes).unwrap();
    assert_eq!(decoded.encoding, "shift_jis");
    assert_ne!(encode(&decoded.text, "shift_jis", false).unwrap(), bytes);
    let result = edit(&bytes, Edit::replace("total", "カナ")).unwrap();
    assert_eq!(result.bytes, swapped(&bytes, b"total", b"\x83\x4a\x83\x69"));
}

#[test]
fn text_that_the_encoding_lacks_is_refused() {
    let Some(bytes) = fixture("text/cp1252.pas") else { return };
    let error = edit(&bytes, Edit::replace("begin", "检查")).unwrap_err();
    assert_eq!(error.code(), "workspace.edit_unencodable");
    let EditError::Unencodable { encoding, source } = error else { panic!("another variant") };
    assert_eq!((encoding, source.code()), ("windows-1252", "formats.unencodable"));
    assert!(source.to_string().contains("'检'"), "{source}");
}

#[test]
fn an_edit_that_would_make_the_file_read_as_another_encoding_is_refused() {
    let text = "旧注释请勿删除库存盘点";
    let bytes = encode(&format!("{text} x = caf\n"), "gbk", false).unwrap();
    assert_eq!(decode(&bytes).unwrap().encoding, "gbk");
    // What is left is one Chinese character, which may read as two of Latin script.
    let mut refused = 0;
    for left in ["é", "ü", "à", "鲁", "眉"] {
        let Ok(expected) = encode(&format!("{left} x = caf\n"), "gbk", false) else { continue };
        let result = edit(&bytes, Edit::replace(text, left));
        let reads_right = decode(&expected).is_ok_and(|decoded| decoded.text == format!("{left} x = caf\n"));
        match result {
            Ok(result) => assert!(reads_right && result.bytes == expected, "{left}"),
            Err(error) => {
                assert!(!reads_right);
                assert_eq!(error.code(), "workspace.edit_misread");
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
    // Without any other character than those of ASCII, there is nothing to mistake.
    assert_eq!(edit(&bytes, Edit::replace(text, "ok")).unwrap().bytes, b"ok x = caf\n");
    assert_eq!(edit(b"a\n", Edit::replace("a", "a\0b")).unwrap_err().code(), "workspace.edit_misread");
}

#[test]
fn what_is_no_text_is_refused() {
    for (bytes, code) in [
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0".as_slice(), "workspace.edit_not_text"),
        (b"a\0b", "workspace.edit_not_text"),
        ("水泵检查每周一次".as_bytes().split_last().unwrap().1, "workspace.edit_undecodable"),
        (b"\xff\xfea", "workspace.edit_undecodable"),
        (b"\xef\xbb\xbfab\xffab", "workspace.edit_not_text"),
    ] {
        let error = edit(bytes, Edit::replace("a", "b")).unwrap_err();
        assert!([code, "workspace.edit_undecodable"].contains(&error.code()), "{bytes:?}: {error}");
    }
}

#[test]
fn a_replacement_takes_the_endings_of_its_place() {
    for (text, old, new, expected) in [
        // One line, and the file's endings for the new ones.
        ("a\r\nb\r\nc\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\n"),
        ("a\nb\nc\r\n", "b", "x\ny", "a\nx\ny\nc\r\n"),
        ("a", "a", "x\ny\n", "x\ny\n"),
        // Several lines, each with its own.
        ("a\r\nb\nc\r\n", "a\nb\nc\n", "A\nB\nC\n", "A\r\nB\nC\r\n"),
        ("a\r\nb\nc", "a\nb\nc", "a\nx\nb\nc", "a\r\nx\nb\nc"),
        ("a\nb\r\nc\r\n", "a\nb\n", "a\nb\nnew\n", "a\nb\r\nnew\r\nc\r\n"),
        ("a\r\nb\r\nc", "\nb\n", "\n", "a\r\nc"),
        ("a\r\nb", "a\n", "", "b"),
        // The first line's `\r` belongs to the match: no half of an ending is left.
        ("a\r\nb", "\nb", "b", "ab"),
        // A lone `\r` is a character of its line.
        ("p\rq\nr\r\n", "q\nr", "q\ns", "p\rq\ns\r\n"),
        // A `\r` on either side makes all literal.
        ("a\r\nb\n", "a\r\nb", "x\ny", "x\ny\n"),
        ("a\nb\n", "b", "x\r\ny", "a\nx\r\ny\n"),
        ("a\r\nb", "\r", "", "a\nb"),
    ] {
        assert_eq!(edited(text, Edit::replace(old, new)), expected, "{text:?}: {old:?} by {new:?}");
    }
}

#[test]
fn a_match_letter_by_letter_wins_over_one_with_other_endings() {
    assert_eq!(edited("a\r\nb\na\nb\n", Edit::replace("a\nb", "X")), "a\r\nb\nX\n");
    assert_eq!(edited("a\r\nb\na\r\nb\n", Edit::replace("a\nb", "X").expecting(2)), "X\nX\n");
    let error = edit(b"a\r\nb", Edit::replace("a\r\n\nb", "X")).unwrap_err();
    assert_eq!(error, EditError::NoMatch { edit: 1, nearest_line: Some(1) });
    let error = edit(b"a\r\nb", Edit::replace("a\nb", "X\r\n")).unwrap_err();
    assert_eq!(error.code(), "workspace.edit_no_match", "a literal replacement has no lenient match");
}

#[test]
fn matches_are_counted_and_named() {
    let text = b"aaa\nb\naa\nb\nb\nb\nb\nb\n";
    let count = |expected, found, lines: &[usize]| EditError::Count {
        edit: 1,
        expected,
        found,
        lines: lines.to_vec(),
    };
    assert_eq!(edit(text, Edit::replace("aa", "X")).unwrap_err(), count(1, 2, &[1, 3]));
    assert_eq!(edit(text, Edit::replace("b", "X").expecting(2)).unwrap_err(), count(2, 6, &[2, 4, 5, 6, 7]));
    assert_eq!(edit(text, Edit::replace("b", "X").expecting(0)).unwrap_err(), count(0, 6, &[2, 4, 5, 6, 7]));
    let result = edit(text, Edit::replace("aa", "X").expecting(2)).unwrap();
    assert_eq!((result.bytes.as_slice(), result.replacements), (b"Xa\nb\nX\nb\nb\nb\nb\nb\n".as_slice(), 2));
    assert_eq!(result.changed_lines, Some(LineRange { start: 1, end: 3 }));
    assert_eq!(
        edit(text, Edit::replace("b", "X")).unwrap_err().to_string(),
        "edit 1: the text to replace occurs 6 times and not 1, first at line 2, 4, 5, 6, 7"
    );
}

#[test]
fn what_does_not_occur_is_never_guessed() {
    let text = b"fn main() {\n\tlet  x = 1;\n}\n";
    for (old, nearest_line) in [
        ("    let x = 1;\n}", Some(2)),
        ("{ let x", Some(1)),
        ("let y", None),
        (" \n \n", None),
        ("Let x = 1", None),
    ] {
        let error = edit(text, Edit::replace(old, "")).unwrap_err();
        assert_eq!(error, EditError::NoMatch { edit: 1, nearest_line }, "{old:?}");
        assert_eq!(error.code(), "workspace.edit_no_match");
    }
}

#[test]
fn asking_for_nothing_is_refused() {
    let asked = [
        vec![],
        vec![Edit::replace("", "x")],
        vec![Edit::insert(1, "")],
        vec![Edit::patch("")],
        vec![Edit::patch("words\n")],
    ];
    for edits in asked {
        assert_eq!(apply_edits(b"a\n", &edits).unwrap_err().code(), "workspace.edit_empty", "{edits:?}");
    }
}

#[test]
fn lines_are_replaced_whole() {
    for (text, lines, new, expected) in [
        ("a\nb\nc\n", 2..=2, "B", "a\nB\nc\n"),
        ("a\nb\nc\n", 2..=2, "B\n", "a\nB\nc\n"),
        ("a\nb\nc\n", 2..=3, "B\n\n", "a\nB\n\n"),
        ("a\nb\nc\n", 2..=2, "\n", "a\n\nc\n"),
        ("a\nb\nc\n", 1..=2, "", "c\n"),
        ("a\nb\nc\n", 1..=3, "", ""),
        // A missing final newline stays missing, and none is taken from the line before.
        ("a\nb", 2..=2, "B\n", "a\nB"),
        ("a\nb", 1..=2, "A\nB\nC\n", "A\nB\nC"),
        ("a\nb", 1..=1, "A", "A\nb"),
        ("a\nb", 2..=2, "", "a\n"),
        // Endings of the replaced lines, in order, then the last of them.
        ("a\r\nb\nc\r\n", 1..=3, "A\nB\nC\nD", "A\r\nB\nC\r\nD\r\n"),
        ("a\r\nb\nc\r\n", 2..=2, "x\ny", "a\r\nx\ny\nc\r\n"),
        ("a\r\nb\r\nc", 3..=3, "x\ny", "a\r\nb\r\nx\r\ny"),
        ("a\r\nb\r\n", 1..=1, "x\ny", "x\r\ny\r\nb\r\n"),
        // Own endings are kept.
        ("a\nb\n", 1..=1, "x\r\ny\r\n", "x\r\ny\r\nb\n"),
        ("a\nb", 2..=2, "x\r\ny\r\n", "a\nx\r\ny"),
        // A lone `\r` ends no line.
        ("a\rb\nc\n", 1..=1, "x", "x\nc\n"),
    ] {
        assert_eq!(edited(text, Edit::lines(lines.clone(), new)), expected, "{text:?}, {lines:?}, {new:?}");
    }
}

#[test]
fn lines_are_inserted_whole() {
    for (text, before, new, expected) in [
        ("a\nb\n", 1, "x", "x\na\nb\n"),
        ("a\nb\n", 2, "x\ny\n", "a\nx\ny\nb\n"),
        ("a\nb\n", 3, "x", "a\nb\nx\n"),
        ("a\nb", 3, "x\n", "a\nb\nx"),
        ("a\r\nb", 3, "x\ny", "a\r\nb\r\nx\r\ny"),
        ("a\r\nb\n", 1, "x", "x\r\na\r\nb\n"),
        ("a\r\nb\n", 3, "x", "a\r\nb\nx\n"),
        ("a\r\nb\nc\r\n", 2, "x", "a\r\nx\r\nb\nc\r\n"),
        ("", 1, "x", "x\n"),
        ("", 1, "\n", "\n"),
        ("a", 1, "x", "x\na"),
        ("a\n", 1, "x\r\ny", "x\r\ny\na\n"),
    ] {
        assert_eq!(edited(text, Edit::insert(before, new)), expected, "{text:?}, {before}, {new:?}");
    }
    assert_eq!(
        edit(b"\xef\xbb\xbfa\n", Edit::insert(1, "x")).unwrap().bytes,
        b"\xef\xbb\xbfx\na\n",
        "nothing goes before a byte order mark"
    );
}

#[test]
fn lines_that_are_not_there_are_refused_with_their_number() {
    let range = |start, end, total_lines| EditError::Range { edit: 1, start, end, total_lines };
    #[allow(clippy::reversed_empty_ranges, reason = "that is the case")]
    for (text, one, error) in [
        ("a\nb\n", Edit::lines(2..=3, "x"), range(2, 3, 2)),
        ("a\nb", Edit::lines(3..=3, "x"), range(3, 3, 2)),
        ("a\nb", Edit::lines(0..=1, "x"), range(0, 1, 2)),
        ("a\nb", Edit::lines(2..=1, "x"), range(2, 1, 2)),
        ("", Edit::lines(1..=1, "x"), range(1, 1, 0)),
        ("a\nb", Edit::insert(0, "x"), range(0, 0, 2)),
        ("a\nb\n", Edit::insert(4, "x"), range(4, 4, 2)),
        ("a", Edit::lines(1..=usize::MAX, "x"), range(1, usize::MAX, 1)),
        ("a", Edit::insert(usize::MAX, "x"), range(usize::MAX, usize::MAX, 1)),
    ] {
        let seen = edit(text.as_bytes(), one.clone()).unwrap_err();
        assert_eq!((seen.code(), &seen), ("workspace.edit_range", &error), "{text:?}, {one:?}");
    }
}

#[test]
fn several_edits_go_in_order_or_not_at_all() {
    let edits = [
        Edit::insert(1, "zero"),
        Edit::replace("one", "ONE"),
        Edit::lines(3..=3, ""),
        Edit::patch("@@ -1,2 +1,2 @@\n zero\n-ONE\n+one!\n"),
    ];
    let result = apply_edits(b"one\ntwo\nthree\n", &edits).unwrap();
    assert_eq!((result.bytes.as_slice(), result.replacements), (b"zero\none!\nthree\n".as_slice(), 4));
    assert_eq!(result.changed_lines, Some(LineRange { start: 1, end: 2 }));
    let error = apply_edits(b"one\n", &[Edit::replace("one", "two"), Edit::replace("one", "x")]).unwrap_err();
    assert_eq!(error, EditError::NoMatch { edit: 2, nearest_line: None });
}

#[test]
fn changed_lines_are_those_that_differ() {
    for (text, one, lines) in [
        ("a\nb\nc\n", Edit::replace("b", "b"), None),
        ("a\nb\nc\n", Edit::lines(1..=3, ""), None),
        ("a\nb\nc\n", Edit::replace("b", "x\ny"), Some((2, 3))),
        ("a\nb\nc\n", Edit::lines(3..=3, ""), Some((2, 2))),
        ("a\nb\nc\n", Edit::lines(1..=1, ""), Some((1, 1))),
        ("a\nb\nc", Edit::insert(4, "d"), Some((3, 4))),
        ("a\nb\nc\n", Edit::insert(2, "x\ny"), Some((2, 3))),
    ] {
        let expected = lines.map(|(start, end)| LineRange { start, end });
        assert_eq!(edit(text.as_bytes(), one.clone()).unwrap().changed_lines, expected, "{one:?}");
    }
}

#[test]
fn edits_are_stored_and_read_back_and_hold_nothing_unknown() {
    for (edit, json) in [
        (
            Edit::replace("a", "b").expecting(2),
            r#"{"edit":"replace","old":"a","new":"b","expected_count":2}"#,
        ),
        (Edit::lines(1..=2, "x"), r#"{"edit":"lines","lines":{"start":1,"end":2},"text":"x"}"#),
        (Edit::insert(3, "x"), r#"{"edit":"insert","before_line":3,"text":"x"}"#),
        (Edit::patch("@@"), r#"{"edit":"patch","diff":"@@"}"#),
    ] {
        assert_eq!(serde_json::to_string(&edit).unwrap(), json);
        assert_eq!(serde_json::from_str::<Edit>(json).unwrap(), edit);
        let with_more = json.replacen('{', r#"{"regex":true,"#, 1);
        assert!(serde_json::from_str::<Edit>(&with_more).unwrap_err().to_string().contains("regex"));
    }
    let once = serde_json::from_str::<Edit>(r#"{"edit":"replace","old":"a","new":"b"}"#).unwrap();
    assert_eq!(once, Edit::replace("a", "b"));
    let inner = r#"{"edit":"lines","lines":{"start":1,"end":2,"step":1},"text":"x"}"#;
    assert!(serde_json::from_str::<Edit>(inner).unwrap_err().to_string().contains("step"));
    assert!(serde_json::from_str::<Edit>(r#"{"edit":"sed","old":"a"}"#).is_err());
}

/// Texts of few letters with all kinds of endings, so that matches are many.
fn any_text() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof!["a", "b", "é", "\n", "\r\n", "\r", " "], 0..40)
        .prop_map(|parts| parts.concat())
}

fn unended(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// What a replacement should do, one place after the other: literally if that is found, else with any ending.
fn naive_matches(text: &str, old: &str, literal: bool) -> Vec<(usize, usize)> {
    let walk = |len_at: &dyn Fn(usize) -> Option<usize>| {
        let (mut at, mut found) = (0, Vec::new());
        while at < text.len() {
            match len_at(at) {
                Some(len) => {
                    found.push((at, at + len));
                    at += len;
                }
                None => at += 1,
            }
        }
        found
    };
    let starts_well = |at: usize| literal || !(old.starts_with('\n') && text[..at].ends_with('\r'));
    let exact = walk(&|at| {
        (text.as_bytes()[at..].starts_with(old.as_bytes()) && starts_well(at)).then_some(old.len())
    });
    if !exact.is_empty() || literal {
        return exact;
    }
    walk(&|at| {
        let mut end = at;
        for byte in old.bytes() {
            if byte == b'\n' && text.as_bytes()[end..].starts_with(b"\r\n") {
                end += 1;
            } else if byte == b'\n' && end == at && at > 0 && text.as_bytes()[at - 1] == b'\r' {
                return None;
            }
            if text.as_bytes().get(end) != Some(&byte) {
                return None;
            }
            end += 1;
        }
        Some(end - at)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_replacement_changes_its_matches_alone(text in any_text(), old in "(a|b|\n|\r|é){1,4}", new in "(a|x|\n|\r|\\$1){0,4}") {
        let literal = old.contains('\r') || new.contains('\r');
        let matches = naive_matches(&text, &old, literal);
        let result = edit(text.as_bytes(), Edit::replace(&old, &new).expecting(matches.len()));
        if matches.is_empty() {
            prop_assert_eq!(result.unwrap_err().code(), "workspace.edit_no_match");
            return Ok(());
        }
        let result = result.unwrap();
        prop_assert_eq!(result.replacements, matches.len());
        // What is between the matches is there, in order, and between those is the new text but for its endings.
        let mut rest = result.bytes.as_slice();
        let mut at = 0;
        for (start, end) in matches {
            let kept = &text.as_bytes()[at..start];
            prop_assert!(rest.starts_with(kept));
            rest = &rest[kept.len()..];
            for byte in new.bytes() {
                if !literal && byte == b'\n' && rest.starts_with(b"\r\n") {
                    rest = &rest[1..];
                }
                prop_assert_eq!(rest[0], byte);
                rest = &rest[1..];
            }
            at = end;
        }
        prop_assert_eq!(rest, &text.as_bytes()[at..]);
    }

    #[test]
    fn whole_lines_leave_all_others(text in any_text(), from in 1..8_usize, more in 0..3_usize, new in "(a|x|\n){0,5}") {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let to = from + more;
        match edit(text.as_bytes(), Edit::lines(from..=to, &new)) {
            Err(error) => {
                prop_assert!(to > lines.len());
                prop_assert_eq!(error.code(), "workspace.edit_range");
            }
            Ok(result) => {
                let (before, after) = (lines[..from - 1].concat(), lines[to..].concat());
                let seen = String::from_utf8(result.bytes).unwrap();
                prop_assert!(seen.starts_with(&before) && seen.ends_with(&after));
                let written = &seen[before.len()..seen.len() - after.len()];
                let plain = |text: &str| text.replace("\r\n", "\n").trim_end_matches('\n').to_owned();
                prop_assert_eq!(plain(written), plain(&new));
                // A last line that is empty and has no newline cannot be told from none.
                if !new.is_empty() && unended(&new).ends_with(|char| char != '\n') {
                    prop_assert_eq!(written.ends_with('\n'), lines[to - 1].ends_with('\n'));
                }
            }
        }
    }

    #[test]
    fn no_bytes_and_no_edit_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), old in "\\PC{1,2}", line in 0..5_usize) {
        for one in [Edit::replace(&old, "é\n"), Edit::lines(line..=line + 1, "x\n"), Edit::insert(line, "检"), Edit::lines(1..=1, "")] {
            if let Ok(result) = edit(&bytes, one) {
                prop_assert!(decode(&result.bytes).is_ok());
            }
        }
    }
}
