//! Replays the recorded behaviour of a real peer, scenario by scenario.
//!
//! The recording is found through `BRIEFING_GOLDEN`, through `BRIEFING_SHARED`, or beside the workspace. A scenario either
//! matches, or stands in `DIFFERS` with the reason why ours is deliberately different; a scenario that stands there but
//! matches fails as well, so that the table stays true.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod golden_support;

use golden_support::{Scenario, load, replay, say};

/// Scenarios in which ours is deliberately different, and why.
#[rustfmt::skip]
const DIFFERS: &[(&str, &str)] = &[
    ("required_ties_many", "tied required content comes in the order in which it was offered"),
    ("explicit_ref_unknown", "a ref asked for by name that nobody offers is an omission, and delivery fails on it"),
    ("metadata_max_block_chars_direct_entry", "max_block_chars holds for direct entries too"),
    ("source_exceeds_read_limit_optional", "an optional read larger than its limit is truncated, never complete"),
    ("selector_overselects", "a candidate that waits for budget keeps its binding from being exhaustive"),
    ("selector_overselects_blocks", "a candidate that waits for budget keeps its binding from being exhaustive"),
    ("continuation_per_binding", "a candidate that waits for budget keeps its binding from being exhaustive"),
    ("continuation_skips_undelivered", "a candidate that waits for budget keeps its binding from being exhaustive"),
    ("continuation_held_on_read_failure", "a candidate whose read failed keeps its binding from being exhaustive"),
    ("read_failure_optional_and_required", "a candidate whose read failed keeps its binding from being exhaustive"),
    ("source_bumps_during_selection", "a revision that moves during selection is stale, for sources and entries alike"),
    ("put_during_selection_direct", "a revision that moves during selection is stale, for sources and entries alike"),
    ("refs_only_counts_as_disclosed", "delivering a reference is not disclosing the content"),
    ("filters_are_in_fingerprint", "anchors never fill the window of the optional candidates"),
    ("filter_source_kinds_empty", "a malformed filter is the caller's error, raised before any source is asked"),
    ("filter_include_hidden", "a malformed filter is the caller's error, raised before any source is asked"),
    ("filter_max_file_bytes", "a malformed filter is the caller's error, raised before any source is asked"),
    ("filter_source_kinds_hides_required", "required content that a filter hides is an omission, and delivery fails on it"),
    ("filter_roles", "required content that a filter hides is an omission, and delivery fails on it"),
    ("filter_hides_required_descriptor", "required content that a filter hides is an omission, and delivery fails on it"),
    ("allowed_refs_empty_and_invalid", "a malformed allowed_refs is the caller's error, raised when the source is attached"),
    ("exclude_already_in_prompt", "what the caller's prompt already holds is an omission like any other"),
    ("parent_in_other_binding", "only a parent of the same binding covers a part"),
    ("pdf_without_parsed_text", "a required document that could only be delivered as a reference counts as not delivered"),
    ("image_attachments_flag", "attachments.image = true is the only thing that enables images"),
    ("image_failure_still_continues", "a picture whose read failed is offered again"),
    ("type_hint_conflicts_1", "a suffix that nobody listed is judged by the bytes: text is text"),
    ("type_hint_conflicts_2", "audio and video are kinds of their own"),
    ("type_hint_conflicts_3", "a path in the metadata is a signal beside the ref"),
    ("metadata_only_declared", "metadata of withheld entries is cut to host-checkable facts too"),
    ("scoped_read_required", "required content is read whole, never through a query window"),
    ("restore_malformed", "every field of a reader state is required: nothing is forgotten silently"),
    ("restore_after_bump", "a stale restored reader says so until it is refreshed"),
    ("export_nested_capabilities", "exported state is always valid JSON"),
    ("lexical_cjk", "words are ranked by BM25 over an analyser that finds CJK words"),
    ("lexical_substring_terms", "words are matched as words and identifier parts, not as substrings"),
    ("hybrid_ranking", "hybrid retrieval is not offered yet: the strategy is refused with a typed error"),
    ("hybrid_candidate_window", "hybrid retrieval is not offered yet: the strategy is refused with a typed error"),
    ("hybrid_build_fails", "hybrid retrieval is not offered yet: the strategy is refused with a typed error"),
    ("hybrid_query_fails", "hybrid retrieval is not offered yet: the strategy is refused with a typed error"),
    ("hybrid_single_candidate", "hybrid retrieval is not offered yet: the strategy is refused with a typed error"),
    ("no_change_feed_full_rebuild", "a partition holds the latest revision only; going back lists the source again"),
    ("same_source_id_two_bindings", "two bindings that share an id but not a source do not share a listing"),
    ("structured_content_chars", "structured content is measured by its JSON text, as it is delivered"),
];

#[test]
fn every_recorded_scenario_matches_or_differs_by_design() {
    let Some(scenarios) = load() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (mut matching, mut differing, mut failing) = (0, 0, Vec::new());
    for scenario in &scenarios {
        let name = scenario.name();
        let differences = runtime.block_on(replay(scenario));
        let reason = DIFFERS.iter().find(|(differs, _)| *differs == name).map(|(_, reason)| *reason);
        match (differences.is_empty(), reason) {
            (true, None) => {
                matching += 1;
                say(&format!("{name}: ok"));
            }
            (false, Some(reason)) => {
                differing += 1;
                say(&format!("{name}: differs by design: {reason}"));
            }
            (true, Some(_)) => failing.push(format!("{name}: FAILS: it matches, take it out of the table")),
            (false, None) => {
                let quirk = Scenario::quirk(scenario).unwrap_or("none");
                failing.push(format!("{name}: FAILS (quirk: {quirk})\n  {}", differences.join("\n  ")));
            }
        }
    }
    let unknown: Vec<_> = DIFFERS
        .iter()
        .filter(|(name, _)| !scenarios.iter().any(|scenario| scenario.name() == *name))
        .collect();
    failing.iter().for_each(|failure| say(failure));
    let (failed, all) = (failing.len(), scenarios.len());
    say(&format!("golden: {matching} ok, {differing} differ by design, {failed} fail, of {all}"));
    assert!(
        failing.is_empty() && unknown.is_empty(),
        "{} scenarios fail, unknown names: {unknown:?}",
        failing.len()
    );
}
