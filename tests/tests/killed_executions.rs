//! An agent that is killed at any moment and run again delivers once, and loses neither a package nor a consumption.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[allow(dead_code, unused_results, clippy::print_stdout, missing_docs, unreachable_pub)]
#[path = "../../examples/durable_agent.rs"]
mod durable_agent;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use briefing::core::RunId;
use briefing::prelude::*;
use briefing::record_store::EventFilter;

/// How often an agent is killed. `EXECUTION_KILLS` sets another number.
const KILLS: u64 = 30;

const EXPECTED: &str = "# The machine\n
## The pump\n- The pump of the machine is checked every week.\n
## The fan\n- The fan of the machine runs at night.\n
## The valve\n- The valve of the machine closes at six bar.\n\n";

/// Runs the agent once, as a process of its own.
#[test]
#[ignore = "runs as a child of another test"]
fn child_runs_the_agent() {
    let Ok(root) = std::env::var("EXECUTION_ROOT") else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(durable_agent::run(Path::new(&root))).unwrap();
}

fn child(root: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_runs_the_agent", "--ignored", "--test-threads=1"])
        .env("EXECUTION_ROOT", root)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What tells whether a file was written again: its inode where there are any, and when it was changed.
fn identity(path: &Path) -> Option<(u64, std::time::SystemTime)> {
    let metadata = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let inode = 0;
    Some((inode, metadata.modified().unwrap()))
}

/// The target holds nothing or everything, and is the file that it was.
fn check_target(root: &Path, first: &mut Option<(u64, std::time::SystemTime)>) {
    let report = root.join("report.md");
    let now = identity(&report);
    if now.is_some() {
        assert_eq!(std::fs::read_to_string(&report).unwrap(), EXPECTED);
    }
    if first.is_some() {
        assert_eq!(now, *first, "the target was written again");
    }
    *first = now;
}

async fn check_events(root: &Path) {
    let store = RecordStore::open(root, StoreMode::ReadWrite).await.unwrap();
    assert!(store.check().await.unwrap().is_empty());
    let run = RunId::new("durable-agent-1").unwrap();
    let events = store.events(&run, &EventFilter::default()).await.unwrap();
    let (mut requests, mut packages) = (BTreeMap::new(), BTreeMap::new());
    let mut delivered = 0;
    for event in &events {
        let text = |field: &str| event.payload[field].as_str().unwrap().to_owned();
        match event.event_type.as_str() {
            "execution.consumption" => {
                let known = requests.insert(text("request_id"), text("package_id"));
                assert!(known.is_none(), "{} is recorded twice", text("request_id"));
            }
            "execution.package" => {
                let package = &event.payload["package"];
                let reader = (package["consumer_id"].to_string(), package["phase"].to_string());
                let id = package["package_id"].as_str().unwrap().to_owned();
                assert!(packages.insert(reader, id).is_none(), "a context was read twice");
            }
            "execution.delivered" => delivered += 1,
            _ => {}
        }
    }
    let asked = ["card-fan-fan", "card-pump-pump", "card-valve-valve", "planning-plan"];
    assert_eq!(requests.keys().map(String::as_str).collect::<Vec<_>>(), asked);
    let mut consumed: Vec<_> = requests.into_values().collect();
    let mut read: Vec<_> = packages.into_values().collect();
    consumed.sort();
    read.sort();
    assert_eq!(consumed, read, "each package that was read is there and was consumed");
    assert_eq!(delivered, 1);
    let id = ExecutionId::new("durable-agent-1").unwrap();
    let execution = TaskExecution::resuming(&store, &id).open().await.unwrap();
    assert_eq!(execution.status().await, ExecutionStatus::Finished { delivered: true });
    assert_eq!(execution.packages().await.len(), 4);
    let workspace = execution.workspace().unwrap();
    assert!(workspace.candidates().unwrap().is_empty() && workspace.deliveries().unwrap().is_empty());
}

#[tokio::test]
async fn a_killed_agent_that_is_run_again_delivers_once() {
    let wanted = std::env::var("EXECUTION_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    // How long an undisturbed run takes tells when to kill the others.
    let root = tempfile::tempdir().unwrap();
    durable_agent::furnish(root.path()).unwrap();
    let begun = Instant::now();
    let ended = child(root.path()).wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let whole = begun.elapsed();
    check_target(root.path(), &mut None);
    check_events(root.path()).await;

    // Knuth's MMIX constants; the seed is fixed, the moments are not.
    let mut random = 11_u64;
    let mut moment = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        whole.mul_f64(((random >> 33) % 1_000) as f64 / 1_000.0)
    };
    let (mut kills, mut agents) = (0, 0);
    while kills < wanted {
        let root = tempfile::tempdir().unwrap();
        durable_agent::furnish(root.path()).unwrap();
        let mut target = None;
        agents += 1;
        loop {
            let mut agent = child(root.path());
            // Each agent is run to its end once enough were killed.
            let limit = if kills < wanted { moment() } else { Duration::from_secs(60) };
            let begun = Instant::now();
            let ended = loop {
                match agent.try_wait().unwrap() {
                    Some(status) => break Some(status),
                    None if begun.elapsed() >= limit => break None,
                    None => std::thread::sleep(Duration::from_micros(300)),
                }
            };
            if ended.is_none() {
                agent.kill().unwrap();
                kills += 1;
            }
            let output = agent.wait_with_output().unwrap();
            check_target(root.path(), &mut target);
            if let Some(status) = ended {
                assert!(status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                break;
            }
        }
        check_events(root.path()).await;
    }
    writeln!(std::io::stdout().lock(), "{kills} kills of {agents} agents; a whole run takes {whole:?}")
        .unwrap();
}
