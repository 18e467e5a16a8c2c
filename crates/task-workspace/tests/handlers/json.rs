//! JSON and JSON lines.

use briefing_task_workspace::handler::{FileHandler, FormatRequest, JsonHandler, JsonLinesHandler};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{codes, read, refusal, write};

const PLAN: &str = "{\n    \"name\": \"pump\",\n    \"serial\": 12345678901234567890123,\n    \"limits\": [1.50, 2e3],\n    \
                    \"empty\": {},\n    \"a\": {\n        \"z\": true,\n        \"b\": null\n    }\n}\n";

#[test]
fn a_file_on_one_line_is_shown_indented_with_its_order_and_its_digits() {
    let shown = read(&JsonHandler, r#"{"z":1.0,"a":[1e2,12345678901234567890123,[]],"o":{}}"#);
    let text =
        "{\n  \"z\": 1.0,\n  \"a\": [\n    1e2,\n    12345678901234567890123,\n    []\n  ],\n  \"o\": {}\n}";
    assert_eq!((shown.text.as_str(), shown.verbatim), (text, false));
    assert_eq!(codes(&shown), ["workspace.json_numbers_rounded"]);
    assert_eq!(shown.diagnostics[0].details["first"], "12345678901234567890123");
}

#[test]
fn a_file_that_is_indented_regularly_is_shown_as_it_is() {
    for indent in ["\t", " ", "    "] {
        let text = format!("{{\n{indent}\"b\": [\n{indent}{indent}1\n{indent}],\n{indent}\"a\": 2\n}}\n");
        let shown = read(&JsonHandler, format!("\u{FEFF}{text}"));
        assert_eq!((shown.text, shown.verbatim), (text, true));
    }
    assert!(!read(&JsonHandler, "{\n  \"a\": 1,\n      \"b\": 2\n}").verbatim);
}

#[test]
fn what_is_no_json_is_shown_as_text_with_the_place_of_the_fault() {
    for (text, line, column, reason) in [
        ("{\n  \"泵\": x\n}", 2, 8, "expected value"),
        ("[1, 2", 1, 5, "EOF while parsing a list"),
        ("{\"a\": NaN}", 1, 7, "expected value"),
        ("[1] [2]", 1, 5, "trailing characters"),
        ("", 1, 1, "EOF while parsing a value"),
    ] {
        let shown = read(&JsonHandler, text);
        assert_eq!((shown.text.as_str(), &shown.value, shown.verbatim), (text, &None, true));
        assert_eq!(codes(&shown), ["workspace.handler_malformed"]);
        let details = &shown.diagnostics[0].details;
        assert_eq!((&details["line"], &details["column"]), (&json!(line), &json!(column)), "{text}");
        assert!(details["reason"].as_str().unwrap().starts_with(reason), "{details:?}");
    }
}

#[test]
fn what_a_value_cannot_hold_is_said() {
    let shown = read(&JsonHandler, r#"{"a": 1, "a": 2, "b": "x"}"#);
    assert_eq!(
        (codes(&shown), &shown.diagnostics[0].details["first"]),
        (vec!["workspace.json_keys_repeated"], &json!("a"))
    );
    assert_eq!(shown.text.matches("\"a\"").count(), 2);
    let shown = read(&JsonHandler, "[1e999]");
    assert_eq!((&shown.value, codes(&shown)[0]), (&None, "workspace.handler_value_withheld"));
    let shown = read(&JsonHandler, r#"["\ud83d"]"#);
    assert_eq!((&shown.value, codes(&shown)), (&None, vec!["workspace.handler_value_withheld"]));
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let shown = read(&JsonHandler, &deep);
    assert_eq!(codes(&shown), ["workspace.json_not_indented", "workspace.handler_value_withheld"]);
    assert_eq!(shown.text, deep);
}

#[test]
fn an_edit_changes_what_it_changes_and_nothing_else() {
    let mut value = read(&JsonHandler, PLAN).value.unwrap();
    value["a"]["b"] = json!([1]);
    value["a"]["new"] = json!({"y": "ü"});
    value["limits"][1] = json!(3);
    let expected = PLAN.replace("[1.50, 2e3]", "[1.50, 3]").replace(
        "\"b\": null",
        "\"b\": [\n            1\n        ],\n        \"new\": {\n            \"y\": \"ü\"\n        }",
    );
    assert_eq!(write(&JsonHandler, Some(PLAN), value.clone()), expected);

    value.as_object_mut().unwrap().remove("limits");
    assert!(!write(&JsonHandler, Some(PLAN), value).contains("limits"));
}

#[test]
fn items_keep_how_they_are_written_when_others_come_and_go() {
    let file = "[1.00, {\"id\": \"b\", \"z\": 2.0, \"a\": 3.0}, 4.000, 5.0000]";
    let written = write(&JsonHandler, Some(file), json!([4.0, 9, {"id": "b", "a": 3.0, "z": 7}, 1.0]));
    assert_eq!(written, "[4.000, 9, {\"id\": \"b\", \"z\": 7, \"a\": 3.0}, 1.00]");
}

#[test]
fn the_form_of_the_file_is_kept() {
    for (file, written) in [
        ("{\"a\":1}", "{\"a\":[1,{\"b\":\"ä\"}]}"),
        ("{ \"a\" : 1 }\n\n", "{\"a\" : [1,{\"b\" : \"ä\"}]}\n\n"),
        (
            "{\r\n\t\"a\": 1\r\n}\r\n",
            "{\r\n\t\"a\": [\r\n\t\t1,\r\n\t\t{\r\n\t\t\t\"b\": \"ä\"\r\n\t\t}\r\n\t]\r\n}\r\n",
        ),
        ("{\n \"a\": \"\\u00fc\"}", "{\n \"a\": [\n  1,\n  {\n   \"b\": \"\\u00e4\"\n  }\n ]\n}"),
        ("\u{FEFF}{\"a\": 1, \"c\": 2}", "\u{FEFF}{\"a\": [1, {\"b\": \"ä\"}], \"c\": 2}"),
    ] {
        let mut value = read(&JsonHandler, file).value.unwrap();
        value["a"] = json!([1, {"b": "ä"}]);
        assert_eq!(write(&JsonHandler, Some(file), value), written);
    }
    assert_eq!(write(&JsonHandler, None, json!({"a": [1]})), "{\n  \"a\": [\n    1\n  ]\n}\n");
    assert_eq!(write(&JsonHandler, Some("{broken"), json!({"a": {}})), "{\n  \"a\": {}\n}\n");
}

#[test]
fn a_text_is_written_exactly_and_laid_out_like_a_regular_file() {
    let digits = r#"{"z": 1.500, "a": 123456789012345678901234567890}"#;
    let regular = "{\n\t\"q\": 1\n}\n";
    let laid_out = "{\n\t\"z\": 1.500,\n\t\"a\": 123456789012345678901234567890\n}\n";
    assert_eq!(write(&JsonHandler, Some(regular), digits), laid_out);
    assert_eq!(write(&JsonHandler, Some("{\n\"q\": 1}"), digits), digits);
    assert_eq!(write(&JsonHandler, None, digits), digits);
    let (code, message) = refusal(&JsonHandler, Some(regular), "{\n  \"水\": [1 2]\n}");
    assert_eq!(code, "workspace.handler_malformed");
    assert!(message.starts_with("no json at line 2, column 11: expected `,` or `]`"), "{message}");
}

#[test]
fn values_that_could_not_be_read_back_are_refused() {
    let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(refusal(&JsonHandler, None, nested(128)).0, "workspace.handler_value");
    let written = write(&JsonHandler, None, nested(127));
    assert_eq!(read(&JsonHandler, written).value.unwrap(), nested(127));
}

#[test]
fn lines_are_values_and_a_faulty_line_is_named() {
    let shown = read(&JsonLinesHandler, "{\"b\":1,\"a\":2.0}\r\n\r\n[3]\n");
    assert_eq!(shown.value.unwrap(), json!([{"b": 1, "a": 2.0}, [3]]));
    assert!(shown.verbatim);

    let shown = read(&JsonLinesHandler, "1\n\n  {x}\n2\n");
    assert_eq!((&shown.value, shown.text.as_str()), (&None, "1\n\n  {x}\n2\n"));
    let details = &shown.diagnostics[0].details;
    assert_eq!((&details["line"], &details["column"]), (&json!(3), &json!(4)));

    let shown = read(&JsonLinesHandler, "x\n".repeat(500));
    let withheld = shown.diagnostics.last().unwrap();
    assert_eq!(
        (shown.diagnostics.len(), &withheld.details["reason"]),
        (21, &json!("500 lines are not JSON"))
    );
}

#[test]
fn a_line_that_did_not_change_stays_as_it_is_written() {
    let file = "{\"id\": \"a\", \"v\": 1.00}\r\n{\"id\": \"b\", \"v\": 2.00}\r\n";
    let mut value = read(&JsonLinesHandler, file).value.unwrap();
    value[0]["v"] = json!(7);
    value.as_array_mut().unwrap().insert(0, json!({"new": [1, 2]}));
    let written = "{\"new\": [1, 2]}\r\n{\"id\": \"a\", \"v\": 7}\r\n{\"id\": \"b\", \"v\": 2.00}\r\n";
    assert_eq!(write(&JsonLinesHandler, Some(file), value), written);
    assert_eq!(write(&JsonLinesHandler, None, json!([1, {"a": "b\nc"}])), "1\n{\"a\":\"b\\nc\"}\n");
    assert_eq!(write(&JsonLinesHandler, Some("1\n2"), json!([1, 2, 3])), "1\n2\n3");
    assert_eq!(write(&JsonLinesHandler, Some("{\n"), json!([])), "");
    assert_eq!(refusal(&JsonLinesHandler, None, json!({"a": 1})).0, "workspace.handler_value");
    assert_eq!(
        refusal(&JsonLinesHandler, None, "1\n2,\n").1,
        "no json-lines at line 2, column 2: trailing characters"
    );
}

#[test]
fn a_window_needs_no_value() {
    let bare =
        JsonHandler.read(b"[12345678901234567890123]", &FormatRequest::window(0, 4).without_value()).unwrap();
    assert_eq!((bare.text.as_str(), bare.value, bare.diagnostics.len()), ("[\n  ", None, 0));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300..1e300).prop_map(|float: f64| json!(float)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// How a value may be written: on one line or on many.
fn any_text() -> impl Strategy<Value = String> {
    (any_value(), any::<bool>()).prop_map(|(value, pretty)| {
        if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() }
    })
}

proptest! {
    #[test]
    fn whatever_is_written_over_whatever_reads_back_equal(file in any_text(), value in any_value()) {
        let written = write(&JsonHandler, Some(&file), value.clone());
        prop_assert_eq!(read(&JsonHandler, &written).value, Some(value.clone()));
        // Once it stands there, writing it again changes nothing.
        prop_assert_eq!(write(&JsonHandler, Some(&written), value), written);
    }

    #[test]
    fn numbers_keep_every_digit(
        numbers in prop::collection::vec("-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", 1..20),
        changed in any::<prop::sample::Index>(),
    ) {
        let members: Vec<String> = numbers.iter().enumerate().map(|(at, number)| format!("\"k{at}\":{number}")).collect();
        let file = format!("{{{}}}", members.join(","));
        let shown = read(&JsonHandler, &file);
        for number in &numbers {
            let ends = [format!(": {number},\n"), format!(": {number}\n")];
            prop_assert!(ends.iter().any(|end| shown.text.contains(end)), "{} in {}", number, shown.text);
        }
        let mut value = shown.value.unwrap();
        let changed = changed.index(numbers.len());
        value[format!("k{changed}")] = json!("other");
        let expected = file.replacen(&members[changed], &format!("\"k{changed}\":\"other\""), 1);
        prop_assert_eq!(write(&JsonHandler, Some(&file), value), expected);
    }
}
