//! JSON: shown indented, written with everything that did not change left as it is.

mod edit;
mod lines;
mod scan;
mod style;
mod survey;

use briefing_core::media::MediaKind;
use briefing_core::{ContextDiagnostic, Severity};
use briefing_formats::Decoded;
use serde_json::Value;

pub use self::lines::JsonLinesHandler;
use self::scan::{Fault, check, depth_of};
pub(super) use self::style::Style;
use self::style::{is_regular, lay_out};
use self::survey::Survey;
use super::form::{Form, decoded, shown_as_text, with_form};
use super::formatted::Window;
use super::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};

/// Texts above this have no value: a `Value` takes up to some ten times the memory of its text.
pub(super) const MAX_VALUE_BYTES: usize = 64 * 1024 * 1024;

/// Nested more deeply than this, a text is shown as it is: margins would grow larger than the text.
const MAX_INDENTED_DEPTH: usize = 128;

/// Shows JSON indented, with its keys in the order of the file and its numbers as they are written; a file that is
/// regularly indented already is shown as it is. What is not JSON is shown as text, and a diagnostic says where it breaks.
///
/// The value is a `serde_json::Value`: numbers beyond 64 bits and repeated keys do not fit into one, and a diagnostic
/// counts those.
///
/// Writes any value. Whatever equals the file's stays as it is written, to the digit and the blank; objects keep the order
/// of their keys, with new keys at the end; what is new follows the layout of the file. (An object with a repeated key that
/// is changed keeps the last.) Text is checked and written as it is, laid out like the file where the file is regular.
///
/// ```
/// use briefing_task_workspace::handler::{FileHandler, FormatRequest, JsonHandler};
/// let file = br#"{"serial": 12345678901234567890123, "hours": [1.50, 2]}"#;
/// let mut value = JsonHandler.read(file, &FormatRequest::whole())?.value.unwrap();
/// value["hours"][1] = 3.into();
/// let written = JsonHandler.write(Some(file), &value.into())?;
/// assert_eq!(String::from_utf8(written).unwrap(), r#"{"serial": 12345678901234567890123, "hours": [1.50, 3]}"#);
/// # Ok::<(), briefing_task_workspace::handler::HandlerError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonHandler;

impl FileHandler for JsonHandler {
    fn id(&self) -> &str {
        "json"
    }

    fn priority(&self) -> i32 {
        130
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        file.is_text_of(
            &["json", "geojson", "jsonld", "topojson", "webmanifest"],
            &["application/json", "text/json", "application/ld+json"],
        ) || (file.kind == MediaKind::Text && file.essence().to_ascii_lowercase().ends_with("+json"))
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        Ok(show(self.id(), &decoded(bytes)?, request).0)
    }

    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        match value {
            FormatValue::Json(value) => write_value(self.id(), previous, value),
            FormatValue::Text(text) => write_text(self.id(), previous, text),
        }
    }
}

/// Shows a text that should be JSON; true where it is.
pub(super) fn show(handler: &str, decoded: &Decoded, request: &FormatRequest) -> (Formatted, bool) {
    let text = decoded.text.as_str();
    if let Err(fault) = check(text) {
        return (shown_as_text(handler, decoded, request).with_diagnostic(malformed(&fault)), false);
    }
    let depth = depth_of(text);
    let mut formatted = if depth > MAX_INDENTED_DEPTH {
        let too_deep = ContextDiagnostic::new("workspace.json_not_indented", Severity::Info)
            .with("depth", depth)
            .with("max_depth", MAX_INDENTED_DEPTH);
        shown_as_text(handler, decoded, request).with_diagnostic(too_deep)
    } else {
        indented(handler, decoded, request)
    };
    if request.with_value {
        formatted = formatted.with_value_or_reason(value_of(text));
        formatted.diagnostics.extend(Survey::of(text).losses());
    }
    (formatted, true)
}

fn indented(handler: &str, decoded: &Decoded, request: &FormatRequest) -> Formatted {
    let text = decoded.text.as_str();
    let own = Style::of(text);
    if own.indent.is_some() && is_regular(text, &own) {
        return shown_as_text(handler, decoded, request);
    }
    let mut window = Window::new(request);
    lay_out(text, &Style::default(), 0, &mut |piece| window.push(piece));
    if own.tail.contains('\n') {
        window.push("\n");
    }
    with_form(window.into_formatted(handler), decoded)
}

fn value_of(text: &str) -> Result<Value, String> {
    if text.len() > MAX_VALUE_BYTES {
        return Err(format!("more than {MAX_VALUE_BYTES} bytes of text"));
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The diagnostic for a text that is not what its format wants.
pub(super) fn malformed(fault: &Fault) -> ContextDiagnostic {
    ContextDiagnostic::new("workspace.handler_malformed", Severity::Warning)
        .with("line", fault.line)
        .with("column", fault.column)
        .with("reason", fault.reason.as_str())
}

fn refused(handler: &str, fault: Fault) -> HandlerError {
    let Fault { line, column, reason } = fault;
    HandlerError::Malformed { handler: handler.to_owned(), line, column, reason }
}

/// Writes a value over the previous text, or fresh where that is missing or broken.
pub(super) fn write_value(
    handler: &str,
    previous: Option<&[u8]>,
    value: &Value,
) -> Result<Vec<u8>, HandlerError> {
    check_size(handler, previous)?;
    let (form, text) = Form::of(previous)?;
    form.encode(&written(text.as_deref(), value, Style::default())?)
}

/// The text of `value` over the previous one; `style` is for a text without a previous one, or a broken one.
pub(super) fn written(previous: Option<&str>, value: &Value, style: Style) -> Result<String, HandlerError> {
    edit::check_depth(value)?;
    let previous = previous.filter(|text| check(text).is_ok());
    let style = previous.map_or(style, Style::of);
    let mut out = String::new();
    let previous = previous.map(str::trim_ascii);
    edit::write_over(previous, value, &style, 0, &mut |piece| out.push_str(piece));
    out.push_str(&style.tail);
    Ok(out)
}

/// Writes a text that is JSON.
fn write_text(handler: &str, previous: Option<&[u8]>, text: &str) -> Result<Vec<u8>, HandlerError> {
    check(text).map_err(|fault| refused(handler, fault))?;
    let (form, previous) = Form::of(previous)?;
    let regular = previous.filter(|text| check(text).is_ok()).and_then(|previous| {
        let style = Style::of(&previous);
        (depth_of(text) <= MAX_INDENTED_DEPTH && is_regular(&previous, &style)).then_some(style)
    });
    let Some(style) = regular else { return form.encode_lines(text) };
    let mut out = String::with_capacity(text.len());
    lay_out(text, &style, 0, &mut |piece| out.push_str(piece));
    out.push_str(&style.tail);
    form.encode(&out)
}

pub(super) fn check_size(handler: &str, previous: Option<&[u8]>) -> Result<(), HandlerError> {
    match previous {
        Some(bytes) if bytes.len() > MAX_VALUE_BYTES => Err(HandlerError::TooLarge {
            handler: handler.to_owned(),
            bytes: bytes.len(),
            max_bytes: MAX_VALUE_BYTES,
        }),
        _ => Ok(()),
    }
}

/// How notebooks are written: indented by one blank.
pub(super) fn notebook_style() -> Style {
    Style { indent: Some(" ".to_owned()), ..Style::default() }
}
