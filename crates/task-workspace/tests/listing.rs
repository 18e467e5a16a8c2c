//! What files and passages say about themselves.

mod common;

use briefing_core::conformance::check_source;
use briefing_core::{
    Content, ContextSource, Digest, LineRange, ReadRequest, Representation, SourceErrorKind, SourceRef,
};
use briefing_task_workspace::{TaskWorkspace, WorkspaceSource, WorkspaceSourceOptions};
use common::{Tree, awkward_tree, list, read, shared, text};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

fn long_text() -> String {
    (0..200).map(|line| format!("Paragraph {line} about the cooling pump 水泵.\n\n")).collect()
}

fn made_up_tree() -> Tree {
    let long_line = "pump ".repeat(2_000);
    Tree::new(&[
        ("README.md", b"# Title\n\nWords.\n"),
        ("long.txt", long_text().as_bytes()),
        ("one_line.txt", long_line.as_bytes()),
        ("src/empty.py", b""),
        ("logo.png", PNG),
        ("tool", b"\x7fELF\x02\x01\x01\0\0\0\0"),
        ("a b/c#d.txt", b"x\n"),
        ("long.txt#000001", b"named like a key\n"),
        ("long.txt#L1-23", b"named like a ref\n"),
        ("bad.txt", b"\xe6\xb0\xb4\xe6\xb3\xb5\xff\n"),
        ("wide.txt", b"\xff\xfeh\0i\0\n\0"),
    ])
}

#[tokio::test]
async fn the_source_conforms_to_its_port() {
    let tree = made_up_tree();
    let violations = check_source(&tree.source()).await;
    assert!(violations.is_empty(), "{violations:#?}");
}

#[tokio::test]
async fn the_source_conforms_on_the_awkward_tree() {
    let Some(folder) = awkward_tree() else { return };
    let workspace = TaskWorkspace::open(folder.path().join("root")).unwrap();
    let violations = check_source(&workspace.source(WorkspaceSourceOptions::new()).unwrap()).await;
    assert!(violations.is_empty(), "{violations:#?}");
}

#[tokio::test]
async fn every_ref_is_unique_and_gives_exactly_what_was_described() {
    let tree = made_up_tree();
    let source = tree.source();
    let listing = list(&source, 7).await;
    let mut refs = std::collections::BTreeSet::new();
    let mut texts = 0;
    for found in &listing.descriptors {
        assert!(refs.insert(found.source_ref.clone()), "{} twice", found.source_ref);
        let Ok(read) = read(&source, found.source_ref.as_str()).await else { continue };
        let Content::Text(text) = &read.content else { panic!("{}", found.source_ref) };
        assert_eq!(text.chars().count(), found.estimated_chars, "{}", found.source_ref);
        assert_eq!(read.content_digest, found.content_digest, "{}", found.source_ref);
        assert_eq!(read.metadata, found.metadata);
        if !found.index_text.is_empty() {
            assert_eq!(*text, found.index_text);
            texts += 1;
        }
    }
    assert!(texts > 10);
}

#[tokio::test]
async fn passages_follow_their_file_and_join_to_its_text() {
    let tree = made_up_tree();
    let source = tree.source();
    let listing = list(&source, 5).await;
    for path in ["long.txt", "one_line.txt"] {
        let whole = listing.get(path);
        assert!(whole.index_text.is_empty() && whole.parent_key.is_none());
        let passages = listing
            .descriptors
            .iter()
            .filter(|found| found.parent_key.as_ref().is_some_and(|key| *key == *path));
        let joined: String = passages.clone().map(|found| found.index_text.as_str()).collect();
        assert_eq!(joined, text(&source, path).await);
        assert_eq!(Digest::of(joined.as_bytes()), whole.content_digest.unwrap());
        assert!(passages.clone().all(|found| LineRange::from_metadata(&found.metadata).is_some()));
        assert!(passages.count() > 3);
    }
    assert_eq!(listing.get("long.txt#000000").source_ref.as_str().find("long.txt#L1-"), Some(0));
    assert!(listing.get("one_line.txt#000001").source_ref.as_str().starts_with("one_line.txt#L1-1:C1"));
    assert_eq!(listing.get("long.txt").summary, "Paragraph 0 about the cooling pump 水泵.");
    let readme = listing.get("README.md");
    assert_eq!((readme.index_text.as_str(), readme.summary.as_str()), ("# Title\n\nWords.\n", "Title"));
    assert_eq!(readme.metadata["lines"], serde_json::json!({ "start": 1, "end": 3 }));
}

#[tokio::test]
async fn a_file_named_like_a_passage_is_that_file() {
    let tree = made_up_tree();
    let source = tree.source();
    let listing = list(&source, 100).await;
    assert_eq!(text(&source, "long.txt#000001").await, "named like a key\n");
    assert_eq!(text(&source, "long.txt#L1-23").await, "named like a ref\n");
    assert!(listing.get("long.txt#000001#").parent_key.is_some());
}

#[tokio::test]
async fn what_is_not_text_is_offered_by_reference() {
    let tree = made_up_tree();
    tree.put("scan.pdf", b"%PDF-1.7\n1 0 obj\n");
    tree.put("words.png", b"just words");
    let source = tree.workspace().source(WorkspaceSourceOptions::new().max_text_bytes(12_000)).unwrap();
    tree.put("huge.txt", "word ".repeat(4_000));
    let listing = list(&source, 100).await;
    for (key, kind, form) in [
        ("logo.png", "image", "image_attachment_or_metadata"),
        ("tool", "binary", "metadata_only"),
        ("scan.pdf", "pdf", "metadata_only"),
        ("huge.txt", "text", "metadata_only"),
        ("words.png", "unknown", "metadata_only"),
        ("bad.txt", "text", "metadata_only"),
    ] {
        let found = listing.get(key);
        assert_eq!(
            (&found.metadata["content_kind"], &found.metadata["context_representation"]),
            (&kind.into(), &form.into()),
            "{key}"
        );
        assert_eq!((found.estimated_chars, found.index_text.as_str()), (0, ""));
        let error = read(&source, key).await.unwrap_err();
        assert_eq!(error.kind(), SourceErrorKind::Unsupported, "{key}");
    }
    assert_eq!(listing.get("huge.txt").metadata["total_bytes"], 20_000);
    assert_eq!(listing.details("workspace.too_large", "path"), ["huge.txt"]);
    assert_eq!(listing.details("workspace.type_disagreement", "path"), ["words.png"]);
    assert_eq!(listing.details("workspace.undecodable", "path"), ["bad.txt"]);
}

#[tokio::test]
async fn older_encodings_are_decoded_and_named() {
    let Some(gbk) = shared("text/gbk.c") else { return };
    let bytes = std::fs::read(gbk).unwrap();
    let tree = Tree::new(&[("gbk.c", &bytes), ("wide.txt", b"\xff\xfeh\0i\0")]);
    let source = tree.source();
    let listing = list(&source, 100).await;
    assert_eq!(listing.get("gbk.c").metadata["encoding"], "gbk");
    assert_eq!(listing.get("gbk.c").content_digest, Some(Digest::of(&bytes)));
    assert_eq!(listing.get("wide.txt").metadata["encoding"], "utf-16le");
    assert_eq!(listing.details("workspace.decoded_from_legacy_encoding", "path"), ["gbk.c"]);
    let read = read(&source, "gbk.c").await.unwrap();
    assert!(read.content.to_text().unwrap().starts_with("// 模块：库存盘点\n"));
    assert_eq!(read.diagnostics.len(), 1);
    assert_eq!(text(&source, "wide.txt").await, "hi");
}

#[tokio::test]
async fn pictures_are_attached_only_when_asked_and_only_when_they_are_pictures() {
    let tree = made_up_tree();
    tree.put("words.png", b"just words");
    tree.put("empty.png", b"");
    let source = tree.source();
    let attach = async |path: &str| {
        let request = ReadRequest::whole(10).as_representation(Representation::ImageAttachment);
        source.read_exact(&SourceRef::new(path).unwrap(), &request).await
    };
    let read = attach("logo.png").await.unwrap();
    let Content::Structured(value) = &read.content else { panic!("no attachment") };
    let url = value[0]["image_url"]["url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,iVBORw0KGgo"), "{url}");
    assert_eq!(read.metadata["context_representation"], "image_attachment");
    for path in ["words.png", "empty.png", "tool", "README.md"] {
        assert_eq!(attach(path).await.unwrap_err().kind(), SourceErrorKind::Unsupported, "{path}");
    }
    let parsed = ReadRequest::whole(10).as_representation(Representation::ParsedText);
    let error = source.read_exact(&SourceRef::new("README.md").unwrap(), &parsed).await.unwrap_err();
    assert_eq!(error.kind(), SourceErrorKind::Unsupported);
}

#[tokio::test]
async fn unknown_refs_are_not_found() {
    let source = made_up_tree();
    let source = source.source();
    for unknown in [
        "nope",
        "README.md#L1-2",
        "long.txt#L1-3",
        "long.txt#L0-0",
        "long.txt#Lx",
        "../x",
        "/etc/passwd",
        ".briefing/x",
        r"a\b",
    ] {
        assert_eq!(read(&source, unknown).await.unwrap_err().kind(), SourceErrorKind::NotFound, "{unknown}");
    }
}

#[tokio::test]
async fn an_empty_folder_lists_nothing() {
    let listing = list(&Tree::new(&[]).source(), 10).await;
    assert!(listing.descriptors.is_empty() && listing.diagnostics.is_empty());
}

#[tokio::test]
async fn a_source_is_built_again_from_its_recipe() {
    let tree = made_up_tree();
    let options = WorkspaceSourceOptions::new().source_id("docs").ignore_glob("*.txt");
    let source = tree.workspace().source(options).unwrap();
    let recipe = source.recipe().unwrap().configuration();
    let again = WorkspaceSource::from_configuration(recipe).unwrap();
    assert_eq!(again.source_id().as_str(), "docs");
    assert_eq!(again.revision().await.unwrap(), source.revision().await.unwrap());
    let error = WorkspaceSource::from_configuration(serde_json::json!({ "root": 7 })).unwrap_err();
    assert_eq!(error.code(), "workspace.configuration_invalid");
}

#[cfg(unix)]
#[tokio::test]
#[allow(clippy::print_stdout, reason = "a skipped test says so")]
async fn an_unreadable_file_is_offered_by_reference_with_a_diagnostic() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = Tree::new(&[("locked.txt", b"x"), ("open.txt", b"y")]);
    std::fs::set_permissions(tree.path("locked.txt"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(tree.path("locked.txt")).is_ok() {
        println!("SKIPPED: this user may read files of mode 000");
        return;
    }
    let source = tree.source();
    let listing = list(&source, 10).await;
    assert_eq!(listing.keys(), ["locked.txt", "open.txt"]);
    assert_eq!(listing.details("workspace.unreadable", "path"), ["locked.txt"]);
    assert_eq!(read(&source, "locked.txt").await.unwrap_err().kind(), SourceErrorKind::Unreadable);
}
