//! What a source over a workspace offers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a source over a workspace offers. The defaults: source id `files`, no hidden files, no keys and credentials, the
/// rules of ignore files obeyed, texts up to 4 MiB.
///
/// ```
/// use briefing_task_workspace::WorkspaceSourceOptions;
/// let options = WorkspaceSourceOptions::new().source_id("docs").ignore_glob("*.snap").ignore_glob("/vendor/");
/// assert_eq!(options.ignore_globs, ["*.snap", "/vendor/"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkspaceSourceOptions {
    /// The source's name.
    pub source_id: String,
    /// Whether files and folders whose names begin with a dot are offered. `.git` and `.briefing` never are.
    pub include_hidden: bool,
    /// Whether files are offered that hold keys or credentials by their names: `.env`, `id_rsa`, `*.pem` and kin. Those
    /// that are left out are named in a diagnostic.
    pub include_secrets: bool,
    /// Whether `.gitignore`, `.ignore` and `.git/info/exclude` are obeyed, also without a `.git` folder.
    pub respect_ignore_files: bool,
    /// Texts with more bytes are offered by reference, with their size.
    pub max_text_bytes: u64,
    /// More to leave out, in the syntax of `.gitignore`, relative to the root.
    pub ignore_globs: Vec<String>,
}

impl Default for WorkspaceSourceOptions {
    fn default() -> Self {
        Self {
            source_id: "files".to_owned(),
            include_hidden: false,
            include_secrets: false,
            respect_ignore_files: true,
            max_text_bytes: 4 << 20,
            ignore_globs: Vec::new(),
        }
    }
}

impl WorkspaceSourceOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source's name.
    #[must_use]
    pub fn source_id(mut self, source_id: impl Into<String>) -> Self {
        self.source_id = source_id.into();
        self
    }

    /// Offers hidden files or not.
    #[must_use]
    pub fn include_hidden(mut self, include: bool) -> Self {
        self.include_hidden = include;
        self
    }

    /// Offers files that hold keys or credentials by their names, or not.
    #[must_use]
    pub fn include_secrets(mut self, include: bool) -> Self {
        self.include_secrets = include;
        self
    }

    /// Obeys ignore files or not.
    #[must_use]
    pub fn respect_ignore_files(mut self, respect: bool) -> Self {
        self.respect_ignore_files = respect;
        self
    }

    /// Sets the size, in bytes, beyond which a text is offered by reference.
    #[must_use]
    pub fn max_text_bytes(mut self, max_text_bytes: u64) -> Self {
        self.max_text_bytes = max_text_bytes;
        self
    }

    /// Leaves out what the glob matches.
    #[must_use]
    pub fn ignore_glob(mut self, glob: impl Into<String>) -> Self {
        self.ignore_globs.push(glob.into());
        self
    }
}

/// How a source is built again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipe {
    pub(super) root: PathBuf,
    /// The execution whose fallback is offered beside the root, in a read-only workspace.
    #[serde(default)]
    pub(super) execution: Option<crate::ExecutionId>,
    #[serde(default)]
    pub(super) options: WorkspaceSourceOptions,
}
