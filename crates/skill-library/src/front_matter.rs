//! The front matter of a `SKILL.md`: what a skill says about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_saphyr::Options;

use crate::{Error, SkillName};

/// The longest front matter, in bytes. The fields of the convention need less than 3,000 chars.
const MAX_BYTES: usize = 64 << 10;

/// The longest `description` and `compatibility`, in chars (Agent Skills specification).
const MAX_DESCRIPTION_CHARS: usize = 1_024;
const MAX_COMPATIBILITY_CHARS: usize = 500;

/// What a skill says about itself, by the fields of the Agent Skills specification
/// (<https://agentskills.io/specification>).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FrontMatter {
    /// The skill's name, which is its folder's name too.
    pub name: SkillName,
    /// What it does and when to use it: 1 to 1,024 chars.
    pub description: String,
    /// The licence, or the file that holds it.
    pub license: Option<String>,
    /// What it needs of its environment: 1 to 500 chars.
    pub compatibility: Option<String>,
    /// Further facts. Values are texts as they are written where all of them are scalars, else what YAML makes of them.
    pub metadata: Map<String, Value>,
    /// Tools that the skill asks to use without a question each time; whoever runs tools decides.
    pub allowed_tools: Vec<String>,
    /// Fields that the convention does not know, as YAML reads them.
    pub other: Map<String, Value>,
}

/// A text that is parted into front matter and the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parted<'a> {
    /// Between the marks, without them.
    pub(crate) yaml: &'a str,
    /// Where the rest begins, in bytes; blank lines after the mark belong to neither.
    pub(crate) rest: usize,
}

/// Parts a text that begins with a line `---`; `Err` says what is missing.
pub(crate) fn part(text: &str) -> Result<Parted<'_>, &'static str> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---");
    let first = first.ok_or("it must begin with front matter: a line --- , YAML, and a line --- again")?;
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            let yaml = text.get(first.len()..at).unwrap_or_default();
            let after = at + line.len();
            let blank = text.get(after..).unwrap_or_default().split_inclusive('\n');
            let blank: usize = blank.take_while(|line| line.trim().is_empty()).map(str::len).sum();
            return Ok(Parted { yaml, rest: after + blank });
        }
        at += line.len();
    }
    Err("the front matter has no end: a line --- is missing after it")
}

#[derive(Deserialize)]
struct Fields {
    name: Option<String>,
    description: Option<String>,
    license: Option<String>,
    compatibility: Option<String>,
    metadata: Option<Map<String, Value>>,
    #[serde(rename = "allowed-tools")]
    allowed_tools: Option<Tools>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Tools {
    Line(String),
    List(Vec<String>),
}

/// The same document, where its metadata are texts as the convention wants them: `1.10` stays `1.10`.
#[derive(Deserialize)]
struct TextMetadata {
    metadata: BTreeMap<String, String>,
}

impl FrontMatter {
    /// Reads and checks the front matter of a `SKILL.md`; answers with it and where the body begins, in bytes of `text`.
    pub(crate) fn of(text: &str) -> Result<(Self, usize), Error> {
        let parted = part(text).map_err(|reason| Error::front_matter(1, reason))?;
        if parted.yaml.len() > MAX_BYTES {
            return Err(Error::Limit {
                what: "SKILL.md: bytes of front matter".to_owned(),
                found: parted.yaml.len() as u64,
                limit: MAX_BYTES as u64,
            });
        }
        let fields: Fields =
            serde_saphyr::from_str_with_options(parted.yaml, bounded()).map_err(|error| {
                // The mark above the YAML is line 1.
                Error::front_matter(
                    error.location().map(|place| place.line() + 1),
                    first_line(&error.to_string()),
                )
            })?;
        let metadata = match serde_saphyr::from_str_with_options::<TextMetadata>(parted.yaml, bounded()) {
            Ok(texts) => texts.metadata.into_iter().map(|(key, text)| (key, text.into())).collect(),
            Err(_) => fields.metadata.unwrap_or_default(),
        };
        let name = fields.name.as_deref().map_or_else(|| Err(missing("name")), SkillName::new)?;
        let checked = Self {
            name,
            description: text_of(
                "description",
                fields.description,
                MAX_DESCRIPTION_CHARS,
                "1 to 1024 chars",
            )?
            .ok_or_else(|| missing("description"))?,
            license: fields.license.map(|license| license.trim().to_owned()),
            compatibility: text_of(
                "compatibility",
                fields.compatibility,
                MAX_COMPATIBILITY_CHARS,
                "1 to 500 chars, or no such field",
            )?,
            metadata,
            allowed_tools: match fields.allowed_tools {
                None => Vec::new(),
                Some(Tools::Line(line)) => split_tools(&line),
                Some(Tools::List(list)) => list,
            },
            other: fields.other,
        };
        Ok((checked, parted.rest))
    }
}

fn missing(field: &'static str) -> Error {
    Error::front_matter(1, format!("the field {field} is missing; name and description are required"))
}

fn text_of(
    field: &'static str,
    text: Option<String>,
    max_chars: usize,
    expected: &'static str,
) -> Result<Option<String>, Error> {
    let Some(text) = text else { return Ok(None) };
    let text = text.trim();
    let chars = text.chars().count();
    if chars == 0 {
        return Err(Error::field(field, text, expected));
    }
    if chars > max_chars {
        return Err(Error::Field { field, found: format!("{chars} chars"), expected });
    }
    Ok(Some(text.to_owned()))
}

/// Limits under which neither depth, size nor aliases can make the parser work long.
fn bounded() -> Options {
    let budget = serde_saphyr::budget! {
        max_events: 8_192,
        max_nodes: 4_096,
        max_depth: 16,
        max_anchors: 16,
        max_aliases: 16,
        max_merge_keys: 16,
        max_documents: 1,
    };
    serde_saphyr::options! {
        budget: budget,
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 4_096,
            max_replay_stack_depth: 8,
            max_alias_expansions_per_anchor: 16,
        },
        with_snippet: false,
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Names of tools, parted by white space or commas that stand in no brackets: `Bash(git add:*)` is one.
fn split_tools(line: &str) -> Vec<String> {
    let (mut tools, mut tool, mut depth) = (Vec::new(), String::new(), 0_usize);
    for char in line.chars() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (char.is_whitespace() || char == ',') {
            tools.push(std::mem::take(&mut tool));
        } else {
            tool.push(char);
        }
    }
    tools.push(tool);
    tools.retain(|tool| !tool.is_empty());
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_parted_outside_of_brackets() {
        assert_eq!(
            split_tools("Bash(git add:*) Read,Grep , Edit"),
            ["Bash(git add:*)", "Read", "Grep", "Edit"]
        );
        assert!(split_tools("  ").is_empty());
    }

    #[test]
    fn the_rest_begins_after_the_mark_and_blank_lines() {
        let text = "---\r\nname: a\r\n---\r\n\r\n\n# A";
        let parted = part(text).unwrap();
        assert_eq!((parted.yaml, text.get(parted.rest..).unwrap()), ("name: a\r\n", "# A"));
        assert!(part("# A\n---\nname: a\n---\n").is_err());
        assert!(part("---\nname: a\n").is_err());
    }
}
