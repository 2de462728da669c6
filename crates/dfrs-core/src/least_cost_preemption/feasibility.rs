//! Which jobs could find room by preemption, as far as is known without trying it for each of them.

use super::candidates::preemptible;
use super::decision_state::DecisionState;
use super::{PreemptionClass, SETTLED};
use crate::model::{Job, Mapping};
use crate::preempt::only_place;
use crate::room::Room;
use crate::target::can_pause;
use crate::units::Span;
use crate::usage::Usage;

/// For each class what is left if all jobs are preempted that it may preempt, made when first
/// needed: `None` within if there are none.
#[derive(Default)]
pub(super) struct PreemptionFeasibility([Option<Option<Room>>; 3]);

impl PreemptionFeasibility {
    /// Whether it is known that there is none for this job. O(nodes log nodes + runs) the first
    /// time.
    pub(super) fn cannot_fit(
        &mut self,
        state: &DecisionState<'_>,
        class: PreemptionClass,
        job: &Job,
    ) -> bool {
        let after = self.0[class as usize]
            .get_or_insert_with(|| without_preemptible(state, class).map(Room::of));
        after.as_mut().is_none_or(|after| match only_place(job) {
            Some(own) => !after.usage().takes_back(job, own),
            None => after.cannot_fit(job) || cannot_be_together(after, state, job),
        })
    }

    /// A job has this place from now on.
    pub(super) fn take(&mut self, job: &Job, mapping: &Mapping) {
        for after in self.0.iter_mut().flatten().flatten() {
            after.take(job, mapping);
        }
    }

    /// The job found no place by preemption.
    pub(super) fn miss(&mut self, class: PreemptionClass, job: &Job) {
        if let Some(Some(after)) = &mut self.0[class as usize] {
            after.miss(job);
        }
    }
}

/// Whether no nodes that the job may have together take it. O(nodes log nodes) once for each demand.
fn cannot_be_together(after: &mut Room, state: &DecisionState<'_>, job: &Job) -> bool {
    let is_refused =
        job.layout.together.is_some() && !after.could_place(state.question.cluster, job);
    if is_refused {
        after.miss(job);
    }
    is_refused
}

/// What is in use by all others; `None` if there are only others. O(nodes + runs).
fn without_preemptible(state: &DecisionState<'_>, class: PreemptionClass) -> Option<Usage> {
    let least = match class {
        PreemptionClass::New => SETTLED,
        PreemptionClass::Waited | PreemptionClass::Back => Span::ZERO,
    };
    let mut left: Option<Usage> = None;
    for (_, job, mapping) in preemptible(state) {
        if job.virtual_time >= least && can_pause(state.question, &state.swap, job) {
            let usage = left.get_or_insert_with(|| state.usage.clone());
            usage.remove(job, mapping);
        }
    }
    left
}
