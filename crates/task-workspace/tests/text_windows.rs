//! Windows of a text are exact: joined they are the text, by lines they are its lines, and no more is read than it takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use briefing_core::LineRange;
use briefing_formats::{decode, encode};
use briefing_task_workspace::{Error, GrepRequest, TaskWorkspace, TextRead, TextWindow};
use common::{Tree, path, shared};
use proptest::prelude::*;

const NAME: &str = "text.txt";

fn of_bytes(bytes: &[u8]) -> (Tree, TaskWorkspace) {
    let tree = Tree::new(&[(NAME, bytes)]);
    let workspace = tree.workspace();
    (tree, workspace)
}

fn read(workspace: &TaskWorkspace, window: TextWindow) -> TextRead {
    workspace.read_text(&path(NAME), window).unwrap_or_else(|error| panic!("{window:?}: {error}"))
}

fn code(workspace: &TaskWorkspace, window: TextWindow) -> &'static str {
    workspace.read_text(&path(NAME), window).unwrap_err().code()
}

/// The line, counted from 1, of each char.
fn lines_of_chars(text: &str) -> Vec<usize> {
    let lines = text.chars().scan(1, |line, char| {
        let here = *line;
        *line += usize::from(char == '\n');
        Some(here)
    });
    lines.collect()
}

/// Checks what a read says about itself against the whole text.
fn check(read: &TextRead, text: &str, bytes: &[u8], encoding: &str) {
    let chars: Vec<char> = text.chars().collect();
    let begin = usize::try_from(read.offset_chars).unwrap();
    let end = begin + read.text.chars().count();
    assert_eq!(read.text, chars[begin..end].iter().collect::<String>());
    let lines = &lines_of_chars(text)[begin..end];
    let expected = lines.first().zip(lines.last()).map(|(start, end)| LineRange { start: *start, end: *end });
    assert_eq!(read.lines, expected);
    assert_eq!((read.more, read.total_bytes), (end < chars.len(), bytes.len() as u64));
    assert!(read.next_chars.is_none_or(|next| next == end as u64 && read.more));
    assert_eq!(read.encoding, encoding);
}

/// Reads a text page by page with every window, and compares with the text.
fn check_windows(text: &str, bytes: &[u8], encoding: &str, pages: &[usize]) {
    let (_tree, workspace) = of_bytes(bytes);
    let total = text.chars().count();
    for page in pages {
        let (mut joined, mut next) = (String::new(), Some(0));
        while let Some(offset) = next {
            let part = read(&workspace, TextWindow::chars(offset).max_chars(*page));
            check(&part, text, bytes, encoding);
            assert_eq!(part.offset_chars, offset);
            assert!(part.next_chars.is_none_or(|next| next == offset + *page as u64), "it does not advance");
            assert_eq!(part.next_chars.is_some(), part.more, "a window of chars goes on to the end");
            joined.push_str(&part.text);
            next = part.next_chars;
        }
        assert_eq!(joined, text, "{page} chars a page");
    }
    for past in [total as u64, total as u64 + 1, u64::MAX] {
        let part = read(&workspace, TextWindow::chars(past));
        assert_eq!((part.text.as_str(), part.offset_chars, part.more), ("", total as u64, false));
        check(&part, text, bytes, encoding);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let count = lines.len() as u64;
    for (first, last) in
        [(1, 1), (1, 2), (2, 2), (2, 4), (3, u64::MAX), (1, count.max(1)), (count + 1, count + 5)]
    {
        let expected: String = lines
            .iter()
            .skip(usize::try_from(first).unwrap() - 1)
            .take(usize::try_from(last.min(1 << 20) - first + 1).unwrap())
            .copied()
            .collect();
        let part = read(&workspace, TextWindow::lines(first..=last));
        assert_eq!(
            (part.text.as_str(), part.next_chars),
            (expected.as_str(), None),
            "lines {first} to {last}"
        );
        check(&part, text, bytes, encoding);
        if let Some(cut) = expected.chars().count().checked_sub(1).filter(|cut| *cut > 0) {
            let part = read(&workspace, TextWindow::lines(first..=last).max_chars(cut));
            check(&part, text, bytes, encoding);
            assert_eq!(part.next_chars, Some(part.offset_chars + cut as u64));
            let exact = read(&workspace, TextWindow::lines(first..=last).max_chars(cut + 1));
            assert_eq!((exact.text, exact.next_chars), (expected, None));
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        4 => "[a-z ]".prop_map(String::from),
        2 => Just("\n".to_owned()),
        2 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\u{FEFF}".to_owned()),
        1 => Just("\u{2028}".to_owned()),
        4 => "\\PC".prop_map(String::from),
    ];
    proptest::collection::vec(char, 0..40).prop_map(|chars| chars.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn pages_join_to_the_text_and_lines_are_its_lines(text in any_text(), bom in any::<bool>()) {
        // A mark that begins the file is no part of the text, so a text that begins with one needs its own.
        let bom = bom || text.starts_with('\u{FEFF}');
        let bytes = [if bom { "\u{FEFF}" } else { "" }, text.as_str()].concat();
        check_windows(&text, bytes.as_bytes(), "utf-8", &[1, 2, 3, 7, 40, 1_000]);
    }

    #[test]
    fn texts_in_utf_16_are_read_alike(text in any_text(), little in any::<bool>()) {
        let encoding = if little { "utf-16le" } else { "utf-16be" };
        let text = format!("words: {text}");
        let bytes = encode(&text, encoding, true).unwrap();
        check_windows(&text, &bytes, encoding, &[1, 5, 1_000]);
    }
}

#[test]
fn the_texts_of_the_fixtures_are_read_exactly() {
    for (name, encoding) in [
        ("gbk.c", "gbk"),
        ("shift_jis.csv", "shift_jis"),
        ("utf16le_bom.htm", "utf-16le"),
        ("utf16be_bom.txt", "utf-16be"),
        ("utf32le_bom.txt", "utf-32le"),
        ("cp1252.pas", "windows-1252"),
        ("utf8_bom.rs", "utf-8"),
        ("config_bom.yaml", "utf-8"),
        ("mixed_eol.txt", "utf-8"),
        ("no_final_newline.txt", "utf-8"),
        ("one_newline.go", "utf-8"),
        ("literal_replacement_char.txt", "utf-8"),
        ("empty.py", "utf-8"),
    ] {
        let Some(fixture) = shared(&format!("text/{name}")) else { return };
        let bytes = std::fs::read(fixture).unwrap();
        let decoded = decode(&bytes).unwrap();
        assert!(!decoded.text.starts_with('\u{FEFF}'), "{name}");
        check_windows(&decoded.text, &bytes, encoding, &[1, 4, 1_000]);
    }
}

#[test]
fn an_empty_file_is_an_empty_text() {
    for bytes in [&b""[..], b"\xEF\xBB\xBF"] {
        let (_tree, workspace) = of_bytes(bytes);
        for window in [TextWindow::chars(0), TextWindow::lines(1..=9), TextWindow::chars(5).max_chars(1)] {
            let part = read(&workspace, window);
            let facts = (part.text.as_str(), part.offset_chars, part.lines, part.next_chars, part.more);
            assert_eq!(facts, ("", 0, None, None, false));
        }
    }
}

#[test]
fn a_char_at_the_edge_of_a_piece_stays_whole() {
    const EDGE: usize = 64 * 1024;
    for (filler, wide) in [("a", "🦀"), ("a", "水"), ("ab\n", "é"), ("水", "🦀")] {
        for before in EDGE - 5..=EDGE + 1 {
            let mut text = filler.repeat(before / filler.len());
            while text.len() < before {
                text.push('.');
            }
            text.push_str(wide);
            text.push_str(" end\nlast");
            let chars = text.chars().count() as u64;
            let (_tree, workspace) = of_bytes(text.as_bytes());
            let part = read(&workspace, TextWindow::chars(chars - 11).max_chars(4));
            let expected: String = text.chars().skip(usize::try_from(chars).unwrap() - 11).take(4).collect();
            assert_eq!(part.text, expected, "{before}");
            let rest = read(&workspace, TextWindow::chars(chars - 10));
            assert_eq!(rest.text, format!("{wide} end\nlast"), "{before}");
        }
    }
    // In UTF-16 the edge may part a pair of surrogates.
    for before in EDGE / 2 - 4..=EDGE / 2 + 1 {
        let text = format!("{}🦀 end", "a".repeat(before));
        let (_tree, workspace) = of_bytes(&encode(&text, "utf-16le", true).unwrap());
        assert_eq!(read(&workspace, TextWindow::chars(before as u64)).text, "🦀 end", "{before}");
    }
    // What the first piece is does not say what the rest is.
    let Some(gbk) = shared("text/gbk.c") else { return };
    let gbk = std::fs::read(gbk).unwrap();
    for before in EDGE - 3..=EDGE + 1 {
        let bytes = ["a".repeat(before).into_bytes(), gbk.clone()].concat();
        let (_tree, workspace) = of_bytes(&bytes);
        let part = read(&workspace, TextWindow::chars(before as u64).max_chars(6));
        assert_eq!((part.text.as_str(), part.encoding.as_str()), ("// 模块：", "gbk"), "{before}");
    }
}

#[test]
fn the_most_chars_are_a_hundred_thousand_where_nothing_is_said() {
    let text = "水\n".repeat(60_000);
    let (_tree, workspace) = of_bytes(text.as_bytes());
    for window in [TextWindow::chars(0), TextWindow::lines(1..=60_000)] {
        let part = read(&workspace, window);
        assert_eq!((part.text.chars().count(), part.next_chars, part.more), (100_000, Some(100_000), true));
        assert_eq!(part.lines, Some(LineRange { start: 1, end: 50_000 }));
    }
    let part = read(&workspace, TextWindow::lines(1..=50_000));
    assert_eq!((part.text.chars().count(), part.next_chars, part.more), (100_000, None, true));
}

#[test]
fn a_window_that_can_hold_nothing_is_refused() {
    let (_tree, workspace) = of_bytes(b"a\n");
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let reversed = TextWindow::lines(3..=2);
    for window in
        [TextWindow::lines(0..=1), reversed, TextWindow::chars(0).max_chars(0), TextWindow::lines(0..=0)]
    {
        assert_eq!(code(&workspace, window), "workspace.out_of_range");
    }
}

#[test]
fn what_is_no_text_is_refused_and_nothing_of_it_is_shown() {
    for bytes in [
        &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..],
        b"\x7fELF\x02\x01\x01\0\0\0\0",
        b"text and a\0NUL",
        b"\xe6\xb0\xb4\xe6\xb3\xb5\xff\n",
        b"\0",
    ] {
        let (_tree, workspace) = of_bytes(bytes);
        for window in [TextWindow::chars(0).max_chars(1), TextWindow::lines(1..=1), TextWindow::chars(100)] {
            assert_eq!(code(&workspace, window), "workspace.not_text", "{bytes:?}");
        }
    }
    // A NUL far behind the text is met by the window that comes to it.
    let late = [b"line\n".repeat(20_000), b"\0\0".to_vec()].concat();
    let (_tree, workspace) = of_bytes(&late);
    assert_eq!(read(&workspace, TextWindow::lines(1..=2)).text, "line\nline\n");
    assert_eq!(code(&workspace, TextWindow::lines(1..=30_000).max_chars(1_000_000)), "workspace.not_text");
    // So is a char that the end of the file cuts.
    let (_tree, workspace) = of_bytes(b"\xe6\xb0\xb4\xe6\xb3\xb5\xe6\xb0");
    assert_eq!(read(&workspace, TextWindow::chars(0).max_chars(1)).text, "\u{6c34}");
    assert_eq!(code(&workspace, TextWindow::chars(0)), "workspace.not_text");
    let (tree, workspace) = of_bytes(b"");
    std::fs::create_dir(tree.path("folder")).unwrap();
    let error = workspace.read_text(&path("folder"), TextWindow::chars(0)).unwrap_err();
    assert_eq!(error.code(), "workspace.not_regular_file");
    let error = workspace.read_text(&path("none"), TextWindow::chars(0)).unwrap_err();
    assert_eq!(error.code(), "workspace.not_found");
}

/// The most memory that this process ever held, in bytes; nothing where the platform does not say.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

#[test]
fn a_small_window_of_a_huge_file_costs_little() {
    const SIZE: u64 = 6 << 30;
    let (begun, before) = (Instant::now(), peak_bytes());
    let tree = Tree::new(&[("zeros.log", b""), ("text.log", "a line\n".repeat(20_000).as_bytes())]);
    for name in ["zeros.log", "text.log"] {
        let file = std::fs::OpenOptions::new().write(true).open(tree.path(name)).unwrap();
        file.set_len(SIZE).unwrap();
    }
    let workspace = tree.workspace();
    for name in ["zeros.log", "text.log"] {
        let one = workspace.read(&path(name), 1).unwrap();
        assert_eq!((one.bytes.len(), one.total_bytes, one.truncated), (1, SIZE, true));
        let last = workspace.read_from(&path(name), SIZE - 1, 100).unwrap();
        assert_eq!((last.bytes.as_slice(), last.truncated), (&b"\0"[..], false));
        let past = workspace.read_from(&path(name), SIZE + 7, 100).unwrap();
        assert_eq!((past.bytes.len(), past.truncated), (0, false));
    }
    for window in [TextWindow::chars(0).max_chars(1), TextWindow::lines(1..=1), TextWindow::chars(SIZE)] {
        let error = workspace.read_text(&path("zeros.log"), window).unwrap_err();
        assert_eq!(error.code(), "workspace.not_text");
    }
    let part = workspace.read_text(&path("text.log"), TextWindow::chars(2).max_chars(4)).unwrap();
    assert_eq!((part.text.as_str(), part.next_chars, part.total_bytes), ("line", Some(6), SIZE));
    let part = workspace.read_text(&path("text.log"), TextWindow::lines(19_999..=20_000)).unwrap_err();
    assert!(
        matches!(part, Error::NotText { .. } | Error::TooLarge { .. }),
        "the end of the lines is in the hole: {part}"
    );
    let part = workspace.read_text(&path("text.log"), TextWindow::lines(9_000..=9_001)).unwrap();
    assert_eq!((part.text.as_str(), part.more), ("a line\na line\n", true));
    let page = workspace.grep(&GrepRequest::literal("line")).unwrap();
    assert_eq!(page.matches, []);
    assert_eq!(page.diagnostics[0].code, "workspace.too_large_skipped");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    if let Some((before, after)) = before.zip(peak_bytes()) {
        // Other tests of this file run beside it and hold a few MiB.
        assert!(after - before < 64 << 20, "{} bytes more", after - before);
    }
}

#[test]
fn a_text_that_grows_while_it_is_read_is_never_shown_torn() {
    let tree = Tree::new(&[(NAME, "a line\n".repeat(100_000).as_bytes())]);
    let workspace = tree.workspace();
    let stop = AtomicBool::new(false);
    let changed = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = std::fs::OpenOptions::new().append(true).open(tree.path(NAME)).unwrap();
            let mut written = 0;
            while !stop.load(Ordering::Relaxed) && written < 4_000_000 {
                file.write_all(b"a line\n").unwrap();
                written += 7;
            }
        });
        let begun = Instant::now();
        let mut changed = 0;
        while changed < 3 && begun.elapsed() < Duration::from_secs(20) {
            match workspace.read_text(&path(NAME), TextWindow::chars(0).max_chars(usize::MAX)) {
                Ok(whole) => assert_eq!((whole.text.len() as u64, whole.more), (whole.total_bytes, false)),
                Err(error) => {
                    assert_eq!(error.code(), "workspace.changed");
                    changed += 1;
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        changed
    });
    assert_eq!(changed, 3, "a file that grows all the time is seen to change");
}
