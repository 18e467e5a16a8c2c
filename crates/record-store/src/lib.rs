//! RecordStore: what must outlive the process. Records with versions, search and links; checkpoints, snapshots, events and
//! leases of runs; the memory of sessions; and the context sources over them.
//!
//! It never touches a task's files, never assembles a prompt, and never judges what is relevant to a task.
//!
//! ```
//! use briefing_record_store::{StoreMode, NewRecord, RecordStore, SearchRequest};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_record_store::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let root = folder.path();
//! let store = RecordStore::open(root, StoreMode::ReadWrite).await?;
//! store.put(NewRecord::new("notes", "冷却水泵每周检查一次。").summary("Pump check")).await?;
//! let hits = store.search(&SearchRequest::new("冷却水泵")).await?;
//! assert_eq!(hits[0].record.summary.as_deref(), Some("Pump check"));
//! # Ok(()) }
//! ```

#[cfg(feature = "conformance")]
pub mod conformance;
mod content;
mod error;
mod filter;
mod lease;
mod link;
mod marks;
mod memory;
mod memory_store;
mod page;
pub mod port;
mod record;
mod run;
mod search;
mod sources;
mod sqlite;
mod store;
mod transfer;

pub use content::{ContentFormat, RecordContent, RecordContentSegment, Window};
pub use error::{Cause, Error};
pub use filter::RecordFilter;
pub use lease::{ExecutionLease, LeaseClaim, LeaseProof};
pub use link::{Evidence, LinkFilter, NewLink, RecordLink};
pub use memory::{MEMORY_COLLECTION, MemoryScope, NewMemory, Recall, SessionMemory};
pub use page::{ListRequest, Order, RecordCursor, RecordPage};
pub use record::{NewRecord, Record, RecordRef, RecordReference, Tombstone};
pub use run::{
    Checkpoint, EventContext, EventFilter, NewCheckpoint, NewEvent, NewSnapshot, NewStep, PruneReport,
    Snapshot, StepOutcome, StoredRuntimeEvent,
};
pub use search::{HitReason, SearchHit, SearchMethod, SearchRequest};
pub use sources::{RecordSourceOptions, RecordStoreContextSource, SessionMemoryContextSource};
pub use store::{
    BodyState, Capabilities, ContentStream, Durability, Journal, OmittedRecords, RecordStore,
    RetrievalDiagnostic, RetrievalPackage, RetrievalSelection, RetrieveRequest, RetrievedItem, StoreMode,
    StoreOptions,
};
pub use transfer::{EXPORT_SCHEMA, StoreStats, TransferLine, TransferReport};
