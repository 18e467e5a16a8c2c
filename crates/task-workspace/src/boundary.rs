//! The boundary: one handle on the root, and everything beneath it opened from there.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use briefing_core::Environment;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::area::{self, unusable};
use crate::error::Error;
use crate::handler::Handlers;
use crate::options::{ExecutionId, WorkspaceMode, WorkspaceOptions};
use crate::path::PRIVATE_FOLDER;
use crate::place::Layer;
use crate::policy::{Rules, WritePolicy};
use crate::read::{self, FileIdentity, FileRead};
use crate::recover::RecoveredUnit;
use crate::source::{WorkspaceSource, WorkspaceSourceOptions};
use crate::steps::Steps;
use crate::walk::FoundFile;
use crate::{WorkspacePath, beneath, name};

/// The folder of a task. Cheap to clone; clones share the handle.
///
/// Its methods block. In an async program call them through [`run`](Self::run).
#[derive(Debug, Clone)]
pub struct TaskWorkspace(Arc<Boundary>);

#[derive(Debug)]
struct Boundary {
    dir: Dir,
    /// The root as it was given, made absolute.
    given: PathBuf,
    /// The root with its own links resolved: what is walked.
    root: PathBuf,
    mode: WorkspaceMode,
    execution: ExecutionId,
    environment: Arc<dyn Environment>,
    max_wait: Duration,
    /// Shared by all views of one opening, so that they share its quota.
    rules: Arc<Rules>,
    steps: Steps,
    /// The execution's fallback, once it is there.
    fallback: OnceLock<Dir>,
    /// One writer of this process at a time; the lock in the private area keeps other processes out.
    writing: Mutex<()>,
    handlers: Arc<RwLock<Handlers>>,
    swept: AtomicBool,
    recovered: Mutex<Vec<RecoveredUnit>>,
}

/// A file that is open for reading.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) file: File,
    pub(crate) identity: FileIdentity,
    pub(crate) layer: Layer,
}

impl TaskWorkspace {
    /// Opens the folder read-only. The root itself may be reached through links; beneath it no link leads out. Nothing is
    /// made or changed.
    ///
    /// # Errors
    /// [`Error::Root`] where it does not exist, is no folder, or cannot be opened.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(root, WorkspaceOptions::default())
    }

    /// Opens the folder. In a read-write workspace, what an earlier writer left unfinished is brought to an end.
    ///
    /// # Errors
    /// [`Error::Root`] where it does not exist, is no folder, or cannot be opened; [`Error::Glob`] for a policy that
    /// cannot be parsed; [`Error::Busy`], [`Error::PrivateAreaUnusable`] and [`Error::PrivateFile`].
    pub fn open_with(root: impl AsRef<Path>, options: WorkspaceOptions) -> Result<Self, Error> {
        let unusable = |source| Error::Root { source };
        let given = std::path::absolute(root.as_ref()).map_err(unusable)?;
        let root = std::fs::canonicalize(&given).map_err(unusable)?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority()).map_err(unusable)?;
        let execution = match options.execution {
            Some(execution) => execution,
            None => ExecutionId::new(options.environment.new_id("task"))?,
        };
        let workspace = Self(Arc::new(Boundary {
            dir,
            given,
            root,
            mode: options.mode,
            execution,
            environment: options.environment,
            max_wait: options.max_wait,
            rules: Arc::new(Rules::of(&options.policy)?),
            steps: options.steps,
            fallback: OnceLock::new(),
            writing: Mutex::new(()),
            handlers: Arc::default(),
            swept: AtomicBool::new(false),
            recovered: Mutex::default(),
        }));
        if options.mode == WorkspaceMode::ReadWrite && area::Area::find(workspace.dir())?.is_some() {
            workspace.hold()?;
        }
        Ok(workspace)
    }

    /// The same workspace for another execution: the same root, mode, policy (one quota for both) and handlers, but a
    /// fallback of its own. In a read-only workspace neither sees what the other wrote.
    ///
    /// ```
    /// use briefing_task_workspace::{ExecutionId, TargetState, TaskWorkspace, WorkspacePath};
    /// # let folder = tempfile::tempdir()?;
    /// let workspace = TaskWorkspace::open(folder.path())?;
    /// let (one, other) = (ExecutionId::new("one")?, ExecutionId::new("other")?);
    /// let (one, other) = (workspace.for_execution(one)?, workspace.for_execution(other)?);
    /// let notes = WorkspacePath::new("notes.md")?;
    /// one.write(&notes, "mine", TargetState::Absent)?;
    /// assert_eq!(other.read(&notes, 100).unwrap_err().code(), "workspace.not_found");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Root`] where the system gives no second handle on the root.
    pub fn for_execution(&self, execution: ExecutionId) -> Result<Self, Error> {
        let dir = self.0.dir.try_clone().map_err(|source| Error::Root { source })?;
        Ok(Self(Arc::new(Boundary {
            dir,
            given: self.0.given.clone(),
            root: self.0.root.clone(),
            mode: self.0.mode,
            execution,
            environment: Arc::clone(&self.0.environment),
            max_wait: self.0.max_wait,
            rules: Arc::clone(&self.0.rules),
            steps: self.0.steps.clone(),
            fallback: OnceLock::new(),
            writing: Mutex::new(()),
            handlers: Arc::clone(&self.0.handlers),
            swept: AtomicBool::new(false),
            recovered: Mutex::default(),
        })))
    }

    /// What may be written.
    #[must_use]
    pub fn policy(&self) -> &WritePolicy {
        self.rules().policy()
    }

    /// The root, its own links resolved.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.0.root
    }

    /// Whether existing files may be changed.
    #[must_use]
    pub fn mode(&self) -> WorkspaceMode {
        self.0.mode
    }

    /// The execution whose new files a read-only workspace keeps apart.
    #[must_use]
    pub fn execution_id(&self) -> &ExecutionId {
        &self.0.execution
    }

    /// Does some work on a thread that may block. The work goes on where the answer is no longer waited for.
    ///
    /// ```
    /// # use briefing_task_workspace::{TaskWorkspace, WorkspacePath};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # std::fs::write(folder.path().join("pump.md"), "weekly")?;
    /// let workspace = TaskWorkspace::open(folder.path())?;
    /// let path = WorkspacePath::new("pump.md")?;
    /// let read = workspace.run(move |workspace| workspace.read(&path, 100)).await?;
    /// assert_eq!(read.bytes, b"weekly");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Those of the work; [`Error::CutShort`] where the runtime shuts down or the work panics.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let workspace = self.clone();
        tokio::task::spawn_blocking(move || work(&workspace)).await.map_err(|_| Error::CutShort)?
    }

    /// The path in the workspace that `path` means: a relative path is relative to the root, an absolute one must be
    /// beneath it, in either spelling where the root was given through a link. Whole components are compared, and no file
    /// is touched.
    ///
    /// # Errors
    /// [`Error::OutsideBoundary`] for a path elsewhere, and as [`WorkspacePath::new`].
    pub fn workspace_path(&self, path: impl AsRef<Path>) -> Result<WorkspacePath, Error> {
        let path = path.as_ref();
        let relative = match path.is_absolute() {
            true => name::relative_to(path, &self.0.given)
                .or_else(|| name::relative_to(path, &self.0.root))
                .ok_or_else(|| Error::OutsideBoundary { path: path.display().to_string() })?,
            false => path.to_path_buf(),
        };
        match relative.to_str() {
            Some(text) => WorkspacePath::new(text),
            None => Err(Error::InvalidPath { path: name::shown(&relative), reason: "it is not UTF-8" }),
        }
    }

    /// Reads a file, at most `max_bytes` of it. Links are followed where they stay inside; in a read-only workspace the
    /// execution's fallback is looked at first.
    ///
    /// # Errors
    /// [`Error::OutsideBoundary`] and [`Error::PrivateArea`] before a byte is read; [`Error::NotFound`];
    /// [`Error::NotRegularFile`] at once for a FIFO, socket, device or folder; [`Error::Changed`] where the file
    /// moved during the read; [`Error::Unreadable`] for the rest.
    pub fn read(&self, path: &WorkspacePath, max_bytes: u64) -> Result<FileRead, Error> {
        self.read_from(path, 0, max_bytes)
    }

    /// Reads at most `max_bytes` of a file, from the byte at `offset` on; past the end there is nothing.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_from(&self, path: &WorkspacePath, offset: u64, max_bytes: u64) -> Result<FileRead, Error> {
        let open = self.open_file(path)?;
        read::read_window(open.file, open.identity, path.as_str(), offset, max_bytes)
    }

    /// Offers the files as a source of context.
    ///
    /// # Errors
    /// [`Error::IgnoreGlob`] for a glob that cannot be parsed, [`Error::Value`] for a blank source id.
    pub fn source(&self, options: WorkspaceSourceOptions) -> Result<WorkspaceSource, Error> {
        WorkspaceSource::new(self.clone(), options)
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.0.dir
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.0.rules
    }

    pub(crate) fn steps(&self) -> &Steps {
        &self.0.steps
    }

    pub(crate) fn environment(&self) -> &dyn Environment {
        &*self.0.environment
    }

    pub(crate) fn max_wait(&self) -> Duration {
        self.0.max_wait
    }

    pub(crate) fn writing(&self) -> &Mutex<()> {
        &self.0.writing
    }

    pub(crate) fn handlers(&self) -> &RwLock<Handlers> {
        &self.0.handlers
    }

    pub(crate) fn recovered_units(&self) -> &Mutex<Vec<RecoveredUnit>> {
        &self.0.recovered
    }

    pub(crate) fn was_swept(&self) -> bool {
        self.0.swept.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_swept(&self) {
        self.0.swept.store(true, Ordering::Relaxed);
    }

    /// Opens a regular file for reading: from the fallback where it is there, else from the root.
    pub(crate) fn open_file(&self, path: &WorkspacePath) -> Result<OpenFile, Error> {
        if let Some(fallback) = self.fallback()? {
            match beneath::open_file(fallback, path.as_ref()) {
                Ok(file) => return OpenFile::of(file, Layer::Fallback, path.as_str()),
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => return Err(read::refusal(error, path.as_str(), || None)),
            }
        }
        let file = read::open_following(self.dir(), path.as_ref(), path.as_str())?;
        OpenFile::of(file, Layer::Root, path.as_str())
    }

    /// Opens a file as a walk found it; refused where it is in another state, or behind a link by now.
    pub(crate) fn open_found(&self, found: &FoundFile) -> Result<File, Error> {
        let shown = found.name.shown();
        let changed = || Error::Changed { path: shown.to_string() };
        let dir = match found.layer {
            Layer::Root => self.dir(),
            Layer::Fallback => self.fallback()?.ok_or_else(changed)?,
        };
        let (file, identity) = read::open(dir, found.name.real(), shown)?;
        if identity == found.identity { Ok(file) } else { Err(changed()) }
    }

    /// Reads at most `max_bytes` of a file as a walk found it, from `offset` on.
    pub(crate) fn read_found(
        &self,
        found: &FoundFile,
        offset: u64,
        max_bytes: u64,
    ) -> Result<FileRead, Error> {
        read::read_window(self.open_found(found)?, found.identity, found.name.shown(), offset, max_bytes)
    }

    /// The execution's fallback, where the workspace has one and something was written to it.
    pub(crate) fn fallback(&self) -> Result<Option<&Dir>, Error> {
        if self.0.mode == WorkspaceMode::ReadWrite {
            return Ok(None);
        }
        if let Some(known) = self.0.fallback.get() {
            return Ok(Some(known));
        }
        match self.open_fallback(&self.0.execution, false) {
            Ok(dir) => Ok(Some(self.0.fallback.get_or_init(|| dir))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unusable("opening the fallback")(source)),
        }
    }

    /// The execution's fallback, made where it is not there.
    pub(crate) fn make_fallback(&self) -> Result<&Dir, Error> {
        if let Some(known) = self.0.fallback.get() {
            return Ok(known);
        }
        let made = self.open_fallback(&self.0.execution, true).map_err(unusable("making the fallback"))?;
        Ok(self.0.fallback.get_or_init(|| made))
    }

    pub(crate) fn open_fallback(&self, execution: &ExecutionId, make: bool) -> io::Result<Dir> {
        let names = [PRIVATE_FOLDER, "files", execution.as_str()];
        names.into_iter().try_fold(self.dir().try_clone()?, |dir, name| match make {
            true => area::make_folder(&dir, name, false),
            false => beneath::enter(&dir, OsStr::new(name)),
        })
    }

    /// Where the execution's fallback is, for a walk.
    pub(crate) fn fallback_path(&self) -> PathBuf {
        self.root().join(PRIVATE_FOLDER).join("files").join(self.0.execution.as_str())
    }

    /// What of an absolute path without links lies in the root, whatever the root is called by now.
    pub(crate) fn part_inside(&self, path: &Path) -> Option<PathBuf> {
        let held = self.0.dir.try_clone().and_then(|dir| dir.into_std_file().metadata());
        let held = held.ok().map(|metadata| FileIdentity::of(&metadata));
        let is_root = |folder: &Path| {
            let found = std::fs::metadata(folder).ok().map(|metadata| FileIdentity::of(&metadata));
            let is_held = |(held, found): (FileIdentity, FileIdentity)| {
                held.inode != 0 && (held.inode, held.device) == (found.inode, found.device)
            };
            folder == self.root() || held.zip(found).is_some_and(is_held)
        };
        let root = path.ancestors().find(|ancestor| is_root(ancestor))?;
        path.strip_prefix(root).ok().map(Path::to_path_buf)
    }

    /// Checks that the root's path still leads to the folder that was opened: a walk goes by path, reads by handle.
    pub(crate) fn check_root(&self) -> Result<(), Error> {
        let unusable = |source| Error::Root { source };
        let walked = FileIdentity::of(&std::fs::metadata(&self.0.root).map_err(unusable)?);
        let held = self.0.dir.try_clone().and_then(|dir| dir.into_std_file().metadata()).map_err(unusable)?;
        let held = FileIdentity::of(&held);
        if (walked.inode, walked.device) == (held.inode, held.device) {
            return Ok(());
        }
        Err(unusable(std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "another folder took the root's place",
        )))
    }
}

impl OpenFile {
    fn of(file: File, layer: Layer, shown: &str) -> Result<Self, Error> {
        let identity = read::regular(&file, shown)?;
        Ok(Self { file, identity, layer })
    }
}
