//! Rules about views and modes.

use serde_json::json;

use super::{Bench, Held, id, refused, rules, run, same};
use crate::{
    LeaseClaim, LinkFilter, ListRequest, NewCheckpoint, NewEvent, NewLink, NewRecord, NewSnapshot,
    RecordFilter, SearchRequest, Window,
};

rules!(|can| can.text_search && can.links && can.runs && can.leases =>
    a_view_bounds_every_read,
    a_view_bounds_every_write,
    a_filter_narrows_a_view_and_never_widens_it,
    a_run_belongs_to_the_scope_that_began_it,
    a_view_by_other_bounds_than_a_scope_has_no_runs,
    earlier_versions_outside_a_view_do_not_exist,
    read_only_refuses_every_write,
);

fn tenant(name: &str) -> RecordFilter {
    RecordFilter::new().scope("tenant", name)
}

async fn a_view_bounds_every_read(bench: &Bench<'_>) -> Held {
    let (ours, theirs) = (bench.store.view(&tenant("a"))?, bench.store.view(&tenant("b"))?);
    let secret = theirs.put(NewRecord::new("notes", "the secret pump")).await?;
    let mine = ours.put(NewRecord::new("notes", "my pump")).await?;
    same("the scope of what is put", mine.scope.get("tenant"), Some(&json!("a")))?;
    bench.store.link(NewLink::new(mine.id.clone(), "knows", secret.id.clone())).await?;
    refused("getting", ours.get(&secret.id).await, "records.not_found")?;
    refused("describing", ours.describe(&secret.id).await, "records.not_found")?;
    refused("the history", ours.history(&secret.id).await, "records.not_found")?;
    refused("reading", ours.read_bounded(&secret.id, Window::WHOLE).await, "records.not_found")?;
    refused("a reference", ours.ref_envelope(&secret.id).await, "records.not_found")?;
    same("the list", ours.list(&ListRequest::default()).await?.records, vec![mine.clone()])?;
    same("the count", ours.count(&RecordFilter::new()).await?, 1)?;
    let hits = ours.search(&SearchRequest::new("secret pump")).await?;
    same("the hits", hits.into_iter().map(|hit| hit.record.id).collect::<Vec<_>>(), vec![mine.id.clone()])?;
    same("links to the outside", ours.links(&LinkFilter::of(mine.id)).await?, vec![])?;
    same("all links", bench.store.links(&LinkFilter::default()).await?.len(), 1)
}

async fn a_view_bounds_every_write(bench: &Bench<'_>) -> Held {
    let (ours, theirs) = (bench.store.view(&tenant("a"))?, bench.store.view(&tenant("b"))?);
    let secret = theirs.put(NewRecord::new("notes", "theirs")).await?;
    let mine = ours.put(NewRecord::new("notes", "mine")).await?;
    let foreign = NewRecord::new("notes", "x").scope("tenant", "b");
    refused("another scope", ours.put(foreign).await, "records.outside_view")?;
    let mut update = NewRecord::update(&secret, "mine now");
    update.scope.clear();
    refused("an update", ours.put(update).await, "records.version_conflict")?;
    let taken = NewRecord::new("notes", "x").id(secret.id.clone());
    refused("an id that is taken", ours.put(taken).await, "records.outside_view")?;
    refused("a deletion", ours.delete(&secret.id, None).await, "records.not_found")?;
    let link = NewLink::new(mine.id, "knows", secret.id.clone());
    refused("a link", ours.link(link.clone()).await, "records.not_found")?;
    let link = bench.store.link(link).await?;
    same("removing a link to the outside", ours.unlink(&link.id).await?, false)?;
    same("what is there", theirs.get(&secret.id).await?.content, "theirs".into())?;
    let notes = bench.store.view(&RecordFilter::new().collection("notes").kind("note"))?;
    refused("another collection", notes.put(NewRecord::new("other", "x")).await, "records.outside_view")?;
    refused("another kind", notes.put(NewRecord::new("notes", "x").kind("y")).await, "records.outside_view")?;
    let put = notes.put(NewRecord::new("notes", "x")).await?;
    same("the only kind of the view", put.kind.as_deref(), Some("note"))?;
    let tagged = bench.store.view(&RecordFilter::new().tag("kept"))?;
    let put = tagged.put(NewRecord::new("notes", "x").tag("a")).await?;
    same("the view's tag", put.tags, vec!["a".to_owned(), "kept".to_owned()])
}

async fn a_filter_narrows_a_view_and_never_widens_it(bench: &Bench<'_>) -> Held {
    let bounds = tenant("a").collection("notes");
    let ours = bench.store.view(&bounds)?;
    refused("another scope", ours.list(&ListRequest::of(tenant("b"))).await, "records.outside_view")?;
    let other = RecordFilter::new().collection("other");
    refused("another collection", ours.count(&other).await, "records.outside_view")?;
    refused(
        "a search",
        ours.search(&SearchRequest::new("x").filter(tenant("b"))).await,
        "records.outside_view",
    )?;
    refused("a view of a view", ours.view(&tenant("b")), "records.outside_view")?;
    ours.put(NewRecord::new("notes", "x").kind("k")).await?;
    let narrower = ours.view(&RecordFilter::new().kind("k"))?;
    same("a narrower view", narrower.count(&RecordFilter::new()).await?, 1)?;
    same("and a narrower filter", ours.count(&RecordFilter::new().kind("none")).await?, 0)?;
    let timed = RecordFilter { created_from_millis: Some(1), ..RecordFilter::default() };
    refused("bounds of time", ours.view(&timed), "value.invalid")
}

async fn a_run_belongs_to_the_scope_that_began_it(bench: &Bench<'_>) -> Held {
    let (ours, theirs) = (bench.store.view(&tenant("a"))?, bench.store.view(&tenant("b"))?);
    let run = run("r1")?;
    theirs.put_checkpoint(&run, NewCheckpoint::new(json!(1))).await?;
    theirs.append_event(&run, NewEvent::new("began", json!({}))).await?;
    theirs.put_snapshot(&run, NewSnapshot::new(json!(1))).await?;
    theirs.claim_lease(&run, &LeaseClaim::new("worker", 1_000)).await?;
    same("the latest checkpoint", ours.latest_checkpoint(&run).await?, None)?;
    same("the state version", ours.state_version(&run).await?, 0)?;
    same("the events", ours.events(&run, &crate::EventFilter::default()).await?, vec![])?;
    same("the snapshots", ours.snapshots(&run, None).await?, vec![])?;
    same("the lease", ours.lease(&run).await?, None)?;
    let event = NewEvent::new("intruded", json!({}));
    refused("an event", ours.append_event(&run, event).await, "records.outside_view")?;
    refused("a claim", ours.claim_lease(&run, &LeaseClaim::new("me", 1)).await, "records.outside_view")?;
    same("from the whole store", bench.store.state_version(&run).await?, 1)
}

async fn a_view_by_other_bounds_than_a_scope_has_no_runs(bench: &Bench<'_>) -> Held {
    let run = run("r1")?;
    bench.store.put_checkpoint(&run, NewCheckpoint::new(json!(1))).await?;
    for bounds in [
        RecordFilter::new().collection("notes"),
        RecordFilter::new().kind("k"),
        RecordFilter::new().tag("t"),
        RecordFilter::new().id(id("n1")?).scope("tenant", "a"),
    ] {
        let view = bench.store.view(&bounds)?;
        let code = "records.outside_view";
        refused("the latest checkpoint", view.latest_checkpoint(&run).await, code)?;
        refused("events", view.events(&run, &crate::EventFilter::default()).await, code)?;
        refused("the lease", view.lease(&run).await, code)?;
        refused("a claim", view.claim_lease(&run, &LeaseClaim::new("me", 1)).await, code)?;
    }
    let (ours, unknown) = (bench.store.view(&tenant("a"))?, super::run("r2")?);
    same("pruning what is not there", ours.prune_snapshots(&unknown, 1).await?.retained, 0)?;
    let theirs = bench.store.view(&tenant("b"))?;
    same("makes no run", theirs.append_event(&unknown, NewEvent::new("e", json!(1))).await?.sequence, 1)
}

async fn earlier_versions_outside_a_view_do_not_exist(bench: &Bench<'_>) -> Held {
    let first = bench.store.put(NewRecord::new("notes", "the secret").scope("tenant", "a")).await?;
    let mut update = NewRecord::update(&first, "for b");
    update.scope.insert("tenant".to_owned(), json!("b"));
    let second = bench.store.put(update).await?;
    let theirs = bench.store.view(&tenant("b"))?;
    same("the history", theirs.history(&first.id).await?, vec![second])?;
    refused(
        "the first version",
        theirs.read_version(&first.id, 1, Window::WHOLE).await,
        "records.not_found",
    )?;
    same("the whole history", bench.store.history(&first.id).await?.len(), 2)
}

async fn read_only_refuses_every_write(bench: &Bench<'_>) -> Held {
    let run = run("r1")?;
    let record = bench.store.put(NewRecord::new("notes", "x").id(id("n1")?)).await?;
    let lease = bench.store.claim_lease(&run, &LeaseClaim::new("me", 1_000)).await?;
    let store = bench.store.read_only();
    let code = "records.read_only";
    refused("put", store.put(NewRecord::new("notes", "y")).await, code)?;
    refused("put_many", store.put_many(vec![]).await, code)?;
    refused("delete", store.delete(&record.id, None).await, code)?;
    refused("link", store.link(NewLink::new(record.id.clone(), "is", record.id.clone())).await, code)?;
    refused("unlink", store.unlink("none").await, code)?;
    refused("checkpoint", store.put_checkpoint(&run, NewCheckpoint::new(json!(1))).await, code)?;
    refused("snapshot", store.put_snapshot(&run, NewSnapshot::new(json!(1))).await, code)?;
    refused("prune", store.prune_snapshots(&run, 1).await, code)?;
    refused("delete_snapshot", store.delete_snapshot(&run, "none").await, code)?;
    refused("event", store.append_event(&run, NewEvent::new("e", json!(1))).await, code)?;
    refused("claim", store.claim_lease(&run, &LeaseClaim::new("me", 1)).await, code)?;
    refused("heartbeat", store.heartbeat_lease(&lease, None).await, code)?;
    refused("release", store.release_lease(&lease).await, code)?;
    refused("import", store.import(Box::new(std::io::empty())).await, code)?;
    refused("prune_changes", store.prune_changes(1).await, code)?;
    refused("reidentify", store.reidentify().await, code)?;
    refused(
        "a write through a view of it",
        store.view(&tenant("a"))?.put(NewRecord::new("c", "x")).await,
        code,
    )?;
    same("reading", store.get(&record.id).await?.content, "x".into())
}
