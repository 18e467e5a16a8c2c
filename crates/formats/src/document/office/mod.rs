//! Office Open XML (ECMA-376, transitional and strict): packages of XML parts in a zip.
//!
//! Elements and relationships are matched by their local names, so that both namespaces of the standard are read.

mod docx;
mod numbers;
mod package;
mod pptx;
mod xlsx;
mod xml;

use super::guard::Guard;
use super::isolation;
use super::output::Output;
use super::{DocumentError, DocumentFormat, DocumentLimits, DocumentText};
use package::Package;

/// The parts that name the format are small.
const FORMAT_BYTES: u64 = 1 << 20;

pub(super) fn read(
    bytes: &[u8],
    limits: &DocumentLimits,
    guard: &Guard,
) -> Result<DocumentText, DocumentError> {
    let mut package = Package::open(bytes, limits, guard)?;
    let (format, main) = package.main_part()?;
    let mut out = Output::new(limits);
    let found = match format {
        DocumentFormat::Docx => docx::read(&mut package, &main, &mut out)?,
        DocumentFormat::Xlsx => xlsx::read(&mut package, &main, &mut out)?,
        DocumentFormat::Pptx => pptx::read(&mut package, &main, &mut out)?,
        DocumentFormat::Pdf => return Err(DocumentError::damaged("a zip whose main part is a PDF")),
    };
    out.finish(format, &found)
}

pub(super) fn format_of(bytes: &[u8]) -> Option<DocumentFormat> {
    let limits = DocumentLimits::default().max_entry_bytes(FORMAT_BYTES).max_total_bytes(FORMAT_BYTES);
    let guard = Guard::new(std::sync::Arc::default(), limits.time_limit);
    let found = isolation::caught(|| Package::open(bytes, &limits, &guard)?.main_part());
    found.ok().map(|(format, _)| format)
}
