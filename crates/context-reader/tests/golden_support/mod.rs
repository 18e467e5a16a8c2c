//! Builds a recorded scenario out of fakes and compares what happens with what was recorded.

mod fakes;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use briefing_context_reader::{ContextReader, ContextReading, Error, ReaderState, SelectionPolicy};
use briefing_core::{
    BindingId, Completeness, Content, ContextBinding, ContextBudget, ContextConsumer, ContextEntry,
    ContextPackage, ContextReadIntent, Metadata, OmissionReason, Phase, SourceRef, TaskContextId,
};
use briefing_task_context::{IndexCache, IndexStrategy, TaskContext};
use serde_json::{Value, json};

use self::fakes::{FakeSelector, FakeSource, content, merge};

pub(crate) struct Scenario(Value);

impl Scenario {
    pub(crate) fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    pub(crate) fn quirk(&self) -> Option<&str> {
        self.0["peer_quirk"].as_str()
    }
}

/// Loads the recording, or says visibly that it is not there.
pub(crate) fn load() -> Option<Vec<Scenario>> {
    let shared = std::env::var_os("BRIEFING_SHARED").map(PathBuf::from);
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = std::env::var_os("BRIEFING_GOLDEN")
        .map_or_else(|| shared.unwrap_or(beside).join("golden/golden.json"), PathBuf::from);
    let Ok(text) = std::fs::read_to_string(&path) else {
        say(&format!("SKIPPED: no recording at {}", path.display()));
        return None;
    };
    let recording: Value = serde_json::from_str(&text).unwrap();
    let defaults = &recording["meta"]["defaults"];
    let filled = |scenario: &Value| {
        let mut scenario = scenario.clone();
        for source in scenario["sources"].as_array_mut().unwrap() {
            merge(source, &defaults["source"]);
            for descriptor in source["descriptors"].as_array_mut().unwrap() {
                merge(descriptor, &defaults["descriptor"]);
            }
        }
        for entry in scenario["entries"].as_array_mut().unwrap() {
            merge(entry, &defaults["entry"]);
        }
        Scenario(scenario)
    };
    Some(recording["scenarios"].as_array().unwrap().iter().map(filled).collect())
}

/// Says something that the test runner does not swallow.
pub(crate) fn say(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Runs a scenario; what differs from the recording, one line each.
pub(crate) async fn replay(scenario: &Scenario) -> Vec<String> {
    let recorded = &scenario.0;
    let setup_fails = !recorded["observed_setup"]["error"].is_null();
    match World::build(recorded).await {
        Err(_) if setup_fails => Vec::new(),
        Err(error) => vec![format!("setup failed: {error}")],
        Ok(_) if setup_fails => vec!["setup should fail".to_owned()],
        Ok(mut world) => {
            for (n, step) in recorded["steps"].as_array().unwrap().iter().enumerate() {
                world.step(n, step).await;
            }
            world.differences
        }
    }
}

struct World {
    context: TaskContext,
    sources: BTreeMap<String, Arc<FakeSource>>,
    readers: BTreeMap<String, ContextReader>,
    selectors: BTreeMap<String, Option<Arc<FakeSelector>>>,
    packages: BTreeMap<String, Arc<ContextPackage>>,
    calls: fakes::Calls,
    differences: Vec<String>,
}

type Failure = Box<dyn std::error::Error>;

pub(crate) fn entry(recorded: &Value) -> Result<ContextEntry, Failure> {
    let role = recorded["role"].as_str().unwrap_or("information").parse()?;
    let mut entry = ContextEntry::new(role, content(&recorded["content"]));
    entry.id = recorded["entry_id"].as_str().map(BindingId::new).transpose()?;
    entry.required = recorded["required"].as_bool().unwrap_or(false);
    entry.priority = recorded["priority"].as_i64().unwrap_or(0);
    entry.source_ref = recorded["source_ref"].as_str().map(SourceRef::new).transpose()?;
    entry.metadata = recorded["metadata"].as_object().cloned().unwrap_or_default();
    Ok(entry)
}

fn budget(recorded: &Value) -> ContextBudget {
    let limit = |key: &str| usize::try_from(recorded[key].as_u64().unwrap()).unwrap();
    ContextBudget::chars(limit("max_chars")).blocks(limit("max_blocks")).block_chars(limit("max_block_chars"))
}

fn consumer(recorded: &Value) -> Result<ContextConsumer, Failure> {
    let capabilities = recorded["capabilities"].as_object().cloned().unwrap_or_default();
    Ok(ContextConsumer::new(recorded["consumer_id"].as_str().unwrap())?.with_capabilities(capabilities))
}

/// Our intent's JSON has the settings that the recording keeps in metadata as fields.
fn intent(recorded: &Value) -> Result<ContextReadIntent, Error> {
    let mut fields = recorded.as_object().unwrap().clone();
    if let Some(Value::Object(settings)) = fields.remove("metadata") {
        fields.extend(settings);
    }
    ContextReadIntent::from_json(&Value::Object(fields).to_string()).map_err(Error::Value)
}

impl World {
    async fn build(recorded: &Value) -> Result<Self, Failure> {
        let calls = fakes::Calls::default();
        let context = TaskContext::builder("task")?
            .id(TaskContextId::new("ctx")?)
            .index_cache(IndexCache::new(64 << 20))
            .build()?;
        context.configure_index(
            recorded["index"]["strategy"].as_str().unwrap().parse::<IndexStrategy>()?.into(),
        );
        for recorded in recorded["entries"].as_array().unwrap() {
            context.put(entry(recorded)?)?;
        }
        let mut sources = BTreeMap::new();
        for recorded in recorded["sources"].as_array().unwrap() {
            let id = recorded["binding_id"].as_str().unwrap();
            let source = Arc::new(FakeSource::new(recorded, calls.clone()));
            let mut fields = json!({
                "id": id, "required": recorded["required"], "priority": recorded["priority"],
            });
            if let Some(refs) = recorded["metadata"].get("allowed_refs") {
                fields["allowed_refs"] = refs.clone();
            }
            let binding: ContextBinding = serde_json::from_value(fields)?;
            context.attach(source.clone(), binding)?;
            sources.insert(id.to_owned(), source);
        }
        let mut world = Self {
            context,
            sources,
            readers: BTreeMap::new(),
            selectors: BTreeMap::new(),
            packages: BTreeMap::new(),
            calls,
            differences: Vec::new(),
        };
        world.open("main", recorded).await?;
        Ok(world)
    }

    async fn open(&mut self, name: &str, recorded: &Value) -> Result<(), Failure> {
        let selector = (!recorded["selector"].is_null()).then(|| {
            Arc::new(FakeSelector::new(&recorded["selector"], self.context.clone(), self.sources.clone()))
        });
        let mut builder = self
            .context
            .reader(consumer(&recorded["consumer"])?)
            .phase(Phase::new(recorded["phase"].as_str().unwrap())?)
            .budget(budget(&recorded["budget"]))
            .selection_policy(SelectionPolicy::SemanticOnly);
        if let Some(selector) = &selector {
            builder = builder.selector(selector.clone());
        }
        self.readers.insert(name.to_owned(), builder.open().await?);
        self.selectors.insert(name.to_owned(), selector);
        Ok(())
    }

    fn expect(&mut self, n: usize, what: &str, ours: &Value, recorded: &Value) {
        if ours != recorded {
            self.differences.push(format!("step {n} {what}: ours {ours}, recorded {recorded}"));
        }
    }

    async fn step(&mut self, n: usize, step: &Value) {
        let name = step["reader"].as_str().unwrap_or("main").to_owned();
        let observed = &step["observed"];
        let fails = !observed["error"].is_null();
        self.calls.take();
        match step["op"].as_str().unwrap() {
            "read" => self.read(n, &name, step, observed).await,
            "put" => {
                let ours = entry(&step["entry"]).and_then(|entry| Ok(self.context.put(entry)?));
                self.expect(n, "put fails", &json!(ours.is_err()), &json!(fails));
            }
            "remove" => {
                let removed = self.context.remove(step["id"].as_str().unwrap());
                self.expect(n, "removed", &json!(removed), &observed["removed"]);
            }
            "bump_revision" => self.sources[step["binding_id"].as_str().unwrap()].bump(step),
            "refresh" => self.readers.get_mut(&name).unwrap().refresh().await,
            "is_current" => {
                let current = self.readers[&name].is_current().await;
                self.expect(n, "is_current", &json!(current), &observed["current"]);
            }
            "new_reader" => {
                let ours = self.open(step["as"].as_str().unwrap(), step).await;
                self.expect(n, "new_reader fails", &json!(ours.is_err()), &json!(fails));
            }
            "ensure_required" => {
                let package = &self.packages[step["package_of"].as_str().unwrap_or(&name)];
                let ours = self.readers[&name].ensure_required_delivery(package);
                self.expect(n, "ensure_required fails", &json!(ours.is_err()), &json!(fails));
            }
            "export_restore" => self.export_restore(n, &name, step, observed).await,
            other => panic!("unknown op {other}"),
        }
    }

    async fn export_restore(&mut self, n: usize, name: &str, step: &Value, observed: &Value) {
        let reader = &self.readers[name];
        let mut state: Value = serde_json::from_str(&reader.export_state().to_json()).unwrap();
        for (key, value) in step["tamper"].as_object().cloned().unwrap_or_default() {
            let (parent, last) = key.rsplit_once('.').unwrap_or(("", &key));
            let parent = if parent.is_empty() { &mut state } else { &mut state[parent] };
            let parent = parent.as_object_mut().unwrap();
            if value.is_null() {
                drop(parent.remove(last))
            } else {
                drop(parent.insert(last.to_owned(), value))
            }
        }
        let packages: Vec<ContextPackage> =
            reader.packages().iter().map(|package| (**package).clone()).collect();
        let ours = async {
            let state = ReaderState::from_json(&state.to_string())?;
            let (consumer, phase) = (state.consumer().id().to_string(), state.phase().to_string());
            let mut restore =
                self.context.restore_reader(state, packages).selection_policy(SelectionPolicy::SemanticOnly);
            if let Some(Some(selector)) = self.selectors.get(name) {
                restore = restore.selector(selector.clone());
            }
            restore.restore(&consumer, &phase).await
        }
        .await;
        self.expect(n, "restore fails", &json!(ours.is_err()), &json!(!observed["error"].is_null()));
        if let Ok(reader) = ours {
            if !observed["kept_packages"].is_null() {
                self.expect(n, "kept_packages", &json!(reader.packages().len()), &observed["kept_packages"]);
            }
            self.readers.insert(name.to_owned(), reader);
        }
    }

    async fn read(&mut self, n: usize, name: &str, step: &Value, observed: &Value) {
        let ours = match intent(&step["intent"]) {
            Ok(intent) => self.readers.get_mut(name).unwrap().read(&intent).await,
            Err(error) => Err(error),
        };
        let selector_calls =
            self.selectors[name].as_ref().map(|selector| selector.take()).unwrap_or_default();
        let calls = self.calls.take();
        let error = ours.as_ref().err().map(ToString::to_string);
        self.expect(n, "fails", &json!(error.is_some()), &json!(!observed["error"].is_null()));
        let recorded_calls = observed.get("source_calls").cloned().unwrap_or(json!([]));
        self.expect(n, "source_calls", &json!(calls), &recorded_calls);
        let recorded_calls = observed.get("selector_calls").cloned().unwrap_or(json!([]));
        self.expect(n, "selector_calls", &json!(selector_calls), &recorded_calls);
        let Ok(package) = ours else { return };
        if observed["error"].is_null() {
            let empty = json!([]);
            self.expect(
                n,
                "blocks",
                &blocks(&package, &observed["blocks"]),
                observed.get("blocks").unwrap_or(&empty),
            );
            self.expect(n, "omissions", &omissions(&package), &observed["omissions"]);
            self.expect(n, "diagnostics", &diagnostics(&package), &recorded_diagnostics(observed));
            self.expect(n, "coverage", &coverage(&package), &observed["source_coverage"]);
            self.expect(
                n,
                "source_revisions",
                &json!(package.source_revisions()),
                &observed["source_revisions"],
            );
            self.expect(
                n,
                "context_revision",
                &json!(package.context_revision()),
                &observed["context_revision"],
            );
            self.expect(n, "used_chars", &json!(package.usage().chars), &observed["used_chars"]);
        }
        // Whatever is read must survive its own JSON form.
        let again = ContextPackage::from_json(&package.to_json().to_string()).unwrap();
        assert_eq!(again, *package);
        self.packages.insert(name.to_owned(), package);
    }
}

fn blocks(package: &ContextPackage, recorded: &Value) -> Value {
    let block = |(n, block): (usize, &briefing_core::ContextBlock)| {
        let content = match &block.content {
            None => Value::Null,
            Some(Content::Text(text)) => json!(text),
            Some(Content::Structured(value)) => value.clone(),
            Some(Content::Bytes(bytes)) => json!(bytes),
        };
        let mut ours = json!({
            "source_ref": block.source_ref, "binding_id": block.binding_id, "role": block.role,
            "completeness": block.completeness, "content": content, "content_chars": block.content_chars,
            "required": block.required,
        });
        if block.metadata != Metadata::new() || recorded[n].get("metadata").is_some() {
            ours["metadata"] = json!(block.metadata);
        }
        assert!(block.completeness != Completeness::Failed);
        ours
    };
    package.blocks().iter().enumerate().map(block).collect()
}

fn omissions(package: &ContextPackage) -> Value {
    let omission = |omission: &briefing_core::ContextOmission| {
        let reason: OmissionReason = omission.reason;
        json!({ "source_ref": omission.source_ref, "reason": reason, "required": omission.required })
    };
    package.omissions().iter().map(omission).collect()
}

/// Details that both sides name alike; error texts are each side's own.
const COMPARED: &[&str] = &[
    "requested_strategy",
    "effective_strategy",
    "cache",
    "descriptor_count",
    "sync_mode",
    "source_failure_count",
    "candidate_count",
    "binding_id",
    "source_ref",
    "completeness",
    "estimated_chars",
    "available_chars",
    "delivered_chars",
    "unknown_keys",
    "duplicate_keys",
    "content_kind",
    "image_attachment_supported",
];

fn compared(code: &str, details: &Value) -> Value {
    let keep = |key: &str| {
        COMPARED.contains(&key) && !(code == "context.required_content_lossy" && key == "binding_id")
    };
    let details = details.as_object().unwrap().iter().filter(|(key, _)| keep(key));
    json!([code, details.map(|(key, value)| (key.clone(), value.clone())).collect::<Metadata>()])
}

fn diagnostics(package: &ContextPackage) -> Value {
    // Required bindings that fail are told apart by a diagnostic of ours.
    let ours =
        package.diagnostics().iter().filter(|diagnostic| diagnostic.code != "context.required_source_failed");
    ours.map(|diagnostic| compared(&diagnostic.code, &json!(diagnostic.details))).collect()
}

fn recorded_diagnostics(observed: &Value) -> Value {
    let recorded = observed["diagnostics"].as_array().cloned().unwrap_or_default();
    recorded
        .iter()
        .map(|diagnostic| compared(diagnostic["code"].as_str().unwrap(), &diagnostic["details"]))
        .collect()
}

fn coverage(package: &ContextPackage) -> Value {
    let mut coverage = json!(package.source_coverage());
    for binding in coverage.as_object_mut().unwrap().values_mut() {
        binding.as_object_mut().unwrap().remove("unmatched_candidates");
    }
    coverage
}
