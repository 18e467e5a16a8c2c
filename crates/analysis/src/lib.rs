//! The analysis of text for the lexical index: which terms a text is found by.
//!
//! It finds identifiers whole and in parts, words of every script whatever their case, width and accents, and Chinese,
//! Japanese and Korean words inside a run of text without a dictionary.
//!
//! - **Words** are runs of letters, digits, marks and `_`. A word gives its folded whole with `_` left out and, if it has
//!   any, its parts: `parse_http_request`, `parseHTTPRequest` and `ParseHttpRequest` all give `parsehttprequest`, `parse`,
//!   `http`, `request`. A hyphen or apostrophe between two words joins them in the same way, so `parse-http-request` gives
//!   these terms too; a dot joins digits only, and is kept (`2.4.1`). Parts of one letter are left out, and so are all
//!   parts of what looks like a hash or base64.
//! - **Han and kana** give each character and each bigram. **Hangul** and the scripts that set no space between words
//!   (Thai, Lao, Khmer, Myanmar) give the word and its bigrams.
//! - **Names like `C++` and `C#`** give that and the letters; other signs give nothing.
//! - A term holds at most 256 bytes: of a longer word the beginning is indexed.
//!
//! The same analysis makes the terms of a text and of a query. The terms of a text are the terms of its words one after
//! another, so whatever stands between spaces in a text finds that text.
//!
//! ```
//! use briefing_analysis::{Analyzer, TermKind};
//!
//! let terms = Analyzer::default().terms("parseHTTPRequest");
//! let words: Vec<&str> = terms.iter().map(|term| term.text.as_str()).collect();
//! assert_eq!(words, ["parsehttprequest", "parse", "http", "request"]);
//! assert_eq!(terms[0].kind, TermKind::Whole);
//! assert_eq!(briefing_analysis::fold("Na\u{ef}ve"), "naive");
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tantivy_tokenizer_api::{TokenStream, Tokenizer};

mod class;
mod fold;
mod parts;
mod runs;
mod stream;
#[cfg(test)]
mod tests;

pub use self::fold::fold;
pub use self::stream::Terms;

/// What a term is of the word it comes from. The order is that of weight: the earlier says more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TermKind {
    /// A whole word, identifier or compound, in its joined form.
    #[default]
    Whole,
    /// A part of an identifier or compound.
    Part,
    /// Two neighbouring characters of a run of Han or kana, or of a word that is indexed by bigrams.
    CjkBigram,
    /// One character of a run of Han or kana, or the first one of a short word that is indexed by bigrams.
    CjkChar,
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerm {
    /// The folded term, as it stands in the index.
    pub text: String,
    /// What it is of its source word.
    pub kind: TermKind,
    /// The number of the source word, from 0; terms of one word share it. A run of Han or kana is one word.
    pub group: usize,
}

/// The analyser of both texts and queries.
///
/// It keeps its buffers, so one of them analyses many texts without allocating.
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    scratch: stream::Scratch,
}

impl Analyzer {
    /// Gives every term of a text in the order of the text, as often as it occurs.
    pub fn each_term(&mut self, text: &str, mut each: impl FnMut(&str, TermKind)) {
        let mut stream = Terms::new(text, &mut self.scratch);
        while stream.advance() {
            each(&stream.token().text, stream.kind());
        }
    }

    /// The terms of a query, each once, in the order of the text. A term that comes several times is given where it came
    /// first, with the kind and the group of its weightiest occurrence.
    #[must_use]
    pub fn terms(&self, text: &str) -> Vec<QueryTerm> {
        let mut scratch = stream::Scratch::default();
        let mut stream = Terms::new(text, &mut scratch);
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        while stream.advance() {
            let (kind, group) = (stream.kind(), stream.group());
            match known.entry(stream.token().text.clone()) {
                Entry::Vacant(vacant) => {
                    terms.push(QueryTerm { text: vacant.key().clone(), kind, group });
                    vacant.insert(terms.len() - 1);
                }
                Entry::Occupied(occupied) => {
                    if let Some(term) = terms.get_mut(*occupied.get()).filter(|term| kind < term.kind) {
                        (term.kind, term.group) = (kind, group);
                    }
                }
            }
        }
        terms
    }
}

impl Tokenizer for Analyzer {
    type TokenStream<'a> = Terms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms<'a> {
        Terms::new(text, &mut self.scratch)
    }
}
