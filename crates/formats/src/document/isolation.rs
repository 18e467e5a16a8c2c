//! A wall round parsers: their panics, their stack and their time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::DocumentError;
use super::guard::Guard;

/// The stack of a parser's thread, in bytes: several times what [`DocumentLimits::DEEPEST`](super::DocumentLimits::DEEPEST)
/// levels need without optimisation. Only the pages that are touched become memory.
const STACK_BYTES: usize = 32 << 20;

/// How many parsers that timed out may still be running before no other is started.
pub(crate) const MAX_ABANDONED: usize = 4;

static ABANDONED: AtomicUsize = AtomicUsize::new(0);

const RUNNING: u8 = 0;
const FINISHED: u8 = 1;
const LEFT: u8 = 2;

/// An error that a callback of a foreign parser throws through it, since it has no other way to stop that parser.
pub(crate) struct Thrown(pub(crate) DocumentError);

/// Runs `work` on a thread of its own and waits for `allowed`.
///
/// A panic becomes [`DocumentError::Panicked`]; the process's panic hook still sees it, on a thread named
/// `briefing-document`. After the time is over, the guard tells `work` to stop, and the caller goes on without it.
pub(crate) fn isolated<T: Send + 'static>(
    allowed: Duration,
    work: impl FnOnce(&Guard) -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    let running = ABANDONED.load(Ordering::Acquire);
    if running >= MAX_ABANDONED {
        return Err(DocumentError::Busy { running });
    }
    let (send, receive) = sync_channel(1);
    let stop = Arc::new(AtomicBool::new(false));
    let state = Arc::new(AtomicU8::new(RUNNING));
    let (their_stop, their_state) = (Arc::clone(&stop), Arc::clone(&state));
    let run = move || {
        let guard = Guard::new(their_stop, allowed);
        let outcome =
            catch_unwind(AssertUnwindSafe(|| work(&guard))).unwrap_or_else(|panic| Err(told(panic)));
        if their_state.swap(FINISHED, Ordering::AcqRel) == LEFT {
            ABANDONED.fetch_sub(1, Ordering::AcqRel);
        }
        // Nobody listens after a timeout.
        drop(send.send(outcome));
    };
    std::thread::Builder::new()
        .name("briefing-document".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(run)
        .map_err(|error| DocumentError::Panicked { reason: format!("no thread: {error}") })?;
    match receive.recv_timeout(allowed) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => {
            stop.store(true, Ordering::Relaxed);
            ABANDONED.fetch_add(1, Ordering::AcqRel);
            if state.compare_exchange(RUNNING, LEFT, Ordering::AcqRel, Ordering::Acquire).is_err() {
                ABANDONED.fetch_sub(1, Ordering::AcqRel);
            }
            Err(DocumentError::TimedOut { allowed })
        }
        Err(RecvTimeoutError::Disconnected) => {
            Err(DocumentError::Panicked { reason: "it ended without an answer".to_owned() })
        }
    }
}

/// Runs `work` on this thread; a panic becomes [`DocumentError::Panicked`].
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, DocumentError>) -> Result<T, DocumentError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(told(panic)))
}

fn told(panic: Box<dyn Any + Send>) -> DocumentError {
    match panic.downcast::<Thrown>() {
        Ok(thrown) => thrown.0,
        Err(panic) => {
            let words = panic
                .downcast_ref::<&str>()
                .map(|words| (*words).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned());
            DocumentError::Panicked { reason: words.unwrap_or_else(|| "it panicked".to_owned()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// The count of abandoned parsers is of the whole process, so one test goes through it from end to end.
    #[test]
    fn a_parser_that_fails_or_hangs_harms_nobody_else() {
        let second = Duration::from_secs(10);
        let panicked = isolated::<()>(second, |_| panic!("odd font {}", 7));
        assert_eq!(panicked, Err(DocumentError::Panicked { reason: "odd font 7".to_owned() }));
        let thrown =
            isolated::<()>(second, |_| std::panic::resume_unwind(Box::new(Thrown(DocumentError::Encrypted))));
        assert_eq!(thrown, Err(DocumentError::Encrypted));
        assert_eq!(isolated(second, |_| Ok(1)), Ok(1));

        // Parsers that never look at the guard are left behind, and their number is capped.
        let release = Arc::new(AtomicBool::new(false));
        let short = Duration::from_millis(5);
        for _ in 0..MAX_ABANDONED {
            let release = Arc::clone(&release);
            let hung = isolated::<()>(short, move |_| {
                while !release.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Ok(())
            });
            assert_eq!(hung, Err(DocumentError::TimedOut { allowed: short }));
        }
        assert_eq!(isolated(second, |_| Ok(1)), Err(DocumentError::Busy { running: MAX_ABANDONED }));
        release.store(true, Ordering::Relaxed);
        let patience = Instant::now();
        while isolated(second, |_| Ok(1)) != Ok(1) {
            assert!(patience.elapsed() < second, "abandoned parsers are counted down when they end");
            std::thread::sleep(Duration::from_millis(1));
        }

        // One that does look stops by itself.
        let began = Instant::now();
        let obedient = isolated::<()>(short, |guard| {
            loop {
                guard.step()?;
            }
        });
        assert_eq!(obedient, Err(DocumentError::TimedOut { allowed: short }));
        assert!(began.elapsed() < second);
    }
}
