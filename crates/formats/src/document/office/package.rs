//! The zip, its parts and how they refer to one another (ECMA-376 part 2).

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use encoding_rs::Encoding;
use zip::ZipArchive;
use zip::result::ZipError;

use super::xml::{Event, Xml};
use crate::document::guard::Guard;
use crate::document::{DocumentError, DocumentFormat, DocumentLimits};

/// How many entries a zip may have. A presentation of a thousand slides has about five thousand.
const MAX_ENTRIES: usize = 50_000;

/// How much is inflated between two looks at the clock.
const CHUNK_BYTES: u64 = 256 << 10;

/// An open package.
pub(super) struct Package<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    pub(super) limits: &'a DocumentLimits,
    pub(super) guard: &'a Guard,
    /// How many bytes may still be inflated.
    left: u64,
    /// The names of entries in lower case, where they are not so already: part names are compared without regard to
    /// case (ECMA-376 part 2, 6.2.2.3).
    folded: BTreeMap<String, usize>,
}

/// A relationship of a part.
#[derive(Debug, Clone)]
pub(super) struct Relationship {
    pub(super) id: String,
    /// The last step of its type: `header`, `slide`, `hyperlink`, ….
    pub(super) kind: String,
    /// The part it leads to; `None` where it leads out of the package.
    pub(super) target: Option<String>,
}

impl<'a> Package<'a> {
    pub(super) fn open(
        bytes: &'a [u8],
        limits: &'a DocumentLimits,
        guard: &'a Guard,
    ) -> Result<Self, DocumentError> {
        check_entries(bytes)?;
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged_zip(&error))?;
        if zip.len() > MAX_ENTRIES {
            return Err(DocumentError::limit("entries of a zip", MAX_ENTRIES as u64));
        }
        let folded = zip
            .file_names()
            .enumerate()
            .filter_map(|(at, name)| Some((name.ok()?.to_lowercase().replace('\\', "/"), at)))
            .collect();
        Ok(Self { zip, limits, guard, left: limits.max_total_bytes, folded })
    }

    pub(super) fn has(&self, part: &str) -> bool {
        self.index(part).is_some()
    }

    fn index(&self, part: &str) -> Option<usize> {
        self.zip
            .index_for_name_raw(part.as_bytes())
            .or_else(|| self.folded.get(&part.to_lowercase()).copied())
    }

    /// The text of a part, inflated under the limits. Declared sizes are not believed.
    pub(super) fn part(&mut self, part: &str) -> Result<String, DocumentError> {
        let index =
            self.index(part).ok_or_else(|| DocumentError::damaged(format!("the part {part} is missing")))?;
        let limits = self.limits;
        let mut entry = self.zip.by_index(index).map_err(|error| damaged_zip(&error))?;
        let allowed = limits.max_entry_bytes.min(self.left);
        let mut bytes =
            Vec::with_capacity(usize::try_from(entry.size().min(allowed).min(CHUNK_BYTES * 4)).unwrap_or(0));
        loop {
            self.guard.check()?;
            let room = (allowed + 1).saturating_sub(bytes.len() as u64).min(CHUNK_BYTES);
            let read = entry.by_ref().take(room).read_to_end(&mut bytes).map_err(|error| {
                DocumentError::damaged(format!("the part {part} cannot be inflated: {error}"))
            })?;
            if bytes.len() as u64 > allowed {
                return Err(if allowed == limits.max_entry_bytes {
                    DocumentError::limit("max_entry_bytes", limits.max_entry_bytes)
                } else {
                    DocumentError::limit("max_total_bytes", limits.max_total_bytes)
                });
            }
            if read == 0 {
                break;
            }
        }
        self.left -= bytes.len() as u64;
        decoded(bytes, part)
    }

    /// The relationships of a part; none where it has no part for them. `""` is the package itself.
    pub(super) fn relationships(&mut self, part: &str) -> Result<Vec<Relationship>, DocumentError> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let slash = if folder.is_empty() { "" } else { "/" };
        let rels = format!("{folder}{slash}_rels/{name}.rels");
        if !self.has(&rels) {
            return Ok(Vec::new());
        }
        let text = self.part(&rels)?;
        let mut xml = Xml::new(&text, &rels, self.limits, self.guard);
        let mut found = Vec::new();
        while let Some(event) = xml.next()? {
            let Event::Start(element) = event else { continue };
            if element.name() != "Relationship" {
                continue;
            }
            let target = element.attribute("Target").unwrap_or_default();
            let outside =
                element.attribute("TargetMode").is_some_and(|mode| mode.eq_ignore_ascii_case("external"));
            let kind = element.attribute("Type").unwrap_or_default();
            found.push(Relationship {
                id: element.attribute("Id").unwrap_or_default().into_owned(),
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: (!outside).then(|| resolved(folder, &target)),
            });
        }
        Ok(found)
    }

    /// The main part and the format that its content type says.
    pub(super) fn main_part(&mut self) -> Result<(DocumentFormat, String), DocumentError> {
        const TYPES: &str = "[Content_Types].xml";
        if !self.has(TYPES) {
            let what = if self.has("mimetype") { "an OpenDocument or EPUB file" } else { "a plain zip" };
            return Err(DocumentError::Unsupported { what: what.to_owned() });
        }
        let main = self
            .relationships("")?
            .into_iter()
            .find(|relationship| relationship.kind == "officeDocument")
            .and_then(|relationship| relationship.target)
            .ok_or_else(|| DocumentError::damaged("the package names no main part"))?;
        let content_type = self.content_type(TYPES, &main)?;
        match DocumentFormat::of_media_type(&content_type) {
            Some(format) if self.has(&main) => Ok((format, main)),
            Some(_) => Err(DocumentError::damaged(format!("the main part {main} is missing"))),
            None => Err(DocumentError::Unsupported { what: format!("a package of {content_type:?}") }),
        }
    }

    fn content_type(&mut self, types: &str, part: &str) -> Result<String, DocumentError> {
        let suffix = part.rsplit_once('.').map_or("", |(_, suffix)| suffix);
        let text = self.part(types)?;
        let mut xml = Xml::new(&text, types, self.limits, self.guard);
        let mut default = String::new();
        while let Some(event) = xml.next()? {
            let Event::Start(element) = event else { continue };
            let said = || element.attribute("ContentType").unwrap_or_default().into_owned();
            match element.name() {
                "Override" => {
                    let name = element.attribute("PartName").unwrap_or_default();
                    if name.trim_start_matches('/').eq_ignore_ascii_case(part) {
                        return Ok(said());
                    }
                }
                "Default"
                    if element.attribute("Extension").is_some_and(|it| it.eq_ignore_ascii_case(suffix)) =>
                {
                    default = said();
                }
                _ => {}
            }
        }
        Ok(default)
    }
}

/// Where a target leads from a part's folder.
fn resolved(folder: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default().replace('\\', "/");
    let mut steps: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    steps.retain(|step| !step.is_empty());
    steps.join("/")
}

/// XML is UTF-8 unless a byte order mark says UTF-16.
fn decoded(bytes: Vec<u8>, part: &str) -> Result<String, DocumentError> {
    let not_text = || DocumentError::damaged(format!("the part {part} is no valid text"));
    let mut text = match Encoding::for_bom(&bytes) {
        Some((encoding, _)) if encoding != encoding_rs::UTF_8 => {
            encoding.decode_with_bom_removal(&bytes).0.into_owned()
        }
        _ => String::from_utf8(bytes).map_err(|_| not_text())?,
    };
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

fn damaged_zip(error: &ZipError) -> DocumentError {
    match error {
        ZipError::InvalidPassword | ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            DocumentError::Encrypted
        }
        ZipError::CompressionMethodNotSupported(_) => {
            DocumentError::Unsupported { what: format!("this zip: {error}") }
        }
        error => DocumentError::damaged(format!("the zip cannot be read: {error}")),
    }
}

/// Counts the entries before the zip is opened: opening it makes room for as many as it claims to have, in ZIP64 up to
/// the number of bytes before its directory (APPNOTE 4.3.12, 4.3.14).
fn check_entries(bytes: &[u8]) -> Result<(), DocumentError> {
    let mut entries = 0_usize;
    for header in bytes.windows(40).filter(|window| window.starts_with(b"PK")) {
        match header.get(2..4) {
            Some([1, 2]) => entries += 1,
            Some([6, 6]) => {
                let claimed =
                    header.get(32..40).and_then(|count| count.try_into().ok()).map_or(0, u64::from_le_bytes);
                entries = entries.max(usize::try_from(claimed).unwrap_or(usize::MAX));
            }
            _ => {}
        }
        if entries > MAX_ENTRIES {
            return Err(DocumentError::limit("entries of a zip", MAX_ENTRIES as u64));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn targets_are_resolved_within_the_package() {
        for (folder, target, part) in [
            ("", "word/document.xml", "word/document.xml"),
            ("word", "media/../header1.xml", "word/header1.xml"),
            ("ppt/slides", "../notesSlides/notesSlide1.xml#x", "ppt/notesSlides/notesSlide1.xml"),
            ("xl", "/xl/worksheets/sheet1.xml", "xl/worksheets/sheet1.xml"),
            ("xl", "../../../../etc/passwd", "etc/passwd"),
        ] {
            assert_eq!(resolved(folder, target), part);
        }
    }
}
