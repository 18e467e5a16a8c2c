//! Patches are read whole or refused, and go where they say or nowhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

use std::path::Path;
use std::process::Command;

use briefing_formats::encode;
use briefing_task_workspace::{Edit, EditError, Mismatch, Patch, PatchKind, apply_edits, unified_diff};
use proptest::prelude::*;

fn patched(text: &str, diff: &str) -> Result<String, EditError> {
    apply_edits(text.as_bytes(), &[Edit::patch(diff)]).map(|edited| String::from_utf8(edited.bytes).unwrap())
}

fn mismatch(text: &str, diff: &str) -> Mismatch {
    match patched(text, diff).unwrap_err() {
        EditError::PatchContext { mismatch, .. } => mismatch,
        other => panic!("{other}"),
    }
}

#[track_caller]
fn malformed_at(diff: &str, line: usize, words: &str) {
    for error in [Patch::parse(diff).unwrap_err(), patched("a\n", diff).unwrap_err()] {
        assert_eq!(error.code(), "workspace.patch_malformed", "{error}: {diff}");
        let EditError::PatchMalformed { diff_line, reason } = error else { panic!("another variant") };
        assert!(diff_line == line && reason.contains(words), "line {diff_line}: {reason}\n{diff}");
    }
}

#[test]
fn hunks_change_their_lines_alone() {
    for (text, diff, expected) in [
        ("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"),
        // A diff with `\n` for a file with `\r\n`, or with both.
        ("a\r\nb\r\nc\r\n", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+x\n c\n", "a\r\nB\r\nx\r\nc\r\n"),
        ("a\r\nb\nc\r\n", "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+x\n c\n", "a\r\nB\nx\nc\r\n"),
        ("a\r\nb\r\n", "@@ -1 +1,2 @@\n a\n+x\n", "a\r\nx\r\nb\r\n"),
        ("a\r\nb\r\n", "@@ -1,0 +2 @@\n+x\n", "a\r\nx\r\nb\r\n"),
        ("a\r\n", "@@ -0,0 +1 @@\n+x\n", "x\r\na\r\n"),
        // Its own endings, where it has them.
        ("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n", "a\r\nb\n"),
        // A diff that was saved with `\r\n` throughout.
        ("a\nb\n", "--- x\r\n+++ x\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\n"),
        // The final newline, by its mark.
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        ("a\nb\n", "@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        ("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file", "A\nb"),
        ("a\r\nb", "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline\n+b\n+c\n\\ No newline\n", "a\r\nb\r\nc"),
        // The last line of the diff may lack its newline; that says nothing about the file.
        ("a\n", "@@ -1 +1 @@\n-a\n+b", "b\n"),
        // An empty context line whose space an editor cut.
        ("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n"),
        // Lines of content that look like headers.
        ("-- a\n++ b\n", "--- x\n+++ x\n@@ -1,2 +1,2 @@\n--- a\n-++ b\n+++ B\n+-- A\n", "++ B\n-- A\n"),
        // Several hunks, of which the first moves the second.
        ("a\nb\nc\n", "@@ -1 +1,3 @@\n-a\n+1\n+2\n+3\n@@ -3 +5 @@\n-c\n+C\n", "1\n2\n3\nb\nC\n"),
        // All of a file, from nothing and to nothing.
        ("", "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"),
        ("a\n", "@@ -1 +0,0 @@\n-a\n", ""),
        // More than three dots of a hunk's header, and lines of other scripts.
        ("检\n", "@@ -1 +1,2 @@ fn x() @@\n 检\n+查\n", "检\n查\n"),
    ] {
        let seen = patched(text, diff).unwrap_or_else(|error| panic!("{error}\n{diff}"));
        assert_eq!(seen, expected, "{text:?}\n{diff}");
    }
}

#[test]
fn a_hunk_is_found_where_it_moved_to_and_nowhere_else() {
    let numbers =
        |range: std::ops::Range<usize>| range.map(|number| format!("{number}\n")).collect::<String>();
    let diff = "@@ -5,3 +5,3 @@\n 4\n-5\n+five\n 6\n@@ -20,2 +20,2 @@\n-19\n+nineteen\n 20\n";
    let text = numbers(0..30);
    let expected = text.replace("\n5\n", "\nfive\n").replace("\n19\n", "\nnineteen\n");
    assert_eq!(patched(&text, diff).unwrap(), expected);
    let moved = |text: &str| ["x\n".repeat(9), text.to_owned()].concat();
    assert_eq!(patched(&moved(&text), diff).unwrap(), moved(&expected));
    assert_eq!(patched(&numbers(3..30), diff).unwrap(), expected[6..]);

    // The nearer of two places; as far on both sides is refused.
    assert_eq!(patched("a\nx\nx\nx\na\n", "@@ -4 +4 @@\n-a\n+A\n").unwrap(), "a\nx\nx\nx\nA\n");
    assert_eq!(
        mismatch("a\nx\nx\nx\na\n", "@@ -3 +3 @@\n-a\n+A\n"),
        Mismatch::Ambiguous { earlier: 1, later: 5 }
    );
    // Never before the hunk before it, where its lines are too.
    assert_eq!(
        mismatch("b\na\nx\n", "@@ -2 +2 @@\n-a\n+A\n@@ -3 +3 @@\n-b\n+B\n"),
        Mismatch::Line {
            file_line: 3,
            expected: "b\n".into(),
            found: Some("x\n".into()),
            already_applied: false
        }
    );
    // Overlapping occurrences are all seen.
    assert_eq!(
        patched("a\na\nb\na\na\na\nb\n", "@@ -5,3 +5,3 @@\n a\n a\n-b\n+B\n").unwrap(),
        "a\na\nb\na\na\na\nB\n"
    );
}

#[test]
fn a_hunk_that_does_not_fit_is_told_with_the_first_difference() {
    let line = |file_line, expected: &str, found: Option<&str>, already_applied| Mismatch::Line {
        file_line,
        expected: expected.to_owned(),
        found: found.map(str::to_owned),
        already_applied,
    };
    for (text, diff, expected) in [
        ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-x\n+y\n", line(2, "x\n", Some("b\n"), false)),
        ("a\n", "@@ -1,2 +1,2 @@\n a\n-x\n+y\n", line(2, "x\n", None, false)),
        ("a\n", "@@ -9 +9 @@\n-x\n+y\n", line(2, "x\n", None, false)),
        ("", "@@ -1 +1 @@\n-x\n+y\n", line(1, "x\n", None, false)),
        ("a\ny\n", "@@ -1,2 +1,2 @@\n a\n-x\n+y\n", line(2, "x\n", Some("y\n"), true)),
        // White space counts, and so does a final newline.
        ("a \n", "@@ -1 +1 @@\n-a\n+b\n", line(1, "a\n", Some("a \n"), false)),
        ("a", "@@ -1 +1 @@\n-a\n+b\n", line(1, "a\n", Some("a"), false)),
        ("a\n", "@@ -1 +1 @@\n-a\n\\ No newline\n+b\n", line(1, "a", Some("a\n"), false)),
        ("a\n", "@@ -1 +1 @@\n-a\r\n+b\n", line(1, "a\r\n", Some("a\n"), false)),
        ("a\nb\n", "@@ -1 +1 @@\n-a\n+x\n\\ No newline\n", Mismatch::NotAtEnd { file_line: 2 }),
        ("a\n", "@@ -2,0 +3 @@\n+x\n", Mismatch::NoPlace { file_line: 3 }),
        ("a", "@@ -1,0 +2 @@\n+x\n", Mismatch::NoPlace { file_line: 2 }),
    ] {
        assert_eq!(mismatch(text, diff), expected, "{text:?}\n{diff}");
    }
    let error = patched("a\nb\n", "words\n@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-x\n+y\n").unwrap_err();
    assert_eq!(error.code(), "workspace.patch_context");
    assert_eq!(
        error.to_string(),
        "hunk 2 (line 5 of the diff) does not fit: line 2 of the file should be \"x\\n\" and is \"b\\n\""
    );
    let long = "y".repeat(1000);
    let Mismatch::Line { found, .. } = mismatch(&format!("{long}\n"), "@@ -1 +1 @@\n-x\n+z\n") else {
        panic!()
    };
    assert_eq!(found.unwrap().chars().count(), 201);
}

#[test]
fn a_diff_that_is_none_is_refused_with_its_line() {
    let names = "--- a/x\n+++ b/x\n";
    for (hunks, line, words) in [
        // Counts that are too high or too low, on either side.
        ("@@ -1,2 +1 @@\n-a\n+b\n", 6, "1 old and 0 new lines"),
        ("@@ -1,2 +1,2 @@\n-a\n+b\n@@ -5 +5 @@\n-a\n+b\n", 6, "1 old and 1 new lines"),
        ("@@ -1 +1 @@\n-a\n+b\n+c\n", 6, "a line more"),
        ("@@ -1 +1 @@\n-a\n+b\n c\n", 6, "a line more"),
        ("@@ -1 +1 @@\n-a\n+b\n\n+c\n", 7, "a line more"),
        ("@@ -1 +1,2 @@\n-a\n-b\n+c\n", 5, "a line more"),
        ("@@ -1,2 +1 @@\n-a\nb\n", 5, "1 old and 1 new"),
        ("@@ -1 +1 @@\n-a\n检查\n", 5, "0 old and 1 new"),
        ("@@ -0,0 +0,0 @@\n", 3, "without lines"),
        // Headers.
        ("@@ -1 @@\n-a\n", 3, "a hunk begins with"),
        ("@@ -0 +1 @@\n-a\n+b\n", 3, "a hunk begins with"),
        ("@@ -1,x +1 @@\n-a\n+b\n", 3, "a hunk begins with"),
        ("@@ -+1 +1 @@\n-a\n+b\n", 3, "a hunk begins with"),
        ("@@ ... @@\n-a\n+b\n", 3, "a hunk begins with"),
        ("@@ -18446744073709551615,9 +1 @@\n-a\n+b\n", 3, "a hunk begins with"),
        ("@@ -99999999999999999999 +1 @@\n-a\n+b\n", 3, "a hunk begins with"),
        // The mark of a missing newline.
        ("@@ -1 +1 @@\n\\ No newline\n-a\n+b\n", 4, "none is before it"),
        ("@@ -1,2 +1 @@\n-a\n\\ No newline\n-b\n+c\n", 6, "the file's last"),
        ("@@ -1,2 +1,2 @@\n a\n\\ No newline\n-b\n+c\n", 6, "the file's last"),
        ("@@ -1 +1 @@\n-a\n\\ No newline\n\\ No newline\n+b\n", 6, "none is before it"),
        // Order.
        ("@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-a\n+b\n", 6, "before the end"),
        ("@@ -1,2 +1,2 @@\n a\n a\n@@ -2 +2 @@\n-a\n+b\n", 6, "before the end"),
        ("", 1, "no hunk follows"),
        ("-a\n+b\n", 3, "no hunk or header"),
    ] {
        malformed_at(&[names, hunks].concat(), line, words);
    }
    let git = "diff --git a/x b/x\n";
    for (rest, line, words) in [
        ("", 1, "nothing is said"),
        ("index 1..2 100644\n", 1, "nothing is said"),
        ("new file mode 100600\n", 2, "no mode"),
        ("old mode 100644\nnew mode 10x\n", 3, "no mode"),
        ("rename from x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 1, "two names"),
        ("--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", 1, "different files"),
        ("new file mode 100644\ndeleted file mode 100644\n", 1, "both created and deleted"),
        ("new file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 1, "say another thing"),
        ("new file mode 100644\n--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 1, "old lines"),
        ("deleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", 1, "new lines"),
        ("--- a/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "no hunk or header"),
        ("--- \"a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "no end"),
        ("--- \"a/\\400\"\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "unknown escape"),
        ("--- \"a/\\37\"\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "octal"),
        ("--- \"a/\\377\"\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "UTF-8"),
    ] {
        malformed_at(&[git, rest].concat(), line, words);
    }
    let error = Patch::parse("words\n@@ -1 +1 @@\n-a\n+b\n").unwrap_err();
    assert!(matches!(error, EditError::PatchMalformed { diff_line: 2, .. }), "{error}");
    assert_eq!(Patch::parse("just\n- words\n").unwrap_err().code(), "workspace.edit_empty");
}

#[test]
fn what_patches_never_do_is_refused() {
    for (diff, line, what) in [
        ("diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZ\n", 3, "binary"),
        ("diff --git a/x b/x\nnew file mode 100644\nBinary files /dev/null and b/x differ\n", 3, "binary"),
        ("Binary files old/x and new/x differ\n", 1, "binary"),
        (
            "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n",
            2,
            "symbolic link",
        ),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", 3, "symbolic link"),
        (
            "diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            2,
            "symbolic link",
        ),
        ("diff --git a/x b/x\ndeleted file mode 120000\n", 2, "symbolic link"),
        ("diff --git a/x b/x\nindex 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 2, "submodule"),
        ("diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n", 1, "merge"),
    ] {
        for error in [Patch::parse(diff).unwrap_err(), patched("a\n", diff).unwrap_err()] {
            assert_eq!(error.code(), "workspace.patch_unsupported", "{diff}");
            assert!(
                matches!(&error, EditError::PatchUnsupported { diff_line, what: seen } if *diff_line == line && seen.contains(what)),
                "{error}"
            );
        }
    }
}

const SERIES: &str = "\
From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001
From: A <a@example.org>
Subject: [PATCH] Words

 + not a line of a hunk
---
 pump.md | 2 +-
 5 files changed

diff --git a/pump.md b/pump.md
old mode 100644
new mode 100755
index 1111111..2222222
--- a/pump.md
+++ b/pump.md
@@ -1 +1 @@ # Pump
-weekly
+daily
diff --git a/new name.txt b/new name.txt
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/new name.txt\t
@@ -0,0 +1 @@
+hello
diff --git \"a/\\346\\243\\200\\t.txt\" \"b/\\346\\243\\200\\t.txt\"
deleted file mode 100755
index 3333333..0000000
--- \"a/\\346\\243\\200\\t.txt\"
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/old.md b/dir/moved.md
similarity index 100%
rename from old.md
rename to dir/moved.md
diff --git a/base.md b/copy.md
similarity index 80%
copy from base.md
copy to copy.md
index 1111111..2222222 100644
--- a/base.md
+++ b/copy.md
@@ -1 +1 @@
-a
+b
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/run me.sh b/run me.sh
old mode 100644
new mode 100755
-- 
2.47.3

--- plain.txt.orig\t2026-01-01 00:00:00.000000000 +0000
+++ plain.txt\t2026-01-02 00:00:00.000000000 +0000
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ b/fresh.txt
@@ -0,0 +1 @@
+x
";

#[test]
fn every_kind_of_file_is_told_with_its_names() {
    let patch = Patch::parse(SERIES).unwrap();
    let seen: Vec<_> = patch
        .files()
        .iter()
        .map(|file| {
            (
                file.old_path.as_deref(),
                file.new_path.as_deref(),
                file.kind.clone(),
                file.executable,
                file.hunk_count(),
            )
        })
        .collect();
    let from = |name: &str| name.to_owned();
    assert_eq!(
        seen,
        [
            (Some("pump.md"), Some("pump.md"), PatchKind::Modify, Some(true), 1),
            (None, Some("new name.txt"), PatchKind::Create, Some(false), 1),
            (Some("检\t.txt"), None, PatchKind::Delete, None, 1),
            (Some("old.md"), Some("dir/moved.md"), PatchKind::Rename { from: from("old.md") }, None, 0),
            (Some("base.md"), Some("copy.md"), PatchKind::Copy { from: from("base.md") }, None, 1),
            (None, Some("empty"), PatchKind::Create, Some(false), 0),
            (Some("run me.sh"), Some("run me.sh"), PatchKind::Modify, Some(true), 0),
            (Some("plain.txt.orig"), Some("plain.txt"), PatchKind::Modify, None, 1),
            (None, Some("fresh.txt"), PatchKind::Create, None, 1),
        ]
    );
    assert_eq!(patch.files()[2].path(), Some("检\t.txt"));
    // Names are as they are: what they lead to is the caller's to judge.
    for (old, new, path) in [
        ("/etc/passwd", "/etc/passwd", "/etc/passwd"),
        ("a/../../x", "b/../../x", "../../x"),
        ("a/x", "a/x", "a/x"),
        ("x", "b/x", "b/x"),
        ("dir/x y", "dir/x y", "dir/x y"),
    ] {
        let plain = format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(Patch::parse(&plain).unwrap().files()[0].path(), Some(path));
    }
    // Without prefixes, a folder that is called like one keeps its name.
    let bare = "diff --git b/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
    assert_eq!(Patch::parse(bare).unwrap().files()[0].path(), Some("b/x"));
}

#[test]
fn a_file_is_made_changed_or_removed_only_if_it_is_what_the_patch_knows() {
    let patch = Patch::parse(SERIES).unwrap();
    let [modify, create, delete, rename, copy, empty, mode, ..] = patch.files() else { panic!("files") };
    let apply = |file: &briefing_task_workspace::FilePatch, bytes: Option<&[u8]>| file.apply_to(bytes);
    assert_eq!(apply(modify, Some(b"weekly\r\n")).unwrap().unwrap(), b"daily\r\n");
    assert_eq!(apply(create, None).unwrap().unwrap(), b"hello\n");
    assert_eq!(apply(delete, Some(b"bye\n")).unwrap(), None);
    assert_eq!(apply(copy, Some(b"a\n")).unwrap().unwrap(), b"b\n");
    assert_eq!(apply(empty, None).unwrap().unwrap(), b"");
    // No hunk, no question what the content is.
    assert_eq!(apply(rename, Some(b"\0\xff")).unwrap().unwrap(), b"\0\xff");
    assert_eq!(apply(mode, Some(b"\0\xff")).unwrap().unwrap(), b"\0\xff");
    for (file, bytes) in [
        (create, Some(b"".as_slice())),
        (empty, Some(b"")),
        (modify, None),
        (delete, None),
        (rename, None),
        (delete, Some(b"bye\nmore\n")),
    ] {
        assert_eq!(apply(file, bytes).unwrap_err().code(), "workspace.patch_target", "{file:?}");
    }
    assert_eq!(apply(delete, Some(b"hello\n")).unwrap_err().code(), "workspace.patch_context");
    assert_eq!(apply(modify, Some(b"\0\xff")).unwrap_err().code(), "workspace.edit_not_text");
    // An edit of one file does nothing that is not an edit.
    for diff in [
        SERIES,
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n",
        "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        "diff --git a/x b/y\nrename from x\nrename to y\n",
    ] {
        assert_eq!(patched("x\n", diff).unwrap_err().code(), "workspace.patch_target");
    }
}

#[test]
fn patches_keep_encodings_and_marks() {
    let diff = "@@ -1,2 +1,2 @@\n 第一章 预算\n-水泵\n+检查\n";
    let (old, new) = ("第一章 预算\r\n水泵\r\n", "第一章 预算\r\n检查\r\n");
    for (encoding, bom) in
        [("utf-8", true), ("utf-8", false), ("utf-16le", true), ("utf-16be", true), ("gbk", false)]
    {
        let in_file = |text| encode(text, encoding, bom).unwrap();
        let edited = apply_edits(&in_file(old), &[Edit::patch(diff)]).unwrap();
        assert_eq!((edited.bytes, edited.encoding), (in_file(new), encoding));
    }
    // Git shows the mark as a character of the first line.
    let marked = "@@ -1 +1 @@\n-\u{feff}a\n+\u{feff}b\n";
    let unmarked = "@@ -1 +1 @@\n-\u{feff}a\n+a\n";
    for encoding in ["utf-8", "utf-16le"] {
        let in_file = |text, bom| encode(text, encoding, bom).unwrap();
        let apply = |diff| {
            apply_edits(&in_file("a\n", true), &[Edit::patch(diff), Edit::insert(1, "zero")]).unwrap().bytes
        };
        assert_eq!(apply(marked), in_file("zero\nb\n", true));
        assert_eq!(apply(unmarked), in_file("zero\na\n", false));
    }
}

#[test]
fn a_shown_change_says_what_lines_cannot() {
    let diff = |old: Option<&[u8]>, new: Option<&[u8]>| unified_diff("x", old, new);
    assert_eq!(diff(Some(b"a\n"), Some(b"a\n")), "");
    assert_eq!(diff(None, Some(b"")), "diff --git a/x b/x\nnew file mode 100644\n");
    assert_eq!(diff(Some(b""), None), "diff --git a/x b/x\ndeleted file mode 100644\n");
    assert_eq!(diff(Some(b"a"), Some(b"\0\x01")), "Binary files a/x and b/x differ\n");
    assert_eq!(
        diff(Some(b"\xff\xfea\0\n\0"), Some(b"\xef\xbb\xbfa\n")),
        "Files a/x and b/x differ in encoding: utf-16le and utf-8\n"
    );
    // 0xED40 and 0xFA5C are the same character in Shift_JIS.
    let kana = b"\x83\x4a\x83\x5e\x83\x4a\x83\x69 ".as_slice();
    let (one, other) = ([kana, b"\xed\x40\n"].concat(), [kana, b"\xfa\x5c\n"].concat());
    assert_eq!(briefing_formats::decode(&one).unwrap().text, briefing_formats::decode(&other).unwrap().text);
    assert_eq!(diff(Some(&one), Some(&other)), "Binary files a/x and b/x differ\n");
    let marked = diff(Some(b"\xef\xbb\xbfa\n"), Some(b"a\n"));
    assert!(marked.ends_with("@@ -1 +1 @@\n-\u{feff}a\n+a\n"), "{marked}");
    assert!(
        unified_diff("my file", b"a".as_slice(), b"b".as_slice())
            .starts_with("--- a/my file\t\n+++ b/my file\t\n")
    );
    for name in ["a\tb\"c\\d\u{1}", "检 x", "plain"] {
        let parsed = Patch::parse(&unified_diff(name, None, b"x\n".as_slice())).unwrap();
        assert_eq!(parsed.files()[0].path(), Some(name));
    }
}

#[test]
fn long_texts_are_shown_change_by_change() {
    let line = |number: usize| format!("line {}\n", number % 30_011);
    let old: String = (0..90_000).map(line).collect();
    // A change every thousand lines, one of which takes lines away and one of which adds some.
    let changed = (0..90_000).map(|number| match number {
        31_000..31_700 => String::new(),
        55_000 => "new\n".repeat(900),
        number if number % 1000 == 0 => format!("changed {number}\n"),
        number => line(number),
    });
    let new: String = changed.collect();
    let diff = unified_diff("x", old.as_bytes(), new.as_bytes());
    let patch = Patch::parse(&diff).unwrap();
    assert_eq!(patch.files()[0].hunk_count(), 90);
    assert!(diff.lines().count() < 90 * 9 + 700 + 900 + 10);
    assert!(patch.files()[0].apply_to(Some(old.as_bytes())).unwrap().unwrap() == new.as_bytes());

    // Two texts that differ in nearly all, longer than one window.
    let (one, other): (String, String) = (
        (0..45_000).map(|n| line(n * n % 7919)).collect(),
        (0..50_000).map(|n| line(n * n % 6007)).collect(),
    );
    let patch = Patch::parse(&unified_diff("x", one.as_bytes(), other.as_bytes())).unwrap();
    assert!(patch.files()[0].apply_to(Some(one.as_bytes())).unwrap().unwrap() == other.as_bytes());
}

/// Texts of few different lines, so that there is much to confuse.
fn any_text() -> impl Strategy<Value = String> {
    let content = ["a", "b", "", "-- c", "++ d", "检", " e", "\\ f", "@@ -1 +1 @@", "\u{1}g", "h\ri"];
    let ending = prop_oneof![6 => Just("\n"), 1 => Just("\r\n")];
    let line = (proptest::sample::select(content.to_vec()), ending);
    (proptest::collection::vec(line, 0..30), prop_oneof![Just(""), Just("end"), Just("end\r")]).prop_map(
        |(lines, last)| lines.into_iter().map(|(text, end)| [text, end].concat()).collect::<String>() + last,
    )
}

/// A text, and the same with some lines changed.
fn two_texts() -> impl Strategy<Value = (String, String)> {
    let some_changes = (any_text(), proptest::collection::vec((0..30_usize, any_text()), 0..4)).prop_map(
        |(old, changes)| {
            let mut lines: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
            for (at, new) in changes {
                let at = at.min(lines.len());
                let end = (at + 2).min(lines.len());
                lines.splice(at..end, new.split_inclusive('\n').take(2).map(str::to_owned));
            }
            (old, lines.concat())
        },
    );
    prop_oneof![3 => some_changes, 1 => (any_text(), any_text())]
}

/// Runs git on two files in an empty folder; `None`, with a line that says so, where there is no git.
fn git(folder: &Path, arguments: &[&str]) -> Option<std::process::Output> {
    let output = Command::new("git")
        .args(["-c", "core.quotePath=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .output();
    if output.is_err() {
        println!("SKIPPED: there is no git");
    }
    output.ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_shown_change_is_the_patch_that_makes_it((old, new) in two_texts()) {
        let diff = unified_diff("dir/x", old.as_bytes(), new.as_bytes());
        if old == new {
            prop_assert_eq!(diff, "");
            return Ok(());
        }
        if diff.starts_with("Binary") {
            return Ok(());
        }
        let patch = Patch::parse(&diff).unwrap();
        prop_assert_eq!(patch.files()[0].path(), Some("dir/x"));
        let result = patch.files()[0].apply_to(Some(old.as_bytes())).unwrap().unwrap();
        prop_assert_eq!(String::from_utf8(result).unwrap(), new.clone(), "{}", diff);
        let back = Patch::parse(&unified_diff("x", new.as_bytes(), old.as_bytes())).unwrap();
        prop_assert_eq!(back.files()[0].apply_to(Some(new.as_bytes())).unwrap().unwrap(), old.as_bytes());
    }

    #[test]
    fn a_diff_with_plain_endings_does_the_same_to_a_file_with_others((old, new) in two_texts()) {
        let plain = |text: &str| text.replace('\r', "");
        let crlf = |text: &str| plain(text).replace('\n', "\r\n");
        // Without a line that ends, there is no ending to take.
        prop_assume!(old.contains('\n'));
        let diff = unified_diff("x", plain(&old).as_bytes(), plain(&new).as_bytes());
        if let Ok(patch) = Patch::parse(&diff) && !diff.starts_with("Binary") {
            let result = patch.files()[0].apply_to(Some(crlf(&old).as_bytes())).unwrap().unwrap();
            prop_assert_eq!(String::from_utf8(result).unwrap(), crlf(&new), "{}", diff);
        }
    }

    #[test]
    fn no_diff_panics_and_a_damaged_one_does_what_it_says_or_nothing((old, new) in two_texts(), at in 0..400_usize, cut in 0..3_usize, put in "[ +@\\\\0-9\n-]{0,3}") {
        let mut diff = unified_diff("x", old.as_bytes(), new.as_bytes());
        let at = (0..=at.min(diff.len())).rev().find(|at| diff.is_char_boundary(*at)).unwrap();
        let end = (at + cut..=diff.len()).find(|end| diff.is_char_boundary(*end)).unwrap_or(diff.len());
        diff.replace_range(at..end, &put);
        if let Ok(patch) = Patch::parse(&diff) {
            for file in patch.files() {
                let _ = file.apply_to(Some(old.as_bytes()));
                let _ = file.apply_to(None);
            }
            // No hunk is left out without a word.
            let in_diff = diff.split('\n').filter(|line| line.starts_with("@@ -")).count();
            prop_assert_eq!(patch.files().iter().map(|file| file.hunk_count()).sum::<usize>(), in_diff);
        }
    }

    #[test]
    fn no_text_panics_as_a_diff(lines in proptest::collection::vec(prop_oneof![
        "\\PC{0,12}", "@@ -[0-9]{1,2}(,[0-9])? \\+[0-9](,[0-9])? @@", "[ +-][ab]?", "(---|\\+\\+\\+) (a/|b/|\")?x?",
        "diff --git (a/x|\")( b/x)?", "(new|old|new file|deleted file) mode 1[02]0[67][45][45]", "(rename|copy) (from|to) x", "\\\\ No",
    ], 0..25)) {
        let diff = lines.join("\n");
        let _ = Patch::parse(&diff);
        let _ = patched("a\nb\n", &diff);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn git_agrees((old, new) in two_texts()) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("old"), &old).unwrap();
        std::fs::write(folder.path().join("new"), &new).unwrap();
        let Some(theirs) = git(folder.path(), &["diff", "--no-index", "--text", "old", "new"]) else { return Ok(()) };
        let theirs = String::from_utf8(theirs.stdout).unwrap();
        let ours = unified_diff("x", old.as_bytes(), new.as_bytes());
        prop_assert_eq!(theirs.is_empty(), ours.is_empty());
        if ours.is_empty() || ours.starts_with("Binary") {
            return Ok(());
        }
        // Their diff by us. It names two files, which is no renaming to git either.
        let theirs = theirs.replace("a/old", "a/x").replace("b/new", "b/x");
        let file = &Patch::parse(&theirs).unwrap().files()[0].clone();
        prop_assert_eq!(file.apply_to(Some(old.as_bytes())).unwrap().unwrap(), new.as_bytes(), "{}", theirs);
        // Our diff by them.
        std::fs::write(folder.path().join("x"), &old).unwrap();
        std::fs::write(folder.path().join("x.diff"), &ours).unwrap();
        let applied = git(folder.path(), &["apply", "--whitespace=nowarn", "x.diff"]).unwrap();
        prop_assert!(applied.status.success(), "{}\n{}", String::from_utf8_lossy(&applied.stderr), ours);
        prop_assert_eq!(std::fs::read(folder.path().join("x")).unwrap(), new.as_bytes(), "{}", ours);
    }
}
