//! A value written over a JSON text: what is equal stays as it is written, to the digit and the blank.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::Value;

use super::scan::{Member, Parts, parts, tokens};
use super::style::{Style, lay_out};
use crate::handler::HandlerError;

/// How deep a value may be nested: what `serde_json` reads back.
const MAX_DEPTH: usize = 127;

/// Refuses a value that could not be read back.
pub(crate) fn check_depth(value: &Value) -> Result<(), HandlerError> {
    fn fits(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left > 0 && items.iter().all(|item| fits(item, left - 1)),
            Value::Object(members) => left > 0 && members.values().all(|member| fits(member, left - 1)),
            _ => true,
        }
    }
    if fits(value, MAX_DEPTH) {
        Ok(())
    } else {
        Err(HandlerError::value(
            "$",
            "nested more deeply than 127 levels",
            "what can be read back: 127 levels",
        ))
    }
}

/// Gives out `value`. Whatever of `previous`, a JSON value, is equal stays as it is written; an object keeps the order of
/// its keys, with new ones at its end.
pub(crate) fn write_over(
    previous: Option<&str>,
    value: &Value,
    style: &Style,
    depth: usize,
    out: &mut impl FnMut(&str),
) {
    let Some(previous) = previous else { return write_fresh(value, style, depth, out) };
    if parsed(previous).as_ref() == Some(value) {
        return out(previous);
    }
    match (parts(previous), value) {
        (Parts::Object(members), Value::Object(new)) if !new.is_empty() => {
            let members = last_of_each(members);
            let known: HashSet<&str> = members.iter().map(|member| member.key.as_str()).collect();
            let kept =
                members.iter().filter_map(|member| Some((Some(member), new.get_key_value(&member.key)?)));
            let added =
                new.iter().filter(|(key, _)| !known.contains(key.as_str())).map(|entry| (None, entry));
            let entries = kept.chain(added);
            write_items(previous, entries, style, depth, out, &mut |(member, (key, value)), style, out| {
                match member {
                    Some(member) => out(member.raw_key),
                    None => out(&style.literal(Value::from(key.as_str()).to_string())),
                }
                out(&style.colon);
                write_over(member.map(|member| member.raw), value, style, depth + 1, out);
            });
        }
        (Parts::Array(items), Value::Array(new)) if !new.is_empty() => {
            let entries = paired(&items, new).into_iter().zip(new);
            write_items(previous, entries, style, depth, out, &mut |(item, value), style, out| {
                write_over(item, value, style, depth + 1, out);
            });
        }
        _ => write_fresh(value, style, depth, out),
    }
}

/// Writes the brackets of `previous` with items between them, on lines of their own where its items were.
fn write_items<T, O: FnMut(&str)>(
    previous: &str,
    items: impl Iterator<Item = T>,
    style: &Style,
    depth: usize,
    out: &mut O,
    write: &mut dyn FnMut(T, &Style, &mut O),
) {
    let (open, close) = if previous.starts_with('{') { ("{", "}") } else { ("[", "]") };
    let one_line = is_on_one_line(previous);
    out(open);
    for (index, item) in items.enumerate() {
        match (index, one_line) {
            (0, true) => {}
            (_, true) => out(&style.comma),
            (0, false) => style.line_break(depth + 1, out),
            (_, false) => {
                out(",");
                style.line_break(depth + 1, out);
            }
        }
        write(item, style, out);
    }
    if !one_line {
        style.line_break(depth, out);
    }
    out(close);
}

/// Whether a container has its first item on the line of its bracket. An empty one says nothing.
fn is_on_one_line(container: &str) -> bool {
    let mut tokens = tokens(container);
    let (open, first) = (tokens.next(), tokens.next());
    let is_empty = tokens.next().is_none();
    let gap = open.zip(first).and_then(|(open, first)| container.get(open.end()..first.start));
    !is_empty && gap.is_some_and(|gap| !gap.contains('\n'))
}

fn write_fresh(value: &Value, style: &Style, depth: usize, out: &mut impl FnMut(&str)) {
    lay_out(&style.literal(value.to_string()), style, depth, out);
}

fn parsed(raw: &str) -> Option<Value> {
    serde_json::from_str(raw).ok()
}

/// The members without those that a later one of the same key replaces.
fn last_of_each(members: Vec<Member<'_>>) -> Vec<Member<'_>> {
    let mut seen = HashSet::new();
    let mut kept: Vec<_> =
        members.into_iter().rev().filter(|member| seen.insert(member.key.clone())).collect();
    kept.reverse();
    kept
}

/// For each new item the old one that it continues: an equal one; else one with the same text under `id`; else the one
/// at its place.
pub(crate) fn paired<'t>(old: &[&'t str], new: &[Value]) -> Vec<Option<&'t str>> {
    let values: Vec<Option<Value>> = old.iter().map(|raw| parsed(raw)).collect();
    let mut pairs: Vec<Option<usize>> = vec![None; new.len()];
    let mut used = vec![false; old.len()];
    let mut pair = |pairs: &mut [Option<usize>], at: usize, with: usize| {
        if let (Some(slot @ None), Some(used @ false)) = (pairs.get_mut(at), used.get_mut(with)) {
            *slot = Some(with);
            *used = true;
        }
    };
    let mut equal: HashMap<&Value, VecDeque<usize>> = HashMap::new();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (at, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        equal.entry(value).or_default().push_back(at);
        by_id.extend(id_of(value).map(|id| (id, at)));
    }
    for (at, value) in new.iter().enumerate() {
        if let Some(with) = equal.get_mut(value).and_then(VecDeque::pop_front) {
            pair(&mut pairs, at, with);
        }
    }
    for (at, value) in new.iter().enumerate() {
        if let Some(with) = id_of(value).and_then(|id| by_id.get(id)) {
            pair(&mut pairs, at, *with);
        }
    }
    for at in 0..new.len() {
        pair(&mut pairs, at, at);
    }
    pairs.into_iter().map(|with| with.and_then(|with| old.get(with).copied())).collect()
}

fn id_of(value: &Value) -> Option<&str> {
    value.get("id").and_then(Value::as_str)
}
