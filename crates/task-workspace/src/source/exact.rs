//! Exact reads: a whole file, a passage, or a picture as an attachment.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use briefing_core::media::{MediaKind, MediaSignals};
use briefing_core::{
    Content, Digest, ReadRequest, Representation, SourceError, SourceErrorKind, SourceRead, SourceRef,
};
use briefing_formats::classify;
use serde_json::json;

use super::Inner;
use super::describe::{facts, passage_facts, passage_ref, path_of_passage};
use super::prepare::Prepared;
use super::scan::Scan;
use crate::error::Error;
use crate::walk::FoundFile;

/// The largest picture that is attached, in bytes.
const MAX_IMAGE_BYTES: u64 = 8 << 20;

/// Reads a ref of the latest scan. A file that is named like the ref of a passage is that file.
pub(super) fn read_exact(
    inner: &Inner,
    source_ref: &SourceRef,
    request: &ReadRequest,
) -> Result<SourceRead, SourceError> {
    let scan = inner.latest()?;
    let shown = source_ref.as_str();
    let file_at = |path: &str| scan.find(path).and_then(|at| scan.files.get(at));
    if let Some(file) = file_at(shown) {
        return match request.representation {
            None | Some(Representation::ParsedText) => read_file(inner, &scan, file, source_ref, request),
            Some(Representation::ImageAttachment) => read_image(inner, &scan, file, source_ref),
            Some(other) => Err(unsupported(shown, &format!("it cannot be given as {other}"))),
        };
    }
    let file = path_of_passage(shown).and_then(file_at).ok_or_else(|| SourceError::not_found(shown))?;
    match request.representation {
        None | Some(Representation::ParsedText) => read_passage(inner, &scan, file, source_ref, request),
        Some(other) => Err(unsupported(shown, &format!("a passage cannot be given as {other}"))),
    }
}

fn read_file(
    inner: &Inner,
    scan: &Scan,
    file: &FoundFile,
    source_ref: &SourceRef,
    request: &ReadRequest,
) -> Result<SourceRead, SourceError> {
    let prepared = prepared(inner, file, source_ref, request)?;
    let Some(text) = &prepared.text else {
        let what = match prepared.kind {
            MediaKind::Text if file.identity.size > inner.options.max_text_bytes => {
                format!("it is too large: {} bytes", file.identity.size)
            }
            MediaKind::Text => "its text cannot be decoded".to_owned(),
            kind => match prepared.parser_refusal() {
                Some(reason) => reason.to_owned(),
                None => format!("its kind is {kind}"),
            },
        };
        return Err(unsupported(source_ref.as_str(), &what));
    };
    let mut read = window(inner, scan, source_ref, &text.text, request);
    read.content_digest = prepared.digest;
    read.metadata = facts(&prepared);
    read.diagnostics.clone_from(&prepared.diagnostics);
    Ok(read)
}

fn read_passage(
    inner: &Inner,
    scan: &Scan,
    file: &FoundFile,
    source_ref: &SourceRef,
    request: &ReadRequest,
) -> Result<SourceRead, SourceError> {
    let unknown = || SourceError::not_found(source_ref.as_str());
    let path = file.name.shown();
    let prepared = prepared(inner, file, source_ref, request)?;
    let text = prepared.text.as_ref().ok_or_else(unknown)?;
    // Passages are in the order of their lines, so only those that begin where the ref says are compared.
    let line = first_line(source_ref.as_str()).ok_or_else(unknown)?;
    let first = text.passages.partition_point(|passage| passage.lines.start < line);
    let passage = (first..)
        .zip(text.passages.iter().skip(first).take_while(|passage| passage.lines.start == line))
        .find(|(index, _)| passage_ref(scan, path, text, *index) == source_ref.as_str())
        .map(|(_, passage)| passage)
        .ok_or_else(unknown)?;
    let content = text.text.get(passage.bytes.clone()).unwrap_or_default();
    let mut read = window(inner, scan, source_ref, content, request);
    read.metadata = passage_facts(&prepared, passage.lines);
    read.diagnostics.clone_from(&prepared.diagnostics);
    Ok(read)
}

fn first_line(source_ref: &str) -> Option<usize> {
    source_ref.rsplit_once("#L")?.1.split('-').next()?.parse().ok()
}

fn read_image(
    inner: &Inner,
    scan: &Scan,
    file: &FoundFile,
    source_ref: &SourceRef,
) -> Result<SourceRead, SourceError> {
    let shown = source_ref.as_str();
    if file.identity.size > MAX_IMAGE_BYTES {
        return Err(unsupported(
            shown,
            &format!("{} bytes are too many for an attachment", file.identity.size),
        ));
    }
    let read = inner.workspace.read_found(file, 0, MAX_IMAGE_BYTES).map_err(since_the_scan)?;
    let signals = MediaSignals { path: Some(file.name.shown()), ..MediaSignals::default() };
    let class = classify(&signals, &read.bytes);
    let media_type = class
        .media_type
        .filter(|_| class.kind == MediaKind::Image)
        .ok_or_else(|| unsupported(shown, "its bytes are no picture of a known format"))?;
    let url = format!("data:{media_type};base64,{}", STANDARD.encode(&read.bytes));
    let content = Content::Structured(json!([{ "type": "image_url", "image_url": { "url": url } }]));
    let mut answer =
        SourceRead::complete(inner.source_id.clone(), scan.revision().clone(), source_ref.clone(), content);
    answer.content_digest = Some(Digest::of(&read.bytes));
    for (key, value) in [
        ("path", json!(&**file.name.shown())),
        ("total_bytes", json!(read.total_bytes)),
        ("content_kind", json!(MediaKind::Image.as_str())),
        ("media_type", json!(media_type)),
        ("context_representation", json!(Representation::ImageAttachment.as_str())),
    ] {
        answer.metadata.insert(key.to_owned(), value);
    }
    Ok(answer)
}

/// The file as the scan found it: read, or kept since it was read and still in that state. Refused where parsed text is
/// asked for and the file is no document: the text of any other file is the file itself.
fn prepared(
    inner: &Inner,
    file: &FoundFile,
    source_ref: &SourceRef,
    request: &ReadRequest,
) -> Result<Arc<Prepared>, SourceError> {
    let prepared = match inner.prepared.find(file) {
        Some(kept) => {
            inner.workspace.open_found(file).map_err(since_the_scan)?;
            kept
        }
        None => {
            let read = Arc::new(Prepared::of(inner, file).map_err(since_the_scan)?);
            inner.prepared.keep(&read);
            read
        }
    };
    if request.representation == Some(Representation::ParsedText) && !prepared.kind.is_document() {
        let why = format!("its kind is {}, and only documents are parsed", prepared.kind);
        return Err(unsupported(source_ref.as_str(), &why));
    }
    Ok(prepared)
}

/// A file of the scan that is no longer there, or no longer a file, has changed since.
fn since_the_scan(error: Error) -> SourceError {
    match error {
        Error::NotFound { path } | Error::NotRegularFile { path, .. } | Error::OutsideBoundary { path } => {
            Error::Changed { path }.into()
        }
        error => error.into(),
    }
}

fn window(
    inner: &Inner,
    scan: &Scan,
    source_ref: &SourceRef,
    text: &str,
    request: &ReadRequest,
) -> SourceRead {
    let (id, revision) = (inner.source_id.clone(), scan.revision().clone());
    SourceRead::text_window(id, revision, source_ref.clone(), text, request)
}

fn unsupported(source_ref: &str, why: &str) -> SourceError {
    SourceError::new(SourceErrorKind::Unsupported, format!("{source_ref} cannot be read so: {why}"))
}
