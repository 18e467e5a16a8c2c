//! How long a checkpoint and a resume of an execution with 10,000 disclosed blocks take, against plain serialisation and SQLite
//! with the same bytes.

use std::path::Path;

use briefing::core::{ContextEntry, Role, RunId};
use briefing::prelude::*;
use briefing::record_store::{EventFilter, Snapshot, StoredRuntimeEvent};
use briefing_benches::records::text;
use criterion::{Criterion, criterion_group, criterion_main};
use rusqlite::Connection;
use tokio::runtime::Runtime;

const BLOCKS: usize = 10_000;
/// Each package holds so many blocks.
const PACKAGE: usize = 500;

fn id() -> ExecutionId {
    ExecutionId::new("bench").expect("an id")
}

/// An execution that has disclosed all its blocks in packages of 500.
async fn disclosed(store: &RecordStore) -> TaskExecution {
    let builder = TaskExecution::builder("bench")
        .budget(ContextBudget::chars(10_000_000).blocks(PACKAGE))
        .index(IndexConfig::structural())
        .records(store.clone())
        .recovery(true)
        .worker("bench")
        .execution_id(id());
    let entries = (0..BLOCKS).map(|number| ContextEntry::new(Role::Information, text(number)));
    let execution =
        entries.fold(builder, |builder, entry| builder.entry(entry)).start().await.expect("a start");
    let mut blocks = 0;
    while blocks < BLOCKS {
        let package = execution.read_task_context("bench", "execution", "the pump").await.expect("a package");
        assert!(!package.blocks().is_empty(), "only {blocks} blocks");
        blocks += package.blocks().len();
    }
    execution
}

/// What is stored, as plain rows in SQLite.
struct Raw(Connection);

impl Raw {
    fn new(folder: &Path) -> Self {
        let connection = Connection::open(folder.join("raw.db")).expect("a database");
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 CREATE TABLE rows (kind TEXT NOT NULL, body TEXT NOT NULL);",
            )
            .expect("a table");
        Self(connection)
    }

    fn insert(&self, kind: &str, value: &impl serde::Serialize) {
        let body = serde_json::to_string(value).expect("JSON");
        self.0.execute("INSERT INTO rows VALUES (?1, ?2)", [kind, &body]).expect("a row");
    }

    /// Reads and parses every row of a kind.
    fn load<T: serde::de::DeserializeOwned>(&self, kind: &str) -> usize {
        let mut select = self.0.prepare_cached("SELECT body FROM rows WHERE kind = ?1").expect("a query");
        let rows = select.query_map([kind], |row| row.get::<_, String>(0)).expect("rows");
        rows.map(|row| serde_json::from_str::<T>(&row.expect("a row")).expect("a value"))
            .collect::<Vec<_>>()
            .len()
    }
}

fn execution(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let store = runtime.block_on(RecordStore::open(folder.path(), StoreMode::ReadWrite)).expect("a store");
    let execution = runtime.block_on(disclosed(&store));
    runtime.block_on(execution.checkpoint()).expect("a checkpoint");
    let run = RunId::new("bench").expect("a run");
    let snapshot: Snapshot =
        runtime.block_on(store.latest_snapshot(&run)).expect("a snapshot").expect("a snapshot");
    let filter = EventFilter { event_type: Some("execution.package".to_owned()), ..EventFilter::default() };
    let packages: Vec<StoredRuntimeEvent> = runtime.block_on(store.events(&run, &filter)).expect("events");
    let raw = Raw::new(folder.path());
    raw.insert("kept snapshot", &snapshot);
    packages.iter().for_each(|event| raw.insert("kept package", event));
    println!("a snapshot of {} bytes, {} packages", snapshot.size_bytes, packages.len());

    let mut group = criterion.benchmark_group("execution, 10,000 disclosed blocks");
    group.sample_size(10);
    group.bench_function("baseline: serialise the snapshot and insert it", |bencher| {
        bencher.iter(|| raw.insert("snapshot", &snapshot.state));
    });
    group.bench_function("checkpoint", |bencher| {
        bencher.iter(|| runtime.block_on(execution.checkpoint()).expect("a checkpoint"));
    });
    group.bench_function("baseline: read and parse snapshot and packages", |bencher| {
        bencher
            .iter(|| raw.load::<Snapshot>("kept snapshot") + raw.load::<StoredRuntimeEvent>("kept package"));
    });
    drop(execution);
    group.bench_function("resume", |bencher| {
        bencher.iter(|| {
            let resumed = TaskExecution::resuming(&store, &id()).worker("bench").open();
            runtime.block_on(resumed).expect("an execution")
        });
    });
    group.finish();
}

criterion_group!(benches, execution);
criterion_main!(benches);
