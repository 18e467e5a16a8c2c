//! Looking into many files on a few threads.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many threads look into files.
const THREADS: usize = 2;

/// Whether the system gives a thread.
pub(crate) fn are_there() -> bool {
    std::thread::Builder::new().spawn(|| ()).is_ok_and(|thread| thread.join().is_ok())
}

/// Does `work` with each item on a few threads, each with a state of its own; answers in the order of the items.
pub(crate) fn on_threads<T: Sync, S, R: Send>(
    items: &[T],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    on_threads_until(|| false, items, state, work)
}

/// The same, but takes no more items once there is `enough`. The answers are those of the first items, without a gap.
pub(crate) fn on_threads_until<T: Sync, S, R: Send>(
    enough: impl Fn() -> bool + Sync,
    items: &[T],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let (mut state, mut done) = (state(), Vec::new());
        loop {
            let at = if enough() { items.len() } else { next.fetch_add(1, Ordering::Relaxed) };
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(&mut state, item)));
        }
    };
    let mut done = std::thread::scope(|scope| {
        // Where the system gives no thread, this one does it all.
        let helper = |_| std::thread::Builder::new().spawn_scoped(scope, take).ok();
        let helpers: Vec<_> = (1..THREADS.min(items.len())).filter_map(helper).collect();
        let mut done = take();
        for helper in helpers {
            match helper.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}
