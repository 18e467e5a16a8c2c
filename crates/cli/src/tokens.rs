//! `briefing tokens`.

use std::io::{self, Read, Write};
use std::path::Path;

use briefing::formats::decode;
use briefing::prelude::Tokenizer;

use crate::args::TokensCommand;
use crate::failure::Failure;

pub(crate) fn run(command: &TokensCommand) -> Result<(), Failure> {
    let tokenizer = Tokenizer::new(command.encoding);
    let mut out = io::stdout().lock();
    let mut total = 0;
    for path in &command.files {
        let bytes = bytes_of(path).map_err(|error| Failure::file(path, error))?;
        let tokens = tokenizer.count(&decode(&bytes)?.text);
        total += tokens;
        writeln!(out, "{tokens:>10}  {}", path.display()).map_err(Failure::Output)?;
    }
    if command.files.len() > 1 {
        writeln!(out, "{total:>10}  total").map_err(Failure::Output)?;
    }
    Ok(())
}

fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    std::fs::read(path)
}
