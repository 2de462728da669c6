//! What there is to say of each job since the journal was last written.

use std::collections::BTreeSet;

use dfrs_proto::journal::{EventKind, JobOutcome};

use super::memory::MemoryShown;
use super::nodes::JournalNodes;
use super::submission;
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::job::life::journal::JournalState;
use crate::job::placement::NamedPlacement;
use crate::slurm::observation::Observation;
use crate::slurm::records::ObservedJob;

/// Whether a job gets a place, or another one, by such an event.
pub(super) fn takes_a_place(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Start { .. } | EventKind::Resume { .. } | EventKind::Migrate { .. }
    )
}

/// What to say of each of these jobs, and what the journal will have said of it then, in the order
/// in which it is said: those that leave a place before those that take one.
pub(super) fn changes(
    observation: &Observation,
    ledger: &Ledger,
    changed: &BTreeSet<u32>,
    nodes: &JournalNodes,
) -> Vec<(u32, EventKind, JournalState)> {
    let mut memory = MemoryShown::new(observation, ledger);
    let mut all = Vec::new();
    for job in changed.iter().filter_map(|id| observation.job(*id)) {
        if let Some(record) = ledger.get(job.id) {
            all.extend(changes_of(job, record, observation, nodes, &mut memory));
        }
    }
    all.sort_by_key(|(id, kind, _)| (takes_a_place(kind), *id));
    all
}

/// The changes of one job.
fn changes_of(
    job: &ObservedJob,
    record: &LedgerRecord,
    observation: &Observation,
    nodes: &JournalNodes,
    memory: &mut MemoryShown,
) -> impl Iterator<Item = (u32, EventKind, JournalState)> + use<> {
    let is_new = record.shown == JournalState::Unknown;
    let mut before = if is_new {
        JournalState::Waiting
    } else {
        record.shown.clone()
    };
    let id = job.id;
    let can_move = |old: &NamedPlacement, new: &NamedPlacement| memory.moves(job, old, new);
    let after = record
        .life
        .journal_state(job, &before, observation, can_move);
    // It was resized: the journal has it as another job from now on.
    let is_another = !is_new && !has_shown_size(record, &after);
    let finish = is_another.then(|| (id, replaced(id), JournalState::Unknown));
    if is_another {
        before = JournalState::Waiting;
    }
    let submit = (is_new || is_another).then(|| {
        (
            id,
            submission(job, size(job, &after), observation),
            JournalState::Waiting,
        )
    });
    let turn = between(id, &before, after, nodes).map(|(kind, shown)| (id, kind, shown));
    finish.into_iter().chain(submit).chain(turn)
}

/// Whether the place has as many tasks as the journal says that the job has.
fn has_shown_size(record: &LedgerRecord, after: &JournalState) -> bool {
    match (after, record.shown_tasks) {
        (JournalState::Placed(place), Some((least, most))) => {
            (least..=most).contains(&place.tasks())
        }
        _ => true,
    }
}

/// The fewest and the most tasks of a job: what it asks for, or what it has of that since an
/// operator took nodes from it.
fn size(job: &ObservedJob, after: &JournalState) -> (u32, u32) {
    let (least, most) = job.request.task_range();
    match after {
        JournalState::Placed(place) if !(least..=most).contains(&place.tasks()) => {
            (place.tasks(), place.tasks())
        }
        _ => (least, most),
    }
}

fn replaced(id: u32) -> EventKind {
    EventKind::Finish {
        job: id.to_string(),
        outcome: JobOutcome::Other,
    }
}

/// What leads from one to the other, and what the journal will have said then.
fn between(
    id: u32,
    before: &JournalState,
    after: JournalState,
    nodes: &JournalNodes,
) -> Option<(EventKind, JournalState)> {
    let job = id.to_string();
    let kind = match (before, &after) {
        (before, after) if before == after => return None,
        (JournalState::Placed(_), JournalState::Placed(to)) => EventKind::Migrate {
            job,
            nodes: nodes.per_task(to),
            stall: None,
        },
        (JournalState::Placed(_), _) => EventKind::Pause {
            job,
            lost: after == JournalState::Waiting,
        },
        (JournalState::Paused, JournalState::Placed(to)) => EventKind::Resume {
            job,
            nodes: nodes.per_task(to),
            stall: None,
        },
        (_, JournalState::Placed(to)) => EventKind::Start {
            job,
            nodes: nodes.per_task(to),
        },
        _ => return None,
    };
    let shown = if after == JournalState::Waiting {
        JournalState::Paused
    } else {
        after
    };
    Some((kind, shown))
}
