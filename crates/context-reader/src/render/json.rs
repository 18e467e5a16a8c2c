//! JSON: one document; a content that is text is a string, a structured one stays structured.

use briefing_core::{Content, ContextBlock};
use serde_json::{Value, json};

use super::{Citation, Notes};
use crate::deliver::shown_text;

pub(super) fn whole(blocks: &[ContextBlock], notes: &Notes) -> String {
    let blocks: Vec<Value> = (1..).zip(blocks).map(|(number, block)| value(block, number)).collect();
    let mut document = json!({ "blocks": blocks });
    if let Some(object) = document.as_object_mut() {
        if !notes.omitted.is_empty() {
            object.insert("left_out".to_owned(), json!(notes.omitted));
        }
        if !notes.problems.is_empty() {
            object.insert("problems".to_owned(), json!(notes.problems));
        }
    }
    format!("{document}\n")
}

pub(super) fn segment(block: &ContextBlock, number: usize) -> String {
    format!("{},", value(block, number))
}

fn value(block: &ContextBlock, number: usize) -> Value {
    let citation = Citation::of(block);
    let mut value = json!({
        "n": number,
        "ref": citation.place,
        "source": citation.source,
        "role": citation.role,
        "completeness": citation.completeness,
    });
    if let Some(object) = value.as_object_mut() {
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                object.insert(key.to_owned(), value);
            }
        };
        put("version", citation.version.map(Value::from));
        put("form", citation.form.map(Value::from));
        put("next_char", citation.next_char.map(Value::from));
        put(
            "content",
            match (&block.content, shown_text(block)) {
                (Some(Content::Structured(content)), Some(_)) => Some(content.clone()),
                (_, shown) => shown.map(|text| Value::from(text.into_owned())),
            },
        );
    }
    value
}
