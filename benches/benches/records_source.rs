//! What records cost as context, against reading the same rows in plain SQLite.

use std::sync::Arc;

use briefing::prelude::*;
use briefing_benches::records::{filled, how_many, query_word, record};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn records_source(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let (store, raw) = filled(&runtime, folder.path());
    let many = how_many();
    let whole = RecordStoreContextSource::new(&store, RecordSourceOptions::new()).expect("a source");
    let bounds = RecordFilter::new().collection("collection-3").scope("tenant", "tenant-3");
    let view = store.view(&bounds).expect("a view");
    let view = RecordStoreContextSource::new(&view, RecordSourceOptions::new()).expect("a source");
    let mut group = criterion.benchmark_group("records_source");
    group.sample_size(10);
    group.bench_function("baseline: the last change in plain SQLite", |bencher| {
        bencher.iter(|| {
            let mut select =
                raw.connection.prepare_cached("SELECT max(seq) FROM changes").expect("a statement");
            select.query_row([], |row| row.get::<_, i64>(0)).expect("a row")
        });
    });
    group.bench_function("revision of the whole store", |bencher| {
        bencher.iter(|| runtime.block_on(whole.revision()).expect("a revision"));
    });
    group.bench_function("revision of one tenant's collection", |bencher| {
        bencher.iter(|| runtime.block_on(view.revision()).expect("a revision"));
    });
    group.bench_function("baseline: all rows with their contents in plain SQLite", |bencher| {
        bencher.iter(|| {
            let mut select = raw.connection.prepare_cached("SELECT * FROM records").expect("a statement");
            let rows = select.query_map([], |row| row.get::<_, Vec<u8>>(10)).expect("rows");
            rows.map(|row| row.expect("a row").len()).sum::<usize>()
        });
    });
    let context_over_store = || {
        let source = RecordStoreContextSource::new(&store, RecordSourceOptions::new()).expect("a source");
        let context = TaskContext::new("bench").expect("a context");
        context.attach(Arc::new(source), ContextBinding::default()).expect("a binding");
        context
    };
    let intent = ContextReadIntent::new(query_word(9_000)).expect("an intent");
    let read = |context: &TaskContext| {
        runtime.block_on(async {
            let consumer = ContextConsumer::new("bench").expect("a consumer");
            let mut reader = context.reader(consumer).open().await.expect("a reader");
            reader.read(&intent).await.expect("a package").blocks().len()
        })
    };
    group.bench_function("first read: list, index, query", |bencher| {
        bencher.iter_batched(context_over_store, |context| read(&context), BatchSize::PerIteration);
    });
    let context = context_over_store();
    read(&context);
    group.bench_function("second read, with nothing changed", |bencher| bencher.iter(|| read(&context)));
    let mut number = many;
    group.bench_function("read after 100 changes", |bencher| {
        bencher.iter_batched(
            || {
                let records = (number..number + 100).map(record).collect();
                number += 100;
                runtime.block_on(store.put_many(records)).expect("records")
            },
            |_| read(&context),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, records_source);
criterion_main!(benches);
