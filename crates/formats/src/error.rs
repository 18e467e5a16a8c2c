//! What can go wrong between bytes and text.

/// Why some bytes could not be turned into text, or some text into bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No encoding gives all characters without a loss.
    #[error("cannot be decoded: {reason}")]
    Undecodable {
        /// What stands in the way, with the byte offset where one is known.
        reason: String,
    },
    /// A character that an encoding has no place for.
    #[error("{character:?} (at byte {text_byte} of the text) cannot be written in {encoding}")]
    Unencodable {
        /// The encoding's name.
        encoding: String,
        /// The character.
        character: char,
        /// Where it begins in the text, in bytes of UTF-8.
        text_byte: usize,
    },
    /// A byte order mark was asked for in an encoding that has none.
    #[error("{encoding} has no byte order mark")]
    NoMark {
        /// The encoding's name.
        encoding: String,
    },
    /// A name that [`decode`](crate::decode) gives to no encoding.
    #[error("{encoding:?} is no encoding that text is written in")]
    UnknownEncoding {
        /// The name.
        encoding: String,
    },
    /// A place in a text that its bytes cannot be parted at.
    #[error("the bytes of a text in {encoding} cannot be parted at byte {text_byte} of the text")]
    NoBoundary {
        /// The encoding's name.
        encoding: String,
        /// The place, in bytes of UTF-8.
        text_byte: usize,
    },
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Undecodable { .. } => "formats.undecodable",
            Self::Unencodable { .. } => "formats.unencodable",
            Self::NoMark { .. } => "formats.no_mark",
            Self::UnknownEncoding { .. } => "formats.unknown_encoding",
            Self::NoBoundary { .. } => "formats.no_boundary",
        }
    }
}
