//! Keeps partitions, so that many readers and contexts share one listing of a source.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use briefing_core::{ContextSource, ProjectionProfile, Revision};

use super::build::{self, BuildError};
use super::config::IndexStrategy;
use super::partition::Partition;

/// Keeps index partitions under a limit of memory. A partition belongs to one source *instance*: two sources that share
/// an id but are not the same object never share a listing. Cloning gives another handle to the same cache.
///
/// A process shares one cache unless a context is built with its own.
#[derive(Debug, Clone)]
pub struct IndexCache {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    max_bytes: usize,
    lineages: Mutex<HashMap<(usize, IndexStrategy), Arc<Lineage>>>,
    clock: AtomicU64,
}

/// The latest partition of one source instance. The cell's lock is held while it is built, so that all who want it wait
/// for one build; dropping a waiting or building future just lets the next one go on.
struct Lineage {
    source: Weak<dyn ContextSource>,
    cell: tokio::sync::Mutex<Option<Arc<Partition>>>,
    bytes: AtomicUsize,
    used: AtomicU64,
}

impl std::fmt::Debug for Lineage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lineage").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// How a partition was brought to the wanted revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SyncMode {
    Cache,
    Full,
    Delta,
    FullAfterDeltaFailure { reason: String },
}

impl SyncMode {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Full => "full",
            Self::Delta => "delta",
            Self::FullAfterDeltaFailure { .. } => "full_after_delta_failure",
        }
    }
}

static SHARED: LazyLock<IndexCache> = LazyLock::new(|| IndexCache::new(512 << 20));

impl IndexCache {
    /// A cache that keeps partitions while they take at most about `max_bytes` bytes of memory together. The partition in
    /// use is always kept.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let inner = Inner { max_bytes, lineages: Mutex::default(), clock: AtomicU64::new(0) };
        Self { inner: Arc::new(inner) }
    }

    /// The cache that the process shares: about 512 MiB.
    #[must_use]
    pub fn shared() -> &'static Self {
        &SHARED
    }

    /// The partition of `source` at `revision`, and how it came to be there.
    pub(crate) async fn partition(
        &self,
        source: &Arc<dyn ContextSource>,
        revision: &Revision,
        strategy: IndexStrategy,
    ) -> Result<(Arc<Partition>, SyncMode), BuildError> {
        let lineage = self.lineage(source, strategy);
        let mut cell = lineage.cell.lock().await;
        let profile = ProjectionProfile::standard();
        let (built, mode) = match cell.as_ref() {
            Some(held) if held.revision == *revision => return Ok((Arc::clone(held), SyncMode::Cache)),
            Some(held) if source.change_feed().is_some() => {
                match build::delta(&**source, &profile, Arc::clone(held), revision).await {
                    Ok(partition) => (partition, SyncMode::Delta),
                    Err(error) => {
                        let reason = format!("{}: {error}", error.code());
                        let partition = build::full(&**source, &profile, revision, strategy).await?;
                        (partition, SyncMode::FullAfterDeltaFailure { reason })
                    }
                }
            }
            _ => (build::full(&**source, &profile, revision, strategy).await?, SyncMode::Full),
        };
        let partition = Arc::new(built);
        lineage.bytes.store(partition.memory_bytes(), Ordering::Relaxed);
        *cell = Some(Arc::clone(&partition));
        drop(cell);
        self.evict(&lineage);
        Ok((partition, mode))
    }

    fn lineage(&self, source: &Arc<dyn ContextSource>, strategy: IndexStrategy) -> Arc<Lineage> {
        // The address is an identity as long as the allocation lives, and the weak handle keeps it.
        let address = Arc::as_ptr(source).cast::<()>() as usize;
        let mut lineages = self.inner.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        lineages.retain(|_, lineage| lineage.source.strong_count() > 0);
        let lineage = lineages.entry((address, strategy)).or_insert_with(|| {
            Arc::new(Lineage {
                source: Arc::downgrade(source),
                cell: tokio::sync::Mutex::new(None),
                bytes: AtomicUsize::new(0),
                used: AtomicU64::new(0),
            })
        });
        lineage.used.store(self.inner.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Arc::clone(lineage)
    }

    /// Forgets the partitions that were used longest ago until the rest fits; `keep` stays.
    fn evict(&self, keep: &Arc<Lineage>) {
        let mut lineages = self.inner.lineages.lock().unwrap_or_else(PoisonError::into_inner);
        let mut total: usize = lineages.values().map(|lineage| lineage.bytes.load(Ordering::Relaxed)).sum();
        let mut oldest_first: Vec<_> =
            lineages.iter().map(|(key, lineage)| (*key, Arc::clone(lineage))).collect();
        oldest_first.sort_by_key(|(_, lineage)| lineage.used.load(Ordering::Relaxed));
        for (key, lineage) in oldest_first {
            if total <= self.inner.max_bytes {
                break;
            }
            if !Arc::ptr_eq(&lineage, keep) {
                total = total.saturating_sub(lineage.bytes.load(Ordering::Relaxed));
                lineages.remove(&key);
            }
        }
    }
}
