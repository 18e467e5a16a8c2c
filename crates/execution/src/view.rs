//! The view of a package that goes to a model: everything that is delivered, and what is left out in short.

use briefing_context_reader::ensure_required;
use briefing_core::{
    ContextBlock, ContextDiagnostic, ContextOmission, ContextPackage, Digest, OmissionReason, PackageId,
    SourceRef,
};
use serde::{Deserialize, Serialize};

use crate::{Error, TaskExecution};

/// How many of the refs that were left out for one reason are named; they are in the order of the package.
const EXAMPLES: usize = 3;

/// The schema string of a view.
pub const MODEL_VIEW_SCHEMA: &str = "briefing.model_view/1";

/// Optional content that was left out for one reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OmissionCount {
    /// Why.
    pub reason: OmissionReason,
    /// How many refs.
    pub count: usize,
    /// The first of them.
    pub examples: Vec<SourceRef>,
}

/// The view of a package that goes to a model. The package keeps every omission for the audit; here, optional ones are
/// counted by reason. What is required is never folded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelView {
    /// Names the form of this value.
    pub schema: String,
    /// The package.
    pub package_id: PackageId,
    /// The digest of the package.
    pub package_digest: Digest,
    /// What was asked.
    pub query: String,
    /// What is delivered, whole.
    pub blocks: Vec<ContextBlock>,
    /// What was left out, by reason, in the order in which the reasons first occur.
    pub omitted: Vec<OmissionCount>,
    /// How the package came to be.
    pub diagnostics: Vec<ContextDiagnostic>,
}

/// The view of a package that goes to a model.
///
/// ```
/// # use std::sync::Arc;
/// # use briefing_core::{ContextBinding, ContextBudget, MemoryDocument, MemorySource};
/// # use briefing_execution::{TaskExecution, model_view};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_execution::Error> {
/// let notes = MemorySource::new("notes", "memory")?;
/// for number in 0..9 {
///     notes.put(MemoryDocument::new(format!("note-{number}"), "The pump is checked every week.")?);
/// }
/// let execution = TaskExecution::builder("maintenance")
///     .source(Arc::new(notes), ContextBinding::default())
///     .budget(ContextBudget::default().blocks(2))
///     .start()
///     .await?;
/// let package = execution.read_task_context("planner", "planning", "the pump").await?;
/// let view = model_view(&package)?;
/// assert_eq!((view.blocks.len(), view.omitted.len()), (2, 1));
/// assert!(view.omitted[0].count > view.omitted[0].examples.len());
/// # Ok(()) }
/// ```
///
/// # Errors
/// [`briefing_context_reader::Error::RequiredUndelivered`] for a package without something that is required, before
/// anything is folded.
pub fn model_view(package: &ContextPackage) -> Result<ModelView, Error> {
    ensure_required(package)?;
    let mut omitted: Vec<OmissionCount> = Vec::new();
    for ContextOmission { reason, source_ref, .. } in package.omissions() {
        let at = omitted.iter_mut().find(|count| count.reason == *reason);
        match at {
            Some(count) => {
                count.count += 1;
                if count.examples.len() < EXAMPLES {
                    count.examples.push(source_ref.clone());
                }
            }
            None => {
                omitted.push(OmissionCount { reason: *reason, count: 1, examples: vec![source_ref.clone()] });
            }
        }
    }
    Ok(ModelView {
        schema: MODEL_VIEW_SCHEMA.to_owned(),
        package_id: package.package_id().clone(),
        package_digest: package.digest(),
        query: package.query().to_owned(),
        blocks: package.blocks().to_vec(),
        omitted,
        diagnostics: package.diagnostics().to_vec(),
    })
}

impl TaskExecution {
    /// The view of a package that goes to a model; see [`model_view`].
    ///
    /// # Errors
    /// As [`model_view`].
    pub fn model_view(&self, package: &ContextPackage) -> Result<ModelView, Error> {
        model_view(package)
    }
}
