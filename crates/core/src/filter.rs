//! What an intent lets through.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, SourceKind};

/// One value, or several of which any may match. JSON: the value itself, or a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// Exactly this one.
    One(T),
    /// Any of these.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// A match on a descriptor's fact: a scalar must be one of the values, a list must hold all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetadataFilter(OneOrMany<Value>);

impl MetadataFilter {
    /// Matches any of these scalars.
    ///
    /// # Errors
    /// [`Error::Invalid`] where a value is a list or an object, or there is none.
    pub fn any_of(values: Vec<Value>) -> Result<Self, Error> {
        Self::checked("metadata", OneOrMany::Many(values))
    }

    fn checked(key: &str, values: OneOrMany<Value>) -> Result<Self, Error> {
        let scalar = |value: &Value| !value.is_array() && !value.is_object() && !value.is_null();
        if values.as_slice().is_empty() || !values.as_slice().iter().all(scalar) {
            let found = Value::Array(values.as_slice().to_vec());
            return Err(Error::invalid(
                format!("filters.{key}"),
                found,
                "a text, number or boolean, or a list of them",
            ));
        }
        Ok(Self(values))
    }

    /// Whether a scalar `fact` is any of the values, or a list holds all of them. JSON types are kept apart: `1` is not
    /// `true`.
    #[must_use]
    pub fn matches(&self, fact: &Value) -> bool {
        match fact {
            Value::Array(elements) => self.0.as_slice().iter().all(|value| elements.contains(value)),
            scalar => self.0.as_slice().contains(scalar),
        }
    }
}

/// Structural filters over what sources offer. They never apply to direct entries.
///
/// The JSON form is one object: the keys below are understood, keys that steer the retrieval mechanism (`method`,
/// `selection`, `rerank`, `top_n`, `max_candidates`) are refused, `null` means "no filter", and any other key is a match
/// on a descriptor's field or on its metadata by dotted path.
///
/// ```
/// use briefing_core::ContextFilters;
/// use serde_json::json;
///
/// let filters = ContextFilters::from_json(&json!({"source_kinds": "record_store", "scope.team": ["red", "blue"]}))?;
/// assert_eq!(filters.source_kinds.as_ref().unwrap().len(), 1);
/// assert_eq!(ContextFilters::from_json(&json!({"top_n": 3})).unwrap_err().code(), "context.filter_mechanism");
/// # Ok::<(), briefing_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextFilters {
    /// Only these kinds of source.
    pub source_kinds: Option<Vec<SourceKind>>,
    /// Only these paths: the path itself, or everything in the folder that it names.
    pub path: Option<OneOrMany<String>>,
    /// Only paths that match one of these globs, against the whole path or its last part; `*` also matches `/`.
    pub pattern: Option<OneOrMany<String>>,
    /// `false` hides paths with a segment that begins with a dot.
    pub include_hidden: Option<bool>,
    /// Only content of at most so many bytes (`total_bytes`, else the estimated chars).
    pub max_file_bytes: Option<u64>,
    /// Only content that holds all of these texts, case folded.
    pub content_contains: Option<OneOrMany<String>>,
    /// Matches on descriptor fields and metadata, by dotted path.
    pub metadata: BTreeMap<String, MetadataFilter>,
}

/// Keys that would steer how the index retrieves.
const MECHANISM_KEYS: [&str; 5] = ["max_candidates", "method", "rerank", "selection", "top_n"];

impl ContextFilters {
    /// Whether nothing is filtered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// [`Error::FilterMechanism`] for keys that the index owns, [`Error::Invalid`] for a malformed filter.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        let object = value.as_object().ok_or_else(|| Error::invalid("filters", value, "an object"))?;
        let present = || object.iter().filter(|(_, value)| !value.is_null());
        let keys: Vec<String> = present()
            .map(|(key, _)| key.clone())
            .filter(|key| MECHANISM_KEYS.contains(&key.as_str()))
            .collect();
        if !keys.is_empty() {
            return Err(Error::FilterMechanism { keys });
        }
        let mut filters = Self::default();
        for (key, value) in present() {
            match key.as_str() {
                "source_kinds" => {
                    let kinds = texts(key, value)?;
                    filters.source_kinds =
                        Some(kinds.as_slice().iter().map(SourceKind::new).collect::<Result<_, _>>()?);
                }
                "path" => filters.path = Some(texts(key, value)?),
                "pattern" => filters.pattern = Some(texts(key, value)?),
                "content_contains" => filters.content_contains = Some(texts(key, value)?),
                "include_hidden" => {
                    filters.include_hidden =
                        Some(value.as_bool().ok_or_else(|| malformed(key, value, "true or false"))?);
                }
                "max_file_bytes" => {
                    let limit = value.as_u64().filter(|limit| *limit > 0);
                    filters.max_file_bytes =
                        Some(limit.ok_or_else(|| malformed(key, value, "a positive whole number"))?);
                }
                _ => {
                    let values = match value {
                        Value::Array(values) => OneOrMany::Many(values.clone()),
                        scalar => OneOrMany::One(scalar.clone()),
                    };
                    filters.metadata.insert(key.clone(), MetadataFilter::checked(key, values)?);
                }
            }
        }
        Ok(filters)
    }

    /// Writes the JSON form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = serde_json::Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                object.insert(key.to_owned(), value);
            }
        };
        let texts = |texts: &Option<OneOrMany<String>>| {
            texts.as_ref().map(|texts| match texts {
                OneOrMany::One(text) => Value::from(text.as_str()),
                OneOrMany::Many(texts) => Value::from(texts.clone()),
            })
        };
        put(
            "source_kinds",
            self.source_kinds
                .as_ref()
                .map(|kinds| kinds.iter().map(|kind| Value::from(kind.as_str())).collect()),
        );
        put("path", texts(&self.path));
        put("pattern", texts(&self.pattern));
        put("include_hidden", self.include_hidden.map(Value::from));
        put("max_file_bytes", self.max_file_bytes.map(Value::from));
        put("content_contains", texts(&self.content_contains));
        for (key, MetadataFilter(values)) in &self.metadata {
            put(
                key,
                Some(match values {
                    OneOrMany::One(value) => value.clone(),
                    OneOrMany::Many(values) => Value::from(values.clone()),
                }),
            );
        }
        Value::Object(object)
    }
}

fn malformed(key: &str, found: &Value, expected: &str) -> Error {
    Error::invalid(format!("filters.{key}"), found, expected)
}

/// A text that is not blank, or a list of at least one.
fn texts(key: &str, value: &Value) -> Result<OneOrMany<String>, Error> {
    let refuse = || malformed(key, value, "a text that is not blank, or a list of them");
    let text = |value: &Value| {
        let text = value.as_str().filter(|text| !text.trim().is_empty());
        text.map(str::to_owned).ok_or_else(refuse)
    };
    match value {
        Value::Array(values) if !values.is_empty() => {
            Ok(OneOrMany::Many(values.iter().map(text).collect::<Result<_, _>>()?))
        }
        value => Ok(OneOrMany::One(text(value)?)),
    }
}

impl Serialize for ContextFilters {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ContextFilters {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
