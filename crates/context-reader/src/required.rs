//! Whether a package carries everything that it had to.

use briefing_core::{BindingId, Completeness, ContextBlock, ContextPackage, SourceRef};

use crate::Error;

/// Checks that a package carries all required content, whoever read it.
///
/// # Errors
/// [`Error::RequiredUndelivered`] naming what is missing.
pub fn ensure_required(package: &ContextPackage) -> Result<(), Error> {
    let omitted = package.omissions().iter().filter(|omission| omission.required);
    let mut refs: Vec<SourceRef> = omitted.map(|omission| omission.source_ref.clone()).collect();
    let by_reference = |block: &&ContextBlock| block.required && block.completeness == Completeness::RefOnly;
    refs.extend(package.blocks().iter().filter(by_reference).map(|block| block.source_ref.clone()));
    let failed =
        package.diagnostics().iter().filter(|diagnostic| diagnostic.code == "context.required_source_failed");
    let bindings: Vec<_> = failed
        .filter_map(|diagnostic| diagnostic.details.get("binding_id")?.as_str().map(BindingId::new))
        .collect::<Result<_, _>>()?;
    if refs.is_empty() && bindings.is_empty() {
        return Ok(());
    }
    Err(Error::RequiredUndelivered { consumer: package.consumer_id().to_string(), refs, bindings })
}
