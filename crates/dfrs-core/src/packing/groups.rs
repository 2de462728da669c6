//! Jobs of equal requirements, packed as one.

use std::cmp::Reverse;

use crate::model::Job;

/// No CPU need or capacity is taken to be larger than this many millionths of a core (a million
/// cores), so that products with the parts of a yield cannot overflow.
pub(super) const LARGEST_CPU: u64 = 1 << 40;

/// Some jobs that are equal for the packing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// CPU need of one task.
    pub(super) cpu: u64,
    /// Memory requirement of one task.
    pub(super) memory: u64,
    /// Memory requirement of the first task on a node.
    pub(super) first_memory: u64,
    /// Number of tasks of all jobs.
    pub(super) tasks: u64,
    /// Place of its first job in [`Groups::members`]; the others follow.
    pub(super) first: usize,
    /// The one job of the group has rules that groups do not have: a layout, or rigid resources.
    pub(super) special: bool,
}

/// All jobs, in groups.
pub(super) struct Groups {
    /// Descending by CPU need, then memory requirement, then identity.
    pub(super) groups: Vec<Group>,
    /// Positions of groups, descending by memory requirement, then CPU need, then identity.
    pub(super) by_memory: Vec<usize>,
    /// Positions of jobs in the order in which their tasks are placed.
    pub(super) members: Vec<usize>,
}

impl Groups {
    /// The groups of these jobs, given the CPU need of one task of each. O(jobs log jobs).
    pub(super) fn new(jobs: &[&Job], cpu: &[u64]) -> Self {
        let mut order: Vec<(u64, u64, u64, usize)> = jobs
            .iter()
            .enumerate()
            .map(|(place, job)| {
                (
                    cpu[place],
                    (job.memory + job.memory_per_node).0,
                    job.id.0,
                    place,
                )
            })
            .collect();
        order.sort_unstable_by_key(|job| Reverse(*job));
        let members: Vec<usize> = order.into_iter().map(|(.., place)| place).collect();
        let mut groups: Vec<Group> = Vec::new();
        for (at, place) in members.iter().enumerate() {
            let single = Group::of(jobs[*place], cpu[*place], at);
            match groups.last_mut() {
                Some(last) if last.takes(&single) => {
                    last.tasks += single.tasks;
                }
                _ => groups.push(single),
            }
        }
        let mut by_memory: Vec<usize> = (0..groups.len()).collect();
        // Stable: equal requirements stay in the order of identities.
        by_memory.sort_by_key(|group| Reverse((groups[*group].first_memory, groups[*group].cpu)));
        Self {
            groups,
            by_memory,
            members,
        }
    }
}

impl Group {
    fn of(job: &Job, cpu: u64, member: usize) -> Self {
        let layout = &job.layout;
        Self {
            cpu,
            memory: job.memory.0,
            first_memory: (job.memory + job.memory_per_node).0,
            tasks: u64::from(job.tasks),
            first: member,
            special: layout.max_tasks_per_node.is_some()
                || layout.max_nodes.is_some()
                || layout.eligible.is_some()
                || layout.together.is_some()
                || !job.memory_per_node.is_zero()
                || job.requires_devices(),
        }
    }

    /// Whether the other job's tasks are like this group's.
    fn takes(&self, other: &Self) -> bool {
        !self.special && !other.special && (self.cpu, self.memory) == (other.cpu, other.memory)
    }
}
