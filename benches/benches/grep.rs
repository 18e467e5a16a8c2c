//! How long a search for lines takes, against ripgrep's own libraries walking the same tree on as many threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use briefing::task_workspace::{GrepRequest, TaskWorkspace};
use briefing_benches::tree;
use criterion::{Criterion, criterion_group, criterion_main};
use grep_regex::RegexMatcherBuilder;
use grep_searcher::sinks::Bytes;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use ignore::{WalkBuilder, WalkState};

/// The baseline: counts matching lines, and keeps none.
fn ripgrep(folder: &std::path::Path, pattern: &str) -> usize {
    let matcher = RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build(pattern).expect("a pattern");
    let matches = AtomicUsize::new(0);
    let walk = WalkBuilder::new(folder).require_git(false).threads(2).build_parallel();
    walk.run(|| {
        let (matcher, matches) = (&matcher, &matches);
        let mut searcher =
            SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).line_number(true).build();
        Box::new(move |entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
            {
                let mut found = 0;
                let sink = Bytes(|_, _| {
                    found += 1;
                    Ok(true)
                });
                // What cannot be read has no match.
                let _ = searcher.search_path(matcher, entry.path(), sink);
                matches.fetch_add(found, Ordering::Relaxed);
            }
            WalkState::Continue
        })
    });
    matches.into_inner()
}

fn grep(criterion: &mut Criterion) {
    let tree = tree();
    let workspace = TaskWorkspace::open(&tree).expect("the tree");
    for (name, pattern) in [("rare", "fn \\w+_of_the_\\w+\\("), ("frequent", "\\bself\\b")] {
        let mut group = criterion.benchmark_group(format!("grep for a {name} pattern"));
        group.sample_size(20);
        group.bench_function("baseline: the libraries of ripgrep", |bencher| {
            bencher.iter(|| ripgrep(&tree, pattern));
        });
        group.bench_function("every match with its place and spans", |bencher| {
            bencher.iter(|| {
                let request = GrepRequest::new(pattern).limit(usize::MAX);
                workspace.grep(&request).expect("matches").matches.len()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, grep);
criterion_main!(benches);
