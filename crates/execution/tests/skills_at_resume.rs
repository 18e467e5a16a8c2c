//! Skills come back as exactly the revisions that were bound, or the resume fails and names them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;

use briefing_core::Content;
use briefing_execution::{Error, TaskExecution};
use briefing_record_store::RecordStore;
use briefing_skill_library::{InstallOptions, SkillBinding, SkillLibrary, SkillSourceOptions};
use support::{bound, id};

#[tokio::test]
async fn a_bound_revision_is_rebuilt_by_its_digest_and_its_loss_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let library = SkillLibrary::open(folder.path().join("skills")).unwrap();
    let install = |rule: &str| {
        let from = folder.path().join("pump-care");
        std::fs::create_dir_all(&from).unwrap();
        let text =
            format!("---\nname: pump-care\ndescription: How to care for a pump.\n---\n# Care\n{rule}\n");
        std::fs::write(from.join("SKILL.md"), text).unwrap();
        library.install(&from, InstallOptions::trusted()).unwrap().revision.revision_ref
    };
    let first = install("Replace the seal every year.");
    let source =
        library.source(SkillSourceOptions::new().bind(SkillBinding::required(first.clone()))).unwrap();
    let store = RecordStore::in_memory();
    let execution = TaskExecution::builder("task")
        .source(Arc::new(source), bound("skills"))
        .records(store.clone())
        .recovery(true)
        .worker("worker")
        .execution_id(id("e"))
        .start()
        .await
        .unwrap();
    drop(execution);
    // A newer revision of the same skill changes nothing for a task that was begun with the first.
    let second = install("Never replace the seal.");
    assert_ne!(first, second);

    let resumed = TaskExecution::resuming(&store, &id("e")).worker("worker").open().await.unwrap();
    let package =
        resumed.read_task_context("worker", "execution", "how often is the seal replaced?").await.unwrap();
    let holds = |rule: &str| {
        package
            .blocks()
            .iter()
            .any(|block| matches!(&block.content, Some(Content::Text(text)) if text.contains(rule)))
    };
    assert!(holds("every year") && !holds("Never"), "{:#?}", package.blocks());
    drop(resumed);

    library.remove(&first).unwrap();
    let error = TaskExecution::resuming(&store, &id("e")).worker("worker").open().await.unwrap_err();
    let Error::SourceNotRebuilt { binding_id, source_kind, .. } = &error else { panic!("{error:?}") };
    assert_eq!((binding_id.as_str(), source_kind.as_str()), ("skills", "skill_library"));
    assert!(error.to_string().contains(&first.to_string()), "{error}");
}
