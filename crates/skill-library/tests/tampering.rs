//! Whoever changes an installed byte is found out at every read and by a verification; nothing of it is ever served.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_core::{ContextSource, ProjectionProfile, ReadRequest, Representation, SourceErrorKind};
use briefing_skill_library::{Error, InstallOptions, InstallOutcome, ProblemKind, TextWindow};
use common::{Home, install_pump, list, pump_files, read, required, source_ref};

#[tokio::test]
async fn changed_bytes_are_refused_at_every_read() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let source = required(&library, &pump);
    let before = source.revision().await.unwrap();
    let original = std::fs::read(home.kept(&pump, "references/seal.md")).unwrap();
    // The same length, so that only the bytes differ.
    let mut forged = original.clone();
    forged[30] ^= 1;
    std::fs::write(home.kept(&pump, "references/seal.md"), &forged).unwrap();

    let error = library.read_bytes(&pump, "references/seal.md").unwrap_err();
    assert_eq!(error.code(), "skill.tampered");
    assert_eq!(
        library.read(&pump, "references/seal.md", TextWindow::whole()).unwrap_err().code(),
        "skill.tampered"
    );
    for path in ["references/seal.md", "references/seal.md#section-1"] {
        let error = read(&source, &pump, path).await.unwrap_err();
        assert_eq!(error.kind(), SourceErrorKind::Changed, "{path}");
        let cause = std::error::Error::source(&error).unwrap().downcast_ref::<Error>().unwrap();
        assert_eq!(cause.code(), "skill.tampered");
    }
    // The other files are as good as they were.
    assert!(read(&source, &pump, "SKILL.md").await.is_ok());

    let problems = library.verify(&pump).unwrap();
    assert_eq!((problems.len(), problems[0].path.as_str()), (1, "references/seal.md"));
    assert!(matches!(problems[0].kind, ProblemKind::Changed { .. }));

    // The damage is another revision of the source, and the forged text is nowhere in its listing.
    assert_ne!(source.revision().await.unwrap(), before);
    let (descriptors, diagnostics) = list(&source).await;
    let seal = descriptors.iter().find(|found| found.metadata["path"] == "pump/references/seal.md").unwrap();
    assert!(seal.index_text.is_empty() && seal.content_digest.is_none());
    assert!(diagnostics.iter().any(|found| found.code == "skill.tampered"));

    // Installing the same bytes again mends it.
    let mended = library.install_files(pump_files(), InstallOptions::default()).unwrap();
    assert_eq!((mended.outcome, mended.revision.trusted), (InstallOutcome::Repaired, true));
    assert!(library.verify(&pump).unwrap().is_empty());
    assert_eq!(source.revision().await.unwrap(), before);
    assert!(read(&source, &pump, "references/seal.md").await.is_ok());
}

#[tokio::test]
async fn a_tampered_core_stays_required_and_is_never_read_or_digested() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let source = required(&library, &pump);
    let kept = home.kept(&pump, "SKILL.md");
    let text = std::fs::read_to_string(&kept).unwrap().replace("Never open", "Always open");
    std::fs::write(&kept, text).unwrap();
    assert_eq!(library.get(&pump).unwrap_err().code(), "skill.tampered");
    assert_eq!(library.list().unwrap().problems.len(), 1);
    for request in
        [ReadRequest::whole(1_000), ReadRequest::whole(1_000).as_representation(Representation::LossyDigest)]
    {
        let error = source.read_exact(&source_ref(&pump, "SKILL.md"), &request).await.unwrap_err();
        assert_eq!(error.kind(), SourceErrorKind::Changed);
    }
    let (descriptors, _) = list(&source).await;
    assert_eq!(descriptors.len(), 1);
    assert!(descriptors[0].required && descriptors[0].index_text.is_empty());
}

#[test]
fn a_forged_manifest_helps_nobody() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    // Somebody changes a file and the manifest to match it.
    let manifest = home.kept(&pump, "../manifest.json");
    let forged = b"print('hacked!')\n";
    let text = std::fs::read_to_string(&manifest).unwrap();
    let text = text.replace(
        &briefing_core::Digest::of(b"print('checked')\n").to_string(),
        &briefing_core::Digest::of(forged).to_string(),
    );
    std::fs::write(manifest, text).unwrap();
    std::fs::write(home.kept(&pump, "scripts/check.py"), forged).unwrap();
    assert_eq!(library.read_bytes(&pump, "scripts/check.py").unwrap_err().code(), "skill.damaged");
    assert_eq!(library.verify(&pump).unwrap().len(), 1);
    let mended = library.install_files(pump_files(), InstallOptions::default()).unwrap();
    assert_eq!(mended.outcome, InstallOutcome::Repaired);
    assert_eq!(library.read_bytes(&pump, "scripts/check.py").unwrap(), b"print('checked')\n");
}

#[test]
fn verification_tells_what_is_gone_added_or_no_file() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    std::fs::remove_file(home.kept(&pump, "LICENSE")).unwrap();
    std::fs::remove_file(home.kept(&pump, "examples/report.txt")).unwrap();
    std::fs::create_dir(home.kept(&pump, "examples/report.txt")).unwrap();
    std::fs::write(home.kept(&pump, "scripts/more.py"), "x").unwrap();
    std::fs::write(home.kept(&pump, "../note"), "x").unwrap();
    let problems: Vec<_> =
        library.verify(&pump).unwrap().into_iter().map(|found| (found.path, found.kind)).collect();
    assert_eq!(
        problems,
        [
            ("LICENSE".to_owned(), ProblemKind::Missing),
            ("examples/report.txt".to_owned(), ProblemKind::NotAFile),
            ("scripts/more.py".to_owned(), ProblemKind::Extra),
            ("../note".to_owned(), ProblemKind::Extra),
        ]
    );
    home.put("skills/revisions/stray", "x");
    home.put("skills/revisions/pump/nothex/x", "x");
    let all = library.verify_all().unwrap();
    let stray: Vec<_> = all.stray.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(stray, ["revisions/pump/nothex", "revisions/stray"]);
    assert_eq!((all.revisions.len(), all.is_clean()), (1, false));
}

#[cfg(target_os = "linux")]
#[test]
fn a_link_or_a_pipe_in_place_of_a_file_is_refused_at_once() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let kept = home.kept(&pump, "scripts/check.py");
    std::fs::remove_file(&kept).unwrap();
    home.put("elsewhere", "print('checked')\n");
    std::os::unix::fs::symlink(home.path("elsewhere"), &kept).unwrap();
    assert_eq!(library.read_bytes(&pump, "scripts/check.py").unwrap_err().code(), "skill.tampered");
    std::fs::remove_file(&kept).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &kept, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    assert_eq!(library.read_bytes(&pump, "scripts/check.py").unwrap_err().code(), "skill.tampered");
}

#[tokio::test]
async fn bytes_that_change_while_the_source_is_listed_move_its_revision_and_hide_nothing_else() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let profile = ProjectionProfile::standard();
    for (first, rest) in [(0, 100), (3, 100)] {
        library.install_files(pump_files(), InstallOptions::trusted()).unwrap();
        let source = required(&library, &pump);
        let pinned = source.revision().await.unwrap();
        let mut cursor = None;
        if first > 0 {
            let page = source.enumerate_descriptors(&profile, None, first).await.unwrap();
            assert_eq!(page.source_revision(), &pinned);
            cursor = page.next_cursor().cloned();
        }
        std::fs::write(home.kept(&pump, "references/seal.md"), "forged").unwrap();
        let page = source.enumerate_descriptors(&profile, cursor.as_ref(), rest).await.unwrap();
        assert_ne!(page.source_revision(), &pinned, "a listing of {first} and the rest");
        let (descriptors, diagnostics) = list(&source).await;
        assert!(descriptors.len() > 7 && descriptors[0].required && !descriptors[0].index_text.is_empty());
        assert!(diagnostics.iter().any(|found| found.code == "skill.tampered"));
    }
}
