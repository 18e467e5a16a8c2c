//! The manifest of a revision: its files, and the digest that names it.

use briefing_core::{Digest, Fingerprint};
use serde::{Deserialize, Serialize};

/// What a manifest calls itself.
const SCHEMA: &str = "briefing.skill_manifest/1";

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SkillFile {
    /// Its path within the skill, with `/`.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The digest of its bytes.
    pub digest: Digest,
}

/// The files of a revision, in the order of their paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    schema: String,
    pub(crate) files: Vec<SkillFile>,
}

impl Manifest {
    /// The files must be in the order of their paths.
    pub(crate) fn new(files: Vec<SkillFile>) -> Self {
        Self { schema: SCHEMA.to_owned(), files }
    }

    /// Whether this version understands it.
    pub(crate) fn check_schema(&self) -> Result<(), briefing_core::Error> {
        if self.schema == SCHEMA {
            return Ok(());
        }
        Err(briefing_core::Error::UnsupportedSchema { found: self.schema.clone(), supported: SCHEMA })
    }

    /// The digest of a revision: of each path, length and digest of bytes. A manifest that gives the digest of a ref
    /// therefore tells what each file of that revision must hold, and needs no other proof.
    pub(crate) fn digest(&self) -> Digest {
        let mut print = Fingerprint::new("briefing.skill/1");
        for file in &self.files {
            print.text(&file.path).number(file.bytes).bytes(file.digest.as_bytes());
        }
        print.finish()
    }

    pub(crate) fn find(&self, path: &str) -> Option<&SkillFile> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }
}
