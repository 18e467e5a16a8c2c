//! Notebooks.

use briefing_task_workspace::handler::{FileHandler, FormatRequest, NotebookHandler};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{codes, read, refusal, write};

const NOTEBOOK: &str = r##"{
 "nbformat_minor": 5,
 "nbformat": 4,
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"tags": ["a"]},
   "attachments": {"p.png": {"image/png": "aGVsbG8="}},
   "source": [
    "# Pump\n",
    "```\n",
    "fence\n",
    "```"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "run",
   "metadata": {"time": 1.50},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["21\n", "22\n"]},
    {"data": {"text/plain": "<Figure>", "image/png": "aGk="}, "metadata": {}, "output_type": "display_data"},
    {"data": {"text/html": "<b>7</b>"}, "execution_count": 3, "metadata": {}, "output_type": "execute_result"},
    {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["\u001b[0;31mValueError\u001b[0m: no"]}
   ],
   "source": "print(21)"
  }
 ],
 "metadata": {
  "language_info": {"name": "python"},
  "big": 12345678901234567890123
 }
}
"##;

fn cells(file: &str) -> Value {
    read(&NotebookHandler, file).value.unwrap()
}

#[test]
fn cells_are_shown_with_their_text_outputs() {
    let shown = read(&NotebookHandler, NOTEBOOK);
    let expected = "# Notebook, 2 cells, python

## Cell 1: markdown, id intro
````markdown
# Pump
```
fence
```
````
Attachment p.png, left out: image/png

## Cell 2: code, id run, run 3
```python
print(21)
```
Output, stdout:
```
21
22
```
Output:
```
<Figure>
```
Output, left out: image/png
Output, left out: text/html
Output, error ValueError:
```
ValueError: no
```
";
    assert_eq!(shown.text, expected);
    assert_eq!(codes(&shown), ["workspace.notebook_outputs_left_out"]);
    let details = &shown.diagnostics[0].details;
    assert_eq!(details["by_media_type"], json!({"image/png": 2, "text/html": 1}));
    assert_eq!(details["chars"], 20);
    assert_eq!(shown.value.unwrap()[1], json!({"id": "run", "kind": "code", "source": "print(21)"}));
}

#[test]
fn what_an_output_says_in_markdown_is_shown_before_its_plain_text() {
    let output = r#"{"output_type": "display_data", "metadata": {}, "data": {"text/plain": "<Markdown object>", "text/markdown": "**7**"}}"#;
    let file =
        NOTEBOOK.replace(r#"{"name": "stdout", "output_type": "stream", "text": ["21\n", "22\n"]}"#, output);
    let shown = read(&NotebookHandler, &file);
    assert!(shown.text.contains("```\n**7**\n```\nOutput, left out: text/plain\n"), "{}", shown.text);
}

#[test]
fn an_unchanged_list_writes_the_same_bytes() {
    assert_eq!(write(&NotebookHandler, Some(NOTEBOOK), cells(NOTEBOOK)), NOTEBOOK);
    let crlf = NOTEBOOK.replace('\n', "\r\n");
    assert_eq!(write(&NotebookHandler, Some(&crlf), cells(&crlf)), crlf);
}

#[test]
fn a_changed_source_leaves_the_rest_of_the_notebook() {
    let mut value = cells(NOTEBOOK);
    value[0]["source"] = json!("# Pump P1\ntext");
    let lines = "\"# Pump\\n\",\n    \"```\\n\",\n    \"fence\\n\",\n    \"```\"";
    let expected = NOTEBOOK.replace(lines, "\"# Pump P1\\n\",\n    \"text\"");
    assert_eq!(write(&NotebookHandler, Some(NOTEBOOK), value), expected);
}

#[test]
fn a_changed_code_cell_loses_its_outputs_and_keeps_its_metadata() {
    let mut value = cells(NOTEBOOK);
    value[1]["source"] = json!("print(1)\n");
    let written = write(&NotebookHandler, Some(NOTEBOOK), value);
    let cell = &serde_json::from_str::<Value>(&written).unwrap()["cells"][1];
    assert_eq!((&cell["outputs"], &cell["execution_count"]), (&json!([]), &Value::Null));
    assert_eq!((&cell["source"], &cell["metadata"]), (&json!("print(1)\n"), &json!({"time": 1.5})));
    assert!(written.contains("{\"time\": 1.50}") && written.contains("12345678901234567890123"));
    assert!(written.starts_with(&NOTEBOOK[..NOTEBOOK.find("\"cell_type\": \"code\"").unwrap()]));
}

#[test]
fn cells_are_added_moved_and_removed() {
    let value = json!([{"id": "run"}, {"kind": "code", "source": "a\nb"}, {"kind": "raw", "source": ""}]);
    let written = write(&NotebookHandler, Some(NOTEBOOK), value.clone());
    assert_eq!(written, write(&NotebookHandler, Some(NOTEBOOK), value));
    let ids: Vec<_> = cells(&written).as_array().unwrap().iter().map(|cell| cell["id"].clone()).collect();
    assert_eq!(ids, [json!("run"), json!("cell-3"), json!("cell-4")]);
    let added = &serde_json::from_str::<Value>(&written).unwrap()["cells"][1];
    let new = json!({
        "cell_type": "code", "execution_count": null, "id": "cell-3", "metadata": {}, "outputs": [], "source": ["a\n", "b"],
    });
    assert_eq!(*added, new);
    let run = &NOTEBOOK
        [NOTEBOOK.find("\"cell_type\": \"code\"").unwrap()..NOTEBOOK.find(" ],\n \"metadata\"").unwrap()];
    assert!(written.contains(run.trim_end()), "{written}");
}

#[test]
fn a_cell_can_change_its_kind() {
    let mut value = cells(NOTEBOOK);
    value[1]["kind"] = json!("markdown");
    let written: Value = serde_json::from_str(&write(&NotebookHandler, Some(NOTEBOOK), value)).unwrap();
    let cell = &written["cells"][1];
    assert_eq!(
        (&cell["cell_type"], cell.get("outputs"), cell.get("execution_count")),
        (&json!("markdown"), None, None)
    );
}

#[test]
fn notebooks_before_4_5_get_no_ids() {
    let file = NOTEBOOK
        .replace("   \"id\": \"intro\",\n", "")
        .replace("   \"id\": \"run\",\n", "")
        .replace("minor\": 5", "minor\": 4");
    assert_eq!(cells(&file)[1]["id"], "cell-2");
    let mut value = cells(&file);
    value.as_array_mut().unwrap().insert(0, json!({"kind": "code", "source": "1"}));
    let written = write(&NotebookHandler, Some(&file), value);
    assert!(!written.contains("\"id\""));
    // What moved down keeps how it is written.
    assert!(written.contains("{\"time\": 1.50}") && written.contains("\"text\": [\"21\\n\", \"22\\n\"]"));
    assert_eq!(cells(&written)[2]["source"], "print(21)");
}

#[test]
fn a_new_notebook_is_made_from_cells() {
    let value =
        json!([{"id": "first", "kind": "markdown", "source": "# Pump"}, {"kind": "code", "source": "1\n"}]);
    let written = write(&NotebookHandler, None, value);
    let expected = "{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"first\",\n   \"metadata\": {},\n   \
                    \"source\": [\n    \"# Pump\"\n   ]\n  },\n  {\n   \"cell_type\": \"code\",\n   \
                    \"execution_count\": null,\n   \"id\": \"cell-1\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \
                    \"source\": [\n    \"1\\n\"\n   ]\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \
                    \"nbformat_minor\": 5\n}\n";
    assert_eq!(written, expected);
    assert_eq!(write(&NotebookHandler, Some("\n"), json!([])), write(&NotebookHandler, None, json!([])));
}

#[test]
fn slips_in_a_list_of_cells_are_refused_with_their_place() {
    for (value, place) in [
        (json!({}), "$ is an object"),
        (json!([3]), "$[0] is a number"),
        (json!([{"id": "intra", "source": "x"}]), "$[0].id is \"intra\", which the file does not have"),
        (json!([{"id": "run"}, {"id": "run"}]), "$[1].id is \"run\" once more"),
        (json!([{"source": "x"}]), "$[0].kind is missing"),
        (json!([{"kind": "code"}]), "$[0].source is missing"),
        (json!([{"kind": "python", "source": ""}]), "$[0].kind is \"python\""),
        (json!([{"id": "run", "kind": "python"}]), "$[0].kind is \"python\""),
        (json!([{"id": "run", "outputs": []}]), "$[0].outputs is a key that no cell has"),
        (json!([{"id": "run", "source": ["a"]}]), "$[0].source is an array"),
    ] {
        let (code, message) = refusal(&NotebookHandler, Some(NOTEBOOK), value);
        assert_eq!(code, "workspace.handler_value");
        assert!(message.starts_with(&format!("the value at {place}; accepted is ")), "{message}");
    }
    let (_, message) = refusal(&NotebookHandler, None, json!([{"id": "a b", "kind": "code", "source": ""}]));
    assert!(message.contains("$[0].id is \"a b\""), "{message}");
    assert_eq!(refusal(&NotebookHandler, None, "{}").0, "workspace.handler_unsupported");
}

#[test]
fn an_old_notebook_is_shown_and_not_written() {
    let old = r#"{"metadata": {}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 1, "source": ["Pump"]},
        {"cell_type": "code", "input": "1+1", "prompt_number": 2, "outputs": [
            {"output_type": "pyout", "prompt_number": 2, "text": "2", "png": "aGk="},
            {"output_type": "stream", "stream": "stderr", "text": "w"}]}]}]}"#;
    let shown = read(&NotebookHandler, old);
    assert_eq!(codes(&shown), ["workspace.notebook_outputs_left_out", "workspace.notebook_old_format"]);
    let end = "## Cell 2: code, id cell-2, run 2\n```\n1+1\n```\nOutput:\n```\n2\n```\nOutput, left out: png\n\
               Output, stderr:\n```\nw\n```\n";
    assert!(shown.text.ends_with(end), "{}", shown.text);
    let refused = refusal(&NotebookHandler, Some(old), cells(old));
    assert_eq!(refused.0, "workspace.handler_unsupported");
}

#[test]
fn what_is_no_notebook_is_shown_as_json_or_text() {
    let shown = read(&NotebookHandler, r#"{"cells":[{}],"nbformat":4}"#);
    assert_eq!((codes(&shown), &shown.value), (vec!["workspace.notebook_malformed"], &None));
    assert_eq!(shown.diagnostics[0].details["reason"], "cell 1 has no kind or no source");
    assert!(shown.text.starts_with("{\n  \"cells\": ["));

    let shown = read(&NotebookHandler, "<<<<<<< HEAD\n");
    assert_eq!(codes(&shown), ["workspace.handler_malformed", "workspace.notebook_malformed"]);
    assert_eq!((shown.text.as_str(), shown.verbatim), ("<<<<<<< HEAD\n", true));
    assert_eq!(refusal(&NotebookHandler, Some("<<<<<<< HEAD\n"), json!([])).0, "workspace.handler_failed");
}

#[test]
fn a_source_cannot_end_its_fence() {
    let value = json!([{"kind": "code", "source": "x = '`````'\n``` \n"}]);
    let shown = read(&NotebookHandler, write(&NotebookHandler, None, value));
    assert!(shown.text.ends_with("``````\nx = '`````'\n``` \n``````\n"), "{}", shown.text);
}

#[test]
fn windows_of_a_notebook_join() {
    let whole = read(&NotebookHandler, NOTEBOOK).text;
    let (mut joined, mut offset) = (String::new(), Some(0));
    while let Some(at) = offset {
        let read = NotebookHandler.read(NOTEBOOK.as_bytes(), &FormatRequest::window(at, 37)).unwrap();
        joined.push_str(&read.text);
        offset = read.next_offset_chars;
    }
    assert_eq!(joined, whole);
}

/// What may be done to the list of cells.
#[derive(Debug, Clone)]
enum Edit {
    Source(prop::sample::Index, String),
    Remove(prop::sample::Index),
    Add(prop::sample::Index, String),
}

fn any_edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<prop::sample::Index>(), any::<String>()).prop_map(|(at, source)| Edit::Source(at, source)),
        any::<prop::sample::Index>().prop_map(Edit::Remove),
        (any::<prop::sample::Index>(), any::<String>()).prop_map(|(at, source)| Edit::Add(at, source)),
    ]
}

proptest! {
    #[test]
    fn edits_keep_the_rest(edits in prop::collection::vec(any_edit(), 1..6)) {
        let mut list = cells(NOTEBOOK);
        let items = list.as_array_mut().unwrap();
        for edit in edits {
            match edit {
                Edit::Source(at, source) if !items.is_empty() => {
                    let at = at.index(items.len());
                    items[at]["source"] = json!(source);
                }
                Edit::Remove(at) if !items.is_empty() => drop(items.remove(at.index(items.len()))),
                Edit::Add(at, source) => {
                    items.insert(at.index(items.len() + 1), json!({"kind": "code", "source": source}));
                }
                _ => {}
            }
        }
        let written = write(&NotebookHandler, Some(NOTEBOOK), list.clone());
        let sources = |value: &Value| -> Vec<Value> {
            value.as_array().unwrap().iter().map(|cell| cell["source"].clone()).collect()
        };
        prop_assert_eq!(sources(&cells(&written)), sources(&list));
        let (old, new): (Value, Value) = (serde_json::from_str(NOTEBOOK).unwrap(), serde_json::from_str(&written).unwrap());
        prop_assert_eq!(&old["metadata"], &new["metadata"]);
        prop_assert!(written.contains("\"big\": 12345678901234567890123"));
        for cell in new["cells"].as_array().unwrap() {
            let before = old["cells"].as_array().unwrap().iter().find(|old| old["id"] == cell["id"]);
            let Some(before) = before else { continue };
            prop_assert_eq!(&before["metadata"], &cell["metadata"]);
            prop_assert_eq!(before.get("attachments"), cell.get("attachments"));
            if before["source"] == cell["source"] {
                prop_assert_eq!(before, cell);
            } else if cell["cell_type"] == "code" {
                prop_assert_eq!(&cell["outputs"], &json!([]));
            }
        }
    }
}
