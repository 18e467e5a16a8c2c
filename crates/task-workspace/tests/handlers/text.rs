//! Text and Markdown.

use briefing_task_workspace::handler::{
    FileHandler, FormatRequest, FormatValue, Formatted, MarkdownHandler, TextHandler,
};
use serde_json::json;

use super::{codes, read, refusal, write};

#[test]
fn a_mark_is_not_shown_and_is_written_again() {
    for file in [&b"\xEF\xBB\xBFold"[..], b"\xFF\xFEo\0l\0d\0", b"\xFE\xFF\0o\0l\0d"] {
        let shown = read(&TextHandler, file);
        assert_eq!((shown.text.as_str(), shown.verbatim), ("old", true));
        let written = TextHandler.write(Some(file), &FormatValue::from("水 new")).unwrap();
        let back = read(&TextHandler, &written);
        assert_eq!((back.text.as_str(), &back.encoding), ("水 new", &shown.encoding));
        assert_eq!(written[0], file[0]);
    }
    assert_eq!(read(&TextHandler, b"\xFE\xFF\0o").encoding.unwrap(), "utf-16be");
}

#[test]
fn line_ends_follow_a_file_that_has_only_crlf() {
    assert_eq!(write(&TextHandler, Some("a\r\nb\r\n"), "c\nd"), "c\r\nd");
    assert_eq!(write(&TextHandler, Some("a\r\nb\n"), "c\nd"), "c\nd");
    assert_eq!(write(&TextHandler, Some("no line end"), "c\nd"), "c\nd");
    assert_eq!(write(&TextHandler, Some("a\r\n"), "c\r\nd\n"), "c\r\nd\n");
    assert_eq!(write(&TextHandler, Some("a\n"), "c\r\nd"), "c\r\nd");
    assert_eq!(write(&TextHandler, None, "c\nd"), "c\nd");
}

#[test]
fn a_guessed_encoding_is_named_in_a_diagnostic() {
    let shown = read(&TextHandler, b"Stra\xDFe und Gr\xFC\xDFe\n");
    assert_eq!(
        (shown.text.as_str(), codes(&shown)),
        ("Straße und Grüße\n", vec!["workspace.handler_encoding_guessed"])
    );
    assert_eq!(shown.diagnostics[0].details["encoding"], json!(shown.encoding.unwrap()));
}

#[test]
fn bytes_that_are_no_text_are_an_error_that_says_why() {
    let error = TextHandler.read(b"\x7fELF\x02\0\x01\xFF", &FormatRequest::whole()).unwrap_err();
    assert_eq!(error.code(), "workspace.handler_undecodable");
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("NUL"));
    let error = TextHandler.write(Some(b"\x7fELF\x02\0\x01\xFF"), &FormatValue::from("x")).unwrap_err();
    assert_eq!(error.code(), "workspace.handler_undecodable");
}

#[test]
fn a_text_that_would_be_read_as_another_is_not_written() {
    assert_eq!(refusal(&TextHandler, None, "\u{FEFF}begins with a mark").0, "workspace.handler_encoding");
    assert_eq!(refusal(&TextHandler, None, "l\0o\0o\0k\0s\0 \0w\0i\0d\0e\0").0, "workspace.handler_encoding");
    assert_eq!(refusal(&TextHandler, None, json!("text")).0, "workspace.handler_unsupported");
}

#[test]
fn windows_count_chars_and_say_where_to_go_on() {
    let window = |offset, chars| {
        let read = TextHandler.read("水泵 P1".as_bytes(), &FormatRequest::window(offset, chars)).unwrap();
        assert_eq!((read.total_chars, read.offset_chars), (5, offset));
        (read.text.clone(), read.next_offset_chars, read.is_complete())
    };
    assert_eq!(window(0, 2), ("水泵".to_owned(), Some(2), false));
    assert_eq!(window(2, 3), (" P1".to_owned(), None, false));
    assert_eq!(window(1, 0), ("泵".to_owned(), Some(2), false));
    assert_eq!(window(5, 4), (String::new(), None, false));
    assert_eq!(window(0, 5), ("水泵 P1".to_owned(), None, true));
}

#[test]
fn what_was_read_can_be_stored_and_loaded() {
    let read = read(&MarkdownHandler, "# Pump\n");
    let stored = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<Formatted>(&stored).unwrap(), read);
}

#[test]
fn an_outline_places_every_section() {
    let text = "---\ntitle: \"Pump: 水\"\ntags: [a]\n---\n\nBefore.\n\n# 水泵 `P1`\r\nText\n\n```\n# no heading\n```\n\
                ## Parts *and* more\nSeal\n\nSetext\n======\nEnd\n";
    let outline = read(&MarkdownHandler, text).value.unwrap();
    assert_eq!(outline["front_matter"], "title: \"Pump: 水\"\ntags: [a]\n");
    let headings = outline["headings"].as_array().unwrap();
    let found: Vec<_> =
        headings.iter().map(|heading| (&heading["level"], &heading["text"], &heading["line"])).collect();
    assert_eq!(
        found,
        [
            (&json!(1), &json!("水泵 P1"), &json!(8)),
            (&json!(2), &json!("Parts and more"), &json!(14)),
            (&json!(1), &json!("Setext"), &json!(17)),
        ]
    );
    let section = |index: usize| {
        let number = |key: &str| usize::try_from(headings[index][key].as_u64().unwrap()).unwrap();
        let request = FormatRequest::window(number("offset_chars"), number("chars"));
        MarkdownHandler.read(text.as_bytes(), &request).unwrap().text
    };
    assert!(section(0).starts_with("# 水泵") && section(0).ends_with("Seal\n\n"));
    assert_eq!(section(1), "## Parts *and* more\nSeal\n\n");
    assert_eq!(section(2), "Setext\n======\nEnd\n");
}

#[test]
fn rules_further_down_are_no_front_matter() {
    let outline = read(&MarkdownHandler, "Text\n\n---\na: b\n---\n").value.unwrap();
    assert_eq!(outline.get("front_matter"), None);
    assert_eq!(read(&MarkdownHandler, "").value.unwrap(), json!({"headings": []}));
}
