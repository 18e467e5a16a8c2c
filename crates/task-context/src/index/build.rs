//! Lists a source into a partition, or brings a partition to a newer revision by its source's changes.

use std::collections::HashSet;
use std::sync::Arc;

use briefing_core::{
    ContextDiagnostic, ContextSource, ProjectionProfile, Revision, SourceChange, SourceChangeSet,
    SourceDescriptor, SourceError,
};
use imbl::{HashMap, OrdMap, Vector};
use tokio::sync::mpsc;
use tokio::task::{JoinError, spawn_blocking};

use super::config::IndexStrategy;
use super::lexical::{Document, LexicalBuilder, LexicalError};
use super::partition::{Partition, Place, Placed, Slot, keep, path_of};
use super::text_store::TextStoreBuilder;

/// How many descriptors a page asks for.
const PAGE: usize = 256;
/// How many pages may wait for the indexer.
const PAGES_AHEAD: usize = 4;
/// How many empty places a partition may carry beside its live ones before it is listed anew.
const MAX_EMPTY: usize = 1_024;

/// Why a partition could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error("the source's revision moved while it was listed")]
    Moved,
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("{0}")]
    Contract(String),
    #[error(transparent)]
    Lexical(#[from] LexicalError),
    #[error("the index builder stopped: {0}")]
    Stopped(#[from] JoinError),
}

impl From<std::io::Error> for BuildError {
    fn from(error: std::io::Error) -> Self {
        Self::Lexical(error.into())
    }
}

impl BuildError {
    /// A stable machine-readable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Moved => "source.changed",
            Self::Source(error) => error.code(),
            Self::Contract(_) => "source.contract",
            Self::Lexical(_) | Self::Stopped(_) => "index.failed",
        }
    }
}

type Page = (Vec<SourceDescriptor>, Vec<ContextDiagnostic>);

/// Lists the whole source. Pages are asked for while earlier ones are indexed on a blocking thread.
pub(crate) async fn full(
    source: &dyn ContextSource,
    profile: &ProjectionProfile,
    revision: &Revision,
    strategy: IndexStrategy,
) -> Result<Partition, BuildError> {
    let (pages, waiting) = mpsc::channel::<Page>(PAGES_AHEAD);
    let at = revision.clone();
    let indexer = spawn_blocking(move || index_pages(waiting, at, strategy));
    let listed = list(source, profile, revision, pages).await;
    let built = indexer.await?;
    // A failed listing closes the channel early; what the indexer made of it is worth nothing then.
    listed?;
    built
}

async fn list(
    source: &dyn ContextSource,
    profile: &ProjectionProfile,
    revision: &Revision,
    pages: mpsc::Sender<Page>,
) -> Result<(), BuildError> {
    let mut cursor = None;
    let mut seen = HashSet::new();
    loop {
        let page = source.enumerate_descriptors(profile, cursor.as_ref(), PAGE).await?;
        if page.source_id() != source.source_id() {
            return Err(BuildError::Contract(format!(
                "a page of {} instead of {}",
                page.source_id(),
                source.source_id()
            )));
        }
        if page.source_revision() != revision {
            return Err(BuildError::Moved);
        }
        let (descriptors, diagnostics, next) = page.into_parts();
        if pages.send((descriptors, diagnostics)).await.is_err() {
            // The indexer gave up; it says why.
            return Ok(());
        }
        match next {
            None => return Ok(()),
            Some(next) if !seen.insert(next.as_str().to_owned()) => {
                return Err(BuildError::Contract(format!("the cursor {:?} did not advance", next.as_str())));
            }
            next => cursor = next,
        }
    }
}

fn index_pages(
    mut pages: mpsc::Receiver<Page>,
    revision: Revision,
    strategy: IndexStrategy,
) -> Result<Partition, BuildError> {
    let mut listed: Vec<Placed> = Vec::new();
    let mut by_key = HashMap::new();
    let mut texts = TextStoreBuilder::default();
    let mut all_diagnostics = Vec::new();
    let mut lexical = (strategy == IndexStrategy::Lexical).then(LexicalBuilder::new);
    while let Some((descriptors, diagnostics)) = pages.blocking_recv() {
        all_diagnostics.extend(diagnostics);
        for descriptor in descriptors {
            let slot = next_slot(listed.len())?;
            let (descriptor, text) = keep(descriptor);
            if by_key.insert(descriptor.key.clone(), slot).is_some() {
                return Err(BuildError::Contract(format!(
                    "the descriptor key {} is listed twice",
                    descriptor.key
                )));
            }
            let span = texts.push(&text)?;
            let place = Place::Listed(slot.into());
            let placed = Placed { descriptor: Arc::new(descriptor), text: (0, span), place };
            if let Some(lexical) = &mut lexical {
                lexical.add(document(slot, &placed, text))?;
            }
            listed.push(placed);
        }
    }
    if listed.is_sorted_by_key(|placed| Place::sorted(&placed.descriptor)) {
        for placed in &mut listed {
            placed.place = Place::sorted(&placed.descriptor);
        }
    }
    let places = (0_u32..).zip(&listed).map(|(slot, placed)| (placed.place.clone(), slot));
    let required = (0_u32..).zip(&listed).filter(|(_, placed)| placed.descriptor.required);
    Ok(Partition {
        revision,
        order: places.collect(),
        required: required.map(|(slot, _)| slot).collect(),
        slots: listed.into_iter().map(Some).collect(),
        by_key,
        texts: vec![Arc::new(texts.finish())],
        lexical: lexical.map(LexicalBuilder::finish).transpose()?,
        diagnostics: all_diagnostics,
    })
}

/// Whether a name holds a number of at least 16 hex digits, as ids that machines draw do. Such a name is asked for as a ref.
fn is_drawn(name: &str) -> bool {
    name.split(|char: char| !char.is_ascii_hexdigit()).any(|run| run.len() >= 16)
}

fn next_slot(slots: usize) -> Result<Slot, BuildError> {
    Slot::try_from(slots).map_err(|_| BuildError::Contract("more than 4,294,967,295 descriptors".to_owned()))
}

fn document(slot: Slot, placed: &Placed, body: String) -> Document {
    let descriptor = &placed.descriptor;
    let path = path_of(descriptor);
    // A title that only repeats the path would count it twice.
    let title = if *descriptor.title == *path { String::new() } else { descriptor.title.to_string() };
    // A name that was drawn is no word: it would only fill the dictionary.
    let is_ref = !descriptor.metadata.contains_key("path");
    let path = if is_ref && is_drawn(&path) { String::new() } else { path.into_owned() };
    // So would a summary that is only the beginning of the body.
    let repeats = body.trim_start().starts_with(&*descriptor.summary);
    let summary = if repeats { String::new() } else { descriptor.summary.to_string() };
    Document { slot, title, path, summary, body }
}

/// Brings a partition to `revision` by the source's own account of what changed.
pub(crate) async fn delta(
    source: &dyn ContextSource,
    profile: &ProjectionProfile,
    base: Arc<Partition>,
    revision: &Revision,
) -> Result<Partition, BuildError> {
    let feed = source
        .change_feed()
        .ok_or_else(|| BuildError::Contract("the source has no change feed".to_owned()))?;
    let set = feed.changes(&base.revision, revision, profile).await?;
    if set.source_id != *source.source_id()
        || set.from_revision != base.revision
        || set.to_revision != *revision
    {
        return Err(BuildError::Contract(format!(
            "a change set of {} from {} to {}, asked for {} to {revision}",
            set.source_id, set.from_revision, set.to_revision, base.revision
        )));
    }
    let live = base.order.len();
    if base.slots.len().saturating_sub(live) + set.changes.len() > live + MAX_EMPTY {
        return Err(BuildError::Contract("so much changed that a new listing is cheaper".to_owned()));
    }
    let (id, to) = (source.source_id().clone(), revision.clone());
    for change in &set.changes {
        if let SourceChange::Upsert(descriptor) = change
            && (descriptor.source_id != id || descriptor.source_revision != to)
        {
            return Err(BuildError::Contract(format!(
                "the change of {} is of another revision",
                descriptor.descriptor_key
            )));
        }
    }
    spawn_blocking(move || apply(&base, set)).await?
}

fn apply(base: &Partition, set: SourceChangeSet) -> Result<Partition, BuildError> {
    let mut slots: Vector<Option<Placed>> = base.slots.clone();
    let mut by_key: HashMap<_, Slot> = base.by_key.clone();
    let mut order: OrdMap<Place, Slot> = base.order.clone();
    let mut required = base.required.clone();
    let mut texts = TextStoreBuilder::default();
    let store = u32::try_from(base.texts.len()).unwrap_or(u32::MAX);
    // A source that keeps its listing sorted has a place for what is new; any other puts it at the end.
    let mut last = match base.order.get_max() {
        Some((Place::Listed(last), _)) => Some(*last),
        Some((Place::Sorted { .. }, _)) | None => None,
    };
    let (mut gone, mut documents) = (Vec::new(), Vec::new());
    for change in set.changes {
        let key = match &change {
            SourceChange::Upsert(descriptor) => descriptor.descriptor_key.clone(),
            SourceChange::Remove(key) => key.clone(),
        };
        let old_slot = by_key.remove(&key);
        let old = old_slot.and_then(|old| slots.get_mut(old as usize)).and_then(Option::take);
        if let Some(old) = &old {
            order.remove(&old.place);
        }
        gone.extend(old_slot);
        let SourceChange::Upsert(descriptor) = change else { continue };
        let slot = next_slot(slots.len())?;
        let (descriptor, text) = keep(*descriptor);
        let place = match (&mut last, old) {
            (None, _) => Place::sorted(&descriptor),
            (Some(_), Some(old)) => old.place,
            (Some(last), None) => {
                *last += 1;
                Place::Listed(*last)
            }
        };
        by_key.insert(key, slot);
        order.insert(place.clone(), slot);
        if descriptor.required {
            required.push(slot);
        }
        let placed = Placed { descriptor: Arc::new(descriptor), text: (store, texts.push(&text)?), place };
        if base.lexical.is_some() {
            documents.push(document(slot, &placed, text));
        }
        slots.push_back(Some(placed));
    }
    let place = |slot: &Slot| slots.get(*slot as usize).and_then(Option::as_ref).map(|placed| &placed.place);
    required.retain(|slot| place(slot).is_some());
    required.sort_by(|a, b| place(a).cmp(&place(b)));
    let lexical = base.lexical.as_ref().map(|lexical| lexical.updated(&gone, documents)).transpose()?;
    Ok(Partition {
        revision: set.to_revision,
        slots,
        order,
        by_key,
        required,
        texts: base.texts.iter().cloned().chain([Arc::new(texts.finish())]).collect(),
        lexical,
        diagnostics: set.diagnostics,
    })
}
