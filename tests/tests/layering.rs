//! The walls between the crates stand where the architecture draws them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which of our crates each crate may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("briefing-core", &[]),
    ("briefing-tokens", &["core"]),
    ("briefing-formats", &["core"]),
    ("briefing-analysis", &[]),
    ("briefing-task-context", &["analysis", "core"]),
    ("briefing-context-reader", &["core", "task-context", "tokens"]),
    ("briefing-task-workspace", &["core", "formats"]),
    ("briefing-record-store", &["analysis", "core", "formats"]),
    ("briefing-model-http", &["core"]),
    ("briefing-skill-library", &["core", "formats"]),
    (
        "briefing-execution",
        &["context-reader", "core", "record-store", "skill-library", "task-context", "task-workspace"],
    ),
    (
        "briefing",
        &[
            "context-reader",
            "core",
            "execution",
            "formats",
            "model-http",
            "record-store",
            "skill-library",
            "task-context",
            "task-workspace",
            "tokens",
        ],
    ),
    ("briefing-cli", &[""]),
];

/// What only its owner may pull in.
const ENGINES: &[(&str, &str)] = &[
    ("tantivy", "briefing-task-context"),
    ("unicode-normalization", "briefing-analysis"),
    ("bpe-openai", "briefing-tokens"),
    ("infer", "briefing-formats"),
    ("lopdf", "briefing-formats"),
    ("zip", "briefing-formats"),
    ("cap-std", "briefing-task-workspace"),
    ("cap-fs-ext", "briefing-task-workspace"),
    ("ignore", "briefing-task-workspace"),
    ("grep-matcher", "briefing-task-workspace"),
    ("grep-regex", "briefing-task-workspace"),
    ("grep-searcher", "briefing-task-workspace"),
    ("caseless", "briefing-task-workspace"),
    ("csv", "briefing-task-workspace"),
    ("similar", "briefing-task-workspace"),
    ("rusqlite", "briefing-record-store"),
    ("reqwest", "briefing-model-http"),
    ("serde-saphyr", "briefing-skill-library"),
    ("clap", "briefing-cli"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Normal dependencies of each package of the workspace.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let normal = |package: &serde_json::Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        all.filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|package| (package["name"].as_str().unwrap().to_owned(), normal(package))).collect()
}

#[test]
fn each_crate_depends_only_on_what_its_arrows_allow() {
    let dependencies = dependencies();
    for (name, allowed) in ARROWS {
        let ours = dependencies[*name].iter().filter(|dependency| dependency.starts_with("briefing"));
        for dependency in ours {
            let short = dependency.strip_prefix("briefing-").unwrap_or("");
            assert!(allowed.contains(&short), "{name} must not depend on {dependency}");
        }
    }
    let unlisted = ["briefing-examples", "briefing-tests", "briefing-benches"];
    for name in dependencies.keys().filter(|name| !unlisted.contains(&name.as_str())) {
        assert!(ARROWS.iter().any(|(listed, _)| listed == name), "{name} has no row in ARROWS");
    }
}

#[test]
fn engines_stay_with_their_owner() {
    for (name, dependencies) in dependencies() {
        for (engine, owner) in ENGINES {
            let here = dependencies.iter().any(|dependency| dependency == engine);
            let bench = name == "briefing-benches";
            assert!(!here || name == *owner || bench, "{engine} belongs to {owner}, not to {name}");
        }
    }
}

#[test]
fn no_source_file_outgrows_one_idea() {
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                let lines = std::fs::read_to_string(&path).unwrap().lines().count();
                assert!(lines <= 700, "{} has {lines} lines", path.display());
            }
        }
    }
}
