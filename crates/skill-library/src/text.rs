//! Windows of a text, exact in chars.

use briefing_formats::Decoded;

use crate::Error;

/// Which part of a text to read, in chars.
///
/// ```
/// use briefing_skill_library::TextWindow;
/// let window = TextWindow::chars(100, 50);
/// assert_eq!((window.start_char, window.max_chars), (100, 50));
/// assert_eq!(TextWindow::default(), TextWindow::whole());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextWindow {
    /// Where it begins, in chars from the start of the text.
    pub start_char: usize,
    /// The most chars to return, at least 1.
    pub max_chars: usize,
}

impl TextWindow {
    /// The whole text.
    #[must_use]
    pub fn whole() -> Self {
        Self { start_char: 0, max_chars: usize::MAX }
    }

    /// At most `max_chars` chars from `start_char` on.
    #[must_use]
    pub fn chars(start_char: usize, max_chars: usize) -> Self {
        Self { start_char, max_chars }
    }
}

impl Default for TextWindow {
    fn default() -> Self {
        Self::whole()
    }
}

/// A window of the text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillText {
    /// The chars of the window.
    pub text: String,
    /// Where it begins, in chars.
    pub start_char: usize,
    /// Where the rest begins, in chars; `None` at the end of the text.
    pub next_char: Option<usize>,
    /// How many chars the whole text has.
    pub total_chars: usize,
    /// The encoding that the bytes are in.
    pub encoding: &'static str,
    /// Whether the encoding was guessed and not stated or proven.
    pub guessed: bool,
}

impl SkillText {
    pub(crate) fn of(decoded: &Decoded, window: TextWindow) -> Result<Self, Error> {
        if window.max_chars == 0 {
            return Err(Error::EmptyWindow);
        }
        let total_chars = decoded.text.chars().count();
        let text: String = decoded.text.chars().skip(window.start_char).take(window.max_chars).collect();
        let end = window.start_char.saturating_add(window.max_chars);
        Ok(Self {
            text,
            start_char: window.start_char,
            next_char: (end < total_chars).then_some(end),
            total_chars,
            encoding: decoded.encoding,
            guessed: decoded.guessed,
        })
    }
}
