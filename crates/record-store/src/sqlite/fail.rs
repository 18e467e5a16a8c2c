//! How failures of the database become errors of the store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::ErrorCode;

use crate::Error;

/// Why a piece of work on the database failed, before it is known to which file it belongs.
#[derive(Debug)]
pub(super) enum Fail {
    Store(Error),
    Sql(rusqlite::Error),
    /// Something in the database is not as the store wrote it.
    Damaged(String),
}

pub(super) type Outcome<T> = Result<T, Fail>;

impl From<Error> for Fail {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<briefing_core::Error> for Fail {
    fn from(error: briefing_core::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<rusqlite::Error> for Fail {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<serde_json::Error> for Fail {
    fn from(error: serde_json::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

impl Fail {
    /// The error as a caller sees it.
    pub(super) fn told(self, path: &Path, doing: &'static str, waited: Duration) -> Error {
        let path = || path.to_owned();
        let error = match self {
            Self::Store(error) => return error,
            Self::Damaged(detail) => return Error::Corrupt { path: path(), detail },
            Self::Sql(error) => error,
        };
        // A log or journal that only a writer may bring to its end (<https://www.sqlite.org/rescode.html>).
        const READONLY_RECOVERY: i32 = 264;
        const READONLY_CANTLOCK: i32 = 520;
        const READONLY_ROLLBACK: i32 = 776;
        const READONLY_CANTINIT: i32 = 1_288;
        let extended = error.sqlite_error().map(|error| error.extended_code);
        if let Some(READONLY_RECOVERY | READONLY_CANTLOCK | READONLY_ROLLBACK | READONLY_CANTINIT) = extended
        {
            return Error::RecoveryNeeded { path: path() };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt) => Error::Corrupt { path: path(), detail: error.to_string() },
            Some(ErrorCode::NotADatabase) => Error::Foreign { path: path(), found: error.to_string() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Error::Busy { waited_millis: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX) }
            }
            _ => Error::Database { doing, source: Arc::new(error) },
        }
    }
}

/// A length or number for the database.
pub(super) fn to_db(number: u64) -> Outcome<i64> {
    i64::try_from(number)
        .map_err(|_| briefing_core::Error::invalid("number", number, "at most 2^63 - 1").into())
}

/// A length or number from the database, which never holds a negative one.
pub(super) fn from_db(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
