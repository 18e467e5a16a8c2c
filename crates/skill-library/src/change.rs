//! Changes to the library: installing, trusting and removing revisions.
//!
//! Every change is made under the lock, in `tmp`, and counts from one rename on. Whoever is stopped before it leaves nothing
//! but a draft, which the next change sweeps; whoever is stopped after it leaves the change done.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::area::{self, FACTS, FILES, Facts, MANIFEST};
use crate::folder;
use crate::library::is_folder;
use crate::package::{Collector, Package};
use crate::{Error, InstallOptions, SkillLibrary, SkillRevision, SkillRevisionRef, Step};

/// What an installation did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Installed {
    /// The revision, as it is kept now.
    pub revision: SkillRevision,
    /// Whether it was there before, was put there, or was put back.
    pub outcome: InstallOutcome,
    /// What of the folder is no part of the revision: files of version control, caches, folders without files.
    pub left_out: Vec<String>,
}

/// Whether an installation wrote a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallOutcome {
    /// It was not there before.
    New,
    /// It was there, whole.
    Present,
    /// It was there, damaged, and holds its own bytes again.
    Repaired,
}

impl SkillLibrary {
    /// Installs the skill in `folder`, whose name must be the skill's. The bytes are what counts: permissions and times are
    /// not kept, and files of version control and caches are left out and named in the answer.
    ///
    /// Installing bytes that are there already only adds trust, and repairs what was damaged.
    ///
    /// # Errors
    /// What is wrong with the skill: [`Error::NoSkillFile`], [`Error::FrontMatter`], [`Error::Field`],
    /// [`Error::NameMismatch`], [`Error::Path`], [`Error::Collision`], [`Error::NotAFile`] (links are never followed),
    /// [`Error::Limit`]. What the system refuses: [`Error::Unreadable`], [`Error::Change`]; nothing is installed then, and
    /// the installation can be tried again.
    pub fn install(&self, folder: impl AsRef<Path>, options: InstallOptions) -> Result<Installed, Error> {
        let folder = folder.as_ref();
        let mut collector = Collector::new(options.limits);
        let left_out = folder::collect(folder, &mut collector)?;
        let package = collector.finish(&folder.display().to_string())?;
        let named = folder_name(folder)?;
        if named != package.revision_ref.name().as_str() {
            let name = package.revision_ref.name().to_string();
            return Err(Error::NameMismatch { name, folder: named });
        }
        self.place(package, options.trusted, left_out)
    }

    /// Installs a skill from memory: paths within the skill, and bytes. As [`install`](Self::install), but there is no folder
    /// whose name could differ and nothing is left out.
    ///
    /// # Errors
    /// As [`install`](Self::install).
    ///
    /// ```
    /// use briefing_skill_library::{InstallOptions, SkillLibrary};
    /// # let folder = tempfile::tempdir()?;
    /// # let root = folder.path().join("skills");
    /// let text = "---\nname: pump\ndescription: How to check the pump.\n---\n# Pump\nCheck it every week.\n";
    /// let library = SkillLibrary::open(root)?;
    /// let installed = library.install_files([("SKILL.md", text)], InstallOptions::trusted())?;
    /// assert!(installed.revision.revision_ref.to_string().starts_with("skill:pump@blake3:"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn install_files(
        &self,
        files: impl IntoIterator<Item = (impl Into<String>, impl Into<Vec<u8>>)>,
        options: InstallOptions,
    ) -> Result<Installed, Error> {
        let mut collector = Collector::new(options.limits);
        for (path, bytes) in files {
            collector.meet_entry()?;
            collector.take(path.into(), bytes.into())?;
        }
        let package = collector.finish("the files")?;
        self.place(package, options.trusted, Vec::new())
    }

    /// Vouches for a revision, or no longer does. Sources that are bound to it give no content from then on.
    ///
    /// # Errors
    /// [`Error::NotInstalled`], [`Error::Damaged`], [`Error::Change`].
    pub fn set_trusted(&self, revision_ref: &SkillRevisionRef, trusted: bool) -> Result<(), Error> {
        self.facts(revision_ref)?;
        let _lock = self.begin()?;
        let facts = self.facts(revision_ref)?;
        self.write_facts(revision_ref, Facts { trusted, ..facts })
    }

    /// Removes a revision; says whether it was there.
    ///
    /// # Errors
    /// [`Error::Change`].
    pub fn remove(&self, revision_ref: &SkillRevisionRef) -> Result<bool, Error> {
        let place = self.area.place(revision_ref);
        if !is_folder(self.area.root()) {
            return Ok(false);
        }
        let _lock = self.begin()?;
        if !is_folder(&place) {
            // Whoever took it away may have been stopped before that would last.
            self.sync_place(&place)?;
            return Ok(false);
        }
        let away = self.take_away(&place)?;
        self.sync_place(&place)?;
        self.step(Step::CleanUp, &away, area::remove_all)?;
        // Other revisions of the skill keep its folder.
        let _ = fs::remove_dir(self.area.revisions_of(revision_ref));
        Ok(true)
    }

    fn place(&self, package: Package, trusted: bool, left_out: Vec<String>) -> Result<Installed, Error> {
        let revision_ref = package.revision_ref.clone();
        let place = self.area.place(&revision_ref);
        let _lock = self.begin()?;
        let outcome = match is_folder(&place) {
            false => InstallOutcome::New,
            true if self.problems_of(&revision_ref)?.is_empty() => InstallOutcome::Present,
            true => InstallOutcome::Repaired,
        };
        let before = self.facts(&revision_ref).ok().filter(|_| outcome != InstallOutcome::New);
        let facts = Facts {
            trusted: trusted || before.is_some_and(|before| before.trusted),
            installed_at_millis: before
                .map_or_else(|| self.environment.now_unix_millis(), |before| before.installed_at_millis),
        };
        if outcome == InstallOutcome::Present {
            if before != Some(facts) {
                self.write_facts(&revision_ref, facts)?;
            }
            // Whoever put it there may have been stopped before that would last.
            self.sync_place(&place)?;
        } else {
            let draft = self.area.tmp().join(self.environment.new_id("draft"));
            let placed = self.write_draft(&draft, &package, facts).and_then(|()| {
                let away = if is_folder(&place) { Some(self.take_away(&place)?) } else { None };
                self.put(&draft, &place)?;
                away.map_or(Ok(()), |away| self.step(Step::CleanUp, &away, area::remove_all))
            });
            if placed.is_err() {
                // What stays is swept by the next change.
                let _ = area::remove_all(&draft);
            }
            placed?;
        }
        Ok(Installed { revision: self.get(&revision_ref)?, outcome, left_out })
    }

    /// Takes the lock, and removes what an earlier change left unfinished.
    fn begin(&self) -> Result<File, Error> {
        let root = self.area.root();
        self.step(Step::PrepareFolders, root, |_| self.area.prepare())?;
        let lock = self.step(Step::Lock, root, |_| self.area.lock())?;
        self.step(Step::Sweep, root, |_| self.area.sweep())?;
        Ok(lock)
    }

    fn write_draft(&self, draft: &Path, package: &Package, facts: Facts) -> Result<(), Error> {
        let mut folders = BTreeSet::from([draft.to_owned(), draft.join(FILES)]);
        let mut files = Vec::with_capacity(package.files.len());
        for (path, bytes) in &package.files {
            let mut file = draft.join(FILES);
            file.extend(path.split('/'));
            let between = file.ancestors().skip(1).take_while(|folder| *folder != draft);
            folders.extend(between.map(Path::to_owned));
            files.push((file, bytes));
        }
        // A folder sorts before what it holds.
        self.step(Step::CreateDraft, draft, |_| folders.iter().try_for_each(fs::create_dir))?;
        for (file, bytes) in files {
            self.step(Step::WriteFile, &file, |file| area::write_new(file, bytes))?;
        }
        self.step(Step::WriteManifest, &draft.join(MANIFEST), |file| {
            area::write_json(file, &package.manifest)
        })?;
        self.step(Step::WriteFacts, &draft.join(FACTS), |file| area::write_json(file, &facts))?;
        self.step(Step::SyncDraft, draft, |_| {
            folders.iter().rev().try_for_each(|folder| area::sync_folder(folder))
        })
    }

    fn take_away(&self, place: &Path) -> Result<PathBuf, Error> {
        let away = self.area.tmp().join(self.environment.new_id("away"));
        self.step(Step::TakeAway, place, |place| fs::rename(place, &away))?;
        Ok(away)
    }

    fn put(&self, draft: &Path, place: &Path) -> Result<(), Error> {
        let above = place.parent().unwrap_or(place);
        self.step(Step::Place, place, |place| {
            area::make_folders(above)?;
            fs::rename(draft, place)
        })?;
        self.sync_place(place)
    }

    /// Makes it last that a revision is in its place, or is not, and that the folders above it are there.
    fn sync_place(&self, place: &Path) -> Result<(), Error> {
        let above = place.ancestors().skip(1).take(4);
        let mut present = above.filter(|folder| is_folder(folder));
        self.step(Step::SyncPlace, place, |_| present.try_for_each(area::sync_folder))
    }

    fn write_facts(&self, revision_ref: &SkillRevisionRef, facts: Facts) -> Result<(), Error> {
        let place = self.area.place(revision_ref);
        let draft = self.area.tmp().join(self.environment.new_id("facts"));
        self.step(Step::WriteFacts, &draft, |draft| area::write_json(draft, &facts))?;
        self.step(Step::Place, &place, |place| fs::rename(&draft, place.join(FACTS)))?;
        self.step(Step::SyncPlace, &place, area::sync_folder)
    }

    fn step<T>(
        &self,
        step: Step,
        path: &Path,
        work: impl FnOnce(&Path) -> io::Result<T>,
    ) -> Result<T, Error> {
        let done = self.steps.reach(step).and_then(|()| work(path));
        done.map_err(|source| Error::Change { step, path: path.to_owned(), source })
    }
}

/// The name of a folder, also where it is given as `.` or with `..` at its end.
fn folder_name(folder: &Path) -> Result<String, Error> {
    let named = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    match named(folder).filter(|_| folder.components().next_back().is_some()) {
        Some(name) => Ok(name),
        None => {
            let real = fs::canonicalize(folder).map_err(Error::unreadable(folder))?;
            Ok(named(&real).unwrap_or_default())
        }
    }
}
