//! Custom sources come back by a builder of their kind, or the resume fails and says which is missing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;

use async_trait::async_trait;
use briefing_core::{
    ContextBinding, ContextReadIntent, ContextSource, Cursor, DescriptorPage, MemoryDocument, MemorySource,
    ProjectionProfile, ReadRequest, Revision, SourceError, SourceErrorKind, SourceId, SourceKind, SourceRead,
    SourceRecipe, SourceRef,
};
use briefing_execution::{Error, SourceRegistry, TaskExecution};
use briefing_record_store::{
    NewMemory, NewRecord, RecordFilter, RecordSourceOptions, RecordStore, RecordStoreContextSource,
    SessionMemory, SessionMemoryContextSource,
};
use briefing_task_workspace::{TaskWorkspace, WorkspaceSourceOptions};
use support::{bound, id};

/// A source of one text, with a recipe that says which.
struct Motto(MemorySource, String);

impl Motto {
    fn new(source_id: &str, text: &str) -> Self {
        let inner = MemorySource::new(source_id, "motto").unwrap();
        inner.put(MemoryDocument::new("motto", text).unwrap());
        Self(inner, text.to_owned())
    }
}

impl SourceRecipe for Motto {
    fn configuration(&self) -> serde_json::Value {
        serde_json::json!({ "text": self.1 })
    }
}

#[async_trait]
impl ContextSource for Motto {
    fn source_id(&self) -> &SourceId {
        self.0.source_id()
    }
    fn source_kind(&self) -> &SourceKind {
        self.0.source_kind()
    }
    async fn revision(&self) -> Result<Revision, SourceError> {
        self.0.revision().await
    }
    async fn enumerate_descriptors(
        &self,
        profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        self.0.enumerate_descriptors(profile, cursor, limit).await
    }
    async fn read_exact(&self, at: &SourceRef, request: &ReadRequest) -> Result<SourceRead, SourceError> {
        self.0.read_exact(at, request).await
    }
    fn recipe(&self) -> Option<&dyn SourceRecipe> {
        Some(self)
    }
}

fn kind() -> SourceKind {
    SourceKind::new("motto").unwrap()
}

async fn started(store: &RecordStore) {
    let execution = TaskExecution::builder("task")
        .source(Arc::new(Motto::new("mottos", "The pump comes first.")), bound("motto"))
        .records(store.clone())
        .recovery(true)
        .worker("worker")
        .execution_id(id("e"))
        .start()
        .await
        .unwrap();
    execution.read_task_context("worker", "execution", "the pump").await.unwrap();
}

async fn resume(store: &RecordStore, registry: &SourceRegistry) -> Result<TaskExecution, Error> {
    TaskExecution::resuming(store, &id("e")).worker("worker").registry(registry.clone()).open().await
}

#[tokio::test]
async fn a_kind_that_nobody_can_build_is_an_error_that_names_binding_and_kind() {
    let store = RecordStore::in_memory();
    started(&store).await;
    let refused = resume(&store, &SourceRegistry::new()).await.unwrap_err();
    assert_eq!(refused.code(), "execution.source_not_rebuilt");
    // A resume that fails gives the lease back, whatever the next worker is called.
    let other = TaskExecution::resume(&store, &id("e"), &SourceRegistry::new()).await.unwrap_err();
    assert_eq!(other.code(), "execution.source_not_rebuilt");
    let told = refused.to_string();
    assert!(told.contains("motto") && told.contains("register"), "{told}");
    assert!(matches!(refused, Error::SourceNotRebuilt { binding_id, .. } if binding_id == "motto"));

    let mut registry = SourceRegistry::new();
    registry.register(kind(), |stored| {
        let text = stored.configuration.as_ref().unwrap()["text"].as_str().unwrap();
        Ok(Arc::new(Motto::new(stored.source_id.as_str(), text)))
    });
    let execution = resume(&store, &registry).await.unwrap();
    let package = execution.read_task_context("worker", "execution", "the pump").await.unwrap();
    assert_eq!(package.blocks().len(), 0, "it was disclosed before");
    let package = execution.read_task_context("other", "execution", "the pump").await.unwrap();
    assert_eq!(package.blocks().len(), 1);
}

#[tokio::test]
async fn a_builder_that_fails_or_builds_another_source_fails_the_resume() {
    let store = RecordStore::in_memory();
    started(&store).await;
    let mut registry = SourceRegistry::new();
    registry.register(kind(), |_| Err(SourceError::new(SourceErrorKind::Unavailable, "no network")));
    let refused = resume(&store, &registry).await.unwrap_err();
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!((refused.code(), cause.as_str()), ("execution.source_not_rebuilt", "no network"));
    registry.register(kind(), |_| Ok(Arc::new(Motto::new("other", "The pump comes last."))));
    let refused = resume(&store, &registry).await.unwrap_err();
    assert_eq!(refused.code(), "execution.other_source");
}

#[tokio::test]
async fn built_in_sources_come_back_over_the_same_view() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("pump.md"), "The pump is in a file.\n").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("other.md"), "The pump is in another folder.\n").unwrap();
    let store = RecordStore::in_memory();
    let acme = store.view(&RecordFilter::new().scope("tenant", "acme")).unwrap();
    acme.put(NewRecord::new("notes", "The pump is in a record of acme.")).await.unwrap();
    store.put(NewRecord::new("notes", "The pump is in a record of nobody.")).await.unwrap();
    let memory = SessionMemory::new(&acme, "session").unwrap();
    memory.remember(NewMemory::new("The pump is in a memory.")).await.unwrap();
    let records = RecordStoreContextSource::new(&acme, RecordSourceOptions::new()).unwrap();
    let memories =
        SessionMemoryContextSource::new(&memory, RecordSourceOptions::new().source_id("mem")).unwrap();
    let other = TaskWorkspace::open(elsewhere.path()).unwrap();
    let other = other.source(WorkspaceSourceOptions::new().source_id("elsewhere")).unwrap();
    let execution = TaskExecution::builder("task")
        .workspace(TaskWorkspace::open(root.path()).unwrap())
        .workspace_source(WorkspaceSourceOptions::new(), bound("files"))
        .source(Arc::new(other), bound("elsewhere"))
        .source(Arc::new(records), bound("records"))
        .source(Arc::new(memories), ContextBinding { priority: 5, ..bound("memories") })
        .records(store.clone())
        .recovery(true)
        .worker("worker")
        .execution_id(id("e"))
        .start()
        .await
        .unwrap();
    let own = execution.workspace().unwrap();
    own.write(&support::path("mine.md"), "The pump is in a private file.\n", None).unwrap();
    let texts = |package: &briefing_core::ContextPackage| {
        let text = |block: &briefing_core::ContextBlock| {
            block.content.as_ref().unwrap().to_text().unwrap().into_owned()
        };
        package.blocks().iter().map(text).collect::<Vec<_>>()
    };
    let intent = ContextReadIntent::new("the pump").unwrap();
    let before = execution.read_task_context("one", "execution", intent.clone()).await.unwrap();
    // A memory is a record too, and acme's view holds it.
    assert_eq!(before.blocks().len(), 6, "{:?}", texts(&before));
    drop(execution);
    let execution = resume(&store, &SourceRegistry::new()).await.unwrap();
    let after = execution.read_task_context("two", "execution", intent).await.unwrap();
    assert_eq!(texts(&after), texts(&before));
    assert_eq!(after.source_revisions(), before.source_revisions());
    assert!(!texts(&after).iter().any(|text| text.contains("nobody")));
}

#[tokio::test]
async fn a_view_that_sees_less_than_a_source_did_is_refused_for_it() {
    let store = RecordStore::in_memory();
    let acme = store.view(&RecordFilter::new().scope("tenant", "acme")).unwrap();
    let all = RecordSourceOptions::new().source_id("all");
    let records = RecordStoreContextSource::new(&store, all).unwrap();
    let execution = TaskExecution::builder("task")
        .source(Arc::new(records), bound("records"))
        .records(acme.clone())
        .recovery(true)
        .worker("worker")
        .execution_id(id("e"))
        .start();
    drop(execution.await.unwrap());
    let refused = resume(&acme, &SourceRegistry::new()).await.unwrap_err();
    assert_eq!(refused.code(), "execution.source_not_rebuilt");
    resume(&store, &SourceRegistry::new()).await.map(drop).unwrap_or_else(|error| panic!("{error}"));
    let other = RecordStore::in_memory();
    assert_eq!(resume(&other, &SourceRegistry::new()).await.unwrap_err().code(), "execution.unknown");
}
