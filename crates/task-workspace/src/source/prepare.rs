//! A file, read and understood: its kind, its text, its passages.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use briefing_core::media::{MediaKind, MediaSignals};
use briefing_core::{ContextDiagnostic, Digest, Severity};
use briefing_formats::{DocumentLimits, Passage, PassageLimits, classify, decode, document_text, passages};

use super::Inner;
use crate::error::Error;
use crate::read::FileIdentity;
use crate::walk::FoundFile;

/// How much of a file is read to tell its kind where its name says that it is no text.
const SIGNATURE_BYTES: u64 = 8 * 1024;

/// How much of a text is read to tell its kind where it is too large to be offered; and of a large document, from the
/// start and from the end, where a zip lists what it holds.
const SAMPLE_BYTES: u64 = 64 * 1024;

/// The code of the diagnostic that says why a document gave no text.
const DOCUMENT_UNREADABLE: &str = "workspace.document_unreadable";

/// What is read of a document.
static DOCUMENTS: LazyLock<DocumentLimits> = LazyLock::new(DocumentLimits::default);

/// How many bytes of prepared files are kept for the next page or read.
const KEPT_BYTES: usize = 16 << 20;

/// A file in the state in which a scan found it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) path: Arc<str>,
    pub(super) identity: FileIdentity,
    pub(super) kind: MediaKind,
    pub(super) media_type: Option<&'static str>,
    /// The digest of the raw bytes, where all of them were read.
    pub(super) digest: Option<Digest>,
    /// The text, where it is offered.
    pub(super) text: Option<PreparedText>,
    pub(super) diagnostics: Vec<ContextDiagnostic>,
}

/// A text and its passages.
#[derive(Debug)]
pub(super) struct PreparedText {
    pub(super) text: String,
    pub(super) encoding: &'static str,
    pub(super) chars: usize,
    pub(super) lines: usize,
    /// Empty where the whole is one passage.
    pub(super) passages: Vec<Passage>,
    /// Where each passage begins, in chars of the text.
    pub(super) starts: Vec<usize>,
}

impl Prepared {
    /// Reads a file as a scan found it.
    ///
    /// # Errors
    /// [`Error::Changed`] where it is in another state, and as the read.
    pub(super) fn of(inner: &Inner, file: &FoundFile) -> Result<Self, Error> {
        let shown = file.name.shown();
        let signals = MediaSignals { path: Some(shown), ..MediaSignals::default() };
        let fits = file.identity.size <= inner.options.max_text_bytes;
        let named = signals.kind();
        let wanted = match named {
            MediaKind::Image | MediaKind::Audio | MediaKind::Video | MediaKind::Binary => SIGNATURE_BYTES,
            _ if named.is_document() && file.identity.size <= DOCUMENTS.max_input_bytes => file.identity.size,
            _ if fits => file.identity.size,
            _ => SAMPLE_BYTES,
        };
        let read = inner.workspace.read_found(file, 0, wanted)?;
        let mut bytes = read.bytes;
        if read.truncated && named.is_document() {
            let tail = file.identity.size.saturating_sub(SAMPLE_BYTES);
            bytes.extend(inner.workspace.read_found(file, tail, SAMPLE_BYTES)?.bytes);
        }
        let class = classify(&signals, &bytes);
        let mut prepared = Self {
            path: Arc::clone(shown),
            identity: file.identity,
            kind: class.kind,
            media_type: class.media_type,
            digest: (!read.truncated).then(|| Digest::of(&bytes)),
            text: None,
            diagnostics: Vec::new(),
        };
        if let Some(disagreement) = class.disagreement {
            let fact = ContextDiagnostic::new("workspace.type_disagreement", Severity::Warning);
            prepared.note(fact.with("reason", disagreement));
        }
        if prepared.kind == MediaKind::Text {
            if !fits {
                let fact = ContextDiagnostic::new("workspace.too_large", Severity::Info);
                prepared.note(fact.with("total_bytes", file.identity.size));
            } else {
                prepared.read_text(&bytes);
            }
        } else if prepared.kind.is_document() {
            match read.truncated {
                true => {
                    let fact = ContextDiagnostic::new("workspace.too_large", Severity::Info);
                    prepared.note(fact.with("total_bytes", file.identity.size));
                }
                false => prepared.parse_document(&bytes),
            }
        }
        Ok(prepared)
    }

    /// A file that cannot be read: it is offered by reference, and nothing is said about what it is.
    pub(super) fn unreadable(file: &FoundFile, reason: &Error) -> Self {
        let mut prepared = Self {
            path: Arc::clone(file.name.shown()),
            identity: file.identity,
            kind: MediaKind::Unknown,
            media_type: None,
            digest: None,
            text: None,
            diagnostics: Vec::new(),
        };
        let severity = Severity::Warning;
        prepared.note(match reason {
            Error::Unreadable { source, .. } => ContextDiagnostic::new("workspace.unreadable", severity)
                .with("reason", source.kind().to_string()),
            reason => ContextDiagnostic::new(reason.code(), severity),
        });
        prepared
    }

    fn note(&mut self, diagnostic: ContextDiagnostic) {
        self.diagnostics.push(diagnostic.with("path", &*self.path));
    }

    fn read_text(&mut self, bytes: &[u8]) {
        let decoded = match decode(bytes) {
            Ok(decoded) => decoded,
            Err(error) => {
                let fact = ContextDiagnostic::new("workspace.undecodable", Severity::Warning);
                return self.note(fact.with("reason", error.to_string()));
            }
        };
        if decoded.guessed {
            let fact = ContextDiagnostic::new("workspace.decoded_from_legacy_encoding", Severity::Info);
            self.note(fact.with("encoding", decoded.encoding));
        }
        let path = Arc::clone(&self.path);
        self.take_text(&path, decoded.text, decoded.encoding);
    }

    /// Reads a document as text. Where that fails it is offered by reference, with the reason.
    fn parse_document(&mut self, bytes: &[u8]) {
        let document = match document_text(bytes, &DOCUMENTS) {
            Ok(document) => document,
            Err(error) => {
                let fact = ContextDiagnostic::new(DOCUMENT_UNREADABLE, Severity::Warning);
                return self.note(fact.with("code", error.code()).with("reason", error.to_string()));
            }
        };
        for note in &document.notes {
            let fact =
                ContextDiagnostic::new("workspace.document_note", Severity::Info).with("code", note.code);
            self.note(
                fact.with("note", note.message).with("count", note.count).with("places", note.places.clone()),
            );
        }
        if !document.complete {
            self.note(ContextDiagnostic::new("workspace.document_incomplete", Severity::Warning));
        }
        // The text is in Markdown conventions, whatever the document's own suffix.
        self.take_text("document.md", document.text, "utf-8");
    }

    fn take_text(&mut self, cut_as: &str, text: String, encoding: &'static str) {
        let mut found = passages(cut_as, &text, PassageLimits::default());
        let (mut chars, mut starts) = (0, Vec::with_capacity(found.len()));
        for passage in &found {
            starts.push(chars);
            chars += passage.chars;
        }
        let lines = found.last().map_or(0, |last| last.lines.end);
        if found.len() < 2 {
            found.clear();
        }
        self.text = Some(PreparedText { text, encoding, chars, lines, passages: found, starts });
    }

    /// Why a document gave no text, in the words of its parser.
    pub(super) fn parser_refusal(&self) -> Option<&str> {
        let refusal = self.diagnostics.iter().find(|known| known.code == DOCUMENT_UNREADABLE)?;
        refusal.details.get("reason")?.as_str()
    }

    /// How many passages are described beside the whole file.
    pub(super) fn passage_count(&self) -> usize {
        self.text.as_ref().map_or(0, |text| text.passages.len())
    }
}

/// Files that were read lately, the latest last.
#[derive(Debug, Default)]
pub(super) struct PreparedFiles(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_path: HashMap<Arc<str>, Arc<Prepared>>,
    /// In the order in which they came.
    files: VecDeque<Arc<Prepared>>,
    bytes: usize,
}

impl PreparedFiles {
    /// A file in that state, if it is kept.
    pub(super) fn find(&self, file: &FoundFile) -> Option<Arc<Prepared>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.by_path.get(file.name.shown()).filter(|known| known.identity == file.identity).cloned()
    }

    /// Keeps a file, and drops the oldest that are too many.
    pub(super) fn keep(&self, prepared: &Arc<Prepared>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept.by_path.insert(Arc::clone(&prepared.path), Arc::clone(prepared));
        if before.is_some_and(|before| Arc::ptr_eq(&before, prepared)) {
            return;
        }
        kept.bytes += weight(prepared);
        kept.files.push_back(Arc::clone(prepared));
        while kept.bytes > KEPT_BYTES && kept.files.len() > 1 {
            let Some(oldest) = kept.files.pop_front() else { break };
            kept.bytes -= weight(&oldest);
            if kept.by_path.get(&oldest.path).is_some_and(|known| Arc::ptr_eq(known, &oldest)) {
                kept.by_path.remove(&oldest.path);
            }
        }
    }
}

/// About what a file takes in memory.
fn weight(prepared: &Prepared) -> usize {
    let text = prepared.text.as_ref();
    2_048 + text.map_or(0, |text| text.text.len() + text.passages.len() * 200)
}
