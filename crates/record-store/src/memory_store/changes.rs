//! What changed in a view, and the state that a view is in.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::RecordId;

use super::records::Version;
use super::{MemoryBackend, State, damaged, in_range};
use crate::marks::{Marks, PAGE_TEXT_BYTES, beginning};
use crate::port::{RecordChanges, ViewChange, ViewChanges, ViewPage, ViewState, ViewedRecord};
use crate::{ContentFormat, Error, Order, RecordContentSegment, RecordCursor, RecordFilter, Window};

/// The account of changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Log {
    /// The last change.
    head: u64,
    /// The last change that was forgotten.
    floor: u64,
    entries: VecDeque<Change>,
    /// The last change of a record that bore a label before or after it.
    labels: HashMap<String, u64>,
}

/// A change: which labels the record in a place bore before and bears after it.
#[derive(Debug, Clone)]
struct Change {
    seq: u64,
    place: u64,
    before: Arc<[String]>,
    after: Arc<[String]>,
}

impl Log {
    /// Writes a change and gives its number, which is the place of a record that had none.
    pub(super) fn add(&mut self, place: Option<u64>, before: Arc<[String]>, after: Arc<[String]>) -> u64 {
        self.head += 1;
        let seq = self.head;
        for label in before.iter().chain(after.iter()) {
            match self.labels.get_mut(label) {
                Some(last) => *last = seq,
                None => drop(self.labels.insert(label.clone(), seq)),
            }
        }
        self.entries.push_back(Change { seq, place: place.unwrap_or(seq), before, after });
        seq
    }

    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Forgets all but the last `keep` changes, of which the last always stays; says how many were forgotten.
    pub(super) fn prune(&mut self, keep: u64) -> u64 {
        let to = self.head.saturating_sub(keep.max(1));
        let before = self.len();
        self.entries.retain(|change| change.seq > to);
        let forgotten = before - self.len();
        if forgotten > 0 {
            self.floor = to;
        }
        forgotten
    }
}

/// What tells whether a change is one of a view.
struct Matcher {
    groups: Vec<Vec<String>>,
    /// The places of the records that are named; `None` where none are.
    places: Option<BTreeSet<u64>>,
}

impl Matcher {
    /// Also gives the last change that can be one of the view.
    fn new(state: &State, view: &RecordFilter) -> (Self, u64) {
        let groups = view.label_groups();
        let last = |label: &String| state.log.labels.get(label).copied().unwrap_or_default();
        let mut bounds: Vec<u64> =
            groups.iter().map(|group| group.iter().map(last).max().unwrap_or_default()).collect();
        let places = (!view.ids.is_empty()).then(|| {
            let (places, last) = places_of(state, &view.ids);
            bounds.push(last);
            places
        });
        let bound = bounds.into_iter().min().unwrap_or(state.log.head);
        (Self { groups, places }, bound)
    }

    /// Whether every change up to the bound that bears the one label is one of the view.
    fn is_exact(&self) -> bool {
        self.groups.len() + usize::from(self.places.is_some()) <= 1
    }

    fn matches(&self, change: &Change) -> bool {
        // A change without labels is of no record that anybody sees.
        let bears = |labels: &[String]| {
            !labels.is_empty()
                && self.groups.iter().all(|group| group.iter().any(|label| labels.contains(label)))
        };
        self.places.as_ref().is_none_or(|places| places.contains(&change.place))
            && (bears(&change.before) || bears(&change.after))
    }
}

/// The places that these records have or had, and their last change.
fn places_of(state: &State, ids: &[RecordId]) -> (BTreeSet<u64>, u64) {
    let mut places = BTreeSet::new();
    let mut last = 0;
    for id in ids {
        if let Some((place, living)) = state.find(id) {
            places.insert(place);
            last = last.max(living.changed);
        }
        for place in state.graves.get(id).into_iter().flatten() {
            places.insert(*place);
            last = last.max(state.tombstones.get(place).map_or(0, |buried| buried.changed));
        }
    }
    (places, last)
}

/// The state of a view: the last change that is one of it.
fn state(state: &State, view: &RecordFilter, marks: &Marks) -> Result<ViewState, Error> {
    let (matcher, bound) = Matcher::new(state, view);
    if matcher.is_exact() {
        return Ok(ViewState(bound));
    }
    let last_after = |from: u64| {
        let unseen = state.log.entries.iter().rev().skip_while(|change| change.seq > bound);
        let mut unseen = unseen.take_while(|change| change.seq > from);
        Ok(unseen.find(|change| matcher.matches(change)).map(|change| change.seq))
    };
    marks.state(view, bound, last_after, || Ok((state.log.floor, state.log.head)))
}

/// A record with its text, or the beginning of a long one.
fn viewed(place: u64, version: &Version, max_text_bytes: u64) -> Result<ViewedRecord, Error> {
    let (place, record) = (RecordCursor::at(place), version.record.clone());
    if record.format == ContentFormat::Bytes {
        return Ok(ViewedRecord { place, record, text: None, whole: true });
    }
    let whole = record.size_bytes <= max_text_bytes;
    let text = if whole {
        String::from_utf8(version.stored.clone()).map_err(|error| damaged(&record.id, &error.to_string()))?
    } else {
        let beginning = version.window(beginning(max_text_bytes))?;
        beginning.content.into_text().unwrap_or_default()
    };
    Ok(ViewedRecord { place, record, text: Some(text), whole })
}

#[async_trait]
impl RecordChanges for MemoryBackend {
    async fn state(&self, view: &RecordFilter) -> Result<ViewState, Error> {
        state(&MemoryBackend::state(self), view, &self.marks)
    }

    async fn page(
        &self,
        view: &RecordFilter,
        after: Option<RecordCursor>,
        limit: usize,
        max_text_bytes: u64,
    ) -> Result<ViewPage, Error> {
        let after = after.map(|after| in_range(after.place())).transpose()?;
        let held = MemoryBackend::state(self);
        let state = state(&held, view, &self.marks)?;
        let mut found = held.admitted(view, Order::Oldest, after).peekable();
        let mut records = Vec::new();
        let mut bytes = 0;
        while records.len() < limit && bytes <= PAGE_TEXT_BYTES {
            let Some((place, living)) = found.next() else { break };
            bytes += living.latest.record.size_bytes.min(max_text_bytes);
            records.push(viewed(place, &living.latest, max_text_bytes)?);
        }
        let more = found.peek().is_some();
        Ok(ViewPage { state, records, more })
    }

    async fn read(
        &self,
        view: &RecordFilter,
        id: &RecordId,
        window: Window,
    ) -> Result<(ViewState, RecordContentSegment), Error> {
        let held = MemoryBackend::state(self);
        let state = state(&held, view, &self.marks)?;
        let (_, living) = held.seen(view, id)?;
        Ok((state, living.latest.segment(window)?))
    }

    async fn since(
        &self,
        view: &RecordFilter,
        from: ViewState,
        max_text_bytes: u64,
    ) -> Result<ViewChanges, Error> {
        let held = MemoryBackend::state(self);
        let state = state(&held, view, &self.marks)?;
        let (asked, floor) = (from.0, held.log.floor);
        if asked < floor {
            return Err(Error::ChangesPruned { asked, floor });
        }
        in_range(asked)?;
        let (matcher, _) = Matcher::new(&held, view);
        let after = held.log.entries.iter().filter(|change| change.seq > asked && change.seq <= state.0);
        let places: BTreeSet<u64> =
            after.filter(|change| matcher.matches(change)).map(|change| change.place).collect();
        let mut changes = Vec::with_capacity(places.len());
        for place in places {
            let living = held.records.get(&place).filter(|living| view.admits(&living.latest.record));
            changes.push(match living {
                Some(living) => ViewChange::Upsert(Box::new(viewed(place, &living.latest, max_text_bytes)?)),
                None => ViewChange::Remove(RecordCursor::at(place)),
            });
        }
        Ok(ViewChanges { state, changes })
    }
}
