//! What a source over a store offers.

use std::collections::BTreeMap;

use briefing_core::Role;
use serde::{Deserialize, Serialize};

/// What a source over a store offers. The defaults: a source id made of the store's id and the view, every kind as
/// information, texts up to 16 MiB whole.
///
/// ```
/// use briefing_core::Role;
/// use briefing_record_store::RecordSourceOptions;
/// let options = RecordSourceOptions::new().source_id("notes").role("playbook", Role::Instruction);
/// assert_eq!(options.roles["playbook"], Role::Instruction);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordSourceOptions {
    /// The source's name; `None` makes one of the store's id and the view.
    pub source_id: Option<String>,
    /// The roles of records by their kind; of all others it is information.
    pub roles: BTreeMap<String, Role>,
    /// Of a longer text only the beginning is indexed, and a diagnostic says so; it is read exactly all the same.
    pub max_text_bytes: u64,
}

impl Default for RecordSourceOptions {
    fn default() -> Self {
        Self { source_id: None, roles: BTreeMap::new(), max_text_bytes: 16 << 20 }
    }
}

impl RecordSourceOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source's name.
    #[must_use]
    pub fn source_id(mut self, source_id: impl Into<String>) -> Self {
        self.source_id = Some(source_id.into());
        self
    }

    /// Sets the role of records of a kind.
    #[must_use]
    pub fn role(mut self, kind: impl Into<String>, role: Role) -> Self {
        self.roles.insert(kind.into(), role);
        self
    }

    /// Sets how much of a text is indexed, in bytes.
    #[must_use]
    pub fn max_text_bytes(mut self, bytes: u64) -> Self {
        self.max_text_bytes = bytes;
        self
    }
}
