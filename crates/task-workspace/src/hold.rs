//! One writer's turn: the private area, held under its lock, and what has to be asked before a path is written.

use std::fs::File;
use std::io;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use cap_std::fs::Dir;

use crate::area::{self, Area, KEPT, TMP};
use crate::delivery::{self, Delivery};
use crate::error::Error;
use crate::options::WorkspaceMode;
use crate::place::{Layer, Place};
use crate::put::Slot;
use crate::recover::Unfinished;
use crate::steps::{Step, Steps};
use crate::{TaskWorkspace, WorkspacePath};

/// How many ids that are in use are passed over at most, where an environment gives them again.
const MAX_IDS_IN_USE: usize = 100_000;

/// How long a writer that waits for another sleeps before it asks again, at first and later on.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// A writer's turn. No other handle or process writes while it lives.
#[derive(Debug)]
pub(crate) struct Hold<'a> {
    pub(crate) workspace: &'a TaskWorkspace,
    pub(crate) area: Area,
    unfinished: Vec<Unfinished>,
    deliveries: Vec<Delivery>,
    _lock: File,
    _turn: MutexGuard<'a, ()>,
}

impl TaskWorkspace {
    /// Waits for a turn, and brings to an end what an earlier writer left unfinished.
    ///
    /// # Errors
    /// [`Error::Busy`] where the wait is longer than the options allow.
    pub(crate) fn hold(&self) -> Result<Hold<'_>, Error> {
        let wait = Wait { began: Instant::now(), most: self.max_wait() };
        let turn = wait.for_some(|| match self.writing().try_lock() {
            Ok(turn) => Ok(Some(turn)),
            Err(TryLockError::Poisoned(poisoned)) => Ok(Some(PoisonError::into_inner(poisoned))),
            Err(TryLockError::WouldBlock) => Ok(None),
        })?;
        self.steps().reach(Step::PrepareArea).map_err(area::unusable("preparing it"))?;
        let area = Area::make(self.dir())?;
        let lock = area.lock_file()?;
        wait.for_some(|| match lock.try_lock() {
            Ok(()) => Ok(Some(())),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(source)) => Err(area::unusable("locking it")(source)),
        })?;
        let unfinished = self.recover(&area)?;
        let deliveries = delivery::open_ones(&area)?;
        Ok(Hold { workspace: self, area, unfinished, deliveries, _lock: lock, _turn: turn })
    }
}

/// A wait that ends.
struct Wait {
    began: Instant,
    most: Duration,
}

impl Wait {
    /// Asks again and again, soon at first.
    fn for_some<T>(&self, ask: impl Fn() -> Result<Option<T>, Error>) -> Result<T, Error> {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(answer) = ask()? {
                return Ok(answer);
            }
            let waited = self.began.elapsed();
            let Some(left) = self.most.checked_sub(waited).filter(|left| !left.is_zero()) else {
                let waited_millis = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                return Err(Error::Busy { waited_millis });
            };
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Hold<'_> {
    pub(crate) fn steps(&self) -> &Steps {
        self.workspace.steps()
    }

    pub(crate) fn new_id(&self, prefix: &str) -> String {
        self.workspace.environment().new_id(prefix)
    }

    /// A folder of the area, and an id that nothing in it has, nor anything that is kept for good. An environment that
    /// counts begins anew in each process, and what an earlier process left must not be taken for the new.
    pub(crate) fn free_id(&self, folder: &'static str, prefix: &str) -> Result<(Dir, String), Error> {
        const WHAT: &str = "finding a free id";
        let dir = self.area.make_folder(folder)?;
        let kept = self.area.folder(KEPT)?;
        for _ in 0..MAX_IDS_IN_USE {
            let id = self.new_id(prefix);
            let in_folder = area::is_free(&dir, &id);
            let in_kept = kept.as_ref().map_or(Ok(true), |kept| area::is_free(kept, &id));
            if in_folder.map_err(area::unusable(WHAT))? && in_kept.map_err(area::unusable(WHAT))? {
                return Ok((dir, id));
            }
        }
        Err(area::unusable(WHAT)(io::Error::from(io::ErrorKind::AlreadyExists)))
    }

    /// A fresh slot for a file on its way.
    pub(crate) fn slot(&self) -> Result<Slot, Error> {
        let (dir, name) = self.free_id(TMP, "file")?;
        Ok(Slot { dir, folder: TMP, name })
    }

    pub(crate) fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }

    /// Checks that a promotion may write the path.
    pub(crate) fn check_promotion(&self, path: &WorkspacePath) -> Result<(), Error> {
        self.workspace.rules().check_path(path)?;
        match self.unfinished.iter().find(|unfinished| unfinished.concerns(path)) {
            Some(unfinished) => Err(unfinished.error()),
            None => Ok(()),
        }
    }

    /// Checks that an ordinary write may touch the path.
    pub(crate) fn check_write(&self, path: &WorkspacePath) -> Result<(), Error> {
        self.check_promotion(path)?;
        match self.deliveries.iter().find(|delivery| delivery.protects(path)) {
            Some(delivery) => {
                Err(Error::Protected { path: path.as_str().to_owned(), delivery: delivery.id.clone() })
            }
            None => Ok(()),
        }
    }

    /// Where a write of the path goes: where it says, or to the execution's fallback in a read-only workspace.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] where that would change what is outside the fallback.
    pub(crate) fn place(&self, path: &WorkspacePath) -> Result<Place, Error> {
        let workspace = self.workspace;
        if workspace.mode() == WorkspaceMode::ReadWrite {
            return Place::reach(workspace.dir(), Layer::Root, path);
        }
        if let Some(fallback) = workspace.fallback()? {
            let place = Place::reach(fallback, Layer::Fallback, path)?;
            if place.metadata()?.is_some() {
                return Ok(place);
            }
        }
        if Place::reach(workspace.dir(), Layer::Root, path)?.metadata()?.is_some() {
            return Err(Error::ReadOnly { path: path.as_str().to_owned() });
        }
        Place::reach(workspace.make_fallback()?, Layer::Fallback, path)
    }
}

/// A place that has the name of nothing; a folder is told apart from a file.
pub(crate) fn not_found(path: &WorkspacePath) -> Error {
    Error::NotFound { path: path.as_str().to_owned() }
}

/// What a failed step on the way to a place means for its path.
pub(crate) fn unreadable(path: &WorkspacePath) -> impl Fn(io::Error) -> Error {
    let path = path.as_str().to_owned();
    move |source| Error::Unreadable { path: path.clone(), source }
}
