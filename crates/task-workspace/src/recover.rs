//! What a writer that was stopped left behind, and how the next one brings it to an end.
//!
//! A unit whose journal is there was begun and not finished. Each of its changes is either still to be made or made
//! already; the digests of the target and of the slot tell which. Where every target is in one of these two states the
//! unit is finished; where somebody changed a target since, the changes that were made are undone, and candidates are
//! staged again. A single change leaves no journal: it was made, or it was not.

use std::ffi::OsStr;
use std::io;
use std::sync::PoisonError;

use cap_std::fs::Dir;

use crate::area::{self, Area, JOURNAL, KEPT, STAGED, TMP, unusable};
use crate::error::Error;
use crate::options::{WorkspaceMode, names_a_file};
use crate::place::{Layer, Place};
use crate::put::{self, How, Made, Slot};
use crate::staging::{self, Candidate};
use crate::target::TargetState;
use crate::unit::{Entry, Journal, SCHEMA};
use crate::{TaskWorkspace, WorkspacePath, beneath};

/// How an unfinished unit was brought to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnitEnd {
    /// All its changes were made.
    Finished,
    /// None of its changes stayed.
    RolledBack,
}

/// A unit that an earlier writer left unfinished.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveredUnit {
    /// Its id.
    pub unit: String,
    /// How it ended.
    pub end: UnitEnd,
    /// Its targets.
    pub targets: Vec<WorkspacePath>,
}

/// A unit that stays unfinished, so that its targets are not to be touched.
#[derive(Debug)]
pub(crate) struct Unfinished {
    unit: String,
    targets: Vec<WorkspacePath>,
    at: WorkspacePath,
    found: TargetState,
}

impl Unfinished {
    pub(crate) fn concerns(&self, path: &WorkspacePath) -> bool {
        self.targets.iter().any(|target| target.is_at_or_in(path) || path.is_at_or_in(target))
    }

    pub(crate) fn error(&self) -> Error {
        let (unit, path) = (self.unit.clone(), self.at.as_str().to_owned());
        Error::RecoveryBlocked { unit, path, found: self.found }
    }
}

/// Where a change of a unit stands.
enum Standing {
    Pending,
    Made(How),
    /// The target is in a state of its own.
    Foreign,
}

/// A change of a unit, found again.
struct Found {
    /// `None` where a folder on the way is none any more.
    place: Option<Place>,
    slot: Slot,
    standing: Standing,
    before: TargetState,
}

impl TaskWorkspace {
    /// What earlier writers left unfinished and this handle brought to an end, oldest first.
    #[must_use]
    pub fn recovered(&self) -> Vec<RecoveredUnit> {
        self.recovered_units().lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Brings unfinished units to an end, and sweeps up once. The lock of the area is held.
    pub(crate) fn recover(&self, area: &Area) -> Result<Vec<Unfinished>, Error> {
        let mut unfinished = Vec::new();
        if let Some(dir) = area.folder(JOURNAL)? {
            for name in area::names(&dir)? {
                if !name.ends_with(".json") {
                    sweep_away(&dir, &name)?;
                    continue;
                }
                let Some(journal) = area::read_facts::<Journal>(&dir, &name)? else { continue };
                if let Some(reason) = fault(&journal) {
                    return Err(Error::PrivateFile { file: format!("{JOURNAL}/{name}"), reason });
                }
                match self.end_unit(area, &journal)? {
                    Ok(end) => {
                        let ended = area::remove(&dir, &name).and_then(|()| area::sync(&dir));
                        ended.map_err(unusable("ending a unit"))?;
                        let targets = journal.changes.into_iter().map(|entry| entry.path).collect();
                        let mut known = self.recovered_units().lock().unwrap_or_else(PoisonError::into_inner);
                        known.push(RecoveredUnit { unit: journal.unit, end, targets });
                    }
                    Err(blocked) => unfinished.push(blocked),
                }
            }
        }
        if unfinished.is_empty() && !self.was_swept() {
            sweep(self, area)?;
            self.mark_swept();
        }
        Ok(unfinished)
    }

    fn end_unit(&self, area: &Area, journal: &Journal) -> Result<Result<UnitEnd, Unfinished>, Error> {
        let blocked = |entry: &Entry, found| Unfinished {
            unit: journal.unit.clone(),
            targets: journal.changes.iter().map(|entry| entry.path.clone()).collect(),
            at: entry.path.clone(),
            found,
        };
        let may_change_root = self.mode() == WorkspaceMode::ReadWrite;
        if let Some(entry) =
            journal.changes.iter().find(|entry| entry.layer == Layer::Root && !may_change_root)
        {
            return Ok(Err(blocked(entry, entry.before)));
        }
        let mut changes = Vec::with_capacity(journal.changes.len());
        for entry in &journal.changes {
            match self.find(area, entry) {
                Err(error) if !is_of_the_area(&error) => return Ok(Err(blocked(entry, entry.before))),
                found => changes.push(found?),
            }
        }
        let is_foreign = changes.iter().any(|found| matches!(found.standing, Standing::Foreign));
        for (found, entry) in changes.iter_mut().zip(&journal.changes) {
            let ended = if is_foreign { undo(found) } else { self.finish_change(found) };
            match ended {
                Err(error) if !is_of_the_area(&error) => return Ok(Err(blocked(entry, found.before))),
                ended => ended?,
            }
        }
        for found in &changes {
            if let Some(dir) = found.place.as_ref().and_then(Place::dir) {
                area::sync(dir).map_err(unusable("ending a unit"))?;
            }
        }
        let is_candidate = |found: &&Found| found.slot.folder == STAGED;
        if is_foreign {
            for found in changes.iter().filter(|found| !is_candidate(found)) {
                keep_old(area, found)?;
                let _ = found.slot.clear();
            }
            return Ok(Ok(UnitEnd::RolledBack));
        }
        for found in &changes {
            if is_candidate(&found) {
                let _ = area::remove(&found.slot.dir, &staging::facts_name(&found.slot.name));
            }
            let _ = found.slot.clear();
        }
        Ok(Ok(UnitEnd::Finished))
    }

    /// Where the target and the slot of a change are, and in which state.
    fn find(&self, area: &Area, entry: &Entry) -> Result<Found, Error> {
        let root = match entry.layer {
            Layer::Root => self.dir().try_clone().map_err(unusable("ending a unit"))?,
            Layer::Fallback => {
                self.open_fallback(&entry.execution, true).map_err(unusable("ending a unit"))?
            }
        };
        let folder = if entry.folder == STAGED { STAGED } else { TMP };
        let slot = Slot { dir: area.make_folder(folder)?, folder, name: entry.slot.clone() };
        let place = match Place::reach(&root, entry.layer, &entry.path) {
            Err(Error::Link { .. } | Error::NotFolder { .. }) => {
                let standing = Standing::Foreign;
                return Ok(Found { place: None, slot, standing, before: entry.before });
            }
            place => place?,
        };
        let digest = |name: &str| {
            put::digest_in(&slot.dir, name)
                .map(|found| TargetState::from(found.map(|(digest, _)| digest)))
                .map_err(unusable("ending a unit"))
        };
        let (in_slot, beside) = (digest(&slot.name)?, digest(&slot.beside())?);
        let mut is_executable = None;
        let at = match place.see() {
            Ok(seen) => {
                is_executable = seen.as_ref().and_then(|seen| put::is_executable(&seen.metadata));
                TargetState::from(seen.map(|seen| seen.digest))
            }
            // A hard link took the place and the slot's name was not removed any more.
            Err(Error::HardLinked { .. }) if is_one_file(&place, &slot) => {
                area::remove(&slot.dir, &slot.name).map_err(unusable("ending a unit"))?;
                place.state()?
            }
            Err(Error::Link { .. } | Error::NotRegularFile { .. } | Error::HardLinked { .. }) => {
                let standing = Standing::Foreign;
                return Ok(Found { place: Some(place), slot, standing, before: entry.before });
            }
            Err(error) => return Err(error),
        };
        let absent = TargetState::Absent;
        let has_mode = entry.executable.is_some() && entry.executable == is_executable;
        let standing = match (entry.before, entry.after) {
            // The bytes do not tell a change of the mode alone; the mode does.
            (before, after) if before == after && (in_slot, at) == (after, before) && has_mode => {
                Standing::Made(How::Exchanged)
            }
            (before, TargetState::Absent) if (in_slot, at) == (absent, before) => Standing::Pending,
            (before, TargetState::Absent) if (in_slot, at) == (before, absent) => {
                Standing::Made(How::Removed)
            }
            (before, after) if (in_slot, at) == (after, before) => Standing::Pending,
            (TargetState::Absent, after) if at == after => Standing::Made(How::Created),
            (before, after) if (in_slot, at) == (before, after) => Standing::Made(How::Exchanged),
            (before, after) if (in_slot, beside, at) == (absent, before, after) => {
                Standing::Made(How::Replaced)
            }
            _ => Standing::Foreign,
        };
        Ok(Found { place: Some(place), slot, standing, before: entry.before })
    }

    fn finish_change(&self, found: &mut Found) -> Result<(), Error> {
        let (Standing::Pending, Some(place)) = (&found.standing, &mut found.place) else { return Ok(()) };
        let made = place.make_folders(self.steps());
        made.map_err(put::not_written(place, crate::Step::CreateFolders))?;
        let seen = place.see()?;
        let is_removal =
            put::digest_in(&found.slot.dir, &found.slot.name).map_err(unusable("ending a unit"))?.is_none();
        match seen {
            Some(seen) if is_removal => put::remove(self.steps(), &found.slot, place, &seen).map(drop),
            seen => put::put(self.steps(), &found.slot, place, seen.as_ref()).map(drop),
        }
    }
}

fn undo(found: &mut Found) -> Result<(), Error> {
    let (Standing::Made(how), Some(place)) = (&found.standing, &found.place) else { return Ok(()) };
    let made = Made { slot: &found.slot, place, how: *how, new: None };
    made.undo().map_err(|source| made.stranded(source))
}

/// What is wrong with a journal: it must name slots of the area and nothing else.
fn fault(journal: &Journal) -> Option<String> {
    if journal.schema != SCHEMA {
        return Some(format!("its schema is {}, not {SCHEMA}", journal.schema));
    }
    journal.changes.iter().find_map(|entry| {
        if entry.folder != STAGED && entry.folder != TMP {
            return Some(format!("{:?} is no folder of slots", entry.folder));
        }
        names_a_file("name of a slot", entry.slot.clone()).err().map(|error| error.to_string())
    })
}

/// Whether nobody can write as long as it is so; what is wrong with a target keeps only that unit from its end.
fn is_of_the_area(error: &Error) -> bool {
    matches!(error, Error::PrivateAreaUnusable { .. } | Error::PrivateFile { .. })
}

/// Keeps for good what a target held that cannot get it back.
fn keep_old(area: &Area, found: &Found) -> Result<(), Error> {
    if !matches!(found.standing, Standing::Foreign) || found.before == TargetState::Absent {
        return Ok(());
    }
    for name in [found.slot.name.clone(), found.slot.beside()] {
        let held = put::digest_in(&found.slot.dir, &name).map_err(unusable("ending a unit"))?;
        if TargetState::from(held.map(|(digest, _)| digest)) == found.before {
            let kept = area.make_folder(KEPT)?;
            let moved = found.slot.dir.rename(&name, &kept, &name).and_then(|()| area::sync(&kept));
            moved.map_err(unusable("ending a unit"))?;
        }
    }
    Ok(())
}

fn is_one_file(place: &Place, slot: &Slot) -> bool {
    let Some(dir) = place.dir() else { return false };
    let inode = |dir: &Dir, name: &OsStr| {
        beneath::open_name(dir, name).and_then(|file| file.metadata()).ok().map(|metadata| {
            let identity = crate::read::FileIdentity::of(&metadata);
            (identity.device, identity.inode)
        })
    };
    inode(dir, place.name()).is_some_and(|at| inode(&slot.dir, OsStr::new(&slot.name)) == Some(at))
}

/// Removes what no writer needs any more. Nobody else is writing.
fn sweep(workspace: &TaskWorkspace, area: &Area) -> Result<(), Error> {
    let swept = |result: io::Result<()>| result.map_err(unusable("sweeping up"));
    if let Some(tmp) = area.folder(TMP)? {
        for name in area::names(&tmp)? {
            sweep_away(&tmp, &name)?;
        }
    }
    let Some(staged) = area.folder(STAGED)? else { return Ok(()) };
    let names = area::names(&staged)?;
    for name in &names {
        let Some(id) = name.strip_suffix(".json") else {
            // Bytes without facts were never acknowledged, or are what a promotion replaced.
            let id = name.strip_suffix(".old").unwrap_or(name);
            if names.binary_search(&staging::facts_name(id)).is_err() {
                sweep_away(&staged, name)?;
            }
            continue;
        };
        if is_folder(&staged, name) {
            continue;
        }
        if area::never_synced(&staged, name).map_err(unusable("sweeping up"))? {
            // Whoever staged it was never told so: the machine stopped before.
            swept(area::remove(&staged, name).and_then(|()| area::remove(&staged, id)))?;
            continue;
        }
        let candidate = match area::read_facts::<Candidate>(&staged, name) {
            // Whoever asks for candidates is told; nobody else is concerned.
            Err(Error::PrivateFile { .. }) => continue,
            candidate => candidate?,
        };
        let Some(candidate) = candidate.filter(|candidate| candidate.id.as_str() == id) else { continue };
        if was_promoted(workspace, &staged, &candidate)? {
            let slot = Slot {
                dir: staged.try_clone().map_err(unusable("sweeping up"))?,
                folder: STAGED,
                name: id.to_owned(),
            };
            swept(area::remove(&staged, name).and_then(|()| slot.clear()))?;
        }
    }
    Ok(())
}

/// Removes a file that no writer needs. The area makes no folders among them: one was put there by somebody and stays.
fn sweep_away(dir: &Dir, name: &str) -> Result<(), Error> {
    match is_folder(dir, name) {
        true => Ok(()),
        false => area::remove(dir, name).map_err(unusable("sweeping up")),
    }
}

fn is_folder(dir: &Dir, name: &str) -> bool {
    dir.symlink_metadata(name).is_ok_and(|found| found.is_dir())
}

/// Whether a candidate's bytes are at its target and no longer in its slot.
fn was_promoted(workspace: &TaskWorkspace, staged: &Dir, candidate: &Candidate) -> Result<bool, Error> {
    let id = candidate.id.as_str();
    let size = staged.symlink_metadata(id).ok().map(|metadata| metadata.len());
    let in_slot = match size {
        // The digest is only asked where the size does not tell.
        Some(size) if size == candidate.size_bytes => {
            put::digest_in(staged, id).map_err(unusable("sweeping up"))?.map(|(digest, _)| digest)
        }
        _ => None,
    };
    if in_slot == Some(candidate.digest) {
        return Ok(false);
    }
    if size.is_none() {
        return Ok(true);
    }
    let layers = [Some(workspace.dir()), workspace.fallback()?];
    let at_target =
        |root: &Dir| Place::reach(root, Layer::Root, &candidate.target).and_then(|place| place.state()).ok();
    Ok(layers.into_iter().flatten().any(|root| at_target(root) == Some(candidate.digest.into())))
}
