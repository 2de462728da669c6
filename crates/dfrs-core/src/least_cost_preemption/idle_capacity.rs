//! Idle CPU, for deferred jobs: those that are expected to be long and cannot be preempted at once.

use std::cell::RefCell;

use crate::experience::Expectation;
use crate::load_limits::LoadLimits;
use crate::model::{Cluster, Job, Mapping};
use crate::policy::{LoadCeiling, RunTimeHint};
use crate::preempt::put;
use crate::room::Room;
use crate::roster::{Roster, cmp_requirements};
use crate::space::LoadLimit;
use crate::units::Time;
use crate::usage::{SwapUsage, Usage};

/// A node on which no task waits for CPU.
pub(super) const IDLE: LoadCeiling = LoadCeiling::from_percent(100);

/// For so many times its limit a job that never ran is deferred: a stream of small jobs may never
/// leave as many nodes idle at once as it needs.
const MAX_WAIT_IN_LIMITS: i64 = 4;

/// Which jobs are to start on idle CPU only.
pub(crate) struct DeferredJobs {
    now: Time,
    expectation: Expectation,
    /// Which jobs could start so on an empty cluster; nothing without hints.
    idle: Option<LoadLimits>,
    /// What is known of jobs with rules of their own about nodes, in the order of their demands.
    known: RefCell<Vec<(Job, bool)>>,
}

impl DeferredJobs {
    /// O(nodes log nodes + running jobs) where hints are used.
    pub(crate) fn of(hint: RunTimeHint, roster: &Roster, now: Time) -> Self {
        match hint {
            RunTimeHint::Nothing => Self {
                now,
                expectation: Expectation::default(),
                idle: None,
                known: RefCell::default(),
            },
            RunTimeHint::Limits => Self {
                now,
                expectation: Expectation::of(roster.experience(), roster.running()),
                idle: LoadLimits::of(roster.cluster(), Some(IDLE).into()),
                known: RefCell::default(),
            },
        }
    }

    /// Whether this job is deferred: it will hold its memory for long wherever it is. A job is not
    /// deferred that was paused for too long, or has waited for too long. A job that finds no idle
    /// CPU on empty nodes, of those that are up, would never start so. One with devices waits for
    /// no CPU. O(distinct nodes), and O(n
    /// log n) once for all jobs with the same demand and a list of their own.
    pub(crate) fn defers(&self, job: &Job) -> bool {
        !job.moves_freely()
            && !job.requires_devices()
            && !job.starved
            && !self.has_waited(job)
            && self.expectation.is_long(job)
            && (self.idle.as_ref()).is_none_or(|limits| self.finds_idle(limits, job))
    }

    /// Whether it never ran, and has waited for as many times its limit as it may.
    fn has_waited(&self, job: &Job) -> bool {
        let waited = job.flow_time(self.now);
        let max_wait = job
            .limit
            .map(|limit| limit.0.saturating_mul(MAX_WAIT_IN_LIMITS));
        job.never_ran() && max_wait.is_some_and(|max_wait| waited.0 > max_wait)
    }

    fn finds_idle(&self, limits: &LoadLimits, job: &Job) -> bool {
        if job.layout.eligible.is_none() && job.layout.together.is_none() {
            return limits.of_job(job) == LoadLimit::Node;
        }
        let mut known = self.known.borrow_mut();
        match known.binary_search_by(|(other, _)| cmp_requirements(other, job)) {
            Ok(at) => known[at].1,
            Err(at) => {
                let answer = limits.of_job(job) == LoadLimit::Node;
                known.insert(at, (job.clone(), answer));
                answer
            }
        }
    }
}

/// What is left of nodes up to a load of 1. As good as the usage from which it was made.
pub(super) struct IdleCapacity {
    /// For those that come back.
    back: Room,
    /// For jobs that never ran, with what is parked on nodes as if it were there. Such a job could
    /// else be parked itself only while swap has room for both, and a job that needs the memory of
    /// that node would wait until one of the two is over, for hours.
    new: Room,
}

impl IdleCapacity {
    /// O(nodes log nodes).
    pub(super) fn of(usage: &Usage, swap: &SwapUsage) -> Self {
        let usage = usage.under(IDLE);
        Self {
            new: Room::of(usage.with_parked(swap)),
            back: Room::of(usage),
        }
    }

    /// Where the job can be. One that is parked also comes back to nodes where no other is,
    /// whatever its own load.
    pub(super) fn put(&mut self, cluster: &Cluster, all: &Usage, job: &Job) -> Option<Mapping> {
        let room = if job.never_ran() {
            &mut self.new
        } else {
            &mut self.back
        };
        let found = room.find(cluster, job);
        if found.is_some() {
            return found;
        }
        let own = job.state.parked_on()?;
        // Only where it fits are all of its nodes known.
        let found = put(cluster, all, job)?;
        let is_alone = own.nodes().all(|node| all.load(node).is_zero());
        is_alone.then_some(found)
    }

    /// The job is here from now on.
    pub(super) fn take(&mut self, job: &Job, mapping: &Mapping) {
        self.back.take(job, mapping);
        self.new.take(job, mapping);
    }
}
