//! A notebook as it is shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use briefing_core::{ContextDiagnostic, Metadata, Severity};
use serde_json::Value;

use super::cells::{Cell, Notebook, joined};
use crate::handler::formatted::Window;
use crate::handler::{FormatRequest, Formatted};

pub(super) fn show(handler: &str, notebook: &Notebook, request: &FormatRequest) -> Formatted {
    let mut page = Page { window: Window::new(request), left_out: BTreeMap::new(), left_out_chars: 0 };
    let language = notebook.language();
    let cells = notebook.cells.len();
    let mut title = format!("# Notebook, {cells} cell{}", if cells == 1 { "" } else { "s" });
    if !language.is_empty() {
        let _ = write!(title, ", {}", on_one_line(language));
    }
    page.line(&title);
    for (index, cell) in notebook.cells.iter().enumerate() {
        page.cell(index + 1, cell, language);
    }
    let formatted = page.window.into_formatted(handler);
    if page.left_out.is_empty() {
        return formatted;
    }
    let counts: Metadata = page.left_out.into_iter().map(|(kind, count)| (kind, count.into())).collect();
    formatted.with_diagnostic(
        ContextDiagnostic::new("workspace.notebook_outputs_left_out", Severity::Info)
            .with("by_media_type", counts)
            .with("chars", page.left_out_chars),
    )
}

struct Page {
    window: Window,
    /// How many outputs or attachments of each media type are not shown.
    left_out: BTreeMap<String, usize>,
    left_out_chars: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.window.push(line);
        self.window.push("\n");
    }

    fn cell(&mut self, number: usize, cell: &Cell, language: &str) {
        let run = ["execution_count", "prompt_number"].iter().find_map(|key| cell.value.get(key)?.as_u64());
        let run = run.map_or_else(String::new, |run| format!(", run {run}"));
        let kind = on_one_line(&cell.kind);
        self.line(&format!("\n## Cell {number}: {kind}, id {}{run}", on_one_line(&cell.id)));
        let language = match cell.kind.as_str() {
            "code" => language,
            "markdown" | "heading" => "markdown",
            _ => "",
        };
        self.fenced(language, &cell.source);
        for output in cell.outputs() {
            self.output(output);
        }
        for (name, bundle) in cell.value.get("attachments").and_then(Value::as_object).into_iter().flatten() {
            for (media_type, data) in bundle.as_object().into_iter().flatten() {
                self.leave_out(&format!("Attachment {}", on_one_line(name)), &[(media_type, data)]);
            }
        }
    }

    fn output(&mut self, output: &Value) {
        let field = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
        let text = |key: &str| output.get(key).and_then(joined);
        match field("output_type") {
            "stream" => {
                // Before nbformat 4 the key was `stream`.
                let name = [field("name"), field("stream")].concat();
                self.shown(&format!("Output, {}", on_one_line(&name)), &text("text").unwrap_or_default());
            }
            "error" | "pyerr" => {
                let trace = match output.get("traceback").and_then(Value::as_array) {
                    Some(lines) if !lines.is_empty() => {
                        lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
                    }
                    _ => format!("{}: {}", field("ename"), field("evalue")),
                };
                self.shown(&format!("Output, error {}", on_one_line(field("ename"))), &trace);
            }
            "execute_result" | "display_data" => self.bundle(output.get("data").and_then(Value::as_object)),
            "pyout" => self.bundle(output.as_object()),
            other => self.leave_out("Output", &[(&format!("unknown kind {other}"), output)]),
        }
    }

    /// One output in several forms, of which one is shown. Plain text comes last: beside Markdown or LaTeX it mostly says
    /// that there is an object.
    fn bundle(&mut self, forms: Option<&Metadata>) {
        const FIELDS: [&str; 3] = ["output_type", "metadata", "prompt_number"];
        const SHOWN: [&str; 4] = ["text/markdown", "text/latex", "text/plain", "text"];
        let forms: Vec<(&str, &Value)> = forms
            .into_iter()
            .flatten()
            .map(|(media_type, data)| (media_type.as_str(), data))
            .filter(|(media_type, _)| !FIELDS.contains(media_type))
            .collect();
        let form = SHOWN.iter().find_map(|wanted| {
            let (media_type, data) = forms.iter().find(|(media_type, _)| media_type == wanted)?;
            Some((*media_type, joined(data)?))
        });
        if let Some((_, text)) = &form {
            self.shown("Output", text);
        }
        let shown = form.map(|(media_type, _)| media_type);
        let rest: Vec<_> = forms.into_iter().filter(|(media_type, _)| Some(*media_type) != shown).collect();
        if !rest.is_empty() {
            self.leave_out("Output", &rest);
        }
    }

    fn shown(&mut self, title: &str, text: &str) {
        self.line(&format!("{title}:"));
        self.fenced("", &without_escapes(text));
    }

    fn leave_out(&mut self, title: &str, forms: &[(&str, &Value)]) {
        let mut names = Vec::new();
        for (media_type, data) in forms {
            *self.left_out.entry((*media_type).to_owned()).or_default() += 1;
            self.left_out_chars +=
                joined(data).map_or_else(|| data.to_string().chars().count(), |text| text.chars().count());
            names.push(on_one_line(media_type));
        }
        self.line(&format!("{title}, left out: {}", names.join(", ")));
    }

    /// A text between fences that are longer than any in it.
    fn fenced(&mut self, language: &str, text: &str) {
        let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.line(&format!("{fence}{}", on_one_line(language)));
        self.window.push(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.window.push("\n");
        }
        self.line(&fence);
    }
}

/// A name that stays on its line.
fn on_one_line(name: &str) -> String {
    name.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Takes out the escape sequences of a terminal.
fn without_escapes(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1B}') {
        shown.push_str(before);
        rest = after_escape(after);
    }
    shown.push_str(rest);
    shown
}

/// What follows an escape sequence, whose ESC is gone already. By ECMA-48 a sequence is CSI with its parameters, a string
/// (OSC and its kin) up to BEL or ST, or intermediate bytes and a final one. A string that its line does not end is none.
fn after_escape(text: &str) -> &str {
    if let Some(sequence) = text.strip_prefix('[') {
        let end = sequence.trim_start_matches(|char| matches!(char, ' '..='?'));
        return end.strip_prefix(|char| matches!(char, '@'..='~')).unwrap_or(end);
    }
    if let Some(string) = text.strip_prefix([']', 'P', 'X', '^', '_']) {
        let line = string.split('\n').next().unwrap_or_default();
        let bell = line.find('\u{7}').map(|at| at + 1);
        let terminator = line.find("\u{1B}\\").map(|at| at + 2);
        let end = [bell, terminator].into_iter().flatten().min().unwrap_or(0);
        return string.get(end..).unwrap_or_default();
    }
    let end = text.trim_start_matches(|char| matches!(char, ' '..='/'));
    end.strip_prefix(|char| matches!(char, '0'..='~')).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_are_taken_out_and_nothing_else() {
        let cases = [
            ("\u{1B}[0;31mValueError\u{1B}[0m: no", "ValueError: no"),
            ("\u{1B}]8;;http://x\u{7}link\u{1B}]8;;\u{1B}\\!", "link!"),
            ("\u{1B}(Bplain [31m", "plain [31m"),
            ("\u{1B}]0;open\nnext", "0;open\nnext"),
            ("\u{1B}", ""),
            ("\u{1B}[3", ""),
            ("\u{1B}[水", "水"),
            ("a\u{1B}\nb", "a\nb"),
        ];
        for (text, shown) in cases {
            assert_eq!(without_escapes(text), shown, "{text:?}");
        }
    }
}
