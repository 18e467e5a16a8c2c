//! What a package may cost.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::role::words;

words! {
    /// The form in which a package is rendered for its consumer.
    RenderFormat, "format" {
        /// Headings and fenced blocks.
        Markdown = "markdown",
        /// Elements and attributes.
        Xml = "xml",
        /// One JSON document.
        Json = "json",
        /// Delimiter lines.
        Plain = "plain",
    }
}

/// A limit in exact tokens of the rendered package, wrappers included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenBudget {
    max_tokens: usize,
    #[serde(default = "default_encoding")]
    encoding: String,
    #[serde(default = "default_format")]
    format: RenderFormat,
}

fn default_encoding() -> String {
    "o200k_base".to_owned()
}

fn default_format() -> RenderFormat {
    RenderFormat::Markdown
}

impl TokenBudget {
    /// The limit in tokens.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The encoding that counts, by name (`o200k_base`, `cl100k_base`).
    #[must_use]
    pub fn encoding(&self) -> &str {
        &self.encoding
    }

    /// The format whose text is counted.
    #[must_use]
    pub fn format(&self) -> RenderFormat {
        self.format
    }
}

/// What a package may cost: content chars, blocks, chars in one block, and optionally exact tokens.
///
/// All limits hold at once. The defaults are 12,000 chars, 64 blocks and 6,000 chars a block.
///
/// ```
/// use briefing_core::{ContextBudget, RenderFormat};
/// let budget = ContextBudget::tokens(4_000).rendered_as(RenderFormat::Xml);
/// assert_eq!(budget.token_budget().unwrap().encoding(), "o200k_base");
/// assert_eq!(ContextBudget::default().blocks(0).validate().unwrap_err().code(), "value.invalid");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct ContextBudget {
    max_chars: usize,
    max_blocks: usize,
    max_block_chars: usize,
    max_tokens: Option<TokenBudget>,
}

/// Stands for "no limit of its own" where a token budget alone should decide.
const UNBOUNDED_CHARS: usize = u32::MAX as usize;

impl Default for ContextBudget {
    fn default() -> Self {
        Self { max_chars: 12_000, max_blocks: 64, max_block_chars: 6_000, max_tokens: None }
    }
}

impl ContextBudget {
    /// At most `max_chars` chars of content.
    #[must_use]
    pub fn chars(max_chars: usize) -> Self {
        Self { max_chars, ..Self::default() }
    }

    /// At most `max_tokens` tokens of `o200k_base` in the rendered package (Markdown unless
    /// [`rendered_as`](Self::rendered_as) says otherwise); chars are not limited beside that.
    #[must_use]
    pub fn tokens(max_tokens: usize) -> Self {
        Self::chars(UNBOUNDED_CHARS).limit_tokens(max_tokens)
    }

    /// Adds a token limit to the limits that are there.
    #[must_use]
    pub fn limit_tokens(mut self, max_tokens: usize) -> Self {
        let format = self.max_tokens.as_ref().map_or(RenderFormat::Markdown, TokenBudget::format);
        let encoding = self.max_tokens.map_or_else(default_encoding, |limit| limit.encoding);
        self.max_tokens = Some(TokenBudget { max_tokens, encoding, format });
        self
    }

    /// At most `max_blocks` blocks.
    #[must_use]
    pub fn blocks(mut self, max_blocks: usize) -> Self {
        self.max_blocks = max_blocks;
        self
    }

    /// At most `max_block_chars` chars in one block.
    #[must_use]
    pub fn block_chars(mut self, max_block_chars: usize) -> Self {
        self.max_block_chars = max_block_chars;
        self
    }

    /// Counts tokens with another encoding. Without a token limit this changes nothing.
    #[must_use]
    pub fn encoding(mut self, encoding: impl Into<String>) -> Self {
        if let Some(limit) = &mut self.max_tokens {
            limit.encoding = encoding.into();
        }
        self
    }

    /// Counts tokens of another format. Without a token limit this changes nothing.
    #[must_use]
    pub fn rendered_as(mut self, format: RenderFormat) -> Self {
        if let Some(limit) = &mut self.max_tokens {
            limit.format = format;
        }
        self
    }

    /// The limit on content chars.
    #[must_use]
    pub fn max_chars(&self) -> usize {
        self.max_chars
    }

    /// The limit on blocks.
    #[must_use]
    pub fn max_blocks(&self) -> usize {
        self.max_blocks
    }

    /// The limit on chars in one block.
    #[must_use]
    pub fn max_block_chars(&self) -> usize {
        self.max_block_chars
    }

    /// The limit on tokens, if there is one.
    #[must_use]
    pub fn token_budget(&self) -> Option<&TokenBudget> {
        self.max_tokens.as_ref()
    }

    /// Checks that every limit is positive.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the limit that is zero.
    pub fn validate(&self) -> Result<(), Error> {
        let tokens = self.max_tokens.as_ref().map_or(1, |limit| limit.max_tokens);
        for (field, value) in [
            ("budget.max_chars", self.max_chars),
            ("budget.max_blocks", self.max_blocks),
            ("budget.max_block_chars", self.max_block_chars),
            ("budget.max_tokens.max_tokens", tokens),
        ] {
            if value == 0 {
                return Err(Error::invalid(field, 0, "a positive whole number"));
            }
        }
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wire {
    max_chars: usize,
    max_blocks: usize,
    max_block_chars: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<TokenBudget>,
}

impl Default for Wire {
    fn default() -> Self {
        ContextBudget::default().into()
    }
}

impl From<ContextBudget> for Wire {
    fn from(budget: ContextBudget) -> Self {
        let ContextBudget { max_chars, max_blocks, max_block_chars, max_tokens } = budget;
        Self { max_chars, max_blocks, max_block_chars, max_tokens }
    }
}

impl TryFrom<Wire> for ContextBudget {
    type Error = Error;
    fn try_from(wire: Wire) -> Result<Self, Error> {
        let Wire { max_chars, max_blocks, max_block_chars, max_tokens } = wire;
        let budget = Self { max_chars, max_blocks, max_block_chars, max_tokens };
        budget.validate()?;
        Ok(budget)
    }
}
