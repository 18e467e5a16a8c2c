//! What providers share of the account of changes: what is remembered of views, and how much text an answer holds.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::port::ViewState;
use crate::{RecordFilter, Window};

/// How many views are remembered.
const MAX_MARKS: usize = 1_024;

/// The most text of one page, in bytes; a page always holds at least one record. About as much as a page of passages holds,
/// so that little is read in vain.
pub(crate) const PAGE_TEXT_BYTES: u64 = 512 * 1024;

/// The beginning of a text that is too long to be given whole. As many chars as bytes are allowed is at least what was asked
/// for.
pub(crate) fn beginning(max_text_bytes: u64) -> Window {
    Window::new(0, max_text_bytes.max(4) / 4)
}

/// What is known of views from earlier looks at the log.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<HashMap<String, Mark>>);

#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Up to where the log was looked at.
    checked: u64,
    /// The last change of the view up to there.
    last: u64,
}

impl Marks {
    /// The state of a view of which no change comes after `bound`: its last change. `last_after` looks for the last one up to
    /// the bound that comes after a place; `ends` gives the last change that the log has forgotten, and its last one.
    pub(crate) fn state<E>(
        &self,
        view: &RecordFilter,
        bound: u64,
        last_after: impl FnOnce(u64) -> Result<Option<u64>, E>,
        ends: impl FnOnce() -> Result<(u64, u64), E>,
    ) -> Result<ViewState, E> {
        let key = format!("{view:?}");
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        // A mark that was set at a later moment than this transaction sees says nothing about it.
        let known = known.filter(|mark| mark.last <= bound);
        if let Some(mark) = known.filter(|mark| mark.checked >= bound) {
            return Ok(ViewState(mark.last));
        }
        let found = last_after(known.map_or(0, |mark| mark.checked))?;
        let (floor, checked) = ends()?;
        let last = match (found, known) {
            (Some(last), _) => last,
            (None, Some(mark)) => mark.last,
            // What the log has forgotten may have been one of the view; its end stands for it.
            (None, None) => floor.min(bound),
        };
        let mut marks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if marks.len() >= MAX_MARKS {
            marks.clear();
        }
        marks.insert(key, Mark { checked, last });
        Ok(ViewState(last))
    }
}
