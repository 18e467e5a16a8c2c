//! `TaskContext`: a task's entries, its source bindings, and one internal derived index over what the sources offer.
//!
//! It aggregates; it holds no truth of its own. Files, persistence and the judgement of relevance belong to others: the
//! sources keep the content, and a `ContextReader` decides what a consumer sees. The index is derived from the sources'
//! descriptors, is rebuilt or brought up to date when a source's revision moves, and never shows through the API.
//!
//! ```
//! use std::sync::Arc;
//! use briefing_core::{ContextBinding, ContextEntry, MemoryDocument, MemorySource, Role};
//! use briefing_task_context::TaskContext;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = TaskContext::new("review-42")?;
//! context.put(ContextEntry::new(Role::Instruction, "Do not change any source file.").required())?;
//!
//! let notes = MemorySource::new("notes", "memory")?;
//! notes.put(MemoryDocument::new("n1", "The pump is checked every week.")?);
//! context.attach(Arc::new(notes), ContextBinding::default().with_description("what was learned so far"))?;
//!
//! let snapshot = context.snapshot().await;
//! assert!(context.is_current(&snapshot).await);
//! assert_eq!(snapshot.context_revision(), 2);
//! # Ok(()) }
//! ```

mod context;
mod error;
mod index;
mod snapshot;

pub use briefing_core::SystemEnvironment;
pub use context::{CatalogEntry, TaskContext, TaskContextBuilder};
pub use error::Error;
pub use index::{
    BindingOffer, Hidden, IndexAnswer, IndexCache, IndexConfig, IndexQuery, IndexStrategy, IndexedDescriptor,
    Offer, Progress,
};
pub use snapshot::{ContextSnapshot, PinnedEntry, PinnedSource, UnknownRevision};
