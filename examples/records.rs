//! What outlives the process: records that are found again, a run that resumes, and a memory that is corrected.

use std::sync::Arc;

use briefing::core::RunId;
use briefing::prelude::*;
use briefing::record_store::{LeaseClaim, NewCheckpoint, NewEvent, NewStep};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let store = RecordStore::open(folder.path(), StoreMode::ReadWrite).await?;

    // A view bounds every operation: what is put through it belongs to it, and nothing else is seen.
    let acme = store.view(&RecordFilter::new().scope("tenant", "acme"))?;
    acme.put(NewRecord::new("findings", "The review failed: the evidence for claim 3 is missing.")).await?;
    acme.put(NewRecord::new("findings", json!({"claim": 4, "status": "supported"}))).await?;
    for hit in acme.search(&SearchRequest::new("which evidence is missing")).await? {
        println!("found {} by {:?}", hit.record.id, hit.reason.body);
    }

    // A step of a run is one transaction under a lease: after a crash all of it is there, or nothing.
    let run = RunId::new("review-42")?;
    let lease = store.claim_lease(&run, &LeaseClaim::new("worker-1", 30_000)).await?;
    let step = NewStep::new()
        .under(&lease)
        .checkpoint(NewCheckpoint::new(json!({"next": "collect evidence"})).expecting(0))
        .event(NewEvent::new("step.ended", json!({"step": "plan"})).idempotent("plan"));
    store.commit_step(&run, step).await?;
    let latest = store.latest_checkpoint(&run).await?.ok_or("no checkpoint")?;
    println!("resume at {} from state version {}", latest.state["next"], latest.state_version);

    // A memory that is superseded is not recalled any more, but stays on record.
    let memory = SessionMemory::new(&store, "session-1")?;
    let old = memory.remember(NewMemory::new("The user wants short answers.")).await?;
    memory.supersede(&old.id, NewMemory::new("The user wants answers with sources.")).await?;

    // Both are sources of context.
    let context = TaskContext::new("review")?;
    let records = RecordStoreContextSource::new(&acme, RecordSourceOptions::new())?;
    context.attach(Arc::new(records), ContextBinding::default())?;
    let memories = SessionMemoryContextSource::new(&memory, RecordSourceOptions::new())?;
    context.attach(Arc::new(memories), ContextBinding::default())?;
    let mut reader = context.reader(ContextConsumer::new("reviewer")?).open().await?;
    let intent = ContextReadIntent::new("answers about missing evidence with sources")?;
    let package = reader.read(&intent).await?;
    println!("{}", render(&package, RenderFormat::Markdown));
    Ok(())
}
