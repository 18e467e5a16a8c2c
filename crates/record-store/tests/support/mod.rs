//! What several tests of the store need.
#![allow(dead_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use briefing_core::{RecordId, RunId};
use briefing_record_store::{RecordStore, StoreMode};

pub(crate) async fn open(root: &Path) -> RecordStore {
    RecordStore::open(root, StoreMode::ReadWrite).await.unwrap()
}

pub(crate) fn id(text: &str) -> RecordId {
    RecordId::new(text).unwrap()
}

pub(crate) fn run(text: &str) -> RunId {
    RunId::new(text).unwrap()
}

pub(crate) fn database(root: &Path) -> PathBuf {
    root.join(".briefing/records/records.db")
}

/// Starts the ignored test `name` of this very program in a process of its own, with `arguments` in `RECORDS_CHILD`.
pub(crate) fn child(name: &str, arguments: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"])
        .env("RECORDS_CHILD", arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Tells whoever watches the test, or the parent of a child.
pub(crate) fn say(text: &str) {
    writeln!(std::io::stdout().lock(), "{text}").unwrap();
}

/// What a child was given; `None` in a process that is none.
pub(crate) fn child_arguments() -> Option<Vec<String>> {
    let arguments = std::env::var("RECORDS_CHILD").ok()?;
    Some(arguments.split('|').map(str::to_owned).collect())
}

/// The folder of shared inputs, if it is there; tests that need it say visibly when they are left out.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("BRIEFING_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    say(&format!("SKIPPED: {} is not there", path.display()));
    None
}
