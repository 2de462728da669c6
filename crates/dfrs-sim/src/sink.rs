//! What is called during a simulation.

use dfrs_proto::journal::{JournalEvent, WriteError};

/// Takes the events of the journal, in time order.
pub type Sink<'a> = &'a mut dyn FnMut(&JournalEvent) -> Result<(), WriteError>;

/// Is called whenever a job ends.
pub type OnJobEnd<'a> = &'a mut dyn FnMut();
