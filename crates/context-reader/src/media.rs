//! The media policy: what of a candidate may enter a package, and in which form.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use briefing_core::media::{MediaKind, checkable_facts};
use briefing_core::{Content, Metadata};

/// What may enter a package of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handling {
    /// Its text.
    Text,
    /// The text that a parser took out of it, with proof.
    ParsedText,
    /// The picture, as an attachment.
    ImageAttachment,
    /// Its name alone.
    Withheld,
}

/// Decides by kind, by what the source says of the form, and by what the consumer takes.
pub(crate) fn handling(kind: MediaKind, metadata: &Metadata, accepts_images: bool) -> Handling {
    if declared_form(metadata).as_deref() == Some("metadata_only") {
        return Handling::Withheld;
    }
    match kind {
        MediaKind::Text | MediaKind::Unspecified => Handling::Text,
        MediaKind::Pdf | MediaKind::Office if is_parsed_text(metadata) => Handling::ParsedText,
        MediaKind::Image if accepts_images => Handling::ImageAttachment,
        _ => Handling::Withheld,
    }
}

fn declared_form(metadata: &Metadata) -> Option<String> {
    let form = metadata.get("context_representation")?.as_str()?;
    Some(form.trim().to_ascii_lowercase())
}

/// Whether the metadata of a descriptor or read says that its text was parsed out of a document.
pub(crate) fn is_parsed_text(metadata: &Metadata) -> bool {
    declared_form(metadata).as_deref() == Some("parsed_text")
}

/// What is said about content that is withheld or attached: host-checkable facts, its kind and its form.
pub(crate) fn facts(kind: MediaKind, metadata: &Metadata, attached: bool) -> Metadata {
    let mut facts = checkable_facts(metadata);
    if kind != MediaKind::Unspecified {
        facts.insert("content_kind".to_owned(), kind.as_str().into());
    }
    let form = match kind {
        MediaKind::Image if attached => "image_attachment",
        MediaKind::Image => "image_attachment_or_metadata",
        _ => "metadata_only",
    };
    facts.insert("context_representation".to_owned(), form.into());
    facts
}

/// Checks an image payload: a list of `{"type": "image_url", "image_url": {"url": …}}` that is not empty, each URL http(s)
/// or a base64 image data URL that decodes to something.
pub(crate) fn is_image_payload(content: &Content) -> bool {
    let Content::Structured(serde_json::Value::Array(parts)) = content else { return false };
    !parts.is_empty() && parts.iter().all(is_image_part)
}

fn is_image_part(part: &serde_json::Value) -> bool {
    let is_image = part.get("type").and_then(serde_json::Value::as_str) == Some("image_url");
    let url = part.get("image_url").and_then(|image| image.get("url")).and_then(serde_json::Value::as_str);
    is_image && url.is_some_and(is_image_url)
}

fn is_image_url(url: &str) -> bool {
    if let Some(host) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) {
        return !host.is_empty();
    }
    let Some((kind, data)) = url.strip_prefix("data:image/").and_then(|rest| rest.split_once(";base64,"))
    else {
        return false;
    };
    !kind.is_empty() && STANDARD.decode(data.trim()).is_ok_and(|bytes| !bytes.is_empty())
}
