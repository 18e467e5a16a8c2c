//! Search by words: BM25 over all records, which are analysed anew for each search.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use briefing_analysis::Analyzer;

use super::MemoryBackend;
use super::records::{Version, check_bounds};
use crate::port::TextSearch;
use crate::search::query_words;
use crate::{Error, HitReason, SearchHit, SearchRequest};

/// How much more a word says in a summary than in a body.
const SUMMARY_WEIGHT: f64 = 2.0;

/// How soon a repeated word says nothing more.
const K1: f64 = 1.2;

/// How much a long text is held against its words.
const B: f64 = 0.75;

/// What a word that is nearly everywhere is still worth.
const LEAST_IDF: f64 = 1e-6;

/// The words of a query. Terms are named by their places in `terms`.
struct Query {
    terms: Vec<String>,
    words: Vec<Word>,
}

/// A [`QueryWord`](crate::search::QueryWord) by the places of its terms.
struct Word {
    wholes: Vec<usize>,
    parts: Vec<usize>,
}

impl Query {
    fn new(query: &str) -> Self {
        let mut terms = Vec::new();
        let mut place = |found: Vec<String>| -> Vec<usize> {
            let first = terms.len();
            terms.extend(found);
            (first..terms.len()).collect()
        };
        let words = query_words(query).into_iter();
        let words = words.map(|word| Word { wholes: place(word.wholes), parts: place(word.parts) });
        let words = words.collect();
        Self { terms, words }
    }
}

impl Word {
    fn is_in(&self, counted: &Counted) -> bool {
        self.wholes.iter().any(|at| counted.has(*at))
            || (!self.parts.is_empty() && self.parts.iter().all(|at| counted.has(*at)))
    }
}

/// How often the terms of a query occur in a record, and how many terms it has.
struct Counted {
    summary: Vec<u32>,
    body: Vec<u32>,
    length: u64,
}

impl Counted {
    fn new(version: &Version, query: &Query, analyzer: &mut Analyzer) -> Result<Self, Error> {
        let places: HashMap<&str, usize> =
            query.terms.iter().enumerate().map(|(at, term)| (term.as_str(), at)).collect();
        let mut length = 0;
        let mut count = |text: &str| {
            let mut counts = vec![0; query.terms.len()];
            analyzer.each_term(text, |term, _| {
                length += 1;
                if let Some(count) = places.get(term).and_then(|at| counts.get_mut(*at)) {
                    *count += 1;
                }
            });
            counts
        };
        let summary = count(version.record.summary.as_deref().unwrap_or_default());
        let body = count(&version.content()?.search_text());
        Ok(Self { summary, body, length })
    }

    fn of(counts: &[u32], at: usize) -> u32 {
        counts.get(at).copied().unwrap_or_default()
    }

    fn has(&self, at: usize) -> bool {
        Self::of(&self.summary, at) > 0 || Self::of(&self.body, at) > 0
    }

    fn weight(&self, at: usize) -> f64 {
        SUMMARY_WEIGHT * f64::from(Self::of(&self.summary, at)) + f64::from(Self::of(&self.body, at))
    }

    fn reason(&self, query: &Query) -> HitReason {
        let held = |counts: &[u32]| {
            let held = query.terms.iter().zip(counts).filter(|(_, count)| **count > 0);
            let held: BTreeSet<&String> = held.map(|(term, _)| term).collect();
            held.into_iter().cloned().collect()
        };
        HitReason { summary: held(&self.summary), body: held(&self.body) }
    }
}

/// The figures of a whole store that BM25 needs.
struct Corpus {
    mean_length: f64,
    /// What each term is worth.
    idf: Vec<(usize, f64)>,
}

impl Corpus {
    // A store that fits into memory holds fewer terms than a float counts exactly.
    #[allow(clippy::cast_precision_loss)]
    fn new(counted: &[Counted], query: &Query) -> Self {
        let records = counted.len() as f64;
        let length: u64 = counted.iter().map(|counted| counted.length).sum();
        let idf = (0..query.terms.len()).map(|at| {
            let holding = counted.iter().filter(|counted| counted.has(at)).count() as f64;
            let idf = ((records - holding + 0.5) / (holding + 0.5)).ln();
            (at, if idf > 0.0 { idf } else { LEAST_IDF })
        });
        Self { mean_length: length as f64 / records, idf: idf.collect() }
    }

    #[allow(clippy::cast_precision_loss)]
    fn score(&self, counted: &Counted) -> f64 {
        let length = K1 * (1.0 - B + B * counted.length as f64 / self.mean_length);
        let of = |(at, idf): &(usize, f64)| {
            let weight = counted.weight(*at);
            if weight > 0.0 { idf * weight * (K1 + 1.0) / (weight + length) } else { 0.0 }
        };
        self.idf.iter().map(of).sum()
    }
}

/// Searches all records, which come in the order in which they were put.
fn search(records: &[Arc<Version>], request: &SearchRequest) -> Result<Vec<SearchHit>, Error> {
    let query = Query::new(&request.query);
    if query.words.is_empty() {
        return Ok(Vec::new());
    }
    let mut analyzer = Analyzer::default();
    let counted: Vec<Counted> = records
        .iter()
        .map(|version| Counted::new(version, &query, &mut analyzer))
        .collect::<Result<_, _>>()?;
    let corpus = Corpus::new(&counted, &query);
    let mut hits = Vec::new();
    for (version, counted) in records.iter().zip(&counted) {
        let found = (0..query.terms.len()).any(|at| counted.has(at));
        if !found || !request.filter.admits(&version.record) {
            continue;
        }
        hits.push(SearchHit {
            record: version.record.clone(),
            score: corpus.score(counted),
            all_words: query.words.iter().all(|word| word.is_in(counted)),
            reason: counted.reason(&query),
        });
    }
    // The sort is stable: of equals the earliest put stays first.
    hits.sort_by(|one, other| {
        other.all_words.cmp(&one.all_words).then_with(|| other.score.total_cmp(&one.score))
    });
    hits.truncate(request.limit);
    Ok(hits)
}

#[async_trait]
impl TextSearch for MemoryBackend {
    async fn search(&self, request: &SearchRequest) -> Result<Vec<SearchHit>, Error> {
        check_bounds(&request.filter)?;
        let request = request.clone();
        let records: Vec<Arc<Version>> =
            self.state().records.values().map(|living| Arc::clone(&living.latest)).collect();
        let found = tokio::task::spawn_blocking(move || search(&records, &request)).await;
        found.map_err(|_| Error::Interrupted)?
    }
}
