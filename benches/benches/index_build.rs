//! How long a first read of a tree takes, against a plain parallel read of the same bytes.

use std::sync::Arc;
use std::time::Duration;

use briefing::prelude::*;
use briefing_benches::{files, read_all, tree};
use criterion::{Criterion, criterion_group, criterion_main};

fn index_build(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    let tree = tree();
    let all = files(&tree);
    let mut group = criterion.benchmark_group("index_build");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.bench_function("floor: read the bytes on two threads", |bencher| bencher.iter(|| read_all(&all)));
    group.bench_function("first read: scan, index, query", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let workspace = TaskWorkspace::open(&tree).expect("the tree");
                let context = TaskContext::new("bench").expect("a context");
                let source = workspace.source(WorkspaceSourceOptions::new()).expect("a source");
                context.attach(Arc::new(source), ContextBinding::default()).expect("a binding");
                let consumer = ContextConsumer::new("bench").expect("a consumer");
                let mut reader = context.reader(consumer).open().await.expect("a reader");
                let intent = ContextReadIntent::new("how is an error reported").expect("an intent");
                reader.read(&intent).await.expect("a package").blocks().len()
            })
        });
    });
    group.finish();
}

criterion_group!(benches, index_build);
criterion_main!(benches);
