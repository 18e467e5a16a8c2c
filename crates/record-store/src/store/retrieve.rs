//! Retrieval: the records that fit a query, with as much of their contents as a budget allows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::RecordStore;
use crate::{
    ContentFormat, Error, HitReason, ListRequest, RecordFilter, RecordRef, SearchMethod, SearchRequest,
    Window,
};

/// The most chars of one package, unless the request says otherwise.
const BUDGET_CHARS: usize = 12_000;

/// The most chars of one item, unless the request says otherwise.
const ITEM_CHARS: usize = 2_400;

/// How many candidates are looked at, unless the request says otherwise.
const CANDIDATES: usize = 50;

/// How the items of a package are chosen among the hits, which come best first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetrievalSelection {
    /// As many as the budget holds.
    #[default]
    Length,
    /// The best so many, if the budget holds them.
    TopN(usize),
}

/// What to retrieve.
///
/// ```
/// use briefing_record_store::RetrieveRequest;
/// let request = RetrieveRequest::new("pump check").budget_chars(2_000);
/// assert_eq!(request.budget_chars, 2_000);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrieveRequest {
    /// What is looked for. Without a word in it, the newest records are taken.
    pub query: String,
    /// Among which records.
    pub filter: RecordFilter,
    /// The most chars of all contents together.
    pub budget_chars: usize,
    /// The most chars of one content; what is longer is shown in part.
    pub item_chars: usize,
    /// How many hits are looked at.
    pub max_candidates: usize,
    /// How the items are chosen.
    pub selection: RetrievalSelection,
    /// How records are found.
    pub method: SearchMethod,
}

impl Default for RetrieveRequest {
    fn default() -> Self {
        Self {
            query: String::new(),
            filter: RecordFilter::new(),
            budget_chars: BUDGET_CHARS,
            item_chars: ITEM_CHARS,
            max_candidates: CANDIDATES,
            selection: RetrievalSelection::default(),
            method: SearchMethod::default(),
        }
    }
}

impl RetrieveRequest {
    /// What fits a query, within the usual budget: 12,000 chars, 2,400 of one record.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }

    /// Sets the filter.
    #[must_use]
    pub fn filter(mut self, filter: RecordFilter) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the most chars of all contents together.
    #[must_use]
    pub fn budget_chars(mut self, chars: usize) -> Self {
        self.budget_chars = chars;
        self
    }

    /// Sets the most chars of one content.
    #[must_use]
    pub fn item_chars(mut self, chars: usize) -> Self {
        self.item_chars = chars;
        self
    }

    /// Sets how the items are chosen.
    #[must_use]
    pub fn selection(mut self, selection: RetrievalSelection) -> Self {
        self.selection = selection;
        self
    }
}

/// How much of a content an item shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyState {
    /// All of it.
    Whole,
    /// The beginning; the rest is read from where it ends.
    Beginning,
    /// A structured value without what is too long of it.
    Projected,
    /// Nothing: bytes are only named.
    Reference,
}

/// A record in a package.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrievedItem {
    /// The record.
    pub record: RecordRef,
    /// What is shown of its content; empty for bytes.
    pub content: String,
    /// How much of it that is.
    pub body_state: BodyState,
    /// How well it fits; 0 where nothing was searched for.
    pub score: f64,
    /// Why it was found.
    pub reason: HitReason,
    /// The length of the whole content in chars; for bytes in bytes.
    pub raw_chars: u64,
    /// The length of what is shown, in chars.
    pub projected_chars: u64,
    /// Whether something is missing.
    pub truncated: bool,
    /// Where to read on, in chars, for a beginning.
    pub next_offset: Option<u64>,
}

/// Records that were found and left out, by reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedRecords {
    /// `over_budget`, `beyond_top_n` or `more_candidates` (there may be more hits than were looked at).
    pub reason: String,
    /// How many; of more candidates at least so many.
    pub count: usize,
}

/// Something about the retrieval that its reader should know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrievalDiagnostic {
    /// A stable code.
    pub code: String,
    /// What it is about.
    pub message: String,
}

/// What was retrieved. What fits nothing is not in it: no hit, no item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RetrievalPackage {
    /// The items, best first.
    pub items: Vec<RetrievedItem>,
    /// The chars of all contents together.
    pub used_chars: usize,
    /// What was found and left out.
    pub omitted: Vec<OmittedRecords>,
    /// What else there is to know.
    pub diagnostics: Vec<RetrievalDiagnostic>,
}

impl RecordStore {
    /// The records that fit a query best, with as much of their contents as the budget allows.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub async fn retrieve(&self, request: &RetrieveRequest) -> Result<RetrievalPackage, Error> {
        let mut package = RetrievalPackage::default();
        let wanted = request.max_candidates.saturating_add(1);
        let mut hits: Vec<(RecordRef, f64, HitReason)> = if request.query.chars().any(char::is_alphanumeric) {
            let search = SearchRequest {
                query: request.query.clone(),
                filter: request.filter.clone(),
                limit: wanted,
                method: request.method,
            };
            let hits = self.search(&search).await?;
            hits.into_iter().map(|hit| (hit.record, hit.score, hit.reason)).collect()
        } else {
            package.diagnostics.push(RetrievalDiagnostic {
                code: "retrieve.no_words".to_owned(),
                message: "the query has no word; the newest records were taken".to_owned(),
            });
            let page = self.list(&ListRequest::of(request.filter.clone()).limit(wanted)).await?;
            page.records.into_iter().map(|record| (record, 0.0, HitReason::default())).collect()
        };
        let mut omit = |reason: &str, count: usize| {
            if count > 0 {
                package.omitted.push(OmittedRecords { reason: reason.to_owned(), count });
            }
        };
        omit("more_candidates", hits.len().saturating_sub(request.max_candidates));
        hits.truncate(request.max_candidates);
        if let RetrievalSelection::TopN(most) = request.selection {
            omit("beyond_top_n", hits.len().saturating_sub(most));
            hits.truncate(most);
        }
        let mut over_budget = 0;
        for (record, score, reason) in hits {
            let left = request.budget_chars.saturating_sub(package.used_chars);
            let Some(body) = self.body(&record, left.min(request.item_chars)).await? else {
                over_budget += 1;
                continue;
            };
            let (projected, raw) = (body.text.chars().count(), record.length());
            package.used_chars += projected;
            package.items.push(RetrievedItem {
                truncated: body.state != BodyState::Whole,
                next_offset: (body.state == BodyState::Beginning).then_some(projected as u64),
                raw_chars: raw,
                projected_chars: projected as u64,
                record,
                content: body.text,
                body_state: body.state,
                score,
                reason,
            });
        }
        if over_budget > 0 {
            package.omitted.push(OmittedRecords { reason: "over_budget".to_owned(), count: over_budget });
        }
        Ok(package)
    }

    /// What is shown of a record within a limit; `None` where nothing can be.
    async fn body(&self, record: &RecordRef, limit: usize) -> Result<Option<Body>, Error> {
        if record.format == ContentFormat::Bytes {
            return Ok(Some(Body { text: String::new(), state: BodyState::Reference }));
        }
        let whole = record.length() <= limit as u64;
        if limit == 0 && !whole {
            return Ok(None);
        }
        let window = match record.format {
            // A part of a JSON text is no JSON: the whole is read, and made smaller.
            ContentFormat::Json => Window::WHOLE,
            _ => Window::new(0, limit.max(1) as u64),
        };
        let segment = match self.read_version(&record.id, record.version, window).await {
            Ok(segment) => segment,
            // It was deleted between the search and now.
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = segment.content.into_text().unwrap_or_default();
        if whole {
            return Ok(Some(Body { text, state: BodyState::Whole }));
        }
        if record.format == ContentFormat::Json {
            let value = serde_json::from_str(&text).unwrap_or(Value::Null);
            let text = projected(&value, limit);
            if text.is_empty() {
                return Ok(None);
            }
            return Ok(Some(Body { text, state: BodyState::Projected }));
        }
        Ok(Some(Body { text, state: BodyState::Beginning }))
    }
}

struct Body {
    text: String,
    state: BodyState,
}

/// A structured value as lines `path: value`, as many as fit within `limit` chars; what is left out is counted in the last
/// line if there is room for it.
fn projected(value: &Value, limit: usize) -> String {
    fn walk(value: &Value, path: &str, lines: &mut Vec<String>) {
        let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                fields.iter().for_each(|(key, value)| walk(value, &inner(key), lines));
            }
            Value::Array(values) if !values.is_empty() => {
                values.iter().enumerate().for_each(|(at, value)| walk(value, &inner(&at.to_string()), lines));
            }
            Value::String(text) => lines.push(format!("{path}: {}", text.replace('\n', " "))),
            other => lines.push(format!("{path}: {other}")),
        }
    }
    let mut lines = Vec::new();
    walk(value, "", &mut lines);
    let (mut out, mut used, mut left_out) = (String::new(), 0, 0);
    // Room for the last line.
    let room = limit.saturating_sub(24);
    for line in lines {
        let chars = line.chars().count() + 1;
        if used + chars > room {
            left_out += 1;
            continue;
        }
        used += chars;
        out.push_str(&line);
        out.push('\n');
    }
    let last = format!("[{left_out} fields left out]");
    if left_out > 0 && used + last.chars().count() <= limit {
        out.push_str(&last);
    }
    out
}
