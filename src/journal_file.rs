//! The journal's file.

use std::fs::OpenOptions;
use std::path::Path;

use dfrs_agent::live_journal::Writer;
use dfrs_proto::journal::{JournalWriter, reopen};

/// Opens the journal at `path`, going on with what is there.
///
/// # Errors
///
/// One line with the file's name.
pub fn open(path: &Path) -> Result<Writer, String> {
    let describe = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut options = OpenOptions::new();
    let mut file = options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(describe)?;
    let last = reopen(&mut file).map_err(describe)?;
    Ok(JournalWriter::resume(Box::new(file), last))
}
