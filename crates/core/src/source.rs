//! The port through which sources are read.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    ChangeFeed, Completeness, Content, ContextDiagnostic, Cursor, DescriptorPage, Digest, Metadata,
    ProjectionProfile, Representation, Revision, SourceError, SourceId, SourceKind, SourceRef,
};

/// How much of a ref to read, and in which form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadRequest {
    /// The most chars to return. A source returns fewer, never more.
    pub max_chars: usize,
    /// Where to begin, in chars from the start of the content.
    #[serde(default)]
    pub start_char: usize,
    /// The form; `None` is the source's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub representation: Option<Representation>,
}

impl ReadRequest {
    /// From the start, at most `max_chars` chars, in the source's own form.
    #[must_use]
    pub fn whole(max_chars: usize) -> Self {
        Self { max_chars, start_char: 0, representation: None }
    }

    /// Asks for another form.
    #[must_use]
    pub fn as_representation(mut self, representation: Representation) -> Self {
        self.representation = Some(representation);
        self
    }

    /// Begins later, in chars.
    #[must_use]
    pub fn starting_at(mut self, start_char: usize) -> Self {
        self.start_char = start_char;
        self
    }
}

/// What an exact read gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceRead {
    /// The source that was read.
    pub source_id: SourceId,
    /// The revision that was read.
    pub source_revision: Revision,
    /// The ref that was read.
    pub source_ref: SourceRef,
    /// The content.
    pub content: Content,
    /// How much of the whole it is.
    pub completeness: Completeness,
    /// Where the rest begins, in chars from the start of the content; only on a truncated read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_range_start: Option<usize>,
    /// The digest of the *whole* content, where the source knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_digest: Option<Digest>,
    /// Other refs that the content rests on, without repeats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<SourceRef>,
    /// Facts about this read; `context_representation` proves the form of a parsed document.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// What is worse about this read than it could be, for instance a guessed encoding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<ContextDiagnostic>,
}

impl SourceRead {
    /// A complete read; set the rest on the value.
    #[must_use]
    pub fn complete(
        source_id: SourceId,
        source_revision: Revision,
        source_ref: SourceRef,
        content: impl Into<Content>,
    ) -> Self {
        Self {
            source_id,
            source_revision,
            source_ref,
            content: content.into(),
            completeness: Completeness::Complete,
            next_range_start: None,
            content_digest: None,
            refs: Vec::new(),
            metadata: Metadata::new(),
            diagnostics: Vec::new(),
        }
    }

    /// A read of `text` as `request` asks for it: the window is cut on a char border, a cut window is
    /// [`Completeness::Truncated`], and what is left is named by `next_range_start`.
    #[must_use]
    pub fn text_window(
        source_id: SourceId,
        source_revision: Revision,
        source_ref: SourceRef,
        text: &str,
        request: &ReadRequest,
    ) -> Self {
        let begin = text.char_indices().nth(request.start_char).map_or(text.len(), |(at, _)| at);
        let rest = text.get(begin..).unwrap_or_default();
        let end = rest.char_indices().nth(request.max_chars).map(|(at, _)| at);
        let window = end.map_or(rest, |end| rest.get(..end).unwrap_or_default());
        let mut read = Self::complete(source_id, source_revision, source_ref, window);
        read.content_digest = Some(Digest::of(text.as_bytes()));
        if end.is_some() {
            read.next_range_start = Some(request.start_char.saturating_add(request.max_chars));
        }
        if end.is_some() || request.start_char > 0 {
            read.completeness = Completeness::Truncated;
        }
        read
    }
}

/// A source of context: it describes what it holds and returns exact, bounded content. It never judges relevance.
///
/// Abilities that not every source has are methods that answer `None` unless overridden. A custom adapter can be checked
/// with [`conformance`](crate::conformance) (feature `conformance`).
#[async_trait]
pub trait ContextSource: Send + Sync {
    /// The source's name, stable across restarts.
    fn source_id(&self) -> &SourceId;

    /// What sort of source it is.
    fn source_kind(&self) -> &SourceKind;

    /// The current version of everything it offers. Two equal revisions mean equal listings and equal contents.
    ///
    /// # Errors
    /// [`SourceError`] where the source is out of reach.
    async fn revision(&self) -> Result<Revision, SourceError>;

    /// Lists descriptors, at most `limit` a page, in a stable order.
    ///
    /// # Errors
    /// [`SourceError`] where the listing fails; a caller then treats the whole source as failed.
    async fn enumerate_descriptors(
        &self,
        profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError>;

    /// Reads a ref, exactly and within the request's limit.
    ///
    /// # Errors
    /// [`SourceError`]: not found, changed since it was described, unreadable, or not available in that form.
    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError>;

    /// The ability to find a window inside a ref.
    fn scoped_read(&self) -> Option<&dyn ScopedRead> {
        None
    }

    /// The ability to say what changed.
    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        None
    }

    /// The ability to be rebuilt after a restart.
    fn recipe(&self) -> Option<&dyn SourceRecipe> {
        None
    }
}

/// An optional ability: to choose, inside a ref that is already selected and authorised, the bounded window around a
/// locator. It is deterministic and is no second relevance judgement.
#[async_trait]
pub trait ScopedRead: Send + Sync {
    /// Reads the window of `source_ref` around the first occurrence of `locator`, or from the start where there is none.
    ///
    /// # Errors
    /// As [`ContextSource::read_exact`].
    async fn read_scoped(
        &self,
        source_ref: &SourceRef,
        locator: &str,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError>;
}

/// An optional ability: to say how this source can be built again after a restart.
pub trait SourceRecipe: Send + Sync {
    /// The configuration that the adapter's own constructor understands, as JSON; the adapter is found by source kind.
    fn configuration(&self) -> serde_json::Value;
}
