//! What a record holds, and the exact windows through which it is read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use briefing_core::Digest;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{Error, RecordRef};

/// The form of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentFormat {
    /// Text, measured in chars.
    Text,
    /// A JSON value, kept and measured as its canonical text: keys in order, no white space.
    Json,
    /// Bytes, measured in bytes.
    Bytes,
}

impl ContentFormat {
    /// The media type of a segment of such a content.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain; charset=utf-8",
            Self::Json => "application/json",
            Self::Bytes => "application/octet-stream",
        }
    }

    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Bytes => "bytes",
        }
    }
}

/// What a record holds. It comes back as the kind that was put.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordContent {
    /// Text.
    Text(String),
    /// A JSON value.
    Json(Value),
    /// Bytes; base64 in JSON.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    Bytes(Vec<u8>),
}

fn to_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}

impl RecordContent {
    /// Its form.
    #[must_use]
    pub fn format(&self) -> ContentFormat {
        match self {
            Self::Text(_) => ContentFormat::Text,
            Self::Json(_) => ContentFormat::Json,
            Self::Bytes(_) => ContentFormat::Bytes,
        }
    }

    /// The text by which it is read as context: of a JSON value its canonical text, of bytes nothing.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Json(value) => Some(value.to_string()),
            Self::Bytes(_) => None,
        }
    }

    /// The text by which it is searched: text as it is; the keys and values of JSON, without quotes and escapes; of bytes
    /// nothing.
    #[must_use]
    pub fn search_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Json(value) => {
                let mut out = String::new();
                collect_text(value, &mut out);
                out
            }
            Self::Bytes(_) => String::new(),
        }
    }

    /// The digest of the bytes that are kept.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Text(text) => Digest::of(text.as_bytes()),
            Self::Json(value) => Digest::of(value.to_string().as_bytes()),
            Self::Bytes(bytes) => Digest::of(bytes),
        }
    }

    /// The bytes that are kept and whose digest names the content.
    #[must_use]
    pub fn into_stored(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Json(value) => value.to_string().into_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// A content again from what was kept.
    ///
    /// # Errors
    /// What is wrong with the bytes, where they are not of that form.
    pub fn from_stored(format: ContentFormat, bytes: Vec<u8>) -> Result<Self, String> {
        match format {
            ContentFormat::Text => {
                String::from_utf8(bytes).map(Self::Text).map_err(|error| error.to_string())
            }
            ContentFormat::Json => {
                serde_json::from_slice(&bytes).map(Self::Json).map_err(|error| error.to_string())
            }
            ContentFormat::Bytes => Ok(Self::Bytes(bytes)),
        }
    }
}

impl From<&str> for RecordContent {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for RecordContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for RecordContent {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<Vec<u8>> for RecordContent {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

/// How deeply a stored value may nest. What is nested more deeply than 127 values cannot be read again
/// (`serde_json`'s limit of recursion), and an export wraps values into some more.
pub(crate) const MAX_DEPTH: usize = 100;

/// Refuses a value that nests too deeply to be read again.
pub(crate) fn check_depth<'a>(
    field: &str,
    values: impl IntoIterator<Item = &'a Value>,
) -> Result<(), briefing_core::Error> {
    fn fits(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(values) => left > 0 && values.iter().all(|value| fits(value, left - 1)),
            Value::Object(fields) => left > 0 && fields.values().all(|value| fits(value, left - 1)),
            _ => true,
        }
    }
    if values.into_iter().all(|value| fits(value, MAX_DEPTH)) {
        return Ok(());
    }
    let expected = format!("at most {MAX_DEPTH} levels");
    Err(briefing_core::Error::invalid(field, "a value that nests too deeply", expected))
}

/// Writes each word of a structured value into lines.
fn collect_text(value: &Value, out: &mut String) {
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    match value {
        Value::Null => {}
        Value::Bool(value) => line(&value.to_string()),
        Value::Number(value) => line(&value.to_string()),
        Value::String(value) => line(value),
        Value::Array(values) => values.iter().for_each(|value| collect_text(value, out)),
        Value::Object(fields) => {
            for (key, value) in fields {
                out.push_str(key);
                out.push('\n');
                collect_text(value, out);
            }
        }
    }
}

/// A window of a content: offsets and lengths in chars for text and JSON, in bytes for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Where it begins.
    #[serde(default)]
    pub offset: u64,
    /// The most that is read; `None` is to the end.
    #[serde(default)]
    pub limit: Option<u64>,
}

impl Window {
    /// The whole content.
    pub const WHOLE: Self = Self { offset: 0, limit: None };

    /// At most `limit` units from `offset`.
    #[must_use]
    pub fn new(offset: u64, limit: u64) -> Self {
        Self { offset, limit: Some(limit) }
    }

    pub(crate) fn validate(self) -> Result<Self, Error> {
        if self.limit == Some(0) {
            return Err(briefing_core::Error::invalid("limit", 0, "at least 1").into());
        }
        Ok(self)
    }
}

/// One window of a record's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordContentSegment {
    /// The record, as it was when the window was read.
    pub record: RecordRef,
    /// What the window shows: text for text and JSON (a part of JSON is no JSON), bytes for bytes.
    pub content: RecordContent,
    /// Where it begins, in chars for text and JSON, in bytes for bytes.
    pub offset: u64,
    /// How long it is, in the same unit.
    pub size: u64,
    /// How long the whole is, in the same unit.
    pub total_size: u64,
    /// Whether it reaches the end.
    pub eof: bool,
    /// The digest of the *whole* content.
    pub digest: Digest,
    /// The media type of the whole.
    pub content_type: String,
}

impl RecordContentSegment {
    /// A segment out of a window that was cut already.
    pub(crate) fn new(record: RecordRef, cut: Cut) -> Self {
        let total_size = record.length();
        Self {
            eof: cut.offset.saturating_add(cut.size) >= total_size,
            total_size,
            content: cut.content,
            offset: cut.offset,
            size: cut.size,
            digest: record.digest,
            content_type: record.format.media_type().to_owned(),
            record,
        }
    }
}

/// A cut window.
pub(crate) struct Cut {
    pub(crate) content: RecordContent,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Cuts a window out of `part`, which begins at `first` (in the format's unit) of the content and holds at least the
/// window, or all that there is of it.
pub(crate) fn cut(format: ContentFormat, part: Vec<u8>, first: u64, window: Window) -> Result<Cut, String> {
    let skip = usize::try_from(window.offset.saturating_sub(first)).unwrap_or(usize::MAX);
    let take = window.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if format == ContentFormat::Bytes {
        let content: Vec<u8> = part.into_iter().skip(skip).take(take).collect();
        let size = content.len() as u64;
        return Ok(Cut { content: RecordContent::Bytes(content), offset: window.offset, size });
    }
    let text = String::from_utf8(part).map_err(|error| error.to_string())?;
    let begin = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
    let rest = text.get(begin..).unwrap_or_default();
    let end = rest.char_indices().nth(take).map_or(rest.len(), |(at, _)| at);
    let shown = rest.get(..end).unwrap_or_default();
    let size = shown.chars().count() as u64;
    Ok(Cut { content: RecordContent::Text(shown.to_owned()), offset: window.offset, size })
}
