//! Links, special files, paths that lead out, names that collide and packages that are too large are refused by name.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_skill_library::{InstallOptions, PackageLimits, SkillLibrary};
use common::{Home, skill};

fn refused(library: &SkillLibrary, files: &[(&str, &str)], limits: PackageLimits) -> (String, String) {
    let mut all = vec![("SKILL.md".to_owned(), skill("pump", "# A\n"))];
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
    let error = library.install_files(all, InstallOptions::trusted().limits(limits)).unwrap_err();
    (error.code().to_owned(), error.to_string())
}

#[test]
fn paths_that_lead_out_or_differ_between_systems_are_refused() {
    let home = Home::new();
    let deep = ["a"; 40].join("/");
    let long = "x".repeat(300);
    for path in [
        "../a",
        "a/../../b",
        "/etc/passwd",
        "a//b",
        "",
        ".",
        "a/./b",
        "a/",
        "a\\b",
        "C:a",
        "a\0b",
        "a\nb",
        "references/a.md#section-1",
        &deep,
        &long,
    ] {
        let (code, said) = refused(&home.library(), &[(path, "x")], PackageLimits::default());
        assert_eq!(code, "skill.path", "{path:?}: {said}");
    }
    assert!(home.files().is_empty());
}

#[test]
fn names_that_are_one_without_case_are_refused() {
    let home = Home::new();
    let cases = [
        (&[("a/B.md", "1"), ("a/b.md", "2")][..], "differ only in case"),
        (&[("Refs/a", "1"), ("refs/b", "2")][..], "differ only in case"),
        (&[("skill.md", "1")][..], "differ only in case"),
        (&[("a", "1"), ("a/b", "2")][..], "the one is a folder, the other a file"),
        (&[("a", "1"), ("a", "1")][..], "comes twice"),
    ];
    for (files, said) in cases {
        let (code, told) = refused(&home.library(), files, PackageLimits::default());
        assert!(code == "skill.collision" && told.contains(said), "{files:?}: {told}");
    }
}

#[test]
fn every_limit_holds_and_says_what_is_too_much() {
    let home = Home::new();
    let limits = PackageLimits::default;
    let cases = [
        (limits().max_entries(1), "files and folders 2, more than the limit of 1"),
        (limits().max_file_bytes(99), "more than the limit of 99"),
        (limits().max_total_bytes(100), "bytes in all files"),
        (limits().max_skill_file_bytes(10), "\"SKILL.md\": bytes"),
    ];
    for (limits, said) in cases {
        let (code, told) = refused(&home.library(), &[("a", &"x".repeat(100))], limits);
        assert!(code == "skill.limit" && told.contains(said), "{told}");
        // A folder is held to the same.
        home.put("pump/SKILL.md", skill("pump", "# A\n"));
        home.put("pump/a", "x".repeat(100));
        let error =
            home.library().install(home.path("pump"), InstallOptions::default().limits(limits)).unwrap_err();
        assert_eq!(error.code(), "skill.limit");
    }
    assert!(home.files().is_empty());
}

#[test]
fn a_folder_is_no_skill_without_its_file_or_under_another_name() {
    let home = Home::new();
    home.put("pump/README.md", "x");
    let error = home.library().install(home.path("pump"), InstallOptions::default()).unwrap_err();
    assert_eq!(error.code(), "skill.no_skill_file");
    home.put("pumps/SKILL.md", skill("pump", "# A\n"));
    let error = home.library().install(home.path("pumps"), InstallOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("\"pumps\"")), ("skill.name_mismatch", true));
    let error = home.library().install(home.path("nowhere"), InstallOptions::default()).unwrap_err();
    assert_eq!(error.code(), "skill.unreadable");
}

#[cfg(target_os = "linux")]
#[test]
fn links_and_pipes_are_refused_and_never_followed_or_waited_for() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    home.put("secret", "canary");
    for (at, target) in [("pump/link.md", "../secret"), ("pump/refs", ".."), ("pump/gone", "nowhere")] {
        home.put("pump/SKILL.md", skill("pump", "# A\n"));
        symlink(target, home.path(at)).unwrap();
        let error = home.library().install(home.path("pump"), InstallOptions::default()).unwrap_err();
        assert!(
            error.code() == "skill.not_a_file" && error.to_string().contains("a symbolic link"),
            "{error}"
        );
        std::fs::remove_file(home.path(at)).unwrap();
    }
    rustix::fs::mknodat(
        rustix::fs::CWD,
        home.path("pump/pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let error = home.library().install(home.path("pump"), InstallOptions::default()).unwrap_err();
    assert!(error.to_string().contains("a device, pipe or socket"), "{error}");
    assert!(home.files().is_empty());
}

#[test]
fn what_is_left_out_of_a_folder_is_told() {
    let home = Home::new();
    home.put("pump/SKILL.md", skill("pump", "# A\n"));
    home.put("pump/.git/config", "x");
    home.put("pump/scripts/__pycache__/a.pyc", "x");
    home.put("pump/scripts/a.py", "x");
    std::fs::create_dir_all(home.path("pump/empty")).unwrap();
    let installed = home.library().install(home.path("pump"), InstallOptions::default()).unwrap();
    assert_eq!(installed.left_out, [".git", "empty/", "scripts/__pycache__"]);
    let paths: Vec<_> = installed.revision.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "scripts/a.py"]);
}
