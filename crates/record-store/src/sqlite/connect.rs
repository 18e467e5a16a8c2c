//! Opening the database, for the writer and for readers.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use briefing_core::Environment;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::fail::Fail;
use super::schema::{self, Looks};
use crate::{Durability, Error, Journal};

/// Where the database of a store lies.
pub(super) fn database_path(root: &Path) -> PathBuf {
    root.join(".briefing").join("records").join("records.db")
}

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 96;

/// The writer's connection, on a database that is made if there is none.
pub(super) fn writer(
    path: &Path,
    durability: Durability,
    journal: Journal,
    busy_timeout: Duration,
    environment: &dyn Environment,
) -> Result<Connection, Error> {
    make_folders(path)?;
    if schema::look(path)? == Looks::New {
        make_file(path)?;
    }
    let told = |fail: Fail| fail.told(path, "opening the database", busy_timeout);
    let mut connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))
        .map_err(|error| told(error.into()))?;
    set_up(&connection, busy_timeout).map_err(|error| told(error.into()))?;
    // This also brings a transaction to its end in whose middle a writer was killed, be it the one that made the tables.
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|error| told(error.into()))?;
    if version < schema::SCHEMA_VERSION {
        schema::prepare(&mut connection, path, environment).map_err(told)?;
    }
    let wal = uses_log(journal, || on_network(path.parent().unwrap_or(path)))?;
    journal_mode(&connection, wal, busy_timeout).map_err(|error| told(error.into()))?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        // In rollback mode NORMAL may damage the file, so it gives no more than it can.
        Durability::Normal => {
            if wal {
                "NORMAL"
            } else {
                "FULL"
            }
        }
    };
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = {synchronous};
             PRAGMA wal_autocheckpoint = 4000;
             PRAGMA journal_size_limit = 67108864;"
        ))
        .map_err(|error| told(error.into()))?;
    Ok(connection)
}

/// Whether changes go to a write-ahead log.
fn uses_log(journal: Journal, on_network: impl FnOnce() -> Result<bool, Error>) -> Result<bool, Error> {
    match journal {
        Journal::Wal => Ok(true),
        Journal::Rollback => Ok(false),
        Journal::Auto => Ok(!on_network()?),
    }
}

/// What tells a file from another that takes its name.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    let file = fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Some((file.dev(), file.ino()))
    }
    #[cfg(not(unix))]
    {
        // Elsewhere an open file cannot be replaced.
        let _ = file;
        Some((0, 0))
    }
}

/// Sets the journal's mode; another process that is just opening the store too is waited for.
fn journal_mode(connection: &Connection, wal: bool, busy_timeout: Duration) -> rusqlite::Result<()> {
    let mode = if wal { "WAL" } else { "DELETE" };
    let begun = Instant::now();
    loop {
        let set =
            connection.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get::<_, String>(0));
        match set {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && begun.elapsed() < busy_timeout =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            other => return other.map(drop),
        }
    }
}

/// A reader's connection beside a writer, which keeps the shared files of the log.
pub(super) fn reader(path: &Path, read_only: bool, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let access = if read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
    let connection = Connection::open_with_flags(path, flags(access))?;
    set_up(&connection, busy_timeout)?;
    // The last to close a database moves the log into it, which a reader of a read_only store must not.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, read_only)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// A connection that takes no lock, writes nothing and makes no file. Whoever uses it must see to it that the database did
/// not change meanwhile.
pub(super) fn immutable(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte))
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?immutable=1");
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags(access))?;
    set_up(&connection, Duration::ZERO)?;
    Ok(connection)
}

fn flags(access: OpenFlags) -> OpenFlags {
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE
}

fn set_up(connection: &Connection, busy_timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32000;")
}

/// Makes the folder of the database, which only its owner may enter, with those above it.
pub(super) fn make_folders(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    if let Some(root) = folder.ancestors().nth(2) {
        // The root is the user's own folder and gets no special mode.
        fs::create_dir_all(root).map_err(|error| Error::io("the folder cannot be made", root, error))?;
    }
    builder.create(folder).map_err(|error| Error::io("the folder cannot be made", folder, error))
}

/// Makes the file; the files of the journal take its mode.
fn make_file(path: &Path) -> Result<(), Error> {
    let made = private_file().create(true).truncate(false).open(path);
    made.map(drop).map_err(|error| Error::io("the database cannot be made", path, error))
}

/// Opens for writing what only its owner may read and write, if it is made by it.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// Whether a folder lies on a file system that other machines may write to at the same time, where a write-ahead log, which
/// needs shared memory, would be damaged.
fn on_network(folder: &Path) -> Result<bool, Error> {
    #[cfg(target_os = "linux")]
    {
        let found = rustix::fs::statfs(folder)
            .map_err(|error| Error::io("the file system cannot be asked", folder, error.into()))?;
        // The low 32 bits are the number, whatever the platform's type and sign.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(is_network(found.f_type as u64 as u32))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        Ok(false)
    }
}

/// Whether a file system is one over a network, by its number (statfs(2), linux/magic.h).
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn is_network(magic: u32) -> bool {
    const NFS: u32 = 0x6969;
    const SMB: u32 = 0x517B;
    const CIFS: u32 = 0xFF53_4D42;
    const SMB2: u32 = 0xFE53_4D42;
    const V9FS: u32 = 0x0102_1997;
    const CEPH: u32 = 0x00C3_6400;
    const AFS: u32 = 0x5346_414F;
    const LUSTRE: u32 = 0x0BD0_0BD0;
    const GPFS: u32 = 0x4750_4653;
    const OCFS2: u32 = 0x7461_636F;
    // sshfs, GlusterFS and others behind FUSE cannot be told from local ones, and are treated as the worse.
    const FUSE: u32 = 0x6573_5546;
    [NFS, SMB, CIFS, SMB2, V9FS, CEPH, AFS, LUSTRE, GPFS, OCFS2, FUSE].contains(&magic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_never_used_over_a_network_unless_it_is_asked_for() {
        assert!(!uses_log(Journal::Auto, || Ok(true)).unwrap());
        assert!(uses_log(Journal::Auto, || Ok(false)).unwrap());
        assert!(uses_log(Journal::Wal, || Ok(true)).unwrap());
        assert!(!uses_log(Journal::Rollback, || Ok(false)).unwrap());
        let root = tempfile::tempdir().unwrap();
        let unknown = uses_log(Journal::Auto, || Err(Error::Interrupted));
        assert!(unknown.is_err() && uses_log(Journal::Auto, || on_network(root.path())).is_ok());
    }

    #[test]
    fn file_systems_over_a_network_are_known_by_their_numbers() {
        for magic in [0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x6573_5546] {
            assert!(is_network(magic), "{magic:#x}");
        }
        // ext4, tmpfs, overlayfs, btrfs, xfs.
        for magic in [0xEF53, 0x0102_1994, 0x794C_7630, 0x9123_683E, 0x5846_5342] {
            assert!(!is_network(magic), "{magic:#x}");
        }
    }
}
