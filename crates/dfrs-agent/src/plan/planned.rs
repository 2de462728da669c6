//! The cluster as the core shall see it, kept from decision to decision: what changed is changed.

use std::collections::BTreeSet;

use dfrs_core::{Cluster, Experience, Job, JobId, Node, NodeIndex, Roster};

use crate::due_times::DueTimes;
use crate::plan::cluster::{PassFacts, core_node, core_nodes, planned_job, view_changes_at};
use crate::plan::weights::Weights;
use crate::saturating_u32;
use crate::slurm::node_changes::NodeChanges;

/// A roster of the cluster as it will be when everything under way has finished.
#[derive(Debug, Default)]
pub struct PlannedCluster {
    roster: Roster,
    /// By which its jobs were made.
    weights: Weights,
    /// When the core is to see a job differently although nothing happens to it.
    timed: DueTimes,
}

impl PlannedCluster {
    /// Of an empty cluster, with what is known of time limits.
    pub fn with(experience: Experience) -> Self {
        let mut planned = Self::default();
        *planned.roster.experience_mut() = experience;
        planned
    }

    /// The roster.
    #[must_use]
    pub fn roster(&mut self) -> &mut Roster {
        &mut self.roster
    }

    /// What time limits have been worth so far.
    pub fn experience(&self) -> &Experience {
        self.roster.experience()
    }

    /// What time limits have been worth so far, to learn more.
    pub fn experience_mut(&mut self) -> &mut Experience {
        self.roster.experience_mut()
    }

    /// Brings the roster up to date. `changed` names the jobs of which Slurm shows or the ledger
    /// says something else than the last time, and those that became ready or no longer are;
    /// `working` those whose virtual time goes on; `nodes` those that are different, or where such
    /// jobs are or were. O(log jobs) for each job that changed or works, O(jobs there) for each
    /// node; O(jobs log jobs) if nodes came, went or have other capacities, or if all weights
    /// changed.
    pub fn follow<'a>(
        &mut self,
        changed: BTreeSet<u32>,
        working: impl Iterator<Item = &'a u32>,
        nodes: &NodeChanges,
        facts: &PassFacts,
    ) {
        let followed = !nodes.all && facts.weights == self.weights;
        if !(followed && self.follow_nodes(nodes, facts)) {
            self.rebuild(core_nodes(facts), facts);
            return;
        }
        let mut changed = changed;
        changed.extend(self.timed.take_due(facts.now));
        self.follow_jobs(&changed, facts);
        for id in working {
            if let Some(record) = facts.ledger.get(*id) {
                let virtual_time = record.virtual_time_for_decisions();
                self.roster
                    .set_times(job_id(*id), virtual_time, record.delay());
            }
        }
    }

    /// Whether the roster equals one that is built from scratch. O(jobs log jobs): for tests.
    pub fn is_fresh(&self, facts: &PassFacts) -> bool {
        let mut rebuilt = Self::default();
        rebuilt
            .roster
            .experience_mut()
            .clone_from(self.roster.experience());
        rebuilt.rebuild(core_nodes(facts), facts);
        rebuilt.roster == self.roster
    }

    /// Brings these nodes up to date; false: one of them has other capacities.
    fn follow_nodes(&mut self, nodes: &NodeChanges, facts: &PassFacts) -> bool {
        for index in &nodes.some {
            let Some(position) = facts.seen.node_position(*index) else {
                continue;
            };
            let after = core_node(position, facts);
            let index = NodeIndex(saturating_u32(position));
            match self.roster.cluster().node(index) {
                Some(before) if *before == after => {}
                Some(before) if is_same_node(before, &after) => {
                    self.roster.set_node(index, after);
                }
                _ => return false,
            }
        }
        true
    }

    fn rebuild(&mut self, nodes: Vec<Node>, facts: &PassFacts) {
        self.weights = facts.weights;
        self.timed = DueTimes::default();
        let ids: Vec<u32> = facts.seen.jobs().map(|job| job.id).collect();
        let jobs = ids.into_iter().filter_map(|id| self.see(id, facts));
        let jobs = jobs.collect();
        self.roster.set_cluster(Cluster { nodes, jobs });
    }

    fn follow_jobs(&mut self, changed: &BTreeSet<u32>, facts: &PassFacts) {
        let is_there = |roster: &Roster, id: u32| roster.job(job_id(id)).is_some();
        let (mut new, mut gone) = (Vec::new(), Vec::new());
        for id in changed {
            match self.see(*id, facts) {
                Some(job) if is_there(&self.roster, *id) => drop(self.roster.insert(job)),
                Some(job) => new.push(job),
                None if is_there(&self.roster, *id) => gone.push(job_id(*id)),
                None => {}
            }
        }
        self.roster.remove_all(&gone);
        self.roster.extend(new);
    }

    /// The job as the core shall see it, if it shall.
    fn see(&mut self, id: u32, facts: &PassFacts) -> Option<Job> {
        let (job, record) = (facts.seen.job(id)?, facts.ledger.get(id)?);
        if let Some(at) = view_changes_at(job, record, facts) {
            self.timed.add(id, at);
        }
        planned_job(job, record, facts)
    }
}

/// Whether this is the same node, and jobs' requirements of it are expressed in the same way: a job
/// may request all of a node.
fn is_same_node(before: &Node, after: &Node) -> bool {
    before.name == after.name && before.cpu == after.cpu && before.memory == after.memory
}

fn job_id(id: u32) -> JobId {
    JobId(u64::from(id))
}
