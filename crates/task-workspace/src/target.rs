//! What is at a path, as far as a write cares.

use std::fmt;

use briefing_core::Digest;
use serde::{Deserialize, Serialize};

/// The state of a write's target: what a caller expects there, and what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetState {
    /// Nothing is there.
    Absent,
    /// A file with these bytes is there.
    Present(Digest),
}

impl TargetState {
    /// The digest of what is there.
    #[must_use]
    pub fn digest(self) -> Option<Digest> {
        match self {
            Self::Absent => None,
            Self::Present(digest) => Some(digest),
        }
    }
}

impl From<Digest> for TargetState {
    fn from(digest: Digest) -> Self {
        Self::Present(digest)
    }
}

impl From<Option<Digest>> for TargetState {
    fn from(digest: Option<Digest>) -> Self {
        digest.map_or(Self::Absent, Self::Present)
    }
}

impl fmt::Display for TargetState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("absent"),
            Self::Present(digest) => digest.fmt(f),
        }
    }
}
