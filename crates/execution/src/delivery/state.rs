//! What is known of a delivery.

use std::collections::BTreeMap;

use briefing_core::Digest;
use briefing_task_workspace::{Candidate, CandidateId, WorkspacePath};
use serde::{Deserialize, Serialize};

use crate::event::{Event, Staging};
use crate::{Error, Verdict};

/// What a verifier found, and about which bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Verification {
    pub(crate) verdict: Verdict,
    pub(crate) files: BTreeMap<WorkspacePath, Digest>,
}

/// A delivery, as its events say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveryState {
    /// The workspace's delivery, which protects the targets.
    pub(crate) delivery_id: String,
    pub(crate) targets: Vec<WorkspacePath>,
    /// What is being staged.
    pub(crate) staging: BTreeMap<WorkspacePath, Staging>,
    pub(crate) staged: BTreeMap<WorkspacePath, Candidate>,
    /// Candidates that others took the place of.
    pub(crate) superseded: Vec<CandidateId>,
    pub(crate) verification: Option<Verification>,
    /// What a promotion was begun with.
    pub(crate) promoting: Option<Vec<Candidate>>,
    pub(crate) delivered: Option<BTreeMap<WorkspacePath, Digest>>,
}

impl DeliveryState {
    pub(crate) fn new(delivery_id: String, targets: Vec<WorkspacePath>) -> Self {
        Self {
            delivery_id,
            targets,
            staging: BTreeMap::new(),
            staged: BTreeMap::new(),
            superseded: Vec::new(),
            verification: None,
            promoting: None,
            delivered: None,
        }
    }

    /// The state after one more event of a delivery; others change nothing.
    pub(crate) fn apply(&mut self, event: Event) {
        match event {
            Event::Staging(staging) => {
                self.verification = None;
                let unfinished = self.staging.insert(staging.target.clone(), staging);
                self.superseded.extend(unfinished.map(|staging| staging.candidate_id));
            }
            Event::Staged { candidate } => {
                self.verification = None;
                self.staging.remove(&candidate.target);
                let earlier = self.staged.insert(candidate.target.clone(), candidate);
                self.superseded.extend(earlier.map(|candidate| candidate.id));
            }
            Event::Unstaged { candidate_id, target } => {
                if self.staging.get(&target).is_some_and(|staging| staging.candidate_id == candidate_id) {
                    self.staging.remove(&target);
                }
                self.superseded.push(candidate_id);
            }
            Event::Verified { verdict, files } => self.verification = Some(Verification { verdict, files }),
            Event::Promoting { candidates } => self.promoting = Some(candidates),
            Event::Delivered { files } => self.delivered = Some(files),
            _ => {}
        }
    }

    pub(crate) fn is_delivered(&self) -> bool {
        self.delivered.is_some()
    }

    /// Refuses where something else is under way or done.
    pub(crate) fn ensure_open(&self) -> Result<(), Error> {
        match (&self.delivered, &self.promoting) {
            (Some(_), _) => Err(Error::AlreadyDelivered),
            (None, Some(_)) => Err(Error::Promoting),
            (None, None) => Ok(()),
        }
    }

    /// Refuses where a target has no candidate, or one that is still being staged.
    pub(crate) fn ensure_staged(&self) -> Result<(), Error> {
        let waits = |target: &&WorkspacePath| {
            !self.staged.contains_key(*target) || self.staging.contains_key(*target)
        };
        let targets: Vec<_> = self.targets.iter().filter(waits).cloned().collect();
        if targets.is_empty() { Ok(()) } else { Err(Error::NotStaged { targets }) }
    }

    /// The candidates that a verifier accepted with just these bytes.
    pub(crate) fn accepted(&self) -> Result<Vec<Candidate>, Error> {
        let refused = |found: String| Err(Error::NotAccepted { found });
        self.ensure_staged()?;
        match &self.verification {
            None => refused("it was not verified since it was staged".to_owned()),
            Some(Verification { verdict: Verdict::Rejected { reasons }, .. }) => {
                refused(format!("it was rejected: {}", reasons.join("; ")))
            }
            Some(Verification { verdict: Verdict::Accepted, files }) => {
                for (target, candidate) in &self.staged {
                    if files.get(target) != Some(&candidate.digest) {
                        return refused(format!("{target} holds other bytes than were verified"));
                    }
                }
                Ok(self.staged.values().cloned().collect())
            }
        }
    }
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryStage {
    /// Not every target has a candidate.
    Open,
    /// Every target has a candidate that no verifier has judged.
    Staged,
    /// A verifier rejected what is staged.
    Rejected,
    /// A verifier accepted what is staged.
    Accepted,
    /// A promotion was begun, and it is not recorded how it ended.
    Promoting,
    /// The targets hold what was verified.
    Delivered,
}

/// What an execution tells about its delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryMeta {
    /// The files to which the execution delivers.
    pub targets: Vec<WorkspacePath>,
    /// Where the delivery stands.
    pub stage: DeliveryStage,
    /// The candidates that are staged, or were promoted, by target.
    pub candidates: BTreeMap<WorkspacePath, Candidate>,
    /// What a verifier found about these candidates.
    pub verdict: Option<Verdict>,
    /// The digests of what was delivered.
    pub delivered: Option<BTreeMap<WorkspacePath, Digest>>,
}

impl DeliveryMeta {
    pub(crate) fn of(state: &DeliveryState) -> Self {
        let verdict = state.verification.as_ref().map(|verification| verification.verdict.clone());
        let stage = match (&state.delivered, &state.promoting, &verdict) {
            (Some(_), _, _) => DeliveryStage::Delivered,
            (None, Some(_), _) => DeliveryStage::Promoting,
            (None, None, Some(Verdict::Accepted)) => DeliveryStage::Accepted,
            (None, None, Some(Verdict::Rejected { .. })) => DeliveryStage::Rejected,
            (None, None, None) if state.ensure_staged().is_ok() => DeliveryStage::Staged,
            (None, None, None) => DeliveryStage::Open,
        };
        Self {
            targets: state.targets.clone(),
            stage,
            candidates: state.staged.clone(),
            verdict,
            delivered: state.delivered.clone(),
        }
    }
}
