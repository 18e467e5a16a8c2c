//! The conformance suite of the [`ContextSource`] port: what every adapter must hold, for its author to run.
//!
//! ```
//! use briefing_core::{MemoryDocument, MemorySource, conformance};
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), briefing_core::Error> {
//! let source = MemorySource::new("notes", "memory")?;
//! source.put(MemoryDocument::new("n1", "one")?);
//! let violations = conformance::check_source(&source).await;
//! assert!(violations.is_empty(), "{violations:#?}");
//! # Ok(()) }
//! ```
//!
//! The suite only reads. It expects a source that holds at least one descriptor and is not changed meanwhile.

use std::collections::BTreeSet;
use std::fmt;

use crate::{
    Completeness, Content, ContextSource, Cursor, ProjectionProfile, ReadRequest, Revision, SourceDescriptor,
    SourceErrorKind, SourceRead, SourceRef,
};

/// A rule of the port, and how the source broke it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule, as a short name.
    pub rule: &'static str,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.seen)
    }
}

/// The names of all rules, in the order in which they are checked.
pub const RULES: [&str; 11] = [
    "revision_is_stable",
    "pages_hold_at_most_limit",
    "cursor_advances",
    "keys_are_unique",
    "page_size_does_not_change_the_listing",
    "parents_are_listed",
    "read_has_the_identity_asked_for",
    "read_stays_within_max_chars",
    "cut_read_is_truncated_and_continues",
    "unknown_ref_is_not_found",
    "change_feed_to_itself_is_empty",
];

/// The most descriptors whose content is read.
const MAX_READS: usize = 64;

/// Runs every rule and returns what was broken; empty means that the source conforms.
pub async fn check_source(source: &dyn ContextSource) -> Vec<Violation> {
    let mut suite = Suite { source, profile: ProjectionProfile::standard(), violations: Vec::new() };
    suite.run().await;
    suite.violations
}

struct Suite<'a> {
    source: &'a dyn ContextSource,
    profile: ProjectionProfile,
    violations: Vec<Violation>,
}

impl Suite<'_> {
    fn expect(&mut self, holds: bool, rule: &'static str, seen: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { rule, seen: seen() });
        }
    }

    async fn run(&mut self) {
        let Some(revision) = self.check_revision().await else { return };
        let Some(listing) = self.list(256, &revision).await else { return };
        if let Some(small) = self.list(1.max(listing.len() / 3), &revision).await {
            self.expect(small == listing, "page_size_does_not_change_the_listing", || {
                format!("{} descriptors in small pages, {} in large ones", small.len(), listing.len())
            });
        }
        self.check_listing(&listing);
        let step = listing.len().div_ceil(MAX_READS).max(1);
        for descriptor in listing.iter().step_by(step) {
            self.check_read(descriptor, &revision).await;
        }
        self.check_unknown_ref().await;
        self.check_change_feed(&revision).await;
    }

    async fn check_revision(&mut self) -> Option<Revision> {
        match (self.source.revision().await, self.source.revision().await) {
            (Ok(first), Ok(second)) => {
                self.expect(first == second, "revision_is_stable", || format!("{first} then {second}"));
                Some(second)
            }
            (Err(error), _) | (_, Err(error)) => {
                self.expect(false, "revision_is_stable", || error.to_string());
                None
            }
        }
    }

    async fn list(&mut self, limit: usize, revision: &Revision) -> Option<Vec<SourceDescriptor>> {
        let mut listing = Vec::new();
        let mut cursor: Option<Cursor> = None;
        let mut seen = BTreeSet::new();
        loop {
            let page = match self.source.enumerate_descriptors(&self.profile, cursor.as_ref(), limit).await {
                Ok(page) => page,
                Err(error) => {
                    self.expect(false, "cursor_advances", || format!("listing failed: {error}"));
                    return None;
                }
            };
            let (found, id) = (page.source_revision().clone(), page.source_id().clone());
            self.expect(found == *revision && id == *self.source.source_id(), "revision_is_stable", || {
                format!("a page of {id} at {found}, expected {revision}")
            });
            let (descriptors, _, next) = page.into_parts();
            self.expect(descriptors.len() <= limit, "pages_hold_at_most_limit", || {
                format!("{} descriptors, limit {limit}", descriptors.len())
            });
            listing.extend(descriptors);
            let Some(next) = next else { return Some(listing) };
            if !seen.insert(next.as_str().to_owned()) {
                self.expect(false, "cursor_advances", || format!("cursor {:?} came again", next.as_str()));
                return None;
            }
            cursor = Some(next);
        }
    }

    fn check_listing(&mut self, listing: &[SourceDescriptor]) {
        let mut keys = BTreeSet::new();
        for descriptor in listing {
            self.expect(keys.insert(&descriptor.descriptor_key), "keys_are_unique", || {
                format!("{} is listed twice", descriptor.descriptor_key)
            });
        }
        for descriptor in listing {
            if let Some(parent) = &descriptor.parent_key {
                self.expect(keys.contains(parent), "parents_are_listed", || {
                    format!("{} names the parent {parent}", descriptor.descriptor_key)
                });
            }
        }
    }

    async fn check_read(&mut self, descriptor: &SourceDescriptor, revision: &Revision) {
        let source_ref = &descriptor.source_ref;
        // Content that cannot be given as text (a picture, a device) may refuse; then there is nothing to check.
        let Ok(whole) = self.source.read_exact(source_ref, &ReadRequest::whole(1_000_000)).await else {
            return;
        };
        let identity = (&whole.source_id, &whole.source_revision, &whole.source_ref);
        let wanted = (self.source.source_id(), revision, source_ref);
        self.expect(identity == wanted, "read_has_the_identity_asked_for", || {
            format!("{identity:?}, asked for {wanted:?}")
        });
        let Content::Text(text) = &whole.content else { return };
        let chars = text.chars().count();
        if chars < 2 || whole.completeness != Completeness::Complete {
            return;
        }
        let half = chars / 2;
        match self.read_in_steps(source_ref, half).await {
            Ok(joined) => self.expect(joined == *text, "cut_read_is_truncated_and_continues", || {
                format!("{source_ref}: the parts joined are not the whole")
            }),
            Err(seen) => self.expect(false, "cut_read_is_truncated_and_continues", || seen),
        }
    }

    async fn read_in_steps(&mut self, source_ref: &SourceRef, max_chars: usize) -> Result<String, String> {
        let mut joined = String::new();
        let mut start = 0;
        loop {
            let request = ReadRequest::whole(max_chars).starting_at(start);
            let read: SourceRead =
                self.source.read_exact(source_ref, &request).await.map_err(|error| error.to_string())?;
            let Content::Text(part) = &read.content else { return Err("a part that is not text".to_owned()) };
            let chars = part.chars().count();
            self.expect(chars <= max_chars, "read_stays_within_max_chars", || {
                format!("{source_ref}: {chars} chars, limit {max_chars}")
            });
            joined.push_str(part);
            let Some(next) = read.next_range_start else { return Ok(joined) };
            if read.completeness != Completeness::Truncated || next <= start {
                return Err(format!("{source_ref}: {} at {start}, next {next}", read.completeness));
            }
            start = next;
        }
    }

    async fn check_unknown_ref(&mut self) {
        let rule = "unknown_ref_is_not_found";
        let Ok(unknown) = SourceRef::new("briefing-conformance/no-such-ref") else { return };
        match self.source.read_exact(&unknown, &ReadRequest::whole(10)).await {
            Ok(_) => self.expect(false, rule, || "it was read".to_owned()),
            Err(error) => {
                self.expect(error.kind() == SourceErrorKind::NotFound, rule, || error.code().to_owned())
            }
        }
    }

    async fn check_change_feed(&mut self, revision: &Revision) {
        let Some(feed) = self.source.change_feed() else { return };
        let rule = "change_feed_to_itself_is_empty";
        match feed.changes(revision, revision, &self.profile).await {
            Ok(set) => self.expect(set.changes.is_empty(), rule, || format!("{} changes", set.changes.len())),
            Err(error) => self.expect(false, rule, || error.to_string()),
        }
    }
}
