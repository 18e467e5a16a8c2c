//! Asking the index, as every test of it does.

use std::collections::BTreeMap;

use briefing_core::ContextReadIntent;
use briefing_task_context::{IndexQuery, TaskContext};

/// The refs that the index offers for a query from the first source, best first.
pub(crate) async fn found(context: &TaskContext, query: &str) -> Vec<String> {
    offered(context, &ContextReadIntent::new(query).unwrap()).await
}

/// The refs that the index offers for an intent from the first source, best first; none where the source failed.
pub(crate) async fn offered(context: &TaskContext, intent: &ContextReadIntent) -> Vec<String> {
    let progress = BTreeMap::new();
    let query = IndexQuery { intent, window: 100, progress: &progress, matched_only: true };
    let snapshot = context.snapshot().await;
    let answer = context.query_index(&snapshot, query).await.unwrap();
    let offers = answer.offers.iter().take(1).flat_map(|offers| &offers.optional);
    offers.map(|offer| offer.descriptor.source_ref.to_string()).collect()
}
