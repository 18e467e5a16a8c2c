//! What the built-in handlers show, and what they write.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod csv;
mod json;
mod notebook;
mod registry;
mod text;

use briefing_task_workspace::handler::{FileHandler, FormatRequest, FormatValue, Formatted};

fn read(handler: &dyn FileHandler, bytes: impl AsRef<[u8]>) -> Formatted {
    handler.read(bytes.as_ref(), &FormatRequest::whole()).unwrap()
}

fn write(handler: &dyn FileHandler, previous: Option<&str>, value: impl Into<FormatValue>) -> String {
    String::from_utf8(handler.write(previous.map(str::as_bytes), &value.into()).unwrap()).unwrap()
}

/// The code of the error that a write gives, and its message.
fn refusal(
    handler: &dyn FileHandler,
    previous: Option<&str>,
    value: impl Into<FormatValue>,
) -> (String, String) {
    let error = handler.write(previous.map(str::as_bytes), &value.into()).unwrap_err();
    (error.code().to_owned(), error.to_string())
}

fn codes(formatted: &Formatted) -> Vec<&str> {
    formatted.diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect()
}
