//! The digest of instructions that are too large: within its limit, with rules and not only headings, and with an account of
//! what it leaves out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fmt::Write as _;

use briefing_core::{Completeness, ContextSource, ReadRequest, Representation, SourceErrorKind, SourceRead};
use briefing_skill_library::{Error, InstallOptions, SkillRevisionRef, SkillSource};
use common::{Home, read, required, skill, source_ref};

const SECTIONS: usize = 12;

/// Instructions of about 16,000 chars: rules, a code fence with headings in it, Setext headings.
fn body() -> String {
    let mut body = String::from("Work through the checks in order.\n\n");
    for n in 1..=SECTIONS {
        let heading = if n % 2 == 0 { format!("## Check {n}") } else { format!("Check {n}\n=======") };
        let _ = write!(
            body,
            "{heading}\n\nRule {n}: never skip check {n}. {}\n\n",
            "Write down what you see. ".repeat(40)
        );
        let _ = write!(
            body,
            "```sh\n# not a heading {n}\nrun check {n}\n```\n\n- first of {n}\n- second of {n}\n\n"
        );
    }
    body
}

async fn digest(
    source: &SkillSource,
    skill: &SkillRevisionRef,
    max_chars: usize,
) -> Result<SourceRead, Error> {
    let request = ReadRequest::whole(max_chars).as_representation(Representation::LossyDigest);
    source.read_exact(&source_ref(skill, "SKILL.md"), &request).await.map_err(|error| {
        assert_eq!(error.kind(), SourceErrorKind::Unsupported);
        let cause = std::error::Error::source(&error).unwrap().downcast_ref::<Error>().unwrap();
        match cause {
            Error::DigestLimit { limit_chars, needed_chars } => {
                Error::DigestLimit { limit_chars: *limit_chars, needed_chars: *needed_chars }
            }
            other => panic!("{other}"),
        }
    })
}

fn installed(home: &Home) -> (SkillSource, SkillRevisionRef) {
    let library = home.library();
    let files = [
        ("SKILL.md", skill("checks", &body())),
        ("references/a.md", "# A\n".to_owned()),
        ("scripts/b.py", String::new()),
    ];
    let checks = library.install_files(files, InstallOptions::trusted()).unwrap().revision.revision_ref;
    (required(&library, &checks), checks)
}

#[tokio::test]
async fn the_digest_carries_rules_refs_and_what_is_left_out() {
    let home = Home::new();
    let (source, checks) = installed(&home);
    let read_back = digest(&source, &checks, 4_000).await.unwrap();
    let text = read_back.content.to_text().unwrap().into_owned();
    assert_eq!(read_back.completeness, Completeness::Lossy);
    assert!(text.chars().count() <= 4_000 && text.chars().count() > 3_600, "{}", text.chars().count());
    assert!(text.contains("Use it for checks.") && text.contains("references/a.md, scripts/b.py"));
    for n in 1..=SECTIONS {
        assert!(text.contains(&format!("Rule {n}: never skip check {n}.")), "rule {n} is missing:\n{text}");
    }
    assert!(text.contains("Work through the checks in order."));

    // The refs: the whole, then every section in order; each can be read.
    let core = source_ref(&checks, "SKILL.md");
    let expected: Vec<_> = std::iter::once(core.clone())
        .chain((0..=SECTIONS).map(|n| source_ref(&checks, &format!("SKILL.md#section-{n}"))))
        .collect();
    assert_eq!(read_back.refs, expected);
    for source_ref in &read_back.refs {
        assert!(source.read_exact(source_ref, &ReadRequest::whole(100_000)).await.is_ok(), "{source_ref}");
    }
    assert!(text.contains(core.as_str()) && text.contains("#section-0 to #section-12"));

    let original = body().chars().count();
    let facts = &read_back.metadata;
    assert_eq!(facts["original_chars"], original);
    let omitted = facts["omitted_chars"].as_u64().unwrap() as usize;
    let sections = facts["sections"].as_array().unwrap();
    let sum =
        |key: &str| sections.iter().map(|section| section[key].as_u64().unwrap() as usize).sum::<usize>();
    assert_eq!((sum("chars"), sum("carried_chars")), (original, original - omitted));
    assert!(omitted > original - 4_000);
    assert_eq!(sections.len(), SECTIONS + 1);
    assert_eq!(
        (&sections[1]["title"], &facts["omitted_sections"]),
        (&"Check 1".into(), &serde_json::json!([]))
    );
    // The digest of the content is that of the whole text.
    assert_eq!(read_back.content_digest, read(&source, &checks, "SKILL.md").await.unwrap().content_digest);
}

#[tokio::test]
async fn every_limit_is_kept_or_refused_with_the_least_that_is_enough() {
    let home = Home::new();
    let (source, checks) = installed(&home);
    let Err(Error::DigestLimit { needed_chars, limit_chars: 0 }) = digest(&source, &checks, 0).await else {
        panic!("a digest of nothing")
    };
    assert!(needed_chars < 450, "the least digest is {needed_chars} chars");
    for limit in (0..needed_chars).step_by(37).chain([needed_chars - 1]) {
        assert!(digest(&source, &checks, limit).await.is_err(), "{limit}");
    }
    for limit in (needed_chars..20_000).step_by(331) {
        let read = digest(&source, &checks, limit).await.unwrap();
        assert!(read.content.chars() <= limit, "{} > {limit}", read.content.chars());
        assert_eq!((read.refs.len(), read.completeness), (SECTIONS + 2, Completeness::Lossy));
        let text = read.content.to_text().unwrap().into_owned();
        let told = format!(
            "Left out: {} of {} chars",
            read.metadata["omitted_chars"], read.metadata["original_chars"]
        );
        assert!(text.contains(&told), "{text}");
        let sections = read.metadata["omitted_sections"].as_array().unwrap().len();
        assert!(text.contains(&format!("all text of {sections} of 13 sections")), "{text}");
        // No code block is left open.
        assert_eq!(text.matches("```").count() % 2, 0);
    }
}

#[tokio::test]
async fn a_digest_with_room_for_all_leaves_nothing_out() {
    let home = Home::new();
    let (source, checks) = installed(&home);
    let read = digest(&source, &checks, 100_000).await.unwrap();
    assert_eq!((&read.metadata["omitted_chars"], read.completeness), (&0.into(), Completeness::Lossy));
    let text = read.content.to_text().unwrap().into_owned();
    assert!(text.contains("```sh\n# not a heading 3\nrun check 3\n```\n\n- first of 3\n- second of 3\n"));
}

#[tokio::test]
async fn instructions_without_headings_have_a_digest_too() {
    let home = Home::new();
    let library = home.library();
    let plain = common::install(&library, "plain", &"Always ask before you act. ".repeat(200));
    let source = required(&library, &plain);
    let read = digest(&source, &plain, 800).await.unwrap();
    assert_eq!(read.refs, [source_ref(&plain, "SKILL.md")]);
    assert!(read.content.to_text().unwrap().contains("Always ask before you act."));
    assert!(read.metadata["omitted_chars"].as_u64().unwrap() > 4_000);
}
