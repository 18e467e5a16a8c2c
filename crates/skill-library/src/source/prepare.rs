//! Looking once at all files of the bound revisions: what each is, and of which sections its text is made.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use briefing_core::media::{MediaKind, MediaSignals};
use briefing_core::{
    ContextDiagnostic, Digest, Fingerprint, Revision, Role, Severity, SourceError, SourceRef,
};
use briefing_formats::{classify, decode};

use super::Inner;
use super::options::SkillBinding;
use crate::manifest::SkillFile;
use crate::markdown::{Section, sections};
use crate::package::{SECTION_MARK, SKILL_FILE, skill_text};
use crate::{Error, FrontMatter, front_matter};

/// One descriptor to be: a file, or a section of one.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) source_ref: SourceRef,
    /// Which of the bindings it belongs to.
    pub(super) bound: usize,
    /// The path of its file within the skill.
    pub(super) path: String,
    /// What the file must hold, by the manifest that the ref proves; `None` where there was no such manifest.
    pub(super) file: Option<Arc<SkillFile>>,
    pub(super) role: Role,
    pub(super) required: bool,
    pub(super) form: Form,
    pub(super) kind: MediaKind,
    pub(super) media_type: Option<&'static str>,
    /// The section, and the index of its file's item.
    pub(super) section: Option<(Section, usize)>,
    /// Whether its file's sections are items of their own.
    pub(super) has_sections: bool,
}

/// How an item is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// As text: its place in the text of the file, in bytes.
    Text { bytes: Range<usize>, chars: usize, digest: Digest, lines: (usize, usize) },
    /// By its name alone.
    Reference,
    /// Not at all: what is kept is not what was installed, or nobody vouches for it any more.
    Refused,
}

impl Item {
    pub(super) fn is_core(&self) -> bool {
        self.path == SKILL_FILE && self.section.is_none()
    }
}

/// The bound revisions, as they were when they were looked at.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) revision: Revision,
    pub(super) items: Vec<Item>,
    pub(super) by_ref: HashMap<SourceRef, usize>,
    /// What each binding's skill says about itself; `None` where it cannot be read.
    pub(super) skills: Vec<Option<FrontMatter>>,
    pub(super) diagnostics: Vec<ContextDiagnostic>,
    /// Something was refused: look again before the next answer.
    pub(super) refused: bool,
}

impl Prepared {
    pub(super) fn of(inner: &Inner) -> Result<Self, SourceError> {
        let mut print = Fingerprint::new("briefing.skill_source/1");
        print.number(inner.options.max_text_bytes).json(&inner.options.bindings);
        let mut look = Look {
            inner,
            items: Vec::new(),
            skills: Vec::new(),
            diagnostics: Vec::new(),
            print,
            refused: false,
        };
        for binding in &inner.options.bindings {
            look.binding(binding)?;
        }
        let by_ref = look.items.iter().enumerate().map(|(at, item)| (item.source_ref.clone(), at)).collect();
        Ok(Self {
            revision: Revision::new(look.print.finish().to_string())?,
            items: look.items,
            by_ref,
            skills: look.skills,
            diagnostics: look.diagnostics,
            refused: look.refused,
        })
    }

    /// The sections of a file's item, in order.
    pub(super) fn sections_of(&self, file: usize) -> Vec<Section> {
        let own = self.items.iter().skip(file + 1).map_while(|item| item.section.as_ref());
        own.take_while(|(_, parent)| *parent == file).map(|(section, _)| section.clone()).collect()
    }

    /// The paths of the other files of a core's revision.
    pub(super) fn resources_of(&self, core: &Item) -> Vec<String> {
        let own = self.items.iter().filter(|item| item.bound == core.bound && item.section.is_none());
        own.filter(|item| !item.is_core()).map(|item| item.path.clone()).collect()
    }
}

/// The ref of a file of a revision.
pub(super) fn file_ref(binding: &SkillBinding, path: &str) -> Result<SourceRef, SourceError> {
    Ok(SourceRef::new(format!("{}/{path}", binding.revision_ref))?)
}

/// What a resource is for, by the first folder of its path: its kind and its role.
pub(super) fn resource_kind(path: &str) -> (&'static str, Role) {
    match path.split_once('/').map(|(folder, _)| folder) {
        Some("references") => ("reference", Role::Information),
        Some("examples") => ("example", Role::Example),
        Some("assets") => ("asset", Role::Artifact),
        Some("scripts") => ("script", Role::Capability),
        _ => ("resource", Role::Information),
    }
}

struct Look<'a> {
    inner: &'a Inner,
    items: Vec<Item>,
    skills: Vec<Option<FrontMatter>>,
    diagnostics: Vec<ContextDiagnostic>,
    print: Fingerprint,
    refused: bool,
}

impl Look<'_> {
    fn binding(&mut self, binding: &SkillBinding) -> Result<(), SourceError> {
        let got = self.inner.library.get(&binding.revision_ref).and_then(|revision| match revision.trusted {
            true => Ok(revision),
            false => Err(Error::Untrusted { revision_ref: binding.revision_ref.clone() }),
        });
        let revision = match got {
            Ok(revision) => revision,
            Err(error) => return self.refuse_binding(binding, &error),
        };
        if let Some(file) = revision.files.iter().find(|file| file.path == SKILL_FILE) {
            self.core(binding, file)?;
        }
        for file in revision.files.iter().filter(|file| file.path != SKILL_FILE) {
            self.resource(binding, file)?;
        }
        self.skills.push(Some(revision.front_matter));
        Ok(())
    }

    /// Still lists what is required, so that a package says that it is missing.
    fn refuse_binding(&mut self, binding: &SkillBinding, error: &Error) -> Result<(), SourceError> {
        self.refuse(binding, SKILL_FILE, error);
        let mut core = self.item(binding, SKILL_FILE)?;
        (core.role, core.required) = (Role::Instruction, binding.required);
        self.items.push(core);
        for path in &binding.required_resources {
            let mut item = self.item(binding, path)?;
            item.required = true;
            self.items.push(item);
        }
        self.skills.push(None);
        Ok(())
    }

    fn refuse(&mut self, binding: &SkillBinding, path: &str, error: &Error) {
        self.refused = true;
        self.print.text(path).text(error.code()).text(&error.to_string());
        self.note(error.code(), Severity::Error, binding, path, &error.to_string());
    }

    fn note(&mut self, code: &str, severity: Severity, binding: &SkillBinding, path: &str, reason: &str) {
        let fact = ContextDiagnostic::new(code, severity)
            .with("revision_ref", binding.revision_ref.to_string())
            .with("path", path);
        self.diagnostics.push(if reason.is_empty() { fact } else { fact.with("reason", reason) });
    }

    /// An item that is refused, until somebody says better.
    fn item(&self, binding: &SkillBinding, path: &str) -> Result<Item, SourceError> {
        Ok(Item {
            source_ref: file_ref(binding, path)?,
            bound: self.skills.len(),
            path: path.to_owned(),
            file: None,
            role: resource_kind(path).1,
            required: binding.required_resources.iter().any(|required| required == path),
            form: Form::Refused,
            kind: MediaKind::Unspecified,
            media_type: None,
            section: None,
            has_sections: false,
        })
    }

    fn core(&mut self, binding: &SkillBinding, file: &SkillFile) -> Result<(), SourceError> {
        let read = self.inner.library.file_bytes(&binding.revision_ref, file).and_then(|bytes| {
            let text = skill_text(&bytes)?.to_owned();
            let (_, from) = FrontMatter::of(&text)?;
            Ok((text, from))
        });
        let mut item = self.item(binding, SKILL_FILE)?;
        (item.role, item.required, item.kind) = (Role::Instruction, binding.required, MediaKind::Text);
        item.file = Some(Arc::new(file.clone()));
        match read {
            Err(error) => {
                self.refuse(binding, SKILL_FILE, &error);
                self.items.push(item);
                Ok(())
            }
            Ok((text, from)) => {
                if text.get(from..).is_none_or(|body| body.trim().is_empty()) {
                    let reason = "the skill has no text after its front matter";
                    self.note("skill.no_instructions", Severity::Warning, binding, SKILL_FILE, reason);
                }
                self.text(binding, item, &text, from, Some(from))
            }
        }
    }

    fn resource(&mut self, binding: &SkillBinding, file: &SkillFile) -> Result<(), SourceError> {
        let mut item = self.item(binding, &file.path)?;
        item.file = Some(Arc::new(file.clone()));
        if !item.required && file.path.split('/').any(|name| name.starts_with('.')) {
            self.note("skill.hidden_not_offered", Severity::Info, binding, &file.path, "");
            return Ok(());
        }
        let bytes = match self.inner.library.file_bytes(&binding.revision_ref, file) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.refuse(binding, &file.path, &error);
                self.items.push(item);
                return Ok(());
            }
        };
        let signals = MediaSignals { path: Some(&file.path), ..MediaSignals::default() };
        let class = classify(&signals, &bytes);
        (item.kind, item.media_type, item.form) = (class.kind, class.media_type, Form::Reference);
        if let Some(disagreement) = &class.disagreement {
            self.note("skill.type_disagreement", Severity::Warning, binding, &file.path, disagreement);
        }
        if class.kind == MediaKind::Text && file.bytes > self.inner.options.max_text_bytes {
            let reason = format!("{} bytes of text; offered by reference", file.bytes);
            self.note("skill.too_large", Severity::Info, binding, &file.path, &reason);
        } else if class.kind == MediaKind::Text {
            match decode(&bytes) {
                Err(error) => {
                    self.note(
                        "skill.undecodable",
                        Severity::Warning,
                        binding,
                        &file.path,
                        &error.to_string(),
                    );
                }
                Ok(decoded) => {
                    if decoded.guessed {
                        let code = "skill.decoded_from_legacy_encoding";
                        self.note(code, Severity::Info, binding, &file.path, decoded.encoding);
                    }
                    let has_sections =
                        is_markdown(&file.path) && matches!(item.role, Role::Information | Role::Example);
                    // Front matter of a document is no heading, whatever its last line looks like.
                    let first = front_matter::part(&decoded.text).map_or(0, |parted| parted.rest);
                    return self.text(binding, item, &decoded.text, 0, has_sections.then_some(first));
                }
            }
        }
        self.items.push(item);
        Ok(())
    }

    /// Takes an item whose content is `text` from byte `from` on, and its sections from byte `parted` on.
    fn text(
        &mut self,
        binding: &SkillBinding,
        mut item: Item,
        text: &str,
        from: usize,
        parted: Option<usize>,
    ) -> Result<(), SourceError> {
        let mut parts = parted.map_or_else(Vec::new, |parted| sections(text, parted));
        if parts.len() < 2 {
            parts.clear();
        }
        let content = text.get(from..).unwrap_or_default();
        let first = 1 + text.get(..from).unwrap_or_default().matches('\n').count();
        let last = first + content.trim_end_matches('\n').matches('\n').count();
        item.form = Form::Text {
            bytes: from..text.len(),
            chars: content.chars().count(),
            digest: Digest::of(content.as_bytes()),
            lines: (first, last),
        };
        item.has_sections = !parts.is_empty();
        let (whole, path, role) = (self.items.len(), item.path.clone(), item.role);
        let file = item.file.clone();
        self.items.push(item);
        for section in parts {
            let content = text.get(section.bytes.clone()).unwrap_or_default();
            let mut part = self.item(binding, &path)?;
            let section_ref = format!("{}{SECTION_MARK}{}", part.source_ref, section.number);
            part.source_ref = SourceRef::new(section_ref)?;
            part.file.clone_from(&file);
            (part.role, part.required, part.kind) = (role, false, MediaKind::Text);
            part.form = Form::Text {
                bytes: section.bytes.clone(),
                chars: section.chars,
                digest: Digest::of(content.as_bytes()),
                lines: (section.lines.start, section.lines.end),
            };
            part.section = Some((section, whole));
            self.items.push(part);
        }
        Ok(())
    }
}

fn is_markdown(path: &str) -> bool {
    let suffix = path.rsplit_once('.').map(|(_, suffix)| suffix.to_ascii_lowercase());
    suffix.is_some_and(|suffix| ["md", "markdown", "mdown", "mkd"].contains(&suffix.as_str()))
}
