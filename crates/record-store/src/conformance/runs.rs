//! Rules about checkpoints, snapshots, events and leases.

use serde_json::json;

use super::{Bench, Held, refused, rules, run, same};
use crate::{
    EventContext, EventFilter, LeaseClaim, NewCheckpoint, NewEvent, NewSnapshot, NewStep, PruneReport,
};

rules!(|can| can.runs && can.leases =>
    a_checkpoint_depends_on_the_state_version,
    the_latest_checkpoint_is_the_last_one_committed,
    a_step_is_all_or_nothing,
    events_are_numbered_without_gaps,
    an_idempotency_key_stores_one_event,
    snapshots_are_kept_as_long_as_something_names_them,
    retention_holds_while_steps_are_written,
    one_owner_holds_a_lease,
    a_lease_ends_by_time_by_release_and_by_a_new_claim,
);

async fn a_checkpoint_depends_on_the_state_version(bench: &Bench<'_>) -> Held {
    let (store, run) = (&bench.store, run("r1")?);
    let first =
        store.put_checkpoint(&run, NewCheckpoint::new(json!({"n": 1})).expecting(0).step("s1")).await?;
    same("the first", (first.state_version, first.sequence > 0), (1, true))?;
    let stale = store.put_checkpoint(&run, NewCheckpoint::new(json!({})).expecting(0)).await;
    refused("a stale one", stale, "records.state_conflict")?;
    let mut jump = NewCheckpoint::new(json!({"n": 2})).expecting(1).step("s2");
    jump.state_version = Some(7);
    same("a version of one's own", store.put_checkpoint(&run, jump).await?.state_version, 7)?;
    let mut back = NewCheckpoint::new(json!({}));
    back.state_version = Some(7);
    refused(
        "a version that does not rise",
        store.put_checkpoint(&run, back).await,
        "records.state_conflict",
    )?;
    same("the run", store.state_version(&run).await?, 7)?;
    let history = store.checkpoint_history(&run, None, None).await?;
    same("the history", history.iter().map(|one| one.state_version).collect(), vec![7, 1])?;
    let of_step = store.checkpoint_history(&run, Some("s1"), None).await?;
    same("of one step", of_step, vec![first])?;
    same("one", store.checkpoint_history(&run, None, Some(1)).await?.len(), 1)?;
    same("none", store.checkpoint_history(&run, None, Some(0)).await?.len(), 0)
}

async fn the_latest_checkpoint_is_the_last_one_committed(bench: &Bench<'_>) -> Held {
    let run = run("r1")?;
    for (name, millis) in [("2", 1_000), ("10", 1_000), ("9", 400)] {
        bench.clock.set(millis);
        bench.store.put_checkpoint(&run, NewCheckpoint::new(json!(name)).step(name)).await?;
    }
    let latest = bench.store.latest_checkpoint(&run).await?;
    same("the latest", latest.map(|checkpoint| checkpoint.state), Some(json!("9")))?;
    let history = bench.store.checkpoint_history(&run, None, None).await?;
    same(
        "the history",
        history.into_iter().filter_map(|one| one.step_id).collect::<Vec<_>>().join(" "),
        "9 10 2".to_owned(),
    )
}

async fn a_step_is_all_or_nothing(bench: &Bench<'_>) -> Held {
    let (store, run) = (&bench.store, run("r1")?);
    let step = |expected| {
        NewStep::new()
            .snapshot(NewSnapshot::new(json!({"big": "state"})))
            .checkpoint(NewCheckpoint::new(json!({"n": 1})).expecting(expected))
            .event(NewEvent::new("step.began", json!({})))
            .event(NewEvent::new("step.ended", json!({})))
    };
    let outcome = store.commit_step(&run, step(0)).await?;
    let snapshot = outcome.snapshot.map(|snapshot| snapshot.id);
    same("the checkpoint names the snapshot", outcome.checkpoint.and_then(|one| one.snapshot_id), snapshot)?;
    same("the events", outcome.events.iter().map(|event| event.sequence).collect(), vec![1, 2])?;
    let before = (
        store.checkpoint_history(&run, None, None).await?,
        store.snapshots(&run, None).await?,
        store.events(&run, &EventFilter::default()).await?,
    );
    refused("a stale step", store.commit_step(&run, step(0)).await, "records.state_conflict")?;
    let late = step(1).event(NewEvent::new("x", json!({})).expecting(99));
    refused(
        "a step whose last event fails",
        store.commit_step(&run, late).await,
        "records.sequence_conflict",
    )?;
    let blank = step(1).event(NewEvent::new(" ", json!({})));
    refused("a step with a bad event", store.commit_step(&run, blank).await, "value.blank")?;
    let mut missing = NewStep::new().event(NewEvent::new("x", json!({})));
    missing.checkpoint = Some(NewCheckpoint::new(json!({})).snapshot("no-such-snapshot"));
    refused("a snapshot that is not there", store.commit_step(&run, missing).await, "records.not_found")?;
    let after = (
        store.checkpoint_history(&run, None, None).await?,
        store.snapshots(&run, None).await?,
        store.events(&run, &EventFilter::default()).await?,
    );
    same("what the run holds", after, before)
}

async fn events_are_numbered_without_gaps(bench: &Bench<'_>) -> Held {
    let (store, run, other) = (&bench.store, run("r1")?, run("r2")?);
    for number in 1..=5_u64 {
        let event =
            NewEvent::new(if number % 2 == 0 { "even" } else { "odd" }, json!(number)).expecting(number);
        let context = EventContext { node_id: Some(format!("n{number}")), ..EventContext::default() };
        same("the place", store.append_event(&run, event.context(context)).await?.sequence, number)?;
        store.append_event(&other, NewEvent::new("else", json!(number))).await?;
    }
    let skipped = store.append_event(&run, NewEvent::new("x", json!(0)).expecting(9)).await;
    refused("another place", skipped, "records.sequence_conflict")?;
    let found = async |filter: EventFilter| -> Result<Vec<u64>, super::Broken> {
        Ok(store.events(&run, &filter).await?.into_iter().map(|event| event.sequence).collect())
    };
    same("all", found(EventFilter::default()).await?, vec![1, 2, 3, 4, 5])?;
    let even = EventFilter { event_type: Some("even".to_owned()), ..EventFilter::default() };
    same("of a type", found(even).await?, vec![2, 4])?;
    let middle = EventFilter { from_sequence: Some(2), to_sequence: Some(4), ..EventFilter::default() };
    same("of a range", found(middle.clone()).await?, vec![2, 3, 4])?;
    same("at most two", found(EventFilter { limit: Some(2), ..middle }).await?, vec![2, 3])?;
    let third = store
        .events(&run, &EventFilter { from_sequence: Some(3), limit: Some(1), ..EventFilter::default() })
        .await?;
    same(
        "its context",
        third.first().and_then(|event| event.context.node_id.clone()),
        Some("n3".to_owned()),
    )?;
    let id = third.into_iter().next().map(|event| event.event_id);
    same("by id", found(EventFilter { event_id: id.clone(), ..EventFilter::default() }).await?, vec![3])?;
    let again = NewEvent { event_id: id, ..NewEvent::new("x", json!(0)) };
    refused("an id that is taken", store.append_event(&run, again).await, "value.invalid")
}

async fn an_idempotency_key_stores_one_event(bench: &Bench<'_>) -> Held {
    let (store, run) = (&bench.store, run("r1")?);
    let event = NewEvent::new("paid", json!({"amount": 5})).idempotent("order-1");
    let first = store.append_event(&run, event.clone()).await?;
    bench.clock.pass(50);
    same("the same event again", store.append_event(&run, event).await?, first)?;
    let other = NewEvent::new("paid", json!({"amount": 6})).idempotent("order-1");
    refused(
        "another event under the key",
        store.append_event(&run, other.clone()).await,
        "records.event_conflict",
    )?;
    let elsewhere = super::run("r2")?;
    same("the key in another run", store.append_event(&elsewhere, other).await?.sequence, 1)?;
    same("the events", store.events(&run, &EventFilter::default()).await?.len(), 1)
}

async fn snapshots_are_kept_as_long_as_something_names_them(bench: &Bench<'_>) -> Held {
    let (store, run) = (&bench.store, run("r1")?);
    let mut ids = Vec::new();
    for number in 0..6 {
        let outcome = store.put_snapshot(&run, NewSnapshot::new(json!({ "n": number })).step("s")).await?;
        ids.extend(outcome.snapshot.map(|snapshot| snapshot.id));
    }
    let [first, second, third, ..] = ids.as_slice() else {
        return Err(super::Broken(format!("six snapshots gave {ids:?}")));
    };
    store.put_checkpoint(&run, NewCheckpoint::new(json!(1)).snapshot(first.as_str())).await?;
    let lease = store.claim_lease(&run, &LeaseClaim::new("worker", 1_000)).await?;
    store.heartbeat_lease(&lease, Some(second)).await?;
    refused(
        "naming what is not there",
        store.heartbeat_lease(&lease, Some("none")).await,
        "records.not_found",
    )?;
    let report = store.prune_snapshots(&run, 2).await?;
    same("the report", report, PruneReport { retained: 4, pinned: 2, removed: 2, removed_bytes: 14 })?;
    same(
        "deleting what a checkpoint names",
        store.delete_snapshot(&run, first).await.map_err(|error| error.code()),
        Err("value.invalid"),
    )?;
    bench.clock.pass(2_000);
    same("once the lease is over", store.prune_snapshots(&run, 2).await?.removed, 1)?;
    same("deleting what is gone", store.delete_snapshot(&run, third).await?, false)?;
    let outcome = store.put_snapshot(&run, NewSnapshot::new(json!({ "n": 9 })).keep_last(1)).await?;
    same("with retention", outcome.pruned.map(|report| (report.retained, report.pinned)), Some((2, 1)))?;
    same("the latest", store.latest_snapshot(&run).await?, outcome.snapshot)?;
    same("checkpoints are not touched", store.checkpoint_history(&run, None, None).await?.len(), 1)?;
    refused("keeping none", store.prune_snapshots(&run, 0).await, "value.invalid")
}

async fn retention_holds_while_steps_are_written(bench: &Bench<'_>) -> Held {
    let (store, run) = (&bench.store, run("r1")?);
    for number in 0..20 {
        let step = NewStep::new()
            .snapshot(NewSnapshot::new(json!(number)).keep_last(2))
            .checkpoint(NewCheckpoint::new(json!(number)));
        store.commit_step(&run, step).await?;
    }
    let kept: Vec<_> =
        store.snapshots(&run, None).await?.into_iter().map(|snapshot| snapshot.state).collect();
    same("the snapshots", kept, vec![json!(19), json!(18)])?;
    same("the checkpoints", store.checkpoint_history(&run, None, None).await?.len(), 20)
}

async fn one_owner_holds_a_lease(bench: &Bench<'_>) -> Held {
    let (store, run) = (&bench.store, run("r1")?);
    let claim = LeaseClaim::new("a", 1_000);
    refused(
        "an expected state",
        store.claim_lease(&run, &claim.clone().expecting(3)).await,
        "records.state_conflict",
    )?;
    let first = store.claim_lease(&run, &claim.clone().expecting(0)).await?;
    refused(
        "another owner",
        store.claim_lease(&run, &LeaseClaim::new("b", 1_000)).await,
        "records.lease_held",
    )?;
    let second = store.claim_lease(&run, &claim).await?;
    same("the same owner's number rises", second.fencing > first.fencing, true)?;
    refused("the old claim", store.heartbeat_lease(&first, None).await, "records.lease_lost")?;
    let step = NewStep::new().under(&first).event(NewEvent::new("x", json!(1)));
    refused("a write under the old claim", store.commit_step(&run, step).await, "records.lease_lost")?;
    let step = NewStep::new().under(&second).event(NewEvent::new("x", json!(1)));
    same("a write under the new one", store.commit_step(&run, step).await?.events.len(), 1)?;
    refused("no time to live", store.claim_lease(&run, &LeaseClaim::new("a", 0)).await, "value.invalid")?;
    refused("no owner", store.claim_lease(&run, &LeaseClaim::new(" ", 1)).await, "value.blank")
}

async fn a_lease_ends_by_time_by_release_and_by_a_new_claim(bench: &Bench<'_>) -> Held {
    let (store, run) = (&bench.store, run("r1")?);
    let first = store.claim_lease(&run, &LeaseClaim::new("a", 1_000)).await?;
    bench.clock.pass(900);
    let renewed = store.heartbeat_lease(&first, None).await?;
    bench.clock.pass(900);
    refused("still held", store.claim_lease(&run, &LeaseClaim::new("b", 1_000)).await, "records.lease_held")?;
    same("until", store.lease(&run).await?.map(|lease| lease.until_millis), Some(renewed.until_millis))?;
    bench.clock.pass(100);
    refused("expired", store.heartbeat_lease(&renewed, None).await, "records.lease_lost")?;
    let second = store.claim_lease(&run, &LeaseClaim::new("b", 1_000)).await?;
    same("its number", second.fencing > first.fencing, true)?;
    let mut forged = second.clone();
    forged.token = "guessed".to_owned();
    refused("another's token", store.release_lease(&forged).await, "records.lease_lost")?;
    store.release_lease(&second).await?;
    refused("released", store.heartbeat_lease(&second, None).await, "records.lease_lost")?;
    let third = store.claim_lease(&run, &LeaseClaim::new("c", 1_000)).await?;
    same("after a release", third.fencing > second.fencing, true)
}
