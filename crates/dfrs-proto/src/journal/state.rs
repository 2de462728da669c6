//! Where a journal stands: what it says so far of the nodes and of the jobs in the system.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{NodeIndex, Time};

use super::event::{EventKind, JournalEvent, PlatformNode};

/// What lines about yields have in them, which change nothing here.
const YIELD: &[u8] = br#""event":"yield""#;

/// What a journal says by its last line. A writer that goes on with the journal starts from there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalSnapshot {
    /// When its last event happened; none if it has no event.
    pub last: Option<Time>,
    /// The nodes of its last platform, in their places.
    pub nodes: Vec<PlatformNode>,
    /// The jobs in the system.
    pub jobs: BTreeMap<String, JournalJobState>,
    /// The jobs that were waiting for something else than room when that was last recorded.
    pub held_back: BTreeSet<String>,
}

/// What a journal says of a job in the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalJobState {
    /// Submitted, and not started yet.
    Waiting,
    /// Runs on these nodes, one for each task.
    Running(Vec<NodeIndex>),
    /// Gave up its place.
    Paused,
}

impl JournalSnapshot {
    /// Takes the next line. A line that is no event changes nothing: `dfrs check` reports it.
    /// Yields, most of the lines, are passed over, and their times with them. O(length of the
    /// line).
    pub(super) fn read(&mut self, line: &[u8]) {
        if line.windows(YIELD.len()).any(|part| part == YIELD) {
            return;
        }
        if let Ok(event) = serde_json::from_slice::<JournalEvent>(line) {
            self.follow(&event);
        }
    }

    /// Takes the next event. O(log jobs + size of the event).
    pub fn follow(&mut self, event: &JournalEvent) {
        self.last = Some(event.t);
        let (job, state) = match &event.kind {
            EventKind::Platform { nodes, .. } => {
                self.nodes.clone_from(nodes);
                return;
            }
            EventKind::Submit { job, .. } => (job, JournalJobState::Waiting),
            EventKind::Start { job, nodes }
            | EventKind::Resume { job, nodes, .. }
            | EventKind::Migrate { job, nodes, .. } => {
                (job, JournalJobState::Running(nodes.clone()))
            }
            EventKind::Pause { job, .. } => (job, JournalJobState::Paused),
            EventKind::Finish { job, .. } => {
                self.held_back.remove(job);
                self.jobs.remove(job);
                return;
            }
            EventKind::Eligible { job, value, .. } => {
                match value {
                    true => drop(self.held_back.remove(job)),
                    false => drop(self.held_back.insert(job.clone())),
                }
                return;
            }
            EventKind::Yield { .. } | EventKind::Refused { .. } | EventKind::Unknown => return,
        };
        self.jobs.insert(job.clone(), state);
    }
}
