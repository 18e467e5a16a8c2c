//! The word index of one partition, on tantivy. Nothing of tantivy shows outside this file.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use briefing_analysis::{Analyzer, QueryTerm, TermKind};
use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy};
use tantivy::query::{BooleanQuery, BoostQuery, EmptyQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DocAddress, Index, IndexWriter, Searcher, TantivyDocument, Term};

use super::partition::Slot;

/// The name under which the analyser is registered.
const ANALYZER: &str = "briefing";
/// Threads that build a large index.
const BUILD_THREADS: usize = 2;
/// Memory that all build threads share, in bytes; more means fewer segments.
const BUILD_MEMORY: usize = 160 << 20;
/// Memory for bringing an index up to date, in bytes: tantivy's floor for one thread.
const UPDATE_MEMORY: usize = 15_000_000;
/// Segments with more documents are not merged when an index is brought up to date: an update costs what changed, not what
/// there is. Segments of updates are merged with one another, eight at a time.
const MERGED_DOCS: usize = 5_000;
/// A partition with more documents or bytes than this is built on disk by several threads.
const SMALL_DOCS: usize = 2_000;
const SMALL_BYTES: usize = 4 << 20;

/// How much a hit in a field counts. A name says more about content than a mention inside it.
const TITLE_BOOST: f32 = 2.0;
const PATH_BOOST: f32 = 1.5;
const SUMMARY_BOOST: f32 = 1.2;
const BODY_BOOST: f32 = 1.0;

/// How much a term counts by how it came out of the analysis: a whole word most; a part of an identifier less, since the
/// whole counts as well; one character of a longer run of CJK text hardly, since its bigrams count.
fn weight(term: &QueryTerm, group_size: usize) -> f32 {
    match term.kind {
        TermKind::Whole | TermKind::CjkBigram => 1.0,
        TermKind::Part => 0.6,
        TermKind::CjkChar if group_size > 1 => 0.2,
        TermKind::CjkChar => 1.0,
    }
}

/// The terms of a query by the word that they come from.
fn words(terms: &[QueryTerm]) -> BTreeMap<usize, Vec<&QueryTerm>> {
    let mut words: BTreeMap<usize, Vec<&QueryTerm>> = BTreeMap::new();
    for term in terms {
        words.entry(term.group).or_default().push(term);
    }
    words
}

/// What is indexed of one descriptor.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) slot: Slot,
    pub(crate) title: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    pub(crate) body: String,
}

impl Document {
    fn bytes(&self) -> usize {
        self.title.len() + self.path.len() + self.summary.len() + self.body.len()
    }
}

#[derive(Debug, Clone, Copy)]
struct Fields {
    slot: Field,
    title: Field,
    path: Field,
    summary: Field,
    body: Field,
}

impl Fields {
    fn document(&self, document: Document) -> TantivyDocument {
        let mut fields = TantivyDocument::new();
        fields.add_u64(self.slot, u64::from(document.slot));
        for (field, text) in [
            (self.title, document.title),
            (self.path, document.path),
            (self.summary, document.summary),
            (self.body, document.body),
        ] {
            if !text.is_empty() {
                fields.add_text(field, text);
            }
        }
        fields
    }
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing =
        TextFieldIndexing::default().set_tokenizer(ANALYZER).set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        slot: schema.add_u64_field("slot", INDEXED | FAST),
        title: schema.add_text_field("title", text.clone()),
        path: schema.add_text_field("path", text.clone()),
        summary: schema.add_text_field("summary", text.clone()),
        body: schema.add_text_field("body", text),
    };
    (schema.build(), fields)
}

fn register(index: &Index) {
    index.tokenizers().register(ANALYZER, TextAnalyzer::builder(Analyzer::default()).build());
}

/// Builds the word index of a partition: in one go while it is small, on disk with several threads once it is not.
pub(crate) struct LexicalBuilder {
    fields: Fields,
    schema: Schema,
    waiting: Vec<Document>,
    waiting_bytes: usize,
    large: Option<(Index, IndexWriter, tempfile::TempDir)>,
}

impl LexicalBuilder {
    pub(crate) fn new() -> Self {
        let (schema, fields) = schema();
        Self { fields, schema, waiting: Vec::new(), waiting_bytes: 0, large: None }
    }

    pub(crate) fn add(&mut self, document: Document) -> Result<(), LexicalError> {
        if let Some((_, writer, _)) = &self.large {
            writer.add_document(self.fields.document(document))?;
            return Ok(());
        }
        self.waiting_bytes += document.bytes();
        self.waiting.push(document);
        if self.waiting.len() > SMALL_DOCS || self.waiting_bytes > SMALL_BYTES {
            let folder = tempfile::Builder::new().prefix("briefing-index-").tempdir()?;
            let index = Index::create_in_dir(folder.path(), self.schema.clone())?;
            register(&index);
            let writer: IndexWriter = index.writer_with_num_threads(BUILD_THREADS, BUILD_MEMORY)?;
            writer.set_merge_policy(Box::new(NoMergePolicy));
            for document in self.waiting.drain(..) {
                writer.add_document(self.fields.document(document))?;
            }
            self.large = Some((index, writer, folder));
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Lexical, LexicalError> {
        let (index, folder) = match self.large {
            Some((index, mut writer, folder)) => {
                writer.commit()?;
                writer.wait_merging_threads()?;
                (index, Some(folder))
            }
            None => {
                let index = Index::create_in_ram(self.schema);
                register(&index);
                let mut writer: IndexWriter = index.writer_with_num_threads(1, UPDATE_MEMORY)?;
                for document in self.waiting {
                    writer.add_document(self.fields.document(document))?;
                }
                writer.commit()?;
                writer.wait_merging_threads()?;
                (index, None)
            }
        };
        Lexical::open(index, self.fields, folder.map(Arc::new))
    }
}

/// A failure of the engine underneath.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LexicalError {
    #[error("the word index failed: {0}")]
    Engine(#[from] tantivy::TantivyError),
    #[error("the word index found no room: {0}")]
    Io(#[from] std::io::Error),
}

/// A word index, at one moment.
pub(crate) struct Lexical {
    index: Index,
    fields: Fields,
    searcher: Searcher,
    /// The slots of each segment's documents. Opening such a column costs far more than looking a slot up in it.
    slots: Vec<Column<u64>>,
    /// Removes the index's files once the last partition that uses them is gone.
    folder: Option<Arc<tempfile::TempDir>>,
}

impl std::fmt::Debug for Lexical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lexical").field("documents", &self.searcher.num_docs()).finish_non_exhaustive()
    }
}

/// A hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) slot: Slot,
    pub(crate) score: f32,
}

/// Scores are compared at this grain, so that the order in which floats were added up cannot decide a tie.
const SCORE_GRAIN: f32 = 1024.0;

impl Lexical {
    fn open(
        index: Index,
        fields: Fields,
        folder: Option<Arc<tempfile::TempDir>>,
    ) -> Result<Self, LexicalError> {
        let searcher =
            index.reader_builder().reload_policy(tantivy::ReloadPolicy::Manual).try_into()?.searcher();
        let segments = searcher.segment_readers().iter();
        let slots = segments.map(|segment| segment.fast_fields().u64("slot")).collect::<Result<_, _>>()?;
        Ok(Self { index, fields, searcher, slots, folder })
    }

    /// A new index in which some documents are gone and others are new. This one stays as it is.
    pub(crate) fn updated(&self, gone: &[Slot], new: Vec<Document>) -> Result<Self, LexicalError> {
        let mut writer: IndexWriter = self.index.writer_with_num_threads(1, UPDATE_MEMORY)?;
        let mut merging = LogMergePolicy::default();
        merging.set_max_docs_before_merge(MERGED_DOCS);
        writer.set_merge_policy(Box::new(merging));
        for slot in gone {
            writer.delete_term(Term::from_field_u64(self.fields.slot, u64::from(*slot)));
        }
        for document in new {
            writer.add_document(self.fields.document(document))?;
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        Self::open(self.index.clone(), self.fields, self.folder.clone())
    }

    /// The best hits of any of the terms, at least `limit` of them if there are so many: ties at the border all come.
    pub(crate) fn any(
        &self,
        terms: &[QueryTerm],
        limit: usize,
        admitted: Option<&Arc<HashSet<Slot>>>,
    ) -> Result<Vec<Hit>, LexicalError> {
        let words = words(terms);
        let clauses = terms.iter().flat_map(|term| {
            let size = words.get(&term.group).map_or(0, Vec::len);
            self.fielded(&term.text, weight(term, size))
        });
        let query = BooleanQuery::new(clauses.collect());
        self.top(&query, limit, admitted)
    }

    /// Up to `limit` hits that hold every word of the query, whatever the field.
    pub(crate) fn all(
        &self,
        terms: &[QueryTerm],
        limit: usize,
        admitted: Option<&Arc<HashSet<Slot>>>,
    ) -> Result<Vec<Hit>, LexicalError> {
        let clauses: Vec<(Occur, Box<dyn Query>)> =
            words(terms).into_values().map(|word| (Occur::Must, self.word(&word))).collect();
        if clauses.is_empty() {
            return self.top(&EmptyQuery, limit, admitted);
        }
        let mut hits = self.top(&BooleanQuery::new(clauses), limit, admitted)?;
        hits.truncate(limit);
        Ok(hits)
    }

    /// What holds a word of the query: a run without spaces by all its pairs, any other word whole or by all its parts, so
    /// that `retry-limit` is found where `retry limit` is written.
    fn word(&self, terms: &[&QueryTerm]) -> Box<dyn Query> {
        let every = |kind| {
            let terms = terms.iter().filter(|term| term.kind == kind);
            let clauses: Vec<_> = terms.map(|term| (Occur::Must, self.anywhere(&term.text))).collect();
            (!clauses.is_empty()).then(|| Box::new(BooleanQuery::new(clauses)) as Box<dyn Query>)
        };
        if let Some(pairs) = every(TermKind::CjkBigram) {
            return pairs;
        }
        let either = [TermKind::Whole, TermKind::Part, TermKind::CjkChar].into_iter().filter_map(every);
        Box::new(BooleanQuery::new(either.map(|query| (Occur::Should, query)).collect()))
    }

    /// What holds a term in any field.
    fn anywhere(&self, term: &str) -> Box<dyn Query> {
        Box::new(BooleanQuery::new(self.fielded(term, 1.0).collect()))
    }

    /// A clause for each field that may hold a term, which counts by its weight and the field's.
    fn fielded(&self, text: &str, weight: f32) -> impl Iterator<Item = (Occur, Box<dyn Query>)> {
        let fields = [
            (self.fields.title, TITLE_BOOST),
            (self.fields.path, PATH_BOOST),
            (self.fields.summary, SUMMARY_BOOST),
            (self.fields.body, BODY_BOOST),
        ];
        fields
            .map(|(field, boost)| {
                let term = Term::from_field_text(field, text);
                let query = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                let query: Box<dyn Query> = Box::new(BoostQuery::new(query, weight * boost));
                (Occur::Should, query)
            })
            .into_iter()
    }

    fn top(
        &self,
        query: &dyn Query,
        limit: usize,
        admitted: Option<&Arc<HashSet<Slot>>>,
    ) -> Result<Vec<Hit>, LexicalError> {
        let documents = usize::try_from(self.searcher.num_docs()).unwrap_or(usize::MAX);
        let mut fetch = limit.saturating_add(64).min(documents);
        loop {
            if fetch == 0 {
                return Ok(Vec::new());
            }
            let top = TopDocs::with_limit(fetch).order_by_score();
            let found = match admitted {
                None => self.searcher.search(query, &top)?,
                Some(admitted) => {
                    let admitted = Arc::clone(admitted);
                    let admits =
                        move |slot: u64| Slot::try_from(slot).is_ok_and(|slot| admitted.contains(&slot));
                    self.searcher.search(query, &FilterCollector::new("slot".to_owned(), admits, top))?
                }
            };
            let hits = found.iter().map(|(score, address)| self.hit(*score, *address));
            let mut hits: Vec<Hit> = hits.collect();
            if hits.len() < fetch || fetch >= documents {
                return Ok(hits);
            }
            // The last score may go on beyond what was fetched: only what is strictly better is certain.
            let border = hits.last().map_or(0.0, |hit| hit.score);
            hits.retain(|hit| hit.score > border);
            if hits.len() >= limit {
                return Ok(hits);
            }
            fetch = fetch.saturating_mul(4).min(documents);
        }
    }

    fn hit(&self, score: f32, address: DocAddress) -> Hit {
        let column = self.slots.get(address.segment_ord as usize);
        let slot = column.and_then(|column| column.first(address.doc_id));
        let slot = slot.and_then(|slot| Slot::try_from(slot).ok()).unwrap_or(Slot::MAX);
        Hit { slot, score: (score * SCORE_GRAIN).round() / SCORE_GRAIN }
    }
}
