//! Delivering: stage, read back, verify, promote by digest, read back. It never claims what did not happen.

mod promote;
mod stage;
mod state;

use std::sync::Arc;

use briefing_core::Digest;
use briefing_task_workspace::{Error as WorkspaceError, ExecutionId, TaskWorkspace, WorkspacePath};
use tokio::sync::OwnedMutexGuard;

pub(crate) use self::state::DeliveryState;
pub use self::state::{DeliveryMeta, DeliveryStage};
use crate::event::Event;
use crate::execution::{Shared, Step};
use crate::state::{BlockedBy, State};
use crate::{Error, ExecutionMeta, TaskExecution};

/// The id of an execution's delivery in the workspace: always the same, so that it is found again whatever happened between
/// opening it and recording it. (An execution's own id may be too long for the name of its file.)
fn delivery_id(execution_id: &ExecutionId) -> String {
    let digest = Digest::of(execution_id.as_str().as_bytes());
    format!("execution-{}", digest.to_string().trim_start_matches("blake3:"))
}

impl TaskExecution {
    /// Declares the files to which the execution delivers. Until it is finished only its promotion writes them: ordinary
    /// writes of every process that opens the workspace are refused. The same targets again change nothing.
    ///
    /// # Errors
    /// [`Error::TargetsDeclared`] where others were declared; [`Error::NoWorkspace`]; [`Error::Workspace`] for a target that the
    /// policy forbids; and what keeps an event from being recorded.
    pub async fn declare_targets(&self, targets: &[WorkspacePath]) -> Result<(), Error> {
        let shared = Arc::clone(&self.shared);
        let targets = targets.to_vec();
        let work = async move {
            let _turn = shared.turn().await;
            shared.check()?;
            let workspace = shared.workspace()?.clone();
            {
                let state = shared.state.lock().await;
                state.ensure_unfinished()?;
                match &state.delivery {
                    Some(known) if known.targets == targets => return Ok(()),
                    Some(_) => return Err(Error::TargetsDeclared),
                    None => {}
                }
            }
            // It is opened before it is recorded: under its fixed id it is found, and closed, in any case.
            let delivery_id = delivery_id(&shared.execution_id);
            open(&workspace, delivery_id.clone(), targets.clone()).await?;
            let event = Event::Targets { delivery_id, targets };
            shared.commit(move |_: &State| Ok(Step::answering(event, ()))).await
        };
        tokio::spawn(work).await.map_err(|_| Error::CutShort)?
    }

    /// Ends the execution: its targets are files like all others again, candidates that were not promoted are dropped, and
    /// the lease is given back. A blocked or undelivered execution may be finished too; what it tells about itself says so.
    ///
    /// # Errors
    /// [`Error::Promoting`], [`Error::Finished`], errors of workspace and store, and what keeps an event from being recorded.
    pub async fn finish(&self) -> Result<ExecutionMeta, Error> {
        let shared = Arc::clone(&self.shared);
        let work = async move {
            let _turn = shared.turn().await;
            shared
                .commit(|state: &State| {
                    let delivery = state.delivery.as_ref().filter(|_| state.blocked.is_none());
                    if delivery.is_some_and(|known| known.promoting.is_some() && !known.is_delivered()) {
                        return Err(Error::Promoting);
                    }
                    Ok(Step::answering(Event::Finished {}, ()))
                })
                .await?;
            let cleared = shared.clear_delivery().await;
            if let Some(journal) = &shared.journal {
                let mut state = shared.state.lock().await;
                journal.snapshot(&mut state).await?;
                journal.release().await?;
            }
            cleared
        };
        tokio::spawn(work).await.map_err(|_| Error::CutShort)??;
        Ok(self.meta().await)
    }
}

async fn open(workspace: &TaskWorkspace, id: String, targets: Vec<WorkspacePath>) -> Result<(), Error> {
    workspace.run(move |workspace| workspace.open_delivery_as(&id, &targets)).await?;
    Ok(())
}

impl Shared {
    /// Waits for the turn of a delivery operation.
    pub(crate) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.delivering).lock_owned().await
    }

    /// Brings a delivery that was resumed to where its events say that it is.
    pub(crate) async fn settle_delivery(self: &Arc<Self>) -> Result<(), Error> {
        let (delivery, blocked, finished) = {
            let state = self.state.lock().await;
            (state.delivery.clone(), state.blocked.is_some(), state.finished)
        };
        if finished {
            return self.clear_delivery().await;
        }
        let Some(delivery) = delivery else { return Ok(()) };
        let workspace = self.workspace()?.clone();
        // Whatever else: the targets are protected again, and units that were cut short are brought to an end by this.
        open(&workspace, delivery.delivery_id.clone(), delivery.targets.clone()).await?;
        self.discard(&workspace, delivery.superseded.clone()).await?;
        self.adopt(&workspace, &delivery).await?;
        match &delivery.promoting {
            Some(candidates) if !blocked && !delivery.is_delivered() => {
                match self.end_promotion(&workspace, candidates).await {
                    // A resumed execution that is blocked can still be looked at; it says so by its status.
                    Err(Error::Blocked { .. }) => Ok(()),
                    other => other,
                }
            }
            _ => Ok(()),
        }
    }

    /// Closes the delivery in the workspace and drops what is still staged for it.
    async fn clear_delivery(&self) -> Result<(), Error> {
        let Some(workspace) = self.workspace.clone() else { return Ok(()) };
        let delivery = self.state.lock().await.delivery.clone();
        let mut candidates = Vec::new();
        if let Some(delivery) = delivery {
            candidates = delivery.superseded;
            candidates.extend(delivery.staging.into_values().map(|staging| staging.candidate_id));
            candidates.extend(delivery.staged.into_values().map(|candidate| candidate.id));
        }
        let id = delivery_id(&self.execution_id);
        let close = move |workspace: &TaskWorkspace| {
            let is_open = workspace.deliveries()?.iter().any(|open| open.id == id);
            if is_open { workspace.close_delivery(&id) } else { Ok(()) }
        };
        workspace.run(close).await?;
        self.discard(&workspace, candidates).await
    }

    /// Drops candidates; those that are gone are no matter.
    async fn discard(
        &self,
        workspace: &TaskWorkspace,
        candidates: Vec<briefing_task_workspace::CandidateId>,
    ) -> Result<(), Error> {
        if candidates.is_empty() {
            return Ok(());
        }
        let discard = move |workspace: &TaskWorkspace| {
            for id in &candidates {
                match workspace.discard(id) {
                    Ok(()) | Err(WorkspaceError::UnknownCandidate { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        };
        Ok(workspace.run(discard).await?)
    }

    /// Records what blocks the execution, and answers with the error that says so.
    async fn block(self: &Arc<Self>, code: &str, reason: String) -> Error {
        let event = Event::Blocked { code: code.to_owned(), reason: reason.clone() };
        match self.commit(move |_: &State| Ok(Step::answering(event, ()))).await {
            Ok(()) => Error::Blocked { code: code.to_owned(), reason },
            Err(error) => error,
        }
    }
}

/// Refuses to deliver where the execution is blocked or delivers to nothing.
fn open_delivery(state: &State) -> Result<&DeliveryState, Error> {
    state.ensure_unfinished()?;
    if let Some(BlockedBy { code, reason }) = &state.blocked {
        return Err(Error::Blocked { code: code.clone(), reason: reason.clone() });
    }
    state.delivery.as_ref().ok_or(Error::NoDelivery)
}
