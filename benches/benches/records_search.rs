//! How fast records are found, against FTS5 in plain SQLite.

use briefing::prelude::*;
use briefing_benches::records::{filled, query_word};
use criterion::{Criterion, criterion_group, criterion_main};

fn records_search(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let (store, raw) = filled(&runtime, folder.path());
    let mut group = criterion.benchmark_group("records_search");
    group.sample_size(20);
    for (name, ranks) in [("two rare words", [9_000, 14_000]), ("two frequent words", [20, 60])] {
        let words = ranks.map(query_word);
        let expression = words.join(" OR ");
        group.bench_function(format!("baseline: {name} in plain FTS5"), |bencher| {
            bencher.iter(|| raw.search(&expression));
        });
        let request = SearchRequest::new(words.join(" "));
        group.bench_function(name, |bencher| {
            bencher.iter(|| runtime.block_on(store.search(&request)).expect("hits").len());
        });
        let filter = RecordFilter::new().collection("collection-3").scope("tenant", "tenant-3");
        let request = request.filter(filter);
        group.bench_function(format!("{name}, in one tenant's collection"), |bencher| {
            bencher.iter(|| runtime.block_on(store.search(&request)).expect("hits").len());
        });
    }
    group.finish();
}

criterion_group!(benches, records_search);
criterion_main!(benches);
