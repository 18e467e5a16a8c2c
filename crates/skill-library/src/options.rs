//! How a skill is installed, and how much one may hold.

/// How much a skill may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackageLimits {
    /// The most files and folders, together. 1,024 by default.
    pub max_entries: usize,
    /// The largest file, in bytes. 16 MiB by default.
    pub max_file_bytes: u64,
    /// All files together, in bytes. 64 MiB by default; a package is held in memory while it is installed.
    pub max_total_bytes: u64,
    /// The largest `SKILL.md`, in bytes. 1 MiB by default: the convention advises less than 5,000 tokens.
    pub max_skill_file_bytes: u64,
}

impl Default for PackageLimits {
    fn default() -> Self {
        Self {
            max_entries: 1_024,
            max_file_bytes: 16 << 20,
            max_total_bytes: 64 << 20,
            max_skill_file_bytes: 1 << 20,
        }
    }
}

impl PackageLimits {
    /// Sets the most files and folders.
    #[must_use]
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
    }

    /// Sets the largest file, in bytes.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// Sets the largest sum of all files, in bytes.
    #[must_use]
    pub fn max_total_bytes(mut self, bytes: u64) -> Self {
        self.max_total_bytes = bytes;
        self
    }

    /// Sets the largest `SKILL.md`, in bytes.
    #[must_use]
    pub fn max_skill_file_bytes(mut self, bytes: u64) -> Self {
        self.max_skill_file_bytes = bytes;
        self
    }
}

/// How a skill is installed. By default it is not trusted: it is kept and can be read, but no source offers it.
///
/// ```
/// use briefing_skill_library::{InstallOptions, PackageLimits};
/// let options = InstallOptions::trusted().limits(PackageLimits::default().max_entries(20));
/// assert!(options.trusted && !InstallOptions::default().trusted);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstallOptions {
    /// Whether somebody vouches for these bytes. A revision that is trusted stays so when it is installed again without.
    pub trusted: bool,
    /// How much the skill may hold.
    pub limits: PackageLimits,
}

impl InstallOptions {
    /// Vouches for the skill.
    #[must_use]
    pub fn trusted() -> Self {
        Self { trusted: true, ..Self::default() }
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: PackageLimits) -> Self {
        self.limits = limits;
        self
    }
}
