//! Finding lines by a pattern, with the engine of ripgrep (`grep-regex`, `grep-searcher`).

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use briefing_core::{ContextDiagnostic, Severity};
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use serde::{Deserialize, Serialize};

use super::list::{ListRequest, check_limit, real_name};
use super::text_of::{Searched, text_of};
use crate::TaskWorkspace;
use crate::error::Error;
use crate::threads::on_threads_until;
use crate::walk::FoundFile;

/// How many files are looked into before it is asked whether the page is full; each time it is not, four times as many follow.
const FIRST_BATCH_FILES: usize = 512;

/// The largest compiled pattern, in bytes: the limit of ripgrep is ten times that.
const MAX_PATTERN_BYTES: usize = 10 << 20;

/// How many files of one kind of trouble a page names; the rest are counted.
const MAX_NAMED: usize = 20;

/// What is looked for, and where. The defaults: a regular expression with case, in every file that a listing gives, 200
/// matches a page, no context, lines cut at 500 chars, files up to 16 MiB.
///
/// ```
/// use briefing_task_workspace::{GrepRequest, ListRequest};
/// let request = GrepRequest::new(r"fn \w+_page\(").files(ListRequest::new().glob("*.rs")).context_lines(2);
/// assert_eq!(request.context_lines, 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrepRequest {
    /// The pattern, in the syntax of the `regex` crate; it is matched line by line. The end of a line, `\n` or `\r\n`, is no
    /// part of it.
    pub pattern: String,
    /// Whether the pattern is plain text.
    pub literal: bool,
    /// Whether upper and lower case are the same, char by char (simple case folding of Unicode: `ß` is not `ss`).
    pub ignore_case: bool,
    /// Whether a match must be a word of its own.
    pub whole_words: bool,
    /// Which files; the page and the limit of this request do not count.
    pub files: ListRequest,
    /// How many lines before and after each match are given with it.
    pub context_lines: usize,
    /// The most matching lines of a page.
    pub limit: usize,
    /// The most chars of a line that are given; the window lies around the first match.
    pub max_line_chars: usize,
    /// Larger files are left out and named, in bytes.
    pub max_file_bytes: u64,
    /// Goes on after a page.
    pub after: Option<GrepCursor>,
}

impl GrepRequest {
    /// Looks for a regular expression.
    #[must_use]
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            literal: false,
            ignore_case: false,
            whole_words: false,
            files: ListRequest::new(),
            context_lines: 0,
            limit: 200,
            max_line_chars: 500,
            max_file_bytes: 16 << 20,
            after: None,
        }
    }

    /// Looks for plain text.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        Self { literal: true, ..Self::new(text) }
    }

    /// Takes upper and lower case for the same.
    #[must_use]
    pub fn ignore_case(mut self) -> Self {
        self.ignore_case = true;
        self
    }

    /// Finds only whole words.
    #[must_use]
    pub fn whole_words(mut self) -> Self {
        self.whole_words = true;
        self
    }

    /// Sets which files are looked into.
    #[must_use]
    pub fn files(mut self, files: ListRequest) -> Self {
        self.files = files;
        self
    }

    /// Gives lines before and after each match.
    #[must_use]
    pub fn context_lines(mut self, lines: usize) -> Self {
        self.context_lines = lines;
        self
    }

    /// Sets the most matching lines of a page.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the most chars of a line.
    #[must_use]
    pub fn max_line_chars(mut self, chars: usize) -> Self {
        self.max_line_chars = chars;
        self
    }

    /// Sets the size of the largest file that is looked into, in bytes.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// Goes on after a page.
    #[must_use]
    pub fn after(mut self, cursor: GrepCursor) -> Self {
        self.after = Some(cursor);
        self
    }

    fn matcher(&self) -> Result<RegexMatcher, Error> {
        RegexMatcherBuilder::new()
            .case_insensitive(self.ignore_case)
            .fixed_strings(self.literal)
            .word(self.whole_words)
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES)
            .build(&self.pattern)
            .map_err(|error| Error::Pattern { pattern: self.pattern.clone(), reason: error.to_string() })
    }
}

/// Where a page ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrepCursor {
    /// The file of its last match.
    pub path: String,
    /// The line of its last match, counted from 1.
    pub line: u64,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GrepMatch {
    /// The file, as refs show it.
    pub path: String,
    /// The line, counted from 1.
    pub line: u64,
    /// The line without its end, or a window of it.
    pub text: String,
    /// Where the matches are in `text`, in chars; one that goes on after it is cut.
    pub spans: Vec<Range<usize>>,
    /// How many chars of the line come before `text`.
    pub cut_before_chars: usize,
    /// How many chars of the line come after `text`.
    pub cut_after_chars: usize,
    /// The lines before it that no earlier match gives, cut like `text`.
    pub before: Vec<String>,
    /// The lines after it, up to the next match, cut like `text`.
    pub after: Vec<String>,
}

/// A page of matches, by path and line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GrepPage {
    /// The matches.
    pub matches: Vec<GrepMatch>,
    /// Where the next page goes on; `None` where there is no more match.
    pub next: Option<GrepCursor>,
    /// How many files were looked into for this page.
    pub files_searched: usize,
    /// What was not looked into: files that are no text, too large, or changed meanwhile.
    pub diagnostics: Vec<ContextDiagnostic>,
}

impl TaskWorkspace {
    /// Finds the lines that match a pattern. Texts in older encodings are decoded first; files that are no text are
    /// counted and left out. Time is linear in the size of the files, whatever the pattern.
    ///
    /// # Errors
    /// [`Error::Pattern`] for a pattern that cannot be parsed, is too large, or spans lines; [`Error::OutOfRange`] for a
    /// limit of 0; [`Error::InvalidPath`] for a cursor that no page gave; and as [`list`](Self::list).
    pub fn grep(&self, request: &GrepRequest) -> Result<GrepPage, Error> {
        check_limit(request.limit)?;
        let matcher = request.matcher()?;
        let walked = self.find_files(&request.files)?;
        let first = match &request.after {
            Some(cursor) => first_of(&walked.files, &real_name(&cursor.path)?),
            None => 0,
        };
        let mut page =
            GrepPage { matches: Vec::new(), next: None, files_searched: 0, diagnostics: walked.diagnostics };
        let mut skipped = Skipped::default();
        let mut files = walked.files.get(first..).unwrap_or_default();
        let mut batch_files = FIRST_BATCH_FILES;
        // One match more than the page holds tells whether there is another page.
        let page_and_one = request.limit.saturating_add(1);
        while !files.is_empty() && page.matches.len() < page_and_one {
            let (batch, rest) = files.split_at(batch_files.min(files.len()));
            files = rest;
            batch_files = batch_files.saturating_mul(4);
            let wanted = page_and_one - page.matches.len();
            let grep = Grep { workspace: self, request, wanted, found: AtomicUsize::new(0) };
            // Files are taken in their order: what is found in those that were taken comes before all the rest.
            let is_full = || grep.found.load(Ordering::Relaxed) >= wanted;
            let state = State::new(request.context_lines, &matcher);
            let looked = on_threads_until(is_full, batch, state, |state, file| grep.look(state, file));
            for (file, outcome) in batch.iter().zip(looked) {
                match outcome {
                    Ok(found) => {
                        page.files_searched += 1;
                        page.matches.extend(found);
                    }
                    Err(why) => skipped.note(why, file.name.shown()),
                }
                if page.matches.len() >= page_and_one {
                    break;
                }
            }
        }
        if page.matches.len() > request.limit {
            page.matches.truncate(request.limit);
            page.next =
                page.matches.last().map(|last| GrepCursor { path: last.path.clone(), line: last.line });
        }
        page.diagnostics.extend(skipped.report());
        Ok(page)
    }
}

/// The first file that a page after the cursor looks into: the cursor's own.
fn first_of(files: &[FoundFile], path: &[u8]) -> usize {
    files.partition_point(|file| file.name.bytes().as_ref() < path)
}

/// Why a file was not looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    Binary,
    TooLarge,
    Changed,
    Unreadable,
}

impl From<&Error> for Why {
    fn from(error: &Error) -> Self {
        match error {
            Error::Unreadable { .. } => Self::Unreadable,
            _ => Self::Changed,
        }
    }
}

/// The files that were not looked into, by reason.
#[derive(Debug, Default)]
pub(super) struct Skipped(BTreeMap<Why, (usize, Vec<String>)>);

impl Skipped {
    pub(super) fn note(&mut self, why: Why, path: &str) {
        let (count, named) = self.0.entry(why).or_default();
        *count += 1;
        if named.len() < MAX_NAMED {
            named.push(path.to_owned());
        }
    }

    pub(super) fn report(self) -> impl Iterator<Item = ContextDiagnostic> {
        self.0.into_iter().map(|(why, (count, named))| {
            let (code, severity) = match why {
                Why::Binary => ("workspace.not_text_skipped", Severity::Info),
                Why::TooLarge => ("workspace.too_large_skipped", Severity::Warning),
                Why::Changed => ("workspace.changed_skipped", Severity::Warning),
                Why::Unreadable => ("workspace.unreadable", Severity::Warning),
            };
            ContextDiagnostic::new(code, severity).with("files", count).with("paths", named)
        })
    }
}

/// What one thread keeps from file to file.
struct State {
    searcher: Searcher,
    /// A copy of its own: the threads would wait for one another's scratch space.
    matcher: RegexMatcher,
    buffer: Vec<u8>,
}

impl State {
    fn new(lines: usize, matcher: &RegexMatcher) -> impl Fn() -> Self + Sync {
        move || Self {
            matcher: matcher.clone(),
            searcher: SearcherBuilder::new()
                .line_number(true)
                .before_context(lines)
                .after_context(lines)
                .bom_sniffing(false)
                .build(),
            buffer: Vec::new(),
        }
    }
}

struct Grep<'a> {
    workspace: &'a TaskWorkspace,
    request: &'a GrepRequest,
    wanted: usize,
    /// How many matches were found in files that the threads are done with.
    found: AtomicUsize,
}

impl Grep<'_> {
    fn look(&self, state: &mut State, file: &FoundFile) -> Result<Vec<GrepMatch>, Why> {
        let State { searcher, matcher, buffer } = state;
        let text = match text_of(self.workspace, file, self.request.max_file_bytes, buffer) {
            Ok(Searched::Text(text)) => text,
            Ok(Searched::Binary) => return Err(Why::Binary),
            Ok(Searched::TooLarge) => return Err(Why::TooLarge),
            Err(error) => return Err(Why::from(&error)),
        };
        let path = file.name.shown();
        let seen = self.request.after.as_ref().filter(|cursor| cursor.path == **path);
        let mut lines = Lines {
            path,
            matcher,
            max_chars: self.request.max_line_chars,
            after_line: seen.map_or(0, |cursor| cursor.line),
            wanted: self.wanted,
            before: Vec::new(),
            found: Vec::new(),
        };
        // Reading from memory and a sink that does not fail: there is no error to come.
        match searcher.search_slice(&*matcher, &text, &mut lines) {
            Ok(()) => {
                self.found.fetch_add(lines.found.len(), Ordering::Relaxed);
                Ok(lines.found)
            }
            Err(_) => Err(Why::Unreadable),
        }
    }
}

/// Takes the lines that the searcher finds.
struct Lines<'a> {
    path: &'a str,
    matcher: &'a RegexMatcher,
    max_chars: usize,
    /// Matches up to this line were given before.
    after_line: u64,
    wanted: usize,
    before: Vec<String>,
    found: Vec<GrepMatch>,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.line_number().unwrap_or_default();
        if line <= self.after_line {
            self.before.clear();
            return Ok(true);
        }
        let window = Window::around(found.bytes(), Some(self.matcher), self.max_chars);
        self.found.push(GrepMatch {
            path: self.path.to_owned(),
            line,
            text: window.text,
            spans: window.spans,
            cut_before_chars: window.cut_before,
            cut_after_chars: window.cut_after,
            before: std::mem::take(&mut self.before),
            after: Vec::new(),
        });
        Ok(self.found.len() < self.wanted)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = Window::around(context.bytes(), None, self.max_chars).text;
        match (context.kind(), self.found.last_mut()) {
            (SinkContextKind::After, Some(last)) => last.after.push(line),
            (SinkContextKind::Before, _) => self.before.push(line),
            _ => {}
        }
        Ok(true)
    }
}

/// A line without its end, or so much of it around the first match as is wanted.
struct Window {
    text: String,
    spans: Vec<Range<usize>>,
    cut_before: usize,
    cut_after: usize,
}

impl Window {
    /// What is searched is valid UTF-8. Takes time linear in the line: matches after the window are not looked for.
    fn around(line: &[u8], matcher: Option<&RegexMatcher>, max_chars: usize) -> Self {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.len() <= max_chars && line.is_ascii() {
            return Self::whole_ascii(line, matcher);
        }
        let line = String::from_utf8_lossy(line);
        let chars = |bytes: Range<usize>| line.get(bytes).map_or(0, |part| part.chars().count());
        // The engine's errors are uninhabited.
        let first = matcher.and_then(|matcher| matcher.find(line.as_bytes()).ok().flatten());
        let first = first.map_or(0..0, |found| whole_chars(&line, found.start()..found.end()));
        let total = chars(0..line.len());
        let start = if total <= max_chars {
            0
        } else {
            let room = max_chars.saturating_sub(chars(first.clone()));
            chars(0..first.start).saturating_sub(room / 2).min(total - max_chars)
        };
        let byte_at = |char: usize| line.char_indices().nth(char).map_or(line.len(), |(byte, _)| byte);
        let window = byte_at(start)..byte_at(start.saturating_add(max_chars));
        let text = line.get(window.clone()).unwrap_or_default().to_owned();
        let mut spans: Vec<Range<usize>> = Vec::new();
        let (mut seen_byte, mut seen_chars) = (window.start, 0);
        let _ = matcher.map(|matcher| {
            matcher.find_iter(line.as_bytes(), |found| {
                let found = whole_chars(&line, found.start()..found.end());
                if found.start > window.end || (found.start == window.end && !found.is_empty()) {
                    return false;
                }
                let found = found.start.max(window.start)..found.end.min(window.end);
                seen_chars += chars(seen_byte..found.start);
                seen_byte = found.start;
                let span = seen_chars..seen_chars + chars(found);
                // A pattern of bytes can match more than once in a char.
                if spans.last() != Some(&span) {
                    spans.push(span);
                }
                true
            })
        });
        let shown = start + text.chars().count();
        Self { text, spans, cut_before: start, cut_after: total - shown }
    }

    /// A short line of one byte a char, which most are.
    fn whole_ascii(line: &[u8], matcher: Option<&RegexMatcher>) -> Self {
        let mut spans = Vec::new();
        let _ = matcher.map(|matcher| {
            matcher.find_iter(line, |found| {
                spans.push(found.start()..found.end());
                true
            })
        });
        Self { text: String::from_utf8_lossy(line).into_owned(), spans, cut_before: 0, cut_after: 0 }
    }
}

/// The range without a part of a char at either end: such a char is taken whole.
fn whole_chars(line: &str, range: Range<usize>) -> Range<usize> {
    let is_boundary = |byte: &usize| line.is_char_boundary(*byte);
    let start = (0..=range.start).rev().find(is_boundary).unwrap_or_default();
    let end = (range.end..=line.len()).find(is_boundary).unwrap_or(line.len());
    start..end
}
