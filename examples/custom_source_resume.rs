//! A resume with a source of one's own: it fails and says which binding, until a builder for the kind is registered.

use std::sync::Arc;

use async_trait::async_trait;
use briefing::core::{
    Cursor, DescriptorPage, MemoryDocument, MemorySource, ProjectionProfile, ReadRequest, Revision,
    SourceError, SourceErrorKind, SourceId, SourceKind, SourceRead, SourceRecipe,
};
use briefing::prelude::*;
use serde_json::{Value, json};

const KIND: &str = "pinned_repository";

/// Files of a repository at one commit, as its adapter would offer them.
struct PinnedRepository {
    files: MemorySource,
    commit: String,
}

impl PinnedRepository {
    fn open(commit: &str) -> Result<Self, SourceError> {
        let files = MemorySource::new("repository", KIND)?;
        let text = format!("At {commit} the pump is driven by pump.rs.");
        files.put(MemoryDocument::new("src/pump.rs", text)?);
        Ok(Self { files, commit: commit.to_owned() })
    }
}

impl SourceRecipe for PinnedRepository {
    fn configuration(&self) -> Value {
        json!({ "commit": self.commit })
    }
}

#[async_trait]
impl ContextSource for PinnedRepository {
    fn source_id(&self) -> &SourceId {
        self.files.source_id()
    }

    fn source_kind(&self) -> &SourceKind {
        self.files.source_kind()
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        self.files.revision().await
    }

    async fn enumerate_descriptors(
        &self,
        profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        self.files.enumerate_descriptors(profile, cursor, limit).await
    }

    async fn read_exact(&self, at: &SourceRef, request: &ReadRequest) -> Result<SourceRead, SourceError> {
        self.files.read_exact(at, request).await
    }

    fn recipe(&self) -> Option<&dyn SourceRecipe> {
        Some(self)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = RecordStore::in_memory();
    let id = ExecutionId::new("review-1")?;
    let execution = TaskExecution::builder("review")
        .source(Arc::new(PinnedRepository::open("4f2a91c")?), ContextBinding::default())
        .records(store.clone())
        .recovery(true)
        .worker("reviewer")
        .execution_id(id.clone())
        .start()
        .await?;
    let package = execution.read_task_context("reviewer", "execution", "what drives the pump?").await?;
    println!("read {} block(s)", package.blocks().len());
    drop(execution);

    let mut registry = SourceRegistry::new();
    let resume = |registry: &SourceRegistry| {
        TaskExecution::resuming(&store, &id).worker("reviewer").registry(registry.clone()).open()
    };
    let Err(refused) = resume(&registry).await else { return Err("nobody could build the source".into()) };
    println!("{}: {refused}", refused.code());

    registry.register(SourceKind::new(KIND)?, |bound| {
        let commit = bound.configuration.as_ref().and_then(|stored| stored["commit"].as_str());
        let missing = || SourceError::new(SourceErrorKind::Contract, "the recipe names no commit");
        Ok(Arc::new(PinnedRepository::open(commit.ok_or_else(missing)?)?))
    });
    let execution = resume(&registry).await?;
    let again = execution.read_task_context("reviewer", "execution", "what drives the pump?").await?;
    println!(
        "resumed; {} new block(s), {} package(s)",
        again.blocks().len(),
        execution.packages().await.len()
    );
    Ok(())
}
