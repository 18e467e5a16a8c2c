//! The internal index over what the bound sources offer: it authorises, ranks and pages candidates.
//!
//! The order of a question: refuse unknown kinds before any source is asked; bring each source's partition to the pinned
//! revision; authorise by the binding, the roles and the structural filters; rank; cut the window. A source that fails
//! never fails the question.

mod answer;
mod build;
mod cache;
mod config;
mod filter;
mod lexical;
mod partition;
mod rank;
mod text_store;

use std::collections::HashSet;
use std::sync::Arc;

use briefing_core::{ContextDiagnostic, Severity, VectorPolicy};
use futures::future::join_all;
use tokio::task::spawn_blocking;

pub use self::answer::{BindingOffer, Hidden, IndexAnswer, IndexQuery, IndexedDescriptor, Offer, Progress};
use self::build::BuildError;
pub use self::cache::IndexCache;
use self::cache::SyncMode;
pub use self::config::{IndexConfig, IndexStrategy};
use self::filter::Filter;
use self::partition::{Partition, Slot};
use self::rank::{Ranking, Window, Words};
use crate::{ContextSnapshot, Error, PinnedSource};

/// A question that can wait on a blocking thread: everything in it is owned.
struct Question {
    filter: Filter,
    words: Option<Words>,
    window: usize,
    matched_only: bool,
    strategy: IndexStrategy,
}

/// A synchronised partition, or why there is none.
type Synced = (PinnedSource, Result<(Arc<Partition>, SyncMode), BuildError>);

pub(crate) async fn query(
    cache: &IndexCache,
    config: &IndexConfig,
    snapshot: &ContextSnapshot,
    query: IndexQuery<'_>,
) -> Result<IndexAnswer, Error> {
    refuse_unknown_kinds(snapshot, &query)?;
    let filter = Filter::new(query.intent)?;
    if query.intent.vector_policy() == VectorPolicy::Required {
        let reason = format!("the {} index holds no vectors", config.strategy);
        return Err(Error::VectorUnavailable { reason });
    }
    let synced: Vec<Synced> =
        join_all(snapshot.sources().iter().map(|pinned| sync(cache, config, pinned))).await;
    for (pinned, result) in &synced {
        if matches!(result, Err(BuildError::Moved)) {
            return Err(Error::RevisionMoved { binding_id: pinned.binding_id.clone() });
        }
    }
    let question = Arc::new(Question {
        filter,
        words: (config.strategy == IndexStrategy::Lexical).then(|| Words::new(query.intent.query())),
        window: query.intent.candidate_limit().map_or(query.window, |limit| limit.min(query.window)),
        matched_only: query.matched_only,
        strategy: config.strategy,
    });
    let mut answer = IndexAnswer::default();
    let mut audit = Audit::new(config.strategy);
    for (pinned, result) in synced {
        let visible = admits_kind(&query, &pinned);
        let (partition, mode) = match result {
            Ok(synced) => synced,
            Err(error) => {
                audit.failure(&mut answer, &pinned, visible, &error);
                continue;
            }
        };
        let progress = query.progress.get(&pinned.binding_id).cloned().unwrap_or_default();
        let (question, source) = (Arc::clone(&question), pinned.clone());
        let asked = Arc::clone(&partition);
        let offered = spawn_blocking(move || ask(&question, &source, &asked, &progress, visible)).await;
        match offered.map_err(BuildError::from).and_then(|offered| offered) {
            Ok((offer, hidden)) => {
                answer.hidden.extend(hidden);
                if let Some(offer) = offer {
                    audit.offer(&offer, &mode);
                    answer.diagnostics.extend(source_diagnostics(&pinned, &partition));
                    answer.offers.push(offer);
                }
            }
            Err(error) => audit.failure(&mut answer, &pinned, visible, &error),
        }
    }
    answer.diagnostics.push(audit.diagnostic());
    Ok(answer)
}

fn refuse_unknown_kinds(snapshot: &ContextSnapshot, query: &IndexQuery<'_>) -> Result<(), Error> {
    let Some(wanted) = &query.intent.filters().source_kinds else { return Ok(()) };
    let mut attached: Vec<String> =
        snapshot.sources().iter().map(|pinned| pinned.source_kind().to_string()).collect();
    attached.sort();
    attached.dedup();
    let unknown: Vec<String> =
        wanted.iter().map(ToString::to_string).filter(|kind| !attached.contains(kind)).collect();
    if unknown.is_empty() { Ok(()) } else { Err(Error::UnknownSourceKind { unknown, attached }) }
}

fn admits_kind(query: &IndexQuery<'_>, pinned: &PinnedSource) -> bool {
    query.intent.filters().source_kinds.as_ref().is_none_or(|kinds| kinds.contains(pinned.source_kind()))
}

async fn sync(cache: &IndexCache, config: &IndexConfig, pinned: &PinnedSource) -> Synced {
    let result = match &pinned.revision {
        Ok(revision) => cache.partition(&pinned.source, revision, config.strategy).await,
        Err(unknown) => Err(BuildError::Source(briefing_core::SourceError::new(
            briefing_core::SourceErrorKind::Unavailable,
            unknown.message.clone(),
        ))),
    };
    (pinned.clone(), result)
}

/// What one binding offers, and what filters hide that delivery must account for. A binding whose kind is filtered out
/// offers nothing, but its required descriptors still count as hidden.
fn ask(
    question: &Question,
    pinned: &PinnedSource,
    partition: &Partition,
    progress: &Progress,
    visible: bool,
) -> Result<(Option<BindingOffer>, Vec<Hidden>), BuildError> {
    let allowed = filter::allowed(partition, pinned.binding.allowed_refs.as_deref());
    let admitted = question.filter.admitted(partition, pinned);
    let is_allowed = |slot: &Slot| allowed.as_ref().is_none_or(|allowed| allowed.contains(slot));
    let is_admitted =
        |slot: &Slot| visible && admitted.as_ref().is_none_or(|admitted| admitted.contains(slot));

    let explicit_refs = question.filter.intent.explicit_refs();
    let explicit: Vec<Slot> = if explicit_refs.is_empty() {
        Vec::new()
    } else {
        let asked = |source_ref| explicit_refs.contains(source_ref);
        partition
            .live()
            .filter(|(_, placed)| asked(&placed.descriptor.source_ref))
            .map(|(slot, _)| slot)
            .collect()
    };
    let explicit_set: HashSet<Slot> = explicit.iter().copied().collect();
    let mut anchors: Vec<Slot> = partition.required.iter().copied().chain(explicit).collect();
    anchors.sort_by(|a, b| partition.place(*a).cmp(&partition.place(*b)));
    anchors.dedup();
    anchors.retain(is_allowed);

    let mut hidden = Vec::new();
    let mut offered = Vec::new();
    for slot in &anchors {
        let Some(placed) = partition.get(*slot) else { continue };
        let descriptor = &placed.descriptor;
        if is_admitted(slot) {
            offered.push(Offer {
                descriptor: Arc::clone(descriptor),
                parent_ref: partition.parent_ref(descriptor),
                explicit: explicit_set.contains(slot),
                position: None,
                score: 0.0,
                literal: false,
            });
        } else {
            hidden.push(Hidden {
                binding_id: pinned.binding_id.clone(),
                source_ref: descriptor.source_ref.clone(),
                required: descriptor.required,
            });
        }
    }
    if !visible {
        return Ok((None, hidden));
    }
    let anchors: HashSet<Slot> = anchors.into_iter().filter(is_admitted).collect();
    let admitted = match (allowed, admitted) {
        (Some(allowed), Some(admitted)) => {
            Some(allowed.intersection(&admitted).copied().collect::<HashSet<_>>())
        }
        (one, other) => one.or(other),
    };
    let admitted = admitted.map(Arc::new);
    let ranking = Ranking {
        partition,
        words: question.words.as_ref(),
        admitted: admitted.as_ref(),
        anchors: &anchors,
        progress,
        window: question.window,
        matched_only: question.matched_only,
    };
    let Window { optional, next_offset, more, unmatched } = ranking.window()?;
    let offer = BindingOffer {
        pinned: pinned.clone(),
        strategy: question.strategy.as_str(),
        settled: progress.settled(),
        anchors: offered,
        optional,
        next_offset,
        more,
        unmatched,
    };
    Ok((Some(offer), hidden))
}

/// What the source said about its own listing, under the binding's name.
fn source_diagnostics(pinned: &PinnedSource, partition: &Partition) -> Vec<ContextDiagnostic> {
    let named =
        |diagnostic: &ContextDiagnostic| diagnostic.clone().with("binding_id", pinned.binding_id.as_str());
    partition.diagnostics.iter().map(named).collect()
}

/// Gathers how a question was answered, for the `context.index_query` diagnostic.
struct Audit {
    strategy: IndexStrategy,
    modes: Vec<&'static str>,
    fallbacks: Vec<String>,
    candidates: usize,
    failures: usize,
}

impl Audit {
    fn new(strategy: IndexStrategy) -> Self {
        Self { strategy, modes: Vec::new(), fallbacks: Vec::new(), candidates: 0, failures: 0 }
    }

    fn offer(&mut self, offer: &BindingOffer, mode: &SyncMode) {
        self.modes.push(mode.as_str());
        self.candidates += offer.anchors.len() + offer.optional.len();
        if let SyncMode::FullAfterDeltaFailure { reason } = mode {
            self.fallbacks.push(reason.clone());
        }
    }

    fn failure(
        &mut self,
        answer: &mut IndexAnswer,
        pinned: &PinnedSource,
        visible: bool,
        error: &BuildError,
    ) {
        self.failures += 1;
        if pinned.binding.required {
            answer.failed_required.push(pinned.binding_id.clone());
        }
        let severity = if visible { Severity::Error } else { Severity::Warning };
        answer.diagnostics.push(
            ContextDiagnostic::new("context.source_candidates_failed", severity)
                .with("binding_id", pinned.binding_id.as_str())
                .with("error_code", error.code())
                .with("error", error.to_string()),
        );
    }

    /// The one word that all bindings share, or `mixed`, or `not_applicable` where there is none.
    fn shared(words: impl Iterator<Item = &'static str>) -> &'static str {
        let mut words = words;
        match words.next() {
            None => "not_applicable",
            Some(first) if words.all(|word| word == first) => first,
            Some(_) => "mixed",
        }
    }

    fn diagnostic(&self) -> ContextDiagnostic {
        let cache = self.modes.iter().map(|mode| if *mode == "cache" { "hit" } else { "miss" });
        let mut diagnostic = ContextDiagnostic::new("context.index_query", Severity::Info)
            .with("requested_strategy", self.strategy.as_str())
            .with("effective_strategy", self.strategy.as_str())
            .with("cache", Self::shared(cache))
            .with("sync_mode", Self::shared(self.modes.iter().copied()))
            .with("descriptor_count", self.candidates);
        if self.failures > 0 {
            diagnostic = diagnostic.with("source_failure_count", self.failures);
        }
        if !self.fallbacks.is_empty() {
            diagnostic = diagnostic.with("sync_fallbacks", self.fallbacks.clone());
        }
        diagnostic
    }
}
