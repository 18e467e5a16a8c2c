//! How a failure is told: one clear line with its code, or one JSON object.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Why the command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Value(#[from] briefing::core::Error),
    #[error(transparent)]
    Workspace(#[from] briefing::task_workspace::Error),
    #[error(transparent)]
    Context(#[from] briefing::task_context::Error),
    #[error(transparent)]
    Reader(#[from] briefing::context_reader::Error),
    #[error(transparent)]
    Decode(#[from] briefing::formats::Error),
    #[error(transparent)]
    Records(#[from] briefing::record_store::Error),
    #[error("line {line}: {reason}")]
    Line { line: usize, reason: String },
    #[error("the store is damaged: {problems} problems")]
    Unsound { problems: usize },
    #[error("--expect is for one candidate, and there are {candidates}")]
    OneExpectation { candidates: usize },
    #[error("{path}: {cause}")]
    File { path: String, cause: io::Error },
    #[error("standard output: {0}")]
    Output(io::Error),
    #[error("the runtime could not start: {0}")]
    Runtime(io::Error),
}

impl Failure {
    pub(crate) fn file(path: &Path, cause: io::Error) -> Self {
        Self::File { path: path.display().to_string(), cause }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Value(error) => error.code(),
            Self::Workspace(error) => error.code(),
            Self::Context(error) => error.code(),
            Self::Reader(error) => error.code(),
            Self::Decode(error) => error.code(),
            Self::Records(error) => error.code(),
            Self::Line { .. } => "cli.line",
            Self::Unsound { .. } => "records.corrupt",
            Self::OneExpectation { .. } => "cli.one_expectation",
            Self::File { .. } => "cli.file",
            Self::Output(_) => "cli.output",
            Self::Runtime(_) => "cli.runtime",
        }
    }

    /// Whoever read our output has read enough.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    fn status(&self) -> u8 {
        match self.code() {
            "context.stale" => 3,
            code if code.starts_with("value.") || code.starts_with("tokens.") => 2,
            "workspace.glob_invalid" | "workspace.pattern_invalid" | "workspace.out_of_range" => 2,
            "cli.line" | "cli.one_expectation" | "context.filter_mechanism" | "context.budget_too_small" => 2,
            _ => 1,
        }
    }

    /// Tells the failure on standard error.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        let message = self.to_string().replace('\n', " ");
        let line = if json {
            serde_json::json!({ "error": { "code": self.code(), "message": message } }).to_string()
        } else {
            format!("error[{}]: {message}", self.code())
        };
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(io::stderr().lock(), "{line}");
        ExitCode::from(self.status())
    }
}
