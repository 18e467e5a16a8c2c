//! What several tests of executions need.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::{ContextBinding, ContextSource, MemoryDocument, MemorySource, PortError, Role, RunId};
use briefing_execution::{DeliveryVerifier, ProposedDelivery, Verdict};
use briefing_record_store::{EventFilter, RecordStore, StoredRuntimeEvent};
use briefing_task_workspace::{ExecutionId, TaskWorkspace, WorkspaceOptions, WorkspacePath};

pub(crate) fn say(text: &str) {
    writeln!(std::io::stdout().lock(), "{text}").unwrap();
}

pub(crate) fn id(text: &str) -> ExecutionId {
    ExecutionId::new(text).unwrap()
}

pub(crate) fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

pub(crate) fn notes(texts: &[(&str, &str)]) -> Arc<MemorySource> {
    let notes = MemorySource::new("notes", "memory").unwrap();
    for (name, text) in texts {
        notes.put(MemoryDocument::new(name, *text).unwrap());
    }
    Arc::new(notes)
}

pub(crate) fn bound(name: &str) -> ContextBinding {
    ContextBinding::named(briefing_core::BindingId::new(name).unwrap())
}

pub(crate) fn entry(text: &str) -> briefing_core::ContextEntry {
    briefing_core::ContextEntry::new(Role::Information, text)
}

pub(crate) fn writable(root: &Path) -> TaskWorkspace {
    TaskWorkspace::open_with(root, WorkspaceOptions::read_write()).unwrap()
}

/// All events of an execution.
pub(crate) async fn events(store: &RecordStore, execution: &str) -> Vec<StoredRuntimeEvent> {
    store.events(&RunId::new(execution).unwrap(), &EventFilter::default()).await.unwrap()
}

pub(crate) async fn event_types(store: &RecordStore, execution: &str) -> Vec<String> {
    events(store, execution).await.into_iter().map(|event| event.event_type).collect()
}

/// Accepts what holds a word in each file.
pub(crate) struct Wants(pub(crate) &'static str);

#[async_trait]
impl DeliveryVerifier for Wants {
    async fn verify(&self, delivery: &ProposedDelivery) -> Result<Verdict, PortError> {
        let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(self.0);
        if delivery.files.iter().all(|file| holds(&file.bytes)) {
            return Ok(Verdict::Accepted);
        }
        Ok(Verdict::Rejected { reasons: vec![format!("{:?} is missing", self.0)] })
    }
}

/// Copies a folder with all that is in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to: PathBuf = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// A source that fails to be listed, and moves while it is read as often as it is told.
pub(crate) struct Restless {
    pub(crate) inner: Arc<MemorySource>,
    pub(crate) moves: std::sync::atomic::AtomicUsize,
}

#[async_trait]
impl ContextSource for Restless {
    fn source_id(&self) -> &briefing_core::SourceId {
        self.inner.source_id()
    }
    fn source_kind(&self) -> &briefing_core::SourceKind {
        self.inner.source_kind()
    }
    async fn revision(&self) -> Result<briefing_core::Revision, briefing_core::SourceError> {
        self.inner.revision().await
    }
    async fn enumerate_descriptors(
        &self,
        profile: &briefing_core::ProjectionProfile,
        cursor: Option<&briefing_core::Cursor>,
        limit: usize,
    ) -> Result<briefing_core::DescriptorPage, briefing_core::SourceError> {
        self.inner.enumerate_descriptors(profile, cursor, limit).await
    }
    async fn read_exact(
        &self,
        source_ref: &briefing_core::SourceRef,
        request: &briefing_core::ReadRequest,
    ) -> Result<briefing_core::SourceRead, briefing_core::SourceError> {
        use std::sync::atomic::Ordering;
        let read = self.inner.read_exact(source_ref, request).await;
        let left = self.moves.load(Ordering::SeqCst);
        if left > 0 {
            self.moves.store(left - 1, Ordering::SeqCst);
            self.inner.put(MemoryDocument::new("other", format!("something about boats {left}")).unwrap());
        }
        read
    }
}
