//! Listing: pages of descriptors, and the cursors between them.

use std::sync::Arc;

use briefing_core::media::{MediaKind, kind_of_path};
use briefing_core::{
    ContextDiagnostic, Cursor, DescriptorPage, Severity, SourceDescriptor, SourceError, SourceErrorKind,
};

use super::Inner;
use super::describe::Describer;
use super::prepare::Prepared;
use super::scan::{FileFacts, Scan};
use crate::error::Error;
use crate::threads::on_threads;
use crate::walk::FoundFile;

/// How much is read ahead at a time, in files and in bytes.
const BATCH_FILES: usize = 256;
const BATCH_BYTES: u64 = 8 << 20;

/// About how many bytes of text one passage takes.
const BYTES_A_PASSAGE: u64 = 1_100;

/// A place in a listing: a file, and one of its descriptors.
#[derive(Debug, Clone, Copy)]
struct Place {
    file: usize,
    part: usize,
}

/// A file of a listing.
pub(super) enum Listed {
    Here(Arc<Prepared>),
    /// It was gone, or in another state, when it was read.
    Moved(Error),
}

/// One page, at most `limit` descriptors.
pub(super) fn page(
    inner: &Inner,
    cursor: Option<&Cursor>,
    limit: usize,
) -> Result<DescriptorPage, SourceError> {
    if limit == 0 {
        return Err(SourceError::new(SourceErrorKind::Contract, "a page of no descriptors"));
    }
    let (scan, mut place) = match cursor {
        None => (inner.latest()?, Place { file: 0, part: 0 }),
        Some(cursor) => place_of(inner, cursor)?,
    };
    let mut diagnostics = if cursor.is_none() { scan.diagnostics.clone() } else { Vec::new() };
    let mut descriptors = Vec::new();
    while descriptors.len() < limit && place.file < scan.files.len() {
        let batch = batch(&scan, place.file, limit - descriptors.len());
        let first = place.file;
        let listed = list_all(inner, scan.files.get(first..first + batch).unwrap_or_default());
        for (at, listed) in (first..).zip(listed) {
            if descriptors.len() < limit {
                place = append(inner, &scan, place, &listed, limit, &mut descriptors, &mut diagnostics)?;
            }
            if at >= place.file
                && let Listed::Here(prepared) = &listed
            {
                // The next page begins here or later.
                inner.prepared.keep(prepared);
            }
        }
    }
    let next = (place.file < scan.files.len())
        .then(|| Cursor::new(format!("{}@{}.{}", scan.revision(), place.file, place.part)))
        .transpose()?;
    let page = DescriptorPage::new(inner.source_id.clone(), scan.revision().clone(), descriptors, next)?;
    Ok(page.with_diagnostics(diagnostics))
}

fn place_of(inner: &Inner, cursor: &Cursor) -> Result<(Arc<Scan>, Place), SourceError> {
    let refused = || SourceError::new(SourceErrorKind::Contract, "a cursor that this source never gave");
    let (revision, place) = cursor.as_str().rsplit_once('@').ok_or_else(refused)?;
    let (file, part) = place.split_once('.').ok_or_else(refused)?;
    // No file has as many parts as 32 bits can count.
    let part = usize::try_from(part.parse::<u32>().map_err(|_| refused())?).map_err(|_| refused())?;
    let place = Place { file: file.parse().map_err(|_| refused())?, part };
    let scan = inner.scan_of(revision).ok_or_else(|| {
        SourceError::new(SourceErrorKind::Changed, format!("the listing of {revision} is no longer kept"))
    })?;
    Ok((scan, place))
}

/// How many files, from `first` on, should give about `wanted` descriptors.
fn batch(scan: &Scan, first: usize, wanted: usize) -> usize {
    let (mut files, mut expected, mut bytes) = (0, 0, 0);
    for file in scan.files.iter().skip(first).take(BATCH_FILES) {
        if files > 0 && (expected >= wanted || bytes >= BATCH_BYTES) {
            break;
        }
        let is_text = matches!(kind_of_path(file.name.shown()), MediaKind::Text | MediaKind::Unspecified);
        let passages = if is_text { file.identity.size / BYTES_A_PASSAGE } else { 0 };
        expected = expected.saturating_add(usize::try_from(passages).unwrap_or(usize::MAX)).saturating_add(1);
        bytes += file.identity.size;
        files += 1;
    }
    files
}

/// Reads files, on two threads where there are several.
pub(super) fn list_all(inner: &Inner, files: &[FoundFile]) -> Vec<Listed> {
    on_threads(files, || (), |(), file| list(inner, file))
}

/// Reads one file as it is to be listed.
pub(super) fn list(inner: &Inner, file: &FoundFile) -> Listed {
    if let Some(kept) = inner.prepared.find(file) {
        return Listed::Here(kept);
    }
    match Prepared::of(inner, file) {
        Ok(prepared) => Listed::Here(Arc::new(prepared)),
        Err(error @ (Error::NotFound { .. } | Error::Changed { .. })) => Listed::Moved(error),
        Err(error) => Listed::Here(Arc::new(Prepared::unreadable(file, &error))),
    }
}

/// Puts a file's descriptors on the page, from `place` on, and says where the listing goes on.
fn append(
    inner: &Inner,
    scan: &Scan,
    place: Place,
    listed: &Listed,
    limit: usize,
    descriptors: &mut Vec<SourceDescriptor>,
    diagnostics: &mut Vec<ContextDiagnostic>,
) -> Result<Place, SourceError> {
    let after = Place { file: place.file + 1, part: 0 };
    let Listed::Here(file) = listed else {
        let Some(found) = scan.files.get(place.file) else { return Ok(after) };
        if place.part > 0 {
            let message = format!("{} changed while it was listed", found.name.shown());
            return Err(SourceError::new(SourceErrorKind::Changed, message));
        }
        let facts = facts_of(listed, found);
        diagnostics.extend(facts.diagnostics.iter().cloned());
        scan.learn(place.file, facts);
        return Ok(after);
    };
    if place.part == 0
        && let Some(found) = scan.files.get(place.file)
    {
        diagnostics.extend(file.diagnostics.iter().cloned());
        scan.learn(place.file, facts_of(listed, found));
    }
    let describer = Describer { source_id: &inner.source_id, revision: scan.revision(), scan, file };
    for part in place.part.. {
        match describer.part(part)? {
            None => break,
            Some(_) if descriptors.len() >= limit => return Ok(Place { file: place.file, part }),
            Some(descriptor) => descriptors.push(descriptor),
        }
    }
    Ok(after)
}

/// What to remember of a file that was listed.
pub(super) fn facts_of(listed: &Listed, found: &FoundFile) -> FileFacts {
    match listed {
        Listed::Here(file) => FileFacts {
            passages: file.passage_count(),
            diagnostics: file.diagnostics.clone(),
            unsettled: false,
        },
        // The next revision shows what became of it.
        Listed::Moved(error) => FileFacts {
            passages: 0,
            diagnostics: vec![
                ContextDiagnostic::new(error.code(), Severity::Info).with("path", &**found.name.shown()),
            ],
            unsettled: true,
        },
    }
}
