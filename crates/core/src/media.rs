//! What kind of thing some content is, judged from what its source says about it.
//!
//! Three signals count: a declared kind, a MIME type and a file suffix. A concrete signal that is not text (a PDF, an
//! Office document, a picture, …) always beats a claim of text; two different concrete signals contradict one another and
//! close to [`MediaKind::Unknown`]. Signals can be missing altogether: then the bytes decide, which is the job of whoever
//! holds them.

mod tables;

use self::tables::{
    AUDIO_SUFFIXES, BINARY_APPLICATIONS, BINARY_SUFFIXES, IMAGE_SUFFIXES, OFFICE_APPLICATIONS,
    OFFICE_SUFFIXES, TEXT_APPLICATIONS, TEXT_SUFFIXES, VIDEO_SUFFIXES,
};
use crate::Metadata;
use crate::role::words;

words! {
    /// What kind of thing some content is.
    #[non_exhaustive]
    MediaKind, "content_kind" {
        /// Readable as text.
        Text = "text",
        /// A PDF document.
        Pdf = "pdf",
        /// A word processor, spreadsheet or presentation document.
        Office = "office",
        /// A picture.
        Image = "image",
        /// Sound.
        Audio = "audio",
        /// Moving pictures.
        Video = "video",
        /// Anything else that is known not to be text.
        Binary = "binary",
        /// Signals that contradict one another, or name something that nobody here knows.
        Unknown = "unknown",
        /// No signal says anything; the bytes decide.
        Unspecified = "unspecified",
    }
}

impl MediaKind {
    /// Whether it is a document: no text itself, but made into one by a parser.
    ///
    /// ```
    /// use briefing_core::media::MediaKind;
    /// assert!(MediaKind::Pdf.is_document() && MediaKind::Office.is_document());
    /// assert!(!MediaKind::Text.is_document() && !MediaKind::Image.is_document());
    /// ```
    #[must_use]
    pub fn is_document(self) -> bool {
        matches!(self, Self::Pdf | Self::Office)
    }
}

/// What a source says about some content.
#[derive(Debug, Clone, Copy, Default)]
pub struct MediaSignals<'a> {
    /// A declared kind: one of our words, or a MIME type.
    pub declared: Option<&'a str>,
    /// A MIME type, parameters allowed.
    pub mime: Option<&'a str>,
    /// A path, file name or URL, whose suffix counts.
    pub path: Option<&'a str>,
    /// A second name of the same content, whose suffix counts as well.
    pub source_ref: Option<&'a str>,
}

impl<'a> MediaSignals<'a> {
    /// The signals in some metadata (`content_kind`; `media_type`, `mime_type` or `content_type`; `path` or `filename`),
    /// and in the ref.
    #[must_use]
    pub fn of(metadata: &'a Metadata, source_ref: &'a str) -> Self {
        let text = |key: &str| metadata.get(key).and_then(serde_json::Value::as_str);
        Self {
            declared: text("content_kind"),
            mime: text("media_type").or_else(|| text("mime_type")).or_else(|| text("content_type")),
            path: text("path").or_else(|| text("filename")),
            source_ref: Some(source_ref),
        }
    }

    /// What the signals say together.
    ///
    /// ```
    /// use briefing_core::media::{MediaKind, MediaSignals};
    /// let kind = |declared, mime, path| MediaSignals { declared, mime, path, source_ref: None }.kind();
    /// assert_eq!(kind(Some("text"), None, Some("scan.pdf")), MediaKind::Pdf);
    /// assert_eq!(kind(None, Some("application/pdf"), Some("p.png")), MediaKind::Unknown);
    /// assert_eq!(kind(None, None, Some("LICENSE")), MediaKind::Unspecified);
    /// ```
    #[must_use]
    pub fn kind(&self) -> MediaKind {
        let signals = [
            self.declared.map(kind_of_declaration),
            self.mime.map(kind_of_mime),
            self.path.map(kind_of_path),
            self.source_ref.map(kind_of_path),
        ];
        let said = || signals.into_iter().flatten().filter(|kind| *kind != MediaKind::Unspecified);
        let mut concrete = said().filter(|kind| is_concrete(*kind));
        match concrete.next() {
            Some(first) if concrete.all(|kind| kind == first) => first,
            Some(_) => MediaKind::Unknown,
            // Nothing is known not to be text: a declared unknown stays unknown, else text wins over an odd MIME type.
            None if self.declared.map(kind_of_declaration) == Some(MediaKind::Unknown) => MediaKind::Unknown,
            None if said().any(|kind| kind == MediaKind::Text) => MediaKind::Text,
            None => said().next().unwrap_or(MediaKind::Unspecified),
        }
    }
}

/// Known for certain not to be plain text.
fn is_concrete(kind: MediaKind) -> bool {
    !matches!(kind, MediaKind::Text | MediaKind::Unknown | MediaKind::Unspecified)
}

fn kind_of_declaration(declared: &str) -> MediaKind {
    let declared = declared.trim().to_ascii_lowercase();
    match declared.parse() {
        Ok(kind) => kind,
        Err(_) if declared.contains('/') => kind_of_mime(&declared),
        Err(_) => MediaKind::Unknown,
    }
}

/// The kind that a MIME type names; parameters and case are ignored.
#[must_use]
pub fn kind_of_mime(mime: &str) -> MediaKind {
    let essence = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (family, subtype) = essence.split_once('/').unwrap_or((&essence, ""));
    match (family, subtype) {
        ("", _) => MediaKind::Unspecified,
        ("image", "svg+xml") => MediaKind::Text,
        ("image", _) => MediaKind::Image,
        ("audio", _) => MediaKind::Audio,
        ("video", _) => MediaKind::Video,
        ("text", "rtf") => MediaKind::Office,
        ("text" | "message", _) => MediaKind::Text,
        ("application", "pdf" | "x-pdf") => MediaKind::Pdf,
        ("application", subtype) if TEXT_APPLICATIONS.contains(&subtype) => MediaKind::Text,
        ("application", subtype) if subtype.ends_with("+json") || subtype.ends_with("+xml") => {
            MediaKind::Text
        }
        ("application", subtype) if OFFICE_APPLICATIONS.iter().any(|prefix| subtype.starts_with(prefix)) => {
            MediaKind::Office
        }
        ("application", subtype) if BINARY_APPLICATIONS.contains(&subtype) => MediaKind::Binary,
        ("font", _) => MediaKind::Binary,
        _ => MediaKind::Unknown,
    }
}

/// The kind that the suffix of a path, file name or URL names; query and fragment are ignored, case too.
#[must_use]
pub fn kind_of_path(path: &str) -> MediaKind {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    // A leading dot hides a file, it does not begin a suffix.
    let Some((stem, suffix)) = name.rsplit_once('.') else { return MediaKind::Unspecified };
    if stem.is_empty() {
        return MediaKind::Unspecified;
    }
    let suffix = suffix.to_ascii_lowercase();
    let within = |list: &[&str]| list.binary_search(&suffix.as_str()).is_ok();
    match () {
        () if within(TEXT_SUFFIXES) => MediaKind::Text,
        () if within(OFFICE_SUFFIXES) => MediaKind::Office,
        () if within(IMAGE_SUFFIXES) => MediaKind::Image,
        () if within(AUDIO_SUFFIXES) => MediaKind::Audio,
        () if within(VIDEO_SUFFIXES) => MediaKind::Video,
        () if within(BINARY_SUFFIXES) => MediaKind::Binary,
        () if suffix == "pdf" => MediaKind::Pdf,
        () => MediaKind::Unspecified,
    }
}

/// Metadata keys that a host can check without looking at the content.
const CHECKABLE_KEYS: [&str; 19] = [
    "blake3",
    "bytes",
    "content_digest",
    "content_kind",
    "content_type",
    "context_representation",
    "digest",
    "file_name",
    "filename",
    "media_type",
    "mime_type",
    "path",
    "sha1",
    "sha256",
    "sha512",
    "size",
    "size_bytes",
    "total_bytes",
    "parent_path",
];

/// What may be said about content that is withheld: host-checkable facts. Summaries, recognised text and guesses go.
#[must_use]
pub fn checkable_facts(metadata: &Metadata) -> Metadata {
    let keep = |key: &str| CHECKABLE_KEYS.contains(&key);
    metadata.iter().filter(|(key, _)| keep(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffix_lists_are_sorted_and_disjoint() {
        let lists =
            [TEXT_SUFFIXES, OFFICE_SUFFIXES, IMAGE_SUFFIXES, AUDIO_SUFFIXES, VIDEO_SUFFIXES, BINARY_SUFFIXES];
        for list in lists {
            let unsorted: Vec<_> = list.windows(2).filter(|pair| pair[0] >= pair[1]).collect();
            assert!(unsorted.is_empty(), "out of order: {unsorted:?}");
        }
        let mut all: Vec<_> = lists.concat();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
