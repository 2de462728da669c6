//! From where jobs are to where they shall be: the actions, in an order that never exceeds memory.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Job, JobState, Mapping, Mobility, NodeIndex};
use crate::plan::{Action, PlannedAction, Reason};
use crate::policy::{Ceilings, Policy};
use crate::roster::Roster;
use crate::space::LoadLimit;
use crate::staged_changes::Changes;
use crate::target::{Change, Target};
use crate::units::Time;
use crate::usage::{SwapUsage, Usage};

/// The actions that lead to the target; `stages` are those in which it was decided about, if there
/// is more than one.
///
/// First all that leaves; then the migrations by the rule of the authors' 2011 slides ("Migration
/// Planning"): the job of the highest priority that can move does; if none can, the one of the
/// lowest priority steps aside, and comes back when the others have moved; last what arrives, the
/// highest priority first. Memory suffices at every step because it suffices in the target. A job
/// that cannot move is tried again only when memory was freed on the node that it found full:
/// O((runs + tries) log jobs).
///
/// Where a job is to be parked in swap that another one leaves, that one comes back first. If both
/// wait for each other, what was decided stage by stage is done stage by stage.
pub(crate) fn actions(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    target: &Target,
    stages: &[Changes],
) -> Vec<PlannedAction> {
    if target.is_empty() {
        return Vec::new();
    }
    let changes = target.changes().map(|(index, placement)| {
        let job = &roster.cluster().jobs[index];
        let state = Cow::Borrowed(&job.state);
        JobChange {
            job,
            state,
            placement,
        }
    });
    let together = Transition::new(roster).carry_out(in_order(policy, now, changes));
    together.unwrap_or_else(|Stuck| stage_by_stage(policy, roster, now, stages))
}

/// The actions of one stage after the other.
fn stage_by_stage(
    policy: &Policy,
    roster: &Roster,
    now: Time,
    stages: &[Changes],
) -> Vec<PlannedAction> {
    let mut states: BTreeMap<usize, JobState> = BTreeMap::new();
    let mut actions = Vec::new();
    let mut transition = Transition::new(roster);
    for stage in stages {
        let changes = stage.iter().map(|(index, placement)| {
            let job = &roster.cluster().jobs[*index];
            let state = Cow::Owned(states.get(index).unwrap_or(&job.state).clone());
            JobChange {
                job,
                state,
                placement,
            }
        });
        transition.swap = None; // a stage relies on no swap that it frees
        let changes = in_order(policy, now, changes);
        let Ok(next) = transition.carry_out(changes) else {
            break;
        };
        actions.extend(next);
        for (index, change) in stage {
            let mut job = roster.cluster().jobs[*index].clone();
            job.state = states.remove(index).unwrap_or(job.state);
            states.insert(*index, change.state(&job));
        }
    }
    actions
}

/// One job's change.
struct JobChange<'a> {
    job: &'a Job,
    /// The job's state before.
    state: Cow<'a, JobState>,
    placement: &'a Change,
}

/// Changes in order of decreasing priority. No two priorities are equal.
fn in_order<'a>(
    policy: &Policy,
    now: Time,
    changes: impl Iterator<Item = JobChange<'a>>,
) -> Vec<JobChange<'a>> {
    let mut changes: Vec<JobChange<'a>> = changes.collect();
    changes.sort_by_cached_key(|change| Reverse(policy.settings.priority.of(change.job, now)));
    changes
}

impl JobChange<'_> {
    /// Where it would go in swap if it gave up its place.
    fn parks_on(&self) -> Option<&Mapping> {
        let parks = self.job.mobility == Mobility::Park;
        self.state.running_on().filter(|_| parks)
    }

    fn leaves(&self) -> bool {
        matches!(self.placement, Change::Leaves(_))
    }
}

/// Jobs wait for each other's swap and memory.
struct Stuck;

/// The actions so far, and what is in use after them.
struct Transition {
    usage: Usage,
    /// None: all that is to be parked fits.
    swap: Option<SwapUsage>,
    actions: Vec<PlannedAction>,
}

impl Transition {
    fn new(roster: &Roster) -> Self {
        Self {
            // What is there may be above the ceiling, and may move so.
            usage: roster.usage(Ceilings::default()),
            swap: Some(SwapUsage::of(roster.cluster(), roster.parked())),
            actions: Vec::new(),
        }
    }

    /// The actions of these changes, which are in order of decreasing priority.
    fn carry_out(&mut self, changes: Vec<JobChange<'_>>) -> Result<Vec<PlannedAction>, Stuck> {
        let frees_swap = changes
            .iter()
            .any(|change| change.state.parked_on().is_some());
        if !frees_swap {
            self.swap = None;
        }
        let (leaving, coming): (Vec<_>, Vec<_>) = changes.into_iter().partition(JobChange::leaves);
        let mut late = Vec::new();
        // The lowest priority leaves first.
        for change in leaving.into_iter().rev() {
            if !self.try_to_pause(&change) {
                late.push(change);
            }
        }
        let (moving, mut arriving): (Vec<_>, Vec<_>) = coming
            .into_iter()
            .partition(|change| change.state.running_on().is_some());
        while !late.is_empty() {
            let left = late.len() + arriving.len();
            arriving.retain(|change| !self.try_to_come_back(change));
            late.retain(|change| !self.try_to_pause(change));
            if late.len() + arriving.len() == left {
                return Err(Stuck);
            }
        }
        let aside = self.migrate(moving);
        for change in aside.into_iter().chain(arriving) {
            self.arrive(&change);
        }
        Ok(std::mem::take(&mut self.actions))
    }

    fn push(&mut self, action: Action, reason: Reason) {
        self.actions.push(PlannedAction { action, reason });
    }

    fn pause(&mut self, change: &JobChange<'_>, reason: Reason) {
        if let Some(mapping) = change.state.running_on() {
            self.usage.remove(change.job, mapping);
        }
        self.push(Action::Pause(change.job.id), reason);
    }

    /// Pauses the job unless it would have to be parked where there is no swap for it yet.
    fn try_to_pause(&mut self, change: &JobChange<'_>) -> bool {
        if let (Some(swap), Some(mapping)) = (&mut self.swap, change.parks_on()) {
            if !swap.fits(change.job, mapping) {
                return false;
            }
            swap.add(change.job, mapping);
        }
        self.pause(change, change.placement.reason());
        true
    }

    /// Brings the job back if it is parked and its memory fits now.
    fn try_to_come_back(&mut self, change: &JobChange<'_>) -> bool {
        let Some(mapping) = change.state.parked_on() else {
            return false;
        };
        let fits = mapping
            .iter()
            .all(|run| self.usage.fits(change.job, run, LoadLimit::Nothing));
        if fits {
            if let Some(swap) = &mut self.swap {
                swap.remove(change.job, mapping);
            }
            self.arrive(change);
        }
        fits
    }

    fn arrive(&mut self, change: &JobChange<'_>) {
        let Change::Goes(mapping, reason) = change.placement else {
            return;
        };
        let job = change.job;
        self.usage.add(job, mapping);
        // A job that stepped aside has lost what it had if it cannot keep it.
        let starts = matches!(*change.state, JobState::Pending)
            || change.state.running_on().is_some() && job.mobility == Mobility::Restart;
        let action = if starts {
            Action::Start(job.id, mapping.clone())
        } else {
            Action::Resume(job.id, mapping.clone())
        };
        self.push(action, *reason);
    }

    /// Moves jobs, given in order of decreasing priority, and returns those that stepped aside.
    fn migrate<'a>(&mut self, moving: Vec<JobChange<'a>>) -> Vec<JobChange<'a>> {
        let mut left: Vec<Option<JobChange<'a>>> = moving.into_iter().map(Some).collect();
        let mut to_try: BTreeSet<usize> = (0..left.len()).collect();
        // For each node that a job found full, those that wait for memory there.
        let mut waiting: BTreeMap<NodeIndex, Vec<usize>> = BTreeMap::new();
        let mut aside = Vec::new();
        let mut lowest = left.len();
        loop {
            let (number, moved) = if let Some(number) = to_try.pop_first() {
                let Some(change) = &left[number] else {
                    continue;
                };
                if let Err(full) = self.try_to_move(change) {
                    waiting.entry(full).or_default().push(number);
                    continue;
                }
                (number, true)
            } else {
                let Some(number) = (0..lowest).rev().find(|number| left[*number].is_some()) else {
                    break;
                };
                lowest = number;
                (number, false)
            };
            let Some(change) = left[number].take() else {
                break;
            };
            for node in change
                .state
                .running_on()
                .into_iter()
                .flat_map(Mapping::nodes)
            {
                to_try.extend(waiting.remove(&node).unwrap_or_default());
            }
            if !moved {
                self.pause(&change, Reason::BreaksCycle);
                aside.push(change);
            }
        }
        aside.reverse();
        aside
    }

    /// Moves the job if its memory fits now, its own old memory being free; else says which node is
    /// full.
    fn try_to_move(&mut self, change: &JobChange<'_>) -> Result<(), NodeIndex> {
        let job = change.job;
        let (Some(old), Change::Goes(new, reason)) = (change.state.running_on(), change.placement)
        else {
            return Ok(());
        };
        self.usage.remove(job, old);
        if let Some(full) = new
            .iter()
            .find(|run| !self.usage.fits(job, *run, LoadLimit::Nothing))
        {
            self.usage.add(job, old);
            return Err(full.node);
        }
        self.usage.add(job, new);
        self.push(Action::Migrate(job.id, new.clone()), *reason);
        Ok(())
    }
}
