//! What the source offers, under which names, and how it is read back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_core::{
    Completeness, ContextSource, Digest, ReadRequest, Representation, Role, SourceErrorKind, SourceRef,
    conformance,
};
use briefing_skill_library::{InstallOptions, SkillBinding, SkillSource, SkillSourceOptions};
use common::{Home, PUMP, install, install_pump, list, pump_files, read, required, skill, source_ref};

#[tokio::test]
async fn the_source_conforms() {
    let home = Home::new();
    let library = home.library();
    let (pump, valve) = (install_pump(&library), install(&library, "valve", "# Valve\n"));
    let options =
        SkillSourceOptions::new().bind(SkillBinding::required(pump)).bind(SkillBinding::optional(valve));
    let violations = conformance::check_source(&library.source(options).unwrap()).await;
    assert!(violations.is_empty(), "{violations:#?}");
}

#[tokio::test]
async fn the_core_its_sections_and_resources_are_offered_with_roles_and_parents() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let source = required(&library, &pump);
    let (descriptors, diagnostics) = list(&source).await;
    let base = format!("{pump}/");
    let seen: Vec<_> = descriptors
        .iter()
        .map(|found| {
            let parent = found.parent_key.as_ref().map(|key| key.as_str().strip_prefix(&base).unwrap());
            let name = found.source_ref.as_str().strip_prefix(&base).unwrap();
            (name, found.title.as_str(), found.role, found.required, parent)
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("SKILL.md", "pump", Role::Instruction, true, None),
            ("SKILL.md#section-0", "pump > Preamble", Role::Instruction, false, Some("SKILL.md")),
            ("SKILL.md#section-1", "pump > Safety", Role::Instruction, false, Some("SKILL.md")),
            ("SKILL.md#section-2", "pump > Safety > Weekly", Role::Instruction, false, Some("SKILL.md")),
            ("LICENSE", "pump/LICENSE", Role::Information, false, None),
            ("assets/pump.png", "pump/assets/pump.png", Role::Artifact, false, None),
            ("examples/report.txt", "pump/examples/report.txt", Role::Example, false, None),
            ("references/seal.md", "pump/references/seal.md", Role::Information, false, None),
            (
                "references/seal.md#section-1",
                "pump/references/seal.md > Seal",
                Role::Information,
                false,
                Some("references/seal.md")
            ),
            (
                "references/seal.md#section-2",
                "pump/references/seal.md > Bearing",
                Role::Information,
                false,
                Some("references/seal.md")
            ),
            ("scripts/check.py", "pump/scripts/check.py", Role::Capability, false, None),
        ]
    );
    // Every child says where it belongs, also where the parent does not contain it.
    for found in descriptors.iter().filter(|found| !found.source_ref.as_str().ends_with("SKILL.md")) {
        assert!(
            found.metadata["parent_source_ref"].as_str().unwrap().starts_with(&base),
            "{}",
            found.source_ref
        );
    }
    assert_eq!(descriptors[7].metadata["parent_source_ref"], format!("{base}SKILL.md"));
    let parts: Vec<_> =
        descriptors.iter().filter_map(|found| found.metadata.get("skill_part")?.as_str()).collect();
    assert_eq!(parts, ["core", "resource", "asset", "example", "reference", "script"]);
    // A hidden file is left out, and that is said.
    let hidden: Vec<_> = diagnostics
        .iter()
        .map(|found| (found.code.as_str(), found.details["path"].as_str().unwrap()))
        .collect();
    assert_eq!(hidden, [("skill.hidden_not_offered", ".env")]);
}

#[tokio::test]
async fn what_is_read_is_what_was_described() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let source = required(&library, &pump);
    let (descriptors, _) = list(&source).await;
    let mut sections = String::new();
    for found in &descriptors {
        let path = found.source_ref.as_str().strip_prefix(&format!("{pump}/")).unwrap();
        if path == "assets/pump.png" {
            let error = read(&source, &pump, path).await.unwrap_err();
            assert_eq!(error.kind(), SourceErrorKind::Unsupported);
            assert_eq!((&found.metadata["content_kind"], found.index_text.as_str()), (&"image".into(), ""));
            assert_eq!(found.metadata["context_representation"], "metadata_only");
            continue;
        }
        let read = read(&source, &pump, path).await.unwrap();
        let text = read.content.to_text().unwrap().into_owned();
        assert_eq!(
            (read.completeness, text.chars().count()),
            (Completeness::Complete, found.estimated_chars)
        );
        assert_eq!(read.content_digest, Some(Digest::of(text.as_bytes())));
        assert_eq!((read.content_digest, &read.metadata), (found.content_digest, &found.metadata));
        if path.starts_with("SKILL.md#") {
            sections.push_str(&text);
        }
        // The lines of the metadata are those of the file.
        let whole =
            String::from_utf8(library.read_bytes(&pump, path.split('#').next().unwrap()).unwrap()).unwrap();
        let (start, end) = (&found.metadata["lines"]["start"], &found.metadata["lines"]["end"]);
        let (start, end) = (start.as_u64().unwrap() as usize, end.as_u64().unwrap() as usize);
        let lines: Vec<_> = whole.lines().skip(start - 1).take(end + 1 - start).collect();
        assert_eq!(lines.join("\n"), text.strip_suffix('\n').unwrap_or(&text), "{path}");
    }
    assert_eq!(sections, PUMP);
    assert_eq!(read(&source, &pump, "SKILL.md").await.unwrap().content.to_text().unwrap(), PUMP);
    for unknown in ["SKILL.md#section-3", "references/none.md", ".env", "references/seal.md#section-0"] {
        let error = read(&source, &pump, unknown).await.unwrap_err();
        assert_eq!(error.kind(), SourceErrorKind::NotFound, "{unknown}");
    }
}

#[tokio::test]
async fn each_text_is_found_by_its_own_words_and_the_core_by_its_description() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let (descriptors, _) = list(&required(&library, &pump)).await;
    let of =
        |path: &str| descriptors.iter().find(|found| found.source_ref == source_ref(&pump, path)).unwrap();
    assert_eq!(of("SKILL.md").summary, "How to check the pump. Use it for checks.");
    assert!(
        of("SKILL.md").index_text.contains("Use it for checks") && of("SKILL.md").index_text.contains(PUMP)
    );
    assert!(of("references/seal.md#section-1").index_text.contains("\u{6c34}\u{6cf5}"));
    assert_eq!(of("references/seal.md").index_text, "tags: seal\n");
    assert_eq!(of("references/seal.md#section-1").summary, "Replace the seal every year. \u{6c34}\u{6cf5}");
    assert!(of("scripts/check.py").index_text.contains("checked"));
}

#[tokio::test]
async fn the_revision_tells_bindings_apart_and_nothing_else() {
    let home = Home::new();
    let library = home.library();
    let (pump, valve) = (install_pump(&library), install(&library, "valve", "# Valve\n"));
    let revision = async |bindings: Vec<SkillBinding>| {
        let options = bindings.into_iter().fold(SkillSourceOptions::new(), SkillSourceOptions::bind);
        let source = library.source(options).unwrap();
        assert_eq!(source.source_id().as_str(), "skills");
        source.revision().await.unwrap()
    };
    let (a, b) = (SkillBinding::required(pump.clone()), SkillBinding::optional(valve.clone()));
    let both = revision(vec![a.clone(), b.clone()]).await;
    // What else is installed says nothing.
    install(&library, "other", "# Other\n");
    assert_eq!(revision(vec![a.clone(), b.clone()]).await, both);
    for other in [
        vec![b.clone(), a.clone()],
        vec![a.clone()],
        vec![SkillBinding::optional(pump.clone()), b.clone()],
        vec![a.clone().require_resource("LICENSE"), b],
    ] {
        assert_ne!(revision(other).await, both);
    }
}

#[tokio::test]
async fn required_resources_are_required_and_must_exist() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let options = |path: &str| {
        SkillSourceOptions::new().bind(SkillBinding::optional(pump.clone()).require_resource(path))
    };
    assert_eq!(library.source(options("references/none.md")).unwrap_err().code(), "skill.no_such_file");
    let (descriptors, _) = list(&library.source(options(".env")).unwrap()).await;
    let required: Vec<_> =
        descriptors.iter().filter(|found| found.required).map(|found| found.source_ref.clone()).collect();
    assert_eq!(required, [source_ref(&pump, ".env")]);
}

#[tokio::test]
async fn a_source_is_built_again_from_its_recipe_or_fails_by_name() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let source = required(&library, &pump);
    let recipe = source.recipe().unwrap().configuration();
    let again = SkillSource::from_configuration(recipe.clone()).unwrap();
    assert_eq!(again.revision().await.unwrap(), source.revision().await.unwrap());
    assert_eq!(again.bindings(), source.bindings());
    library.remove(&pump).unwrap();
    assert_eq!(SkillSource::from_configuration(recipe).unwrap_err().code(), "skill.not_installed");
    let wrong = serde_json::json!({"root": "x", "revisions": []});
    assert_eq!(SkillSource::from_configuration(wrong).unwrap_err().code(), "skill.configuration");
    let twice = SkillSourceOptions::new()
        .bind(SkillBinding::required(pump.clone()))
        .bind(SkillBinding::optional(pump.clone()));
    library.install_files(pump_files(), InstallOptions::trusted()).unwrap();
    assert_eq!(library.source(twice).unwrap_err().code(), "skill.bound_twice");
}

#[tokio::test]
async fn awkward_files_become_references_with_a_diagnostic_and_hide_nothing_else() {
    let home = Home::new();
    let library = home.library();
    let files = [
        ("SKILL.md", skill("odd", "").into_bytes()),
        ("references/cut.md", b"# \xe6\xb0\xb4\xe6\xb3\xb5 \xe6\xb0\xb4\xe6 x\n".to_vec()),
        ("references/latin.txt", b"Die Pumpe l\xe4uft t\xe4glich f\xfcr zw\xf6lf Stunden.\n".to_vec()),
        ("references/long.txt", b"long ".repeat(100)),
        ("references/fake.png", b"just words\n".to_vec()),
        ("tool", b"\x7fELF\x02\x01\x01\0\0\0\0\0".to_vec()),
        ("references/rule.md", b"---\ntitle: Not a heading\n---\n\n# One\na\n\n# Two\nb\n".to_vec()),
    ];
    let odd = library.install_files(files, InstallOptions::trusted()).unwrap().revision.revision_ref;
    let options = SkillSourceOptions::new().bind(SkillBinding::required(odd.clone())).max_text_bytes(300);
    let source = library.source(options).unwrap();
    let (descriptors, diagnostics) = list(&source).await;
    let mut codes: Vec<_> = diagnostics
        .iter()
        .map(|found| format!("{} {}", found.code, found.details["path"].as_str().unwrap()))
        .collect();
    codes.sort();
    assert_eq!(
        codes,
        [
            "skill.decoded_from_legacy_encoding references/latin.txt",
            "skill.no_instructions SKILL.md",
            "skill.too_large references/long.txt",
            "skill.type_disagreement references/fake.png",
            "skill.undecodable references/cut.md",
        ]
    );
    let form = |path: &str| {
        let found = descriptors.iter().find(|found| found.source_ref == source_ref(&odd, path)).unwrap();
        found.metadata.get("context_representation").and_then(|form| form.as_str()).map(str::to_owned)
    };
    for path in ["references/cut.md", "references/long.txt", "references/fake.png", "tool"] {
        assert_eq!(form(path).as_deref(), Some("metadata_only"), "{path}");
    }
    let latin = read(&source, &odd, "references/latin.txt").await.unwrap();
    assert!(latin.content.to_text().unwrap().contains("läuft"));
    let titles: Vec<_> = descriptors
        .iter()
        .filter(|found| found.parent_key.is_some())
        .map(|found| found.title.as_str())
        .collect();
    assert_eq!(titles, ["odd/references/rule.md > One", "odd/references/rule.md > Two"]);
    // Instructions that are empty are complete, and empty.
    let core = read(&source, &odd, "SKILL.md").await.unwrap();
    assert_eq!((core.completeness, core.content.chars()), (Completeness::Complete, 0));
}

#[tokio::test]
async fn only_the_core_has_a_digest_and_only_from_its_start() {
    let home = Home::new();
    let library = home.library();
    let pump = install_pump(&library);
    let source = required(&library, &pump);
    let digest = ReadRequest::whole(1_000).as_representation(Representation::LossyDigest);
    let kind = async |path: &str, request: &ReadRequest| {
        source.read_exact(&source_ref(&pump, path), request).await.unwrap_err().kind()
    };
    assert_eq!(kind("SKILL.md#section-1", &digest).await, SourceErrorKind::Unsupported);
    assert_eq!(kind("references/seal.md", &digest).await, SourceErrorKind::Unsupported);
    assert_eq!(kind("SKILL.md", &digest.clone().starting_at(1)).await, SourceErrorKind::Contract);
    let parsed = ReadRequest::whole(9).as_representation(Representation::ParsedText);
    assert_eq!(kind("SKILL.md", &parsed).await, SourceErrorKind::Unsupported);
    let unknown = SourceRef::new("skill:pump").unwrap();
    assert_eq!(source.read_exact(&unknown, &digest).await.unwrap_err().kind(), SourceErrorKind::NotFound);
}
