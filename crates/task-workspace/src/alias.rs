//! Short names for files inside one request.
//!
//! A model is shown `[[ref:ref_1]]` instead of a long path and digest, and writes that in its answer. The host checks the
//! answer with the table of that request and puts the files in. An alias is no identity: it means nothing in any other
//! request, so a table cannot be stored.

use crate::error::Error;
use crate::identity::FileRef;
use crate::{TaskWorkspace, WorkspacePath};

/// How an alias begins and ends in a text.
const OPEN: &str = "[[ref:";
const CLOSE: &str = "]]";

/// How much of something malformed an error shows, in chars.
const MAX_SHOWN_CHARS: usize = 40;

/// The aliases of one request, counted from `ref_1`.
///
/// ```
/// use briefing_task_workspace::{AliasTable, TaskWorkspace, WorkspacePath};
/// # let folder = tempfile::tempdir()?;
/// # std::fs::write(folder.path().join("pump.md"), "weekly")?;
/// let workspace = TaskWorkspace::open(folder.path())?;
/// let mut aliases = AliasTable::new();
/// let alias = aliases.add(workspace.file_ref(&WorkspacePath::new("pump.md")?)?);
/// assert_eq!(alias, "[[ref:ref_1]]");
///
/// let answer = "The pump is checked weekly [[ref:ref_1]].";
/// assert_eq!(aliases.rewrite(answer, |file| format!("({})", file.path))?, "The pump is checked weekly (pump.md).");
/// assert_eq!(aliases.check("see [[ref:ref_2]]").unwrap_err().code(), "workspace.unknown_alias");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AliasTable {
    files: Vec<FileRef>,
}

impl AliasTable {
    /// A table without aliases.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The alias of a file as it stands in texts; a file that has one gets the same again.
    pub fn add(&mut self, file: FileRef) -> String {
        let at = self.files.iter().position(|known| *known == file).unwrap_or_else(|| {
            self.files.push(file);
            self.files.len() - 1
        });
        format!("{OPEN}ref_{}{CLOSE}", at + 1)
    }

    /// The file that an alias (`ref_1`) stands for.
    ///
    /// # Errors
    /// [`Error::UnknownAlias`].
    pub fn resolve(&self, alias: &str) -> Result<&FileRef, Error> {
        let unknown = || Error::UnknownAlias { alias: alias.to_owned(), known: self.files.len() };
        let number = alias.strip_prefix("ref_").ok_or_else(unknown)?;
        if number.starts_with('0') || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unknown());
        }
        let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        at.and_then(|at| self.files.get(at)).ok_or_else(unknown)
    }

    /// The files that a text names, each once, in the order in which it names them.
    ///
    /// # Errors
    /// [`Error::UnknownAlias`]; [`Error::MalformedAlias`] for anything that begins like an alias and is none.
    pub fn check(&self, text: &str) -> Result<Vec<&FileRef>, Error> {
        let mut found: Vec<&FileRef> = Vec::new();
        self.each(text, |_, file| {
            if !found.contains(&file) {
                found.push(file);
            }
        })?;
        Ok(found)
    }

    /// The text with each alias replaced by what `shown` makes of its file.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn rewrite(&self, text: &str, mut shown: impl FnMut(&FileRef) -> String) -> Result<String, Error> {
        let mut rewritten = String::with_capacity(text.len());
        let rest = self.each(text, |before, file| {
            rewritten.push_str(before);
            rewritten.push_str(&shown(file));
        })?;
        rewritten.push_str(rest);
        Ok(rewritten)
    }

    /// Calls `seen` with what comes before each alias and the alias's file; answers what comes after the last.
    fn each<'t, 's>(
        &'s self,
        text: &'t str,
        mut seen: impl FnMut(&'t str, &'s FileRef),
    ) -> Result<&'t str, Error> {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(OPEN) {
            let malformed = || Error::MalformedAlias {
                at_char: text.chars().count() - rest.chars().count() + before.chars().count(),
                found: format!("{OPEN}{after}").chars().take(MAX_SHOWN_CHARS).collect(),
            };
            let (alias, after) = after.split_once(CLOSE).ok_or_else(malformed)?;
            if !alias.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(malformed());
            }
            seen(before, self.resolve(alias)?);
            rest = after;
        }
        Ok(rest)
    }
}

impl TaskWorkspace {
    /// Where the files are that a text names by aliases, provided that each holds what it held when it got its alias.
    ///
    /// # Errors
    /// As [`AliasTable::check`], and as [`resolve`](Self::resolve).
    pub fn resolve_aliases(&self, aliases: &AliasTable, text: &str) -> Result<Vec<WorkspacePath>, Error> {
        aliases.check(text)?.into_iter().map(|file| self.resolve(file)).collect()
    }
}
