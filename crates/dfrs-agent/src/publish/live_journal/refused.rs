//! Starts that Slurm refused: each is written once, however often it is tried.

use std::collections::{BTreeMap, BTreeSet};

use crate::job::placement::NamedPlacement;

/// Refusals of one job that are remembered. Beyond that, a refusal may be written again.
const MAX_REFUSALS_PER_JOB: usize = 50;

/// Where a job was to start, and why Slurm refused.
type RefusalKey = (Vec<(String, u32)>, String);

/// The refusals that were written, and those to write.
#[derive(Debug, Default)]
pub(super) struct RefusalLog {
    reported: BTreeMap<u32, BTreeSet<RefusalKey>>,
    new: Vec<(u32, NamedPlacement, String)>,
}

impl RefusalLog {
    /// Adds the refusal, unless it was written since the job last started. O(nodes of the job ×
    /// log).
    pub(super) fn add(&mut self, job: u32, placement: &NamedPlacement, why: &str) {
        let reported = self.reported.entry(job).or_default();
        if reported.len() >= MAX_REFUSALS_PER_JOB {
            reported.clear();
        }
        let spots = placement.0.iter();
        let place = spots.map(|spot| (spot.node.clone(), spot.tasks)).collect();
        if reported.insert((place, why.to_owned())) {
            self.new.push((job, placement.clone(), why.to_owned()));
        }
    }

    /// The refusals to write, once.
    pub(super) fn take(&mut self) -> Vec<(u32, NamedPlacement, String)> {
        std::mem::take(&mut self.new)
    }

    /// The job has started, or is over.
    pub(super) fn forget(&mut self, job: u32) {
        self.reported.remove(&job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::placement::NodeTasks;

    fn on(node: &str) -> NamedPlacement {
        let node = node.to_owned();
        NamedPlacement(vec![NodeTasks { node, tasks: 1 }])
    }

    #[test]
    fn repeated_refusal_is_reported_once_until_the_job_starts() {
        let mut refused = RefusalLog::default();
        for (node, why) in [("a", "busy"), ("a", "busy"), ("b", "busy"), ("a", "gone")] {
            refused.add(7, &on(node), why);
        }
        let reported = refused.take();
        let reported: Vec<&str> = reported
            .iter()
            .map(|(_, place, _)| &*place.0[0].node)
            .collect();
        assert_eq!(reported, ["a", "b", "a"]);
        refused.add(7, &on("a"), "busy");
        assert!(refused.take().is_empty());
        refused.forget(7);
        refused.add(7, &on("a"), "busy");
        assert_eq!(refused.take().len(), 1);
    }

    #[test]
    fn remembered_refusals_of_a_job_are_bounded() {
        let mut refused = RefusalLog::default();
        for node in 0..1000 {
            refused.add(7, &on(&format!("n{node}")), "busy");
        }
        assert!(refused.reported[&7].len() <= MAX_REFUSALS_PER_JOB);
    }
}
