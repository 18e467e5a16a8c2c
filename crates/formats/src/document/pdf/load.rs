//! The objects of a PDF, under limits that lopdf has no words for.

use std::cell::RefCell;

use lopdf::{DecompressError, Document, Error, LoadOptions, Object, ObjectId};

use crate::document::guard::Guard;
use crate::document::isolation::Thrown;
use crate::document::{DocumentError, DocumentLimits};

/// How far a stream of objects may inflate: writers put one or two hundred objects into each, and an object takes many
/// times its bytes in memory.
const OBJECT_STREAM_BYTES: u64 = 8 << 20;

/// How much the objects in memory may take, as a multiple of `max_total_bytes`.
const IN_MEMORY: u64 = 4;

/// How much a single object may take while it is read, as a multiple of `max_total_bytes`: a vector that grows holds
/// its items twice.
const IN_ONE_OBJECT: u64 = 8;

/// What an object takes beside its content, in bytes: about the size of lopdf's enum and its place in a map.
const OBJECT_BYTES: u64 = 96;

struct Allowance {
    guard: Guard,
    left: u64,
    allowed: u64,
}

thread_local! {
    /// lopdf calls a plain function for every object, so what it looks at is kept beside the stack of this thread.
    static ALLOWANCE: RefCell<Option<Allowance>> = const { RefCell::new(None) };
}

/// Loads a document, its objects bounded in number and size.
pub(super) fn load(bytes: &[u8], limits: &DocumentLimits, guard: &Guard) -> Result<Document, DocumentError> {
    check_objects(bytes, limits)?;
    let left = limits.max_total_bytes.saturating_mul(IN_MEMORY).saturating_add(bytes.len() as u64);
    let allowance = || Allowance { guard: guard.clone(), left, allowed: limits.max_total_bytes };
    let load = |force_reconstruct| {
        ALLOWANCE.set(Some(allowance()));
        let options = LoadOptions {
            filter: Some(keep),
            max_decompressed_size: Some(usize::try_from(stream_bytes(bytes, limits)).unwrap_or(usize::MAX)),
            force_reconstruct,
            ..LoadOptions::default()
        };
        let loaded = Document::load_mem_with_options(bytes, options);
        ALLOWANCE.set(None);
        loaded
    };
    let document = load(false).map_err(|error| told(&error, limits))?;
    guard.check()?;
    // With a filter, lopdf leaves it to its caller to look for a page tree that the cross-reference table has lost.
    if !document.is_encrypted() && document.page_iter().next().is_none() {
        return match load(true) {
            Ok(rebuilt) if rebuilt.page_iter().next().is_some() => Ok(rebuilt),
            _ => Ok(document),
        };
    }
    Ok(document)
}

/// Refuses a file in which a single object would take too much memory. lopdf reads an object whole before it shows it to
/// the filter, and `[0 0 0 …` takes about sixty times its bytes. So the words up to each `endobj` are counted, whatever
/// they seem to be part of; a compressed stream looks like a word every ten bytes.
fn check_objects(bytes: &[u8], limits: &DocumentLimits) -> Result<(), DocumentError> {
    let allowed = limits.max_total_bytes.saturating_mul(IN_ONE_OBJECT) / OBJECT_BYTES;
    if bytes.len() as u64 <= allowed {
        return Ok(());
    }
    let (mut words, mut after_border) = (0_u64, true);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            0 | b'\t' | b'\n' | 0xC | b'\r' | b' ' | b')' | b'>' | b']' | b'%' => after_border = true,
            b'(' | b'<' | b'[' | b'/' | b'{' | b'}' => {
                words += 1;
                after_border = true;
            }
            b'e' if bytes.get(at..at + 6) == Some(b"endobj") => words = 0,
            _ => {
                words += u64::from(after_border);
                after_border = false;
            }
        }
        if words > allowed {
            return Err(DocumentError::limit("max_total_bytes", limits.max_total_bytes));
        }
    }
    Ok(())
}

/// How far one stream may inflate while objects are loaded. The objects of an encrypted document do not pass the filter,
/// so that there the limit of the whole is shared out among all streams that may hold objects.
fn stream_bytes(bytes: &[u8], limits: &DocumentLimits) -> u64 {
    let each = limits.max_entry_bytes.min(OBJECT_STREAM_BYTES);
    if !crate::signature::contains(bytes, b"/Encrypt") {
        return each;
    }
    // A name may be spelled with codes, as in `#4FbjStm`.
    let streams = bytes
        .windows(6)
        .filter(|window| {
            *window == b"ObjStm"
                || matches!(window, [b'#', one, other, ..] if one.is_ascii_hexdigit() && other.is_ascii_hexdigit())
        })
        .count();
    each.min(limits.max_total_bytes / (streams as u64).max(1))
}

/// Keeps every object, and stops lopdf where there are too many or the time is over. There is no way to stop it but to
/// unwind; the wall round the parser catches that.
fn keep(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let size = size(object, 0);
    let stopped = ALLOWANCE.with_borrow_mut(|allowance| {
        let allowance = allowance.as_mut()?;
        if let Err(error) = allowance.guard.step() {
            return Some(error);
        }
        match allowance.left.checked_sub(size) {
            Some(left) => allowance.left = left,
            None => return Some(DocumentError::limit("max_total_bytes", allowance.allowed)),
        }
        None
    });
    if let Some(error) = stopped {
        std::panic::resume_unwind(Box::new(Thrown(error)));
    }
    // Of an object that stands in the file itself, lopdf keeps what it handed in, whatever comes back; of one from a
    // stream of objects, what comes back. Streams are never among the latter (ISO 32000-1, 7.5.7), and costly to copy.
    Some((id, if matches!(object, Object::Stream(_)) { Object::Null } else { object.clone() }))
}

/// About how much memory an object takes, in bytes. lopdf reads no deeper than 100 levels.
fn size(object: &Object, depth: usize) -> u64 {
    if depth > 200 {
        return 0;
    }
    let inside = match object {
        Object::Name(bytes) | Object::String(bytes, _) => bytes.len() as u64,
        Object::Array(items) => items.iter().map(|item| size(item, depth + 1)).sum(),
        Object::Dictionary(entries) => sizes(entries, depth),
        Object::Stream(stream) => sizes(&stream.dict, depth).saturating_add(stream.content.len() as u64),
        _ => 0,
    };
    inside.saturating_add(OBJECT_BYTES)
}

fn sizes(entries: &lopdf::Dictionary, depth: usize) -> u64 {
    entries.iter().map(|(key, value)| key.len() as u64 + size(value, depth + 1)).sum()
}

fn told(error: &Error, limits: &DocumentLimits) -> DocumentError {
    match error {
        Error::Decompress(DecompressError::MemoryLimitExceeded { limit }) => {
            if *limit as u64 == limits.max_entry_bytes {
                DocumentError::limit("max_entry_bytes", limits.max_entry_bytes)
            } else {
                DocumentError::limit("bytes of a stream of objects", *limit as u64)
            }
        }
        Error::InvalidPassword | Error::Decryption(_) | Error::UnsupportedSecurityHandler(_) => {
            DocumentError::Encrypted
        }
        error => DocumentError::damaged(error.to_string()),
    }
}
