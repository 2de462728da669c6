//! MCB8 as plainly as it can be written: one task after the other, every list scanned from its
//! start. The fast packing must return the same mapping, ties included.

use crate::model::{Job, Mapping, NodeIndex, Run};
use crate::units::Amount;

use super::{Fraction, Packing};

impl Packing<'_> {
    /// As [`Packing::search`], with every step written out.
    pub(super) fn plain_search(&self) -> Option<(Fraction, Vec<Mapping>)> {
        let mut best = None;
        super::bisect(self.least, |at| {
            let found = self
                .allows(self.grace, at)
                .then(|| self.plain_pack(at))
                .flatten();
            let feasible = found.is_some();
            if let Some(found) = found {
                best = Some((at, found));
            }
            feasible
        });
        best
    }

    /// The mapping of every job at this yield, if MCB8 finds one.
    fn plain_pack(&self, at: Fraction) -> Option<Vec<Mapping>> {
        let mut missing: Vec<u32> = self.jobs.iter().map(|job| job.tasks).collect();
        let mut nodes_used = vec![0; self.jobs.len()];
        let mut runs = vec![Vec::new(); self.jobs.len()];
        let mut lists: Vec<((u128, u128), SizeLists)> = Vec::new();
        for (place, node) in (0..).map(NodeIndex).zip(&self.cluster.nodes) {
            if !node.is_up() {
                continue;
            }
            let mut bin = ReferenceBin::new(self, place, at);
            let shape = (bin.cpu_capacity, bin.memory_capacity);
            let known = lists
                .iter()
                .position(|(known, _)| *known == shape)
                .unwrap_or_else(|| {
                    lists.push((shape, bin.lists()));
                    lists.len() - 1
                });
            bin.fill(&lists[known].1, &mut missing, &mut nodes_used);
            for (job, tasks) in bin.taken {
                runs[job].push(Run { node: place, tasks });
            }
        }
        if missing.iter().any(|tasks| *tasks > 0) {
            return None;
        }
        Some(runs.into_iter().map(Mapping::new).collect())
    }
}

/// Jobs that need more CPU than memory, and the others, in MCB8's order.
type SizeLists = [Vec<usize>; 2];

/// One node while it is filled.
struct ReferenceBin<'a> {
    jobs: &'a [&'a Job],
    node: NodeIndex,
    at: Fraction,
    /// CPU requirements and capacity times the yield's denominator.
    cpu_used: u128,
    cpu_capacity: u128,
    memory_used: u128,
    memory_capacity: u128,
    rigid_left: Vec<Amount>,
    /// Jobs, and how many of their tasks were put here.
    taken: Vec<(usize, u32)>,
}

impl<'a> ReferenceBin<'a> {
    fn new(packing: &Packing<'a>, node: NodeIndex, at: Fraction) -> Self {
        let place = &packing.cluster.nodes[node.index()];
        Self {
            jobs: packing.jobs,
            node,
            at,
            cpu_used: u128::from(packing.pinned.load(node).0) * u128::from(at.numerator),
            cpu_capacity: u128::from(place.cpu.0) * u128::from(at.denominator),
            memory_used: u128::from(packing.pinned.memory(node).0),
            memory_capacity: u128::from(place.memory.0),
            rigid_left: packing.pinned.rigid_left(node),
            taken: Vec::new(),
        }
    }

    /// Takes tasks until none fits: against the current imbalance first.
    fn fill(
        &mut self,
        [by_cpu, by_memory]: &SizeLists,
        missing: &mut [u32],
        nodes_used: &mut [u32],
    ) {
        loop {
            let cpu_is_lower =
                self.cpu_used * self.memory_capacity <= self.memory_used * self.cpu_capacity;
            let lists = if cpu_is_lower {
                [by_cpu, by_memory]
            } else {
                [by_memory, by_cpu]
            };
            let found = lists.into_iter().flatten().find_map(|job| {
                let tasks = self.chunk(*job, missing[*job], nodes_used[*job]);
                (tasks > 0 && self.fits(*job, tasks)).then_some((*job, tasks))
            });
            let Some((job, tasks)) = found else { return };
            self.take(job, tasks, nodes_used);
            missing[job] -= tasks;
        }
    }

    /// The jobs with more CPU than memory requirement by this node's capacities, and the others,
    /// each descending by the larger requirement, then the smaller, then identity.
    fn lists(&self) -> SizeLists {
        let cpu = |job: usize| self.jobs[job].cpu;
        let memory = |job: usize| self.jobs[job].memory_on(1);
        let id = |job: usize| self.jobs[job].id;
        let (mut by_cpu, mut by_memory): (Vec<usize>, Vec<usize>) =
            (0..self.jobs.len()).partition(|job| {
                let cpu = u128::from(cpu(*job).0) * u128::from(self.at.numerator);
                cpu * self.memory_capacity > u128::from(memory(*job).0) * self.cpu_capacity
            });
        by_cpu.sort_unstable_by_key(|job| std::cmp::Reverse((cpu(*job), memory(*job), id(*job))));
        by_memory.sort_unstable_by_key(|job| {
            std::cmp::Reverse((memory(*job), cpu(*job), id(*job), *job))
        });
        [by_cpu, by_memory]
    }

    /// How many tasks of the job are put here at once: one, unless it is new here and the nodes
    /// that it may still use would then not suffice.
    fn chunk(&self, job: usize, missing: u32, nodes_used: u32) -> u32 {
        let is_here = self.taken.iter().any(|(taken, _)| *taken == job);
        match self.jobs[job].layout.max_nodes {
            Some(max_nodes) if !is_here && max_nodes <= nodes_used => 0,
            Some(max_nodes) if !is_here => missing.div_ceil(max_nodes - nodes_used),
            _ => missing.min(1),
        }
    }

    fn fits(&self, job: usize, tasks: u32) -> bool {
        let wanted = &self.jobs[job];
        let here = self
            .taken
            .iter()
            .find(|(taken, _)| *taken == job)
            .map_or(0, |(_, tasks)| *tasks);
        let total = here.saturating_add(tasks);
        let cpu = u128::from(wanted.cpu.0) * u128::from(self.at.numerator) * u128::from(tasks);
        let memory = u128::from(wanted.memory_on(total).0) - u128::from(wanted.memory_on(here).0);
        total <= wanted.layout.tasks_per_node()
            && self.memory_used + memory <= self.memory_capacity
            && (cpu == 0 || self.cpu_used + cpu <= self.cpu_capacity)
            && (0..wanted.rigid_kinds()).all(|kind| {
                let left = self.rigid_left.get(kind).copied().unwrap_or_default();
                wanted.rigid_on(total, kind).0 - wanted.rigid_on(here, kind).0 <= left.0
            })
            && wanted.layout.allows(self.node)
            && (wanted.cpu.is_zero() || self.cpu_capacity > 0)
    }

    fn take(&mut self, job: usize, tasks: u32, nodes_used: &mut [u32]) {
        let wanted = &self.jobs[job];
        self.cpu_used +=
            u128::from(wanted.cpu.0) * u128::from(self.at.numerator) * u128::from(tasks);
        let here = self.taken.iter().find(|(taken, _)| *taken == job);
        let here = here.map_or(0, |(_, here)| *here);
        for (kind, left) in self.rigid_left.iter_mut().enumerate() {
            left.0 -= wanted.rigid_on(here + tasks, kind).0 - wanted.rigid_on(here, kind).0;
        }
        match self.taken.iter_mut().find(|(taken, _)| *taken == job) {
            Some((_, here)) => {
                self.memory_used += u128::from(wanted.memory_on(*here + tasks).0)
                    - u128::from(wanted.memory_on(*here).0);
                *here += tasks;
            }
            None => {
                self.memory_used += u128::from(wanted.memory_on(tasks).0);
                self.taken.push((job, tasks));
                nodes_used[job] += 1;
            }
        }
    }
}
