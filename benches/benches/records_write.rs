//! How fast records are written, against the same rows in plain SQLite.

use briefing::prelude::*;
use briefing_benches::records::{BATCH, Raw, how_many, record};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn records_write(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    let many = how_many();
    let mut group = criterion.benchmark_group("records_write");
    group.sample_size(10).throughput(Throughput::Elements(many as u64));
    group.bench_function("baseline: batches of 1,000 rows in plain SQLite", |bencher| {
        bencher.iter_batched(
            || {
                let folder = tempfile::tempdir().expect("a folder");
                (Raw::new(folder.path()), folder)
            },
            |(mut raw, folder)| {
                for from in (0..many).step_by(BATCH) {
                    raw.insert(from..(from + BATCH).min(many));
                }
                folder
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("batches of 1,000 records", |bencher| {
        bencher.iter_batched(
            || {
                let folder = tempfile::tempdir().expect("a folder");
                let store = RecordStore::open(folder.path(), StoreMode::ReadWrite);
                (runtime.block_on(store).expect("a store"), folder)
            },
            |(store, folder)| {
                for from in (0..many).step_by(BATCH) {
                    let records = (from..(from + BATCH).min(many)).map(record).collect();
                    runtime.block_on(store.put_many(records)).expect("records");
                }
                folder
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();

    let mut group = criterion.benchmark_group("records_write, each durable by itself");
    group.sample_size(20);
    let folder = tempfile::tempdir().expect("a folder");
    let mut raw = Raw::new(folder.path());
    let mut number = 0;
    group.throughput(Throughput::Elements(1));
    group.bench_function("baseline: one row in plain SQLite", |bencher| {
        bencher.iter(|| {
            raw.insert(number..number + 1);
            number += 1;
        });
    });
    let store = runtime.block_on(RecordStore::open(folder.path(), StoreMode::ReadWrite)).expect("a store");
    group.bench_function("one record", |bencher| {
        bencher.iter(|| {
            number += 1;
            runtime.block_on(store.put(record(number))).expect("a record")
        });
    });
    group.throughput(Throughput::Elements(64));
    group.bench_function("64 records by 64 callers", |bencher| {
        bencher.iter(|| {
            let first = number;
            number += 64;
            runtime.block_on(async {
                let puts: Vec<_> = (first..first + 64)
                    .map(|number| {
                        let store = store.clone();
                        tokio::spawn(async move { store.put(record(number)).await.expect("a record") })
                    })
                    .collect();
                for put in puts {
                    put.await.expect("a put");
                }
            });
        });
    });
    group.finish();
}

criterion_group!(benches, records_write);
criterion_main!(benches);
