//! The budget of one package: chars, blocks, and exact tokens of the rendered text.

use std::sync::Arc;

use briefing_core::{ContextBlock, ContextOmission, OmissionReason, RenderFormat, SourceRef, TokenCounter};
use tokio::task::spawn_blocking;

use crate::Error;
use crate::render;

/// Counts what a package costs in tokens while it grows. Blocks are rendered so that their costs add up in the formats
/// that are made of lines; the sealed package is counted once more as a whole, and that number is the one that holds.
#[derive(Clone)]
pub(crate) struct Ledger {
    counter: Arc<dyn TokenCounter>,
    format: RenderFormat,
    max_tokens: usize,
    spent: usize,
}

impl Ledger {
    /// Opens a ledger with what every package costs, and sets aside what a note on omissions may come to.
    pub(crate) async fn open(
        counter: Arc<dyn TokenCounter>,
        format: RenderFormat,
        max_tokens: usize,
    ) -> Result<Self, Error> {
        let mut ledger = Self { counter, format, max_tokens, spent: 0 };
        let empty = ledger.count(render::frame(format, &[], &[])).await?;
        if empty > max_tokens {
            return Err(Error::BudgetTooSmall { max_tokens, needed: empty });
        }
        let with_note = ledger.count(render::frame(format, &likely_omissions(), &[])).await?;
        // A budget that is mostly note would deliver nothing; there the final count alone decides.
        ledger.spent = if with_note.saturating_mul(4) > max_tokens { empty } else { with_note };
        Ok(ledger)
    }

    pub(crate) fn format(&self) -> RenderFormat {
        self.format
    }

    pub(crate) fn encoding(&self) -> &str {
        self.counter.encoding()
    }

    pub(crate) fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    pub(crate) fn available(&self) -> usize {
        self.max_tokens.saturating_sub(self.spent)
    }

    /// What `block` costs as the package's block number `number`.
    pub(crate) async fn cost(&self, block: &ContextBlock, number: usize) -> Result<usize, Error> {
        self.count(render::segment(block, number, self.format)).await
    }

    pub(crate) fn spend(&mut self, tokens: usize) {
        self.spent = self.spent.saturating_add(tokens);
    }

    /// Tokens of a text, counted on a blocking thread.
    pub(crate) async fn count(&self, text: String) -> Result<usize, Error> {
        let counter = Arc::clone(&self.counter);
        Ok(spawn_blocking(move || counter.count(&text)).await??)
    }
}

/// The omissions that a tight budget usually leads to, in numbers as large as they usually get.
fn likely_omissions() -> Vec<ContextOmission> {
    let reasons = [
        OmissionReason::TokenBudgetExhausted,
        OmissionReason::AlreadyDisclosed,
        OmissionReason::CoveredByCompleteParent,
    ];
    let Ok(source_ref) = SourceRef::new("any") else { return Vec::new() };
    let omission = |reason| ContextOmission {
        binding_id: None,
        source_ref: source_ref.clone(),
        reason,
        required: false,
    };
    reasons.into_iter().flat_map(|reason| std::iter::repeat_n(omission(reason), 256)).collect()
}
