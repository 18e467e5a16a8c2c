//! Names of files as they are, and as refs show them.
//!
//! A ref is text. A name that is not UTF-8 is shown with `\xNN` for each byte that does not fit, a literal backslash as
//! `\\`, so that two names are never shown alike. A name of white space alone, which no ref may be, is escaped whole.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A path relative to the root, as the system knows it and as refs show it.
#[derive(Debug, Clone)]
pub(crate) struct FileName {
    shown: Arc<str>,
    /// Only where it differs from what is shown.
    real: Option<Arc<Path>>,
}

impl FileName {
    pub(crate) fn new(relative: &Path) -> Self {
        let bytes = bytes_of(relative.as_os_str());
        let shown = escape(&bytes);
        let real = (shown.as_bytes() != &*bytes).then(|| Arc::from(relative));
        Self { shown: Arc::from(shown), real }
    }

    /// As refs show it.
    pub(crate) fn shown(&self) -> &Arc<str> {
        &self.shown
    }

    /// As the system knows it.
    pub(crate) fn real(&self) -> &Path {
        self.real.as_deref().unwrap_or_else(|| Path::new(&*self.shown))
    }

    /// What names are ordered by.
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.real {
            Some(real) => bytes_of(real.as_os_str()),
            None => Cow::Borrowed(self.shown.as_bytes()),
        }
    }
}

/// The bytes of a path; on Windows with `/` between segments.
#[cfg(unix)]
fn bytes_of(name: &OsStr) -> Cow<'_, [u8]> {
    use std::os::unix::ffi::OsStrExt as _;
    Cow::Borrowed(name.as_bytes())
}

#[cfg(not(unix))]
fn bytes_of(name: &OsStr) -> Cow<'_, [u8]> {
    Cow::Owned(name.to_string_lossy().replace('\\', "/").into_bytes())
}

fn escape(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for (index, part) in chunk.valid().split('\\').enumerate() {
            if index > 0 {
                shown.push_str(r"\\");
            }
            shown.push_str(part);
        }
        push_escaped(&mut shown, chunk.invalid());
    }
    if shown.trim().is_empty() {
        shown.clear();
        push_escaped(&mut shown, bytes);
    }
    shown
}

fn push_escaped(shown: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(shown, "\\x{byte:02X}");
    }
}

/// The bytes of the name that `shown` stands for; `None` where it is not how any name is shown.
pub(crate) fn unescape(shown: &str) -> Option<Cow<'_, [u8]>> {
    if !shown.contains('\\') {
        return Some(Cow::Borrowed(shown.as_bytes()));
    }
    let mut bytes = Vec::with_capacity(shown.len());
    let mut rest = shown.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = match (first, tail) {
            (b'\\', [b'\\', tail @ ..]) => {
                bytes.push(b'\\');
                tail
            }
            (b'\\', [b'x', high, low, tail @ ..]) => {
                bytes.push(hex(*high)? << 4 | hex(*low)?);
                tail
            }
            (b'\\', _) => return None,
            (byte, tail) => {
                bytes.push(*byte);
                tail
            }
        };
    }
    Some(Cow::Owned(bytes))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// A path relative to the root as diagnostics show it.
pub(crate) fn shown(relative: &Path) -> String {
    escape(&bytes_of(relative.as_os_str()))
}

/// `path` without `root`; `None` where it is not beneath it. Whole components are compared.
pub(crate) fn relative_to(path: &Path, root: &Path) -> Option<PathBuf> {
    path.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_how_they_are_shown() {
        for bytes in [
            &b"plain.md"[..],
            b"odd\xff\xfe.txt",
            b"a\\b",
            b"a\\xFF",
            b"\\",
            b"  ",
            "水泵".as_bytes(),
            b"a\nb",
        ] {
            let shown = escape(bytes);
            assert!(!shown.trim().is_empty());
            assert_eq!(unescape(&shown).as_deref(), Some(bytes), "{shown}");
        }
        assert_eq!(escape(b"odd\xff\xfe.txt"), r"odd\xFF\xFE.txt");
        assert_eq!(unescape(r"a\b"), None);
        assert_eq!(unescape(r"a\xZZ"), None);
    }
}
