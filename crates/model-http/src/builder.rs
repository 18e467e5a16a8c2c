//! How a model is reached.

use std::sync::Arc;
use std::time::Duration;

use backon::ExponentialBuilder;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::{Map, Value};

use crate::{Error, HttpModel, Inner};

/// How a server is made to answer with JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerForm {
    /// By the schema, in `response_format`: servers that know it can give nothing else.
    #[default]
    Schema,
    /// By `response_format` as some JSON object, with the schema in the instruction.
    Object,
    /// By the instruction alone, for servers that refuse `response_format`.
    Prompted,
}

/// Describes an [`HttpModel`]. The defaults: no key, answers by schema, 60 s for an attempt and 10 s of it for the
/// connection, 4 more attempts, pauses from 0.5 s to 30 s, 5 min in all, answers up to 4 MiB.
#[derive(Clone)]
pub struct HttpModelBuilder {
    base_url: String,
    model: String,
    api_key: Option<String>,
    allow_plain_http: bool,
    form: AnswerForm,
    options: Map<String, Value>,
    timeout: Duration,
    connect_timeout: Duration,
    total_timeout: Duration,
    retries: usize,
    min_pause: Duration,
    max_pause: Duration,
    max_answer_bytes: usize,
}

impl std::fmt::Debug for HttpModelBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpModelBuilder")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("has_api_key", &self.api_key.is_some())
            .finish_non_exhaustive()
    }
}

impl HttpModelBuilder {
    pub(crate) fn new(base_url: String, model: String) -> Self {
        Self {
            base_url,
            model,
            api_key: None,
            allow_plain_http: false,
            form: AnswerForm::Schema,
            options: Map::new(),
            timeout: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            total_timeout: Duration::from_secs(300),
            retries: 4,
            min_pause: Duration::from_millis(500),
            max_pause: Duration::from_secs(30),
            max_answer_bytes: 4 << 20,
        }
    }

    /// Sends a key as `Authorization: Bearer`. It shows in no message and no debug output, and is sent over plain HTTP only
    /// to this machine.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Lets the key go over plain HTTP to other machines, for networks that are trusted.
    #[must_use]
    pub fn allow_plain_http(mut self) -> Self {
        self.allow_plain_http = true;
        self
    }

    /// Sets how the server is made to answer with JSON.
    #[must_use]
    pub fn answer_form(mut self, form: AnswerForm) -> Self {
        self.form = form;
        self
    }

    /// Sends a field of the protocol with each request: `temperature`, `max_completion_tokens`, `seed`. The fields `model`,
    /// `messages`, `stream` and `response_format` are the client's own.
    #[must_use]
    pub fn option(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.options.insert(field.into(), value.into());
        self
    }

    /// Sets how long one attempt may take, the answer's arrival included.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long a connection may take.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long all attempts and pauses may take together.
    #[must_use]
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = timeout;
        self
    }

    /// Sets how often a failed attempt is made again.
    #[must_use]
    pub fn retries(mut self, retries: usize) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the first pause and the longest. Each is twice the one before, and up to as much again at random; a server that
    /// asks for more than the longest is not asked again.
    #[must_use]
    pub fn pauses(mut self, first: Duration, longest: Duration) -> Self {
        (self.min_pause, self.max_pause) = (first, longest);
        self
    }

    /// Sets the largest response, in bytes.
    #[must_use]
    pub fn max_answer_bytes(mut self, bytes: usize) -> Self {
        self.max_answer_bytes = bytes;
        self
    }

    /// The model. Nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Url`] for an address that is no HTTP one, [`Error::PlainHttp`], [`Error::Key`] for a key that no header can
    /// hold, [`Error::Option`] for a field that is the client's own, [`Error::Client`] where the system's certificates or
    /// proxies cannot be used.
    pub fn build(self) -> Result<HttpModel, Error> {
        let refused = |reason: String| Error::Url { url: self.base_url.clone(), reason };
        let url = format!("{}/chat/completions", self.base_url.trim_end_matches('/'));
        let url = reqwest::Url::parse(&url).map_err(|error| refused(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused(format!("its scheme is {}, and http or https is accepted", url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it holds credentials, which belong into the key".to_owned()));
        }
        if let Some(field) = ["model", "messages", "stream", "response_format"]
            .into_iter()
            .find(|f| self.options.contains_key(*f))
        {
            return Err(Error::Option { field });
        }
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.api_key {
            if url.scheme() == "http" && !self.allow_plain_http && !is_this_machine(&url) {
                return Err(Error::PlainHttp { host: url.host_str().unwrap_or_default().to_owned() });
            }
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| Error::Key)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // Where the application has installed a provider already, that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .default_headers(headers)
            .timeout(self.timeout)
            .connect_timeout(self.connect_timeout)
            // The key must not follow a redirection.
            .redirect(Policy::none())
            .user_agent(concat!("briefing/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(Error::Client)?;
        let backoff = ExponentialBuilder::new()
            .with_min_delay(self.min_pause)
            .with_max_delay(self.max_pause)
            .with_max_times(self.retries)
            .with_jitter();
        Ok(HttpModel(Arc::new(Inner {
            client,
            url,
            model: self.model,
            form: self.form,
            options: self.options,
            total_timeout: self.total_timeout,
            max_pause: self.max_pause,
            max_answer_bytes: self.max_answer_bytes,
            backoff,
        })))
    }
}

fn is_this_machine(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
