//! x
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use briefing_record_store::*;
#[tokio::test]
async fn smoke() {
    let root = tempfile::tempdir().unwrap();
    let store = RecordStore::open(root.path(), Mode::ReadWrite).await.unwrap();
    let a = store.put(NewRecord::new("notes", "冷却水泵 retry-limit").summary("Pump").scope("t", "a").tag("x")).await.unwrap();
    let b = store.put(NewRecord::update(&a, "other text")).await.unwrap();
    assert_eq!(b.version, 2);
    println!("{:?}", store.search(&SearchRequest::new("other pump")).await.unwrap());
    println!("{:?}", store.list(&ListRequest::of(RecordFilter::new().collection("notes").scope("t", "a"))).await.unwrap());
    println!("{:?}", store.maintenance().unwrap().check().await.unwrap());
    println!("{:?}", store.maintenance().unwrap().stats().await.unwrap());
    store.maintenance().unwrap().export(Box::new(std::io::stdout())).await.unwrap();
    let run = briefing_core::RunId::new("r").unwrap();
    let out = store.commit_step(&run, NewStep::new().snapshot(NewSnapshot::new(1.into()).keep_last(1)).checkpoint(NewCheckpoint::new(2.into())).event(NewEvent::new("e", 3.into()))).await.unwrap();
    println!("{out:?}");
    let l = store.claim_lease(&run, &LeaseClaim::new("me", 1000)).await.unwrap();
    store.heartbeat_lease(&l, None).await.unwrap();
    store.maintenance().unwrap().backup(&root.path().join("x.db")).await.unwrap();
    store.delete(&a.id, None).await.unwrap();
    let ro = RecordStore::open(root.path(), Mode::ReadOnly).await.unwrap();
    println!("{:?}", ro.count(&RecordFilter::new()).await.unwrap());
}
