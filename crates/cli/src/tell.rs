//! How results are told: as lines for people, or as JSON, one object a line.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::failure::Failure;

/// Tells results on standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tell {
    json: bool,
}

impl Tell {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Tells one result: `value` to a program, `text` to a person.
    pub(crate) fn line(self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        let line = if self.json {
            serde_json::to_string(value).map_err(io::Error::other).map_err(Failure::Output)?
        } else {
            text()
        };
        writeln!(io::stdout().lock(), "{line}").map_err(Failure::Output)
    }
}

/// Writes bytes as they are.
pub(crate) fn write_out(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Failure::Output)
}
