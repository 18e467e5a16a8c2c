//! The names in the headers of a diff.

use super::super::EditError;
use super::parse::malformed;

/// What stands for no file.
pub(super) const NO_FILE: &str = "/dev/null";

/// The name in a `---` or `+++` line: quoted, or up to a tab, after which there may be a date.
pub(super) fn in_header(rest: &str, diff_line: usize) -> Result<String, EditError> {
    if rest.starts_with('"') {
        return Ok(quoted(rest, diff_line)?.0);
    }
    plain(rest.split('\t').next().unwrap_or_default(), diff_line)
}

/// A name that takes the rest of its line.
pub(super) fn whole(rest: &str, diff_line: usize) -> Result<String, EditError> {
    match rest.starts_with('"') {
        true => match quoted(rest, diff_line)? {
            (name, "") => Ok(name),
            _ => Err(malformed(diff_line, "text after a quoted name")),
        },
        false => plain(rest, diff_line),
    }
}

fn plain(name: &str, diff_line: usize) -> Result<String, EditError> {
    if name.is_empty() {
        return Err(malformed(diff_line, "a name is missing"));
    }
    Ok(name.to_owned())
}

/// Both names of a `diff --git` line, or `None` if they cannot be told apart: without quotes, and different.
pub(super) fn both(rest: &str, diff_line: usize) -> Result<Option<(String, String)>, EditError> {
    if rest.starts_with('"') {
        let (old, rest) = quoted(rest, diff_line)?;
        let new = rest.strip_prefix(' ').ok_or_else(|| malformed(diff_line, "the second name is missing"))?;
        return Ok(Some((old, whole(new, diff_line)?)));
    }
    if let Some(at) = rest.find(" \"") {
        let (old, new) = rest.split_at(at);
        return Ok(Some((old.to_owned(), whole(new.trim_start_matches(' '), diff_line)?)));
    }
    // Both are the same but for a prefix of the same length, so the space between them is in the middle.
    let Some((old, new)) = rest.split_at_checked(rest.len() / 2) else { return Ok(None) };
    let Some(new) = new.strip_prefix(' ') else { return Ok(None) };
    let same = without_prefixes(old, new).is_some_and(|(old, new)| old == new) || old == new;
    Ok((same && !old.is_empty()).then(|| (old.to_owned(), new.to_owned())))
}

/// The names without `a/` and `b/`, if those are there.
pub(super) fn without_prefixes<'a>(old: &'a str, new: &'a str) -> Option<(&'a str, &'a str)> {
    match (old, new) {
        (NO_FILE, new) => Some((NO_FILE, new.strip_prefix("b/")?)),
        (old, NO_FILE) => Some((old.strip_prefix("a/")?, NO_FILE)),
        (old, new) => Some((old.strip_prefix("a/")?, new.strip_prefix("b/")?)),
    }
}

/// A name in quotes as git and GNU diff write it (git's `quote.c`): the escapes of C and three octal digits for a byte.
/// The rest of the line follows.
fn quoted(text: &str, diff_line: usize) -> Result<(String, &str), EditError> {
    let faulty = |reason: &str| malformed(diff_line, format!("a quoted name {reason}"));
    let mut name = Vec::new();
    let mut bytes = text.bytes().enumerate().skip(1);
    loop {
        let (at, byte) = bytes.next().ok_or_else(|| faulty("has no end"))?;
        match byte {
            b'"' => {
                let name = String::from_utf8(name).map_err(|_| faulty("is not UTF-8"))?;
                return Ok((plain(&name, diff_line)?, text.get(at + 1..).unwrap_or_default()));
            }
            b'\\' => {
                let (_, escaped) = bytes.next().ok_or_else(|| faulty("has no end"))?;
                let byte = match escaped {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 0x0B,
                    b'f' => 0x0C,
                    b'r' => b'\r',
                    b'"' | b'\\' => escaped,
                    b'0'..=b'3' => {
                        let mut digit = || {
                            bytes.next().map(|(_, digit)| digit).filter(|digit| (b'0'..=b'7').contains(digit))
                        };
                        match (digit(), digit()) {
                            (Some(second), Some(third)) => {
                                (escaped - b'0') * 64 + (second - b'0') * 8 + (third - b'0')
                            }
                            _ => return Err(faulty("has an octal escape without three digits")),
                        }
                    }
                    _ => return Err(faulty("has an unknown escape")),
                };
                name.push(byte);
            }
            byte => name.push(byte),
        }
    }
}

/// A name as the header of a diff needs it: in quotes if it holds control characters, quotes or backslashes.
pub(in super::super) fn written(prefix: &str, name: &str) -> String {
    let needs_quotes = |char: char| char.is_ascii_control() || matches!(char, '"' | '\\');
    if !name.contains(needs_quotes) {
        return [prefix, name].concat();
    }
    let escaped = name.chars().map(|char| match char {
        '"' | '\\' => format!("\\{char}"),
        '\t' => "\\t".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        char if char.is_ascii_control() => format!("\\{:03o}", u32::from(char)),
        char => char.to_string(),
    });
    format!("\"{prefix}{}\"", escaped.collect::<String>())
}
