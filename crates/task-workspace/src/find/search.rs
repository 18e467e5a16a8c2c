//! Finding files by words in their names and their content. It counts and compares; which file bears on a question is
//! for a reader of context to say.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use briefing_core::ContextDiagnostic;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::{Deserialize, Serialize};

use super::grep::{Skipped, Why};
use super::list::{ListRequest, check_limit};
use super::text_of::{Searched, text_of};
use crate::TaskWorkspace;
use crate::error::Error;
use crate::threads::on_threads;
use crate::walk::FoundFile;

/// The most words of a query.
const MAX_WORDS: usize = 32;

/// The most chars of a shown line.
const MAX_LINE_CHARS: usize = 300;

/// What is looked for. The defaults: in every file that a listing gives, 50 hits, files up to 16 MiB.
///
/// ```
/// use briefing_task_workspace::SearchRequest;
/// assert_eq!(SearchRequest::new("pump check").limit(10).limit, 10);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchRequest {
    /// Words, parted by white space. A file is found where each is in its path or its content, in any case.
    pub query: String,
    /// Which files; the page and the limit of this request do not count.
    pub files: ListRequest,
    /// The most hits.
    pub limit: usize,
    /// Of larger files only the path is looked at, in bytes.
    pub max_file_bytes: u64,
}

impl SearchRequest {
    /// Looks for words.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), files: ListRequest::new(), limit: 50, max_file_bytes: 16 << 20 }
    }

    /// Sets which files are looked at.
    #[must_use]
    pub fn files(mut self, files: ListRequest) -> Self {
        self.files = files;
        self
    }

    /// Sets the most hits.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }
}

/// A file that holds every word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchHit {
    /// The file, as refs show it.
    pub path: String,
    /// How many of the words are in its path.
    pub words_in_path: usize,
    /// How many of its lines hold one of the words.
    pub lines: usize,
    /// The line with the most different words, the first of those: its number, counted from 1, and its beginning.
    pub best_line: Option<(u64, String)>,
}

/// What a search found: files with more words in the path first, then those with more lines, then by path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchPage {
    /// The hits.
    pub hits: Vec<SearchHit>,
    /// How many files were found in all.
    pub total: usize,
    /// What was not looked into.
    pub diagnostics: Vec<ContextDiagnostic>,
}

impl TaskWorkspace {
    /// Finds files by words in their paths and their content.
    ///
    /// # Errors
    /// [`Error::Pattern`] for a query without a word or with more than 32; [`Error::OutOfRange`] for a limit of 0; and as
    /// [`list`](Self::list).
    pub fn search(&self, request: &SearchRequest) -> Result<SearchPage, Error> {
        check_limit(request.limit)?;
        let words = Words::of(&request.query)?;
        let walked = self.find_files(&request.files)?;
        let looked = on_threads(&walked.files, Vec::new, |buffer, file| {
            self.look_for(&words, request.max_file_bytes, buffer, file)
        });
        let (mut hits, mut skipped) = (Vec::new(), Skipped::default());
        for (file, (hit, why)) in walked.files.iter().zip(looked) {
            hits.extend(hit);
            if let Some(why) = why {
                skipped.note(why, file.name.shown());
            }
        }
        // Files come in the order of their paths, and the sort keeps it.
        hits.sort_by_key(|hit: &SearchHit| (Reverse(hit.words_in_path), Reverse(hit.lines)));
        let total = hits.len();
        hits.truncate(request.limit);
        let mut diagnostics = walked.diagnostics;
        diagnostics.extend(skipped.report());
        Ok(SearchPage { hits, total, diagnostics })
    }

    fn look_for(
        &self,
        words: &Words,
        max_bytes: u64,
        buffer: &mut Vec<u8>,
        file: &FoundFile,
    ) -> (Option<SearchHit>, Option<Why>) {
        let in_path = words.of_text(file.name.shown().as_bytes());
        let mut hit = SearchHit {
            path: file.name.shown().to_string(),
            words_in_path: in_path.len(),
            lines: 0,
            best_line: None,
        };
        let (text, why) = match text_of(self, file, max_bytes, buffer) {
            Ok(Searched::Text(text)) => (Some(text), None),
            Ok(Searched::Binary) => (None, Some(Why::Binary)),
            Ok(Searched::TooLarge) => (None, Some(Why::TooLarge)),
            Err(error) => (None, Some(Why::from(&error))),
        };
        let mut found = in_path;
        let mut best = 0;
        for (number, line) in (1..).zip(text.iter().flat_map(|text| text.split(|byte| *byte == b'\n'))) {
            let here = words.of_text(line);
            if here.is_empty() {
                continue;
            }
            hit.lines += 1;
            if here.len() > best {
                best = here.len();
                let line = String::from_utf8_lossy(line);
                hit.best_line = Some((number, line.trim_end().chars().take(MAX_LINE_CHARS).collect()));
            }
            found.extend(here);
        }
        ((found.len() == words.count()).then_some(hit), why)
    }
}

/// The words of a query.
struct Words {
    each: Vec<RegexMatcher>,
    any: RegexMatcher,
}

impl Words {
    fn of(query: &str) -> Result<Self, Error> {
        let refused = |reason: String| Error::Pattern { pattern: query.to_owned(), reason };
        let mut words: Vec<_> = query.split_whitespace().collect();
        words.sort_unstable();
        words.dedup();
        if words.is_empty() || words.len() > MAX_WORDS {
            return Err(refused(format!("it has {} words; 1 to {MAX_WORDS} are accepted", words.len())));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(true).fixed_strings(true);
        let each = words.iter().map(|word| builder.build(word)).collect::<Result<_, _>>();
        let any = builder.build_many(&words);
        let failed = |error: grep_regex::Error| refused(error.to_string());
        Ok(Self { each: each.map_err(failed)?, any: any.map_err(failed)? })
    }

    fn count(&self) -> usize {
        self.each.len()
    }

    /// Which of the words are in a text.
    fn of_text(&self, text: &[u8]) -> BTreeSet<usize> {
        // The engine's errors are uninhabited.
        if !self.any.is_match(text).unwrap_or(false) {
            return BTreeSet::new();
        }
        let holds = |word: &RegexMatcher| word.is_match(text).unwrap_or(false);
        (0..).zip(&self.each).filter(|(_, word)| holds(word)).map(|(at, _)| at).collect()
    }
}
