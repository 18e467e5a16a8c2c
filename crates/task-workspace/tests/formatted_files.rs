//! Files are shown and written by the handler of their format: the one that the workspace's own registry names first.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use briefing_core::Digest;
use briefing_task_workspace::handler::TextHandler;
use briefing_task_workspace::{
    Error, ExecutionId, FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError,
    TargetState, TaskWorkspace, WorkspaceOptions, WorkspacePath, WritePolicy,
};
use common::pdf::pdf_of_pages;
use common::{Tree, path};
use serde_json::json;

/// Shows any `.pump` file as its own name, and writes what it is told; a value of another kind it refuses.
#[derive(Debug)]
struct Named {
    id: &'static str,
    priority: i32,
}

impl FileHandler for Named {
    fn id(&self) -> &str {
        self.id
    }

    fn priority(&self) -> i32 {
        self.priority
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        file.has_suffix(&["pump"])
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        if bytes.starts_with(b"broken") {
            return Err(HandlerError::failed(self.id, "the pump is broken"));
        }
        Ok(Formatted::new(self.id, &format!("shown by {}", self.id), request))
    }

    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        let FormatValue::Text(text) = value else {
            return Err(HandlerError::failed(self.id, "only texts"));
        };
        let kept = previous.map_or(0, <[u8]>::len);
        Ok(format!("{text} over {kept} bytes by {}", self.id).into_bytes())
    }
}

fn named(id: &'static str, priority: i32) -> Arc<dyn FileHandler> {
    Arc::new(Named { id, priority })
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

fn show(workspace: &TaskWorkspace, file: &str) -> Formatted {
    workspace.read_formatted(&path(file), &FormatRequest::whole()).unwrap()
}

fn put(
    workspace: &TaskWorkspace,
    file: &str,
    value: impl Into<FormatValue>,
    expected: Option<TargetState>,
) -> Result<Digest, Error> {
    workspace.write_formatted(&path(file), &value.into(), expected).map(|written| written.digest)
}

const NOTEBOOK: &str = r##"{
 "cells": [
  {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": "# Pump"},
  {"cell_type": "code", "execution_count": 1, "id": "run", "metadata": {}, "outputs": [], "source": "print(1)"}
 ],
 "metadata": {"kernelspec": {"name": "python3"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

#[test]
fn the_lowest_priority_is_asked_and_the_next_one_when_it_is_taken_away() {
    let tree = Tree::new(&[("a.pump", b"weekly")]);
    let workspace = tree.read_write();
    assert_eq!(show(&workspace, "a.pump").handler, "text", "an unknown suffix is shown as the text it is");
    for (id, priority) in [("second", 20), ("first", 10), ("third", 20)] {
        workspace.register_handler(named(id, priority)).unwrap();
    }
    for expected in ["first", "second", "third"] {
        assert_eq!(show(&workspace, "a.pump").text, format!("shown by {expected}"));
        let digest = put(&workspace, "a.pump", "new", None).unwrap();
        assert_eq!(Digest::of(&tree.bytes("a.pump")), digest);
        assert!(tree.bytes("a.pump").ends_with(format!("by {expected}").as_bytes()));
        assert_eq!(workspace.unregister_handler(expected).unwrap().id(), expected);
    }
    assert_eq!(show(&workspace, "a.pump").handler, "text");
    assert!(workspace.unregister_handler("first").is_none());
    // Built-in handlers come and go like any other.
    assert!(workspace.unregister_handler("text").is_some());
    let request = FormatRequest::whole();
    assert_eq!(code(workspace.read_formatted(&path("a.pump"), &request)), "workspace.no_handler");
    assert_eq!(code(put(&workspace, "a.pump", "x", None)), "workspace.no_handler");
}

#[test]
fn an_id_that_is_taken_is_a_typed_error_and_the_first_handler_stays() {
    let tree = Tree::new(&[("a.pump", b"weekly"), ("b.json", b"{}")]);
    let workspace = tree.workspace();
    workspace.register_handler(named("pump", 10)).unwrap();
    for taken in [named("pump", 1), named("json", 1)] {
        let id = taken.id().to_owned();
        let error = workspace.register_handler(taken).unwrap_err();
        assert_eq!(error.code(), "workspace.handler_duplicate");
        let Error::Handler { source, .. } = &error else { panic!("{error:?}") };
        assert!(matches!(&**source, HandlerError::Duplicate { id: found } if *found == id));
    }
    assert_eq!(show(&workspace, "a.pump").text, "shown by pump");
    assert_eq!(show(&workspace, "b.json").handler, "json");
    workspace.unregister_handler("pump").unwrap();
    workspace.register_handler(named("pump", 1)).unwrap();
}

#[test]
fn clones_share_the_handlers_and_another_workspace_has_its_own() {
    let tree = Tree::new(&[("a.pump", b"weekly")]);
    let (workspace, other) = (tree.read_write(), tree.read_write());
    let clone = workspace.clone();
    workspace.register_handler(named("pump", 10)).unwrap();
    assert_eq!(show(&clone, "a.pump").handler, "pump");
    assert_eq!(show(&other, "a.pump").handler, "text");
    assert_eq!(code(clone.register_handler(named("pump", 10))), "workspace.handler_duplicate");
    other.register_handler(named("pump", 10)).unwrap();
    clone.unregister_handler("pump").unwrap();
    assert_eq!(show(&workspace, "a.pump").handler, "text");
    assert_eq!(show(&other, "a.pump").handler, "pump");
}

#[test]
fn each_format_is_shown_and_written_and_what_did_not_change_stays() {
    let tree = Tree::new(&[
        ("pumps.csv", b"name;days\r\nnorth;7\r\nsouth;14\r\n"),
        ("plan.json", b"{\n  \"b\": 1.50,\n  \"a\": [1]\n}\n"),
        ("notes.md", b"# Pump\r\n\r\nOld.\r\n"),
        ("book.ipynb", NOTEBOOK.as_bytes()),
    ]);
    let workspace = tree.read_write();
    let shown = show(&workspace, "pumps.csv");
    assert_eq!(shown.handler, "csv");
    let mut rows = shown.value.unwrap();
    rows.as_array_mut().unwrap().push(json!({ "name": "west", "days": 3 }));
    put(&workspace, "pumps.csv", rows, Some(shown.digest.unwrap().into())).unwrap();
    assert_eq!(tree.bytes("pumps.csv"), b"name;days\r\nnorth;7\r\nsouth;14\r\nwest;3\r\n");

    let shown = show(&workspace, "plan.json");
    let mut value = shown.value.unwrap();
    value["a"] = json!([1, 2]);
    put(&workspace, "plan.json", value, Some(shown.digest.unwrap().into())).unwrap();
    let text = String::from_utf8(tree.bytes("plan.json")).unwrap();
    assert!(text.starts_with("{\n  \"b\": 1.50,\n  \"a\": ["), "{text}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["a"], json!([1, 2]));

    let shown = show(&workspace, "notes.md");
    assert_eq!((shown.handler.as_str(), shown.verbatim), ("markdown", true));
    put(&workspace, "notes.md", "# Pump\n\nNew.\n", Some(shown.digest.unwrap().into())).unwrap();
    assert_eq!(tree.bytes("notes.md"), b"# Pump\r\n\r\nNew.\r\n");

    let shown = show(&workspace, "book.ipynb");
    assert_eq!(shown.handler, "notebook");
    let mut cells = shown.value.unwrap();
    cells[1]["source"] = json!("print(2)");
    put(&workspace, "book.ipynb", cells, Some(shown.digest.unwrap().into())).unwrap();
    let book: serde_json::Value = serde_json::from_slice(&tree.bytes("book.ipynb")).unwrap();
    assert_eq!(book["cells"][1]["source"].to_string().matches("print(2)").count(), 1);
    assert_eq!(book["metadata"]["kernelspec"]["name"], "python3");
    assert_eq!(book["cells"][0]["id"], "intro");
}

#[test]
fn new_files_are_made_by_their_names_with_their_folders() {
    let tree = Tree::new(&[]);
    let workspace = tree.read_write();
    let absent = Some(TargetState::Absent);
    put(&workspace, "out/a.json", json!({ "pump": 1 }), absent).unwrap();
    put(&workspace, "out/a.csv", json!([["name"], ["north"]]), absent).unwrap();
    put(&workspace, "out/a.ipynb", json!([{ "kind": "markdown", "source": "# Pump" }]), absent).unwrap();
    put(&workspace, "out/a.md", "# Pump\n", absent).unwrap();
    for (file, handler) in
        [("a.json", "json"), ("a.csv", "csv"), ("a.ipynb", "notebook"), ("a.md", "markdown")]
    {
        let shown = show(&workspace, &format!("out/{file}"));
        assert_eq!(
            (shown.handler.as_str(), shown.text.contains("ump") || file == "a.csv"),
            (handler, true),
            "{file}"
        );
    }
    assert_eq!(code(put(&workspace, "out/a.md", "x", absent)), "workspace.conflict");
}

#[test]
fn a_file_that_changed_since_it_was_shown_is_not_overwritten() {
    let files: [(&str, &[u8], FormatValue); 4] = [
        ("a.csv", b"name\nnorth\n", json!([["south"]]).into()),
        ("a.json", b"{\"a\":1}", json!({ "a": 2 }).into()),
        ("a.md", b"# A\n", "# B\n".into()),
        ("a.ipynb", NOTEBOOK.as_bytes(), json!([{ "kind": "markdown", "source": "B" }]).into()),
    ];
    for (file, bytes, value) in files {
        let tree = Tree::new(&[(file, bytes)]);
        let workspace = tree.read_write();
        let shown = show(&workspace, file);
        assert_eq!(shown.digest, Some(Digest::of(bytes)), "what was shown is what the digest names");
        let theirs = [bytes, b" "].concat();
        tree.put(file, &theirs);
        let error = workspace.write_formatted(&path(file), &value, shown.digest.unwrap()).unwrap_err();
        let Error::Conflict { expected, found, .. } = &error else { panic!("{file}: {error:?}") };
        assert_eq!((*expected, *found), (shown.digest.unwrap().into(), Digest::of(&theirs).into()));
        assert_eq!(tree.bytes(file), theirs);
        tree.remove(file);
        let error = workspace.write_formatted(&path(file), &value, shown.digest.unwrap()).unwrap_err();
        assert!(matches!(error, Error::Conflict { found: TargetState::Absent, .. }), "{error:?}");
        assert!(!tree.path(file).exists());
    }
}

#[test]
fn the_same_value_again_writes_nothing() {
    let tree = Tree::new(&[("a.json", b"{ \"a\" : 1 }\n")]);
    let workspace = tree.read_write();
    let value = show(&workspace, "a.json").value.unwrap();
    let written = workspace.write_formatted(&path("a.json"), &value.into(), None).unwrap();
    assert!(!written.changed());
    assert_eq!(tree.bytes("a.json"), b"{ \"a\" : 1 }\n");
}

#[test]
fn sizes_are_limited_on_the_way_in_and_on_the_way_out() {
    const LIMIT: u64 = 64 << 20;
    let tree = Tree::new(&[("small.csv", b"name\nnorth\n")]);
    std::fs::File::create(tree.path("huge.csv")).unwrap().set_len(LIMIT + 1).unwrap();
    let policy = WritePolicy::new().max_file_bytes(40);
    let options = WorkspaceOptions::read_write().policy(policy);
    let workspace = TaskWorkspace::open_with(tree.0.path(), options).unwrap();
    let error = workspace.read_formatted(&path("huge.csv"), &FormatRequest::window(0, 10)).unwrap_err();
    let Error::TooLarge { size_bytes, limit_bytes, .. } = error else { panic!("{error:?}") };
    assert_eq!((size_bytes, limit_bytes), (LIMIT + 1, LIMIT));
    let error = workspace.write_formatted(&path("huge.csv"), &json!([["a"]]).into(), None).unwrap_err();
    assert_eq!(error.code(), "workspace.too_large");
    assert_eq!(std::fs::metadata(tree.path("huge.csv")).unwrap().len(), LIMIT + 1);

    let long = json!([["a".repeat(40)]]);
    assert_eq!(code(put(&workspace, "small.csv", long.clone(), None)), "workspace.too_large");
    assert_eq!(code(put(&workspace, "new.csv", long, None)), "workspace.too_large");
    assert_eq!(tree.bytes("small.csv"), b"name\nnorth\n");
    assert!(!tree.path("new.csv").exists());
    put(&workspace, "small.csv", json!([["west"]]), None).unwrap();
}

#[test]
fn a_read_only_workspace_shows_files_and_writes_new_ones_apart() {
    let tree = Tree::new(&[("a.json", b"{\"a\":1}")]);
    let options = WorkspaceOptions::read_only().execution(ExecutionId::new("run").unwrap());
    let workspace = TaskWorkspace::open_with(tree.0.path(), options).unwrap();
    assert_eq!(show(&workspace, "a.json").value, Some(json!({ "a": 1 })));
    assert_eq!(code(put(&workspace, "a.json", json!({ "a": 2 }), None)), "workspace.read_only");
    assert_eq!(tree.bytes("a.json"), b"{\"a\":1}");
    let written = workspace.write_formatted(&path("b.json"), &json!({ "b": 1 }).into(), None).unwrap();
    assert!(written.in_fallback && !tree.path("b.json").exists());
    let shown = show(&workspace, "b.json");
    assert_eq!((shown.value, shown.digest), (Some(json!({ "b": 1 })), Some(written.digest)));
    // The form of the execution's own file is kept, whatever came to its path meanwhile.
    tree.put("b.json", "[]");
    put(&workspace, "b.json", json!({ "b": 2 }), Some(written.digest.into())).unwrap();
    assert_eq!(show(&workspace, "b.json").value, Some(json!({ "b": 2 })));
    assert_eq!(tree.bytes("b.json"), b"[]");
}

#[test]
fn bytes_that_are_no_text_have_no_handler_under_any_name() {
    let elf: &[u8] = b"\x7fELF\x02\x01\x01\0\0\0\0";
    let png: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
    let pdf = &pdf_of_pages(&["Pump"], "", &[]);
    let files: &[(&str, &[u8])] = &[
        ("tool", elf),
        ("tool.csv", elf),
        ("logo.png", png),
        ("logo.json", png),
        ("scan.pdf", pdf),
        ("scan.md", pdf),
    ];
    let tree = Tree::new(files);
    let workspace = tree.read_write();
    for (file, bytes) in files {
        let error = workspace.read_formatted(&path(file), &FormatRequest::whole()).unwrap_err();
        let Error::NoHandler { path: shown, .. } = &error else { panic!("{file}: {error:?}") };
        assert_eq!((shown.as_str(), error.code()), (*file, "workspace.no_handler"));
        assert_eq!(code(put(&workspace, file, "text", None)), "workspace.no_handler", "{file}");
        assert_eq!(tree.bytes(file), *bytes);
    }
    assert_eq!(code(put(&workspace, "new.png", "text", Some(TargetState::Absent))), "workspace.no_handler");
    // Who registers a handler for them has one.
    #[derive(Debug)]
    struct Tools;
    impl FileHandler for Tools {
        fn id(&self) -> &str {
            "tools"
        }
        fn priority(&self) -> i32 {
            1
        }
        fn matches(&self, file: &FileFacts<'_>) -> bool {
            !file.has_suffix(&["csv"]) && file.kind == briefing_core::media::MediaKind::Binary
        }
        fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
            Ok(Formatted::new("tools", &format!("{} bytes", bytes.len()), request))
        }
    }
    workspace.register_handler(Arc::new(Tools)).unwrap();
    assert_eq!(show(&workspace, "tool").text, "11 bytes");
    assert_eq!(code(put(&workspace, "tool", "text", None)), "workspace.handler_unsupported");
}

#[test]
fn a_handler_that_fails_leaves_the_file_whole_and_its_reason_is_kept() {
    let tree = Tree::new(&[
        ("a.pump", b"broken"),
        ("bad.csv", b"name\nnorth\n"),
        ("bad.ipynb", NOTEBOOK.as_bytes()),
        ("latin.txt", b"caf\xe9 au lait, tr\xe8s bon\n"),
    ]);
    let workspace = tree.read_write();
    workspace.register_handler(named("pump", 10)).unwrap();
    let before = tree.everything();
    let error = workspace.read_formatted(&path("a.pump"), &FormatRequest::whole()).unwrap_err();
    assert_eq!(error.code(), "workspace.handler_failed");
    let mut causes = Vec::new();
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    assert!(causes.iter().any(|cause| cause == "the pump is broken"), "{causes:?}");
    let refused = [
        code(put(&workspace, "a.pump", json!(1), None)),
        code(put(&workspace, "new.pump", json!(1), None)),
        code(put(&workspace, "bad.csv", json!([1]), None)),
        code(put(&workspace, "bad.csv", json!("text"), None)),
        code(put(&workspace, "bad.ipynb", json!([{ "kind": "song", "source": "" }]), None)),
        code(put(&workspace, "latin.txt", json!([1]), None)),
        code(put(&workspace, "latin.txt", "水泵\n", None)),
    ];
    assert!(refused.iter().all(|code| code.starts_with("workspace.handler_")), "{refused:?}");
    assert_eq!(tree.everything(), before);
    let left = std::fs::read_dir(tree.path(".briefing/workspace/tmp")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing is left of a write that was refused");
}

#[test]
fn formatted_writes_obey_every_rule_of_writes() {
    let tree = Tree::new(&[("a.md", b"a"), ("README.md", b"r")]);
    let policy = WritePolicy::new().deny("secret/**");
    let options = WorkspaceOptions::read_write().policy(policy);
    let workspace = TaskWorkspace::open_with(tree.0.path(), options).unwrap();
    let delivery = workspace.open_delivery(&[path("a.md")]).unwrap();
    assert_eq!(code(put(&workspace, "a.md", "x", None)), "workspace.protected");
    workspace.close_delivery(&delivery.id).unwrap();
    assert_eq!(code(put(&workspace, "secret/a.md", "x", None)), "workspace.denied");
    assert_eq!(code(put(&workspace, "readme.md", "x", None)), "workspace.name_collision");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.md", tree.path("link.md")).unwrap();
        assert_eq!(code(put(&workspace, "link.md", "x", None)), "workspace.link");
        assert_eq!(show(&workspace, "link.md").text, "a");
    }
    assert_eq!(
        code(workspace.read_formatted(&path("none.md"), &FormatRequest::whole())),
        "workspace.not_found"
    );
    assert!(WorkspacePath::new("../a.md").is_err());
    assert_eq!(tree.bytes("a.md"), b"a");
}

#[test]
fn a_window_of_a_formatted_file_says_where_it_goes_on() {
    let tree = Tree::new(&[("a.md", "水泵 pump\n".repeat(20).as_bytes())]);
    let workspace = tree.workspace();
    let (mut joined, mut next) = (String::new(), Some(0));
    while let Some(offset) = next {
        let part = workspace.read_formatted(&path("a.md"), &FormatRequest::window(offset, 7).without_value());
        let part = part.unwrap();
        assert!(part.text.chars().count() <= 7 && part.value.is_none());
        assert_eq!(part.total_chars, 160);
        joined.push_str(&part.text);
        next = part.next_offset_chars;
    }
    assert_eq!(joined.as_bytes(), tree.bytes("a.md"));
    assert_eq!(TextHandler.read(&tree.bytes("a.md"), &FormatRequest::whole()).unwrap().digest, None);
}
