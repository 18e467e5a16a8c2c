//! The command as a person or a program uses it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::process::{Command, Output};

fn briefing(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_briefing")).args(arguments).current_dir(folder).output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pump.md"), "# Pump\n\nThe cooling pump is checked every week.\n")
        .unwrap();
    std::fs::write(folder.path().join("fan.md"), "# Fan\n\nThe fan runs at night.\n").unwrap();
    folder
}

#[test]
fn read_prints_cited_context_and_writes_an_audit() {
    let folder = folder();
    let output = briefing(
        folder.path(),
        &["read", ".", "--query", "cooling pump", "--max-tokens", "200", "--audit", "a.json"],
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("`pump.md`") && text.contains("every week"), "{text}");
    assert!(!text.contains("at night"));
    let audit = std::fs::read_to_string(folder.path().join("a.json")).unwrap();
    let package = briefing::prelude::ContextPackage::from_json(&audit).unwrap();
    assert!(package.usage().tokens.as_ref().unwrap().tokens <= 200);
}

#[test]
fn every_format_and_filter_is_understood() {
    let folder = folder();
    for format in ["markdown", "xml", "json", "plain"] {
        let arguments =
            ["read", "--query", "week night", "--format", format, "--pattern", "fan*", "--max-chars", "500"];
        let output = briefing(folder.path(), &arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && text.contains("at night") && !text.contains("every week"),
            "{text}"
        );
    }
}

#[test]
fn a_problem_of_many_files_is_one_line_with_their_number() {
    let folder = folder();
    for n in 0..5 {
        std::fs::write(folder.path().join(format!("pump{n}.png")), "the cooling pump\n").unwrap();
    }
    let output = briefing(folder.path(), &["read", "--query", "cooling pump"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{error}");
    assert_eq!(
        error.lines().filter(|line| line.contains("workspace.type_disagreement")).count(),
        1,
        "{error}"
    );
    assert!(error.contains("(and 4 more)"), "{error}");
}

#[test]
fn errors_are_one_line_with_a_code_and_a_status() {
    let folder = folder();
    let cases: [(&[&str], &str, i32); 4] = [
        (&["read", "--query", "  "], "value.blank", 2),
        (&["read", "--query", "pump", "--max-tokens", "0"], "value.invalid", 2),
        (&["read", "--query", "pump", "--max-tokens", "1"], "context.budget_too_small", 2),
        (&["tokens", "no-such-file"], "cli.file", 1),
    ];
    for (arguments, code, status) in cases {
        let output = briefing(folder.path(), arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{error}");
        assert!(error.starts_with(&format!("error[{code}]: ")) && error.lines().count() == 1, "{error}");
        let output = briefing(folder.path(), &[&["--json"], arguments].concat());
        let error: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(error["error"]["code"], code);
    }
}

#[test]
fn tokens_counts_files_and_a_total() {
    let folder = folder();
    let output = briefing(folder.path(), &["tokens", "pump.md", "fan.md"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("total"));
}
