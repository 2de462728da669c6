//! The cluster as the core shall see it, kept from decision to decision: what changed is changed.

use std::collections::BTreeSet;

use dfrs_core::{Cluster, Job, JobId, Node, NodeIndex, Roster, Time};

use crate::cluster::{Facts, core_nodes, planned_job, seen_differently_at};
use crate::ledger::{Ledger, Record};
use crate::observation::Observation;
use crate::weights::Weights;

/// From so many jobs on it is cheaper to make the roster anew than to take one after the other out.
const MANY: usize = 500;

/// A roster of the cluster as it will be when everything under way has finished.
#[derive(Debug, Default)]
pub struct Planned {
    roster: Roster,
    weights: Weights,
    /// When the core is to see a job differently although nothing happens to it.
    timed: BTreeSet<(Time, u32)>,
}

impl Planned {
    /// The roster.
    #[must_use]
    pub fn roster(&mut self) -> &mut Roster {
        &mut self.roster
    }

    /// Brings the roster up to date. `changed` names the jobs of which Slurm shows or the ledger says
    /// something else than the last time, and those that became ready or no longer are. O(nodes + running
    /// jobs) and O(log jobs) for each that changed; O(jobs log jobs) if nodes came, went or have other
    /// capacities, or if all weights changed.
    pub fn follow(
        &mut self,
        changed: BTreeSet<u32>,
        seen: &Observation,
        ledger: &Ledger,
        facts: &Facts,
    ) {
        let weights = Weights::new(seen, facts.config);
        let nodes = core_nodes(seen, ledger, facts);
        let same_nodes = has_same_nodes(&self.roster.cluster().nodes, &nodes);
        if !same_nodes || weights != self.weights {
            self.weights = weights;
            self.rebuild(nodes, seen, ledger, facts);
            return;
        }
        for (index, node) in (0..).zip(nodes) {
            let index = NodeIndex(index);
            if self.roster.cluster().node(index) != Some(&node) {
                self.roster.set_node(index, node);
            }
        }
        let mut changed = changed;
        changed.append(&mut self.take_due(facts.now));
        self.follow_jobs(&changed, seen, ledger, facts);
        let virtual_time = |id: JobId| {
            let id = u32::try_from(id.0).unwrap_or(u32::MAX);
            ledger
                .get(id)
                .map_or_else(Default::default, Record::virtual_time)
        };
        self.roster.set_virtual_times(virtual_time);
    }

    /// Whether it is what it would be if it were made anew. O(jobs log jobs): for tests.
    #[must_use]
    pub fn is_fresh(&self, seen: &Observation, ledger: &Ledger, facts: &Facts) -> bool {
        let mut anew = Self {
            weights: self.weights,
            ..Self::default()
        };
        anew.rebuild(core_nodes(seen, ledger, facts), seen, ledger, facts);
        anew.roster == self.roster
    }

    fn rebuild(&mut self, nodes: Vec<Node>, seen: &Observation, ledger: &Ledger, facts: &Facts) {
        self.timed.clear();
        let ids: Vec<u32> = seen.jobs().map(|job| job.id).collect();
        let jobs = ids
            .into_iter()
            .filter_map(|id| self.see(id, seen, ledger, facts));
        let jobs = jobs.collect();
        self.roster = Roster::new(Cluster { nodes, jobs });
    }

    fn follow_jobs(
        &mut self,
        changed: &BTreeSet<u32>,
        seen: &Observation,
        ledger: &Ledger,
        facts: &Facts,
    ) {
        let is_there = |roster: &Roster, id: u32| roster.job(job_id(id)).is_some();
        let (mut new, mut gone) = (Vec::new(), Vec::new());
        for id in changed {
            match self.see(*id, seen, ledger, facts) {
                Some(job) if is_there(&self.roster, *id) => drop(self.roster.insert(job)),
                Some(job) => new.push(job),
                None if is_there(&self.roster, *id) => gone.push(job_id(*id)),
                None => {}
            }
        }
        self.remove(&gone);
        self.roster.extend(new);
    }

    fn remove(&mut self, gone: &[JobId]) {
        if gone.len() < MANY {
            for id in gone {
                self.roster.remove(*id);
            }
            return;
        }
        let mut cluster = std::mem::take(&mut self.roster).into_cluster();
        cluster
            .jobs
            .retain(|job| gone.binary_search(&job.id).is_err());
        self.roster = Roster::new(cluster);
    }

    /// The job as the core shall see it, if it shall.
    fn see(&mut self, id: u32, seen: &Observation, ledger: &Ledger, facts: &Facts) -> Option<Job> {
        let (job, record) = (seen.job(id)?, ledger.get(id)?);
        if let Some(at) = seen_differently_at(job, record, facts) {
            self.timed.insert((at, id));
        }
        planned_job(job, record, &self.weights, seen, facts)
    }

    fn take_due(&mut self, now: Time) -> BTreeSet<u32> {
        let mut due = BTreeSet::new();
        while let Some((at, id)) = self.timed.first().copied().filter(|(at, _)| *at <= now) {
            self.timed.remove(&(at, id));
            due.insert(id);
        }
        due
    }
}

/// Whether these are the same nodes, and what jobs require of them can be said in the same way: a job may
/// ask for all of a node.
fn has_same_nodes(before: &[Node], after: &[Node]) -> bool {
    let same = |(before, after): (&Node, &Node)| {
        before.name == after.name && before.cpu == after.cpu && before.memory == after.memory
    };
    before.len() == after.len() && before.iter().zip(after).all(same)
}

fn job_id(id: u32) -> JobId {
    JobId(u64::from(id))
}
