//! Tables of separated values: shown with row numbers, written in the dialect of the file.

mod dialect;
mod show;
mod write;

use self::dialect::Dialect;
use self::show::show;
use self::write::written;
use super::form::{Form, decoded};
use super::json::check_size;
use super::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};

/// Shows separated values as a table: a header, and rows numbered from 1. In a cell `\` is shown as `\\`, `|` as `\|`,
/// and line breaks and tabs as `\n`, `\r` and `\t`. All rows are in the shown text; a [window](FormatRequest::window)
/// takes a part of it and costs no more memory than that part.
///
/// The first row is the header, unless all its cells that are not empty are numbers. The value is an array of objects,
/// one for each row after the header; where rows have more or fewer cells than the header, which a diagnostic counts, or
/// names in the header repeat, or there is no header, it is an array of arrays with all rows, the first one included. All
/// cells are texts. More than a million cells give no value, and a diagnostic says so. A diagnostic also says where quotes
/// stand that neither begin nor end a cell, so that cells may run into one another; between tabs such quotes are
/// characters like any other.
///
/// Writes such arrays: arrays as they stand, objects under the columns of the file in their order, with columns for new
/// keys at the end and an empty cell for a missing key; `[]` leaves the header alone. Numbers, true and false are
/// written as JSON writes them, and null as an empty cell. A row that did not change stays as it is written. The
/// delimiter, the line ends and the last line's end are kept; cells are quoted by the habit of the file, which is where
/// they need it, everywhere, or where they are no numbers. What would read back as another table is refused.
///
/// ```
/// use briefing_task_workspace::handler::{CsvHandler, FileHandler, FormatRequest};
/// let csv = CsvHandler::sniffing();
/// let file = "pump;note\nP1;ok\nP2;\"leaks\nbadly\"\n".as_bytes();
/// let read = csv.read(file, &FormatRequest::whole())?;
/// assert_eq!(read.text, "| # | pump | note |\n|---|---|---|\n| 1 | P1 | ok |\n| 2 | P2 | leaks\\nbadly |\n");
/// let mut rows = read.value.unwrap();
/// rows[1]["note"] = "tight; new seal".into();
/// let written = csv.write(Some(file), &rows.into())?;
/// assert_eq!(written, b"pump;note\nP1;ok\nP2;\"tight; new seal\"\n");
/// # Ok::<(), briefing_task_workspace::handler::HandlerError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CsvHandler {
    /// The delimiter, where the suffix alone says it.
    delimiter: Option<u8>,
}

impl CsvHandler {
    /// The handler `csv`: finds out whether comma, semicolon, tab or `|` separates the cells of a file; a new file gets
    /// commas.
    #[must_use]
    pub const fn sniffing() -> Self {
        Self { delimiter: None }
    }

    /// The handler `tsv`: tabs.
    #[must_use]
    pub const fn tabs() -> Self {
        Self { delimiter: Some(b'\t') }
    }
}

impl FileHandler for CsvHandler {
    fn id(&self) -> &str {
        if self.delimiter.is_some() { "tsv" } else { "csv" }
    }

    fn priority(&self) -> i32 {
        if self.delimiter.is_some() { 140 } else { 150 }
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        if self.delimiter.is_some() {
            file.is_text_of(&["tsv", "tab"], &["text/tab-separated-values"])
        } else {
            file.is_text_of(&["csv", "psv"], &["text/csv", "application/csv"])
        }
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        let decoded = decoded(bytes)?;
        let dialect = Dialect::of(&decoded.text, self.delimiter);
        Ok(show(self.id(), &decoded, &dialect, request))
    }

    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        let FormatValue::Json(value) = value else {
            return Err(HandlerError::Unsupported { handler: self.id().to_owned(), what: value.noun() });
        };
        check_size(self.id(), previous)?;
        let (form, text) = Form::of(previous)?;
        form.encode(&written(text.as_deref(), self.delimiter, value)?)
    }
}
