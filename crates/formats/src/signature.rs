//! What the bytes themselves say: signatures of formats that are not plain text.

use briefing_core::media::MediaKind;
use infer::MatcherType;

/// How far into the bytes a scan for inner structure goes, from the start and from the end each.
const SCAN_BYTES: usize = 1 << 20;

/// A format that the bytes show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) kind: MediaKind,
    pub(crate) media_type: &'static str,
}

const PDF: Signature = Signature { kind: MediaKind::Pdf, media_type: "application/pdf" };
const RTF: Signature = Signature { kind: MediaKind::Office, media_type: "application/rtf" };

/// The main parts of Office Open XML packages (ECMA-376), by the folder that holds them.
const OOXML: [(&[u8], &str); 3] = [
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
];

/// The format of bytes that are not text.
pub(crate) fn of_binary(bytes: &[u8]) -> Option<Signature> {
    if has_pdf_header(bytes) {
        return Some(PDF);
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Some(of_zip(bytes));
    }
    let found = infer::get(bytes)?;
    let kind = match found.matcher_type() {
        MatcherType::Image => MediaKind::Image,
        MatcherType::Audio => MediaKind::Audio,
        MatcherType::Video => MediaKind::Video,
        MatcherType::Doc => MediaKind::Office,
        // The text test already said no, so a signature of text proves nothing.
        MatcherType::Text => return None,
        _ => MediaKind::Binary,
    };
    Some(Signature { kind, media_type: found.mime_type() })
}

/// A document format whose bytes are all readable characters: a PDF without compressed streams, or RTF.
pub(crate) fn of_text(bytes: &[u8]) -> Option<Signature> {
    if bytes.starts_with(br"{\rtf1") {
        return Some(RTF);
    }
    is_whole_pdf(bytes).then_some(PDF)
}

/// Whether the bytes begin as a PDF does (ISO 32000, 7.5.2).
pub(crate) fn has_pdf_header(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-")
}

/// The header, an object, a cross-reference and the end marker as the last words: a page that only quotes the header
/// has none of the rest.
fn is_whole_pdf(bytes: &[u8]) -> bool {
    let tail = bytes.get(bytes.len().saturating_sub(1024)..).unwrap_or_default();
    has_pdf_header(bytes)
        && tail.trim_ascii_end().ends_with(b"%%EOF")
        && contains(tail, b"startxref")
        && contains(head(bytes), b"endobj")
}

/// A zip is an Office document where its entries say so: `[Content_Types].xml` and the folder of a main part, or the
/// stored media type of OpenDocument.
fn of_zip(bytes: &[u8]) -> Signature {
    if let Some(found) = infer::get(bytes)
        && (found.mime_type().starts_with("application/vnd.oasis")
            || found.mime_type() == "application/epub+zip")
    {
        let kind =
            if found.matcher_type() == MatcherType::Doc { MediaKind::Office } else { MediaKind::Binary };
        return Signature { kind, media_type: found.mime_type() };
    }
    let zip = Signature { kind: MediaKind::Binary, media_type: "application/zip" };
    let names = EntryNames::of(bytes);
    if !names.has(b"[Content_Types].xml") {
        return zip;
    }
    OOXML
        .into_iter()
        .find(|(folder, _)| names.has(folder))
        .map_or(zip, |(_, media_type)| Signature { kind: MediaKind::Office, media_type })
}

/// The start and the end of a zip, where its local headers and its central directory name the entries.
struct EntryNames<'a>([&'a [u8]; 2]);

impl<'a> EntryNames<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let start = head(bytes);
        let rest = bytes.get(start.len()..).unwrap_or_default();
        Self([start, rest.get(rest.len().saturating_sub(SCAN_BYTES)..).unwrap_or_default()])
    }

    /// Whether an entry's name begins with `name`: in a local header it follows 30 bytes after `PK\x03\x04`, in the
    /// central directory 46 bytes after `PK\x01\x02` (APPNOTE 4.3.7 and 4.3.12).
    fn has(&self, name: &[u8]) -> bool {
        self.0.iter().any(|part| {
            let mut at = 0;
            while let Some(found) = part.get(at..).and_then(|rest| find(rest, b"PK")) {
                let header = part.get(at + found..).unwrap_or_default();
                let skip = match header {
                    [_, _, 3, 4, ..] => 30,
                    [_, _, 1, 2, ..] => 46,
                    _ => usize::MAX,
                };
                if header.get(skip..).is_some_and(|rest| rest.starts_with(name)) {
                    return true;
                }
                at += found + 2;
            }
            false
        })
    }
}

fn head(bytes: &[u8]) -> &[u8] {
    bytes.get(..SCAN_BYTES).unwrap_or(bytes)
}

pub(crate) fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    find(bytes, needle).is_some()
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}
