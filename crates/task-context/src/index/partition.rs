//! A partition: the listing of one source at one revision, with what ranks it.

use std::sync::Arc;

use briefing_core::{ContextDiagnostic, DescriptorKey, Revision, SourceDescriptor, SourceRef};
use imbl::{HashMap, OrdMap, Vector};

use super::answer::IndexedDescriptor;
use super::lexical::Lexical;
use super::text_store::{Span, TextStore};

/// A place in a partition. Places are given out once; a removed descriptor leaves its place empty.
pub(crate) type Slot = u32;

/// A descriptor in its place.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) descriptor: Arc<IndexedDescriptor>,
    /// Which of the partition's text stores holds its index text, and where.
    pub(crate) text: (u32, Span),
    /// Where it stands in the source's own order.
    pub(crate) place: Place,
}

/// A place in the order of a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In a listing that its source keeps sorted: every whole before its parts, and wholes by key.
    Sorted { whole: DescriptorKey, part: Option<DescriptorKey> },
    /// In any other listing: the number under which it was listed or came later.
    Listed(u64),
}

impl Place {
    /// The place that a descriptor has in a sorted listing.
    pub(crate) fn sorted(descriptor: &IndexedDescriptor) -> Self {
        let key = descriptor.key.clone();
        match &descriptor.parent_key {
            Some(parent) => Self::Sorted { whole: parent.clone(), part: Some(key) },
            None => Self::Sorted { whole: key, part: None },
        }
    }
}

/// The listing of one source at one revision. Immutable once built; a delta makes a new one that shares all that did not
/// change, so it costs what changed.
#[derive(Debug)]
pub(crate) struct Partition {
    pub(crate) revision: Revision,
    pub(crate) slots: Vector<Option<Placed>>,
    /// Live slots in the source's own order.
    pub(crate) order: OrdMap<Place, Slot>,
    pub(crate) by_key: HashMap<DescriptorKey, Slot>,
    /// Live required slots, in the source's own order.
    pub(crate) required: Vec<Slot>,
    pub(crate) texts: Vec<Arc<TextStore>>,
    pub(crate) lexical: Option<Lexical>,
    pub(crate) diagnostics: Vec<ContextDiagnostic>,
}

impl Partition {
    pub(crate) fn get(&self, slot: Slot) -> Option<&Placed> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = (Slot, &Placed)> {
        self.order.values().filter_map(|slot| Some((*slot, self.get(*slot)?)))
    }

    /// The index text of a descriptor; empty where it cannot be read back, which only costs a rank.
    pub(crate) fn text(&self, placed: &Placed) -> String {
        let (store, span) = placed.text;
        self.texts.get(store as usize).and_then(|store| store.get(span).ok()).unwrap_or_default()
    }

    /// The ref of the content that contains this one.
    pub(crate) fn parent_ref(&self, descriptor: &IndexedDescriptor) -> Option<SourceRef> {
        let slot = self.by_key.get(descriptor.parent_key.as_ref()?)?;
        Some(self.get(*slot)?.descriptor.source_ref.clone())
    }

    /// Roughly how much memory it holds, in bytes: 600 a descriptor beside its texts and metadata.
    pub(crate) fn memory_bytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(|store| store.memory_bytes()).sum();
        texts + self.slots.len() * 600
    }

    /// Where a slot stands in the source's own order.
    pub(crate) fn place(&self, slot: Slot) -> Option<&Place> {
        Some(&self.get(slot)?.place)
    }
}

/// Takes a descriptor apart into what is kept and the text that is indexed.
pub(crate) fn keep(descriptor: SourceDescriptor) -> (IndexedDescriptor, String) {
    let kept = IndexedDescriptor {
        key: descriptor.descriptor_key,
        source_ref: descriptor.source_ref,
        role: descriptor.role,
        title: descriptor.title.into_boxed_str(),
        summary: descriptor.summary.into_boxed_str(),
        estimated_chars: descriptor.estimated_chars,
        parent_key: descriptor.parent_key,
        required: descriptor.required,
        priority: descriptor.priority,
        content_digest: descriptor.content_digest,
        metadata: descriptor.metadata,
    };
    (kept, descriptor.index_text)
}

/// The path by which filters and the index know a descriptor: the `path` fact, else the ref, with `/` between parts.
pub(crate) fn path_of(descriptor: &IndexedDescriptor) -> std::borrow::Cow<'_, str> {
    let path = descriptor.metadata.get("path").and_then(|path| path.as_str());
    let path = path.unwrap_or_else(|| descriptor.source_ref.as_str());
    if path.contains('\\') { path.replace('\\', "/").into() } else { path.into() }
}
