//! The kind of some content: what its source says, weighed against what its bytes show.

use briefing_core::media::{MediaKind, MediaSignals};

use crate::signature::{self, Signature};
use crate::text::{is_plain_utf8, is_text};

/// What some content is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Classification {
    /// The kind; never [`MediaKind::Unspecified`].
    pub kind: MediaKind,
    /// The MIME type that the bytes show; `None` for text and for bytes without a signature.
    pub media_type: Option<&'static str>,
    /// Where signals and bytes contradict one another: one sentence that says how.
    pub disagreement: Option<String>,
}

/// Weighs the signals against the bytes.
///
/// `bytes` are the content, or as much of its beginning as the caller holds. Where the signals say nothing, the bytes
/// decide. A name that says text gives way to bytes that are not text. A name that says document, picture, sound or film
/// over bytes of another kind closes to [`MediaKind::Unknown`]. Short signatures (`BM`, `MZ`, `ID3`, …) never beat valid
/// UTF-8: many texts begin with such letters.
///
/// ```
/// use briefing_core::media::{MediaKind, MediaSignals};
/// use briefing_formats::classify;
/// let named = |path| MediaSignals { path: Some(path), ..MediaSignals::default() };
/// assert_eq!(classify(&named("BMI.txt"), b"BMI is weight by height squared").kind, MediaKind::Text);
/// assert_eq!(classify(&named("logo.png"), b"just words").kind, MediaKind::Unknown);
/// ```
#[must_use]
pub fn classify(signals: &MediaSignals<'_>, bytes: &[u8]) -> Classification {
    let said = signals.kind();
    if bytes.is_empty() {
        return of_nothing(said);
    }
    match (said, shown_by(bytes, said)) {
        (MediaKind::Unknown, shown) => settled(MediaKind::Unknown, shown),
        (MediaKind::Unspecified, shown) => settled(shown.kind(), shown),
        (said, shown) if agree(said, shown) => settled(said, shown),
        (MediaKind::Text, shown) => contradicted(shown.kind(), MediaKind::Text, shown),
        (said, shown) => contradicted(MediaKind::Unknown, said, shown),
    }
}

/// What the bytes show on their own.
#[derive(Debug, Clone, Copy)]
enum Shown {
    Text,
    Format(Signature),
    Nothing,
}

impl Shown {
    fn kind(self) -> MediaKind {
        match self {
            Self::Text => MediaKind::Text,
            Self::Format(signature) => signature.kind,
            Self::Nothing => MediaKind::Binary,
        }
    }

    fn media_type(self) -> Option<&'static str> {
        match self {
            Self::Format(signature) => Some(signature.media_type),
            Self::Text | Self::Nothing => None,
        }
    }
}

fn shown_by(bytes: &[u8], said: MediaKind) -> Shown {
    // A name that says text vouches for UTF-8 with stray control characters; nothing vouches for NULs.
    let text = is_text(bytes) || (said == MediaKind::Text && is_plain_utf8(bytes));
    let format = match text {
        true if said == MediaKind::Pdf && signature::has_pdf_header(bytes) => signature::of_binary(bytes),
        true => {
            signature::of_text(bytes).filter(|found| said != MediaKind::Text || found.kind == MediaKind::Pdf)
        }
        false => signature::of_binary(bytes),
    };
    match format {
        Some(signature) => Shown::Format(signature),
        None if text => Shown::Text,
        None => Shown::Nothing,
    }
}

fn agree(said: MediaKind, shown: Shown) -> bool {
    match (said, shown) {
        // Many formats of pictures, sound and film have no signature that is known here; documents all have one.
        (MediaKind::Image | MediaKind::Audio | MediaKind::Video | MediaKind::Binary, Shown::Nothing) => true,
        (MediaKind::Audio | MediaKind::Video, shown) => {
            matches!(shown.kind(), MediaKind::Audio | MediaKind::Video)
        }
        (said, Shown::Nothing) => said == MediaKind::Binary,
        (said, shown) => said == shown.kind(),
    }
}

fn of_nothing(said: MediaKind) -> Classification {
    match said {
        MediaKind::Text | MediaKind::Unspecified => settled(MediaKind::Text, Shown::Text),
        MediaKind::Unknown | MediaKind::Binary => settled(said, Shown::Nothing),
        said => Classification {
            kind: MediaKind::Unknown,
            media_type: None,
            disagreement: Some(format!("said to be {said}, but there are no bytes")),
        },
    }
}

fn settled(kind: MediaKind, shown: Shown) -> Classification {
    Classification { kind, media_type: shown.media_type(), disagreement: None }
}

fn contradicted(kind: MediaKind, said: MediaKind, shown: Shown) -> Classification {
    let seen = match shown {
        Shown::Text => "text",
        Shown::Format(signature) => signature.media_type,
        Shown::Nothing => "neither text nor a known format",
    };
    Classification {
        kind,
        media_type: shown.media_type(),
        disagreement: Some(format!("said to be {said}, but the bytes are {seen}")),
    }
}
