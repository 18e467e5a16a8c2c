//! Figures, checks and copies of the whole store, through its mode; not through a view.

use std::io::{BufRead, Write};
use std::path::Path;

use super::RecordStore;
use crate::port::Maintenance;
use crate::{Error, RecordFilter, StoreStats, TransferReport};

impl RecordStore {
    fn maintenance(&self) -> Result<&dyn Maintenance, Error> {
        if *self.view != RecordFilter::new() {
            let asked = "the whole store".to_owned();
            return Err(Error::OutsideView { asked, view: "narrower bounds".to_owned() });
        }
        self.backend.maintenance().ok_or(Error::Unsupported { ability: "maintenance" })
    }

    /// How much the store holds.
    ///
    /// # Errors
    /// [`Error::Unsupported`]; [`Error::OutsideView`] through a view.
    pub async fn stats(&self) -> Result<StoreStats, Error> {
        self.maintenance()?.stats().await
    }

    /// Looks for damage: every page, every content against its digest, every index against its records. Returns what was
    /// found; empty is sound.
    ///
    /// # Errors
    /// As [`stats`](Self::stats).
    pub async fn check(&self) -> Result<Vec<String>, Error> {
        self.maintenance()?.check().await
    }

    /// Copies the store, as it is at one moment, to a new file, while others go on working with it.
    ///
    /// # Errors
    /// As [`stats`](Self::stats); [`Error::Io`] where the file exists or cannot be made.
    pub async fn backup(&self, to: impl AsRef<Path> + Send) -> Result<(), Error> {
        self.maintenance()?.backup(to.as_ref()).await
    }

    /// Writes the store, as it is at one moment, as JSON Lines ([`TransferLine`](crate::TransferLine)). Leases are not in it.
    ///
    /// # Errors
    /// As [`stats`](Self::stats); [`Error::Io`] where `out` fails.
    pub async fn export(&self, out: Box<dyn Write + Send>) -> Result<TransferReport, Error> {
        self.maintenance()?.export(out).await
    }

    /// Takes in what an export wrote: all of it, or nothing. Ids, versions and times stay as they were.
    ///
    /// # Errors
    /// As [`stats`](Self::stats); [`Error::ReadOnly`]; [`Error::Import`] naming the line.
    pub async fn import(&self, input: Box<dyn BufRead + Send>) -> Result<TransferReport, Error> {
        self.ensure_writable("import")?;
        self.maintenance()?.import(input).await
    }

    /// Forgets what changed before the last `keep` changes, and says how many were forgotten. A reader that stands further
    /// back lists its view anew.
    ///
    /// # Errors
    /// As [`stats`](Self::stats); [`Error::ReadOnly`].
    pub async fn prune_changes(&self, keep: u64) -> Result<u64, Error> {
        self.ensure_writable("prune_changes")?;
        self.maintenance()?.prune_changes(keep).await
    }

    /// Gives the store a new id, for a copy that lives on beside its original. Handles see it once they are opened anew.
    ///
    /// # Errors
    /// As [`stats`](Self::stats); [`Error::ReadOnly`].
    pub async fn reidentify(&self) -> Result<String, Error> {
        self.ensure_writable("reidentify")?;
        self.maintenance()?.reidentify().await
    }
}
