//! Checking a `dfrs.conf`.

use std::io::{self, Read};
use std::path::Path;

use dfrs_proto::conf::Config;

use crate::report::CheckFindings;

/// The longest file that is read, in bytes. No dfrs.conf comes near.
const MAX_BYTES: u64 = 1 << 20;

pub fn check(input: impl Read, file: &Path) -> io::Result<CheckFindings> {
    let mut bytes = Vec::new();
    input.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let what =
            format!("is no journal, and too long for a dfrs.conf: at most {MAX_BYTES} bytes");
        return Ok(CheckFindings::bad_input("file", None, what));
    }
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => return Ok(not_text(&bytes[..error.valid_up_to()])),
    };
    Ok(match Config::parse(text, &file.to_string_lossy()) {
        Ok(config) => CheckFindings::valid("dfrs.conf", summary(&config)),
        Err(error) => CheckFindings::bad_input("dfrs.conf", Some(error.line), error.what),
    })
}

fn not_text(before: &[u8]) -> CheckFindings {
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let what = "is not UTF-8 text; neither a dfrs.conf nor a journal".to_owned();
    CheckFindings::bad_input("file", Some(line), what)
}

fn summary(config: &Config) -> String {
    let mode = config.mode.word();
    let partitions = match config.partitions.len() {
        0 => "no partition".to_owned(),
        1 => format!("partition {}", config.partition_list()),
        _ => format!("partitions {}", config.partition_list()),
    };
    format!("mode {mode}, {partitions}")
}
