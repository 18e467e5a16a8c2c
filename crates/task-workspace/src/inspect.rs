//! What a file is, without giving its content.

use std::io::{Read as _, Seek as _, SeekFrom};

use briefing_core::Digest;
use briefing_core::media::{MediaKind, MediaSignals};
use briefing_formats::{classify, decode};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::hold::unreadable;
use crate::options::WorkspaceMode;
use crate::place::{Layer, digest_of};
use crate::read::FileIdentity;
use crate::{TaskWorkspace, WorkspacePath};

/// How much of a file is looked at to tell its kind and encoding, in bytes.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileInfo {
    /// The file.
    pub path: WorkspacePath,
    /// The kind of its content, by name and bytes.
    pub kind: MediaKind,
    /// The MIME type that the bytes show, where they show one.
    pub media_type: Option<String>,
    /// The encoding of a text, as its first 64 KiB show it.
    pub encoding: Option<String>,
    /// Where its name and its bytes contradict one another: one sentence that says how.
    pub disagreement: Option<String>,
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// The digest of its bytes: its content version.
    pub digest: Digest,
    /// When its content changed last, in milliseconds since 1970.
    pub modified_unix_millis: i64,
    /// Whether the policy and the mode let a write change it. The system may still refuse.
    pub writable: bool,
    /// Whether it is in the execution's fallback.
    pub in_fallback: bool,
}

impl TaskWorkspace {
    /// What a file is. It is read once, in pieces, for its digest.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn inspect(&self, path: &WorkspacePath) -> Result<FileInfo, Error> {
        let failed = unreadable(path);
        let mut open = self.open_file(path)?;
        let mut sample = Vec::new();
        open.file.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample).map_err(&failed)?;
        let signals = MediaSignals { path: Some(path.as_str()), ..MediaSignals::default() };
        if open.identity.size > SAMPLE_BYTES && signals.kind().is_document() {
            // A zip lists what it holds at its end.
            let tail = open.identity.size.saturating_sub(SAMPLE_BYTES).max(SAMPLE_BYTES);
            open.file.seek(SeekFrom::Start(tail)).map_err(&failed)?;
            open.file.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample).map_err(&failed)?;
        }
        open.file.seek(SeekFrom::Start(0)).map_err(&failed)?;
        let (digest, size_bytes) = digest_of(&mut open.file).map_err(&failed)?;
        let after = open.file.metadata().map_err(&failed)?;
        if FileIdentity::of(&after) != open.identity {
            return Err(Error::Changed { path: path.as_str().to_owned() });
        }
        let class = classify(&signals, &sample);
        let in_fallback = open.layer == Layer::Fallback;
        Ok(FileInfo {
            path: path.clone(),
            kind: class.kind,
            media_type: class.media_type.map(str::to_owned),
            encoding: (class.kind == MediaKind::Text).then(|| encoding_of(&sample)).flatten(),
            disagreement: class.disagreement,
            size_bytes,
            digest,
            modified_unix_millis: i64::try_from(open.identity.modified_ns / 1_000_000).unwrap_or(i64::MAX),
            writable: self.rules().check_path(path).is_ok()
                && (in_fallback || self.mode() == WorkspaceMode::ReadWrite),
            in_fallback,
        })
    }

    /// The digest of a file's bytes, read in pieces.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn digest(&self, path: &WorkspacePath) -> Result<Digest, Error> {
        let mut open = self.open_file(path)?;
        let (digest, _) = digest_of(&mut open.file).map_err(unreadable(path))?;
        let after = open.file.metadata().map_err(unreadable(path))?;
        if FileIdentity::of(&after) != open.identity {
            return Err(Error::Changed { path: path.as_str().to_owned() });
        }
        Ok(digest)
    }
}

/// The encoding of a text by its beginning, which may cut a character.
fn encoding_of(sample: &[u8]) -> Option<String> {
    (0..4).find_map(|cut| {
        let end = sample.len().checked_sub(cut)?;
        decode(sample.get(..end)?).ok().map(|decoded| decoded.encoding.to_owned())
    })
}
