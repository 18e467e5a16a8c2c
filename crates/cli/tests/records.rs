//! The record store as a person or a program uses it from the command line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use serde_json::Value;
use support::{briefing, briefing_with, refused};

#[test]
fn a_record_is_put_found_listed_updated_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let put = ["records", "put", "--text", "The pump is checked every week.", "--id", "n1", "--tag", "care"];
    briefing(
        folder,
        &[&put[..], &["--scope", "tenant=acme", "--scope", "level=3", "--summary", "Pump"]].concat(),
    );
    assert_eq!(briefing(folder, &["records", "get", "n1"]), "The pump is checked every week.");
    assert_eq!(briefing(folder, &["records", "get", "n1", "--offset", "4", "--limit", "4"]), "pump");
    let described: Value =
        serde_json::from_str(&briefing(folder, &["records", "get", "n1", "--describe"])).unwrap();
    assert_eq!(described["scope"], serde_json::json!({"tenant": "acme", "level": 3}));
    let found = briefing(folder, &["records", "search", "pump check"]);
    assert!(found.contains("n1 v1  notes") && found.contains("summary: pump"), "{found}");
    assert_eq!(briefing(folder, &["records", "search", "pump", "--scope", "level=\"3\""]), "");
    refused(folder, &put, "records.exists");
    let update = ["records", "put", "--text", "Monthly.", "--id", "n1", "--if-version", "1"];
    briefing(folder, &update);
    refused(folder, &update, "records.version_conflict");
    assert_eq!(briefing(folder, &["records", "history", "n1"]).lines().count(), 2);
    assert_eq!(briefing(folder, &["records", "get", "n1", "--at-version", "1", "--limit", "3"]), "The");
    briefing(folder, &["records", "delete", "n1"]);
    refused(folder, &["records", "get", "n1"], "records.not_found");
}

#[test]
fn contents_of_every_kind_come_from_files_and_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let put = |name: &str, more: &[&str], input: &[u8]| {
        let said = briefing_with(folder, &[&["records", "put", "-", "--id", name], more].concat(), input);
        assert_eq!(said.status, 0, "{}", said.err);
    };
    put("text", &[], "多行\ntext".as_bytes());
    put("bytes", &[], &[0, 255]);
    put("json", &["--as-json"], b"{\"b\": 1,  \"a\": 2}");
    std::fs::write(folder.join("f"), "from a file").unwrap();
    briefing(folder, &["records", "put", "f", "--id", "file", "-c", "other"]);
    assert_eq!(briefing(folder, &["records", "get", "text"]), "多行\ntext");
    assert_eq!(briefing(folder, &["records", "get", "json"]), "{\"a\":2,\"b\":1}");
    let listed = briefing(folder, &["--json", "records", "list"]);
    let formats: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["format"].clone()).collect();
    assert_eq!(formats, ["text", "json", "bytes", "text"]);
    let lines = "{\"collection\":\"c\",\"content\":{\"text\":\"one\"}}\n\n{\"collection\":\"c\",\"content\":{\"json\":[2]}}\n";
    assert_eq!(briefing_with(folder, &["records", "put", "--lines", "-"], lines.as_bytes()).status, 0);
    let said = briefing_with(folder, &["records", "put", "--lines", "-"], b"{\"colection\":\"c\"}");
    assert!(said.status == 2 && said.err.contains("line 1"), "{}", said.err);
    let page = briefing(folder, &["records", "list", "-n", "4"]);
    let after = page.lines().last().unwrap().strip_prefix("more: --after ").unwrap();
    assert_eq!(briefing(folder, &["records", "list", "-n", "4", "--after", after]).lines().count(), 2);
}

#[test]
fn links_exports_imports_checks_and_backups_work_on_a_whole_store() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for name in ["a", "b"] {
        briefing(folder, &["records", "put", "--text", name, "--id", name]);
    }
    briefing(folder, &["records", "link", "a", "cites", "b"]);
    refused(folder, &["records", "link", "a", "cites", "c"], "records.not_found");
    assert_eq!(briefing(folder, &["records", "links", "b"]), "a cites b\n");
    briefing(folder, &["records", "export", "all.jsonl"]);
    refused(folder, &["records", "export", "all.jsonl"], "cli.file");
    assert!(briefing(folder, &["records", "import", "all.jsonl", "--dir", "other"]).contains("2 records"));
    refused(folder, &["records", "import", "all.jsonl", "--dir", "other"], "records.import");
    assert_eq!(briefing(&folder.join("other"), &["records", "links", "a"]), "a cites b\n");
    let stats = briefing(folder, &["records", "stats"]);
    assert!(stats.contains("2 records") && stats.contains("write-ahead log"), "{stats}");
    assert_eq!(briefing(folder, &["records", "check"]), "sound\n");
    briefing(folder, &["records", "backup", "copy.db"]);
    refused(folder, &["records", "backup", "copy.db"], "records.io");
}

#[test]
fn reading_makes_no_store_and_says_that_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in
        [&["list"][..], &["get", "x"], &["search", "x"], &["stats"], &["check"], &["history", "x"]]
    {
        refused(folder.path(), &[&["records"], arguments].concat(), "records.no_store");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_package_mixes_files_and_records() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("pump.md"), "# Pump\n\nThe cooling pump is blue.\n").unwrap();
    let text = "The cooling pump was replaced in May.";
    briefing(folder, &["records", "put", "--text", text, "--id", "replaced", "--dir", "store"]);
    let read = briefing(
        folder,
        &["read", ".", "--records", "store", "--query", "cooling pump", "--path", "pump.md"],
    );
    assert!(read.contains("is blue") && !read.contains("in May"), "{read}");
    let read = briefing(folder, &["read", ".", "--records", "store", "--query", "cooling pump"]);
    assert!(read.contains("is blue") && read.contains("in May") && read.contains("replaced"), "{read}");
    refused(folder, &["read", ".", "--records", "none", "--query", "x"], "records.no_store");
}
