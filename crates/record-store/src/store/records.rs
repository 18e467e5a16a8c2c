//! Records, search and links, through the store's mode and view.

use briefing_core::RecordId;
use serde_json::Value;

use super::RecordStore;
use crate::content::check_depth;
use crate::{
    Error, Evidence, LinkFilter, ListRequest, NewLink, NewRecord, Record, RecordContentSegment, RecordFilter,
    RecordLink, RecordPage, RecordRef, RecordReference, SearchHit, SearchMethod, SearchRequest, Tombstone,
    Window,
};

impl RecordStore {
    /// Puts a record: a new one, or the next version of one that it names with [`if_version`](NewRecord::if_version).
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::VersionConflict`], [`Error::OutsideView`], [`Error::ReadOnly`], [`Error::Value`].
    pub async fn put(&self, record: NewRecord) -> Result<RecordRef, Error> {
        let mut put = self.put_many(vec![record]).await?;
        put.pop().ok_or(Error::Interrupted)
    }

    /// Puts records in one transaction: all of them, or none.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub async fn put_many(&self, records: Vec<NewRecord>) -> Result<Vec<RecordRef>, Error> {
        self.ensure_writable("put")?;
        let bound = records.into_iter().map(|record| self.view.bind(record)).collect::<Result<_, _>>()?;
        self.backend.records().put_many(&self.view, bound).await
    }

    /// A record with its content.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn get(&self, id: &RecordId) -> Result<Record, Error> {
        let found = self.get_many(std::slice::from_ref(id)).await?;
        found.into_iter().next().flatten().ok_or_else(|| Error::not_found("record", id))
    }

    /// The records with these ids, in this order, as they are at one moment; `None` for what is not in the view.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn get_many(&self, ids: &[RecordId]) -> Result<Vec<Option<Record>>, Error> {
        self.backend.records().get_many(&self.view, ids).await
    }

    /// What the store says about a record, without its content.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn describe(&self, id: &RecordId) -> Result<RecordRef, Error> {
        self.backend.records().describe(&self.view, id).await
    }

    /// The portable form of a reference to the record's latest version.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn ref_envelope(&self, id: &RecordId) -> Result<RecordReference, Error> {
        Ok(RecordReference::new(self.store_id(), &self.describe(id).await?))
    }

    /// A page of records.
    ///
    /// # Errors
    /// [`Error::OutsideView`], [`Error::Value`].
    pub async fn list(&self, request: &ListRequest) -> Result<RecordPage, Error> {
        request.validate()?;
        let filter = self.view.narrowed_by(&request.filter)?;
        self.backend.records().list(&ListRequest { filter, ..request.clone() }).await
    }

    /// How many records a filter means.
    ///
    /// # Errors
    /// [`Error::OutsideView`].
    pub async fn count(&self, filter: &RecordFilter) -> Result<u64, Error> {
        self.backend.records().count(&self.view.narrowed_by(filter)?).await
    }

    /// Deletes a record with all its versions and links, and leaves a tombstone; with a version, only if it has it. The bytes
    /// may stay in the database's file until their place is used again.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::VersionConflict`], [`Error::ReadOnly`].
    pub async fn delete(&self, id: &RecordId, if_version: Option<u64>) -> Result<Tombstone, Error> {
        self.ensure_writable("delete")?;
        self.backend.records().delete(&self.view, id, if_version).await
    }

    /// All versions of a record, the latest first.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn history(&self, id: &RecordId) -> Result<Vec<RecordRef>, Error> {
        self.backend.records().history(&self.view, id).await
    }

    /// A window of a record's content: offsets in chars for text and JSON, in bytes for bytes. Of a long content only what
    /// the window touches is read.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Value`] for a window of no length.
    pub async fn read_bounded(&self, id: &RecordId, window: Window) -> Result<RecordContentSegment, Error> {
        self.backend.records().read_bounded(&self.view, id, None, window.validate()?).await
    }

    /// A window of one version of a record's content.
    ///
    /// # Errors
    /// As [`read_bounded`](Self::read_bounded).
    pub async fn read_version(
        &self,
        id: &RecordId,
        version: u64,
        window: Window,
    ) -> Result<RecordContentSegment, Error> {
        self.backend.records().read_bounded(&self.view, id, Some(version), window.validate()?).await
    }

    /// Reads a record piece by piece, `chunk` chars or bytes at a time. All pieces are of the version that the record has now,
    /// whatever becomes of it meanwhile.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Value`] for a chunk of 0.
    pub async fn stream_read(&self, id: &RecordId, chunk: u64) -> Result<ContentStream, Error> {
        Window::new(0, chunk).validate()?;
        let record = self.describe(id).await?;
        Ok(ContentStream { store: self.clone(), record, chunk, offset: 0, ended: false })
    }

    /// The records that fit a query best.
    ///
    /// # Errors
    /// [`Error::OutsideView`]; [`Error::Unsupported`] for a method that the store does not have; [`Error::Value`].
    pub async fn search(&self, request: &SearchRequest) -> Result<Vec<SearchHit>, Error> {
        if let SearchMethod::Vector | SearchMethod::Hybrid = request.method {
            return Err(Error::Unsupported { ability: "search by embeddings" });
        }
        if request.limit == 0 {
            return Err(briefing_core::Error::invalid("limit", 0, "at least 1").into());
        }
        let filter = self.view.narrowed_by(&request.filter)?;
        self.text_search()?.search(&SearchRequest { filter, ..request.clone() }).await
    }

    /// Links two records.
    ///
    /// # Errors
    /// [`Error::NotFound`] for an end that is not in the view; [`Error::ReadOnly`], [`Error::Value`].
    pub async fn link(&self, link: NewLink) -> Result<RecordLink, Error> {
        let mut made = self.link_many(vec![link]).await?;
        made.pop().ok_or(Error::Interrupted)
    }

    /// Links records in one transaction.
    ///
    /// # Errors
    /// As [`link`](Self::link).
    pub async fn link_many(&self, links: Vec<NewLink>) -> Result<Vec<RecordLink>, Error> {
        self.ensure_writable("link")?;
        if links.iter().any(|link| link.relation.trim().is_empty()) {
            return Err(briefing_core::Error::Blank { field: "relation" }.into());
        }
        check_depth("meta", links.iter().flat_map(|link| link.meta.values()))?;
        self.links_port()?.link_many(&self.view, links).await
    }

    /// Links whose ends are both in the view, the earliest first.
    ///
    /// # Errors
    /// What the provider says where it fails.
    pub async fn links(&self, filter: &LinkFilter) -> Result<Vec<RecordLink>, Error> {
        self.links_port()?.links(&self.view, filter).await
    }

    /// Removes a link; says whether it was there.
    ///
    /// # Errors
    /// [`Error::ReadOnly`].
    pub async fn unlink(&self, id: &str) -> Result<bool, Error> {
        self.ensure_writable("unlink")?;
        self.links_port()?.unlink(&self.view, id).await
    }

    /// Links a claim to the record that is evidence for it (relation `evidence`), with where the evidence comes from.
    ///
    /// # Errors
    /// As [`link`](Self::link).
    pub async fn link_evidence(
        &self,
        claim: RecordId,
        evidence: RecordId,
        from: &Evidence,
    ) -> Result<RecordLink, Error> {
        let mut link = NewLink::new(claim, "evidence", evidence);
        if let Ok(Value::Object(facts)) = serde_json::to_value(from) {
            link.meta = facts;
        }
        self.link(link).await
    }
}

/// A content that is read piece by piece.
#[derive(Debug)]
pub struct ContentStream {
    store: RecordStore,
    record: RecordRef,
    chunk: u64,
    offset: u64,
    ended: bool,
}

impl ContentStream {
    /// The record that is read.
    #[must_use]
    pub fn record(&self) -> &RecordRef {
        &self.record
    }

    /// The next piece; `None` at the end. An empty content has one empty piece.
    ///
    /// # Errors
    /// [`Error::NotFound`] where the record was deleted meanwhile.
    pub async fn next(&mut self) -> Result<Option<RecordContentSegment>, Error> {
        if self.ended {
            return Ok(None);
        }
        let window = Window::new(self.offset, self.chunk);
        let segment = self.store.read_version(&self.record.id, self.record.version, window).await?;
        self.offset += segment.size;
        self.ended = segment.eof || segment.size == 0;
        Ok(Some(segment))
    }
}
