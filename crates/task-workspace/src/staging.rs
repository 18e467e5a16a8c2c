//! Staging: bytes that wait for their promotion in the private area, on the target's file system.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};

use briefing_core::Digest;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::area::{self, Area, STAGED, unusable};
use crate::error::Error;
use crate::hold::Hold;
use crate::options::names_a_file;
use crate::place::{Place, Seen, links_of_entry};
use crate::put::{self, Attributes, Finished, Slot, not_written};
use crate::read::FileIdentity;
use crate::steps::Step;
use crate::target::TargetState;
use crate::unit::{Change, What};
use crate::write::Written;
use crate::{TaskWorkspace, WorkspacePath};

/// The schema of a candidate's facts.
const SCHEMA: &str = "briefing.candidate/1";

/// Names a candidate of one workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CandidateId(String);

impl CandidateId {
    /// Takes an id that a candidate can have, unchanged.
    ///
    /// # Errors
    /// [`Error::InvalidId`].
    pub fn new(id: impl Into<String>) -> Result<Self, Error> {
        names_a_file("candidate id", id.into()).map(Self)
    }

    /// The id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CandidateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for CandidateId {
    type Error = Error;
    fn try_from(id: String) -> Result<Self, Error> {
        Self::new(id)
    }
}

impl From<CandidateId> for String {
    fn from(id: CandidateId) -> String {
        id.0
    }
}

/// Bytes that are meant for a target and not there yet. They outlast the process until they are promoted or discarded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Names the form of this value.
    pub schema: String,
    /// Its id.
    pub id: CandidateId,
    /// Where it is to go.
    pub target: WorkspacePath,
    /// The digest of its bytes.
    pub digest: Digest,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// What was at the target when it was staged.
    pub target_state: TargetState,
    /// When it was staged, in milliseconds since 1970.
    pub staged_unix_millis: u64,
}

pub(crate) fn facts_name(id: &str) -> String {
    format!("{id}.json")
}

impl TaskWorkspace {
    /// Keeps bytes that are meant for `target`, and reads them back whole. The target is not touched; what it is now is
    /// noted in the candidate. When this returns the candidate outlasts a crash.
    ///
    /// ```
    /// use briefing_task_workspace::{TaskWorkspace, TargetState, WorkspaceOptions, WorkspacePath};
    /// # let folder = tempfile::tempdir()?;
    /// let workspace = TaskWorkspace::open_with(folder.path(), WorkspaceOptions::read_write())?;
    /// let report = WorkspacePath::new("out/report.md")?;
    ///
    /// let candidate = workspace.stage(&report, "# Report\n")?;
    /// let bytes = workspace.read_candidate(&candidate.id)?; // what a verifier judges
    /// assert_eq!(bytes, b"# Report\n");
    ///
    /// let written = workspace.promote(&candidate, TargetState::Absent)?;
    /// assert_eq!(workspace.read(&report, 100)?.bytes, b"# Report\n");
    /// assert_eq!(written.digest, candidate.digest);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Denied`], [`Error::TooLarge`] and [`Error::QuotaExceeded`] by the policy; [`Error::Link`],
    /// [`Error::HardLinked`], [`Error::NotRegularFile`], [`Error::NameCollision`] and [`Error::ReadOnly`] for a target
    /// that could not be promoted; [`Error::NotWritten`] with the step that failed.
    pub fn stage(&self, target: &WorkspacePath, bytes: impl AsRef<[u8]>) -> Result<Candidate, Error> {
        self.stage_with(None, target, bytes.as_ref())
    }

    /// Stages bytes under an id that the caller chose and wrote down before, so that it knows its candidate again after a
    /// crash. An id names one candidate and is not used twice.
    ///
    /// # Errors
    /// As [`stage`](Self::stage); [`Error::CandidateExists`] for an id under which one is staged.
    pub fn stage_as(
        &self,
        id: CandidateId,
        target: &WorkspacePath,
        bytes: impl AsRef<[u8]>,
    ) -> Result<Candidate, Error> {
        self.stage_with(Some(id), target, bytes.as_ref())
    }

    fn stage_with(
        &self,
        id: Option<CandidateId>,
        target: &WorkspacePath,
        bytes: &[u8],
    ) -> Result<Candidate, Error> {
        self.rules().check_size(target, bytes.len() as u64)?;
        let hold = self.hold()?;
        hold.check_promotion(target)?;
        let place = hold.place(target)?;
        let seen = place.see()?;
        let target_state = TargetState::from(seen.as_ref().map(|seen| seen.digest));
        if target_state == TargetState::Absent {
            place.check_collision()?;
        }
        self.rules().grow(target, 0, bytes.len() as u64)?;
        let staged = hold.stage(id, &place, bytes, seen.as_ref());
        if staged.is_err() {
            self.rules().shrink(0, bytes.len() as u64);
        }
        staged
    }

    /// The candidates that are staged, oldest first.
    ///
    /// # Errors
    /// [`Error::PrivateAreaUnusable`], [`Error::PrivateFile`].
    pub fn candidates(&self) -> Result<Vec<Candidate>, Error> {
        let Some(area) = Area::find(self.dir())? else { return Ok(Vec::new()) };
        let Some(dir) = area.folder(STAGED)? else { return Ok(Vec::new()) };
        let mut found: Vec<Candidate> = Vec::new();
        for name in area::names(&dir)? {
            if name.ends_with(".json") {
                found.extend(area::read_facts(&dir, &name)?);
            }
        }
        found.sort_by(|one, other| {
            (one.staged_unix_millis, &one.id).cmp(&(other.staged_unix_millis, &other.id))
        });
        Ok(found)
    }

    /// A staged candidate.
    ///
    /// # Errors
    /// [`Error::UnknownCandidate`], and as [`candidates`](Self::candidates).
    pub fn candidate(&self, id: &CandidateId) -> Result<Candidate, Error> {
        let unknown = || Error::UnknownCandidate { id: id.to_string() };
        let area = Area::find(self.dir())?.ok_or_else(unknown)?;
        let dir = area.folder(STAGED)?.ok_or_else(unknown)?;
        area::read_facts(&dir, &facts_name(id.as_str()))?.ok_or_else(unknown)
    }

    /// The bytes of a candidate, whole and with the digest that was staged.
    ///
    /// # Errors
    /// [`Error::UnknownCandidate`], [`Error::CandidateDamaged`], and as [`candidates`](Self::candidates).
    pub fn read_candidate(&self, id: &CandidateId) -> Result<Vec<u8>, Error> {
        let candidate = self.candidate(id)?;
        let area = Area::find(self.dir())?;
        let dir = area.map(|area| area.folder(STAGED)).transpose()?.flatten();
        let dir = dir.ok_or_else(|| Error::UnknownCandidate { id: id.to_string() })?;
        let mut bytes = Vec::new();
        let read = crate::beneath::open_name(&dir, id.as_str().as_ref())
            .and_then(|file| file.take(candidate.size_bytes.saturating_add(1)).read_to_end(&mut bytes));
        match read {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(unusable("reading a candidate")(error));
            }
            _ => {}
        }
        let found = Digest::of(&bytes);
        if found != candidate.digest {
            return Err(damaged(&candidate, Some(found)));
        }
        Ok(bytes)
    }

    /// Puts a candidate at its target, in one step: the target is replaced where it is `expected`, or made where nothing
    /// is expected. The bytes must be those that were staged; the file and its folder are synced, the target is read back
    /// whole, and an existing file's owner, mode and extended attributes are kept. A target that has the candidate's
    /// bytes already is only read.
    ///
    /// # Errors
    /// [`Error::Conflict`] with both states where the target is not `expected`; [`Error::CandidateDamaged`];
    /// [`Error::ReadOnly`], [`Error::Denied`], [`Error::Link`], [`Error::HardLinked`], [`Error::NotRegularFile`],
    /// [`Error::NotFolder`], [`Error::NameCollision`]; [`Error::NotWritten`], [`Error::CannotKeep`],
    /// [`Error::OtherFileSystem`] and [`Error::ReadBack`] where the system is in the way. After each of them the target
    /// has its old bytes and the candidate is still staged.
    pub fn promote(&self, candidate: &Candidate, expected: TargetState) -> Result<Written, Error> {
        let mut written = self.promote_all(&[(candidate, expected)])?;
        written.pop().ok_or_else(|| Error::UnknownCandidate { id: candidate.id.to_string() })
    }

    /// Puts several candidates at their targets as one unit: all of them, or none. A crash in between is brought to an
    /// end by whoever opens the workspace next and writes.
    ///
    /// # Errors
    /// [`Error::TargetTwice`], and as [`promote`](Self::promote).
    pub fn promote_all(&self, candidates: &[(&Candidate, TargetState)]) -> Result<Vec<Written>, Error> {
        let hold = self.hold()?;
        let targets: Vec<_> = candidates.iter().map(|(candidate, _)| &candidate.target).collect();
        check_targets_apart(&targets)?;
        let mut changes = Vec::new();
        let mut written = Vec::new();
        let mut settled = Vec::new();
        for (candidate, expected) in candidates {
            let change = hold.promotion(candidate, *expected)?;
            written.push(Written::of(&change, change.size_bytes()));
            if change.before() == change.after() {
                settled.push(change);
            } else {
                changes.push(change);
            }
        }
        for change in &changes {
            hold.take_over_attributes(change, candidates)?;
        }
        hold.make(&mut changes)?;
        for change in &settled {
            // The share that it took when it was staged: nothing came of it.
            self.rules().shrink(0, change.size_bytes());
        }
        for change in settled.iter().chain(&changes) {
            if let What::Put(finished) = &change.what
                && hold.steps().reach(Step::CleanUp).is_ok()
            {
                // What is left is swept up later; the promotion is done.
                let _ = area::remove(&finished.slot.dir, &facts_name(&finished.slot.name));
                let _ = finished.slot.clear();
            }
        }
        Ok(written)
    }

    /// Drops a candidate. The target is not touched.
    ///
    /// # Errors
    /// [`Error::UnknownCandidate`], [`Error::PrivateAreaUnusable`].
    pub fn discard(&self, id: &CandidateId) -> Result<(), Error> {
        let hold = self.hold()?;
        let candidate = self.candidate(id)?;
        let slot = hold.candidate_slot(id)?;
        let dropped = area::remove(&slot.dir, &facts_name(&slot.name))
            .and_then(|()| slot.clear())
            .and_then(|()| area::sync(&slot.dir));
        dropped.map_err(unusable("discarding a candidate"))?;
        self.rules().shrink(0, candidate.size_bytes);
        Ok(())
    }
}

/// Refuses changes that meet at one path.
pub(crate) fn check_targets_apart(targets: &[&WorkspacePath]) -> Result<(), Error> {
    let mut sorted: Vec<_> = targets.to_vec();
    // A folder comes right before what is in it.
    sorted.sort_by(|one, other| one.as_str().split('/').cmp(other.as_str().split('/')));
    match sorted.iter().zip(sorted.iter().skip(1)).find(|(one, other)| other.is_at_or_in(one)) {
        Some((_, twice)) => Err(Error::TargetTwice { path: twice.as_str().to_owned() }),
        None => Ok(()),
    }
}

fn damaged(candidate: &Candidate, found: Option<Digest>) -> Error {
    let (id, expected) = (candidate.id.to_string(), candidate.digest.into());
    Error::CandidateDamaged { id, expected, found: found.into() }
}

impl Hold<'_> {
    fn candidate_slot(&self, id: &CandidateId) -> Result<Slot, Error> {
        let dir = self.area.make_folder(STAGED)?;
        Ok(Slot { dir, folder: STAGED, name: id.as_str().to_owned() })
    }

    /// The folder of candidates, where none of them has the id.
    fn unused(&self, place: &Place, id: &CandidateId) -> Result<Dir, Error> {
        let failed = not_written(place, Step::CreateFile);
        let dir = self.area.make_folder(STAGED)?;
        match area::is_free(&dir, id.as_str()).map_err(&failed)? {
            true => Ok(dir),
            false => Err(Error::CandidateExists { id: id.to_string() }),
        }
    }

    /// Writes bytes and facts, syncs both and their folder, and reads the bytes back.
    fn stage(
        &self,
        id: Option<CandidateId>,
        place: &Place,
        bytes: &[u8],
        seen: Option<&Seen>,
    ) -> Result<Candidate, Error> {
        let (dir, id) = match id {
            Some(id) => (self.unused(place, &id)?, id),
            None => {
                let (dir, id) = self.free_id(STAGED, "candidate")?;
                (dir, CandidateId(id))
            }
        };
        let slot = Slot { dir, folder: STAGED, name: id.as_str().to_owned() };
        let (finished, file) =
            put::draft(self.steps(), place, slot, &mut &*bytes, None, Attributes::default())?;
        if let Some(seen) = seen {
            // The promotion sees to it, and has less to do where it is done already.
            let _ = put::keep_attributes(place, &file, seen);
        }
        let candidate = Candidate {
            schema: SCHEMA.to_owned(),
            id,
            target: place.path.clone(),
            digest: finished.digest,
            size_bytes: finished.size_bytes,
            target_state: seen.map(|seen| seen.digest).into(),
            staged_unix_millis: self.workspace.environment().now_unix_millis(),
        };
        let kept = self.keep_candidate(place, &finished.slot, &file, &candidate);
        if kept.is_err() {
            let facts = facts_name(&finished.slot.name);
            let _ = area::remove(&finished.slot.dir, &format!("{facts}.new"));
            let _ = area::remove(&finished.slot.dir, &facts);
            let _ = finished.slot.clear();
        }
        kept.map(|()| candidate)
    }

    /// Writes the facts beside the bytes, syncs all, and reads the bytes back. The facts appear whole.
    fn keep_candidate(
        &self,
        place: &Place,
        slot: &Slot,
        bytes: &File,
        candidate: &Candidate,
    ) -> Result<(), Error> {
        let steps = self.steps();
        let name = facts_name(&slot.name);
        let draft = format!("{name}.new");
        let written = steps.reach(Step::WriteFacts).and_then(|()| {
            let mut facts = area::create(&slot.dir, &draft)?;
            area::write_json(&mut facts, candidate)?;
            slot.dir.rename(&draft, &slot.dir, &name).map(|()| facts)
        });
        let facts = written.map_err(not_written(place, Step::WriteFacts))?;
        steps.reach(Step::SyncFile).map_err(not_written(place, Step::SyncFile))?;
        let synced =
            steps.reach(Step::SyncStaged).and_then(|()| area::sync_together([bytes, &facts], &slot.dir));
        synced.map_err(not_written(place, Step::SyncStaged))?;
        let read = steps.reach(Step::ReadStaged).and_then(|()| put::digest_in(&slot.dir, &slot.name));
        let read = read.map_err(not_written(place, Step::ReadStaged))?;
        match read {
            Some((digest, _)) if digest == candidate.digest => Ok(()),
            other => Err(damaged(candidate, other.map(|(digest, _)| digest))),
        }
    }

    /// The change that a promotion makes; everything is checked, and nothing is changed yet.
    fn promotion(&self, candidate: &Candidate, expected: TargetState) -> Result<Change, Error> {
        self.check_promotion(&candidate.target)?;
        let known = self.workspace.candidate(&candidate.id)?;
        let slot = self.candidate_slot(&candidate.id)?;
        let found = put::digest_in(&slot.dir, &slot.name).map_err(unusable("reading a candidate"))?;
        let (digest, size_bytes) = match found {
            // What the caller verified, what was staged and what is there are the same.
            Some((digest, size)) if digest == candidate.digest && known.target == candidate.target => {
                (digest, size)
            }
            other => return Err(damaged(candidate, other.map(|(digest, _)| digest))),
        };
        // A second name may lie outside: it would get the target's mode, and later writes.
        let file = slot.dir.symlink_metadata(&slot.name).map_err(unusable("reading a candidate"))?;
        if links_of_entry(&file) > 1 {
            return Err(Error::HardLinked {
                path: candidate.target.to_string(),
                links: links_of_entry(&file),
            });
        }
        self.workspace.rules().check_size(&candidate.target, size_bytes)?;
        let place = self.place(&candidate.target)?;
        let seen = place.see()?;
        let found = TargetState::from(seen.as_ref().map(|seen| seen.digest));
        if found != expected {
            return Err(Error::Conflict { path: place.shown(), expected, found });
        }
        if found == TargetState::Absent {
            place.check_collision()?;
        }
        let what = What::Put(Finished { slot, digest, size_bytes });
        Ok(Change { place, seen, what, executable: None })
    }

    /// Gives a candidate the owner, the mode and the attributes of the file that it is about to replace; those of a new
    /// file where the one is gone that it got them from when it was staged.
    fn take_over_attributes(
        &self,
        change: &Change,
        candidates: &[(&Candidate, TargetState)],
    ) -> Result<(), Error> {
        let What::Put(finished) = &change.what else { return Ok(()) };
        let had_target = |(candidate, _): &(&Candidate, TargetState)| {
            candidate.id.as_str() == finished.slot.name && candidate.target_state != TargetState::Absent
        };
        let fresh = match &change.seen {
            None if candidates.iter().any(had_target) => Some(self.fresh(&change.place)?),
            _ => None,
        };
        let Some(seen) = change.seen.as_ref().or(fresh.as_ref()) else { return Ok(()) };
        let failed = not_written(&change.place, Step::KeepAttributes);
        self.steps().reach(Step::KeepAttributes).map_err(&failed)?;
        let slot = &finished.slot;
        let file = crate::beneath::open_name(&slot.dir, slot.name.as_ref()).map_err(&failed)?;
        if !put::keep_attributes(&change.place, &file, seen)? {
            return Ok(());
        }
        let synced = self.steps().reach(Step::SyncFile).and_then(|()| file.sync_all());
        synced.map_err(not_written(&change.place, Step::SyncFile))
    }

    /// A file as it is when it is made, with no name any more.
    fn fresh(&self, place: &Place) -> Result<Seen, Error> {
        let slot = self.slot()?;
        let made = area::create(&slot.dir, &slot.name).and_then(|file| {
            slot.clear()?;
            let metadata = file.metadata()?;
            Ok(Seen { identity: FileIdentity::of(&metadata), metadata, file, digest: Digest::of(b"") })
        });
        made.map_err(not_written(place, Step::KeepAttributes))
    }
}
