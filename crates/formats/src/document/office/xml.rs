//! Events of an XML part: bounded depth, no DTD, no entities but the predefined ones, alternative contents settled.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event as Raw};
use quick_xml::reader::Reader;

use crate::document::guard::Guard;
use crate::document::{DocumentError, DocumentLimits};

/// The events of a part.
pub(super) struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    part: &'a str,
    guard: &'a Guard,
    max_depth: usize,
    depth: usize,
    /// The open `mc:AlternateContent` elements: their depth, and whether a content has been taken.
    alternatives: Vec<(usize, bool)>,
}

/// What comes next.
pub(super) enum Event<'a> {
    Start(Element<'a>),
    End,
    Text(Cow<'a, str>),
}

/// The start of an element.
pub(super) struct Element<'a> {
    start: BytesStart<'a>,
    /// Where its name goes on after the prefix.
    local: usize,
}

impl Element<'_> {
    /// The name without its prefix.
    pub(super) fn name(&self) -> &str {
        self.start.get(self.local..self.start.name().0.len()).unwrap_or_default()
    }

    /// An attribute, whatever its prefix; one without a prefix first.
    pub(super) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        self.plain(name).or_else(|| self.prefixed(name))
    }

    /// An attribute without a prefix.
    pub(super) fn plain(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(|key| key == name)
    }

    /// An attribute with a prefix, such as `r:id`, which `id` may stand beside.
    pub(super) fn prefixed(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(|key| key.len() > name.len() && local(key) == name && !key.starts_with("xmlns:"))
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<Cow<'_, str>> {
        let found = self.start.attributes().with_checks(false).flatten().find(|it| wanted(it.key.0))?;
        Some(read(found.value))
    }

    /// The values of these attributes without a prefix, found in one pass.
    pub(super) fn plain_all<const N: usize>(&self, names: [&str; N]) -> [Option<Cow<'_, str>>; N] {
        let mut values = [const { None }; N];
        for found in self.start.attributes().with_checks(false).flatten() {
            let at = names.iter().position(|name| *name == found.key.0);
            if let Some(value) = at.and_then(|at| values.get_mut(at)) {
                *value = Some(read(found.value));
            }
        }
        values
    }

    /// An attribute that is a whole number.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// An attribute that is on or off (`ST_OnOff`); `None` where it is missing.
    pub(super) fn switch(&self, name: &str) -> Option<bool> {
        self.attribute(name).map(|said| is_on(&said))
    }

    /// Whether an element such as `<w:vanish/>` switches something on.
    pub(super) fn is_on(&self) -> bool {
        self.switch("val").unwrap_or(true)
    }
}

fn read(value: Cow<'_, str>) -> Cow<'_, str> {
    if value.contains('&') { Cow::Owned(unescaped(&value)) } else { value }
}

fn is_on(said: &str) -> bool {
    matches!(said.trim(), "1" | "true" | "on" | "True" | "TRUE")
}

fn local(name: &str) -> &str {
    name.get(local_start(name)..).unwrap_or_default()
}

fn local_start(name: &str) -> usize {
    name.bytes().rposition(|byte| byte == b':').map_or(0, |at| at + 1)
}

impl<'a> Xml<'a> {
    pub(super) fn new(text: &'a str, part: &'a str, limits: &DocumentLimits, guard: &'a Guard) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, part, guard, max_depth: limits.max_depth, depth: 0, alternatives: Vec::new() }
    }

    /// The next event; `None` at the end of the part.
    pub(super) fn next(&mut self) -> Result<Option<Event<'a>>, DocumentError> {
        loop {
            self.guard.step()?;
            let event = self.reader.read_event().map_err(|error| self.damaged(&error.to_string()))?;
            match event {
                Raw::Start(start) => {
                    self.enter()?;
                    let name = start.name().0;
                    let at = local_start(name);
                    match name.get(at..).unwrap_or_default() {
                        "AlternateContent" => self.alternatives.push((self.depth, false)),
                        "Choice" | "Fallback" if self.is_alternative() => {
                            match self.alternatives.last_mut() {
                                Some((_, taken @ false)) => *taken = true,
                                _ => self.skip()?,
                            }
                        }
                        _ => return Ok(Some(Event::Start(Element { start, local: at }))),
                    }
                }
                Raw::End(end) => {
                    self.depth -= 1;
                    match local(end.name().0) {
                        "AlternateContent" => drop(self.alternatives.pop()),
                        "Choice" | "Fallback"
                            if self.alternatives.last().is_some_and(|(depth, _)| *depth == self.depth) => {}
                        _ => return Ok(Some(Event::End)),
                    }
                }
                Raw::Text(text) => return Ok(Some(Event::Text(text.into_inner()))),
                Raw::CData(text) => return Ok(Some(Event::Text(text.into_inner()))),
                Raw::GeneralRef(entity) => return Ok(Some(Event::Text(Cow::Owned(resolved(&entity))))),
                Raw::DocType(_) => {
                    return Err(self.damaged("it declares a DTD, which Office documents never do"));
                }
                Raw::Eof if self.depth > 0 => return Err(self.damaged("it ends within an element")),
                Raw::Eof => return Ok(None),
                Raw::Empty(_) | Raw::Comment(_) | Raw::Decl(_) | Raw::PI(_) => {}
            }
        }
    }

    /// The next child of the element that was entered last; `None` at its end. Text between children is passed over.
    pub(super) fn child(&mut self) -> Result<Option<Element<'a>>, DocumentError> {
        loop {
            match self.next()? {
                Some(Event::Start(element)) => return Ok(Some(element)),
                Some(Event::Text(_)) => {}
                Some(Event::End) | None => return Ok(None),
            }
        }
    }

    /// Goes to the next element of this name, at any depth; `None` at the end of the part.
    pub(super) fn find(&mut self, name: &str) -> Result<Option<Element<'a>>, DocumentError> {
        while let Some(event) = self.next()? {
            if let Event::Start(element) = event
                && element.name() == name
            {
                return Ok(Some(element));
            }
        }
        Ok(None)
    }

    /// Passes over the rest of the element that was entered last.
    pub(super) fn skip(&mut self) -> Result<(), DocumentError> {
        let mut open = 1_usize;
        while open > 0 {
            self.guard.step()?;
            match self.reader.read_event().map_err(|error| self.damaged(&error.to_string()))? {
                Raw::Start(_) => {
                    self.enter()?;
                    open += 1;
                }
                Raw::End(_) => {
                    self.depth -= 1;
                    open -= 1;
                }
                Raw::DocType(_) => {
                    return Err(self.damaged("it declares a DTD, which Office documents never do"));
                }
                Raw::Eof => return Err(self.damaged("it ends within an element")),
                _ => {}
            }
        }
        Ok(())
    }

    /// The text within the element that was entered last, to its end.
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, DocumentError> {
        let mut text = Cow::Borrowed("");
        let mut open = 1_usize;
        while open > 0 {
            match self.next()? {
                Some(Event::Start(_)) => open += 1,
                Some(Event::End) => open -= 1,
                Some(Event::Text(piece)) if text.is_empty() => text = piece,
                Some(Event::Text(piece)) => text.to_mut().push_str(&piece),
                None => break,
            }
        }
        Ok(text)
    }

    fn enter(&mut self) -> Result<(), DocumentError> {
        self.depth += 1;
        if self.depth > self.max_depth {
            return Err(DocumentError::limit("max_depth", self.max_depth as u64));
        }
        Ok(())
    }

    fn is_alternative(&self) -> bool {
        self.alternatives.last().is_some_and(|(depth, _)| *depth + 1 == self.depth)
    }

    pub(super) fn damaged(&self, reason: &str) -> DocumentError {
        DocumentError::damaged(format!("the part {}: {reason}", self.part))
    }
}

/// What `&name;` stands for: the five predefined entities (XML 4.6) and references to chars; any other stays as it is.
fn resolved(name: &str) -> String {
    let char = match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        name => name.strip_prefix('#').and_then(|number| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            code.ok().and_then(char::from_u32)
        }),
    };
    char.map_or_else(|| format!("&{name};"), String::from)
}

fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        text.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        match rest.find(';') {
            Some(end) if end <= 12 => {
                text.push_str(&resolved(rest.get(..end).unwrap_or_default()));
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            _ => text.push('&'),
        }
    }
    text.push_str(rest);
    text
}
