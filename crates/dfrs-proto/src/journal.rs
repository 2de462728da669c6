//! The journal: what happened to the jobs of one cluster, written alike by the simulator and by the
//! plugin.
//!
//! A journal is JSON lines, one event a line, in time order; `docs/journal.md` is its specification
//! for readers in other languages. This module has the events ([`JournalEvent`]), a writer that
//! refuses to break the order ([`JournalWriter`]), a streaming reader ([`JournalReader`]) and the
//! check of everything that a journal promises ([`validate()`], [`Validator`]).

mod event;
mod reader;
mod seconds;
mod state;
#[cfg(test)]
mod tests;
mod track;
mod validate;
mod violation;
mod writer;

pub use event::{EventKind, JobOutcome, JournalEvent, PlatformNode};
pub use reader::{JournalReader, ReadError};
pub use state::{JournalJobState, JournalSnapshot};
pub use validate::{Tolerance, Validator, validate};
pub use violation::{JournalViolation, Violated};
pub use writer::{JournalWriter, WriteError, reopen};

/// The version of the journal's format that this crate writes, and the only one that it reads.
/// Fields and events may be added without a new version, because readers ignore what they do not
/// know.
pub const VERSION: u32 = 1;
