//! Search by words, over FTS5.

use std::collections::BTreeSet;

use async_trait::async_trait;
use briefing_analysis::Analyzer;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::SqliteBackend;
use super::fail::Outcome;
use super::rows::{self, INLINE_BYTES, Kept, RecordRow};
use super::select::Selection;
use crate::port::TextSearch;
use crate::search::{QueryWord, query_words};
use crate::{Error, HitReason, SearchHit, SearchRequest};

/// How much more a word says in a summary than in a body.
const SUMMARY_WEIGHT: f64 = 2.0;

/// The query as expressions of the full-text table. What the user typed only ever stands in them as quoted terms.
struct Expressions {
    /// Records that hold every word: whole, or by all its parts.
    all: String,
    /// Records that hold any term; `None` where that is the same.
    any: Option<String>,
    terms: BTreeSet<String>,
}

impl Expressions {
    /// `None` where the query has no word.
    fn new(query: &str) -> Option<Self> {
        let words = query_words(query);
        if words.is_empty() {
            return None;
        }
        let all = words.iter().map(whole_word).collect::<Vec<_>>().join(" AND ");
        let any = joined(words.iter().flat_map(QueryWord::terms), " OR ");
        let terms = words.iter().flat_map(QueryWord::terms).cloned().collect();
        Some(Self { any: (any != all).then_some(any), all, terms })
    }
}

/// A word as it stands, or all that it is made of.
fn whole_word(word: &QueryWord) -> String {
    let QueryWord { wholes, parts } = word;
    let mut ways: Vec<String> = Vec::new();
    if !wholes.is_empty() {
        ways.push(joined(wholes, " OR "));
    }
    if !parts.is_empty() {
        let every = joined(parts, " AND ");
        ways.push(if parts.len() > 1 { format!("({every})") } else { every });
    }
    if ways.len() > 1 || wholes.len() > 1 { format!("({})", ways.join(" OR ")) } else { ways.concat() }
}

fn joined<'a>(terms: impl IntoIterator<Item = &'a String>, operator: &str) -> String {
    terms.into_iter().map(|term| quoted(term)).collect::<Vec<_>>().join(operator)
}

/// A term as a string of the expression language (<https://www.sqlite.org/fts5.html>, section 3.1).
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

/// The best rows for an expression: place and score.
fn best(
    connection: &Connection,
    expression: &str,
    selection: &Selection,
    limit: usize,
) -> Outcome<Vec<(i64, f64)>> {
    let conditions = selection.conditions("record_terms.rowid", 0);
    let sql = format!(
        "SELECT rowid, -bm25(record_terms, {SUMMARY_WEIGHT:.1}, 1.0) AS score FROM record_terms
         WHERE record_terms MATCH ?{} ORDER BY score DESC, rowid LIMIT ?",
        conditions.text
    );
    let mut values = vec![Value::Text(expression.to_owned())];
    values.extend(conditions.values);
    values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
    let mut select = connection.prepare_cached(&sql)?;
    let rows = select.query_map(params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn search(connection: &Connection, request: &SearchRequest) -> Outcome<Vec<SearchHit>> {
    let selection = Selection::new(connection, &request.filter)?;
    let Some(expressions) = Expressions::new(&request.query) else { return Ok(Vec::new()) };
    if selection.is_empty() {
        return Ok(Vec::new());
    }
    let full = best(connection, &expressions.all, &selection, request.limit)?;
    let mut found: Vec<(i64, f64, bool)> =
        full.into_iter().map(|(place, score)| (place, score, true)).collect();
    if let Some(any) = expressions.any.as_ref().filter(|_| found.len() < request.limit) {
        let known: BTreeSet<i64> = found.iter().map(|(place, ..)| *place).collect();
        let others = best(connection, any, &selection, request.limit.saturating_add(known.len()))?;
        let others = others.into_iter().filter(|(place, _)| !known.contains(place));
        found.extend(others.map(|(place, score)| (place, score, false)));
        found.truncate(request.limit);
    }
    let mut reasons = Reasons { connection, terms: &expressions.terms, analyzer: Analyzer::default() };
    let mut hits = Vec::with_capacity(found.len());
    for (place, score, all_words) in found {
        let Some(row) = rows::row_at(connection, place)? else { continue };
        let reason = reasons.of(&row)?;
        hits.push(SearchHit { record: row.record, score, all_words, reason });
    }
    Ok(hits)
}

/// Finds out which terms of a query each part of a record holds.
struct Reasons<'a> {
    connection: &'a Connection,
    terms: &'a BTreeSet<String>,
    analyzer: Analyzer,
}

impl Reasons<'_> {
    fn of(&mut self, row: &RecordRow) -> Outcome<HitReason> {
        let summary = self.in_text(row.record.summary.as_deref().unwrap_or_default());
        let body = if row.record.size_bytes <= INLINE_BYTES as u64 {
            let content = rows::content(self.connection, row, Kept::Latest)?;
            self.in_text(&content.search_text())
        } else {
            self.in_table(row.number)?
        };
        Ok(HitReason { summary, body })
    }

    fn in_text(&mut self, text: &str) -> Vec<String> {
        let mut held = BTreeSet::new();
        self.analyzer.each_term(text, |term, _| {
            if let Some(term) = self.terms.get(term) {
                held.insert(term);
            }
        });
        held.into_iter().cloned().collect()
    }

    /// Asks the table, where the text is long.
    fn in_table(&self, place: i64) -> Outcome<Vec<String>> {
        let mut select = self
            .connection
            .prepare_cached("SELECT 1 FROM record_terms WHERE record_terms MATCH ?1 AND rowid = ?2")?;
        let mut held = Vec::new();
        for term in self.terms {
            let expression = format!("{{body}} : {}", quoted(term));
            if select.query_row((expression, place), |_| Ok(())).optional()?.is_some() {
                held.push(term.clone());
            }
        }
        Ok(held)
    }
}

#[async_trait]
impl TextSearch for SqliteBackend {
    async fn search(&self, request: &SearchRequest) -> Result<Vec<SearchHit>, Error> {
        let request = request.clone();
        self.read("searching records", move |connection| search(connection, &request)).await
    }
}
