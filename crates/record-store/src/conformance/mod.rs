//! The conformance suite of a provider of record storage: what every provider must hold, for its author to run.
//!
//! ```
//! use briefing_record_store::{RecordStore, conformance};
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let violations = conformance::check_store(|clock| async move { RecordStore::in_memory_with(clock) }).await;
//! assert!(violations.is_empty(), "{violations:#?}");
//! # }
//! ```
//!
//! Each rule gets an empty store, open for reading and writing and without a view, whose clock and ids come from the
//! environment that it is given. Rules about an ability that the provider does not offer are left out; what the provider
//! says it can do ([`RecordStore::capabilities`]) tells which.

mod changes;
mod links;
mod records;
mod runs;
mod search;
mod transfer;
mod views;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use briefing_core::{Environment, RecordId, RunId};

use crate::{Capabilities, Error, RecordStore};

/// A rule of the ports, and how the provider broke it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule, as a short name.
    pub rule: &'static str,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.seen)
    }
}

/// A clock that is set by hand, and ids that count up.
#[derive(Debug)]
pub struct HandClock {
    now: AtomicU64,
    next: AtomicU64,
}

impl Default for HandClock {
    fn default() -> Self {
        Self { now: AtomicU64::new(1_000_000), next: AtomicU64::new(1) }
    }
}

impl HandClock {
    /// Sets the time, in milliseconds since the Unix epoch; it may go back.
    pub fn set(&self, now_millis: u64) {
        self.now.store(now_millis, Ordering::SeqCst);
    }

    /// Lets time pass.
    pub fn pass(&self, millis: u64) {
        self.now.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Environment for HandClock {
    fn now_unix_millis(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}-{:012}", self.next.fetch_add(1, Ordering::SeqCst))
    }
}

/// Why a rule does not hold.
#[derive(Debug)]
struct Broken(String);

type Held = Result<(), Broken>;

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self(format!("{}: {error}", error.code()))
    }
}

impl From<briefing_core::Error> for Broken {
    fn from(error: briefing_core::Error) -> Self {
        Self(error.to_string())
    }
}

/// A store for one rule, its clock, and the way to another empty store.
struct Bench<'a> {
    store: RecordStore,
    clock: Arc<HandClock>,
    another: &'a (dyn Fn() -> Pin<Box<dyn Future<Output = RecordStore> + Send + 'a>> + Sync),
}

type Running<'a> = Pin<Box<dyn Future<Output = Held> + Send + 'a>>;

/// A rule: its name, the ability that it is about, and the test.
struct Rule {
    name: &'static str,
    needs: fn(&Capabilities) -> bool,
    run: for<'a> fn(&'a Bench<'a>) -> Running<'a>,
}

/// Rules out of test functions, each named like its function.
macro_rules! rules {
    ($needs:expr => $($name:ident),+ $(,)?) => {
        pub(super) const RULES: &[super::Rule] =
            &[$(super::Rule { name: stringify!($name), needs: $needs, run: |bench| Box::pin($name(bench)) }),+];
    };
}
use rules;

fn all_rules() -> impl Iterator<Item = &'static Rule> {
    let groups = [
        records::RULES,
        views::RULES,
        search::RULES,
        links::RULES,
        runs::RULES,
        changes::RULES,
        transfer::RULES,
    ];
    groups.into_iter().flatten()
}

/// The names of all rules, in the order in which they are checked.
#[must_use]
pub fn rule_names() -> Vec<&'static str> {
    all_rules().map(|rule| rule.name).collect()
}

/// Runs every rule on a store of its own and returns what was broken; empty means that the provider conforms.
pub async fn check_store<F, Fut>(open: F) -> Vec<Violation>
where
    F: Fn(Arc<dyn Environment>) -> Fut + Sync,
    Fut: Future<Output = RecordStore> + Send,
{
    let mut violations = Vec::new();
    for rule in all_rules() {
        let clock = Arc::new(HandClock::default());
        let another = || -> Pin<Box<dyn Future<Output = RecordStore> + Send + '_>> {
            Box::pin(open(Arc::new(HandClock::default())))
        };
        let store = open(clock.clone()).await;
        if !(rule.needs)(&store.capabilities()) {
            continue;
        }
        let bench = Bench { store, clock, another: &another };
        if let Err(Broken(seen)) = (rule.run)(&bench).await {
            violations.push(Violation { rule: rule.name, seen });
        }
    }
    violations
}

/// Holds what is seen against what is expected.
fn same<T: PartialEq + fmt::Debug>(what: &str, seen: T, expected: T) -> Held {
    if seen == expected { Ok(()) } else { Err(Broken(format!("{what}: {seen:?} instead of {expected:?}"))) }
}

/// Expects a refusal with a code.
fn refused<T: fmt::Debug>(what: &str, seen: Result<T, Error>, code: &str) -> Held {
    match seen {
        Err(error) if error.code() == code => Ok(()),
        other => Err(Broken(format!("{what}: {other:?} instead of a refusal with {code}"))),
    }
}

fn id(text: &str) -> Result<RecordId, Broken> {
    Ok(RecordId::new(text)?)
}

fn run(text: &str) -> Result<RunId, Broken> {
    Ok(RunId::new(text)?)
}
