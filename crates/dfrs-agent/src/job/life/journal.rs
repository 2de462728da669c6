//! What the journal shall say of a job: where it has a place, and what it gave up.

use serde::{Deserialize, Serialize};

use super::Life;
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;

/// What the journal says of a job so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum JournalState {
    /// Nothing.
    #[default]
    Unknown,
    /// Submitted.
    Waiting,
    /// Has a place.
    Placed(NamedPlacement),
    /// Gave up its place.
    Paused,
}

/// Where a phase has a job, for the journal.
pub(super) enum JournalPlace<'a> {
    /// Where the journal has it.
    AsBefore,
    /// In the queue: paused if it was.
    Waiting,
    /// Where Slurm has it.
    Here,
    /// Where it was last.
    Last,
    /// Nowhere: it gave up its place.
    Paused,
    /// On its way to this place.
    Moves(&'a NamedPlacement),
}

impl Life {
    /// What the journal shall say of `job` after it has said `before`. A requeued job has given its
    /// place up as soon as Slurm counts its memory as free; its nodes become free one by one after
    /// that, and others start there at once. One that moves is shown at its new place from then on,
    /// if that is free too (nothing else is planned there), else as paused.
    pub fn journal_state(
        &self,
        job: &ObservedJob,
        before: &JournalState,
        observation: &Observation,
        mut can_move: impl FnMut(&NamedPlacement, &NamedPlacement) -> bool,
    ) -> JournalState {
        match (self.phase.rules().journal_place(job, before), before) {
            (JournalPlace::AsBefore, _) => before.clone(),
            (JournalPlace::Here, _) => {
                JournalState::Placed(NamedPlacement::of_job(job, observation))
            }
            (JournalPlace::Last, _) => JournalState::Placed(self.last_place.clone()),
            // Others may have come there since it was shown there.
            (JournalPlace::Moves(to), JournalState::Placed(old)) if can_move(old, to) => {
                JournalState::Placed(to.clone())
            }
            (JournalPlace::Waiting, JournalState::Paused)
            | (JournalPlace::Moves(_) | JournalPlace::Paused, _) => JournalState::Paused,
            (JournalPlace::Waiting, _) => JournalState::Waiting,
        }
    }
}
