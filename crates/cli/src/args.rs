//! What can be typed.

use std::path::PathBuf;

use briefing::prelude::{Encoding, IndexStrategy, RenderFormat};
use clap::{Args, Parser, Subcommand};

use crate::records::RecordsCommand;
use crate::workspace::WorkspaceCommand;

/// Decides what an agent sees: budgeted, cited context from a folder.
///
/// Exit status: 0 success; 1 something failed (files, permissions); 2 the command line or a value in it is wrong;
/// 3 the folder kept changing while it was read.
#[derive(Debug, Parser)]
#[command(name = "briefing", version, propagate_version = true)]
pub(crate) struct Arguments {
    /// Report errors as one JSON object on standard error, and the results of `records` and `workspace` as one JSON object a line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read a package of context that answers a query from the files of a folder, and from records.
    Read(Box<ReadCommand>),
    /// Keep, find and link records in a store.
    Records(RecordsCommand),
    /// Count tokens exactly.
    Tokens(TokensCommand),
    /// Look at, change and deliver files of one folder, which nothing leads out of.
    Workspace(WorkspaceCommand),
}

#[derive(Debug, Args)]
pub(crate) struct ReadCommand {
    /// The folder to read.
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// What is wanted, in any words.
    #[arg(long, short)]
    pub(crate) query: String,
    /// The most tokens of the whole output, wrappers included [default: 4000].
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<usize>,
    /// The most chars of content instead of tokens.
    #[arg(long, value_name = "N", conflicts_with = "max_tokens")]
    pub(crate) max_chars: Option<usize>,
    /// The most blocks.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) max_blocks: usize,
    /// The encoding that counts tokens: o200k_base or cl100k_base.
    #[arg(long, default_value = "o200k_base")]
    pub(crate) encoding: Encoding,
    /// How candidates are ordered: lexical or structural.
    #[arg(long, default_value = "lexical")]
    pub(crate) strategy: IndexStrategy,
    /// Only this file or folder; may be given several times.
    #[arg(long, value_name = "P")]
    pub(crate) path: Vec<String>,
    /// Only paths or file names that match this glob; may be given several times.
    #[arg(long, value_name = "G")]
    pub(crate) pattern: Vec<String>,
    /// Read hidden files too.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Read files too that hold keys or credentials by their names (`.env`, `id_rsa`, `*.pem`).
    #[arg(long)]
    pub(crate) secrets: bool,
    /// Read the records of this folder's store too.
    #[arg(long, value_name = "DIR")]
    pub(crate) records: Option<PathBuf>,
    /// The form of the output: markdown, xml, json or plain.
    #[arg(long, default_value = "markdown")]
    pub(crate) format: RenderFormat,
    /// Write the output to a file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write the whole package, with every omission and diagnostic, to a file as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TokensCommand {
    /// The encoding: o200k_base or cl100k_base.
    #[arg(long, default_value = "o200k_base")]
    pub(crate) encoding: Encoding,
    /// The files to count; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}
