//! `briefing read`.

use std::fs;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use briefing::core::{BindingId, ContextDiagnostic, OneOrMany, Severity};
use briefing::prelude::*;
use indicatif::ProgressBar;

use crate::args::ReadCommand;
use crate::failure::Failure;

/// How often a folder that changes while it is read is read again.
const TRIES: usize = 3;

pub(crate) fn run(command: &ReadCommand) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build().map_err(Failure::Runtime)?;
    let progress = ProgressBar::new_spinner().with_message(format!("reading {}", command.dir.display()));
    progress.enable_steady_tick(Duration::from_millis(100));
    let package = runtime.block_on(read(command));
    progress.finish_and_clear();
    let package = package?;
    if let Some(path) = &command.audit {
        let audit = format!("{:#}\n", package.to_json());
        fs::write(path, audit).map_err(|error| Failure::file(path, error))?;
    }
    let text = render(&package, command.format);
    match &command.output {
        Some(path) => fs::write(path, text).map_err(|error| Failure::file(path, error))?,
        None => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)?;
        }
    }
    warn_of_problems(&package);
    Ok(())
}

async fn read(command: &ReadCommand) -> Result<Arc<ContextPackage>, Failure> {
    let workspace = TaskWorkspace::open(&command.dir)?;
    let options =
        WorkspaceSourceOptions::new().include_hidden(command.hidden).include_secrets(command.secrets);
    let context = TaskContext::new("briefing-read")?;
    context.configure_index(command.strategy.into());
    let binding = ContextBinding::named(BindingId::new("files")?);
    context.attach(Arc::new(workspace.source(options)?), binding)?;
    if let Some(dir) = &command.records {
        let store = RecordStore::open(dir, StoreMode::ReadOnly).await?;
        let source = RecordStoreContextSource::new(&store, RecordSourceOptions::new())?;
        context.attach(Arc::new(source), ContextBinding::named(BindingId::new("records")?))?;
    }
    let mut reader =
        context.reader(ContextConsumer::new("command-line")?).budget(budget(command)).open().await?;
    let intent = ContextReadIntent::new(&command.query)?.with_filters(filters(command));
    let mut tries = 0;
    loop {
        tries += 1;
        match reader.read(&intent).await {
            Err(error) if error.code() == "context.stale" && tries < TRIES => reader.refresh().await,
            read => return Ok(read?),
        }
    }
}

fn budget(command: &ReadCommand) -> ContextBudget {
    let budget = match command.max_chars {
        Some(chars) => ContextBudget::chars(chars),
        None => ContextBudget::tokens(command.max_tokens.unwrap_or(4_000))
            .encoding(command.encoding.to_string())
            .rendered_as(command.format),
    };
    budget.blocks(command.max_blocks)
}

fn filters(command: &ReadCommand) -> ContextFilters {
    let one_or_many = |values: &[String]| match values {
        [] => None,
        [one] => Some(OneOrMany::One(one.clone())),
        many => Some(OneOrMany::Many(many.to_vec())),
    };
    ContextFilters {
        path: one_or_many(&command.path),
        pattern: one_or_many(&command.pattern),
        ..ContextFilters::default()
    }
}

/// Says on standard error what a reader of the output should know: one line for each kind of problem, with its first case
/// and how many more there are. The audit holds them all.
fn warn_of_problems(package: &ContextPackage) {
    let mut kinds: Vec<(&ContextDiagnostic, usize)> = Vec::new();
    for diagnostic in package.diagnostics().iter().filter(|diagnostic| diagnostic.severity != Severity::Info)
    {
        let kind = (diagnostic.severity, &diagnostic.code);
        match kinds.iter_mut().find(|(first, _)| (first.severity, &first.code) == kind) {
            Some((_, more)) => *more += 1,
            None => kinds.push((diagnostic, 0)),
        }
    }
    let mut err = io::stderr().lock();
    for (first, more) in kinds {
        let details = serde_json::Value::Object(first.details.clone());
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(err, "{}[{}]: {details}{more}", first.severity, first.code);
    }
}
