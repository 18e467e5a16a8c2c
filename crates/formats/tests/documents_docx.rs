//! What a DOCX shows becomes Markdown, and what it hides does not.
#![cfg(feature = "documents")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod documents_support;

use briefing_formats::{DocumentFormat, DocumentLimits, PassageLimits, SectionKind, document_text, passages};
use documents_support::{body, codes, docx, p, r, read, word};

fn text(inside: &str) -> String {
    read(&docx().bytes(&body(inside))).text
}

const STYLES: &str = r#"
    <w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
    <w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/></w:style>
    <w:style w:type="paragraph" w:styleId="Deep"><w:name w:val="Abschnitt"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
    <w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Pool"/></w:style>
    <w:style w:type="paragraph" w:styleId="Pool"><w:name w:val="Pool"/><w:basedOn w:val="Loop"/></w:style>
    <w:style w:type="character" w:styleId="Emph"><w:name w:val="heading 1"/></w:style>"#;

fn styled(style: &str, text: &str) -> String {
    format!(r#"<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{}</w:p>"#, r(text))
}

#[test]
fn headings_follow_outline_levels_through_styles_of_any_language() {
    let inside = [
        styled("berschrift1", "One"),
        styled("Mine", "Two"),
        styled("Deep", "Three"),
        styled("Loop", "plain"),
        format!(r#"<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr>{}</w:p>"#, r("Four")),
        format!(
            r#"<w:p><w:pPr><w:pStyle w:val="Mine"/><w:outlineLvl w:val="9"/></w:pPr>{}</w:p>"#,
            r("body")
        ),
    ];
    let bytes = docx().part("styles", "styles.xml", &word("styles", STYLES)).bytes(&body(&inside.concat()));
    assert_eq!(read(&bytes).text, "# One\n\n# Two\n\n### Three\n\nplain\n\n## Four\n\nbody\n");
}

#[test]
fn lists_keep_their_levels_and_numbers() {
    let level = |at: usize, format: &str, text: &str| {
        format!(
            r#"<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{format}"/><w:lvlText w:val="{text}"/></w:lvl>"#
        )
    };
    let numbering = word(
        "numbering",
        &format!(
            r#"<w:abstractNum w:abstractNumId="0">{}{}</w:abstractNum><w:abstractNum w:abstractNumId="1">{}</w:abstractNum>
            <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
            <w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>"#,
            level(0, "decimal", "%1."),
            level(1, "lowerLetter", "%1.%2)"),
            level(0, "bullet", "\u{f0b7}")
        ),
    );
    let item = |number: u8, level: u8, text: &str| {
        format!(
            r#"<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr></w:pPr>{}</w:p>"#,
            r(text)
        )
    };
    let inside = [
        item(1, 0, "a"),
        item(1, 1, "b"),
        item(1, 1, "c"),
        item(1, 0, "d"),
        item(1, 1, "e"),
        p("between"),
        item(2, 0, "dot"),
        item(3, 0, "five"),
        item(0, 0, "none"),
    ];
    let bytes = docx().part("numbering", "numbering.xml", &numbering).bytes(&body(&inside.concat()));
    assert_eq!(
        read(&bytes).text,
        "1. a\n   1.a) b\n   1.b) c\n2. d\n   2.a) e\n\nbetween\n\n- dot\n5. five\n\nnone\n"
    );
}

#[test]
fn revisions_show_what_stands_after_them() {
    let deleted_mark =
        r#"<w:p><w:pPr><w:rPr><w:del w:id="9"/></w:rPr></w:pPr><w:r><w:t>run</w:t></w:r></w:p>"#;
    let inside = format!(
        r#"<w:p>{}<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins>{}</w:ins><w:moveFrom>{}</w:moveFrom><w:moveTo>{}</w:moveTo></w:p>
        {deleted_mark}{}<w:del>{}</w:del>"#,
        r("kept "),
        r("new"),
        r("away"),
        r(" here"),
        p(" on"),
        p("whole paragraph")
    );
    let document = read(&docx().bytes(&body(&inside)));
    assert_eq!(document.text, "kept new here\n\nrun on\n");
    assert_eq!(codes(&document), ["document.tracked_deletions_left_out"]);
    assert_eq!(document.notes[0].count, 3);
    assert!(document.complete);
}

#[test]
fn tables_keep_rows_and_columns() {
    let cell = |properties: &str, inside: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>");
    let nested = format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl><w:p/>", cell("", &p("x")), cell("", &p("y")));
    let inside = format!(
        r#"<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid>
        <w:tr>{}{}</w:tr><w:tr>{}{}{}</w:tr>
        <w:tr><w:trPr><w:del/></w:trPr>{}</w:tr>
        <w:sdt><w:sdtContent><w:tr>{}{}{}</w:tr></w:sdtContent></w:sdt></w:tbl>"#,
        cell(r#"<w:gridSpan w:val="2"/>"#, &p("wide")),
        cell("", &p("c")),
        cell(r#"<w:vMerge w:val="restart"/>"#, &p("tall")),
        cell("", &format!("{}{}", p("a|b"), p("line"))),
        cell("", &nested),
        cell("", &p("deleted row")),
        cell("<w:vMerge/>", "<w:p/>"),
        cell("", &p("b2")),
        cell("<w:cellDel/>", &p("deleted cell")),
    );
    assert_eq!(
        text(&inside),
        "| wide | | c |\n| --- | --- | --- |\n| tall | a\\|b<br>line | x, y |\n| | b2 | |\n"
    );
    let framed = format!("<w:tbl><w:tr>{}</w:tr></w:tbl>", cell("", &format!("{}{}", p("one"), p("two"))));
    assert_eq!(text(&framed), "one\n\ntwo\n", "a table of a single cell is a frame");
}

#[test]
fn a_deleted_row_is_gone_even_where_it_is_the_whole_table() {
    let row = |text: &str| format!("<w:tr><w:trPr><w:del/></w:trPr><w:tc>{}</w:tc></w:tr>", p(text));
    assert_eq!(text(&format!("<w:tbl>{}</w:tbl>{}", row("gone"), p("kept"))), "kept\n");
}

#[test]
fn cells_of_tables_beyond_the_limit_are_cut_with_a_note() {
    let rows: String =
        (0..9).map(|row| format!("<w:tr><w:tc>{}</w:tc><w:tc/></w:tr>", p(&format!("r{row}")))).collect();
    let bytes = docx().bytes(&body(&format!("<w:tbl>{rows}</w:tbl>")));
    let document = document_text(&bytes, &DocumentLimits::default().max_cells(4)).unwrap();
    assert_eq!(document.text, "| r0 | |\n| --- | --- |\n| r1 | |\n");
    assert_eq!((document.complete, codes(&document)), (false, vec!["document.cells_cut"]));
    assert_eq!(document.notes[0].count, 14);
}

#[test]
fn fields_show_results_and_not_instructions() {
    let char = |kind: &str| format!(r#"<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>"#);
    let instruction = |text: &str| format!("<w:r><w:instrText>{text}</w:instrText></w:r>");
    let inside = format!(
        "<w:p>{}{}{}{}{}{}{}{}{}{}{}<w:fldSimple w:instr=\" PAGE \">{}</w:fldSimple><w:hyperlink>{}</w:hyperlink></w:p>",
        r("See "),
        char("begin"),
        instruction("IF "),
        char("begin"),
        instruction("MERGEFIELD x"),
        char("separate"),
        r("nested result in an instruction"),
        char("end"),
        char("separate"),
        r("result"),
        char("end"),
        r(" 7"),
        r(" link")
    );
    assert_eq!(text(&inside), "See result 7 link\n");

    let open = format!("<w:p>{}{}{}</w:p>", r("before"), char("begin"), r("swallowed"));
    let document = read(&docx().bytes(&body(&open)));
    assert_eq!((document.text.as_str(), document.complete), ("before\n", false), "a loss is never silent");
    assert_eq!(codes(&document), ["document.content_unreadable"]);
}

#[test]
fn alternative_contents_come_once_and_text_boxes_follow_their_paragraph() {
    let boxed = |text: &str| format!("<w:txbxContent>{}</w:txbxContent>", p(text));
    let inside = format!(
        r#"<w:p>{}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><wps:txbx>{}</wps:txbx></mc:Choice>
        <mc:Choice Requires="other"><wps:txbx>{}</wps:txbx></mc:Choice>
        <mc:Fallback><v:textbox>{}</v:textbox></mc:Fallback></mc:AlternateContent></w:r>{}</w:p>{}
        <mc:AlternateContent><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>"#,
        r("around "),
        boxed("in the box"),
        boxed("second choice"),
        boxed("in the box"),
        r("it"),
        p("after"),
        p("only a fallback")
    );
    assert_eq!(text(&inside), "around it\n\nin the box\n\nafter\n\nonly a fallback\n");
}

#[test]
fn whatever_wraps_text_lets_it_through() {
    let inside = format!(
        r#"<w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>
        <w:customXml>{}</w:customXml>
        <w:p><w:smartTag>{}</w:smartTag><w:newThing2030>{}</w:newThing2030><w:r><w:tab/><w:t>t</w:t><w:br/><w:t>b</w:t><w:noBreakHyphen/><w:sym w:font="Symbol" w:char="F0B7"/></w:r></w:p>
        <w:p><w:r><w:ruby><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r><m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath></w:p>"#,
        p("control"),
        p("custom"),
        r("tag "),
        r("new"),
        r("kana"),
        r("漢字")
    );
    assert_eq!(text(&inside), "control\n\ncustom\n\ntag new\tt\nb-•\n\n漢字x=1\n");
}

#[test]
fn notes_comments_and_headers_come_once_after_the_body() {
    let reference = |kind: &str, id: u8| format!(r#"<w:r><w:{kind}Reference w:id="{id}"/></w:r>"#);
    let note = |kind: &str, id: u8, text: &str| {
        format!(r#"<w:{kind} w:id="{id}" w:author="Ann">{}</w:{kind}>"#, p(text))
    };
    let inside = format!(
        "<w:p>{}{}{}{}{}{}</w:p>",
        r("a"),
        reference("footnote", 8),
        r("b"),
        reference("footnote", 3),
        reference("endnote", 1),
        reference("comment", 0)
    );
    let bytes = docx()
        .part(
            "footnotes",
            "footnotes.xml",
            &word(
                "footnotes",
                &[
                    note("footnote", 3, "third"),
                    note("footnote", 8, "eighth"),
                    note("footnote", 0, "separator"),
                ]
                .concat(),
            ),
        )
        .part("endnotes", "endnotes.xml", &word("endnotes", &note("endnote", 1, "end")))
        .part(
            "comments",
            "comments.xml",
            &word("comments", &[note("comment", 0, "why?"), note("comment", 5, "loose")].concat()),
        )
        .part("header", "header1.xml", &word("hdr", &p("Top")))
        .part("header", "header2.xml", &word("hdr", &p("Top")))
        .part("header", "header3.xml", &word("hdr", "<w:p/>"))
        .part("footer", "footer1.xml", &word("ftr", &p("Bottom")))
        .bytes(&body(&inside));
    let document = read(&bytes);
    assert_eq!(
        document.text,
        "a[^1]b[^2][^e1][^c1]\n\n# Footnotes\n\n[^1]: eighth\n\n[^2]: third\n\n# Endnotes\n\n[^e1]: end\n\n\
         # Comments\n\n[^c1]: Ann: why?\n\nAnn: loose\n\n# Headers and footers\n\nHeader: Top\n\nFooter: Bottom\n"
    );
    let kinds: Vec<_> = document.sections.iter().map(|section| section.kind).collect();
    use SectionKind::{Body, Comments, HeadersAndFooters, Notes};
    assert_eq!(kinds, [Body, Notes, Comments, HeadersAndFooters]);
}

#[test]
fn what_is_left_out_is_said() {
    let inside = r#"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r>
        <w:r><w:drawing><a:blip/></w:drawing><w:object><w:OLEObject/></w:object><w:sym w:char="F0FF"/></w:r></w:p><w:altChunk/>"#;
    let document = read(&docx().bytes(&body(inside)));
    assert_eq!(document.text, "shown\n");
    assert_eq!(
        codes(&document),
        [
            "document.pictures_left_out",
            "document.embedded_left_out",
            "document.symbols_left_out",
            "document.hidden_text_left_out"
        ]
    );
}

#[test]
fn strict_namespaces_macros_and_odd_part_names_are_read() {
    let strict = body(&p("strict")).replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    );
    let bytes = docx().bytes(&strict);
    assert_eq!(read(&bytes).text, "strict\n");
    let plain =
        body(&p("unprefixed")).replace("<w:", "<").replace("</w:", "</").replace("xmlns:w=", "xmlns=");
    assert_eq!(read(&docx().bytes(&plain)).text, "unprefixed\n");
    let odd = documents_support::Package::new("Dokument/Main.xml", "wordprocessingml.template")
        .bytes(&body(&p("odd")));
    assert_eq!(read(&odd).text, "odd\n");
    assert_eq!(DocumentFormat::of_bytes(&odd), Some(DocumentFormat::Docx));
}

#[test]
fn text_in_other_encodings_and_entities_is_decoded() {
    assert_eq!(text(&p("a &lt;b&gt; &amp; &#20013;&#x6587; &unknown;")), "a <b> & 中文 &unknown;\n");
    let utf16: Vec<u8> =
        std::iter::once(0xFEFF).chain(body(&p("宽")).encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let mut package = docx();
    package = package.raw("unused.xml", "<x/>");
    let parts = package.bytes("REPLACED");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(parts)).unwrap();
    let parts: Vec<(String, Vec<u8>)> = (0..archive.len())
        .map(|at| {
            let mut entry = archive.by_index(at).unwrap();
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
            let name = entry.name().unwrap().into_owned();
            (name, if bytes == b"REPLACED" { utf16.clone() } else { bytes })
        })
        .collect();
    assert_eq!(read(&documents_support::zip(&parts)).text, "宽\n");
}

#[test]
fn text_cannot_pretend_to_be_a_heading() {
    assert_eq!(text(&[p("# fake"), p("---"), p("```")].concat()), "\\# fake\n\n\\---\n\n\\```\n");
}

#[test]
fn passages_follow_the_headings() {
    let mut inside = String::new();
    for chapter in ["Pumps", "Seals"] {
        inside += &styled("berschrift1", chapter);
        inside += &styled("Deep", "Care");
        inside += &p(&"Check the pressure every week. ".repeat(40));
    }
    let bytes = docx().part("styles", "styles.xml", &word("styles", STYLES)).bytes(&body(&inside));
    let document = read(&bytes);
    let found = passages("x.md", &document.text, PassageLimits::default());
    let titles: Vec<_> = found.iter().map(|passage| passage.title.as_str()).collect();
    assert_eq!(titles, ["Pumps > Care", "Seals > Care"]);
    assert!(document.text[found[1].bytes.clone()].starts_with("# Seals"));
}
