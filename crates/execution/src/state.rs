//! What an execution is: the sum of its events.

use std::collections::BTreeMap;
use std::sync::Arc;

use briefing_context_reader::ReaderState;
use briefing_core::{
    BindingId, ConsumerId, ContextConsumption, ContextEntry, ContextPackage, Digest, PackageId, Phase,
    RequestId,
};
use briefing_record_store::StoredRuntimeEvent;
use serde::{Deserialize, Serialize};

use crate::delivery::DeliveryState;
use crate::event::{EXECUTION_SCHEMA, Event, Identity, StoredBinding, check_schema};
use crate::{Error, ExecutionStatus};

/// Whose reader it is.
pub(crate) type ReaderKey = (ConsumerId, Phase);

/// Where a package is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackagePlace {
    pub(crate) package_id: PackageId,
    pub(crate) digest: Digest,
    pub(crate) sequence: u64,
}

/// What keeps an execution from going on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockedBy {
    pub(crate) code: String,
    pub(crate) reason: String,
}

/// The sum of the events so far.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) identity: Identity,
    /// The event that came last.
    pub(crate) sequence: u64,
    /// The last event that a snapshot covers.
    pub(crate) covered: u64,
    /// How often entries and bindings came or went.
    pub(crate) context_revision: u64,
    pub(crate) entries: Vec<ContextEntry>,
    pub(crate) bindings: Vec<StoredBinding>,
    pub(crate) readers: BTreeMap<ReaderKey, ReaderState>,
    pub(crate) packages: Vec<(PackagePlace, Arc<ContextPackage>)>,
    packages_by_id: BTreeMap<PackageId, usize>,
    pub(crate) consumptions: Vec<ContextConsumption>,
    consumptions_by_request: BTreeMap<RequestId, usize>,
    pub(crate) delivery: Option<DeliveryState>,
    pub(crate) blocked: Option<BlockedBy>,
    pub(crate) finished: bool,
}

/// The sum of the events up to one of them, as a snapshot keeps it: everything but the packages themselves.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema: String,
    covers: u64,
    identity: Identity,
    context_revision: u64,
    entries: Vec<ContextEntry>,
    bindings: Vec<StoredBinding>,
    readers: Vec<ReaderState>,
    packages: Vec<PackagePlace>,
    consumptions: Vec<ContextConsumption>,
    delivery: Option<DeliveryState>,
    blocked: Option<BlockedBy>,
    finished: bool,
}

impl State {
    /// The state after the first event.
    pub(crate) fn begin(identity: Identity, sequence: u64) -> Self {
        Self {
            identity,
            sequence,
            covered: 0,
            context_revision: 0,
            entries: Vec::new(),
            bindings: Vec::new(),
            readers: BTreeMap::new(),
            packages: Vec::new(),
            packages_by_id: BTreeMap::new(),
            consumptions: Vec::new(),
            consumptions_by_request: BTreeMap::new(),
            delivery: None,
            blocked: None,
            finished: false,
        }
    }

    /// The state after one more event.
    pub(crate) fn apply(&mut self, sequence: u64, event: Event) -> Result<(), Error> {
        let broken = |problem: &str| Error::Journal {
            place: format!("event {sequence}"),
            problem: problem.to_owned(),
        };
        match event {
            Event::Started(_) => return Err(broken("the execution was started before")),
            Event::Entry(entry) => {
                self.entries.push(*entry);
                self.context_revision += 1;
            }
            Event::Source(binding) => {
                self.bindings.push(*binding);
                self.context_revision += 1;
            }
            Event::Removed { binding_id } => {
                self.entries.retain(|entry| entry.id.as_ref() != Some(&binding_id));
                self.bindings.retain(|bound| bound.binding_id != binding_id);
                self.context_revision += 1;
            }
            Event::Package { package, reader } => {
                self.change_reader(*reader)?;
                self.take_package(sequence, package)?;
            }
            Event::Refreshed { reader } => self.change_reader(*reader)?,
            Event::Consumption(consumption) => self.take_consumption(consumption),
            Event::Blocked { code, reason } => self.blocked = Some(BlockedBy { code, reason }),
            Event::Finished {} => self.finished = true,
            Event::Targets { delivery_id, targets } => {
                self.delivery = Some(DeliveryState::new(delivery_id, targets));
            }
            event => {
                let delivery = self.delivery.as_mut().ok_or_else(|| broken("no targets were declared"))?;
                delivery.apply(event);
            }
        }
        self.sequence = sequence;
        Ok(())
    }

    fn change_reader(&mut self, change: briefing_context_reader::ReaderStateChange) -> Result<(), Error> {
        let key = (change.consumer().id().clone(), change.phase().clone());
        let earlier = self.readers.remove(&key);
        self.readers.insert(key, change.apply_to(earlier)?);
        Ok(())
    }

    fn take_package(&mut self, sequence: u64, package: Arc<ContextPackage>) -> Result<(), Error> {
        let place =
            PackagePlace { package_id: package.package_id().clone(), digest: package.digest(), sequence };
        if self.packages_by_id.insert(place.package_id.clone(), self.packages.len()).is_some() {
            let problem = format!("package {} is there twice", place.package_id);
            return Err(Error::Journal { place: format!("event {sequence}"), problem });
        }
        self.packages.push((place, package));
        Ok(())
    }

    fn take_consumption(&mut self, consumption: ContextConsumption) {
        self.consumptions_by_request.insert(consumption.request_id().clone(), self.consumptions.len());
        self.consumptions.push(consumption);
    }

    /// A package that was read.
    pub(crate) fn package(&self, id: &PackageId) -> Option<&Arc<ContextPackage>> {
        self.packages.get(*self.packages_by_id.get(id)?).map(|(_, package)| package)
    }

    /// What is recorded for a request.
    pub(crate) fn consumption(&self, request: &RequestId) -> Option<&ContextConsumption> {
        self.consumptions.get(*self.consumptions_by_request.get(request)?)
    }

    /// Whether an entry or a binding has the id.
    pub(crate) fn is_taken(&self, id: &BindingId) -> bool {
        self.entries.iter().any(|entry| entry.id.as_ref() == Some(id))
            || self.bindings.iter().any(|bound| bound.binding_id == *id)
    }

    /// Refuses where the execution is finished.
    pub(crate) fn ensure_unfinished(&self) -> Result<(), Error> {
        if self.finished { Err(Error::Finished) } else { Ok(()) }
    }

    /// What the execution has come to.
    pub(crate) fn status(&self) -> ExecutionStatus {
        let delivered = self.delivery.as_ref().is_some_and(DeliveryState::is_delivered);
        match &self.blocked {
            Some(BlockedBy { code, reason }) => ExecutionStatus::Blocked {
                code: code.clone(),
                reason: reason.clone(),
                finished: self.finished,
            },
            None if self.finished => ExecutionStatus::Finished { delivered },
            None if delivered => ExecutionStatus::Delivered,
            None => ExecutionStatus::Active,
        }
    }

    /// The state as a snapshot keeps it.
    pub(crate) fn to_snapshot(&self) -> Result<serde_json::Value, Error> {
        // Borrowed parts would spare the copies, but a snapshot is taken once in many events.
        let stored = Stored {
            schema: EXECUTION_SCHEMA.to_owned(),
            covers: self.sequence,
            identity: self.identity.clone(),
            context_revision: self.context_revision,
            entries: self.entries.clone(),
            bindings: self.bindings.clone(),
            readers: self.readers.values().cloned().collect(),
            packages: self.packages.iter().map(|(place, _)| place.clone()).collect(),
            consumptions: self.consumptions.clone(),
            delivery: self.delivery.clone(),
            blocked: self.blocked.clone(),
            finished: self.finished,
        };
        let malformed = |error: serde_json::Error| Error::Journal {
            place: "a new snapshot".to_owned(),
            problem: error.to_string(),
        };
        serde_json::to_value(stored).map_err(malformed)
    }

    /// The state again, from a snapshot and the packages' events up to the one that it covers.
    pub(crate) fn from_snapshot(
        snapshot_id: &str,
        value: serde_json::Value,
        packages: Vec<StoredRuntimeEvent>,
    ) -> Result<Self, Error> {
        check_schema(value.get("schema"))?;
        let broken = |problem: String| Error::Journal { place: format!("snapshot {snapshot_id}"), problem };
        let stored: Stored = serde_json::from_value(value).map_err(|error| broken(error.to_string()))?;
        let mut state = Self::begin(stored.identity, stored.covers);
        state.covered = stored.covers;
        state.context_revision = stored.context_revision;
        state.entries = stored.entries;
        state.bindings = stored.bindings;
        state.delivery = stored.delivery;
        state.blocked = stored.blocked;
        state.finished = stored.finished;
        for reader in stored.readers {
            reader.validate()?;
            state.readers.insert((reader.consumer().id().clone(), reader.phase().clone()), reader);
        }
        stored.consumptions.into_iter().for_each(|consumption| state.take_consumption(consumption));
        for event in packages {
            let sequence = event.sequence;
            if let Some(Event::Package { package, .. }) = Event::from_stored(event)? {
                state.take_package(sequence, package)?;
            }
        }
        let found: Vec<&PackagePlace> = state.packages.iter().map(|(place, _)| place).collect();
        if let Some((lost, _)) = stored
            .packages
            .iter()
            .zip(found.iter().map(Some).chain(std::iter::repeat(None)))
            .find(|(stored, found)| found.copied() != Some(stored))
        {
            return Err(broken(format!("package {} is not in event {}", lost.package_id, lost.sequence)));
        }
        if found.len() != stored.packages.len() {
            return Err(broken(format!(
                "{} packages are stored, not {}",
                found.len(),
                stored.packages.len()
            )));
        }
        Ok(state)
    }
}
