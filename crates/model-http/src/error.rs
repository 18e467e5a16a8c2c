//! What can go wrong between a prompt and its answer.

use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address that cannot be used.
    #[error("the model's address {url:?} cannot be used: {reason}")]
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A key would go over plain HTTP to another machine.
    #[error("the key would be sent to {host} without encryption; use https, or allow plain HTTP")]
    PlainHttp {
        /// The other machine.
        host: String,
    },
    /// A key that no header can hold.
    #[error("the key holds characters that no HTTP header can hold; visible ASCII is accepted")]
    Key,
    /// A field that the client sets itself.
    #[error("the field {field} is set by the client and cannot be an option")]
    Option {
        /// The field.
        field: &'static str,
    },
    /// No client could be made.
    #[error("no HTTP client can be made")]
    Client(#[source] reqwest::Error),
    /// The server was not reached, or went silent.
    #[error("the model's server was not reached or went silent")]
    Connection(#[source] reqwest::Error),
    /// The server refused, or failed.
    #[error("the model's server answered {status}: {message}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The server's own words, cut at 1,000 chars.
        message: String,
        /// The pause that it asks for.
        retry_after: Option<Duration>,
    },
    /// More bytes than an answer may have.
    #[error("the model's response is larger than {limit_bytes} bytes")]
    TooLarge {
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// A response that is none of the protocol.
    #[error("the model's response is not one of the chat completions protocol: {reason}")]
    Protocol {
        /// What is wrong with it.
        reason: String,
    },
    /// The model refused to answer.
    #[error("the model refused: {reason}")]
    Refused {
        /// Its own words, or why the server stopped it.
        reason: String,
    },
    /// The answer was cut.
    #[error("the model's answer was cut at its length limit")]
    Cut,
    /// An answer that is not the JSON that was asked for.
    #[error("the model's answer is not a JSON object with the field `answer`: {reason}")]
    NotJson {
        /// What is wrong with it.
        reason: String,
    },
    /// All attempts together took too long.
    #[error("the model gave no answer within {after:?}")]
    Deadline {
        /// How long was waited.
        after: Duration,
    },
}

impl Error {
    /// A stable machine-readable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Url { .. } => "model.url",
            Self::PlainHttp { .. } => "model.plain_http",
            Self::Key => "model.key",
            Self::Option { .. } => "model.option",
            Self::Client(_) => "model.client",
            Self::Connection(_) => "model.connection",
            Self::Status { .. } => "model.status",
            Self::TooLarge { .. } => "model.too_large",
            Self::Protocol { .. } => "model.protocol",
            Self::Refused { .. } => "model.refused",
            Self::Cut => "model.cut",
            Self::NotJson { .. } => "model.not_json",
            Self::Deadline { .. } => "model.deadline",
        }
    }

    /// Whether another attempt may help: the server was busy, broken or out of reach.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Connection(_) => true,
            Self::Status { status, .. } => {
                matches!(status, 408 | 409 | 425 | 429 | 500..=599) && *status != 501
            }
            _ => false,
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
