use std::collections::HashSet;

use proptest::prelude::*;
use tantivy::tokenizer::{TokenStream, Tokenizer};

use super::*;

fn index_terms(text: &str) -> HashSet<String> {
    let mut analyzer = Analyzer::default();
    let mut tokens = analyzer.token_stream(text);
    let mut terms = HashSet::new();
    while tokens.advance() {
        terms.insert(tokens.token().text.clone());
    }
    terms
}

/// The strongest terms of each word of the query: the whole, or the pairs of a run without spaces.
fn finds(query: &str, text: &str) -> bool {
    let terms = Analyzer::default().terms(query);
    let index = index_terms(text);
    !terms.is_empty() && terms.iter().any(|term| term.kind != TermKind::CjkChar && index.contains(&term.text))
        || terms.len() == 1 && terms.iter().any(|term| index.contains(&term.text))
}

#[test]
fn a_person_finds_what_they_look_for() {
    let table = [
        ("parseHTTPRequest", "fn parse_http_request()"),
        ("parse_http_request", "parseHTTPRequest(x)"),
        ("ParseHttpRequest", "PARSE_HTTP_REQUEST"),
        ("HTTP", "parseHTTPRequest"),
        ("request", "parseHTTPRequest"),
        ("http", "parse_http_request"),
        ("request", "parse_http_request"),
        ("response", "HTTPResponse2"),
        ("2", "HTTPResponse2"),
        ("xml", "XMLHttpRequest"),
        ("utf8", "from_utf8_lossy"),
        ("utf", "utf8"),
        ("lossy", "from_utf8_lossy"),
        ("max-tokens", "max_tokens"),
        ("tokens", "--max-tokens"),
        ("std::vector", "use of std::vector<int>"),
        ("vector", "std::vector"),
        ("config.toml", "see config.toml"),
        ("toml", "config.toml"),
        ("retry-limit", "retry-limit 默认值"),
        ("v1.2-rc_3", "release v1.2-rc_3"),
        ("rc3", "v1.2-rc_3"),
        ("C++", "written in C++ and C"),
        ("c++", "C++ builds"),
        ("C#", "a C# project"),
        ("f#", "F# scripts"),
        ("请求", "解析请求头"),
        ("解析", "解析请求头"),
        ("头", "请求头"),
        ("水泵", "冷却水泵"),
        ("数据库的迁移", "数据库迁移指南"),
        ("配置", "配置文件 config.toml"),
        ("config", "配置文件config.toml的"),
        ("資料庫", "關聯式資料庫"),
        ("データ", "データベース"),
        ("ベース", "データベース"),
        ("ﾃﾞｰﾀ", "データベース"),
        ("東京", "東京都庁"),
        ("とうきょう", "とうきょうと"),
        ("데이터베이스", "데이터베이스를 옮긴다"),
        ("데이터", "데이터베이스"),
        ("학교", "학교에 간다"),
        ("naive", "a naïve approach"),
        ("naïve", "a naive approach"),
        ("cafe", "Café"),
        ("uber", "über"),
        ("strasse", "Straße"),
        ("STRASSE", "straße"),
        ("file", "ﬁle"),
        ("istanbul", "İstanbul"),
        ("Ελληνικα", "Ελληνικά"),
        ("οδοσ", "ΟΔΟΣ"),
        ("ещё", "еще"),
        ("１２３", "order 123"),
        ("123", "１２３番"),
        ("ＡＢＣ", "abc"),
        ("हिन्दी", "यह हिन्दी है"),
        ("ภาษาไทย", "ภาษาไทย"),
        ("don't", "we don't know"),
        ("example.org", "https://example.org/wiki?id=7"),
        ("wiki", "https://example.org/wiki?id=7"),
        ("7", "wiki?id=7"),
        ("soft\u{ad}hyphen", "softhyphen"),
        ("zero\u{200b}width", "zerowidth"),
        ("fox)", "the quick fox"),
        ("\"quick brown", "quick brown fox"),
        ("-fox", "fox"),
        ("fox AND", "fox"),
        ("łódź", "lodz"),
        ("__init__", "def __init__(self)"),
        ("init", "__init__"),
        ("e2e", "the e2e suite"),
    ];
    let missed: Vec<_> = table.iter().filter(|(query, text)| !finds(query, text)).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn unrelated_words_are_kept_apart() {
    let table = [
        ("in", "inning within"),
        ("cat", "catalog concatenate"),
        ("か", "が"),
        ("は", "ば"),
        ("кий", "кии"),
        ("request", "reques"),
        ("水泵", "水 泵"),
    ];
    let found: Vec<_> = table.iter().filter(|(query, text)| finds(query, text)).collect();
    assert!(found.is_empty(), "found: {found:?}");
}

#[test]
fn punctuation_and_invisible_characters_give_no_terms() {
    for text in ["", "   ", "*", ">>", "'", "\\", "\u{200b}", "-1".trim_start_matches("-1"), "…—“”", "😀"]
    {
        assert!(Analyzer::default().terms(text).is_empty(), "{text:?}");
    }
}

#[test]
fn very_long_words_give_one_bounded_term() {
    for text in ["a".repeat(1_000_000), "é".repeat(500_000), "Ab1_".repeat(250_000)] {
        let terms = index_terms(&text);
        assert_eq!(terms.len(), 1, "{}…", &text[..8]);
        assert!(terms.iter().all(|term| term.len() <= MAX_WORD));
    }
}

#[test]
fn query_terms_of_one_word_share_a_group() {
    let terms = Analyzer::default().terms("parseHTTPRequest 解析");
    let groups: Vec<_> = terms.iter().map(|term| (term.text.as_str(), term.group)).collect();
    assert_eq!(
        groups,
        [
            ("parsehttprequest", 0),
            ("parse", 0),
            ("http", 0),
            ("request", 0),
            ("解", 1),
            ("析", 1),
            ("解析", 1)
        ]
    );
}

proptest! {
    #[test]
    fn tokens_lie_on_char_borders_and_never_go_back(text in "\\PC{0,200}") {
        let mut analyzer = Analyzer::default();
        let mut tokens = analyzer.token_stream(&text);
        let (mut position, mut bytes) = (0, 0);
        while tokens.advance() {
            let token = tokens.token();
            prop_assert!(text.get(token.offset_from..token.offset_to).is_some());
            prop_assert!(token.position >= position);
            prop_assert!(!token.text.is_empty());
            position = token.position;
            bytes += token.text.len();
        }
        prop_assert!(bytes <= 60 * text.len(), "{bytes} bytes of terms");
    }

    #[test]
    fn folding_twice_changes_nothing(text in "\\PC{0,60}") {
        let once = fold(&text).into_owned();
        let twice = fold(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn every_word_of_a_text_finds_the_text(text in "[\\PC\\n]{0,120}") {
        let index = index_terms(&text);
        for word in text.split_whitespace() {
            for term in Analyzer::default().terms(word) {
                prop_assert!(index.contains(&term.text), "{:?} of {:?}", term.text, word);
            }
        }
    }
}
