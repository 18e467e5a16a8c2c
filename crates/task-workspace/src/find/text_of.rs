//! A file's text for a search: its own bytes where they are UTF-8, decoded where they are another encoding, nothing where
//! they are no text. Lines end in `\n`: where they end in `\r\n`, that is their end and no part of them.

use std::borrow::Cow;
use std::io::Read as _;

use briefing_formats::{decode, is_text};

use crate::TaskWorkspace;
use crate::error::Error;
use crate::read::FileIdentity;
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
    let mut opened = workspace.open_found(file)?;
    buffer.clear();
    let unreadable = |source| Error::Unreadable { path: file.name.shown().to_string(), source };
    opened.by_ref().take(max_bytes.saturating_add(1)).read_to_end(buffer).map_err(unreadable)?;
    if buffer.len() as u64 > max_bytes {
        return Ok(Searched::TooLarge);
    }
    let after = opened.metadata().map_err(unreadable)?;
    if FileIdentity::of(&after) != file.identity {
        return Err(Error::Changed { path: file.name.shown().to_string() });
    }
    if std::str::from_utf8(buffer).is_ok() && !buffer.contains(&0) {
        let text = buffer.strip_prefix(BOM).unwrap_or(buffer);
        return Ok(Searched::Text(with_plain_ends(Cow::Borrowed(text))));
    }
    if !is_text(buffer) {
        return Ok(Searched::Binary);
    }
    let decoded = decode(buffer).map(|decoded| Cow::Owned(decoded.text.into_bytes()));
    Ok(decoded.map_or(Searched::Binary, |text| Searched::Text(with_plain_ends(text))))
}

/// The text with `\n` for `\r\n`: a pattern for white space or for anything but a digit must not meet the `\r`.
fn with_plain_ends(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if !text.contains(&b'\r') {
        return text;
    }
    let mut plain = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => {
                plain.extend_from_slice(line);
                plain.push(b'\n');
            }
            None => plain.extend_from_slice(line),
        }
    }
    Cow::Owned(plain)
}
