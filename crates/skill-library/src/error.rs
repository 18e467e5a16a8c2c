//! What can go wrong with a skill, its revisions and the folder that keeps them.

use std::io;
use std::path::PathBuf;

use briefing_core::{Digest, SourceError, SourceErrorKind};

use crate::{SkillRevisionRef, Step};

/// Why a skill was refused, or could not be kept or read. Each variant names the place and what would be accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder or a list of files that is no skill, for it holds no `SKILL.md`.
    #[error("{place}: no SKILL.md; a skill is a folder with a file of exactly that name")]
    NoSkillFile {
        /// The folder, or `the files` where they came from memory.
        place: String,
    },
    /// A `SKILL.md` whose front matter cannot be read.
    #[error("SKILL.md{}: {reason}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    FrontMatter {
        /// The line of `SKILL.md`, counted from 1, where the parser knows it.
        line: Option<u64>,
        /// What is wrong, and what is accepted.
        reason: String,
    },
    /// A field that breaks the rules of the Agent Skills convention.
    #[error("{field}: found {found}, expected {expected}")]
    Field {
        /// The field, for instance `description`.
        field: &'static str,
        /// What was found, shortened where it is long.
        found: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// The skill's name is not the name of its folder.
    #[error("the skill is named {name:?} but its folder {folder:?}; the two must be equal")]
    NameMismatch {
        /// The name in the front matter.
        name: String,
        /// The name of the folder.
        folder: String,
    },
    /// A path that no revision may hold.
    #[error("{path:?}: {reason}")]
    Path {
        /// The path, within the skill.
        path: String,
        /// What is wrong, and what is accepted.
        reason: &'static str,
    },
    /// Two paths that are one on a file system that ignores case, or of which one is a folder of the other.
    #[error("{path:?} and {other:?} cannot both be kept: {reason}")]
    Collision {
        /// The one path.
        path: String,
        /// The other.
        other: String,
        /// Why.
        reason: &'static str,
    },
    /// Something that is neither a file nor a folder.
    #[error("{path:?} is {kind}; a skill holds plain files and folders only")]
    NotAFile {
        /// The path, within the skill.
        path: String,
        /// What it is: `a symbolic link`, `a device, pipe or socket`.
        kind: &'static str,
    },
    /// More than a limit allows.
    #[error("{what} {found}, more than the limit of {limit}")]
    Limit {
        /// What is too large, with its unit.
        what: String,
        /// How much was found, at least.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The library does not hold the revision.
    #[error("{revision_ref} is not installed")]
    NotInstalled {
        /// The revision.
        revision_ref: SkillRevisionRef,
    },
    /// The revision holds no such file.
    #[error("{revision_ref} holds no file {path:?}")]
    NoSuchFile {
        /// The revision.
        revision_ref: SkillRevisionRef,
        /// The path.
        path: String,
    },
    /// A file of an installed revision no longer has the bytes that were installed.
    #[error("{revision_ref}: {path:?} was changed after it was installed: {reason}")]
    Tampered {
        /// The revision.
        revision_ref: SkillRevisionRef,
        /// The file.
        path: String,
        /// What differs.
        reason: String,
    },
    /// What the library keeps about an installed revision cannot be trusted.
    #[error("{revision_ref}: {file} cannot be used: {reason}; install the same bytes again to repair it")]
    Damaged {
        /// The revision.
        revision_ref: SkillRevisionRef,
        /// The file.
        file: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A revision that nobody vouched for.
    #[error(
        "{revision_ref} is not trusted; install it again as trusted, or set its trust, before it is bound"
    )]
    Untrusted {
        /// The revision.
        revision_ref: SkillRevisionRef,
    },
    /// A revision that one source was asked to bind twice.
    #[error("{revision_ref} is bound twice")]
    BoundTwice {
        /// The revision.
        revision_ref: SkillRevisionRef,
    },
    /// A file that was asked for as text and is none.
    #[error("{path:?} cannot be read as text: {reason}")]
    NotText {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A window of no chars.
    #[error("a window of 0 chars never comes to an end; ask for at least 1")]
    EmptyWindow,
    /// A limit that is too small for a digest that still names everything.
    #[error("a digest of at most {limit_chars} chars; its refs alone need {needed_chars}")]
    DigestLimit {
        /// The limit that was asked for.
        limit_chars: usize,
        /// The least that a digest of this text needs.
        needed_chars: usize,
    },
    /// JSON that does not describe a source.
    #[error("the configuration of a skill source: {source}")]
    Configuration {
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A value that breaks the rules of its type.
    #[error(transparent)]
    Value(#[from] briefing_core::Error),
    /// The system refused a step of a change. What was there before is still there.
    #[error("{step} in {}: {source}", path.display())]
    Change {
        /// The step.
        step: Step,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to read.
    #[error("reading {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSkillFile { .. } => "skill.no_skill_file",
            Self::FrontMatter { .. } => "skill.front_matter",
            Self::Field { .. } => "skill.field",
            Self::NameMismatch { .. } => "skill.name_mismatch",
            Self::Path { .. } => "skill.path",
            Self::Collision { .. } => "skill.collision",
            Self::NotAFile { .. } => "skill.not_a_file",
            Self::Limit { .. } => "skill.limit",
            Self::NotInstalled { .. } => "skill.not_installed",
            Self::NoSuchFile { .. } => "skill.no_such_file",
            Self::Tampered { .. } => "skill.tampered",
            Self::Damaged { .. } => "skill.damaged",
            Self::Untrusted { .. } => "skill.untrusted",
            Self::BoundTwice { .. } => "skill.bound_twice",
            Self::NotText { .. } => "skill.not_text",
            Self::EmptyWindow => "skill.empty_window",
            Self::DigestLimit { .. } => "skill.digest_limit",
            Self::Configuration { .. } => "skill.configuration",
            Self::Value(error) => error.code(),
            Self::Change { .. } => "skill.change",
            Self::Unreadable { .. } => "skill.unreadable",
        }
    }

    /// A [`Error::Field`], with `found` shortened to 80 chars.
    pub(crate) fn field(field: &'static str, found: &str, expected: &'static str) -> Self {
        let mut shown = format!("{found:?}");
        if let Some((end, _)) = shown.char_indices().nth(80) {
            shown.truncate(end);
            shown.push('…');
        }
        Self::Field { field, found: shown, expected }
    }

    pub(crate) fn front_matter(line: impl Into<Option<u64>>, reason: impl Into<String>) -> Self {
        Self::FrontMatter { line: line.into(), reason: reason.into() }
    }

    pub(crate) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Unreadable { path, source }
    }
}

impl From<Error> for SourceError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotInstalled { .. } | Error::NoSuchFile { .. } => SourceErrorKind::NotFound,
            Error::Tampered { .. } | Error::Damaged { .. } => SourceErrorKind::Changed,
            Error::Untrusted { .. } => SourceErrorKind::Unavailable,
            Error::NotText { .. } | Error::DigestLimit { .. } => SourceErrorKind::Unsupported,
            Error::Value(_) | Error::EmptyWindow => SourceErrorKind::Contract,
            _ => SourceErrorKind::Unreadable,
        };
        Self::new(kind, error.to_string()).with_cause(error)
    }
}

/// Something that is wrong with an installed revision.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The file or folder: within the skill, or one of the library's own (`manifest.json`, `facts.json`).
    pub path: String,
    /// What is wrong with it.
    pub kind: ProblemKind,
}

/// What is wrong with a file of an installed revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// It is gone.
    #[error("it is gone")]
    Missing,
    /// Its bytes are others.
    #[error("{bytes} bytes with {actual}, installed were {installed_bytes} with {installed}")]
    Changed {
        /// How many bytes were installed.
        installed_bytes: u64,
        /// Their digest.
        installed: Digest,
        /// How many there are; at least so many where they are more than were installed.
        bytes: u64,
        /// The digest of what is there, as far as it was read.
        actual: Digest,
    },
    /// It was not installed.
    #[error("it was not installed")]
    Extra,
    /// It is a link, a folder or a device where a file was installed.
    #[error("it is no plain file")]
    NotAFile,
    /// It cannot be read, or says what it must not.
    #[error("{reason}")]
    Unusable {
        /// Why.
        reason: String,
    },
}

impl Problem {
    pub(crate) fn new(path: impl Into<String>, kind: ProblemKind) -> Self {
        Self { path: path.into(), kind }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path, self.kind)
    }
}
