//! `TaskWorkspace`: one file boundary, and the [`ContextSource`](briefing_core::ContextSource) over it.
//!
//! This crate owns the folder of a task. Whatever is read goes through one handle on that folder, so no link, no `..` and
//! no race leads out of it. It offers the files as context: found by a walk that obeys `.gitignore`, described file by
//! file and passage by passage, and read back exactly or not at all. It never writes, never follows a link out, and never
//! opens the private folder `.briefing`.
//!
//! ```
//! use briefing_core::{ContextSource, ReadRequest, SourceRef};
//! use briefing_task_workspace::{TaskWorkspace, WorkspacePath, WorkspaceSourceOptions};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("pump.md"), "# Pump\nChecked every week.\n")?;
//!
//! let workspace = TaskWorkspace::open(folder.path())?;
//! let file = workspace.read(&WorkspacePath::new("pump.md")?, 1_000)?;
//! assert_eq!((file.total_bytes, file.truncated), (27, false));
//! assert_eq!(WorkspacePath::new("../other").unwrap_err().code(), "workspace.outside_boundary");
//!
//! let source = workspace.source(WorkspaceSourceOptions::new())?;
//! let read = source.read_exact(&SourceRef::new("pump.md")?, &ReadRequest::whole(6)).await?;
//! assert_eq!(read.content.to_text().unwrap(), "# Pump");
//! # Ok(()) }
//! ```

mod alias;
mod area;
mod beneath;
mod boundary;
mod delivery;
mod edit;
mod error;
mod find;
mod hold;
mod identity;
mod inspect;
pub mod handler;
mod name;
mod options;
mod path;
mod place;
mod policy;
mod put;
mod read;
mod recover;
mod source;
mod staging;
mod steps;
mod swap;
mod target;
mod text;
mod tree;
mod unit;
mod walk;
mod write;

pub use alias::AliasTable;
pub use boundary::TaskWorkspace;
pub use delivery::Delivery;
pub use edit::{Edit, EditError, Edited, FilePatch, Mismatch, Patch, PatchKind, apply_edits, unified_diff};
pub use error::{Error, FileKind};
pub use find::{
    EntryKind, GrepCursor, GrepMatch, GrepPage, GrepRequest, ListRequest, Listing, ListingEntry, SearchHit, SearchPage,
    SearchRequest,
};
pub use identity::FileRef;
pub use inspect::FileInfo;
pub use options::{ExecutionId, WorkspaceMode, WorkspaceOptions};
#[cfg(feature = "conformance")]
pub use handler::conformance;
pub use handler::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError, Handlers};
pub use path::WorkspacePath;
pub use policy::WritePolicy;
pub use read::{FileIdentity, FileRead};
pub use recover::{RecoveredUnit, UnitEnd};
pub use source::{WorkspaceSource, WorkspaceSourceOptions};
pub use staging::{Candidate, CandidateId};
pub use steps::Step;
#[cfg(feature = "failpoints")]
pub use steps::StepHook;
pub use target::TargetState;
pub use text::{TextRead, TextWindow};
pub use tree::Removed;
pub use write::{Expected, Written};
