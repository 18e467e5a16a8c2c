//! The recording's fake source and selector, as its `meta` describes them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine as _;
use briefing_core::{
    ChangeFeed, Completeness, Content, ContextSource, Cursor, DescriptorKey, DescriptorPage, PortError,
    ProjectionProfile, ReadRequest, Representation, Revision, ScopedRead, SelectionRequest, SemanticSelector,
    SourceChange, SourceChangeSet, SourceDescriptor, SourceError, SourceErrorKind, SourceId, SourceKind,
    SourceRead, SourceRef,
};
use briefing_task_context::TaskContext;
use serde_json::{Value, json};

/// Fills in what is missing.
pub(super) fn merge(value: &mut Value, defaults: &Value) {
    for (key, default) in defaults.as_object().unwrap() {
        let object = value.as_object_mut().unwrap();
        object.entry(key.clone()).or_insert_with(|| default.clone());
    }
}

pub(super) fn content(recorded: &Value) -> Content {
    match (recorded, recorded.get("$bytes_b64")) {
        (Value::String(text), _) => Content::Text(text.clone()),
        (_, Some(bytes)) => {
            let decoded = base64::engine::general_purpose::STANDARD.decode(bytes.as_str().unwrap());
            Content::Bytes(decoded.unwrap())
        }
        (other, None) => Content::Structured(other.clone()),
    }
}

/// The log of calls to all sources.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls(Arc<Mutex<Vec<Value>>>);

impl Calls {
    fn log(&self, call: Value) {
        self.0.lock().unwrap().push(call);
    }

    pub(super) fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[derive(Debug)]
pub(super) struct FakeSource {
    id: SourceId,
    kind: SourceKind,
    recorded: Value,
    state: Mutex<State>,
    calls: Calls,
}

#[derive(Debug)]
struct State {
    revision: String,
    descriptors: Vec<Value>,
    bumps: i64,
    failures: i64,
    /// For each step: from, to, upserts, removals.
    history: Vec<(String, String, Vec<Value>, Vec<String>)>,
}

fn failed(message: &str) -> SourceError {
    SourceError::new(SourceErrorKind::Unreadable, message)
}

impl FakeSource {
    pub(super) fn new(recorded: &Value, calls: Calls) -> Self {
        Self {
            id: SourceId::new(recorded["source_id"].as_str().unwrap()).unwrap(),
            kind: SourceKind::new(recorded["source_kind"].as_str().unwrap()).unwrap(),
            state: Mutex::new(State {
                revision: recorded["revision"].as_str().unwrap().to_owned(),
                descriptors: recorded["descriptors"].as_array().unwrap().clone(),
                bumps: 0,
                failures: 0,
                history: Vec::new(),
            }),
            recorded: recorded.clone(),
            calls,
        }
    }

    pub(super) fn bump(&self, step: &Value) {
        let mut state = self.state.lock().unwrap();
        let defaults = json!({
            "role": "information", "index_text": "", "required": false, "priority": 0, "metadata": {},
            "completeness": "complete",
        });
        let mut upserts = step.get("upsert").and_then(Value::as_array).cloned().unwrap_or_default();
        upserts.iter_mut().for_each(|descriptor| merge(descriptor, &defaults));
        let removals: Vec<String> = step
            .get("remove")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|key| key.as_str().unwrap().to_owned())
            .collect();
        let to = step["revision"].as_str().unwrap().to_owned();
        let from = std::mem::replace(&mut state.revision, to.clone());
        state
            .descriptors
            .retain(|descriptor| !removals.iter().any(|key| descriptor["descriptor_key"] == **key));
        for upsert in &upserts {
            let key = &upsert["descriptor_key"];
            match state.descriptors.iter_mut().find(|old| old["descriptor_key"] == *key) {
                Some(old) => *old = upsert.clone(),
                None => state.descriptors.push(upsert.clone()),
            }
        }
        state.history.push((from, to, upserts, removals));
    }

    fn descriptor(&self, recorded: &Value, revision: &str, all: &[Value]) -> SourceDescriptor {
        let text = |key: &str| recorded[key].as_str().unwrap_or_default();
        let mut descriptor = SourceDescriptor::new(
            self.id.clone(),
            Revision::new(revision).unwrap(),
            DescriptorKey::new(text("descriptor_key")).unwrap(),
            SourceRef::new(text("source_ref")).unwrap(),
        );
        descriptor.role = text("role").parse().unwrap();
        if let Some(title) = recorded["title"].as_str() {
            descriptor.title = title.to_owned();
        }
        descriptor.summary = text("summary").to_owned();
        descriptor.index_text = text("index_text").to_owned();
        descriptor.estimated_chars =
            usize::try_from(recorded["estimated_chars"].as_u64().unwrap_or(0)).unwrap();
        descriptor.required = recorded["required"].as_bool().unwrap();
        descriptor.priority = recorded["priority"].as_i64().unwrap();
        descriptor.metadata = recorded["metadata"].as_object().unwrap().clone();
        // The recording names parents by ref, we by key.
        let parent = descriptor.metadata.get("parent_source_ref");
        descriptor.parent_key = parent
            .and_then(|parent| all.iter().find(|descriptor| descriptor["source_ref"] == *parent))
            .map(|parent| DescriptorKey::new(parent["descriptor_key"].as_str().unwrap()).unwrap());
        descriptor
    }

    fn read(
        &self,
        source_ref: &SourceRef,
        locator: Option<&str>,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        let state = self.state.lock().unwrap();
        let recorded =
            state.descriptors.iter().find(|descriptor| descriptor["source_ref"] == *source_ref.as_str());
        let recorded = recorded.ok_or_else(|| SourceError::not_found(source_ref.as_str()))?;
        if let Some(message) = recorded["fail"].as_str() {
            return Err(failed(message));
        }
        let lossy = request.representation == Some(Representation::LossyDigest);
        if let (true, Some(message)) = (lossy, recorded["digest_fail"].as_str()) {
            return Err(failed(message));
        }
        let pinned = self.recorded["pinned_reads"] == true;
        let current = if pinned { self.recorded["revision"].as_str().unwrap() } else { &state.revision };
        let revision = recorded["read_revision"].as_str().unwrap_or(current);
        let answered = recorded["read_ref"].as_str().unwrap_or(source_ref.as_str());
        let mut read = SourceRead::complete(
            self.id.clone(),
            Revision::new(revision).unwrap(),
            SourceRef::new(answered).unwrap(),
            content(&recorded["content"]),
        );
        read.metadata = recorded["read_metadata"].as_object().cloned().unwrap_or_default();
        read.completeness = recorded["completeness"].as_str().unwrap().parse().unwrap();
        let window = |text: &str| text.chars().take(request.max_chars).collect::<String>();
        if let (true, Some(digest)) = (lossy, recorded["digest"].as_str()) {
            read.content = Content::Text(window(digest));
            read.completeness = Completeness::Lossy;
        } else if let (Content::Text(text), false) = (&read.content, recorded["ignore_limit"] == true) {
            let start = locator.and_then(|locator| text.find(locator)).unwrap_or(0);
            let part = window(&text[start..]);
            if part.len() < text.len() {
                read.completeness = Completeness::Truncated;
            }
            read.content = Content::Text(part);
        }
        Ok(read)
    }
}

#[async_trait]
impl ContextSource for FakeSource {
    fn source_id(&self) -> &SourceId {
        &self.id
    }

    fn source_kind(&self) -> &SourceKind {
        &self.kind
    }

    async fn revision(&self) -> Result<Revision, SourceError> {
        Ok(Revision::new(&self.state.lock().unwrap().revision)?)
    }

    async fn enumerate_descriptors(
        &self,
        _: &ProjectionProfile,
        cursor: Option<&Cursor>,
        limit: usize,
    ) -> Result<DescriptorPage, SourceError> {
        let cursor = cursor.map(Cursor::as_str);
        self.calls.log(json!({ "call": "enumerate", "source_id": self.id, "cursor": cursor }));
        let mut state = self.state.lock().unwrap();
        if let Some(message) = self.recorded["enumerate_fails"].as_str() {
            let times = self.recorded["enumerate_fail_times"].as_i64().unwrap_or(i64::MAX);
            if state.failures < times {
                state.failures += 1;
                return Err(failed(message));
            }
        }
        let bumps = self.recorded["bump_on_enumerate"].as_i64().unwrap_or(0);
        if cursor.is_none() && (bumps == -1 || state.bumps < bumps) {
            state.bumps += 1;
            state.revision = format!("{}+{}", self.recorded["revision"].as_str().unwrap(), state.bumps);
        }
        let revision = Revision::new(&state.revision)?;
        let stuck = self.recorded["cursor_stuck"] == true;
        if let (true, Some(cursor)) = (stuck, cursor) {
            let next = Some(Cursor::new(cursor)?);
            return Ok(DescriptorPage::new(self.id.clone(), revision, Vec::new(), next)?);
        }
        let size = self.recorded["page_size"].as_u64().map_or(limit, |size| usize::try_from(size).unwrap());
        let start: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let end = (start + size).min(state.descriptors.len());
        let page = state.descriptors[start..end].iter();
        let page =
            page.map(|recorded| self.descriptor(recorded, &state.revision, &state.descriptors)).collect();
        let next = (end < state.descriptors.len()).then(|| Cursor::new(end.to_string())).transpose()?;
        Ok(DescriptorPage::new(self.id.clone(), revision, page, next)?)
    }

    async fn read_exact(
        &self,
        source_ref: &SourceRef,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        self.calls.log(json!({
            "call": "read_exact", "source_id": self.id, "source_ref": source_ref, "max_chars": request.max_chars,
            "representation": request.representation,
        }));
        self.read(source_ref, None, request)
    }

    fn scoped_read(&self) -> Option<&dyn ScopedRead> {
        (self.recorded["scoped_read"] == true).then_some(self)
    }

    fn change_feed(&self) -> Option<&dyn ChangeFeed> {
        self.recorded["change_feed"].is_string().then_some(self)
    }
}

#[async_trait]
impl ScopedRead for FakeSource {
    async fn read_scoped(
        &self,
        source_ref: &SourceRef,
        locator: &str,
        request: &ReadRequest,
    ) -> Result<SourceRead, SourceError> {
        self.calls.log(json!({
            "call": "read_scoped", "source_id": self.id, "source_ref": source_ref, "query": locator,
            "max_chars": request.max_chars, "representation": request.representation,
        }));
        self.read(source_ref, Some(locator), request)
    }
}

#[async_trait]
impl ChangeFeed for FakeSource {
    async fn changes(
        &self,
        from: &Revision,
        to: &Revision,
        _: &ProjectionProfile,
    ) -> Result<SourceChangeSet, SourceError> {
        self.calls.log(json!({
            "call": "changes", "source_id": self.id, "from": from, "to": to,
        }));
        let mut set = SourceChangeSet {
            source_id: self.id.clone(),
            from_revision: from.clone(),
            to_revision: to.clone(),
            changes: Vec::new(),
            diagnostics: Vec::new(),
        };
        match self.recorded["change_feed"].as_str().unwrap() {
            "fails" => return Err(failed("change feed unavailable")),
            "wrong_from" => set.from_revision = Revision::new("other")?,
            "empty" => {}
            _ => {
                let state = self.state.lock().unwrap();
                let mut merged: BTreeMap<String, Option<Value>> = BTreeMap::new();
                let mut at = from.as_str();
                for (step_from, step_to, upserts, removals) in &state.history {
                    if step_from == at {
                        merged.extend(removals.iter().map(|key| (key.clone(), None)));
                        merged.extend(upserts.iter().map(|descriptor| {
                            (
                                descriptor["descriptor_key"].as_str().unwrap().to_owned(),
                                Some(descriptor.clone()),
                            )
                        }));
                        at = step_to;
                    }
                }
                for (key, descriptor) in merged {
                    set.changes.push(match descriptor {
                        Some(recorded) => {
                            let descriptor = self.descriptor(&recorded, to.as_str(), &state.descriptors);
                            SourceChange::Upsert(Box::new(descriptor))
                        }
                        None => SourceChange::Remove(DescriptorKey::new(key)?),
                    });
                }
            }
        }
        Ok(set)
    }
}

pub(super) struct FakeSelector {
    recorded: Value,
    context: TaskContext,
    sources: BTreeMap<String, Arc<FakeSource>>,
    calls: Mutex<Vec<Value>>,
}

impl FakeSelector {
    pub(super) fn new(
        recorded: &Value,
        context: TaskContext,
        sources: BTreeMap<String, Arc<FakeSource>>,
    ) -> Self {
        Self { recorded: recorded.clone(), context, sources, calls: Mutex::default() }
    }

    pub(super) fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

#[async_trait]
impl SemanticSelector for FakeSelector {
    async fn select(&self, request: &SelectionRequest) -> Result<Vec<String>, PortError> {
        let offers: Vec<Value> = request.candidates.iter().map(|card| {
            json!({ "source_ref": card.source_ref, "summary": card.summary, "estimated_chars": card.estimated_chars })
        }).collect();
        let guidance: Vec<Value> = request.guidance.iter().map(|guidance| {
            json!({ "content": guidance.content.to_text(), "completeness": guidance.completeness })
        }).collect();
        self.calls.lock().unwrap().push(json!({
            "offers": offers,
            "selection_guidance": guidance,
            "selection_budget": {
                "available_chars": request.budget.available_chars,
                "available_blocks": request.budget.available_blocks,
                "max_block_chars": request.budget.max_block_chars,
            },
        }));
        let recorded = &self.recorded;
        if recorded["fails"] == true {
            return Err(PortError::new("selector", "selector down"));
        }
        if let Some(step) = recorded.get("bump_during") {
            self.sources[step["binding_id"].as_str().unwrap()].bump(step);
        }
        if let Some(put) = recorded.get("put_during") {
            self.context.put(super::entry(put).unwrap()).unwrap();
        }
        let cards = &request.candidates;
        if recorded["unknown_key"] == true {
            return Ok(vec!["no-such-key".to_owned()]);
        }
        if recorded["duplicate"] == true {
            return Ok(vec![cards[0].key.clone(), cards[0].key.clone()]);
        }
        if recorded["all"] == true {
            return Ok(cards.iter().map(|card| card.key.clone()).collect());
        }
        let picked = recorded["pick"].as_array().unwrap().iter();
        let key = |wanted: &Value| cards.iter().find(|card| card.source_ref == *wanted.as_str().unwrap());
        Ok(picked.filter_map(key).map(|card| card.key.clone()).collect())
    }
}
