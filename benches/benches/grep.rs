//! How long a search for lines takes, against ripgrep's own libraries walking the same tree on as many threads.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing::task_workspace::{GrepRequest, TaskWorkspace};
use briefing_benches::tree;
use criterion::{Criterion, criterion_group, criterion_main};
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::sinks::Lossy;
use grep_searcher::{BinaryDetection, SearcherBuilder};
use ignore::{WalkBuilder, WalkState};

/// The least: counts matching lines, and keeps none.
fn count(folder: &Path, pattern: &str) -> usize {
    let count = AtomicUsize::new(0);
    search(folder, pattern, |_, _, _| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    count.into_inner()
}

/// What a caller gets: path, number and text of each line, and where the matches are.
fn keep(folder: &Path, pattern: &str) -> usize {
    let matcher = matcher(pattern);
    let kept = Mutex::new(Vec::new());
    search(folder, pattern, |path, number, line| {
        let mut spans = Vec::new();
        let _ = matcher.find_iter(line.as_bytes(), |span| {
            spans.push(span.start()..span.end());
            true
        });
        let found = (path.display().to_string(), number, line.to_owned(), spans);
        kept.lock().expect("no panic").push(found);
    });
    kept.into_inner().expect("no panic").len()
}

fn matcher(pattern: &str) -> RegexMatcher {
    RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build(pattern).expect("a pattern")
}

fn search(folder: &Path, pattern: &str, found: impl Fn(&Path, u64, &str) + Sync) {
    let walk = WalkBuilder::new(folder).require_git(false).threads(2).build_parallel();
    walk.run(|| {
        let (matcher, found) = (matcher(pattern), &found);
        let mut searcher =
            SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).line_number(true).build();
        Box::new(move |entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
            {
                let sink = Lossy(|number, line| {
                    found(entry.path(), number, line);
                    Ok(true)
                });
                // What cannot be read has no match.
                let _ = searcher.search_path(&matcher, entry.path(), sink);
            }
            WalkState::Continue
        })
    });
}

fn grep(criterion: &mut Criterion) {
    let tree = tree();
    let workspace = TaskWorkspace::open(&tree).expect("the tree");
    for (name, pattern) in [("rare", "fn \\w+_of_the_\\w+\\("), ("frequent", "\\bself\\b")] {
        let mut group = criterion.benchmark_group(format!("grep for a {name} pattern"));
        group.sample_size(20);
        group.bench_function("baseline: the libraries of ripgrep, lines counted", |bencher| {
            bencher.iter(|| count(&tree, pattern));
        });
        group.bench_function("baseline: the libraries of ripgrep, lines and spans kept", |bencher| {
            bencher.iter(|| keep(&tree, pattern));
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
