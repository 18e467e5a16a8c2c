//! The library: what is installed, and its exact bytes.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use briefing_core::{Digest, Environment, SystemEnvironment};
use briefing_formats::decode;
use serde::de::DeserializeOwned;

use crate::area::{Area, FACTS, Facts, MANIFEST, MAX_FACTS_BYTES};
use crate::folder::open_plain;
use crate::manifest::{Manifest, SkillFile};
use crate::package::{SKILL_FILE, skill_text};
use crate::source::{SkillSource, SkillSourceOptions};
use crate::steps::Steps;
use crate::text::{SkillText, TextWindow};
use crate::{Error, FrontMatter, Problem, ProblemKind, SkillName, SkillRevisionRef};

/// A folder of installed skill revisions.
///
/// Revisions never change: each is named by the digest of its bytes, and every read checks them against it. Any number of
/// processes may use one library at the same time.
#[derive(Debug, Clone)]
pub struct SkillLibrary {
    pub(crate) area: Area,
    pub(crate) environment: Arc<dyn Environment>,
    pub(crate) steps: Steps,
}

/// An installed revision.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkillRevision {
    /// Its name: that of the skill, and the digest of the files.
    pub revision_ref: SkillRevisionRef,
    /// What it says about itself.
    pub front_matter: FrontMatter,
    /// Its files, in the order of their paths.
    pub files: Vec<SkillFile>,
    /// Whether somebody vouched for it; only then can it be bound to a source.
    pub trusted: bool,
    /// When it was first installed here, in milliseconds since the Unix epoch.
    pub installed_at_millis: u64,
}

/// What a library holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkillListing {
    /// The revisions, by name and digest.
    pub revisions: Vec<SkillRevision>,
    /// What lies among them and cannot be used, each with its path within the library.
    pub problems: Vec<Problem>,
}

impl SkillLibrary {
    /// Opens the library in a folder, by custom `.briefing/skills` beneath an application's folder. Nothing is made until
    /// something is installed; a folder that is not there is an empty library.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where `root` is something else than a folder.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, Error> {
        let root = std::path::absolute(root.as_ref()).map_err(Error::unreadable(root.as_ref()))?;
        match fs::metadata(&root) {
            Ok(found) if !found.is_dir() => {
                let source = io::Error::new(io::ErrorKind::NotADirectory, "no folder");
                return Err(Error::Unreadable { path: root, source });
            }
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(Error::Unreadable { path: root, source });
            }
            _ => {}
        }
        Ok(Self { area: Area::new(root), environment: Arc::new(SystemEnvironment), steps: Steps::default() })
    }

    /// Takes time and ids from another environment.
    #[must_use]
    pub fn environment(mut self, environment: Arc<dyn Environment>) -> Self {
        self.environment = environment;
        self
    }

    /// Calls `hook` before each step of a change.
    #[cfg(feature = "failpoints")]
    #[must_use]
    pub fn on_step(mut self, hook: crate::StepHook) -> Self {
        self.steps = Steps::hooked(hook);
        self
    }

    /// The library's folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.area.root()
    }

    /// Everything that is installed. What is damaged is listed as a problem and hides nothing else.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where the library's folders cannot be listed.
    pub fn list(&self) -> Result<SkillListing, Error> {
        let (refs, mut problems) = self.refs()?;
        let mut revisions = Vec::with_capacity(refs.len());
        for revision_ref in refs {
            match self.get(&revision_ref) {
                Ok(revision) => revisions.push(revision),
                // Removed since it was listed.
                Err(Error::NotInstalled { .. }) => {}
                Err(error) => problems.push(Problem::new(
                    revision_ref.to_string(),
                    ProblemKind::Unusable { reason: error.to_string() },
                )),
            }
        }
        Ok(SkillListing { revisions, problems })
    }

    /// The refs of all revisions that lie here, and what lies among them but is none.
    pub(crate) fn refs(&self) -> Result<(Vec<SkillRevisionRef>, Vec<Problem>), Error> {
        let (mut refs, mut problems) = (Vec::new(), Vec::new());
        let root = self.area.revisions();
        let mut stray = |path: String| problems.push(Problem::new(path, ProblemKind::Extra));
        for name in names(&root)? {
            let folder = root.join(&name);
            let skill = SkillName::new(&name).ok().filter(|_| is_folder(&folder));
            let Some(skill) = skill else {
                stray(format!("revisions/{name}"));
                continue;
            };
            for hex in names(&folder)? {
                match format!("blake3:{hex}").parse() {
                    Ok(digest) if is_folder(&folder.join(&hex)) => {
                        refs.push(SkillRevisionRef::new(skill.clone(), digest));
                    }
                    _ => stray(format!("revisions/{name}/{hex}")),
                }
            }
        }
        refs.sort_unstable();
        Ok((refs, problems))
    }

    /// What is known about a revision.
    ///
    /// # Errors
    /// [`Error::NotInstalled`]; [`Error::Damaged`] or [`Error::Tampered`] where what is kept is not what was installed.
    pub fn get(&self, revision_ref: &SkillRevisionRef) -> Result<SkillRevision, Error> {
        let manifest = self.manifest(revision_ref)?;
        let facts = self.facts(revision_ref)?;
        let skill_file = self.bytes_of(revision_ref, &manifest, SKILL_FILE)?;
        let (front_matter, _) = FrontMatter::of(skill_text(&skill_file)?)?;
        if front_matter.name != *revision_ref.name() {
            return Err(Error::NameMismatch {
                name: front_matter.name.to_string(),
                folder: revision_ref.name().to_string(),
            });
        }
        Ok(SkillRevision {
            revision_ref: revision_ref.clone(),
            front_matter,
            files: manifest.files,
            trusted: facts.trusted,
            installed_at_millis: facts.installed_at_millis,
        })
    }

    /// The exact bytes of a file, checked against the digest in the ref.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], [`Error::NoSuchFile`]; [`Error::Tampered`] or [`Error::Damaged`] where what is kept is not
    /// what was installed.
    pub fn read_bytes(&self, revision_ref: &SkillRevisionRef, path: &str) -> Result<Vec<u8>, Error> {
        self.bytes_of(revision_ref, &self.manifest(revision_ref)?, path)
    }

    /// A window of the text of a file, in chars. The text begins after a byte order mark; every char of it is in exactly one
    /// of the windows that follow one another.
    ///
    /// # Errors
    /// As [`read_bytes`](Self::read_bytes); [`Error::NotText`] for what cannot be decoded; [`Error::EmptyWindow`].
    pub fn read(
        &self,
        revision_ref: &SkillRevisionRef,
        path: &str,
        window: TextWindow,
    ) -> Result<SkillText, Error> {
        let bytes = self.read_bytes(revision_ref, path)?;
        let not_text = |reason| Error::NotText { path: path.to_owned(), reason };
        if !briefing_formats::is_text(&bytes) {
            return Err(not_text("its bytes are no text; read them as bytes".to_owned()));
        }
        let decoded = decode(&bytes).map_err(|error| not_text(error.to_string()))?;
        SkillText::of(&decoded, window)
    }

    /// The source that offers some revisions as context.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], [`Error::Untrusted`], [`Error::BoundTwice`], or [`Error::NoSuchFile`] for a required
    /// resource that the revision does not hold; and as [`get`](Self::get).
    pub fn source(&self, options: SkillSourceOptions) -> Result<SkillSource, Error> {
        SkillSource::new(self.clone(), options)
    }

    /// The manifest of a revision, proven by the digest in the ref.
    pub(crate) fn manifest(&self, revision_ref: &SkillRevisionRef) -> Result<Manifest, Error> {
        let damaged = |reason| Error::Damaged { revision_ref: revision_ref.clone(), file: MANIFEST, reason };
        let manifest: Manifest = self.private(revision_ref, MANIFEST)?;
        manifest.check_schema().map_err(|error| damaged(error.to_string()))?;
        if manifest.digest() != revision_ref.digest() {
            return Err(damaged(format!("it describes {}", manifest.digest())));
        }
        Ok(manifest)
    }

    pub(crate) fn facts(&self, revision_ref: &SkillRevisionRef) -> Result<Facts, Error> {
        self.private(revision_ref, FACTS)
    }

    fn private<T: DeserializeOwned>(
        &self,
        revision_ref: &SkillRevisionRef,
        file: &'static str,
    ) -> Result<T, Error> {
        let place = self.area.place(revision_ref);
        let damaged = |reason| Error::Damaged { revision_ref: revision_ref.clone(), file, reason };
        let opened = match open_plain(&place.join(file)) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_folder(&place) => {
                return Err(Error::NotInstalled { revision_ref: revision_ref.clone() });
            }
            Err(error) => return Err(damaged(error.to_string())),
        };
        let mut bytes = Vec::new();
        opened.take(MAX_FACTS_BYTES).read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))
    }

    pub(crate) fn bytes_of(
        &self,
        revision_ref: &SkillRevisionRef,
        manifest: &Manifest,
        path: &str,
    ) -> Result<Vec<u8>, Error> {
        let Some(file) = manifest.find(path) else {
            return Err(Error::NoSuchFile { revision_ref: revision_ref.clone(), path: path.to_owned() });
        };
        self.file_bytes(revision_ref, file)
    }

    /// The bytes of a file that a proven manifest lists.
    pub(crate) fn file_bytes(
        &self,
        revision_ref: &SkillRevisionRef,
        file: &SkillFile,
    ) -> Result<Vec<u8>, Error> {
        self.checked(revision_ref, file).map_err(|reason| Error::Tampered {
            revision_ref: revision_ref.clone(),
            path: file.path.clone(),
            reason: reason.to_string(),
        })
    }

    /// Reads a file and compares it with what was installed.
    pub(crate) fn checked(
        &self,
        revision_ref: &SkillRevisionRef,
        file: &SkillFile,
    ) -> Result<Vec<u8>, ProblemKind> {
        let place = self.area.file(revision_ref, &file.path);
        let unusable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => ProblemKind::Missing,
            _ => ProblemKind::Unusable { reason: error.to_string() },
        };
        let found = fs::symlink_metadata(&place).map_err(unusable)?;
        if !found.is_file() {
            return Err(ProblemKind::NotAFile);
        }
        let mut bytes = Vec::new();
        let read = open_plain(&place)
            .and_then(|opened| opened.take(file.bytes.saturating_add(1)).read_to_end(&mut bytes));
        read.map_err(unusable)?;
        let actual = Digest::of(&bytes);
        if bytes.len() as u64 == file.bytes && actual == file.digest {
            return Ok(bytes);
        }
        Err(ProblemKind::Changed {
            installed_bytes: file.bytes,
            installed: file.digest,
            bytes: found.len().max(bytes.len() as u64),
            actual,
        })
    }
}

/// Whether a folder lies there; a link to one is none.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// The names in a folder, in order; none where it is not there. Names that are no UTF-8 are shown with marks in them.
fn names(folder: &PathBuf) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(Error::unreadable(folder))?,
    };
    let listed: io::Result<Vec<_>> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let mut names = listed.map_err(Error::unreadable(folder))?;
    names.sort_unstable();
    Ok(names)
}

/// The absolute path of a folder as text, for a recipe.
pub(crate) fn shown(area: &Area) -> String {
    area.root().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_makes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("not/there");
        let library = SkillLibrary::open(&root).unwrap();
        assert!(library.list().unwrap().revisions.is_empty());
        assert!(!root.exists() && !folder.path().join("not").exists());
        fs::write(folder.path().join("file"), "").unwrap();
        assert_eq!(SkillLibrary::open(folder.path().join("file")).unwrap_err().code(), "skill.unreadable");
    }
}
