//! From where jobs are to where they shall be: the actions, in an order that never exceeds memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Cluster, JobState, Mapping, Mobility, NodeIndex};
use crate::plan::{Action, Plan, Reason};
use crate::policy::Policy;
use crate::target::{Fate, Target};
use crate::units::Time;
use crate::usage::Usage;

/// Appends the actions that lead to the target, and returns what is in use then; `None` if nothing
/// changes. `usage` returns what runs now.
///
/// First all that leaves; then the migrations by the rule of the authors' 2011 slides ("Migration
/// Planning"): the job of the highest priority that can move does; if none can, the one of the lowest
/// priority steps aside, and comes back when the others have moved; last what arrives, the highest
/// priority first. Memory suffices at every step because it suffices in the target.
/// A job that cannot move is tried again only when memory was freed on the node that it found full:
/// O((runs + tries) log jobs).
pub(crate) fn append_actions<'a>(
    policy: &Policy,
    cluster: &'a Cluster,
    now: Time,
    target: Target,
    usage: impl FnOnce() -> Usage<'a>,
    plan: &mut Plan,
) -> Option<Usage<'a>> {
    let mut fates = target.into_changes();
    if fates.is_empty() {
        return None;
    }
    let mut transition = Transition {
        cluster,
        // What is there may be above the ceiling, and may move so.
        usage: usage().under(None),
        plan,
    };
    // No two priorities are equal.
    fates.sort_by_cached_key(|(job, _)| {
        std::cmp::Reverse(policy.settings.priority.of(&cluster.jobs[*job], now))
    });
    // The lowest priority leaves first.
    for (job, fate) in fates.iter().rev() {
        if let Fate::Leaves(reason) = fate {
            transition.pause(*job, *reason);
        }
    }
    let (moving, arriving): (Vec<_>, Vec<_>) = fates
        .into_iter()
        .filter(|(_, fate)| matches!(fate, Fate::Goes(..)))
        .partition(|(job, _)| cluster.jobs[*job].is_running());
    let aside = transition.migrate(moving);
    for (job, fate) in aside.into_iter().chain(arriving) {
        transition.arrive(job, fate);
    }
    Some(transition.usage.under(policy.settings.load_ceiling))
}

/// The actions so far, and what is in use after them.
struct Transition<'a, 'plan> {
    cluster: &'a Cluster,
    usage: Usage<'a>,
    plan: &'plan mut Plan,
}

impl Transition<'_, '_> {
    fn pause(&mut self, job: usize, reason: Reason) {
        let job = &self.cluster.jobs[job];
        if let Some(mapping) = job.running_on() {
            self.usage.remove(job, mapping);
        }
        self.plan.push(Action::Pause(job.id), reason);
    }

    fn arrive(&mut self, job: usize, fate: Fate) {
        let job = &self.cluster.jobs[job];
        let Fate::Goes(mapping, reason) = fate else {
            return;
        };
        self.usage.add(job, &mapping);
        // One that stepped aside has lost what it had if it cannot keep it.
        let starts = matches!(job.state, JobState::Pending)
            || job.is_running() && job.mobility == Mobility::Restart;
        let action = if starts {
            Action::Start(job.id, mapping)
        } else {
            Action::Resume(job.id, mapping)
        };
        self.plan.push(action, reason);
    }

    /// Moves jobs, given in order of decreasing priority, and returns those that stepped aside.
    fn migrate(&mut self, moving: Vec<(usize, Fate)>) -> Vec<(usize, Fate)> {
        let mut left: Vec<Option<(usize, Fate)>> = moving.into_iter().map(Some).collect();
        let mut to_try: BTreeSet<usize> = (0..left.len()).collect();
        // For each node that a job found full, those that wait for memory there.
        let mut waiting: BTreeMap<NodeIndex, Vec<usize>> = BTreeMap::new();
        let mut aside = Vec::new();
        let mut lowest = left.len();
        loop {
            let left_job = if let Some(place) = to_try.pop_first() {
                let Some(mover) = &left[place] else { continue };
                let job = mover.0;
                match self.try_to_move(mover) {
                    Ok(()) => left[place] = None,
                    Err(full) => {
                        waiting.entry(full).or_default().push(place);
                        continue;
                    }
                }
                job
            } else {
                let Some(place) = (0..lowest).rev().find(|place| left[*place].is_some()) else {
                    break;
                };
                lowest = place;
                let Some(mover) = left[place].take() else {
                    break;
                };
                self.pause(mover.0, Reason::BreaksCycle);
                let job = mover.0;
                aside.push(mover);
                job
            };
            for node in self.cluster.jobs[left_job]
                .running_on()
                .into_iter()
                .flat_map(Mapping::nodes)
            {
                to_try.extend(waiting.remove(&node).unwrap_or_default());
            }
        }
        aside.reverse();
        aside
    }

    /// Moves the job if its memory fits now, its own old memory being free; else says which node is
    /// full.
    fn try_to_move(&mut self, (place, fate): &(usize, Fate)) -> Result<(), NodeIndex> {
        let job = &self.cluster.jobs[*place];
        let (Some(old), Fate::Goes(new, reason)) = (job.running_on(), fate) else {
            return Ok(());
        };
        self.usage.remove(job, old);
        if let Some(full) = new.parts().find(|part| !self.usage.fits(job, *part)) {
            self.usage.add(job, old);
            return Err(full.node);
        }
        self.usage.add(job, new);
        self.plan
            .push(Action::Migrate(job.id, new.clone()), *reason);
        Ok(())
    }
}
