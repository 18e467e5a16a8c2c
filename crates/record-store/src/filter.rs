//! Which records are meant: the bounds of a view, and the filters of lists and searches.

use briefing_core::{Metadata, RecordId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, NewRecord, RecordRef};

/// Which records are meant. Every part that is set narrows; an empty one leaves all.
///
/// ```
/// use briefing_record_store::RecordFilter;
/// let filter = RecordFilter::new().collection("notes").scope("tenant", "acme");
/// assert_eq!(serde_json::to_value(&filter)?["scope"]["tenant"], "acme");
/// assert!(serde_json::from_str::<RecordFilter>(r#"{"colection": ["notes"]}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecordFilter {
    /// Any of these collections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<String>,
    /// Any of these kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// All of these keys with exactly these values. Nothing is a prefix or a pattern: `acme` does not match `acme/eu`.
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    pub scope: Metadata,
    /// All of these tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Any of these records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<RecordId>,
    /// First put at this time or later, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_from_millis: Option<u64>,
    /// First put before this time, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_before_millis: Option<u64>,
}

impl RecordFilter {
    /// All records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a collection.
    #[must_use]
    pub fn collection(mut self, collection: impl Into<String>) -> Self {
        self.collections.push(collection.into());
        self
    }

    /// Allows a kind.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Self {
        self.kinds.push(kind.into());
        self
    }

    /// Asks for a key of the scope with exactly this value.
    #[must_use]
    pub fn scope(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.scope.insert(key.into(), value.into());
        self
    }

    /// Asks for a tag.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Allows a record.
    #[must_use]
    pub fn id(mut self, id: RecordId) -> Self {
        self.ids.push(id);
        self
    }

    /// Whether it means a record.
    #[must_use]
    pub fn admits(&self, record: &RecordRef) -> bool {
        self.admits_labels(&record.id, Labels::from(record))
            && self.created_from_millis.is_none_or(|from| record.created_at_millis >= from)
            && self.created_before_millis.is_none_or(|before| record.created_at_millis < before)
    }

    /// Whether it means a record with these labels, whenever it was put.
    pub(crate) fn admits_labels(&self, id: &RecordId, labels: Labels<'_>) -> bool {
        let any = |allowed: &[String], value: Option<&str>| {
            allowed.is_empty() || value.is_some_and(|value| allowed.iter().any(|allowed| allowed == value))
        };
        any(&self.collections, Some(labels.collection))
            && any(&self.kinds, labels.kind)
            && self.admits_scope(labels.scope)
            && self.tags.iter().all(|tag| labels.tags.contains(tag))
            && (self.ids.is_empty() || self.ids.contains(id))
    }

    /// Whether a scope has all keys of this one's with the same values.
    pub(crate) fn admits_scope(&self, scope: &Metadata) -> bool {
        self.scope.iter().all(|(key, value)| scope.get(key).is_some_and(|found| is_same(found, value)))
    }

    /// The records that both this view and `filter` mean. A filter narrows a view and never widens it.
    ///
    /// # Errors
    /// [`Error::OutsideView`] where the filter asks for something that the view cannot hold.
    pub fn narrowed_by(&self, filter: &Self) -> Result<Self, Error> {
        let mut narrowed = filter.clone();
        narrowed.collections = both("collections", &self.collections, &filter.collections)?;
        narrowed.kinds = both("kinds", &self.kinds, &filter.kinds)?;
        narrowed.ids = both("ids", &self.ids, &filter.ids)?;
        narrowed.scope = merged(&self.scope, filter.scope.clone())?;
        narrowed.tags.extend(self.tags.iter().cloned());
        narrowed.tags.sort();
        narrowed.tags.dedup();
        narrowed.created_from_millis = self.created_from_millis.max(filter.created_from_millis);
        narrowed.created_before_millis = match (self.created_before_millis, filter.created_before_millis) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Ok(narrowed)
    }

    /// A record as this view writes it: with the view's scope and tags, and inside its bounds.
    pub(crate) fn bind(&self, mut record: NewRecord) -> Result<NewRecord, Error> {
        record.scope = merged(&self.scope, record.scope)?;
        record.tags.extend(self.tags.iter().cloned());
        both("collections", &self.collections, std::slice::from_ref(&record.collection))?;
        match (&record.kind, self.kinds.as_slice()) {
            (Some(kind), kinds) => drop(both("kinds", kinds, std::slice::from_ref(kind))?),
            (None, []) => {}
            (None, [kind]) => record.kind = Some(kind.clone()),
            (None, kinds) => return Err(outside("a record without a kind", "kinds", kinds)),
        }
        match &record.id {
            Some(id) => drop(both("ids", &self.ids, std::slice::from_ref(id))?),
            None if self.ids.is_empty() => {}
            None => return Err(outside("a record without an id", "ids", &self.ids)),
        }
        record.validated()
    }
}

/// What filters look at in a record.
#[derive(Clone, Copy)]
pub(crate) struct Labels<'a> {
    pub(crate) collection: &'a str,
    pub(crate) kind: Option<&'a str>,
    pub(crate) scope: &'a Metadata,
    pub(crate) tags: &'a [String],
}

impl<'a> From<&'a RecordRef> for Labels<'a> {
    fn from(record: &'a RecordRef) -> Self {
        let RecordRef { collection, kind, scope, tags, .. } = record;
        Self { collection, kind: kind.as_deref(), scope, tags }
    }
}

impl<'a> From<&'a NewRecord> for Labels<'a> {
    fn from(record: &'a NewRecord) -> Self {
        let NewRecord { collection, kind, scope, tags, .. } = record;
        Self { collection, kind: kind.as_deref(), scope, tags }
    }
}

impl Labels<'_> {
    /// Each label as one text, without repeats: what an index of labels holds of a record.
    pub(crate) fn texts(self) -> Vec<String> {
        let mut texts = vec![collection_label(self.collection)];
        texts.extend(self.kind.map(kind_label));
        texts.extend(self.scope.iter().map(|(key, value)| scope_label(key, value)));
        texts.extend(self.tags.iter().map(|tag| tag_label(tag)));
        texts
    }
}

impl RecordFilter {
    /// The labels it asks for: one of each group.
    pub(crate) fn label_groups(&self) -> Vec<Vec<String>> {
        let mut groups: Vec<Vec<String>> =
            self.scope.iter().map(|(key, value)| vec![scope_label(key, value)]).collect();
        groups.extend(self.tags.iter().map(|tag| vec![tag_label(tag)]));
        let kinds: Vec<String> = self.kinds.iter().map(|kind| kind_label(kind)).collect();
        let collections: Vec<String> = self.collections.iter().map(|name| collection_label(name)).collect();
        groups.extend([kinds, collections].into_iter().filter(|group| !group.is_empty()));
        groups
    }
}

/// Whether two values are one: whether their canonical texts are, as labels compare them. 1 is not 1.0, and -0.0 not 0.0.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => one == other,
        _ => format!("{one}") == format!("{other}"),
    }
}

fn collection_label(collection: &str) -> String {
    format!("c{collection}")
}

fn kind_label(kind: &str) -> String {
    format!("k{kind}")
}

fn tag_label(tag: &str) -> String {
    format!("t{tag}")
}

fn scope_label(key: &str, value: &Value) -> String {
    format!("s{}:{key}={value}", key.len())
}

/// What both lists allow, where an empty list allows all.
fn both<T: Clone + PartialEq + std::fmt::Debug>(
    field: &str,
    view: &[T],
    asked: &[T],
) -> Result<Vec<T>, Error> {
    if view.is_empty() {
        return Ok(asked.to_vec());
    }
    if asked.is_empty() {
        return Ok(view.to_vec());
    }
    let both: Vec<T> = asked.iter().filter(|value| view.contains(value)).cloned().collect();
    if both.is_empty() { Err(outside(&format!("{field} {asked:?}"), field, view)) } else { Ok(both) }
}

fn outside(asked: &str, field: &str, view: &[impl std::fmt::Debug]) -> Error {
    Error::OutsideView { asked: asked.to_owned(), view: format!("{field} {view:?}") }
}

/// A scope with the keys of the view's added, none of which it may contradict.
fn merged(view: &Metadata, mut scope: Metadata) -> Result<Metadata, Error> {
    for (key, value) in view {
        match scope.get(key) {
            Some(asked) if !is_same(asked, value) => {
                return Err(Error::OutsideView {
                    asked: format!("scope {key} = {asked}"),
                    view: format!("{key} = {value}"),
                });
            }
            _ => drop(scope.insert(key.clone(), value.clone())),
        }
    }
    Ok(scope)
}
