//! Separated values.

use briefing_task_workspace::handler::{CsvHandler, FileHandler, FormatRequest};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{codes, read, refusal, write};

const CSV: CsvHandler = CsvHandler::sniffing();

#[test]
fn a_table_shows_numbered_rows_and_escaped_cells() {
    let shown = read(&CSV, "pump,note\r\nP1,\"a\r\nb\"\r\nP|2,\"c:\\\"\r\n\r\n,\t\r\n");
    let table =
        "| # | pump | note |\n|---|---|---|\n| 1 | P1 | a\\r\\nb |\n| 2 | P\\|2 | c:\\\\ |\n| 3 |  | \\t |\n";
    assert_eq!(shown.text, table);
    assert_eq!(shown.value.unwrap()[0], json!({"pump": "P1", "note": "a\r\nb"}));
    assert!(!shown.verbatim && shown.diagnostics.is_empty());
    assert_eq!(read(&CSV, "").text, "");
}

#[test]
fn the_delimiter_is_found() {
    for (text, first) in [
        ("a;b\n1,5;2,5\n", json!({"a": "1,5", "b": "2,5"})),
        ("a\tb, c\n1\t2\n", json!({"a": "1", "b, c": "2"})),
        ("a|b\n1|2, 3\n", json!({"a": "1", "b": "2, 3"})),
        ("a,b\n\"x;y\",z;\n", json!({"a": "x;y", "b": "z;"})),
        ("\"a\",\"b;c\"\n\"1\",\"2;3\"\n", json!({"a": "1", "b;c": "2;3"})),
        ("one\ntwo\n", json!({"one": "two"})),
        ("1,5;2,5;x\n3,5;4,5;y\n", json!({"1,5": "3,5", "2,5": "4,5", "x": "y"})),
    ] {
        assert_eq!(read(&CSV, text).value.unwrap()[0], first, "{text}");
    }
    assert_eq!(read(&CsvHandler::tabs(), "a,b\n1,2\n").value.unwrap(), json!([{"a,b": "1,2"}]));
}

#[test]
fn ragged_rows_are_shown_and_counted() {
    let shown = read(&CSV, "a,b\n1,2\n3\n4,5,6\n");
    assert!(shown.text.ends_with("| 1 | 1 | 2 |\n| 2 | 3 |\n| 3 | 4 | 5 | 6 |\n"));
    assert_eq!(codes(&shown), ["workspace.csv_rows_ragged"]);
    let details = &shown.diagnostics[0].details;
    assert_eq!(
        (&details["rows"], &details["first_row"], &details["of_rows"]),
        (&json!(2), &json!(2), &json!(3))
    );
    assert_eq!(shown.value.unwrap(), json!([["a", "b"], ["1", "2"], ["3"], ["4", "5", "6"]]));
}

#[test]
fn a_first_row_of_numbers_is_no_header() {
    let shown = read(&CSV, "1,2\n3,4\n");
    assert_eq!(shown.text, "| # | column 1 | column 2 |\n|---|---|---|\n| 1 | 1 | 2 |\n| 2 | 3 | 4 |\n");
    assert_eq!(shown.value.unwrap(), json!([["1", "2"], ["3", "4"]]));
    assert_eq!(read(&CSV, "a,a\nx,y\n").value.unwrap(), json!([["a", "a"], ["x", "y"]]));
    assert_eq!(read(&CSV, ",2020\nx,1\n").value.unwrap(), json!([["", "2020"], ["x", "1"]]));
    assert_eq!(read(&CSV, "land,2020\nx,1\n").value.unwrap(), json!([{"land": "x", "2020": "1"}]));
}

#[test]
fn quotes_that_stand_astray_are_said() {
    let shown = read(&CSV, "a,b\n1,\"2\n3,4\n");
    assert_eq!(codes(&shown), ["workspace.csv_quotes_stray"]);
    assert!(shown.text.contains("| 1 | 1 | 2\\n3,4\\n |"), "{}", shown.text);
    for stray in ["a,b\n1,2\"\n", "a,b\n\"1\" x,2\n"] {
        assert_eq!(codes(&read(&CSV, stray)), ["workspace.csv_quotes_stray"], "{stray}");
    }
    assert_eq!(codes(&read(&CSV, "a,b\n\"1\"\"\",\"\"\n")), Vec::<&str>::new());
}

#[test]
fn quotes_astray_between_tabs_are_characters() {
    let file = "name\tsize\npipe\t2\"\n\"P1\" pump\t3\n";
    for handler in [CSV, CsvHandler::tabs()] {
        let shown = read(&handler, file);
        assert_eq!(codes(&shown), Vec::<&str>::new());
        let mut value = shown.value.unwrap();
        assert_eq!(value[1]["name"], "\"P1\" pump");
        value[0]["size"] = json!("\"4\"");
        assert_eq!(write(&handler, Some(file), value.clone()), file.replace("2\"", "\"4\""));
        value[0]["size"] = json!("a\tb");
        assert_eq!(read(&handler, write(&handler, Some(file), value.clone())).value.unwrap(), value);
    }
    assert_eq!(read(&CSV, "a\tb\n\"x\ty\"\t2\n").value.unwrap(), json!([{"a": "x\ty", "b": "2"}]));
}

#[test]
fn rows_that_did_not_change_stay_as_they_are_written() {
    let equal = "a,b\n1,\"x\"\n\"1\",x\n";
    assert_eq!(write(&CSV, Some(equal), read(&CSV, equal).value.unwrap()), equal);
    let file = "a,b\r\n1,\"x\"\r\n\r\n\"2\",y\r\n\"3\",\"l\r\n\"\r\n";
    let mut value = read(&CSV, file).value.unwrap();
    assert_eq!(write(&CSV, Some(file), value.clone()), file.replace("\r\n\r\n", "\r\n"));
    value.as_array_mut().unwrap().remove(1);
    value.as_array_mut().unwrap().insert(0, json!({"a": "new", "b": "p,q"}));
    assert_eq!(write(&CSV, Some(file), value), "a,b\r\nnew,\"p,q\"\r\n1,\"x\"\r\n\"3\",\"l\r\n\"\r\n");
}

#[test]
fn objects_go_under_the_columns_of_the_file() {
    let file = "name;hours;note\r\nP1;12;ok\r\n";
    let value = json!([
        {"hours": 13.5, "name": "P1", "note": null},
        {"zone": true, "name": "a;b", "area": "\"x\""},
    ]);
    let written = "name;hours;note;area;zone\r\nP1;13.5;;;\r\n\"a;b\";;;\"\"\"x\"\"\";true\r\n";
    assert_eq!(write(&CSV, Some(file), value), written);
    assert_eq!(write(&CSV, Some(file), json!([])), "name;hours;note\r\n");
    assert_eq!(write(&CSV, Some(file), json!([["x", "y"], [1, "2\n3"]])), "x;y\r\n1;\"2\n3\"\r\n");
    assert_eq!(write(&CSV, None, json!([{"b": 1, "a": 2}])), "a,b\n2,1\n");
    assert_eq!(write(&CsvHandler::tabs(), None, json!([{"b": 1, "a": "x y"}])), "a\tb\nx y\t1\n");
}

#[test]
fn habits_of_the_file_are_kept() {
    let changed = |file: &str| {
        let mut value = read(&CSV, file).value.unwrap();
        value[0]["b"] = json!("new");
        write(&CSV, Some(file), value)
    };
    assert_eq!(changed("\"a\",\"b\"\n\"1\",\"2\"\n"), "\"a\",\"b\"\n\"1\",\"new\"\n");
    assert_eq!(changed("\"a\",\"b\"\n1,2\n"), "\"a\",\"b\"\n1,\"new\"\n");
    assert_eq!(changed("a,\"b\"\n1,\"2\"\n"), "a,\"b\"\n1,new\n");
    assert_eq!(changed("a,b\n1,2"), "a,b\n1,new");
    assert_eq!(changed("a,b\r\n1,2\r\n3,\"x\ny\""), "a,b\r\n1,new\r\n3,\"x\ny\"");
    assert_eq!(changed("\u{FEFF}a;b\n1;2\n"), "\u{FEFF}a;b\n1;new\n");
}

#[test]
fn a_table_that_speaks_for_another_delimiter_is_quoted() {
    let rows = json!([["a;b"], ["c;d"]]);
    let written = write(&CSV, None, rows.clone());
    assert_eq!(written, "\"a;b\"\n\"c;d\"\n");
    assert_eq!(read(&CSV, &written).value.unwrap(), json!([{"a;b": "c;d"}]));
}

#[test]
fn values_of_another_shape_are_refused_with_their_place() {
    for (file, value, place) in [
        (None, json!({"a": 1}), "$ is an object"),
        (None, json!([1]), "$[0] is a number"),
        (None, json!([["a"], {"b": 1}]), "$[1] is an object"),
        (None, json!([{"a": 1}, ["b"]]), "$[1] is an array"),
        (None, json!([{"a": {"b": 1}}]), "$[0].a is an object"),
        (None, json!([["x", ["y"]]]), "$[0][1] is an array"),
        (None, json!([[]]), "$[0] is an empty array"),
        (None, json!([{}]), "$[0] is an object without keys"),
        (Some("a,a\n1,2\n"), json!([{"a": 1}]), "$ is an array of objects"),
    ] {
        let (code, message) = refusal(&CSV, file, value);
        assert_eq!(code, "workspace.handler_value");
        assert!(message.starts_with(&format!("the value at {place}; accepted is ")), "{message}");
    }
    assert_eq!(refusal(&CSV, None, "a,b\n").0, "workspace.handler_unsupported");
}

#[test]
fn a_table_of_too_many_cells_is_shown_without_a_value() {
    let file = "a,b\n".to_owned() + &"1,2\n".repeat(500_001);
    let shown = CSV.read(file.as_bytes(), &FormatRequest::window(0, 40)).unwrap();
    assert_eq!((&shown.value, codes(&shown)), (&None, vec!["workspace.handler_value_withheld"]));
    let end = CSV
        .read(file.as_bytes(), &FormatRequest::window(shown.total_chars - 19, 100).without_value())
        .unwrap();
    assert_eq!((end.text.as_str(), end.next_offset_chars), ("| 500001 | 1 | 2 |\n", None));
}

fn any_cell() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-c,;|\t\"'\r\n \\\\]{0,6}",
        "-?[0-9]{1,4}([.,][0-9]{1,2})?",
        Just(String::new()),
    ]
}

fn any_rows() -> impl Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(any_cell(), 1..5), 0..8)
}

/// All rows of a value as arrays.
fn all_rows(value: &Value, header: &[String]) -> Vec<Vec<String>> {
    let text = |cell: &Value| cell.as_str().unwrap().to_owned();
    let is_objects = value.as_array().unwrap().first().is_none_or(Value::is_object);
    let header_row = is_objects.then(|| header.to_vec());
    let rows = value.as_array().unwrap().iter().map(|row| match row {
        Value::Array(cells) => cells.iter().map(text).collect(),
        _ => header.iter().map(|name| text(&row[name.as_str()])).collect(),
    });
    header_row.into_iter().chain(rows).collect()
}

proptest! {
    #[test]
    fn any_rows_read_back_equal(
        rows in any_rows(),
        file in prop::sample::select(vec![None, Some("a;b\r\n1;2\r\n"), Some("\"x\"\t\"y\""), Some("a|b\n"), Some("z\n")]),
    ) {
        prop_assume!(!rows.is_empty());
        // A text cannot begin with U+FEFF: it would be a mark.
        prop_assume!(!rows[0][0].starts_with('\u{FEFF}'));
        let Ok(written) = CSV.write(file.map(str::as_bytes), &json!(rows).into()) else {
            // NULs between ASCII read as UTF-16, which is refused.
            prop_assert!(rows.iter().flatten().any(|cell| cell.contains('\0')), "{:?}", rows);
            return Ok(());
        };
        let back = read(&CSV, &written);
        prop_assert_eq!(all_rows(&back.value.unwrap(), &rows[0]), rows);
    }

    #[test]
    fn any_objects_read_back_equal(
        rows in prop::collection::vec(prop::array::uniform3(any_cell()), 1..8),
        names in prop::array::uniform3("[a-z,;\"\n]{1,5}"),
    ) {
        prop_assume!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
        let objects: Vec<Value> = rows
            .iter()
            .map(|row| names.iter().zip(row).map(|(name, cell)| (name.clone(), json!(cell))).collect::<Value>())
            .collect();
        let Ok(written) = CSV.write(None, &json!(objects).into()) else {
            prop_assert!(rows.iter().flatten().any(|cell| cell.contains('\0')), "{:?}", rows);
            return Ok(());
        };
        prop_assert_eq!(read(&CSV, &written).value.unwrap(), json!(objects));
    }
}
