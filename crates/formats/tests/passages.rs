//! Passages partition a text on its own borders.

use std::time::{Duration, Instant};

use briefing_formats::{Passage, PassageLimits, passages};
use proptest::prelude::*;

fn check(name: &str, text: &str, limits: PassageLimits) -> Vec<Passage> {
    let found = passages(name, text, limits);
    let mut at = 0;
    for passage in &found {
        assert_eq!(passage.bytes.start, at, "no gap, no overlap");
        at = passage.bytes.end;
        let content = &text[passage.bytes.clone()];
        assert!(!content.is_empty());
        assert_eq!(content.chars().count(), passage.chars);
        assert!(passage.chars <= limits.max_chars, "{} chars", passage.chars);
        let lines_before = text[..passage.bytes.start].matches('\n').count();
        assert_eq!(passage.lines.start, lines_before + 1);
        let lines_within = content.strip_suffix('\n').unwrap_or(content).matches('\n').count();
        assert_eq!(passage.lines.end, passage.lines.start + lines_within);
        assert!(passage.title.chars().count() <= 100 && !passage.title.contains('\n'));
    }
    assert_eq!(at, text.len(), "the passages joined are the text");
    found
}

fn titles(passages: &[Passage]) -> Vec<&str> {
    passages.iter().map(|passage| passage.title.as_str()).collect()
}

const SMALL: PassageLimits = PassageLimits { min_chars: 40, max_chars: 160 };

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn passages_joined_are_the_text(
        parts in proptest::collection::vec(prop_oneof![
            Just("\n".to_owned()), Just("\r\n".to_owned()), Just("# H\n".to_owned()), Just("```\n".to_owned()),
            Just("---\n".to_owned()), Just("===\n".to_owned()), Just("fn a() {\n".to_owned()), Just("}\n".to_owned()),
            Just("    x\n".to_owned()), Just("/// doc\n".to_owned()), "[a-z水泵 ]{0,60}", "[a-z水\u{1F9ED} ]{100,400}\n?",
        ], 0..60),
        name in prop_oneof![Just("a.md"), Just("a.rs"), Just("a.txt"), Just("a.rst"), Just("a.adoc"), Just("LICENSE")],
        limits in prop_oneof![Just(SMALL), Just(PassageLimits { min_chars: 1, max_chars: 1 }),
            Just(PassageLimits::default()), Just(PassageLimits { min_chars: 0, max_chars: 7 })],
    ) {
        check(name, &parts.concat(), limits);
    }
}

#[test]
fn a_small_text_is_one_passage_and_an_empty_one_none() {
    assert!(check("a.md", "", PassageLimits::default()).is_empty());
    let text = "# A\n\ntext\n\n# B\n".repeat(100);
    assert_eq!(check("a.md", &text, PassageLimits { min_chars: 400, max_chars: 1_600 }).len(), 1);
    assert_eq!(check("a.rs", "\n\nfn a() {}\n\n", PassageLimits::default())[0].title, "fn a() {}");
}

#[test]
fn markdown_is_cut_at_headings_and_named_by_their_trail() {
    let text = format!(
        "# Guide\n\n{0}\n\n## Install\n\n{0}\n\n```sh\n# no heading\n```\n\nUse\n---\n{0}\n\n# Annex\n{0}\n",
        "words of some length ".repeat(4)
    );
    let found = check("a.md", &text, SMALL);
    assert_eq!(titles(&found), ["Guide", "Guide > Install", "Guide > Use", "Annex"]);
    assert!(text[found[1].bytes.clone()].starts_with("## Install"));
    assert!(text[found[2].bytes.clone()].starts_with("Use\n---"));
}

#[test]
fn front_matter_holds_no_heading() {
    let text = "---\ntitle: x\n---\n\n# Real\nwords\n";
    assert_eq!(titles(&check("a.md", text, PassageLimits::default())), ["Real"]);
}

#[test]
fn underlines_of_restructuredtext_give_the_depth() {
    let body = "words of some length ".repeat(4);
    let text = format!("Top\n~~~\n\n{body}\n\nInner\n=====\n\n{body}\n");
    assert_eq!(titles(&check("a.rst", &text, SMALL)), ["Top", "Top > Inner"]);
}

#[test]
fn code_is_cut_between_items_and_doc_comments_stay_with_theirs() {
    let body = "    let x = compute();\n".repeat(4);
    let text = format!(
        "use a;\n\n/// Does it.\n#[must_use]\nfn first() {{\n{body}}}\n\n/// Again.\nfn second() {{\n{body}}}\nfn third() {{\n{body}}}\n"
    );
    let found = check("a.rs", &text, SMALL);
    assert_eq!(titles(&found), ["use a;", "fn second()", "fn third()"]);
    assert!(text[found[1].bytes.clone()].starts_with("/// Again.\nfn second"));
}

#[test]
fn a_large_item_is_split_at_its_inner_pauses_and_names_the_outer_item() {
    let method = |name: &str| {
        format!("    fn {name}(&self) {{\n        self.work();\n\n        self.rest();\n    }}\n")
    };
    let text = format!("impl Pump {{\n{}}}\n", ["check", "seal", "drain", "start"].map(method).join("\n"));
    let found = check("a.rs", &text, SMALL);
    assert!(found.len() > 1);
    assert!(
        titles(&found).contains(&"impl Pump > fn seal(&self)")
            || titles(&found).contains(&"impl Pump > fn drain(&self)"),
        "{:?}",
        titles(&found)
    );
    for passage in &found[1..] {
        assert!(text[passage.bytes.clone()].starts_with("    fn "), "{:?}", &text[passage.bytes.clone()]);
    }
}

#[test]
fn paragraphs_are_gathered_up_to_the_smallest_size() {
    let text = "A paragraph of fifty chars, more or less of them.\n\n".repeat(40);
    let found = check("notes.txt", &text, PassageLimits::default());
    for passage in &found {
        assert!((400..=500).contains(&passage.chars), "{}", passage.chars);
        assert_eq!(passage.title, "");
    }
}

#[test]
fn a_long_line_is_cut_on_char_borders_and_its_passages_share_the_line() {
    let text = format!("short\n{}\nlast\n", "水泵".repeat(2_000));
    let found = check("a.txt", &text, PassageLimits::default());
    assert!(found.iter().filter(|passage| passage.lines.start == 2).count() >= 3);
    let crumbs = found.iter().filter(|passage| passage.chars < 400).count();
    assert!(crumbs <= 1, "{found:?}");
}

#[test]
fn no_crumb_is_left_by_even_splits() {
    let text = "line of a log with some forty chars in it\n".repeat(1_000);
    for passage in check("a.log", &text, PassageLimits::default()) {
        assert!(passage.chars >= 400, "{}", passage.chars);
    }
}

#[test]
fn hostile_layouts_take_linear_time() {
    let megabyte = 1 << 20;
    for text in [
        "a".repeat(megabyte),
        "\n".repeat(megabyte),
        " \n".repeat(megabyte / 2),
        "#\n".repeat(megabyte / 2),
        "# a\n\n".repeat(megabyte / 5),
        "{\n".repeat(megabyte / 2),
        "```\n".repeat(megabyte / 4),
        "水".repeat(megabyte / 3),
        "a\n===\n".repeat(megabyte / 6),
    ] {
        for name in ["a.md", "a.rs", "a.txt", "a.rst"] {
            let started = Instant::now();
            check(name, &text[..0], PassageLimits::default());
            assert!(!passages(name, &text, PassageLimits::default()).is_empty());
            assert!(started.elapsed() < Duration::from_secs(3), "{name}: {:?}", started.elapsed());
        }
    }
}
