//! The port that judges which optional candidates matter.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Completeness, ConsumerId, Content, ContextReadIntent, Phase, PortError, Role, SourceRef};

/// One candidate as a selector sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionCard {
    /// The request-local key to answer with.
    pub key: String,
    /// What would be read.
    pub source_ref: SourceRef,
    /// What it is for.
    pub role: Role,
    /// A short name.
    pub title: String,
    /// One line about it.
    pub summary: String,
    /// How many chars it is expected to cost.
    pub estimated_chars: usize,
    /// How it would be delivered.
    pub completeness: Completeness,
}

/// An instruction that is already in the package, to steer the choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionGuidance {
    /// What the instruction says.
    pub content: Content,
    /// How much of it there is.
    pub completeness: Completeness,
}

/// What is left for optional content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectionBudget {
    /// Content chars.
    pub available_chars: usize,
    /// Blocks.
    pub available_blocks: usize,
    /// Chars in one block.
    pub max_block_chars: usize,
    /// Tokens, where the budget counts them.
    pub available_tokens: Option<usize>,
}

/// Everything a selector may look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionRequest {
    /// What the consumer asked for, the task's facts included.
    pub intent: ContextReadIntent,
    /// Who asks.
    pub consumer_id: ConsumerId,
    /// In which phase.
    pub phase: Phase,
    /// The candidates, best first where the index ranked them.
    pub candidates: Vec<SelectionCard>,
    /// Instructions that are already in the package.
    pub guidance: Vec<SelectionGuidance>,
    /// What is left.
    pub budget: SelectionBudget,
}

/// Chooses among optional candidates by meaning.
#[async_trait]
pub trait SemanticSelector: Send + Sync {
    /// Returns keys of the offered cards, best first, each at most once.
    ///
    /// # Errors
    /// [`PortError`]; nothing optional is read then.
    async fn select(&self, request: &SelectionRequest) -> Result<Vec<String>, PortError>;
}
