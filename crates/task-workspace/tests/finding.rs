//! Listing gives every file once, in order, on pages of any size, and nothing that is not the workspace's to show.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use briefing_task_workspace::{
    EntryKind, Error, ExecutionId, ListRequest, Listing, TaskWorkspace, WorkspaceOptions, WorkspacePath,
    WritePolicy,
};
use common::{Tree, path};

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code()
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.path.as_str()).collect()
}

fn listed(workspace: &TaskWorkspace, request: &ListRequest) -> Vec<String> {
    paths(&workspace.list(request).unwrap()).into_iter().map(str::to_owned).collect()
}

fn globbed(workspace: &TaskWorkspace, glob: &str) -> Vec<String> {
    paths(&workspace.glob(glob).unwrap()).into_iter().map(str::to_owned).collect()
}

/// Everything, hidden and ignored files too.
fn all() -> ListRequest {
    ListRequest::new().include_hidden(true).respect_ignore_files(false)
}

/// A tree whose paths sort otherwise by segments than by bytes.
fn crooked_tree() -> Tree {
    Tree::new(&[
        ("a", b"1"),
        ("a b", b"2"),
        ("a-b/c", b"3"),
        ("a.b", b"4"),
        ("a0", b"5"),
        ("aA", b"6"),
        ("b/a.rs", b"7"),
        ("b/c/d.rs", b"8"),
        ("b.c", b"9"),
        ("B", b"10"),
        ("水/泵.md", b"11"),
        ("\u{e9}", b"12"),
        ("e\u{301}", b"13"),
        ("🦀", b"14"),
    ])
}

#[test]
fn pages_of_any_size_give_each_entry_once_in_the_order_of_bytes() {
    let tree = crooked_tree();
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt as _;
        for name in [&b"b/odd\xff.rs"[..], b"back\\slash", b"back\\xFF", b"a\nb"] {
            tree.put(std::ffi::OsStr::from_bytes(name), b"x");
        }
    }
    let workspace = tree.workspace();
    for request in [all(), all().one_level(), all().folder(path("b")), all().glob("*.rs")] {
        let whole = workspace.list(&request).unwrap();
        assert_eq!((whole.total, whole.next.as_deref()), (whole.entries.len(), None));
        for limit in 1..=whole.total + 1 {
            let (mut seen, mut request) = (Vec::new(), request.clone().limit(limit));
            loop {
                let page = workspace.list(&request).unwrap();
                assert_eq!(page.total, whole.total);
                assert!(
                    page.entries.len() == limit || page.next.is_none(),
                    "a page that is not full goes on"
                );
                seen.extend(page.entries);
                match page.next {
                    Some(next) => request = request.after(next),
                    None => break,
                }
                assert!(seen.len() < whole.total, "a next page with nothing on it");
            }
            assert_eq!(seen, whole.entries, "{limit} a page");
        }
    }
    assert_eq!(code(workspace.list(&ListRequest::new().limit(0))), "workspace.out_of_range");
}

#[cfg(target_os = "linux")]
#[test]
fn names_are_ordered_by_their_real_bytes_and_shown_apart() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = Tree::new(&[]);
    for name in [&b"o\xff"[..], b"o\\xFF", b"oz", b"o\xc3\xa9"] {
        tree.put(std::ffi::OsStr::from_bytes(name), b"x");
    }
    let workspace = tree.workspace();
    assert_eq!(listed(&workspace, &all()), [r"o\\xFF", "oz", "o\u{e9}", r"o\xFF"]);
    // Globs are matched with names as they are, not as they are shown.
    assert_eq!(globbed(&workspace, r"o\\xFF"), [r"o\\xFF"]);
    assert_eq!(globbed(&workspace, "o?"), ["oz", "o\u{e9}", r"o\xFF"]);
    for after in [r"o\z", r"o\xF", "o\\"] {
        assert_eq!(code(workspace.list(&all().after(after))), "workspace.invalid_path", "{after}");
    }
}

#[test]
fn a_cursor_needs_no_file_of_its_name() {
    let tree = crooked_tree();
    let workspace = tree.workspace();
    let first = workspace.list(&all().limit(3)).unwrap();
    let after = first.next.unwrap();
    let rest = listed(&workspace, &all().after(&after));
    tree.remove(&after);
    assert_eq!(listed(&workspace, &all().after(&after)), rest);
    assert_eq!(listed(&workspace, &all().after("\u{10FFFF}")), Vec::<String>::new());
}

#[test]
fn entries_say_what_they_are() {
    let tree = Tree::new(&[("sub/deep/a.txt", b"12345"), ("top.txt", b"1")]);
    let workspace = tree.workspace();
    let level = workspace.list(&ListRequest::new().one_level()).unwrap();
    let facts: Vec<_> =
        level.entries.iter().map(|entry| (entry.path.as_str(), entry.kind, entry.size_bytes)).collect();
    assert_eq!(facts, [("sub", EntryKind::Folder, 0), ("top.txt", EntryKind::File, 1)]);
    assert_eq!(listed(&workspace, &ListRequest::new().one_level().folder(path("sub"))), ["sub/deep"]);
    let file = &workspace.list(&ListRequest::new().folder(path("sub"))).unwrap().entries[0];
    assert_eq!((file.path.as_str(), file.size_bytes, file.in_fallback), ("sub/deep/a.txt", 5, false));
    let modified = std::fs::metadata(tree.path("sub/deep/a.txt")).unwrap().modified().unwrap();
    let millis = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    assert_eq!(u128::try_from(file.modified_unix_millis).unwrap(), millis);
}

#[test]
fn a_glob_with_a_slash_is_for_paths_and_one_without_for_names() {
    let tree = Tree::new(&[
        ("main.rs", b""),
        ("src/main.rs", b""),
        ("src/deep/main.rs", b""),
        ("src/main.rs.bak", b""),
        ("水泵.md", b""),
        ("docs/水.md", b""),
        ("docs/a.md", b""),
        ("docs/[x].md", b""),
    ]);
    let workspace = tree.workspace();
    for (glob, expected) in [
        ("*.rs", &["main.rs", "src/deep/main.rs", "src/main.rs"][..]),
        ("**/*.rs", &["main.rs", "src/deep/main.rs", "src/main.rs"]),
        ("src/*.rs", &["src/main.rs"]),
        ("src/**", &["src/deep/main.rs", "src/main.rs", "src/main.rs.bak"]),
        ("src/**/main.rs", &["src/deep/main.rs", "src/main.rs"]),
        ("src", &[]),
        ("{main,other}.rs", &["main.rs", "src/deep/main.rs", "src/main.rs"]),
        ("MAIN.rs", &[]),
        // A char is one char in every script.
        ("?.md", &["docs/a.md", "docs/水.md"]),
        ("??.md", &["水泵.md"]),
        ("[水泵].md", &["docs/水.md"]),
        ("[!水].md", &["docs/a.md"]),
        ("[一-龥]*.md", &["docs/水.md", "水泵.md"]),
        (r"\[x\].md", &["docs/[x].md"]),
        ("[[]x].md", &["docs/[x].md"]),
    ] {
        assert_eq!(globbed(&workspace, glob), expected, "{glob}");
    }
    let either = ListRequest::new().glob("src/*.rs").glob("水泵*");
    assert_eq!(listed(&workspace, &either), ["src/main.rs", "水泵.md"]);
    assert_eq!(code(workspace.glob("a[b")), "workspace.glob_invalid");
}

#[test]
fn a_glob_that_can_match_nothing_is_refused_with_its_reason() {
    let outside = Tree::new(&[("root/in.txt", b"in"), ("out.txt", b"out")]);
    let workspace = TaskWorkspace::open(outside.path("root")).unwrap();
    let absolute = format!("{}/*", outside.0.path().display());
    for glob in ["../*", "**/../*", "sub/../../*", "/*", "/", "", "./in.txt", "a//b", "sub/", &absolute] {
        let error = workspace.glob(glob).unwrap_err();
        assert_eq!(error.code(), "workspace.glob_invalid", "{glob}");
        assert!(error.to_string().contains("segment"), "{error}");
        let denied = WorkspaceOptions::read_write().policy(WritePolicy::new().deny(glob));
        assert_eq!(
            code(TaskWorkspace::open_with(outside.path("root"), denied)),
            "workspace.glob_invalid",
            "a rule that forbids nothing: {glob}"
        );
    }
    assert_eq!(globbed(&workspace, "**"), ["in.txt"]);
    assert_eq!(globbed(&workspace, "{..,in}*"), ["in.txt"]);
}

#[test]
fn a_policy_ignores_case_in_every_script() {
    let tree = Tree::new(&[]);
    let policy = WritePolicy::new().deny("geheim/Ä?.txt");
    let workspace =
        TaskWorkspace::open_with(tree.0.path(), WorkspaceOptions::read_write().policy(policy)).unwrap();
    for name in ["geheim/Äa.txt", "GEHEIM/äé.TXT", "geheim/ä水.txt"] {
        assert_eq!(code(workspace.write(&path(name), "", None)), "workspace.denied", "{name}");
    }
    workspace.write(&path("geheim/Äab.txt"), "", None).unwrap();
}

#[test]
fn hidden_and_ignored_files_are_listed_only_when_asked_for() {
    let tree = Tree::new(&[
        (".gitignore", b"*.log\n/build/\n!keep.log\n"),
        (".ignore", b"secret.txt\n"),
        (".hidden/a.txt", b""),
        (".env", b""),
        ("a.log", b""),
        ("keep.log", b""),
        ("build/out.txt", b""),
        ("secret.txt", b""),
        ("sub/.gitignore", b"local.txt\n"),
        ("sub/local.txt", b""),
        ("sub/other.txt", b""),
        (".git/info/exclude", b"excluded.txt\n"),
        ("excluded.txt", b""),
    ]);
    let workspace = tree.workspace();
    assert_eq!(listed(&workspace, &ListRequest::new()), ["keep.log", "sub/other.txt"]);
    assert_eq!(
        listed(&workspace, &ListRequest::new().include_hidden(true)),
        [".gitignore", ".hidden/a.txt", ".ignore", "keep.log", "sub/.gitignore", "sub/other.txt"]
    );
    assert_eq!(
        listed(&workspace, &ListRequest::new().respect_ignore_files(false)),
        [
            "a.log",
            "build/out.txt",
            "excluded.txt",
            "keep.log",
            "secret.txt",
            "sub/local.txt",
            "sub/other.txt"
        ]
    );
    let secrets = ListRequest::new().include_hidden(true).include_secrets(true);
    assert!(listed(&workspace, &secrets).contains(&".env".to_owned()));
    // A glob does not bring back what the rules leave out, and a folder that is asked for by name does.
    assert_eq!(globbed(&workspace, "*.log"), ["keep.log"]);
    assert_eq!(listed(&workspace, &ListRequest::new().folder(path("build"))), ["build/out.txt"]);
    assert_eq!(listed(&workspace, &ListRequest::new().folder(path(".hidden"))), [".hidden/a.txt"]);
    // The rules of the folders above hold in a folder too.
    tree.put("sub/b.log", b"");
    assert_eq!(listed(&workspace, &ListRequest::new().folder(path("sub"))), ["sub/other.txt"]);
}

#[test]
fn version_control_and_the_private_area_are_never_listed() {
    let tree = Tree::new(&[
        ("a.txt", b"pump"),
        (".git/config", b"pump"),
        ("sub/.git/hooks/x.sample", b"pump"),
        ("linked/.git", b"gitdir: pump"),
        ("sub/inner/.briefing/x.txt", b"pump"),
    ]);
    let workspace = tree.read_write();
    workspace.stage(&path("staged.txt"), "pump").unwrap();
    #[cfg(unix)]
    for (target, link) in
        [(".git", "to_git"), (".briefing", "to_area"), ("sub/.git/hooks", "to_hooks"), (".", "to_root")]
    {
        std::os::unix::fs::symlink(target, tree.path(link)).unwrap();
    }
    assert_eq!(listed(&workspace, &all()), ["a.txt"]);
    let everywhere = |glob: &str| listed(&workspace, &all().glob(glob));
    for glob in
        ["**/.briefing/**", ".briefing/**", "**/.git/**", ".git/*", "**/config", "*.sample", "**/x.txt"]
    {
        assert_eq!(everywhere(glob), Vec::<String>::new(), "{glob}");
    }
    let level = |folder: &str| listed(&workspace, &all().one_level().folder(path(folder)));
    assert_eq!(level("sub"), ["sub/inner"]);
    assert_eq!(level("sub/inner"), Vec::<String>::new());
    for folder in [".git", "sub/.git", "sub/.git/hooks", ".GIT", ".git/none"] {
        let request = all().folder(path(folder));
        assert_eq!(code(workspace.list(&request)), "workspace.not_listed", "{folder}");
        assert_eq!(code(workspace.grep(&grep("pump", &request))), "workspace.not_listed", "{folder}");
    }
    #[cfg(unix)]
    for (folder, refused) in [
        ("to_git", "workspace.not_listed"),
        ("to_hooks", "workspace.not_listed"),
        ("to_area", "workspace.private_area"),
        ("to_area/workspace", "workspace.private_area"),
        ("to_root/.git", "workspace.not_listed"),
    ] {
        let request = all().folder(path(folder));
        assert_eq!(code(workspace.list(&request)), refused, "{folder}");
        assert_eq!(code(workspace.grep(&grep("pump", &request))), refused, "{folder}");
        let search = briefing_task_workspace::SearchRequest::new("pump").files(request);
        assert_eq!(code(workspace.search(&search)), refused, "{folder}");
    }
    let page = workspace.grep(&grep("pump", &all())).unwrap();
    assert_eq!(page.matches.iter().map(|found| found.path.as_str()).collect::<Vec<_>>(), ["a.txt"]);
    let search = briefing_task_workspace::SearchRequest::new("pump").files(all());
    assert_eq!(workspace.search(&search).unwrap().total, 1);
}

fn grep(pattern: &str, files: &ListRequest) -> briefing_task_workspace::GrepRequest {
    briefing_task_workspace::GrepRequest::new(pattern).files(files.clone())
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_a_link_is_listed_where_it_stays_inside() {
    use std::os::unix::fs::symlink;
    let tree =
        Tree::new(&[("root/sub/deep/a.txt", b"pump"), ("root/b.txt", b""), ("out/secret.txt", b"pump")]);
    let link = |target: &str, name: &str| symlink(target, tree.path("root").join(name)).unwrap();
    link("sub", "inside");
    link("../out", "outside");
    link("outside", "outside_again");
    link("loop", "loop");
    link("nowhere", "broken");
    link("../../../out", "sub/deep/out");
    symlink(tree.path("out"), tree.path("root/absolute")).unwrap();
    let workspace = TaskWorkspace::open(tree.path("root")).unwrap();
    let ask = |folder: &str| workspace.list(&all().folder(path(folder)));
    assert_eq!(paths(&ask("inside").unwrap()), ["sub/deep/a.txt"]);
    assert_eq!(paths(&ask("inside/deep").unwrap()), ["sub/deep/a.txt"]);
    for folder in ["outside", "outside_again", "absolute", "inside/deep/out", "outside/none"] {
        assert_eq!(code(ask(folder)), "workspace.outside_boundary", "{folder}");
    }
    assert_eq!(code(ask("broken")), "workspace.not_found");
    assert_eq!(code(ask("loop")), "workspace.unreadable");
    // No walk goes through a link; each is told.
    let whole = workspace.list(&all()).unwrap();
    assert_eq!(paths(&whole), ["b.txt", "sub/deep/a.txt"]);
    let told: Vec<_> = whole
        .diagnostics
        .iter()
        .map(|found| {
            (
                found.code.as_str(),
                found.details["path"].as_str().unwrap(),
                found.details["target"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("workspace.link_skipped", "absolute", "outside"),
            ("workspace.link_skipped", "broken", "missing"),
            ("workspace.link_skipped", "inside", "inside"),
            ("workspace.link_skipped", "loop", "missing"),
            ("workspace.link_skipped", "outside", "outside"),
            ("workspace.link_skipped", "outside_again", "outside"),
            ("workspace.link_skipped", "sub/deep/out", "outside"),
        ]
    );
    for glob in ["outside/*", "*secret*", "**/secret.txt", "inside/**"] {
        assert_eq!(globbed(&workspace, glob), Vec::<String>::new(), "{glob}");
    }
    assert_eq!(workspace.grep(&grep("pump", &all())).unwrap().matches.len(), 1);
}

#[test]
fn a_folder_that_is_none_is_told_apart_from_one_that_is_not_there() {
    let tree = Tree::new(&[("a.txt", b""), ("sub/b.txt", b"")]);
    let workspace = tree.workspace();
    let ask = |folder: &str| code(workspace.list(&ListRequest::new().folder(path(folder))));
    assert_eq!(ask("none"), "workspace.not_found");
    assert_eq!(ask("sub/none"), "workspace.not_found");
    assert_eq!(ask("a.txt"), "workspace.not_folder");
    assert_eq!(ask("sub/b.txt"), "workspace.not_folder");
    assert_eq!(ask("a.txt/sub"), "workspace.not_found");
    for (folder, refused) in [
        ("../x", "workspace.outside_boundary"),
        (".briefing", "workspace.private_area"),
        ("/etc", "workspace.outside_boundary"),
    ] {
        assert_eq!(code(WorkspacePath::new(folder)), refused);
    }
}

#[test]
fn what_a_read_only_run_wrote_is_found_in_its_place() {
    let tree = Tree::new(&[
        (".gitignore", b"*.log\n"),
        ("a.txt", b"old pump"),
        ("sub/b.txt", b"pump"),
        ("z.log", b"ignored pump"),
    ]);
    let open = |run: &str| {
        let options = WorkspaceOptions::read_only().execution(ExecutionId::new(run).unwrap());
        TaskWorkspace::open_with(tree.0.path(), options).unwrap()
    };
    let workspace = open("run-1");
    for name in ["new/c.txt", "sub/aa.txt", "later.txt", "run.log"] {
        workspace.write(&path(name), "mine: pump", None).unwrap();
    }
    // A file that comes to the same path later is hidden by the run's own.
    tree.put("later.txt", b"theirs: pump");
    let facts = |listing: &Listing| {
        let fact = |entry: &briefing_task_workspace::ListingEntry| (entry.path.clone(), entry.in_fallback);
        listing.entries.iter().map(fact).collect::<Vec<_>>()
    };
    let expected = [
        ("a.txt", false),
        ("later.txt", true),
        ("new/c.txt", true),
        ("run.log", true),
        ("sub/aa.txt", true),
        ("sub/b.txt", false),
    ]
    .map(|(name, in_fallback)| (name.to_owned(), in_fallback));
    let whole = workspace.list(&ListRequest::new()).unwrap();
    assert_eq!((facts(&whole), whole.total), (expected.to_vec(), 6));
    assert_eq!(whole.entries[1].size_bytes, 10);
    let mut seen = Vec::new();
    let mut request = ListRequest::new().limit(1);
    loop {
        let page = workspace.list(&request).unwrap();
        seen.extend(facts(&page));
        let Some(next) = page.next else { break };
        request = request.after(next);
    }
    assert_eq!(seen, expected);

    let folder = |name: &str| listed(&workspace, &ListRequest::new().folder(path(name)));
    assert_eq!(
        (folder("new"), folder("sub")),
        (vec!["new/c.txt".into()], vec!["sub/aa.txt".into(), "sub/b.txt".into()])
    );
    assert_eq!(code(workspace.list(&ListRequest::new().folder(path("new/c.txt")))), "workspace.not_folder");
    let level = listed(&workspace, &ListRequest::new().one_level());
    assert_eq!(level, ["a.txt", "later.txt", "new", "run.log", "sub"]);

    let page = workspace.grep(&grep("pump", &ListRequest::new())).unwrap();
    let found: Vec<_> = page.matches.iter().map(|found| (found.path.as_str(), found.text.as_str())).collect();
    assert_eq!(found[..3], [("a.txt", "old pump"), ("later.txt", "mine: pump"), ("new/c.txt", "mine: pump")]);
    assert_eq!(found.len(), 6);
    let search = briefing_task_workspace::SearchRequest::new("mine pump");
    let hits: Vec<_> = workspace.search(&search).unwrap().hits.into_iter().map(|hit| hit.path).collect();
    assert_eq!(hits, ["later.txt", "new/c.txt", "run.log", "sub/aa.txt"]);

    let other = open("run-2");
    assert_eq!(listed(&other, &ListRequest::new()), ["a.txt", "later.txt", "sub/b.txt"]);
    assert_eq!(other.grep(&grep("mine", &ListRequest::new())).unwrap().matches, []);
}
