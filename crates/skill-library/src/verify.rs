//! Verifying: every byte of a revision against the digest in its ref.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::area::{FACTS, FILES, MANIFEST};
use crate::library::is_folder;
use crate::{Error, Problem, ProblemKind, SkillLibrary, SkillRevisionRef};

impl SkillLibrary {
    /// Looks at every file of a revision; an empty answer means that it is what was installed. Files that were added are
    /// problems too, although nothing ever reads them.
    ///
    /// # Errors
    /// [`Error::NotInstalled`].
    pub fn verify(&self, revision_ref: &SkillRevisionRef) -> Result<Vec<Problem>, Error> {
        if !is_folder(&self.area.place(revision_ref)) {
            return Err(Error::NotInstalled { revision_ref: revision_ref.clone() });
        }
        self.problems_of(revision_ref)
    }

    /// Verifies everything that lies in the library: each revision with its problems, and what is no revision. Those without
    /// problems are in the answer too.
    ///
    /// # Errors
    /// [`Error::Unreadable`] where the library's folders cannot be listed.
    pub fn verify_all(&self) -> Result<Verification, Error> {
        let (refs, stray) = self.refs()?;
        let mut revisions = Vec::with_capacity(refs.len());
        for revision_ref in refs {
            match self.verify(&revision_ref) {
                Ok(problems) => revisions.push((revision_ref, problems)),
                // Removed since it was listed.
                Err(Error::NotInstalled { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Verification { revisions, stray })
    }

    pub(crate) fn problems_of(&self, revision_ref: &SkillRevisionRef) -> Result<Vec<Problem>, Error> {
        let place = self.area.place(revision_ref);
        let mut problems = Vec::new();
        let unusable = |file: &str, error: &Error| {
            Problem::new(file, ProblemKind::Unusable { reason: error.to_string() })
        };
        if let Err(error) = self.facts(revision_ref) {
            problems.push(unusable(FACTS, &error));
        }
        let manifest = match self.manifest(revision_ref) {
            Ok(manifest) => manifest,
            Err(error) => {
                // Without it nobody knows what the files should be.
                problems.push(unusable(MANIFEST, &error));
                return Ok(problems);
            }
        };
        for file in &manifest.files {
            if let Err(kind) = self.checked(revision_ref, file) {
                problems.push(Problem::new(&file.path, kind));
            }
        }
        let known: BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
        let mut found = Vec::new();
        extras(&place.join(FILES), "", &known, &mut found).map_err(Error::unreadable(&place))?;
        for name in entries(&place).map_err(Error::unreadable(&place))? {
            if ![MANIFEST, FACTS, FILES].contains(&name.as_str()) {
                found.push(format!("../{name}"));
            }
        }
        problems.extend(found.into_iter().map(|path| Problem::new(path, ProblemKind::Extra)));
        if let Err(error) = self.get(revision_ref)
            && problems.is_empty()
        {
            problems.push(unusable("SKILL.md", &error));
        }
        Ok(problems)
    }
}

/// What [`SkillLibrary::verify_all`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verification {
    /// Every revision, with its problems.
    pub revisions: Vec<(SkillRevisionRef, Vec<Problem>)>,
    /// What lies among the revisions and is none.
    pub stray: Vec<Problem>,
}

impl Verification {
    /// Whether there is no problem at all.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.stray.is_empty() && self.revisions.iter().all(|(_, problems)| problems.is_empty())
    }
}

/// Collects the paths of files, links and empty folders that the manifest does not know.
fn extras(folder: &Path, prefix: &str, known: &BTreeSet<&str>, found: &mut Vec<String>) -> io::Result<()> {
    let names = match entries(folder) {
        // That its files are missing is told already.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        names => names?,
    };
    for name in names {
        let path = format!("{prefix}{name}");
        let inner = format!("{path}/");
        let is_known_folder =
            || known.range(inner.as_str()..).next().is_some_and(|next| next.starts_with(&inner));
        if is_folder(&folder.join(&name)) && is_known_folder() {
            extras(&folder.join(&name), &inner, known, found)?;
        } else if !known.contains(path.as_str()) {
            found.push(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> io::Result<Vec<String>> {
    let listed: io::Result<Vec<_>> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    let mut names = listed?;
    names.sort_unstable();
    Ok(names)
}
