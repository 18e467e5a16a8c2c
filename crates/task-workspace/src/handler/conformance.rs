//! The conformance suite of a file handler: what every handler must hold, for its author to run.
//!
//! ```
//! use briefing_task_workspace::conformance::check_handler;
//! use briefing_task_workspace::handler::TextHandler;
//! let violations = check_handler(&TextHandler, &[b"Pump P1\n", "水泵\r\n".as_bytes()]);
//! assert!(violations.is_empty(), "{violations:#?}");
//! ```

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use super::{FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};

/// A rule of the port, and how the handler broke it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule, as a short name.
    pub rule: &'static str,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.seen)
    }
}

/// Into how many windows a file is cut at most: small windows of a large file grow until they are no more than that.
const MAX_WINDOWS: usize = 40;

/// Checks a handler against every rule. `samples` are files of its format: the handler must read each. They are broken in
/// many ways to see what the handler does with such; keep each below some ten thousand bytes.
///
/// The rules: it has an id; no bytes and no value make it panic; the same call gives the same result; the windows of a
/// text, whatever their size, have at most as many chars as were asked for, always advance, and join to the whole text;
/// a value is given only where it was asked for, and does not depend on the window; what is shown as verbatim is the
/// file's text, and is written back to the same bytes by a handler that writes text; a value that was read and is written
/// is accepted and
/// reads back equal; what is written can be read; errors say something.
#[must_use]
pub fn check_handler(handler: &dyn FileHandler, samples: &[&[u8]]) -> Vec<Violation> {
    let mut check = Check { handler, violations: Vec::new() };
    check.identity();
    for (index, sample) in samples.iter().enumerate() {
        if let Some(Err(error)) = check.read(sample, &FormatRequest::whole()) {
            check.broken("reads_its_samples", format!("sample {index}: {error}"));
        }
        check.reads(sample);
        check.writes_back(sample);
        for broken in broken(sample) {
            check.reads(&broken);
        }
        for value in odd_values() {
            check.writes(Some(sample), &value);
        }
    }
    for bytes in odd_bytes() {
        check.reads(&bytes);
        check.writes_back(&bytes);
        check.writes(Some(&bytes), &FormatValue::from("text\n"));
    }
    for value in odd_values() {
        check.writes(None, &value);
    }
    check.violations
}

struct Check<'h> {
    handler: &'h dyn FileHandler,
    violations: Vec<Violation>,
}

impl Check<'_> {
    fn broken(&mut self, rule: &'static str, seen: String) {
        // One case of a rule tells its author enough; hundreds hide the others.
        if !self.violations.iter().any(|known| known.rule == rule) {
            self.violations.push(Violation { rule, seen });
        }
    }

    fn holds(&mut self, rule: &'static str, holds: bool, seen: impl FnOnce() -> String) {
        if !holds {
            self.broken(rule, seen());
        }
    }

    fn identity(&mut self) {
        let id = self.handler.id().to_owned();
        let sound = !id.is_empty() && !id.contains(char::is_whitespace);
        self.holds("id_is_a_word", sound, || format!("{id:?}"));
        let same = id == self.handler.id();
        self.holds("id_is_stable", same, || id);
    }

    /// A read; `None` where it panicked.
    fn read(&mut self, bytes: &[u8], request: &FormatRequest) -> Option<Result<Formatted, HandlerError>> {
        let read = catch_unwind(AssertUnwindSafe(|| self.handler.read(bytes, request))).ok();
        self.holds("reading_never_panics", read.is_some(), || format!("{request:?} of {}", shown(bytes)));
        if let Some(Err(error)) = &read {
            let speaks = !error.to_string().is_empty() && !error.code().is_empty();
            self.holds("errors_say_something", speaks, || format!("{error:?}"));
        }
        read
    }

    /// A write; `None` where it panicked.
    fn write(
        &mut self,
        previous: Option<&[u8]>,
        value: &FormatValue,
    ) -> Option<Result<Vec<u8>, HandlerError>> {
        let write = || catch_unwind(AssertUnwindSafe(|| self.handler.write(previous, value))).ok();
        let (written, again) = (write(), write());
        let over = || format!("{value:?} over {}", previous.map_or_else(|| "nothing".to_owned(), shown));
        let same = written.as_ref().and_then(|result| result.as_ref().ok())
            == again.as_ref().and_then(|result| result.as_ref().ok());
        self.holds("writing_never_panics", written.is_some(), over);
        self.holds("writing_is_deterministic", same, over);
        written
    }

    fn reads(&mut self, bytes: &[u8]) {
        let Some(Ok(whole)) = self.read(bytes, &FormatRequest::whole()) else { return };
        let again = self.read(bytes, &FormatRequest::whole());
        let same = matches!(&again, Some(Ok(again)) if *again == whole);
        self.holds("reading_is_deterministic", same, || shown(bytes));
        let whole_chars = whole.text.chars().count();
        let sound = whole.is_complete() && whole.total_chars == whole_chars && whole.offset_chars == 0;
        self.holds("the_whole_is_complete", sound, || {
            format!("{} of {whole_chars} chars, next {:?}", whole.total_chars, whole.next_offset_chars)
        });
        let names_itself = whole.handler == self.handler.id();
        self.holds("it_names_itself", names_itself, || whole.handler.clone());
        if let Some(Ok(bare)) = self.read(bytes, &FormatRequest::whole().without_value()) {
            let same = bare.value.is_none() && bare.text == whole.text;
            self.holds("the_value_is_given_where_asked_for", same, || shown(bytes));
        }
        if whole.verbatim {
            let text = briefing_formats::decode(bytes).map(|decoded| decoded.text);
            let same = text.as_ref() == Ok(&whole.text);
            self.holds("verbatim_is_the_text_of_the_file", same, || shown(bytes));
        }
        let mut sizes =
            [1, 2, 3, 7, 64, 1_000].map(|size: usize| size.max(whole_chars.div_ceil(MAX_WINDOWS))).to_vec();
        sizes.dedup();
        for max_chars in sizes {
            self.windows(bytes, &whole, max_chars);
        }
        self.edges(bytes, &whole);
    }

    fn windows(&mut self, bytes: &[u8], whole: &Formatted, max_chars: usize) {
        let (mut joined, mut offset) = (String::new(), 0);
        loop {
            let request = FormatRequest::window(offset, max_chars);
            let Some(Ok(window)) = self.read(bytes, &request) else {
                self.broken("every_window_can_be_read", format!("{request:?} of {}", shown(bytes)));
                return;
            };
            let chars = window.text.chars().count();
            self.holds("limits_are_kept", chars <= max_chars, || format!("{chars} chars for {request:?}"));
            self.holds("every_window_knows_the_total", window.total_chars == whole.total_chars, || {
                format!("{} and {} chars", window.total_chars, whole.total_chars)
            });
            self.holds("the_value_is_the_same_in_every_window", window.value == whole.value, || shown(bytes));
            joined.push_str(&window.text);
            match window.next_offset_chars {
                Some(next) if next > offset => offset = next,
                Some(next) => {
                    self.broken("windows_advance", format!("{request:?} goes on at {next}"));
                    return;
                }
                None => break,
            }
        }
        self.holds("windows_join_to_the_whole", joined == whole.text, || {
            format!("windows of {max_chars} chars of {}", shown(bytes))
        });
    }

    /// Windows of no chars, and windows at and beyond the end.
    fn edges(&mut self, bytes: &[u8], whole: &Formatted) {
        if let Some(Ok(window)) = self.read(bytes, &FormatRequest::window(0, 0)) {
            let advances = window.next_offset_chars.is_none_or(|next| next > 0);
            self.holds("windows_advance", advances, || "a window of no chars stays where it is".to_owned());
        }
        for offset in [whole.total_chars, whole.total_chars.saturating_add(7), usize::MAX] {
            let request = FormatRequest::window(offset, 10);
            if let Some(read) = self.read(bytes, &request) {
                let empty = read.is_ok_and(|read| read.text.is_empty() && read.next_offset_chars.is_none());
                self.holds("nothing_lies_beyond_the_end", empty, || {
                    format!("{request:?} of {}", shown(bytes))
                });
            }
        }
    }

    /// What was read is written, over the file and as a new one.
    fn writes_back(&mut self, bytes: &[u8]) {
        let Some(Ok(read)) = self.read(bytes, &FormatRequest::whole()) else { return };
        if let Some(value) = &read.value {
            for previous in [Some(bytes), None] {
                let written = match self.write(previous, &value.clone().into()) {
                    Some(Ok(written)) => written,
                    Some(Err(error @ HandlerError::Value { .. })) if previous.is_some() => {
                        self.broken(
                            "its_own_value_is_accepted",
                            format!("{error}: {value} of {}", shown(bytes)),
                        );
                        continue;
                    }
                    _ => continue,
                };
                let back = self.read(&written, &FormatRequest::whole());
                let same = back.is_some_and(|back| back.is_ok_and(|back| back.value.as_ref() == Some(value)));
                self.holds("a_value_reads_back_equal", same, || {
                    format!("{value} was written as {}", shown(&written))
                });
            }
        }
        if read.verbatim
            && let Some(Ok(written)) = self.write(Some(bytes), &read.text.into())
        {
            self.holds("a_verbatim_text_writes_the_same_bytes", written == bytes, || {
                format!("{} was written as {}", shown(bytes), shown(&written))
            });
        }
    }

    fn writes(&mut self, previous: Option<&[u8]>, value: &FormatValue) {
        if let Some(Ok(written)) = self.write(previous, value) {
            let read = self.read(&written, &FormatRequest::whole());
            let reads = matches!(read, Some(Ok(_)));
            self.holds("what_is_written_can_be_read", reads, || format!("{value:?} as {}", shown(&written)));
        }
    }
}

/// A sample cut, with a byte changed, with bytes put in, twice over, and in other encodings.
fn broken(sample: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..12 {
        let at = random.below(sample.len() + 1);
        let (before, after) = sample.split_at(at);
        let byte = u8::try_from(random.below(256)).unwrap_or_default();
        all.push(before.to_vec());
        all.push([before, &[byte], after].concat());
        all.push([before, &[byte], after.get(1..).unwrap_or_default()].concat());
        all.push([before, after.get(1 + random.below(9)..).unwrap_or_default()].concat());
    }
    all.push([sample, sample].concat());
    all.push([b"\xEF\xBB\xBF", sample].concat());
    if let Ok(text) = std::str::from_utf8(sample) {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        all.push(units.flat_map(u16::to_le_bytes).collect());
        all.push(text.replace('\n', "\r\n").into_bytes());
    }
    all
}

fn odd_bytes() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 22] = [
        b"",
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\0",
        b"\xEF\xBB\xBF",
        b"\xFF\xFE",
        b"\xFF\xFE\0\0",
        b"\xC3",
        b"{",
        b"[]",
        b"{}",
        b"null",
        b"\"\\ud800\"",
        b"[1e999]",
        b",,,\n,",
        b"\"",
        b"a,\"b",
        b"# ",
        b"---\n",
        b"{\"nbformat\":4,\"cells\":[{}]}",
    ];
    let mut all: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
    for piece in ["[", "{\"a\":", "> ", "`", "\"", ",", "|", "\\", "*_", "\u{1B}["] {
        all.push(piece.repeat(3_000).into_bytes());
    }
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for length in 1..48 {
        all.push((0..length * 3).map(|_| u8::try_from(random.below(256)).unwrap_or_default()).collect());
        let marks = b"{}[]\",:;\\|\t\r\n#`-~ 10aE.";
        all.push((0..length * 3).filter_map(|_| marks.get(random.below(marks.len())).copied()).collect());
    }
    all
}

fn odd_values() -> Vec<FormatValue> {
    let deep = (0..500).fold(Value::Null, |inner, _| json!([inner]));
    let values = [
        Value::Null,
        json!(true),
        json!(-1.5e300),
        json!("text"),
        json!([]),
        json!({}),
        json!([[]]),
        json!([{}]),
        json!([null, 1, "a"]),
        json!([["a", "b"], ["c"]]),
        json!([{"a": {"b": []}}]),
        json!([{"id": 1}]),
        json!([{"id": "x", "kind": "code", "source": "1"}]),
        json!({"": {"\u{FEFF}": "\0\u{1B}\u{2028}"}}),
        json!([["\u{FEFF}", "\r"], ["\"", ";"]]),
        deep,
    ];
    let texts = ["", "\u{FEFF}", "\0", "a\r\nb\rc\n", "{\"a\": [1, 2.50]}", "{]", "a,b\n\"", "\u{1F600}"];
    values.into_iter().map(FormatValue::Json).chain(texts.into_iter().map(FormatValue::from)).collect()
}

/// The first bytes, for a message.
fn shown(bytes: &[u8]) -> String {
    let first = bytes.get(..120).unwrap_or(bytes);
    format!("{} bytes, \"{}\"", bytes.len(), first.escape_ascii())
}

/// Marsaglia's xorshift64: the same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap_or(u64::MAX)).unwrap_or_default()
    }
}
