//! How candidates are ordered.

use std::fmt;
use std::str::FromStr;

/// How the index orders the candidates of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum IndexStrategy {
    /// As the source lists them.
    Structural,
    /// By how well their words answer the query (BM25).
    #[default]
    Lexical,
}

impl IndexStrategy {
    /// The word that coverage and diagnostics use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Structural => "structural",
            Self::Lexical => "lexical",
        }
    }
}

impl fmt::Display for IndexStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for IndexStrategy {
    type Err = briefing_core::Error;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "structural" => Ok(Self::Structural),
            "lexical" => Ok(Self::Lexical),
            other => Err(briefing_core::Error::invalid(
                "index.strategy",
                format!("{other:?}"),
                "structural or lexical",
            )),
        }
    }
}

/// The settings of a context's index.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct IndexConfig {
    /// How candidates are ordered.
    pub strategy: IndexStrategy,
}

impl IndexConfig {
    /// As the sources list them.
    #[must_use]
    pub fn structural() -> Self {
        Self { strategy: IndexStrategy::Structural }
    }

    /// By how well their words answer the query. This is the default.
    #[must_use]
    pub fn lexical() -> Self {
        Self { strategy: IndexStrategy::Lexical }
    }
}

impl From<IndexStrategy> for IndexConfig {
    fn from(strategy: IndexStrategy) -> Self {
        Self { strategy }
    }
}
