//! Greedy task mapping (TPDS, Section 4.2).

use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};

use crate::model::{Cluster, Job, Mapping, NodeIndex};
use crate::space::{LoadLimit, most_tasks};
use crate::usage::Usage;

mod candidate;
mod grouped;
mod unions;

use candidate::{BestNodes, NodeCandidate, Packed, PreferredNode};
pub(crate) use grouped::suffice;

/// Puts each task of the job on the node with the lowest load among those with enough memory for
/// it, without changing where other jobs are; where jobs that cannot move freely are packed
/// ([`Usage::packs`]), on one with idle CPU on which least memory is left, and a job that requires devices on one on which
/// fewest of these are left. `None` if not all tasks can be placed. The job must not be counted in `usage`. O(nodes + tasks log tasks).
///
/// What is preferred counts where all tasks of the job find idle CPU: of such nodes those that it
/// prefers come first, then those of the lowest weight; and if it is to have few of some sets of nodes,
/// sets are looked for that have idle CPU for all its tasks.
///
/// If the job may use only so many nodes, and the nodes of lowest load do not hold it, the nodes
/// that hold the most of its tasks are used. If it has to use so many nodes, tasks go to further
/// nodes as soon as there are only as many left as nodes are missing. If it has a rule about which
/// nodes it may have together, sets of nodes that keep it are tried one after the other.
pub(crate) fn place(cluster: &Cluster, usage: &Usage, job: &Job) -> Option<Mapping> {
    if job.tasks == 0 || job.layout.tasks_per_node() == 0 {
        return None;
    }
    if let Some(rule) = &job.layout.together {
        return grouped::place_grouped(cluster, usage, job, rule);
    }
    if let Some(found) = grouped::place_in_few(cluster, usage, job) {
        return Some(found);
    }
    if usage.has_preferences(job)
        && let Some(found) = place_by_load(cluster, usage, job, true)
        && finds_idle(usage, job, &found)
    {
        return Some(found);
    }
    place_by_load(cluster, usage, job, false)
}

/// Places a job without a rule about its nodes, whether or not what is preferred is to count.
fn place_by_load(cluster: &Cluster, usage: &Usage, job: &Job, preferring: bool) -> Option<Mapping> {
    let nodes = candidates(usage, job, preferring);
    let limited = job.layout.nodes() < nodes.len();
    fill(usage, job, nodes).or_else(|| {
        if limited {
            place_on_roomiest(cluster, usage, job, preferring)
        } else {
            None
        }
    })
}

/// Whether the job would wait for no CPU there.
fn finds_idle(usage: &Usage, job: &Job, mapping: &Mapping) -> bool {
    mapping
        .iter()
        .all(|run| usage.load(run.node) + job.cpu_of(run) <= usage.cpu(run.node))
}

/// Where the node stands in what is preferred, for a job without a task there.
fn preferred(usage: &Usage, job: &Job, node: NodeIndex) -> PreferredNode {
    let most_nodes = u32::try_from(job.layout.nodes()).unwrap_or(u32::MAX);
    let at_once = job.tasks.div_ceil(most_nodes.max(1));
    PreferredNode {
        preference: usage.preference(job, node),
        further: job.cpu.times(at_once.saturating_sub(1)),
    }
}

/// The nodes that the job's layout allows, ascending.
pub(crate) fn all_nodes<'a>(
    cluster: &'a Cluster,
    job: &'a Job,
) -> impl Iterator<Item = NodeIndex> + 'a {
    let count = u32::try_from(cluster.nodes.len()).unwrap_or(u32::MAX);
    let (listed, every) = match &job.layout.eligible {
        Some(nodes) => (&**nodes, 0),
        None => (&[][..], count),
    };
    listed
        .iter()
        .copied()
        .filter(move |node| node.0 < count)
        .chain((0..every).map(NodeIndex))
}

/// The nodes that take at least one task now, at most as many as the job has tasks: those of the
/// lowest load, because only they can be chosen.
fn candidates(usage: &Usage, job: &Job, preferring: bool) -> Vec<NodeCandidate> {
    let mut best = BestNodes::of(job.tasks as usize, usage.nodes());
    let is_packed = usage.packs(job);
    usage.each_taker(job, |node, load, capacity| {
        best.add(NodeCandidate {
            load_after: load + job.cpu,
            capacity,
            node,
            tasks: 0,
            preferred: preferring.then(|| preferred(usage, job, node)),
            packed: is_packed.then(|| Packed {
                left: usage.memory_left(node).minus(job.memory_on(1)),
                each: job.memory,
            }),
            devices_left: usage.devices_left(job, node),
        });
    });
    best.into_vec()
}

/// Takes the best candidate for one task after the other.
fn fill(usage: &Usage, job: &Job, nodes: Vec<NodeCandidate>) -> Option<Mapping> {
    if take_one_each(job, &nodes) {
        return Some(one_each(&nodes));
    }
    let max_per_node = job.layout.tasks_per_node();
    let limit = usage.limit(job);
    let mut nodes_left = job.layout.nodes();
    let mut nodes_missing = job.layout.least_nodes().min(job.tasks);
    let mut runs = Vec::with_capacity(nodes.len());
    let mut heap = BinaryHeap::from(nodes);
    let mut missing = job.tasks;
    while missing > 0 {
        let mut best = heap.peek_mut()?;
        if best.tasks == 0 {
            if nodes_left == 0 {
                PeekMut::pop(best);
                continue;
            }
            nodes_left -= 1;
            nodes_missing = nodes_missing.saturating_sub(1);
        } else if missing <= nodes_missing {
            // What is left is for other nodes.
            let full = PeekMut::pop(best);
            runs.push(full.run(full.tasks));
            continue;
        }
        missing -= 1;
        let next = best.after(job);
        let run = |tasks| next.run(tasks);
        if next.tasks < max_per_node && usage.fits_run(job, run(next.tasks + 1), limit) {
            *best = next;
        } else {
            PeekMut::pop(best);
            runs.push(run(next.tasks));
        }
    }
    runs.extend(heap.into_iter().map(|left| left.run(left.tasks)));
    Some(Mapping::new(runs))
}

/// Whether each of the candidates takes one task, and none a second one: there are as many as
/// tasks, and a second task would come after the first one of all others.
fn take_one_each(job: &Job, nodes: &[NodeCandidate]) -> bool {
    let enough = nodes.len() == job.tasks as usize && job.layout.nodes() >= nodes.len();
    enough
        && nodes.iter().min().is_some_and(|last| {
            let mut others = nodes.iter().filter(|candidate| *candidate != last);
            others.all(|candidate| candidate.after(job) < *last)
        })
}

/// One task on each of the nodes.
fn one_each(nodes: &[NodeCandidate]) -> Mapping {
    nodes.iter().map(|candidate| candidate.run(1)).collect()
}

/// Places a job that may use only so many nodes on those that hold the most of its tasks (ties: the
/// lower load): if any set of that many nodes holds it, these do.
fn place_on_roomiest(
    cluster: &Cluster,
    usage: &Usage,
    job: &Job,
    preferring: bool,
) -> Option<Mapping> {
    let limit = usage.limit(job);
    let mut rooms: Vec<(u32, NodeCandidate)> = all_nodes(cluster, job)
        .filter_map(|node| {
            let slots = usage.slots(job, node, limit);
            let capacity = usage.cpu(node);
            let candidate = NodeCandidate {
                load_after: usage.load(node) + job.cpu,
                capacity,
                node,
                tasks: 0,
                preferred: preferring.then(|| preferred(usage, job, node)),
                packed: None,
                devices_left: usage.devices_left(job, node),
            };
            (slots > 0).then_some((slots, candidate))
        })
        .collect();
    rooms.sort_unstable_by(|one, other| other.cmp(one));
    rooms.truncate(job.layout.nodes());
    fill(
        usage,
        job,
        rooms.into_iter().map(|(_, candidate)| candidate).collect(),
    )
}

/// Whether the job's tasks could all be placed now. O(nodes), but only as many nodes are looked at
/// as it takes unless the job may use only so many, or has a rule about which it may have together.
pub(crate) fn could_place(cluster: &Cluster, usage: &Usage, job: &Job) -> bool {
    if job.layout.together.is_some() {
        return grouped::could_place_grouped(cluster, usage, job);
    }
    let limit = usage.limit(job);
    let slots = all_nodes(cluster, job).map(|node| usage.slots(job, node, limit));
    let wanted = u64::from(job.tasks);
    let least_nodes = job.layout.least_nodes().min(job.tasks) as usize;
    if least_nodes <= 1 && job.layout.nodes() >= cluster.nodes.len() {
        let mut found = 0;
        return wanted > 0
            && slots.into_iter().any(|slots| {
                found += u64::from(slots);
                found >= wanted
            });
    }
    let mut slots: Vec<u32> = slots.collect();
    slots.sort_unstable_by(|one, other| other.cmp(one));
    slots.truncate(job.layout.nodes());
    let takers = slots.iter().filter(|slots| **slots > 0).count();
    wanted > 0
        && takers >= least_nodes
        && slots.iter().map(|slots| u64::from(*slots)).sum::<u64>() >= wanted
}

/// How many tasks of a job each node takes, kept up to date while others are paused for
/// it.
pub(crate) struct TaskSlots<'a> {
    job: &'a Job,
    limit: LoadLimit,
    /// How many tasks each node takes.
    slots: Vec<u32>,
    /// The sum of `slots`.
    total: u64,
    /// How many nodes take so many tasks; for a job that may use only so many.
    nodes: Option<BTreeMap<u32, u64>>,
}

impl<'a> TaskSlots<'a> {
    /// O(nodes).
    pub(crate) fn new(cluster: &Cluster, usage: &Usage, job: &'a Job) -> Self {
        let limited = job.layout.nodes() < cluster.nodes.len();
        let mut room = Self {
            job,
            limit: usage.limit(job),
            slots: vec![0; cluster.nodes.len()],
            total: 0,
            nodes: limited.then(BTreeMap::new),
        };
        all_nodes(cluster, job).for_each(|node| room.update(usage, node));
        room
    }

    /// Looks at a node again. O(1), O(log nodes) for a job that may use only so many nodes.
    pub(crate) fn update(&mut self, usage: &Usage, node: NodeIndex) {
        let now = usage.slots(self.job, node, self.limit);
        let before = std::mem::replace(&mut self.slots[node.index()], now);
        self.total = self.total - u64::from(before) + u64::from(now);
        let Some(nodes) = &mut self.nodes else { return };
        if let Some(count) = nodes.get_mut(&before).filter(|_| before > 0) {
            *count -= 1;
        }
        if now > 0 {
            *nodes.entry(now).or_insert(0) += 1;
        }
    }

    /// Whether the job could be placed: whether as many nodes as it may use, those that take most,
    /// take all its tasks. O(1), O(different numbers of tasks) for a job that may use only so many
    /// nodes; for a job with a rule about which nodes it may have together as [`suffice`].
    pub(crate) fn suffices(&self) -> bool {
        if self.job.layout.together.is_some() {
            return self.job.tasks > 0
                && self.total >= u64::from(self.job.tasks)
                && suffice(self.job, &self.slots);
        }
        let found = self
            .nodes
            .as_ref()
            .map_or(self.total, |nodes| self.max_tasks(nodes));
        self.job.tasks > 0 && found >= u64::from(self.job.tasks)
    }

    /// How many tasks go on as many nodes as the job may use, at most.
    fn max_tasks(&self, nodes: &BTreeMap<u32, u64>) -> u64 {
        let max_nodes = u64::try_from(self.job.layout.nodes()).unwrap_or(u64::MAX);
        let nodes = nodes.iter().rev();
        most_tasks(
            max_nodes,
            nodes.map(|(slots, nodes)| (u64::from(*slots), *nodes)),
        )
    }
}

/// What runs on a cluster's nodes, to place jobs beside it by Greedy (TPDS, Section 4.2) one after
/// the other.
#[derive(Clone, Debug)]
pub struct Occupancy<'a> {
    cluster: &'a Cluster,
    usage: Usage,
}

impl<'a> Occupancy<'a> {
    /// What runs on the cluster now. O(nodes + runs).
    pub fn of(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            usage: Usage::of(cluster, None),
        }
    }

    /// Where Greedy puts the job: each task on the node, of those that take it, on which the load
    /// after that task is the lowest; ties go to the lower index. On equal nodes this is the
    /// paper's node of the lowest load. Of nodes with idle CPU those come first that the job prefers,
    /// then those of the lowest weight. A node takes a task if it is up, its free memory and
    /// further rigid resources suffice, the job's layout allows it, and it has CPU if the task
    /// needs any.
    ///
    /// `None` if not all tasks find a place. The job must not be counted in. O(nodes + tasks log
    /// tasks).
    pub fn place(&self, job: &Job) -> Option<Mapping> {
        place(self.cluster, &self.usage, job)
    }

    /// Counts a job in that runs here from now on. O(runs).
    pub fn add(&mut self, job: &Job, mapping: &Mapping) {
        self.usage.add(job, mapping);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, JobState, Node, NodeState};
    use crate::node_set::NodeSet;
    use crate::policy::LoadCeiling;
    use crate::together::Together;
    use crate::units::{Amount, Bytes, Cores, Time};
    use proptest::prelude::*;

    fn cluster(nodes: &[(u64, u64)]) -> Cluster {
        let nodes = nodes
            .iter()
            .map(|(cpu, memory)| Node::new("n", Cores(*cpu), Bytes(*memory)))
            .collect();
        Cluster {
            nodes,
            jobs: Vec::new(),
        }
    }

    fn job(tasks: u32, cpu: u64, memory: u64) -> Job {
        Job::new(JobId(1), Time(0), tasks, Cores(cpu), Bytes(memory))
    }

    fn placed(cluster: &Cluster, job: &Job) -> Option<Vec<(u32, u32)>> {
        let mapping = place(cluster, &Usage::of(cluster, None), job)?;
        Some(mapping.iter().map(|run| (run.node.0, run.tasks)).collect())
    }

    #[test]
    fn tasks_spread_by_load_and_ties_go_to_the_first_node() {
        let cluster = cluster(&[(100, 100), (100, 100), (100, 100)]);
        assert_eq!(
            placed(&cluster, &job(4, 50, 10)),
            Some(vec![(0, 2), (1, 1), (2, 1)])
        );
    }

    #[test]
    fn a_second_task_comes_before_a_first_one_where_the_load_is_lower() {
        let mut cluster = cluster(&[(100, 100), (100, 100), (100, 100)]);
        for (id, node) in [(8, 0), (9, 2)] {
            let mut other = job(1, 50, 0);
            other.id = JobId(id);
            other.state = JobState::Running(Mapping::from_tasks([NodeIndex(node)]));
            cluster.insert(other);
        }
        assert_eq!(
            placed(&cluster, &job(3, 60, 5)),
            Some(vec![(0, 1), (1, 1), (2, 1)])
        );
        assert_eq!(placed(&cluster, &job(3, 40, 5)), Some(vec![(0, 1), (1, 2)]));
        // Of equal loads, the first node is taken.
        assert_eq!(placed(&cluster, &job(3, 50, 5)), Some(vec![(0, 1), (1, 2)]));
        assert_eq!(placed(&cluster, &job(2, 50, 5)), Some(vec![(0, 1), (1, 1)]));
        assert_eq!(placed(&cluster, &job(2, 0, 5)), Some(vec![(1, 2)]));
    }

    #[test]
    fn running_jobs_count_as_load_and_memory() {
        let mut cluster = cluster(&[(100, 100), (100, 100)]);
        let mut other = job(1, 100, 95);
        other.id = JobId(9);
        other.state = JobState::Running(Mapping::from_tasks([NodeIndex(0)]));
        cluster.insert(other);
        assert_eq!(placed(&cluster, &job(3, 10, 5)), Some(vec![(1, 3)]));
        assert_eq!(placed(&cluster, &job(3, 90, 5)), Some(vec![(0, 1), (1, 2)]));
        assert_eq!(placed(&cluster, &job(2, 90, 60)), None);
    }

    #[test]
    fn a_larger_node_has_a_lower_load() {
        let cluster = cluster(&[(100, 100), (300, 100)]);
        assert_eq!(placed(&cluster, &job(4, 50, 1)), Some(vec![(0, 1), (1, 3)]));
    }

    #[test]
    fn the_layout_is_kept() {
        let cluster = cluster(&[(100, 100), (100, 100), (100, 100)]);
        let mut wanted = job(4, 10, 10);
        wanted.layout.max_nodes = Some(2);
        assert_eq!(placed(&cluster, &wanted), Some(vec![(0, 2), (1, 2)]));
        wanted.layout.eligible = Some(NodeSet::from_iter([NodeIndex(2)]));
        assert_eq!(placed(&cluster, &wanted), Some(vec![(2, 4)]));
        wanted.layout.max_tasks_per_node = Some(3);
        assert_eq!(placed(&cluster, &wanted), None);
        wanted.layout.eligible = Some([1, 2, 7].map(NodeIndex).into_iter().collect());
        assert_eq!(placed(&cluster, &wanted), Some(vec![(1, 2), (2, 2)]));
    }

    #[test]
    fn few_nodes_are_found_even_if_the_least_loaded_are_too_small() {
        let mut cluster = cluster(&[(100, 20), (100, 100), (100, 20)]);
        let mut other = job(1, 100, 0);
        other.id = JobId(9);
        other.state = JobState::Running(Mapping::from_tasks([NodeIndex(1)]));
        cluster.insert(other);
        let mut wanted = job(6, 1, 10);
        wanted.layout.max_nodes = Some(1);
        assert_eq!(placed(&cluster, &wanted), Some(vec![(1, 6)]));
        wanted.tasks = 12;
        wanted.layout.max_nodes = Some(2);
        assert_eq!(placed(&cluster, &wanted), Some(vec![(0, 2), (1, 10)]));
        let usage = Usage::of(&cluster, None);
        assert!(could_place(&cluster, &usage, &wanted));
        wanted.tasks = 13;
        assert_eq!(placed(&cluster, &wanted), None);
        assert!(!could_place(&cluster, &usage, &wanted));
        wanted.tasks = 0;
        assert!(!could_place(&cluster, &usage, &wanted));
    }

    #[test]
    fn memory_per_node_counts_once_a_node() {
        let cluster = cluster(&[(100, 100), (100, 59)]);
        let mut wanted = job(2, 10, 10);
        wanted.memory_per_node = Bytes(50);
        assert_eq!(placed(&cluster, &wanted), Some(vec![(0, 2)]));
        wanted.tasks = 6;
        assert_eq!(placed(&cluster, &wanted), None);
    }

    #[test]
    fn draining_and_down_nodes_and_held_memory_are_avoided() {
        let mut cluster = cluster(&[(100, 100), (100, 100), (100, 100)]);
        cluster.nodes[0].state = NodeState::Draining;
        cluster.nodes[1].state = NodeState::Down;
        cluster.nodes[2].held_memory = Bytes(70);
        assert_eq!(placed(&cluster, &job(3, 10, 10)), Some(vec![(2, 3)]));
        assert_eq!(placed(&cluster, &job(4, 10, 10)), None);
    }

    #[test]
    fn devices_per_node_count_once_a_node() {
        let mut cluster = cluster(&[(100, 100), (100, 100)]);
        cluster.nodes[0].rigid = vec![Amount(1)];
        cluster.nodes[1].rigid = vec![Amount(3)];
        let mut wanted = job(4, 10, 5);
        wanted.rigid_per_node = vec![Amount(1)];
        // On one node all tasks need one device together.
        assert_eq!(placed(&cluster, &wanted), Some(vec![(0, 4)]));
        wanted.rigid_per_node = vec![Amount(2)];
        assert_eq!(placed(&cluster, &wanted), Some(vec![(1, 4)]));
        // Once on the node, and one more for each task.
        wanted.rigid = vec![Amount(1)];
        assert_eq!(placed(&cluster, &wanted), None);
        wanted.tasks = 1;
        assert_eq!(placed(&cluster, &wanted), Some(vec![(1, 1)]));
        wanted.rigid_per_node = vec![Amount(4)];
        let usage = Usage::of(&cluster, None);
        assert!(placed(&cluster, &wanted).is_none() && !could_place(&cluster, &usage, &wanted));
    }

    #[test]
    fn job_with_devices_leaves_nodes_whole_for_others() {
        let mut cluster = cluster(&[(10, 100), (10, 100), (10, 100)]);
        for (node, devices) in cluster.nodes.iter_mut().zip([4, 2, 0]) {
            node.rigid = vec![Amount(devices)];
        }
        let devices = |per_task, per_node, tasks| {
            let mut job = Job::new(JobId(1), Time(0), tasks, Cores(1), Bytes(1));
            (job.rigid, job.rigid_per_node) = (vec![Amount(per_task)], vec![Amount(per_node)]);
            let mapping = Occupancy::of(&cluster).place(&job).expect("a place");
            let runs: Vec<(u32, u32)> = mapping.iter().map(|run| (run.node.0, run.tasks)).collect();
            runs
        };
        assert_eq!(devices(1, 0, 2), [(1, 2)]);
        assert_eq!(devices(1, 0, 3), [(0, 1), (1, 2)]);
        assert_eq!(devices(0, 2, 4), [(1, 4)]);
        assert_eq!(devices(3, 0, 1), [(0, 1)]);
        assert_eq!(devices(0, 0, 3), [(0, 1), (1, 1), (2, 1)]);
    }

    #[test]
    fn every_further_rigid_resource_must_suffice() {
        let mut cluster = cluster(&[(100, 100), (100, 100)]);
        cluster.nodes[0].rigid = [1, 0].map(Amount).to_vec();
        cluster.nodes[1].rigid = [1, 1].map(Amount).to_vec();
        let mut wanted = job(1, 10, 10);
        wanted.rigid = [1, 1].map(Amount).to_vec();
        assert_eq!(placed(&cluster, &wanted), Some(vec![(1, 1)]));
        cluster.nodes.pop();
        assert_eq!(placed(&cluster, &wanted), None);
    }

    #[test]
    fn jobs_without_tasks_or_beyond_every_node_are_not_placed() {
        let cluster = cluster(&[(100, 100)]);
        assert_eq!(placed(&cluster, &job(0, 10, 10)), None);
        assert_eq!(placed(&cluster, &job(1, 10, 101)), None);
        assert_eq!(placed(&cluster, &job(3, 10, 0)), Some(vec![(0, 3)]));
        let mut nowhere = job(1, 10, 0);
        nowhere.layout.max_tasks_per_node = Some(0);
        assert_eq!(placed(&cluster, &nowhere), None);
    }

    #[test]
    fn job_without_cpu_need_fits_on_an_overloaded_node() {
        let mut cluster = cluster(&[(100, 100)]);
        let mut running = job(1, 150, 10);
        running.state = JobState::Running(Mapping::from_tasks([NodeIndex(0)]));
        cluster.jobs.push(running);
        let usage = Usage::of(&cluster, Some(LoadCeiling::from_percent(100)));
        for (cpu, fits) in [(0, true), (1, false)] {
            let wanted = job(1, cpu, 10);
            assert_eq!(could_place(&cluster, &usage, &wanted), fits);
            assert_eq!(place(&cluster, &usage, &wanted).is_some(), fits);
        }
    }

    #[test]
    fn occupancy_includes_added_jobs() {
        let cluster = cluster(&[(100, 100), (100, 100)]);
        let mut occupancy = Occupancy::of(&cluster);
        let wanted = job(1, 50, 60);
        for node in [0, 1] {
            let found = occupancy.place(&wanted).unwrap();
            assert_eq!(found, Mapping::from_tasks([NodeIndex(node)]));
            occupancy.add(&wanted, &found);
        }
        assert_eq!(occupancy.place(&wanted), None);
    }

    /// Three nodes, the last one with load, and what places of this job use of them.
    fn placed_beside_load(prepare: impl Fn(&mut Cluster, &mut Job)) -> Option<Vec<(u32, u32)>> {
        let mut cluster = cluster(&[(100, 100), (100, 100), (100, 100)]);
        let mut other = job(1, 60, 10);
        other.id = JobId(9);
        other.state = JobState::Running(Mapping::from_tasks([NodeIndex(2)]));
        cluster.insert(other);
        let mut wanted = job(2, 40, 10);
        prepare(&mut cluster, &mut wanted);
        placed(&cluster, &wanted)
    }

    #[test]
    fn nodes_of_lowest_weight_are_taken_first_while_they_have_idle_cpu() {
        let with_weights = |weights: [u32; 3]| {
            placed_beside_load(|cluster, _| {
                for (node, weight) in cluster.nodes.iter_mut().zip(weights) {
                    node.weight = weight;
                }
            })
        };
        assert_eq!(with_weights([7, 7, 7]), Some(vec![(0, 1), (1, 1)]));
        assert_eq!(with_weights([2, 1, 2]), Some(vec![(1, 2)]));
        assert_eq!(with_weights([2, 3, 1]), Some(vec![(0, 1), (2, 1)]));
    }

    #[test]
    fn preferred_nodes_are_taken_before_those_of_lower_weight() {
        let found = placed_beside_load(|cluster, wanted| {
            cluster.nodes[2].weight = 9;
            wanted.layout.preferred = Some([NodeIndex(2)].into_iter().collect());
        });
        assert_eq!(found, Some(vec![(0, 1), (2, 1)]));
    }

    #[test]
    fn job_with_devices_takes_preferred_nodes_first() {
        let mut cluster = cluster(&[(100, 100), (100, 100)]);
        for (node, devices) in cluster.nodes.iter_mut().zip([1, 4]) {
            node.rigid = vec![Amount(devices)];
        }
        let mut wanted = job(1, 10, 10);
        wanted.rigid = vec![Amount(1)];
        assert_eq!(placed(&cluster, &wanted), Some(vec![(0, 1)]));
        wanted.layout.preferred = Some([NodeIndex(1)].into_iter().collect());
        assert_eq!(placed(&cluster, &wanted), Some(vec![(1, 1)]));
    }

    /// Where three tasks go, a node each, of six nodes in groups of three, with so much load.
    fn placed_in_few(load: [u64; 6], prepare: impl Fn(&mut Cluster)) -> Option<Vec<(u32, u32)>> {
        let mut cluster = cluster(&[(100, 100); 6]);
        for (node, load) in (0..).zip(load) {
            let mut other = job(1, load, 0);
            other.id = JobId(u64::from(node) + 9);
            other.state = JobState::Running(Mapping::from_tasks([NodeIndex(node)]));
            cluster.insert(other);
        }
        prepare(&mut cluster);
        let mut wanted = job(3, 40, 10);
        wanted.layout.max_tasks_per_node = Some(1);
        let set = |nodes: [u32; 3]| nodes.map(NodeIndex).into_iter().collect::<NodeSet>();
        wanted.layout.few_of = Some([[0, 1, 2], [3, 4, 5]].map(set).into_iter().collect());
        placed(&cluster, &wanted)
    }

    #[test]
    fn job_has_nodes_of_few_groups_where_they_have_idle_cpu() {
        let first = Some(vec![(0, 1), (1, 1), (2, 1)]);
        let last = Some(vec![(3, 1), (4, 1), (5, 1)]);
        assert_eq!(placed_in_few([20, 0, 0, 0, 10, 10], |_| {}), first);
        assert_eq!(placed_in_few([0, 0, 70, 10, 10, 10], |_| {}), last);
        // No group has idle CPU for all: as without groups.
        let both = placed_in_few([0, 0, 70, 10, 70, 70], |_| {});
        assert_eq!(both, Some(vec![(0, 1), (1, 1), (3, 1)]));
        let busy = placed_in_few([70, 80, 90, 70, 80, 70], |_| {});
        assert_eq!(busy, Some(vec![(0, 1), (3, 1), (5, 1)]));
    }

    #[test]
    fn weights_count_before_groups() {
        let found = placed_in_few([0; 6], |cluster| {
            for (node, weight) in cluster.nodes.iter_mut().zip([2, 2, 2, 1, 1, 1]) {
                node.weight = weight;
            }
        });
        assert_eq!(found, Some(vec![(3, 1), (4, 1), (5, 1)]));
    }

    /// Nodes that each take so many tasks, and a job of six tasks on two nodes.
    fn six_tasks_on(slots: &[u64], most: u32, groups: &[&[u32]]) -> Option<Vec<(u32, u32)>> {
        let nodes: Vec<(u64, u64)> = slots.iter().map(|slots| (100, slots * 10)).collect();
        let set = |nodes: &&[u32]| nodes.iter().copied().map(NodeIndex).collect::<NodeSet>();
        let mut wanted = job(6, 1, 10);
        wanted.layout.max_nodes = Some(2);
        wanted.layout.together = Some(Together::AtMost(most, groups.iter().map(set).collect()));
        placed(&cluster(&nodes), &wanted)
    }

    #[test]
    fn groups_are_found_that_do_not_take_most_alone() {
        let groups: &[&[u32]] = &[&[0, 1], &[2], &[3]];
        for most in [2, 3] {
            let found = six_tasks_on(&[2, 2, 3, 3], most, groups);
            assert_eq!(found, Some(vec![(2, 3), (3, 3)]), "{most}");
        }
        assert_eq!(six_tasks_on(&[2, 2, 3, 3], 1, groups), None);
        assert_eq!(six_tasks_on(&[2, 2, 3, 2], 3, groups), None);
    }

    /// Nodes with 100 CPU, and jobs of one task each on some of them.
    fn occupied() -> impl Strategy<Value = Cluster> {
        let node = (0u64..100).prop_map(|memory| Node::new("", Cores(100), Bytes(memory)));
        let nodes = proptest::collection::vec(node, 1..8);
        let running = proptest::collection::vec((0u64..60, 0u64..50, 0u32..8), 0..12);
        (nodes, running).prop_map(|(nodes, running)| {
            let count = u32::try_from(nodes.len()).unwrap();
            let jobs = (0..).zip(running).map(|(id, (cpu, memory, node))| {
                let mut job = Job::new(JobId(id), Time(0), 1, Cores(cpu), Bytes(memory));
                let mapping = Mapping::from_tasks([NodeIndex(node % count)]);
                job.state = JobState::Running(mapping);
                job
            });
            Cluster {
                nodes,
                jobs: jobs.collect(),
            }
        })
    }

    /// Two runs of nodes, or those of two of three groups at most.
    fn together() -> impl Strategy<Value = Together> {
        let set = |nodes: &[u32]| nodes.iter().copied().map(NodeIndex).collect::<NodeSet>();
        let groups = move |lists: &[&[u32]]| lists.iter().map(|list| set(list)).collect();
        prop_oneof![
            Just(Together::Consecutive(groups(&[&[0, 1, 2, 3], &[4, 5, 6]]))),
            Just(Together::AtMost(
                1,
                groups(&[&[0, 1], &[2, 3, 4], &[5, 6, 7]])
            )),
            Just(Together::AtMost(2, groups(&[&[0, 4], &[1, 3, 5], &[2]]))),
        ]
    }

    /// Whether any nodes that the job may have together hold it, by trying all sets of nodes.
    fn fits_somewhere(cluster: &Cluster, usage: &Usage, job: &Job, rule: &Together) -> bool {
        let limit = usage.limit(job);
        let count = cluster.nodes.len();
        (1u32..1 << count).any(|chosen| {
            let nodes = (0..).map(NodeIndex).take(count);
            let set: Vec<NodeIndex> = nodes.filter(|node| chosen >> node.0 & 1 == 1).collect();
            let slots = set.iter().map(|node| usage.slots(job, *node, limit));
            let slots: Vec<u32> = slots.collect();
            let is_used = slots.iter().all(|slots| *slots > 0) && set.len() <= job.tasks as usize;
            let tasks: u64 = slots.iter().map(|slots| u64::from(*slots)).sum();
            is_used
                && tasks >= u64::from(job.tasks)
                && set.len() <= job.layout.nodes()
                && set.len() >= (job.layout.least_nodes().min(job.tasks)) as usize
                && set
                    .iter()
                    .all(|node| rule.groups().iter().any(|group| group.contains(*node)))
                && rule.allows(&Mapping::from_tasks(set))
        })
    }

    fn wanted() -> impl Strategy<Value = Job> {
        let layout = (
            proptest::option::weighted(0.3, 0u32..4),
            proptest::option::weighted(0.6, 0u32..6),
            proptest::option::weighted(0.3, 0u32..4),
            proptest::option::weighted(0.5, together()),
        );
        (0u32..10, 0u64..60, 1u64..60, layout).prop_map(
            |(tasks, cpu, memory, (max_tasks_per_node, max_nodes, min_nodes, together))| {
                let mut wanted = job(tasks, cpu, memory);
                // What nodes are used at least is looked at where the job is placed.
                // Slurm refuses a job whose bounds contradict each other.
                let is_possible = |min: &u32| max_nodes.is_none_or(|max| *min <= max);
                let min_nodes = min_nodes.filter(is_possible);
                wanted.layout.min_nodes = min_nodes.filter(|_| together.is_some());
                wanted.layout.together = together;
                wanted.layout.max_tasks_per_node = max_tasks_per_node;
                wanted.layout.max_nodes = max_nodes;
                wanted
            },
        )
    }

    proptest! {
        #[test]
        fn preferences_cost_no_job_its_start_and_none_idle_cpu(
            cluster in occupied(),
            wanted in wanted(),
            weights in proptest::collection::vec(0u32..3, 8),
            preferred in proptest::collection::vec(0u32..8, 0..4),
        ) {
            let plain = place(&cluster, &Usage::of(&cluster, None), &wanted);
            let mut preferring = cluster.clone();
            for (node, weight) in preferring.nodes.iter_mut().zip(weights) {
                node.weight = weight;
            }
            let mut job = wanted.clone();
            job.layout.preferred = Some(preferred.into_iter().map(NodeIndex).collect());
            let sets = [[0, 3], [1, 2], [5, 6]].map(|set| set.map(NodeIndex).into_iter().collect());
            job.layout.few_of = Some(sets.into_iter().collect());
            let found = place(&preferring, &Usage::of(&preferring, None), &job);
            prop_assert_eq!(found.is_some(), plain.is_some());
            let busy = |mapping: &Mapping| {
                let mut usage = Usage::of(&cluster, None);
                usage.add(&wanted, mapping);
                mapping.nodes().any(|node| usage.load(node) > usage.cpu(node))
            };
            let is_worse = found.as_ref().is_some_and(busy) && !plain.as_ref().is_some_and(busy);
            prop_assert!(!is_worse, "{found:?} {plain:?}");
        }

        #[test]
        fn task_slots_match_usage_after_updates(cluster in occupied(), wanted in wanted(), ceiling in 100u32..300) {
            let mut usage = Usage::of(&cluster, Some(LoadCeiling::from_percent(ceiling)));
            let mut room = TaskSlots::new(&cluster, &usage, &wanted);
            let check = |room: &TaskSlots<'_>, usage: &Usage| {
                let could = could_place(&cluster, usage, &wanted);
                let found = place(&cluster, usage, &wanted);
                prop_assert_eq!(could, found.is_some());
                prop_assert_eq!(room.suffices(), could);
                let Some(rule) = &wanted.layout.together else { return Ok(()) };
                prop_assert!(found.as_ref().is_none_or(|mapping| rule.allows(mapping)));
                let exists = fits_somewhere(&cluster, usage, &wanted, rule);
                prop_assert_eq!(could, exists);
                Ok(())
            };
            check(&room, &usage)?;
            for job in &cluster.jobs {
                let mapping = job.running_on().unwrap();
                usage.remove(job, mapping);
                mapping.nodes().for_each(|node| room.update(&usage, node));
                check(&room, &usage)?;
            }
        }
    }
}
