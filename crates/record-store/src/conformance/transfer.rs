//! Rules about exports and imports.

use std::io::{BufReader, Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;

use super::{Bench, Broken, Held, id, refused, rules, run, same};
use crate::{
    LeaseClaim, NewCheckpoint, NewEvent, NewLink, NewRecord, NewSnapshot, NewStep, RecordFilter, RecordStore,
    Window,
};

rules!(|can| can.maintenance && can.links && can.runs && can.leases =>
    an_export_brings_everything_back,
    an_import_is_all_or_nothing,
    a_sound_store_passes_its_check,
    a_view_has_no_maintenance,
    a_new_identity_is_another,
);

/// What is written can be read afterwards.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn export(store: &RecordStore) -> Result<String, Broken> {
    let sink = Sink::default();
    store.export(Box::new(sink.clone())).await?;
    let bytes = std::mem::take(&mut *sink.0.lock().unwrap_or_else(PoisonError::into_inner));
    String::from_utf8(bytes).map_err(|error| Broken(error.to_string()))
}

async fn import(store: &RecordStore, lines: String) -> Result<crate::TransferReport, crate::Error> {
    store.import(Box::new(BufReader::new(Cursor::new(lines.into_bytes())))).await
}

async fn fill(store: &RecordStore) -> Held {
    let first = store.put(NewRecord::new("notes", "a 冷却 pump").id(id("a")?).scope("t", 1).tag("x")).await?;
    store.put(NewRecord::update(&first, json!({"now": ["json"]}))).await?;
    store.put(NewRecord::new("notes", vec![0_u8, 200]).id(id("b")?).meta("m", 1).source("s", "here")).await?;
    store.put(NewRecord::new("notes", "x".repeat(200_000)).id(id("long")?)).await?;
    store.put(NewRecord::new("notes", "gone").id(id("gone")?)).await?;
    store.delete(&id("gone")?, None).await?;
    store.link(NewLink::new(id("a")?, "cites", id("b")?)).await?;
    let run = run("r1")?;
    for number in 0..3 {
        let step = NewStep::new()
            .snapshot(NewSnapshot::new(json!(number)))
            .checkpoint(NewCheckpoint::new(json!({ "n": number })).step("s"))
            .event(NewEvent::new("e", json!(number)).idempotent(format!("key-{number}")));
        store.commit_step(&run, step).await?;
    }
    store.claim_lease(&run, &LeaseClaim::new("w", 1_000)).await?;
    Ok(())
}

fn without_header(export: &str) -> Vec<&str> {
    export.lines().skip(1).collect()
}

async fn an_export_brings_everything_back(bench: &Bench<'_>) -> Held {
    fill(&bench.store).await?;
    let exported = export(&bench.store).await?;
    let other = (bench.another)().await;
    let report = import(&other, exported.clone()).await?;
    same("records, versions, tombstones", (report.records, report.versions, report.tombstones), (3, 1, 1))?;
    let again = export(&other).await?;
    // Places in the order of the store are given anew.
    let plain = |lines: &str| -> Vec<String> {
        let lines = without_header(lines).into_iter();
        let value = |line: &str| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            if let Some(fields) =
                value.as_object_mut().filter(|fields| fields.get("line") != Some(&json!("event")))
            {
                fields.remove("sequence");
            }
            value.to_string()
        };
        lines.map(value).collect()
    };
    same("the export of the import", plain(&again), plain(&exported))?;
    let old = other.read_version(&id("a")?, 1, Window::WHOLE).await?;
    same("an earlier version", old.content, "a 冷却 pump".into())?;
    let stale = other.put_checkpoint(&run("r1")?, NewCheckpoint::new(json!(1)).expecting(0)).await;
    refused("a stale checkpoint", stale, "records.state_conflict")?;
    let lease = other.claim_lease(&run("r1")?, &LeaseClaim::new("w", 1)).await?;
    same("the number of the next lease", lease.fencing, 2)?;
    let reborn = other.put(NewRecord::new("notes", "again").id(id("gone")?)).await?;
    same("the version after a tombstone", reborn.version, 2)?;
    same("its check", other.check().await?, vec![])
}

async fn an_import_is_all_or_nothing(bench: &Bench<'_>) -> Held {
    fill(&bench.store).await?;
    let exported = export(&bench.store).await?;
    let lines: Vec<&str> = exported.lines().collect();
    let other = (bench.another)().await;
    let whole = RecordFilter::new();
    let cut_short = lines.get(..lines.len() - 1).unwrap_or_default().join("\n");
    refused("one that was cut short", import(&other, cut_short).await, "records.import")?;
    refused(
        "one without a header",
        import(&other, without_header(&exported).join("\n")).await,
        "records.import",
    )?;
    refused(
        "one with a line that is none",
        import(&other, exported.replace("\"record\"", "\"recrod\"")).await,
        "records.import",
    )?;
    refused(
        "one of another schema",
        import(&other, exported.replace("export/1", "export/2")).await,
        "records.import",
    )?;
    let changed = exported.replace("{\"n\":2}", "{\"n\":9}");
    same("the fault", changed == exported, false)?;
    refused("one whose checkpoint was changed", import(&other, changed).await, "records.import")?;
    let changed = exported.replace("冷却 pump", "another pump");
    refused("one whose record was changed", import(&other, changed).await, "records.import")?;
    let mut fewer = lines.clone();
    fewer.remove(3);
    refused("one that lost a line", import(&other, fewer.join("\n")).await, "records.import")?;
    same("the records", other.count(&whole).await?, 0)?;
    other.put(NewRecord::new("notes", "mine").id(id("b")?)).await?;
    refused("one with a record that is there", import(&other, exported).await, "records.import")?;
    same("the records", other.count(&whole).await?, 1)
}

async fn a_sound_store_passes_its_check(bench: &Bench<'_>) -> Held {
    fill(&bench.store).await?;
    same("the check", bench.store.check().await?, vec![])?;
    let stats = bench.store.stats().await?;
    same("records and versions", (stats.holds.records, stats.holds.versions), (3, 1))?;
    same("checkpoints and events", (stats.holds.checkpoints, stats.holds.events), (3, 3))?;
    same("the store", stats.record_store_id.as_str(), bench.store.store_id())
}

async fn a_view_has_no_maintenance(bench: &Bench<'_>) -> Held {
    let view = bench.store.view(&RecordFilter::new().collection("notes"))?;
    refused("figures", view.stats().await, "records.outside_view")?;
    refused("an export", view.export(Box::new(std::io::sink())).await, "records.outside_view")?;
    refused("a check", view.check().await, "records.outside_view")
}

async fn a_new_identity_is_another(bench: &Bench<'_>) -> Held {
    let before = bench.store.store_id().to_owned();
    match bench.store.reidentify().await {
        Ok(after) => same("another id", before != after, true),
        // What lives in one process only cannot be opened anew.
        refusal => refused("a new identity", refusal, "records.unsupported"),
    }
}
