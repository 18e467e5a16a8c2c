//! `briefing workspace`.

mod args;
mod look;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use briefing::core::{ContextDiagnostic, Digest, Severity};
use briefing::task_workspace::{
    Candidate, CandidateId, Edit, FileRef, TargetState, TaskWorkspace, WorkspaceOptions, WorkspacePath,
    Written, apply_edits, unified_diff,
};

pub(crate) use self::args::WorkspaceCommand;
use self::args::{Action, EditCommand};
use crate::failure::Failure;
use crate::tell::{Tell, write_out};

/// The largest file that is edited on trial, in bytes.
const MAX_TRIED_BYTES: u64 = 256 << 20;

pub(crate) fn run(command: &WorkspaceCommand, json: bool) -> Result<(), Failure> {
    let tell = Tell::new(json);
    let reads = |dir: &Path| {
        let mut options = WorkspaceOptions::read_only();
        options.execution.clone_from(&command.execution);
        TaskWorkspace::open_with(dir, options)
    };
    let writes = |dir: &Path| TaskWorkspace::open_with(dir, WorkspaceOptions::read_write());
    match &command.action {
        Action::Ls(ls) => look::ls(&reads(&ls.dir)?, ls, tell),
        Action::Cat(cat) => look::cat(&reads(&cat.dir)?, cat, tell),
        Action::Grep(grep) => look::grep(&reads(&grep.dir)?, grep, tell),
        Action::Edit(edit) => self::edit(&writes(&edit.dir)?, edit, tell),
        Action::Stage { dir, target, file } => {
            let workspace = writes(dir)?;
            let candidate = workspace.stage(&workspace.workspace_path(target)?, bytes_of(file)?)?;
            tell.line(&candidate, || candidate.id.to_string())
        }
        Action::Staged { dir, candidate: Some(candidate) } => {
            write_out(&reads(dir)?.read_candidate(candidate)?)
        }
        Action::Staged { dir, candidate: None } => {
            for found in reads(dir)?.candidates()? {
                tell.line(&found, || {
                    let Candidate { id, target, size_bytes, target_state, .. } = &found;
                    format!("{id}  {target}  {size_bytes} bytes  for {target_state}")
                })?;
            }
            Ok(())
        }
        Action::Promote { dir, candidates, expect } => {
            promote(&writes(dir)?, candidates, expect.as_deref(), tell)
        }
        Action::Discard { dir, candidates } => {
            let workspace = writes(dir)?;
            for id in candidates {
                workspace.discard(id)?;
                tell.line(&serde_json::json!({ "discarded": id }), || format!("discarded {id}"))?;
            }
            Ok(())
        }
        Action::Refs { dir, files, resolve: None } => {
            let workspace = reads(dir)?;
            for file in files {
                let file = workspace.file_ref(&workspace.workspace_path(file)?)?;
                tell.line(&file, || format!("{}  {}  {}", file.locator, file.digest, file.path))?;
            }
            Ok(())
        }
        Action::Refs { dir, resolve: Some(refs), .. } => resolve(&reads(dir)?, refs, tell),
    }
}

fn edit(workspace: &TaskWorkspace, command: &EditCommand, tell: Tell) -> Result<(), Failure> {
    let Some(file) = &command.file else {
        let patch = command.patch.as_deref().unwrap_or(Path::new("-"));
        let diff = String::from_utf8(bytes_of(patch)?)
            .map_err(|error| Failure::file(patch, io::Error::new(io::ErrorKind::InvalidData, error)))?;
        for path in workspace.apply_patch(&diff, None)? {
            tell.line(&serde_json::json!({ "patched": path }), || format!("patched {path}"))?;
        }
        return Ok(());
    };
    let path = workspace.workspace_path(file)?;
    let line = |line: u64| usize::try_from(line).unwrap_or(usize::MAX);
    let with = command.with.clone().unwrap_or_default();
    let edit = match (&command.replace, command.lines, command.insert) {
        (Some(old), ..) => Edit::replace(old, with).expecting(command.count),
        (_, Some((first, last)), _) => Edit::lines(line(first)..=line(last), with),
        (.., before) => Edit::insert(before.unwrap_or(1), with),
    };
    let expected = command.expect.as_deref().map(digest).transpose()?.map(TargetState::Present);
    if command.dry_run {
        let old = workspace.read(&path, MAX_TRIED_BYTES)?;
        let (name, size_bytes) = (path.to_string(), old.total_bytes);
        if old.truncated {
            let limit_bytes = MAX_TRIED_BYTES;
            return Err(
                briefing::task_workspace::Error::TooLarge { path: name, size_bytes, limit_bytes }.into()
            );
        }
        let edited = apply_edits(&old.bytes, &[edit]).map_err(|source| {
            briefing::task_workspace::Error::Edit { path: name.clone(), source: Box::new(source) }
        })?;
        return write_out(unified_diff(&name, &*old.bytes, &*edited.bytes).to_string().as_bytes());
    }
    let edited = workspace.edit(&path, &[edit], expected)?;
    tell.line(&edited, || edited.diff.trim_end().to_owned())
}

fn promote(
    workspace: &TaskWorkspace,
    ids: &[CandidateId],
    expect: Option<&str>,
    tell: Tell,
) -> Result<(), Failure> {
    let candidates = ids.iter().map(|id| workspace.candidate(id)).collect::<Result<Vec<_>, _>>()?;
    let expected = match (expect, ids) {
        (None, _) => None,
        (Some("absent"), [_]) => Some(TargetState::Absent),
        (Some(state), [_]) => Some(TargetState::Present(digest(state)?)),
        (Some(_), ids) => return Err(Failure::OneExpectation { candidates: ids.len() }),
    };
    let pairs: Vec<_> =
        candidates.iter().map(|candidate| (candidate, expected.unwrap_or(candidate.target_state))).collect();
    for written in workspace.promote_all(&pairs)? {
        tell.line(&written, || {
            let Written { path, digest, size_bytes, .. } = &written;
            format!("promoted {path}  {size_bytes} bytes  {digest}")
        })?;
    }
    Ok(())
}

fn resolve(workspace: &TaskWorkspace, refs: &Path, tell: Tell) -> Result<(), Failure> {
    let text = bytes_of(refs)?;
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let file: FileRef = serde_json::from_slice(line)
            .map_err(|error| Failure::Line { line: at + 1, reason: error.to_string() })?;
        let path: WorkspacePath = workspace.resolve(&file)?;
        tell.line(&serde_json::json!({ "locator": file.locator, "path": path }), || path.to_string())?;
    }
    Ok(())
}

fn digest(text: &str) -> Result<Digest, Failure> {
    Ok(text.parse()?)
}

/// A file outside, or standard input for `-`.
fn bytes_of(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(file)
    };
    read.map_err(|error| Failure::file(file, error))
}

/// Says on standard error what was left out.
fn note(diagnostics: &[ContextDiagnostic]) {
    let mut err = io::stderr().lock();
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Info) {
        let details = serde_json::Value::Object(diagnostic.details.clone());
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(err, "{}[{}]: {details}", diagnostic.severity, diagnostic.code);
    }
}
