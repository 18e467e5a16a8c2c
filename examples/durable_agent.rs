//! An agent that can be killed at any time and run again to the same result.
//!
//! It plans a report about the files of a folder, reads the context of each section, writes the sections, has the report
//! verified and delivers it. Everything that it acknowledged is in the record store; each run looks at what is there and
//! goes on. The "model" is a deterministic function, so that it runs offline:
//!
//! ```text
//! cargo run --example durable_agent -- /tmp/agent      # kill it, run it again
//! ```

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use briefing::core::{ConsumerId, ContextPackage, ModelPrompt, ModelRequest, PortError, RecordId, RequestId};
use briefing::execution::{DeliveryStage, Error as ExecutionError};
use briefing::prelude::*;
use briefing::record_store::Error as RecordsError;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What the report is about; each section is a card of its own.
const SECTIONS: [&str; 3] = ["pump", "fan", "valve"];

const REPORT: &str = "report.md";

/// The id of the one execution of this agent.
fn execution_id() -> Result<ExecutionId, Failure> {
    Ok(ExecutionId::new("durable-agent-1")?)
}

/// A model that answers from what it is given, always the same.
struct LocalModel;

#[async_trait]
impl ModelRequest for LocalModel {
    async fn ask(&self, prompt: &ModelPrompt) -> Result<Value, PortError> {
        let input = &prompt.input;
        if let Some(files) = input.get("files").and_then(Value::as_array) {
            let text = files.iter().filter_map(|file| file["text"].as_str()).collect::<String>();
            let missing: Vec<_> = SECTIONS
                .into_iter()
                .filter(|section| !text.contains(&format!("## The {section}\n")))
                .collect();
            let reasons: Vec<_> =
                missing.iter().map(|section| format!("nothing about the {section}")).collect();
            return Ok(json!({ "accepted": reasons.is_empty(), "reasons": reasons }));
        }
        if input["ask"] == "plan" {
            return Ok(json!(SECTIONS));
        }
        let section = input["ask"].as_str().unwrap_or_default();
        let blocks = input["context"]["blocks"].as_array().cloned().unwrap_or_default();
        let about = blocks.iter().filter_map(|block| block["content"]["text"].as_str());
        let facts: String =
            about.filter(|text| text.contains(section)).map(|text| format!("- {}\n", text.trim())).collect();
        Ok(json!(format!("## The {section}\n{facts}\n")))
    }
}

/// Starts the execution, or goes on with it where an earlier run began it.
async fn open(root: &Path, store: &RecordStore) -> Result<TaskExecution, Failure> {
    let id = execution_id()?;
    // Under its own name the worker gets the lease of its killed predecessor at once.
    match TaskExecution::resuming(store, &id).worker("durable-agent").open().await {
        Ok(execution) => {
            println!("resumed {id}");
            return Ok(execution);
        }
        Err(ExecutionError::Unknown { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let workspace = TaskWorkspace::open_with(root, WorkspaceOptions::read_write())?;
    let execution = TaskExecution::builder("machine-report")
        .target("a report with a section about each of the machine's parts")
        .agent(AgentId::new("reporter")?)
        .entry(ContextEntry::new(Role::Instruction, "Write only what the files say.").required())
        .workspace(workspace)
        .workspace_source(
            WorkspaceSourceOptions::new().ignore_glob("/notes/"),
            ContextBinding::default().with_description("what is known about the machine"),
        )
        .records(store.clone())
        .budget(ContextBudget::chars(4_000).blocks(6))
        .recovery(true)
        .worker("durable-agent")
        .execution_id(id.clone())
        .delivers_to(REPORT)
        .start()
        .await?;
    println!("started {id}");
    Ok(execution)
}

/// The context of a request: what an earlier run read and did not consume, or a fresh read.
async fn context_of(
    execution: &TaskExecution,
    consumer: &str,
    phase: &str,
    query: &str,
) -> Result<Arc<ContextPackage>, Failure> {
    let waiting = execution.unconsumed(&ConsumerId::new(consumer)?, &Phase::new(phase)?).await;
    if let Some(package) = waiting.into_iter().next() {
        println!("  goes on with {}", package.package_id());
        return Ok(package);
    }
    match execution.read_task_context(consumer, phase, query).await {
        // A file changed while nobody ran: what did not change stays disclosed.
        Err(error) if error.is_stale() => {
            println!("  {error}");
            execution.refresh(consumer, phase).await?;
            Ok(execution.read_task_context(consumer, phase, query).await?)
        }
        read => Ok(read?),
    }
}

/// The answer to a request. It is asked once: the answer is put into the record store under the request's id, and only then
/// is the consumption recorded.
async fn answer(
    execution: &TaskExecution,
    (consumer, phase): (&str, &str),
    ask: &str,
) -> Result<Value, Failure> {
    let records = execution.records().ok_or("the execution has a record store")?;
    let request = RequestId::new(format!("{phase}-{ask}"))?;
    let kept = RecordId::new(format!("answer-{request}"))?;
    let stored = match records.get(&kept).await {
        Ok(record) => Some(serde_json::from_str(&record.content.into_text().unwrap_or_default())?),
        Err(RecordsError::NotFound { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(answer) = stored
        && execution.consumption(&request).await.is_some()
    {
        return Ok(answer);
    }
    println!("{consumer}, {phase}: {ask}");
    let package = context_of(execution, consumer, phase, &format!("the {ask} of the machine")).await?;
    let prompt = ModelPrompt {
        system: "Answer from the context.".to_owned(),
        input: json!({ "ask": ask, "context": execution.model_view(&package)? }),
        answer_schema: json!({}),
    };
    let answer = LocalModel.ask(&prompt).await?;
    match records.put(NewRecord::new("answers", answer.clone()).id(kept)).await {
        // An earlier run was killed between the answer and its consumption.
        Ok(_) | Err(RecordsError::Exists { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    execution.record_consumption(&package, request, None).await?;
    Ok(answer)
}

/// Runs the agent in a folder until it is done.
///
/// # Errors
/// What a part of it says where it fails; running it again goes on from there.
pub async fn run(root: &Path) -> Result<(), Failure> {
    let store = RecordStore::open(root, StoreMode::ReadWrite).await?;
    let execution = open(root, &store).await?;
    if let ExecutionStatus::Finished { delivered } = execution.status().await {
        println!("finished before, delivered: {delivered}");
        return Ok(());
    }
    let plan = answer(&execution, ("planner", "planning"), "plan").await?;
    let workspace = execution.workspace().ok_or("the execution has a workspace")?.clone();
    let mut report = String::from("# The machine\n\n");
    for section in plan.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let text = answer(&execution, ("worker", &format!("card-{section}")), section).await?;
        let text = text.as_str().unwrap_or_default().to_owned();
        // Working files are written in one step each; writing the same again changes nothing.
        let (note, content) = (WorkspacePath::new(format!("notes/{section}.md"))?, text.clone());
        workspace.run(move |workspace| workspace.write(&note, content, None)).await?;
        report.push_str(&text);
    }
    deliver(&execution, &report).await?;
    let meta = execution.finish().await?;
    println!("finished after {} events", meta.sequence);
    Ok(())
}

/// Stages, verifies and promotes the report, from wherever an earlier run came to.
async fn deliver(execution: &TaskExecution, report: &str) -> Result<(), Failure> {
    let target = WorkspacePath::new(REPORT)?;
    // It is declared when the execution starts, but for a run that was killed in between.
    execution.declare_targets(std::slice::from_ref(&target)).await?;
    loop {
        let stage = execution.meta().await.delivery.map(|delivery| delivery.stage);
        match stage {
            Some(DeliveryStage::Open) => {
                let candidate = execution.stage_delivery(&target, report).await?;
                println!("staged {}", candidate.digest);
            }
            Some(DeliveryStage::Staged) => {
                let verdict = execution.verify_with(&ModelVerifier::new(Arc::new(LocalModel))).await?;
                println!("verified: {verdict:?}");
            }
            Some(DeliveryStage::Accepted | DeliveryStage::Promoting) => {
                execution.promote_delivery().await?;
                println!("promoted");
            }
            Some(DeliveryStage::Delivered) => return Ok(()),
            other => return Err(format!("the report cannot be delivered: {other:?}").into()),
        }
    }
}

/// Puts files about a machine into a folder, where they are not there.
///
/// # Errors
/// What the system says where it fails.
pub fn furnish(root: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(root.join("docs"))?;
    for (name, text) in [
        ("pump", "The pump of the machine is checked every week.\n"),
        ("fan", "The fan of the machine runs at night.\n"),
        ("valve", "The valve of the machine closes at six bar.\n"),
    ] {
        let path = root.join("docs").join(format!("{name}.md"));
        if !path.exists() {
            std::fs::write(path, text)?;
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let given = std::env::args().nth(1);
    let temporary = tempfile::tempdir()?;
    let root = given.as_ref().map_or(temporary.path(), Path::new);
    furnish(root)?;
    run(root).await?;
    println!("{}", std::fs::read_to_string(root.join(REPORT))?);
    Ok(())
}
