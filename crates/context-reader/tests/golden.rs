//! Replays the recorded behaviour of a real peer, scenario by scenario.
//!
//! The recording is found through `BRIEFING_GOLDEN`, through `BRIEFING_SHARED`, or beside the workspace. A scenario either
//! matches, or stands in `DIFFERS` with the reason why ours is deliberately different; a scenario that stands there but
//! matches fails as well, so that the table stays true.

mod golden_support;

use golden_support::{Scenario, load, replay};

/// Scenarios in which ours is deliberately different, and why.
const DIFFERS: &[(&str, &str)] = &[];

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
                println!("{name}: ok");
            }
            (false, Some(reason)) => {
                differing += 1;
                println!("{name}: differs by design: {reason}");
            }
            (true, Some(_)) => failing.push(format!("{name}: FAILS: it matches, take it out of the table")),
            (false, None) => {
                let quirk = Scenario::quirk(scenario).unwrap_or("none");
                failing.push(format!("{name}: FAILS (quirk: {quirk})\n  {}", differences.join("\n  ")));
            }
        }
    }
    let unknown: Vec<_> =
        DIFFERS.iter().filter(|(name, _)| !scenarios.iter().any(|scenario| scenario.name() == *name)).collect();
    failing.iter().for_each(|failure| println!("{failure}"));
    println!(
        "golden: {matching} ok, {differing} differ by design, {} fail, of {}",
        failing.len(),
        scenarios.len()
    );
    assert!(failing.is_empty() && unknown.is_empty(), "{} scenarios fail, unknown names: {unknown:?}", failing.len());
}
