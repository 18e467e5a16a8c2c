//! What a source says about a piece of content before anybody reads it.

use serde::{Deserialize, Serialize};

use crate::{ContextDiagnostic, DescriptorKey, Digest, Error, Metadata, Revision, Role, SourceId, SourceRef};

/// Describes one piece of content that a source offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceDescriptor {
    /// Unique within the source's revision.
    pub descriptor_key: DescriptorKey,
    /// The source that offers it.
    pub source_id: SourceId,
    /// The revision in which it is offered.
    pub source_revision: Revision,
    /// What to read.
    pub source_ref: SourceRef,
    /// What it is for.
    pub role: Role,
    /// A short name.
    #[serde(default)]
    pub title: String,
    /// One line for selectors.
    #[serde(default)]
    pub summary: String,
    /// The text by which it is found; dropped once it is indexed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub index_text: String,
    /// How many chars an exact read is expected to give.
    #[serde(default)]
    pub estimated_chars: usize,
    /// The key of the descriptor whose content contains this one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_key: Option<DescriptorKey>,
    /// Whether every package must carry it whole.
    #[serde(default)]
    pub required: bool,
    /// Higher comes first.
    #[serde(default)]
    pub priority: i64,
    /// The digest of the whole content, where the source knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_digest: Option<Digest>,
    /// Facts for filters, media policy and citations; `path`, `lines`, `content_kind`, `media_type`,
    /// `context_representation` and `total_bytes` are understood.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

impl SourceDescriptor {
    /// An optional descriptor with role information whose title is its ref; set the rest on the value.
    #[must_use]
    pub fn new(
        source_id: SourceId,
        source_revision: Revision,
        descriptor_key: DescriptorKey,
        source_ref: SourceRef,
    ) -> Self {
        Self {
            title: source_ref.as_str().to_owned(),
            descriptor_key,
            source_id,
            source_revision,
            source_ref,
            role: Role::Information,
            summary: String::new(),
            index_text: String::new(),
            estimated_chars: 0,
            parent_key: None,
            required: false,
            priority: 0,
            content_digest: None,
            metadata: Metadata::new(),
        }
    }
}

/// Where the next page of descriptors begins: the source's own text, not blank, at most 4,096 chars.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cursor(String);

impl Cursor {
    /// The longest cursor, in chars.
    pub const MAX_CHARS: usize = 4_096;

    /// Takes a cursor's text.
    ///
    /// # Errors
    /// [`Error::Blank`], or [`Error::Invalid`] past [`Cursor::MAX_CHARS`].
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let text = text.into();
        if text.trim().is_empty() {
            return Err(Error::Blank { field: "next_cursor" });
        }
        let chars = text.chars().count();
        if chars > Self::MAX_CHARS {
            return Err(Error::invalid("next_cursor", format!("{chars} chars"), "at most 4096 chars"));
        }
        Ok(Self(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Cursor {
    type Error = Error;
    fn try_from(text: String) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl From<Cursor> for String {
    fn from(cursor: Cursor) -> String {
        cursor.0
    }
}

/// One page of a source's descriptors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DescriptorPage {
    source_id: SourceId,
    source_revision: Revision,
    descriptors: Vec<SourceDescriptor>,
    next_cursor: Option<Cursor>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<ContextDiagnostic>,
}

impl DescriptorPage {
    /// A page whose descriptors all carry the page's own id and revision.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the descriptor that carries another one.
    pub fn new(
        source_id: SourceId,
        source_revision: Revision,
        descriptors: Vec<SourceDescriptor>,
        next_cursor: Option<Cursor>,
    ) -> Result<Self, Error> {
        for descriptor in &descriptors {
            if descriptor.source_id != source_id || descriptor.source_revision != source_revision {
                return Err(Error::invalid(
                    format!("descriptor {}", descriptor.descriptor_key),
                    format!("{} at {}", descriptor.source_id, descriptor.source_revision),
                    format!("{source_id} at {source_revision}, as its page"),
                ));
            }
        }
        Ok(Self { source_id, source_revision, descriptors, next_cursor, diagnostics: Vec::new() })
    }

    /// Adds what the source could not offer, or only in a worse form.
    #[must_use]
    pub fn with_diagnostics(mut self, diagnostics: Vec<ContextDiagnostic>) -> Self {
        self.diagnostics = diagnostics;
        self
    }

    /// The source.
    #[must_use]
    pub fn source_id(&self) -> &SourceId {
        &self.source_id
    }

    /// The revision.
    #[must_use]
    pub fn source_revision(&self) -> &Revision {
        &self.source_revision
    }

    /// The descriptors, in the source's order.
    #[must_use]
    pub fn descriptors(&self) -> &[SourceDescriptor] {
        &self.descriptors
    }

    /// Where the next page begins; `None` on the last one.
    #[must_use]
    pub fn next_cursor(&self) -> Option<&Cursor> {
        self.next_cursor.as_ref()
    }

    /// What the source could not offer, or only in a worse form.
    #[must_use]
    pub fn diagnostics(&self) -> &[ContextDiagnostic] {
        &self.diagnostics
    }

    /// Takes the page apart: descriptors, diagnostics, and where the next page begins.
    #[must_use]
    pub fn into_parts(self) -> (Vec<SourceDescriptor>, Vec<ContextDiagnostic>, Option<Cursor>) {
        (self.descriptors, self.diagnostics, self.next_cursor)
    }
}
