//! How long a warm read takes with nothing changed, against the rescan that it needs.

use std::sync::Arc;

use briefing::prelude::*;
use briefing_benches::tree;
use criterion::{Criterion, criterion_group, criterion_main};

fn package_read(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    let workspace = TaskWorkspace::open(tree()).expect("the tree");
    let source = Arc::new(workspace.source(WorkspaceSourceOptions::new()).expect("a source"));
    let context = TaskContext::new("bench").expect("a context");
    context.attach(source.clone(), ContextBinding::default()).expect("a binding");
    let read = || {
        runtime.block_on(async {
            let consumer = ContextConsumer::new("bench").expect("a consumer");
            let reader = context.reader(consumer).budget(ContextBudget::tokens(4_000));
            let intent = ContextReadIntent::new("how is an error reported").expect("an intent");
            reader.open().await.expect("a reader").read(&intent).await.expect("a package").blocks().len()
        })
    };
    read();
    let mut group = criterion.benchmark_group("package_read");
    group.sample_size(20);
    group.bench_function("baseline: one rescan", |bencher| {
        bencher.iter(|| runtime.block_on(source.revision()).expect("a revision"));
    });
    group.bench_function("warm: open a reader and read 4,000 tokens", |bencher| bencher.iter(read));
    group.finish();
}

criterion_group!(benches, package_read);
criterion_main!(benches);
