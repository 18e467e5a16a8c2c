//! One run at full size, each step timed once: `BRIEFING_BENCH_RECORDS=1000000 cargo run --release -p briefing-benches
//! --bin records_at_scale`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use briefing::core::ProjectionProfile;
use briefing::prelude::*;
use briefing_benches::records::{BATCH, Raw, how_many, query_word, record};

fn told<T>(what: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let done = work();
    let took = begun.elapsed();
    println!("{what}: {:.3} ms", took.as_secs_f64() * 1_000.0);
    (done, took)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let many = how_many();
    println!("{many} records, in batches of {BATCH}");
    let mut raw = Raw::new(folder.path());
    let (_, plain) = told("baseline: insert in plain SQLite", || {
        for from in (0..many).step_by(BATCH) {
            raw.insert(from..(from + BATCH).min(many));
        }
    });
    let store = runtime.block_on(RecordStore::open(folder.path(), StoreMode::ReadWrite)).expect("a store");
    let (_, ours) = told("insert", || {
        for from in (0..many).step_by(BATCH) {
            let records = (from..(from + BATCH).min(many)).map(record).collect();
            runtime.block_on(store.put_many(records)).expect("records");
        }
    });
    println!("  rate of insert: {:.2} of plain SQLite", plain.as_secs_f64() / ours.as_secs_f64());

    for (name, ranks) in [("two rare words", [9_000, 14_000]), ("two frequent words", [20, 60])] {
        let words = ranks.map(query_word);
        told(&format!("baseline: search for {name} in plain FTS5"), || raw.search(&words.join(" OR ")));
        for _ in 0..2 {
            told(&format!("search for {name}"), || {
                runtime.block_on(store.search(&SearchRequest::new(words.join(" ")))).expect("hits").len()
            });
        }
    }

    let bounds = RecordFilter::new().collection("collection-3").scope("tenant", "tenant-3");
    for (name, view) in [("whole store", store.clone()), ("view", store.view(&bounds).expect("a view"))] {
        let source = RecordStoreContextSource::new(&view, RecordSourceOptions::new()).expect("a source");
        for _ in 0..3 {
            told(&format!("revision check, {name}"), || {
                runtime.block_on(source.revision()).expect("a revision")
            });
        }
    }

    let source = RecordStoreContextSource::new(&store, RecordSourceOptions::new()).expect("a source");
    told("list all descriptors", || {
        runtime.block_on(async {
            let (mut listed, mut cursor) = (0, None);
            loop {
                let profile = ProjectionProfile::standard();
                let page =
                    source.enumerate_descriptors(&profile, cursor.as_ref(), 256).await.expect("a page");
                listed += page.descriptors().len();
                cursor = page.next_cursor().cloned();
                if cursor.is_none() {
                    return listed;
                }
            }
        })
    });
    let context = TaskContext::new("scale").expect("a context");
    context.attach(Arc::new(source), ContextBinding::default()).expect("a binding");
    let intent = ContextReadIntent::new(query_word(9_000)).expect("an intent");
    let read = || {
        runtime.block_on(async {
            let consumer = ContextConsumer::new("bench").expect("a consumer");
            let mut reader = context.reader(consumer).open().await.expect("a reader");
            reader.read(&intent).await.expect("a package").blocks().len()
        })
    };
    told("first read: list, index, query", read);
    told("second read, with nothing changed", read);
    let mut number = many;
    for changes in [100, 1_000, 100] {
        let records = (number..number + changes).map(record).collect();
        number += changes;
        runtime.block_on(store.put_many(records)).expect("records");
        told(&format!("read after {changes} changes"), read);
    }
    told("check", || runtime.block_on(store.check()).expect("a check").len());
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
}
