//! Lines are found by pattern, each once, with its chars and its context, and what was not looked into is told.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::single_range_in_vec_init,
    reason = "spans are ranges, also where there is one"
)]

mod common;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use briefing_core::ContextDiagnostic;
use briefing_task_workspace::{
    Error, GrepMatch, GrepPage, GrepRequest, ListRequest, SearchRequest, TaskWorkspace,
};
use common::{Tree, shared};

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

fn found(workspace: &TaskWorkspace, request: &GrepRequest) -> GrepPage {
    workspace.grep(request).unwrap_or_else(|error| panic!("{request:?}: {error}"))
}

/// The lines that match in a tree of one file.
fn lines_of(text: impl AsRef<[u8]>, request: &GrepRequest) -> Vec<GrepMatch> {
    let tree = Tree::new(&[("a.txt", text.as_ref())]);
    found(&tree.workspace(), request).matches
}

fn numbers(text: impl AsRef<[u8]>, request: &GrepRequest) -> Vec<u64> {
    lines_of(text, request).iter().map(|found| found.line).collect()
}

/// What the spans of a match show, taken char by char from its text.
fn spanned(found: &GrepMatch) -> Vec<String> {
    let chars: Vec<char> = found.text.chars().collect();
    found.spans.iter().map(|span| chars[span.clone()].iter().collect()).collect()
}

fn diagnostic<'a>(diagnostics: &'a [ContextDiagnostic], code: &str) -> &'a ContextDiagnostic {
    let of_code: Vec<_> = diagnostics.iter().filter(|found| found.code == code).collect();
    assert_eq!(of_code.len(), 1, "{code}: {diagnostics:?}");
    of_code[0]
}

#[test]
fn patterns_are_expressions_or_plain_text() {
    let text = "fn a(x)\nfn a\nFN A(x)\na.b\naxb\nfna\n";
    let new = GrepRequest::new;
    for (request, expected) in [
        (new(r"fn \w\("), &[1][..]),
        (new("^fn"), &[1, 2, 6]),
        (new("a$"), &[2, 6]),
        (new("^$"), &[]),
        (new("a.b"), &[4, 5]),
        (GrepRequest::literal("a.b"), &[4]),
        (GrepRequest::literal("a(x)"), &[1]),
        (new(r"fn a\(").ignore_case(), &[1, 3]),
        (GrepRequest::literal("FN a(").ignore_case(), &[1, 3]),
        (new("fn").whole_words(), &[1, 2]),
        (new("fn|FN").whole_words(), &[1, 2, 3]),
        (GrepRequest::literal("a").whole_words(), &[1, 2, 4]),
        (new("none"), &[]),
    ] {
        assert_eq!(numbers(text, &request), expected, "{request:?}");
    }
    for pattern in
        ["a(", "[", "*", "a\nb", r"a\nb", r"(?<x>a)(?<x>b)", r"\p{Nonsense}", r"(\w{500}){500}", "(?=a)"]
    {
        let error = Tree::new(&[]).workspace().grep(&new(pattern)).unwrap_err();
        assert_eq!(error.code(), "workspace.pattern_invalid", "{pattern}: {error}");
    }
    assert_eq!(
        code(Tree::new(&[]).workspace().grep(&GrepRequest::literal("a\nb"))),
        "workspace.pattern_invalid"
    );
    assert_eq!(code(Tree::new(&[]).workspace().grep(&new("a").limit(0))), "workspace.out_of_range");
}

#[test]
fn the_end_of_a_line_is_no_part_of_it() {
    let unix = "1\n2 \n\nab\nz";
    for text in [unix.to_owned(), unix.replace('\n', "\r\n"), format!("\u{FEFF}{unix}"), format!("{unix}\n")]
    {
        for (pattern, expected) in [
            (r"[^0-9]", &[2, 4, 5][..]),
            (r"\s", &[2]),
            (r"\s+$", &[2]),
            ("^$", &[3]),
            ("b$", &[4]),
            ("^1", &[1]),
            ("^z$", &[5]),
            (r"\r", &[]),
            ("", &[1, 2, 3, 4, 5]),
        ] {
            assert_eq!(numbers(&text, &GrepRequest::new(pattern)), expected, "{pattern:?} in {text:?}");
        }
        let lines = lines_of(&text, &GrepRequest::new("b|z").context_lines(1));
        let shown: Vec<_> =
            lines.iter().map(|line| (line.before.clone(), line.text.as_str(), line.after.clone())).collect();
        assert_eq!(shown, [(vec![String::new()], "ab", vec![]), (vec![], "z", vec![])], "{text:?}");
    }
    // A lone `\r` is a char like others.
    let lines = lines_of("a\rb\r\nc\r", &GrepRequest::new(r"b|\r$"));
    assert_eq!(
        lines.iter().map(|line| (line.line, line.text.as_str())).collect::<Vec<_>>(),
        [(1, "a\rb"), (2, "c\r")]
    );
}

#[test]
fn spans_are_in_chars_of_the_shown_line() {
    for (text, pattern, expected) in [
        ("检查水泵，水泵正常", "水泵", &[2..4, 5..7][..]),
        ("🦀🦀 crab 🦀", "crab|🦀", &[0..1, 1..2, 3..7, 8..9]),
        ("e\u{301}te\u{301}", "t", &[2..3]),
        ("👩\u{200d}🚀 launch", "launch", &[4..10]),
        ("aaa", "", &[0..0, 1..1, 2..2, 3..3]),
        ("abc", "$", &[3..3]),
        ("", "^", &[0..0]),
        ("ab", "x*", &[0..0, 1..1, 2..2]),
        // Bytes within a char stand for the whole of it.
        ("ab水c", r"(?-u:\xB0)", &[2..3]),
        ("ab水c", r"(?-u:\xE6)", &[2..3]),
        ("水泵", r"(?-u:[\x80-\xFF])", &[0..1, 1..2]),
    ] {
        let lines = lines_of(format!("{text}\n"), &GrepRequest::new(pattern));
        assert_eq!(lines.len(), 1, "{pattern} in {text}");
        assert_eq!((lines[0].text.as_str(), &*lines[0].spans), (text, expected), "{pattern} in {text}");
    }
}

#[test]
fn case_folding_never_shifts_a_span() {
    let Some(fixture) = shared("search/casefold.json") else { return };
    let cases: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(fixture).unwrap()).unwrap();
    let mut matched = Vec::new();
    for case in &cases {
        let (text, query) = (case["text"].as_str().unwrap(), case["query"].as_str().unwrap());
        let lines = lines_of(text, &GrepRequest::literal(query).ignore_case());
        // What folds to more than one char is not found; what is found is where it stands.
        for line in &lines {
            let end = |key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
            assert_eq!((line.text.as_str(), &*line.spans), (text, &[end("char_start")..end("char_end")][..]));
            matched.push(query);
        }
        for max in 0..=text.chars().count() {
            let request = GrepRequest::literal(query).ignore_case().max_line_chars(max);
            assert_eq!(lines_of(text, &request).len(), lines.len());
        }
        let tree = Tree::new(&[("a.txt", text.as_bytes())]);
        let hits = tree.workspace().search(&SearchRequest::new(query)).unwrap().hits;
        assert_eq!(hits.len(), lines.len());
        assert!(hits.iter().all(|hit| hit.best_line == Some((1, text.to_owned()))));
    }
    assert_eq!(matched, ["hava", "fehler", "τελος", "WINDOW"]);
}

#[test]
fn a_long_line_is_cut_around_its_first_match_and_says_by_how_much() {
    let line: String = (0..400).map(|at| char::from_u32(0x4E00 + at).unwrap()).collect();
    let chars: Vec<char> = line.chars().collect();
    for (at, length) in [(0, 1), (0, 30), (5, 3), (200, 1), (200, 9), (200, 90), (395, 5), (399, 1), (0, 400)]
    {
        let pattern: String = chars[at..at + length].iter().collect();
        for max in [0, 1, 2, 9, 10, 50, 399, 400, 500] {
            let found = &lines_of(&line, &GrepRequest::literal(&pattern).max_line_chars(max))[0];
            let shown = found.text.chars().count();
            assert_eq!(shown, max.min(400), "{at}+{length} in {max}");
            assert_eq!(found.cut_before_chars + shown + found.cut_after_chars, 400);
            let window: String = chars[found.cut_before_chars..][..shown].iter().collect();
            assert_eq!(found.text, window);
            let end = (at + length).min(found.cut_before_chars + shown);
            assert!(found.cut_before_chars <= at, "the match is cut at its beginning");
            let expected = at - found.cut_before_chars..end - found.cut_before_chars;
            match max {
                0 => assert!(found.spans.is_empty()),
                _ => assert_eq!(found.spans, [expected]),
            }
            assert!(max < length || end == at + length, "a match that has room is whole");
        }
    }
    // Context is cut too, from its beginning.
    let text = format!("{}\nx\n{}\n", "a".repeat(30), "b".repeat(30));
    let found = &lines_of(&text, &GrepRequest::new("x").context_lines(1).max_line_chars(5))[0];
    assert_eq!((&*found.before, &*found.after), (&["aaaaa".to_owned()][..], &["bbbbb".to_owned()][..]));
}

#[test]
fn spans_after_the_window_are_not_given_and_cost_nothing() {
    let long = "ab".repeat(2_000_000);
    let begun = Instant::now();
    let found = &lines_of(&long, &GrepRequest::new("a").max_line_chars(7))[0];
    assert_eq!((found.text.as_str(), spanned(found).concat().as_str()), ("abababa", "aaaa"));
    assert_eq!(found.cut_after_chars, 3_999_993);
    for pattern in ["(a+)+$", "(a|ab|b)*c", "(a*)*(b*)*$", ".*.*.*=.*", "(?:a?){30}a{30}$"] {
        let tree =
            Tree::new(&[("a.txt", format!("{}!\n{}\n", "a".repeat(50_000), "a".repeat(50_000)).as_bytes())]);
        found_in_time(&tree, pattern);
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

fn found_in_time(tree: &Tree, pattern: &str) {
    let page = found(&tree.workspace(), &GrepRequest::new(pattern));
    assert!(page.matches.len() <= 2 && page.diagnostics.is_empty(), "{pattern}");
}

/// Several files with matches close together, far apart, at both ends, and none at all.
fn scattered() -> Tree {
    let line = |at: usize, hit: bool| format!("{} {at}\n", if hit { "pump" } else { "line" });
    let file =
        |hits: &[usize], count: usize| (0..count).map(|at| line(at, hits.contains(&at))).collect::<String>();
    Tree::new(&[
        ("a.txt", file(&[0, 1, 2, 9], 10).as_bytes()),
        ("b/none.txt", file(&[], 5).as_bytes()),
        ("b/one.txt", file(&[3], 5).trim_end().as_bytes()),
        ("bin", b"pump\0\0\0"),
        ("c.txt", file(&[4, 6, 11, 12, 20], 21).as_bytes()),
        ("d.txt", b"pump"),
    ])
}

#[test]
fn pages_of_any_size_give_each_match_once_with_the_same_context() {
    let tree = scattered();
    let workspace = tree.workspace();
    for context in [0, 1, 2, 3, 50] {
        let request = GrepRequest::literal("pump").context_lines(context);
        let whole = found(&workspace, &request);
        assert_eq!((whole.matches.len(), &whole.next), (11, &None));
        assert_eq!(whole.files_searched, 5);
        for limit in 1..=12 {
            let (mut seen, mut request) = (Vec::new(), request.clone().limit(limit));
            loop {
                let page = found(&workspace, &request);
                assert!(page.matches.len() == limit || page.next.is_none());
                seen.extend(page.matches);
                match page.next {
                    Some(next) => request = request.after(next),
                    None => break,
                }
                assert!(seen.len() < 11, "a next page with nothing on it");
            }
            assert_eq!(seen, whole.matches, "{limit} a page, {context} lines");
        }
        // Every line comes at most once, and every line near a match does.
        for name in ["a.txt", "b/one.txt", "c.txt"] {
            let bytes = tree.bytes(name);
            let text = String::from_utf8(bytes).unwrap();
            let all: Vec<_> = text.lines().collect();
            let near = |at: usize| {
                let window = at.saturating_sub(context)..(at + context + 1).min(all.len());
                all[window].iter().any(|line| line.starts_with("pump"))
            };
            let expected: Vec<_> = (0..all.len()).filter(|at| near(*at)).map(|at| all[at]).collect();
            let of_file = whole.matches.iter().filter(|found| found.path == name);
            let given: Vec<_> = of_file
                .flat_map(|found| {
                    found.before.iter().chain([&found.text]).chain(&found.after).map(String::as_str)
                })
                .collect();
            assert_eq!(given, expected, "{name}, {context} lines");
        }
    }
}

#[test]
fn a_page_goes_on_after_its_file_vanished_or_shrank() {
    let tree = scattered();
    let workspace = tree.workspace();
    let request = GrepRequest::literal("pump").limit(2);
    let next = found(&workspace, &request).next.unwrap();
    assert_eq!((next.path.as_str(), next.line), ("a.txt", 2));
    let rest = |workspace: &TaskWorkspace| {
        let page = found(workspace, &GrepRequest::literal("pump").after(next.clone()));
        page.matches.into_iter().map(|found| (found.path, found.line)).collect::<Vec<_>>()
    };
    let before = rest(&workspace);
    assert_eq!(before[..3], [("a.txt".to_owned(), 3), ("a.txt".to_owned(), 10), ("b/one.txt".to_owned(), 4)]);
    tree.put("a.txt", "pump\n");
    assert_eq!(rest(&workspace), before[2..]);
    tree.remove("a.txt");
    assert_eq!(rest(&workspace), before[2..]);
    let mut odd = next.clone();
    odd.path = r"a\q".to_owned();
    assert_eq!(code(workspace.grep(&GrepRequest::new("pump").after(odd))), "workspace.invalid_path");
}

#[test]
fn older_encodings_are_searched_as_text() {
    let mut files = Vec::new();
    for (name, word, line) in [
        ("gbk.c", "库存盘点", 1),
        ("utf16le_bom.htm", "甲区", 2),
        ("utf16be_bom.txt", "结束|end", 0),
        ("shift_jis.csv", "鉛筆", 3),
        ("utf8_bom.rs", "^", 1),
    ] {
        let Some(fixture) = shared(&format!("text/{name}")) else { return };
        files.push((name, std::fs::read(fixture).unwrap(), word, line));
    }
    let tree = Tree::new(&[]);
    for (name, bytes, ..) in &files {
        tree.put(name, bytes);
    }
    let workspace = tree.workspace();
    for (name, _, word, line) in &files {
        let page = found(&workspace, &GrepRequest::new(*word).files(ListRequest::new().glob(*name)));
        if *line > 0 {
            let first = &page.matches[0];
            assert_eq!((first.path.as_str(), first.line), (*name, *line));
            assert_eq!(spanned(first)[0], if *word == "^" { "" } else { word });
            assert!(!first.text.contains(['\u{FEFF}', '\u{FFFD}']), "{}", first.text);
        }
        assert_eq!((page.files_searched, page.diagnostics), (1, Vec::new()), "{name}");
    }
}

#[test]
fn what_was_not_looked_into_is_counted_and_named() {
    let tree = Tree::new(&[
        ("a.txt", b"pump"),
        ("large.txt", b"pump and more pump"),
        ("undecodable.txt", b"\xe6\xb0\xb4\xe6\xb3\xb5\xff\n"),
    ]);
    for at in 0..25 {
        tree.put(format!("bin/{at:02}.bin"), b"\x7fELF pump \0\x01\x02");
    }
    let workspace = tree.workspace();
    let page = found(&workspace, &GrepRequest::new("pump").max_file_bytes(17));
    assert_eq!((page.matches.len(), page.files_searched), (1, 1));
    let binary = diagnostic(&page.diagnostics, "workspace.not_text_skipped");
    assert_eq!(binary.details["files"], 26);
    assert_eq!(binary.details["paths"].as_array().unwrap().len(), 20);
    let large = diagnostic(&page.diagnostics, "workspace.too_large_skipped");
    assert_eq!((&large.details["files"], &large.details["paths"][0]), (&1.into(), &"large.txt".into()));
    assert_eq!(found(&workspace, &GrepRequest::new("pump").max_file_bytes(18)).matches.len(), 2);

    // A search knows them by their paths.
    let mut request = SearchRequest::new("bin 03");
    request.max_file_bytes = 17;
    let page = workspace.search(&request).unwrap();
    assert_eq!((page.total, page.hits[0].path.as_str(), &page.hits[0].best_line), (1, "bin/03.bin", &None));
    diagnostic(&page.diagnostics, "workspace.not_text_skipped");
    request.query = "LARGE".to_owned();
    let page = workspace.search(&request).unwrap();
    assert_eq!((page.total, page.hits[0].words_in_path, page.hits[0].lines), (1, 1, 0));
    diagnostic(&page.diagnostics, "workspace.too_large_skipped");
}

#[test]
fn a_search_finds_files_that_hold_every_word_somewhere() {
    let tree = Tree::new(&[
        ("docs/pump.md", b"# Check\nweekly\n"),
        ("docs/both.md", b"The pump.\r\nCHECK the pump daily\r\n"),
        ("docs/apart.md", b"a pump\n\nb check\n"),
        ("docs/half.md", b"a pump\n"),
        ("check/Pump.txt", b"nothing"),
        ("notes/水泵.md", "检查水泵\n".as_bytes()),
    ]);
    let workspace = tree.workspace();
    let page = workspace.search(&SearchRequest::new("  pump   CHECK pump ")).unwrap();
    let hits: Vec<_> = page
        .hits
        .iter()
        .map(|hit| {
            let best = hit.best_line.as_ref().map(|(line, text)| (*line, text.as_str()));
            (hit.path.as_str(), hit.words_in_path, hit.lines, best)
        })
        .collect();
    assert_eq!(
        hits,
        [
            ("check/Pump.txt", 2, 0, None),
            ("docs/pump.md", 1, 1, Some((1, "# Check"))),
            ("docs/apart.md", 0, 2, Some((1, "a pump"))),
            ("docs/both.md", 0, 2, Some((2, "CHECK the pump daily"))),
        ]
    );
    assert_eq!(page.total, 4);
    for limit in 1..=5 {
        let page = workspace.search(&SearchRequest::new("pump check").limit(limit)).unwrap();
        assert_eq!((page.hits.len(), page.total), (limit.min(4), 4));
    }
    let hits = workspace.search(&SearchRequest::new("水泵 检查")).unwrap().hits;
    assert_eq!((hits.len(), hits[0].words_in_path, hits[0].lines), (1, 1, 1));
    // Words are plain text.
    assert_eq!(workspace.search(&SearchRequest::new("p.mp")).unwrap().total, 0);
    assert_eq!(workspace.search(&SearchRequest::new("pump.")).unwrap().total, 3);
    for query in ["", " \n\t", &(0..33).map(|at| format!("w{at} ")).collect::<String>()] {
        assert_eq!(code(workspace.search(&SearchRequest::new(query))), "workspace.pattern_invalid");
    }
    assert_eq!(code(workspace.search(&SearchRequest::new("pump").limit(0))), "workspace.out_of_range");
    let scoped = SearchRequest::new("pump").files(ListRequest::new().glob("docs/*.md").limit(1));
    assert_eq!(workspace.search(&scoped).unwrap().total, 4, "the page of a listing does not count");
}

#[test]
fn a_batch_of_many_files_is_searched_in_order() {
    let files: BTreeMap<String, String> =
        (0..1_200).map(|at| (format!("d{}/f{at:04}.txt", at % 7), format!("{at}\npump {at}\n"))).collect();
    let tree = Tree::new(&[]);
    for (name, text) in &files {
        tree.put(name, text);
    }
    let workspace = tree.workspace();
    let (mut seen, mut request) = (Vec::new(), GrepRequest::literal("pump").limit(500));
    loop {
        let page = found(&workspace, &request);
        seen.extend(page.matches.into_iter().map(|found| found.path));
        let Some(next) = page.next else { break };
        request = request.after(next);
    }
    assert!(seen.iter().eq(files.keys()));
}
