//! The grammar of paths in a workspace.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The folder of the framework's own state, at any depth.
pub(crate) const PRIVATE_FOLDER: &str = ".briefing";

/// Names that Windows reserves in every folder, whatever the suffix (Win32 naming conventions).
const DEVICE_NAMES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// A path in a workspace: relative to its root, segments joined by `/`, the same on every platform.
///
/// The grammar is checked before any file is touched: no empty, `.` or `..` segment, no leading `/`, no `\`, no `:` (a
/// drive or a stream on Windows), no NUL, no device name of Windows.
///
/// ```
/// use briefing_task_workspace::WorkspacePath;
/// assert_eq!(WorkspacePath::new("src/main.rs")?.file_name(), "main.rs");
/// assert_eq!(WorkspacePath::new("src//main.rs").unwrap_err().code(), "workspace.invalid_path");
/// # Ok::<(), briefing_task_workspace::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspacePath(String);

impl WorkspacePath {
    /// Takes a path that follows the grammar, unchanged.
    ///
    /// # Errors
    /// [`Error::OutsideBoundary`] for `..` and absolute paths, [`Error::InvalidPath`] with the rule that is broken, and
    /// [`Error::PrivateArea`] for paths into `.briefing`.
    pub fn new(path: impl AsRef<str>) -> Result<Self, Error> {
        let path = path.as_ref();
        let invalid = |reason| Err(Error::InvalidPath { path: path.to_owned(), reason });
        if path.is_empty() {
            return invalid("it is empty");
        }
        if path.contains('\0') {
            return invalid("it holds a NUL");
        }
        let bytes = path.as_bytes();
        let has_drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
        if path.starts_with(['/', '\\'])
            || has_drive
            || path.split(['/', '\\']).any(|segment| segment == "..")
        {
            return Err(Error::OutsideBoundary { path: path.to_owned() });
        }
        if path.contains('\\') {
            return invalid("segments are joined by / and not by \\");
        }
        if path.contains(':') {
            return invalid("a colon names a drive or a stream on Windows");
        }
        for segment in path.split('/') {
            match segment {
                "" => return invalid("it has an empty segment"),
                "." => return invalid("it has the segment ."),
                segment if is_device_name(segment) => return invalid("it names a device of Windows"),
                segment if is_private(segment) => return Err(Error::PrivateArea { path: path.to_owned() }),
                _ => {}
            }
        }
        Ok(Self(path.to_owned()))
    }

    /// The path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this path is `other` or lies in it, also where the file system ignores case or the Unicode form of names.
    #[must_use]
    pub(crate) fn is_at_or_in(&self, other: &Self) -> bool {
        let mut mine = self.0.split('/');
        other.0.split('/').all(|segment| mine.next().is_some_and(|my| is_same_to_some(my, segment)))
    }

    /// The last segment.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }
}

/// Whether a segment names the private folder on some file system: also where case is ignored, or characters that are
/// compatible (a ligature) or not shown, or trailing dots and blanks; or by the short name that Windows gives to it.
pub(crate) fn is_private(segment: &str) -> bool {
    let trimmed = segment.trim_end_matches(['.', ' ']);
    if trimmed.is_ascii() {
        let short = trimmed.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("briefi~"));
        return trimmed.eq_ignore_ascii_case(PRIVATE_FOLDER) || short;
    }
    let shown: String = trimmed.chars().filter(|char| !is_ignorable(*char)).collect();
    let shown = shown.trim_end_matches(['.', ' ']);
    caseless::compatibility_caseless_match_str(shown, PRIVATE_FOLDER)
}

/// Characters that HFS+ leaves out of account in names (Apple Technical Note TN1150), and their kind.
fn is_ignorable(char: char) -> bool {
    matches!(char, '\u{AD}' | '\u{34F}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

/// A path as Windows and HFS+ take it: without characters that are not shown, and without dots and blanks at the end of a
/// segment; with `.git` for the short name that Windows gives to it.
pub(crate) fn as_taken(path: &str) -> Cow<'_, str> {
    let taken = |segment: &str| {
        let shown: String = segment.chars().filter(|char| !is_ignorable(*char)).collect();
        let trimmed = shown.trim_end_matches(['.', ' ']);
        let is_short = trimmed.eq_ignore_ascii_case("git~1");
        if is_short { ".git".to_owned() } else { trimmed.to_owned() }
    };
    let is_plain = |byte: u8| byte.is_ascii() && !matches!(byte, b'.' | b' ' | b'~');
    if path.bytes().all(is_plain) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(path.split('/').map(taken).collect::<Vec<_>>().join("/"))
}

/// Whether two names are one where a file system ignores case or the Unicode form (default caseless matching of canonical
/// equivalents, Unicode 3.13 D145).
pub(crate) fn is_same_to_some(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return one.eq_ignore_ascii_case(other);
    }
    caseless::canonical_caseless_match_str(one, other)
}

/// Windows ignores the suffix, trailing blanks and case; the superscripts count as digits.
fn is_device_name(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    DEVICE_NAMES.contains(&stem.as_str())
        || numbered.is_some_and(|digit| {
            let mut chars = digit.chars();
            matches!((chars.next(), chars.next()), (Some('1'..='9' | '¹' | '²' | '³'), None))
        })
}

impl AsRef<Path> for WorkspacePath {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for WorkspacePath {
    type Error = Error;
    fn try_from(path: String) -> Result<Self, Error> {
        Self::new(path)
    }
}

impl From<WorkspacePath> for String {
    fn from(path: WorkspacePath) -> String {
        path.0
    }
}
