//! Where every job shall be: what a mapping algorithm returns, before it becomes actions.

use crate::model::{Cluster, Job, JobState, Mapping, Mobility, NodeState};
use crate::plan::Reason;
use crate::question::Question;
use crate::units::Span;
use crate::usage::SwapUsage;

/// What shall become of a job that does not stay as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// The job runs and gives up its place.
    Leaves(Reason),
    /// The job waits, or runs elsewhere, and runs here from now on.
    Goes(Mapping, Reason),
}

/// What shall become of every job: those that are not named stay as they are, running where they
/// run, or waiting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    /// For each job its position in `changes` plus 1, or 0; the last ones are left out if they are
    /// 0.
    numbers: Vec<u32>,
    /// Positions of jobs in the cluster, and their changes.
    changes: Vec<(usize, Change)>,
}

impl Target {
    /// Nothing but this changes.
    pub(crate) fn of(changes: Vec<(usize, Change)>) -> Self {
        let mut target = Self::default();
        for (job, change) in changes {
            target.set(job, change);
        }
        target
    }

    fn position(&self, job: usize) -> Option<usize> {
        let number = self.numbers.get(job).copied().unwrap_or(0);
        number.checked_sub(1).map(|position| position as usize)
    }

    /// Says what becomes of a job, in place of what was said before.
    pub(crate) fn set(&mut self, job: usize, change: Change) {
        if let Some(position) = self.position(job) {
            self.changes[position].1 = change;
            return;
        }
        self.changes.push((job, change));
        if self.numbers.len() <= job {
            self.numbers.resize(job + 1, 0);
        }
        self.numbers[job] = u32::try_from(self.changes.len()).unwrap_or(u32::MAX);
    }

    /// Gives the job a place; one that already runs there stays as it is.
    pub(crate) fn give_place(&mut self, job: &Job, index: usize, mapping: Mapping) {
        if job.running_on() != Some(&mapping) {
            let reason = if job.is_running() {
                Reason::Remap
            } else {
                Reason::Fits
            };
            self.set(index, Change::Goes(mapping, reason));
        } else if let Some(position) = self.position(index) {
            self.changes.swap_remove(position);
            self.numbers[index] = 0;
            if let Some((moved, _)) = self.changes.get(position) {
                self.numbers[*moved] = u32::try_from(position + 1).unwrap_or(u32::MAX);
            }
        }
    }

    /// Whether nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether the job stays as it is.
    #[inline]
    pub(crate) fn stays(&self, job: usize) -> bool {
        self.numbers.get(job).is_none_or(|number| *number == 0)
    }

    /// The jobs that do not stay as they are and their changes, each once, in any order.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (usize, &Change)> {
        self.changes.iter().map(|(job, change)| (*job, change))
    }

    /// Takes the changes out, ascending.
    pub(crate) fn into_changes(mut self) -> Vec<(usize, Change)> {
        self.changes.sort_unstable_by_key(|(job, _)| *job);
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
    pub(crate) fn mapping<'a>(&'a self, cluster: &'a Cluster, job: usize) -> Option<&'a Mapping> {
        match self.position(job) {
            Some(position) => self.changes[position].1.mapping(),
            None => cluster.jobs[job].running_on(),
        }
    }

    /// The virtual time that this job has afterwards.
    pub(crate) fn virtual_time(&self, job: &Job, index: usize) -> Span {
        if self.stays(index) {
            job.virtual_time
        } else {
            virtual_time_kept(job)
        }
    }
}

impl Change {
    /// Where the job runs afterwards.
    pub(crate) fn mapping(&self) -> Option<&Mapping> {
        match self {
            Self::Leaves(_) => None,
            Self::Goes(mapping, _) => Some(mapping),
        }
    }

    /// Why.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::Leaves(reason) | Self::Goes(_, reason) => *reason,
        }
    }

    /// The job's state afterwards.
    pub(crate) fn state(&self, job: &Job) -> JobState {
        match self {
            Self::Leaves(_) => state_of_paused(job),
            Self::Goes(mapping, _) => JobState::Running(mapping.clone()),
        }
    }
}

/// What becomes of a job that gives up its place.
fn state_of_paused(job: &Job) -> JobState {
    match (job.mobility, job.running_on()) {
        (Mobility::Park, Some(mapping)) => JobState::Parked(mapping.clone()),
        (Mobility::Restart, _) => JobState::Pending,
        _ => JobState::Paused,
    }
}

/// The virtual time that is left of a job that does not stay as it is: work that cannot be kept is
/// lost wherever it goes.
pub(crate) fn virtual_time_kept(job: &Job) -> Span {
    if job.is_running() && job.mobility == Mobility::Restart {
        Span::ZERO
    } else {
        job.virtual_time
    }
}

/// Whether a plan may name the job: nothing is under way with it, and if it runs, none of its nodes
/// is down, because such jobs are the driver's.
pub(crate) fn is_free(cluster: &Cluster, job: &Job) -> bool {
    !job.locked
        && job.running_on().is_none_or(|mapping| {
            let mut states = mapping.nodes().map(|node| cluster.state_of(node));
            states.all(|state| state != NodeState::Down)
        })
}

/// Whether the job waits for a place, and may be given one.
pub(crate) fn waits(job: &Job) -> bool {
    !job.locked && !job.is_running()
}

/// Whether the running job can be paused by this policy, with `swap` in use by parked jobs. A job
/// that can only be parked needs room in the swap of all its nodes, and these must take tasks: it
/// would have to come back there.
///
/// A job that was paused or moved as often as the budget allows cannot.
pub(crate) fn can_pause(question: Question<'_>, swap: &SwapUsage, job: &Job) -> bool {
    may_pause(question, job) && has_swap(swap, job)
}

/// As [`can_pause`], but without regard to the swap: this does not change while a decision is made.
pub(crate) fn may_pause(question: Question<'_>, job: &Job) -> bool {
    let (policy, cluster) = (question.policy, question.cluster);
    let JobState::Running(mapping) = &job.state else {
        return false;
    };
    let max_moves = policy.settings.budget.moves_per_job;
    is_free(cluster, job)
        && max_moves.is_none_or(|max| job.recent_moves < max)
        && match job.mobility {
            Mobility::Checkpoint | Mobility::Carry | Mobility::Restart => true,
            // Parking would free memory only.
            Mobility::Park if job.requires_devices() => false,
            Mobility::Park => {
                let mut states = mapping.nodes().map(|node| cluster.state_of(node));
                states.all(|state| state == NodeState::Up)
            }
            Mobility::Never => false,
        }
}

/// Whether there is room in the swap of all nodes of the running job if it needs that to be paused.
pub(crate) fn has_swap(swap: &SwapUsage, job: &Job) -> bool {
    let fits = |mapping| swap.fits(job, mapping);
    job.mobility != Mobility::Park || job.running_on().is_some_and(fits)
}
