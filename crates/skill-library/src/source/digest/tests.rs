//! What holds for every digest.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;
use crate::markdown::sections;

const FULL: &str =
    "skill:pump@blake3:0000000000000000000000000000000000000000000000000000000000000000/SKILL.md";

fn digested(text: &str, resources: &[String], max_chars: usize) -> Result<Digested, Error> {
    let sections = sections(text, 0);
    let outline = Outline {
        name: "pump",
        description: "How the pump is checked.  Use it for pumps.",
        full_ref: FULL,
        text,
        from: 0,
        sections: if sections.len() > 1 { &sections } else { &[] },
        resources,
    };
    digest(&outline, max_chars)
}

/// Lines of the kinds that Markdown is made of, in any order.
fn markdown() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "#{1,6} [a-z 水]{0,90}",
        "(=|-){3,8}",
        "```[a-z]{0,4}",
        "~~~",
        "(- |1\\. |  - |> )[a-z 水泵é]{0,200}",
        "[a-zA-Z 水泵é🦀.,*_`<>!-]{0,300}",
        "\\| a \\| b \\|",
        "\\|---\\|---\\|",
        "    [a-z]{0,20}",
        "\\[[a-z]{1,8}\\]: [a-z/]{1,20}",
        "<!-- [a-z]{0,20}( -->)?",
        Just(String::new()),
    ];
    proptest::collection::vec(line, 0..60).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_digest_is_longer_than_asked_and_all_of_it_adds_up(
        text in prop_oneof![markdown(), ".{0,2000}"],
        max_chars in 0_usize..4_000,
        resources in proptest::collection::vec("[a-z/水]{1,40}", 0..8),
    ) {
        let made = match digested(&text, &resources, max_chars) {
            Ok(made) => made,
            Err(Error::DigestLimit { limit_chars, needed_chars }) => {
                prop_assert!(limit_chars == max_chars && needed_chars > max_chars);
                // What is said to be needed is enough.
                let least = digested(&text, &resources, needed_chars).unwrap();
                prop_assert!(least.text.chars().count() <= needed_chars);
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        prop_assert!(made.text.chars().count() <= max_chars, "{} > {max_chars}", made.text.chars().count());
        prop_assert!(made.text.contains(FULL));
        prop_assert_eq!(made.original_chars, text.chars().count());
        prop_assert!(made.omitted_chars <= made.original_chars);
        if !made.carried_chars.is_empty() {
            prop_assert_eq!(made.original_chars - made.omitted_chars, made.carried_chars.iter().sum::<usize>());
        }
    }

    #[test]
    fn a_digest_with_room_enough_leaves_nothing_out(text in markdown()) {
        let made = digested(&text, &["references/a.md".to_owned()], 100_000).unwrap();
        prop_assert_eq!((made.omitted_sections.len(), made.named_resources), (0, 1));
        // Only of headings anything may be missing: what is too long, and the marks of emphasis and links.
        let headings: usize = sections(&text, 0).iter().map(|section| section.after_heading - section.bytes.start).sum();
        prop_assert!(made.omitted_chars <= headings);
        let bodies: String =
            sections(&text, 0).iter().map(|section| &text[section.after_heading..section.bytes.end]).collect();
        for word in bodies.split_whitespace().filter(|word| word.chars().all(|char| char.is_ascii_lowercase())) {
            prop_assert!(made.text.contains(word), "{word:?} is gone");
        }
    }
}

#[test]
fn room_is_shared_fairly() {
    assert_eq!(fair_shares(&[10, 100, 100], 90), [10, 40, 40]);
    assert_eq!(fair_shares(&[5, 5], 90), [5, 5]);
    assert!(fair_shares(&[], 90).is_empty());
}

#[test]
fn code_is_taken_whole_or_not_and_rules_come_first() {
    let code = "x\n".repeat(40);
    let text =
        format!("# A\n\n```\n{code}```\n\nNever open the valve under pressure.\n\n# B\n\nWear gloves.\n");
    let Err(Error::DigestLimit { needed_chars, .. }) = digested(&text, &[], 0) else {
        panic!("no room is enough")
    };
    let made = digested(&text, &[], needed_chars + 230).unwrap();
    assert!(made.text.contains("Never open the valve under pressure."), "{}", made.text);
    assert!(made.text.contains("Wear gloves.") && !made.text.contains("```"), "{}", made.text);
    assert!(made.omitted_chars > 80 && made.omitted_sections.is_empty());
}

#[test]
fn every_section_gets_a_share_of_a_small_limit() {
    let text: String = (1..=6)
        .map(|n| format!("## Part {n}\n\nRule {n} comes first. {}\n\n", "More is said here. ".repeat(80)))
        .collect();
    let made = digested(&text, &[], 1_200).unwrap();
    for n in 1..=6 {
        assert!(made.text.contains(&format!("Rule {n} comes first.")), "{}", made.text);
    }
    assert!(made.text.ends_with(" chars; all text of 0 of 6 sections\n"), "{}", made.text);
    assert!(made.text.chars().count() > 1_000, "room was wasted");
}

#[test]
fn many_short_sections_use_all_the_room() {
    let text: String = (1..=200).map(|n| format!("## Part {n}\n\nDo {n}.\n\n")).collect();
    let made = digested(&text, &[], 4_000).unwrap();
    assert!(made.text.chars().count() > 3_900, "room was wasted: {}", made.text.chars().count());
    assert_eq!(
        made.carried_chars.iter().filter(|carried| **carried == 0).count(),
        made.omitted_sections.len()
    );
}
