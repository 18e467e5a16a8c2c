//! Measurements: `cargo bench -p briefing-benches`. Each bench holds its baseline, so that a run gives ratios.
//!
//! The tree that is read is named by `BRIEFING_BENCH_TREE`; without it, the crates of this workspace are.

pub mod records;

use std::path::{Path, PathBuf};

/// The tree to read.
#[must_use]
pub fn tree() -> PathBuf {
    std::env::var_os("BRIEFING_BENCH_TREE")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates"), PathBuf::from)
}

/// Every regular file below a folder.
#[must_use]
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

/// The floor: reads all files on two threads and returns how many bytes there were.
#[must_use]
pub fn read_all(files: &[PathBuf]) -> u64 {
    let half = files.len().div_ceil(2).max(1);
    std::thread::scope(|scope| {
        let readers: Vec<_> = files
            .chunks(half)
            .map(|part| {
                scope.spawn(|| {
                    part.iter()
                        .filter_map(|path| std::fs::read(path).ok())
                        .map(|b| b.len() as u64)
                        .sum::<u64>()
                })
            })
            .collect();
        readers.into_iter().filter_map(|reader| reader.join().ok()).sum()
    })
}
