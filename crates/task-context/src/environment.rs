//! The real clock and fresh random ids.

use std::time::{SystemTime, UNIX_EPOCH};

use briefing_core::Environment;

/// The environment of a running application: the system clock, and ids from random UUIDs.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEnvironment;

impl Environment for SystemEnvironment {
    fn now_unix_millis(&self) -> u64 {
        // A clock before 1970 counts as 1970.
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }

    fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}-{}", uuid::Uuid::new_v4().simple())
    }
}
