//! The small injected world: a clock and a source of ids, so that tests and replays can pin both.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where time and fresh ids come from.
pub trait Environment: Debug + Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now_unix_millis(&self) -> u64;

    /// A fresh id that starts with `prefix`; never given out twice.
    fn new_id(&self, prefix: &str) -> String;
}

/// An environment that repeats itself: ids count up from a seed and the clock stands still.
///
/// ```
/// use briefing_core::{Environment, SeededEnvironment};
/// let environment = SeededEnvironment::new(7, 1_700_000_000_000);
/// assert_eq!(environment.new_id("pkg"), "pkg-7-1");
/// assert_eq!(environment.new_id("pkg"), "pkg-7-2");
/// ```
#[derive(Debug)]
pub struct SeededEnvironment {
    seed: u64,
    next: AtomicU64,
    now_unix_millis: u64,
}

impl SeededEnvironment {
    /// Ids are `<prefix>-<seed>-<n>`; the clock shows `now_unix_millis`.
    #[must_use]
    pub fn new(seed: u64, now_unix_millis: u64) -> Self {
        Self { seed, next: AtomicU64::new(1), now_unix_millis }
    }
}

impl Environment for SeededEnvironment {
    fn now_unix_millis(&self) -> u64 {
        self.now_unix_millis
    }

    fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}-{}-{}", self.seed, self.next.fetch_add(1, Ordering::Relaxed))
    }
}
