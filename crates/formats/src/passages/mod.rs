//! The passages of a text: pieces of a readable size that end where the text itself pauses.
//!
//! Three steps. [`survey`](survey::survey) cuts the text into lines and scores how well each may begin a passage.
//! [`plan`](plan::plan) chooses borders: sections where the text pauses of itself, small neighbours merged, large ones
//! split where the score is best. [`titles`] names each piece.

mod code;
mod flavor;
mod markup;
mod plan;
mod survey;
mod titles;

use std::ops::Range;

use briefing_core::LineRange;

use self::flavor::Flavor;

/// How large passages are, in chars.
///
/// The defaults, 400 to 1,600 chars, are about 100 to 400 tokens of English prose: small enough to be about one thing,
/// large enough to be understood alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassageLimits {
    /// Neighbours are merged until a passage has this many chars. A passage stays smaller only where its neighbours are
    /// too large to take it in.
    pub min_chars: usize,
    /// No passage has more chars than this. Zero counts as one.
    pub max_chars: usize,
}

impl Default for PassageLimits {
    fn default() -> Self {
        Self { min_chars: 400, max_chars: 1_600 }
    }
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// The lines that it touches. Two neighbours share a line where that line is longer than a passage may be.
    pub lines: LineRange,
    /// Its place in the text, in UTF-8 bytes; always on char borders.
    pub bytes: Range<usize>,
    /// How many chars it has.
    pub chars: usize,
    /// The trail of headings for prose with markup (`Guide > Install`), the first line of the item for code, else empty;
    /// at most 100 chars.
    pub title: String,
}

/// Cuts `text` into passages: in order, without gaps or overlap, on line borders (inside a line only where that line
/// alone is too long). `path_or_name` tells by its suffix whether to look for headings, items of code or paragraphs.
///
/// Lines end with `\n`. An empty text has no passages; a text of at most [`PassageLimits::max_chars`] is one. Takes time
/// linear in the text, whatever it holds.
///
/// ```
/// use briefing_formats::{PassageLimits, passages};
/// let text = "# Pump\nWeekly checks.\n\n# Seal\nReplace it.\n";
/// let found = passages("manual.md", text, PassageLimits { min_chars: 10, max_chars: 30 });
/// let titles: Vec<_> = found.iter().map(|passage| passage.title.as_str()).collect();
/// assert_eq!(titles, ["Pump", "Seal"]);
/// assert_eq!(&text[found[1].bytes.clone()], "# Seal\nReplace it.\n");
/// ```
#[must_use]
pub fn passages(path_or_name: &str, text: &str, limits: PassageLimits) -> Vec<Passage> {
    let limits = PassageLimits {
        max_chars: limits.max_chars.max(1),
        min_chars: limits.min_chars.min(limits.max_chars),
    };
    let flavor = Flavor::of(path_or_name);
    let survey = survey::survey(text, flavor, limits.max_chars);
    let cuts = plan::plan(&survey.units, limits);
    titles::name(text, flavor, &survey, &cuts)
}
