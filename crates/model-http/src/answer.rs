//! From the bytes of a response to the model's answer.

use serde::Deserialize;
use serde_json::Value;

use crate::Error;

/// What of a response is looked at; servers add fields of their own.
#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    finish_reason: Option<String>,
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

/// The answer in a response.
pub(crate) fn of(body: Vec<u8>) -> Result<Value, Error> {
    let completion: Completion =
        serde_json::from_slice(&body).map_err(|error| Error::Protocol { reason: error.to_string() })?;
    let choice = completion.choices.into_iter().next();
    let choice = choice.ok_or_else(|| Error::Protocol { reason: "it holds no choice".to_owned() })?;
    if let Some(reason) = choice.message.refusal.filter(|refusal| !refusal.is_empty()) {
        return Err(Error::Refused { reason });
    }
    match choice.finish_reason.as_deref() {
        Some("length") => return Err(Error::Cut),
        Some("content_filter") => return Err(Error::Refused { reason: "the content filter".to_owned() }),
        _ => {}
    }
    let content = choice.message.content.unwrap_or_default();
    let not_json = |reason: String| Error::NotJson { reason };
    let mut value: Value =
        serde_json::from_str(without_fence(&content)).map_err(|error| not_json(error.to_string()))?;
    let answer = value.as_object_mut().and_then(|object| object.remove("answer"));
    answer.ok_or_else(|| not_json("the field is missing".to_owned()))
}

/// The text inside a code fence, where a model without a forced form put one around its answer.
fn without_fence(content: &str) -> &str {
    let content = content.trim();
    let Some(inner) = content.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return content;
    };
    // The rest of the first line says what is inside.
    inner.split_once('\n').map_or(inner, |(_, inside)| inside).trim()
}
