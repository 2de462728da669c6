//! Which jobs could find room by preemption, as far as is known without trying it for each of them.

use super::candidates::preemptible;
use super::decision_state::DecisionState;
use super::{PreemptionClass, SETTLED};
use crate::fit_cache::FitCache;
use crate::model::{Job, Mapping};
use crate::preempt::only_place;
use crate::target::can_pause;
use crate::units::Span;
use crate::usage::Usage;

/// One entry for each class, made when first needed: `None` within if no job can be preempted for
/// that class.
#[derive(Default)]
pub(super) struct PreemptionFeasibility([Option<Option<AfterPreemption>>; 3]);

/// What is left if all jobs are preempted that a class may preempt, and for which jobs that was not
/// enough.
struct AfterPreemption {
    usage: Usage,
    fit_cache: FitCache,
}

impl PreemptionFeasibility {
    /// Whether it is known that there is none for this job. O(nodes log nodes + runs) the first
    /// time.
    pub(super) fn cannot_fit(
        &mut self,
        state: &DecisionState<'_>,
        class: PreemptionClass,
        job: &Job,
    ) -> bool {
        let after = self.0[class as usize].get_or_insert_with(|| {
            let usage = without_preemptible(state, class)?;
            let fit_cache = FitCache::of(&usage);
            Some(AfterPreemption { usage, fit_cache })
        });
        match after {
            Some(after) => match only_place(job) {
                Some(own) => !after.usage.takes_back(job, own),
                None => after.fit_cache.cannot_fit(job),
            },
            None => true,
        }
    }

    /// A job has this place from now on.
    pub(super) fn take(&mut self, job: &Job, mapping: &Mapping) {
        for after in self.0.iter_mut().flatten().flatten() {
            after.usage.add(job, mapping);
            after.fit_cache.shrink();
        }
    }

    /// The job found no place by preemption.
    pub(super) fn miss(&mut self, class: PreemptionClass, job: &Job) {
        if let Some(Some(after)) = &mut self.0[class as usize] {
            after.fit_cache.miss(job, &after.usage);
        }
    }
}

/// What is in use by all others; `None` if there are only others. O(nodes + runs).
fn without_preemptible(state: &DecisionState<'_>, class: PreemptionClass) -> Option<Usage> {
    let least = match class {
        PreemptionClass::New => SETTLED,
        PreemptionClass::Waited | PreemptionClass::Back => Span::ZERO,
    };
    let mut left: Option<Usage> = None;
    for (_, job, mapping) in preemptible(state) {
        if job.virtual_time >= least && can_pause(state.policy, state.cluster, &state.swap, job) {
            let usage = left.get_or_insert_with(|| state.usage.clone());
            usage.remove(job, mapping);
        }
    }
    left
}
