//! Every entry of the shared manifest that is about files has a rule here, and the source holds it. An entry without a rule
//! fails, so that nothing is passed over in silence.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::collections::BTreeMap;

use briefing_core::{
    Completeness, ContextSource as _, Digest, ReadRequest, Representation, SourceErrorKind, SourceRef,
};
use briefing_task_workspace::{Edit, FormatRequest};
use common::{Tree, list, path, read, shared};

/// What the source makes of a file.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// Text in this encoding, the whole of it.
    Text(&'static str, &'static str),
    /// Parsed text with these lines in order, and whether it is all that the document holds.
    Parsed(&'static [&'static str], bool),
    /// A reference: its kind, and the diagnostic that says why, where one has to.
    Reference(&'static str, Option<&'static str>),
    /// No file of a workspace but a list of cases, with the test that walks it.
    Cases(&'static str),
}

use Rule::{Cases, Parsed, Reference, Text};

const UNREADABLE: Option<&str> = Some("workspace.document_unreadable");
const DISAGREES: Option<&str> = Some("workspace.type_disagreement");
const CHAPTER: &str = "第一章 预算\r\n本表列出十二月的用量：甲区 40，乙区 55。\r\n结束。\r\n";

const RULES: &[(&str, Rule)] = &[
    ("docs/bomb.docx", Reference("office", UNREADABLE)),
    ("docs/bomb.xlsx", Reference("office", UNREADABLE)),
    ("docs/entities.docx", Reference("office", UNREADABLE)),
    ("docs/far_cell.xlsx", Parsed(&["# Sheet: Stock", "| bolts | 40 |", "- XFD1048576: far corner"], true)),
    ("docs/gbk_euc_h.pdf", Parsed(&["库存盘点"], true)),
    ("docs/header_only.pdf", Reference("pdf", UNREADABLE)),
    (
        "docs/hidden.xlsx",
        Parsed(
            &[
                "# Sheet: Open",
                "| Rope | 12 | 2024-05-17 |",
                "# Sheet: Back (hidden)",
                "# Sheet: Deep (hidden)",
            ],
            true,
        ),
    ),
    ("docs/kids_loop.pdf", Reference("pdf", UNREADABLE)),
    (
        "docs/order_hidden.pptx",
        Parsed(
            &["# Slide 1: bravo slide", "# Slide 2: charlie slide (hidden)", "# Slide 3: alpha slide"],
            true,
        ),
    ),
    (
        "docs/real.docx",
        Parsed(&["# Harbour notes", "| Pier | Draft |", "| Two | 3.1 m |", "中文段落：码头二号位。"], true),
    ),
    ("docs/real.pdf", Parsed(&["# Page 1", "Well survey 2024", "# Page 2", "Page two: pump swapped"], true)),
    (
        "docs/tracked_changes.docx",
        Parsed(&["The fee is 750 per month.", "| Room | Seats |", "| North | 24 |"], true),
    ),
    ("docs/truncated.pdf", Parsed(&["Pump inspection, week 19"], false)),
    ("ignore/cases.json", Cases("walk.rs::ignore_rules_give_the_set_that_git_gives")),
    (
        "search/identical_content.json",
        Cases("changes.rs::of_two_files_with_equal_content_only_the_deleted_one_goes"),
    ),
    ("text/config_bom.json", Text("utf-8", "{\r\n \"maxTokens\": 900,\r\n \"tasks\": []\r\n}\r\n")),
    (
        "text/config_bom.yaml",
        Text("utf-8", "system:\n  slots:\n    - name: rules\n      content: keep it short\n"),
    ),
    ("text/cp1252.pas", Text("windows-1252", "// réglage n° 7 — prix en €\nbegin writeln('façade'); end.\n")),
    ("text/dollar_target.sh", Text("utf-8", "label=SLOT\n")),
    ("text/empty.py", Text("utf-8", "")),
    (
        "text/gbk.c",
        Text(
            "gbk",
            "// 模块：库存盘点\n// 说明：逐行比对账面数与实盘数，差异写入日志\nint check_stock(int book, int real) {\n    return book - real; // 差额\n}\n",
        ),
    ),
    (
        "text/gbk_edit_target.c",
        Text("gbk", "/* 旧注释：请勿删除 */\nint total = 0;\nint total = 0;\nint total = 0;\n"),
    ),
    ("text/literal_replacement_char.txt", Text("utf-8", "a valid file that quotes \u{fffd} on purpose\n")),
    ("text/mixed_eol.txt", Text("utf-8", "alpha\r\nbeta\r\ngamma\ndelta\r\nepsilon\rzeta\r\n")),
    ("text/no_final_newline.txt", Text("utf-8", "last line without newline")),
    ("text/one_newline.go", Text("utf-8", "\n")),
    ("text/shift_jis.csv", Text("shift_jis", "# 在庫リスト\n品名,数量\n鉛筆,12\n消しゴム,7\n定規,3\n")),
    ("text/utf16be_bom.txt", Text("utf-16be", CHAPTER)),
    ("text/utf16le_bom.htm", Text("utf-16le", CHAPTER)),
    ("text/utf32le_bom.txt", Text("utf-32le", "width thirty-two\n")),
    ("text/utf8_bom.rs", Text("utf-8", "pub fn start() -> u8 { 1 }\n")),
    ("types/ascii_only.pdf", Parsed(&["Pump inspection, week 19", "Pressure 4.2 bar, no leak"], true)),
    ("types/ascii_only_no_suffix", Parsed(&["Pump inspection, week 19"], true)),
    ("types/elf_named.md", Reference("binary", DISAGREES)),
    ("types/picture_named.txt", Reference("image", DISAGREES)),
    ("types/quotes_pdf_header.md", Text("utf-8", "")),
    ("types/text_named.png", Reference("unknown", DISAGREES)),
    ("types/zip_named.docx", Reference("unknown", DISAGREES)),
];

/// Folders of the manifest that are about other parts of the framework, and whose tests lie with those.
const ELSEWHERE: &[&str] = &["mcp", "render", "search", "secrets", "session", "store", "tokens"];

/// The entries that are about files, with their sizes; each has a rule.
fn entries() -> Option<BTreeMap<String, u64>> {
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(shared("MANIFEST.json")?).unwrap()).unwrap();
    let mut ours = BTreeMap::new();
    for entry in manifest.as_array().unwrap() {
        let file = entry["file"].as_str().unwrap();
        if rule_of(file).is_some() {
            ours.insert(file.to_owned(), entry["bytes"].as_u64().unwrap());
            continue;
        }
        let folder = file.split('/').next().unwrap();
        assert!(ELSEWHERE.contains(&folder), "{file} has no rule: {}", entry["expect"]);
    }
    assert_eq!(ours.len(), RULES.len(), "a rule without an entry");
    Some(ours)
}

fn rule_of(file: &str) -> Option<Rule> {
    RULES.iter().find(|(name, _)| *name == file).map(|(_, rule)| *rule)
}

/// All of them in one workspace.
fn tree() -> Option<(Tree, BTreeMap<String, u64>)> {
    let entries = entries()?;
    let tree = Tree::new(&[]);
    for (file, size) in &entries {
        let bytes = std::fs::read(shared(file).unwrap()).unwrap();
        assert_eq!(bytes.len() as u64, *size, "{file} is not the file of the manifest");
        tree.put(file, bytes);
    }
    Some((tree, entries))
}

#[tokio::test]
async fn every_entry_is_offered_as_its_rule_says() {
    let Some((tree, entries)) = tree() else { return };
    let source = tree.source();
    let listing = list(&source, 10).await;
    for file in entries.keys() {
        let rule = rule_of(file).unwrap();
        let found = listing.get(file);
        let said: Vec<_> = listing
            .diagnostics
            .iter()
            .filter(|it| it.details.get("path").is_some_and(|path| path == file))
            .map(|it| it.code.as_str())
            .collect();
        let bytes = tree.bytes(file);
        assert_eq!(found.metadata["total_bytes"], bytes.len(), "{file}");
        assert_eq!(found.content_digest, Some(Digest::of(&bytes)), "{file}: the digest is of the raw bytes");
        let outcome = read(&source, file).await;
        match rule {
            Text(encoding, expected) => {
                let read = outcome.unwrap_or_else(|error| panic!("{file}: {error}"));
                let text = read.content.to_text().unwrap().into_owned();
                assert_eq!(read.completeness, Completeness::Complete, "{file}");
                assert_eq!(text.chars().count(), found.estimated_chars, "{file}");
                assert_eq!(found.metadata["content_kind"], "text", "{file}");
                let named = found.metadata.get("encoding").map_or("utf-8", |named| named.as_str().unwrap());
                assert_eq!(named, encoding, "{file}");
                assert!(!text.starts_with('\u{feff}'), "{file}: the mark is no text");
                if file == "types/quotes_pdf_header.md" {
                    assert_eq!(text.as_bytes(), bytes, "{file}");
                } else {
                    assert_eq!(text, expected, "{file}");
                }
                let guessed = ["windows-1252", "gbk", "shift_jis"].contains(&encoding);
                let is_said = said.contains(&"workspace.decoded_from_legacy_encoding");
                assert_eq!(is_said, guessed, "{file}: {said:?}");
            }
            Parsed(lines, complete) => {
                let read = outcome.unwrap_or_else(|error| panic!("{file}: {error}"));
                let text = read.content.to_text().unwrap().into_owned();
                assert_eq!(text.chars().count(), found.estimated_chars, "{file}");
                assert_eq!(found.metadata["context_representation"], "parsed_text", "{file}");
                assert!(!text.contains("endobj") && !text.contains("<w:"), "{file}: the raw form is no text");
                let mut rest = text.lines();
                for line in lines {
                    assert!(rest.any(|it| it == *line), "{file}: {line:?} in order in\n{text}");
                }
                assert_eq!(!said.contains(&"workspace.document_incomplete"), complete, "{file}: {said:?}");
            }
            Reference(kind, reason) => {
                assert_eq!(found.metadata["content_kind"], kind, "{file}");
                assert_eq!((found.estimated_chars, found.index_text.as_str()), (0, ""), "{file}");
                assert_eq!(outcome.unwrap_err().kind(), SourceErrorKind::Unsupported, "{file}");
                assert!(reason.is_none_or(|reason| said.contains(&reason)), "{file}: {said:?}");
            }
            Cases(test) => {
                let (file_of_test, name) = test.split_once("::").unwrap();
                let tests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
                let text = std::fs::read_to_string(tests.join(file_of_test)).unwrap();
                assert!(text.contains(&format!("fn {name}(")), "{file}: there is no test {test}");
                assert!(text.contains(file.as_str()), "{file}: {test} does not read it");
            }
        }
    }
}

#[tokio::test]
async fn no_entry_is_attached_as_a_picture_but_one_that_is_a_picture() {
    let Some((tree, entries)) = tree() else { return };
    let source = tree.source();
    list(&source, 100).await;
    for file in entries.keys() {
        let request = ReadRequest::whole(10).as_representation(Representation::ImageAttachment);
        let read = source.read_exact(&SourceRef::new(file.as_str()).unwrap(), &request).await;
        let is_picture = matches!(rule_of(file).unwrap(), Reference("image", _));
        assert_eq!(read.is_ok(), is_picture, "{file}: {read:?}");
    }
}

#[test]
fn the_operations_agree_with_the_source_about_each_entry() {
    let Some((tree, entries)) = tree() else { return };
    let workspace = tree.read_write();
    for file in entries.keys() {
        let name = path(file);
        let info = workspace.inspect(&name).unwrap();
        assert_eq!(info.digest, Digest::of(&tree.bytes(file)), "{file}");
        let shown = workspace.read_formatted(&name, &FormatRequest::whole());
        match rule_of(file).unwrap() {
            Text(encoding, expected) => {
                assert_eq!(info.encoding.as_deref(), Some(encoding), "{file}");
                let shown = shown.unwrap_or_else(|error| panic!("{file}: {error}"));
                assert_eq!(shown.encoding.as_deref(), Some(encoding), "{file}");
                if shown.verbatim && !expected.is_empty() {
                    assert_eq!(shown.text, expected, "{file}");
                }
            }
            Parsed(..) | Reference(..) => {
                assert_eq!(shown.unwrap_err().code(), "workspace.no_handler", "{file}");
                // A PDF may be text byte for byte, and then an edit of its lines is exact.
                let bytes = tree.bytes(file);
                if bytes.contains(&0) {
                    let edit = workspace.edit(&name, &[Edit::insert(1, "x\n")], None);
                    assert!(edit.is_err(), "{file} is no text and is not edited");
                }
                assert_eq!(tree.bytes(file), bytes, "{file}");
            }
            Cases(_) => {
                shown.unwrap();
            }
        }
    }
}
