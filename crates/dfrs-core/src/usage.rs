//! What is in use on each node, kept up to date while a decision is made.

use std::sync::Arc;

use crate::load_limits::LoadLimits;
use crate::model::{Cluster, Job, Mapping, NodeIndex, NodeState, Run};
use crate::policy::{Ceilings, LoadCeiling};
use crate::space::{LoadLimit, Space, quotient};
use crate::units::{Amount, Bytes, Cores};

/// Memory, CPU load and further resources in use on each node. Only running jobs use them.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// What is looked at most, side by side.
    nodes: Vec<NodeUsage>,
    /// Further resources of each node; empty if no node has any.
    rigid: Vec<Vec<InUse>>,
    /// The weight of each node; empty if all have the same.
    weights: Arc<[u32]>,
    limits: Option<Arc<LoadLimits>>,
    /// As [`Ceilings::packs`].
    packs: bool,
}

/// The load of any node may grow to this if there is no ceiling.
const NO_CEILING: Cores = Cores(u64::MAX);

/// A node's capacities, and what is in use.
#[derive(Clone, Copy, Debug)]
struct NodeUsage {
    memory: Bytes,
    memory_used: Bytes,
    cpu: Cores,
    /// Sum of the CPU needs of the tasks there.
    load: Cores,
    /// What it may grow to.
    max_load: Cores,
    /// What the load may grow to, too, beside jobs that run on several nodes.
    max_parallel_load: Cores,
    /// How many of these are there.
    parallel: u32,
    /// Whether it takes new tasks.
    is_up: bool,
    /// Whether nothing can run there.
    is_down: bool,
}

impl NodeUsage {
    /// Whether it has so much more memory, and may have so much more load for a job of this limit:
    /// what needs no CPU may go where there is too much load already.
    #[inline]
    fn has_room(&self, memory: Bytes, cpu: Cores, limit: LoadLimit) -> bool {
        self.memory_used + memory <= self.memory
            && (self.load + cpu <= self.max_load(limit) || cpu.is_zero())
    }

    /// What the load may grow to if such a job comes.
    #[inline]
    fn max_load(&self, limit: LoadLimit) -> Cores {
        self.max_load_with(self.parallel, limit)
    }

    /// What the load may grow to beside so many jobs that run on several nodes.
    #[inline]
    fn max_load_with(&self, parallel: u32, limit: LoadLimit) -> Cores {
        let for_them = if parallel > 0 || limit == LoadLimit::Parallel {
            self.max_parallel_load
        } else {
            NO_CEILING
        };
        match limit {
            LoadLimit::Exempt => NO_CEILING,
            LoadLimit::Nothing => for_them,
            LoadLimit::Node | LoadLimit::Parallel => for_them.min(self.max_load),
        }
    }

    /// What is left, if it takes new tasks.
    fn space(&self) -> Option<Space> {
        (self.is_up && self.memory_used <= self.memory).then(|| Space {
            memory: self.memory.minus(self.memory_used),
            load: self.load_left(LoadLimit::Node),
            load_parallel: self.load_left(LoadLimit::Parallel),
            load_unlimited: self.load_left(LoadLimit::Nothing),
            has_cpu: !self.cpu.is_zero(),
        })
    }

    /// What the ceilings leave to such a job.
    fn load_left(&self, limit: LoadLimit) -> Cores {
        // Without a ceiling nodes do not differ in this.
        match self.max_load(limit) {
            NO_CEILING => NO_CEILING,
            max => max.minus(self.load),
        }
    }
}

/// What the load of a node of this CPU capacity may grow to.
fn max_load(ceiling: Option<LoadCeiling>, cpu: Cores) -> Cores {
    ceiling.map_or(NO_CEILING, |ceiling| ceiling.of(cpu))
}

/// Where a node stands in what a job and the cluster prefer: the lowest is taken first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodePreference {
    /// Whether the job prefers other nodes.
    pub(crate) is_passed_over: bool,
    /// As [`Node::weight`](crate::Node::weight).
    pub(crate) weight: u32,
}

/// The weight of each node; none if all have the same. O(nodes).
fn different_weights(cluster: &Cluster) -> Arc<[u32]> {
    let mut weights = cluster.nodes.iter().map(|node| node.weight);
    let first = weights.next();
    match weights.all(|weight| Some(weight) == first) {
        true => Arc::default(),
        false => cluster.nodes.iter().map(|node| node.weight).collect(),
    }
}

/// How much of a resource is in use.
#[derive(Clone, Copy, Debug)]
struct InUse {
    used: Amount,
    capacity: Amount,
}

impl InUse {
    /// Nothing of each of these.
    fn none_of(capacities: &[Amount]) -> Vec<Self> {
        let unused = |capacity: &Amount| Self {
            used: Amount::ZERO,
            capacity: *capacity,
        };
        capacities.iter().map(unused).collect()
    }
}

impl Usage {
    /// No job runs; others hold their memory. O(nodes).
    pub(crate) fn empty(cluster: &Cluster, ceilings: impl Into<Ceilings>) -> Self {
        let ceilings = ceilings.into();
        let nodes = cluster.nodes.iter().map(|node| NodeUsage {
            memory: node.memory,
            memory_used: node.held_memory,
            cpu: node.cpu,
            load: Cores::ZERO,
            max_load: max_load(ceilings.all, node.cpu),
            max_parallel_load: max_load(ceilings.parallel, node.cpu),
            parallel: 0,
            is_up: node.state == NodeState::Up,
            is_down: node.state == NodeState::Down,
        });
        let has_rigid = cluster.nodes.iter().any(|node| !node.rigid.is_empty());
        let nodes_with_rigid = cluster.nodes.iter().filter(|_| has_rigid);
        let rigid = nodes_with_rigid.map(|node| InUse::none_of(&node.rigid));
        Self {
            nodes: nodes.collect(),
            rigid: rigid.collect(),
            weights: different_weights(cluster),
            limits: LoadLimits::of(cluster, ceilings).map(Arc::new),
            packs: ceilings.packs,
        }
    }

    /// No resource is in use, and all nodes take tasks: what the cluster could hold at best.
    /// O(nodes).
    pub(crate) fn best_case(cluster: &Cluster, ceilings: impl Into<Ceilings>) -> Self {
        let mut usage = Self::empty(cluster, ceilings);
        for entry in &mut usage.nodes {
            entry.is_up = true;
            entry.is_down = false;
            entry.memory_used = Bytes::ZERO;
        }
        usage
    }

    /// The usage if no job ran; others hold their memory. O(nodes).
    pub(crate) fn without_jobs(&self, cluster: &Cluster) -> Self {
        let mut usage = self.clone();
        for (entry, node) in usage.nodes.iter_mut().zip(&cluster.nodes) {
            entry.memory_used = node.held_memory;
            entry.load = Cores::ZERO;
            entry.parallel = 0;
        }
        for (rigid, node) in usage.rigid.iter_mut().zip(&cluster.nodes) {
            *rigid = InUse::none_of(&node.rigid);
        }
        usage
    }

    /// What the cluster's running jobs use. O(nodes + jobs + runs).
    pub(crate) fn of(cluster: &Cluster, ceilings: impl Into<Ceilings>) -> Self {
        Self::of_jobs(cluster, ceilings, cluster.jobs.iter())
    }

    /// What those of these jobs use that run. O(nodes + jobs + runs).
    pub(crate) fn of_jobs<'j>(
        cluster: &Cluster,
        ceilings: impl Into<Ceilings>,
        jobs: impl Iterator<Item = &'j Job>,
    ) -> Self {
        let mut usage = Self::empty(cluster, ceilings);
        for job in jobs {
            if let Some(mapping) = job.running_on() {
                usage.add(job, mapping);
            }
        }
        usage
    }

    /// Counts the job in. Runs on nodes that do not exist are left out.
    pub(crate) fn add(&mut self, job: &Job, mapping: &Mapping) {
        let parallel = u32::from(mapping.spans_nodes());
        for run in mapping.iter() {
            if let Some(entry) = self.nodes.get_mut(run.node.index()) {
                entry.memory_used += job.memory_of(run);
                entry.load += job.cpu_of(run);
                entry.parallel += parallel;
            }
            let rigid = self.rigid.get_mut(run.node.index());
            for (resource, rigid) in rigid.into_iter().flatten().enumerate() {
                rigid.used += job.rigid_of(run, resource);
            }
        }
    }

    /// The usage, but no load may grow beyond this either, whichever job comes. O(nodes).
    pub(crate) fn under(&self, ceiling: LoadCeiling) -> Self {
        let mut usage = self.clone();
        for entry in &mut usage.nodes {
            entry.max_load = entry.max_load.min(ceiling.of(entry.cpu));
        }
        usage.limits = None;
        usage
    }

    /// The usage with the memory of parked jobs as if they were there. O(nodes).
    pub(crate) fn with_parked(&self, swap: &SwapUsage) -> Self {
        let mut usage = self.clone();
        for (entry, (parked, _)) in usage.nodes.iter_mut().zip(&swap.nodes) {
            entry.memory_used += *parked;
        }
        usage
    }

    /// The usage, but loads may grow to anything. O(nodes).
    pub(crate) fn without_ceilings(&self) -> Self {
        let mut usage = self.clone();
        for entry in &mut usage.nodes {
            (entry.max_load, entry.max_parallel_load) = (NO_CEILING, NO_CEILING);
        }
        usage.limits = None;
        usage
    }

    /// Which job keeps which ceiling, if there is one.
    pub(crate) fn limits(&self) -> Option<Arc<LoadLimits>> {
        self.limits.clone()
    }

    /// How many jobs are on the node that run on several.
    pub(crate) fn parallel(&self, node: NodeIndex) -> u32 {
        let entry = self.nodes.get(node.index());
        entry.map_or(0, |entry| entry.parallel)
    }

    /// Whether the job goes, where CPU is idle, to the node on which it leaves least memory.
    pub(crate) fn packs(&self, job: &Job) -> bool {
        self.packs && !job.moves_freely()
    }

    /// Whether nodes differ in what the job and the cluster prefer.
    pub(crate) fn has_preferences(&self, job: &Job) -> bool {
        !self.weights.is_empty() || job.layout.preferred.is_some()
    }

    /// Where the node stands in what the job and the cluster prefer: of two nodes with idle CPU the
    /// one with the lower is taken. O(log n) of the nodes that the job prefers.
    pub(crate) fn preference(&self, job: &Job, node: NodeIndex) -> NodePreference {
        let preferred = job.layout.preferred.as_ref();
        NodePreference {
            is_passed_over: preferred.is_some_and(|nodes| !nodes.contains(node)),
            weight: self.weights.get(node.index()).copied().unwrap_or(0),
        }
    }

    /// Memory that is free on the node.
    pub(crate) fn memory_left(&self, node: NodeIndex) -> Bytes {
        let entry = &self.nodes[node.index()];
        entry.memory.minus(entry.memory_used)
    }

    /// On this node the load may grow to this beside jobs on several nodes, too.
    pub(crate) fn raise_parallel_ceiling(&mut self, node: NodeIndex, ceiling: LoadCeiling) {
        let entry = &mut self.nodes[node.index()];
        entry.max_parallel_load = ceiling.of(entry.cpu);
    }

    /// On these nodes no job may make the load grow beyond this either.
    pub(crate) fn limit_load(
        &mut self,
        nodes: impl Iterator<Item = NodeIndex>,
        ceiling: LoadCeiling,
    ) {
        for node in nodes {
            let Some(entry) = self.nodes.get_mut(node.index()) else {
                continue;
            };
            let max = ceiling.of(entry.cpu);
            entry.max_load = entry.max_load.min(max);
            entry.max_parallel_load = entry.max_parallel_load.min(max);
        }
    }

    /// What is in use on the node is the greater of what is in use there in these two, which are of
    /// the same nodes.
    pub(crate) fn set_greater(&mut self, node: NodeIndex, one: &Self, other: &Self) {
        let index = node.index();
        let Some(merged) = self.nodes.get_mut(index) else {
            return;
        };
        let (entry, other_entry) = (&one.nodes[index], &other.nodes[index]);
        merged.memory_used = entry.memory_used.max(other_entry.memory_used);
        merged.load = entry.load.max(other_entry.load);
        merged.parallel = entry.parallel.max(other_entry.parallel);
        let Some(rigid) = self.rigid.get_mut(index) else {
            return;
        };
        for (merged, (one, other)) in rigid
            .iter_mut()
            .zip(one.rigid[index].iter().zip(&other.rigid[index]))
        {
            merged.used = one.used.max(other.used);
        }
    }

    /// Which ceiling the job keeps: the same in all of a decision, so one call serves for all
    /// nodes. O(distinct nodes), or O(n log n) of a list of its own.
    pub(crate) fn limit(&self, job: &Job) -> LoadLimit {
        LoadLimits::limit(self.limits.as_ref(), job)
    }

    /// Whether the job could keep a ceiling on load on empty nodes, if there is one: else it starts
    /// where it can, as if there were none. A job that is exempt keeps none. As [`Self::limit`].
    pub(crate) fn could_keep_ceiling(&self, job: &Job) -> bool {
        match self.limit(job) {
            LoadLimit::Exempt => self.limits.is_none(),
            LoadLimit::Nothing => false,
            LoadLimit::Node | LoadLimit::Parallel => true,
        }
    }

    /// [`Self::limit`] of a job that is, or is to be, there.
    pub(crate) fn limit_on(&self, job: &Job, mapping: &Mapping) -> LoadLimit {
        match self.limit(job) {
            LoadLimit::Parallel if !mapping.spans_nodes() => LoadLimit::Node,
            limit => limit,
        }
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// What is left on each node that takes tasks and has not more memory in use than it has.
    pub(crate) fn spaces(&self) -> impl Iterator<Item = Space> + '_ {
        self.nodes.iter().filter_map(NodeUsage::space)
    }

    /// Counts the job out.
    pub(crate) fn remove(&mut self, job: &Job, mapping: &Mapping) {
        let parallel = u32::from(mapping.spans_nodes());
        for run in mapping.iter() {
            if let Some(entry) = self.nodes.get_mut(run.node.index()) {
                entry.memory_used -= job.memory_of(run);
                entry.load -= job.cpu_of(run);
                entry.parallel -= parallel;
            }
            let rigid = self.rigid.get_mut(run.node.index());
            for (resource, rigid) in rigid.into_iter().flatten().enumerate() {
                rigid.used -= job.rigid_of(run, resource);
            }
        }
    }

    /// What is left of the memory of all nodes that take tasks.
    pub(crate) fn free_memory(&self) -> Bytes {
        let nodes = self.nodes.iter().filter(|entry| entry.is_up);
        nodes
            .map(|entry| entry.memory.minus(entry.memory_used))
            .sum()
    }

    /// Sum of the CPU needs of the tasks on the node.
    pub(crate) fn load(&self, node: NodeIndex) -> Cores {
        self.nodes[node.index()].load
    }

    /// What the load of the node may grow to if the job comes, which is not there, and so many jobs
    /// go that run on several nodes; `None`: anything. `limit` is [`Self::limit`] of it, here and
    /// below.
    pub(crate) fn max_load(
        &self,
        node: NodeIndex,
        job: &Job,
        limit: LoadLimit,
        gone: u32,
    ) -> Option<Cores> {
        let entry = &self.nodes[node.index()];
        let max = entry.max_load_with(entry.parallel.saturating_sub(gone), limit);
        (max != NO_CEILING && !job.cpu.is_zero()).then_some(max)
    }

    /// CPU capacity of the node.
    pub(crate) fn cpu(&self, node: NodeIndex) -> Cores {
        self.nodes[node.index()].cpu
    }

    /// Memory in use on the node, by others too.
    pub(crate) fn memory(&self, node: NodeIndex) -> Bytes {
        self.nodes[node.index()].memory_used
    }

    /// What is left of the node's further rigid resources.
    pub(crate) fn rigid_left(&self, node: NodeIndex) -> Vec<Amount> {
        let rigid = self.rigid.get(node.index()).into_iter().flatten();
        rigid
            .map(|rigid| rigid.capacity.minus(rigid.used))
            .collect()
    }

    /// How many devices of the kinds that the job requires are left on the node after one task of it;
    /// `None` for a job that requires none. O(kinds).
    pub(crate) fn devices_left(&self, job: &Job, node: NodeIndex) -> Option<Amount> {
        if !job.requires_devices() {
            return None;
        }
        let first = Run { node, tasks: 1 };
        let left = (0..job.rigid_kinds()).map(|kind| {
            let taken = job.rigid_of(first, kind);
            let (used, capacity) = self.rigid(node, kind);
            match taken.is_zero() {
                true => Amount(0),
                false => capacity.minus(used).minus(taken),
            }
        });
        Some(left.sum())
    }

    /// Passes each node that takes one task of the job: which it is, its load,
    /// and its CPU capacity. Ascending. O(nodes).
    pub(crate) fn each_taker(&self, job: &Job, mut found: impl FnMut(NodeIndex, Cores, Cores)) {
        let memory = job.memory_on(1);
        let limit = self.limit(job);
        match &job.layout.eligible {
            None => {
                for (index, entry) in (0..).zip(&self.nodes) {
                    if self.takes_one(job, memory, limit, NodeIndex(index), entry) {
                        found(NodeIndex(index), entry.load, entry.cpu);
                    }
                }
            }
            Some(nodes) => {
                for node in nodes.iter() {
                    let entry = self.nodes.get(node.index());
                    if let Some(entry) =
                        entry.filter(|entry| self.takes_one(job, memory, limit, *node, entry))
                    {
                        found(*node, entry.load, entry.cpu);
                    }
                }
            }
        }
    }

    /// Whether the node takes one task of the job, which requires so much memory.
    // Greedy spends most of its time here.
    #[inline(always)]
    fn takes_one(
        &self,
        job: &Job,
        memory: Bytes,
        limit: LoadLimit,
        node: NodeIndex,
        entry: &NodeUsage,
    ) -> bool {
        entry.is_up
            && (job.cpu.is_zero() || !entry.cpu.is_zero())
            && entry.has_room(memory, job.cpu, limit)
            && (job.rigid_kinds() == 0 || self.rigid_fits(job, Run { node, tasks: 1 }))
    }

    /// Whether these tasks of the job fit on the node beside what is there, by memory, further
    /// rigid resources and the ceilings on load. The job itself must not be counted in on the node.
    /// `limit` is [`Self::limit_on`] of its mapping.
    pub(crate) fn fits(&self, job: &Job, run: Run, limit: LoadLimit) -> bool {
        // A job that comes back to nodes without other jobs has a place there already, whatever its
        // own load.
        let is_alone = self
            .nodes
            .get(run.node.index())
            .is_none_or(|entry| entry.load.is_zero());
        let limit = if is_alone {
            limit.min(LoadLimit::Nothing)
        } else {
            limit
        };
        self.fits_run(job, run, limit)
    }

    /// As `fits`, for a job whose other tasks have no place yet, and whose own load counts.
    #[inline]
    pub(crate) fn fits_run(&self, job: &Job, run: Run, limit: LoadLimit) -> bool {
        let (memory, cpu) = (job.memory_of(run), job.cpu_of(run));
        let entry = self.nodes.get(run.node.index());
        entry.is_some_and(|entry| entry.has_room(memory, cpu, limit)) && self.rigid_fits(job, run)
    }

    /// As `fits`, but whatever the load: for tasks that are there already.
    #[inline]
    pub(crate) fn holds(&self, job: &Job, run: Run) -> bool {
        self.nodes.get(run.node.index()).is_some_and(|entry| {
            entry.memory_used + job.memory_of(run) <= entry.memory && self.rigid_fits(job, run)
        })
    }

    /// Whether the job fits in place on these nodes, none of which is down. For a job that comes
    /// back to nodes where it was before, so that neither its layout nor whether they drain is
    /// looked at: a node that drains waits for what is parked there.
    pub(crate) fn takes_back(&self, job: &Job, mapping: &Mapping) -> bool {
        let limit = self.limit_on(job, mapping);
        mapping.iter().all(|run| {
            self.nodes
                .get(run.node.index())
                .is_some_and(|entry| !entry.is_down)
                && self.fits(job, run, limit)
        })
    }

    /// Whether the node has enough of the further rigid resources for these tasks of the job.
    #[inline]
    pub(crate) fn rigid_fits(&self, job: &Job, run: Run) -> bool {
        (0..job.rigid_kinds()).all(|resource| {
            let amount = job.rigid_of(run, resource);
            let (used, capacity) = self.rigid(run.node, resource);
            amount.is_zero() || used + amount <= capacity
        })
    }

    /// What is in use of a further rigid resource of the node, and its capacity.
    pub(crate) fn rigid(&self, node: NodeIndex, kind: usize) -> (Amount, Amount) {
        let rigid = self.rigid.get(node.index());
        rigid
            .and_then(|rigid| rigid.get(kind))
            .map_or_else(Default::default, |rigid| (rigid.used, rigid.capacity))
    }

    /// For how many tasks of the job the node has enough of a further rigid resource.
    fn rigid_slots(&self, job: &Job, node: NodeIndex, kind: usize) -> u64 {
        let (used, capacity) = self.rigid(node, kind);
        let (left, once) = (capacity.minus(used), job.rigid_per_node_of(kind));
        if left < once {
            return 0;
        }
        quotient(left.minus(once).0, job.rigid_per_task_of(kind).0)
    }

    /// How many tasks of the job the node can take now: 0 to the job's number
    /// of tasks.
    pub(crate) fn slots(&self, job: &Job, node: NodeIndex, limit: LoadLimit) -> u32 {
        let space = self.nodes[node.index()].space();
        let Some(space) = space.filter(|_| job.layout.allows(node)) else {
            return 0;
        };
        let mut max = space.slots(job, limit);
        for kind in 0..job.rigid_kinds() {
            max = max.min(self.rigid_slots(job, node, kind));
        }
        u32::try_from(max).unwrap_or(u32::MAX)
    }
}

/// Memory of parked jobs in each node's swap.
#[derive(Clone, Debug)]
pub(crate) struct SwapUsage {
    /// Of each node what is in use, and its capacity.
    nodes: Vec<(Bytes, Bytes)>,
}

impl SwapUsage {
    /// What those of these jobs use that are parked. O(nodes + jobs + runs).
    pub(crate) fn of<'j>(cluster: &Cluster, jobs: impl IntoIterator<Item = &'j Job>) -> Self {
        let unused = cluster.nodes.iter().map(|node| (Bytes::ZERO, node.swap));
        let mut usage = Self {
            nodes: unused.collect(),
        };
        for job in jobs {
            if let crate::model::JobState::Parked(mapping) = &job.state {
                usage.add(job, mapping);
            }
        }
        usage
    }

    /// Counts a parked job in.
    pub(crate) fn add(&mut self, job: &Job, mapping: &Mapping) {
        for run in mapping.iter() {
            if let Some((used, _)) = self.nodes.get_mut(run.node.index()) {
                *used += job.memory_of(run);
            }
        }
    }

    /// Counts a parked job out.
    pub(crate) fn remove(&mut self, job: &Job, mapping: &Mapping) {
        for run in mapping.iter() {
            if let Some((used, _)) = self.nodes.get_mut(run.node.index()) {
                *used -= job.memory_of(run);
            }
        }
    }

    /// Memory of parked jobs in the node's swap.
    pub(crate) fn used(&self, node: NodeIndex) -> Bytes {
        let node = self.nodes.get(node.index());
        node.map_or(Bytes::ZERO, |(used, _)| *used)
    }

    /// Whether every node of the mapping has swap, and room in it for the job's memory.
    pub(crate) fn fits(&self, job: &Job, mapping: &Mapping) -> bool {
        mapping.iter().all(|run| {
            let node = self.nodes.get(run.node.index());
            node.is_some_and(|(used, swap)| !swap.is_zero() && *used + job.memory_of(run) <= *swap)
        })
    }
}
