//! The files that are read.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use dfrs_moldable_lab::{MoldableInstance, file};

/// The longest line, in bytes: times on all processors that a machine may have.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// The tasks of a file, for a machine of so many processors.
///
/// # Errors
///
/// One line with file, line and remedy.
pub fn read(path: &Path, processors: u32) -> Result<MoldableInstance, String> {
    let name = path.display();
    let refused = |error: std::io::Error| {
        format!("{name}: cannot be read: {error}; check the path and its permissions")
    };
    let mut input = BufReader::with_capacity(1 << 16, File::open(path).map_err(refused)?);
    let mut instance = MoldableInstance::new(processors).map_err(|error| error.to_string())?;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = input.by_ref().take(MAX_LINE_BYTES + 1);
        if limited.read_until(b'\n', &mut line).map_err(refused)? == 0 {
            break;
        }
        let at_line = |what: String| format!("{name}:{number}: {what}");
        if line.len() as u64 > MAX_LINE_BYTES {
            return Err(at_line(format!(
                "the line is longer than {MAX_LINE_BYTES} bytes; write one task a line"
            )));
        }
        let text = std::str::from_utf8(&line)
            .map_err(|_| at_line("is not UTF-8; write the file again".into()))?;
        file::add_line(&mut instance, text).map_err(|error| at_line(error.to_string()))?;
    }
    match instance.tasks().is_empty() {
        true => Err(format!("{name}: has no tasks; write one a line")),
        false => Ok(instance),
    }
}
