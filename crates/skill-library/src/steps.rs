//! The steps of a change to the library, in the order in which they happen, and the hook before each.

use std::fmt;
use std::io;
#[cfg(feature = "failpoints")]
use std::sync::Arc;

/// A step of an installation, a removal or a change of trust. Errors name the one that failed; with the feature `failpoints`
/// a hook can fail or stop before each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// The library's folders are made.
    PrepareFolders,
    /// The lock of the library is taken.
    Lock,
    /// What an earlier change left unfinished is removed.
    Sweep,
    /// The folders of the draft are made.
    CreateDraft,
    /// A file of the draft is written and synced.
    WriteFile,
    /// The manifest is written and synced.
    WriteManifest,
    /// The facts (trust, time) are written and synced.
    WriteFacts,
    /// The folders of the draft are synced.
    SyncDraft,
    /// A revision that is damaged or to be removed is taken away.
    TakeAway,
    /// The draft takes its place: from here on the change counts.
    Place,
    /// The folder of the place is synced.
    SyncPlace,
    /// What was taken away is deleted.
    CleanUp,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrepareFolders => "making the folders",
            Self::Lock => "locking the library",
            Self::Sweep => "removing what was left unfinished",
            Self::CreateDraft => "making the draft's folders",
            Self::WriteFile => "writing a file",
            Self::WriteManifest => "writing the manifest",
            Self::WriteFacts => "writing the facts",
            Self::SyncDraft => "syncing the draft",
            Self::TakeAway => "taking the old one away",
            Self::Place => "putting the draft in its place",
            Self::SyncPlace => "syncing the place",
            Self::CleanUp => "deleting what was taken away",
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
