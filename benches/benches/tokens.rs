//! Token counts a second against tiktoken-rs and bpe-openai, on real text and on runs of one char.
//!
//! Code is this workspace's own; prose and Chinese are the documents in `BRIEFING_SHARED` (or `../shared`).
//! `new thread` counts each text with nothing remembered, the others as often as the benchmark likes.
#![allow(missing_docs, clippy::print_stdout)]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use briefing_tokens::{Encoding, Tokenizer};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const MEGABYTE: usize = 1_000_000;

fn real_text(criterion: &mut Criterion) {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared =
        std::env::var_os("BRIEFING_SHARED").map_or_else(|| workspace.join("../shared"), PathBuf::from);
    let code = texts(&workspace.join("crates"), ".rs");
    let (chinese, english): (Vec<String>, Vec<String>) = texts(&shared, ".md")
        .into_iter()
        .partition(|text| text.chars().filter(|&c| is_chinese(c)).count() > 500);
    let mixed = [code.clone(), english.clone(), chinese.clone()].concat();
    compare(criterion, "code", &code.concat());
    compare(criterion, "english", &english.concat());
    compare(criterion, "chinese", &chinese.concat());
    compare(criterion, "mixed", &mixed.concat());
}

fn runs(criterion: &mut Criterion) {
    for (name, unit) in [
        ("letters", "a"),
        ("equals", "="),
        ("slashes", "/"),
        ("hyphens", "-"),
        ("ideographs", "中"),
        ("newlines", "\n"),
        ("rulers", "========================================================================\n"),
    ] {
        compare(criterion, &format!("1 MB of {name}"), &unit.repeat(MEGABYTE / unit.len()));
    }
    // tiktoken-rs panics on a megabyte of other white space.
    compare(criterion, "0.9 MB of tabs", &"\t".repeat(900_000));
    compare(criterion, "0.9 MB of spaces", &" ".repeat(900_000));
}

fn compare(criterion: &mut Criterion, name: &str, text: &str) {
    if text.is_empty() {
        println!("SKIPPED: {name}: there is no text; set BRIEFING_SHARED");
        return;
    }
    for encoding in Encoding::ALL {
        let (tiktoken, linear) = match encoding {
            Encoding::Cl100kBase => (tiktoken_rs::cl100k_base_singleton(), bpe_openai::cl100k_base()),
            _ => (tiktoken_rs::o200k_base_singleton(), bpe_openai::o200k_base()),
        };
        let ours = Tokenizer::new(encoding);
        let mut group = criterion.benchmark_group(format!("{encoding}/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::from_parameter("briefing"), |bencher| {
            bencher.iter(|| ours.count(black_box(text)));
        });
        group.bench_function(BenchmarkId::from_parameter("briefing, new thread"), |bencher| {
            bencher
                .iter(|| std::thread::scope(|scope| scope.spawn(|| ours.count(black_box(text))).join().ok()));
        });
        group.bench_function(BenchmarkId::from_parameter("tiktoken-rs"), |bencher| {
            bencher.iter(|| tiktoken.count_ordinary(black_box(text)));
        });
        group.bench_function(BenchmarkId::from_parameter("bpe-openai"), |bencher| {
            bencher.iter(|| linear.count(black_box(text)));
        });
        group.finish();
    }
}

/// The files under `folder` whose names end in `suffix`, in order; none where there is no such folder.
fn texts(folder: &Path, suffix: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            found.extend(texts(&path, suffix));
        } else if path.to_string_lossy().ends_with(suffix) {
            found.extend(fs::read_to_string(path));
        }
    }
    found
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = real_text, runs
}
criterion_main!(benches);
