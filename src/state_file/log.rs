//! The file's format, version 2: lines, each a checksum (CRC-32 of the rest, eight hexadecimal digits), a space,
//! and JSON. The first line has the version. Every other line is an entry: what changed, all of it or, if
//! the line was torn, none of it. Only the last line can be torn: it is on the disk before the
//! next one is begun, and a file begins with lines that were there before it got its name.
//!
//! Version 1 is one JSON object with all of the state.

use std::collections::BTreeMap;

use dfrs_agent::job::ledger::LedgerRecord;
use dfrs_agent::publish::state::{Head, PersistedJob, State, StateChanges};
use serde::{Deserialize, Serialize};

/// Grows when an older plugin could not understand the file.
const VERSION: u32 = 2;
/// Jobs in one entry of a file that is rewritten.
const JOBS_PER_ENTRY: usize = 500;

#[derive(Serialize, Deserialize)]
struct Version {
    version: u32,
}

/// Version 1.
#[derive(Deserialize)]
struct StateV1 {
    state: State,
}

/// What changed.
#[derive(Default, Serialize, Deserialize)]
struct StateEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<Head>,
    /// Jobs and all that is known of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    jobs: Vec<(u32, LedgerRecord)>,
    /// Jobs that wait without a history: submission time, whether they were admitted, whether the journal
    /// has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    waits: Vec<(u32, i64, u8, u8)>,
    /// Jobs of which nothing is known any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<u32>,
}

impl StateEntry {
    fn of(changes: StateChanges) -> Self {
        let mut entry = Self {
            head: changes.head,
            ..Self::default()
        };
        for (id, kept) in changes.jobs {
            match kept {
                Some(PersistedJob::Record(record)) => entry.jobs.push((id, *record)),
                Some(PersistedJob::Waits {
                    submit_time,
                    admitted,
                    shown,
                }) => entry
                    .waits
                    .push((id, submit_time, u8::from(admitted), u8::from(shown))),
                None => entry.gone.push(id),
            }
        }
        entry
    }

    fn changes(self) -> StateChanges {
        let mut jobs: BTreeMap<u32, Option<PersistedJob>> = BTreeMap::new();
        for (id, record) in self.jobs {
            jobs.insert(id, Some(PersistedJob::Record(Box::new(record))));
        }
        for (id, submit_time, admitted, shown) in self.waits {
            let kept = PersistedJob::Waits {
                submit_time,
                admitted: admitted != 0,
                shown: shown != 0,
            };
            jobs.insert(id, Some(kept));
        }
        jobs.extend(self.gone.into_iter().map(|id| (id, None)));
        StateChanges {
            head: self.head,
            jobs,
        }
    }
}

/// One line for these changes.
///
/// # Errors
///
/// One line of text; no known state has any.
pub(super) fn line(changes: StateChanges) -> Result<Vec<u8>, String> {
    sealed(&StateEntry::of(changes))
}

/// A whole file.
///
/// # Errors
///
/// As [`line()`].
pub(super) fn file(head: &Head, live: &BTreeMap<u32, PersistedJob>) -> Result<Vec<u8>, String> {
    let mut bytes = sealed(&Version { version: VERSION })?;
    bytes.extend(line(StateChanges {
        head: Some(head.clone()),
        jobs: BTreeMap::new(),
    })?);
    let all: Vec<_> = live.iter().collect();
    for some in all.chunks(JOBS_PER_ENTRY) {
        let jobs = some
            .iter()
            .map(|(id, kept)| (**id, Some((*kept).clone())))
            .collect();
        bytes.extend(line(StateChanges { head: None, jobs })?);
    }
    Ok(bytes)
}

fn sealed(value: &impl Serialize) -> Result<Vec<u8>, String> {
    let json = serde_json::to_vec(value).map_err(|error| error.to_string())?;
    let mut line = prefix(&json).into_bytes();
    line.extend(json);
    line.push(b'\n');
    Ok(line)
}

/// What stands before it in its line.
fn prefix(json: &[u8]) -> String {
    format!("{:08x} ", crc32fast::hash(json))
}

/// The JSON of a line, if it is whole.
fn opened(line: &[u8]) -> Option<&[u8]> {
    let (checksum, json) = (line.get(..9)?, line.get(9..)?);
    (checksum == prefix(json).as_bytes()).then_some(json)
}

/// Reads a file of this version or of version 1.
///
/// # Errors
///
/// One line: it is neither, or a line that is not the last is not whole.
pub(super) fn read(bytes: &[u8]) -> Result<State, String> {
    if bytes.first() == Some(&b'{') {
        return read_old(bytes);
    }
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
    let whole = |line: &'_ [u8]| -> Option<Vec<u8>> {
        let line = line.strip_suffix(b"\n")?;
        opened(line).map(<[u8]>::to_vec)
    };
    let first = lines
        .next()
        .and_then(|(_, line)| whole(line))
        .ok_or("line 1 is no line of a state file")?;
    known_version(&first, VERSION)?;
    let mut state = State::default();
    while let Some((number, line)) = lines.next() {
        let Some(json) = whole(line) else {
            if lines.next().is_none() {
                break; // Torn by a crash, while it was written.
            }
            return Err(format!("line {} is damaged", number + 1));
        };
        let entry: StateEntry = serde_json::from_slice(&json)
            .map_err(|error| format!("line {}: {error}", number + 1))?;
        entry.changes().apply_to(&mut state);
    }
    state.ledger.take_changed();
    Ok(state)
}

fn read_old(bytes: &[u8]) -> Result<State, String> {
    known_version(bytes, 1)?;
    let old: StateV1 = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    Ok(old.state)
}

fn known_version(json: &[u8], known: u32) -> Result<(), String> {
    let Version { version } = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    if version == known {
        return Ok(());
    }
    Err(format!("version {version}, this plugin writes {VERSION}"))
}
