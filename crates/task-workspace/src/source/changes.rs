//! What changed between two scans that are kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use briefing_core::{
    ContextDiagnostic, DescriptorKey, Revision, SourceChange, SourceChangeSet, SourceDescriptor, SourceError,
    SourceErrorKind,
};

use super::Inner;
use super::describe::{Describer, passage_key};
use super::page::{Listed, facts_of, list_all};
use super::scan::{FileFacts, Pair, Scan, pairs};
use crate::walk::FoundFile;

/// How many files are read at a time.
const BATCH_FILES: usize = 64;

/// The changes from one scan to another. Only new and changed files are read.
pub(super) fn changes(inner: &Inner, from: &Revision, to: &Revision) -> Result<SourceChangeSet, SourceError> {
    let kept = |revision: &Revision| inner.scan_of(revision.as_str()).ok_or_else(|| unknown(revision));
    let (old, new) = (kept(from)?, kept(to)?);
    let mut delta = Delta {
        inner,
        old: &old,
        new: &new,
        removed: BTreeSet::new(),
        upserts: Vec::new(),
        diagnostics: new.diagnostics.clone(),
    };
    if from == to {
        delta.diagnostics.extend(new.known_diagnostics());
    } else {
        delta.compare()?;
    }
    let Delta { mut removed, upserts, diagnostics, .. } = delta;
    for upsert in &upserts {
        // A key may pass from a passage to a file that is named like it.
        removed.remove(upsert.descriptor_key.as_str());
    }
    let mut changes = Vec::with_capacity(removed.len() + upserts.len());
    for key in removed {
        changes.push(SourceChange::Remove(DescriptorKey::new(key)?));
    }
    changes.extend(upserts.into_iter().map(|descriptor| SourceChange::Upsert(Box::new(descriptor))));
    Ok(SourceChangeSet {
        source_id: inner.source_id.clone(),
        from_revision: from.clone(),
        to_revision: to.clone(),
        changes,
        diagnostics,
    })
}

fn unknown(revision: &Revision) -> SourceError {
    SourceError::new(SourceErrorKind::Unavailable, format!("what {revision} listed is not known any more"))
}

struct Delta<'a> {
    inner: &'a Inner,
    old: &'a Scan,
    new: &'a Scan,
    removed: BTreeSet<String>,
    upserts: Vec<SourceDescriptor>,
    diagnostics: Vec<ContextDiagnostic>,
}

impl<'a> Delta<'a> {
    fn compare(&mut self) -> Result<(), SourceError> {
        let pairs = pairs(&self.old.files, &self.new.files);
        let renamed = self.renamed_passages(&pairs);
        let mut to_read = Vec::new();
        for pair in pairs {
            match pair {
                Pair::First(at) => self.remove(at)?,
                Pair::Second(at) => to_read.push((None, at)),
                Pair::Both(old, new) => match self.unchanged(old, new, &renamed)? {
                    Some(facts) => self.diagnostics.extend(facts.diagnostics.iter().cloned()),
                    None => to_read.push((Some(old), new)),
                },
            }
        }
        for batch in to_read.chunks(BATCH_FILES) {
            self.describe(batch)?;
        }
        Ok(())
    }

    /// What is known of a file that both scans list alike; `None` where it has to be read.
    fn unchanged(
        &self,
        old: usize,
        new: usize,
        renamed: &BTreeSet<&str>,
    ) -> Result<Option<Arc<FileFacts>>, SourceError> {
        let (Some(before), Some(now)) = (self.old.files.get(old), self.new.files.get(new)) else {
            return Ok(None);
        };
        let facts = self.old.facts(old).ok_or_else(|| unknown(self.old.revision()))?;
        let same =
            before.identity == now.identity && !facts.unsettled && !renamed.contains(&**now.name.shown());
        if same && self.new.facts(new).is_none() {
            self.new.learn(new, FileFacts::clone(&facts));
        }
        Ok(same.then_some(facts))
    }

    /// Files whose passages may be named otherwise now, because a file that is named like one of them came or went.
    fn renamed_passages(&self, pairs: &[Pair]) -> BTreeSet<&'a str> {
        let (old, new): (&'a Scan, &'a Scan) = (self.old, self.new);
        let moved = pairs.iter().filter_map(|pair| match pair {
            Pair::First(at) => old.files.get(*at),
            Pair::Second(at) => new.files.get(*at),
            Pair::Both(..) => None,
        });
        moved
            .filter_map(|file: &'a FoundFile| {
                Some(file.name.shown().trim_end_matches('#').rsplit_once('#')?.0)
            })
            .collect()
    }

    /// Removes what the old scan listed of a file.
    fn remove(&mut self, at: usize) -> Result<(), SourceError> {
        let facts = self.old.facts(at).ok_or_else(|| unknown(self.old.revision()))?;
        let Some(file) = self.old.files.get(at) else { return Ok(()) };
        let path = file.name.shown();
        self.removed.insert(path.to_string());
        self.removed.extend((0..facts.passages).map(|index| passage_key(self.old, path, index)));
        Ok(())
    }

    /// Reads new and changed files, given by their places in the old scan and in the new.
    fn describe(&mut self, batch: &[(Option<usize>, usize)]) -> Result<(), SourceError> {
        let files: Vec<_> = batch.iter().filter_map(|(_, new)| self.new.files.get(*new)).cloned().collect();
        let listed = list_all(self.inner, &files);
        for (((old, new), found), listed) in batch.iter().zip(&files).zip(&listed) {
            let facts = facts_of(listed, found);
            self.diagnostics.extend(facts.diagnostics.iter().cloned());
            self.new.learn(*new, facts);
            if let Listed::Here(file) = listed {
                let describer = Describer {
                    source_id: &self.inner.source_id,
                    revision: self.new.revision(),
                    scan: self.new,
                    file,
                };
                for part in 0.. {
                    let Some(descriptor) = describer.part(part)? else { break };
                    self.upserts.push(descriptor);
                }
            }
            if let Some(old) = old {
                self.remove(*old)?;
            }
        }
        Ok(())
    }
}
