//! In which order pending jobs are tried.

use std::cmp::Ordering;

use crate::model::{Cluster, Job};
use crate::priority::Priority;
use crate::space::share;
use crate::units::{Span, Time};

/// Added to the wait of a job that never ran, in seconds: of those that come at once the small ones
/// are first.
const OFFSET: f64 = 10.0;

/// No job counts as smaller than this, in nodes.
const MIN_SIZE: f64 = 0.1;

/// When a job without a place is tried: the greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rank {
    /// Of a deferred one that never ran how much of its limit it has waited, in millionths; these
    /// come last.
    pub(super) share_waited: Option<u64>,
    pub(super) rank_class: RankClass,
    pub(super) priority: Priority,
}

/// Which jobs are tried before others whatever their priorities are: the greatest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RankClass {
    /// The job has run before.
    Ordinary,
    /// The job never ran: bits of its wait over its size, times its weight. Those of numbers that
    /// are not negative are in the numbers' order.
    New(u64),
    /// The job has waited longest of those that never ran, and is to have a reservation.
    Longest,
    /// The job was paused for too long.
    First,
    /// That, and it is to have a reservation.
    LongestFirst,
    /// The job is parked on a node that drains, which waits for it.
    HoldsUpDrain,
}

/// What a node of the cluster has on average, in parts of which jobs are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct AverageNode {
    cpu: u64,
    memory: u64,
}

impl AverageNode {
    /// O(nodes).
    pub(super) fn of(cluster: &Cluster) -> Self {
        let count = cluster.nodes.len().max(1) as u128;
        let average = |sum: u128| u64::try_from(sum / count).unwrap_or(u64::MAX);
        let nodes = || cluster.nodes.iter();
        Self {
            cpu: average(nodes().map(|node| u128::from(node.cpu.0)).sum()),
            memory: average(nodes().map(|node| u128::from(node.memory.0)).sum()),
        }
    }

    /// How many nodes the job is worth, by its memory or its CPU, whichever is more.
    // Precise enough: sizes are real numbers.
    fn size(self, job: &Job) -> f64 {
        let cpu = job.total_cpu() as f64 / self.cpu.max(1) as f64;
        cpu.max(share(job.least_memory().0, self.memory))
    }

    /// The class of a job without a place at `now`. Small jobs hardly take room from others; a
    /// large one passes those whose waits stay shorter than its own by more than it is larger.
    /// `is_longest`: it is to have the reservation.
    pub(super) fn rank_class(self, job: &Job, now: Time, is_longest: bool) -> RankClass {
        match (job.starved, is_longest) {
            (true, true) => RankClass::LongestFirst,
            (true, false) => RankClass::First,
            (false, true) => RankClass::Longest,
            (false, false) if job.virtual_time > Span::ZERO => RankClass::Ordinary,
            (false, false) => {
                let waited = job.flow_time(now).seconds() + OFFSET;
                let rank = job.weight.factor() * waited / self.size(job).max(MIN_SIZE);
                RankClass::New(rank.to_bits())
            }
        }
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |rank: &Self| {
            let share = rank.share_waited;
            (share.is_none(), share, rank.rank_class, rank.priority)
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, Node};
    use crate::priority::PriorityFunction;
    use crate::units::{Bytes, Cores, Weight};

    fn cluster() -> Cluster {
        let node = |cpu, memory| Node::new("", Cores(cpu), Bytes(memory));
        Cluster {
            nodes: vec![node(10, 100), node(30, 300)],
            jobs: Vec::new(),
        }
    }

    fn job(id: u64, submit: i64, tasks: u32, cpu: u64, memory: u64) -> Job {
        let submit = Time::from_seconds(submit);
        Job::new(JobId(id), submit, tasks, Cores(cpu), Bytes(memory))
    }

    /// The jobs' numbers in the order in which they are tried.
    fn order(jobs: &[Job]) -> Vec<u64> {
        let (average, now) = (AverageNode::of(&cluster()), Time::from_seconds(100));
        let rank = |job: &Job| Rank {
            share_waited: job.limit.map(|limit| limit.0.unsigned_abs()),
            rank_class: average.rank_class(job, now, false),
            priority: PriorityFunction::default().of(job, now),
        };
        let mut jobs: Vec<&Job> = jobs.iter().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(rank(job)));
        jobs.iter().map(|job| job.id.0).collect()
    }

    #[test]
    fn size_is_in_nodes_by_memory_or_cpu() {
        let size = |job: &Job| AverageNode::of(&cluster()).size(job);
        assert!((size(&job(1, 0, 2, 20, 50)) - 2.0).abs() < 1e-9);
        assert!((size(&job(1, 0, 2, 5, 100)) - 1.0).abs() < 1e-9);
        let mut per_node = job(1, 0, 4, 0, 25);
        per_node.memory_per_node = Bytes(50);
        assert!((size(&per_node) - 0.75).abs() < 1e-9);
        per_node.layout.max_tasks_per_node = Some(2);
        assert!((size(&per_node) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn new_jobs_rank_by_wait_over_size() {
        // One node that has waited 100 s, half a node 60 s, four nodes 100 s.
        let mut jobs = vec![
            job(1, 0, 1, 20, 0),
            job(2, 40, 1, 10, 0),
            job(3, 0, 4, 20, 0),
        ];
        assert_eq!(order(&jobs), [2, 1, 3]);
        jobs[2].weight = Weight(10_000);
        assert_eq!(order(&jobs), [3, 2, 1]);
        // The smallest are alike: by submission then.
        assert_eq!(order(&[job(1, 50, 1, 1, 0), job(2, 49, 1, 2, 0)]), [2, 1]);
    }

    #[test]
    fn starved_jobs_rank_before_new_ones_and_these_before_those_that_ran() {
        let mut jobs = vec![
            job(1, 0, 1, 20, 0),
            job(2, 0, 1, 20, 0),
            job(3, 99, 1, 20, 0),
            job(4, 0, 1, 20, 0),
        ];
        jobs[0].virtual_time = Span::from_seconds(1);
        jobs[1].virtual_time = Span::from_seconds(50);
        jobs[1].starved = true;
        jobs[3].limit = Some(Span::from_seconds(7200));
        assert_eq!(order(&jobs), [2, 3, 1, 4]);
    }
}
