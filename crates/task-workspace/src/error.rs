//! What can go wrong at the boundary.

use std::fmt;

use briefing_core::{SourceError, SourceErrorKind};

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
            Error::NotRegularFile { .. } | Error::Unreadable { .. } => SourceErrorKind::Unreadable,
            Error::Root { .. } => SourceErrorKind::Unavailable,
            Error::IgnoreGlob { .. } | Error::Configuration { .. } | Error::Value(_) => {
                SourceErrorKind::Contract
            }
        };
        SourceError::new(kind, error.to_string()).with_cause(error)
    }
}
