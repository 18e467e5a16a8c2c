//! The encodings by name.

use std::fmt;
use std::str::FromStr;

/// A byte-pair encoding that OpenAI publishes.
///
/// ```
/// use briefing_tokens::Encoding;
/// assert_eq!("cl100k_base".parse(), Ok(Encoding::Cl100kBase));
/// assert_eq!(Encoding::O200kBase.to_string(), "o200k_base");
/// assert_eq!(
///     "gpt2".parse::<Encoding>().unwrap_err().to_string(),
///     "encoding: found \"gpt2\", expected o200k_base or cl100k_base"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Encoding {
    /// `o200k_base`, about 200,000 tokens: GPT-4o and later.
    O200kBase,
    /// `cl100k_base`, about 100,000 tokens: GPT-3.5 and GPT-4.
    Cl100kBase,
}

impl Encoding {
    /// Every encoding there is.
    pub const ALL: [Self; 2] = [Self::O200kBase, Self::Cl100kBase];

    /// The name that tiktoken gives it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    /// Reads the exact name.
    ///
    /// # Errors
    /// [`UnknownEncoding`] for every other text.
    fn from_str(name: &str) -> Result<Self, UnknownEncoding> {
        let found = Self::ALL.into_iter().find(|encoding| encoding.name() == name);
        found.ok_or_else(|| UnknownEncoding { found: name.to_owned() })
    }
}

/// A name that is no [`Encoding`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("encoding: found {found:?}, expected o200k_base or cl100k_base")]
pub struct UnknownEncoding {
    found: String,
}

impl UnknownEncoding {
    /// The name that was found.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }

    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "encoding.unknown"
    }
}
