//! What there is to say of each job since the journal was last written.

use std::collections::BTreeSet;

use dfrs_proto::journal::JobOutcome;

use super::memory::MemoryShown;
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::journal::JournalState;
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;

/// What the journal has to say about one job.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JournalChange {
    Finish(JobOutcome),
    Pause { lost: bool },
    Submit,
    Start(NamedPlacement),
    Resume(NamedPlacement),
    Migrate(NamedPlacement),
}

impl JournalChange {
    fn takes_a_place(&self) -> bool {
        matches!(self, Self::Start(_) | Self::Resume(_) | Self::Migrate(_))
    }
}

/// What to say of each of these jobs, and what the journal will have said of it then, in the order
/// in which it is said: those that leave a place before those that take one.
pub(super) fn changes(
    observation: &Observation,
    ledger: &Ledger,
    changed: &BTreeSet<u32>,
) -> Vec<(u32, JournalChange, JournalState)> {
    let mut memory = MemoryShown::new(observation, ledger);
    let mut all = Vec::new();
    for job in changed.iter().filter_map(|id| observation.job(*id)) {
        if let Some(record) = ledger.get(job.id) {
            all.extend(changes_of(job, record, observation, &mut memory));
        }
    }
    all.sort_by_key(|(id, change, _)| (change.takes_a_place(), *id));
    all
}

/// The changes of one job.
fn changes_of(
    job: &ObservedJob,
    record: &LedgerRecord,
    observation: &Observation,
    memory: &mut MemoryShown,
) -> impl Iterator<Item = (u32, JournalChange, JournalState)> + use<> {
    let is_new = record.shown == JournalState::Unknown;
    let before = if is_new {
        JournalState::Waiting
    } else {
        record.shown.clone()
    };
    let submit = is_new.then_some((job.id, JournalChange::Submit, JournalState::Waiting));
    let can_move = |old: &NamedPlacement, new: &NamedPlacement| memory.moves(job, old, new);
    let after = record
        .life
        .journal_state(job, &before, observation, can_move);
    let id = job.id;
    let turn = between(&before, after).map(|(change, shown)| (id, change, shown));
    submit.into_iter().chain(turn)
}

/// What leads from one to the other, and what the journal will have said then.
fn between(before: &JournalState, after: JournalState) -> Option<(JournalChange, JournalState)> {
    let change = match (before, &after) {
        (before, after) if before == after => return None,
        (JournalState::Placed(_), JournalState::Placed(to)) => JournalChange::Migrate(to.clone()),
        (JournalState::Placed(_), _) => JournalChange::Pause {
            lost: after == JournalState::Waiting,
        },
        (JournalState::Paused, JournalState::Placed(to)) => JournalChange::Resume(to.clone()),
        (_, JournalState::Placed(to)) => JournalChange::Start(to.clone()),
        _ => return None,
    };
    let shown = if after == JournalState::Waiting {
        JournalState::Paused
    } else {
        after
    };
    Some((change, shown))
}
