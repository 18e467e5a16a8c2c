//! Clock and ids of a running system.

use std::time::{SystemTime, UNIX_EPOCH};

use briefing_core::Environment;
use uuid::Uuid;

/// The system's clock, and ids that sort by the time at which they were made (UUIDv7, RFC 9562).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StoreEnvironment;

impl Environment for StoreEnvironment {
    fn now_unix_millis(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}-{}", Uuid::now_v7().simple())
    }
}
