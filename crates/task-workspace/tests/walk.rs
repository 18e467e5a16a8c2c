//! The walk offers what git would, and reports what it leaves out.

mod common;

use briefing_task_workspace::{TaskWorkspace, WorkspaceSourceOptions};
use common::{Tree, awkward_tree, list, shared};

async fn paths(tree: &Tree, scan_from: &str, options: WorkspaceSourceOptions) -> Vec<String> {
    let source = tree.source_at(scan_from, options);
    let listing = list(&source, 50).await;
    listing
        .descriptors
        .iter()
        .filter(|found| found.parent_key.is_none())
        .map(|found| found.source_ref.to_string())
        .collect()
}

#[tokio::test]
async fn ignore_rules_give_the_set_that_git_gives() {
    let Some(path) = shared("ignore/cases.json") else { return };
    let cases: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for case in cases["cases"].as_array().unwrap() {
        for with_git in [false, true] {
            let tree = Tree::new(&[]);
            for (path, text) in case["files"].as_object().unwrap() {
                tree.put(path, text.as_str().unwrap());
            }
            if with_git {
                std::fs::create_dir(tree.path(".git")).unwrap();
            }
            let from = case["scan_from"].as_str().unwrap_or("");
            let prefix = if from.is_empty() { String::new() } else { format!("{from}/") };
            let options = WorkspaceSourceOptions::new().include_hidden(true);
            let found: Vec<_> =
                paths(&tree, from, options).await.iter().map(|path| format!("{prefix}{path}")).collect();
            let mut expected: Vec<_> = case["git_included"]
                .as_array()
                .unwrap()
                .iter()
                .map(|path| path.as_str().unwrap().to_owned())
                .collect();
            expected.sort();
            assert_eq!(found, expected, "{} (.git: {with_git})", case["name"]);
        }
    }
}

#[tokio::test]
async fn hidden_files_are_left_out_but_their_rules_hold() {
    let tree = Tree::new(&[
        (".gitignore", b"*.log\n"),
        (".env", b"x"),
        ("server.pem", b"x"),
        ("id_rsa", b"x"),
        ("a.log", b"x"),
        ("b.txt", b"x"),
        (".git/config", b"x"),
        (".briefing/store.db", b"x"),
        ("sub/.briefing/x", b"x"),
        (".github/ci.yml", b"x"),
    ]);
    assert_eq!(paths(&tree, "", WorkspaceSourceOptions::new()).await, ["b.txt"]);
    let hidden = WorkspaceSourceOptions::new().include_hidden(true);
    assert_eq!(paths(&tree, "", hidden.clone()).await, [".github/ci.yml", ".gitignore", "b.txt"]);
    assert_eq!(
        paths(&tree, "", hidden.clone().respect_ignore_files(false)).await,
        [".github/ci.yml", ".gitignore", "a.log", "b.txt"]
    );
    let skipped = list(&tree.source_at("", hidden.clone()), 50).await;
    assert_eq!(
        skipped.details("workspace.secret_file_skipped", "path"),
        [".env", "id_rsa", "server.pem"],
        "what is left out is named"
    );
    assert_eq!(
        paths(&tree, "", hidden.include_secrets(true)).await,
        [".env", ".github/ci.yml", ".gitignore", "b.txt", "id_rsa", "server.pem"]
    );
    let globs =
        WorkspaceSourceOptions::new().respect_ignore_files(false).ignore_glob("*.txt").ignore_glob("!b.txt");
    assert_eq!(paths(&tree, "", globs).await, ["a.log", "b.txt"]);
}

#[tokio::test]
async fn files_come_in_the_order_of_their_bytes() {
    let tree = Tree::new(&[("a/b.txt", b"x"), ("a.txt", b"x"), ("a-b", b"x"), ("B", b"x"), ("水", b"x")]);
    assert_eq!(paths(&tree, "", WorkspaceSourceOptions::new()).await, ["B", "a-b", "a.txt", "a/b.txt", "水"]);
}

#[tokio::test]
async fn an_unchanged_tree_keeps_its_revision_and_an_edit_changes_it() {
    use briefing_core::ContextSource as _;
    let tree = Tree::new(&[("a.txt", b"one"), ("b.txt", b"two")]);
    let source = tree.source();
    let first = source.revision().await.unwrap();
    assert!(first.as_str().starts_with("scan:"));
    assert_eq!(source.revision().await.unwrap(), first);
    assert_eq!(tree.source().revision().await.unwrap(), first);
    tree.put("b.txt", "longer");
    assert_ne!(source.revision().await.unwrap(), first);
}

#[test]
fn a_bad_glob_is_refused_by_name() {
    let error =
        Tree::new(&[]).workspace().source(WorkspaceSourceOptions::new().ignore_glob("[z-a]")).unwrap_err();
    assert_eq!(error.code(), "workspace.ignore_glob_invalid");
}

#[tokio::test]
async fn the_walk_of_the_awkward_tree_ends_and_reports_what_it_skips() {
    let Some(folder) = awkward_tree() else { return };
    let workspace = TaskWorkspace::open(folder.path().join("root")).unwrap();
    let source = workspace.source(WorkspaceSourceOptions::new()).unwrap();
    let listing = list(&source, 10).await;
    assert_eq!(listing.details("workspace.special_file_skipped", "path"), ["queue.txt", "service.sock"]);
    let links = listing.details("workspace.link_skipped", "path").into_iter();
    let links: Vec<_> = links.zip(listing.details("workspace.link_skipped", "target")).collect();
    for (path, target) in [
        ("link_file", "outside"),
        ("link_inside", "inside"),
        ("loop_a", "missing"),
        ("zero.log", "outside"),
        ("nest/up", "inside"),
    ] {
        assert!(links.contains(&(path.to_owned(), target.to_owned())), "{path}: {links:?}");
    }
    let keys = listing.keys();
    assert!(!keys.iter().any(|key| key.contains("ledger")), "{keys:?}");
    assert!(keys.contains(&r"odd\xFF\xFE.txt") && keys.contains(&r"a\\b.txt") && keys.contains(&"a:b.txt"));
    let huge = listing.get("huge.log");
    assert_eq!((huge.metadata["total_bytes"].as_u64(), huge.estimated_chars), (Some(6 << 30), 0));
    assert_eq!(huge.metadata["context_representation"], "metadata_only");
}
