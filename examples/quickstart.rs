//! From a folder and a question to a budgeted, cited package.
//!
//! Run it on any folder: `cargo run -p briefing-examples --example quickstart -- . "how is a token budget enforced"`

use std::sync::Arc;

use briefing::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let question = arguments.next().unwrap_or_else(|| "how is a token budget enforced".to_owned());

    // A context gathers what a task may know: direct entries, and sources that stay where they are.
    let context = TaskContext::new("quickstart")?;
    context.put(ContextEntry::new(Role::Instruction, "Cite the file and lines you rely on.").required())?;
    let workspace = TaskWorkspace::open(folder)?;
    context.attach(Arc::new(workspace.source(WorkspaceSourceOptions::new())?), ContextBinding::default())?;

    // A reader serves one consumer within one budget.
    let mut reader = context
        .reader(ContextConsumer::new("assistant")?)
        .budget(ContextBudget::tokens(2_000))
        .open()
        .await?;
    let package = reader.read(&ContextReadIntent::new(question)?).await?;

    // Required content is there, or this is an error.
    reader.ensure_required_delivery(&package)?;
    println!("{}", render(&package, RenderFormat::Markdown));
    if let Some(used) = &package.usage().tokens {
        eprintln!("{} blocks, {} of 2000 tokens", package.blocks().len(), used.tokens);
    }
    Ok(())
}
