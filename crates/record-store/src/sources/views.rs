//! Views of a store as a source of context: what the sources over records and over a session's memory share.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use briefing_core::{
    Completeness, ContextDiagnostic, Cursor, DescriptorPage, Fingerprint, ReadRequest, RecordId, Revision,
    SourceChange, SourceChangeSet, SourceDescriptor, SourceError, SourceErrorKind, SourceId, SourceKind,
    SourceRead, SourceRef,
};

use super::describe::{self, Describer};
use super::options::RecordSourceOptions;
use crate::port::{ViewChange, ViewState, ViewedRecord};
use crate::{ContentFormat, Error, RecordCursor, RecordStore, Window};

/// How many revisions are remembered whose listing this source has given or brought up to date.
const KNOWN_REVISIONS: usize = 64;

#[derive(Debug)]
pub(super) struct Views {
    pub(super) source_id: SourceId,
    pub(super) source_kind: SourceKind,
    /// Views of one store whose records do not overlap.
    pub(super) stores: Vec<RecordStore>,
    pub(super) options: RecordSourceOptions,
    /// Tells these views from others in a revision.
    print: String,
    listed: Mutex<Listed>,
    /// The record at which the last page was cut, so that the next one does not describe it again.
    cut: Mutex<Option<Cut>>,
}

/// A record with more descriptors than a page had room for.
#[derive(Debug)]
struct Cut {
    revision: Revision,
    view: usize,
    after: Option<RecordCursor>,
    described: Described,
}

/// What this source has told about its records.
#[derive(Debug, Default)]
struct Listed {
    /// Revisions of which whoever asks for changes may hold the listing.
    revisions: VecDeque<Revision>,
    /// The most passages that a record was ever listed with, for those that had any: they have to be removed with it.
    passages: HashMap<(usize, RecordCursor), usize>,
}

impl Views {
    pub(super) fn new(
        kind: &str,
        stores: Vec<RecordStore>,
        options: RecordSourceOptions,
    ) -> Result<Self, Error> {
        let mut print = Fingerprint::new("briefing.record_views/1");
        for store in &stores {
            store.changes()?;
            print.text(store.store_id()).json(store.bounds());
        }
        let print = print.finish().short();
        let source_id = match &options.source_id {
            Some(id) => SourceId::new(id)?,
            None => SourceId::new(format!("{kind}:{print}"))?,
        };
        Ok(Self {
            source_id,
            source_kind: SourceKind::new(kind)?,
            stores,
            options,
            print,
            listed: Mutex::default(),
            cut: Mutex::default(),
        })
    }

    pub(super) async fn revision(&self) -> Result<Revision, SourceError> {
        let mut states = Vec::with_capacity(self.stores.len());
        for store in &self.stores {
            states.push(store.changes()?.state(store.bounds()).await?);
        }
        self.revision_of(&states)
    }

    fn revision_of(&self, states: &[ViewState]) -> Result<Revision, SourceError> {
        let states: Vec<String> = states.iter().map(|state| state.0.to_string()).collect();
        Ok(Revision::new(format!("{}:{}", self.print, states.join(".")))?)
    }

    fn states_of(&self, revision: &str) -> Option<Vec<ViewState>> {
        let states = revision.strip_prefix(&self.print)?.strip_prefix(':')?;
        let states: Vec<ViewState> =
            states.split('.').map(|state| state.parse().map(ViewState)).collect::<Result<_, _>>().ok()?;
        (states.len() == self.stores.len()).then_some(states)
    }

    /// A page of descriptors. All pages of a listing are of one revision: where the store moved on, the rest is refused.
    pub(super) async fn page(
        &self,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        if limit == 0 {
            return Err(SourceError::new(SourceErrorKind::Contract, "a page of no descriptors"));
        }
        let revision = self.revision().await?;
        let mut place = match cursor {
            None => Place::default(),
            Some(cursor) => Place::parse(cursor, &revision)?,
        };
        let (mut descriptors, mut diagnostics) = (Vec::new(), Vec::new());
        while descriptors.len() < limit {
            let Some(store) = self.stores.get(place.view) else { break };
            let (described, more) = match self.take_cut(&revision, &place) {
                Some(described) => (vec![described], true),
                None => self.next(store, &revision, &place, limit - descriptors.len()).await?,
            };
            for (at, parts, diagnostic) in described {
                if place.part == 0 {
                    diagnostics.extend(diagnostic);
                }
                let room = limit - descriptors.len();
                let (skip, all) = (place.part, parts.len());
                if all.saturating_sub(skip) > room {
                    descriptors.extend(parts.iter().skip(skip).take(room).cloned());
                    self.keep_cut(&revision, &place, (at, parts, None));
                    place.part += room;
                    break;
                }
                descriptors.extend(parts.into_iter().skip(skip));
                (place.after, place.part) = (Some(at), 0);
                if descriptors.len() == limit {
                    break;
                }
            }
            if place.part == 0 && !more && descriptors.len() < limit {
                place = Place { view: place.view + 1, ..Place::default() };
            }
        }
        let next = if place.view < self.stores.len() && descriptors.len() == limit {
            Some(place.cursor(&revision)?)
        } else {
            self.remember(&revision);
            None
        };
        let page = DescriptorPage::new(self.source_id.clone(), revision, descriptors, next)?;
        Ok(page.with_diagnostics(diagnostics))
    }

    /// The next records of a listing with their descriptors, and whether more come.
    async fn next(
        &self,
        store: &RecordStore,
        revision: &Revision,
        place: &Place,
        limit: usize,
    ) -> Result<(Vec<Described>, bool), SourceError> {
        let max_text_bytes = self.options.max_text_bytes;
        let page = store.changes()?.page(store.bounds(), place.after, limit, max_text_bytes).await?;
        let states = self.states_of(revision.as_str());
        if states.and_then(|states| states.get(place.view).copied()) != Some(page.state) {
            return Err(moved(revision));
        }
        Ok((self.described(place.view, revision, page.records).await?, page.more))
    }

    fn keep_cut(&self, revision: &Revision, place: &Place, described: Described) {
        let (revision, view, after) = (revision.clone(), place.view, place.after);
        let cut = Cut { revision, view, after, described };
        *self.cut.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
    }

    fn take_cut(&self, revision: &Revision, place: &Place) -> Option<Described> {
        let mut cut = self.cut.lock().unwrap_or_else(PoisonError::into_inner);
        let fits =
            |cut: &mut Cut| cut.revision == *revision && cut.view == place.view && cut.after == place.after;
        cut.take_if(fits).filter(|_| place.part > 0).map(|cut| cut.described)
    }

    /// The descriptors of records; cutting texts into passages happens where it blocks nobody.
    async fn described(
        &self,
        view: usize,
        revision: &Revision,
        records: Vec<ViewedRecord>,
    ) -> Result<Vec<Described>, SourceError> {
        let (source_id, revision, options) = (self.source_id.clone(), revision.clone(), self.options.clone());
        let described = tokio::task::spawn_blocking(move || {
            let describer = Describer { source_id: &source_id, revision: &revision, options: &options, view };
            let one = |seen: ViewedRecord| {
                let diagnostic = describer.diagnostic(&seen);
                Ok((seen.place, describer.all(&seen)?, diagnostic))
            };
            records.into_iter().map(one).collect::<Result<Vec<_>, briefing_core::Error>>()
        });
        let described = described.await.map_err(|_| Error::Interrupted)??;
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, parts, _) in described.iter().filter(|(_, parts, _)| parts.len() > 1) {
            let most = listed.passages.entry((view, *place)).or_default();
            *most = (*most).max(parts.len() - 1);
        }
        Ok(described)
    }

    fn remember(&self, revision: &Revision) {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if !listed.revisions.contains(revision) {
            if listed.revisions.len() >= KNOWN_REVISIONS {
                listed.revisions.pop_front();
            }
            listed.revisions.push_back(revision.clone());
        }
    }

    /// Reads a record or a passage of one, in one transaction with the revision that it has.
    pub(super) async fn read(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        if let Some(form) = request.representation {
            let message = format!("{source_ref} cannot be given as {form}");
            return Err(SourceError::new(SourceErrorKind::Unsupported, message));
        }
        // A record may be named like a passage of another.
        if let Some(read) = self.read_record(source_ref.as_str(), None, source_ref, request).await? {
            return Ok(read);
        }
        let read = match describe::passage_of(source_ref.as_str()) {
            Some((id, first, end)) => self.read_record(id, Some((first, end)), source_ref, request).await?,
            None => None,
        };
        read.ok_or_else(|| SourceError::not_found(source_ref.as_str()))
    }

    /// `None` where no view has the record.
    async fn read_record(
        &self,
        id: &str,
        passage: Option<(u64, u64)>,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<Option<SourceRead>, SourceError> {
        let id = RecordId::new(id)?;
        let (first, end) = passage.unwrap_or((0, u64::MAX));
        let offset = first.saturating_add(request.start_char as u64).min(end);
        let limit = (request.max_chars as u64).min(end.saturating_sub(offset));
        for (view, store) in self.stores.iter().enumerate() {
            let read = store.changes()?.read(store.bounds(), &id, Window::new(offset, limit)).await;
            let (state, segment) = match read {
                Err(Error::NotFound { .. }) => continue,
                read => read?,
            };
            let record = segment.record;
            if record.format == ContentFormat::Bytes {
                let message = format!("{source_ref} holds bytes and no text");
                return Err(SourceError::new(SourceErrorKind::Unsupported, message));
            }
            let end = end.min(segment.total_size);
            if passage.is_some_and(|(_, asked)| asked > segment.total_size) {
                return Ok(None);
            }
            let text = segment.content.into_text().unwrap_or_default();
            let revision = self.revision_with(view, state).await?;
            let mut read = SourceRead::complete(self.source_id.clone(), revision, source_ref.clone(), text);
            let until = offset.saturating_add(segment.size);
            if until < end {
                read.next_range_start = usize::try_from(until - first).ok();
            }
            if until < end || request.start_char > 0 {
                read.completeness = Completeness::Truncated;
            }
            read.content_digest = match passage {
                None => Some(record.digest),
                Some(_) if read.completeness == Completeness::Complete => {
                    read.content.to_text().map(|text| briefing_core::Digest::of(text.as_bytes()))
                }
                Some(_) => None,
            };
            read.metadata = describe::facts(&record);
            return Ok(Some(read));
        }
        Ok(None)
    }

    /// The revision at which one view was read in a state. The states of the others are asked for besides: a read depends on
    /// its own view only, and a change of another is seen at the next look.
    async fn revision_with(&self, view: usize, state: ViewState) -> Result<Revision, SourceError> {
        let mut states = Vec::with_capacity(self.stores.len());
        for (at, store) in self.stores.iter().enumerate() {
            states.push(if at == view { state } else { store.changes()?.state(store.bounds()).await? });
        }
        self.revision_of(&states)
    }

    /// What changed from one revision to another, which must be the present one.
    pub(super) async fn changes(
        &self,
        from: &Revision,
        to: &Revision,
    ) -> Result<SourceChangeSet, SourceError> {
        let unknown = |revision: &Revision| {
            SourceError::new(SourceErrorKind::Unavailable, format!("what {revision} listed is not known"))
        };
        let known = self.listed.lock().unwrap_or_else(PoisonError::into_inner).revisions.contains(from);
        let (Some(before), Some(after), true) =
            (self.states_of(from.as_str()), self.states_of(to.as_str()), known || from == to)
        else {
            return Err(unknown(from));
        };
        let (mut changes, mut diagnostics) = (Vec::new(), Vec::new());
        for (view, (store, (before, after))) in
            self.stores.iter().zip(before.into_iter().zip(after)).enumerate()
        {
            if before == after {
                continue;
            }
            let told = store.changes()?.since(store.bounds(), before, self.options.max_text_bytes).await?;
            if told.state != after {
                return Err(moved(to));
            }
            let mut upserts = Vec::new();
            for change in told.changes {
                let place = match &change {
                    ViewChange::Upsert(seen) => seen.place,
                    ViewChange::Remove(place) => *place,
                };
                let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
                let passages = listed.passages.get(&(view, place)).copied().unwrap_or_default();
                drop(listed);
                let mut keys: Vec<String> =
                    (0..passages).map(|index| describe::passage_key(view, place, index)).collect();
                match change {
                    ViewChange::Upsert(seen) => upserts.push(*seen),
                    ViewChange::Remove(place) => keys.push(describe::whole_key(view, place)),
                }
                for key in keys {
                    changes.push(SourceChange::Remove(briefing_core::DescriptorKey::new(key)?));
                }
            }
            for (_, parts, diagnostic) in self.described(view, to, upserts).await? {
                diagnostics.extend(diagnostic);
                changes.extend(parts.into_iter().map(|part| SourceChange::Upsert(Box::new(part))));
            }
        }
        self.remember(to);
        Ok(SourceChangeSet {
            source_id: self.source_id.clone(),
            from_revision: from.clone(),
            to_revision: to.clone(),
            changes: last_of_each_key(changes),
            diagnostics,
        })
    }
}

/// A record's place, its descriptors, and what is worse about them than it could be.
type Described = (RecordCursor, Vec<SourceDescriptor>, Option<ContextDiagnostic>);

/// A key that is removed and put again is only put.
fn last_of_each_key(changes: Vec<SourceChange>) -> Vec<SourceChange> {
    let put: std::collections::BTreeSet<_> = changes
        .iter()
        .filter_map(|change| match change {
            SourceChange::Upsert(descriptor) => Some(descriptor.descriptor_key.clone()),
            SourceChange::Remove(_) => None,
        })
        .collect();
    let stays = |change: &SourceChange| match change {
        SourceChange::Upsert(_) => true,
        SourceChange::Remove(key) => !put.contains(key),
    };
    changes.into_iter().filter(stays).collect()
}

fn moved(revision: &Revision) -> SourceError {
    SourceError::new(SourceErrorKind::Changed, format!("the store moved on from {revision}"))
}

/// A place in a listing: a view, the record after which it goes on, and how many descriptors of the next one were listed.
#[derive(Debug, Default)]
struct Place {
    view: usize,
    after: Option<RecordCursor>,
    part: usize,
}

impl Place {
    fn cursor(&self, revision: &Revision) -> Result<Cursor, SourceError> {
        let after = self.after.map_or_else(|| "-".to_owned(), |after| after.place().to_string());
        Ok(Cursor::new(format!("{revision}/{}/{after}/{}", self.view, self.part))?)
    }

    fn parse(cursor: &Cursor, revision: &Revision) -> Result<Self, SourceError> {
        let foreign = || SourceError::new(SourceErrorKind::Contract, "the cursor is not one of this source");
        let mut parts = cursor.as_str().rsplit('/');
        let (part, after, view) = (parts.next(), parts.next(), parts.next());
        let listed = parts.next().ok_or_else(foreign)?;
        if listed != revision.as_str() {
            return Err(moved(revision));
        }
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).ok_or_else(foreign);
        let after = match after {
            Some("-") => None,
            other => {
                let place = other.and_then(|text| text.parse().ok()).ok_or_else(foreign)?;
                Some(RecordCursor::at(place))
            }
        };
        Ok(Self { view: number(view)?, after, part: number(part)? })
    }
}
