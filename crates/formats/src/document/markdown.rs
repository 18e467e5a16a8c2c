//! Plain text into Markdown conventions, changed no more than needed.

use std::borrow::Cow;

const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Text on one line: runs of whitespace become a space.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let clean = text.trim().len() == text.len()
        && !text.contains("  ")
        && !text.contains(|char: char| char != ' ' && (char.is_whitespace() || char.is_control()));
    if clean {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.split(|char: char| char.is_whitespace() || char.is_control())
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" "),
    )
}

/// A heading.
pub(crate) fn heading(level: usize, text: &str) -> String {
    format!("{} {}", "#".repeat(level.clamp(1, 6)), one_line(text))
}

/// A paragraph: lines without control characters or trailing blanks. What Markdown would take for a heading, a fence or
/// an underline gets a backslash, so that no text can pretend to be structure.
pub(crate) fn paragraph(text: &str) -> String {
    if is_clean(text) && !text.ends_with(' ') && !is_structure(text.trim_start()) {
        return text.to_owned();
    }
    let mut written = String::with_capacity(text.len());
    for line in text.split(LINE_ENDS) {
        let line = without_controls(line);
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        if !written.is_empty() {
            written.push('\n');
        }
        let body = line.trim_start();
        if is_structure(body) {
            written.push_str(line.get(..line.len() - body.len()).unwrap_or_default());
            written.push('\\');
            written.push_str(body);
        } else {
            written.push_str(line);
        }
    }
    written
}

/// Whether a text is a single line without control characters, as far as its bytes tell at a glance: 0xC2 begins the
/// controls of Latin-1, and 0xE2 the separators of lines and paragraphs, among others.
fn is_clean(text: &str) -> bool {
    text.bytes().all(|byte| (byte >= b' ' || byte == b'\t') && !matches!(byte, 0x7F | 0xC2 | 0xE2))
}

fn is_structure(line: &str) -> bool {
    let first = line.bytes().next().unwrap_or(0);
    let run = line.bytes().take_while(|byte| *byte == first).count();
    match first {
        b'#' => run <= 6 && line.as_bytes().get(run).is_none_or(|next| *next == b' ' || *next == b'\t'),
        b'`' | b'~' => run >= 3,
        b'-' | b'=' => run == line.len(),
        _ => false,
    }
}

fn without_controls(text: &str) -> Cow<'_, str> {
    let unwanted = |char: char| char.is_control() && char != '\t';
    if text.contains(unwanted) { Cow::Owned(text.replace(unwanted, "")) } else { Cow::Borrowed(text) }
}

/// What stands in a cell of a pipe table: lines joined by `<br>`, pipes escaped.
pub(crate) fn cell(text: &str) -> String {
    if is_clean(text) && !text.contains(['|', '\t']) {
        return text.trim().to_owned();
    }
    let mut written = String::with_capacity(text.len());
    for line in text.split(LINE_ENDS).map(str::trim).filter(|line| !line.is_empty()) {
        if !written.is_empty() {
            written.push_str("<br>");
        }
        for char in line.chars() {
            match char {
                '|' => written.push_str("\\|"),
                '\t' => written.push(' '),
                char if char.is_control() => {}
                char => written.push(char),
            }
        }
    }
    written
}

/// A row of a pipe table; `cells` are escaped already.
pub(crate) fn row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::from("|");
    for cell in cells {
        if !cell.is_empty() {
            line.push(' ');
            line.push_str(cell);
        }
        line.push_str(" |");
    }
    line
}

/// The line below the first row.
pub(crate) fn rule(columns: usize) -> String {
    let mut line = String::from("|");
    line.push_str(&" --- |".repeat(columns));
    line
}

/// A pipe table of escaped cells. Its first row is padded to the widest one, since Markdown drops what is wider than
/// that; rows that are shorter stay so, as Markdown allows.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut lines = String::new();
    for (at, cells) in rows.iter().enumerate() {
        let padding = if at == 0 { columns - cells.len() } else { 0 };
        lines.push_str(&row(cells.iter().map(String::as_str).chain(std::iter::repeat_n("", padding))));
        if at == 0 {
            lines.push('\n');
            lines.push_str(&rule(columns));
        }
        if at + 1 < rows.len() {
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_pretend_to_be_structure() {
        for (text, written) in [
            ("plain # text", "plain # text"),
            ("# not a heading", "\\# not a heading"),
            ("#tag and ####### seven", "#tag and ####### seven"),
            ("a\n---\nb", "a\n\\---\nb"),
            ("  ```sh", "  \\```sh"),
            ("bell\u{7} and\u{0} nul\u{b}next", "bell and nul\nnext"),
        ] {
            assert_eq!(paragraph(text), written, "{text:?}");
        }
    }

    #[test]
    fn cells_hold_one_line() {
        assert_eq!(cell(" a|b \r\n\n c\td\re "), "a\\|b<br>c d<br>e");
        assert_eq!(
            table(&[vec!["a".into()], vec!["b".into(), String::new()]]),
            "| a | |\n| --- | --- |\n| b | |"
        );
    }
}
