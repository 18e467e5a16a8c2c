//! Whole lines: replacing and inserting them, and the endings that new ones take.

use briefing_core::LineRange;

use super::EditError;
use super::document::Splice;

/// The ending of a line: `\r\n`, `\n`, or nothing at the end of a file.
pub(super) fn ending(line: &str) -> &str {
    let text = line.strip_suffix('\n').map_or(line, |text| text.strip_suffix('\r').unwrap_or(text));
    line.get(text.len()..).unwrap_or_default()
}

/// The more frequent ending of a text, on a tie that of its first line, and `\n` where there is none.
pub(super) fn most_frequent_ending(text: &str) -> &'static str {
    let (mut crlf, mut lf, mut first) = (0_usize, 0_usize, "\n");
    for line in text.split_inclusive('\n') {
        let is_first = crlf + lf == 0;
        match ending(line) {
            "\r\n" => {
                crlf += 1;
                first = if is_first { "\r\n" } else { first };
            }
            "\n" => lf += 1,
            _ => {}
        }
    }
    match crlf.cmp(&lf) {
        std::cmp::Ordering::Greater => "\r\n",
        std::cmp::Ordering::Less => "\n",
        std::cmp::Ordering::Equal => first,
    }
}

/// `new`, whose endings are all `\n`, with the endings of the text that it replaces. Lines that both texts share at their
/// beginnings and ends keep theirs; those between take the endings there, one after the other, then the last of them again and again.
pub(super) fn with_endings_of(replaced: &str, new: &str, or_else: &str) -> String {
    let endings: Vec<&str> =
        replaced.split_inclusive('\n').map(ending).filter(|ending| !ending.is_empty()).collect();
    let old: Vec<&str> = replaced.split_inclusive('\n').map(unended).collect();
    // As `split` has it: after a last ending comes one more, empty line.
    let last = (replaced.is_empty() || replaced.ends_with('\n')).then_some("");
    let old: Vec<&str> = old.into_iter().chain(last).collect();
    let lines: Vec<&str> = new.split('\n').collect();
    let breaks = lines.len().saturating_sub(1);
    let shared =
        |count: usize| old.iter().zip(&lines).take(count).take_while(|(old, new)| old == new).count();
    let before = shared(endings.len().min(breaks));
    let after = old.iter().rev().zip(lines.iter().rev()).take(endings.len().min(breaks) - before);
    let after = after.take_while(|(old, new)| old == new).count();
    let mut result = String::with_capacity(new.len() + breaks);
    for (index, line) in lines.iter().enumerate() {
        result.push_str(line);
        if index < breaks {
            let from_end = breaks - index;
            let at = if index < before {
                index
            } else if from_end <= after {
                endings.len() - from_end
            } else {
                index.min(endings.len().saturating_sub(after.max(1)))
            };
            result.push_str(endings.get(at).unwrap_or(&or_else));
        }
    }
    result
}

/// Without its last ending.
fn unended(text: &str) -> &str {
    text.strip_suffix(ending(text)).unwrap_or(text)
}

pub(super) fn replacing(
    text: &str,
    lines: LineRange,
    new: &str,
    edit: usize,
) -> Result<Vec<Splice>, EditError> {
    let LineRange { start, end } = lines;
    let mut at = 0;
    let (mut from, mut to, mut total_lines) = (None, None, 0);
    for line in text.split_inclusive('\n') {
        total_lines += 1;
        if total_lines == start {
            from = Some(at);
        }
        at += line.len();
        if total_lines == end {
            to = Some(at);
        }
    }
    let range = match (from, to) {
        (Some(from), Some(to)) if from < to => from..to,
        _ => return Err(EditError::Range { edit, start, end, total_lines }),
    };
    let replaced = text.get(range.clone()).unwrap_or_default();
    let last_ending = ending(replaced);
    let new = if new.is_empty() {
        String::new()
    } else if new.contains('\r') {
        // Its own endings are kept as they are, but whether the last line has one is the file's affair.
        let own = if last_ending.is_empty() || ending(new).is_empty() { last_ending } else { ending(new) };
        [unended(new), own].concat()
    } else {
        let ended = if last_ending.is_empty() { "" } else { "\n" };
        let new = [unended(new), ended].concat();
        with_endings_of(replaced, &new, most_frequent_ending(text))
    };
    Ok(vec![Splice { range, text: new }])
}

pub(super) fn inserting(
    text: &str,
    before_line: usize,
    new: &str,
    edit: usize,
) -> Result<Vec<Splice>, EditError> {
    if new.is_empty() {
        return Err(EditError::NothingToDo { what: "no line to insert" });
    }
    let (mut at, mut place, mut before, mut total_lines) = (0, None, "", 0);
    let mut after = "";
    for line in text.split_inclusive('\n') {
        total_lines += 1;
        if total_lines + 1 == before_line {
            before = line;
        }
        if total_lines == before_line {
            (place, after) = (Some(at), line);
        }
        at += line.len();
    }
    let place = place.or_else(|| (before_line == total_lines + 1).then_some(text.len()));
    let Some(place) = place else {
        return Err(EditError::Range { edit, start: before_line, end: before_line, total_lines });
    };
    let near = [ending(before), ending(after)].into_iter().find(|ending| !ending.is_empty());
    let near = near.unwrap_or_else(|| most_frequent_ending(text));
    let (lines, own) = if new.contains('\r') {
        (unended(new).to_owned(), if ending(new).is_empty() { near } else { ending(new) })
    } else {
        (unended(new).replace('\n', near), near)
    };
    let follows_unended_line = place == text.len() && !text.is_empty() && !text.ends_with('\n');
    let new = if follows_unended_line { [near, &lines].concat() } else { [&lines, own].concat() };
    Ok(vec![Splice { range: place..place, text: new }])
}

/// The lines of `new` from the first to the last byte in which it differs from `old`.
pub(super) fn changed(old: &str, new: &str) -> Option<LineRange> {
    if old == new || new.is_empty() {
        return None;
    }
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let breaks = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let total = breaks(new) + usize::from(new.last() != Some(&b'\n'));
    let start = (1 + breaks(new.get(..before).unwrap_or_default())).min(total);
    let written = new.get(before..new.len() - after).unwrap_or_default();
    let inner = written.strip_suffix(b"\n").unwrap_or(written);
    Some(LineRange { start, end: (start + breaks(inner)).min(total) })
}
