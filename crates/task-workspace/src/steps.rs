//! The steps of a write, in the order in which they happen, and the hook before each.

use std::fmt;
use std::io;
#[cfg(feature = "failpoints")]
use std::sync::Arc;

/// A step of a write or a promotion. Errors name the one that failed; with the feature `failpoints` a hook can fail or
/// stop before each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// The folders of the private area are made, and its lock is taken.
    PrepareArea,
    /// A file is made in the private area.
    CreateFile,
    /// Its bytes are written.
    WriteBytes,
    /// It gets the owner, the mode and the attributes of the file that it replaces.
    KeepAttributes,
    /// The facts of a candidate are written beside it.
    WriteFacts,
    /// It is synced to the disk.
    SyncFile,
    /// A candidate's bytes and facts and the folder of candidates are synced, all at the same time.
    SyncStaged,
    /// What was staged is read back.
    ReadStaged,
    /// The journal of a unit is written.
    WriteJournal,
    /// The missing folders of the target are made.
    CreateFolders,
    /// The file and its target change places, or the file takes its place.
    Replace,
    /// The target is taken away.
    Remove,
    /// The target's folder is synced.
    SyncFolder,
    /// The target is read back.
    ReadBack,
    /// The journal is removed: the unit is done.
    RemoveJournal,
    /// What the target held, and the facts of the candidate, are removed.
    CleanUp,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrepareArea => "preparing the private area",
            Self::CreateFile => "making a file in the private area",
            Self::WriteBytes => "writing the bytes",
            Self::KeepAttributes => "keeping the attributes",
            Self::SyncFile => "syncing the file",
            Self::WriteFacts => "writing the candidate's facts",
            Self::SyncStaged => "syncing the folder of candidates",
            Self::ReadStaged => "reading back the candidate",
            Self::WriteJournal => "writing the journal",
            Self::CreateFolders => "making the folders",
            Self::Replace => "replacing the target",
            Self::Remove => "removing the target",
            Self::SyncFolder => "syncing the folder",
            Self::ReadBack => "reading back the target",
            Self::RemoveJournal => "removing the journal",
            Self::CleanUp => "cleaning up",
        })
    }
}

/// What is called before each step.
#[cfg(feature = "failpoints")]
pub type StepHook = Arc<dyn Fn(Step) -> io::Result<()> + Send + Sync>;

/// The hook, where there is one.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    #[cfg(feature = "failpoints")]
    hook: Option<StepHook>,
}

impl Steps {
    #[cfg(feature = "failpoints")]
    pub(crate) fn hooked(hook: StepHook) -> Self {
        Self { hook: Some(hook) }
    }

    /// Says that `step` comes next; fails where the hook does.
    #[cfg_attr(
        not(feature = "failpoints"),
        allow(
            clippy::unused_self,
            clippy::unnecessary_wraps,
            unused_variables,
            reason = "the hook is a feature"
        )
    )]
    pub(crate) fn reach(&self, step: Step) -> io::Result<()> {
        #[cfg(feature = "failpoints")]
        if let Some(hook) = &self.hook {
            return hook(step);
        }
        Ok(())
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Steps")
    }
}
