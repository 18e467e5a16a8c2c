//! Showing a change as a unified diff.

use std::fmt::Write as _;

use similar::{DiffOp, TextDiff, group_diff_ops};

use super::document::Document;
use super::patch::written_name;

/// How many unchanged lines are shown around a change.
const CONTEXT_LINES: usize = 3;

/// How many lines of either text are compared at a time: the search takes more than linear time where they differ in most,
/// and then some 50 ms for so many.
const WINDOW_LINES: usize = 20_000;

/// The change of a file as a unified diff in the format of git, with three lines of context; empty if nothing changed.
/// `None` stands for no file. What it gives for two texts in one encoding is a patch from the one to the other:
/// [`Patch::parse`](crate::Patch::parse) takes it. Where the encodings differ, a line before the diff says so; of bytes that
/// are no text, or that spell the same text in two ways, it says only that they differ.
///
/// The work is linear in long texts: they are compared some thousand lines at a time. Where long texts have little in
/// common, the diff may be longer than need be (within that window too, for the search is that of Myers 1986 with the
/// limits of git, as the crate `similar` has it), but never wrong, and always the same.
///
/// ```
/// use briefing_task_workspace::unified_diff;
///
/// let diff = unified_diff("pump.md", "Pump\nweekly\n".as_bytes(), "Pump\ndaily".as_bytes());
/// assert_eq!(diff, "\
/// --- a/pump.md
/// +++ b/pump.md
/// @@ -1,2 +1,2 @@
///  Pump
/// -weekly
/// +daily
/// \\ No newline at end of file
/// ");
/// ```
#[must_use]
pub fn unified_diff<'a>(
    path: &str,
    old: impl Into<Option<&'a [u8]>>,
    new: impl Into<Option<&'a [u8]>>,
) -> String {
    let (old, new) = (old.into(), new.into());
    if old == new {
        return String::new();
    }
    let (old_name, new_name) = (written_name("a/", path), written_name("b/", path));
    let mut diff = String::new();
    // Without these lines, an empty file would come and go without a word.
    match (old, new) {
        (None, _) => {
            let _ = write!(diff, "diff --git {old_name} {new_name}\nnew file mode 100644\n");
        }
        (_, None) => {
            let _ = write!(diff, "diff --git {old_name} {new_name}\ndeleted file mode 100644\n");
        }
        _ => {}
    }
    let header_name = |bytes: Option<&[u8]>, name: &str| match bytes {
        None => "/dev/null".to_owned(),
        // As git does it, lest the name seem to end at a space.
        Some(_) if name.contains(' ') && !name.starts_with('"') => format!("{name}\t"),
        Some(_) => name.to_owned(),
    };
    let names = (header_name(old, &old_name), header_name(new, &new_name));
    let (old_shown, new_shown) = (names.0.trim_end(), names.1.trim_end());
    let differ = format!("Binary files {old_shown} and {new_shown} differ\n");
    let opened = |bytes: Option<&[u8]>| Document::open(bytes.unwrap_or_default()).ok();
    let (Some(mut before), Some(mut after)) = (opened(old), opened(new)) else {
        return diff + &differ;
    };
    // A byte order mark is shown only where it comes or goes.
    if before.had_bom() != after.had_bom() {
        before.show_mark();
        after.show_mark();
    }
    let encodings = (before.encoding(), after.encoding());
    if encodings.0 != encodings.1 {
        let (from, to) = encodings;
        let _ = writeln!(diff, "Files {old_shown} and {new_shown} differ in encoding: {from} and {to}");
    }
    if before.text() != after.text() {
        let _ = write!(diff, "--- {}\n+++ {}\n", names.0, names.1);
        write_hunks(&mut diff, before.text(), after.text());
    } else if diff.is_empty() {
        // The same characters in one encoding, which has two codes for some of them.
        diff.push_str(&differ);
    }
    diff
}

fn write_hunks(diff: &mut String, old: &str, new: &str) {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    for ops in group_diff_ops(differences(&old, &new), CONTEXT_LINES) {
        let (Some(first), Some(last)) = (ops.first(), ops.last()) else { continue };
        let range = |start: usize, end: usize| match end - start {
            // Without lines, the place is told by the line before it.
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        let old_range = range(first.old_range().start, last.old_range().end);
        let new_range = range(first.new_range().start, last.new_range().end);
        let _ = writeln!(diff, "@@ -{old_range} +{new_range} @@");
        for op in &ops {
            let is_equal = matches!(op, DiffOp::Equal { .. });
            let gone = old.get(op.old_range()).unwrap_or_default();
            write_lines(diff, if is_equal { ' ' } else { '-' }, gone);
            if !is_equal {
                write_lines(diff, '+', new.get(op.new_range()).unwrap_or_default());
            }
        }
    }
}

/// What was done to the lines, window by window.
fn differences(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let same = |(one, other): &(&&str, &&str)| one == other;
    let before = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (old.get(before..).unwrap_or_default(), new.get(before..).unwrap_or_default());
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let mut ops = vec![DiffOp::Equal { old_index: 0, new_index: 0, len: before }];
    let (mut old_at, mut new_at) = (before, before);
    while old_at < old_end || new_at < new_end {
        let (old_to, new_to) = ((old_at + WINDOW_LINES).min(old_end), (new_at + WINDOW_LINES).min(new_end));
        let old_window = old.get(old_at..old_to).unwrap_or_default();
        let new_window = new.get(new_at..new_to).unwrap_or_default();
        let mut found = TextDiff::configure().diff_slices(old_window, new_window).ops().to_vec();
        if (old_to, new_to) != (old_end, new_end) {
            // What follows the last lines in common may have its like beyond the window: the next one begins there, unless
            // that gains too little.
            let reach = |op: &DiffOp| op.old_range().end.max(op.new_range().end);
            let last = found.iter().rposition(|op| matches!(op, DiffOp::Equal { .. }));
            let last = last.filter(|last| found.get(*last).map_or(0, reach) >= WINDOW_LINES / 2);
            found.truncate(last.map_or(found.len(), |last| last + 1));
        }
        let (from_old, from_new) = (old_at, new_at);
        for op in found {
            (old_at, new_at) = (from_old + op.old_range().end, from_new + op.new_range().end);
            push(&mut ops, moved(op, from_old, from_new));
        }
    }
    push(&mut ops, DiffOp::Equal { old_index: old_end, new_index: new_end, len: after });
    ops
}

/// Joins equal lines that windows parted, for hunks are cut where many are together.
fn push(ops: &mut Vec<DiffOp>, op: DiffOp) {
    match (ops.last_mut(), op) {
        (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
        _ => ops.push(op),
    }
}

fn moved(mut op: DiffOp, by_old: usize, by_new: usize) -> DiffOp {
    let (DiffOp::Equal { old_index, new_index, .. }
    | DiffOp::Delete { old_index, new_index, .. }
    | DiffOp::Insert { old_index, new_index, .. }
    | DiffOp::Replace { old_index, new_index, .. }) = &mut op;
    *old_index += by_old;
    *new_index += by_new;
    op
}

/// Lines by `\n` alone: `similar` itself would end one after a lone `\r` too.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn write_lines(diff: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        diff.push(sign);
        diff.push_str(line);
        if !line.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
    }
}
