//! Reads a candidate's exact content back from its entry or source, and checks that it is what was asked for.

use briefing_core::{
    Completeness, Content, ContextDiagnostic, Digest, Metadata, ReadRequest, Representation, Revision,
    Severity, SourceError, SourceErrorKind, SourceRead, SourceRef,
};
use briefing_task_context::PinnedSource;

use crate::candidate::{Candidate, Origin};
use crate::media::{self, Handling};

/// What was read.
#[derive(Debug)]
pub(crate) struct Readback {
    pub(crate) content: Content,
    pub(crate) completeness: Completeness,
    pub(crate) chars: usize,
    pub(crate) representation: Option<Representation>,
    pub(crate) next_range_start: Option<usize>,
    pub(crate) refs: Vec<SourceRef>,
    pub(crate) metadata: Metadata,
    pub(crate) diagnostics: Vec<ContextDiagnostic>,
}

/// Why there is nothing to deliver, as a diagnostic's facts.
#[derive(Debug)]
pub(crate) struct ReadFailure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl ReadFailure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The diagnostic of this failure, under the given code.
    pub(crate) fn diagnostic(&self, code: &str, candidate: &Candidate) -> ContextDiagnostic {
        let severity = if candidate.required { Severity::Error } else { Severity::Warning };
        about(code, severity, candidate).with("error_code", self.code).with("error", self.message.clone())
    }
}

impl From<SourceError> for ReadFailure {
    fn from(error: SourceError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// A diagnostic that names a candidate.
pub(crate) fn about(code: &str, severity: Severity, candidate: &Candidate) -> ContextDiagnostic {
    ContextDiagnostic::new(code, severity)
        .with("binding_id", candidate.binding_id.as_str())
        .with("source_ref", candidate.source_ref.as_str())
}

/// Reads at most `limit` chars of a candidate's text. A locator lets a source that can choose a window choose it; required
/// content is always read from its start.
pub(crate) async fn text(
    candidate: &Candidate,
    limit: usize,
    locator: Option<&str>,
) -> Result<Readback, ReadFailure> {
    let parsed = candidate.handling == Handling::ParsedText;
    let representation = parsed.then_some(Representation::ParsedText);
    let readback = match &candidate.origin {
        Origin::Entry(entry) => from_entry(&entry.content, &entry.metadata, limit),
        Origin::Source { pinned, .. } => {
            let mut request = ReadRequest::whole(limit);
            request.representation = representation;
            let scoped = pinned.source.scoped_read().filter(|_| !candidate.required);
            let read = match (scoped, locator) {
                (Some(scoped), Some(locator)) => {
                    scoped.read_scoped(&candidate.source_ref, locator, &request).await
                }
                _ => pinned.source.read_exact(&candidate.source_ref, &request).await,
            };
            from_source(read?, pinned, candidate, representation)?
        }
    };
    match (&readback.content, parsed) {
        (Content::Text(_), true) if media::is_parsed_text(&readback.metadata) => Ok(readback),
        (_, true) => Err(ReadFailure::new(
            SourceErrorKind::Contract.code(),
            "a document must be read as text and keep its proof of parsed_text",
        )),
        (Content::Bytes(_), false) => {
            Err(ReadFailure::new(SourceErrorKind::Contract.code(), "bytes that nobody parsed are not text"))
        }
        _ => Ok(readback),
    }
}

/// Reads a picture as an attachment. It costs no chars; its data never enters text.
pub(crate) async fn image(candidate: &Candidate) -> Result<Readback, ReadFailure> {
    let representation = Some(Representation::ImageAttachment);
    let mut readback = match &candidate.origin {
        Origin::Entry(entry) => from_entry(&entry.content, &entry.metadata, usize::MAX),
        Origin::Source { pinned, .. } => {
            let request = ReadRequest::whole(1).as_representation(Representation::ImageAttachment);
            let read = pinned.source.read_exact(&candidate.source_ref, &request).await;
            from_source(read?, pinned, candidate, representation)?
        }
    };
    if !media::is_image_payload(&readback.content) {
        let wanted =
            "a list of image_url parts, each an http(s) URL or a base64 image data URL that is not empty";
        return Err(ReadFailure::new(
            SourceErrorKind::Contract.code(),
            format!("not an image payload: expected {wanted}"),
        ));
    }
    readback.chars = 0;
    readback.representation = representation;
    readback.metadata = media::facts(candidate.kind, candidate.metadata(), true);
    Ok(readback)
}

/// Asks a source for a bounded outline of required content that is too large.
pub(crate) async fn lossy_digest(
    candidate: &Candidate,
    limit: usize,
) -> Result<Option<Readback>, ReadFailure> {
    let Origin::Source { pinned, .. } = &candidate.origin else { return Ok(None) };
    let form = Representation::LossyDigest;
    let request = ReadRequest::whole(limit).as_representation(form);
    let read = pinned.source.read_exact(&candidate.source_ref, &request).await;
    let readback = from_source(read?, pinned, candidate, Some(form))?;
    let accepted = readback.completeness == Completeness::Lossy
        && readback.chars <= limit
        && !matches!(readback.content, Content::Bytes(_));
    Ok(accepted.then_some(readback))
}

fn from_entry(content: &Content, metadata: &Metadata, limit: usize) -> Readback {
    let mut readback = Readback {
        chars: content.chars(),
        content: content.clone(),
        completeness: Completeness::Complete,
        representation: None,
        next_range_start: None,
        refs: Vec::new(),
        metadata: metadata.clone(),
        diagnostics: Vec::new(),
    };
    readback.cut(limit);
    readback
}

fn from_source(
    read: SourceRead,
    pinned: &PinnedSource,
    candidate: &Candidate,
    representation: Option<Representation>,
) -> Result<Readback, ReadFailure> {
    let revision: Option<&Revision> = pinned.revision.as_ref().ok();
    let same = read.source_id == *pinned.source_id()
        && Some(&read.source_revision) == revision
        && read.source_ref == candidate.source_ref;
    if !same {
        return Err(ReadFailure::new(
            SourceErrorKind::Changed.code(),
            format!(
                "the read answers for {} of {} at {}, not for what was asked",
                read.source_ref, read.source_id, read.source_revision
            ),
        ));
    }
    Ok(Readback {
        chars: read.content.chars(),
        content: read.content,
        completeness: read.completeness,
        representation,
        next_range_start: read.next_range_start,
        refs: read.refs,
        metadata: read.metadata,
        diagnostics: read.diagnostics,
    })
}

impl Readback {
    /// Cuts text to `limit` chars and says so. Structured content is never cut.
    pub(crate) fn cut(&mut self, limit: usize) {
        if let Content::Text(text) = &mut self.content
            && let Some((end, _)) = text.char_indices().nth(limit)
        {
            text.truncate(end);
            self.chars = limit;
            self.completeness = Completeness::Truncated;
            self.next_range_start = Some(limit);
        }
    }

    pub(crate) fn digest(&self) -> Digest {
        self.content.digest()
    }
}
