//! The memory of a session: small records that are remembered, recalled, superseded and forgotten.

use briefing_core::RecordId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Error, ListRequest, NewRecord, Record, RecordContent, RecordFilter, RecordRef, RecordStore,
    SearchRequest, Tombstone,
};

/// The collection of all memories.
pub const MEMORY_COLLECTION: &str = "memory";

const SESSION_KIND: &str = "session_memory";
const GLOBAL_KIND: &str = "global_memory";
const SESSION_KEY: &str = "session_id";

/// The tag of a memory that is in force; one that was superseded loses it.
const CURRENT: &str = "current";

/// For whom a memory is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// For one session.
    #[default]
    Session,
    /// For all sessions.
    Global,
}

/// Something to remember.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// For whom it is.
    pub scope: MemoryScope,
    /// What is remembered.
    pub content: RecordContent,
    /// One line about it.
    pub summary: Option<String>,
    /// Where it comes from.
    pub source: briefing_core::Metadata,
    /// Tags to recall it by.
    pub tags: Vec<String>,
}

impl NewMemory {
    /// Something to remember in the session.
    #[must_use]
    pub fn new(content: impl Into<RecordContent>) -> Self {
        Self {
            scope: MemoryScope::Session,
            content: content.into(),
            summary: None,
            source: briefing_core::Metadata::new(),
            tags: Vec::new(),
        }
    }

    /// Remembers it for all sessions.
    #[must_use]
    pub fn global(mut self) -> Self {
        self.scope = MemoryScope::Global;
        self
    }

    /// Sets one line about it.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Sets one fact about where it comes from.
    #[must_use]
    pub fn source(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.source.insert(key.into(), value.into());
        self
    }

    /// Adds a tag to recall it by.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }
}

/// What to recall.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// What is looked for; blank is the latest memories.
    pub query: String,
    /// Of the session, of all sessions, or (`None`) of both.
    pub scope: Option<MemoryScope>,
    /// Only memories with all these tags.
    pub tags: Vec<String>,
    /// The most memories.
    pub limit: usize,
}

impl Recall {
    /// The ten memories that fit a query best.
    #[must_use]
    pub fn query(query: impl Into<String>) -> Self {
        Self { query: query.into(), scope: None, tags: Vec::new(), limit: 10 }
    }

    /// The latest memories.
    #[must_use]
    pub fn latest(limit: usize) -> Self {
        Self { limit, ..Self::query("") }
    }

    /// Only of the session, or only of all sessions.
    #[must_use]
    pub fn scope(mut self, scope: MemoryScope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Asks for a tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Sets the most memories.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// The memory of one session over a store, or over a view of it.
///
/// ```
/// use briefing_record_store::{StoreMode, NewMemory, Recall, RecordStore, SessionMemory};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_record_store::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let root = folder.path();
/// let store = RecordStore::open(root, StoreMode::ReadWrite).await?;
/// let memory = SessionMemory::new(&store, "session-1")?;
/// let old = memory.remember(NewMemory::new("The user prefers metric units.")).await?;
/// memory.supersede(&old.id, NewMemory::new("The user prefers imperial units.")).await?;
/// let recalled = memory.recall(&Recall::query("which units")).await?;
/// assert_eq!(recalled.len(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct SessionMemory {
    base: RecordStore,
    session: RecordStore,
    global: RecordStore,
    session_id: String,
}

impl SessionMemory {
    /// The memory of a session.
    ///
    /// # Errors
    /// [`Error::Value`] for a blank session; [`Error::OutsideView`] where the store's view holds no memories.
    pub fn new(store: &RecordStore, session_id: impl Into<String>) -> Result<Self, Error> {
        let session_id = session_id.into();
        if session_id.trim().is_empty() {
            return Err(briefing_core::Error::Blank { field: "session_id" }.into());
        }
        let memory = RecordFilter::new().collection(MEMORY_COLLECTION);
        let session = memory.clone().kind(SESSION_KIND).scope(SESSION_KEY, session_id.as_str());
        Ok(Self {
            base: store.clone(),
            session: store.view(&session)?,
            global: store.view(&memory.kind(GLOBAL_KIND))?,
            session_id,
        })
    }

    /// The session.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// The id of the store that keeps it.
    #[must_use]
    pub fn store_id(&self) -> &str {
        self.session.store_id()
    }

    /// The bounds of the view of the store that it is over.
    #[must_use]
    pub fn bounds(&self) -> &RecordFilter {
        self.base.bounds()
    }

    /// Remembers something.
    ///
    /// # Errors
    /// As [`RecordStore::put`].
    pub async fn remember(&self, memory: NewMemory) -> Result<RecordRef, Error> {
        self.store_of(memory.scope).put(record(memory)).await
    }

    /// Recalls memories that are in force: those that fit the query best, or the latest.
    ///
    /// # Errors
    /// As [`RecordStore::search`].
    pub async fn recall(&self, recall: &Recall) -> Result<Vec<Record>, Error> {
        let stores: Vec<&RecordStore> = match recall.scope {
            Some(scope) => vec![self.store_of(scope)],
            None => vec![&self.session, &self.global],
        };
        let mut filter = RecordFilter::new().tag(CURRENT);
        filter.tags.extend(recall.tags.iter().cloned());
        let mut found: Vec<(bool, f64, RecordRef)> = Vec::new();
        for store in &stores {
            if recall.query.trim().is_empty() {
                let page = store.list(&ListRequest::of(filter.clone()).limit(recall.limit)).await?;
                found.extend(page.records.into_iter().map(|record| (true, 0.0, record)));
            } else {
                let request = SearchRequest::new(&recall.query).filter(filter.clone()).limit(recall.limit);
                let hits = store.search(&request).await?;
                found.extend(hits.into_iter().map(|hit| (hit.all_words, hit.score, hit.record)));
            }
        }
        found.sort_by(|(all, score, record), (other_all, other_score, other)| {
            let fit = other_all.cmp(all).then(other_score.total_cmp(score));
            fit.then(other.updated_at_millis.cmp(&record.updated_at_millis)).then(other.id.cmp(&record.id))
        });
        found.truncate(recall.limit);
        let mut memories = Vec::with_capacity(found.len());
        for (_, _, record) in found {
            let is_global = record.kind.as_deref() == Some(GLOBAL_KIND);
            let store = if is_global { &self.global } else { &self.session };
            match store.get(&record.id).await {
                Ok(memory) => memories.push(memory),
                // It was forgotten between the search and now.
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(memories)
    }

    /// Forgets a memory: its content and all earlier versions are not to be had from the store any more. The bytes may stay in
    /// the database's file until their place is used again.
    ///
    /// # Errors
    /// [`Error::NotFound`] for what is no memory of this session or of all, [`Error::ReadOnly`].
    pub async fn forget(&self, id: &RecordId) -> Result<Tombstone, Error> {
        match self.session.delete(id, None).await {
            Err(Error::NotFound { .. }) => self.global.delete(id, None).await,
            other => other,
        }
    }

    /// Puts a memory in the place of another, which stays in the store but is not recalled any more. The new one says which
    /// it supersedes (`source.supersedes`), the old one by which it was superseded (`meta.superseded_by`). Both are written
    /// in one transaction, under the scope of the old one.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::VersionConflict`] where the old one changed meanwhile; [`Error::ReadOnly`];
    /// [`Error::Value`] where the old one was superseded already.
    pub async fn supersede(&self, id: &RecordId, by: NewMemory) -> Result<RecordRef, Error> {
        let (store, old) = match self.session.get(id).await {
            Ok(old) => (&self.session, old),
            Err(Error::NotFound { .. }) => (&self.global, self.global.get(id).await?),
            Err(error) => return Err(error),
        };
        if !old.record.tags.iter().any(|tag| tag == CURRENT) {
            let expected = "a memory that is in force";
            return Err(briefing_core::Error::invalid("memory", id, expected).into());
        }
        let new_id = RecordId::new(format!("{id}-{}", old.record.version + 1))?;
        let mut retired = NewRecord::update(&old.record, old.content).meta("superseded_by", new_id.as_str());
        retired.tags.retain(|tag| tag != CURRENT);
        let new = record(by).id(new_id).source("supersedes", id.as_str());
        let mut put = store.put_many(vec![retired, new]).await?;
        put.pop().ok_or(Error::Interrupted)
    }

    /// The records of this memory that are in force, as views: of the session and of all sessions.
    pub(crate) fn views(&self) -> Result<[RecordStore; 2], Error> {
        let current = RecordFilter::new().tag(CURRENT);
        Ok([self.session.view(&current)?, self.global.view(&current)?])
    }

    fn store_of(&self, scope: MemoryScope) -> &RecordStore {
        match scope {
            MemoryScope::Session => &self.session,
            MemoryScope::Global => &self.global,
        }
    }
}

fn record(memory: NewMemory) -> NewRecord {
    let mut record = NewRecord::new(MEMORY_COLLECTION, memory.content).tag(CURRENT);
    record.summary = memory.summary;
    record.source = memory.source;
    record.tags.extend(memory.tags);
    record
}
