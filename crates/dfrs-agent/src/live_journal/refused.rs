//! Starts that Slurm refused: each is told once, however often it is tried.

use std::collections::{BTreeMap, BTreeSet};

use crate::placement::Placement;

/// Refusals of one job that are remembered. A job that is refused at more places is told of again.
const MOST: usize = 50;

/// Where a job was to start, and why Slurm refused.
type Refusal = (Vec<(String, u32)>, String);

/// What was told, and what is to be told.
#[derive(Debug, Default)]
pub(super) struct Refused {
    told: BTreeMap<u32, BTreeSet<Refusal>>,
    new: Vec<(u32, Placement, String)>,
}

impl Refused {
    /// It is told, unless it was told since the job last started. O(nodes of the job × log).
    pub(super) fn add(&mut self, job: u32, placement: &Placement, why: &str) {
        let told = self.told.entry(job).or_default();
        if told.len() >= MOST {
            told.clear();
        }
        let spots = placement.0.iter();
        let place = spots.map(|spot| (spot.node.clone(), spot.tasks)).collect();
        if told.insert((place, why.to_owned())) {
            self.new.push((job, placement.clone(), why.to_owned()));
        }
    }

    /// What is to be told, once.
    pub(super) fn take(&mut self) -> Vec<(u32, Placement, String)> {
        std::mem::take(&mut self.new)
    }

    /// The job has started, or is over.
    pub(super) fn forget(&mut self, job: u32) {
        self.told.remove(&job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::Spot;

    fn on(node: &str) -> Placement {
        let node = node.to_owned();
        Placement(vec![Spot { node, tasks: 1 }])
    }

    #[test]
    fn the_same_refusal_is_told_once_until_the_job_starts() {
        let mut refused = Refused::default();
        for (node, why) in [("a", "busy"), ("a", "busy"), ("b", "busy"), ("a", "gone")] {
            refused.add(7, &on(node), why);
        }
        let told = refused.take();
        let told: Vec<&str> = told.iter().map(|(_, place, _)| &*place.0[0].node).collect();
        assert_eq!(told, ["a", "b", "a"]);
        refused.add(7, &on("a"), "busy");
        assert!(refused.take().is_empty());
        refused.forget(7);
        refused.add(7, &on("a"), "busy");
        assert_eq!(refused.take().len(), 1);
    }

    #[test]
    fn no_more_is_remembered_than_has_room() {
        let mut refused = Refused::default();
        for node in 0..1000 {
            refused.add(7, &on(&format!("n{node}")), "busy");
        }
        assert!(refused.told[&7].len() <= MOST);
    }
}
