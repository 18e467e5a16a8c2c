//! How a table is written: what separates its cells, how its rows end, when it quotes.

use std::collections::HashMap;

use csv::{QuoteStyle, StringRecord, Terminator};

/// How much of a text is looked at to find its delimiter, in bytes and rows.
const SAMPLE_BYTES: usize = 64 * 1024;
const SAMPLE_ROWS: usize = 200;

/// Candidates, the less likely to stand in a cell first: of two that split every row alike the first wins, so that
/// semicolons win over the commas of decimal numbers.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// How a table is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    crlf: bool,
    quotes: QuoteStyle,
    /// The last row ends with a line end.
    ends: bool,
}

impl Dialect {
    /// A new table.
    pub(super) fn new(delimiter: Option<u8>) -> Self {
        Self { delimiter: delimiter.unwrap_or(b','), crlf: false, quotes: QuoteStyle::Necessary, ends: true }
    }

    /// The dialect of a text, as far as reading it needs; the delimiter is sniffed unless it is given.
    pub(super) fn of(text: &str, delimiter: Option<u8>) -> Self {
        Self {
            delimiter: delimiter.unwrap_or_else(|| sniffed(text)),
            crlf: ends_rows_with_crlf(text),
            ends: text.is_empty() || text.ends_with(['\n', '\r']),
            ..Self::new(None)
        }
    }

    /// The dialect with the file's habit of quoting: the one that writes the file again as it is.
    pub(super) fn with_quotes_of(self, text: &str) -> Self {
        if !text.contains('"') {
            return self;
        }
        let rows: Vec<StringRecord> = self.rows(text).collect();
        [QuoteStyle::Necessary, QuoteStyle::Always, QuoteStyle::NonNumeric]
            .into_iter()
            .map(|quotes| Self { quotes, ..self })
            .find(|dialect| dialect.text_of(&rows).as_deref() == Some(text))
            .unwrap_or(self)
    }

    /// The same with every cell quoted, which leaves no doubt about what separates them.
    pub(super) fn quoting_all(self) -> Self {
        Self { quotes: QuoteStyle::Always, ..self }
    }

    /// The rows of a text. Blank lines are none.
    pub(super) fn rows(self, text: &str) -> impl Iterator<Item = StringRecord> + '_ {
        csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes())
            .into_records()
            // A text is UTF-8, may be ragged and is in memory: no row fails.
            .map_while(Result::ok)
    }

    /// The text of some rows; `None` for a row without cells.
    pub(super) fn text_of(self, rows: &[StringRecord]) -> Option<String> {
        let mut writer = csv::WriterBuilder::new()
            .delimiter(self.delimiter)
            .flexible(true)
            .quote_style(self.quotes)
            .terminator(if self.crlf { Terminator::CRLF } else { Terminator::Any(b'\n') })
            .from_writer(Vec::new());
        for row in rows {
            if row.is_empty() {
                return None;
            }
            writer.write_record(row).ok()?;
        }
        let mut text = String::from_utf8(writer.into_inner().ok()?).ok()?;
        if !self.ends {
            let end = if self.crlf { 2 } else { 1 };
            text.truncate(text.len().saturating_sub(end));
        }
        Some(text)
    }
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
            while let Some(byte) = bytes.next() {
                if byte == b'"' && bytes.next_if_eq(&b'"').is_none() {
                    break;
                }
            }
            if bytes.peek().is_some_and(|next| *next != delimiter && DELIMITERS.contains(next)) {
                return None;
            }
        }
        at_start = byte == delimiter;
    }
    rows.extend((cells > 0).then_some(cells));
    Some(rows)
}
