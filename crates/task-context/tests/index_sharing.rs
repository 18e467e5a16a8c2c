//! One build of the index serves everyone who waits for it, and an unchanged source is not listed again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use briefing_core::{
    ContextBinding, ContextSource, Cursor, DescriptorPage, MemoryDocument, MemorySource, ProjectionProfile,
    ReadRequest, Revision, SourceError, SourceErrorKind, SourceId, SourceKind, SourceRead, SourceRef,
};
use briefing_task_context::TaskContext;
use futures::future::join_all;
use tokio::task::JoinHandle;

mod support;
use support::found;

/// A source that lists slowly and counts how often a listing begins.
struct Counted {
    inner: MemorySource,
    listings: AtomicUsize,
    /// How many listings still fail, each in its middle.
    failures: AtomicUsize,
}

impl Counted {
    fn listings(&self) -> usize {
        self.listings.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ContextSource for Counted {
    fn source_id(&self) -> &SourceId {
        self.inner.source_id()
    }

    fn source_kind(&self) -> &SourceKind {
        self.inner.source_kind()
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        self.inner.revision().await
    }

    async fn enumerate_descriptors(
        &self,
        profile: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        if cursor.is_none() {
            self.listings.fetch_add(1, Ordering::SeqCst);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        let fails = |left: usize| left.checked_sub(1);
        if cursor.is_some() && self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails).is_ok() {
            return Err(SourceError::new(SourceErrorKind::Unavailable, "the line is down"));
        }
        self.inner.enumerate_descriptors(profile, cursor, limit).await
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        self.inner.read_exact(source_ref, request).await
    }
}

/// A word that only one document holds: the digits of `n` as letters.
fn word(n: usize) -> String {
    format!("{n:04}").bytes().map(|digit| char::from(digit - b'0' + b'k')).collect()
}

fn context() -> (TaskContext, Arc<Counted>) {
    let inner = MemorySource::new("docs", "memory").unwrap();
    for n in 0..1_000 {
        inner.put(MemoryDocument::new(format!("d{n:04}"), format!("common {}", word(n))).unwrap());
    }
    let source = Arc::new(Counted { inner, listings: AtomicUsize::new(0), failures: AtomicUsize::new(0) });
    let context = TaskContext::new("task").unwrap();
    context.attach(source.clone(), ContextBinding::default()).unwrap();
    (context, source)
}

/// A reader on a task of its own.
fn reader(context: &TaskContext, query: String) -> JoinHandle<Vec<String>> {
    let context = context.clone();
    tokio::spawn(async move { found(&context, &query).await })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_who_come_together_share_one_listing() {
    let (context, source) = context();
    let readers = (0..16).map(|n| reader(&context, word(n)));
    for (n, answer) in join_all(readers).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), [format!("d{n:04}")]);
    }
    assert_eq!(source.listings(), 1);
}

#[tokio::test]
async fn an_unchanged_source_is_not_listed_again() {
    let (context, source) = context();
    for n in 0..5 {
        assert_eq!(found(&context, &word(n)).await, [format!("d{n:04}")]);
    }
    assert_eq!(source.listings(), 1);
    source.inner.put(MemoryDocument::new("new", word(0)).unwrap());
    assert_eq!(found(&context, &word(0)).await, ["new", "d0000"]);
    assert_eq!(source.listings(), 2);
}

#[tokio::test]
async fn a_listing_that_fails_in_its_middle_is_made_again_and_not_taken_for_whole() {
    let (context, source) = context();
    source.failures.store(1, Ordering::SeqCst);
    // The document was on the page that came before the failure.
    assert!(found(&context, &word(0)).await.is_empty());
    assert_eq!(found(&context, &word(0)).await, ["d0000"]);
    assert_eq!(found(&context, &word(999)).await, ["d0999"]);
    assert_eq!(source.listings(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_who_gives_up_takes_nothing_from_the_others() {
    let (context, source) = context();
    let first = reader(&context, word(1));
    tokio::time::sleep(Duration::from_millis(30)).await;
    let second = reader(&context, word(2));
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(source.listings(), 1, "the build is under way");
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    assert_eq!(second.await.unwrap(), ["d0002"]);
    assert!(source.listings() <= 2);
}

#[tokio::test]
async fn a_read_that_is_dropped_half_way_can_be_repeated() {
    let (context, _) = context();
    for millis in [0, 1, 10, 30, 50] {
        let query = word(3);
        let reading = found(&context, &query);
        let _ = tokio::time::timeout(Duration::from_millis(millis), reading).await;
    }
    assert_eq!(found(&context, &word(3)).await, ["d0003"]);
}
