//! The read-only block of a host's pipeline.

use std::sync::Arc;

use briefing_context_reader::{ContextReader, Error};
use briefing_core::{ContextPackage, ContextReadIntent};

/// Reads a package with a reader that the caller has bound, and does nothing else: no event, no consumption. A package
/// without something that is required is not delivered, and the reader remembers nothing of it.
///
/// ```
/// use briefing_context_reader::ContextReading;
/// use briefing_core::{ContextConsumer, ContextEntry, ContextReadIntent, Role};
/// use briefing_execution::context_read;
/// use briefing_task_context::TaskContext;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let context = TaskContext::new("maintenance")?;
/// context.put(ContextEntry::new(Role::Information, "The pump is checked every week."))?;
/// let mut reader = context.reader(ContextConsumer::new("pipeline")?).open().await?;
/// let package = context_read(&mut reader, &ContextReadIntent::new("the pump")?).await?;
/// assert_eq!(package.blocks().len(), 1);
/// # Ok(()) }
/// ```
///
/// # Errors
/// As [`ContextReader::read`] and [`ContextReader::ensure_required_delivery`].
pub async fn context_read(
    reader: &mut ContextReader,
    intent: &ContextReadIntent,
) -> Result<Arc<ContextPackage>, Error> {
    let mut trial = reader.clone();
    let package = trial.read(intent).await?;
    trial.ensure_required_delivery(&package)?;
    *reader = trial;
    Ok(package)
}
