//! Jupyter notebooks: cells and their text outputs, and the cells written back.
//!
//! The format is nbformat 4 (<https://nbformat.readthedocs.io/en/latest/format_description.html>); nbformat 3 is shown.

mod cells;
mod edit;
mod show;

use briefing_core::{ContextDiagnostic, Severity};
use serde_json::Value;

use self::cells::Notebook;
use super::form::{Form, decoded, with_form};
use super::json::{self, MAX_VALUE_BYTES, check_size};
use super::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};

/// Shows a notebook cell by cell: number, kind, id, source, and the outputs that are text, without terminal escapes.
/// Pictures, HTML and whatever else is no text are left out: named in their place, and counted in a diagnostic. A file
/// that is no notebook is shown as JSON or as text, and a diagnostic says why.
///
/// The value is a list of cells, each `{"id", "kind", "source"}` with a kind of `code`, `markdown` or `raw`. A cell that
/// has no id in the file (they came with nbformat 4.5) is called `cell-` and its number.
///
/// Writes such a list as the whole notebook, in its order. A cell is known by its id: an unchanged cell stays as it is
/// written; a changed source leaves a cell's metadata, and clears the outputs and the execution count of a code cell, which
/// are no longer true. A cell without `id` is new and gets the next free `cell-` number as its id (in nbformat 4.5
/// and later); an id that the file does not have is refused, for it is more likely a slip than a wish. A cell that is not
/// in the list is removed. `kind` and `source` may be left out of a cell that the file has. The notebook's metadata and
/// layout stay. Nbformat 3 is not written.
#[derive(Debug, Clone, Copy, Default)]
pub struct NotebookHandler;

impl FileHandler for NotebookHandler {
    fn id(&self) -> &str {
        "notebook"
    }

    fn priority(&self) -> i32 {
        110
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        file.is_text_of(&["ipynb"], &["application/x-ipynb+json"])
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        let decoded = decoded(bytes)?;
        let notebook = match parsed(&decoded.text) {
            Ok(notebook) => notebook,
            Err(reason) => {
                let (formatted, _) = json::show(self.id(), &decoded, &request.without_value());
                return Ok(formatted.with_diagnostic(
                    ContextDiagnostic::new("workspace.notebook_malformed", Severity::Warning)
                        .with("reason", reason),
                ));
            }
        };
        let mut formatted = with_form(show::show(self.id(), &notebook, request), &decoded);
        if notebook.is_old() {
            formatted.diagnostics.push(
                ContextDiagnostic::new("workspace.notebook_old_format", Severity::Warning)
                    .with("nbformat", notebook.major)
                    .with("writable", false),
            );
        }
        Ok(if request.with_value { formatted.with_value(notebook.value()) } else { formatted })
    }

    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        let FormatValue::Json(value) = value else {
            return Err(HandlerError::Unsupported { handler: self.id().to_owned(), what: value.noun() });
        };
        check_size(self.id(), previous)?;
        let (form, text) = Form::of(previous)?;
        // What holds nothing is a file that was just made.
        let text = text.filter(|text| !text.trim().is_empty());
        let notebook = match &text {
            None => None,
            Some(text) => Some(parsed(text).map_err(|reason| {
                HandlerError::failed(self.id(), format!("the file is no notebook: {reason}"))
            })?),
        };
        if notebook.as_ref().is_some_and(Notebook::is_old) {
            let what = "a notebook of nbformat 3";
            return Err(HandlerError::Unsupported { handler: self.id().to_owned(), what });
        }
        let written = edit::edited(notebook.as_ref(), value)?;
        form.encode(&json::written(text.as_deref(), &written, json::notebook_style())?)
    }
}

fn parsed(text: &str) -> Result<Notebook, String> {
    if text.len() > MAX_VALUE_BYTES {
        return Err(format!("more than {MAX_VALUE_BYTES} bytes of text"));
    }
    let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Notebook::of(root)
}
