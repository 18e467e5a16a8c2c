//! How much may still be inflated.

use std::cell::Cell;

use lopdf::{DecompressError, Error, Stream};

use crate::document::guard::Guard;
use crate::document::{DocumentError, DocumentLimits};

/// The inflated bytes that are left, and the clock.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    pub(super) guard: &'a Guard,
    limits: &'a DocumentLimits,
    left: Cell<u64>,
}

impl<'a> Budget<'a> {
    pub(super) fn new(limits: &'a DocumentLimits, guard: &'a Guard) -> Self {
        Self { guard, limits, left: Cell::new(limits.max_total_bytes) }
    }

    /// The content of a stream; `None` where it cannot be decoded.
    pub(super) fn inflate(&self, stream: &Stream) -> Result<Option<Vec<u8>>, DocumentError> {
        self.guard.check()?;
        let allowed = self.limits.max_entry_bytes.min(self.left.get());
        match stream.decompressed_content_with_limit(usize::try_from(allowed).unwrap_or(usize::MAX)) {
            Ok(content) => {
                self.left.set(self.left.get().saturating_sub(content.len() as u64));
                Ok(Some(content))
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
