//! A made-up tree, a listing in full, and the shared fixtures.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

pub(crate) mod pdf;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use briefing_core::{
    ContextDiagnostic, ContextSource, ProjectionProfile, ReadRequest, Revision, SourceDescriptor,
    SourceError, SourceRead, SourceRef,
};
use briefing_task_workspace::{
    TaskWorkspace, WorkspaceOptions, WorkspacePath, WorkspaceSource, WorkspaceSourceOptions,
};

pub(crate) struct Tree(pub(crate) tempfile::TempDir);

impl Tree {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, bytes) in files {
            tree.put(path, bytes);
        }
        tree
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn put(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn remove(&self, path: impl AsRef<Path>) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn workspace(&self) -> TaskWorkspace {
        TaskWorkspace::open(self.0.path()).unwrap()
    }

    pub(crate) fn read_write(&self) -> TaskWorkspace {
        TaskWorkspace::open_with(self.0.path(), WorkspaceOptions::read_write()).unwrap()
    }

    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.path(path)).unwrap()
    }

    /// Everything in the tree but the private area: files with their bytes, folders, links.
    pub(crate) fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        everything(self.0.path())
    }

    pub(crate) fn source_at(&self, folder: &str, options: WorkspaceSourceOptions) -> WorkspaceSource {
        TaskWorkspace::open(self.path(folder)).unwrap().source(options).unwrap()
    }

    pub(crate) fn source(&self) -> WorkspaceSource {
        self.workspace().source(WorkspaceSourceOptions::new()).unwrap()
    }
}

pub(crate) fn path(path: &str) -> WorkspacePath {
    WorkspacePath::new(path).unwrap()
}

/// Everything beneath a folder but private areas, by path.
pub(crate) fn everything(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(root).unwrap().display().to_string();
            if entry.file_name() == ".briefing" {
                continue;
            } else if kind.is_symlink() {
                found.insert(name, std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if kind.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                folders.push(path);
            } else {
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

pub(crate) struct Listing {
    pub(crate) revision: Revision,
    pub(crate) descriptors: Vec<SourceDescriptor>,
    pub(crate) diagnostics: Vec<ContextDiagnostic>,
}

impl Listing {
    pub(crate) fn keys(&self) -> Vec<&str> {
        self.descriptors.iter().map(|descriptor| descriptor.descriptor_key.as_str()).collect()
    }

    pub(crate) fn get(&self, key: &str) -> &SourceDescriptor {
        self.descriptors.iter().find(|descriptor| descriptor.descriptor_key == *key).unwrap()
    }

    /// What the diagnostics of a code say about a detail, in order.
    pub(crate) fn details(&self, code: &str, key: &str) -> Vec<String> {
        let of_code = self.diagnostics.iter().filter(|diagnostic| diagnostic.code == code);
        of_code.filter_map(|diagnostic| Some(diagnostic.details.get(key)?.as_str()?.to_owned())).collect()
    }

    pub(crate) fn by_key(&self) -> BTreeMap<String, SourceDescriptor> {
        self.descriptors
            .iter()
            .map(|found| (found.descriptor_key.as_str().to_owned(), found.clone()))
            .collect()
    }
}

/// Walks anew and lists everything, `limit` descriptors a page.
pub(crate) async fn list(source: &WorkspaceSource, limit: usize) -> Listing {
    source.revision().await.unwrap();
    list_again(source, limit).await
}

/// Lists the latest walk.
pub(crate) async fn list_again(source: &WorkspaceSource, limit: usize) -> Listing {
    let (mut descriptors, mut diagnostics, mut cursor) = (Vec::new(), Vec::new(), None);
    loop {
        let profile = ProjectionProfile::standard();
        let page = source.enumerate_descriptors(&profile, cursor.as_ref(), limit).await.unwrap();
        let revision = page.source_revision().clone();
        let (found, notes, next) = page.into_parts();
        assert!(found.len() <= limit);
        descriptors.extend(found);
        diagnostics.extend(notes);
        match next {
            Some(next) => cursor = Some(next),
            None => return Listing { revision, descriptors, diagnostics },
        }
    }
}

pub(crate) async fn read(source: &WorkspaceSource, source_ref: &str) -> Result<SourceRead, SourceError> {
    source.read_exact(&SourceRef::new(source_ref).unwrap(), &ReadRequest::whole(100_000_000)).await
}

pub(crate) async fn text(source: &WorkspaceSource, source_ref: &str) -> String {
    let read = read(source, source_ref).await.unwrap_or_else(|error| panic!("{source_ref}: {error}"));
    read.content.to_text().unwrap().into_owned()
}

/// A file or folder of the shared fixtures, or `None` with a line that says so.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("BRIEFING_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = shared.join("fixtures").join(name);
    let found = path.exists().then_some(path);
    if found.is_none() {
        println!("SKIPPED: no shared fixture {name}");
    }
    found
}

/// The awkward tree that the shared script makes: its root is `root` beneath the folder.
pub(crate) fn awkward_tree() -> Option<tempfile::TempDir> {
    let script = shared("make_fixtures.py")?;
    let folder = tempfile::tempdir().unwrap();
    let made =
        std::process::Command::new("python3").arg("-B").arg(script).arg("--tree").arg(folder.path()).output();
    match made {
        Ok(output) if output.status.success() => Some(folder),
        other => {
            println!("SKIPPED: the awkward tree cannot be made: {other:?}");
            None
        }
    }
}
