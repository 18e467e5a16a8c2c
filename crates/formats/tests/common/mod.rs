//! Finds the shared fixtures; tests that need them say visibly that they skip.

use std::path::PathBuf;

#[allow(clippy::print_stdout, reason = "a skipped test says so")]
/// The bytes of a shared fixture, or `None` with a line that says so.
pub(crate) fn fixture(name: &str) -> Option<Vec<u8>> {
    let shared = std::env::var_os("BRIEFING_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let found = std::fs::read(shared.join("fixtures").join(name)).ok();
    if found.is_none() {
        println!("SKIPPED: no shared fixture {name}");
    }
    found
}
