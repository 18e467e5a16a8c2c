//! Who reads.

use serde::{Deserialize, Serialize};

use crate::{ConsumerId, Error, Metadata};

/// The consumer that a reader serves: an id, the model's name if known, and what it says it can take.
///
/// ```
/// use briefing_core::ContextConsumer;
/// let consumer = ContextConsumer::new("visual-reviewer")?.accepting_images();
/// assert!(consumer.accepts_images());
/// # Ok::<(), briefing_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextConsumer {
    id: ConsumerId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    capabilities: Metadata,
}

impl ContextConsumer {
    /// A consumer that takes text only.
    ///
    /// # Errors
    /// [`Error::Blank`] for a blank id.
    pub fn new(id: impl AsRef<str>) -> Result<Self, Error> {
        Ok(Self { id: ConsumerId::new(id)?, model: None, capabilities: Metadata::new() })
    }

    /// Names the model, for the audit; no ability is ever concluded from it.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Replaces the declared capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Metadata) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Declares `attachments.image = true`.
    #[must_use]
    pub fn accepting_images(mut self) -> Self {
        self.capabilities.insert("attachments".to_owned(), serde_json::json!({ "image": true }));
        self
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &ConsumerId {
        &self.id
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The declared capabilities.
    #[must_use]
    pub fn capabilities(&self) -> &Metadata {
        &self.capabilities
    }

    /// Whether nothing is known of it but its id.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.model.is_none() && self.capabilities.is_empty()
    }

    /// Whether pictures may be attached: only where `attachments.image` is the boolean `true`.
    #[must_use]
    pub fn accepts_images(&self) -> bool {
        self.capabilities.get("attachments").and_then(|attachments| attachments.get("image"))
            == Some(&serde_json::Value::Bool(true))
    }
}

impl TryFrom<&str> for ContextConsumer {
    type Error = Error;
    fn try_from(id: &str) -> Result<Self, Error> {
        Self::new(id)
    }
}

impl TryFrom<&String> for ContextConsumer {
    type Error = Error;
    fn try_from(id: &String) -> Result<Self, Error> {
        Self::new(id)
    }
}
