//! Executions see neither the private files nor the records of one another.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use briefing_core::{ContextBinding, ContextReadIntent};
use briefing_execution::{AgentId, TaskExecution};
use briefing_record_store::{NewRecord, RecordSourceOptions, RecordStore};
use briefing_task_workspace::{
    TargetState, TaskWorkspace, WorkspaceMode, WorkspaceOptions, WorkspaceSourceOptions,
};
use support::{id, path};

async fn found(execution: &TaskExecution) -> Vec<String> {
    let intent = ContextReadIntent::new("secret plan").unwrap();
    let package = execution.read_task_context("reader", "execution", intent).await.unwrap();
    let text =
        |block: &briefing_core::ContextBlock| block.content.as_ref().unwrap().to_text().unwrap().into_owned();
    package.blocks().iter().map(text).collect()
}

#[tokio::test]
async fn executions_of_one_agent_and_of_two_do_not_see_each_others_files_and_records() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("shared.md"), "the secret plan of everybody\n").unwrap();
    // One handle for all of them, as an application would hold it.
    let workspace = TaskWorkspace::open(root.path()).unwrap();
    let store = RecordStore::in_memory();
    let mut executions = Vec::new();
    for (agent, name) in [("ann", "ann-1"), ("ann", "ann-2"), ("bob", "bob-1")] {
        let execution = TaskExecution::builder("task")
            .agent(AgentId::new(agent).unwrap())
            .execution_id(id(name))
            .workspace(workspace.clone())
            .workspace_source(WorkspaceSourceOptions::new(), ContextBinding::default())
            .records(store.clone())
            .records_source(RecordSourceOptions::new(), ContextBinding::default())
            .start()
            .await
            .unwrap();
        let own = execution.workspace().unwrap();
        own.write(&path("plan.md"), format!("the secret plan of {name}\n"), TargetState::Absent).unwrap();
        let records = execution.records().unwrap();
        records.put(NewRecord::new("notes", format!("a secret plan record of {name}"))).await.unwrap();
        executions.push((name, execution));
    }
    for (name, execution) in &executions {
        let own = execution.workspace().unwrap();
        assert_eq!(
            own.read(&path("plan.md"), 100).unwrap().bytes,
            format!("the secret plan of {name}\n").as_bytes()
        );
        let found = found(execution).await;
        assert_eq!(found.len(), 3, "{name}: {found:?}");
        for (other, _) in executions.iter().filter(|(other, _)| other != name) {
            assert!(!found.iter().any(|text| text.contains(other)), "{name} sees {other}: {found:?}");
        }
    }
    assert!(!root.path().join("plan.md").exists(), "a read-only workspace is not written to");
}

#[tokio::test]
async fn an_agent_without_a_workspace_gets_a_boundary_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let start = |agent: &str| {
        let agent = AgentId::new(agent).unwrap();
        TaskExecution::builder("task").agent(agent).home(home.path()).start()
    };
    let (ann, bob) = (start("ann").await.unwrap(), start("bob").await.unwrap());
    let own = ann.workspace().unwrap();
    assert_eq!(own.mode(), WorkspaceMode::ReadWrite);
    let expected = home.path().canonicalize().unwrap().join(".briefing/task_workspaces/ann");
    assert_eq!(own.root(), expected);
    own.write(&path("mine.md"), "mine", TargetState::Absent).unwrap();
    assert!(bob.workspace().unwrap().read(&path("mine.md"), 10).is_err());
    // The next execution of the same agent finds its files again.
    let next = start("ann").await.unwrap();
    assert_eq!(next.workspace().unwrap().read(&path("mine.md"), 10).unwrap().bytes, b"mine");
    assert!(AgentId::new("../bob").is_err());
    assert!(TaskExecution::builder("task").start().await.unwrap().workspace().is_none());
}

#[tokio::test]
async fn an_execution_writes_by_the_policy_of_the_workspace_that_it_was_given() {
    let root = tempfile::tempdir().unwrap();
    let policy = briefing_task_workspace::WritePolicy::new().allow("out/**");
    let workspace =
        TaskWorkspace::open_with(root.path(), WorkspaceOptions::read_write().policy(policy)).unwrap();
    let execution = TaskExecution::builder("task").workspace(workspace).start().await.unwrap();
    let own = execution.workspace().unwrap();
    own.write(&path("out/a.md"), "a", TargetState::Absent).unwrap();
    assert_eq!(own.write(&path("b.md"), "b", TargetState::Absent).unwrap_err().code(), "workspace.denied");
    let refused = execution.declare_targets(&[path("b.md")]).await.unwrap_err();
    assert_eq!(refused.code(), "workspace.denied");
    assert!(execution.meta().await.delivery.is_none());
}
