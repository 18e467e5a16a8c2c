//! The reader: one consumer, one phase, one pinned snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use briefing_core::{
    BlockId, ContextBlock, ContextBudget, ContextConsumer, ContextDiagnostic, ContextOmission,
    ContextPackage, ContextReadIntent, OmissionReason, OptionalSelection, PackageId, PackageParts,
    PackageUsage, Phase, SemanticSelector, Severity, SourceRef, TokenCounter, TokenUsage,
};
use briefing_task_context::{ContextSnapshot, IndexAnswer, IndexQuery, Progress, TaskContext};
use briefing_tokens::Tokenizer;

use crate::candidate::Candidates;
use crate::continuation::{Continuation, Continuations, Outcome};
use crate::deliver::Delivery;
use crate::disclosure::Disclosure;
use crate::fit::Ledger;
use crate::pins::{MovedPin, Pins};
use crate::select::{self, Asker, SelectionPolicy};
use crate::state::{READER_STATE_SCHEMA, ReaderState, state_error};
use crate::{Error, render};

/// How many optional candidates a binding may offer for each block that the budget allows.
const CANDIDATES_PER_BLOCK: usize = 4;

/// Makes readers of a [`TaskContext`]. A reader cannot be made or restored without its context.
pub trait ContextReading {
    /// Starts a reader for a consumer.
    fn reader(&self, consumer: ContextConsumer) -> ReaderBuilder;

    /// Starts to restore a reader from its exported state and the packages that it had read.
    fn restore_reader<P: Into<Arc<ContextPackage>>>(
        &self,
        state: ReaderState,
        packages: Vec<P>,
    ) -> RestoreBuilder;
}

impl ContextReading for TaskContext {
    fn reader(&self, consumer: ContextConsumer) -> ReaderBuilder {
        ReaderBuilder {
            context: self.clone(),
            consumer,
            phase: Phase::direct(),
            budget: ContextBudget::default(),
            settings: Settings::default(),
        }
    }

    fn restore_reader<P: Into<Arc<ContextPackage>>>(
        &self,
        state: ReaderState,
        packages: Vec<P>,
    ) -> RestoreBuilder {
        let packages = packages.into_iter().map(Into::into).collect();
        RestoreBuilder { context: self.clone(), state, packages, settings: Settings::default() }
    }
}

/// What a reader is given beside who reads and how much.
#[derive(Clone, Default)]
struct Settings {
    selector: Option<Arc<dyn SemanticSelector>>,
    policy: SelectionPolicy,
    counter: Option<Arc<dyn TokenCounter>>,
}

impl Settings {
    /// The counter for the budget's tokens: the given one, or a built-in one.
    fn counter_for(&self, budget: &ContextBudget) -> Result<Option<Arc<dyn TokenCounter>>, Error> {
        let Some(limit) = budget.token_budget() else { return Ok(None) };
        match &self.counter {
            Some(counter) if counter.encoding() == limit.encoding() => Ok(Some(Arc::clone(counter))),
            Some(counter) => Err(Error::EncodingMismatch {
                counter: counter.encoding().to_owned(),
                budget: limit.encoding().to_owned(),
            }),
            None => {
                let encoding = limit.encoding().parse();
                let encoding =
                    encoding.map_err(|_| Error::UnknownEncoding { encoding: limit.encoding().to_owned() })?;
                Ok(Some(Arc::new(Tokenizer::new(encoding))))
            }
        }
    }
}

/// Opens a reader.
#[derive(Clone)]
pub struct ReaderBuilder {
    context: TaskContext,
    consumer: ContextConsumer,
    phase: Phase,
    budget: ContextBudget,
    settings: Settings,
}

impl std::fmt::Debug for ReaderBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReaderBuilder")
            .field("consumer", &self.consumer)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

impl ReaderBuilder {
    /// Sets the phase; `direct` where left out.
    #[must_use]
    pub fn phase(mut self, phase: Phase) -> Self {
        self.phase = phase;
        self
    }

    /// Sets what each package may cost.
    #[must_use]
    pub fn budget(mut self, budget: ContextBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Sets who chooses among optional candidates.
    #[must_use]
    pub fn selector(mut self, selector: Arc<dyn SemanticSelector>) -> Self {
        self.settings.selector = Some(selector);
        self
    }

    /// Sets what happens without a selector.
    #[must_use]
    pub fn selection_policy(mut self, policy: SelectionPolicy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Sets who counts tokens; the built-in counters of `o200k_base` and `cl100k_base` need not be set.
    #[must_use]
    pub fn token_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.settings.counter = Some(counter);
        self
    }

    /// Pins the context and opens the reader.
    ///
    /// # Errors
    /// [`Error::Value`] for a budget with a zero in it; [`Error::UnknownEncoding`] or [`Error::EncodingMismatch`] where its
    /// tokens cannot be counted.
    pub async fn open(self) -> Result<ContextReader, Error> {
        self.budget.validate()?;
        let counter = self.settings.counter_for(&self.budget)?;
        Ok(ContextReader {
            snapshot: self.context.snapshot().await,
            context: self.context,
            consumer: self.consumer,
            phase: self.phase,
            budget: self.budget,
            settings: self.settings,
            counter,
            disclosure: Disclosure::default(),
            continuations: Continuations::default(),
            packages: Vec::new(),
            restored_stale: None,
        })
    }
}

/// Restores a reader.
#[derive(Clone)]
pub struct RestoreBuilder {
    context: TaskContext,
    state: ReaderState,
    packages: Vec<Arc<ContextPackage>>,
    settings: Settings,
}

impl std::fmt::Debug for RestoreBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RestoreBuilder").field("state", &self.state).finish_non_exhaustive()
    }
}

impl RestoreBuilder {
    /// Sets who chooses among optional candidates; a selector is never part of the state.
    #[must_use]
    pub fn selector(mut self, selector: Arc<dyn SemanticSelector>) -> Self {
        self.settings.selector = Some(selector);
        self
    }

    /// Sets what happens without a selector.
    #[must_use]
    pub fn selection_policy(mut self, policy: SelectionPolicy) -> Self {
        self.settings.policy = policy;
        self
    }

    /// Sets who counts tokens.
    #[must_use]
    pub fn token_counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.settings.counter = Some(counter);
        self
    }

    /// Restores the reader for the consumer and phase that the caller expects. Where the context or a source has moved
    /// since the export, the reader is stale until it is refreshed.
    ///
    /// # Errors
    /// [`Error::State`] naming the field that belongs to another context, consumer, phase or set of packages.
    pub async fn restore(self, consumer_id: &str, phase: &str) -> Result<ContextReader, Error> {
        let state = self.state;
        let expectations = [
            ("task_context_id", state.task_context_id.as_str(), self.context.id().as_str()),
            ("consumer.id", state.consumer.id().as_str(), consumer_id),
            ("phase", state.phase.as_str(), phase),
        ];
        for (field, found, expected) in expectations {
            if found != expected {
                return Err(state_error(field, format!("found {found:?}, expected {expected:?}")));
            }
        }
        state.check_packages(&self.packages)?;
        for package in &self.packages {
            belongs(package, &self.context, &state.consumer, &state.phase)?;
        }
        let counter = self.settings.counter_for(&state.budget)?;
        let snapshot = self.context.snapshot().await;
        let exported = Pins { context: state.context_revision, sources: state.source_revisions.clone() };
        let moved = exported != Pins::of(&snapshot);
        Ok(ContextReader {
            disclosure: state.disclosure(),
            continuations: state.continuations(),
            packages: self.packages,
            restored_stale: moved.then_some(exported),
            context: self.context,
            consumer: state.consumer,
            phase: state.phase,
            budget: state.budget,
            settings: self.settings,
            counter,
            snapshot,
        })
    }
}

/// What the index answered, the snapshot that it answered for, and how far earlier reads of the intent had come.
struct Collected {
    snapshot: ContextSnapshot,
    before: BTreeMap<briefing_core::BindingId, Progress>,
    answer: IndexAnswer,
}

/// Retrieval bound to one consumer and phase. It pins the context when it is opened, and remembers what it delivered.
///
/// A clone remembers the same and goes its own way from there: whoever must not keep a read that fails later reads with a
/// clone, and keeps the clone when all is well.
#[derive(Clone)]
pub struct ContextReader {
    context: TaskContext,
    consumer: ContextConsumer,
    phase: Phase,
    budget: ContextBudget,
    settings: Settings,
    counter: Option<Arc<dyn TokenCounter>>,
    snapshot: ContextSnapshot,
    disclosure: Disclosure,
    continuations: Continuations,
    packages: Vec<Arc<ContextPackage>>,
    /// What a restored reader was exported with and no longer finds.
    restored_stale: Option<Pins>,
}

impl std::fmt::Debug for ContextReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContextReader")
            .field("consumer", &self.consumer)
            .field("phase", &self.phase)
            .field("packages", &self.packages.len())
            .finish_non_exhaustive()
    }
}

impl ContextReader {
    /// Whether nothing has moved since the reader pinned its context.
    pub async fn is_current(&self) -> bool {
        self.restored_stale.is_none() && self.context.is_current(&self.snapshot).await
    }

    /// What moved between the export of a restored reader and its restoration; empty for any other reader, and after
    /// [`refresh`](Self::refresh).
    #[must_use]
    pub fn moved_since_export(&self) -> Vec<MovedPin> {
        let moved = self.restored_stale.as_ref().map(|exported| exported.moved(&Pins::of(&self.snapshot)));
        moved.unwrap_or_default()
    }

    /// Pins the context anew. Content that has not changed stays disclosed.
    pub async fn refresh(&mut self) {
        self.snapshot = self.context.snapshot().await;
        self.restored_stale = None;
    }

    /// Who reads.
    #[must_use]
    pub fn consumer(&self) -> &ContextConsumer {
        &self.consumer
    }

    /// In which phase.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The packages that this reader has read, oldest first.
    #[must_use]
    pub fn packages(&self) -> &[Arc<ContextPackage>] {
        &self.packages
    }

    /// Reads a package. Dropping the future delivers nothing and remembers nothing.
    ///
    /// # Errors
    /// [`Error::Stale`] where the context or a source moved; [`Error::Context`] for an intent that the context refuses;
    /// [`Error::BudgetTooSmall`] where not even an empty package fits. Failing sources and selectors are omissions and
    /// diagnostics of the package.
    pub async fn read(&mut self, intent: &ContextReadIntent) -> Result<Arc<ContextPackage>, Error> {
        if let Some(exported) = &self.restored_stale {
            let what = "the context or a source changed since the reader was exported";
            return Err(exported.stale(what, &Pins::of(&self.snapshot)));
        }
        self.check_current(&self.snapshot, "the context or a source changed after the reader pinned it")
            .await?;
        let fingerprint = intent.fingerprint();
        let Collected { snapshot, before, answer } = self.collect(intent).await?;
        let images = self.consumer.accepts_images();
        let candidates = Candidates::collect(&snapshot, &answer, intent, images)?;
        let ledger = self.ledger().await?;
        let budget = self.budget.clone();
        let mut delivery = Delivery::new(intent, &budget, images, ledger);
        delivery.diagnostics.clone_from(&answer.diagnostics);

        self.account_for_hidden(intent, &answer, &candidates, &mut delivery);
        let mut optional = Vec::new();
        for candidate in candidates.optional {
            if self.disclosure.holds(&candidate, fingerprint) {
                delivery.omit(&candidate, OmissionReason::AlreadyDisclosed);
            } else {
                optional.push(candidate);
            }
        }
        delivery.deliver(&candidates.anchors).await?;
        let (covered, open): (Vec<_>, Vec<_>) =
            optional.into_iter().partition(|candidate| delivery.is_covered(candidate));
        covered
            .iter()
            .for_each(|candidate| delivery.omit(candidate, OmissionReason::CoveredByCompleteParent));
        note_unmatched(intent, &answer, open.is_empty(), &mut delivery);
        let asker = Asker {
            intent,
            consumer_id: self.consumer.id(),
            phase: &self.phase,
            selector: self.settings.selector.as_ref(),
            policy: self.settings.policy,
        };
        let chosen = select::choose(&asker, open, &mut delivery).await;
        delivery.deliver(&chosen).await?;
        delivery.withdraw_covered();

        let tokens = self.fit_tokens(&mut delivery).await?;
        self.check_current(&snapshot, "the context or a source changed while the package was read").await?;
        self.seal(intent, snapshot, &answer, &before, delivery, tokens)
    }

    /// Checks that a package of this reader carries everything that it had to.
    ///
    /// # Errors
    /// [`Error::ForeignPackage`] for another reader's package; [`Error::RequiredUndelivered`] naming what is missing.
    pub fn ensure_required_delivery(&self, package: &ContextPackage) -> Result<(), Error> {
        belongs(package, &self.context, &self.consumer, &self.phase)?;
        crate::required::ensure_required(package)
    }

    /// What the reader remembers, to be stored. Its packages are stored beside it.
    #[must_use]
    pub fn export_state(&self) -> ReaderState {
        let continuations =
            self.continuations.all.iter().map(|((binding_id, intent), (revision, progress))| Continuation {
                binding_id: binding_id.clone(),
                source_revision: revision.clone(),
                intent: *intent,
                progress: progress.clone(),
            });
        let pins = self.restored_stale.clone().unwrap_or_else(|| Pins::of(&self.snapshot));
        ReaderState {
            schema: READER_STATE_SCHEMA.to_owned(),
            task_context_id: self.context.id().clone(),
            consumer: self.consumer.clone(),
            phase: self.phase.clone(),
            budget: self.budget.clone(),
            context_revision: pins.context,
            source_revisions: pins.sources,
            disclosed: self.disclosure.seen.iter().cloned().collect(),
            continuations: continuations.collect(),
            packages: self.packages.iter().map(|package| package.package_id().clone()).collect(),
        }
    }

    async fn check_current(&self, snapshot: &ContextSnapshot, what: &str) -> Result<(), Error> {
        if self.context.is_current(snapshot).await {
            return Ok(());
        }
        let now = self.context.snapshot().await;
        Err(Pins::of(snapshot).stale(what, &Pins::of(&now)))
    }

    async fn ledger(&self) -> Result<Option<Ledger>, Error> {
        match (&self.counter, self.budget.token_budget()) {
            (Some(counter), Some(limit)) => {
                Ok(Some(Ledger::open(Arc::clone(counter), limit.format(), limit.max_tokens()).await?))
            }
            _ => Ok(None),
        }
    }

    /// Asks the index. Where listing a source moved its revision and the context stayed, the context is pinned once more.
    async fn collect(&self, intent: &ContextReadIntent) -> Result<Collected, Error> {
        match self.ask(intent, self.snapshot.clone()).await {
            Err(Error::Stale { .. }) => {
                let again = self.context.snapshot().await;
                if again.context_revision() != self.snapshot.context_revision() {
                    return Err(Error::stale("the context changed while its sources were listed"));
                }
                self.ask(intent, again).await
            }
            answered => answered,
        }
    }

    async fn ask(&self, intent: &ContextReadIntent, snapshot: ContextSnapshot) -> Result<Collected, Error> {
        let before = self.continuations.of(intent.fingerprint(), &snapshot);
        let ranked = self.settings.selector.is_none() && self.settings.policy == SelectionPolicy::Ranked;
        let query = IndexQuery {
            intent,
            window: self.budget.max_blocks().saturating_mul(CANDIDATES_PER_BLOCK),
            progress: &before,
            matched_only: ranked && intent.optional_selection() == OptionalSelection::Select,
        };
        let answer = self.context.query_index(&snapshot, query).await?;
        Ok(Collected { snapshot, before, answer })
    }

    /// Omissions for what must be accounted for although no candidate stands for it.
    fn account_for_hidden(
        &self,
        intent: &ContextReadIntent,
        answer: &IndexAnswer,
        candidates: &Candidates,
        delivery: &mut Delivery<'_>,
    ) {
        for binding_id in &answer.failed_required {
            delivery.diagnostics.push(
                ContextDiagnostic::new("context.required_source_failed", Severity::Error)
                    .with("binding_id", binding_id.as_str()),
            );
        }
        for candidate in &candidates.in_prompt {
            delivery.omissions.push(ContextOmission {
                binding_id: Some(candidate.binding_id.clone()),
                source_ref: candidate.source_ref.clone(),
                reason: OmissionReason::AlreadyInPrompt,
                required: false,
            });
        }
        let filtered = |required| match required {
            true => OmissionReason::RequiredFiltered,
            false => OmissionReason::ExplicitRefFiltered,
        };
        for candidate in &candidates.hidden_entries {
            delivery.omissions.push(ContextOmission {
                binding_id: Some(candidate.binding_id.clone()),
                source_ref: candidate.source_ref.clone(),
                reason: filtered(candidate.required),
                required: true,
            });
        }
        for hidden in &answer.hidden {
            delivery.omissions.push(ContextOmission {
                binding_id: Some(hidden.binding_id.clone()),
                source_ref: hidden.source_ref.clone(),
                reason: filtered(hidden.required),
                required: true,
            });
        }
        let known: BTreeSet<&SourceRef> = candidates
            .anchors
            .iter()
            .chain(&candidates.hidden_entries)
            .chain(&candidates.in_prompt)
            .map(|candidate| &candidate.source_ref)
            .chain(answer.hidden.iter().map(|hidden| &hidden.source_ref))
            .collect();
        for source_ref in intent.explicit_refs().iter().filter(|source_ref| !known.contains(source_ref)) {
            delivery.omissions.push(ContextOmission {
                binding_id: None,
                source_ref: source_ref.clone(),
                reason: OmissionReason::ExplicitRefUnknown,
                required: true,
            });
        }
    }

    /// Counts the rendered package as a whole and withdraws blocks until it fits.
    async fn fit_tokens(&self, delivery: &mut Delivery<'_>) -> Result<Option<TokenUsage>, Error> {
        let Some(ledger) = delivery.ledger().cloned() else { return Ok(None) };
        loop {
            let blocks: Vec<ContextBlock> = delivery.blocks.iter().map(|(_, block)| block.clone()).collect();
            let text = render::whole(&blocks, &delivery.omissions, &delivery.diagnostics, ledger.format());
            let tokens = ledger.count(text).await?;
            if tokens <= ledger.max_tokens() {
                let (encoding, format) = (ledger.encoding().to_owned(), ledger.format());
                return Ok(Some(TokenUsage { encoding, format, tokens }));
            }
            if !delivery.withdraw_last() {
                return Err(Error::BudgetTooSmall { max_tokens: ledger.max_tokens(), needed: tokens });
            }
        }
    }

    /// Seals the package and remembers what it delivered. Nothing is remembered unless everything succeeded.
    fn seal(
        &mut self,
        intent: &ContextReadIntent,
        snapshot: ContextSnapshot,
        answer: &IndexAnswer,
        before: &BTreeMap<briefing_core::BindingId, Progress>,
        delivery: Delivery<'_>,
        tokens: Option<TokenUsage>,
    ) -> Result<Arc<ContextPackage>, Error> {
        let fingerprint = intent.fingerprint();
        let (at_start, untouched) = (Progress::default(), Outcome::default());
        let mut coverage = BTreeMap::new();
        let mut steps = Vec::new();
        for offer in &answer.offers {
            let binding_id = &offer.pinned.binding_id;
            let outcome = delivery.outcomes.get(binding_id).unwrap_or(&untouched);
            let before = before.get(binding_id).unwrap_or(&at_start);
            coverage.insert(binding_id.clone(), outcome.coverage(before, offer));
            if let Ok(revision) = &offer.pinned.revision {
                steps.push((binding_id.clone(), revision.clone(), outcome.progress(before, offer)));
            }
        }
        let mut disclosure = self.disclosure.clone();
        let mut blocks = Vec::with_capacity(delivery.blocks.len());
        for (number, (candidate, mut block)) in (1..).zip(delivery.blocks) {
            disclosure.record(&candidate, block.completeness, fingerprint);
            block.block_id = BlockId::new(format!("b{number}"))?;
            blocks.push(block);
        }
        let package = ContextPackage::seal(PackageParts {
            package_id: PackageId::new(self.context.environment().new_id("pkg"))?,
            task_context_id: self.context.id().clone(),
            context_revision: snapshot.context_revision(),
            consumer_id: self.consumer.id().clone(),
            phase: self.phase.clone(),
            query: intent.query().to_owned(),
            budget: self.budget.clone(),
            usage: PackageUsage { chars: blocks.iter().map(|block| block.content_chars).sum(), tokens },
            source_revisions: Pins::of(&snapshot).sources,
            source_coverage: coverage,
            blocks,
            omissions: delivery.omissions,
            diagnostics: delivery.diagnostics,
        })?;
        let package = Arc::new(package);
        self.snapshot = snapshot;
        self.disclosure = disclosure;
        self.continuations.advance(fingerprint, steps);
        self.packages.push(Arc::clone(&package));
        Ok(package)
    }
}

/// Says so where a query matched nothing although there was something to match.
fn note_unmatched(
    intent: &ContextReadIntent,
    answer: &IndexAnswer,
    nothing_open: bool,
    delivery: &mut Delivery<'_>,
) {
    let unmatched: usize = answer.offers.iter().map(|offer| offer.unmatched).sum();
    let offered_before = answer.offers.iter().any(|offer| offer.settled > 0);
    if nothing_open
        && unmatched > 0
        && !offered_before
        && intent.optional_selection() == OptionalSelection::Select
    {
        delivery.diagnostics.push(
            ContextDiagnostic::new("context.nothing_matched", Severity::Warning)
                .with("candidate_count", unmatched),
        );
    }
}

fn belongs(
    package: &ContextPackage,
    context: &TaskContext,
    consumer: &ContextConsumer,
    phase: &Phase,
) -> Result<(), Error> {
    let expectations = [
        ("task_context_id", package.task_context_id().as_str(), context.id().as_str()),
        ("consumer_id", package.consumer_id().as_str(), consumer.id().as_str()),
        ("phase", package.phase().as_str(), phase.as_str()),
    ];
    for (field, found, expected) in expectations {
        if found != expected {
            return Err(Error::ForeignPackage {
                field,
                found: found.to_owned(),
                expected: expected.to_owned(),
            });
        }
    }
    Ok(())
}
