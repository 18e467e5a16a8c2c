//! Descriptors, and the facts that they and reads carry.

use briefing_core::media::MediaKind;
use briefing_core::{DescriptorKey, Metadata, SourceDescriptor, SourceError};
use serde_json::json;

use super::Inner;
use super::prepare::{Form, Item, Prepared, resource_kind};
use crate::front_matter;

/// The longest summary, in chars.
const MAX_SUMMARY_CHARS: usize = 120;

/// Describes an item; `text` is the text of its file, where it is given as text.
pub(super) fn descriptor(
    inner: &Inner,
    prepared: &Prepared,
    item: &Item,
    text: Option<&str>,
) -> Result<SourceDescriptor, SourceError> {
    let key = DescriptorKey::new(item.source_ref.as_str())?;
    let mut descriptor = SourceDescriptor::new(
        inner.source_id.clone(),
        prepared.revision.clone(),
        key,
        item.source_ref.clone(),
    );
    descriptor.role = item.role;
    descriptor.required = item.required;
    descriptor.metadata = facts(inner, prepared, item);
    descriptor.title = title(inner, prepared, item);
    if let Some((_, parent)) = &item.section
        && let Some(parent) = prepared.items.get(*parent)
    {
        descriptor.parent_key = Some(DescriptorKey::new(parent.source_ref.as_str())?);
    }
    let skill = prepared.skills.get(item.bound).and_then(Option::as_ref);
    if let Form::Text { bytes, chars, digest, .. } = &item.form {
        descriptor.estimated_chars = *chars;
        descriptor.content_digest = Some(*digest);
        let content = text.and_then(|text| text.get(bytes.clone())).unwrap_or_default();
        descriptor.summary = first_words(content);
        descriptor.index_text = match item.has_sections && !item.is_core() {
            // Its sections are found by the rest.
            true => {
                front_matter::part(content).map_or_else(|_| String::new(), |parted| parted.yaml.to_owned())
            }
            false => content.to_owned(),
        };
    }
    if let Some(skill) = skill.filter(|_| item.is_core()) {
        descriptor.summary.clone_from(&skill.description);
        // A skill is found by its description, and whole: its instructions are made to be read together.
        descriptor.index_text = format!("{}\n{}", skill.description, descriptor.index_text);
    }
    Ok(descriptor)
}

fn title(inner: &Inner, prepared: &Prepared, item: &Item) -> String {
    let name = skill_name(inner, item);
    match &item.section {
        Some((section, parent)) => match prepared.items.get(*parent) {
            Some(parent) if !parent.is_core() => format!("{name}/{} > {}", item.path, section.trail),
            _ => format!("{name} > {}", section.trail),
        },
        None if item.is_core() => name.to_owned(),
        None => format!("{name}/{}", item.path),
    }
}

fn skill_name<'a>(inner: &'a Inner, item: &Item) -> &'a str {
    inner.options.bindings.get(item.bound).map_or("", |binding| binding.revision_ref.name().as_str())
}

/// What is said about an item. `path` is within a folder of the skill's name, as the convention lays skills out.
pub(super) fn facts(inner: &Inner, prepared: &Prepared, item: &Item) -> Metadata {
    let mut facts = Metadata::new();
    let mut tell = |fact: &str, value: serde_json::Value| drop(facts.insert(fact.to_owned(), value));
    let name = skill_name(inner, item);
    tell("skill", json!(name));
    if let Some(binding) = inner.options.bindings.get(item.bound) {
        tell("revision_ref", json!(binding.revision_ref.to_string()));
    }
    tell("path", json!(format!("{name}/{}", item.path)));
    if item.kind != MediaKind::Unspecified {
        tell("content_kind", json!(item.kind.as_str()));
    }
    if let Some(media_type) = item.media_type {
        tell("media_type", json!(media_type));
    }
    if let Form::Text { lines: (start, end), .. } = &item.form {
        tell("lines", json!({ "start": start, "end": end }));
    }
    if item.form == Form::Reference {
        tell("context_representation", json!("metadata_only"));
    }
    if let Some((_, parent)) = &item.section {
        if let Some(parent) = prepared.items.get(*parent) {
            tell("parent_source_ref", json!(parent.source_ref.as_str()));
        }
        return facts;
    }
    if let Some(file) = &item.file {
        tell("total_bytes", json!(file.bytes));
    }
    if item.is_core() {
        tell("skill_part", json!("core"));
        let skill = prepared.skills.get(item.bound).and_then(Option::as_ref);
        if let Some(skill) = skill {
            if !skill.allowed_tools.is_empty() {
                tell("allowed_tools", json!(skill.allowed_tools));
            }
            if let Some(compatibility) = &skill.compatibility {
                tell("compatibility", json!(compatibility));
            }
        }
    } else {
        tell("skill_part", json!(resource_kind(&item.path).0));
        // No `parent_key`: the core belongs to it but does not contain it, so it never makes it superfluous.
        let core = prepared.items.iter().find(|core| core.bound == item.bound && core.is_core());
        if let Some(core) = core {
            tell("parent_source_ref", json!(core.source_ref.as_str()));
        }
    }
    facts
}

/// The first line that says something and is no heading, else the heading.
fn first_words(text: &str) -> String {
    let says = |line: &&str| line.chars().any(char::is_alphanumeric);
    let lines = || text.lines().map(str::trim).filter(says).take(50);
    let line = lines().find(|line| !line.starts_with('#')).or_else(|| lines().next()).unwrap_or_default();
    let line = line.trim_start_matches(|char: char| char.is_whitespace() || "#/*!;<>-=%\"'".contains(char));
    crate::markdown::cut(line, MAX_SUMMARY_CHARS)
}
