//! A file's text for a search: its own bytes where they are UTF-8, decoded where they are another encoding, nothing where
//! they are no text.

use std::borrow::Cow;
use std::io::Read as _;

use briefing_formats::{decode, is_text};

use crate::TaskWorkspace;
use crate::error::Error;
use crate::walk::FoundFile;

/// The byte order mark of UTF-8.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What a search looks into.
pub(super) enum Searched<'a> {
    Text(Cow<'a, [u8]>),
    /// Bytes that are no text, or text that no encoding gives whole.
    Binary,
    /// More bytes than are looked into.
    TooLarge,
}

/// Reads a file into `buffer` and gives its text.
pub(super) fn text_of<'a>(
    workspace: &TaskWorkspace,
    file: &FoundFile,
    max_bytes: u64,
    buffer: &'a mut Vec<u8>,
) -> Result<Searched<'a>, Error> {
    if file.identity.size > max_bytes {
        return Ok(Searched::TooLarge);
    }
    let opened = workspace.open_found(file)?;
    buffer.clear();
    let unreadable = |source| Error::Unreadable { path: file.name.shown().to_string(), source };
    opened.take(max_bytes.saturating_add(1)).read_to_end(buffer).map_err(unreadable)?;
    if buffer.len() as u64 > max_bytes {
        return Ok(Searched::TooLarge);
    }
    if std::str::from_utf8(buffer).is_ok() && !buffer.contains(&0) {
        return Ok(Searched::Text(Cow::Borrowed(buffer.strip_prefix(BOM).unwrap_or(buffer))));
    }
    if !is_text(buffer) {
        return Ok(Searched::Binary);
    }
    Ok(decode(buffer)
        .map_or(Searched::Binary, |decoded| Searched::Text(Cow::Owned(decoded.text.into_bytes()))))
}
