//! Sheets show the values of their cells where they stand, and nothing that is not there.
#![cfg(feature = "documents")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod documents_support;

use briefing_formats::{DocumentLimits, document_text};
use documents_support::{codes, one_sheet, read, sheet, try_read, workbook, xlsx};

fn value(address: &str, kind: &str, value: &str) -> String {
    format!(r#"<c r="{address}" t="{kind}"><v>{value}</v></c>"#)
}

fn styled(address: &str, style: usize, value: &str) -> String {
    format!(r#"<c r="{address}" s="{style}"><v>{value}</v></c>"#)
}

#[test]
fn each_kind_of_cell_shows_its_value() {
    let strings = r#"<sst xmlns="x"><si><t>plain</t></si><si><r><rPr><b/></rPr><t>rich </t></r><r><t>text</t></r><rPh><t>reading</t></rPh></si><si><t>a|b_x000A_c</t></si></sst>"#;
    let data = [
        r#"<row r="1">"#,
        &value("A1", "s", "0"),
        &value("B1", "s", "1"),
        &value("C1", "s", "2"),
        &value("D1", "b", "1"),
        &value("E1", "e", "#DIV/0!"),
        "</row><row>",
        r#"<c><v>3.1400000000000001</v></c>"#,
        r#"<c t="str"><f>A1&amp;"x"</f><v>shown</v></c>"#,
        r#"<c><f>SUM(A1:A9)</f></c><c><f>NOW()</f><v></v></c>"#,
        r#"<c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>"#,
        "</row>",
        r#"<row r="3"><c r="A3"><f t="shared" si="4">B1+1</f></c><c r="B3"><f t="shared" si="4"/></c><c r="C3" t="d"><v>2024-05-17</v></c><c r="D3" t="str"><f>""</f><v></v></c></row>"#,
    ]
    .concat();
    let bytes = xlsx()
        .part("worksheet", "worksheets/sheet1.xml", &sheet(&format!("<sheetData>{data}</sheetData>")))
        .part("sharedStrings", "sharedStrings.xml", strings)
        .bytes(&workbook("", &[("S", "")]));
    let document = read(&bytes);
    assert_eq!(
        document.text,
        "# Sheet: S\n\nCells A1:E3\n\n\
         | plain | rich text | a\\|b<br>c | TRUE | #DIV/0! |\n| --- | --- | --- | --- | --- |\n\
         | 3.14 | shown | =SUM(A1:A9) | =NOW() | inline |\n\
         | =B1+1 | =(formula of A3) | 2024-05-17 | | |\n"
    );
    assert_eq!((codes(&document), document.notes[0].count), (vec!["document.formulas_without_value"], 4));
}

#[test]
fn dates_follow_their_formats_in_both_systems() {
    let styles = r##"<styleSheet xmlns="x"><numFmts><numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;m&quot;月&quot;"/><numFmt numFmtId="165" formatCode="[h]:mm"/><numFmt numFmtId="166" formatCode="#,##0.00 &quot;days&quot;"/></numFmts>
        <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
        <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="10"/><xf numFmtId="166"/><xf numFmtId="20"/></cellXfs></styleSheet>"##;
    let data = [
        r#"<row r="1">"#,
        &styled("A1", 0, "45429"),
        &styled("B1", 1, "45429"),
        &styled("C1", 2, "45429.5625"),
        &styled("D1", 3, "45429"),
        &styled("E1", 4, "1.5"),
        &styled("F1", 5, "0.125"),
        &styled("G1", 6, "45429"),
        &styled("H1", 7, "0.25"),
        &styled("I1", 1, "-3"),
        &styled("J1", 99, "5"),
        "</row>",
    ]
    .concat();
    for (properties, dates) in [
        ("", ["2024-05-17", "2024-05-17T13:30:00"]),
        (r#"<workbookPr date1904="1"/>"#, ["2028-05-18", "2028-05-18T13:30:00"]),
    ] {
        let bytes = xlsx()
            .part("worksheet", "worksheets/sheet1.xml", &sheet(&format!("<sheetData>{data}</sheetData>")))
            .part("styles", "styles.xml", styles)
            .bytes(&workbook(properties, &[("S", "")]));
        let row = format!(
            "| 45429 | {0} | {1} | {0} | 36:00:00 | 12.50% | 45429 | 06:00:00 | -3 | 5 |",
            dates[0], dates[1]
        );
        let text = read(&bytes).text;
        assert!(text.contains(&row), "{row}\n{text}");
    }
}

#[test]
fn cells_that_lie_far_apart_are_listed_and_never_filled_in() {
    let mut data = String::from(r#"<row r="1"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>"#);
    data += r#"<row r="2"><c r="B2"><v>3</v></c></row><row r="9"><c r="C9"><v>4</v></c><c r="D9"><v>5</v></c></row>"#;
    assert_eq!(
        read(&one_sheet(&data)).text,
        "# Sheet: S\n\n- A1: 1\n- XFD1: 2\n- B2: 3\n\nCells C9:D9\n\n| 4 | 5 |\n| --- | --- |\n"
    );
}

#[test]
fn sheets_come_in_the_order_of_tabs_with_what_they_hide() {
    let bytes = xlsx()
        .part("worksheet", "worksheets/first.xml", &sheet(r#"<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData><drawing r:id="rId9"/>"#))
        .part("worksheet", "worksheets/second.xml", &sheet(r#"<cols><col min="2" max="3" hidden="1"/></cols><sheetData><row r="4" hidden="1"><c><v>2</v></c></row><row r="5" hidden="1"><c><v>3</v></c></row><row r="8" hidden="1"><c><v>4</v></c></row></sheetData>"#))
        .part("chartsheet", "chartsheets/sheet1.xml", "<chartsheet/>")
        .relationships_of("xl/worksheets/first.xml", &[("comments", "../comments1.xml")])
        .raw("xl/comments1.xml", r#"<comments xmlns="x"><commentList><comment ref="A1"><text><r><t>Bob:</t></r><r><t xml:space="preserve"> why
one?</t></r></text></comment></commentList></comments>"#)
        .bytes(&workbook("", &[("One", ""), ("Two", r#"state="veryHidden""#), ("Chart", ""), ("Lost", "")]));
    let document = read(&bytes);
    assert_eq!(
        document.text,
        "# Sheet: One\n\n- A1: 1\n\nComments:\n- A1: Bob: why one?\n\n\
         # Sheet: Two (hidden)\n\nCells A4:A5\n\n| 2 |\n| --- |\n| 3 |\n\n- A8: 4\n\n\
         Hidden rows: 4-5, 8\nHidden columns: B-C\n\n# Sheet: Chart\n\n# Sheet: Lost\n"
    );
    assert!(!document.complete, "a sheet whose part is missing is a loss");
    let counts: Vec<_> = document.notes.iter().map(|note| (note.code, note.count)).collect();
    assert_eq!(
        counts,
        [
            ("document.drawings_left_out", 1),
            ("document.hidden_sheet", 1),
            ("document.hidden_rows", 3),
            ("document.hidden_columns", 2),
            ("document.charts_left_out", 1),
            ("document.content_unreadable", 1),
        ]
    );
    assert_eq!(document.notes[1].places, ["sheet Two"]);
}

#[test]
fn cells_beyond_the_limit_are_cut_with_a_note() {
    let data: String = (1..=10)
        .map(|row| format!(r#"<row r="{row}"><c><v>{row}</v></c><c><v>x{row}</v></c></row>"#))
        .collect();
    let document = document_text(&one_sheet(&data), &DocumentLimits::default().max_cells(5)).unwrap();
    assert_eq!(
        document.text,
        "# Sheet: S\n\nCells A1:B3\n\n| 1 | x1 |\n| --- | --- |\n| 2 | x2 |\n| 3 | |\n"
    );
    assert_eq!((document.complete, codes(&document)), (false, vec!["document.cells_cut"]));
}

#[test]
fn one_long_string_in_many_cells_is_bounded_by_the_text() {
    let strings = format!("<sst><si><t>{}</t></si></sst>", "long ".repeat(20_000));
    let cells: String =
        (1..=2_000).map(|row| format!(r#"<row r="{row}"><c t="s"><v>0</v></c></row>"#)).collect();
    let bytes = xlsx()
        .part("worksheet", "worksheets/sheet1.xml", &sheet(&format!("<sheetData>{cells}</sheetData>")))
        .part("sharedStrings", "sharedStrings.xml", &strings)
        .bytes(&workbook("", &[("S", "")]));
    let document = document_text(&bytes, &DocumentLimits::default().max_text_chars(250_000)).unwrap();
    assert_eq!((document.text.chars().count(), document.complete), (250_000, false));
    assert_eq!(codes(&document), ["document.text_cut"]);
}

#[test]
fn damaged_sheets_say_so() {
    for (data, reason) in [
        (r#"<row r="1"><c t="s"><v>7</v></c></row>"#, "a shared string that is missing"),
        (r#"<row r="1"><c><v>1</v></row>"#, "sheet1.xml"),
    ] {
        let error = try_read(&one_sheet(data)).unwrap_err();
        assert_eq!(error.code(), "document.damaged");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let disorder = r#"<row r="5"><c r="B5"><v>b</v></c><c r="A5"><v>a</v></c><c r="A5"><v>again</v></c></row><row r="2"><c r="ZZZZ9"><v>c</v></c></row><row r="0"><c><v>d</v></c></row>"#;
    let text = read(&one_sheet(disorder)).text;
    for value in ["a<br>again", "b", "c", "d"] {
        assert!(text.contains(value), "{value} in {text}");
    }
}

#[test]
fn a_workbook_without_values_has_no_text() {
    let error = try_read(&one_sheet(r#"<row r="1"><c r="A1"/></row>"#)).unwrap_err();
    assert_eq!(error.code(), "document.no_text");
}
