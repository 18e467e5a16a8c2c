//! Skills through a reader: required instructions are delivered whole, as a digest where that was allowed, or missed by name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use briefing_context_reader::{ContextReader, ContextReading as _, render};
use briefing_core::{
    Completeness, ContextBinding, ContextBudget, ContextConsumer, ContextReadIntent, OmissionReason,
    OptionalSelection, RenderFormat, Representation, RequiredOverflow,
};
use briefing_skill_library::{InstallOptions, SkillBinding, SkillSource, SkillSourceOptions};
use briefing_task_context::TaskContext;
use common::{Home, install, install_pump, required, skill, source_ref};

async fn reader(source: SkillSource, budget: ContextBudget) -> ContextReader {
    let context = TaskContext::new("maintenance").unwrap();
    context.attach(Arc::new(source), ContextBinding::default()).unwrap();
    context.reader(ContextConsumer::new("assistant").unwrap()).budget(budget).open().await.unwrap()
}

fn intent(query: &str) -> ContextReadIntent {
    ContextReadIntent::new(query).unwrap()
}

#[tokio::test]
async fn a_required_skill_is_delivered_whole_and_covers_its_sections_but_not_its_resources() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let mut reader = reader(required(&library, &pump), ContextBudget::chars(6_000)).await;
    let package = reader.read(&intent("how often is the seal replaced and checked?")).await.unwrap();
    reader.ensure_required_delivery(&package).unwrap();
    let delivered: Vec<_> =
        package.blocks().iter().map(|block| (block.source_ref.clone(), block.completeness)).collect();
    assert_eq!(delivered[0], (source_ref(&pump, "SKILL.md"), Completeness::Complete));
    // Being complete, the core does not push its resources aside.
    let reference = delivered.iter().any(|(found, _)| found.as_str().contains("references/seal.md"));
    assert!(reference, "{delivered:?}");
    let covered: Vec<_> = package
        .omissions()
        .iter()
        .filter(|omission| omission.reason == OmissionReason::CoveredByCompleteParent)
        .map(|omission| omission.source_ref.as_str())
        .collect();
    assert!(covered.contains(&source_ref(&pump, "SKILL.md#section-1").as_str()), "{covered:?}");
    assert!(covered.iter().all(|covered| covered.contains("#section-")), "{covered:?}");
    let shown = render(&package, RenderFormat::Markdown);
    assert!(shown.contains("pump/SKILL.md:6-19") && shown.contains("Replace the seal every year"), "{shown}");
}

#[tokio::test]
async fn too_large_a_skill_is_missed_by_name_or_delivered_as_a_digest() {
    let home = Home::new();
    let library = home.library();
    let body: String = (1..=20)
        .map(|n| format!("## Rule {n}\n\nNever skip step {n}. {}\n\n", "Look twice. ".repeat(60)))
        .collect();
    let big = install(&library, "big", &body);
    let mut reader = reader(required(&library, &big), ContextBudget::chars(9_000)).await;
    let strict = intent("which steps are there?").with_optional_selection(OptionalSelection::None);
    let package = reader.read(&strict).await.unwrap();
    let error = reader.ensure_required_delivery(&package).unwrap_err();
    assert!(error.to_string().contains(source_ref(&big, "SKILL.md").as_str()), "{error}");

    let package = reader.read(&strict.with_required_overflow(RequiredOverflow::LossyDigest)).await.unwrap();
    reader.ensure_required_delivery(&package).unwrap();
    let [block] = package.blocks() else { panic!("{:?}", package.blocks()) };
    assert_eq!(
        (block.completeness, block.representation),
        (Completeness::Lossy, Some(Representation::LossyDigest))
    );
    assert!(block.content_chars <= 6_000 && block.content_chars > 5_000, "{}", block.content_chars);
    assert_eq!(block.refs.len(), 21);
    assert_eq!(block.metadata["original_chars"], body.chars().count());
    for n in 1..=20 {
        assert!(
            block.content.as_ref().unwrap().to_text().unwrap().contains(&format!("Never skip step {n}."))
        );
    }
    let lossy =
        package.diagnostics().iter().find(|found| found.code == "context.required_content_lossy").unwrap();
    assert_eq!(lossy.details["delivered_chars"], block.content_chars);

    // A section can be asked for by the ref that the digest names.
    let section = block.refs[7].clone();
    let asked = intent("which steps are there?")
        .with_explicit_refs([section.clone()])
        .with_optional_selection(OptionalSelection::None)
        .with_required_overflow(RequiredOverflow::LossyDigest);
    let package = reader.read(&asked).await.unwrap();
    let found = package.blocks().iter().find(|block| block.source_ref == section).unwrap();
    assert!(found.content.as_ref().unwrap().to_text().unwrap().starts_with("## Rule 7\n"));
    assert_eq!(found.completeness, Completeness::Complete);
}

#[tokio::test]
async fn an_optional_skill_is_found_by_its_description_and_a_foreign_question_is_not_its() {
    let home = Home::new();
    let library = home.library();
    let (pump, report) = (install_pump(&library), {
        let text = "---\nname: report\ndescription: Writes the quarterly report.\n---\n# Form\nUse tables.\n";
        library.install_files([("SKILL.md", text)], InstallOptions::trusted()).unwrap().revision.revision_ref
    });
    let options = SkillSourceOptions::new()
        .bind(SkillBinding::optional(pump))
        .bind(SkillBinding::optional(report.clone()));
    let mut reader = reader(library.source(options).unwrap(), ContextBudget::chars(6_000)).await;
    let package = reader.read(&intent("quarterly report")).await.unwrap();
    assert_eq!(package.blocks()[0].source_ref, source_ref(&report, "SKILL.md"));
}

#[tokio::test]
async fn a_tampered_required_skill_fails_closed_and_is_never_shown() {
    let home = Home::new();
    let library = home.library();
    let files = [("SKILL.md", skill("safe", "# Rules\n\nNever open it.\n"))];
    let safe = library.install_files(files, InstallOptions::trusted()).unwrap().revision.revision_ref;
    let source = required(&library, &safe);
    // Before the first look: the listing itself meets the forged bytes. Later ones are met by the read.
    std::fs::write(home.kept(&safe, "SKILL.md"), skill("safe", "# Rules\n\nAlways open it.\n")).unwrap();
    let mut reader = reader(source, ContextBudget::chars(6_000)).await;
    let package = reader.read(&intent("open")).await.unwrap();
    assert!(reader.ensure_required_delivery(&package).is_err());
    assert!(!render(&package, RenderFormat::Json).contains("Always open"));
    let said = package.diagnostics().iter().any(|found| {
        found.details.values().any(|value| value.to_string().contains("was changed after it was installed"))
    });
    assert!(said, "{:?}", package.diagnostics());
}
