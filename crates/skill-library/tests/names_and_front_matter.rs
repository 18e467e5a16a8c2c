//! What the convention asks of a `SKILL.md`, and what it does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_skill_library::{Error, FrontMatter, InstallOptions, SkillLibrary, SkillRevisionRef};
use common::Home;

fn install(library: &SkillLibrary, skill_file: &str) -> Result<FrontMatter, Error> {
    let installed = library.install_files([("SKILL.md", skill_file)], InstallOptions::default())?;
    Ok(installed.revision.front_matter)
}

#[test]
fn all_fields_of_the_convention_are_read() {
    let home = Home::new();
    let text = "---\nname: pdf-processing\ndescription: >\n  Reads\n  PDFs.\nlicense: Apache-2.0\ncompatibility: Requires git\n\
                metadata:\n  author: example-org\n  version: 1.10\nallowed-tools: Bash(git add:*) Read\nmodel: small\n---\n# Go\n";
    let front = install(&home.library(), text).unwrap();
    assert_eq!((front.name.as_str(), front.description.as_str()), ("pdf-processing", "Reads PDFs."));
    assert_eq!(front.license.as_deref(), Some("Apache-2.0"));
    assert_eq!(front.compatibility.as_deref(), Some("Requires git"));
    assert_eq!(front.metadata["version"], "1.10");
    assert_eq!(front.allowed_tools, ["Bash(git add:*)", "Read"]);
    // What the convention does not know is kept, not dropped.
    assert_eq!(front.other["model"], "small");
    let listed =
        "---\nname: a\ndescription: b\nallowed-tools:\n  - Read\n  - Bash(jq:*)\nmetadata: {x: {y: 1}}\n---";
    let front = install(&home.library(), listed).unwrap();
    assert_eq!(front.allowed_tools, ["Read", "Bash(jq:*)"]);
    assert_eq!(front.metadata["x"]["y"], 1);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_tolerated() {
    let home = Home::new();
    let front =
        install(&home.library(), "\u{feff}---\r\nname: a\r\ndescription: b c\r\n---\r\n\r\n# A\r\n").unwrap();
    assert_eq!((front.name.as_str(), front.description.as_str()), ("a", "b c"));
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_what_is_accepted() {
    let long = "x".repeat(1_025);
    let bomb: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)).collect();
    let deep = format!("x: {}{}", "[".repeat(500), "]".repeat(500));
    let huge = format!("x: {}", "y".repeat(70_000));
    let cases: [(&str, String, &str, &str); 16] = [
        ("no front matter", "# Pump\n".to_owned(), "skill.front_matter", "must begin with front matter"),
        ("no end", "---\nname: a\n".to_owned(), "skill.front_matter", "has no end"),
        ("no name", "---\ndescription: b\n---".to_owned(), "skill.front_matter", "the field name is missing"),
        ("no description", "---\nname: a\n---".to_owned(), "skill.front_matter", "description is missing"),
        (
            "upper case",
            "---\nname: PDF\ndescription: b\n---".to_owned(),
            "skill.field",
            "1 to 64 chars of a-z",
        ),
        (
            "path as name",
            "---\nname: ../a\ndescription: b\n---".to_owned(),
            "skill.field",
            "1 to 64 chars of a-z",
        ),
        ("doubled hyphen", "---\nname: a--b\ndescription: b\n---".to_owned(), "skill.field", "none doubled"),
        ("blank", "---\nname: a\ndescription: ' '\n---".to_owned(), "skill.field", "1 to 1024 chars"),
        ("too long", format!("---\nname: a\ndescription: {long}\n---"), "skill.field", "found 1025 chars"),
        ("list", "---\nname: a\ndescription: [b]\n---".to_owned(), "skill.front_matter", "SKILL.md, line 3"),
        (
            "colon",
            "---\nname: a\ndescription: Use: it\n---".to_owned(),
            "skill.front_matter",
            "SKILL.md, line 3",
        ),
        ("twice", "---\nname: a\nname: b\ndescription: c\n---".to_owned(), "skill.front_matter", "duplicate"),
        ("no map", "---\n- a\n---".to_owned(), "skill.front_matter", "SKILL.md, line 2"),
        ("bomb", format!("---\nname: a\na0: &a0 [x, x]\n{bomb}---"), "skill.front_matter", "budget"),
        ("deep", format!("---\nname: a\n{deep}\n---"), "skill.front_matter", "SKILL.md"),
        ("huge", format!("---\nname: a\n{huge}\n---"), "skill.limit", "bytes of front matter"),
    ];
    let home = Home::new();
    for (case, text, code, said) in cases {
        let error = install(&home.library(), &text).unwrap_err();
        assert_eq!(error.code(), code, "{case}: {error}");
        assert!(error.to_string().contains(said), "{case}: {error}");
    }
    let not_utf8 = home
        .library()
        .install_files([("SKILL.md", b"---\nname: \xff\n".to_vec())], InstallOptions::default());
    assert!(not_utf8.unwrap_err().to_string().contains("line 2: no UTF-8 at byte 10"));
    assert!(home.files().is_empty(), "something was kept: {:?}", home.files());
}

#[test]
fn a_ref_is_parsed_as_it_is_written_and_nothing_else_is() {
    let home = Home::new();
    let revision = common::install(&home.library(), "pump", "# A\n");
    assert_eq!(revision.to_string().parse::<SkillRevisionRef>().unwrap(), revision);
    let json = serde_json::to_string(&revision).unwrap();
    assert_eq!(serde_json::from_str::<SkillRevisionRef>(&json).unwrap(), revision);
    let hex = "0".repeat(64);
    for wrong in [
        "",
        "pump",
        "skill:pump",
        "skill:pump@sha256:00",
        "skill:Pump@blake3:00",
        &format!("skill:@blake3:{hex}"),
    ] {
        assert_eq!(wrong.parse::<SkillRevisionRef>().unwrap_err().code(), "skill.field", "{wrong}");
    }
}
