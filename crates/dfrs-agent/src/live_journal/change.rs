//! What there is to say of each job since the journal was last written.

use std::collections::BTreeSet;

use dfrs_proto::journal::Outcome;

use super::memory::MemoryShown;
use crate::ledger::{Ledger, Record};
use crate::life::journal::Shown;
use crate::observation::{Observation, ObservedJob};
use crate::placement::Placement;

/// What the journal has to say about one job.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    Finish(Outcome),
    Pause { lost: bool },
    Submit,
    Start(Placement),
    Resume(Placement),
    Migrate(Placement),
}

impl Change {
    fn takes_a_place(&self) -> bool {
        matches!(self, Self::Start(_) | Self::Resume(_) | Self::Migrate(_))
    }
}

/// What to say of each of these jobs, and what the journal will have said of it then, in the order in
/// which it is said: those that leave a place before those that take one.
pub(super) fn changes(
    observation: &Observation,
    ledger: &Ledger,
    changed: &BTreeSet<u32>,
) -> Vec<(u32, Change, Shown)> {
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

/// The same of one job.
fn changes_of(
    job: &ObservedJob,
    record: &Record,
    observation: &Observation,
    memory: &mut MemoryShown,
) -> impl Iterator<Item = (u32, Change, Shown)> + use<> {
    let is_new = record.shown == Shown::Unknown;
    let before = if is_new {
        Shown::Waiting
    } else {
        record.shown.clone()
    };
    let submit = is_new.then_some((job.id, Change::Submit, Shown::Waiting));
    let after = record.life.shown(job, &before, observation, memory);
    let id = job.id;
    let turn = between(&before, after).map(|(change, shown)| (id, change, shown));
    submit.into_iter().chain(turn)
}

/// What leads from one to the other, and what the journal will have said then.
fn between(before: &Shown, after: Shown) -> Option<(Change, Shown)> {
    let change = match (before, &after) {
        (before, after) if before == after => return None,
        (Shown::Placed(_), Shown::Placed(to)) => Change::Migrate(to.clone()),
        (Shown::Placed(_), _) => Change::Pause {
            lost: after == Shown::Waiting,
        },
        (Shown::Paused, Shown::Placed(to)) => Change::Resume(to.clone()),
        (_, Shown::Placed(to)) => Change::Start(to.clone()),
        _ => return None,
    };
    let shown = if after == Shown::Waiting {
        Shown::Paused
    } else {
        after
    };
    Some((change, shown))
}
