//! Memory that is kept for jobs of other partitions: Slurm preempts jobs of DFRS for it.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

/// After the grace time of a job that has not left Slurm requeues it: at its next look at time
/// limits (30 s), which takes up to `KillWait` (30 s by default). Then it starts the other.
const MARGIN: Span = Span::from_seconds(90);

/// What a job that is preempted holds on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreemptedShare {
    /// The job.
    pub job: u32,
    /// MiB.
    pub mib: u64,
    /// When its grace time ends.
    pub grace_end: Time,
}

/// A node's memory in MiB, without that of jobs of DFRS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpareMemory {
    /// Jobs of other partitions hold it.
    pub others: u64,
    /// It is free.
    pub free: u64,
}

/// Of one node.
#[derive(Clone, Debug)]
struct KeptNode {
    until: Time,
    /// When the last preemption began.
    before: SpareMemory,
    /// Those that were there then.
    jobs: Vec<PreemptedShare>,
}

/// What jobs that Slurm preempts leave on nodes, and what is free there beside it, until others have
/// it or the grace time is over. Without it DFRS would start jobs there before Slurm starts the
/// other one, and Slurm would preempt again.
#[derive(Clone, Debug, Default)]
pub struct KeptMemory {
    nodes: BTreeMap<u32, KeptNode>,
}

impl KeptMemory {
    /// Whether this preemption is known. O(preempted jobs there).
    pub fn knows(&self, node: u32, share: &PreemptedShare) -> bool {
        let kept = self.nodes.get(&node);
        kept.is_some_and(|kept| kept.jobs.contains(share))
    }

    /// Keeps what a job holds on a node (Slurm's index) until its grace time is over. `spare`: the
    /// node now. `is_counted`: whether Slurm counts memory of a job there: what others have left is
    /// free by now, and kept as that.
    pub fn keep(
        &mut self,
        node: u32,
        share: PreemptedShare,
        (spare, now): (SpareMemory, Time),
        is_counted: impl Fn(u32) -> bool,
    ) {
        let before = self.nodes.remove(&node);
        let mut jobs = before.map(|kept| kept.jobs).unwrap_or_default();
        jobs.retain(|other| other.job != share.job && is_counted(other.job));
        jobs.push(share);
        let ends = jobs.iter().map(|share| share.grace_end);
        let kept = KeptNode {
            until: ends.max().unwrap_or(now).max(now) + MARGIN,
            before: spare,
            jobs,
        };
        self.nodes.insert(node, kept);
    }

    /// MiB of this node that are kept now. `others_mib`: what others hold there by now. `is_there`:
    /// whether the core counts a job there. O(jobs that were preempted there).
    pub fn on_node(&self, node: u32, others_mib: u64, is_there: impl Fn(u32) -> bool) -> u64 {
        let Some(kept) = self.nodes.get(&node) else {
            return 0;
        };
        let left = kept.jobs.iter().filter(|share| !is_there(share.job));
        let left: u64 = left.map(|share| share.mib).sum();
        let taken = others_mib.saturating_sub(kept.before.others);
        (left + kept.before.free).saturating_sub(taken)
    }

    /// When a node's memory is first kept no longer, at the latest.
    pub fn next(&self) -> Option<Time> {
        self.nodes.values().map(|kept| kept.until).min()
    }

    /// Keeps no longer what is over by now, or what others hold more than was free before: the one
    /// that it was kept for has started. `others_mib`: what others hold of a node; `None`: it is
    /// gone. Returns the nodes of that. O(nodes of which some is kept).
    pub fn release(&mut self, now: Time, others_mib: impl Fn(u32) -> Option<u64>) -> Vec<u32> {
        let is_over = |node: u32, kept: &mut KeptNode| {
            let Some(others) = others_mib(node) else {
                return true;
            };
            // What some of them have left since is not what it was kept for.
            kept.before.others = kept.before.others.min(others);
            kept.until <= now || others - kept.before.others > kept.before.free
        };
        let mut over = Vec::new();
        self.nodes.retain(|node, kept| {
            let is_over = is_over(*node, kept);
            if is_over {
                over.push(*node);
            }
            !is_over
        });
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE_END: Time = Time::from_seconds(60);
    const SPARE: SpareMemory = SpareMemory {
        others: 100,
        free: 50,
    };

    fn share(job: u32, mib: u64) -> PreemptedShare {
        PreemptedShare {
            job,
            mib,
            grace_end: GRACE_END,
        }
    }

    fn kept_of(jobs: &[(u32, u64)]) -> KeptMemory {
        let mut kept = KeptMemory::default();
        for (job, mib) in jobs {
            assert!(!kept.knows(3, &share(*job, *mib)));
            kept.keep(3, share(*job, *mib), (SPARE, Time(0)), |_| true);
            assert!(kept.knows(3, &share(*job, *mib)));
        }
        kept
    }

    #[test]
    fn memory_is_kept_when_a_job_has_left_until_others_have_it() {
        let mut kept = kept_of(&[(7, 400), (8, 200)]);
        assert_eq!(kept.on_node(3, 100, |job| job == 8), 450, "8 is there");
        assert_eq!(kept.on_node(3, 100, |_| false), 650);
        assert_eq!(kept.on_node(4, 100, |_| false), 0, "another node");
        // A small job of others has found what was free before.
        assert_eq!(kept.release(Time(0), |_| Some(150)), [0; 0]);
        assert_eq!(kept.on_node(3, 150, |_| false), 600);
        assert_eq!(kept.release(Time(0), |_| Some(151)), [3]);
        assert_eq!(kept.on_node(3, 151, |_| false), 0);
    }

    #[test]
    fn start_of_the_other_is_seen_when_others_have_ended_meanwhile() {
        let mut kept = kept_of(&[(7, 400)]);
        assert_eq!(kept.release(Time(0), |_| Some(20)), [0; 0]);
        assert_eq!(kept.release(Time(0), |_| Some(71)), [3]);
    }

    #[test]
    fn memory_of_a_job_that_stays_too_long_is_kept_on() {
        let mut kept = kept_of(&[(7, 400)]);
        let late = GRACE_END + MARGIN;
        assert_eq!(kept.release(late, |_| Some(100)), [3]);
        kept.keep(3, share(7, 400), (SPARE, late), |_| true);
        assert_eq!(kept.next(), Some(late + MARGIN));
    }

    #[test]
    fn memory_that_was_left_before_is_free_when_another_is_preempted() {
        let mut kept = kept_of(&[(7, 400)]);
        let now = SpareMemory {
            others: 300,
            free: 250,
        };
        kept.keep(3, share(8, 200), (now, Time(0)), |job| job == 8);
        assert_eq!(kept.on_node(3, 300, |job| job == 8), 250);
        assert_eq!(kept.on_node(3, 300, |_| false), 450);
    }

    #[test]
    fn memory_is_kept_no_longer_when_the_grace_time_is_over() {
        let mut kept = kept_of(&[(7, 400)]);
        assert_eq!(kept.next(), Some(GRACE_END + MARGIN));
        assert_eq!(kept.release(GRACE_END, |_| Some(100)), [0; 0]);
        assert_eq!(kept.release(GRACE_END + MARGIN, |_| Some(100)), [3]);
        assert_eq!(kept.on_node(3, 100, |_| false), 0);
        assert_eq!(kept.next(), None);
    }
}
