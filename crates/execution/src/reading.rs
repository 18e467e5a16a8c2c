//! Reading the task's context: each consumer in each phase has a reader of its own, which the execution keeps.

use std::sync::Arc;

use briefing_context_reader::{ContextReader, ContextReading, Error as ReaderError};
use briefing_core::{
    ConsumerId, ContextConsumer, ContextPackage, ContextReadIntent, Phase, RequiredOverflow,
};
use tokio::sync::OwnedMutexGuard;

use crate::event::Event;
use crate::execution::{Shared, Step};
use crate::state::ReaderKey;
use crate::{Error, TaskExecution};

/// How often a read begins anew where a source changed while it was read.
const ATTEMPTS: usize = 4;

/// The place of one reader; empty until it has read something.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) reader: Option<ContextReader>,
}

/// What a read asks for: a query, a whole intent, or the execution's target.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum TaskIntent {
    /// Whatever serves the execution's target.
    #[default]
    Target,
    /// Whatever serves a query.
    Query(String),
    /// What an intent says.
    Intent(Box<ContextReadIntent>),
}

impl From<&str> for TaskIntent {
    fn from(query: &str) -> Self {
        Self::Query(query.to_owned())
    }
}

impl From<String> for TaskIntent {
    fn from(query: String) -> Self {
        Self::Query(query)
    }
}

impl From<ContextReadIntent> for TaskIntent {
    fn from(intent: ContextReadIntent) -> Self {
        Self::Intent(Box::new(intent))
    }
}

impl From<Option<ContextReadIntent>> for TaskIntent {
    fn from(intent: Option<ContextReadIntent>) -> Self {
        intent.map_or(Self::Target, Into::into)
    }
}

impl TaskExecution {
    /// Reads a package for a consumer in a phase. The reader pins the context anew and goes on from what it delivered
    /// before; a source that changes while it is read is read again, up to three times.
    ///
    /// A package without something that is required is not delivered: the error carries it for the audit, and neither the
    /// execution nor the reader remembers it, so that nothing of it counts as disclosed.
    ///
    /// # Errors
    /// [`Error::RequiredUndelivered`]; `context.stale` for a reader that was restored by a resume and whose context or sources
    /// have moved since, until [`refresh`](Self::refresh), and for sources that do not stop changing;
    /// [`Error::ConsumerDiffers`], [`Error::NoTarget`]; errors of the reader; and what keeps an event from being recorded.
    pub async fn read_task_context<C, P>(
        &self,
        consumer: C,
        phase: P,
        intent: impl Into<TaskIntent>,
    ) -> Result<Arc<ContextPackage>, Error>
    where
        C: TryInto<ContextConsumer>,
        P: TryInto<Phase>,
        Error: From<C::Error> + From<P::Error>,
    {
        let (consumer, phase) = (consumer.try_into()?, phase.try_into()?);
        let shared = &self.shared;
        shared.check()?;
        let intent = shared.resolve(intent.into()).await?;
        let slot = shared.slot((consumer.id().clone(), phase.clone())).await;
        let mut reader = match &slot.reader {
            Some(reader) if consumer.is_bare() || *reader.consumer() == consumer => reader.clone(),
            Some(_) => return Err(Error::ConsumerDiffers { consumer_id: consumer.id().clone(), phase }),
            None => shared.open_reader(consumer, phase).await?,
        };
        let package = read_settled(&mut reader, &intent).await?;
        if let Err(source) = reader.ensure_required_delivery(&package) {
            return Err(Error::RequiredUndelivered { package, source: Box::new(source) });
        }
        let answer = Arc::clone(&package);
        shared.keep(reader, slot, Some(package)).await?;
        Ok(answer)
    }

    /// Pins a reader to the context as it is now, for one that was restored and is stale. What has not changed stays
    /// disclosed. Answers whether anything had moved.
    ///
    /// # Errors
    /// [`Error::UnknownReader`], and what keeps an event from being recorded.
    pub async fn refresh<C, P>(&self, consumer: C, phase: P) -> Result<bool, Error>
    where
        C: TryInto<ConsumerId>,
        P: TryInto<Phase>,
        Error: From<C::Error> + From<P::Error>,
    {
        let (consumer_id, phase) = (consumer.try_into()?, phase.try_into()?);
        self.shared.check()?;
        let slot = self.shared.slot((consumer_id.clone(), phase.clone())).await;
        let Some(mut reader) = slot.reader.clone() else {
            return Err(Error::UnknownReader { consumer_id, phase });
        };
        let moved = !reader.is_current().await;
        if moved {
            reader.refresh().await;
            self.shared.keep(reader, slot, None).await?;
        }
        Ok(moved)
    }
}

/// Reads, and begins anew where a source changed meanwhile.
async fn read_settled(
    reader: &mut ContextReader,
    intent: &ContextReadIntent,
) -> Result<Arc<ContextPackage>, ReaderError> {
    let is_stale = !reader.moved_since_export().is_empty();
    let mut attempt = 1;
    loop {
        if !is_stale {
            reader.refresh().await;
        }
        match reader.read(intent).await {
            Err(ReaderError::Stale { .. }) if !is_stale && attempt < ATTEMPTS => attempt += 1,
            read => return read,
        }
    }
}

impl Shared {
    /// The intent of a read under the execution's budget policy.
    async fn resolve(&self, intent: TaskIntent) -> Result<ContextReadIntent, Error> {
        let state = self.state.lock().await;
        state.ensure_unfinished()?;
        let intent = match intent {
            TaskIntent::Query(query) => ContextReadIntent::new(query)?,
            TaskIntent::Intent(intent) => *intent,
            TaskIntent::Target => {
                ContextReadIntent::new(state.identity.target.as_ref().ok_or(Error::NoTarget)?)?
            }
        };
        Ok(match state.identity.required_overflow {
            RequiredOverflow::Fail => intent,
            lossy => intent.with_required_overflow(lossy),
        })
    }

    /// The place of a reader, held for this read alone.
    async fn slot(&self, key: ReaderKey) -> OwnedMutexGuard<Slot> {
        let slot = Arc::clone(self.readers.lock().await.entry(key).or_default());
        slot.lock_owned().await
    }

    async fn open_reader(&self, consumer: ContextConsumer, phase: Phase) -> Result<ContextReader, Error> {
        let budget = self.state.lock().await.identity.budget.clone();
        let mut builder = self.context.reader(consumer).phase(phase).budget(budget);
        builder = builder.selection_policy(self.settings.policy);
        if let Some(selector) = &self.settings.selector {
            builder = builder.selector(Arc::clone(selector));
        }
        if let Some(counter) = &self.settings.counter {
            builder = builder.token_counter(Arc::clone(counter));
        }
        Ok(builder.open().await?)
    }

    /// Records what a reader did, and puts it in its place once that is recorded. The place stays held until then, also
    /// where the caller no longer waits.
    async fn keep(
        self: &Arc<Self>,
        reader: ContextReader,
        mut slot: OwnedMutexGuard<Slot>,
        package: Option<Arc<ContextPackage>>,
    ) -> Result<(), Error> {
        let exported = reader.export_state();
        let decide = move |state: &crate::state::State| {
            let key = (reader.consumer().id().clone(), reader.phase().clone());
            let change = Box::new(exported.change_since(state.readers.get(&key))?);
            let event = match package {
                Some(package) => Event::Package { package, reader: change },
                None => Event::Refreshed { reader: change },
            };
            Ok(Step::new(vec![event], move || {
                slot.reader = Some(reader);
                Ok(())
            }))
        };
        self.commit(decide).await
    }
}
