//! What is in use on each node, kept up to date while a decision is made.

use std::sync::Arc;

use crate::headroom::{Space, quotient};
use crate::load_limits::{LoadLimit, LoadLimits};
use crate::model::{Cluster, Job, Mapping, Node, NodeIndex, NodeState, Part, Run};
use crate::policy::{Ceilings, LoadCeiling};
use crate::units::{Amount, Bytes, Cores};

/// Memory, CPU load and further resources in use on each node. Only running jobs use them.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// What is looked at most, side by side.
    spots: Vec<Spot>,
    /// Further resources of each node; empty if no node has any.
    further: Vec<Further>,
    limits: Option<Arc<LoadLimits>>,
    /// As [`Ceilings::packs`].
    packs: bool,
}

/// The load of any node may grow to this if there is no ceiling.
const NO_CEILING: Cores = Cores(u64::MAX);

/// A node's capacities, and what is in use.
#[derive(Clone, Copy, Debug)]
struct Spot {
    memory: Bytes,
    memory_used: Bytes,
    cpu: Cores,
    /// Sum of the CPU needs of the tasks there.
    load: Cores,
    /// What it may grow to.
    most_load: Cores,
    /// What it may grow to, too, beside jobs that run on several nodes.
    most_parallel: Cores,
    /// How many of these are there.
    parallel: u32,
    /// Whether it takes new tasks.
    is_up: bool,
    /// Whether nothing can run there.
    is_down: bool,
}

impl Spot {
    /// Whether it has so much more memory, and may have so much more load for a job of this limit: what needs no CPU
    /// may go where there is too much load already.
    #[inline]
    fn has_room(&self, memory: Bytes, cpu: Cores, limit: LoadLimit) -> bool {
        self.memory_used + memory <= self.memory
            && (self.load + cpu <= self.most_load(limit) || cpu.is_zero())
    }

    /// What the load may grow to if such a job comes.
    #[inline]
    fn most_load(&self, limit: LoadLimit) -> Cores {
        self.most_load_beside(self.parallel, limit)
    }

    /// The same beside so many jobs that run on several nodes.
    #[inline]
    fn most_load_beside(&self, parallel: u32, limit: LoadLimit) -> Cores {
        let for_them = if parallel > 0 || limit == LoadLimit::Parallel {
            self.most_parallel
        } else {
            NO_CEILING
        };
        match limit {
            LoadLimit::Nothing => for_them,
            LoadLimit::Node | LoadLimit::Parallel => for_them.min(self.most_load),
        }
    }

    /// What is left, if it takes new tasks.
    fn space(&self) -> Option<Space> {
        (self.is_up && self.memory_used <= self.memory).then(|| Space {
            memory: self.memory.minus(self.memory_used),
            load: self.load_left(LoadLimit::Node),
            load_parallel: self.load_left(LoadLimit::Parallel),
            load_at_most: self.load_left(LoadLimit::Nothing),
            has_cpu: !self.cpu.is_zero(),
        })
    }
}

impl Spot {
    /// What the ceilings leave to such a job.
    fn load_left(&self, limit: LoadLimit) -> Cores {
        // Without a ceiling nodes do not differ in this.
        match self.most_load(limit) {
            NO_CEILING => NO_CEILING,
            most => most.minus(self.load),
        }
    }
}

/// What the load of a node of this CPU capacity may grow to.
fn most_load(ceiling: Option<LoadCeiling>, cpu: Cores) -> Cores {
    ceiling.map_or(NO_CEILING, |ceiling| ceiling.of(cpu))
}

/// Further resources of a node: what is in use, and its capacity.
#[derive(Clone, Debug)]
struct Further {
    rigid: Vec<InUse>,
    fluid: Vec<InUse>,
}

impl Further {
    fn none_of(node: &Node) -> Self {
        Self {
            rigid: InUse::none_of(&node.rigid),
            fluid: InUse::none_of(&node.fluid),
        }
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
        let spots = cluster.nodes.iter().map(|node| Spot {
            memory: node.memory,
            memory_used: node.held_memory,
            cpu: node.cpu,
            load: Cores::ZERO,
            most_load: most_load(ceilings.all, node.cpu),
            most_parallel: most_load(ceilings.parallel, node.cpu),
            parallel: 0,
            is_up: node.state == NodeState::Up,
            is_down: node.state == NodeState::Down,
        });
        let has_further = cluster
            .nodes
            .iter()
            .any(|node| !node.rigid.is_empty() || !node.fluid.is_empty());
        let further = cluster
            .nodes
            .iter()
            .filter(|_| has_further)
            .map(Further::none_of);
        Self {
            spots: spots.collect(),
            further: further.collect(),
            limits: LoadLimits::of(cluster, ceilings).map(Arc::new),
            packs: ceilings.packs,
        }
    }

    /// Nobody uses anything, and all nodes take tasks: what the cluster could hold at best. O(nodes).
    pub(crate) fn at_best(cluster: &Cluster, ceilings: impl Into<Ceilings>) -> Self {
        let mut usage = Self::empty(cluster, ceilings);
        for spot in &mut usage.spots {
            spot.is_up = true;
            spot.is_down = false;
            spot.memory_used = Bytes::ZERO;
        }
        usage
    }

    /// The same nodes and ceilings, where no job runs; others hold their memory. O(nodes).
    pub(crate) fn without_jobs(&self, cluster: &Cluster) -> Self {
        let mut usage = self.clone();
        for (spot, node) in usage.spots.iter_mut().zip(&cluster.nodes) {
            spot.memory_used = node.held_memory;
            spot.load = Cores::ZERO;
            spot.parallel = 0;
        }
        for (further, node) in usage.further.iter_mut().zip(&cluster.nodes) {
            *further = Further::none_of(node);
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
        if self.further.is_empty() && job.has_one_kind() && mapping.has_one_kind() {
            for run in mapping {
                if let Some(spot) = self.spots.get_mut(run.node.index()) {
                    spot.memory_used += job.memory_on(run.tasks);
                    spot.load += job.cpu.times(run.tasks);
                    spot.parallel += parallel;
                }
            }
            return;
        }
        for part in mapping.parts() {
            self.add_part(job, part);
            if let Some(spot) = self.spots.get_mut(part.node.index()) {
                spot.parallel += parallel;
            }
        }
    }

    /// The same, but no load may grow beyond this either, whoever comes. O(nodes).
    pub(crate) fn under(&self, ceiling: LoadCeiling) -> Self {
        let mut usage = self.clone();
        for spot in &mut usage.spots {
            spot.most_load = spot.most_load.min(ceiling.of(spot.cpu));
        }
        usage.limits = None;
        usage
    }

    /// The same with the memory of parked jobs as if they were there. O(nodes).
    pub(crate) fn with_parked(&self, swap: &SwapUsage) -> Self {
        let mut usage = self.clone();
        for (spot, (parked, _)) in usage.spots.iter_mut().zip(&swap.nodes) {
            spot.memory_used += *parked;
        }
        usage
    }

    /// The same, but loads may grow to anything. O(nodes).
    pub(crate) fn without_ceilings(&self) -> Self {
        let mut usage = self.clone();
        for spot in &mut usage.spots {
            (spot.most_load, spot.most_parallel) = (NO_CEILING, NO_CEILING);
        }
        usage.limits = None;
        usage
    }

    /// Who keeps which ceiling, if there is one.
    pub(crate) fn limits(&self) -> Option<Arc<LoadLimits>> {
        self.limits.clone()
    }

    /// How many jobs are on the node that run on several.
    pub(crate) fn parallel(&self, node: NodeIndex) -> u32 {
        let spot = self.spots.get(node.index());
        spot.map_or(0, |spot| spot.parallel)
    }

    /// Whether the job goes, where CPU is idle, to the node on which it leaves least memory.
    pub(crate) fn packs(&self, job: &Job) -> bool {
        self.packs && !job.moves_freely()
    }

    /// Memory that is free on the node.
    pub(crate) fn memory_left(&self, node: NodeIndex) -> Bytes {
        let spot = &self.spots[node.index()];
        spot.memory.minus(spot.memory_used)
    }

    /// On this node the load may grow to this beside jobs on several nodes, too.
    pub(crate) fn raise_parallel_ceiling(&mut self, node: NodeIndex, ceiling: LoadCeiling) {
        let spot = &mut self.spots[node.index()];
        spot.most_parallel = ceiling.of(spot.cpu);
    }

    /// On these nodes no job may make the load grow beyond this either.
    pub(crate) fn limit_load(
        &mut self,
        nodes: impl Iterator<Item = NodeIndex>,
        ceiling: LoadCeiling,
    ) {
        for node in nodes {
            let Some(spot) = self.spots.get_mut(node.index()) else {
                continue;
            };
            let most = ceiling.of(spot.cpu);
            spot.most_load = spot.most_load.min(most);
            spot.most_parallel = spot.most_parallel.min(most);
        }
    }

    /// What is in use on the node is the greater of what is in use there in these two, which are of the same nodes.
    pub(crate) fn set_greater(&mut self, node: NodeIndex, one: &Self, other: &Self) {
        let index = node.index();
        let Some(merged) = self.spots.get_mut(index) else {
            return;
        };
        let (spot, other_spot) = (&one.spots[index], &other.spots[index]);
        merged.memory_used = spot.memory_used.max(other_spot.memory_used);
        merged.load = spot.load.max(other_spot.load);
        merged.parallel = spot.parallel.max(other_spot.parallel);
        let Some(further) = self.further.get_mut(index) else {
            return;
        };
        let greater = |merged: &mut Vec<InUse>, one: &[InUse], other: &[InUse]| {
            for (merged, (one, other)) in merged.iter_mut().zip(one.iter().zip(other)) {
                merged.used = one.used.max(other.used);
            }
        };
        let (one, other) = (&one.further[index], &other.further[index]);
        greater(&mut further.rigid, &one.rigid, &other.rigid);
        greater(&mut further.fluid, &one.fluid, &other.fluid);
    }

    /// Which ceiling the job keeps: the same in all of a decision, and not to be asked of each node. O(distinct
    /// nodes), or O(n log n) of a list of its own.
    pub(crate) fn limit(&self, job: &Job) -> LoadLimit {
        LoadLimits::limit(self.limits.as_ref(), job)
    }

    /// Whether the job could keep a ceiling on load on empty nodes, if there is one: else it starts where it can, as
    /// if there were none. As [`Self::limit`].
    pub(crate) fn could_keep_ceiling(&self, job: &Job) -> bool {
        self.limit(job) != LoadLimit::Nothing
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
        self.spots.len()
    }

    /// What is left on each node that takes tasks and has not more memory in use than it has.
    pub(crate) fn spaces(&self) -> impl Iterator<Item = Space> + '_ {
        self.spots.iter().filter_map(Spot::space)
    }

    /// Counts the job's tasks on one node in.
    #[inline]
    pub(crate) fn add_part(&mut self, job: &Job, part: Part<'_>) {
        if let Some(spot) = self.spots.get_mut(part.node.index()) {
            spot.memory_used += job.memory_of(part);
            spot.load += job.cpu_of(part);
        }
        if let Some(further) = self.further.get_mut(part.node.index()) {
            for (resource, rigid) in further.rigid.iter_mut().enumerate() {
                rigid.used += job.rigid_of(part, resource);
            }
            for (resource, fluid) in further.fluid.iter_mut().enumerate() {
                fluid.used += job.fluid_of(part, resource);
            }
        }
    }

    /// Counts the job out.
    pub(crate) fn remove(&mut self, job: &Job, mapping: &Mapping) {
        let parallel = u32::from(mapping.spans_nodes());
        for part in mapping.parts() {
            if let Some(spot) = self.spots.get_mut(part.node.index()) {
                spot.memory_used -= job.memory_of(part);
                spot.load -= job.cpu_of(part);
                spot.parallel -= parallel;
            }
            if let Some(further) = self.further.get_mut(part.node.index()) {
                for (resource, rigid) in further.rigid.iter_mut().enumerate() {
                    rigid.used -= job.rigid_of(part, resource);
                }
                for (resource, fluid) in further.fluid.iter_mut().enumerate() {
                    fluid.used -= job.fluid_of(part, resource);
                }
            }
        }
    }

    /// What is left of the memory of all nodes that take tasks.
    pub(crate) fn free_memory(&self) -> Bytes {
        let spots = self.spots.iter().filter(|spot| spot.is_up);
        spots.map(|spot| spot.memory.minus(spot.memory_used)).sum()
    }

    /// Sum of the CPU needs of the tasks on the node.
    pub(crate) fn load(&self, node: NodeIndex) -> Cores {
        self.spots[node.index()].load
    }

    /// What the load of the node may grow to if the job comes, which is not there, and so many jobs go that run on
    /// several nodes; `None`: anything. `limit` is [`Self::limit`] of it, here and below.
    pub(crate) fn most_load(
        &self,
        node: NodeIndex,
        job: &Job,
        limit: LoadLimit,
        gone: u32,
    ) -> Option<Cores> {
        let spot = &self.spots[node.index()];
        let most = spot.most_load_beside(spot.parallel.saturating_sub(gone), limit);
        (most != NO_CEILING && !job.cpu.is_zero()).then_some(most)
    }

    /// CPU capacity of the node.
    pub(crate) fn cpu(&self, node: NodeIndex) -> Cores {
        self.spots[node.index()].cpu
    }

    /// Memory in use on the node, by others too.
    pub(crate) fn memory(&self, node: NodeIndex) -> Bytes {
        self.spots[node.index()].memory_used
    }

    /// What is left of the node's further rigid resources.
    pub(crate) fn rigid_left(&self, node: NodeIndex) -> Vec<Amount> {
        let Some(further) = self.further.get(node.index()) else {
            return Vec::new();
        };
        let left = further
            .rigid
            .iter()
            .map(|rigid| rigid.capacity.minus(rigid.used));
        left.collect()
    }

    /// What is left of the node's further fluid resources when all there run at the yield
    /// `numerator`/`denominator`, times the denominator.
    pub(crate) fn fluid_left(
        &self,
        node: NodeIndex,
        numerator: u64,
        denominator: u64,
    ) -> Vec<u128> {
        let Some(further) = self.further.get(node.index()) else {
            return Vec::new();
        };
        let left = |fluid: &InUse| {
            let capacity = u128::from(fluid.capacity.0) * u128::from(denominator);
            capacity.saturating_sub(u128::from(fluid.used.0) * u128::from(numerator))
        };
        further.fluid.iter().map(left).collect()
    }

    /// Tells of each node that takes one task of the job, which has one kind: which it is, its load, and
    /// its CPU capacity. Ascending. O(nodes).
    pub(crate) fn each_taker(&self, job: &Job, mut found: impl FnMut(NodeIndex, Cores, Cores)) {
        let memory = job.memory_on(1);
        let limit = self.limit(job);
        match &job.layout.eligible {
            None => {
                for (index, spot) in (0..).zip(&self.spots) {
                    if self.takes_one(job, memory, limit, NodeIndex(index), spot) {
                        found(NodeIndex(index), spot.load, spot.cpu);
                    }
                }
            }
            Some(nodes) => {
                for node in nodes.iter() {
                    let spot = self.spots.get(node.index());
                    if let Some(spot) =
                        spot.filter(|spot| self.takes_one(job, memory, limit, *node, spot))
                    {
                        found(*node, spot.load, spot.cpu);
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
        spot: &Spot,
    ) -> bool {
        spot.is_up
            && (job.cpu.is_zero() || !spot.cpu.is_zero())
            && spot.has_room(memory, job.cpu, limit)
            && (job.rigid.is_empty() || self.rigid_fits(job, Part::from(&Run { node, tasks: 1 })))
    }

    /// Whether these tasks of the job fit on the node beside what is there, by memory, further rigid resources and
    /// the ceilings on load. The job itself must not be counted in on the node. `limit` is [`Self::limit_on`] of its
    /// mapping.
    pub(crate) fn fits(&self, job: &Job, part: Part<'_>, limit: LoadLimit) -> bool {
        let (memory, cpu) = (job.memory_of(part), job.cpu_of(part));
        // One that comes back where nobody else is has a place there already, whatever its own load.
        let is_alone = self
            .spots
            .get(part.node.index())
            .is_none_or(|spot| spot.load.is_zero());
        let limit = if is_alone { LoadLimit::Nothing } else { limit };
        self.has_room(part.node, memory, cpu, limit) && self.rigid_fits(job, part)
    }

    /// As `fits`, for a job of one kind whose other tasks have no place yet.
    #[inline]
    pub(crate) fn fits_run(&self, job: &Job, run: Run, limit: LoadLimit) -> bool {
        let (memory, cpu) = (job.memory_on(run.tasks), job.cpu.times(run.tasks));
        self.has_room(run.node, memory, cpu, limit)
            && (job.rigid.is_empty() || self.rigid_fits(job, Part::from(&run)))
    }

    fn has_room(&self, node: NodeIndex, memory: Bytes, cpu: Cores, limit: LoadLimit) -> bool {
        let spot = self.spots.get(node.index());
        spot.is_some_and(|spot| spot.has_room(memory, cpu, limit))
    }

    /// As `fits`, but whatever the load: for tasks that are there already.
    #[inline]
    pub(crate) fn holds(&self, job: &Job, part: Part<'_>) -> bool {
        self.spots.get(part.node.index()).is_some_and(|spot| {
            spot.memory_used + job.memory_of(part) <= spot.memory && self.rigid_fits(job, part)
        })
    }

    /// Whether the job fits in place on these nodes, none of which is down. For a job that comes back to
    /// nodes where it was before, so that neither its layout nor whether they drain is looked at: a
    /// node that drains waits for what is parked there.
    pub(crate) fn takes_back(&self, job: &Job, mapping: &Mapping) -> bool {
        let limit = self.limit_on(job, mapping);
        mapping.parts().all(|part| {
            self.spots
                .get(part.node.index())
                .is_some_and(|spot| !spot.is_down)
                && self.fits(job, part, limit)
        })
    }

    /// Whether the node has enough of the further rigid resources for these tasks of the job.
    #[inline]
    pub(crate) fn rigid_fits(&self, job: &Job, part: Part<'_>) -> bool {
        (0..job.rigid_resources()).all(|resource| {
            let amount = job.rigid_of(part, resource);
            let (used, capacity) = self.rigid(part.node, resource);
            amount.is_zero() || used + amount <= capacity
        })
    }

    /// What is in use of a further rigid resource of the node, and its capacity.
    pub(crate) fn rigid(&self, node: NodeIndex, kind: usize) -> (Amount, Amount) {
        let further = self.further.get(node.index());
        further
            .and_then(|further| further.rigid.get(kind))
            .map_or_else(Default::default, |rigid| (rigid.used, rigid.capacity))
    }

    /// How many tasks of the job, which has one kind, the node can take now: 0 to the job's number of
    /// tasks.
    pub(crate) fn slots(&self, job: &Job, node: NodeIndex, limit: LoadLimit) -> u32 {
        let space = self.spots[node.index()].space();
        let Some(space) = space.filter(|_| job.layout.allows(node)) else {
            return 0;
        };
        let mut most = space.slots(job, limit);
        for (kind, amount) in job.rigid.iter().enumerate() {
            let (used, capacity) = self.rigid(node, kind);
            most = most.min(quotient(capacity.minus(used).0, amount.0));
        }
        u32::try_from(most).unwrap_or(u32::MAX)
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
        for part in mapping.parts() {
            if let Some((used, _)) = self.nodes.get_mut(part.node.index()) {
                *used += job.memory_of(part);
            }
        }
    }

    /// Counts a parked job out.
    pub(crate) fn remove(&mut self, job: &Job, mapping: &Mapping) {
        for part in mapping.parts() {
            if let Some((used, _)) = self.nodes.get_mut(part.node.index()) {
                *used -= job.memory_of(part);
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
        mapping.parts().all(|part| {
            let node = self.nodes.get(part.node.index());
            node.is_some_and(|(used, swap)| !swap.is_zero() && *used + job.memory_of(part) <= *swap)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, Node};
    use crate::units::Time;

    #[test]
    fn fluid_resources_are_left_as_the_yield_says() {
        let mut node = Node::new("", Cores(100), Bytes(100));
        node.fluid = vec![Amount(100), Amount(40)];
        let cluster = Cluster {
            nodes: vec![node],
            jobs: Vec::new(),
        };
        let mut job = Job::new(JobId(1), Time(0), 2, Cores(1), Bytes(1));
        job.fluid = vec![Amount(30), Amount(50)];
        let mapping = Mapping::from_tasks([NodeIndex(0), NodeIndex(0)]);
        let mut usage = Usage::empty(&cluster, None);
        usage.add(&job, &mapping);
        // At a third: 100 less 60 / 3, and 40 less 100 / 3, three times.
        assert_eq!(usage.fluid_left(NodeIndex(0), 1, 3), [240, 20]);
        assert_eq!(usage.fluid_left(NodeIndex(0), 1, 1), [40, 0]);
        usage.remove(&job, &mapping);
        assert_eq!(usage.fluid_left(NodeIndex(0), 1, 3), [300, 120]);
    }
}
