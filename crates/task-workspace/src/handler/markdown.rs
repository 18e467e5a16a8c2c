//! Markdown: the text, and its outline.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use serde_json::{Map, Value, json};

use super::form::{decoded, shown_as_text};
use super::text::write_text;
use super::{FileFacts, FileHandler, FormatRequest, FormatValue, Formatted, HandlerError};

/// Texts above this have no outline.
const MAX_OUTLINED_BYTES: usize = 16 * 1024 * 1024;

/// Shows Markdown as its text. The value is the outline: `headings`, each with `level` (1 to 6), `text`, `line` (from 1),
/// and `offset_chars` and `chars` of its section with all subsections, so that a [window](FormatRequest::window) reads
/// just that; and `front_matter`, the raw text between the marks, where the file begins with such. Writes text, as
/// [`TextHandler`](super::TextHandler) does.
///
/// ```
/// use briefing_task_workspace::handler::{FileHandler, FormatRequest, MarkdownHandler};
/// let text = "---\ntags: pump\n---\n# Pump\nOld.\n\nParts\n-----\nSeal.\n".as_bytes();
/// let outline = MarkdownHandler.read(text, &FormatRequest::whole())?.value.unwrap();
/// assert_eq!(outline["front_matter"], "tags: pump\n");
/// assert_eq!((&outline["headings"][1]["text"], &outline["headings"][1]["line"]), (&"Parts".into(), &7.into()));
/// let (offset, chars) = (outline["headings"][1]["offset_chars"].as_u64(), outline["headings"][1]["chars"].as_u64());
/// let section = FormatRequest::window(offset.unwrap() as usize, chars.unwrap() as usize);
/// assert_eq!(MarkdownHandler.read(text, &section)?.text, "Parts\n-----\nSeal.\n");
/// # Ok::<(), briefing_task_workspace::handler::HandlerError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct MarkdownHandler;

impl FileHandler for MarkdownHandler {
    fn id(&self) -> &str {
        "markdown"
    }

    fn priority(&self) -> i32 {
        160
    }

    fn matches(&self, file: &FileFacts<'_>) -> bool {
        file.is_text_of(&["md", "markdown", "mdown", "mkd", "mdx"], &["text/markdown", "text/x-markdown"])
    }

    fn read(&self, bytes: &[u8], request: &FormatRequest) -> Result<Formatted, HandlerError> {
        let decoded = decoded(bytes)?;
        let formatted = shown_as_text(self.id(), &decoded, request);
        if !request.with_value {
            return Ok(formatted);
        }
        Ok(formatted.with_value_or_reason(if decoded.text.len() > MAX_OUTLINED_BYTES {
            Err(format!("more than {MAX_OUTLINED_BYTES} bytes of text are not outlined"))
        } else {
            Ok(outline(&decoded.text))
        }))
    }

    fn write(&self, previous: Option<&[u8]>, value: &FormatValue) -> Result<Vec<u8>, HandlerError> {
        write_text(self.id(), previous, value)
    }
}

struct Heading {
    level: HeadingLevel,
    text: String,
    bytes: Range<usize>,
}

fn outline(text: &str) -> Value {
    let options =
        Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut headings: Vec<Heading> = Vec::new();
    let mut front_matter: Option<String> = None;
    let (mut in_heading, mut in_front_matter) = (false, false);
    for (event, bytes) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                in_heading = true;
                headings.push(Heading { level, text: String::new(), bytes });
            }
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            Event::Start(Tag::MetadataBlock(_)) => {
                // A block further down is a second document or a rule, and no front matter.
                in_front_matter = front_matter.is_none() && bytes.start == 0;
            }
            Event::End(TagEnd::MetadataBlock(_)) => in_front_matter = false,
            Event::Text(piece) if in_front_matter => {
                front_matter.get_or_insert_default().push_str(&piece);
            }
            Event::Text(piece) | Event::Code(piece) if in_heading => {
                if let Some(heading) = headings.last_mut() {
                    heading.text.push_str(&piece);
                }
            }
            Event::SoftBreak | Event::HardBreak if in_heading => {
                if let Some(heading) = headings.last_mut() {
                    heading.text.push(' ');
                }
            }
            _ => {}
        }
    }
    let mut outline = Map::new();
    if let Some(front_matter) = front_matter {
        outline.insert("front_matter".to_owned(), front_matter.into());
    }
    outline.insert("headings".to_owned(), placed(text, &headings));
    Value::Object(outline)
}

/// The headings with their lines and the places of their sections, by one walk over the text.
fn placed(text: &str, headings: &[Heading]) -> Value {
    let (mut at, mut line, mut chars) = (0, 1, 0);
    let mut places = Vec::with_capacity(headings.len() + 1);
    for start in headings.iter().map(|heading| heading.bytes.start).chain([text.len()]) {
        let between = text.get(at..start).unwrap_or_default();
        line += between.matches('\n').count();
        chars += between.chars().count();
        places.push((line, chars));
        at = start;
    }
    let end_of_text = places.last().map_or(0, |(_, chars)| *chars);
    let ends = section_ends(headings);
    let listed = headings.iter().zip(&places).zip(ends).map(|((heading, (line, offset)), end)| {
        let end = places.get(end).map_or(end_of_text, |(_, chars)| *chars);
        json!({
            "level": heading.level as usize,
            "text": heading.text,
            "line": line,
            "offset_chars": offset,
            "chars": end - offset,
        })
    });
    Value::Array(listed.collect())
}

/// For each heading the index of the next one that is not beneath it.
fn section_ends(headings: &[Heading]) -> Vec<usize> {
    let mut ends = vec![headings.len(); headings.len()];
    let mut open: Vec<(usize, HeadingLevel)> = Vec::new();
    for (index, heading) in headings.iter().enumerate() {
        while let Some((closed, _)) = open.pop_if(|(_, level)| *level >= heading.level) {
            if let Some(end) = ends.get_mut(closed) {
                *end = index;
            }
        }
        open.push((index, heading.level));
    }
    ends
}
