//! The flag and the deadline that a parser looks at while it works.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::DocumentError;

/// How many cheap steps pass between two looks at the clock.
const STEPS: u32 = 512;

/// Tells a parser when to stop.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    stop: Arc<AtomicBool>,
    deadline: Option<Instant>,
    allowed: Duration,
    steps: Cell<u32>,
}

impl Guard {
    pub(crate) fn new(stop: Arc<AtomicBool>, allowed: Duration) -> Self {
        Self { stop, deadline: Instant::now().checked_add(allowed), allowed, steps: Cell::new(0) }
    }

    /// An error once the caller has gone or the time is over.
    pub(crate) fn check(&self) -> Result<(), DocumentError> {
        let over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if over || self.stop.load(Ordering::Relaxed) {
            return Err(DocumentError::TimedOut { allowed: self.allowed });
        }
        Ok(())
    }

    /// [`check`](Self::check), but only once in a while: for the innermost loops.
    pub(crate) fn step(&self) -> Result<(), DocumentError> {
        let steps = self.steps.get().wrapping_add(1);
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS) { self.check() } else { Ok(()) }
    }
}
