//! Rules about records and their versions.

use serde_json::json;

use super::{Bench, Broken, Held, id, refused, rules, same};
use crate::{ListRequest, NewRecord, Order, RecordContent, RecordFilter, Window};

rules!(|_| true =>
    content_comes_back_as_the_kind_that_was_put,
    put_many_is_all_or_nothing,
    an_id_that_exists_is_a_conflict,
    an_update_needs_the_version_that_was_read,
    earlier_versions_stay_readable,
    a_deleted_record_is_gone_and_its_versions_go_on,
    lists_neither_repeat_nor_skip_beside_writers,
    lists_keep_the_order_of_the_store_whatever_the_clock_says,
    filters_match_exactly,
    windows_are_exact_and_always_advance,
    a_stream_is_of_one_version,
    numbers_come_back_as_they_were,
    what_could_not_be_read_again_is_refused,
    long_filters_are_understood,
    bad_values_are_refused,
);

/// A text that is longer than any provider keeps in one piece, with chars of every length.
fn long_text() -> String {
    "aé冷🦀\n".repeat(20_000)
}

async fn content_comes_back_as_the_kind_that_was_put(bench: &Bench<'_>) -> Held {
    let contents = [
        RecordContent::Text(String::new()),
        RecordContent::Text("say \"hi\"\n冷却".to_owned()),
        RecordContent::Text(long_text()),
        RecordContent::Json(json!({"b": [1, 2.5, null, true], "a": {"ü": "\u{0}\n"}})),
        RecordContent::Json(json!(null)),
        RecordContent::Bytes(vec![0, 255, 10, 0]),
        RecordContent::Bytes((0..200_000_u32).flat_map(u32::to_le_bytes).collect()),
    ];
    for content in contents {
        let put = bench.store.put(NewRecord::new("any", content.clone())).await?;
        let got = bench.store.get(&put.id).await?;
        if got.content != content {
            return Err(Broken(format!("a content of {} bytes came back otherwise", put.size_bytes)));
        }
        same("the description", got.record, put.clone())?;
        same("the format", put.format, content.format())?;
        let chars = content.clone().into_text().map(|text| text.chars().count() as u64);
        same("the chars", put.size_chars, chars)?;
        same("the digest", put.digest, briefing_core::Digest::of(&content.into_stored()))?;
    }
    Ok(())
}

async fn put_many_is_all_or_nothing(bench: &Bench<'_>) -> Held {
    bench.store.put(NewRecord::new("notes", "there").id(id("b")?)).await?;
    let records = ["a", "b", "c"].map(|name| Ok(NewRecord::new("notes", "new").id(id(name)?)));
    let records = records.into_iter().collect::<Result<Vec<_>, Broken>>()?;
    refused("putting a, b and c", bench.store.put_many(records).await, "records.exists")?;
    same("the records", bench.store.count(&RecordFilter::new()).await?, 1)?;
    let records = (0..500).map(|number| NewRecord::new("notes", format!("record {number}"))).collect();
    let put = bench.store.put_many(records).await?;
    same("what was put", put.len(), 500)?;
    same("the records", bench.store.count(&RecordFilter::new()).await?, 501)
}

async fn an_id_that_exists_is_a_conflict(bench: &Bench<'_>) -> Held {
    let record = NewRecord::new("notes", "one").id(id("n1")?);
    bench.store.put(record.clone()).await?;
    refused("the same id again", bench.store.put(record).await, "records.exists")?;
    same("the content", bench.store.get(&id("n1")?).await?.content, "one".into())
}

async fn an_update_needs_the_version_that_was_read(bench: &Bench<'_>) -> Held {
    let first = bench.store.put(NewRecord::new("notes", "one").tag("a")).await?;
    same("the first version", first.version, 1)?;
    let second = bench.store.put(NewRecord::update(&first, "two").tag("b")).await?;
    same("the second version", second.version, 2)?;
    same("when it was created", second.created_at_millis, first.created_at_millis)?;
    let stale = bench.store.put(NewRecord::update(&first, "three")).await;
    refused("an update of the first version", stale, "records.version_conflict")?;
    let absent = NewRecord::new("notes", "x").id(id("absent")?).if_version(4);
    refused("an update of nothing", bench.store.put(absent).await, "records.version_conflict")?;
    same("the content", bench.store.get(&first.id).await?.content, "two".into())?;
    let by_tag = |tag: &str| RecordFilter::new().tag(tag);
    same("records tagged b", bench.store.count(&by_tag("b")).await?, 1)
}

async fn earlier_versions_stay_readable(bench: &Bench<'_>) -> Held {
    let first = bench.store.put(NewRecord::new("notes", long_text())).await?;
    bench.clock.pass(5);
    let second = bench.store.put(NewRecord::update(&first, "short")).await?;
    same("the history", bench.store.history(&first.id).await?, vec![second, first.clone()])?;
    let old = bench.store.read_version(&first.id, 1, Window::WHOLE).await?;
    same("the first version", old.content.into_text() == Some(long_text()), true)?;
    refused(
        "a version that never was",
        bench.store.read_version(&first.id, 3, Window::WHOLE).await,
        "records.not_found",
    )
}

async fn a_deleted_record_is_gone_and_its_versions_go_on(bench: &Bench<'_>) -> Held {
    let store = &bench.store;
    let first = store.put(NewRecord::new("notes", "one").id(id("n1")?)).await?;
    let second = store.put(NewRecord::update(&first, "two")).await?;
    refused("deleting version 1", store.delete(&first.id, Some(1)).await, "records.version_conflict")?;
    let tombstone = store.delete(&first.id, Some(2)).await?;
    same("the tombstone", (tombstone.version, tombstone.digest), (2, second.digest))?;
    refused("getting it", store.get(&first.id).await, "records.not_found")?;
    refused("its history", store.history(&first.id).await, "records.not_found")?;
    refused("deleting it again", store.delete(&first.id, None).await, "records.not_found")?;
    same("the records", store.count(&RecordFilter::new()).await?, 0)?;
    let again = store.put(NewRecord::new("notes", "three").id(id("n1")?)).await?;
    same("the version of a record under its id", again.version, 3)?;
    same("the history", store.history(&again.id).await?.len(), 1)
}

async fn lists_neither_repeat_nor_skip_beside_writers(bench: &Bench<'_>) -> Held {
    for order in [Order::Newest, Order::Oldest] {
        let collection = format!("{order:?}");
        let records = (0..25).map(|number| NewRecord::new(collection.as_str(), format!("{number}")));
        let put = bench.store.put_many(records.collect()).await?;
        let request =
            ListRequest::of(RecordFilter::new().collection(collection.as_str())).order(order).limit(10);
        let mut listed = Vec::new();
        let mut after = None;
        loop {
            let page = bench.store.list(&request.clone().after(after)).await?;
            if page.records.len() > 10 {
                return Err(Broken(format!("a page of {} records", page.records.len())));
            }
            listed.extend(page.records.into_iter().map(|record| record.id));
            // Neither a record before nor one after the place of the list moves the others.
            bench.store.put(NewRecord::new(collection.as_str(), "late")).await?;
            if let Some(first) = listed.first().filter(|_| after.is_none()) {
                bench.store.delete(first, None).await?;
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let mut expected: Vec<_> = put.into_iter().map(|record| record.id).collect();
        if order == Order::Newest {
            expected.reverse();
        } else {
            // The late ones come at the end of a list that goes forward.
            listed.truncate(expected.len());
        }
        same("the list", listed, expected)?;
    }
    Ok(())
}

async fn lists_keep_the_order_of_the_store_whatever_the_clock_says(bench: &Bench<'_>) -> Held {
    for (name, millis) in [("2", 1_000), ("10", 1_000), ("9", 400)] {
        bench.clock.set(millis);
        bench.store.put(NewRecord::new("notes", name).id(id(name)?)).await?;
    }
    let page = bench.store.list(&ListRequest::default().order(Order::Oldest)).await?;
    let listed: Vec<_> = page.records.iter().map(|record| record.id.as_str()).collect();
    same("the list", listed, vec!["2", "10", "9"])?;
    let early = RecordFilter { created_before_millis: Some(1_000), ..RecordFilter::default() };
    same("created before 1,000", bench.store.count(&early).await?, 1)?;
    let late = RecordFilter { created_from_millis: Some(1_000), ..RecordFilter::default() };
    same("created from 1,000 on", bench.store.count(&late).await?, 2)
}

async fn filters_match_exactly(bench: &Bench<'_>) -> Held {
    let scopes =
        ["tenant/acme", "tenant/acme-corp", "tenant/ac_me", "tenant/acXme", "tenant/acme/eu", "tenant/%"];
    for (number, scope) in scopes.iter().enumerate() {
        let record = NewRecord::new("notes", "x").id(id(&format!("r{number}"))?).scope("tenant", *scope);
        bench.store.put(record.kind(if number % 2 == 0 { "even" } else { "odd" }).tag("t")).await?;
    }
    bench
        .store
        .put(NewRecord::new("other", "x").id(id("n")?).scope("tenant", 1).scope("deep", json!({"a": [1]})))
        .await?;
    let found = async |filter: RecordFilter| -> Result<Vec<String>, Broken> {
        let page = bench.store.list(&ListRequest::of(filter.clone()).order(Order::Oldest)).await?;
        let ids: Vec<String> = page.records.into_iter().map(|record| record.id.to_string()).collect();
        same("the count", bench.store.count(&filter).await?, ids.len() as u64)?;
        Ok(ids)
    };
    let tenant = |name: &str| RecordFilter::new().scope("tenant", name);
    same("acme", found(tenant("tenant/acme")).await?, vec!["r0".to_owned()])?;
    same("ac_me", found(tenant("tenant/ac_me")).await?, vec!["r2".to_owned()])?;
    same("%", found(tenant("tenant/%")).await?, vec!["r5".to_owned()])?;
    same("acm", found(tenant("tenant/acm")).await?, vec![])?;
    same("the text 1", found(tenant("1")).await?, vec![])?;
    same("the number 1", found(RecordFilter::new().scope("tenant", 1)).await?, vec!["n".to_owned()])?;
    let deep = RecordFilter::new().scope("deep", json!({"a": [1]}));
    same("a structured value", found(deep).await?, vec!["n".to_owned()])?;
    let odd = RecordFilter::new().kind("odd").collection("notes").tag("t");
    same("odd notes", found(odd).await?, ["r1", "r3", "r5"].map(str::to_owned).to_vec())?;
    let several = RecordFilter::new().collection("other").collection("notes").collection("none");
    same("two collections", found(several).await?.len(), 7)?;
    let named = RecordFilter::new().id(id("r4")?).id(id("n")?).id(id("gone")?).scope("tenant", 1);
    same("named and scoped", found(named).await?, vec!["n".to_owned()])
}

async fn windows_are_exact_and_always_advance(bench: &Bench<'_>) -> Held {
    let text = long_text();
    let chars: Vec<char> = text.chars().collect();
    let record = bench.store.put(NewRecord::new("notes", text)).await?;
    let total = chars.len() as u64;
    for (offset, limit) in [
        (0, 1),
        (1, 1),
        (2, 3),
        (26_000, 9),
        (26_214, 4),
        (26_215, 1),
        (52_400, 3_000),
        (total - 2, 10),
        (0, total),
    ] {
        let segment = bench.store.read_bounded(&record.id, Window::new(offset, limit)).await?;
        let expected: String = chars
            .iter()
            .skip(usize::try_from(offset).unwrap_or(usize::MAX))
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .collect();
        let size = expected.chars().count() as u64;
        let shown = segment.content.into_text().unwrap_or_default();
        if shown != expected {
            return Err(Broken(format!("the window {offset}+{limit} shows other text")));
        }
        same(
            "offset, size and total",
            (segment.offset, segment.size, segment.total_size),
            (offset, size, total),
        )?;
        same("eof", segment.eof, offset + size >= total)?;
        same("the digest", segment.digest, record.digest)?;
    }
    let past = bench.store.read_bounded(&record.id, Window::new(total + 5, 10)).await?;
    same("past the end", (past.size, past.eof), (0, true))?;
    refused(
        "a window of no length",
        bench.store.read_bounded(&record.id, Window::new(0, 0)).await,
        "value.invalid",
    )?;
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
    let record = bench.store.put(NewRecord::new("notes", bytes.clone())).await?;
    let segment = bench.store.read_bounded(&record.id, Window::new(65_530, 20)).await?;
    let expected: Vec<u8> = bytes.into_iter().skip(65_530).take(20).collect();
    same("bytes over the border of a chunk", segment.content, RecordContent::Bytes(expected))
}

async fn a_stream_is_of_one_version(bench: &Bench<'_>) -> Held {
    let record = bench.store.put(NewRecord::new("notes", long_text())).await?;
    let mut stream = bench.store.stream_read(&record.id, 7_001).await?;
    let mut whole = String::new();
    while let Some(segment) = stream.next().await? {
        if whole.is_empty() {
            bench.store.put(NewRecord::update(&record, "another")).await?;
        }
        whole.push_str(&segment.content.into_text().unwrap_or_default());
    }
    same("the stream is the version that it began with", whole == long_text(), true)?;
    let empty = bench.store.put(NewRecord::new("notes", "")).await?;
    let mut stream = bench.store.stream_read(&empty.id, 10).await?;
    same("an empty content has one piece", stream.next().await?.map(|segment| segment.size), Some(0))?;
    same("and no other", stream.next().await?.is_none(), true)
}

async fn numbers_come_back_as_they_were(bench: &Bench<'_>) -> Held {
    // Among them some that a careless reader of decimal numbers gets wrong by the last bit.
    let numbers = [58.154_763_645_645_204, 0.1 + 0.2, 5e-324, f64::MAX, -0.0, 1e23, 9_007_199_254_740_993.0];
    for number in numbers {
        let content = json!({ "number": number });
        let record = NewRecord::new("numbers", content.clone()).scope("number", number);
        let put = bench.store.put(record).await?;
        same("the content", bench.store.get(&put.id).await?.content.into_text(), Some(content.to_string()))?;
        let view = bench.store.view(&RecordFilter::new().scope("number", number))?;
        same("its list and its get", view.list(&ListRequest::default()).await?.records, vec![put.clone()])?;
        let got = view.get(&put.id).await?.record;
        let mut leaving = NewRecord::update(&got, "left");
        leaving.scope.clear();
        bench.store.put(leaving).await?;
        same("after it left", view.count(&RecordFilter::new()).await?, 0)?;
    }
    Ok(())
}

async fn what_could_not_be_read_again_is_refused(bench: &Bench<'_>) -> Held {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let kept = bench.store.put(NewRecord::new("deep", nested(100)).meta("m", nested(99))).await?;
    same("what is deep enough", bench.store.get(&kept.id).await?.content, nested(100).into())?;
    let store = &bench.store;
    refused("deeper content", store.put(NewRecord::new("deep", nested(101))).await, "value.invalid")?;
    refused(
        "deeper facts",
        store.put(NewRecord::new("deep", "x").meta("m", nested(120))).await,
        "value.invalid",
    )?;
    refused(
        "a deeper scope",
        store.put(NewRecord::new("deep", "x").scope("m", nested(120))).await,
        "value.invalid",
    )?;
    if !store.capabilities().runs {
        return Ok(());
    }
    let run = super::run("deep")?;
    let checkpoint = crate::NewCheckpoint::new(nested(101));
    refused("a deeper state", store.put_checkpoint(&run, checkpoint).await, "value.invalid")?;
    let event = crate::NewEvent::new("e", nested(101));
    refused("a deeper event", store.append_event(&run, event).await, "value.invalid")
}

async fn long_filters_are_understood(bench: &Bench<'_>) -> Held {
    let put = bench.store.put(NewRecord::new("c700", "x").id(id("i700")?)).await?;
    bench.store.put(NewRecord::new("other", "x")).await?;
    let collections = (0..2_000).map(|number| format!("c{number}")).collect();
    let many = RecordFilter { collections, ..RecordFilter::default() };
    same("collections", bench.store.list(&ListRequest::of(many.clone())).await?.records, vec![put.clone()])?;
    same("their count", bench.store.count(&many).await?, 1)?;
    let ids = (0..40_000).map(|number| id(&format!("i{number}"))).collect::<Result<_, _>>()?;
    let many = RecordFilter { ids, ..RecordFilter::default() };
    same("ids", bench.store.list(&ListRequest::of(many.clone())).await?.records, vec![put])?;
    same("their count", bench.store.count(&many).await?, 1)
}

async fn bad_values_are_refused(bench: &Bench<'_>) -> Held {
    let store = &bench.store;
    refused("a blank collection", store.put(NewRecord::new(" ", "x")).await, "value.blank")?;
    refused("a blank kind", store.put(NewRecord::new("c", "x").kind("")).await, "value.blank")?;
    refused("a blank tag", store.put(NewRecord::new("c", "x").tag("")).await, "value.blank")?;
    refused(
        "a version without an id",
        store.put(NewRecord::new("c", "x").if_version(1)).await,
        "value.invalid",
    )?;
    refused("a page of none", store.list(&ListRequest::default().limit(0)).await, "value.invalid")?;
    refused("an unknown record", store.get(&id("none")?).await, "records.not_found")?;
    same("the records", store.count(&RecordFilter::new()).await?, 0)
}
