//! Exact reads: a file, a section, or the digest of the instructions.

use std::sync::Arc;

use briefing_core::{
    Completeness, ReadRequest, Representation, SourceError, SourceErrorKind, SourceRead, SourceRef,
};
use briefing_formats::decode;
use serde_json::json;

use super::Inner;
use super::describe::facts;
use super::digest::{Outline, digest};
use super::prepare::{Form, Item, Prepared};
use crate::Error;
use crate::markdown::{MAX_TITLE_CHARS, cut};
use crate::package::{SECTION_MARK, skill_text};

/// Reads a ref. The bytes are checked against the digest in the ref every time.
pub(super) fn read_exact(
    inner: &Inner,
    source_ref: &SourceRef,
    request: &ReadRequest,
) -> Result<SourceRead, SourceError> {
    let prepared = inner.prepared()?;
    let at = prepared.by_ref.get(source_ref).copied();
    let (at, item) = at
        .and_then(|at| Some((at, prepared.items.get(at)?)))
        .ok_or_else(|| SourceError::not_found(source_ref.as_str()))?;
    let text = text_of(inner, item)?;
    let Form::Text { bytes, digest: content_digest, .. } = &item.form else {
        if item.form == Form::Refused {
            // It was mended meanwhile; the next revision offers it.
            inner.look_again();
            let message =
                format!("{source_ref} could not be read when it was listed; it can now, at a new revision");
            return Err(SourceError::new(SourceErrorKind::Changed, message));
        }
        let message = format!("{source_ref} is offered by reference: its kind is {}", item.kind);
        return Err(SourceError::new(SourceErrorKind::Unsupported, message));
    };
    let content = text.get(bytes.clone()).unwrap_or_default();
    let mut read = match request.representation {
        None => SourceRead::text_window(
            inner.source_id.clone(),
            prepared.revision.clone(),
            source_ref.clone(),
            content,
            request,
        ),
        Some(Representation::LossyDigest) if item.is_core() => {
            return lossy_digest(inner, &prepared, at, &text, request);
        }
        Some(other) => {
            let message = format!("{source_ref} cannot be given as {other}");
            return Err(SourceError::new(SourceErrorKind::Unsupported, message));
        }
    };
    read.content_digest = Some(*content_digest);
    read.metadata = facts(inner, &prepared, item);
    Ok(read)
}

/// The text of an item's file, where it is given as text; checks trust and bytes in any case.
pub(super) fn text_of(inner: &Inner, item: &Item) -> Result<Arc<str>, SourceError> {
    let Some(binding) = inner.options.bindings.get(item.bound) else {
        return Err(SourceError::not_found(item.source_ref.as_str()));
    };
    let revision_ref = &binding.revision_ref;
    let read = || -> Result<Arc<str>, Error> {
        if !inner.library.facts(revision_ref)?.trusted {
            return Err(Error::Untrusted { revision_ref: revision_ref.clone() });
        }
        let bytes = match &item.file {
            Some(file) => inner.library.file_bytes(revision_ref, file)?,
            None => inner.library.read_bytes(revision_ref, &item.path)?,
        };
        match &item.form {
            Form::Text { .. } if item.path == crate::package::SKILL_FILE => Ok(skill_text(&bytes)?.into()),
            Form::Text { .. } => {
                let not_text = |error: briefing_formats::Error| Error::NotText {
                    path: item.path.clone(),
                    reason: error.to_string(),
                };
                Ok(decode(&bytes).map_err(not_text)?.text.into())
            }
            Form::Reference | Form::Refused => Ok("".into()),
        }
    };
    read().map_err(|error| {
        inner.look_again();
        SourceError::from(error)
    })
}

fn lossy_digest(
    inner: &Inner,
    prepared: &Prepared,
    at: usize,
    text: &str,
    request: &ReadRequest,
) -> Result<SourceRead, SourceError> {
    let missing = || SourceError::new(SourceErrorKind::Contract, "no instructions to make a digest of");
    let item = prepared.items.get(at).ok_or_else(missing)?;
    let skill = prepared.skills.get(item.bound).and_then(Option::as_ref).ok_or_else(missing)?;
    let Form::Text { bytes, digest: content_digest, .. } = &item.form else { return Err(missing()) };
    if request.start_char != 0 {
        let message = format!("a digest is read from its start, not from char {}", request.start_char);
        return Err(SourceError::new(SourceErrorKind::Contract, message));
    }
    let (sections, resources) = (prepared.sections_of(at), prepared.resources_of(item));
    let outline = Outline {
        name: skill.name.as_str(),
        description: &skill.description,
        full_ref: item.source_ref.as_str(),
        text,
        from: bytes.start,
        sections: &sections,
        resources: &resources,
    };
    let made = digest(&outline, request.max_chars)?;
    let section_refs: Vec<SourceRef> = sections
        .iter()
        .map(|section| SourceRef::new(format!("{}{SECTION_MARK}{}", item.source_ref, section.number)))
        .collect::<Result<_, _>>()?;
    let mut read = SourceRead::complete(
        inner.source_id.clone(),
        prepared.revision.clone(),
        item.source_ref.clone(),
        made.text,
    );
    read.completeness = Completeness::Lossy;
    read.content_digest = Some(*content_digest);
    read.refs = std::iter::once(&item.source_ref).chain(&section_refs).cloned().collect();
    read.metadata = facts(inner, prepared, item);
    // The lines are those of the whole text.
    read.metadata.remove("lines");
    let listed = sections.iter().zip(&section_refs).zip(&made.carried_chars);
    let listed = listed.map(|((section, section_ref), carried)| {
        json!({
            "source_ref": section_ref.as_str(),
            "title": cut(&section.title, MAX_TITLE_CHARS),
            "chars": section.chars,
            "carried_chars": carried,
        })
    });
    let mut tell = |fact: &str, value: serde_json::Value| drop(read.metadata.insert(fact.to_owned(), value));
    tell("sections", listed.collect());
    tell("original_chars", json!(made.original_chars));
    tell("omitted_chars", json!(made.omitted_chars));
    let bare = made.omitted_sections.iter().filter_map(|at| section_refs.get(*at)).map(SourceRef::as_str);
    tell("omitted_sections", json!(bare.collect::<Vec<_>>()));
    tell("omitted_resources", json!(resources.get(made.named_resources..).unwrap_or_default()));
    Ok(read)
}
