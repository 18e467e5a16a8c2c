//! What can be typed after `briefing records`.

use std::path::PathBuf;

use briefing::core::{Metadata, RecordId};
use briefing::record_store::RecordFilter;
use clap::{Args, Subcommand};
use serde_json::Value;

#[derive(Debug, Args)]
pub(crate) struct RecordsCommand {
    /// The folder whose store is meant, `DIR/.briefing/records/records.db`.
    #[arg(long, default_value = ".", global = true)]
    pub(crate) dir: PathBuf,
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Put a record: a new one, or with --if-version the next version of one.
    Put(Box<PutCommand>),
    /// Print the content of a record.
    Get(GetCommand),
    /// Find records by words.
    Search(SearchCommand),
    /// List records, the newest first.
    List(ListCommand),
    /// Link two records.
    Link(LinkCommand),
    /// List the links of a record.
    Links {
        /// The record.
        id: RecordId,
    },
    /// List the versions of a record, the latest first.
    History {
        /// The record.
        id: RecordId,
    },
    /// Delete a record with all its versions and links.
    Delete {
        /// The record.
        id: RecordId,
        /// Only if it has this version.
        #[arg(long, value_name = "N")]
        if_version: Option<u64>,
    },
    /// Write the whole store as JSON Lines.
    Export {
        /// Where to; standard output unless given.
        file: Option<PathBuf>,
    },
    /// Take in what an export wrote: all of it, or nothing.
    Import {
        /// Where from; `-` is standard input.
        file: PathBuf,
    },
    /// Tell how much the store holds.
    Stats,
    /// Look for damage; the exit status is 1 where some is found.
    Check,
    /// Copy the store to a new file while others go on working with it.
    Backup {
        /// The new file.
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PutCommand {
    /// The content: a file, or `-` for standard input.
    #[arg(required_unless_present_any = ["text", "lines"], conflicts_with_all = ["text", "lines"])]
    pub(crate) file: Option<PathBuf>,
    /// The content, as a text.
    #[arg(long, conflicts_with = "lines")]
    pub(crate) text: Option<String>,
    /// Many records, one a line as JSON ({"collection": …, "content": {"text": …}, …}); all of them are put, or none.
    #[arg(long, value_name = "FILE")]
    pub(crate) lines: Option<PathBuf>,
    /// The collection [default: notes].
    #[arg(long, short)]
    pub(crate) collection: Option<String>,
    /// The id; the store makes one unless given.
    #[arg(long)]
    pub(crate) id: Option<RecordId>,
    /// What sort of record it is.
    #[arg(long, short)]
    pub(crate) kind: Option<String>,
    /// One line about it.
    #[arg(long, short)]
    pub(crate) summary: Option<String>,
    /// To whom or what it belongs; the value is JSON if it reads as JSON, else text. May be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) scope: Vec<(String, Value)>,
    /// Where it comes from; as --scope.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) source: Vec<(String, Value)>,
    /// A free fact; as --scope.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) meta: Vec<(String, Value)>,
    /// A tag. May be given several times.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// The content is a JSON value.
    #[arg(long, conflicts_with = "bytes")]
    pub(crate) as_json: bool,
    /// The content is bytes, even if it reads as text.
    #[arg(long)]
    pub(crate) bytes: bool,
    /// Put the next version of the record, if it has this one.
    #[arg(long, value_name = "N", requires = "id")]
    pub(crate) if_version: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct GetCommand {
    /// The record.
    pub(crate) id: RecordId,
    /// This version instead of the latest.
    #[arg(long, value_name = "N")]
    pub(crate) at_version: Option<u64>,
    /// Where to begin, in chars; in bytes for bytes.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
    /// The most to print, in the same unit.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Print what the store says about it instead of the content, as JSON.
    #[arg(long)]
    pub(crate) describe: bool,
}

/// Which records are meant.
#[derive(Debug, Args)]
pub(crate) struct Filters {
    /// Only of this collection; of any of several.
    #[arg(long, short)]
    pub(crate) collection: Vec<String>,
    /// Only of this kind; of any of several.
    #[arg(long, short)]
    pub(crate) kind: Vec<String>,
    /// Only with exactly this in its scope; with all of several.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) scope: Vec<(String, Value)>,
    /// Only with this tag; with all of several.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// The most records.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}

impl Filters {
    pub(crate) fn filter(&self) -> RecordFilter {
        RecordFilter {
            collections: self.collection.clone(),
            kinds: self.kind.clone(),
            scope: object(&self.scope),
            tags: self.tag.clone(),
            ..RecordFilter::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SearchCommand {
    /// What is looked for, in any words.
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) filters: Filters,
}

#[derive(Debug, Args)]
pub(crate) struct ListCommand {
    #[command(flatten)]
    pub(crate) filters: Filters,
    /// The earliest first.
    #[arg(long)]
    pub(crate) oldest: bool,
    /// Go on after a page: the number that its last line names.
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct LinkCommand {
    /// Where the link begins.
    pub(crate) source: RecordId,
    /// What the source is to the target.
    pub(crate) relation: String,
    /// Where it leads.
    pub(crate) target: RecordId,
}

/// `KEY=VALUE`; the value is JSON if it reads as JSON, else text.
fn key_value(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("a key, `=` and a value are needed")?;
    if key.trim().is_empty() {
        return Err("the key is blank".to_owned());
    }
    Ok((key.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()))))
}

pub(crate) fn object(pairs: &[(String, Value)]) -> Metadata {
    pairs.iter().cloned().collect()
}
