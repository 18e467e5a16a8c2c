//! The names of skills and of their revisions.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use briefing_core::Digest;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The longest name, in chars (Agent Skills specification, field `name`).
const MAX_NAME_CHARS: usize = 64;

/// The name of a skill: 1 to 64 of `a`-`z`, `0`-`9` and `-`, no `-` at either end and none doubled.
///
/// ```
/// use briefing_skill_library::SkillName;
/// assert!(SkillName::new("pdf-processing").is_ok());
/// for wrong in ["", "PDF", "-pdf", "pdf-", "pdf--forms", "pdf_forms", "../pdf"] {
///     assert_eq!(SkillName::new(wrong).unwrap_err().code(), "skill.field");
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(Arc<str>);

impl SkillName {
    /// Takes a name.
    ///
    /// # Errors
    /// [`Error::Field`] where it breaks the convention.
    pub fn new(name: &str) -> Result<Self, Error> {
        let listed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let holds = !name.is_empty()
            && name.len() <= MAX_NAME_CHARS
            && name.bytes().all(listed)
            && !name.starts_with('-')
            && !name.ends_with('-')
            && !name.contains("--");
        let expected = "1 to 64 chars of a-z, 0-9 and -, with no - at either end and none doubled";
        if holds { Ok(Self(name.into())) } else { Err(Error::field("name", name, expected)) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SkillName {
    type Error = Error;
    fn try_from(name: String) -> Result<Self, Error> {
        Self::new(&name)
    }
}

impl From<SkillName> for String {
    fn from(name: SkillName) -> Self {
        name.0.to_string()
    }
}

/// Names one revision of a skill by its content, written `skill:<name>@blake3:<64 hex digits>`. Equal refs name equal bytes,
/// in every library.
///
/// ```
/// use briefing_skill_library::SkillRevisionRef;
/// let text = format!("skill:pdf-processing@blake3:{}", "0f".repeat(32));
/// let revision: SkillRevisionRef = text.parse()?;
/// assert_eq!((revision.name().as_str(), revision.to_string()), ("pdf-processing", text));
/// # Ok::<(), briefing_skill_library::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillRevisionRef {
    name: SkillName,
    digest: Digest,
}

impl SkillRevisionRef {
    /// The revision of a skill whose files have this digest; the library alone makes new ones.
    pub(crate) fn new(name: SkillName, digest: Digest) -> Self {
        Self { name, digest }
    }

    /// The skill.
    #[must_use]
    pub fn name(&self) -> &SkillName {
        &self.name
    }

    /// The digest of its files: of each path, length and digest of bytes, in the order of the paths.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl fmt::Display for SkillRevisionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skill:{}@{}", self.name, self.digest)
    }
}

impl FromStr for SkillRevisionRef {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let expected = "skill:<name>@blake3:<64 hex digits>";
        let parts = text.strip_prefix("skill:").and_then(|rest| rest.split_once('@'));
        let (name, digest) = parts.ok_or_else(|| Error::field("revision_ref", text, expected))?;
        let digest = digest.parse().map_err(|_| Error::field("revision_ref", text, expected))?;
        Ok(Self { name: SkillName::new(name)?, digest })
    }
}

impl TryFrom<String> for SkillRevisionRef {
    type Error = Error;
    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<SkillRevisionRef> for String {
    fn from(revision: SkillRevisionRef) -> Self {
        revision.to_string()
    }
}
