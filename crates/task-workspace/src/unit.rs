//! A unit of changes: all are made, or none.
//!
//! One change is whole by itself. Several are written down in a journal before the first is made; whoever opens the
//! workspace after a crash finds it and brings the unit to an end ([`recover`](crate::recover)).

use serde::{Deserialize, Serialize};

use crate::area::{self, JOURNAL, KEPT, TMP};
use crate::error::Error;
use crate::hold::Hold;
use crate::path::is_same_to_some;
use crate::place::{Layer, Place, Seen};
use crate::put::{self, Finished, Made, Slot, not_written};
use crate::steps::Step;
use crate::target::TargetState;
use crate::{ExecutionId, WorkspacePath, identity};

/// The schema of a journal.
pub(crate) const SCHEMA: &str = "briefing.unit/1";

/// Where a file was, and where it is to be.
pub(crate) type FileMove = (WorkspacePath, WorkspacePath);

/// A change to one place.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) place: Place,
    /// What is there now.
    pub(crate) seen: Option<Seen>,
    pub(crate) what: What,
    /// Whether the file can be executed afterwards, where the change says so.
    pub(crate) executable: Option<bool>,
}

#[derive(Debug)]
pub(crate) enum What {
    /// The file is put there.
    Put(Finished),
    /// What is there is taken away, by way of the slot.
    Remove(Slot),
}

impl Change {
    pub(crate) fn before(&self) -> TargetState {
        self.seen.as_ref().map(|seen| seen.digest).into()
    }

    pub(crate) fn after(&self) -> TargetState {
        match &self.what {
            What::Put(finished) => TargetState::Present(finished.digest),
            What::Remove(_) => TargetState::Absent,
        }
    }

    /// Whether the place is to be as it is already.
    pub(crate) fn is_none(&self) -> bool {
        let mode = self.seen.as_ref().and_then(|seen| put::is_executable(&seen.metadata));
        let keeps_mode = mode.zip(self.executable).is_none_or(|(now, then)| now == then);
        self.before() == self.after() && keeps_mode
    }

    /// How many bytes are there afterwards.
    pub(crate) fn size_bytes(&self) -> u64 {
        match &self.what {
            What::Put(finished) => finished.size_bytes,
            What::Remove(_) => 0,
        }
    }

    fn slot(&self) -> &Slot {
        match &self.what {
            What::Put(finished) => &finished.slot,
            What::Remove(slot) => slot,
        }
    }

    fn sizes(&self) -> (u64, u64) {
        let before = self.seen.as_ref().map_or(0, |seen| seen.identity.size);
        match &self.what {
            // A candidate took its share when it was staged; what it replaces goes.
            What::Put(finished) if finished.slot.folder == area::STAGED => (before, 0),
            What::Put(finished) => (before, finished.size_bytes),
            What::Remove(_) => (before, 0),
        }
    }
}

/// A unit, as the journal keeps it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) schema: String,
    pub(crate) unit: String,
    pub(crate) changes: Vec<Entry>,
}

/// A change, as the journal keeps it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) path: WorkspacePath,
    pub(crate) layer: Layer,
    pub(crate) execution: ExecutionId,
    /// The folder of the private area that holds the slot.
    pub(crate) folder: String,
    pub(crate) slot: String,
    pub(crate) before: TargetState,
    pub(crate) after: TargetState,
    /// What a change of the mode alone is told by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) executable: Option<bool>,
}

impl Hold<'_> {
    /// Makes the changes, all or none. Where it fails, every place and every slot is as it was.
    pub(crate) fn make(&self, changes: &mut [Change]) -> Result<(), Error> {
        self.make_with_moves(changes, &[])
    }

    /// The same, where some changes together move files from a path to another.
    pub(crate) fn make_with_moves(&self, changes: &mut [Change], moves: &[FileMove]) -> Result<(), Error> {
        if let Err(error) = check_names_apart(changes).and_then(|()| self.take_quota(changes)) {
            self.drop_drafts(changes);
            return Err(error);
        }
        let made = self.make_whole(changes, moves);
        if let Err(error) = &made {
            give_back(self, changes);
            match error {
                Error::Stranded { .. } => {
                    self.keep_stranded(changes);
                    self.drop_drafts(changes);
                }
                _ => self.drop_drafts(changes),
            }
        }
        made
    }

    /// Takes what the changes grow by in all: what one of them takes away makes room for another.
    fn take_quota(&self, changes: &[Change]) -> Result<(), Error> {
        let grows = |change: &&Change| {
            let (before, after) = change.sizes();
            after > before
        };
        let Some(named) = changes.iter().find(grows).or(changes.first()) else { return Ok(()) };
        let (before, after) = sizes(changes);
        self.workspace.rules().grow(&named.place.path, before, after)
    }

    /// Drops the new bytes of changes that are not made; candidates stay.
    pub(crate) fn drop_drafts(&self, changes: &[Change]) {
        for slot in changes.iter().map(Change::slot).filter(|slot| slot.folder == TMP) {
            // What is left is swept up when the workspace is opened the next time.
            let _ = slot.clear();
        }
    }

    /// Moves what could not be put back to where nothing is ever swept up. A slot that has its own bytes has nothing else;
    /// if they are a candidate's, it stays staged.
    fn keep_stranded(&self, changes: &[Change]) {
        let Ok(kept) = self.area.make_folder(KEPT) else { return };
        for change in changes {
            let slot = change.slot();
            let found = put::digest_in(&slot.dir, &slot.name).ok().flatten();
            if found.is_some() && found.map(|(digest, _)| digest) == change.after().digest() {
                continue;
            }
            for name in [slot.beside(), slot.name.clone()] {
                let _ = slot.dir.rename(&name, &kept, &name);
            }
        }
        let _ = area::sync(&kept);
    }

    fn make_whole(&self, changes: &mut [Change], moves: &[FileMove]) -> Result<(), Error> {
        let journal = if changes.len() > 1 { Some(self.write_journal(changes)?) } else { None };
        for change in changes.iter_mut() {
            let made = change.place.make_folders(self.steps());
            if let Err(source) = made {
                self.drop_journal(journal.as_ref())?;
                return Err(not_written(&change.place, Step::CreateFolders)(source));
            }
        }
        let mut done = Vec::with_capacity(changes.len());
        let made = self.make_each(changes, moves, &mut done, journal.as_ref());
        if let Err(error) = made {
            // One that cannot be put back keeps none of the others from it.
            let undone =
                done.iter().rev().map(|(made, _)| made.undo().map_err(|source| made.stranded(source)));
            let stranded = undone.filter_map(Result::err).collect::<Vec<_>>().into_iter().next();
            self.drop_journal(journal.as_ref())?;
            return Err(stranded.unwrap_or(error));
        }
        if self.steps().reach(Step::CleanUp).is_ok() {
            for change in changes.iter() {
                // What is left is swept up later; the change is made.
                let _ = change.slot().clear();
            }
        }
        Ok(())
    }

    fn make_each<'a>(
        &self,
        changes: &'a [Change],
        moves: &[FileMove],
        done: &mut Vec<(Made<'a>, TargetState)>,
        journal: Option<&Slot>,
    ) -> Result<(), Error> {
        let steps = self.steps();
        for change in changes {
            let made = match (&change.what, &change.seen) {
                (What::Put(finished), seen) => put::put(steps, &finished.slot, &change.place, seen.as_ref())?,
                (What::Remove(slot), Some(seen)) => put::remove(steps, slot, &change.place, seen)?,
                (What::Remove(_), None) => continue,
            };
            done.push((made, change.after()));
        }
        for (made, _) in done.iter() {
            let Some(dir) = made.place().dir() else { continue };
            let synced = steps.reach(Step::SyncFolder).and_then(|()| area::sync(dir));
            synced.map_err(not_written(made.place(), Step::SyncFolder))?;
        }
        for (made, after) in done.iter() {
            steps.reach(Step::ReadBack).map_err(not_written(made.place(), Step::ReadBack))?;
            made.read_back(*after)?;
        }
        for (at, (from, to)) in moves.iter().enumerate() {
            identity::note_move(self, from, to).inspect_err(|_| self.note_back(moves.iter().take(at)))?;
        }
        if let (Some(journal), Some(first)) = (journal, changes.first()) {
            let removed = steps
                .reach(Step::RemoveJournal)
                .and_then(|()| area::remove(&journal.dir, &journal.name))
                .and_then(|()| area::sync(&journal.dir));
            removed.map_err(|source| {
                self.note_back(moves.iter());
                not_written(&first.place, Step::RemoveJournal)(source)
            })?;
        }
        Ok(())
    }

    /// Notes that moves are undone. Where that fails too, the files count as others from now on.
    fn note_back<'a>(&self, moves: impl DoubleEndedIterator<Item = &'a FileMove>) {
        for (from, to) in moves.rev() {
            let _ = identity::note_move(self, to, from);
        }
    }

    fn write_journal(&self, changes: &[Change]) -> Result<Slot, Error> {
        let (dir, unit) = self.free_id(JOURNAL, "unit")?;
        let entries = changes.iter().map(|change| Entry {
            path: change.place.path.clone(),
            layer: change.place.layer,
            execution: self.workspace.execution_id().clone(),
            folder: change.slot().folder.to_owned(),
            slot: change.slot().name.clone(),
            before: change.before(),
            after: change.after(),
            executable: change.executable,
        });
        let facts = Journal { schema: SCHEMA.to_owned(), unit: unit.clone(), changes: entries.collect() };
        let slot = Slot { dir, folder: JOURNAL, name: format!("{unit}.json") };
        let written = self
            .steps()
            .reach(Step::WriteJournal)
            .and_then(|()| area::write_facts(&slot.dir, &slot.name, &facts));
        match (written, changes.first()) {
            (Err(source), Some(first)) => Err(not_written(&first.place, Step::WriteJournal)(source)),
            _ => Ok(slot),
        }
    }

    /// Drops the journal of a unit that was undone, for good: whoever found it would make the unit again.
    fn drop_journal(&self, journal: Option<&Slot>) -> Result<(), Error> {
        let Some(journal) = journal else { return Ok(()) };
        let dropped = area::remove(&journal.dir, &journal.name).and_then(|()| area::sync(&journal.dir));
        dropped.map_err(area::unusable("dropping the journal of a unit that was undone"))
    }
}

fn sizes(changes: &[Change]) -> (u64, u64) {
    changes.iter().map(Change::sizes).fold((0, 0), |(before, after), (old, new)| (before + old, after + new))
}

fn give_back(hold: &Hold<'_>, changes: &[Change]) {
    let (before, after) = sizes(changes);
    hold.workspace.rules().shrink(before, after);
}

/// Refuses two new names in one folder that some file systems take for one. What is there already was looked at before.
fn check_names_apart(changes: &[Change]) -> Result<(), Error> {
    let new: Vec<_> =
        changes.iter().filter(|change| change.seen.is_none()).map(|change| &change.place).collect();
    for (at, one) in new.iter().enumerate() {
        for other in new.iter().skip(at + 1) {
            let first_new = one.depth().max(other.depth());
            let segments = one.path.as_str().split('/').zip(other.path.as_str().split('/'));
            let parting = segments.enumerate().find(|(_, (one, other))| one != other);
            if let Some((depth, (mine, theirs))) = parting
                && depth >= first_new
                && is_same_to_some(mine, theirs)
            {
                return Err(Error::NameCollision { path: other.shown(), existing: mine.to_owned() });
            }
        }
    }
    Ok(())
}
