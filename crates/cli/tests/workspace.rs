//! The file boundary as a person or a program uses it from the command line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{briefing, briefing_with, refused};

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("src/pump.rs", "fn check() {}\r\nfn weekly() {}\r\nfn rest() {}\r\n");
    put("src/fan.rs", "fn spin() {}\n");
    put("pumps.csv", "name,days\nnorth,7\n");
    put("ignored.log", "pump\n");
    put(".ignore", "*.log\n");
    put(".env", "TOKEN=1\n");
    folder
}

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stage(folder: &Path, target: &str, text: &str) -> String {
    let said = briefing_with(folder, &["workspace", "stage", ".", target], text.as_bytes());
    assert_eq!(said.status, 0, "{}", said.err);
    said.out.trim().to_owned()
}

#[test]
fn ls_lists_files_by_folder_and_glob_and_page() {
    let folder = folder();
    let ls = |arguments: &[&str]| briefing(folder.path(), &[&["workspace", "ls", "."], arguments].concat());
    assert_eq!(ls(&[]), "pumps.csv\nsrc/fan.rs\nsrc/pump.rs\n");
    assert_eq!(ls(&["--one-level"]), "pumps.csv\nsrc/\n");
    assert_eq!(ls(&["src", "-g", "p*.rs"]), "src/pump.rs\n");
    assert_eq!(
        ls(&["--hidden", "--no-ignore"]),
        ".ignore\nignored.log\npumps.csv\nsrc/fan.rs\nsrc/pump.rs\n"
    );
    assert_eq!(ls(&["--hidden", "--secrets", "-g", ".e*"]), ".env\n");
    assert_eq!(ls(&["-n", "1"]), "pumps.csv\nmore, of 3 in all: --after pumps.csv\n");
    assert_eq!(ls(&["-n", "2", "--after", "pumps.csv"]), "src/fan.rs\nsrc/pump.rs\n");
    let listed = json(&briefing(folder.path(), &["--json", "workspace", "ls", "."]));
    assert_eq!(listed[1]["size_bytes"], 13);
    refused(folder.path(), &["workspace", "ls", ".", "../"], "workspace.outside_boundary");
    refused(folder.path(), &["workspace", "ls", ".", ".briefing"], "workspace.private_area");
}

#[test]
fn cat_prints_files_lines_windows_bytes_and_formats() {
    let folder = folder();
    let cat = |arguments: &[&str]| briefing(folder.path(), &[&["workspace", "cat", "."], arguments].concat());
    assert_eq!(cat(&["src/fan.rs", "pumps.csv"]), "fn spin() {}\nname,days\nnorth,7\n");
    assert_eq!(cat(&["src/pump.rs", "--lines", "2..2"]), "fn weekly() {}\r\n");
    assert_eq!(cat(&["src/pump.rs", "--lines", "3.."]), "fn rest() {}\r\n");
    assert_eq!(cat(&["src/fan.rs", "--offset", "3", "-n", "4"]), "spin");
    assert_eq!(cat(&["src/fan.rs", "--bytes", "-n", "2"]), "fn");
    assert!(cat(&["pumps.csv", "--formatted"]).contains("| north | 7 |"));
    let said = briefing_with(folder.path(), &["workspace", "cat", ".", "src/fan.rs", "-n", "4"], b"");
    assert!(said.err.contains("go on with --offset 4"), "{}", said.err);
    let absolute = folder.path().join("src/fan.rs");
    assert_eq!(cat(&[absolute.to_str().unwrap()]), "fn spin() {}\n");
    refused(folder.path(), &["workspace", "cat", ".", "/etc/passwd"], "workspace.outside_boundary");
    refused(folder.path(), &["workspace", "cat", ".", "nothing"], "workspace.not_found");
}

#[test]
fn grep_prints_matches_with_context_and_goes_on_after_a_page() {
    let folder = folder();
    let grep =
        |arguments: &[&str]| briefing(folder.path(), &[&["workspace", "grep", "."], arguments].concat());
    assert_eq!(grep(&["weekly"]), "src/pump.rs:2:fn weekly() {}\n");
    assert_eq!(
        grep(&["SPIN|rest", "-i", "-C", "1"]),
        "src/fan.rs:1:fn spin() {}\n--\nsrc/pump.rs-2-fn weekly() {}\nsrc/pump.rs:3:fn rest() {}\n"
    );
    assert_eq!(grep(&["() {}", "-F", "-n", "1"]), "src/fan.rs:1:fn spin() {}\nmore: --after 1:src/fan.rs\n");
    assert_eq!(grep(&["() {}", "-F", "--after", "2:src/pump.rs"]), "src/pump.rs:3:fn rest() {}\n");
    assert_eq!(grep(&["nowhere"]), "");
    refused(folder.path(), &["workspace", "grep", ".", "("], "workspace.pattern_invalid");
}

#[test]
fn edit_changes_what_it_was_asked_to_and_shows_it() {
    let folder = folder();
    let edit =
        |arguments: &[&str]| briefing(folder.path(), &[&["workspace", "edit", "."], arguments].concat());
    let now = || fs::read_to_string(folder.path().join("src/pump.rs")).unwrap();
    let before = now();
    let tried = edit(&["src/pump.rs", "--replace", "weekly", "--with", "daily", "--dry-run"]);
    assert!(tried.contains("-fn weekly") && tried.contains("+fn daily"), "{tried}");
    assert_eq!(now(), before);
    edit(&["src/pump.rs", "--replace", "weekly", "--with", "daily"]);
    assert_eq!(now(), before.replace("weekly", "daily"));
    edit(&["src/pump.rs", "--lines", "2", "--with", ""]);
    edit(&["src/pump.rs", "--insert", "1", "--with", "// pump"]);
    assert_eq!(now(), "// pump\r\nfn check() {}\r\nfn rest() {}\r\n");
    let many = ["workspace", "edit", ".", "src/pump.rs", "--replace", "fn", "--with", "f"];
    refused(folder.path(), &many, "workspace.edit_count");
    edit(&["src/pump.rs", "--replace", "fn", "--with", "f", "--count", "2"]);
    let stale = [
        "src/pump.rs",
        "--replace",
        "rest",
        "--with",
        "x",
        "--expect",
        &format!("blake3:{}", "0".repeat(64)),
    ];
    refused(folder.path(), &[&["workspace", "edit", "."], &stale[..]].concat(), "workspace.conflict");
    let patch = "--- a/src/fan.rs\n+++ b/src/fan.rs\n@@ -1 +1 @@\n-fn spin() {}\n+fn turn() {}\n\
                 --- /dev/null\n+++ b/src/new.rs\n@@ -0,0 +1 @@\n+new\n";
    let said = briefing_with(folder.path(), &["workspace", "edit", ".", "--patch", "-"], patch.as_bytes());
    assert_eq!(
        (said.status, said.out.as_str()),
        (0, "patched src/fan.rs\npatched src/new.rs\n"),
        "{}",
        said.err
    );
    assert_eq!(fs::read_to_string(folder.path().join("src/new.rs")).unwrap(), "new\n");
}

#[test]
fn a_candidate_is_staged_listed_promoted_or_discarded() {
    let folder = folder();
    let folder = folder.path();
    let (one, two) = (stage(folder, "out/one.md", "one"), stage(folder, "src/fan.rs", "two"));
    assert!(!folder.join("out").exists());
    assert_eq!(briefing(folder, &["workspace", "staged", ".", &one]), "one");
    assert_eq!(briefing(folder, &["workspace", "staged", "."]).lines().count(), 2);
    refused(folder, &["workspace", "promote", ".", &two, "--expect", "absent"], "workspace.conflict");
    refused(folder, &["workspace", "promote", ".", &one, &two, "--expect", "absent"], "cli.one_expectation");
    assert_eq!(briefing(folder, &["workspace", "promote", ".", &one, &two]).lines().count(), 2);
    assert_eq!(fs::read_to_string(folder.join("out/one.md")).unwrap(), "one");
    assert_eq!(fs::read_to_string(folder.join("src/fan.rs")).unwrap(), "two");
    let three = stage(folder, "out/one.md", "three");
    briefing(folder, &["workspace", "discard", ".", &three]);
    refused(folder, &["workspace", "promote", ".", &three], "workspace.unknown_candidate");
    assert_eq!(briefing(folder, &["workspace", "staged", "."]), "");
}

#[test]
fn refs_stand_for_files_until_these_change() {
    let folder = folder();
    let folder = folder.path();
    let refs = briefing(folder, &["--json", "workspace", "refs", ".", "src/fan.rs", "pumps.csv"]);
    let resolve = ["workspace", "refs", ".", "--resolve", "-"];
    assert_eq!(briefing_with(folder, &resolve, refs.as_bytes()).out, "src/fan.rs\npumps.csv\n");
    fs::write(folder.join("pumps.csv"), "other").unwrap();
    let said = briefing_with(folder, &resolve, refs.as_bytes());
    assert!(said.status == 1 && said.err.contains("workspace.stale_ref"), "{}", said.err);
    let said = briefing_with(folder, &resolve, b"{}");
    assert!(said.status == 2 && said.err.contains("line 1"), "{}", said.err);
}
