//! `TaskWorkspace`: one file boundary, and the [`ContextSource`](briefing_core::ContextSource) over it.
//!
//! This crate owns the folder of a task. Whatever is read goes through one handle on that folder, so no link, no `..` and
//! no race leads out of it. It offers the files as context: found by a walk that obeys `.gitignore`, described file by
//! file and passage by passage, and read back exactly or not at all.
//!
//! Whatever is written is written whole or not at all: in the private area `.briefing` first, synced, and moved to its path
//! in one step, on the condition that the path is still as the caller expects. A read-only workspace, the default, keeps
//! new files apart and never changes an old one. What is to be verified before it counts is staged, and promoted as it was
//! verified. No operation follows a link out or reaches the private area, and none keeps records or memory.
//!
//! | to | use |
//! |---|---|
//! | read | [`read`](TaskWorkspace::read), [`read_text`](TaskWorkspace::read_text), [`read_formatted`](TaskWorkspace::read_formatted), [`inspect`](TaskWorkspace::inspect) |
//! | find | [`list`](TaskWorkspace::list), [`glob`](TaskWorkspace::glob), [`grep`](TaskWorkspace::grep), [`search`](TaskWorkspace::search) |
//! | write | [`write`](TaskWorkspace::write), [`append`](TaskWorkspace::append), [`edit`](TaskWorkspace::edit), [`apply_patch`](TaskWorkspace::apply_patch), [`write_formatted`](TaskWorkspace::write_formatted) |
//! | change the tree | [`create_folder`](TaskWorkspace::create_folder), [`rename`](TaskWorkspace::rename), [`copy`](TaskWorkspace::copy), [`remove_file`](TaskWorkspace::remove_file), [`remove_folder`](TaskWorkspace::remove_folder) |
//! | deliver | [`stage`](TaskWorkspace::stage), [`promote`](TaskWorkspace::promote), [`promote_all`](TaskWorkspace::promote_all), [`discard`](TaskWorkspace::discard), [`open_delivery`](TaskWorkspace::open_delivery) |
//! | cite | [`file_ref`](TaskWorkspace::file_ref), [`resolve`](TaskWorkspace::resolve), [`AliasTable`] |
//! | offer as context | [`source`](TaskWorkspace::source) |
//!
//! Confinement is by directory handles: on Linux `openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`, elsewhere
//! `cap-std`, folder by folder. A folder that somebody moves out of the root while it is written to takes the write along.
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
mod change;
mod delivery;
mod edit;
mod error;
mod find;
mod formatted;
mod glob;
pub mod handler;
mod hold;
mod identity;
mod ignored;
mod inspect;
mod name;
mod options;
mod patched;
mod path;
mod place;
mod policy;
mod put;
mod read;
mod recover;
mod secret;
mod source;
mod staging;
mod steps;
mod swap;
mod target;
mod text;
mod threads;
mod tree;
mod unit;
mod walk;
mod write;

pub use alias::AliasTable;
pub use boundary::TaskWorkspace;
pub use change::EditedFile;
pub use delivery::Delivery;
pub use edit::{Edit, EditError, Edited, FilePatch, Mismatch, Patch, PatchKind, apply_edits, unified_diff};
pub use error::{Error, FileKind};
pub use find::{
    EntryKind, GrepCursor, GrepMatch, GrepPage, GrepRequest, ListRequest, Listing, ListingEntry, SearchHit,
    SearchPage, SearchRequest,
};
#[cfg(feature = "conformance")]
pub use handler::conformance;
pub use handler::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError, Handlers};
pub use identity::FileRef;
pub use inspect::FileInfo;
pub use options::{ExecutionId, WorkspaceMode, WorkspaceOptions};
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
