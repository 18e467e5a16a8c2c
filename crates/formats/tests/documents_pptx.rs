//! Slides come in show order with all they say.
#![cfg(feature = "documents")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod documents_support;

use briefing_formats::{DocumentLimits, document_text};
use documents_support::{ap, codes, pptx, presentation, read, shape, slide, try_read};

const TITLE: &str = r#"<p:ph type="title"/>"#;
const CONTENT: &str = r#"<p:ph idx="1"/>"#;

#[test]
fn slides_follow_the_list_and_not_the_names_of_their_parts() {
    let bytes = pptx()
        .part("slide", "slides/slide1.xml", &slide("", &shape(TITLE, &ap("First file"))))
        .part("slide", "slides/slide2.xml", &slide(r#"show="0""#, &shape(TITLE, &ap("Second file"))))
        .part("slide", "slides/unlisted.xml", &slide("", &shape(TITLE, &ap("Nowhere"))))
        .bytes(&presentation(&[2, 1, 9]));
    let document = read(&bytes);
    assert_eq!(document.text, "# Slide 1: Second file (hidden)\n\n# Slide 2: First file\n\n# Slide 3\n");
    assert_eq!(codes(&document), ["document.hidden_slide", "document.content_unreadable"]);
    assert!(!document.complete);
}

#[test]
fn a_slide_shows_titles_lists_tables_groups_and_notes() {
    let bullets = r#"<a:p><a:r><a:t>one</a:t></a:r></a:p><a:p><a:pPr lvl="1"/><a:r><a:t>deeper</a:t></a:r></a:p><a:p><a:pPr><a:buNone/></a:pPr><a:r><a:t>no bullet</a:t></a:r></a:p>"#;
    let numbers = r#"<a:p><a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr><a:r><a:t>third</a:t></a:r></a:p><a:p><a:pPr><a:buAutoNum type="arabicPeriod" startAt="3"/></a:pPr><a:r><a:t>fourth</a:t></a:r></a:p><a:p><a:pPr lvl="1"><a:buAutoNum type="alphaLcParenR"/></a:pPr><a:fld type="x"><a:t>field</a:t></a:fld></a:p>"#;
    let cell = |text: &str| format!("<a:tc><a:txBody>{}</a:txBody></a:tc>", ap(text));
    let table = format!(
        r#"<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name=""/></p:nvGraphicFramePr><a:graphic><a:graphicData><a:tbl><a:tblGrid/><a:tr>{}{}</a:tr><a:tr>{}{}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"#,
        cell("a|b"),
        cell("c"),
        cell("d"),
        cell("")
    );
    let group = format!(
        "<p:grpSp><p:nvGrpSpPr><p:cNvPr id=\"6\" name=\"\"/></p:nvGrpSpPr><p:grpSpPr/><p:grpSp>{}</p:grpSp></p:grpSp>",
        shape("", &ap("grouped"))
    );
    let shapes = [
        shape(
            r#"<p:ph type="ctrTitle"/>"#,
            "<a:p><a:r><a:t>The</a:t></a:r><a:br/><a:r><a:t>plan</a:t></a:r></a:p>",
        ),
        shape(CONTENT, bullets),
        shape("", numbers),
        table,
        group,
        shape(r#"<p:ph type="sldNum"/>"#, &ap("7")),
        shape(r#"<p:ph type="ftr"/>"#, &ap("footer")),
    ]
    .concat();
    let notes = slide(
        "",
        &[
            shape(r#"<p:ph type="sldImg"/>"#, &ap("image")),
            shape(r#"<p:ph type="body"/>"#, &[ap("Say this"), ap("then that")].concat()),
            shape(r#"<p:ph type="sldNum"/>"#, &ap("7")),
        ]
        .concat(),
    );
    let bytes = pptx()
        .part("slide", "slides/slide1.xml", &slide("", &shapes))
        .relationships_of(
            "ppt/slides/slide1.xml",
            &[("notesSlide", "../notesSlides/notesSlide1.xml"), ("comments", "../comments/c.xml")],
        )
        .raw("ppt/notesSlides/notesSlide1.xml", &notes)
        .bytes(&presentation(&[1]));
    let document = read(&bytes);
    assert_eq!(
        document.text,
        "# Slide 1: The plan\n\n- one\n   - deeper\n\nno bullet\n\n3. third\n4. fourth\n   a) field\n\n\
         | a\\|b | c |\n| --- | --- |\n| d | |\n\ngrouped\n\nNotes:\n\nSay this\n\nthen that\n"
    );
    assert_eq!(document.sections[0].title, "The plan");
    assert_eq!(codes(&document), ["document.comments_left_out"]);
}

#[test]
fn what_has_no_text_is_counted() {
    let hidden = shape("", &ap("unseen")).replace("<p:cNvPr id=\"2\"", "<p:cNvPr id=\"2\" hidden=\"1\"");
    let picture =
        r#"<p:pic><p:nvPicPr><p:cNvPr id="3" name="" descr="logo"/></p:nvPicPr><p:blipFill/></p:pic>"#;
    let frame = |inside: &str| {
        format!(
            "<p:graphicFrame><a:graphic><a:graphicData>{inside}</a:graphicData></a:graphic></p:graphicFrame>"
        )
    };
    let shapes = [
        shape("", &ap("seen")),
        hidden,
        picture.to_owned(),
        picture.to_owned(),
        frame("<c:chart xmlns:c=\"c\"/>"),
        frame("<d:relIds xmlns:d=\"d\"/>"),
        frame("<p:oleObj><p:pic/></p:oleObj>"),
    ]
    .concat();
    let document =
        read(&pptx().part("slide", "slides/slide1.xml", &slide("", &shapes)).bytes(&presentation(&[1])));
    assert_eq!(document.text, "# Slide 1\n\nseen\n");
    let counts: Vec<_> = document.notes.iter().map(|note| (note.code, note.count)).collect();
    assert_eq!(
        counts,
        [
            ("document.pictures_left_out", 2),
            ("document.charts_left_out", 1),
            ("document.diagrams_left_out", 1),
            ("document.embedded_left_out", 1),
            ("document.hidden_shapes_left_out", 1),
        ]
    );
    assert!(document.complete);
}

#[test]
fn slides_beyond_the_limit_are_cut_with_a_note() {
    let mut package = pptx();
    for number in 1..=4 {
        package =
            package.part("slide", &format!("slides/slide{number}.xml"), &slide("", &shape(TITLE, &ap("x"))));
    }
    let limits = DocumentLimits::default().max_pages(3);
    let document = document_text(&package.bytes(&presentation(&[1, 2, 3, 4])), &limits).unwrap();
    assert_eq!((document.sections.len(), document.complete), (3, false));
    assert_eq!((document.notes[0].code, document.notes[0].count), ("document.pages_cut", 1));
}

#[test]
fn a_presentation_of_pictures_has_no_text() {
    let bytes = pptx().part("slide", "slides/slide1.xml", &slide("", "<p:pic/>")).bytes(&presentation(&[1]));
    assert_eq!(try_read(&bytes).unwrap_err().code(), "document.no_text");
}
