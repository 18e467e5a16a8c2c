//! Globs over paths, char by char.
//!
//! `globset` parses them. Its own matcher goes byte by byte: `?` and `[水泵]` match no character beyond ASCII there, and
//! case is only ignored in ASCII. So the regular expression that it makes is read with Unicode on.

use globset::GlobBuilder;
use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::error::Error;

/// The largest compiled glob, in bytes.
const MAX_BYTES: usize = 10 << 20;

/// A glob whose `*` and `?` stay within a segment, and whose `**` spans segments. A `\` takes the char after it literally,
/// on every platform.
#[derive(Debug, Clone)]
pub(crate) struct PathGlob {
    glob: String,
    matcher: RegexMatcher,
}

impl PathGlob {
    /// # Errors
    /// [`Error::Glob`] for a glob that cannot be parsed, or can match no path: an absolute one, or one with an empty
    /// segment, `.` or `..`.
    pub(crate) fn new(glob: &str, any_case: bool) -> Result<Self, Error> {
        let refused = |reason: String| Error::Glob { glob: glob.to_owned(), reason };
        let leads_nowhere = |segment: &str| matches!(segment, "" | "." | "..");
        if glob.split('/').any(leads_nowhere) {
            return Err(refused("an empty segment, . and .. are in no path of the workspace".to_owned()));
        }
        let parsed = GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .case_insensitive(any_case)
            .build()
            .map_err(|error| refused(error.kind().to_string()))?;
        let matcher = RegexMatcherBuilder::new()
            .dot_matches_new_line(true)
            .size_limit(MAX_BYTES)
            .dfa_size_limit(MAX_BYTES)
            .build(&in_chars(parsed.regex()))
            .map_err(|error| refused(error.to_string()))?;
        Ok(Self { glob: glob.to_owned(), matcher })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.glob
    }

    pub(crate) fn is_match(&self, path: &str) -> bool {
        // The engine's errors are uninhabited.
        self.matcher.is_match(path.as_bytes()).unwrap_or(false)
    }
}

/// A regular expression over bytes, in which chars beyond ASCII are written `\xNN` byte by byte, as one over chars.
fn in_chars(regex: &str) -> String {
    let regex = regex.strip_prefix("(?-u)").unwrap_or(regex);
    let mut bytes = Vec::with_capacity(regex.len());
    let mut rest = regex.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = match (first, tail) {
            (b'\\', [b'x', high, low, tail @ ..]) => {
                let digit =
                    |digit: u8| char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
                match (digit(*high), digit(*low)) {
                    (Some(high), Some(low)) => bytes.push(high << 4 | low),
                    _ => bytes.extend_from_slice(&[b'\\', b'x', *high, *low]),
                }
                tail
            }
            (b'\\', [escaped, tail @ ..]) => {
                bytes.extend_from_slice(&[b'\\', *escaped]);
                tail
            }
            (byte, tail) => {
                bytes.push(*byte);
                tail
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
