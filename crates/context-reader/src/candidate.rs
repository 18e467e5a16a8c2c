//! A candidate: an entry or an offered descriptor, seen alike by selection and readback.

use std::sync::Arc;

use briefing_core::media::{MediaKind, MediaSignals};
use briefing_core::{
    BindingId, Completeness, ContextBlock, ContextEntry, Digest, Error, Metadata, Role, SelectionCard,
    SourceKind, SourceRef,
};
use briefing_task_context::{ContextSnapshot, IndexAnswer, Offer, PinnedSource};

use crate::media::{self, Handling};

/// The kind under which direct entries are cited.
pub(crate) const ENTRY_KIND: &str = "task_context";

/// Where a candidate comes from.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Entry(Arc<ContextEntry>),
    Source { pinned: PinnedSource, offer: Offer },
}

/// An entry or an offered descriptor.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) origin: Origin,
    pub(crate) binding_id: BindingId,
    pub(crate) source_ref: SourceRef,
    pub(crate) role: Role,
    pub(crate) required: bool,
    pub(crate) explicit: bool,
    pub(crate) priority: i64,
    pub(crate) estimated_chars: usize,
    pub(crate) kind: MediaKind,
    pub(crate) handling: Handling,
}

impl Candidate {
    pub(crate) fn from_entry(
        id: &BindingId,
        entry: &Arc<ContextEntry>,
        explicit_refs: &[SourceRef],
        images: bool,
    ) -> Result<Self, Error> {
        let source_ref = entry.source_ref.clone().map_or_else(|| SourceRef::new(id.as_str()), Ok)?;
        // An entry's own id says nothing about its kind, a ref that the application chose does.
        let named = entry.source_ref.as_ref().map_or("", SourceRef::as_str);
        let kind = MediaSignals::of(&entry.metadata, named).kind();
        Ok(Self {
            binding_id: id.clone(),
            role: entry.role,
            required: entry.required,
            explicit: explicit_refs.contains(&source_ref),
            priority: entry.priority,
            estimated_chars: entry.content.chars(),
            kind,
            handling: media::handling(kind, &entry.metadata, images),
            source_ref,
            origin: Origin::Entry(Arc::clone(entry)),
        })
    }

    pub(crate) fn from_offer(pinned: &PinnedSource, offer: Offer, images: bool) -> Self {
        let descriptor = &offer.descriptor;
        let kind = MediaSignals::of(&descriptor.metadata, descriptor.source_ref.as_str()).kind();
        Self {
            binding_id: pinned.binding_id.clone(),
            source_ref: descriptor.source_ref.clone(),
            role: descriptor.role,
            required: descriptor.required,
            explicit: offer.explicit,
            priority: descriptor.priority,
            estimated_chars: descriptor.estimated_chars,
            kind,
            handling: media::handling(kind, &descriptor.metadata, images),
            origin: Origin::Source { pinned: pinned.clone(), offer },
        }
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        match &self.origin {
            Origin::Entry(entry) => &entry.metadata,
            Origin::Source { offer, .. } => &offer.descriptor.metadata,
        }
    }

    pub(crate) fn title(&self) -> &str {
        match &self.origin {
            Origin::Entry(_) => self.source_ref.as_str(),
            Origin::Source { offer, .. } => &offer.descriptor.title,
        }
    }

    /// The ref of the content that contains this one, in the same source.
    pub(crate) fn parent_ref(&self) -> Option<&SourceRef> {
        match &self.origin {
            Origin::Entry(_) => None,
            Origin::Source { offer, .. } => offer.parent_ref.as_ref(),
        }
    }

    /// The position in its binding's ranking, for continuations.
    pub(crate) fn position(&self) -> Option<usize> {
        match &self.origin {
            Origin::Entry(_) => None,
            Origin::Source { offer, .. } => offer.position,
        }
    }

    /// What tells one version of the content from another: its digest where it is known, else the source's revision.
    pub(crate) fn version(&self) -> String {
        match &self.origin {
            Origin::Entry(entry) => entry.content.digest().to_string(),
            Origin::Source { pinned, offer } => {
                let revision = || pinned.revision.as_ref().map(ToString::to_string).unwrap_or_default();
                offer.descriptor.content_digest.as_ref().map_or_else(revision, Digest::to_string)
            }
        }
    }

    /// The source's id, or the entry kind.
    pub(crate) fn source_name(&self) -> &str {
        match &self.origin {
            Origin::Entry(_) => ENTRY_KIND,
            Origin::Source { pinned, .. } => pinned.source_id().as_str(),
        }
    }

    /// What a selector sees. Of withheld media it sees the name alone: no summary, no guess.
    pub(crate) fn card(&self, key: String, refs_only: bool) -> SelectionCard {
        let withheld = !matches!(self.handling, Handling::Text | Handling::ParsedText);
        let name = self.source_ref.as_str();
        let said = match &self.origin {
            Origin::Entry(entry) => entry.summary.as_deref().unwrap_or_default(),
            Origin::Source { offer, .. } => &offer.descriptor.summary,
        };
        let summary = if withheld || said.is_empty() { name } else { said };
        let attached = self.handling == Handling::ImageAttachment && !refs_only;
        SelectionCard {
            key,
            source_ref: self.source_ref.clone(),
            role: self.role,
            title: self.title().to_owned(),
            summary: summary.to_owned(),
            estimated_chars: if withheld { name.chars().count() } else { self.estimated_chars },
            completeness: if (withheld && !attached) || refs_only {
                Completeness::RefOnly
            } else {
                Completeness::Complete
            },
        }
    }

    /// A block that cites this candidate and carries nothing yet. Its id is given when the package is sealed.
    pub(crate) fn block(&self) -> Result<ContextBlock, Error> {
        let kind = match &self.origin {
            Origin::Entry(_) => SourceKind::new(ENTRY_KIND)?,
            Origin::Source { pinned, .. } => pinned.source_kind().clone(),
        };
        let mut block = ContextBlock::reference(
            briefing_core::BlockId::new("unsealed")?,
            self.binding_id.clone(),
            kind,
            self.source_ref.clone(),
            self.role,
        );
        block.title = self.title().to_owned();
        block.required = self.required;
        if let Origin::Source { pinned, .. } = &self.origin {
            block.source_id = Some(pinned.source_id().clone());
            block.source_revision = pinned.revision.as_ref().ok().cloned();
        }
        Ok(block)
    }
}

/// All candidates of one read, in offered order: entries first, then the bindings.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Required ones and those asked for by name, in the order in which they are read.
    pub(crate) anchors: Vec<Candidate>,
    pub(crate) optional: Vec<Candidate>,
    /// Entries that the intent's filters hide although delivery must account for them.
    pub(crate) hidden_entries: Vec<Candidate>,
    /// Entries that the caller's prompt already holds.
    pub(crate) in_prompt: Vec<Candidate>,
}

impl Candidates {
    pub(crate) fn collect(
        snapshot: &ContextSnapshot,
        answer: &IndexAnswer,
        intent: &briefing_core::ContextReadIntent,
        images: bool,
    ) -> Result<Self, Error> {
        let mut all = Self::default();
        for pinned in snapshot.entries() {
            let candidate = Candidate::from_entry(&pinned.id, &pinned.entry, intent.explicit_refs(), images)?;
            let in_prompt = candidate.metadata().get("already_in_prompt") == Some(&true.into());
            if in_prompt && intent.excludes_already_in_prompt() {
                all.in_prompt.push(candidate);
            } else if intent.admits_role(candidate.role) {
                all.add(candidate);
            } else if candidate.required || candidate.explicit {
                all.hidden_entries.push(candidate);
            }
        }
        for offer in &answer.offers {
            for anchor in &offer.anchors {
                all.add(Candidate::from_offer(&offer.pinned, anchor.clone(), images));
            }
            for optional in &offer.optional {
                all.add(Candidate::from_offer(&offer.pinned, optional.clone(), images));
            }
        }
        // Required before explicit, named required ones first, then by priority; ties keep the offered order.
        all.anchors.sort_by_key(|candidate| {
            (!candidate.required, !candidate.explicit, std::cmp::Reverse(candidate.priority))
        });
        Ok(all)
    }

    fn add(&mut self, candidate: Candidate) {
        if candidate.required || candidate.explicit {
            self.anchors.push(candidate);
        } else {
            self.optional.push(candidate);
        }
    }
}
