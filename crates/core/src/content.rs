//! The content of an entry, a read or a block.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::{Digest, Error};

/// Text, structured JSON, or bytes. JSON forms: `{"text": …}`, `{"json": …}`, `{"bytes_base64": …}`.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// A JSON value; measured and delivered as its compact JSON text.
    Structured(serde_json::Value),
    /// Raw bytes, for attachments; never coerced into text.
    Bytes(Vec<u8>),
}

impl Content {
    /// Length in chars as delivered: of the text, of the JSON text, and 0 for bytes.
    #[must_use]
    pub fn chars(&self) -> usize {
        match self {
            Self::Text(text) => text.chars().count(),
            Self::Structured(value) => value.to_string().chars().count(),
            Self::Bytes(_) => 0,
        }
    }

    /// The text as delivered, or `None` for bytes.
    #[must_use]
    pub fn to_text(&self) -> Option<std::borrow::Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(text.as_str().into()),
            Self::Structured(value) => Some(value.to_string().into()),
            Self::Bytes(_) => None,
        }
    }

    /// The digest of the delivered bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match self {
            Self::Text(text) => Digest::of(text.as_bytes()),
            Self::Structured(value) => Digest::of(value.to_string().as_bytes()),
            Self::Bytes(bytes) => Digest::of(bytes),
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<serde_json::Value> for Content {
    fn from(value: serde_json::Value) -> Self {
        Self::Structured(value)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Wire {
    Text(String),
    Json(serde_json::Value),
    BytesBase64(String),
}

impl Serialize for Content {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => Wire::Text(text.clone()),
            Self::Structured(value) => Wire::Json(value.clone()),
            Self::Bytes(bytes) => Wire::BytesBase64(STANDARD.encode(bytes)),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Wire::deserialize(deserializer)? {
            Wire::Text(text) => Self::Text(text),
            Wire::Json(value) => Self::Structured(value),
            Wire::BytesBase64(text) => Self::Bytes(STANDARD.decode(&text).map_err(|error| {
                serde::de::Error::custom(Error::invalid("bytes_base64", error, "standard base64"))
            })?),
        })
    }
}
