//! The nodes as a machine: which are in use, and until when that is expected.

use dfrs_core::{JobState, NodeIndex, Time};
use dfrs_moldable::live::LiveMachine;
use dfrs_moldable::{Busy, ProcessorSet};

use super::request::{NO_LIMIT, estimate, speedup};
use crate::job::ledger::LedgerRecord;
use crate::plan::cluster::PassFacts;
use crate::saturating_u32;
use crate::slurm::records::{ObservedJob, ObservedState};

/// How long processes take to end, in seconds.
const ENDING_SECONDS: f64 = 5.0;
/// A job that should be over stays for as long again as it is late, and so long at least, in
/// seconds.
const MIN_LATE_SECONDS: f64 = 60.0;

/// All nodes, by their positions, whichever jobs may use them.
pub(super) struct NodeAvailability {
    /// Seconds from now until each is expected to be free, if it is in use.
    until: Vec<Option<f64>>,
    up: Vec<bool>,
}

impl NodeAvailability {
    /// As they are, and as what is under way will have them. O(nodes + places).
    pub(super) fn of(facts: &PassFacts) -> Self {
        let mut nodes = Self {
            until: vec![None; facts.seen.nodes().len()],
            up: facts.seen.nodes().iter().map(|node| node.up).collect(),
        };
        for position in 0..facts.seen.nodes().len() {
            for job in facts.seen.jobs_on(position) {
                let record = facts.ledger.get(job.id);
                nodes.use_until(position, time_left(job, record, facts));
            }
            if facts.seen.memory_of_others(position) > 0 {
                nodes.use_until(position, NO_LIMIT);
            }
        }
        let starting = facts
            .ledger
            .iter()
            .filter(|(_, record)| record.life.is_starting());
        for (id, record) in starting {
            let Some(job) = facts.seen.job(id) else {
                continue;
            };
            let state = record.life.planned(&facts.job_context(job), true);
            let Some(JobState::Running(mapping)) = state else {
                continue;
            };
            let count = saturating_u32(mapping.runs().len());
            for NodeIndex(node) in mapping.nodes() {
                nodes.use_until(node as usize, time_on(job, count, facts));
            }
        }
        nodes
    }

    fn use_until(&mut self, position: usize, until: f64) {
        if let Some(known) = self.until.get_mut(position) {
            *known = Some(known.map_or(until, |known| known.max(until)));
        }
    }

    /// How many of these nodes are up.
    pub(super) fn number_up(&self, positions: &[u32]) -> u32 {
        let up = |position: &&u32| self.up.get(**position as usize) == Some(&true);
        saturating_u32(positions.iter().filter(up).count())
    }

    /// A job gets these now.
    pub(super) fn take(&mut self, processors: &ProcessorSet, until: f64) {
        for processor in processors.iter() {
            self.use_until(processor as usize, until);
        }
    }

    /// The machine of jobs that may use these nodes, and where each of them may run, if not
    /// everywhere. O(nodes of all jobs).
    pub(super) fn machine(&self, allowed: Vec<&[u32]>) -> (LiveMachine, Vec<Option<ProcessorSet>>) {
        let mut usable = vec![false; self.up.len()];
        for position in allowed.iter().flat_map(|allowed| allowed.iter()) {
            let position = *position as usize;
            usable[position] = self.up[position];
        }
        let positions = (0_u32..).zip(&usable);
        let unusable = positions.clone().filter(|(_, usable)| !**usable);
        let all = usable.iter().filter(|usable| **usable).count();
        let running = positions
            .filter(|(_, usable)| **usable)
            .filter_map(|(position, _)| {
                let until = self.until[position as usize]?;
                Some(Busy {
                    until,
                    processors: ProcessorSet::of([position]),
                })
            });
        let machine = LiveMachine {
            processors: saturating_u32(self.up.len()),
            unusable: ProcessorSet::of(unusable.map(|(position, _)| position)),
            running: running.collect(),
        };
        let part = |allowed: &[u32]| {
            let up = allowed
                .iter()
                .filter(|position| usable[**position as usize]);
            (up.count() < all).then(|| ProcessorSet::of(allowed.iter().copied()))
        };
        let allowed = allowed.into_iter().map(part).collect();
        (machine, allowed)
    }
}

/// How long a job on a node is expected to stay there, in seconds.
fn time_left(job: &ObservedJob, record: Option<&LedgerRecord>, facts: &PassFacts) -> f64 {
    match (job.state, record) {
        (ObservedState::Running, Some(record)) => {
            let count = saturating_u32(job.places.len());
            let done = record.progress.clone().virtual_time(facts.now).seconds();
            let left = time_on(job, count, facts) - done;
            let left = if left > 0.0 {
                left
            } else {
                MIN_LATE_SECONDS.max(-left)
            };
            left.min(left_of_limit(job, facts.now).max(ENDING_SECONDS))
        }
        (ObservedState::Ended | ObservedState::Pending, _) => ENDING_SECONDS,
        // The operator that suspended it decides when it goes on.
        _ => NO_LIMIT,
    }
}

/// Seconds until Slurm ends it.
fn left_of_limit(job: &ObservedJob, now: Time) -> f64 {
    if job.end_seconds == 0 {
        return f64::INFINITY;
    }
    let left = Time::from_seconds(job.end_seconds).since(now);
    left.seconds().max(0.0)
}

/// How long the job takes on so many nodes, in seconds.
fn time_on(job: &ObservedJob, nodes: u32, facts: &PassFacts) -> f64 {
    let speedup = speedup(job, facts.config);
    let holds = (facts.seen.max_node_cpus() / job.request.cpus_per_task.max(1)).max(1);
    let by_tasks = match job.request.tasks_on_each() {
        Some(_) => 1,
        None => job.request.tasks.div_ceil(holds),
    };
    let least = job.request.min_nodes.max(by_tasks).clamp(1, nodes.max(1));
    estimate(job) * speedup.on(least) / speedup.on(nodes)
}
