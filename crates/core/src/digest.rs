//! Content digests (BLAKE3) and fingerprints of structured values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A BLAKE3-256 digest of some bytes, written `blake3:<64 hex digits>`.
///
/// ```
/// use briefing_core::Digest;
/// let digest = Digest::of(b"hello");
/// assert_eq!(digest.to_string().parse::<Digest>()?, digest);
/// # Ok::<(), briefing_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The 32 bytes, as stores keep them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A digest again from its 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first 12 hex digits: enough to tell versions apart in a citation, not an identity.
    #[must_use]
    pub fn short(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().chars().take(12).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blake3:{}", blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.strip_prefix("blake3:")
            .and_then(|hex| blake3::Hash::from_hex(hex).ok())
            .map(|hash| Self(*hash.as_bytes()))
            .ok_or_else(|| Error::invalid("digest", format!("{text:?}"), "blake3: and 64 hex digits"))
    }
}

impl TryFrom<String> for Digest {
    type Error = Error;
    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

/// Builds the digest of bytes that come piece by piece.
///
/// ```
/// use briefing_core::{Digest, Digester};
/// let mut digester = Digester::new();
/// digester.update(b"hel").update(b"lo");
/// assert_eq!(digester.finish(), Digest::of(b"hello"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Digester(blake3::Hasher);

impl Digester {
    /// Starts with nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(bytes);
        self
    }

    /// The digest of everything that was added.
    #[must_use]
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

/// Builds the digest of a structured value from a canonical encoding: every part is preceded by its length, so that no
/// two different sequences of parts encode alike.
#[derive(Debug, Default)]
pub struct Fingerprint(blake3::Hasher);

impl Fingerprint {
    /// Starts a fingerprint; `domain` keeps values of different types apart.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        let mut this = Self::default();
        this.text(domain);
        this
    }

    /// Adds some bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
        self
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    /// Adds a value by its JSON text. Maps are ordered by key, so equal values encode alike.
    pub fn json(&mut self, value: &impl Serialize) -> &mut Self {
        match serde_json::to_value(value) {
            Ok(value) => self.text(&value.to_string()),
            // Only a map with keys that are not text, or a failing `Serialize`, comes here; none of our values does.
            Err(error) => self.text(&format!("unserialisable: {error}")),
        }
    }

    /// The digest of all parts.
    #[must_use]
    pub fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}
