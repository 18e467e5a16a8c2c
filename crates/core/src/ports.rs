//! Ports that only the host can supply: models, embeddings, tokenizers.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::PortError;

/// Counts tokens of one encoding, exactly.
pub trait TokenCounter: Send + Sync {
    /// The encoding's name, for instance `o200k_base`.
    fn encoding(&self) -> &str;

    /// How many tokens `text` is. Text that looks like a special token is ordinary text.
    ///
    /// # Errors
    /// [`PortError`] where the encoder fails; it never panics on any text.
    fn count(&self, text: &str) -> Result<usize, PortError>;
}

/// What an embedding call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// One vector for each text, all of the provider's dimension.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens that the provider charged, where it says so.
    pub tokens_used: Option<u64>,
}

/// Turns texts into vectors.
#[async_trait]
pub trait EmbeddingProvider: Send + Sync {
    /// Names provider, model and dimension; vectors of different identities are never compared.
    fn identity(&self) -> &str;

    /// Embeds the texts, in order.
    ///
    /// # Errors
    /// [`PortError`]; it is asked again the next time, a failure is never cached.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, PortError>;
}

/// What is sent to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelPrompt {
    /// The instruction.
    pub system: String,
    /// The material, as data.
    pub input: serde_json::Value,
    /// The JSON Schema that the answer must fit.
    pub answer_schema: serde_json::Value,
}

/// One request to a model that answers with JSON.
#[async_trait]
pub trait ModelRequest: Send + Sync {
    /// Asks, and returns the answer as JSON; the caller checks it.
    ///
    /// # Errors
    /// [`PortError`] where no answer came.
    async fn ask(&self, prompt: &ModelPrompt) -> Result<serde_json::Value, PortError>;
}

/// Shortens text by meaning.
#[async_trait]
pub trait Summarizer: Send + Sync {
    /// A summary of `text`, at most `max_chars` chars long.
    ///
    /// # Errors
    /// [`PortError`] where no summary came.
    async fn summarize(&self, text: &str, max_chars: usize) -> Result<String, PortError>;
}
