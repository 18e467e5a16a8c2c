//! Search: what is asked and what comes back.

use briefing_analysis::{Analyzer, QueryTerm, TermKind};
use serde::{Deserialize, Serialize};

use crate::{RecordFilter, RecordRef};

/// How records are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// The best that the store has.
    #[default]
    Auto,
    /// By words.
    Keyword,
    /// By the meaning of an embedding.
    Vector,
    /// By words and meaning.
    Hybrid,
}

/// A search.
///
/// ```
/// use briefing_record_store::{RecordFilter, SearchRequest};
/// let request = SearchRequest::new("pump check").filter(RecordFilter::new().collection("notes")).limit(5);
/// assert_eq!(request.limit, 5);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchRequest {
    /// What is looked for, in any words; nothing in it is syntax. Of a query with more than 256 terms the first 256 count.
    pub query: String,
    /// Among which records.
    pub filter: RecordFilter,
    /// The most hits.
    pub limit: usize,
    /// How they are found.
    pub method: SearchMethod,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self { query: String::new(), filter: RecordFilter::new(), limit: 20, method: SearchMethod::default() }
    }
}

impl SearchRequest {
    /// The twenty best hits for a query among all records.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }

    /// Sets the filter.
    #[must_use]
    pub fn filter(mut self, filter: RecordFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the most hits.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the method.
    #[must_use]
    pub fn method(mut self, method: SearchMethod) -> Self {
        self.method = method;
        self
    }
}

/// The most terms of a query that are looked up.
const MAX_TERMS: usize = 256;

/// A word of a query by the terms that find it: as it stands, by any whole, or by all its parts.
#[derive(Debug, Default)]
pub(crate) struct QueryWord {
    pub(crate) wholes: Vec<String>,
    pub(crate) parts: Vec<String>,
}

/// The words of a query, in its order.
pub(crate) fn query_words(query: &str) -> Vec<QueryWord> {
    let mut terms = Analyzer::default().terms(query);
    terms.truncate(MAX_TERMS);
    terms.chunk_by(|one, next| one.group == next.group).map(QueryWord::new).collect()
}

impl QueryWord {
    /// Single characters do not find a word that has bigrams.
    fn new(terms: &[QueryTerm]) -> Self {
        let has_bigrams = terms.iter().any(|term| term.kind == TermKind::CjkBigram);
        let mut word = Self::default();
        for term in terms {
            match term.kind {
                TermKind::CjkChar if has_bigrams => {}
                TermKind::Whole => word.wholes.push(term.text.clone()),
                _ => word.parts.push(term.text.clone()),
            }
        }
        word
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = &String> {
        self.wholes.iter().chain(&self.parts)
    }
}

/// Why a record was found: the words of the query that each part of it holds, as they stand in the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitReason {
    /// Found in the summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// Found in the content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<String>,
}

/// A record that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The record.
    #[serde(flatten)]
    pub record: RecordRef,
    /// How well it fits; higher is better, and only comparable within one search. Records that hold every word of the
    /// query come before those that do not, whatever their scores.
    pub score: f64,
    /// Whether it holds every word of the query.
    pub all_words: bool,
    /// Why it was found.
    pub reason: HitReason,
}
