//! The cluster as it is: the jobs that can use CPU at this moment, kept from pass to pass. Their
//! shares follow from it.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{Cluster, Cores, GrantedYield, Job, JobId, shares_of_requests, yields_of};

use crate::plan::apply::slurm_id;
use crate::plan::cluster::{PassFacts, actual_job, core_node, core_nodes};
use crate::plan::needs::request_of;
use crate::plan::weights::Weights;
use crate::saturating_u32;
use crate::slurm::node_changes::NodeChanges;
use crate::slurm::observation::Observation;

/// Jobs that can use CPU, where they are, and the nodes. Fields of a job that do not matter for its
/// share may be out of date.
#[derive(Debug, Default)]
pub struct ActualCluster {
    cluster: Cluster,
    /// The requests of those jobs that are counted with less.
    requests: BTreeMap<JobId, Cores>,
    /// By which its jobs were made.
    weights: Weights,
}

impl ActualCluster {
    /// Brings the shares up to date. `jobs` names the jobs that have or had places and are
    /// different, `nodes` the nodes that are. O(log jobs) for each, and moves in memory; O(jobs) if
    /// nodes came or went, or if all weights changed.
    pub fn follow(&mut self, jobs: &BTreeSet<u32>, nodes: &NodeChanges, facts: &PassFacts) {
        if nodes.all || facts.weights != self.weights {
            *self = Self::from_scratch(facts);
            return;
        }
        for index in &nodes.some {
            if let Some(position) = facts.seen.node_position(*index) {
                self.cluster.nodes[position] = core_node(position, facts);
            }
        }
        for id in jobs {
            self.follow_job(*id, facts);
        }
    }

    /// How many jobs are counted with less than they requested.
    pub fn lowered(&self) -> u32 {
        saturating_u32(self.requests.len())
    }

    /// The shares of each job. O(jobs + (nodes + places) log nodes).
    #[must_use]
    pub fn shares(&mut self, facts: &PassFacts) -> BTreeMap<u32, GrantedYield> {
        for job in &mut self.cluster.jobs {
            if let Some(record) = slurm_id(job.id).and_then(|id| facts.ledger.get(id)) {
                job.virtual_time = record.virtual_time_for_decisions();
            }
        }
        self.shares_of_all(facts)
    }

    /// The shares as they follow from a cluster that is built from scratch. O(jobs log jobs): for
    /// tests.
    pub fn shares_from_scratch(facts: &PassFacts) -> BTreeMap<u32, GrantedYield> {
        Self::from_scratch(facts).shares_of_all(facts)
    }

    fn shares_of_all(&self, facts: &PassFacts) -> BTreeMap<u32, GrantedYield> {
        let yields = yields_of(&facts.config.policy, &self.cluster, facts.now);
        let met = shares_of_requests(&self.cluster, &yields, &self.requests).into_iter();
        met.filter_map(|met| Some((slurm_id(met.job)?, met)))
            .collect()
    }

    fn from_scratch(facts: &PassFacts) -> Self {
        let mut actual = Self {
            weights: facts.weights,
            ..Self::default()
        };
        actual.cluster.nodes = core_nodes(facts);
        let jobs = facts.seen.placed().map(|job| job.id);
        let jobs: Vec<Job> = jobs.filter_map(|id| see(id, facts)).collect();
        for job in &jobs {
            actual.follow_request(job.id, Some(job), facts.seen);
        }
        actual.cluster.jobs = jobs;
        actual
    }

    fn follow_job(&mut self, id: u32, facts: &PassFacts) {
        let job = see(id, facts);
        self.follow_request(JobId(u64::from(id)), job.as_ref(), facts.seen);
        let jobs = &mut self.cluster.jobs;
        let position = jobs.binary_search_by_key(&JobId(u64::from(id)), |job| job.id);
        match (position, job) {
            (Ok(position), Some(job)) => jobs[position] = job,
            (Ok(position), None) => drop(jobs.remove(position)),
            (Err(position), Some(job)) => jobs.insert(position, job),
            (Err(_), None) => {}
        }
    }

    /// The request of a job matters where the job is counted with less.
    fn follow_request(&mut self, id: JobId, job: Option<&Job>, seen: &Observation) {
        let shown = slurm_id(id).and_then(|id| seen.job(id));
        let request = shown.map(request_of);
        let request = request.filter(|request| job.is_some_and(|job| job.cpu < *request));
        match request {
            Some(request) => self.requests.insert(id, request),
            None => self.requests.remove(&id),
        };
    }
}

fn see(id: u32, facts: &PassFacts) -> Option<Job> {
    let (job, record) = (facts.seen.job(id)?, facts.ledger.get(id)?);
    actual_job(job, record, facts)
}
