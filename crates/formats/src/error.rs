//! What can go wrong when bytes are read as text.

/// Why some bytes could not be turned into text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No encoding gives all characters without a loss.
    #[error("cannot be decoded: {reason}")]
    Undecodable {
        /// What stands in the way, with the byte offset where one is known.
        reason: String,
    },
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Undecodable { .. } => "formats.undecodable",
        }
    }
}
