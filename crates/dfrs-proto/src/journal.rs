//! The journal: what happened to the jobs of one cluster, written alike by the simulator and by the
//! plugin.
//!
//! A journal is JSON lines, one event a line, in time order; `docs/journal.md` is its specification
//! for readers in other languages. This module has the events ([`JournalEvent`]) and a writer that
//! refuses to break the order ([`JournalWriter`]); `dfrs-journal` reads journals and checks them.

mod event;
mod seconds;
mod state;
#[cfg(test)]
mod tests;
mod writer;

pub use event::{EventKind, JobOutcome, JournalEvent, PlatformNode};
pub use state::{JournalJobState, JournalSnapshot};
pub use writer::{JournalWriter, WriteError, reopen};

/// The version of the journal's format that is written, and the only one that is read.
/// Fields and events may be added without a new version, because readers ignore what they do not
/// know.
pub const VERSION: u32 = 1;
