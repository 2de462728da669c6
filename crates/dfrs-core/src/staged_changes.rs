//! The stages of a decision, and what they come to together.

use std::collections::BTreeMap;

use crate::model::JobState;
use crate::plan::Reason;
use crate::roster::Roster;
use crate::target::{Change, Target, virtual_time_kept};
use crate::units::Span;

/// Changes of jobs, named by their positions in the cluster; ascending, each once.
pub(crate) type Changes = Vec<(usize, Change)>;

/// The changes of a decision, and how they came about.
#[derive(Debug)]
pub(crate) struct NetChanges {
    /// What all stages come to together.
    pub(crate) net: Changes,
    /// The changes of each stage that had any, if there is more than one.
    pub(crate) stages: Vec<Changes>,
}

/// A job as it was before the decision.
#[derive(Debug)]
struct StateBefore {
    state: JobState,
    virtual_time: Span,
    /// Why it is where it is by now.
    reason: Reason,
}

/// The stages so far. The roster is as they left it, but for the last one.
#[derive(Debug, Default)]
pub(crate) struct StagedChanges {
    stages: Vec<Changes>,
    /// How many of the stages the roster has gone through.
    done: usize,
    before: BTreeMap<usize, StateBefore>,
}

impl StagedChanges {
    /// Takes a stage, which is not in the roster yet.
    pub(crate) fn append(&mut self, target: Target) {
        if !target.is_empty() {
            self.stages.push(target.into_changes());
        }
    }

    /// Takes the roster to where the stages lead.
    pub(crate) fn proceed(&mut self, roster: &mut Roster) {
        for changes in &self.stages[self.done..] {
            for (index, change) in changes {
                let job = &roster.cluster().jobs[*index];
                let (state, kept) = (change.state(job), virtual_time_kept(job));
                let virtual_time = job.virtual_time;
                roster.set_virtual_time_at(*index, kept);
                let was = roster.set_state_at(*index, state);
                let before = self.before.entry(*index).or_insert(StateBefore {
                    state: was,
                    virtual_time,
                    reason: change.reason(),
                });
                before.reason = merged_reason(before.reason, change.reason());
            }
        }
        self.done = self.stages.len();
    }

    /// How many jobs that ran have been paused or moved.
    pub(crate) fn moves(&self) -> usize {
        let ran = |before: &&StateBefore| matches!(before.state, JobState::Running(_));
        self.before.values().filter(ran).count()
    }

    /// Takes the roster back to where it was, and says what the stages come to.
    pub(crate) fn finish(mut self, roster: &mut Roster) -> NetChanges {
        if self.before.is_empty() && self.stages.len() <= 1 {
            return NetChanges {
                net: self.stages.pop().unwrap_or_default(),
                stages: Vec::new(),
            };
        }
        self.proceed(roster);
        let mut net = Changes::new();
        for (index, before) in self.before {
            roster.set_virtual_time_at(index, before.virtual_time);
            let ran = matches!(before.state, JobState::Running(_));
            let after = roster.set_state_at(index, before.state);
            let job = &roster.cluster().jobs[index];
            match after {
                JobState::Running(mapping) if job.running_on() != Some(&mapping) => {
                    net.push((index, Change::Goes(mapping, before.reason)));
                }
                JobState::Running(_) => {}
                _ if ran => net.push((index, Change::Leaves(before.reason))),
                _ => {}
            }
        }
        let stages = if self.stages.len() > 1 {
            self.stages
        } else {
            Vec::new()
        };
        NetChanges { net, stages }
    }
}

/// Why a job changes that has changed before: one that comes back elsewhere has moved for the
/// reason for which it gave up its place.
fn merged_reason(before: Reason, now: Reason) -> Reason {
    match (before, now) {
        (Reason::MakesRoomFor(_) | Reason::DoesNotFitRemap, Reason::Fits) => before,
        _ => now,
    }
}
