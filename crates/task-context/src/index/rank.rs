//! Orders one partition's optional candidates and cuts the window that this read may offer.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use briefing_analysis::{Analyzer, QueryTerm, fold};

use super::answer::{Offer, Progress};
use super::lexical::{Hit, LexicalError};
use super::partition::{Partition, Placed, Slot, path_of};

/// How many hits that hold every word of the query are checked for holding it literally.
const LITERAL_CHECKS: usize = 256;

/// The words of a query, analysed once for all partitions.
#[derive(Debug)]
pub(crate) struct Words {
    terms: Vec<QueryTerm>,
    literal: String,
}

impl Words {
    pub(crate) fn new(query: &str) -> Self {
        Self { terms: Analyzer::default().terms(query), literal: fold(query).into_owned() }
    }
}

/// A window of one partition's ranking.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(crate) optional: Vec<Offer>,
    pub(crate) next_offset: usize,
    pub(crate) more: bool,
    pub(crate) unmatched: usize,
}

/// What is asked of a partition.
pub(crate) struct Ranking<'a> {
    pub(crate) partition: &'a Partition,
    /// `None` where the strategy does not rank.
    pub(crate) words: Option<&'a Words>,
    pub(crate) admitted: Option<&'a Arc<HashSet<Slot>>>,
    pub(crate) anchors: &'a HashSet<Slot>,
    pub(crate) progress: &'a Progress,
    pub(crate) window: usize,
    pub(crate) matched_only: bool,
}

/// A place in the ranking.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    slot: Slot,
    score: f32,
    literal: bool,
}

impl Ranking<'_> {
    pub(crate) fn window(&self) -> Result<Window, LexicalError> {
        let fresh = self.window.saturating_sub(self.progress.pending.len());
        let next_offset = self.progress.offset.saturating_add(fresh);
        // One more than is offered, to know whether there is more.
        let (ranked, matched) = self.ranked(next_offset.saturating_add(1))?;
        let pending = self.progress.pending.iter().copied().take(self.window);
        let positions = pending.chain(self.progress.offset..next_offset.min(ranked.len()));
        let offer = |position: usize| {
            let place = ranked.get(position)?;
            let placed = self.partition.get(place.slot)?;
            Some(Offer {
                descriptor: Arc::clone(&placed.descriptor),
                parent_ref: self.partition.parent_ref(&placed.descriptor),
                explicit: false,
                position: Some(position),
                score: place.score,
                literal: place.literal,
            })
        };
        let more = ranked.len() > next_offset;
        let unmatched = match matched {
            Some(matched) if self.matched_only && !more => self.optional_total().saturating_sub(matched),
            _ => 0,
        };
        Ok(Window {
            optional: positions.filter_map(offer).collect(),
            next_offset: next_offset.min(ranked.len()).max(self.progress.offset),
            more,
            unmatched,
        })
    }

    fn is_optional(&self, slot: Slot) -> bool {
        !self.anchors.contains(&slot) && self.admitted.is_none_or(|admitted| admitted.contains(&slot))
    }

    fn optional_total(&self) -> usize {
        match self.admitted {
            None => self.partition.order.len().saturating_sub(self.anchors.len()),
            Some(admitted) => admitted.iter().filter(|slot| !self.anchors.contains(slot)).count(),
        }
    }

    /// The first `need` places of the ranking, and how many of all candidates match where that is known.
    fn ranked(&self, need: usize) -> Result<(Vec<Ranked>, Option<usize>), LexicalError> {
        let listed = self.partition.order.values().copied().filter(|slot| self.is_optional(*slot));
        let unranked = |slot| Ranked { slot, score: 0.0, literal: false };
        let (Some(words), Some(lexical)) = (self.words, &self.partition.lexical) else {
            return Ok((listed.take(need).map(unranked).collect(), None));
        };
        let limit = need.saturating_add(self.anchors.len());
        let hits = lexical.any(&words.terms, limit, self.admitted)?;
        let literal = self.literal(words, &lexical.all(&words.terms, LITERAL_CHECKS, self.admitted)?);
        let complete = hits.len() < limit;

        let mut score: HashMap<Slot, f32> = literal.iter().map(|hit| (hit.slot, hit.score)).collect();
        score.extend(hits.iter().map(|hit| (hit.slot, hit.score)));
        let literal: HashSet<Slot> = literal.into_iter().map(|hit| hit.slot).collect();
        let mut ranked: Vec<Ranked> = score
            .iter()
            .filter(|(slot, _)| self.is_optional(**slot))
            .map(|(slot, score)| Ranked { slot: *slot, score: *score, literal: literal.contains(slot) })
            .collect();
        ranked.sort_by(|a, b| {
            let key = |ranked: &Ranked| {
                let priority = self.partition.get(ranked.slot).map_or(0, |placed| placed.descriptor.priority);
                (Reverse(priority), self.partition.place(ranked.slot))
            };
            b.literal.cmp(&a.literal).then(b.score.total_cmp(&a.score)).then_with(|| key(a).cmp(&key(b)))
        });
        let matched = ranked.len();
        if complete && !self.matched_only && ranked.len() < need {
            let rest = listed.filter(|slot| !score.contains_key(slot)).map(unranked);
            let mut rest: Vec<Ranked> = rest.collect();
            let priority = |ranked: &Ranked| {
                Reverse(self.partition.get(ranked.slot).map_or(0, |placed| placed.descriptor.priority))
            };
            rest.sort_by_key(priority);
            ranked.extend(rest);
        }
        ranked.truncate(need);
        Ok((ranked, complete.then_some(matched)))
    }

    /// The hits that hold the query itself, at word borders.
    fn literal(&self, words: &Words, hits: &[Hit]) -> Vec<Hit> {
        let holds = |text: &str| contains_words(&fold(text), &words.literal);
        let holds_anywhere = |placed: &Placed| {
            let descriptor = &placed.descriptor;
            holds(&descriptor.title)
                || holds(&path_of(descriptor))
                || holds(&descriptor.summary)
                || holds(&self.partition.text(placed))
        };
        hits.iter().copied().filter(|hit| self.partition.get(hit.slot).is_some_and(holds_anywhere)).collect()
    }
}

/// Whether `wanted` occurs in `text` without cutting a word at either end.
fn contains_words(text: &str, wanted: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts_word = wanted.chars().next().is_some_and(is_word);
    let ends_word = wanted.chars().next_back().is_some_and(is_word);
    !wanted.is_empty()
        && text.match_indices(wanted).any(|(at, _)| {
            let before = text.get(..at).and_then(|text| text.chars().next_back());
            let after = text.get(at + wanted.len()..).and_then(|text| text.chars().next());
            // Between two CJK characters there is always a border.
            let joined = |c: Option<char>| c.is_some_and(|c| is_word(c) && c.is_ascii());
            let cut = (starts_word && joined(before)) || (ends_word && joined(after));
            !cut
        })
}
