//! Deliveries: targets that only promotions write as long as the delivery is open.

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::area::{self, Area, DELIVERIES, unusable};
use crate::error::Error;
use crate::options::names_a_file;
use crate::{TaskWorkspace, WorkspacePath};

/// The schema of an open delivery.
const SCHEMA: &str = "briefing.delivery/1";

/// An open delivery. It lies in the private area: every handle and every process that opens the workspace keeps off its
/// targets until it is closed, also after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delivery {
    /// Names the form of this value.
    pub schema: String,
    /// Its id.
    pub id: String,
    /// What it protects: files, or folders with everything in them.
    pub targets: Vec<WorkspacePath>,
    /// When it was opened, in milliseconds since 1970.
    pub opened_unix_millis: u64,
}

impl Delivery {
    /// Whether a write of `path` would change a target: the path is one, lies in one, or is a folder on the way to one
    /// (which a write would turn into a file, and a move would take away).
    #[must_use]
    pub fn protects(&self, path: &WorkspacePath) -> bool {
        self.targets.iter().any(|target| target.is_at_or_in(path) || path.is_at_or_in(target))
    }
}

impl TaskWorkspace {
    /// Opens a delivery: ordinary writes, moves and removals of its targets are refused until it is closed.
    ///
    /// # Errors
    /// [`Error::Denied`] for a target that the policy forbids, [`Error::PrivateAreaUnusable`].
    pub fn open_delivery(&self, targets: &[WorkspacePath]) -> Result<Delivery, Error> {
        targets.iter().try_for_each(|target| self.rules().check_path(target))?;
        let hold = self.hold()?;
        let (dir, id) = hold.free_id(DELIVERIES, "delivery")?;
        self.keep_delivery(&dir, id, targets)
    }

    /// Opens a delivery under an id of the caller's choice: where it is open already it gets these targets, so that a caller
    /// who was interrupted can open it again.
    ///
    /// # Errors
    /// [`Error::InvalidId`], and as [`open_delivery`](Self::open_delivery).
    pub fn open_delivery_as(&self, id: &str, targets: &[WorkspacePath]) -> Result<Delivery, Error> {
        let id = names_a_file("delivery", id.to_owned())?;
        targets.iter().try_for_each(|target| self.rules().check_path(target))?;
        let hold = self.hold()?;
        let dir = hold.area.make_folder(DELIVERIES)?;
        self.keep_delivery(&dir, id, targets)
    }

    fn keep_delivery(&self, dir: &Dir, id: String, targets: &[WorkspacePath]) -> Result<Delivery, Error> {
        let name = format!("{id}.json");
        let delivery = Delivery {
            schema: SCHEMA.to_owned(),
            id,
            targets: targets.to_vec(),
            opened_unix_millis: self.environment().now_unix_millis(),
        };
        area::write_facts(dir, &name, &delivery).map_err(unusable("writing a delivery"))?;
        Ok(delivery)
    }

    /// Closes a delivery: its targets are files like all others again.
    ///
    /// # Errors
    /// [`Error::UnknownDelivery`], [`Error::PrivateAreaUnusable`].
    pub fn close_delivery(&self, id: &str) -> Result<(), Error> {
        let hold = self.hold()?;
        let unknown = || Error::UnknownDelivery { id: id.to_owned() };
        let name = names_a_file("delivery", format!("{id}.json")).map_err(|_| unknown())?;
        let dir = hold.area.folder(DELIVERIES)?.ok_or_else(unknown)?;
        if !hold.deliveries().iter().any(|delivery| delivery.id == id) {
            return Err(unknown());
        }
        let closed = area::remove(&dir, &name).and_then(|()| area::sync(&dir));
        closed.map_err(unusable("closing a delivery"))
    }

    /// The open deliveries, oldest first.
    ///
    /// # Errors
    /// [`Error::PrivateAreaUnusable`], [`Error::PrivateFile`].
    pub fn deliveries(&self) -> Result<Vec<Delivery>, Error> {
        Area::find(self.dir())?.map_or_else(|| Ok(Vec::new()), |area| open_ones(&area))
    }
}

/// The open deliveries, by time and id.
pub(crate) fn open_ones(area: &Area) -> Result<Vec<Delivery>, Error> {
    let Some(dir) = area.folder(DELIVERIES)? else { return Ok(Vec::new()) };
    let mut found: Vec<Delivery> = Vec::new();
    for name in area::names(&dir)? {
        if name.ends_with(".json") {
            found.extend(area::read_facts(&dir, &name)?);
        }
    }
    found.sort_by(|one, other| (one.opened_unix_millis, &one.id).cmp(&(other.opened_unix_millis, &other.id)));
    Ok(found)
}
