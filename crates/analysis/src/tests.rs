use std::borrow::Cow;
use std::collections::HashSet;

use proptest::prelude::*;
use tantivy_tokenizer_api::{Token, TokenStream, Tokenizer};

use super::stream::MAX_TERM;
use super::*;

fn tokens(text: &str) -> Vec<Token> {
    let mut analyzer = Analyzer::default();
    let mut stream = analyzer.token_stream(text);
    let mut tokens = Vec::new();
    while stream.advance() {
        tokens.push(stream.token().clone());
    }
    tokens
}

fn index_terms(text: &str) -> HashSet<String> {
    tokens(text).into_iter().map(|token| token.text).collect()
}

fn query_terms(query: &str) -> Vec<QueryTerm> {
    Analyzer::default().terms(query)
}

fn terms_of(query: &str) -> Vec<String> {
    query_terms(query).into_iter().map(|term| term.text).collect()
}

/// Whether the strongest terms of each word of the query are in the text: the whole, or the bigrams of what is indexed by
/// bigrams, or the one character that there is.
fn finds(query: &str, text: &str) -> bool {
    let index = index_terms(text);
    let terms = query_terms(query);
    let decides = |term: &&QueryTerm| {
        let bigrams =
            terms.iter().any(|other| other.group == term.group && other.kind == TermKind::CjkBigram);
        match term.kind {
            TermKind::CjkBigram => true,
            TermKind::Whole | TermKind::CjkChar => !bigrams,
            TermKind::Part => false,
        }
    };
    let mut deciding = terms.iter().filter(decides).peekable();
    deciding.peek().is_some() && deciding.all(|term| index.contains(&term.text))
}

/// Whether query and text have any term in common.
fn meets(query: &str, text: &str) -> bool {
    let index = index_terms(text);
    query_terms(query).iter().any(|term| index.contains(&term.text))
}

#[test]
fn what_people_look_for_is_found() {
    let table = [
        // Identifiers, whole and in parts.
        ("parseHTTPRequest", "fn parse_http_request()"),
        ("parse_http_request", "parseHTTPRequest(x)"),
        ("ParseHttpRequest", "PARSE_HTTP_REQUEST"),
        ("parse-http-request", "parseHTTPRequest"),
        ("parseHttpRequest", "the parse-http-request flag"),
        ("HTTP", "parseHTTPRequest"),
        ("request", "parseHTTPRequest"),
        ("parse", "parse_http_request"),
        ("http", "parse-http-request"),
        ("response", "HTTPResponse2"),
        ("2", "HTTPResponse2"),
        ("xml", "XMLHttpRequest"),
        ("utf8", "from_utf8_lossy"),
        ("utf", "utf8"),
        ("8", "utf8"),
        ("lossy", "from_utf8_lossy"),
        ("httpMaxStreams", "h2-http_maxStreams"),
        ("max_streams", "http-maxStreams"),
        ("streams", "HTTP2_maxStreams"),
        ("url", "let URLs = 3"),
        ("IPv6", "Ipv6"),
        ("addr", "IPv6Addr"),
        ("__init__", "def __init__(self)"),
        ("init", "__init__"),
        ("e2e", "the e2e suite"),
        ("x86_64", "x86-64"),
        ("std::vector", "use of std::vector<int>"),
        ("vector", "std::vector"),
        ("self.token_stream", "self.tokenStream(text)"),
        ("1000000", "1_000_000"),
        ("0xFF", "mask = 0xff;"),
        // Hyphens, apostrophes, names with signs, versions.
        ("max-tokens", "max_tokens"),
        ("tokens", "--max-tokens"),
        ("retry-limit", "配置文件 config.toml 的 retry-limit 默认值为 3"),
        ("e\u{2010}mail", "e-mail and email"),
        ("email", "an e\u{2011}mail"),
        ("don't", "we don\u{2019}t know"),
        ("dont", "we don't know"),
        ("homme", "l'homme"),
        ("C++", "written in C++ and C"),
        ("c++", "https://intranet.example/wiki?id=7 and C++ builds."),
        ("c++", "用C++写的"),
        ("c", "C++17"),
        ("c++", "C++17"),
        ("C#", "a c# project"),
        ("f#", "F#, OCaml"),
        ("v1.2-rc_3", "release v1.2-rc_3"),
        ("v1.2", "release v1.2-rc_3"),
        ("rc3", "v1.2-rc_3"),
        ("2.4.1", "Release 2.4.1 fixes"),
        ("2024-01-15", "on 2024-01-15, 10:00"),
        // Files and addresses.
        ("config.toml", "see config.toml"),
        ("toml", "config.toml"),
        ("src/main.rs", "in ./src/main.rs:12"),
        ("example.org", "https://example.org/wiki?id=7"),
        ("https://example.org/wiki?id=7", "see https://example.org/wiki?id=7."),
        ("7", "wiki?id=7"),
        ("192.168.0.1", "host 192.168.0.1:80"),
        // Query syntax is text.
        ("fox)", "the quick fox"),
        ("\"quick brown", "quick brown fox"),
        ("-fox", "fox"),
        ("fox^", "fox"),
        ("release:", "Release 2.4.1"),
        // Chinese.
        ("请求", "解析请求头"),
        ("解析请求头", "如何解析请求头？"),
        ("头", "请求头"),
        ("水泵", "每周检查冷却水泵，更换密封圈。"),
        ("密封圈", "更换密封圈。"),
        ("資料庫", "關聯式資料庫"),
        ("config", "配置文件config.toml的"),
        ("𠮷野", "在𠮷野家"),
        ("葛城", "葛\u{e0100}城"),
        ("⼈口", "人口"),
        // Japanese.
        ("データ", "データベース"),
        ("ベース", "データベース"),
        ("ﾃﾞｰﾀ", "データベース"),
        ("パスワード", "ﾊﾟｽﾜｰﾄﾞ"),
        ("か\u{3099}くせい", "がくせい"),
        ("東京", "東京都庁"),
        ("とうきょう", "とうきょうと"),
        ("人々", "人々の声"),
        // Korean.
        ("데이터베이스", "데이터베이스를 옮긴다"),
        ("데이터", "데이터베이스"),
        ("학교", "학교에 간다"),
        ("값", "값을 읽는다"),
        ("api", "API를 호출"),
        ("ㄱ", "(’ㄱ_"),
        ("ㅏ", "+ㅏ -ㅏ"),
        ("한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"),
        // Width, case, accents.
        ("１２３", "order 123"),
        ("123", "１２３番"),
        ("ＡＢＣ", "abc"),
        ("ＨＴＴＰ", "parseHTTPRequest"),
        ("naive", "a naïve approach"),
        ("naïve", "a naive approach"),
        ("cafe", "Cafe\u{301}"),
        ("uber", "ÜBER"),
        ("strasse", "Straße"),
        ("STRAẞE", "straße"),
        ("file", "ﬁnal ﬁle list"),
        ("istanbul", "İstanbul\u{2019}da hava güzel"),
        ("güzel", "İstanbul\u{2019}da hava guzel"),
        ("ISPARTA", "ısparta"),
        ("łódź", "LODZ"),
        ("Ελληνικα", "Ελληνικά"),
        ("τελος", "ΜΆΪΟΣ ΤΕΛΟΣ"),
        ("ещё", "ЕЩЕ"),
        ("здание", "большо\u{301}е зда\u{301}ние"),
        ("йод", "ЙОД"),
        // Marks that are not accents.
        ("हिन्दी", "यह हिन्दी है"),
        ("ज़रा", "ज\u{93c}रा"),
        ("ภาษาไทย", "ภาษาไทย"),
        ("ภาษา", "ภาษาไทยง่าย"),
        ("தமிழ்", "தமிழ் மொழி"),
        ("שלום", "שלום עולם"),
        ("مرحبا", "مرحبا بالعالم"),
        // What is not seen.
        ("soft\u{ad}hyphen", "softhyphen"),
        ("zero\u{200b}width", "zerowidth"),
        ("parseHTTP", "\u{feff}parse\u{200d}HTTP"),
        ("window", "👩\u{200d}🚀 launch İ window"),
        ("launch", "🚀launch"),
        ("x2", "x²"),
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
        ("が", "か"),
        ("は", "ば ぱ"),
        ("ハハ", "パパ"),
        ("кий", "кии"),
        ("request", "reques requests"),
        ("水泵", "泥浆"),
        ("한국", "중국집"),
        ("कि", "की"),
        ("241", "2.4.1"),
        ("u", "u8"),
        ("t", "wouldn't"),
        ("deadbeef", "550e8400"),
    ];
    let found: Vec<_> = table.iter().filter(|(query, text)| meets(query, text)).collect();
    assert!(found.is_empty(), "found: {found:?}");
}

#[test]
fn words_fall_into_these_terms() {
    let table: [(&str, &[&str]); 20] = [
        ("parse_http_request", &["parsehttprequest", "parse", "http", "request"]),
        ("parseHTTPRequest", &["parsehttprequest", "parse", "http", "request"]),
        ("parse-httpRequest", &["parsehttprequest", "parse", "httprequest", "http", "request"]),
        ("HTTPResponse2", &["httpresponse2", "http", "response", "2"]),
        ("utf8", &["utf8", "utf", "8"]),
        ("v1.2-rc_3", &["v1.2rc3", "v1.2", "v1", "1", "2", "rc3", "rc", "3"]),
        ("don't", &["dont", "don"]),
        ("x-y", &["xy", "x", "y"]),
        ("C++", &["c++", "c"]),
        ("i32", &["i32"]),
        ("0xFF", &["0xff"]),
        ("1_000", &["1000"]),
        ("__init__", &["init"]),
        ("_", &[]),
        ("d41d8cd98f00b204e9800998ecf8427e", &["d41d8cd98f00b204e9800998ecf8427e"]),
        ("ПарсерДанных", &["парсерданных", "парсер", "данных"]),
        ("解析头", &["解", "解析", "析", "析头", "头"]),
        ("값을", &["값을", "값"]),
        ("의존성을", &["의존성을", "의존", "존성", "성을"]),
        ("API를", &["api", "를"]),
    ];
    for (text, terms) in table {
        assert_eq!(terms_of(text), terms, "{text}");
        assert_eq!(tokens(text).into_iter().map(|token| token.text).collect::<Vec<_>>(), terms, "{text}");
    }
}

#[test]
fn only_names_of_languages_end_in_signs() {
    for text in ["r#\"raw\"#", "page#section", "C+", "c+++", "a_very_long_name++", "#include", "x86#"] {
        assert!(terms_of(text).iter().all(|term| !term.contains(['+', '#'])), "{text}");
    }
}

#[test]
fn text_without_words_gives_no_terms() {
    for text in [
        "",
        "   ",
        "*",
        ">>",
        "'",
        "\\",
        "\u{200b}",
        "…—“”",
        "😀",
        "_",
        "-_-",
        "\u{301}",
        "، 。！",
        "++",
        "#",
    ] {
        assert!(terms_of(text).is_empty(), "{text:?}");
    }
}

#[test]
fn of_a_very_long_word_the_beginning_is_indexed() {
    for word in ["a", "é", "Ab1_", "ＡＢ", "1.", "aB", "न्"] {
        let terms = index_terms(&word.repeat(500_000));
        assert_eq!(terms.len(), 1, "{word}");
        assert!(terms.iter().all(|term| term.len() <= MAX_TERM && term.len() > MAX_TERM - 4), "{word}");
    }
    let compound = terms_of(&"retry-limit-".repeat(100));
    assert_eq!(compound, ["retry", "limit"]);
    assert!(index_terms(&"한".repeat(100_000)).contains("한한"));
}

#[test]
fn query_terms_of_one_word_share_a_group() {
    let terms = query_terms("parseHTTP 解析 parse 값을 http.解");
    let terms: Vec<_> = terms.iter().map(|term| (term.text.as_str(), term.kind, term.group)).collect();
    use TermKind::{CjkBigram, CjkChar, Whole};
    let expected = [
        ("parsehttp", Whole, 0),
        ("parse", Whole, 2),
        ("http", Whole, 4),
        ("解", CjkChar, 1),
        ("解析", CjkBigram, 1),
        ("析", CjkChar, 1),
        ("값을", Whole, 3),
        ("값", CjkChar, 3),
    ];
    assert_eq!(terms, expected);
}

#[test]
fn offsets_are_those_of_the_original() {
    let table = [
        ("İstanbul hava raporu", "hava", "hava"),
        ("ẞ und ẞ: Fehler 7", "fehler", "Fehler"),
        ("ﬁnal ﬁle list", "file", "ﬁle"),
        ("Straße 12", "strasse", "Straße"),
        ("ΜΆΪΟΣ ΤΕΛΟΣ", "τελοσ", "ΤΕΛΟΣ"),
        ("👩‍🚀 launch İ window", "window", "window"),
        ("x parseＨＴＴＰRequest", "http", "ＨＴＴＰ"),
        ("cafe\u{301}s", "cafes", "cafe\u{301}s"),
        ("ﾊﾟｽ", "パス", "ﾊﾟｽ"),
        ("a __init__ b", "init", "init"),
        ("用C++写", "c++", "C++"),
    ];
    for (text, term, original) in table {
        let token = tokens(text).into_iter().find(|token| token.text == term);
        let token = token.expect("the term is in the text");
        assert_eq!(&text[token.offset_from..token.offset_to], original);
    }
}

#[test]
fn words_take_positions_and_their_parts_share_them() {
    let positions: Vec<_> =
        tokens("red parse_http 解析 2").into_iter().map(|token| (token.text, token.position)).collect();
    let expected = [("red", 0), ("parsehttp", 1), ("parse", 1), ("http", 1)];
    let cjk = [("解", 2), ("解析", 2), ("析", 3), ("2", 4)];
    let expected: Vec<_> = expected.into_iter().chain(cjk).map(|(text, at)| (text.to_owned(), at)).collect();
    assert_eq!(positions, expected);
}

#[test]
fn an_analyser_starts_afresh_with_each_text() {
    let mut analyzer = Analyzer::default();
    let mut stream = analyzer.token_stream("解析请求头 parseHTTP");
    stream.advance();
    let mut stream = analyzer.token_stream("b");
    assert!(stream.advance());
    assert_eq!((stream.token().text.as_str(), stream.token().position), ("b", 0));
    assert!(!stream.advance());
}

#[test]
fn folding_copies_only_what_it_changes() {
    for same in ["", "parse_http_request(x);", "解析请求头。", "데이터", "русский"] {
        assert!(matches!(fold(same), Cow::Borrowed(_)), "{same}");
    }
    assert_eq!(fold("Don’t ≠ ＡＢＣ\u{3000}Straße"), "don’t ≠ abc strasse");
}

fn assigned() -> impl Iterator<Item = char> {
    ('\0'..=char::MAX).filter(|c| unicode_normalization::char::is_public_assigned(*c))
}

#[test]
fn folding_any_character_twice_is_folding_it_once() {
    for c in assigned() {
        for text in
            [format!("{c}"), format!("a{c}"), format!("か{c}\u{3099}"), format!("न\u{200d}{c}\u{301}")]
        {
            let once = fold(&text).into_owned();
            assert_eq!(fold(&once), once, "{text:?}");
        }
    }
}

/// Whether the character is a letter or digit by itself.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !unicode_normalization::char::is_combining_mark(c)
}

#[test]
fn every_letter_and_digit_is_found() {
    // Some letters decompose to a space and a mark.
    let lasts = |c: &char| fold(&c.to_string()).chars().any(is_letter);
    let letters = assigned().filter(|c| is_letter(*c)).filter(lasts);
    let lost: Vec<_> = letters.filter(|c| !finds(&c.to_string(), &format!("x {c} y"))).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// Text of the pieces that the analysis treats each in its own way.
fn mixed_text() -> impl Strategy<Value = String> {
    let pieces = [
        "foo",
        "Bar",
        "HTTP",
        "x",
        "2",
        "2024",
        "_",
        "-",
        "'",
        "’",
        ".",
        "+",
        "++",
        "#",
        "\"",
        " ",
        "\n",
        "\u{3000}",
        "\u{200b}",
        "\u{ad}",
        "\u{301}",
        "\u{fe0f}",
        "\u{20e3}",
        "é",
        "ß",
        "İ",
        "ǅ",
        "ﬁ",
        "½",
        "ﷺ",
        "≠",
        "Ｆ",
        "＿",
        "２",
        "解",
        "析",
        "が",
        "か\u{3099}",
        "ｶ",
        "ﾞ",
        "ー",
        "한",
        "글",
        "ㄱ",
        "ㅏ",
        "\u{1100}",
        "\u{1161}",
        "न",
        "्",
        "ि",
        "ภ",
        "ำ",
        "ий",
        "Й",
        "Σ",
        "ς",
        "😀",
        "\u{345}",
        "𝒳",
        "①",
        "…",
        "·",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![mixed_text(), any::<String>(), "[\\PC\\n]{0,120}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn tokens_lie_on_char_borders_and_never_go_back(text in any_text()) {
        let tokens = tokens(&text);
        let (mut from, mut position, mut bytes) = (0, 0, 0);
        for token in &tokens {
            prop_assert!(text.get(token.offset_from..token.offset_to).is_some_and(|text| !text.is_empty()));
            prop_assert!(token.offset_from >= from && token.position >= position);
            prop_assert!(!token.text.is_empty() && token.text.len() <= MAX_TERM);
            (from, position) = (token.offset_from, token.position);
            bytes += token.text.len();
        }
        // The longest compatibility decomposition is elevenfold, and a character comes in five terms at most.
        prop_assert!(tokens.len() <= 4 * text.len() && bytes <= 55 * text.len(), "{bytes} bytes of terms");
    }

    #[test]
    fn folding_twice_is_folding_once(text in any_text()) {
        let once = fold(&text).into_owned();
        let twice = fold(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn terms_are_folded(text in any_text()) {
        // What joins words is left out of the terms, so a mark after it may end up elsewhere.
        let joined = fold(&text).contains(['_', '-', '\'', '’', '\u{2010}']);
        for term in index_terms(if joined { "" } else { &text }) {
            prop_assert_eq!(fold(&term).into_owned(), term);
        }
    }

    #[test]
    fn whatever_stands_between_spaces_finds_the_text(text in any_text()) {
        let index = index_terms(&text);
        for word in text.split_whitespace() {
            for term in terms_of(word) {
                prop_assert!(index.contains(&term), "{term:?} of {word:?}");
            }
            let letters = fold(word).chars().any(is_letter);
            prop_assert!(!letters || !terms_of(word).is_empty(), "{word:?}");
        }
    }

    #[test]
    fn case_does_not_matter_to_ascii_words(text in "[a-zA-Z0-9_ -]{0,60}") {
        let whole = |text: &str| query_terms(text).into_iter().find(|term| term.kind == TermKind::Whole);
        let text = text.replace(' ', "");
        let (given, small) = (whole(&text), whole(&text.to_ascii_lowercase()));
        prop_assert_eq!(given.map(|term| term.text), small.map(|term| term.text));
    }
}
