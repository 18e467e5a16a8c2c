//! What only looks: `ls`, `cat` and `grep`.

use std::path::Path;

use briefing::task_workspace::{
    EntryKind, FormatRequest, GrepCursor, GrepRequest, ListRequest, TaskWorkspace, TextWindow,
};

use super::args::{CatCommand, Files, GrepCommand, LsCommand};
use super::note;
use crate::failure::Failure;
use crate::tell::{Tell, write_out};

pub(super) fn ls(workspace: &TaskWorkspace, command: &LsCommand, tell: Tell) -> Result<(), Failure> {
    let mut request = request(workspace, command.folder.as_deref(), &command.files)?.limit(command.limit);
    request.one_level = command.one_level;
    request.after.clone_from(&command.after);
    let listing = workspace.list(&request)?;
    for entry in &listing.entries {
        tell.line(entry, || {
            let folder = if entry.kind == EntryKind::Folder { "/" } else { "" };
            match command.long {
                true => format!("{:>12}  {}{folder}", entry.size_bytes, entry.path),
                false => format!("{}{folder}", entry.path),
            }
        })?;
    }
    note(&listing.diagnostics);
    match &listing.next {
        Some(next) => {
            let rest = serde_json::json!({ "next": next, "total": listing.total });
            tell.line(&rest, || format!("more, of {} in all: --after {next}", listing.total))
        }
        None => Ok(()),
    }
}

pub(super) fn cat(workspace: &TaskWorkspace, command: &CatCommand, tell: Tell) -> Result<(), Failure> {
    for file in &command.files {
        let path = workspace.workspace_path(file)?;
        if command.bytes {
            let read = workspace.read(&path, command.limit as u64)?;
            write_out(&read.bytes)?;
            note_cut(&path, read.truncated, &format!("{} bytes", read.total_bytes));
        } else if command.formatted {
            let shown = workspace.read_formatted(&path, &FormatRequest::window(0, command.limit))?;
            tell.line(&shown, || shown.text.clone())?;
            note(&shown.diagnostics);
            note_cut(&path, shown.next_offset_chars.is_some(), &format!("{} chars", shown.total_chars));
        } else {
            let window = match command.lines {
                Some((first, last)) => TextWindow::lines(first..=last),
                None => TextWindow::chars(command.offset.unwrap_or(0)),
            };
            let read = workspace.read_text(&path, window.max_chars(command.limit))?;
            if tell.is_json() {
                tell.line(&read, String::new)?;
            } else {
                write_out(read.text.as_bytes())?;
            }
            if let Some(next) = read.next_chars {
                note_cut(&path, true, &format!("{} bytes; go on with --offset {next}", read.total_bytes));
            }
        }
    }
    Ok(())
}

pub(super) fn grep(workspace: &TaskWorkspace, command: &GrepCommand, tell: Tell) -> Result<(), Failure> {
    let files = request(workspace, command.folder.as_deref(), &command.files)?;
    let mut request = match command.literal {
        true => GrepRequest::literal(&command.pattern),
        false => GrepRequest::new(&command.pattern),
    };
    request.files = files;
    request.ignore_case = command.ignore_case;
    request.whole_words = command.words;
    request.context_lines = command.context;
    request.limit = command.limit;
    request.after = command.after.clone().map(|(line, path)| GrepCursor { path, line });
    let page = workspace.grep(&request)?;
    let mut last = None;
    for found in &page.matches {
        let path = &found.path;
        let first = found.line.saturating_sub(found.before.len() as u64);
        let gap = match last {
            Some((file, line)) if command.context > 0 => file != path || line + 1 != first,
            _ => false,
        };
        last = Some((path, found.line + found.after.len() as u64));
        tell.line(found, || {
            let mut lines = Vec::new();
            if gap {
                lines.push("--".to_owned());
            }
            let before = (first..).zip(&found.before).map(|(at, text)| format!("{path}-{at}-{text}"));
            lines.extend(before);
            lines.push(format!("{path}:{}:{}", found.line, found.text));
            let after = (found.line + 1..).zip(&found.after).map(|(at, text)| format!("{path}-{at}-{text}"));
            lines.extend(after);
            lines.join("\n")
        })?;
    }
    note(&page.diagnostics);
    match &page.next {
        Some(next) => tell.line(&serde_json::json!({ "next": next }), || {
            format!("more: --after {}:{}", next.line, next.path)
        }),
        None => Ok(()),
    }
}

fn request(workspace: &TaskWorkspace, folder: Option<&Path>, files: &Files) -> Result<ListRequest, Failure> {
    let mut request = ListRequest::new()
        .include_hidden(files.hidden)
        .respect_ignore_files(!files.no_ignore)
        .include_secrets(files.secrets);
    request.globs.clone_from(&files.glob);
    request.folder = folder.map(|folder| workspace.workspace_path(folder)).transpose()?;
    Ok(request)
}

/// Says on standard error that a file goes on.
fn note_cut(path: &impl std::fmt::Display, is_cut: bool, whole: &str) {
    use std::io::Write as _;
    if is_cut {
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{path} goes on: it has {whole}");
    }
}
