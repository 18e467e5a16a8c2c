//! `briefing records`.

mod args;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use briefing::record_store::{
    LinkFilter, ListRequest, NewLink, NewRecord, Order, RecordContent, RecordCursor, RecordRef, RecordStore,
    SearchRequest, StoreMode, TransferReport, Window,
};

pub(crate) use self::args::RecordsCommand;
use self::args::{Action, GetCommand, ListCommand, PutCommand, SearchCommand, object};
use crate::failure::Failure;
use crate::tell::Tell;

/// How much of a long content is in memory at a time, in chars or bytes.
const CHUNK: u64 = 1 << 20;

pub(crate) fn run(command: &RecordsCommand, json: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().map_err(Failure::Runtime)?;
    // Dropping the runtime waits until the store is closed.
    runtime.block_on(act(command, json))
}

async fn act(command: &RecordsCommand, json: bool) -> Result<(), Failure> {
    let reads = RecordStore::open(&command.dir, StoreMode::ReadOnly);
    let writes = RecordStore::open(&command.dir, StoreMode::ReadWrite);
    let tell = Tell::new(json);
    match &command.action {
        Action::Put(put) => tell_records(tell, &self::put(&writes.await?, put).await?, None),
        Action::Get(get) => self::get(&reads.await?, get).await,
        Action::Search(search) => self::search(&reads.await?, search, tell).await,
        Action::List(list) => self::list(&reads.await?, list, tell).await,
        Action::Link(link) => {
            let link = NewLink::new(link.source.clone(), &link.relation, link.target.clone());
            let made = writes.await?.link(link).await?;
            tell.line(&made, || made.id.clone())
        }
        Action::Links { id } => {
            for link in reads.await?.links(&LinkFilter::of(id.clone())).await? {
                tell.line(&link, || format!("{} {} {}", link.source, link.relation, link.target))?;
            }
            Ok(())
        }
        Action::History { id } => tell_records(tell, &reads.await?.history(id).await?, None),
        Action::Delete { id, if_version } => {
            let tombstone = writes.await?.delete(id, *if_version).await?;
            tell.line(&tombstone, || format!("deleted {} v{}", tombstone.id, tombstone.version))
        }
        Action::Export { file } => export(&reads.await?, file.as_deref()).await,
        Action::Import { file } => {
            let input: Box<dyn BufRead + Send> = match is_standard(file) {
                true => Box::new(BufReader::new(io::stdin())),
                false => Box::new(BufReader::new(open(file)?)),
            };
            let report = writes.await?.import(input).await?;
            tell.line(&report, || format!("imported {}", held(&report)))
        }
        Action::Stats => {
            let stats = reads.await?.stats().await?;
            tell.line(&stats, || {
                format!(
                    "store {}\nprovider {}, {}\nholds {}\nchanges on record {}\nfile {} bytes",
                    stats.record_store_id,
                    stats.provider,
                    stats.durability,
                    held(&stats.holds),
                    stats.changes,
                    stats.file_bytes
                )
            })
        }
        Action::Check => {
            let wrong = reads.await?.check().await?;
            for line in &wrong {
                tell.line(&serde_json::json!({ "wrong": line }), || line.clone())?;
            }
            if !wrong.is_empty() {
                return Err(Failure::Unsound { problems: wrong.len() });
            }
            tell.line(&serde_json::json!({ "sound": true }), || "sound".to_owned())
        }
        Action::Backup { file } => Ok(reads.await?.backup(file).await?),
    }
}

async fn put(store: &RecordStore, command: &PutCommand) -> Result<Vec<RecordRef>, Failure> {
    if let Some(lines) = &command.lines {
        return Ok(store.put_many(from_lines(lines)?).await?);
    }
    let bytes = match (&command.text, &command.file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(file)) if is_standard(file) => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(|error| Failure::file(file, error))?;
            bytes
        }
        (None, Some(file)) => fs::read(file).map_err(|error| Failure::file(file, error))?,
        (None, None) => Vec::new(),
    };
    let content = if command.as_json {
        let value = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::Line { line: error.line(), reason: error.to_string() })?;
        RecordContent::Json(value)
    } else if command.bytes {
        RecordContent::Bytes(bytes)
    } else {
        // What does not read as text is kept as it is.
        String::from_utf8(bytes)
            .map_or_else(|error| RecordContent::Bytes(error.into_bytes()), RecordContent::Text)
    };
    let collection = command.collection.as_deref().unwrap_or("notes");
    let mut record = NewRecord::new(collection, content);
    record.id.clone_from(&command.id);
    record.kind.clone_from(&command.kind);
    record.summary.clone_from(&command.summary);
    record.tags.clone_from(&command.tag);
    record.scope = object(&command.scope);
    record.source = object(&command.source);
    record.meta = object(&command.meta);
    record.if_version = command.if_version;
    Ok(vec![store.put(record).await?])
}

fn from_lines(file: &Path) -> Result<Vec<NewRecord>, Failure> {
    let input: Box<dyn BufRead> = match is_standard(file) {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(open(file)?)),
    };
    let mut records = Vec::new();
    for (at, line) in input.lines().enumerate() {
        let line = line.map_err(|error| Failure::file(file, error))?;
        if !line.trim().is_empty() {
            let record = serde_json::from_str(&line)
                .map_err(|error| Failure::Line { line: at + 1, reason: error.to_string() })?;
            records.push(record);
        }
    }
    Ok(records)
}

async fn get(store: &RecordStore, command: &GetCommand) -> Result<(), Failure> {
    let id = &command.id;
    let version = match command.at_version {
        Some(version) => version,
        None => store.describe(id).await?.version,
    };
    let mut out = io::stdout().lock();
    if command.describe {
        let segment = store.read_version(id, version, Window::new(0, 1)).await?;
        let json = serde_json::to_string_pretty(&segment.record).map_err(io::Error::other);
        return json.and_then(|json| writeln!(out, "{json}")).map_err(Failure::Output);
    }
    let end = command.limit.map_or(u64::MAX, |limit| command.offset.saturating_add(limit));
    let mut offset = command.offset;
    while offset < end {
        let window = Window::new(offset, CHUNK.min(end - offset));
        let segment = store.read_version(id, version, window).await?;
        out.write_all(&segment.content.into_stored()).map_err(Failure::Output)?;
        offset += segment.size;
        if segment.eof || segment.size == 0 {
            break;
        }
    }
    out.flush().map_err(Failure::Output)
}

async fn search(store: &RecordStore, command: &SearchCommand, tell: Tell) -> Result<(), Failure> {
    let filters = &command.filters;
    let request = SearchRequest::new(&command.query).filter(filters.filter()).limit(filters.limit);
    for hit in store.search(&request).await? {
        tell.line(&hit, || {
            let words = |field: &str, words: &[String]| match words {
                [] => String::new(),
                words => format!("  {field}: {}", words.join(" ")),
            };
            let found = words("summary", &hit.reason.summary) + &words("body", &hit.reason.body);
            format!("{:.3}  {}{found}", hit.score, described(&hit.record))
        })?;
    }
    Ok(())
}

async fn list(store: &RecordStore, command: &ListCommand, tell: Tell) -> Result<(), Failure> {
    let order = if command.oldest { Order::Oldest } else { Order::Newest };
    let request = ListRequest::of(command.filters.filter())
        .order(order)
        .limit(command.filters.limit)
        .after(command.after.map(RecordCursor::at));
    let page = store.list(&request).await?;
    tell_records(tell, &page.records, page.next)
}

async fn export(store: &RecordStore, file: Option<&Path>) -> Result<(), Failure> {
    let report = match file {
        None => store.export(Box::new(io::BufWriter::new(io::stdout()))).await?,
        Some(file) => {
            let mut options = File::options();
            options.write(true).create_new(true);
            #[cfg(unix)]
            {
                // What only its owner may read in the store is not for others here.
                use std::os::unix::fs::OpenOptionsExt as _;
                options.mode(0o600);
            }
            let out = options.open(file).map_err(|error| Failure::file(file, error))?;
            store.export(Box::new(io::BufWriter::new(out))).await?
        }
    };
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "exported {}", held(&report));
    Ok(())
}

fn open(file: &Path) -> Result<File, Failure> {
    File::open(file).map_err(|error| Failure::file(file, error))
}

fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn held(report: &TransferReport) -> String {
    format!(
        "{} records, {} earlier versions, {} tombstones, {} links, {} runs, {} snapshots, {} checkpoints, {} events",
        report.records,
        report.versions,
        report.tombstones,
        report.links,
        report.runs,
        report.snapshots,
        report.checkpoints,
        report.events
    )
}

/// A record on one line.
fn described(record: &RecordRef) -> String {
    let kind = record.kind.as_ref().map(|kind| format!("/{kind}")).unwrap_or_default();
    let summary = record.summary.as_deref().unwrap_or_default().replace('\n', " ");
    let unit = if record.size_chars.is_some() { "chars" } else { "bytes" };
    let (id, version, collection) = (&record.id, record.version, &record.collection);
    format!("{id} v{version}  {collection}{kind}  {} {unit}  {summary}", record.length())
        .trim_end()
        .to_owned()
}

fn tell_records(tell: Tell, records: &[RecordRef], next: Option<RecordCursor>) -> Result<(), Failure> {
    for record in records {
        tell.line(record, || described(record))?;
    }
    match next {
        Some(next) => {
            tell.line(&serde_json::json!({ "next": next }), || format!("more: --after {}", next.place()))
        }
        None => Ok(()),
    }
}
