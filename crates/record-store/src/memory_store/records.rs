//! Records: putting, reading, listing, deleting.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::{Digest, Environment, RecordId};

use super::{MemoryBackend, State, damaged, in_range};
use crate::content::{Cut, cut};
use crate::filter::Labels;
use crate::port::Records;
use crate::{
    ContentFormat, Error, ListRequest, NewRecord, Order, Record, RecordContent, RecordContentSegment,
    RecordCursor, RecordFilter, RecordPage, RecordRef, Tombstone, Window,
};

/// One version of a record, with its content as a database would keep it.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) record: RecordRef,
    pub(super) stored: Vec<u8>,
}

/// A record with all its versions.
#[derive(Debug, Clone)]
pub(super) struct Living {
    pub(super) latest: Arc<Version>,
    /// The change that wrote the latest version.
    pub(super) changed: u64,
    pub(super) earlier: BTreeMap<u64, Arc<Version>>,
}

/// What is left of a record.
#[derive(Debug)]
pub(super) struct Buried {
    pub(super) tombstone: Tombstone,
    /// The change that deleted it.
    pub(super) changed: u64,
}

/// The times and the version of what is written.
struct Stamp {
    version: u64,
    created_at_millis: u64,
    updated_at_millis: u64,
}

impl Version {
    fn new(id: RecordId, new: NewRecord, stamp: &Stamp) -> Self {
        let format = new.content.format();
        let stored = new.content.into_stored();
        let size_chars = (format != ContentFormat::Bytes)
            .then(|| stored.iter().filter(|byte| *byte & 0xC0 != 0x80).count() as u64);
        let record = RecordRef {
            id,
            version: stamp.version,
            collection: new.collection,
            kind: new.kind,
            path: new.path,
            format,
            digest: Digest::of(&stored),
            size_bytes: stored.len() as u64,
            size_chars,
            summary: new.summary,
            scope: new.scope,
            source: new.source,
            tags: new.tags,
            meta: new.meta,
            created_at_millis: stamp.created_at_millis,
            updated_at_millis: stamp.updated_at_millis,
        };
        Self { record, stored }
    }

    /// A version as an import brings it.
    fn imported(record: &RecordRef, content: RecordContent) -> Result<Self, Error> {
        let stamp = Stamp {
            version: in_range(record.version)?,
            created_at_millis: in_range(record.created_at_millis)?,
            updated_at_millis: in_range(record.updated_at_millis)?,
        };
        Ok(Self::new(record.id.clone(), NewRecord::update(record, content), &stamp))
    }

    pub(super) fn content(&self) -> Result<RecordContent, Error> {
        RecordContent::from_stored(self.record.format, self.stored.clone())
            .map_err(|detail| damaged(&self.record.id, &detail))
    }

    pub(super) fn whole(&self) -> Result<Record, Error> {
        Ok(Record { record: self.record.clone(), content: self.content()? })
    }

    pub(super) fn window(&self, window: Window) -> Result<Cut, Error> {
        cut(self.record.format, self.stored.clone(), 0, window)
            .map_err(|detail| damaged(&self.record.id, &detail))
    }

    pub(super) fn segment(&self, window: Window) -> Result<RecordContentSegment, Error> {
        Ok(RecordContentSegment::new(self.record.clone(), self.window(window)?))
    }

    fn labels(&self) -> Arc<[String]> {
        Labels::from(&self.record).texts().into()
    }
}

impl State {
    /// The records that a filter means, after a place.
    pub(super) fn admitted<'a>(
        &'a self,
        filter: &'a RecordFilter,
        order: Order,
        after: Option<u64>,
    ) -> Box<dyn Iterator<Item = (u64, &'a Living)> + 'a> {
        let admitted = |(place, living): (&u64, &'a Arc<Living>)| {
            filter.admits(&living.latest.record).then_some((*place, &**living))
        };
        match order {
            Order::Newest => {
                let before = after.map_or(Bound::Unbounded, Bound::Excluded);
                Box::new(self.records.range((Bound::Unbounded, before)).rev().filter_map(admitted))
            }
            Order::Oldest => {
                let after = after.map_or(Bound::Unbounded, Bound::Excluded);
                Box::new(self.records.range((after, Bound::Unbounded)).filter_map(admitted))
            }
        }
    }

    /// Puts one record: a new one, or the next version of one that is there. It checks before it changes anything.
    fn put(
        &mut self,
        view: &RecordFilter,
        new: NewRecord,
        environment: &dyn Environment,
    ) -> Result<RecordRef, Error> {
        let now = environment.now_unix_millis();
        let expected = new.if_version.filter(|version| *version > 0);
        let id = match &new.id {
            Some(id) => id.clone(),
            None => RecordId::new(environment.new_id("rec"))?,
        };
        let Some((place, existing)) = self.find(&id) else {
            if let Some(expected) = expected {
                return Err(Error::VersionConflict { id, expected, actual: None });
            }
            let version = self.last_version(&id) + 1;
            let stamp = Stamp { version, created_at_millis: now, updated_at_millis: now };
            return Ok(self.insert(Version::new(id, new, &stamp)));
        };
        let old = &existing.latest.record;
        let version = old.version;
        if !view.admits(old) {
            return Err(match expected {
                Some(expected) => Error::VersionConflict { id, expected, actual: None },
                None => Error::OutsideView { asked: format!("record {id}"), view: "other bounds".to_owned() },
            });
        }
        match expected {
            None => return Err(Error::Exists { id, version }),
            Some(expected) if expected != version => {
                return Err(Error::VersionConflict { id, expected, actual: Some(version) });
            }
            Some(_) => {}
        }
        let stamp =
            Stamp { version: version + 1, created_at_millis: old.created_at_millis, updated_at_millis: now };
        Ok(self.update(place, Version::new(id, new, &stamp)))
    }

    /// The last version of a record that was deleted; 0 where there was none.
    fn last_version(&self, id: &RecordId) -> u64 {
        let graves = self.graves.get(id).into_iter().flatten();
        let buried = graves.filter_map(|place| self.tombstones.get(place));
        buried.map(|buried| buried.tombstone.version).max().unwrap_or_default()
    }

    fn insert(&mut self, version: Version) -> RecordRef {
        let record = version.record.clone();
        let changed = self.log.add(None, Arc::default(), version.labels());
        let living = Living { latest: Arc::new(version), changed, earlier: BTreeMap::new() };
        self.places.insert(record.id.clone(), changed);
        self.records.insert(changed, Arc::new(living));
        record
    }

    fn update(&mut self, place: u64, version: Version) -> RecordRef {
        let record = version.record.clone();
        if let Some(living) = self.records.get_mut(&place) {
            let living = Arc::make_mut(living);
            living.changed = self.log.add(Some(place), living.latest.labels(), version.labels());
            let old = std::mem::replace(&mut living.latest, Arc::new(version));
            living.earlier.insert(old.record.version, old);
        }
        record
    }

    /// A record that an import brings, as it was.
    pub(super) fn restore(&mut self, record: &RecordRef, content: RecordContent) -> Result<(), Error> {
        let version = Version::imported(record, content)?;
        if let Some((_, existing)) = self.find(&record.id) {
            let version = existing.latest.record.version;
            return Err(Error::Exists { id: record.id.clone(), version });
        }
        self.insert(version);
        Ok(())
    }

    /// An earlier version that an import brings; says whether it was not there yet.
    pub(super) fn restore_version(
        &mut self,
        record: &RecordRef,
        content: RecordContent,
    ) -> Result<bool, Error> {
        let version = Version::imported(record, content)?;
        let place = self.places.get(&record.id).copied();
        let living = place.and_then(|place| self.records.get_mut(&place));
        let Some(living) = living else { return Err(Error::not_found("record", &record.id)) };
        let old = Arc::make_mut(living).earlier.insert(record.version, Arc::new(version));
        // As in a database, where the number names what is kept; to no view is it a change.
        self.log.add(place, Arc::default(), Arc::default());
        Ok(old.is_none())
    }

    /// A tombstone in the place of the record that it stands for; one that an import brings gets a place of its own.
    pub(super) fn bury(&mut self, place: u64, changed: u64, tombstone: Tombstone) {
        self.graves.entry(tombstone.id.clone()).or_default().push(place);
        self.tombstones.insert(place, Arc::new(Buried { tombstone, changed }));
    }

    fn delete(
        &mut self,
        view: &RecordFilter,
        id: &RecordId,
        if_version: Option<u64>,
        now: u64,
    ) -> Result<Tombstone, Error> {
        let (place, living) = self.seen(view, id)?;
        let latest = Arc::clone(&living.latest);
        let record = latest.record.clone();
        if let Some(expected) = if_version.filter(|expected| *expected != record.version) {
            return Err(Error::VersionConflict { id: id.clone(), expected, actual: Some(record.version) });
        }
        self.records.remove(&place);
        self.places.remove(id);
        self.links.retain(|link| link.source != *id && link.target != *id);
        let changed = self.log.add(Some(place), latest.labels(), Arc::default());
        let tombstone = Tombstone {
            id: record.id,
            version: record.version,
            collection: record.collection,
            kind: record.kind,
            scope: record.scope,
            tags: record.tags,
            digest: record.digest,
            deleted_at_millis: now,
        };
        self.bury(place, changed, tombstone.clone());
        Ok(tombstone)
    }
}

/// Refuses bounds of time that a database could not keep.
pub(super) fn check_bounds(filter: &RecordFilter) -> Result<(), Error> {
    for bound in [filter.created_from_millis, filter.created_before_millis].into_iter().flatten() {
        in_range(bound)?;
    }
    Ok(())
}

#[async_trait]
impl Records for MemoryBackend {
    async fn put_many(&self, view: &RecordFilter, records: Vec<NewRecord>) -> Result<Vec<RecordRef>, Error> {
        let mut state = self.state();
        if records.len() <= 1 {
            // One record needs no copy: nothing is changed before all is checked.
            return records.into_iter().map(|record| state.put(view, record, &*self.environment)).collect();
        }
        let mut draft = state.clone();
        let put: Result<_, _> =
            records.into_iter().map(|record| draft.put(view, record, &*self.environment)).collect();
        if put.is_ok() {
            *state = draft;
        }
        put
    }

    async fn get_many(&self, view: &RecordFilter, ids: &[RecordId]) -> Result<Vec<Option<Record>>, Error> {
        let state = self.state();
        let one = |id: &RecordId| state.seen(view, id).ok().map(|(_, living)| living.latest.whole());
        ids.iter().map(|id| one(id).transpose()).collect()
    }

    async fn describe(&self, view: &RecordFilter, id: &RecordId) -> Result<RecordRef, Error> {
        Ok(self.state().seen(view, id)?.1.latest.record.clone())
    }

    async fn list(&self, request: &ListRequest) -> Result<RecordPage, Error> {
        check_bounds(&request.filter)?;
        let after = request.after.map(|after| in_range(after.place())).transpose()?;
        let state = self.state();
        let mut found = state.admitted(&request.filter, request.order, after);
        let page: Vec<(u64, &Living)> = found.by_ref().take(request.limit).collect();
        let more = found.next().is_some();
        let next = page.last().filter(|_| more).map(|(place, _)| RecordCursor::at(*place));
        let records = page.into_iter().map(|(_, living)| living.latest.record.clone()).collect();
        Ok(RecordPage { records, next })
    }

    async fn count(&self, filter: &RecordFilter) -> Result<u64, Error> {
        check_bounds(filter)?;
        Ok(self.state().admitted(filter, Order::Oldest, None).count() as u64)
    }

    async fn delete(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        if_version: Option<u64>,
    ) -> Result<Tombstone, Error> {
        let now = self.environment.now_unix_millis();
        self.state().delete(view, id, if_version, now)
    }

    async fn history(&self, view: &RecordFilter, id: &RecordId) -> Result<Vec<RecordRef>, Error> {
        let state = self.state();
        let (_, living) = state.seen(view, id)?;
        let versions = std::iter::once(&living.latest).chain(living.earlier.values().rev());
        // An earlier version may have belonged to somebody else.
        let seen = versions.map(|version| &version.record).filter(|record| view.admits(record));
        Ok(seen.cloned().collect())
    }

    async fn read_bounded(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        version: Option<u64>,
        window: Window,
    ) -> Result<RecordContentSegment, Error> {
        let found = {
            let state = self.state();
            let (_, living) = state.seen(view, id)?;
            match version.filter(|version| *version != living.latest.record.version) {
                None => Arc::clone(&living.latest),
                Some(version) => living
                    .earlier
                    .get(&in_range(version)?)
                    .filter(|found| view.admits(&found.record))
                    .cloned()
                    .ok_or_else(|| Error::not_found("version", format!("{id} v{version}")))?,
            }
        };
        found.segment(window)
    }
}
