//! Where every job shall be: what a mapping algorithm returns, before it becomes actions.

use crate::model::{Cluster, Job, JobState, Mapping, Mobility, NodeState};
use crate::plan::Reason;
use crate::policy::Policy;
use crate::usage::SwapUsage;

/// What shall become of a job that does not stay as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    /// It runs and gives up its place.
    Leaves(Reason),
    /// It waits, or runs elsewhere, and runs here from now on.
    Goes(Mapping, Reason),
}

/// What shall become of every job: those that are not named stay as they are, running where they run,
/// or waiting.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// For each of [`Cluster::jobs`] its position in `changes` plus 1, or 0.
    numbers: Vec<u32>,
    /// Positions of jobs in the cluster, and their fates.
    changes: Vec<(usize, Fate)>,
}

impl Target {
    /// Nothing changes.
    pub(crate) fn unchanged(cluster: &Cluster) -> Self {
        Self {
            numbers: vec![0; cluster.jobs.len()],
            changes: Vec::new(),
        }
    }

    /// Says what becomes of a job, in place of what was said before.
    pub(crate) fn set(&mut self, job: usize, fate: Fate) {
        match self.numbers[job].checked_sub(1) {
            Some(place) => self.changes[place as usize].1 = fate,
            None => {
                self.changes.push((job, fate));
                self.numbers[job] = u32::try_from(self.changes.len()).unwrap_or(u32::MAX);
            }
        }
    }

    /// Gives the job a place; one that already runs there stays as it is.
    pub(crate) fn give_place(&mut self, job: &Job, place: usize, mapping: Mapping) {
        if job.running_on() != Some(&mapping) {
            let reason = if job.is_running() {
                Reason::Remap
            } else {
                Reason::Fits
            };
            self.set(place, Fate::Goes(mapping, reason));
        } else if let Some(change) = self.numbers[place].checked_sub(1) {
            self.changes.swap_remove(change as usize);
            self.numbers[place] = 0;
            if let Some((moved, _)) = self.changes.get(change as usize) {
                self.numbers[*moved] = change + 1;
            }
        }
    }

    /// Whether the job stays as it is.
    #[inline]
    pub(crate) fn stays(&self, job: usize) -> bool {
        self.numbers[job] == 0
    }

    /// The jobs that do not stay as they are and their fates, each once, in any order.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (usize, &Fate)> {
        self.changes.iter().map(|(job, fate)| (*job, fate))
    }

    /// The same, taken out.
    pub(crate) fn into_changes(self) -> Vec<(usize, Fate)> {
        self.changes
    }

    /// How many running jobs are paused or moved.
    pub(crate) fn moves(&self, cluster: &Cluster) -> usize {
        self.movers(cluster).count()
    }

    /// The running jobs that are paused or moved, in any order.
    pub(crate) fn movers(&self, cluster: &Cluster) -> impl Iterator<Item = usize> {
        let changes = self.changes.iter().map(|(job, _)| *job);
        changes.filter(|job| cluster.jobs[*job].is_running())
    }

    /// Whether some waiting job is given a place.
    pub(crate) fn starts_some(&self, cluster: &Cluster) -> bool {
        let mut changes = self.changes.iter();
        changes.any(|(job, _)| !cluster.jobs[*job].is_running())
    }

    /// Where the job runs afterwards.
    #[inline]
    pub(crate) fn place<'a>(&'a self, cluster: &'a Cluster, job: usize) -> Option<&'a Mapping> {
        let Some(place) = self.numbers[job].checked_sub(1) else {
            return cluster.jobs[job].running_on();
        };
        match &self.changes[place as usize].1 {
            Fate::Leaves(_) => None,
            Fate::Goes(mapping, _) => Some(mapping),
        }
    }
}

/// Whether a plan may name the job: nothing is under way with it, and if it runs, none of its nodes
/// is down, because such jobs are the driver's.
pub(crate) fn is_free(cluster: &Cluster, job: &Job) -> bool {
    !job.locked
        && job.running_on().is_none_or(|mapping| {
            mapping.nodes().all(|node| {
                cluster
                    .node(node)
                    .is_some_and(|node| node.state != NodeState::Down)
            })
        })
}

/// Whether the job waits for a place, and may be given one.
pub(crate) fn waits(job: &Job) -> bool {
    !job.locked && !job.is_running()
}

/// Whether the running job can be paused by this policy, with `swap` in use by parked jobs. A job that can only be
/// parked needs room in the swap of all its nodes, and these must take tasks: it would have to come
/// back there.
///
/// A job that was paused or moved as often as the budget allows cannot.
pub(crate) fn can_pause(
    policy: &Policy,
    cluster: &Cluster,
    swap: &SwapUsage<'_>,
    job: &Job,
) -> bool {
    let JobState::Running(mapping) = &job.state else {
        return false;
    };
    let most_moves = policy.settings.budget.moves_per_job;
    is_free(cluster, job)
        && most_moves.is_none_or(|most| job.recent_moves < most)
        && match job.mobility {
            Mobility::Checkpoint | Mobility::Restart => true,
            Mobility::Park => {
                mapping
                    .nodes()
                    .all(|node| cluster.node(node).is_some_and(crate::model::Node::is_up))
                    && swap.fits(job, mapping)
            }
            Mobility::Never => false,
        }
}
