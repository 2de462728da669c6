//! Reading what earlier calls have kept.

use std::io::{self, BufRead, BufReader, Read};

use super::{Entry, HEADER, Kept, Store};

/// The longest line that is read, in bytes.
const LONGEST: u64 = 64 << 20;

impl Store {
    /// Reads the whole file, and leaves it so that a line can be appended.
    pub(super) fn read(&mut self) -> Result<(), String> {
        let mut input = BufReader::new(self.file.try_clone().map_err(unreadable)?);
        let mut text = Vec::new();
        let mut whole = 0; // bytes in lines that have an end
        for number in 1.. {
            text.clear();
            let length = (&mut input).take(LONGEST).read_until(b'\n', &mut text);
            let length = length.map_err(unreadable)? as u64;
            if number == 1 && !HEADER.as_bytes().starts_with(&text) {
                return Err("is no file of results of dfrs; name another one".into());
            }
            if !text.ends_with(b"\n") {
                if length == LONGEST {
                    return Err(format!(
                        "line {number}: is longer than {LONGEST} bytes; remove it"
                    ));
                }
                return self.mend(whole, length);
            }
            whole += length;
            if number > 1 {
                self.keep(number, &text)?;
            }
        }
        Ok(())
    }

    /// Cuts off what follows the last whole line, and makes sure that there is a first one.
    fn mend(&mut self, whole: u64, rest: u64) -> Result<(), String> {
        let unwritable = |error| format!("cannot be written: {error}; check its permissions");
        if rest > 0 {
            self.file.set_len(whole).map_err(unwritable)?;
            self.mended = true;
        }
        if whole == 0 {
            self.append(HEADER).map_err(unwritable)?;
        }
        Ok(())
    }

    fn keep(&mut self, line: usize, text: &[u8]) -> Result<(), String> {
        let entry: Entry = serde_json::from_slice(text).map_err(|error| {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or(&what);
            format!("line {line}: is damaged ({what}); remove the line, or name another file")
        })?;
        if entry.program == self.program {
            let result = entry.result.to_owned();
            self.kept
                .insert(entry.run.get().to_owned(), Kept { line, result });
        } else {
            self.foreign += 1;
        }
        Ok(())
    }
}

fn unreadable(error: io::Error) -> String {
    format!("cannot be read: {error}; check the path and its permissions")
}
