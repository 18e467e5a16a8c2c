//! Readers: connections that see one moment of the database each time they are used.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use super::connect;
use super::fail::{Fail, Outcome};
use super::schema::{self, Looks};
use crate::Error;

/// How many idle connections are kept.
const MAX_IDLE: usize = 8;

/// How often a read beside a writer that appears is begun again.
const TRIES: usize = 5;

/// How often a store that a writer seems to be closing is looked at, and the pause between two looks.
const CLOSING_TRIES: usize = 20;
const CLOSING_PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    read_only: bool,
    busy_timeout: Duration,
    idle: Mutex<Vec<Idle>>,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    /// What the file was when an immutable connection was opened on it; `None` for one that follows changes.
    seen: Option<Stamp>,
}

/// What a file is, as far as a change of it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    inode: u64,
    log: bool,
}

impl Readers {
    pub(super) fn new(path: PathBuf, read_only: bool, busy_timeout: Duration) -> Self {
        Self { path, read_only, busy_timeout, idle: Mutex::default() }
    }

    /// Does some work in one read transaction. It blocks, and may do the work more than once.
    pub(super) fn read<T>(
        &self,
        doing: &'static str,
        work: impl Fn(&Connection) -> Outcome<T>,
    ) -> Result<T, Error> {
        if self.read_only {
            return self.read_without_writing(doing, work);
        }
        let idle = match self.take(None) {
            Some(idle) => idle,
            None => self.connect(None).map_err(|error| self.told(error.into(), doing))?,
        };
        let done = in_transaction(&idle.connection, work);
        self.put_back(idle);
        done.map_err(|fail| self.told(fail, doing))
    }

    /// As `read`, on a store that must not be written to: neither the database nor files beside it. Where no writer has it
    /// open, it is read as a file that does not change, and the work is done again if it did.
    fn read_without_writing<T>(
        &self,
        doing: &'static str,
        work: impl Fn(&Connection) -> Outcome<T>,
    ) -> Result<T, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            let before = self.stamp()?;
            let seen = (!before.log).then(|| before.clone());
            let idle = match self.take(seen.as_ref()) {
                Some(idle) => Ok(idle),
                None => self.connect(seen.clone()),
            };
            let done = match idle {
                Ok(idle) => {
                    let done = in_transaction(&idle.connection, &work);
                    self.put_back(idle);
                    done
                }
                Err(error) => Err(error.into()),
            };
            let quiet = before.log || self.stamp()? == before;
            match done {
                Ok(done) if quiet => return Ok(done),
                Err(fail) if quiet || tries >= TRIES => return Err(self.told(fail, doing)),
                Ok(_) if tries >= TRIES => {
                    return Err(Error::Busy { waited_millis: 0 });
                }
                _ => {}
            }
        }
    }

    /// Lets the next read use a connection that has read nothing before.
    pub(super) fn forget_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// How the file is now. A writer that closes the database leaves it for a moment as one does that never came to it.
    fn stamp(&self) -> Result<Stamp, Error> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.stamp_now() {
                Err(Error::RecoveryNeeded { .. }) if tries < CLOSING_TRIES => thread::sleep(CLOSING_PAUSE),
                stamp => return stamp,
            }
        }
    }

    fn stamp_now(&self) -> Result<Stamp, Error> {
        let Looks::Store { wal } = schema::look(&self.path)? else {
            return Err(Error::NoStore { path: self.path.clone() });
        };
        let beside = |suffix: &str| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(suffix);
            fs::metadata(Path::new(&name)).map_or(None, |file| Some(file.len()))
        };
        let log = match (wal, beside("-wal"), beside("-shm")) {
            (true, Some(_), Some(_)) => true,
            (true, Some(size), None) if size > 0 => {
                return Err(Error::RecoveryNeeded { path: self.path.clone() });
            }
            (true, ..) => false,
            // Without a log a reader locks the file, and needs no other beside it.
            (false, ..) => true,
        };
        let file = fs::metadata(&self.path)
            .map_err(|error| Error::io("the file cannot be seen", &self.path, error))?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&file);
        #[cfg(not(unix))]
        let inode = 0;
        Ok(Stamp { size: file.len(), modified: file.modified().ok(), inode, log })
    }

    fn take(&self, seen: Option<&Stamp>) -> Option<Idle> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().rposition(|idle| idle.seen.as_ref() == seen)?;
        Some(idle.swap_remove(at))
    }

    fn put_back(&self, connection: Idle) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MAX_IDLE {
            idle.remove(0);
        }
        idle.push(connection);
    }

    fn connect(&self, seen: Option<Stamp>) -> rusqlite::Result<Idle> {
        let connection = match seen {
            Some(_) => connect::immutable(&self.path)?,
            None => connect::reader(&self.path, self.read_only, self.busy_timeout)?,
        };
        Ok(Idle { connection, seen })
    }

    fn told(&self, fail: Fail, doing: &'static str) -> Error {
        fail.told(&self.path, doing, self.busy_timeout)
    }
}

fn in_transaction<T>(connection: &Connection, work: impl Fn(&Connection) -> Outcome<T>) -> Outcome<T> {
    let transaction = connection.unchecked_transaction()?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}
