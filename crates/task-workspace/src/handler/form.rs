//! The outer form of a text file, which a write keeps: its encoding, its byte order mark and its line ends.

use briefing_core::{ContextDiagnostic, Severity};
use briefing_formats::{Decoded, decode};

use super::{FormatRequest, Formatted, HandlerError};

/// How the text of a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    encoding: &'static str,
    with_bom: bool,
    /// All line ends of the file are CRLF.
    crlf: bool,
}

impl Form {
    /// A new file: UTF-8 without a mark.
    const NEW: Self = Self { encoding: "utf-8", with_bom: false, crlf: false };

    /// The form and the text of the file so far; a new file has no text.
    pub(super) fn of(previous: Option<&[u8]>) -> Result<(Self, Option<String>), HandlerError> {
        let Some(bytes) = previous else { return Ok((Self::NEW, None)) };
        let decoded = decoded(bytes)?;
        let form =
            Self { encoding: decoded.encoding, with_bom: decoded.had_bom, crlf: is_crlf(&decoded.text) };
        Ok((form, Some(decoded.text)))
    }

    /// The bytes of `text`, which is stored as it is.
    pub(super) fn encode(self, text: &str) -> Result<Vec<u8>, HandlerError> {
        let bytes = encoded(text, self.encoding, self.with_bom)?;
        // Without a mark some texts read as another encoding, and a leading U+FEFF reads as a mark.
        match decode(&bytes) {
            Ok(read) if read.text == text => Ok(bytes),
            _ => Err(HandlerError::Encoding {
                encoding: self.encoding.to_owned(),
                reason: "some of its characters would be read as something else".to_owned(),
            }),
        }
    }

    /// The bytes of `text`, with the line ends of the file where the text has only bare line feeds.
    pub(super) fn encode_lines(self, text: &str) -> Result<Vec<u8>, HandlerError> {
        if self.crlf && !text.contains('\r') {
            self.encode(&text.replace('\n', "\r\n"))
        } else {
            self.encode(text)
        }
    }
}

/// Whether there are line ends, and all are CRLF.
fn is_crlf(text: &str) -> bool {
    let mut line_feeds = text.match_indices('\n').peekable();
    line_feeds.peek().is_some()
        && line_feeds.all(|(at, _)| text.get(..at).is_some_and(|before| before.ends_with('\r')))
}

fn encoded(text: &str, encoding: &str, with_bom: bool) -> Result<Vec<u8>, HandlerError> {
    briefing_formats::encode(text, encoding, with_bom)
        .map_err(|error| HandlerError::Encoding { encoding: encoding.to_owned(), reason: error.to_string() })
}

pub(super) fn decoded(bytes: &[u8]) -> Result<Decoded, HandlerError> {
    decode(bytes).map_err(|source| HandlerError::Undecodable { source })
}

/// The text itself as what is shown.
pub(super) fn shown_as_text(handler: &str, decoded: &Decoded, request: &FormatRequest) -> Formatted {
    with_form(Formatted::new(handler, &decoded.text, request).as_verbatim(), decoded)
}

/// Adds how the file was decoded.
pub(super) fn with_form(formatted: Formatted, decoded: &Decoded) -> Formatted {
    let formatted = formatted.with_encoding(decoded.encoding);
    if !decoded.guessed {
        return formatted;
    }
    formatted.with_diagnostic(
        ContextDiagnostic::new("workspace.handler_encoding_guessed", Severity::Info)
            .with("encoding", decoded.encoding),
    )
}
