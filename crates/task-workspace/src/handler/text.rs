//! Any text, as it is.

use briefing_core::media::MediaKind;

use super::form::{Form, decoded, shown_as_text};
use super::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};

/// Shows any text as it is, without its byte order mark. Writes text in the encoding of the file, with its mark; where
/// the file has CRLF throughout and the text has only LF, the text gets CRLF. A new file is UTF-8.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextHandler;

impl FileHandler for TextHandler {
    fn id(&self) -> &str {
        "text"
    }

    fn priority(&self) -> i32 {
        200
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        file.kind == MediaKind::Text
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        Ok(shown_as_text(self.id(), &decoded(bytes)?, request))
    }

    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        write_text(self.id(), previous, value)
    }
}

/// Writes a text and nothing else.
pub(super) fn write_text(
    handler: &str,
    previous: Option<&[u8]>,
    value: &FormatValue,
) -> Result<Vec<u8>, HandlerError> {
    match value {
        FormatValue::Text(text) => Form::of(previous)?.0.encode_lines(text),
        FormatValue::Json(_) => {
            Err(HandlerError::Unsupported { handler: handler.to_owned(), what: value.noun() })
        }
    }
}
