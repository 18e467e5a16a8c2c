//! What can be typed after `briefing workspace`.

use std::path::PathBuf;

use briefing::task_workspace::{CandidateId, ExecutionId};
use clap::{ArgGroup, Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct WorkspaceCommand {
    /// Also see the files that this execution wrote apart; for `ls`, `cat` and `grep`.
    #[arg(long, value_name = "ID", global = true, value_parser = |id: &str| ExecutionId::new(id))]
    pub(crate) execution: Option<ExecutionId>,
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List files.
    Ls(LsCommand),
    /// Print files, or a part of one.
    Cat(CatCommand),
    /// Find the lines that match a pattern.
    Grep(GrepCommand),
    /// Change the text of a file, or of several by a patch, whole or not at all.
    Edit(Box<EditCommand>),
    /// Keep bytes for a target apart until they are verified; prints the candidate's id.
    Stage {
        /// The folder.
        dir: PathBuf,
        /// Where the bytes are to go.
        target: PathBuf,
        /// The bytes: a file, or `-` for standard input.
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// List the candidates that are staged, or print one.
    Staged {
        /// The folder.
        dir: PathBuf,
        /// Print the bytes of this candidate.
        #[arg(value_parser = |id: &str| CandidateId::new(id))]
        candidate: Option<CandidateId>,
    },
    /// Put candidates at their targets, all of them or none.
    Promote {
        /// The folder.
        dir: PathBuf,
        /// The candidates.
        #[arg(required = true, value_parser = |id: &str| CandidateId::new(id))]
        candidates: Vec<CandidateId>,
        /// What must be at the target, `absent` or a digest; what was there at staging unless given. For one candidate.
        #[arg(long, value_name = "STATE")]
        expect: Option<String>,
    },
    /// Drop candidates; their targets are not touched.
    Discard {
        /// The folder.
        dir: PathBuf,
        /// The candidates.
        #[arg(required = true, value_parser = |id: &str| CandidateId::new(id))]
        candidates: Vec<CandidateId>,
    },
    /// Print what stands for files in citations, or find files again by it.
    Refs {
        /// The folder.
        dir: PathBuf,
        /// The files.
        #[arg(required_unless_present = "resolve")]
        files: Vec<PathBuf>,
        /// A file of refs, one a line as `--json` prints them, `-` for standard input: prints where each file is now.
        #[arg(long, value_name = "FILE", conflicts_with = "files")]
        resolve: Option<PathBuf>,
    },
}

/// Which files are meant.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Only files whose path, or name where there is no `/`, matches this glob. May be given several times.
    #[arg(long, short, value_name = "G")]
    pub(crate) glob: Vec<String>,
    /// Hidden files too.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Files too that hold keys or credentials by their names (`.env`, `id_rsa`, `*.pem`).
    #[arg(long)]
    pub(crate) secrets: bool,
    /// Files too that ignore files leave out.
    #[arg(long)]
    pub(crate) no_ignore: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LsCommand {
    /// The folder.
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Only what is in this folder of it.
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// What lies in the folder itself, its folders too, and nothing deeper.
    #[arg(long, short = '1')]
    pub(crate) one_level: bool,
    /// Sizes in bytes too.
    #[arg(long, short)]
    pub(crate) long: bool,
    /// The most entries.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 1_000)]
    pub(crate) limit: usize,
    /// Go on after a page: the path that its last line names.
    #[arg(long, value_name = "PATH")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("part").args(["lines", "offset", "formatted", "bytes"]))]
pub(crate) struct CatCommand {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// The files.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Only these lines, counted from 1: `10..20`, `10..` or `10`.
    #[arg(long, value_name = "A..B", value_parser = lines)]
    pub(crate) lines: Option<(u64, u64)>,
    /// Where to begin, in chars.
    #[arg(long, value_name = "N")]
    pub(crate) offset: Option<u64>,
    /// The most of each file, in chars; in bytes with --bytes.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100_000)]
    pub(crate) limit: usize,
    /// As the handler of the file's format shows it: a table, the cells of a notebook.
    #[arg(long)]
    pub(crate) formatted: bool,
    /// The bytes as they are.
    #[arg(long)]
    pub(crate) bytes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GrepCommand {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// A regular expression, matched line by line.
    pub(crate) pattern: String,
    /// Only what is in this folder of it.
    pub(crate) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) files: Files,
    /// The pattern is plain text.
    #[arg(long, short = 'F')]
    pub(crate) literal: bool,
    /// Upper and lower case are the same.
    #[arg(long, short)]
    pub(crate) ignore_case: bool,
    /// Only whole words.
    #[arg(long, short = 'w')]
    pub(crate) words: bool,
    /// So many lines before and after each match.
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    pub(crate) context: usize,
    /// The most matching lines.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 200)]
    pub(crate) limit: usize,
    /// Go on after a page: the place that its last line names.
    #[arg(long, value_name = "LINE:PATH", value_parser = place)]
    pub(crate) after: Option<(u64, String)>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("edit").required(true).args(["replace", "lines", "insert", "patch"]))]
pub(crate) struct EditCommand {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// The file; none for a patch, which names its files.
    #[arg(required_unless_present = "patch", conflicts_with = "patch")]
    pub(crate) file: Option<PathBuf>,
    /// Replace this text.
    #[arg(long, value_name = "TEXT", requires = "with", allow_hyphen_values = true)]
    pub(crate) replace: Option<String>,
    /// Replace these lines, counted from 1: `10..20` or `10`.
    #[arg(long, value_name = "A..B", value_parser = lines, requires = "with")]
    pub(crate) lines: Option<(u64, u64)>,
    /// Insert before this line, counted from 1.
    #[arg(long, value_name = "N", requires = "with")]
    pub(crate) insert: Option<usize>,
    /// The new text; empty to delete.
    #[arg(long, value_name = "TEXT", conflicts_with = "patch", allow_hyphen_values = true)]
    pub(crate) with: Option<String>,
    /// How often the text must occur; all places are replaced.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "replace")]
    pub(crate) count: usize,
    /// Apply a unified diff of one or more files, all hunks or none: a file, or `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// The digest that the file must have.
    #[arg(long, value_name = "DIGEST", conflicts_with = "patch")]
    pub(crate) expect: Option<String>,
    /// Show what would change, and change nothing.
    #[arg(long, conflicts_with = "patch")]
    pub(crate) dry_run: bool,
}

/// `A..B`, both ends included, `A..`, or `A`.
fn lines(text: &str) -> Result<(u64, u64), String> {
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("`{text}` is no line number"));
    match text.split_once("..") {
        None => number(text).map(|line| (line, line)),
        Some((first, "")) => Ok((number(first)?, u64::MAX)),
        Some((first, last)) => Ok((number(first)?, number(last)?)),
    }
}

/// `LINE:PATH`.
fn place(text: &str) -> Result<(u64, String), String> {
    let (line, path) = text.split_once(':').ok_or("a line number, `:` and a path are needed")?;
    Ok((line.parse().map_err(|_| format!("`{line}` is no line number"))?, path.to_owned()))
}
