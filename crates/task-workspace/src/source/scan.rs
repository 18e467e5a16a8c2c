//! One state of the tree, and the last few that are kept.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use briefing_core::{ContextDiagnostic, Fingerprint, Revision};

use super::options::WorkspaceSourceOptions;
use crate::error::Error;
use crate::name;
use crate::walk::{FoundFile, Walked};

/// How many scans are kept for listings that go on and for the change feed.
const KEPT_SCANS: usize = 8;

/// What is known of a file's descriptors since it was listed.
#[derive(Debug, Clone, Default)]
pub(super) struct FileFacts {
    /// How many passages are described beside the whole file.
    pub(super) passages: usize,
    /// What is worse about it than it could be.
    pub(super) diagnostics: Vec<ContextDiagnostic>,
    /// The file moved under the listing, so that its descriptor says less than its identity promises.
    pub(super) unsettled: bool,
}

/// The files of the workspace at one moment.
#[derive(Debug)]
pub(super) struct Scan {
    revision: Revision,
    pub(super) files: Vec<FoundFile>,
    pub(super) diagnostics: Vec<ContextDiagnostic>,
    facts: Mutex<Vec<Option<Arc<FileFacts>>>>,
    /// Some name holds a `#`, so that it may look like the ref of a passage.
    has_marks: bool,
}

impl Scan {
    pub(super) fn revision(&self) -> &Revision {
        &self.revision
    }

    /// Where the file is that is shown as `shown`.
    pub(super) fn find(&self, shown: &str) -> Option<usize> {
        let bytes = name::unescape(shown)?;
        let at = self.files.binary_search_by(|file| file.name.bytes().as_ref().cmp(bytes.as_ref())).ok()?;
        self.files.get(at).filter(|file| **file.name.shown() == *shown).map(|_| at)
    }

    /// Whether a file is shown as `shown`, where that could be taken for something else.
    pub(super) fn is_file(&self, shown: &str) -> bool {
        self.has_marks && self.find(shown).is_some()
    }

    pub(super) fn facts(&self, at: usize) -> Option<Arc<FileFacts>> {
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        facts.get(at).cloned().flatten()
    }

    /// What is worse than it could be about the files that were listed.
    pub(super) fn known_diagnostics(&self) -> Vec<ContextDiagnostic> {
        let facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        facts.iter().flatten().flat_map(|facts| facts.diagnostics.iter().cloned()).collect()
    }

    /// Remembers how a file was listed. The largest count of passages stays: all their keys may be known somewhere.
    pub(super) fn learn(&self, at: usize, mut learnt: FileFacts) {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = facts.get_mut(at) else { return };
        if let Some(known) = place {
            learnt.passages = learnt.passages.max(known.passages);
            learnt.unsettled |= known.unsettled;
        }
        *place = Some(Arc::new(learnt));
    }

    /// What is known of files that did not change since `earlier`.
    fn carry_over(&mut self, earlier: &Self) {
        let known = earlier.facts.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = self.facts.get_mut().unwrap_or_else(PoisonError::into_inner);
        for pair in pairs(&earlier.files, &self.files) {
            let Pair::Both(old, new) = pair else { continue };
            let (Some(before), Some(now)) = (earlier.files.get(old), self.files.get_mut(new)) else {
                continue;
            };
            let Some(Some(fact)) = known.get(old).filter(|_| before.identity == now.identity) else {
                continue;
            };
            now.name = before.name.clone();
            if let Some(place) = facts.get_mut(new).filter(|_| !fact.unsettled) {
                *place = Some(Arc::clone(fact));
            }
        }
    }
}

/// A file of one listing or of both, by its place in each.
pub(super) enum Pair {
    First(usize),
    Second(usize),
    Both(usize, usize),
}

/// Walks two listings side by side; both are in the order of their paths' bytes.
pub(super) fn pairs(first: &[FoundFile], second: &[FoundFile]) -> Vec<Pair> {
    let (mut one, mut other) = (0, 0);
    let mut pairs = Vec::with_capacity(first.len().max(second.len()));
    loop {
        let order = match (first.get(one), second.get(other)) {
            (Some(left), Some(right)) => left.name.bytes().cmp(&right.name.bytes()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return pairs,
        };
        pairs.push(match order {
            Ordering::Less => Pair::First(one),
            Ordering::Greater => Pair::Second(other),
            Ordering::Equal => Pair::Both(one, other),
        });
        one += usize::from(order.is_le());
        other += usize::from(order.is_ge());
    }
}

/// The last scans, the latest first.
#[derive(Debug, Default)]
pub(super) struct KeptScans(VecDeque<Arc<Scan>>);

impl KeptScans {
    pub(super) fn latest(&self) -> Option<Arc<Scan>> {
        self.0.front().cloned()
    }

    pub(super) fn of(&self, revision: &str) -> Option<Arc<Scan>> {
        self.0.iter().find(|scan| scan.revision.as_str() == revision).cloned()
    }

    /// Takes in what a walk found, and makes it the latest.
    pub(super) fn take_in(
        &mut self,
        walked: Walked,
        options: &WorkspaceSourceOptions,
    ) -> Result<Arc<Scan>, Error> {
        let revision = revision_of(&walked, options)?;
        let known = self.0.iter().position(|scan| scan.revision == revision).and_then(|at| self.0.remove(at));
        let scan = match known {
            Some(scan) => scan,
            None => {
                let mut scan = Scan {
                    revision,
                    facts: Mutex::new(vec![None; walked.files.len()]),
                    has_marks: walked.files.iter().any(|file| file.name.shown().contains('#')),
                    files: walked.files,
                    diagnostics: walked.diagnostics,
                };
                if let Some(earlier) = self.latest() {
                    scan.carry_over(&earlier);
                }
                Arc::new(scan)
            }
        };
        self.0.push_front(Arc::clone(&scan));
        self.0.truncate(KEPT_SCANS);
        Ok(scan)
    }
}

/// Equal revisions mean equal listings: the files in their states, what the walk reported, and the options that shape
/// descriptors.
fn revision_of(walked: &Walked, options: &WorkspaceSourceOptions) -> Result<Revision, Error> {
    let mut print = Fingerprint::new("briefing.workspace_scan/1");
    print.number(options.max_text_bytes).json(&walked.diagnostics).number(walked.files.len() as u64);
    for FoundFile { name, identity, .. } in &walked.files {
        print.bytes(&name.bytes()).number(identity.size).number(identity.inode);
        print.bytes(&identity.modified_ns.to_le_bytes()).bytes(&identity.changed_ns.to_le_bytes());
    }
    Ok(Revision::new(format!("scan:{}", print.finish().short()))?)
}
