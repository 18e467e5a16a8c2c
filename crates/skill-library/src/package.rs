//! A package: the files of a skill in memory, checked as a whole before any of them is kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use briefing_core::Digest;

use crate::manifest::{Manifest, SkillFile};
use crate::{Error, FrontMatter, PackageLimits, SkillRevisionRef};

/// The file that makes a folder a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// What follows the path of a file in the ref of one of its sections; no path may hold it.
pub(crate) const SECTION_MARK: &str = "#section-";

/// The longest path and the longest name within it, in bytes; the latter is what common file systems hold.
const MAX_PATH_BYTES: usize = 1_024;
const MAX_NAME_BYTES: usize = 255;

/// How many names a path may have.
pub(crate) const MAX_DEPTH: usize = 32;

/// The checked files of a skill.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) revision_ref: SkillRevisionRef,
    pub(crate) manifest: Manifest,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

/// Takes files one by one, under the limits.
#[derive(Debug)]
pub(crate) struct Collector {
    limits: PackageLimits,
    files: BTreeMap<String, Vec<u8>>,
    entries: usize,
    bytes: u64,
}

impl Collector {
    pub(crate) fn new(limits: PackageLimits) -> Self {
        Self { limits, files: BTreeMap::new(), entries: 0, bytes: 0 }
    }

    /// Counts a file or folder that was met.
    pub(crate) fn meet_entry(&mut self) -> Result<(), Error> {
        self.entries += 1;
        within("the skill: files and folders", self.entries as u64, self.limits.max_entries as u64)
    }

    /// How many bytes the file at `path` may have.
    pub(crate) fn file_limit(&self, path: &str) -> u64 {
        match path {
            SKILL_FILE => self.limits.max_skill_file_bytes.min(self.limits.max_file_bytes),
            _ => self.limits.max_file_bytes,
        }
    }

    /// Takes a file.
    pub(crate) fn take(&mut self, path: String, bytes: Vec<u8>) -> Result<(), Error> {
        check_path(&path)?;
        within(&format!("{path:?}: bytes"), bytes.len() as u64, self.file_limit(&path))?;
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        within("the skill: bytes in all files", self.bytes, self.limits.max_total_bytes)?;
        match self.files.entry(path) {
            Entry::Occupied(twice) => Err(Error::Collision {
                path: twice.key().clone(),
                other: twice.key().clone(),
                reason: "the same path comes twice",
            }),
            Entry::Vacant(place) => {
                place.insert(bytes);
                Ok(())
            }
        }
    }

    /// Checks the files as a whole.
    pub(crate) fn finish(self, place: &str) -> Result<Package, Error> {
        check_collisions(&self.files)?;
        let Some(skill_file) = self.files.get(SKILL_FILE) else {
            return Err(Error::NoSkillFile { place: place.to_owned() });
        };
        let (front_matter, _) = FrontMatter::of(skill_text(skill_file)?)?;
        let files = self.files.iter().map(|(path, bytes)| SkillFile {
            path: path.clone(),
            bytes: bytes.len() as u64,
            digest: Digest::of(bytes),
        });
        let manifest = Manifest::new(files.collect());
        let revision_ref = SkillRevisionRef::new(front_matter.name, manifest.digest());
        Ok(Package { revision_ref, manifest, files: self.files })
    }
}

/// The text of a `SKILL.md`, without a byte order mark.
pub(crate) fn skill_text(bytes: &[u8]) -> Result<&str, Error> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        Error::front_matter(line, format!("no UTF-8 at byte {}; it must be UTF-8", error.valid_up_to()))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn within(what: &str, found: u64, limit: u64) -> Result<(), Error> {
    if found <= limit { Ok(()) } else { Err(Error::Limit { what: what.to_owned(), found, limit }) }
}

/// Checks a path as text: relative, of plain names, the same on every system.
pub(crate) fn check_path(path: &str) -> Result<(), Error> {
    let refuse = |reason| Err(Error::Path { path: path.to_owned(), reason });
    if path.len() > MAX_PATH_BYTES {
        return refuse("it is longer than 1024 bytes");
    }
    if path.contains(SECTION_MARK) {
        return refuse("it holds #section-, which names a section of a file");
    }
    if path.chars().any(|char| char.is_control() || matches!(char, '\\' | ':')) {
        return refuse("it holds a control character, a backslash or a colon");
    }
    if path.split('/').count() > MAX_DEPTH {
        return refuse("it is more than 32 names deep");
    }
    match path.split('/').find(|name| matches!(*name, "" | "." | "..") || name.len() > MAX_NAME_BYTES) {
        None => Ok(()),
        Some("") => refuse("it is not relative, or has an empty name; accepted is a/b/c"),
        Some("." | "..") => refuse("it holds . or ..; accepted is a path within the skill"),
        Some(_) => refuse("a name in it is longer than 255 bytes"),
    }
}

/// Refuses what a file system that ignores case, or any file system, could not keep apart.
fn check_collisions(files: &BTreeMap<String, Vec<u8>>) -> Result<(), Error> {
    // Folded path of every file and folder, with its own spelling and whether it is a file.
    let mut seen: BTreeMap<String, (&str, bool)> = BTreeMap::new();
    for path in files.keys() {
        let ends = path.match_indices('/').map(|(end, _)| (end, false)).chain([(path.len(), true)]);
        for (end, is_file) in ends {
            let here = path.get(..end).unwrap_or_default();
            let folded = here.chars().flat_map(char::to_lowercase).collect();
            let (spelled, was_file) = *seen.entry(folded).or_insert((here, is_file));
            let reason = match () {
                () if spelled != here => "they differ only in case",
                () if is_file != was_file => "the one is a folder, the other a file",
                () => continue,
            };
            return Err(Error::Collision { path: path.clone(), other: spelled.to_owned(), reason });
        }
    }
    Ok(())
}
