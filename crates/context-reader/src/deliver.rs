//! Fills one package: reads candidates in order, keeps the budget, and accounts for what does not make it.

use std::collections::BTreeMap;

use briefing_core::{
    BindingId, Completeness, Content, ContextBlock, ContextBudget, ContextDiagnostic, ContextOmission,
    ContextReadIntent, DeliveryMode, OmissionReason, OneOrMany, RequiredOverflow, Role, SelectionBudget,
    SelectionGuidance, Severity, SourceErrorKind, SourceRef,
};

use crate::Error;
use crate::candidate::{Candidate, Origin};
use crate::continuation::Outcome;
use crate::fit::Ledger;
use crate::media::{self, Handling};
use crate::readback::{self, ReadFailure, Readback, about};

/// After so many optional candidates in a row that did not fit the tokens left, the rest is not read to find out.
const MAX_TOKEN_MISFITS: usize = 16;

/// A package while it is filled.
pub(crate) struct Delivery<'a> {
    intent: &'a ContextReadIntent,
    budget: &'a ContextBudget,
    accepts_images: bool,
    ledger: Option<Ledger>,
    used_chars: usize,
    optional_delivered: usize,
    token_misfits: usize,
    pub(crate) blocks: Vec<(Candidate, ContextBlock)>,
    pub(crate) omissions: Vec<ContextOmission>,
    pub(crate) diagnostics: Vec<ContextDiagnostic>,
    pub(crate) outcomes: BTreeMap<BindingId, Outcome>,
}

impl<'a> Delivery<'a> {
    pub(crate) fn new(
        intent: &'a ContextReadIntent,
        budget: &'a ContextBudget,
        accepts_images: bool,
        ledger: Option<Ledger>,
    ) -> Self {
        Self {
            intent,
            budget,
            accepts_images,
            ledger,
            used_chars: 0,
            optional_delivered: 0,
            token_misfits: 0,
            blocks: Vec::new(),
            omissions: Vec::new(),
            diagnostics: Vec::new(),
            outcomes: BTreeMap::new(),
        }
    }

    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    fn remaining_chars(&self) -> usize {
        self.budget.max_chars().saturating_sub(self.used_chars)
    }

    fn block_limit(&self) -> usize {
        self.budget.max_block_chars().min(self.intent.max_block_chars().unwrap_or(usize::MAX))
    }

    /// What is left for optional content.
    pub(crate) fn selection_budget(&self) -> SelectionBudget {
        SelectionBudget {
            available_chars: self.remaining_chars(),
            available_blocks: self.budget.max_blocks().saturating_sub(self.blocks.len()),
            max_block_chars: self.block_limit(),
            available_tokens: self.ledger.as_ref().map(Ledger::available),
        }
    }

    /// Instructions that are already delivered, to steer a selector.
    pub(crate) fn guidance(&self) -> Vec<SelectionGuidance> {
        let instructions = self.blocks.iter().filter(|(_, block)| block.role == Role::Instruction);
        instructions
            .filter_map(|(_, block)| {
                Some(SelectionGuidance { content: block.content.clone()?, completeness: block.completeness })
            })
            .collect()
    }

    /// Leaves a candidate out, and settles whether it waits for the next read of the intent.
    pub(crate) fn omit(&mut self, candidate: &Candidate, reason: OmissionReason) {
        use OmissionReason as R;
        let outcome = self.outcomes.entry(candidate.binding_id.clone()).or_default();
        match reason {
            R::ExplicitlySkipped
            | R::SelectionBudgetExhausted
            | R::SelectionInvalid
            | R::SelectionFailed
            | R::SemanticSelectorUnavailable => outcome.held = true,
            R::SourceReadFailed => outcome.waiting.extend(candidate.position()),
            // What does not fit although nothing optional came before it never will: it is rejected, and does not wait.
            R::CharacterBudgetExhausted | R::BlockBudgetExhausted | R::TokenBudgetExhausted
                if self.optional_delivered > 0 =>
            {
                outcome.waiting.extend(candidate.position());
            }
            _ => {}
        }
        // An anchor that failed holds its whole binding, so that the same intent meets the same candidates again.
        outcome.held |= candidate.required && candidate.position().is_none();
        self.omissions.push(ContextOmission {
            binding_id: Some(candidate.binding_id.clone()),
            source_ref: candidate.source_ref.clone(),
            reason,
            required: candidate.required,
        });
    }

    /// Whether the package carries the whole that this candidate is a part of. Required parts are delivered beside it.
    pub(crate) fn is_covered(&self, candidate: &Candidate) -> bool {
        let Some(parent) = candidate.parent_ref().filter(|_| !candidate.required) else { return false };
        self.blocks.iter().any(|(_, block)| {
            block.binding_id == candidate.binding_id
                && block.source_ref == *parent
                && block.completeness == Completeness::Complete
        })
    }

    /// Delivers candidates in their order, required and optional ones alike.
    pub(crate) async fn deliver(&mut self, candidates: &[Candidate]) -> Result<(), Error> {
        let mut required_left = candidates.iter().filter(|candidate| candidate.required).count();
        for candidate in candidates {
            if self.is_covered(candidate) {
                self.omit(candidate, OmissionReason::CoveredByCompleteParent);
            } else if candidate.required {
                self.required(candidate, required_left).await?;
                required_left = required_left.saturating_sub(1);
            } else {
                self.one_optional(candidate).await?;
            }
        }
        Ok(())
    }

    /// Withdraws parts whose whole came after them. What they cost is not handed out again.
    pub(crate) fn withdraw_covered(&mut self) {
        let covered: Vec<bool> =
            self.blocks.iter().map(|(candidate, _)| self.is_covered(candidate)).collect();
        let mut kept = Vec::with_capacity(self.blocks.len());
        for ((candidate, block), covered) in std::mem::take(&mut self.blocks).into_iter().zip(covered) {
            if covered {
                self.omit(&candidate, OmissionReason::CoveredByCompleteParent);
            } else {
                kept.push((candidate, block));
            }
        }
        self.blocks = kept;
    }

    /// Withdraws the last optional block, or else the last one, to make room; says whether there was any.
    pub(crate) fn withdraw_last(&mut self) -> bool {
        let last_optional = self.blocks.iter().rposition(|(candidate, _)| !candidate.required);
        let Some(at) = last_optional.or_else(|| self.blocks.len().checked_sub(1)) else { return false };
        let (candidate, _) = self.blocks.remove(at);
        let reason = if candidate.required {
            OmissionReason::RequiredContentIncompatible
        } else {
            OmissionReason::TokenBudgetExhausted
        };
        self.omit(&candidate, reason);
        true
    }

    async fn required(&mut self, candidate: &Candidate, required_left: usize) -> Result<(), Error> {
        if self.blocks.len() >= self.budget.max_blocks() {
            self.omit(candidate, OmissionReason::BlockBudgetExhausted);
            return Ok(());
        }
        match candidate.handling {
            Handling::Withheld => return self.withheld(candidate).await,
            Handling::ImageAttachment => return self.image(candidate).await,
            Handling::Text | Handling::ParsedText => {}
        }
        let lossy = self.intent.required_overflow() == RequiredOverflow::LossyDigest;
        let share = self.remaining_chars().checked_div(required_left.max(1)).unwrap_or_default();
        let limit = self.block_limit().min(if lossy { share } else { self.remaining_chars() });
        if candidate.estimated_chars > limit {
            if lossy && self.lossy(candidate, limit).await? {
                return Ok(());
            }
            self.incompatible(candidate, |diagnostic| {
                diagnostic.with("estimated_chars", candidate.estimated_chars).with("available_chars", limit)
            });
            return Ok(());
        }
        let readback = match readback::text(candidate, limit, None).await {
            Ok(mut readback) => {
                if readback.chars > limit && readback.completeness == Completeness::Complete {
                    readback.completeness = Completeness::Truncated;
                }
                readback
            }
            Err(failure) => {
                self.read_failed(candidate, "context.source_read_failed", &failure);
                return Ok(());
            }
        };
        let completeness = readback.completeness;
        if completeness != Completeness::Complete || readback.chars > limit {
            self.incompatible(candidate, |diagnostic| diagnostic.with("completeness", completeness.as_str()));
            return Ok(());
        }
        if let Some((needed, available)) = self.keep(candidate, readback).await? {
            // Fewer chars than tokens are left never hold more tokens than bytes; an outline of that size may still fit.
            if lossy && self.lossy(candidate, limit.min(available)).await? {
                return Ok(());
            }
            self.incompatible(candidate, |diagnostic| {
                diagnostic.with("needed_tokens", needed).with("available_tokens", available)
            });
        }
        Ok(())
    }

    fn read_failed(&mut self, candidate: &Candidate, code: &str, failure: &ReadFailure) {
        self.diagnostics.push(failure.diagnostic(code, candidate));
        self.omit(candidate, OmissionReason::SourceReadFailed);
    }

    fn incompatible(
        &mut self,
        candidate: &Candidate,
        facts: impl FnOnce(ContextDiagnostic) -> ContextDiagnostic,
    ) {
        let code = "context.required_content_incompatible";
        self.diagnostics.push(facts(about(code, Severity::Error, candidate)));
        self.omit(candidate, OmissionReason::RequiredContentIncompatible);
    }

    /// Tries to deliver a bounded outline of required content; says whether it did.
    async fn lossy(&mut self, candidate: &Candidate, limit: usize) -> Result<bool, Error> {
        match readback::lossy_digest(candidate, limit).await {
            Ok(Some(readback)) => {
                let delivered = readback.chars;
                let refs: Vec<SourceRef> = readback.refs.clone();
                if self.keep(candidate, readback).await?.is_some() {
                    return Ok(false);
                }
                let originals = std::iter::once(&candidate.source_ref).chain(&refs).map(SourceRef::as_str);
                self.diagnostics.push(
                    about("context.required_content_lossy", Severity::Warning, candidate)
                        .with("estimated_chars", candidate.estimated_chars)
                        .with("delivered_chars", delivered)
                        .with("original_refs", originals.collect::<Vec<_>>()),
                );
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(failure) => {
                self.diagnostics.push(failure.diagnostic("context.required_content_lossy_failed", candidate));
                Ok(false)
            }
        }
    }

    async fn one_optional(&mut self, candidate: &Candidate) -> Result<(), Error> {
        if self.blocks.len() >= self.budget.max_blocks() {
            self.omit(candidate, OmissionReason::BlockBudgetExhausted);
            return Ok(());
        }
        if self.intent.delivery_mode() == DeliveryMode::RefsOnly {
            let mut block = candidate.block()?;
            block.metadata.clone_from(candidate.metadata());
            if candidate.handling == Handling::Withheld || candidate.handling == Handling::ImageAttachment {
                block.metadata = media::facts(candidate.kind, candidate.metadata(), false);
            }
            return self.reference(candidate, block).await;
        }
        match candidate.handling {
            Handling::Withheld => self.withheld(candidate).await,
            Handling::ImageAttachment => self.image(candidate).await,
            Handling::Text | Handling::ParsedText => self.optional_text(candidate).await,
        }
    }

    async fn optional_text(&mut self, candidate: &Candidate) -> Result<(), Error> {
        let remaining = self.remaining_chars();
        let limit = self.block_limit().min(remaining);
        let may_cut = self.intent.max_block_chars().is_some();
        if remaining == 0 || (candidate.estimated_chars > limit && !may_cut) {
            self.omit(candidate, OmissionReason::CharacterBudgetExhausted);
            return Ok(());
        }
        if self.token_misfits >= MAX_TOKEN_MISFITS {
            self.omit(candidate, OmissionReason::TokenBudgetExhausted);
            return Ok(());
        }
        let mut readback = match readback::text(candidate, limit, Some(self.locator())).await {
            Ok(readback) if readback.completeness != Completeness::Failed => readback,
            Ok(_) => {
                let failure = ReadFailure::new(
                    SourceErrorKind::Unreadable.code(),
                    "the source answered that the read failed",
                );
                self.read_failed(candidate, "context.source_read_failed", &failure);
                return Ok(());
            }
            Err(failure) => {
                self.read_failed(candidate, "context.source_read_failed", &failure);
                return Ok(());
            }
        };
        if readback.chars > remaining {
            self.omit(candidate, OmissionReason::CharacterBudgetExhausted);
            return Ok(());
        }
        readback.cut(limit);
        if readback.chars > limit {
            self.omit(candidate, OmissionReason::CharacterBudgetExhausted);
            return Ok(());
        }
        if self.keep(candidate, readback).await?.is_some() {
            self.token_misfits += 1;
            self.omit(candidate, OmissionReason::TokenBudgetExhausted);
        } else {
            self.token_misfits = 0;
        }
        Ok(())
    }

    /// What a source with scoped reads looks for: the one text that the content must hold, else the query.
    fn locator(&self) -> &'a str {
        match self.intent.filters().content_contains.as_ref().map(OneOrMany::as_slice) {
            Some([one]) => one,
            _ => self.intent.query(),
        }
    }

    async fn withheld(&mut self, candidate: &Candidate) -> Result<(), Error> {
        let mut block = candidate.block()?;
        block.metadata = media::facts(candidate.kind, candidate.metadata(), false);
        self.diagnostics.push(
            about("context.media_content_ref_only", Severity::Info, candidate)
                .with("content_kind", candidate.kind.as_str())
                .with("image_attachment_supported", self.accepts_images),
        );
        self.reference(candidate, block).await
    }

    async fn reference(&mut self, candidate: &Candidate, block: ContextBlock) -> Result<(), Error> {
        if self.push(candidate, block).await?.is_some() {
            let reason = if candidate.required {
                OmissionReason::RequiredContentIncompatible
            } else {
                OmissionReason::TokenBudgetExhausted
            };
            self.omit(candidate, reason);
        }
        Ok(())
    }

    async fn image(&mut self, candidate: &Candidate) -> Result<(), Error> {
        match readback::image(candidate).await {
            Ok(readback) => {
                if self.keep(candidate, readback).await?.is_some() {
                    self.omit(candidate, OmissionReason::TokenBudgetExhausted);
                } else {
                    self.diagnostics.push(about(
                        "context.image_attachment_delivered",
                        Severity::Info,
                        candidate,
                    ));
                }
            }
            Err(failure) => {
                self.read_failed(candidate, "context.image_attachment_read_failed", &failure);
            }
        }
        Ok(())
    }

    /// Puts what was read into the package; answers (needed, available) tokens where it does not fit.
    async fn keep(
        &mut self,
        candidate: &Candidate,
        readback: Readback,
    ) -> Result<Option<(usize, usize)>, Error> {
        let mut block = candidate.block()?;
        let attached = matches!(candidate.origin, Origin::Source { .. })
            || candidate.handling == Handling::ImageAttachment;
        block.completeness = readback.completeness;
        block.content_digest = Some(readback.digest());
        block.content_chars = readback.chars;
        block.representation = readback.representation;
        block.next_range_start = readback.next_range_start;
        block.refs = readback.refs;
        block.metadata = if attached { readback.metadata } else { candidate.metadata().clone() };
        if readback.completeness != Completeness::RefOnly {
            block.content = Some(readback.content);
        }
        let diagnostics = readback.diagnostics;
        let misfit = self.push(candidate, block).await?;
        if misfit.is_none() {
            self.diagnostics.extend(
                diagnostics
                    .into_iter()
                    .map(|diagnostic| diagnostic.with("binding_id", candidate.binding_id.as_str())),
            );
        }
        Ok(misfit)
    }

    async fn push(
        &mut self,
        candidate: &Candidate,
        block: ContextBlock,
    ) -> Result<Option<(usize, usize)>, Error> {
        if let Some(ledger) = &mut self.ledger {
            let needed = ledger.cost(&block, self.blocks.len() + 1).await?;
            let available = ledger.available();
            if needed > available {
                return Ok(Some((needed, available)));
            }
            ledger.spend(needed);
        }
        self.used_chars = self.used_chars.saturating_add(block.content_chars);
        self.optional_delivered += usize::from(!candidate.required && candidate.position().is_some());
        self.blocks.push((candidate.clone(), block));
        Ok(None)
    }
}

/// Text of a block, if it carries any that is shown.
pub(crate) fn shown_text(block: &ContextBlock) -> Option<std::borrow::Cow<'_, str>> {
    let attached = block.representation == Some(briefing_core::Representation::ImageAttachment);
    block.content.as_ref().filter(|_| !attached).and_then(Content::to_text)
}
