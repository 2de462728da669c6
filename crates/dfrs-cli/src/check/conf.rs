//! Checking a `dfrs.conf`.

use std::io::{self, Read};
use std::path::Path;

use dfrs_proto::conf::{Config, Mode};

use crate::report::{Findings, Problem};

/// The longest file that is read, in bytes. No dfrs.conf comes near.
const LONGEST: u64 = 1 << 20;

pub fn check(input: impl Read, file: &Path) -> io::Result<Findings> {
    let mut bytes = Vec::new();
    input.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        let what = format!("is no journal, and too long for a dfrs.conf: at most {LONGEST} bytes");
        let (line, t) = (None, None);
        return Ok(Findings::bad_input("file", Problem { line, t, what }));
    }
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => return Ok(not_text(&bytes[..error.valid_up_to()])),
    };
    Ok(match Config::parse(text, &file.to_string_lossy()) {
        Ok(config) => Findings::right("dfrs.conf", summary(&config)),
        Err(error) => {
            let problem = Problem {
                line: Some(error.line),
                t: None,
                what: error.what,
            };
            Findings::bad_input("dfrs.conf", problem)
        }
    })
}

fn not_text(before: &[u8]) -> Findings {
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let what = "is not UTF-8 text; neither a dfrs.conf nor a journal".to_owned();
    Findings::bad_input(
        "file",
        Problem {
            line: Some(line),
            t: None,
            what,
        },
    )
}

fn summary(config: &Config) -> String {
    let mode = match config.mode {
        Mode::Off => "off",
        Mode::Shadow => "shadow",
        Mode::Full => "full",
    };
    let partitions = match config.partitions.len() {
        0 => "no partition".to_owned(),
        1 => format!("partition {}", config.partition_list()),
        _ => format!("partitions {}", config.partition_list()),
    };
    format!("mode {mode}, {partitions}")
}
