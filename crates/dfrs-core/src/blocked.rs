//! Why a waiting job was not placed.

use crate::fit_cache::FitCache;
use crate::greedy::{all_nodes, place};
use crate::model::{Cluster, Job, JobState, Node, NodeIndex, NodeState};
use crate::plan::Blocked;
use crate::policy::{Ceilings, Policy};
use crate::usage::Usage;

/// Finds out why jobs wait, given what is in use after the plan.
pub(crate) struct Inquiry<'a> {
    cluster: &'a Cluster,
    ceilings: Ceilings,
    /// Whether all nodes take tasks.
    all_up: bool,
    /// After the plan.
    after: Question,
    /// The same if loads were not limited; not asked where they are not.
    whatever_load: Option<Question>,
    /// If no job ran.
    empty: Option<Question>,
    /// If nobody used anything and all nodes were up.
    at_best: Option<Question>,
}

/// Whether jobs could be placed in some state of the cluster.
struct Question {
    usage: Usage,
    fit_cache: FitCache,
}

impl Question {
    /// O(nodes log nodes).
    fn new(usage: Usage) -> Self {
        Self {
            fit_cache: FitCache::of(&usage),
            usage,
        }
    }

    fn could_place(&mut self, cluster: &Cluster, job: &Job) -> bool {
        self.fit_cache.could_place(cluster, &self.usage, job)
    }

    /// The same, and for several kinds of tasks whether Greedy finds a place for all together.
    fn places(&mut self, cluster: &Cluster, job: &Job) -> bool {
        self.could_place(cluster, job)
            && (job.has_one_kind() || place(cluster, &self.usage, job).is_some())
    }
}

impl<'a> Inquiry<'a> {
    /// O(nodes log nodes).
    pub(crate) fn new(policy: &Policy, cluster: &'a Cluster, after: Usage) -> Self {
        Self {
            cluster,
            ceilings: policy.ceilings(),
            all_up: cluster.nodes.iter().all(Node::is_up),
            after: Question::new(after),
            whatever_load: None,
            empty: None,
            at_best: None,
        }
    }

    /// Why this waiting job was not placed. O(distinct spaces of nodes), but O(nodes) for a job with
    /// rules of its own about nodes.
    pub(crate) fn why(&mut self, job: &Job) -> Blocked {
        let cluster = self.cluster;
        if let JobState::Parked(mapping) = &job.state {
            let is_down = |node| {
                let node = cluster.node(node);
                node.is_none_or(|node| node.state == NodeState::Down)
            };
            return if mapping.nodes().any(is_down) {
                Blocked::NodesUnavailable
            } else if self.after.usage.takes_back(job, mapping) {
                Blocked::NotNow
            } else if self
                .whatever_load()
                .is_some_and(|after| after.usage.takes_back(job, mapping))
            {
                Blocked::Cpu
            } else {
                Blocked::OwnNodesFull
            };
        }
        let ceilings = self.ceilings;
        let at_best = || Question::new(Usage::at_best(cluster, ceilings));
        let empty = || Question::new(Usage::empty(cluster, ceilings));
        if self.after.places(cluster, job) {
            Blocked::NotNow
        } else if !self
            .at_best
            .get_or_insert_with(at_best)
            .could_place(cluster, job)
        {
            Blocked::NeverFits
        } else if self
            .whatever_load()
            .is_some_and(|after| after.places(cluster, job))
        {
            Blocked::Cpu
        } else if self.all_up
            || self
                .empty
                .get_or_insert_with(empty)
                .could_place(cluster, job)
            || !self.misses_nodes(job)
        {
            Blocked::Memory
        } else {
            Blocked::NodesUnavailable
        }
    }

    fn whatever_load(&mut self) -> Option<&mut Question> {
        if self.ceilings.are_none() {
            return None;
        }
        let usage = &self.after.usage;
        let question = || Question::new(usage.without_ceilings());
        Some(self.whatever_load.get_or_insert_with(question))
    }

    /// Whether some node that the job may use takes no tasks now.
    fn misses_nodes(&self, job: &Job) -> bool {
        let is_missing = |node: NodeIndex| !self.cluster.nodes[node.index()].is_up();
        let kinds = job.by_kind();
        kinds
            .iter()
            .any(|kind| all_nodes(self.cluster, kind).any(is_missing))
    }
}
