//! Promotion: what was verified goes to its targets, all of it or nothing, and is read back.

use std::collections::BTreeMap;
use std::sync::Arc;

use briefing_core::Digest;
use briefing_task_workspace::{
    Candidate, Error as WorkspaceError, TargetState, TaskWorkspace, WorkspacePath,
};

use super::open_delivery;
use crate::event::Event;
use crate::execution::{Shared, Step};
use crate::state::State;
use crate::{Error, TaskExecution};

/// How a promotion ended.
enum End {
    Delivered(BTreeMap<WorkspacePath, Digest>),
    Blocked { code: &'static str, reason: String },
}

impl TaskExecution {
    /// Promotes what a verifier accepted to its targets, by digest and all in one unit, and reads the targets back whole.
    /// Only then is it recorded, and answered with the digests that the targets hold.
    ///
    /// Where a target is not what it was when its candidate was staged, the promotion is a conflict: the target is not
    /// touched. That, and any other failure from here on, blocks the execution with a code and a reason.
    ///
    /// # Errors
    /// [`Error::NotStaged`], [`Error::NotAccepted`] and [`Error::NotAsVerified`] before anything is begun;
    /// [`Error::Blocked`]; [`Error::AlreadyDelivered`]; [`Error::Workspace`] with `workspace.cut_short` and what keeps an event
    /// from being recorded leave the promotion under way: call again, or resume.
    pub async fn promote_delivery(&self) -> Result<BTreeMap<WorkspacePath, Digest>, Error> {
        let shared = Arc::clone(&self.shared);
        let work = async move {
            let _turn = shared.turn().await;
            shared.check()?;
            let workspace = shared.workspace()?.clone();
            let (begun, accepted) = {
                let state = shared.state.lock().await;
                let delivery = open_delivery(&state)?;
                if delivery.is_delivered() {
                    return Err(Error::AlreadyDelivered);
                }
                match &delivery.promoting {
                    Some(candidates) => (Some(candidates.clone()), Vec::new()),
                    None => (None, delivery.accepted()?),
                }
            };
            match begun {
                Some(candidates) => shared.end_promotion(&workspace, &candidates).await?,
                None => {
                    let candidates = accepted.clone();
                    workspace.run(move |workspace| Ok(as_verified(workspace, &candidates))).await??;
                    let candidates = accepted.clone();
                    let decide = move |state: &State| {
                        open_delivery(state)?.ensure_open()?;
                        Ok(Step::answering(Event::Promoting { candidates }, ()))
                    };
                    shared.commit(decide).await?;
                    let end = workspace.run(move |workspace| promote(workspace, &accepted)).await?;
                    shared.end(end).await?;
                }
            }
            let state = shared.state.lock().await;
            let delivered = state.delivery.as_ref().and_then(|delivery| delivery.delivered.clone());
            delivered.ok_or(Error::Promoting)
        };
        tokio::spawn(work).await.map_err(|_| Error::CutShort)?
    }
}

/// Refuses candidates whose bytes are not those that were verified.
fn as_verified(workspace: &TaskWorkspace, candidates: &[Candidate]) -> Result<(), Error> {
    for candidate in candidates {
        let found = match workspace.read_candidate(&candidate.id) {
            Ok(bytes) => Some(Digest::of(&bytes)),
            Err(WorkspaceError::UnknownCandidate { .. }) => None,
            Err(WorkspaceError::CandidateDamaged { found, .. }) => found.digest(),
            Err(error) => return Err(error.into()),
        };
        if found != Some(candidate.digest) {
            return Err(Error::NotAsVerified {
                target: candidate.target.clone(),
                verified: candidate.digest,
                found: found.map_or_else(|| "none".to_owned(), |digest| digest.to_string()),
            });
        }
    }
    Ok(())
}

/// Promotes candidates where every target is as it was at staging, and reads the targets back.
fn promote(workspace: &TaskWorkspace, candidates: &[Candidate]) -> Result<End, WorkspaceError> {
    let unit: Vec<_> = candidates.iter().map(|candidate| (candidate, candidate.target_state)).collect();
    match workspace.promote_all(&unit) {
        Ok(_) => read_back(workspace, candidates),
        Err(error @ WorkspaceError::CutShort) => Err(error),
        Err(error) => Ok(End::Blocked { code: error.code(), reason: told(&error) }),
    }
}

/// Whether the targets hold what was promoted.
fn read_back(workspace: &TaskWorkspace, candidates: &[Candidate]) -> Result<End, WorkspaceError> {
    let mut files = BTreeMap::new();
    for candidate in candidates {
        match state_of(workspace, &candidate.target) {
            Ok(TargetState::Present(digest)) if digest == candidate.digest => {
                files.insert(candidate.target.clone(), digest);
            }
            Ok(found) => {
                let reason = format!(
                    "{} was promoted as {} and read back as {found}",
                    candidate.target, candidate.digest
                );
                return Ok(End::Blocked { code: "workspace.read_back", reason });
            }
            Err(error @ WorkspaceError::CutShort) => return Err(error),
            Err(error) => return Ok(End::Blocked { code: error.code(), reason: told(&error) }),
        }
    }
    Ok(End::Delivered(files))
}

/// What a target holds.
fn state_of(workspace: &TaskWorkspace, target: &WorkspacePath) -> Result<TargetState, WorkspaceError> {
    match workspace.digest(target) {
        Ok(digest) => Ok(digest.into()),
        Err(WorkspaceError::NotFound { .. }) => Ok(TargetState::Absent),
        Err(error) => Err(error),
    }
}

/// An error with its causes, in one line.
fn told(error: &WorkspaceError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

/// How a promotion ends that was begun before: done already, still to be done, or in the way of somebody else.
fn resume(workspace: &TaskWorkspace, candidates: &[Candidate]) -> Result<End, WorkspaceError> {
    let delivered = read_back(workspace, candidates)?;
    if matches!(delivered, End::Delivered(_)) {
        return Ok(delivered);
    }
    for candidate in candidates {
        if let Err(error @ WorkspaceError::UnknownCandidate { .. }) = workspace.candidate(&candidate.id) {
            let reason = format!(
                "the promotion of {} was cut short; the target is not what was promoted, and {error}",
                candidate.target
            );
            return Ok(End::Blocked { code: error.code(), reason });
        }
    }
    promote(workspace, candidates)
}

impl Shared {
    /// Brings a promotion to its end that was begun before. Nothing is promoted twice.
    pub(super) async fn end_promotion(
        self: &Arc<Self>,
        workspace: &TaskWorkspace,
        candidates: &[Candidate],
    ) -> Result<(), Error> {
        let candidates = candidates.to_vec();
        let end = workspace.run(move |workspace| resume(workspace, &candidates)).await?;
        self.end(end).await
    }

    /// Records how a promotion ended.
    async fn end(self: &Arc<Self>, end: End) -> Result<(), Error> {
        match end {
            End::Delivered(files) => {
                self.commit(move |_: &State| Ok(Step::answering(Event::Delivered { files }, ()))).await
            }
            End::Blocked { code, reason } => Err(self.block(code, reason).await),
        }
    }
}
