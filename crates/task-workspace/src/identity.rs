//! Who a file is: the workspace's random id, a locator for each file, and the content version.
//!
//! The id lies in the private area, so that a folder that is moved or copied keeps it. A locator is made from the id and
//! the path; a file that the workspace moves takes its locator along, and whatever comes to the old path gets a new one.
//! Only moves have to be kept for that. The content version is the digest of the bytes.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};

use briefing_core::media::MediaKind;
use briefing_core::{Digest, Fingerprint};
use cap_std::fs::OpenOptions;
use serde::{Deserialize, Serialize};

use crate::area::{self, Area, unusable};
use crate::error::Error;
use crate::hold::Hold;
use crate::target::TargetState;
use crate::{ExecutionId, TaskWorkspace, WorkspaceMode, WorkspacePath, beneath};

/// The schema of the workspace's identity.
const SCHEMA: &str = "briefing.workspace/1";
const IDENTITY_FILE: &str = "identity.json";
const MOVES_FILE: &str = "moves.jsonl";

#[derive(Debug, Serialize, Deserialize)]
struct Identity {
    schema: String,
    workspace_id: String,
}

/// One move, as the private area keeps it.
#[derive(Debug, Serialize, Deserialize)]
struct Move {
    from: WorkspacePath,
    to: WorkspacePath,
    /// The execution whose fallback it was made in: for all others nothing moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    execution: Option<ExecutionId>,
}

/// A file of a workspace in one state: what a citation or an artefact stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FileRef {
    /// The workspace, by its random id.
    pub workspace_id: String,
    /// The file, whatever it holds and wherever the workspace moves it.
    pub locator: String,
    /// Where it was when the ref was made.
    pub path: WorkspacePath,
    /// What it held: its content version.
    pub digest: Digest,
    /// How many bytes that was.
    pub size_bytes: u64,
    /// What kind of content that was.
    pub content_kind: MediaKind,
}

impl TaskWorkspace {
    /// The workspace's id: random, made the first time it is asked for, and kept in the private area.
    ///
    /// # Errors
    /// [`Error::PrivateAreaUnusable`] where it can be neither read nor made.
    pub fn workspace_id(&self) -> Result<String, Error> {
        if let Some(area) = Area::find(self.dir())?
            && let Some(known) = read_identity(&area)?
        {
            return Ok(known);
        }
        let hold = self.hold()?;
        // Somebody may have made it while this one waited for its turn.
        match read_identity(&hold.area)? {
            Some(known) => Ok(known),
            None => write_identity(&hold),
        }
    }

    /// Gives the workspace a new id, for a copy that is to be told apart from its original. Refs of the old id are foreign
    /// from now on.
    ///
    /// # Errors
    /// [`Error::PrivateAreaUnusable`].
    pub fn reidentify(&self) -> Result<String, Error> {
        write_identity(&self.hold()?)
    }

    /// The locator of a path: the same as long as the workspace knows the file, whatever it holds.
    ///
    /// # Errors
    /// [`Error::PrivateAreaUnusable`], [`Error::PrivateFile`].
    pub fn locator(&self, path: &WorkspacePath) -> Result<String, Error> {
        let id = self.workspace_id()?;
        Ok(self.known_moves()?.locator(&id, path.as_str()))
    }

    /// The ref of a file as it is now.
    ///
    /// # Errors
    /// As [`inspect`](Self::inspect) and [`locator`](Self::locator).
    pub fn file_ref(&self, path: &WorkspacePath) -> Result<FileRef, Error> {
        let info = self.inspect(path)?;
        let workspace_id = self.workspace_id()?;
        let locator = self.known_moves()?.locator(&workspace_id, path.as_str());
        Ok(FileRef {
            workspace_id,
            locator,
            path: path.clone(),
            digest: info.digest,
            size_bytes: info.size_bytes,
            content_kind: info.kind,
        })
    }

    /// Where the file of a ref is now, provided that it holds what the ref says.
    ///
    /// # Errors
    /// [`Error::ForeignRef`] for the ref of another workspace, [`Error::StaleRef`] for a file that has another content
    /// now or is gone, and as [`inspect`](Self::inspect).
    pub fn resolve(&self, file: &FileRef) -> Result<WorkspacePath, Error> {
        let expected = self.workspace_id()?;
        if file.workspace_id != expected {
            let (path, found) = (file.path.as_str().to_owned(), file.workspace_id.clone());
            return Err(Error::ForeignRef { path, expected, found });
        }
        let moves = self.known_moves()?;
        let stale = |path: &WorkspacePath, found| {
            let expected = TargetState::Present(file.digest);
            Error::StaleRef { path: path.as_str().to_owned(), expected, found }
        };
        let path = moves.path_of(&expected, &file.locator, &file.path);
        let path = path.ok_or_else(|| stale(&file.path, TargetState::Absent))?;
        match self.digest(&path) {
            Ok(digest) if digest == file.digest => Ok(path),
            Ok(digest) => Err(stale(&path, digest.into())),
            Err(Error::NotFound { .. }) => Err(stale(&path, TargetState::Absent)),
            Err(error) => Err(error),
        }
    }

    /// The execution whose fallback this handle writes to and reads from.
    fn fallback_of(&self) -> Option<&ExecutionId> {
        (self.mode() == WorkspaceMode::ReadOnly).then(|| self.execution_id())
    }

    fn known_moves(&self) -> Result<Moves, Error> {
        Area::find(self.dir())?
            .map_or_else(|| Ok(Moves::default()), |area| Moves::read(&area, self.fallback_of()))
    }
}

/// The moves that were made, in order.
#[derive(Debug, Default)]
struct Moves(Vec<Move>);

impl Moves {
    /// Those that a reader of the fallback sees, or of the root alone.
    fn read(area: &Area, fallback: Option<&ExecutionId>) -> Result<Self, Error> {
        let mut moves = Self::default();
        let file = match beneath::open_name(area.dir(), MOVES_FILE.as_ref()) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(moves),
            Err(source) => return Err(unusable("reading the moves")(source)),
        };
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(unusable("reading the moves"))?;
            // A line that a crash cut short was never acknowledged.
            let made = serde_json::from_slice::<Move>(&line).ok();
            moves
                .0
                .extend(made.filter(|made| made.execution.is_none() || made.execution.as_ref() == fallback));
        }
        Ok(moves)
    }

    /// Where the file at a path was first, and after how many moves it came to be there.
    fn origin(&self, path: &str) -> (String, usize) {
        let mut path = path.to_owned();
        for (at, made) in self.0.iter().enumerate().rev() {
            if let Some(rest) = within(&path, &made.to) {
                path = format!("{}{rest}", made.from);
            } else if within(&path, &made.from).is_some() {
                // What was there went away, so this file came later.
                return (path, at + 1);
            }
        }
        (path, 0)
    }

    /// Where a file is now that was at `path` after so many moves.
    fn follow(&self, path: &str, after: usize) -> String {
        self.0.iter().skip(after).fold(path.to_owned(), |path, made| match within(&path, &made.from) {
            Some(rest) => format!("{}{rest}", made.to),
            None => path,
        })
    }

    fn locator(&self, workspace_id: &str, path: &str) -> String {
        let (origin, born) = self.origin(path);
        locator_of(workspace_id, &origin, born as u64)
    }

    /// Where the file of a locator is now that was at `path` at some time.
    fn path_of(&self, workspace_id: &str, locator: &str, path: &WorkspacePath) -> Option<WorkspacePath> {
        let times = (0..=self.0.len()).rev();
        let mut asked = HashSet::new();
        times.map(|after| self.follow(path.as_str(), after)).find_map(|now| {
            let is_it = asked.insert(now.clone()) && self.locator(workspace_id, &now) == locator;
            is_it.then(|| WorkspacePath::new(now).ok()).flatten()
        })
    }
}

/// What follows `folder` in `path`: nothing, or `/` and the rest; `None` where the path is elsewhere.
fn within<'a>(path: &'a str, folder: &WorkspacePath) -> Option<&'a str> {
    path.strip_prefix(folder.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn locator_of(workspace_id: &str, origin: &str, count: u64) -> String {
    let mut print = Fingerprint::new("briefing.locator/1");
    print.text(workspace_id).text(origin).number(count);
    format!("loc_{}", print.finish().short())
}

fn read_identity(area: &Area) -> Result<Option<String>, Error> {
    let identity: Option<Identity> = area::read_facts(area.dir(), IDENTITY_FILE)?;
    match identity {
        Some(identity) if identity.schema != SCHEMA => {
            let reason = format!("its schema is {}, not {SCHEMA}", identity.schema);
            Err(Error::PrivateFile { file: IDENTITY_FILE.to_owned(), reason })
        }
        identity => Ok(identity.map(|identity| identity.workspace_id)),
    }
}

fn write_identity(hold: &Hold<'_>) -> Result<String, Error> {
    let known = read_identity(&hold.area).ok().flatten();
    let mut workspace_id = hold.new_id("workspace");
    if Some(&workspace_id) == known.as_ref() {
        // An environment that counts begins anew in each process.
        workspace_id = hold.new_id("workspace");
    }
    let identity = Identity { schema: SCHEMA.to_owned(), workspace_id };
    area::write_facts(hold.area.dir(), IDENTITY_FILE, &identity)
        .map_err(unusable("writing the workspace's identity"))?;
    Ok(identity.workspace_id)
}

/// Keeps that a file or a folder was moved.
pub(crate) fn note_move(hold: &Hold<'_>, from: &WorkspacePath, to: &WorkspacePath) -> Result<(), Error> {
    let noted = (|| {
        let mut line = serde_json::to_vec(&Move {
            from: from.clone(),
            to: to.clone(),
            execution: hold.workspace.fallback_of().cloned(),
        })?;
        line.push(b'\n');
        // A line that a crash cut short must not swallow this one.
        line.insert(0, b'\n');
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        let mut file = area::open_own(hold.area.dir(), MOVES_FILE, &mut options)?;
        file.write_all(&line)?;
        file.sync_all()?;
        area::sync(hold.area.dir())
    })();
    noted.map_err(unusable("noting a move"))
}
