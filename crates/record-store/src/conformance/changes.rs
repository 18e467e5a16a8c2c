//! Rules about the account of what changed in a view.

use std::collections::BTreeMap;

use super::{Bench, Broken, Held, id, refused, rules, same};
use crate::port::{ViewChange, ViewState};
use crate::{NewRecord, RecordFilter, RecordStore, Window};

rules!(|can| can.changes =>
    a_write_outside_a_view_leaves_its_state,
    a_write_inside_a_view_moves_its_state,
    changes_lead_from_one_listing_to_the_next,
    a_read_says_the_state_that_it_saw,
    a_pruned_account_says_so,
);

/// Texts are given up to here.
const MAX_TEXT: u64 = 1 << 20;

async fn state(store: &RecordStore) -> Result<ViewState, Broken> {
    Ok(store.changes()?.state(store.bounds()).await?)
}

/// Every record of a view by its place, with its version and text.
async fn listing(
    store: &RecordStore,
) -> Result<(ViewState, BTreeMap<u64, (String, u64, Option<String>)>), Broken> {
    let mut listed = BTreeMap::new();
    let mut after = None;
    loop {
        let page = store.changes()?.page(store.bounds(), after, 3, MAX_TEXT).await?;
        after = page.records.last().map(|seen| seen.place);
        for seen in page.records {
            let told = (seen.record.id.to_string(), seen.record.version, seen.text);
            if listed.insert(seen.place.place(), told).is_some() {
                return Err(Broken("a record is listed twice".to_owned()));
            }
        }
        if !page.more {
            return Ok((page.state, listed));
        }
    }
}

fn views(store: &RecordStore) -> Result<Vec<RecordStore>, Broken> {
    let bounds = [
        RecordFilter::new(),
        RecordFilter::new().collection("notes"),
        RecordFilter::new().collection("notes").scope("tenant", "a"),
        RecordFilter::new().tag("x").scope("tenant", "a"),
        RecordFilter::new().kind("k").kind("l").tag("x"),
        RecordFilter::new().id(id("n1")?).id(id("n4")?),
        RecordFilter::new().id(id("n1")?).tag("x"),
    ];
    bounds.iter().map(|bounds| Ok(store.view(bounds)?)).collect()
}

async fn a_write_outside_a_view_leaves_its_state(bench: &Bench<'_>) -> Held {
    let store = &bench.store;
    let view = store.view(&RecordFilter::new().collection("notes").scope("tenant", "a"))?;
    view.put(NewRecord::new("notes", "in it")).await?;
    let before = state(&view).await?;
    // Each of the view's labels moves, but no record bears both.
    let other = store.put(NewRecord::new("notes", "x").scope("tenant", "b")).await?;
    store.put(NewRecord::new("logs", "x").scope("tenant", "a")).await?;
    same("after other records were put", state(&view).await?, before)?;
    store.put(NewRecord::update(&other, "y")).await?;
    store.delete(&other.id, None).await?;
    same("after other records were changed", state(&view).await?, before)?;
    let whole = state(store).await?;
    same("of the whole store", whole > before, true)
}

async fn a_write_inside_a_view_moves_its_state(bench: &Bench<'_>) -> Held {
    let view = bench.store.view(&RecordFilter::new().tag("x").scope("tenant", "a"))?;
    let mut states = vec![state(&view).await?];
    let first = view.put(NewRecord::new("notes", "one")).await?;
    states.push(state(&view).await?);
    let second = view.put(NewRecord::update(&first, "two")).await?;
    states.push(state(&view).await?);
    // It loses the tag, and so leaves the view.
    let mut leaving = NewRecord::update(&second, "three");
    leaving.tags.clear();
    let outside = bench.store.put(leaving).await?;
    states.push(state(&view).await?);
    let back = bench.store.put(NewRecord::update(&outside, "four").tag("x")).await?;
    states.push(state(&view).await?);
    bench.store.delete(&back.id, None).await?;
    states.push(state(&view).await?);
    let rises = states.windows(2).all(|pair| pair.first() < pair.last());
    same(&format!("{states:?} rises"), rises, true)
}

async fn changes_lead_from_one_listing_to_the_next(bench: &Bench<'_>) -> Held {
    let store = &bench.store;
    let mut held = Vec::new();
    for view in views(store)? {
        let listed = listing(&view).await?;
        held.push((view, listed));
    }
    // A fixed pseudo-random walk (Knuth's MMIX constants) over puts, updates and deletions.
    let mut random = 7_u64;
    let mut draw = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    for round in 0..40 {
        for _ in 0..=draw(3) {
            let name = id(&format!("n{}", draw(8)))?;
            let existing = store.describe(&name).await.ok();
            if existing.is_some() && draw(4) == 0 {
                store.delete(&name, None).await?;
                continue;
            }
            let mut record =
                NewRecord::new(if draw(3) == 0 { "logs" } else { "notes" }, format!("text {round}"))
                    .id(name)
                    .scope("tenant", if draw(2) == 0 { "a" } else { "b" })
                    .kind(if draw(2) == 0 { "k" } else { "m" });
            if draw(2) == 0 {
                record = record.tag("x");
            }
            record.if_version = existing.map(|record| record.version);
            store.put(record).await?;
        }
        for (view, (before, records)) in &mut held {
            let told = view.changes()?.since(view.bounds(), *before, MAX_TEXT).await?;
            for change in told.changes {
                match change {
                    ViewChange::Upsert(seen) => {
                        let told = (seen.record.id.to_string(), seen.record.version, seen.text);
                        records.insert(seen.place.place(), told);
                    }
                    ViewChange::Remove(place) => drop(records.remove(&place.place())),
                }
            }
            let (now, listed) = listing(view).await?;
            same("the state", told.state, now)?;
            let what = format!("round {round}, view {:?}, from {before:?}", view.bounds());
            same(&what, &*records, &listed)?;
            if draw(2) == 0 {
                *before = now;
            } else {
                // An older state leads to the same listing, for a change is told as what is there now.
                *records = listed;
            }
        }
    }
    Ok(())
}

async fn a_read_says_the_state_that_it_saw(bench: &Bench<'_>) -> Held {
    let view = bench.store.view(&RecordFilter::new().collection("notes"))?;
    let record = view.put(NewRecord::new("notes", "one")).await?;
    let outside = bench.store.put(NewRecord::new("logs", "x")).await?;
    let changes = view.changes()?;
    let (seen, segment) = changes.read(view.bounds(), &record.id, Window::WHOLE).await?;
    same("the state", seen, state(&view).await?)?;
    same("the content", segment.content, "one".into())?;
    let refusal = changes.read(view.bounds(), &outside.id, Window::WHOLE).await;
    refused("a record outside the view", refusal, "records.not_found")
}

async fn a_pruned_account_says_so(bench: &Bench<'_>) -> Held {
    if !bench.store.capabilities().maintenance {
        return Ok(());
    }
    let before = state(&bench.store).await?;
    for number in 0..10 {
        bench.store.put(NewRecord::new("notes", format!("{number}"))).await?;
    }
    let middle = state(&bench.store).await?;
    bench.store.put(NewRecord::new("notes", "last")).await?;
    same("what is forgotten", bench.store.prune_changes(1).await?, 10)?;
    let bounds = bench.store.bounds();
    let told = bench.store.changes()?.since(bounds, before, MAX_TEXT).await;
    refused("from before", told.map(|told| told.state), "records.changes_pruned")?;
    let told = bench.store.changes()?.since(bounds, middle, MAX_TEXT).await?;
    same("from the last one", told.changes.len(), 1)?;
    let view = bench.store.view(&RecordFilter::new().collection("notes").tag("none"))?;
    same("a view without records still has a state", listing(&view).await?.1.len(), 0)
}
