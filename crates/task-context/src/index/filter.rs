//! Which descriptors an intent lets through.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use briefing_analysis::fold;
use briefing_core::{ContextFilters, ContextReadIntent, Error, OneOrMany, SourceRef};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde_json::Value;

use super::partition::{Partition, Placed, Slot, path_of};
use crate::PinnedSource;

/// An intent's filters, checked and ready to be asked.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(crate) intent: ContextReadIntent,
    pattern: Option<GlobSet>,
    contains: Vec<String>,
}

impl Filter {
    /// Checks the filters.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a pattern that is no glob.
    pub(crate) fn new(intent: &ContextReadIntent) -> Result<Self, Error> {
        let filters = intent.filters();
        let pattern = filters.pattern.as_ref().map(globs).transpose()?;
        let contains = filters.content_contains.as_ref().map_or(&[][..], OneOrMany::as_slice);
        let contains = contains.iter().map(|text| fold(text).into_owned()).collect();
        Ok(Self { intent: intent.clone(), pattern, contains })
    }

    /// The slots that are let through, or `None` where all are.
    pub(crate) fn admitted(&self, partition: &Partition, source: &PinnedSource) -> Option<HashSet<Slot>> {
        let filters = self.intent.filters();
        let structural = ContextFilters { source_kinds: None, ..filters.clone() };
        if self.intent.roles().is_empty() && structural.is_empty() {
            return None;
        }
        let mut admitted: HashSet<Slot> = partition
            .live()
            .filter(|(_, placed)| self.admits_structure(placed, source))
            .map(|(slot, _)| slot)
            .collect();
        if !self.contains.is_empty() {
            let holding = self.holding(partition);
            admitted.retain(|slot| holding.contains(slot));
        }
        Some(admitted)
    }

    fn admits_structure(&self, placed: &Placed, source: &PinnedSource) -> bool {
        let filters = self.intent.filters();
        let descriptor = &placed.descriptor;
        let path = path_of(descriptor);
        let in_path = |wanted: &String| {
            let wanted = wanted.trim_end_matches('/');
            path.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let basename = path.rsplit('/').next().unwrap_or_default();
        let hidden = || path.split('/').any(|part| part.starts_with('.') && part != "." && part != "..");
        let small = |limit: u64| match descriptor.metadata.get("total_bytes") {
            Some(bytes) => bytes.as_u64().is_some_and(|bytes| bytes <= limit),
            None => descriptor.estimated_chars as u64 <= limit,
        };
        self.intent.admits_role(descriptor.role)
            && filters.path.as_ref().is_none_or(|paths| paths.as_slice().iter().any(in_path))
            && self.pattern.as_ref().is_none_or(|globs| globs.is_match(&*path) || globs.is_match(basename))
            && (filters.include_hidden != Some(false) || !hidden())
            && filters.max_file_bytes.is_none_or(small)
            && filters
                .metadata
                .iter()
                .all(|(key, filter)| fact(key, placed, source).is_some_and(|fact| filter.matches(&fact)))
    }

    /// The slots whose text holds every wanted text. A whole whose text is indexed by its parts holds what they hold.
    fn holding(&self, partition: &Partition) -> HashSet<Slot> {
        let mut found: HashMap<Slot, HashSet<usize>> = HashMap::new();
        for (slot, placed) in partition.live() {
            let text = partition.text(placed);
            let text = fold(&text);
            let parent = placed.descriptor.parent_key.as_ref().and_then(|key| partition.by_key.get(key));
            for (n, _) in
                self.contains.iter().enumerate().filter(|(_, wanted)| text.contains(wanted.as_str()))
            {
                for holder in std::iter::once(&slot).chain(parent) {
                    found.entry(*holder).or_default().insert(n);
                }
            }
        }
        let holds_all =
            |(slot, held): (Slot, HashSet<usize>)| (held.len() == self.contains.len()).then_some(slot);
        found.into_iter().filter_map(holds_all).collect()
    }
}

/// What a binding may offer at all.
pub(crate) fn allowed(partition: &Partition, refs: Option<&[SourceRef]>) -> Option<HashSet<Slot>> {
    let refs: HashSet<&SourceRef> = refs?.iter().collect();
    Some(
        partition
            .live()
            .filter(|(_, placed)| refs.contains(&placed.descriptor.source_ref))
            .map(|(slot, _)| slot)
            .collect(),
    )
}

fn globs(patterns: &OneOrMany<String>) -> Result<GlobSet, Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns.as_slice() {
        let glob = GlobBuilder::new(pattern).literal_separator(false).backslash_escape(true).build();
        set.add(glob.map_err(|error| {
            Error::invalid("filters.pattern", error, "a glob such as *.md or src/**/mod.rs")
        })?);
    }
    set.build().map_err(|error| Error::invalid("filters.pattern", error, "globs that compile together"))
}

/// A descriptor's field or fact by name: fields first, then metadata by its whole key, then by dotted path.
fn fact<'a>(key: &str, placed: &'a Placed, source: &'a PinnedSource) -> Option<Cow<'a, Value>> {
    let descriptor = &placed.descriptor;
    let metadata = &descriptor.metadata;
    let text = |text: &str| Some(Cow::Owned(Value::from(text)));
    let stored = |key: &str| metadata.get(key).map(Cow::Borrowed);
    match key {
        "source_ref" => text(descriptor.source_ref.as_str()),
        "descriptor_key" => text(descriptor.key.as_str()),
        "parent_key" => text(descriptor.parent_key.as_ref()?.as_str()),
        "source_id" => text(source.source_id().as_str()),
        "role" => text(descriptor.role.as_str()),
        "title" => text(&descriptor.title),
        "priority" => Some(Cow::Owned(Value::from(descriptor.priority))),
        "required" => Some(Cow::Owned(Value::from(descriptor.required))),
        "id" => stored("id").or_else(|| stored("record_id")).or_else(|| text(descriptor.source_ref.as_str())),
        "record_id" => stored("record_id").or_else(|| text(descriptor.source_ref.as_str())),
        _ => stored(key).or_else(|| {
            let mut parts = key.split('.');
            let first = metadata.get(parts.next()?)?;
            parts.try_fold(first, |value, part| value.get(part)).map(Cow::Borrowed)
        }),
    }
}
