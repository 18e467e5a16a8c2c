//! A workflow engine of the host keeps its runs in the same store, or nowhere.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use briefing_core::RunId;
use briefing_execution::FlowDurability;
use briefing_record_store::{
    EventFilter, LeaseClaim, NewCheckpoint, NewEvent, NewSnapshot, NewStep, RecordStore,
};
use serde_json::json;

#[tokio::test]
async fn events_have_a_sequence_and_a_key_and_snapshots_a_retention() {
    let flow = FlowDurability::new(Some(RecordStore::in_memory()));
    assert!(flow.is_on());
    let run = RunId::new("flow").unwrap();
    let event = |number: u64| NewEvent::new("step", json!(number)).idempotent(format!("step-{number}"));
    for number in [1, 2, 2, 3] {
        flow.append_event(&run, event(number)).await.unwrap().unwrap();
    }
    let events = flow.events(&run, &EventFilter::default()).await.unwrap().unwrap();
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [1, 2, 3]);
    let clash = NewEvent::new("step", json!("other")).idempotent("step-1");
    assert_eq!(flow.append_event(&run, clash).await.unwrap_err().code(), "records.event_conflict");
    let late = event(4).expecting(9);
    assert_eq!(flow.append_event(&run, late).await.unwrap_err().code(), "records.sequence_conflict");
    for number in 0..5 {
        flow.save_snapshot(&run, NewSnapshot::new(json!(number)).keep_last(2)).await.unwrap().unwrap();
    }
    assert_eq!(flow.load_snapshot(&run).await.unwrap().unwrap().state, json!(4));
    flow.checkpoint(&run, NewCheckpoint::new(json!("half way")).expecting(0)).await.unwrap().unwrap();
    assert_eq!(flow.latest_checkpoint(&run).await.unwrap().unwrap().state, json!("half way"));
    let lease = flow.claim_lease(&run, &LeaseClaim::new("worker", 10_000)).await.unwrap().unwrap();
    assert!(flow.claim_lease(&run, &LeaseClaim::new("other", 10_000)).await.is_err());
    flow.heartbeat_lease(&lease, None).await.unwrap().unwrap();
    let step = NewStep::new().under(&lease).event(event(5));
    assert_eq!(flow.commit_step(&run, step).await.unwrap().unwrap().events.len(), 1);
    flow.release_lease(&lease).await.unwrap().unwrap();
    flow.claim_lease(&run, &LeaseClaim::new("other", 10_000)).await.unwrap().unwrap();
}

#[tokio::test]
async fn without_a_store_everything_succeeds_and_answers_nothing() {
    let flow = FlowDurability::new(None);
    assert!(!flow.is_on());
    let run = RunId::new("flow").unwrap();
    assert!(flow.append_event(&run, NewEvent::new("step", json!(1))).await.unwrap().is_none());
    assert!(flow.events(&run, &EventFilter::default()).await.unwrap().is_none());
    assert!(flow.save_snapshot(&run, NewSnapshot::new(json!(1))).await.unwrap().is_none());
    assert!(flow.load_snapshot(&run).await.unwrap().is_none());
    assert!(flow.checkpoint(&run, NewCheckpoint::new(json!(1))).await.unwrap().is_none());
    assert!(flow.latest_checkpoint(&run).await.unwrap().is_none());
    assert!(flow.commit_step(&run, NewStep::new()).await.unwrap().is_none());
    assert!(flow.claim_lease(&run, &LeaseClaim::new("worker", 1)).await.unwrap().is_none());
}
