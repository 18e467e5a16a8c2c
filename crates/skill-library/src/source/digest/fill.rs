//! Filling a room with the pieces of sections.

use std::borrow::Cow;

use crate::markdown::{Cut, Piece, cut};

/// A piece is cut to no less than this, in chars; below it is left out.
const MIN_CUT_CHARS: usize = 24;

/// What a piece costs beside its own chars: the line ends before it.
const BETWEEN: usize = 2;

/// What was taken of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    /// Ends with a line end where it is not empty.
    pub(super) text: String,
    /// How many chars of the section's pieces are in it, as they are.
    pub(super) carried: usize,
    /// Whether all pieces are in it.
    pub(super) complete: bool,
}

impl Taken {
    pub(super) fn used(&self) -> usize {
        self.text.chars().count()
    }
}

/// How much room all pieces need.
pub(super) fn need(pieces: &[Piece<'_>]) -> usize {
    pieces.iter().map(|piece| piece.text.chars().count() + BETWEEN).sum()
}

/// Shares of `room`, none more than is needed: what one does not need is shared among those that need more.
pub(super) fn fair_shares(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    let need_of = |at: usize| needs.get(at).copied().unwrap_or_default();
    order.sort_by_key(|at| need_of(*at));
    let mut shares = vec![0; needs.len()];
    let (mut left, mut others) = (room, needs.len());
    for at in order {
        let share = need_of(at).min(left / others.max(1));
        if let Some(place) = shares.get_mut(at) {
            *place = share;
        }
        left -= share;
        others -= 1;
    }
    shares
}

/// Takes pieces within `room`: words first and in order, the last of them cut; then what can only be taken whole. They come
/// out in the order of the section.
pub(super) fn take(pieces: &[Piece<'_>], room: usize) -> Taken {
    let mut chosen: Vec<Option<Cow<'_, str>>> = vec![None; pieces.len()];
    let (mut left, mut carried, mut complete) = (room, 0, true);
    for kind in [Cut::Words, Cut::Whole] {
        for (piece, place) in pieces.iter().zip(&mut chosen).filter(|(piece, _)| piece.cut == kind) {
            let chars = piece.text.chars().count();
            if let Some(rest) = left.checked_sub(chars + BETWEEN) {
                left = rest;
                carried += chars;
                *place = Some(piece.text.into());
                continue;
            }
            complete = false;
            if kind == Cut::Words {
                let within = left.saturating_sub(BETWEEN);
                if within >= MIN_CUT_CHARS {
                    let beginning = cut(piece.text, within);
                    let kept = beginning.chars().count();
                    left -= kept + BETWEEN;
                    // The mark of the cut is not the section's.
                    carried += kept - 1;
                    *place = Some(beginning.into());
                }
                break;
            }
        }
    }
    let mut text = String::new();
    let mut skipped = false;
    for (piece, chosen) in pieces.iter().zip(&chosen) {
        let Some(chosen) = chosen else {
            skipped = true;
            continue;
        };
        if !text.is_empty() && (piece.apart || skipped) {
            text.push('\n');
        }
        text.push_str(chosen);
        text.push('\n');
        skipped = false;
    }
    Taken { text, carried, complete }
}
