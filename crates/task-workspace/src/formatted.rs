//! Reading and writing files through the handlers of their formats.

use std::sync::{Arc, PoisonError};

use briefing_core::Digest;
use briefing_core::media::MediaSignals;
use briefing_formats::classify;

use crate::error::Error;
use crate::handler::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};
use crate::write::{Bytes, Expected, Written, bytes_of, check_expected};
use crate::{TaskWorkspace, WorkspacePath};

/// The largest file that a handler is given, in bytes.
const MAX_HANDLED_BYTES: u64 = 64 << 20;

impl TaskWorkspace {
    /// Adds a handler of a format to this workspace and its clones.
    ///
    /// # Errors
    /// [`Error::Handler`] where a handler has the same id.
    pub fn register_handler(&self, handler: Arc<dyn FileHandler>) -> Result<(), Error> {
        let id = handler.id().to_owned();
        let mut handlers = self.handlers().write().unwrap_or_else(PoisonError::into_inner);
        handlers.register(handler).map_err(|source| Error::Handler { path: id, source: Box::new(source) })
    }

    /// Takes a handler away; files of its format go to the next one that knows them.
    pub fn unregister_handler(&self, id: &str) -> Option<Arc<dyn FileHandler>> {
        self.handlers().write().unwrap_or_else(PoisonError::into_inner).unregister(id)
    }

    /// Shows a file as the handler of its format shows it, with the digest of its bytes: a write that expects it changes
    /// nothing but what was shown.
    ///
    /// ```
    /// use briefing_task_workspace::{FormatRequest, TaskWorkspace, WorkspacePath};
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("pumps.csv"), "name,days\nnorth,7\n")?;
    /// let workspace = TaskWorkspace::open(folder.path())?;
    /// let shown = workspace.read_formatted(&WorkspacePath::new("pumps.csv")?, &FormatRequest::whole())?;
    /// assert_eq!(shown.handler, "csv");
    /// assert!(shown.text.contains("| north | 7 |"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoHandler`] for a format that no handler knows, [`Error::Handler`] where it cannot be shown,
    /// [`Error::TooLarge`] for a file over 64 MiB; and as [`read`](Self::read).
    pub fn read_formatted(&self, path: &WorkspacePath, request: &FormatRequest) -> Result<Formatted, Error> {
        let read = self.read(path, MAX_HANDLED_BYTES)?;
        if read.truncated {
            let (path, size_bytes) = (path.as_str().to_owned(), read.total_bytes);
            return Err(Error::TooLarge { path, size_bytes, limit_bytes: MAX_HANDLED_BYTES });
        }
        let handler = self.handler_of(path, &read.bytes)?;
        let mut shown = handler.read(&read.bytes, request).map_err(refused(path))?;
        shown.digest = Some(Digest::of(&read.bytes));
        Ok(shown)
    }

    /// Writes a file as the handler of its format makes it from a value; what the format allows of the old file's form is
    /// kept.
    ///
    /// # Errors
    /// [`Error::NoHandler`] and [`Error::Handler`]; and as [`write`](Self::write).
    pub fn write_formatted(
        &self,
        path: &WorkspacePath,
        value: &FormatValue,
        expected: impl Into<Expected>,
    ) -> Result<Written, Error> {
        let hold = self.hold()?;
        hold.check_write(path)?;
        let place = hold.place(path)?;
        let seen = place.see()?;
        check_expected(&place, seen.as_ref(), expected.into().0)?;
        let old = seen.as_ref().map(|seen| bytes_of(seen, &place, MAX_HANDLED_BYTES)).transpose()?;
        let handler = self.handler_of(path, old.as_deref().unwrap_or_default())?;
        let bytes = handler.write(old.as_deref(), value).map_err(refused(path))?;
        self.rules().check_size(path, bytes.len() as u64)?;
        hold.replace(place, seen, Bytes::All(&bytes))
    }

    fn handler_of(&self, path: &WorkspacePath, bytes: &[u8]) -> Result<Arc<dyn FileHandler>, Error> {
        let signals = MediaSignals { path: Some(path.as_str()), ..MediaSignals::default() };
        let class = classify(&signals, bytes);
        let facts = FileFacts { path: path.as_str(), kind: class.kind, media_type: class.media_type };
        let handlers = self.handlers().read().unwrap_or_else(PoisonError::into_inner);
        handlers
            .for_file(&facts)
            .into_iter()
            .next()
            .ok_or_else(|| Error::NoHandler { path: path.as_str().to_owned(), kind: class.kind })
    }
}

fn refused(path: &WorkspacePath) -> impl FnOnce(HandlerError) -> Error {
    let path = path.as_str().to_owned();
    move |source| Error::Handler { path, source: Box::new(source) }
}
