//! What the tests share: the oracle, nasty texts, and the shared fixtures.
#![allow(dead_code, unreachable_pub)]

use std::path::{Path, PathBuf};

use briefing_tokens::{Encoding, Tokenizer};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

pub fn tiktoken(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        _ => tiktoken_rs::o200k_base_singleton(),
    }
}

pub fn assert_counts_like_tiktoken(text: &str, what: &str) {
    for encoding in Encoding::ALL {
        let expected = tiktoken(encoding).encode_ordinary(text).len();
        assert_eq!(Tokenizer::new(encoding).count(text), expected, "{encoding}, {what}");
    }
}

/// The shared test data, or [`None`] with a visible line saying that the test did nothing.
pub fn shared(relative: &str) -> Option<PathBuf> {
    let root = std::env::var_os("BRIEFING_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(relative);
    if path.exists() {
        return Some(path);
    }
    // Straight to the terminal, because the harness hides what a passing test prints.
    let line = format!("SKIPPED: {} does not exist; set BRIEFING_SHARED\n", path.display());
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    None
}

/// Snippets at which pre-tokenizers differ from each other.
const NASTY: &[&str] = &[
    "'s",
    "'S",
    "'ſ",
    "'t",
    "'RE",
    "'ve",
    "'lL",
    "'d",
    "'M",
    "'",
    "’s",
    "'r",
    "'l",
    "\u{301}",
    "e\u{301}",
    "\u{301}'s",
    "\u{301}A",
    "\u{301}AB",
    "\u{301}a",
    "\u{200d}",
    "👩\u{200d}🔧",
    "🟢",
    "😀",
    "\u{fe0f}",
    "ǅ",
    "ǅa",
    "Aǅ",
    "ʰ",
    "ʰA",
    "Aʰ",
    "AʰB",
    "中A",
    "A中B",
    "中文",
    "在庫リスト",
    "한국어",
    "ไทย",
    "हिन्दी",
    "Ünïcödé",
    "Привет",
    "العربية",
    "\0",
    "<|endoftext|>",
    "<|endofprompt|>",
    "<|fim_prefix|>",
    "<|im_start|>",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\t",
    " ",
    "  ",
    "    ",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "\u{b}",
    "\u{feff}",
    "/",
    "//",
    "/*",
    "*/",
    "!",
    "!!",
    "=",
    "==",
    "-",
    "_",
    ".",
    "\"",
    "(",
    "{}",
    ";\n",
    ";/\n/",
    "a",
    "ab",
    "Ab",
    "AB",
    "ABc",
    "camelCase",
    "HTTPResponse2",
    "snake_case",
    "word",
    "1",
    "12",
    "123",
    "1234",
    "١٢",
    "Ⅷ",
    "½",
    "²",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "========================",
    "预算之内选择上下文的方法在这里说明如下所示",
    "，",
    "。\n",
    "「",
    "𝒜",
    "𠀀",
    "\u{e000}",
    "\u{10ffff}",
];

fn repeated() -> impl Strategy<Value = String> {
    (prop::sample::select(NASTY), 1..40_usize).prop_map(|(snippet, times)| snippet.repeat(times))
}

/// Texts of any chars at all, mixed with nasty ones, runs and plain words.
pub fn any_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => prop::sample::select(NASTY).prop_map(str::to_owned),
        1 => repeated(),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-zA-Z' ]{1,12}",
        1 => "\\PC{0,8}",
        1 => "[\\u{4e00}-\\u{9fff}]{1,12}",
        1 => "[ \\t\\r\\n\\u{3000}/]{1,8}",
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}
