//! Reading what earlier calls have kept.

use std::io::{self, BufRead, BufReader, Read};

use super::{HEADER, ResultEntry, ResultStore, StoredResult};

/// The longest line that is read, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 20;

impl ResultStore {
    /// Reads the whole file, and leaves it so that a line can be appended.
    pub(super) fn read(&mut self) -> Result<(), String> {
        let mut input = BufReader::new(self.file.try_clone().map_err(unreadable)?);
        let mut text = Vec::new();
        let mut whole = 0; // bytes in lines that have an end
        for number in 1.. {
            text.clear();
            let length = (&mut input)
                .take(MAX_LINE_BYTES)
                .read_until(b'\n', &mut text);
            let length = length.map_err(unreadable)? as u64;
            if number == 1 && !HEADER.as_bytes().starts_with(&text) {
                return Err("is no file of results of dfrs; name another one".into());
            }
            if !text.ends_with(b"\n") {
                if length == MAX_LINE_BYTES {
                    return Err(format!(
                        "line {number}: is longer than {MAX_LINE_BYTES} bytes; remove it"
                    ));
                }
                return self.repair(whole, length);
            }
            whole += length;
            if number > 1 {
                self.load_line(number, &text)?;
            }
        }
        Ok(())
    }

    /// Cuts off what follows the last whole line, and makes sure that there is a first one.
    fn repair(&mut self, whole: u64, rest: u64) -> Result<(), String> {
        let unwritable = |error| format!("cannot be written: {error}; check its permissions");
        if rest > 0 {
            self.file.set_len(whole).map_err(unwritable)?;
            self.repaired = true;
        }
        if whole == 0 {
            self.append(HEADER).map_err(unwritable)?;
        }
        Ok(())
    }

    fn load_line(&mut self, line: usize, text: &[u8]) -> Result<(), String> {
        let entry: ResultEntry = serde_json::from_slice(text).map_err(|error| {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or(&what);
            format!("line {line}: is damaged ({what}); remove the line, or name another file")
        })?;
        if entry.program == self.program {
            let result = entry.result.to_owned();
            self.results
                .insert(entry.run.get().to_owned(), StoredResult { line, result });
        } else {
            self.of_other_builds += 1;
        }
        Ok(())
    }
}

fn unreadable(error: io::Error) -> String {
    format!("cannot be read: {error}; check the path and its permissions")
}
