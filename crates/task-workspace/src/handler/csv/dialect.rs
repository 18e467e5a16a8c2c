//! How a table is written: what separates its cells, how its rows end, when it quotes.

use std::collections::{HashMap, VecDeque};
use std::iter::Peekable;
use std::str::Bytes;

use csv::StringRecord;

/// How much of a text is looked at to find its delimiter, in bytes and rows.
const SAMPLE_BYTES: usize = 64 * 1024;
const SAMPLE_ROWS: usize = 200;

/// Candidates, the less likely to stand in a cell first: of two that split every row alike the first wins, so that
/// semicolons win over the commas of decimal numbers.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// When a cell is written in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// Where it would be read as something else without.
    Necessary,
    /// Where it is no number.
    NonNumeric,
    Always,
    /// Quotes are characters like any other.
    Never,
}

/// How a table is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    crlf: bool,
    quotes: Quotes,
    /// The last row ends with a line end.
    ends: bool,
    /// Quotes stand where they neither begin nor end a cell.
    pub(super) has_stray_quotes: bool,
}

/// How rows are written in a file, by their cells; of equal rows in their order.
pub(super) type Kept<'t> = HashMap<Vec<&'t str>, VecDeque<&'t str>>;

impl Dialect {
    /// A new table.
    pub(super) fn new(delimiter: Option<u8>) -> Self {
        Self {
            delimiter: delimiter.unwrap_or(b','),
            crlf: false,
            quotes: Quotes::Necessary,
            ends: true,
            has_stray_quotes: false,
        }
    }

    /// The dialect of a text, as far as reading it needs; the delimiter is sniffed unless it is given. Where tabs separate
    /// and quotes stand astray, quotes mean nothing, as the registration of `text/tab-separated-values` has it.
    pub(super) fn of(text: &str, delimiter: Option<u8>) -> Self {
        let delimiter = delimiter.unwrap_or_else(|| sniffed(text));
        let has_stray_quotes = has_stray_quotes(delimiter, text);
        let unquoted = has_stray_quotes && delimiter == b'\t';
        Self {
            delimiter,
            crlf: ends_rows_with_crlf(text),
            quotes: if unquoted { Quotes::Never } else { Quotes::Necessary },
            ends: text.is_empty() || text.ends_with(['\n', '\r']),
            has_stray_quotes: has_stray_quotes && !unquoted,
        }
    }

    /// The dialect with the file's habit of quoting: the one that writes the rows of the file again as they are.
    pub(super) fn with_habit_of(self, rows: &[StringRecord], text: &str) -> Self {
        if self.quotes == Quotes::Never || !text.contains('"') {
            return self;
        }
        [Quotes::Necessary, Quotes::Always, Quotes::NonNumeric]
            .into_iter()
            .map(|quotes| Self { quotes, ..self })
            .find(|dialect| dialect.text_of(rows, Kept::new()) == text)
            .unwrap_or(self)
    }

    /// The same with every cell quoted, which leaves no doubt about what separates them.
    pub(super) fn quoting_all(self) -> Self {
        Self { quotes: Quotes::Always, ..self }
    }

    /// The rows of a text. Blank lines are none.
    pub(super) fn rows(self, text: &str) -> impl Iterator<Item = StringRecord> + '_ {
        csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(self.quotes != Quotes::Never)
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes())
            .into_records()
            // A text is UTF-8, may be ragged and is in memory: no row fails.
            .map_while(Result::ok)
    }

    /// The text of some rows, of which those in `kept` stay as they are written there.
    pub(super) fn text_of<'t>(self, rows: &'t [StringRecord], mut kept: Kept<'t>) -> String {
        let end = if self.crlf { "\r\n" } else { "\n" };
        let mut text = String::new();
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                text.push_str(end);
            }
            let cells: Vec<&str> = row.iter().collect();
            match kept.get_mut(&cells).and_then(VecDeque::pop_front) {
                Some(raw) => text.push_str(raw),
                None => self.write_row(&cells, &mut text),
            }
        }
        if self.ends && !rows.is_empty() {
            text.push_str(end);
        }
        text
    }

    fn write_row(self, cells: &[&str], text: &mut String) {
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                text.push(char::from(self.delimiter));
            }
            let quoted = match self.quotes {
                Quotes::Never => false,
                Quotes::Always => true,
                Quotes::NonNumeric => cell.parse::<f64>().is_err(),
                // A lone empty cell would be a blank line.
                Quotes::Necessary => cells.len() == 1 && cell.is_empty(),
            };
            let needs = || cell.contains([char::from(self.delimiter), '"', '\r', '\n']);
            if quoted || (self.quotes != Quotes::Never && needs()) {
                text.push('"');
                text.push_str(&cell.replace('"', "\"\""));
                text.push('"');
            } else {
                text.push_str(cell);
            }
        }
    }
}

/// How each row of `text` is written, its line end aside.
pub(super) fn kept<'t>(rows: &'t [StringRecord], text: &'t str) -> Kept<'t> {
    let start = |row: &StringRecord| {
        row.position().and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(text.len())
    };
    let ends = rows.iter().skip(1).map(start).chain([text.len()]);
    let mut kept = Kept::with_capacity(rows.len());
    for (row, end) in rows.iter().zip(ends) {
        // Of a line end that stands between two rows, either may have a part.
        let raw = text.get(start(row)..end).unwrap_or_default().trim_matches(['\r', '\n']);
        kept.entry(row.iter().collect::<Vec<_>>()).or_default().push_back(raw);
    }
    kept
}

/// Whether a quote stands inside of a cell without quotes, after the end of a quoted one, or without its pair.
fn has_stray_quotes(delimiter: u8, text: &str) -> bool {
    let mut bytes = text.bytes().peekable();
    let mut at_start = true;
    let ends = |byte: u8| byte == delimiter || matches!(byte, b'\r' | b'\n');
    while let Some(byte) = bytes.next() {
        if byte != b'"' {
            at_start = ends(byte);
        } else if !at_start || !skip_quoted(&mut bytes) || !bytes.peek().is_none_or(|next| ends(*next)) {
            return true;
        }
    }
    false
}

/// Goes on behind the quote that closes a cell, whose opening one is gone already; false where there is none.
fn skip_quoted(bytes: &mut Peekable<Bytes<'_>>) -> bool {
    while let Some(byte) = bytes.next() {
        if byte == b'"' && bytes.next_if_eq(&b'"').is_none() {
            return true;
        }
    }
    false
}

/// Whether the first line end outside of quotes is CRLF.
fn ends_rows_with_crlf(text: &str) -> bool {
    let mut quoted = false;
    let end = text.bytes().position(|byte| {
        quoted ^= byte == b'"';
        !quoted && matches!(byte, b'\r' | b'\n')
    });
    end.and_then(|at| text.get(at..)).is_some_and(|rest| rest.starts_with("\r\n"))
}

/// The delimiter that gives most rows the same number of cells, and more than one.
fn sniffed(text: &str) -> u8 {
    let sample = if text.len() > SAMPLE_BYTES {
        let end = (0..=SAMPLE_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let sample = text.get(..end).unwrap_or_default();
        // The last line is cut.
        sample.rsplit_once('\n').map_or(sample, |(whole, _)| whole)
    } else {
        text
    };
    let mut best = (b',', 0_usize, 1_usize);
    for delimiter in DELIMITERS {
        let (alike, rows) = alike(delimiter, sample);
        // A larger share, compared without dividing.
        if alike * best.2 > best.1 * rows {
            best = (delimiter, alike, rows);
        }
    }
    best.0
}

/// How many of how many rows have the most frequent number of cells above one.
fn alike(delimiter: u8, sample: &str) -> (usize, usize) {
    let rows = cells_per_row(delimiter, sample).unwrap_or_default();
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for cells in rows.iter().copied().filter(|cells| *cells > 1) {
        *counts.entry(cells).or_default() += 1;
    }
    (counts.into_values().max().unwrap_or(0), rows.len().max(1))
}

/// How many cells the first rows have with this delimiter; `None` where another candidate follows a closing quote: then
/// that one separates cells, and what looks like the delimiter stands inside of quotes.
fn cells_per_row(delimiter: u8, sample: &str) -> Option<Vec<usize>> {
    let (mut rows, mut cells) = (Vec::new(), 0);
    let mut bytes = sample.bytes().peekable();
    let mut at_start = true;
    while let Some(byte) = bytes.next() {
        if matches!(byte, b'\r' | b'\n') {
            // A blank line is no row.
            rows.extend((cells > 0).then_some(cells));
            (cells, at_start) = (0, true);
            if rows.len() == SAMPLE_ROWS {
                break;
            }
            continue;
        }
        cells = cells.max(1) + usize::from(byte == delimiter);
        if byte == b'"' && at_start {
            skip_quoted(&mut bytes);
            if bytes.peek().is_some_and(|next| *next != delimiter && DELIMITERS.contains(next)) {
                return None;
            }
        }
        at_start = byte == delimiter;
    }
    rows.extend((cells > 0).then_some(cells));
    Some(rows)
}
