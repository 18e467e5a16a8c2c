//! The small injected world: a clock and a source of ids, so that tests and replays can pin both.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// Where time and fresh ids come from.
pub trait Environment: Debug + Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now_unix_millis(&self) -> u64;

    /// A fresh id that starts with `prefix`; never given out twice.
    fn new_id(&self, prefix: &str) -> String;
}

/// The environment of a running application: the system's clock, and ids that sort by the time at which they were made
/// (UUIDv7, RFC 9562).
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEnvironment;

impl Environment for SystemEnvironment {
    fn now_unix_millis(&self) -> u64 {
        // A clock before 1970 counts as 1970.
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }

    fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}-{}", Uuid::now_v7().simple())
    }
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
