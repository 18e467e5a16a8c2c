//! One attempt: a request, and the bounded bytes of its response.

use std::time::{Duration, SystemTime};

use reqwest::Response;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::{Error, Inner};

/// How much of a server's own words an error keeps, in chars.
const MAX_MESSAGE_CHARS: usize = 1_000;

/// Sends the request once; the response's body where the server answered it.
pub(crate) async fn send(inner: &Inner, body: &Value) -> Result<Vec<u8>, Error> {
    let sent = inner.client.post(inner.url.clone()).json(body).send().await;
    let response = sent.map_err(|error| Error::Connection(error.without_url()))?;
    let status = response.status();
    let retry_after = retry_after(response.headers());
    let body = read(response, inner.max_answer_bytes).await;
    if status.is_success() {
        return body;
    }
    // A refusal counts even where its words did not arrive.
    let message = message(&body.unwrap_or_default());
    Err(Error::Status { status: status.as_u16(), message, retry_after })
}

async fn read(mut response: Response, limit_bytes: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| Error::Connection(error.without_url()))? {
        if bytes.len() + chunk.len() > limit_bytes {
            return Err(Error::TooLarge { limit_bytes });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// The server's words: `error.message` of the protocol, or the body as it is.
fn message(body: &[u8]) -> String {
    let parsed = serde_json::from_slice::<Value>(body).ok();
    let named = parsed
        .as_ref()
        .and_then(|body| body.get("error"))
        .and_then(|error| error.get("message").and_then(Value::as_str).or(error.as_str()).map(str::to_owned));
    let words = named.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    words.trim().chars().take(MAX_MESSAGE_CHARS).collect()
}

/// The pause that a server asks for: seconds, or a date (RFC 9110, section 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    // A date that is past asks for no pause.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}
