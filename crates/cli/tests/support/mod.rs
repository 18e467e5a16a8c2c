//! Runs the command.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn briefing_with(folder: &Path, arguments: &[&str], input: &[u8]) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_briefing"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Said {
        status: output.status.code().unwrap(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn briefing(folder: &Path, arguments: &[&str]) -> String {
    let said = briefing_with(folder, arguments, b"");
    assert_eq!(said.status, 0, "{arguments:?}: {}", said.err);
    said.out
}

pub(crate) fn refused(folder: &Path, arguments: &[&str], code: &str) {
    let said = briefing_with(folder, arguments, b"");
    assert!(said.status != 0 && said.err.contains(code), "{arguments:?}: {} {}", said.status, said.err);
}
