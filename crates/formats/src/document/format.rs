//! Which document format some bytes are.

use std::fmt;

use super::DocumentError;
use crate::signature;

/// A document format that [`document_text`](super::document_text) reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentFormat {
    /// Portable Document Format (ISO 32000).
    Pdf,
    /// A word processor's document (ECMA-376, WordprocessingML), with or without macros, or a template.
    Docx,
    /// A workbook (SpreadsheetML).
    Xlsx,
    /// A presentation (PresentationML).
    Pptx,
}

impl DocumentFormat {
    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
            Self::Pptx => "pptx",
        }
    }

    /// The MIME type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        }
    }

    /// The format of a MIME type, with or without parameters; also of the types of templates, slide shows and documents
    /// with macros.
    ///
    /// ```
    /// use briefing_formats::DocumentFormat;
    /// assert_eq!(DocumentFormat::of_media_type("application/pdf"), Some(DocumentFormat::Pdf));
    /// assert_eq!(DocumentFormat::of_media_type("text/plain"), None);
    /// ```
    #[must_use]
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let name = media_type.strip_prefix("application/")?;
        if name == "pdf" {
            return Some(Self::Pdf);
        }
        let name = name.strip_suffix("+xml").unwrap_or(name);
        Self::of_office_type(name.strip_suffix(".main").unwrap_or(name))
    }

    fn of_office_type(name: &str) -> Option<Self> {
        if let Some(name) = name.strip_prefix("vnd.openxmlformats-officedocument.") {
            return match name {
                "wordprocessingml.document" | "wordprocessingml.template" => Some(Self::Docx),
                "spreadsheetml.sheet" | "spreadsheetml.template" => Some(Self::Xlsx),
                "presentationml.presentation" | "presentationml.slideshow" | "presentationml.template" => {
                    Some(Self::Pptx)
                }
                _ => None,
            };
        }
        match name.strip_suffix(".macroenabled")? {
            "vnd.ms-word.document" | "vnd.ms-word.template" => Some(Self::Docx),
            "vnd.ms-excel.sheet" | "vnd.ms-excel.template" | "vnd.ms-excel.addin" => Some(Self::Xlsx),
            "vnd.ms-powerpoint.presentation"
            | "vnd.ms-powerpoint.slideshow"
            | "vnd.ms-powerpoint.template" => Some(Self::Pptx),
            _ => None,
        }
    }

    /// The format that the bytes show: the header of a PDF, or the main part that the `[Content_Types].xml` of a zip
    /// names. Office documents are known only with the feature `office`. Reads no more of a zip than these few parts,
    /// 1 MiB at most.
    ///
    /// ```
    /// use briefing_formats::DocumentFormat;
    /// assert_eq!(DocumentFormat::of_bytes(b"%PDF-1.7\n"), Some(DocumentFormat::Pdf));
    /// assert_eq!(DocumentFormat::of_bytes(b"words"), None);
    /// ```
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        match Found::in_bytes(bytes) {
            Ok(Found::Pdf) => Some(Self::Pdf),
            #[cfg(feature = "office")]
            Ok(Found::Zip) => super::office::format_of(bytes),
            _ => None,
        }
    }
}

impl fmt::Display for DocumentFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What the first bytes show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Pdf,
    Zip,
}

/// How far into a file the header of a PDF may stand: readers accept it in the first 1,024 bytes (ISO 32000-1, annex H,
/// note 13).
const PDF_HEADER_BYTES: usize = 1024;

/// The header of Microsoft's compound files (MS-CFB 2.2).
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// The stream that holds an encrypted Office document within a compound file (MS-OFFCRYPTO 2.3.4.4), in UTF-16.
const ENCRYPTED_PACKAGE: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0";

impl Found {
    pub(crate) fn in_bytes(bytes: &[u8]) -> Result<Self, DocumentError> {
        if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
            return Ok(Self::Zip);
        }
        if bytes.starts_with(COMPOUND_FILE) {
            return Err(if signature::contains(bytes, ENCRYPTED_PACKAGE) {
                DocumentError::Encrypted
            } else {
                DocumentError::Unsupported { what: "an Office document of the time before 2007".to_owned() }
            });
        }
        if signature::contains(bytes.get(..PDF_HEADER_BYTES).unwrap_or(bytes), b"%PDF-") {
            return Ok(Self::Pdf);
        }
        Err(DocumentError::Unsupported {
            what: "bytes that are neither PDF nor an Office document".to_owned(),
        })
    }
}
