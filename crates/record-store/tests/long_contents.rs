//! Long contents are read piece by piece, never whole.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use briefing_record_store::{NewRecord, RecordContent, Window};
use proptest::prelude::*;
use support::{database, id, open};

#[tokio::test]
async fn a_window_reads_only_the_chunks_that_it_touches() {
    let root = tempfile::tempdir().unwrap();
    let store = open(root.path()).await;
    let text = "0123456789".repeat(100_000);
    store.put(NewRecord::new("notes", text).id(id("long"))).await.unwrap();
    // Everything between the first and the last chunk is gone: whoever read it would notice.
    let raw = rusqlite::Connection::open(database(root.path())).unwrap();
    let gone = raw.execute("DELETE FROM chunks WHERE first > 0 AND first < 900000", []).unwrap();
    assert!(gone > 10);
    for offset in [0, 1_000, 65_000, 999_000, 999_999] {
        let segment = store.read_bounded(&id("long"), Window::new(offset, 5)).await.unwrap();
        let text = segment.content.into_text().unwrap();
        assert!(text.starts_with(char::from_digit((offset % 10) as u32, 10).unwrap()), "{offset}: {text}");
        assert_eq!(segment.total_size, 1_000_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the chars and the windows, joined windows are the content, and no char is split.
    #[test]
    fn joined_windows_are_the_content(
        pattern in "[a-zé冷🦀\n]{1,12}",
        times in 1_usize..20_000,
        step in 900_u64..70_000,
        as_bytes in any::<bool>(),
    ) {
        let text = pattern.repeat(times);
        let content = if as_bytes { RecordContent::Bytes(text.clone().into_bytes()) } else { RecordContent::Text(text.clone()) };
        let length = if as_bytes { text.len() } else { text.chars().count() } as u64;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let joined = runtime.block_on(async {
            let root = tempfile::tempdir().unwrap();
            let store = open(root.path()).await;
            let record = store.put(NewRecord::new("notes", content)).await.unwrap();
            let (mut joined, mut offset) = (Vec::new(), 0);
            loop {
                let segment = store.read_bounded(&record.id, Window::new(offset, step)).await.unwrap();
                assert_eq!(segment.size, step.min(length - offset));
                offset += segment.size;
                joined.extend(segment.content.into_stored());
                if segment.eof {
                    return joined;
                }
            }
        });
        prop_assert!(joined == text.into_bytes());
    }
}
