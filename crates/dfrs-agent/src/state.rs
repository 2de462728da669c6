//! What must survive a restart of slurmctld, and the port to where it is kept.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::ledger::Ledger;

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The partitions that DFRS scheduled, for a plugin that has to give parked jobs back and is no
    /// longer told which these were.
    pub partitions: Vec<String>,
    /// Where its journal is, which has to tell that these jobs came back.
    #[serde(default)]
    pub journal: Option<PathBuf>,
    /// slurmctld ended in order after this, and kept its own state as well.
    #[serde(default = "in_order")]
    pub in_order: bool,
    /// The jobs.
    pub ledger: Ledger,
}

/// Older plugins did not say.
fn in_order() -> bool {
    true
}

impl State {
    /// Whether jobs depend on DFRS to come back: Slurm does not count their memory, or they are on
    /// their way there.
    #[must_use]
    pub fn has_parked(&self) -> bool {
        let mut records = self.ledger.iter();
        records.any(|(_, record)| record.life.depends_on_dfrs())
    }
}

/// Where the state is kept.
pub trait Store {
    /// Replaces what is kept by `state`; after a crash all of the old or all of the new is there.
    ///
    /// # Errors
    ///
    /// One line on what went wrong and where; the old state is still kept then.
    fn save(&mut self, state: &State) -> Result<(), String>;
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// A job in each phase, as version 1 of the file has them.
    const VERSION_1: &str = include_str!("state/version_1.json");

    #[test]
    fn what_version_1_of_the_file_says_is_read_and_written_alike() {
        let state: State = serde_json::from_str(VERSION_1).expect("is read");
        assert_eq!(state.ledger.len(), 11);
        let written = serde_json::to_value(&state).expect("is written");
        let before: Value = serde_json::from_str(VERSION_1).expect("is JSON");
        assert_eq!(written, before);
    }
}
