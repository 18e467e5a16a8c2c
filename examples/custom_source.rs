//! An adapter of one's own: a source of environment facts, checked with the conformance suite and read like any other.

use std::sync::Arc;

use async_trait::async_trait;
use briefing::core::{
    Cursor, DescriptorKey, DescriptorPage, Digest, ProjectionProfile, ReadRequest, Revision,
    SourceDescriptor, SourceError, SourceId, SourceKind, SourceRead, conformance,
};
use briefing::prelude::*;

/// Offers a list of facts, each as one descriptor.
struct Facts {
    id: SourceId,
    kind: SourceKind,
    facts: Vec<(SourceRef, String)>,
}

impl Facts {
    fn revision(&self) -> Result<Revision, SourceError> {
        let all: String = self.facts.iter().map(|(name, text)| format!("{name}\0{text}\0")).collect();
        Ok(Revision::new(Digest::of(all.as_bytes()).short())?)
    }
}

#[async_trait]
impl ContextSource for Facts {
    fn source_id(&self) -> &SourceId {
        &self.id
    }

    fn source_kind(&self) -> &SourceKind {
        &self.kind
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        Self::revision(self)
    }

    async fn enumerate_descriptors(
        &self,
        _: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        let start = cursor.and_then(|cursor| cursor.as_str().parse().ok()).unwrap_or(0);
        let revision = Self::revision(self)?;
        let mut page = Vec::new();
        for (name, text) in self.facts.iter().skip(start).take(limit) {
            let key = DescriptorKey::new(name.as_str())?;
            let mut descriptor = SourceDescriptor::new(self.id.clone(), revision.clone(), key, name.clone());
            descriptor.index_text = text.clone();
            descriptor.estimated_chars = text.chars().count();
            page.push(descriptor);
        }
        let end = start + page.len();
        let next = (end < self.facts.len()).then(|| Cursor::new(end.to_string())).transpose()?;
        Ok(DescriptorPage::new(self.id.clone(), revision, page, next)?)
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        let fact = self.facts.iter().find(|(name, _)| name == source_ref);
        let (_, text) = fact.ok_or_else(|| SourceError::not_found(source_ref.as_str()))?;
        Ok(SourceRead::text_window(self.id.clone(), Self::revision(self)?, source_ref.clone(), text, request))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = Facts {
        id: SourceId::new("environment")?,
        kind: SourceKind::new("environment")?,
        facts: vec![
            (SourceRef::new("os")?, format!("The operating system is {}.", std::env::consts::OS)),
            (SourceRef::new("architecture")?, format!("The processor is {}.", std::env::consts::ARCH)),
        ],
    };
    let violations = conformance::check_source(&source).await;
    assert!(violations.is_empty(), "{violations:?}");

    let context = TaskContext::new("custom-source")?;
    context.attach(Arc::new(source), ContextBinding::default())?;
    let mut reader = context.reader(ContextConsumer::new("assistant")?).open().await?;
    let package = reader.read(&ContextReadIntent::new("which operating system is this?")?).await?;
    println!("{}", render(&package, RenderFormat::Plain));
    Ok(())
}
