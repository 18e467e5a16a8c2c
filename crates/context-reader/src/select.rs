//! Chooses among optional candidates.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use briefing_core::{
    ConsumerId, ContextDiagnostic, ContextReadIntent, DeliveryMode, OmissionReason, OneOrMany,
    OptionalSelection, Phase, SelectionRequest, SemanticSelector, Severity,
};
use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, Origin};
use crate::deliver::Delivery;

/// What happens to several optional candidates where no selector is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionPolicy {
    /// The index's order decides until the budget is used, and a diagnostic says so. A ranking index leaves out what holds
    /// no word of the query.
    #[default]
    Ranked,
    /// Nothing optional is read: relevance is for a selector alone to judge.
    SemanticOnly,
}

/// Who asks, for a selector to know.
pub(crate) struct Asker<'a> {
    pub(crate) intent: &'a ContextReadIntent,
    pub(crate) consumer_id: &'a ConsumerId,
    pub(crate) phase: &'a Phase,
    pub(crate) selector: Option<&'a Arc<dyn SemanticSelector>>,
    pub(crate) policy: SelectionPolicy,
}

/// Returns the chosen candidates in reading order; the others are omitted in `delivery`.
pub(crate) async fn choose(
    asker: &Asker<'_>,
    candidates: Vec<Candidate>,
    delivery: &mut Delivery<'_>,
) -> Vec<Candidate> {
    if candidates.is_empty() {
        return candidates;
    }
    let refuse = |delivery: &mut Delivery<'_>, reason| {
        candidates.iter().for_each(|candidate| delivery.omit(candidate, reason));
        Vec::new()
    };
    if asker.intent.optional_selection() == OptionalSelection::None {
        return refuse(delivery, OmissionReason::ExplicitlySkipped);
    }
    let budget = delivery.selection_budget();
    let spent =
        budget.available_chars == 0 || budget.available_blocks == 0 || budget.available_tokens == Some(0);
    if spent {
        return refuse(delivery, OmissionReason::SelectionBudgetExhausted);
    }
    if exactly_scoped(asker.intent, &candidates) || (asker.selector.is_none() && candidates.len() == 1) {
        return candidates;
    }
    let Some(selector) = asker.selector else {
        return match asker.policy {
            SelectionPolicy::Ranked => ranked(candidates, delivery),
            SelectionPolicy::SemanticOnly => {
                delivery.diagnostics.push(
                    ContextDiagnostic::new("context.semantic_selector_unavailable", Severity::Warning)
                        .with("candidate_count", candidates.len()),
                );
                refuse(delivery, OmissionReason::SemanticSelectorUnavailable)
            }
        };
    };
    let refs_only = asker.intent.delivery_mode() == DeliveryMode::RefsOnly;
    let key = |n: usize| format!("c{}", n + 1);
    let request = SelectionRequest {
        intent: asker.intent.clone(),
        consumer_id: asker.consumer_id.clone(),
        phase: asker.phase.clone(),
        candidates: candidates
            .iter()
            .enumerate()
            .map(|(n, candidate)| candidate.card(key(n), refs_only))
            .collect(),
        guidance: delivery.guidance(),
        budget,
    };
    let keys = match selector.select(&request).await {
        Ok(keys) => keys,
        Err(error) => {
            delivery.diagnostics.push(
                ContextDiagnostic::new("context.selection_failed", Severity::Error)
                    .with("error", error.to_string()),
            );
            return refuse(delivery, OmissionReason::SelectionFailed);
        }
    };
    let offered: BTreeMap<String, usize> = (0..candidates.len()).map(|n| (key(n), n)).collect();
    let unknown: Vec<&str> =
        keys.iter().map(String::as_str).filter(|key| !offered.contains_key(*key)).collect();
    let repeated = keys.iter().collect::<BTreeSet<_>>().len() < keys.len();
    if !unknown.is_empty() || repeated {
        delivery.diagnostics.push(
            ContextDiagnostic::new("context.selection_invalid", Severity::Error)
                .with("unknown_keys", unknown)
                .with("duplicate_keys", repeated),
        );
        return refuse(delivery, OmissionReason::SelectionInvalid);
    }
    let chosen: Vec<usize> = keys.iter().filter_map(|key| offered.get(key).copied()).collect();
    for (n, candidate) in candidates.iter().enumerate() {
        if !chosen.contains(&n) {
            delivery.omit(candidate, OmissionReason::NotSelected);
        }
    }
    chosen.into_iter().filter_map(|n| candidates.get(n).cloned()).collect()
}

/// Whether a path filter names the one candidate that is left.
fn exactly_scoped(intent: &ContextReadIntent, candidates: &[Candidate]) -> bool {
    let Some(OneOrMany::One(path)) = &intent.filters().path else { return false };
    let [candidate] = candidates else { return false };
    let stated = candidate.metadata().get("path").and_then(|path| path.as_str());
    stated.unwrap_or(candidate.source_ref.as_str()) == path
}

/// Entries first, since the application put them by hand; then literal hits, then by score across all sources.
fn ranked(mut candidates: Vec<Candidate>, delivery: &mut Delivery<'_>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| {
        let rank = |candidate: &Candidate| match &candidate.origin {
            Origin::Entry(_) => (false, Reverse(candidate.priority), Reverse(false)),
            Origin::Source { offer, .. } => (true, Reverse(0), Reverse(offer.literal)),
        };
        let score = |candidate: &Candidate| match &candidate.origin {
            Origin::Entry(_) => 0.0,
            Origin::Source { offer, .. } => offer.score,
        };
        rank(a).cmp(&rank(b)).then(score(b).total_cmp(&score(a)))
    });
    delivery.diagnostics.push(
        ContextDiagnostic::new("context.selection_ranked", Severity::Info)
            .with("candidate_count", candidates.len()),
    );
    candidates
}
