//! Installing, trusting, listing and removing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use briefing_core::SeededEnvironment;
use briefing_skill_library::{InstallOptions, InstallOutcome, SkillBinding, SkillSourceOptions};
use common::{Home, install, install_pump, pump_files, read, required, skill};

#[test]
fn the_same_bytes_are_the_same_revision_from_a_folder_or_from_memory() {
    let home = Home::new();
    for (path, bytes) in pump_files() {
        home.put(&format!("pump/{path}"), bytes);
    }
    let library = home.library().environment(Arc::new(SeededEnvironment::new(1, 77)));
    let first = library.install(home.path("pump"), InstallOptions::default()).unwrap();
    assert_eq!((first.outcome, first.revision.trusted), (InstallOutcome::New, false));
    assert_eq!(first.revision.installed_at_millis, 77);
    let second = library.install_files(pump_files(), InstallOptions::default()).unwrap();
    assert_eq!((second.outcome, &second.revision), (InstallOutcome::Present, &first.revision));
    // The order in which files are handed in says nothing.
    let reversed = pump_files().into_iter().rev();
    assert_eq!(library.install_files(reversed, InstallOptions::default()).unwrap().revision, first.revision);
    // A path, a length, a byte: each makes another revision.
    let revision = |path: &str, text: &str| {
        let files = [("SKILL.md", skill("pump", "")), (path, text.to_owned())];
        library.install_files(files, InstallOptions::default()).unwrap().revision.revision_ref
    };
    let all = [revision("a", "x"), revision("b", "x"), revision("a", "y"), revision("a", "xx")];
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    assert_eq!(library.list().unwrap().revisions.len(), 5);
}

#[test]
fn installing_again_with_trust_takes_effect_and_without_takes_none_away() {
    let home = Home::new();
    let library = home.library();
    let first = library.install_files(pump_files(), InstallOptions::default()).unwrap();
    let pump = first.revision.revision_ref;
    let options = || SkillSourceOptions::new().bind(SkillBinding::required(pump.clone()));
    assert_eq!(library.source(options()).unwrap_err().code(), "skill.untrusted");
    let second = library.install_files(pump_files(), InstallOptions::trusted()).unwrap();
    assert_eq!((second.outcome, second.revision.trusted), (InstallOutcome::Present, true));
    assert!(library.source(options()).is_ok());
    assert!(library.install_files(pump_files(), InstallOptions::default()).unwrap().revision.trusted);
    assert!(library.verify(&pump).unwrap().is_empty());
}

#[tokio::test]
async fn trust_that_is_taken_back_holds_for_sources_that_are_bound_already() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let source = required(&library, &pump);
    assert!(read(&source, &pump, "SKILL.md").await.is_ok());
    library.set_trusted(&pump, false).unwrap();
    for path in ["SKILL.md", "scripts/check.py", "assets/pump.png"] {
        let error = read(&source, &pump, path).await.unwrap_err();
        assert!(error.to_string().contains("is not trusted"), "{path}: {error}");
    }
    library.set_trusted(&pump, true).unwrap();
    briefing_core::ContextSource::revision(&source).await.unwrap();
    assert!(read(&source, &pump, "SKILL.md").await.is_ok());
}

#[tokio::test]
async fn what_is_removed_is_gone_and_others_stay() {
    let home = Home::new();
    let library = home.library();
    let (one, two) = (install(&library, "pump", "# One\n"), install(&library, "pump", "# Two\n"));
    let valve = install(&library, "valve", "# Valve\n");
    let source = required(&library, &one);
    assert!(read(&source, &one, "SKILL.md").await.is_ok());
    assert!(library.remove(&one).unwrap());
    assert!(!library.remove(&one).unwrap());
    assert_eq!(library.get(&one).unwrap_err().code(), "skill.not_installed");
    assert_eq!(library.verify(&one).unwrap_err().code(), "skill.not_installed");
    assert_eq!(read(&source, &one, "SKILL.md").await.unwrap_err().code(), "source.not_found");
    let left: Vec<_> =
        library.list().unwrap().revisions.into_iter().map(|found| found.revision_ref).collect();
    assert_eq!(left, [two.clone(), valve.clone()]);
    assert!(library.remove(&two).unwrap() && library.remove(&valve).unwrap());
    assert_eq!(home.files(), ["lock"]);
    assert!(!home.path("skills/revisions/pump").exists());
}

#[test]
fn a_library_can_be_moved() {
    let home = Home::new();
    let pump = install_pump(&home.library());
    std::fs::rename(home.path("skills"), home.path("moved")).unwrap();
    let moved = briefing_skill_library::SkillLibrary::open(home.path("moved")).unwrap();
    assert!(moved.verify(&pump).unwrap().is_empty());
    assert!(moved.get(&pump).unwrap().trusted);
}
