//! What can go wrong at the boundary.

use std::fmt;

use briefing_core::media::MediaKind;
use briefing_core::{SourceError, SourceErrorKind};

use crate::edit::EditError;
use crate::handler::HandlerError;
use crate::steps::Step;
use crate::target::TargetState;

/// What sits at a path where a regular file was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A folder.
    Directory,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
    /// Something that the platform has no name for.
    Other,
}

impl FileKind {
    /// The word that diagnostics use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
            Self::Device => "device",
            Self::Other => "special file",
        }
    }

    /// What a file type is, or `None` for a regular file.
    pub(crate) fn of(file_type: std::fs::FileType) -> Option<Self> {
        if file_type.is_file() {
            return None;
        }
        if file_type.is_dir() {
            return Some(Self::Directory);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt as _;
            if file_type.is_fifo() {
                return Some(Self::Fifo);
            }
            if file_type.is_socket() {
                return Some(Self::Socket);
            }
            if file_type.is_char_device() || file_type.is_block_device() {
                return Some(Self::Device);
            }
        }
        Some(Self::Other)
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why the workspace refused or failed. Paths in messages are those that the caller gave, relative to the root: no
/// message says where a link leads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that is not one by the grammar of [`WorkspacePath`](crate::WorkspacePath).
    #[error("{path:?} is no path in the workspace: {reason}")]
    InvalidPath {
        /// The path as given.
        path: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A path that leads out of the root, by its own segments or through a link.
    #[error("{path:?} leads out of the workspace")]
    OutsideBoundary {
        /// The path as given.
        path: String,
    },
    /// A path into `.briefing`, which holds the framework's own state.
    #[error("{path:?} is in the private area of the workspace")]
    PrivateArea {
        /// The path as given.
        path: String,
    },
    /// Nothing is there.
    #[error("{path:?} does not exist")]
    NotFound {
        /// The path.
        path: String,
    },
    /// Something is there that cannot be read as a file.
    #[error("{path:?} is no regular file but a {kind}")]
    NotRegularFile {
        /// The path.
        path: String,
        /// What is there instead.
        kind: FileKind,
    },
    /// The file changed while it was read, or since it was described.
    #[error("{path:?} changed while it was read")]
    Changed {
        /// The path.
        path: String,
    },
    /// The file exists and cannot be read.
    #[error("{path:?} cannot be read")]
    Unreadable {
        /// The path.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The root cannot be opened, or is no longer the folder that was opened.
    #[error("the workspace's root cannot be used")]
    Root {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// An ignore glob that cannot be parsed.
    #[error("{glob:?} is no ignore glob")]
    IgnoreGlob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        #[source]
        source: ignore::Error,
    },
    /// A link is in the way of a write: no write follows one, wherever it leads.
    #[error("{path:?} cannot be written: {at:?} is a link")]
    Link {
        /// The path.
        path: String,
        /// The link: the path itself, or one of its folders.
        at: String,
    },
    /// A folder was expected on the way to the path.
    #[error("{path:?} cannot be reached: {at:?} is no folder")]
    NotFolder {
        /// The path.
        path: String,
        /// What is no folder.
        at: String,
    },
    /// The file has other names, which may lie outside; a write would reach them or cut them off.
    #[error("{path:?} cannot be written: the file has {links} names (hard links)")]
    HardLinked {
        /// The path.
        path: String,
        /// How many names the file has.
        links: u64,
    },
    /// A new name that differs from one that is there only in case or in the Unicode form of its characters.
    #[error(
        "{path:?} cannot be made: {existing:?} is there, and some file systems take the two names for one"
    )]
    NameCollision {
        /// The path.
        path: String,
        /// The name that is there.
        existing: String,
    },
    /// Something is there already.
    #[error("{path:?} exists")]
    Exists {
        /// The path.
        path: String,
    },
    /// A folder that is not empty, where an empty one or none is needed.
    #[error("{path:?} is a folder with something in it")]
    FolderNotEmpty {
        /// The path.
        path: String,
    },
    /// An existing file outside the fallback, in a workspace that was opened read-only.
    #[error("{path:?} exists and the workspace is read-only; new files go to the execution's fallback")]
    ReadOnly {
        /// The path.
        path: String,
    },
    /// A folder of version control, which is never listed.
    #[error("{path:?} is never listed: it belongs to version control")]
    NotListed {
        /// The path.
        path: String,
    },
    /// The write policy forbids the path.
    #[error("{path:?} may not be written: {rule}")]
    Denied {
        /// The path.
        path: String,
        /// The rule of the policy that says so.
        rule: String,
    },
    /// The path is the target of an open delivery, which only a promotion writes.
    #[error("{path:?} is a target of the open delivery {delivery}: only a promotion writes it")]
    Protected {
        /// The path.
        path: String,
        /// The delivery that protects it.
        delivery: String,
    },
    /// The target is in another state than the caller expected; nothing was written.
    #[error("{path:?} was expected to be {expected}, but is {found}")]
    Conflict {
        /// The path.
        path: String,
        /// What the caller expected.
        expected: TargetState,
        /// What is there.
        found: TargetState,
    },
    /// More bytes than the limit allows.
    #[error("{path:?} has {size_bytes} bytes; at most {limit_bytes} are allowed here")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size, in bytes; where the end was not reached, at least so many.
        size_bytes: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// The workspace would grow by more bytes than the policy allows.
    #[error(
        "{path:?} cannot be written: the workspace would have grown by {grown_bytes} bytes; at most {limit_bytes} are allowed"
    )]
    QuotaExceeded {
        /// The path.
        path: String,
        /// By how much the workspace would have grown since it was opened, in bytes.
        grown_bytes: i64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// A step of a write failed; the target has its old bytes.
    #[error("{path:?} was not written: {step} failed")]
    NotWritten {
        /// The path.
        path: String,
        /// The step.
        step: Step,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The target is on another file system than the private area, so that nothing can be moved there in one step.
    #[error("{path:?} was not written: it is on another file system than the workspace's root")]
    OtherFileSystem {
        /// The path.
        path: String,
    },
    /// The file's owner, mode or attributes cannot be kept, so it was not replaced.
    #[error("{path:?} was not written: its {what} cannot be kept")]
    CannotKeep {
        /// The path.
        path: String,
        /// What cannot be kept.
        what: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// What was read back from the target is not what was written; the old bytes were put back.
    #[error("{path:?} was read back as {found} after {expected} was written; the old state was put back")]
    ReadBack {
        /// The path.
        path: String,
        /// What was written.
        expected: TargetState,
        /// What was read back.
        found: TargetState,
    },
    /// A write failed and could not be undone: what the target held lies in the private area under the name `kept`.
    #[error(
        "{path:?} could not be put back after a failed write; what it held is kept in the private area as {kept:?}"
    )]
    Stranded {
        /// The path.
        path: String,
        /// The name in the private area.
        kept: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// No candidate of that id is staged.
    #[error("no candidate {id} is staged")]
    UnknownCandidate {
        /// The id.
        id: String,
    },
    /// A candidate of that id is staged already.
    #[error("a candidate {id} is staged already")]
    CandidateExists {
        /// The id.
        id: String,
    },
    /// A candidate's bytes are not those that were staged.
    #[error("the bytes of candidate {id} are {found}, not {expected}")]
    CandidateDamaged {
        /// The candidate.
        id: String,
        /// The digest at staging.
        expected: TargetState,
        /// What is there.
        found: TargetState,
    },
    /// Two changes of one unit have the same target, or one's target lies beneath the other's.
    #[error("{path:?} is the target of two changes of one unit, or lies beneath one")]
    TargetTwice {
        /// The path.
        path: String,
    },
    /// No delivery of that id is open.
    #[error("no delivery {id} is open")]
    UnknownDelivery {
        /// The id.
        id: String,
    },
    /// An id that cannot name a folder.
    #[error(
        "{id:?} is no {what}: 1 to 100 of the characters A-Z a-z 0-9 . _ - are accepted, not beginning with a dot"
    )]
    InvalidId {
        /// What the id is for.
        what: &'static str,
        /// The id.
        id: String,
    },
    /// A ref that another workspace gave.
    #[error("the ref of {path:?} is of the workspace {found}, not of {expected}")]
    ForeignRef {
        /// The path in the ref.
        path: String,
        /// This workspace.
        expected: String,
        /// The ref's workspace.
        found: String,
    },
    /// A ref whose file has another content now, or is gone.
    #[error("the ref of {path:?} is stale: the file was {expected} and is {found}")]
    StaleRef {
        /// Where the file is now.
        path: String,
        /// The content that the ref names.
        expected: TargetState,
        /// What is there.
        found: TargetState,
    },
    /// An alias that this request never gave.
    #[error("{alias:?} is no alias of this request; known are ref_1 to ref_{known}, if any")]
    UnknownAlias {
        /// The alias.
        alias: String,
        /// How many aliases there are.
        known: usize,
    },
    /// Something that begins like an alias and is none.
    #[error("at char {at_char}: an alias is written [[ref:ref_1]], not {found:?}")]
    MalformedAlias {
        /// Where it begins, in chars.
        at_char: usize,
        /// What is there.
        found: String,
    },
    /// Another writer did not come to its end in the time that the options give
    /// ([`WorkspaceOptions::max_wait`](crate::WorkspaceOptions::max_wait)); nothing was written.
    #[error("another writer has held the workspace for {waited_millis} ms")]
    Busy {
        /// How long this one waited, in milliseconds.
        waited_millis: u64,
    },
    /// The private area `.briefing` cannot be used.
    #[error("the private area of the workspace cannot be used: {what}")]
    PrivateAreaUnusable {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file of the private area that this version cannot read.
    #[error("{file:?} in the private area of the workspace cannot be read: {reason}")]
    PrivateFile {
        /// The file, relative to the private area.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A unit of changes was cut short and cannot be brought to an end, because its targets were changed since.
    #[error("the unfinished unit {unit} cannot be brought to an end: {path:?} is {found}")]
    RecoveryBlocked {
        /// The unit.
        unit: String,
        /// The target that is in a state of its own.
        path: String,
        /// What is there.
        found: TargetState,
    },
    /// A glob that cannot be parsed.
    #[error("{glob:?} is no glob: {reason}")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A pattern that cannot be parsed or is too large.
    #[error("{pattern:?} is no pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A value that is out of its range.
    #[error("{what} is {found}; {accepted} is accepted")]
    OutOfRange {
        /// What the value is for.
        what: &'static str,
        /// The value.
        found: String,
        /// What is accepted.
        accepted: &'static str,
    },
    /// The file is no text that can be read in lines and chars.
    #[error("{path:?} cannot be read as text: {reason}")]
    NotText {
        /// The path.
        path: String,
        /// Why not.
        reason: String,
    },
    /// An edit or a patch that does not fit the file.
    #[error("{path:?} was not edited: {source}")]
    Edit {
        /// The path.
        path: String,
        /// Why not.
        #[source]
        source: Box<EditError>,
    },
    /// A patch that cannot be parsed.
    #[error("the patch was not applied: {source}")]
    Patch {
        /// Why not.
        #[source]
        source: Box<EditError>,
    },
    /// A patch that touches other files than the caller expected.
    #[error("the patch touches {found:?}, not {expected:?}")]
    PatchFiles {
        /// What the caller expected, sorted.
        expected: Vec<String>,
        /// What the patch touches, sorted.
        found: Vec<String>,
    },
    /// A handler refused a file, a value, or its own registration.
    #[error("{path:?}: {source}")]
    Handler {
        /// The path, or the handler's id.
        path: String,
        /// Why.
        #[source]
        source: Box<HandlerError>,
    },
    /// No handler knows the format.
    #[error("no handler shows {path:?}, whose kind is {kind}")]
    NoHandler {
        /// The path.
        path: String,
        /// The kind of its content.
        kind: MediaKind,
    },
    /// The work was cut short, because the runtime shuts down.
    #[error("the work on the files was cut short")]
    CutShort,
    /// A stored configuration of a source that this version cannot read.
    #[error("the configuration of a workspace source cannot be read")]
    Configuration {
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A value that breaks the rules of its type.
    #[error(transparent)]
    Value(#[from] briefing_core::Error),
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidPath { .. } => "workspace.invalid_path",
            Self::OutsideBoundary { .. } => "workspace.outside_boundary",
            Self::PrivateArea { .. } => "workspace.private_area",
            Self::NotFound { .. } => "workspace.not_found",
            Self::NotRegularFile { .. } => "workspace.not_regular_file",
            Self::Changed { .. } => "workspace.changed",
            Self::Unreadable { .. } => "workspace.unreadable",
            Self::Root { .. } => "workspace.root_unusable",
            Self::IgnoreGlob { .. } => "workspace.ignore_glob_invalid",
            Self::Link { .. } => "workspace.link",
            Self::NotFolder { .. } => "workspace.not_folder",
            Self::HardLinked { .. } => "workspace.hard_linked",
            Self::NameCollision { .. } => "workspace.name_collision",
            Self::Exists { .. } => "workspace.exists",
            Self::FolderNotEmpty { .. } => "workspace.folder_not_empty",
            Self::ReadOnly { .. } => "workspace.read_only",
            Self::NotListed { .. } => "workspace.not_listed",
            Self::Denied { .. } => "workspace.denied",
            Self::Protected { .. } => "workspace.protected",
            Self::Conflict { .. } => "workspace.conflict",
            Self::TooLarge { .. } => "workspace.too_large",
            Self::QuotaExceeded { .. } => "workspace.quota_exceeded",
            Self::NotWritten { .. } => "workspace.not_written",
            Self::OtherFileSystem { .. } => "workspace.other_file_system",
            Self::CannotKeep { .. } => "workspace.cannot_keep",
            Self::ReadBack { .. } => "workspace.read_back",
            Self::Stranded { .. } => "workspace.stranded",
            Self::UnknownCandidate { .. } => "workspace.unknown_candidate",
            Self::CandidateExists { .. } => "workspace.candidate_exists",
            Self::CandidateDamaged { .. } => "workspace.candidate_damaged",
            Self::TargetTwice { .. } => "workspace.target_twice",
            Self::UnknownDelivery { .. } => "workspace.unknown_delivery",
            Self::InvalidId { .. } => "workspace.invalid_id",
            Self::ForeignRef { .. } => "workspace.foreign_ref",
            Self::StaleRef { .. } => "workspace.stale_ref",
            Self::UnknownAlias { .. } => "workspace.unknown_alias",
            Self::MalformedAlias { .. } => "workspace.malformed_alias",
            Self::Busy { .. } => "workspace.busy",
            Self::PrivateAreaUnusable { .. } => "workspace.private_area_unusable",
            Self::PrivateFile { .. } => "workspace.private_file",
            Self::RecoveryBlocked { .. } => "workspace.recovery_blocked",
            Self::Glob { .. } => "workspace.glob_invalid",
            Self::Pattern { .. } => "workspace.pattern_invalid",
            Self::OutOfRange { .. } => "workspace.out_of_range",
            Self::NotText { .. } => "workspace.not_text",
            Self::Edit { source, .. } | Self::Patch { source } => source.code(),
            Self::PatchFiles { .. } => "workspace.patch_files",
            Self::Handler { source, .. } => source.code(),
            Self::NoHandler { .. } => "workspace.no_handler",
            Self::CutShort => "workspace.cut_short",
            Self::Configuration { .. } => "workspace.configuration_invalid",
            Self::Value(error) => error.code(),
        }
    }
}

impl From<Error> for SourceError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotFound { .. }
            | Error::InvalidPath { .. }
            | Error::OutsideBoundary { .. }
            | Error::PrivateArea { .. } => SourceErrorKind::NotFound,
            Error::Changed { .. } => SourceErrorKind::Changed,
            Error::NotRegularFile { .. } | Error::Unreadable { .. } | Error::NotText { .. } => {
                SourceErrorKind::Unreadable
            }
            Error::Root { .. } | Error::Busy { .. } | Error::CutShort => SourceErrorKind::Unavailable,
            _ => SourceErrorKind::Contract,
        };
        SourceError::new(kind, error.to_string()).with_cause(error)
    }
}
