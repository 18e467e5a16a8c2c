//! How much may still be inflated.

use std::cell::Cell;

use lopdf::{DecompressError, Dictionary, Error, Object, Stream};

use crate::document::guard::Guard;
use crate::document::{DocumentError, DocumentLimits};

/// The inflated bytes that are left, and the clock.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    pub(super) guard: &'a Guard,
    limits: &'a DocumentLimits,
    left: Cell<u64>,
}

/// The content of a stream.
#[derive(Debug)]
pub(super) struct Inflated {
    pub(super) content: Vec<u8>,
    /// Whether nothing is missing at its end.
    pub(super) whole: bool,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a DocumentLimits, guard: &'a Guard) -> Self {
        Self { guard, limits, left: Cell::new(limits.max_total_bytes) }
    }

    /// The content of a stream; `None` where it cannot be decoded.
    pub(super) fn inflate(&self, stream: &Stream) -> Result<Option<Inflated>, DocumentError> {
        self.guard.check()?;
        let allowed = self.limits.max_entry_bytes.min(self.left.get());
        match stream.decompressed_content_with_limit(usize::try_from(allowed).unwrap_or(usize::MAX)) {
            Ok(content) => {
                self.left.set(self.left.get().saturating_sub(content.len() as u64));
                Ok(Some(Inflated { whole: is_whole(stream, &content), content }))
            }
            Err(Error::Decompress(DecompressError::MemoryLimitExceeded { .. })) => {
                Err(if allowed == self.limits.max_entry_bytes {
                    DocumentError::limit("max_entry_bytes", self.limits.max_entry_bytes)
                } else {
                    DocumentError::limit("max_total_bytes", self.limits.max_total_bytes)
                })
            }
            Err(_) => Ok(None),
        }
    }
}

/// Whether the checksum at the end of deflated data is that of the content. Of data that breaks off, lopdf gives what there
/// is as if it were all.
fn is_whole(stream: &Stream, content: &[u8]) -> bool {
    let filters = stream.filters().unwrap_or_default();
    let Some((b"FlateDecode", before)) = filters.split_last().map(|(last, before)| (*last, before)) else {
        return true;
    };
    // A predictor changes what was inflated.
    if stream.dict.has(b"DecodeParms") {
        return true;
    }
    if before.is_empty() {
        return ends_with_checksum(&stream.content, content);
    }
    let names = before.iter().map(|name| Object::Name(name.to_vec())).collect();
    let mut dict = Dictionary::new();
    dict.set("Filter", Object::Array(names));
    let deflated = Stream::new(dict, stream.content.clone());
    deflated
        .decompressed_content_with_limit(stream.content.len() + content.len())
        .is_ok_and(|deflated| ends_with_checksum(&deflated, content))
}

/// Line ends may follow the data (ISO 32000-1, 7.3.8.1).
fn ends_with_checksum(deflated: &[u8], content: &[u8]) -> bool {
    let checksum = adler32(content).to_be_bytes();
    deflated.is_empty() || deflated.windows(4).rev().take(4).any(|window| window == checksum)
}

/// The checksum of zlib (RFC 1950, 8.2).
fn adler32(bytes: &[u8]) -> u32 {
    const BASE: u32 = 65_521;
    let (mut sum, mut sums) = (1_u32, 0_u32);
    // As many bytes as fit before the sums overflow.
    for chunk in bytes.chunks(5_552) {
        for byte in chunk {
            sum += u32::from(*byte);
            sums += sum;
        }
        sum %= BASE;
        sums %= BASE;
    }
    sums << 16 | sum
}

#[cfg(test)]
mod tests {
    use super::adler32;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(adler32(b""), 1);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
        assert_eq!(adler32(&[0xFF; 100_000]), 0x149A_302C);
    }
}
