//! Consumption: which blocks a successful request worked with.

use std::sync::Arc;

use briefing_core::{BlockId, ConsumerId, ContextConsumption, ContextPackage, PackageId, Phase, RequestId};

use crate::event::Event;
use crate::execution::Step;
use crate::state::State;
use crate::{Error, TaskExecution};

impl TaskExecution {
    /// Records that a request worked with a package: with all of its blocks, or with those that are named. It is called
    /// after the response came; a request that failed consumed nothing. The same request with the same content is answered
    /// as it is recorded, so a caller that does not know whether it had recorded it asks again.
    ///
    /// # Errors
    /// [`Error::ForeignPackage`] for a package of another execution; [`Error::RequestConflict`] where the request is recorded
    /// with other content; [`Error::Value`] for a blank request, or blocks that the package does not hold; and what keeps an
    /// event from being recorded.
    pub async fn record_consumption<R>(
        &self,
        package: &ContextPackage,
        request_id: R,
        block_ids: Option<Vec<BlockId>>,
    ) -> Result<ContextConsumption, Error>
    where
        R: TryInto<RequestId>,
        Error: From<R::Error>,
    {
        let request_id = request_id.try_into()?;
        let consumption = match block_ids {
            None => ContextConsumption::of(package, request_id),
            Some(block_ids) => ContextConsumption::of_blocks(package, request_id, block_ids)?,
        };
        let (digest, execution_id) = (package.digest(), self.shared.execution_id.clone());
        let decide = move |state: &State| {
            let package_id = consumption.package_id();
            if state.package(package_id).is_none_or(|known| known.digest() != digest) {
                return Err(Error::ForeignPackage { package_id: package_id.clone(), execution_id });
            }
            match state.consumption(consumption.request_id()) {
                None => Ok(Step::answering(Event::Consumption(consumption.clone()), consumption)),
                Some(recorded) if *recorded == consumption => {
                    Ok(Step::new(Vec::new(), move || Ok(consumption)))
                }
                Some(recorded) => Err(Error::RequestConflict {
                    request_id: consumption.request_id().clone(),
                    package_id: recorded.package_id().clone(),
                }),
            }
        };
        self.shared.commit(decide).await
    }

    /// A package of this execution.
    pub async fn package(&self, id: &PackageId) -> Option<Arc<ContextPackage>> {
        self.shared.state.lock().await.package(id).cloned()
    }

    /// All packages of this execution, oldest first.
    pub async fn packages(&self) -> Vec<Arc<ContextPackage>> {
        self.shared.state.lock().await.packages.iter().map(|(_, package)| Arc::clone(package)).collect()
    }

    /// What is recorded for a request.
    pub async fn consumption(&self, request_id: &RequestId) -> Option<ContextConsumption> {
        self.shared.state.lock().await.consumption(request_id).cloned()
    }

    /// The packages that a consumer read in a phase and that no request has consumed, oldest first. A worker that comes back
    /// after a crash goes on with these: reading again would not deliver what counts as disclosed already.
    pub async fn unconsumed(&self, consumer_id: &ConsumerId, phase: &Phase) -> Vec<Arc<ContextPackage>> {
        let state = self.shared.state.lock().await;
        let is_consumed =
            |id: &PackageId| state.consumptions.iter().any(|consumption| consumption.package_id() == id);
        let packages = state.packages.iter().map(|(_, package)| package);
        packages
            .filter(|package| package.consumer_id() == consumer_id && package.phase() == phase)
            .filter(|package| !is_consumed(package.package_id()))
            .cloned()
            .collect()
    }
}
