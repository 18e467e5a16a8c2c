//! A file's text for a search: its own bytes where they are UTF-8, decoded where they are another encoding, nothing where
//! they are no text. Lines end in `\n`: where they end in `\r\n`, that is their end and no part of them.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};

use briefing_formats::{decode, is_text};
use memchr::memchr;

use crate::TaskWorkspace;
use crate::error::Error;
use crate::read::FileIdentity;
use crate::walk::FoundFile;

/// How much of a file is read before it is decided whether the rest is worth reading, in bytes.
const SAMPLE_BYTES: usize = 64 * 1024;

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

/// Reads a file into `buffer`, which only ever grows, and gives its text.
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
    let unreadable = |source| Error::Unreadable { path: file.name.shown().to_string(), source };
    let size = usize::try_from(file.identity.size).unwrap_or(usize::MAX);
    // One byte more shows whether the file has grown.
    let whole = size.saturating_add(1);
    let sampled = fill(&mut opened, buffer, 0, whole.min(SAMPLE_BYTES)).map_err(unreadable)?;
    let sample = buffer.get(..sampled).unwrap_or_default();
    if sampled < size && memchr(0, sample).is_some() && !is_text(sample) {
        return Ok(Searched::Binary);
    }
    let filled = fill(&mut opened, buffer, sampled, whole).map_err(unreadable)?;
    let bytes = buffer.get(..filled).unwrap_or_default();
    let after = opened.metadata().map_err(unreadable)?;
    if FileIdentity::of(&after) != file.identity {
        return Err(Error::Changed { path: file.name.shown().to_string() });
    }
    if memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok() {
        let text = bytes.strip_prefix(BOM).unwrap_or(bytes);
        return Ok(Searched::Text(with_plain_ends(Cow::Borrowed(text))));
    }
    if !is_text(bytes) {
        return Ok(Searched::Binary);
    }
    let decoded = decode(bytes).map(|decoded| Cow::Owned(decoded.text.into_bytes()));
    Ok(decoded.map_or(Searched::Binary, |text| Searched::Text(with_plain_ends(text))))
}

/// Reads on until `buffer` holds `wanted` bytes, or the file ends; says how many it holds.
fn fill(file: &mut File, buffer: &mut Vec<u8>, mut filled: usize, wanted: usize) -> io::Result<usize> {
    if buffer.len() < wanted {
        buffer.resize(wanted, 0);
    }
    while let Some(room) = buffer.get_mut(filled..wanted).filter(|room| !room.is_empty()) {
        match file.read(room) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The text with `\n` for `\r\n`: a pattern for white space or for anything but a digit must not meet the `\r`.
fn with_plain_ends(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if memchr(b'\r', &text).is_none() {
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
