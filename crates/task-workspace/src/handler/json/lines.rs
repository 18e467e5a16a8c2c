//! JSON lines: a value a line.

use serde_json::Value;

use super::edit::{check_depth, paired, write_over};
use super::scan::{Fault, check};
use super::style::Style;
use super::survey::Survey;
use super::{MAX_VALUE_BYTES, check_size, malformed, refused};
use crate::handler::error::noun;
use crate::handler::form::{Form, decoded, shown_as_text};
use crate::handler::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};

/// How many faulty lines are named one by one.
const MAX_NAMED_FAULTS: usize = 20;

/// Shows JSON lines as they are: they are made to be read line by line. The value is an array with the value of each
/// line that is not blank; where a line is no JSON there is no value, and diagnostics name the line and column of the
/// first 20 such lines and say how many there are.
///
/// Writes an array, one item a line. A line whose value did not change stays as it is written. Text is checked line by
/// line and written as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonLinesHandler;

impl FileHandler for JsonLinesHandler {
    fn id(&self) -> &str {
        "json-lines"
    }

    fn priority(&self) -> i32 {
        120
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        file.is_text_of(
            &["jsonl", "ndjson", "jsonlines"],
            &[
                "application/x-ndjson",
                "application/jsonl",
                "application/x-jsonlines",
                "application/jsonlines",
            ],
        )
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        let decoded = decoded(bytes)?;
        let mut formatted = shown_as_text(self.id(), &decoded, request);
        let mut faults = 0_usize;
        for fault in lines(&decoded.text).filter_map(|line| line.check().err()) {
            if faults < MAX_NAMED_FAULTS {
                formatted.diagnostics.push(malformed(&fault));
            }
            faults += 1;
        }
        if !request.with_value {
            return Ok(formatted);
        }
        if faults > 0 {
            return Ok(formatted.with_value_or_reason(Err(format!("{faults} lines are not JSON"))));
        }
        let mut survey = Survey::default();
        lines(&decoded.text).for_each(|line| survey.add(line.text));
        formatted = formatted.with_value_or_reason(value_of(&decoded.text));
        formatted.diagnostics.extend(survey.losses());
        Ok(formatted)
    }

    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        match value {
            FormatValue::Text(text) => {
                for line in lines(text) {
                    line.check().map_err(|fault| refused(self.id(), fault))?;
                }
                Form::of(previous)?.0.encode_lines(text)
            }
            FormatValue::Json(Value::Array(items)) => self.write_items(previous, items),
            FormatValue::Json(other) => {
                Err(HandlerError::value("$", noun(other), "an array with an item for each line"))
            }
        }
    }
}

impl JsonLinesHandler {
    fn write_items(&self, previous: Option<&[u8]>, items: &[Value]) -> Result<Vec<u8>, HandlerError> {
        check_size(self.id(), previous)?;
        let (form, text) = Form::of(previous)?;
        let text = text.unwrap_or_default();
        let old: Vec<&str> = lines(&text).filter(|line| line.check().is_ok()).map(|line| line.text).collect();
        let style = old.first().map_or_else(Style::compact, |line| Style { indent: None, ..Style::of(line) });
        let style = Style { ascii: text.is_ascii() && text.contains("\\u"), ..style };
        let mut out = String::new();
        for (index, (item, old)) in items.iter().zip(paired(&old, items)).enumerate() {
            check_depth(item)?;
            if index > 0 {
                out.push('\n');
            }
            write_over(old, item, &style, 0, &mut |piece| out.push_str(piece));
        }
        if !items.is_empty() && (text.is_empty() || text.ends_with('\n')) {
            out.push('\n');
        }
        form.encode_lines(&out)
    }
}

struct Line<'t> {
    number: usize,
    text: &'t str,
    /// Blanks before it, in chars.
    margin: usize,
}

impl Line<'_> {
    fn check(&self) -> Result<(), Fault> {
        check(self.text).map_err(|fault| Fault {
            line: self.number,
            column: fault.column + self.margin,
            ..fault
        })
    }
}

/// The lines that are not blank.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split('\n').enumerate().filter_map(|(index, line)| {
        let text = line.trim_ascii();
        let margin = line.len() - line.trim_ascii_start().len();
        (!text.is_empty()).then_some(Line { number: index + 1, text, margin })
    })
}

fn value_of(text: &str) -> Result<Value, String> {
    if text.len() > MAX_VALUE_BYTES {
        return Err(format!("more than {MAX_VALUE_BYTES} bytes of text"));
    }
    lines(text)
        .map(|line| serde_json::from_str(line.text).map_err(|error| format!("line {}: {error}", line.number)))
        .collect::<Result<Vec<Value>, String>>()
        .map(Value::Array)
}
