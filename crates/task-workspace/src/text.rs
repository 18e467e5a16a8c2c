//! Reading a text by lines or chars, without holding more of it than was asked for.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::RangeInclusive;

use briefing_core::LineRange;
use briefing_formats::{decode, is_text};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::read::FileIdentity;
use crate::{TaskWorkspace, WorkspacePath};

/// How much is read at a time, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// The largest file in another encoding than UTF-8 that is decoded, in bytes: it has to be held whole.
const MAX_DECODED_BYTES: u64 = 64 << 20;

/// Which part of a text is read, and how much of it at most (100,000 chars where nothing is said).
///
/// ```
/// use briefing_task_workspace::TextWindow;
/// let window = TextWindow::lines(10..=20).max_chars(2_000);
/// assert_ne!(window, TextWindow::chars(0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextWindow {
    from: From,
    max_chars: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// The first line, counted from 1, and the last.
    Lines(u64, u64),
    /// The first char, counted from 0.
    Chars(u64),
}

impl TextWindow {
    /// Lines, counted from 1, both ends included. A line ends after its `\n`.
    #[must_use]
    pub fn lines(lines: RangeInclusive<u64>) -> Self {
        Self { from: From::Lines(*lines.start(), *lines.end()), max_chars: 100_000 }
    }

    /// What follows so many chars (Unicode scalar values).
    #[must_use]
    pub fn chars(offset: u64) -> Self {
        Self { from: From::Chars(offset), max_chars: 100_000 }
    }

    /// Sets the most chars; at least 1.
    #[must_use]
    pub fn max_chars(mut self, chars: usize) -> Self {
        self.max_chars = chars;
        self
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextRead {
    /// The text, with its line ends as they are, without a byte order mark.
    pub text: String,
    /// Where it begins, in chars of the file.
    pub offset_chars: u64,
    /// The lines that it touches; `None` where it is empty.
    pub lines: Option<LineRange>,
    /// Where to go on ([`TextWindow::chars`]); `None` where the window was given whole.
    pub next_chars: Option<u64>,
    /// Whether the file goes on after it.
    pub more: bool,
    /// The encoding that the file was read in.
    pub encoding: String,
    /// The size of the file, in bytes.
    pub total_bytes: u64,
}

impl TaskWorkspace {
    /// Reads a part of a text. A file in UTF-8 is read piece by piece, up to the end of the window and no further;
    /// another encoding is decoded whole.
    ///
    /// # Errors
    /// [`Error::NotText`] for bytes that are no text, [`Error::TooLarge`] for a file over 64 MiB in another encoding than
    /// UTF-8, [`Error::OutOfRange`] for a line 0, lines that end before they begin, or a window of no chars; and as
    /// [`read`](Self::read).
    pub fn read_text(&self, path: &WorkspacePath, window: TextWindow) -> Result<TextRead, Error> {
        window.check()?;
        let mut open = self.open_file(path)?;
        let read = match stream(&mut open.file, window) {
            Ok(Some(streamed)) => streamed.into_read("utf-8", open.identity.size),
            Ok(None) => decoded(path, &mut open.file, open.identity, window)?,
            Err(source) => return Err(Error::Unreadable { path: path.as_str().to_owned(), source }),
        };
        let after = open.file.metadata().map_err(crate::hold::unreadable(path))?;
        if FileIdentity::of(&after) != open.identity {
            return Err(Error::Changed { path: path.as_str().to_owned() });
        }
        Ok(read)
    }
}

impl TextWindow {
    fn check(self) -> Result<(), Error> {
        let refused = |what, found: String, accepted| Err(Error::OutOfRange { what, found, accepted });
        match self.from {
            From::Lines(0, _) => refused("the first line", "0".to_owned(), "1 or more"),
            From::Lines(first, last) if last < first => {
                refused("the last line", last.to_string(), "the first line or a later one")
            }
            _ if self.max_chars == 0 => refused("the most chars", "0".to_owned(), "1 or more"),
            _ => Ok(()),
        }
    }
}

/// Takes a text char by char and keeps what lies in the window.
struct Taken {
    window: TextWindow,
    text: String,
    taken: usize,
    first: Option<(u64, u64)>,
    /// The chars that were passed, and the line on which the next one is.
    chars: u64,
    line: u64,
    last_line: u64,
    /// The window ends before its last char was taken.
    cut: bool,
    more: bool,
}

impl Taken {
    fn new(window: TextWindow) -> Self {
        Self {
            window,
            text: String::new(),
            taken: 0,
            first: None,
            chars: 0,
            line: 1,
            last_line: 0,
            cut: false,
            more: false,
        }
    }

    /// Takes some text; `false` where the window is over.
    fn take(&mut self, text: &str) -> bool {
        for char in text.chars() {
            let (is_before, is_after) = match self.window.from {
                From::Lines(first, last) => (self.line < first, self.line > last),
                From::Chars(offset) => (self.chars < offset, false),
            };
            if is_after || self.taken >= self.window.max_chars {
                self.cut = !is_after;
                self.more = true;
                return false;
            }
            if !is_before {
                self.first.get_or_insert((self.chars, self.line));
                self.last_line = self.line;
                self.text.push(char);
                self.taken += 1;
            }
            self.chars += 1;
            self.line += u64::from(char == '\n');
        }
        true
    }

    fn into_read(self, encoding: &str, total_bytes: u64) -> TextRead {
        let (offset_chars, first_line) = self.first.unwrap_or((self.chars, self.line));
        let line = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
        TextRead {
            offset_chars,
            lines: (self.taken > 0).then(|| LineRange { start: line(first_line), end: line(self.last_line) }),
            next_chars: self.cut.then(|| offset_chars + self.taken as u64),
            more: self.more,
            text: self.text,
            encoding: encoding.to_owned(),
            total_bytes,
        }
    }
}

/// Reads UTF-8 piece by piece; `None` where the bytes are something else.
fn stream(file: &mut File, window: TextWindow) -> io::Result<Option<Taken>> {
    let mut taken = Taken::new(window);
    let mut buffer = vec![0; CHUNK_BYTES];
    let (mut held, mut is_first) = (0, true);
    loop {
        let read = match file.read(buffer.get_mut(held..).unwrap_or_default()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let filled = held + read;
        let bytes = buffer.get(..filled).unwrap_or_default();
        if is_first && read > 0 && (!is_text(bytes) || bytes.contains(&0)) {
            return Ok(None);
        }
        if bytes.contains(&0) {
            return Ok(None);
        }
        let valid = match std::str::from_utf8(bytes) {
            Ok(_) => filled,
            // A char that is cut at the end of the piece comes whole with the next one.
            Err(error) if error.error_len().is_none() && read > 0 => error.valid_up_to(),
            Err(_) => return Ok(None),
        };
        let text = std::str::from_utf8(bytes.get(..valid).unwrap_or_default()).unwrap_or_default();
        let text = if is_first { text.strip_prefix('\u{FEFF}').unwrap_or(text) } else { text };
        is_first &= filled == 0;
        if !taken.take(text) || read == 0 {
            return Ok(Some(taken));
        }
        buffer.copy_within(valid..filled, 0);
        held = filled - valid;
    }
}

fn decoded(
    path: &WorkspacePath,
    file: &mut File,
    identity: FileIdentity,
    window: TextWindow,
) -> Result<TextRead, Error> {
    use std::io::{Seek as _, SeekFrom};
    let shown = || path.as_str().to_owned();
    let failed = crate::hold::unreadable(path);
    file.seek(SeekFrom::Start(0)).map_err(&failed)?;
    let mut sample = Vec::new();
    file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut sample).map_err(&failed)?;
    let not_text = || Error::NotText { path: shown(), reason: "its bytes are no characters".to_owned() };
    if !is_text(&sample) {
        return Err(not_text());
    }
    if identity.size > MAX_DECODED_BYTES {
        let (size_bytes, limit_bytes) = (identity.size, MAX_DECODED_BYTES);
        return Err(Error::TooLarge { path: shown(), size_bytes, limit_bytes });
    }
    file.by_ref().take(MAX_DECODED_BYTES).read_to_end(&mut sample).map_err(&failed)?;
    // A NUL may come late.
    if !is_text(&sample) {
        return Err(not_text());
    }
    let decoded =
        decode(&sample).map_err(|error| Error::NotText { path: shown(), reason: error.to_string() })?;
    let mut taken = Taken::new(window);
    taken.take(&decoded.text);
    Ok(taken.into_read(decoded.encoding, identity.size))
}
