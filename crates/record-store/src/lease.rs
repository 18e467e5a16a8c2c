//! Leases: who may work on a run, and until when.

use briefing_core::{Environment, Error as ValueError, RunId};
use serde::{Deserialize, Serialize};

use crate::Error;

/// A lease to claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseClaim {
    /// Who claims it.
    pub owner: String,
    /// How long it lives without a heartbeat, in milliseconds.
    pub ttl_millis: u64,
    /// The state version on which the claim depends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_state_version: Option<u64>,
}

impl LeaseClaim {
    /// A claim of `owner`.
    #[must_use]
    pub fn new(owner: impl Into<String>, ttl_millis: u64) -> Self {
        Self { owner: owner.into(), ttl_millis, expected_state_version: None }
    }

    /// Makes the claim depend on the run's state version.
    #[must_use]
    pub fn expecting(mut self, state_version: u64) -> Self {
        self.expected_state_version = Some(state_version);
        self
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.owner.trim().is_empty() {
            return Err(ValueError::Blank { field: "owner" }.into());
        }
        if self.ttl_millis == 0 {
            return Err(ValueError::invalid("ttl_millis", 0, "at least 1").into());
        }
        Ok(())
    }

    /// The lease of a run with this claim as its `fencing`th, unless another owner holds it or the run has moved on.
    pub(crate) fn granted(
        &self,
        run_id: &RunId,
        held: Option<ExecutionLease>,
        state_version: u64,
        fencing: u64,
        environment: &dyn Environment,
    ) -> Result<ExecutionLease, Error> {
        let now = environment.now_unix_millis();
        if let Some(held) = held.filter(|held| held.is_live(now) && held.owner != self.owner) {
            let (owner, until_millis) = (held.owner, held.until_millis);
            return Err(Error::LeaseHeld { run_id: run_id.clone(), owner, until_millis });
        }
        if let Some(expected) = self.expected_state_version.filter(|expected| *expected != state_version) {
            return Err(Error::StateConflict { run_id: run_id.clone(), expected, actual: state_version });
        }
        Ok(ExecutionLease {
            run_id: run_id.clone(),
            owner: self.owner.clone(),
            token: environment.new_id("lease"),
            fencing,
            ttl_millis: self.ttl_millis,
            until_millis: now.saturating_add(self.ttl_millis),
            claimed_at_millis: now,
            heartbeat_at_millis: now,
            released_at_millis: None,
            state_version,
            snapshot_id: None,
        })
    }
}

/// What shows that somebody holds a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseProof {
    /// Who holds it.
    pub owner: String,
    /// The secret of this claim.
    pub token: String,
    /// The number of this claim.
    pub fencing: u64,
}

/// The lease of a run: who may work on it, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionLease {
    /// The run.
    pub run_id: RunId,
    /// Who holds it.
    pub owner: String,
    /// The secret of this claim.
    pub token: String,
    /// The number of this claim: each claim of a run has a higher one than all before.
    pub fencing: u64,
    /// How long it lives without a heartbeat, in milliseconds.
    pub ttl_millis: u64,
    /// Until when it lives, in milliseconds since the Unix epoch.
    pub until_millis: u64,
    /// When it was claimed, in milliseconds since the Unix epoch.
    pub claimed_at_millis: u64,
    /// When it was last renewed, in milliseconds since the Unix epoch.
    pub heartbeat_at_millis: u64,
    /// When it was given back, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released_at_millis: Option<u64>,
    /// The run's state version when it was claimed or last renewed.
    pub state_version: u64,
    /// A snapshot that its holder works from; it is kept while the lease lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
}

impl ExecutionLease {
    /// What shows that it is held.
    #[must_use]
    pub fn proof(&self) -> LeaseProof {
        LeaseProof { owner: self.owner.clone(), token: self.token.clone(), fencing: self.fencing }
    }

    /// Whether it is held at a time, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn is_live(&self, now_millis: u64) -> bool {
        self.released_at_millis.is_none() && now_millis < self.until_millis
    }

    /// Renews it at a time.
    pub(crate) fn renew(&mut self, now_millis: u64, state_version: u64) {
        self.heartbeat_at_millis = now_millis;
        self.until_millis = now_millis.saturating_add(self.ttl_millis);
        self.state_version = state_version;
    }

    /// Whether `proof` shows this lease while it is live; otherwise what became of it.
    pub(crate) fn check(&self, proof: &LeaseProof, now_millis: u64) -> Result<(), Error> {
        let reason = if self.fencing != proof.fencing {
            "it was claimed again since"
        } else if self.owner != proof.owner || self.token != proof.token {
            "owner and token are not those of the claim"
        } else if self.released_at_millis.is_some() {
            "it was released"
        } else if now_millis >= self.until_millis {
            "it expired"
        } else {
            return Ok(());
        };
        Err(lost(&self.run_id, proof, reason))
    }
}

/// What became of a lease of a run that has none.
pub(crate) const NEVER_LEASED: &str = "the run was never leased";

pub(crate) fn lost(run_id: &RunId, proof: &LeaseProof, reason: &'static str) -> Error {
    Error::LeaseLost { run_id: run_id.clone(), owner: proof.owner.clone(), fencing: proof.fencing, reason }
}
