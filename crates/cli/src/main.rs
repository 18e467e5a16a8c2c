//! The `briefing` command.

mod args;
mod failure;
mod read;
mod records;
mod tell;
mod tokens;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Command::Read(command) => read::run(command),
        Command::Records(command) => records::run(command, arguments.json),
        Command::Tokens(command) => tokens::run(command),
        Command::Workspace(command) => workspace::run(command, arguments.json),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => failure.report(arguments.json),
    }
}
