//! Keeps the index text of a partition: in memory while it is small, in an anonymous temporary file once it is not.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// Above this many bytes the texts move into a file.
const SPILL_BYTES: usize = 8 << 20;

/// Where a text lies in its store.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Span {
    start: u64,
    len: u32,
}

/// Texts that are appended once and read by [`Span`] afterwards.
#[derive(Debug, Default)]
pub(crate) struct TextStoreBuilder {
    memory: Vec<u8>,
    spilled: Option<File>,
    spilled_bytes: u64,
}

impl TextStoreBuilder {
    /// Appends a text. Past 4 GiB a single text is cut; no source reads that much.
    pub(crate) fn push(&mut self, text: &str) -> io::Result<Span> {
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let start = self.spilled_bytes + self.memory.len() as u64;
        self.memory.extend_from_slice(text.as_bytes());
        if self.memory.len() >= SPILL_BYTES {
            self.spill()?;
        }
        Ok(Span { start, len })
    }

    fn spill(&mut self) -> io::Result<()> {
        let file = match &mut self.spilled {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.memory)?;
        self.spilled_bytes += self.memory.len() as u64;
        self.memory.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> TextStore {
        self.memory.shrink_to_fit();
        TextStore {
            memory: self.memory,
            spilled: self.spilled.map(Mutex::new),
            spilled_bytes: self.spilled_bytes,
        }
    }
}

/// The finished store.
#[derive(Debug)]
pub(crate) struct TextStore {
    memory: Vec<u8>,
    spilled: Option<Mutex<File>>,
    spilled_bytes: u64,
}

impl TextStore {
    /// The text at `span`.
    pub(crate) fn get(&self, span: Span) -> io::Result<String> {
        let len = span.len as usize;
        let bytes = match span.start.checked_sub(self.spilled_bytes) {
            Some(start) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                self.memory.get(start..start.saturating_add(len)).map(<[u8]>::to_vec)
            }
            None => {
                let mut bytes = vec![0; len];
                if let Some(file) = &self.spilled {
                    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                    file.seek(SeekFrom::Start(span.start))?;
                    file.read_exact(&mut bytes)?;
                }
                Some(bytes)
            }
        };
        let bytes = bytes.ok_or_else(|| io::Error::other("a text lies outside its store"))?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    /// How much memory it holds, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_memory_and_from_the_file() {
        let mut builder = TextStoreBuilder::default();
        let texts: Vec<String> = (0..40).map(|n| format!("{n}:").repeat(100_000)).collect();
        let spans: Vec<Span> = texts.iter().map(|text| builder.push(text).unwrap()).collect();
        let store = builder.finish();
        assert!(store.spilled_bytes > 0 && store.memory_bytes() > 0);
        for (text, span) in texts.iter().zip(spans) {
            assert_eq!(store.get(span).unwrap(), *text);
        }
    }
}
