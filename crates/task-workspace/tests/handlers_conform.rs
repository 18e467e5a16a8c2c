//! Every built-in handler holds the rules of the port, and the suite catches handlers that do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use briefing_task_workspace::conformance::check_handler;
use briefing_task_workspace::handler::{
    CsvHandler, FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError, JsonHandler,
    JsonLinesHandler, MarkdownHandler, NotebookHandler, TextHandler,
};

const NOTEBOOK: &[u8] = br##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": ["# Pump\n", "```py\n", "x\n", "```"],
   "attachments": {"p.png": {"image/png": "aGk="}}
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "run",
   "metadata": {},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": "21\n"},
    {"data": {"text/plain": "<Figure>", "image/png": "aGk="}, "metadata": {}, "output_type": "display_data"},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\u001b[31mE\u001b[0m: v"]}
   ],
   "source": "print(21)"
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

const OLD_NOTEBOOK: &[u8] = br#"{"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [
 {"cell_type": "heading", "level": 1, "source": "Pump"},
 {"cell_type": "code", "input": "1+1", "language": "python", "outputs": [{"output_type": "pyout", "text": "2"}]}]}]}"#;

fn assert_conforms(handler: &dyn FileHandler, samples: &[&[u8]]) {
    let violations = check_handler(handler, samples);
    assert!(violations.is_empty(), "{}: {violations:#?}", handler.id());
}

#[test]
fn text_conforms() {
    assert_conforms(
        &TextHandler,
        &[
            b"Pump P1\nis old.\n",
            "水泵\r\n旧\r\n".as_bytes(),
            b"\xFF\xFEa\0\r\0\n\0",
            b"\xFE\xFF\x6C\x34",
            b"",
            b"\xEF\xBB\xBFa",
        ],
    );
}

#[test]
fn json_conforms() {
    assert_conforms(
        &JsonHandler,
        &[
            br#"{"b": [1, 2.50, 12345678901234567890123], "a": {"x": null, "x": "\u6c34"}}"#,
            b"{\n    \"a\": [\n        1\n    ],\n    \"b\": {}\n}\n",
            b"\xEF\xBB\xBF[ 1 ,\t2 ]\r\n",
            b"{'not': json}",
        ],
    );
}

#[test]
fn json_lines_conform() {
    assert_conforms(
        &JsonLinesHandler,
        &[b"{\"b\": 1, \"a\": 0.10}\n[1,2]\n\n\"x\"\n", b"1\r\n2\r\n", b"{\"a\":1}\n{broken\n"],
    );
}

#[test]
fn csv_and_tsv_conform() {
    assert_conforms(
        &CsvHandler::sniffing(),
        &[
            b"pump,hours,note\nP1,12,\"a, \"\"b\"\"\nc\"\nP2,,|\\|\n",
            "Stra\u{df}e;Wert\r\nA;1,5\r\nB;2,5".as_bytes(),
            b"a,b\n1\n1,2,3\n",
            b"1,2\n3,4\n",
            b"a,a\nx,y\n",
            b"only\none\n",
        ],
    );
    assert_conforms(&CsvHandler::tabs(), &[b"a\tb\n1,2\t3\n", b"one\ntwo,three\n"]);
}

#[test]
fn markdown_conforms() {
    assert_conforms(
        &MarkdownHandler,
        &[
            b"---\nt: 1\n---\n# Pump\n\nText\n\n## Parts\n> # In\n",
            "水泵\n===\n\r\n```\n# no\n```\n".as_bytes(),
        ],
    );
}

#[test]
fn notebooks_conform() {
    let without_ids = String::from_utf8(NOTEBOOK.to_vec()).unwrap();
    let without_ids = without_ids
        .replace("\"id\": \"intro\",", "")
        .replace("\"id\": \"run\",", "")
        .replace("minor\": 5", "minor\": 2");
    assert_conforms(
        &NotebookHandler,
        &[NOTEBOOK, without_ids.as_bytes(), OLD_NOTEBOOK, b"{\"cells\": 1}", b"no"],
    );
}

/// A handler with one fault.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Faulty {
    Panics,
    IgnoresLimits,
    StandsStill,
    LosesTheEnd,
    ClaimsVerbatim,
    WritesAnother,
}

impl FileHandler for Faulty {
    fn id(&self) -> &str {
        "faulty"
    }

    fn priority(&self) -> i32 {
        1
    }

    fn matches(&self, _: &FileFacts<'_>) -> bool {
        true
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut read = Formatted::new(self.id(), &text, request);
        match self {
            Self::Panics => assert!(!text.contains('\0'), "a NUL"),
            Self::IgnoresLimits => return Ok(Formatted::new(self.id(), &text, &FormatRequest::whole())),
            Self::StandsStill => {
                read.next_offset_chars = read.next_offset_chars.map(|_| request.offset_chars)
            }
            Self::LosesTheEnd if request.max_chars < 5 => drop(read.text.pop()),
            Self::ClaimsVerbatim => {
                return Ok(Formatted::new(self.id(), &text.to_uppercase(), request).as_verbatim());
            }
            Self::WritesAnother if request.with_value => read = read.with_value(text.into()),
            _ => {}
        }
        Ok(read)
    }

    fn write(&self, _: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        Ok(format!("{value:?}").into_bytes())
    }
}

#[test]
fn the_suite_catches_handlers_that_break_a_rule() {
    let caught = |handler: Faulty| -> Vec<_> {
        let violations = check_handler(&handler, &[b"Pump P1 leaks\n"]);
        violations.iter().map(|violation| violation.rule).collect()
    };
    for (handler, rule) in [
        (Faulty::Panics, "reading_never_panics"),
        (Faulty::IgnoresLimits, "limits_are_kept"),
        (Faulty::StandsStill, "windows_advance"),
        (Faulty::LosesTheEnd, "windows_join_to_the_whole"),
        (Faulty::ClaimsVerbatim, "verbatim_is_the_text_of_the_file"),
        (Faulty::WritesAnother, "a_value_reads_back_equal"),
    ] {
        assert!(caught(handler).contains(&rule), "{handler:?}: {:?}", caught(handler));
    }
}
