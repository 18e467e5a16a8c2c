//! `ContextReader`: retrieval bound to one consumer and phase, which returns an immutable, budgeted `ContextPackage`.
//!
//! It selects among what the sources offer, reads the exact content back, keeps the budget, cites every block and
//! accounts for everything that it leaves out. It stores no source content, writes nothing and has no side effects
//! beyond what it remembers of its own deliveries. It knows sources only through the ports of `briefing-core`.
//!
//! ```
//! use std::sync::Arc;
//! use briefing_core::{ContextBinding, ContextBudget, ContextConsumer, ContextReadIntent, MemoryDocument, MemorySource};
//! use briefing_core::RenderFormat;
//! use briefing_context_reader::{ContextReading, render};
//! use briefing_task_context::TaskContext;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = TaskContext::new("maintenance")?;
//! let notes = MemorySource::new("notes", "memory")?;
//! notes.put(MemoryDocument::new("pump", "The cooling pump is checked every week.")?);
//! notes.put(MemoryDocument::new("fan", "The fan runs at night.")?);
//! context.attach(Arc::new(notes), ContextBinding::default())?;
//!
//! let mut reader = context
//!     .reader(ContextConsumer::new("planner")?)
//!     .budget(ContextBudget::tokens(200))
//!     .open()
//!     .await?;
//! let package = reader.read(&ContextReadIntent::new("when is the pump checked?")?).await?;
//!
//! assert_eq!(package.blocks()[0].source_ref, "pump");
//! assert!(render(&package, RenderFormat::Markdown).contains("every week"));
//! # Ok(()) }
//! ```

mod candidate;
mod continuation;
mod deliver;
mod disclosure;
mod error;
mod fit;
mod media;
mod model_selector;
mod pins;
mod readback;
mod reader;
mod render;
mod required;
mod select;
mod state;
mod state_change;

pub use error::Error;
pub use model_selector::ModelSelector;
pub use pins::MovedPin;
pub use reader::{ContextReader, ContextReading, ReaderBuilder, RestoreBuilder};
pub use render::{render, rendered_tokens};
pub use required::ensure_required;
pub use select::SelectionPolicy;
pub use state::{READER_STATE_SCHEMA, ReaderState};
pub use state_change::{READER_STATE_CHANGE_SCHEMA, ReaderStateChange};
