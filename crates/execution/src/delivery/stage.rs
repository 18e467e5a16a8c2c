//! Staging what is to be delivered, and having it judged.

use std::sync::Arc;

use briefing_core::Digest;
use briefing_task_workspace::{
    Candidate, CandidateId, Error as WorkspaceError, TaskWorkspace, WorkspacePath,
};

use super::{DeliveryState, open_delivery};
use crate::event::{Event, Staging};
use crate::execution::{Shared, Step};
use crate::state::State;
use crate::{DeliveryVerifier, Error, ProposedDelivery, ProposedFile, TaskExecution, Verdict};

impl TaskExecution {
    /// Stages the bytes of a target and reads them back whole. The target is not touched; what it is now is noted, and the
    /// promotion depends on it. A new candidate takes the place of an earlier one and is unverified.
    ///
    /// # Errors
    /// [`Error::UndeclaredTarget`], [`Error::NoDelivery`], [`Error::Blocked`], [`Error::Promoting`],
    /// [`Error::AlreadyDelivered`]; [`Error::Workspace`] where the bytes could not be staged; and what keeps an event from being
    /// recorded.
    pub async fn stage_delivery(
        &self,
        target: &WorkspacePath,
        bytes: impl Into<Vec<u8>>,
    ) -> Result<Candidate, Error> {
        let (shared, target, bytes) = (Arc::clone(&self.shared), target.clone(), bytes.into());
        let work = async move {
            let _turn = shared.turn().await;
            let workspace = shared.workspace()?.clone();
            let staging = Staging {
                candidate_id: CandidateId::new(shared.environment.new_id("candidate"))?,
                digest: Digest::of(&bytes),
                size_bytes: bytes.len() as u64,
                target,
            };
            let begun = staging.clone();
            let begun_as = (staging.candidate_id.clone(), staging.target.clone());
            let decide = move |state: &State| {
                let delivery = open_delivery(state)?;
                delivery.ensure_open()?;
                if !delivery.targets.contains(&begun.target) {
                    return Err(Error::UndeclaredTarget { target: begun.target });
                }
                Ok(Step::answering(Event::Staging(begun), ()))
            };
            shared.commit(decide).await?;
            let stage = move |workspace: &TaskWorkspace| {
                let candidate = workspace.stage_as(staging.candidate_id, &staging.target, &bytes)?;
                // Read back whole, and with the digest that was staged, or it is an error.
                workspace.read_candidate(&candidate.id)?;
                Ok(candidate)
            };
            let candidate = match workspace.run(stage).await {
                Ok(candidate) => candidate,
                Err(error) => {
                    shared.unstaged(begun_as.0, begun_as.1).await?;
                    return Err(error.into());
                }
            };
            shared.staged(candidate.clone()).await?;
            let superseded =
                shared.state.lock().await.delivery.as_ref().map(|known| known.superseded.clone());
            // What is left of earlier candidates does no harm: it is dropped by a resume or at the end.
            let _ = shared.discard(&workspace, superseded.unwrap_or_default()).await;
            Ok(candidate)
        };
        tokio::spawn(work).await.map_err(|_| Error::CutShort)?
    }

    /// Has everything that is staged judged, by the bytes as they are read back from where they are staged. Every declared
    /// target must have a candidate. The verdict is recorded with the digests that it is about.
    ///
    /// # Errors
    /// [`Error::NotStaged`], and as [`stage_delivery`](Self::stage_delivery); [`Error::Verifier`] where no verdict was
    /// reached: what is staged is still unverified then.
    pub async fn verify_with(&self, verifier: &dyn DeliveryVerifier) -> Result<Verdict, Error> {
        let shared = &self.shared;
        let _turn = shared.turn().await;
        shared.check()?;
        let workspace = shared.workspace()?;
        let (candidates, target) = {
            let state = shared.state.lock().await;
            let delivery = open_delivery(&state)?;
            delivery.ensure_open()?;
            delivery.ensure_staged()?;
            let candidates: Vec<_> = delivery.staged.values().cloned().collect();
            (candidates, state.identity.target.clone())
        };
        let read = move |workspace: &TaskWorkspace| {
            let file = |candidate: &Candidate| {
                let bytes = workspace.read_candidate(&candidate.id)?;
                let digest = Digest::of(&bytes);
                Ok(ProposedFile { target: candidate.target.clone(), bytes, digest })
            };
            candidates.iter().map(file).collect::<Result<Vec<_>, WorkspaceError>>()
        };
        let files = workspace.run(read).await?;
        let digests = files.iter().map(|file| (file.target.clone(), file.digest)).collect();
        let proposed = ProposedDelivery { task_id: self.task_id().clone(), target, files };
        let verdict = verifier.verify(&proposed).await?;
        let answer = verdict.clone();
        let decide = move |state: &State| {
            open_delivery(state)?.ensure_open()?;
            Ok(Step::answering(Event::Verified { verdict, files: digests }, answer))
        };
        shared.commit(decide).await
    }
}

impl Shared {
    async fn staged(self: &Arc<Self>, candidate: Candidate) -> Result<(), Error> {
        self.commit(move |_: &State| Ok(Step::answering(Event::Staged { candidate }, ()))).await
    }

    /// Records that what was about to be staged is not: an earlier candidate of the target stands, unverified.
    async fn unstaged(
        self: &Arc<Self>,
        candidate_id: CandidateId,
        target: WorkspacePath,
    ) -> Result<(), Error> {
        let event = Event::Unstaged { candidate_id, target };
        self.commit(move |_: &State| Ok(Step::answering(event, ()))).await
    }

    /// Takes over candidates that were staged when it could not be recorded any more.
    pub(super) async fn adopt(
        self: &Arc<Self>,
        workspace: &TaskWorkspace,
        delivery: &DeliveryState,
    ) -> Result<(), Error> {
        for staging in delivery.staging.values().cloned() {
            let (candidate_id, target) = (staging.candidate_id.clone(), staging.target.clone());
            let find = move |workspace: &TaskWorkspace| match workspace.candidate(&staging.candidate_id) {
                Ok(found) if found.target == staging.target && found.digest == staging.digest => {
                    workspace.read_candidate(&found.id).map(|_| Some(found))
                }
                Ok(_) | Err(WorkspaceError::UnknownCandidate { .. }) => Ok(None),
                Err(error) => Err(error),
            };
            match workspace.run(find).await {
                Ok(Some(candidate)) => self.staged(candidate).await?,
                // What is damaged was never acknowledged.
                Ok(None) | Err(WorkspaceError::CandidateDamaged { .. }) => {
                    self.unstaged(candidate_id, target).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
