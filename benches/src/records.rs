//! Records to measure with, and the baseline: the same rows in plain SQLite.

use std::path::Path;

use briefing::record_store::{NewRecord, RecordStore, StoreMode};
use rusqlite::Connection;
use tokio::runtime::Runtime;

/// How many records are measured; `BRIEFING_BENCH_RECORDS` sets another number than 10,000.
#[must_use]
pub fn how_many() -> usize {
    std::env::var("BRIEFING_BENCH_RECORDS").ok().and_then(|number| number.parse().ok()).unwrap_or(10_000)
}

/// How many records go into one transaction.
pub const BATCH: usize = 1_000;

const ONSETS: [&str; 16] =
    ["b", "br", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v"];
const RIMES: [&str; 12] = ["a", "an", "e", "el", "i", "in", "o", "or", "u", "um", "ay", "est"];

/// A word of a vocabulary of 36,864, by its rank.
fn word(rank: usize) -> String {
    let syllables = ONSETS.len() * RIMES.len();
    let syllable = |number: usize| {
        let number = number % syllables;
        format!("{}{}", ONSETS[number % ONSETS.len()], RIMES[number / ONSETS.len()])
    };
    format!("{}{}", syllable(rank), syllable(rank / syllables))
}

/// The text of a record: 30 words, about 200 chars, by rank as frequent as in natural language (Zipf's law), always the same for a number.
#[must_use]
pub fn text(number: usize) -> String {
    let mut random = number as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let mut text = String::new();
    for _ in 0..30 {
        // Knuth's MMIX constants.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = (random >> 33) as f64 / f64::from(1_u32 << 31);
        // The logarithm of the rank is uniform where the frequency falls as the rank rises.
        text.push_str(&word(36_864_f64.powf(draw) as usize));
        text.push(' ');
    }
    text
}

/// A word of about that rank in the texts, for queries.
#[must_use]
pub fn query_word(rank: usize) -> String {
    word(rank)
}

/// A record: one of eight collections, one of a hundred tenants, a tag.
#[must_use]
pub fn record(number: usize) -> NewRecord {
    NewRecord::new(format!("collection-{}", number % 8), text(number))
        .kind("note")
        .scope("tenant", format!("tenant-{}", number % 100))
        .tag(if number.is_multiple_of(10) { "tenth" } else { "other" })
}

/// A store and the baseline in one folder, with as many records as are measured.
pub fn filled(runtime: &Runtime, folder: &Path) -> (RecordStore, Raw) {
    let store = runtime.block_on(RecordStore::open(folder, StoreMode::ReadWrite)).expect("a store");
    let mut raw = Raw::new(folder);
    let many = how_many();
    for from in (0..many).step_by(BATCH) {
        let numbers = from..(from + BATCH).min(many);
        raw.insert(numbers.clone());
        runtime.block_on(store.put_many(numbers.map(record).collect())).expect("records");
    }
    (store, raw)
}

/// The baseline: rows with the same facts, an index of labels, a log of changes and full text, written and read without
/// any of the store's rules.
pub struct Raw {
    pub connection: Connection,
    next: i64,
}

impl Raw {
    /// An empty database with a write-ahead log and full durability.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        let connection = Connection::open(folder.join("raw.db")).expect("a database");
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
                 PRAGMA cache_size = -32000;
                 CREATE TABLE records(
                     number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER, collection TEXT, kind TEXT,
                     digest BLOB, size INTEGER, scope TEXT, tags TEXT, created_at INTEGER, content BLOB);
                 CREATE TABLE record_labels(label INTEGER, record INTEGER, PRIMARY KEY(label, record)) WITHOUT ROWID;
                 CREATE TABLE changes(seq INTEGER PRIMARY KEY, record INTEGER, labels TEXT);
                 CREATE VIRTUAL TABLE record_terms USING fts5(body, content='', contentless_delete=1);",
            )
            .expect("tables");
        connection.set_prepared_statement_cache_capacity(32);
        Self { connection, next: 1 }
    }

    /// Inserts some texts in one transaction.
    pub fn insert(&mut self, numbers: std::ops::Range<usize>) {
        let transaction = self.connection.transaction().expect("a transaction");
        for number in numbers {
            let (at, text) = (self.next, text(number));
            self.next += 1;
            let mut insert = transaction
                .prepare_cached(
                    "INSERT INTO records VALUES(?1, ?2, 1, ?3, 'note', ?4, ?5, ?6, '[\"other\"]', 0, ?7)",
                )
                .expect("a statement");
            let (collection, tenant) = (number % 8, number % 100);
            let row = (
                at,
                format!("rec-{at:032x}"),
                format!("collection-{collection}"),
                [0_u8; 32],
                text.len() as i64,
                format!("{{\"tenant\":\"tenant-{tenant}\"}}"),
                text.as_bytes(),
            );
            insert.execute(row).expect("a row");
            let mut insert =
                transaction.prepare_cached("INSERT INTO record_labels VALUES(?1, ?2)").expect("a statement");
            for label in [collection, 10, 1_000 + tenant, 20 + usize::from(number.is_multiple_of(10))] {
                insert.execute((label as i64, at)).expect("a row");
            }
            let mut insert =
                transaction.prepare_cached("INSERT INTO changes VALUES(?1, ?1, ?2)").expect("a statement");
            insert.execute((at, "1,2,3,4")).expect("a row");
            let mut insert = transaction
                .prepare_cached("INSERT INTO record_terms(rowid, body) VALUES(?1, ?2)")
                .expect("a statement");
            insert.execute((at, text)).expect("a row");
        }
        transaction.commit().expect("a commit");
    }

    /// The twenty best rows for an expression of FTS5.
    #[must_use]
    pub fn search(&self, expression: &str) -> usize {
        let mut select = self
            .connection
            .prepare_cached(
                "SELECT f.rowid, f.score, r.id, r.scope, r.content FROM
                   (SELECT rowid, bm25(record_terms) AS score FROM record_terms WHERE record_terms MATCH ?1
                    ORDER BY score LIMIT 20) f JOIN records r ON r.number = f.rowid",
            )
            .expect("a statement");
        let rows = select.query_map([expression], |row| row.get::<_, Vec<u8>>(4)).expect("rows");
        rows.map(|row| row.expect("a row").len()).filter(|length| *length > 0).count()
    }
}
