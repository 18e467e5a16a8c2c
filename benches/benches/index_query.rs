//! How long a warm query of the index takes, against counting the query's first word in all files.

use std::collections::BTreeMap;
use std::sync::Arc;

use briefing::prelude::*;
use briefing::task_context::IndexQuery;
use briefing_benches::{files, tree};
use criterion::{Criterion, criterion_group, criterion_main};

const QUERIES: [&str; 3] = ["parse", "how is an error reported", "IndexWriter commit merge policy"];

fn index_query(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    let tree = tree();
    let texts: Vec<String> =
        files(&tree).iter().filter_map(|path| std::fs::read_to_string(path).ok()).take(2_000).collect();
    let workspace = TaskWorkspace::open(&tree).expect("the tree");
    let context = TaskContext::new("bench").expect("a context");
    let source = workspace.source(WorkspaceSourceOptions::new()).expect("a source");
    context.attach(Arc::new(source), ContextBinding::default()).expect("a binding");
    let snapshot = runtime.block_on(context.snapshot());
    let progress = BTreeMap::new();
    let mut group = criterion.benchmark_group("index_query");
    for query in QUERIES {
        let intent = ContextReadIntent::new(query).expect("an intent");
        let ask = || {
            let query = IndexQuery { intent: &intent, window: 256, progress: &progress, matched_only: true };
            runtime.block_on(context.query_index(&snapshot, query)).expect("an answer")
        };
        ask();
        group.bench_function(format!("warm: {query}"), |bencher| bencher.iter(ask));
    }
    group.sample_size(10);
    group.bench_function("baseline: substring count in at most 2,000 files", |bencher| {
        bencher.iter(|| texts.iter().map(|text| text.matches("parse").count()).sum::<usize>());
    });
    group.finish();
}

criterion_group!(benches, index_query);
criterion_main!(benches);
