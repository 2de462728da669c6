//! Which waiting jobs could find room if others gave way, told without trying it for each of them.

use super::board::Board;
use super::crowd::gives_way;
use super::{Claim, SETTLED};
use crate::model::{Job, Mapping};
use crate::preempt::only_place;
use crate::prospects::Prospects;
use crate::target::can_pause;
use crate::units::Span;
use crate::usage::Usage;

/// One for each claim, made when it is first asked about: nothing if nobody can give way to such a claim.
#[derive(Default)]
pub(super) struct Chances([Option<Option<Chance>>; 3]);

/// What there would be if all had gone that a claim may push aside, and what was tried in vain.
struct Chance {
    usage: Usage,
    prospects: Prospects,
}

impl Chances {
    /// Whether it is known that there is none for this job. O(nodes log nodes + runs) the first time.
    pub(super) fn are_none(&mut self, board: &Board<'_>, claim: Claim, job: &Job) -> bool {
        let chance = self.0[claim as usize].get_or_insert_with(|| {
            let usage = without_those_that_give_way(board, claim)?;
            let prospects = Prospects::of(&usage);
            Some(Chance { usage, prospects })
        });
        match chance {
            Some(chance) => match only_place(job) {
                Some(own) => !chance.usage.takes_back(job, own),
                None => chance.prospects.are_none(job),
            },
            None => true,
        }
    }

    /// A job has this place from now on.
    pub(super) fn take(&mut self, job: &Job, mapping: &Mapping) {
        for chance in self.0.iter_mut().flatten().flatten() {
            chance.usage.add(job, mapping);
            chance.prospects.shrink();
        }
    }

    /// The job was tried in vain.
    pub(super) fn miss(&mut self, claim: Claim, job: &Job) {
        if let Some(Some(chance)) = &mut self.0[claim as usize] {
            chance.prospects.miss(job, &chance.usage);
        }
    }
}

/// What is in use by all others; `None` if there are only others. O(nodes + runs).
fn without_those_that_give_way(board: &Board<'_>, claim: Claim) -> Option<Usage> {
    let least = match claim {
        Claim::New => SETTLED,
        Claim::Waited | Claim::Back => Span(1),
    };
    let mut left: Option<Usage> = None;
    let running = board
        .roster
        .running_indices()
        .iter()
        .zip(board.roster.running());
    for (index, job) in running {
        if job.virtual_time >= least
            && gives_way(job)
            && board.target.stays(*index)
            && can_pause(board.policy, board.cluster, &board.swap, job)
            && let Some(mapping) = job.running_on()
        {
            let usage = left.get_or_insert_with(|| board.usage.clone());
            usage.remove(job, mapping);
        }
    }
    left
}
