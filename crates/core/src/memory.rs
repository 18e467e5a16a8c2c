//! A source that lives in memory: for tests, examples and small things.

use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;

use crate::{
    ContextSource, Cursor, DescriptorKey, DescriptorPage, Error, ProjectionProfile, ReadRequest, Revision,
    Role, SourceDescriptor, SourceError, SourceErrorKind, SourceId, SourceKind, SourceRead, SourceRef,
};

/// One text that a [`MemorySource`] offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryDocument {
    /// What to read.
    pub source_ref: SourceRef,
    /// What it is for.
    pub role: Role,
    /// One line about it.
    pub summary: String,
    /// What it says.
    pub text: String,
    /// Whether every package must carry it whole.
    pub required: bool,
    /// Higher comes first.
    pub priority: i64,
}

impl MemoryDocument {
    /// An optional piece of information.
    ///
    /// # Errors
    /// [`Error::Blank`] for a blank ref.
    pub fn new(source_ref: impl AsRef<str>, text: impl Into<String>) -> Result<Self, Error> {
        Ok(Self {
            source_ref: SourceRef::new(source_ref)?,
            role: Role::Information,
            summary: String::new(),
            text: text.into(),
            required: false,
            priority: 0,
        })
    }

    /// Makes it required.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

/// A source that lives in memory and is listed in the order in which its documents were put.
///
/// ```
/// use briefing_core::{ContextSource, MemoryDocument, MemorySource};
/// let notes = MemorySource::new("notes", "memory")?;
/// notes.put(MemoryDocument::new("n1", "The cooling pump is checked every week.")?);
/// assert_eq!(notes.source_kind().as_str(), "memory");
/// # Ok::<(), briefing_core::Error>(())
/// ```
#[derive(Debug)]
pub struct MemorySource {
    source_id: SourceId,
    source_kind: SourceKind,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    changes: u64,
    documents: Vec<MemoryDocument>,
}

impl MemorySource {
    /// An empty source.
    ///
    /// # Errors
    /// [`Error::Blank`] for a blank id or kind.
    pub fn new(source_id: impl AsRef<str>, source_kind: impl AsRef<str>) -> Result<Self, Error> {
        Ok(Self {
            source_id: SourceId::new(source_id)?,
            source_kind: SourceKind::new(source_kind)?,
            state: RwLock::default(),
        })
    }

    /// Puts a document, in the place of the one with the same ref if there is one, and moves the revision.
    pub fn put(&self, document: MemoryDocument) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.changes += 1;
        match state.documents.iter_mut().find(|old| old.source_ref == document.source_ref) {
            Some(old) => *old = document,
            None => state.documents.push(document),
        }
    }

    /// Removes a document and moves the revision; says whether it was there.
    pub fn remove(&self, source_ref: &str) -> bool {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let before = state.documents.len();
        state.documents.retain(|document| document.source_ref != *source_ref);
        let removed = state.documents.len() < before;
        state.changes += u64::from(removed);
        removed
    }

    fn read_state<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn revision(state: &State) -> Result<Revision, Error> {
    Revision::new(format!("r{}", state.changes))
}

#[async_trait]
impl ContextSource for MemorySource {
    fn source_id(&self) -> &SourceId {
        &self.source_id
    }

    fn source_kind(&self) -> &SourceKind {
        &self.source_kind
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        Ok(self.read_state(revision)?)
    }

    async fn enumerate_descriptors(
        &self,
        _profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        let start = match cursor {
            None => 0,
            Some(cursor) => cursor.as_str().parse::<usize>().map_err(|error| {
                SourceError::new(SourceErrorKind::Contract, "the cursor is not one of this source")
                    .with_cause(error)
            })?,
        };
        self.read_state(|state| {
            let revision = revision(state)?;
            let descriptors: Result<Vec<_>, Error> = state
                .documents
                .iter()
                .skip(start)
                .take(limit)
                .map(|document| {
                    let key = DescriptorKey::new(document.source_ref.as_str())?;
                    let mut descriptor = SourceDescriptor::new(
                        self.source_id.clone(),
                        revision.clone(),
                        key,
                        document.source_ref.clone(),
                    );
                    descriptor.role = document.role;
                    descriptor.summary.clone_from(&document.summary);
                    descriptor.index_text.clone_from(&document.text);
                    descriptor.estimated_chars = document.text.chars().count();
                    descriptor.required = document.required;
                    descriptor.priority = document.priority;
                    Ok(descriptor)
                })
                .collect();
            let descriptors = descriptors?;
            let end = start + descriptors.len();
            let next = (end < state.documents.len()).then(|| Cursor::new(end.to_string())).transpose()?;
            Ok(DescriptorPage::new(self.source_id.clone(), revision, descriptors, next)?)
        })
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        self.read_state(|state| {
            if let Some(form) = request.representation {
                return Err(SourceError::new(
                    SourceErrorKind::Unsupported,
                    format!("{source_ref} has no representation {form}"),
                ));
            }
            let document = state
                .documents
                .iter()
                .find(|document| document.source_ref == *source_ref)
                .ok_or_else(|| SourceError::not_found(source_ref.as_str()))?;
            Ok(SourceRead::text_window(
                self.source_id.clone(),
                revision(state)?,
                source_ref.clone(),
                &document.text,
                request,
            ))
        })
    }
}
