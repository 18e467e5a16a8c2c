//! A writer that is killed at any moment loses nothing that it acknowledged, and leaves nothing by halves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::time::Duration;

use briefing_record_store::{
    EventFilter, NewCheckpoint, NewEvent, NewRecord, NewSnapshot, NewStep, RecordFilter,
};
use serde_json::json;
use support::{child, child_arguments, id, open, run, say};

/// How often a writer is killed. `RECORDS_KILLS` sets another number.
const KILLS: u64 = 200;

/// Writes until it is killed: a pair of records in one transaction, and a step of a run; each is told once it is
/// acknowledged.
#[test]
#[ignore = "runs as a child of another test"]
fn child_writes_until_it_is_killed() {
    let Some(arguments) = child_arguments() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = open(Path::new(&arguments[0])).await;
        let generation = &arguments[1];
        let run = run("run");
        let mut out = std::io::stdout().lock();
        for number in 0_u64.. {
            let name = |half: &str| id(&format!("{generation}-{number}-{half}"));
            // Some contents are kept in their rows, some in chunks.
            let text = "a pump ".repeat(if number % 7 == 0 { 12_000 } else { 20 });
            let pair = ["a", "b"].map(|half| NewRecord::new("pairs", text.clone()).id(name(half)));
            store.put_many(pair.to_vec()).await.unwrap();
            writeln!(out, "pair {generation}-{number}").unwrap();
            let state = store.state_version(&run).await.unwrap();
            let step = NewStep::new()
                .snapshot(NewSnapshot::new(json!({"state": state + 1, "text": text})).keep_last(3))
                .checkpoint(NewCheckpoint::new(json!({"state": state + 1})).expecting(state))
                .event(NewEvent::new("began", json!(state + 1)))
                .event(NewEvent::new("ended", json!(state + 1)).idempotent(format!("ended-{}", state + 1)));
            store.commit_step(&run, step).await.unwrap();
            writeln!(out, "step {}", state + 1).unwrap();
        }
    });
}

#[tokio::test]
async fn what_was_acknowledged_is_there_and_nothing_is_half_there() {
    let kills = std::env::var("RECORDS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let root = tempfile::tempdir().unwrap();
    let (mut pairs, mut last_step) = (Vec::new(), 0_u64);
    // Knuth's MMIX constants; the seed is fixed, the moments are not.
    let mut random = 11_u64;
    for generation in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let arguments = format!("{}|{generation}", root.path().display());
        let mut writer = child("child_writes_until_it_is_killed", &arguments);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let told = std::thread::spawn(move || {
            let lines = lines.by_ref().map_while(Result::ok);
            lines.filter(|line| line.starts_with("pair ") || line.starts_with("step ")).collect::<Vec<_>>()
        });
        tokio::time::sleep(Duration::from_micros((random >> 33) % 160_000)).await;
        writer.kill().unwrap();
        writer.wait().unwrap();
        for line in told.join().unwrap() {
            match line.split_once(' ').unwrap() {
                ("pair", name) => pairs.push(name.to_owned()),
                (_, state) => last_step = last_step.max(state.parse().unwrap()),
            }
        }
    }
    say(&format!("{} pairs and {last_step} steps were acknowledged", pairs.len()));
    assert!(pairs.len() > 50, "the writers were killed before they wrote: {} pairs", pairs.len());
    let store = open(root.path()).await;
    assert!(store.check().await.unwrap().is_empty());
    for name in &pairs {
        let ids = ["a", "b"].map(|half| id(&format!("{name}-{half}")));
        for (half, record) in ids.iter().zip(store.get_many(&ids).await.unwrap()) {
            let record = record.unwrap_or_else(|| panic!("{half} was acknowledged and is gone"));
            assert!(record.content.into_text().unwrap().starts_with("a pump a pump"));
        }
    }
    // Pairs that were not acknowledged are there whole, or not at all.
    assert_eq!(store.count(&RecordFilter::new().collection("pairs")).await.unwrap() % 2, 0);
    let run = run("run");
    let state = store.state_version(&run).await.unwrap();
    assert!(state >= last_step, "step {last_step} was acknowledged, the run is at {state}");
    let latest = store.latest_checkpoint(&run).await.unwrap().unwrap();
    assert_eq!(latest.state, json!({ "state": state }));
    let snapshots = store.snapshots(&run, None).await.unwrap();
    assert_eq!(Some(&snapshots[0].id), latest.snapshot_id.as_ref());
    assert_eq!(snapshots[0].state["state"], json!(state));
    let events = store.events(&run, &EventFilter::default()).await.unwrap();
    assert_eq!(events.len() as u64, 2 * state);
    for (at, event) in (0_u64..).zip(&events) {
        assert_eq!((event.sequence, &event.payload), (at + 1, &json!(at / 2 + 1)));
    }
}
