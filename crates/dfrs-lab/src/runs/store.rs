//! The file in which finished runs are kept: a line that says what it is, then a line of JSON for
//! each result, appended in one write as soon as there is one.

mod read;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::digest::program;

/// The first line.
const HEADER: &str = "{\"format\":\"dfrs results\",\"version\":1}\n";

/// One result.
#[derive(Serialize, Deserialize)]
struct ResultEntry<'a> {
    /// What made it.
    #[serde(borrow)]
    program: std::borrow::Cow<'a, str>,
    /// What the result depends on beside.
    #[serde(borrow)]
    run: &'a RawValue,
    #[serde(borrow)]
    result: &'a RawValue,
}

/// A result as it was found.
struct StoredResult {
    line: usize,
    result: Box<RawValue>,
}

/// An open file of results.
pub struct ResultStore {
    path: PathBuf,
    file: File,
    program: &'static str,
    /// The results that this program made, by the serialised run.
    results: BTreeMap<String, StoredResult>,
    /// How many results another program made.
    of_other_builds: usize,
    /// Whether the last line was cut short.
    repaired: bool,
}

impl ResultStore {
    /// Opens the file or makes it. No other process can use it until it is closed. A last line
    /// without an end, left by an interrupted process, is cut off.
    pub fn open(path: &Path) -> Result<Self, String> {
        let in_file = |what: String| format!("{}: {what}", path.display());
        let program = program().map_err(|error| {
            in_file(format!(
                "the program's own file cannot be read: {error}; leave out the file of results"
            ))
        })?;
        let file = open(path).map_err(in_file)?;
        let mut store = Self {
            path: path.to_owned(),
            file,
            program,
            results: BTreeMap::new(),
            of_other_builds: 0,
            repaired: false,
        };
        store.read().map_err(in_file)?;
        Ok(store)
    }

    /// The result of the run, if it is there.
    pub fn get<R: DeserializeOwned>(&self, run: &impl Serialize) -> Result<Option<R>, String> {
        let Some(kept) = self.results.get(&json(run)?) else {
            return Ok(None);
        };
        let result = serde_json::from_str(kept.result.get());
        result.map(Some).map_err(|error| {
            let (path, line) = (self.path.display(), kept.line);
            format!("{path}: line {line}: has no result of this kind: {error}; remove the line")
        })
    }

    /// Adds a result. What was there stays whole even if this cannot be written.
    pub fn add(&mut self, run: &impl Serialize, result: &impl Serialize) -> Result<(), String> {
        let (run, result) = (raw(run)?, raw(result)?);
        let line = json(&ResultEntry {
            program: self.program.into(),
            run: &run,
            result: &result,
        })? + "\n";
        self.append(&line).map_err(|error| {
            let path = self.path.display();
            format!("{path}: cannot be written: {error}; make room and call again: finished runs are kept")
        })
    }

    /// What happened to the file, a line each.
    pub fn notes(&self) -> String {
        let mut notes = String::new();
        if self.repaired {
            notes += &self.note("its last line was cut short and is removed");
        }
        if self.of_other_builds > 0 {
            let text = format!(
                "results of another build of dfrs, not used: {}",
                self.of_other_builds
            );
            notes += &self.note(&text);
        }
        notes
    }

    /// A line about the file.
    pub fn note(&self, text: &str) -> String {
        format!("{}: {text}\n", self.path.display())
    }

    fn append(&mut self, line: &str) -> std::io::Result<()> {
        let length = self.file.metadata()?.len();
        self.file.write_all(line.as_bytes()).inspect_err(|_| {
            let _ = self.file.set_len(length); // what is left of it is cut off by the next reader
        })
    }
}

/// Opens a regular file that no other process uses.
fn open(path: &Path) -> Result<File, String> {
    let refused = |error| format!("cannot be opened: {error}; check the path and its permissions");
    // Opening a FIFO or a device may block or do something.
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return Err("is no regular file; name another one".into());
    }
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .append(true)
        .create(true)
        .open(path)
        .map_err(refused)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err("another dfrs is writing to it; wait for it, or name another file".into())
        }
        // A file system without locks is no reason not to keep results.
        Err(TryLockError::Error(_)) | Ok(()) => Ok(file),
    }
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, String> {
    serde_json::value::to_raw_value(value).map_err(|error| error.to_string())
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
