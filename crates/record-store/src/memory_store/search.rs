//! Search by words: BM25 over all records, which are analysed anew for each search.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use briefing_analysis::{Analyzer, QueryTerm, TermKind};

use super::MemoryBackend;
use super::records::{Version, check_bounds};
use crate::port::TextSearch;
use crate::search::query_terms;
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
    terms: Vec<QueryTerm>,
    words: Vec<Word>,
}

/// A word is found as it stands, by any whole, or by all its parts.
#[derive(Default)]
struct Word {
    wholes: Vec<usize>,
    parts: Vec<usize>,
}

impl Query {
    fn new(query: &str) -> Self {
        let terms = query_terms(query);
        let mut groups: Vec<Vec<(usize, &QueryTerm)>> = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            match groups.last_mut().filter(|group| group.iter().any(|(_, other)| other.group == term.group)) {
                Some(group) => group.push((at, term)),
                None => groups.push(vec![(at, term)]),
            }
        }
        let words = groups.iter().map(|group| Word::new(group)).collect();
        Self { terms, words }
    }

    /// The terms that find a record and are weighed.
    fn weighty(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().flat_map(|word| word.wholes.iter().chain(&word.parts)).copied()
    }
}

impl Word {
    /// Single characters do not find a word that has bigrams.
    fn new(group: &[(usize, &QueryTerm)]) -> Self {
        let has_bigrams = group.iter().any(|(_, term)| term.kind == TermKind::CjkBigram);
        let mut word = Self::default();
        for (at, term) in group {
            match term.kind {
                TermKind::CjkChar if has_bigrams => {}
                TermKind::Whole => word.wholes.push(*at),
                _ => word.parts.push(*at),
            }
        }
        word
    }

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
            query.terms.iter().enumerate().map(|(at, term)| (term.text.as_str(), at)).collect();
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
            let held = query.weighty().filter(|at| counts.get(*at).is_some_and(|count| *count > 0));
            let held: BTreeSet<&str> =
                held.filter_map(|at| query.terms.get(at)).map(|term| term.text.as_str()).collect();
            held.into_iter().map(str::to_owned).collect()
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
        let idf = query.weighty().map(|at| {
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
        let found = query.weighty().any(|at| counted.has(at));
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
