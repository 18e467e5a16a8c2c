//! A library with skills in it, and a listing of a source in full.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use briefing_core::{
    ContextDiagnostic, ContextSource, ProjectionProfile, ReadRequest, SourceDescriptor, SourceError,
    SourceRead, SourceRef,
};
use briefing_skill_library::{
    InstallOptions, SkillBinding, SkillLibrary, SkillRevisionRef, SkillSource, SkillSourceOptions,
};

/// A folder with a library at `skills`, and room for other files.
pub(crate) struct Home(pub(crate) tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn library(&self) -> SkillLibrary {
        SkillLibrary::open(self.path("skills")).unwrap()
    }

    /// Where a file of a revision lies.
    pub(crate) fn kept(&self, revision: &SkillRevisionRef, path: &str) -> PathBuf {
        let hex = revision.digest().to_string().replace("blake3:", "");
        self.path("skills/revisions").join(revision.name().as_str()).join(hex).join("files").join(path)
    }

    /// Every file beneath the library, by path.
    pub(crate) fn files(&self) -> Vec<String> {
        let (mut found, mut folders) = (Vec::new(), vec![self.path("skills")]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(self.path("skills")).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        found
    }
}

/// A `SKILL.md` with a body.
pub(crate) fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: How to check the {name}. Use it for checks.\n---\n\n{body}")
}

pub(crate) const PUMP: &str = "Read this first.\n\n# Safety\n\nNever open the valve under pressure.\n\n```sh\n# no heading\n```\n\nWeekly\n------\n\nCheck the seal.\n";

/// The files of a skill with a bit of everything.
pub(crate) fn pump_files() -> Vec<(String, Vec<u8>)> {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    let reference = "---\ntags: seal\n---\n# Seal\n\nReplace the seal every year. \u{6c34}\u{6cf5}\n\n# Bearing\n\nGrease it.\n";
    [
        ("SKILL.md", skill("pump", PUMP).into_bytes()),
        ("references/seal.md", reference.into()),
        ("examples/report.txt", b"The pump was checked on Monday.\n".to_vec()),
        ("assets/pump.png", png.to_vec()),
        ("scripts/check.py", b"print('checked')\n".to_vec()),
        ("LICENSE", b"MIT\n".to_vec()),
        (".env", b"SECRET=1\n".to_vec()),
    ]
    .map(|(path, bytes)| (path.to_owned(), bytes))
    .to_vec()
}

pub(crate) fn install_pump(library: &SkillLibrary) -> SkillRevisionRef {
    library.install_files(pump_files(), InstallOptions::trusted()).unwrap().revision.revision_ref
}

pub(crate) fn install(library: &SkillLibrary, name: &str, body: &str) -> SkillRevisionRef {
    let files = [("SKILL.md", skill(name, body))];
    library.install_files(files, InstallOptions::trusted()).unwrap().revision.revision_ref
}

pub(crate) fn required(library: &SkillLibrary, revision: &SkillRevisionRef) -> SkillSource {
    let options = SkillSourceOptions::new().bind(SkillBinding::required(revision.clone()));
    library.source(options).unwrap()
}

/// Lists a source in pages of 3.
pub(crate) async fn list(source: &SkillSource) -> (Vec<SourceDescriptor>, Vec<ContextDiagnostic>) {
    let (mut descriptors, mut diagnostics, mut cursor) = (Vec::new(), Vec::new(), None);
    source.revision().await.unwrap();
    loop {
        let profile = ProjectionProfile::standard();
        let page = source.enumerate_descriptors(&profile, cursor.as_ref(), 3).await.unwrap();
        let (found, notes, next) = page.into_parts();
        descriptors.extend(found);
        diagnostics.extend(notes);
        match next {
            Some(next) => cursor = Some(next),
            None => return (descriptors, diagnostics),
        }
    }
}

pub(crate) fn source_ref(revision: &SkillRevisionRef, path: &str) -> SourceRef {
    SourceRef::new(format!("{revision}/{path}")).unwrap()
}

pub(crate) async fn read(
    source: &SkillSource,
    revision: &SkillRevisionRef,
    path: &str,
) -> Result<SourceRead, SourceError> {
    source.read_exact(&source_ref(revision, path), &ReadRequest::whole(100_000_000)).await
}

/// Starts the ignored test `name` of this very program in a process of its own, with `arguments` in `SKILLS_CHILD`.
pub(crate) fn child(name: &str, arguments: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"])
        .env("SKILLS_CHILD", arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a child was given; `None` in a process that is none.
pub(crate) fn child_arguments() -> Option<Vec<String>> {
    let arguments = std::env::var("SKILLS_CHILD").ok()?;
    Some(arguments.split('|').map(str::to_owned).collect())
}

/// Tells whoever watches the test, or the parent of a child.
pub(crate) fn say(text: &str) {
    println!("{text}");
}
