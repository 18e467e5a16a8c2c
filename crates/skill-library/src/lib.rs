//! `SkillLibrary`: immutable revisions of skills, and the [`ContextSource`](briefing_core::ContextSource) over them.
//!
//! A skill is a folder with a `SKILL.md` (YAML front matter, then Markdown) and the files that belong to it, as the Agent
//! Skills convention describes it (<https://agentskills.io/specification>). This crate owns the folder in which revisions
//! are installed: each is named by the digest of its bytes, appears and goes in one step, never changes, and is checked
//! against its name at every read. It offers the instructions, their sections and the other files as context. It never runs a
//! script, never grants a tool, and never decides which skill a task needs.
//!
//! | to | use |
//! |---|---|
//! | install | [`install`](SkillLibrary::install), [`install_files`](SkillLibrary::install_files), [`set_trusted`](SkillLibrary::set_trusted), [`remove`](SkillLibrary::remove) |
//! | look | [`list`](SkillLibrary::list), [`get`](SkillLibrary::get), [`read`](SkillLibrary::read), [`read_bytes`](SkillLibrary::read_bytes) |
//! | check | [`verify`](SkillLibrary::verify), [`verify_all`](SkillLibrary::verify_all) |
//! | offer as context | [`source`](SkillLibrary::source) |
//!
//! The library's own calls block; the source does its work on blocking threads.
//!
//! Lengths: *chars* are Unicode scalar values, *bytes* are bytes of the files as they were installed.
//!
//! ```
//! use briefing_skill_library::{InstallOptions, SkillLibrary, TextWindow};
//! # let folder = tempfile::tempdir()?;
//! # let (source, root) = (folder.path().join("pump"), folder.path().join("skills"));
//! std::fs::create_dir_all(source.join("references"))?;
//! std::fs::write(source.join("SKILL.md"), "---\nname: pump\ndescription: How to check a pump.\n---\n# Pump\n")?;
//! std::fs::write(source.join("references/seal.md"), "# Seal\nReplace it every year.\n")?;
//!
//! let library = SkillLibrary::open(root)?;
//! let pump = library.install(&source, InstallOptions::trusted())?.revision.revision_ref;
//! assert_eq!(library.get(&pump)?.front_matter.description, "How to check a pump.");
//!
//! let page = library.read(&pump, "references/seal.md", TextWindow::chars(2, 4))?;
//! assert_eq!((page.text.as_str(), page.next_char, page.total_chars), ("Seal", Some(6), 30));
//! assert!(library.verify(&pump)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod area;
mod change;
mod error;
mod folder;
mod front_matter;
mod library;
mod manifest;
mod markdown;
mod options;
mod package;
mod revision_ref;
mod source;
mod steps;
mod text;
mod verify;

pub use change::{InstallOutcome, Installed};
pub use error::{Error, Problem, ProblemKind};
pub use front_matter::FrontMatter;
pub use library::{SkillLibrary, SkillListing, SkillRevision};
pub use manifest::SkillFile;
pub use options::{InstallOptions, PackageLimits};
pub use revision_ref::{SkillName, SkillRevisionRef};
pub use source::{SkillBinding, SkillSource, SkillSourceOptions};
pub use steps::Step;
#[cfg(feature = "failpoints")]
pub use steps::StepHook;
pub use text::{SkillText, TextWindow};
pub use verify::Verification;
