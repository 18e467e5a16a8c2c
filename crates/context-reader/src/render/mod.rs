//! Rendering a package as text for its consumer.
//!
//! A rendered package is a head, one segment a block, and a tail that counts what was left out. In the formats made of
//! lines every segment begins with a mark and ends with a newline, so that no token spans two segments. Content can never
//! end its own segment: fences are longer than any run inside, markup is escaped.

mod citation;
mod json;
mod markdown;
mod plain;
mod xml;

use std::collections::BTreeMap;

use briefing_core::PortError;
use briefing_core::{
    ContextBlock, ContextDiagnostic, ContextOmission, ContextPackage, RenderFormat, Severity, TokenCounter,
};

pub(crate) use self::citation::Citation;

/// Renders a package. Equal packages give equal text.
///
/// Every block comes with its citation: ref (with its lines where the source knows them), source, role, completeness, and
/// digest or revision. What was left out follows in a short, counted form. Pictures are named, their data is not shown.
#[must_use]
pub fn render(package: &ContextPackage, format: RenderFormat) -> String {
    whole(package.blocks(), package.omissions(), package.diagnostics(), format)
}

/// Counts the tokens of the rendered package.
///
/// # Errors
/// [`PortError`] where the counter fails.
pub fn rendered_tokens(
    package: &ContextPackage,
    format: RenderFormat,
    counter: &dyn TokenCounter,
) -> Result<usize, PortError> {
    counter.count(&render(package, format))
}

pub(crate) fn whole(
    blocks: &[ContextBlock],
    omissions: &[ContextOmission],
    diagnostics: &[ContextDiagnostic],
    format: RenderFormat,
) -> String {
    let notes = Notes::of(omissions, diagnostics);
    if format == RenderFormat::Json {
        return json::whole(blocks, &notes);
    }
    let mut text = head(format).to_owned();
    for (number, block) in (1..).zip(blocks) {
        text.push_str(&segment(block, number, format));
    }
    text.push_str(&tail(&notes, format));
    text
}

/// The text of a package without blocks.
pub(crate) fn frame(
    format: RenderFormat,
    omissions: &[ContextOmission],
    diagnostics: &[ContextDiagnostic],
) -> String {
    whole(&[], omissions, diagnostics, format)
}

/// The text of one block.
pub(crate) fn segment(block: &ContextBlock, number: usize, format: RenderFormat) -> String {
    match format {
        RenderFormat::Markdown => markdown::segment(block, number),
        RenderFormat::Xml => xml::segment(block, number),
        RenderFormat::Json => json::segment(block, number),
        RenderFormat::Plain => plain::segment(block, number),
    }
}

fn head(format: RenderFormat) -> &'static str {
    match format {
        RenderFormat::Markdown => "# Context\n\n",
        RenderFormat::Xml => "<context>\n",
        _ => "",
    }
}

fn tail(notes: &Notes, format: RenderFormat) -> String {
    match format {
        RenderFormat::Markdown => markdown::tail(notes),
        RenderFormat::Xml => xml::tail(notes),
        _ => plain::tail(notes),
    }
}

/// What was left out, counted by reason, and what went wrong, counted by code.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) omitted: BTreeMap<&'static str, usize>,
    pub(crate) required_omitted: usize,
    pub(crate) problems: BTreeMap<String, usize>,
}

impl Notes {
    fn of(omissions: &[ContextOmission], diagnostics: &[ContextDiagnostic]) -> Self {
        let mut notes = Self::default();
        for omission in omissions {
            *notes.omitted.entry(omission.reason.as_str()).or_default() += 1;
            notes.required_omitted += usize::from(omission.required);
        }
        for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Info) {
            *notes.problems.entry(diagnostic.code.clone()).or_default() += 1;
        }
        notes
    }

    /// `3 not_selected, 1 already_disclosed`: largest first, then by name.
    fn counted<K: AsRef<str>>(counts: &BTreeMap<K, usize>) -> String {
        let mut counts: Vec<_> = counts.iter().map(|(name, count)| (name.as_ref(), *count)).collect();
        counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    }

    /// The note's sentences, one a line; empty where there is nothing to say.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.omitted.is_empty() {
            let required = match self.required_omitted {
                0 => String::new(),
                n => format!(" ({n} required)"),
            };
            lines.push(format!("Left out: {}{required}.", Self::counted(&self.omitted)));
        }
        if !self.problems.is_empty() {
            lines.push(format!("Problems: {}.", Self::counted(&self.problems)));
        }
        lines
    }
}
