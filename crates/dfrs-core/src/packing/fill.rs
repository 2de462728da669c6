//! Filling nodes at one yield.

use crate::model::{Job, Mapping, Run};
use crate::units::Amount;

use super::bins::Bins;
use super::groups::{Group, Groups};
use super::list::{List, PackingEntry};
use super::{Fraction, Packing};

/// Tasks of a group that a node takes.
#[derive(Clone, Copy, Debug)]
struct Pick {
    group: usize,
    tasks: u64,
}

/// A number of equal nodes in a row that take the same.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    /// The first bin.
    bin: usize,
    /// The number of bins.
    bins: usize,
    /// End of its picks; they start where those of the pattern before end.
    end: usize,
}

/// What nodes take, in the order of nodes.
#[derive(Debug, Default)]
pub(super) struct PackedNodes {
    picks: Vec<Pick>,
    patterns: Vec<Pattern>,
}

/// Fills nodes at one yield after another, reusing its memory.
pub(super) struct Filler<'a> {
    packing: &'a Packing<'a>,
    groups: &'a Groups,
    bins: &'a Bins,
    at: Fraction,
    /// Tasks of each group that are not placed yet.
    missing: Vec<u64>,
    /// Nodes that each group uses; kept for groups of a job that may use only so many.
    nodes_used: Vec<u32>,
    /// The CPU list and the memory list for each shape of bins.
    lists: Vec<[List; 2]>,
    /// Whether the lists are those of the present yield.
    listed: Vec<bool>,
    found: PackedNodes,
    memory_missing: u128,
    cpu_missing: u128,
    tasks_missing: u64,
}

/// A node while it is filled. CPU is times the yield's denominator.
struct OpenBin {
    bin: usize,
    cpu: u64,
    cpu_used: u64,
    memory: u64,
    memory_used: u64,
    rigid_left: Vec<Amount>,
    cursors: [Cursor; 2],
}

/// A place in a list; what is before it fits no more on this node.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    place: usize,
    /// The pick of the entry at `place`, once there is one.
    pick: Option<usize>,
}

impl<'a> Filler<'a> {
    pub(super) fn new(packing: &'a Packing<'a>, groups: &'a Groups, bins: &'a Bins) -> Self {
        Self {
            packing,
            groups,
            bins,
            at: Fraction::ONE,
            missing: Vec::with_capacity(groups.groups.len()),
            nodes_used: vec![0; groups.groups.len()],
            lists: bins.shapes.iter().map(|_| Default::default()).collect(),
            listed: vec![false; bins.shapes.len()],
            found: PackedNodes::default(),
            memory_missing: 0,
            cpu_missing: 0,
            tasks_missing: 0,
        }
    }

    /// What the last packing found.
    pub(super) const fn found(&self) -> &PackedNodes {
        &self.found
    }

    /// Takes what the last packing found, and gives old memory to reuse.
    pub(super) fn swap_found(&mut self, other: &mut PackedNodes) {
        std::mem::swap(&mut self.found, other);
    }

    /// Whether all tasks find a place at this yield.
    pub(super) fn pack(&mut self, at: Fraction) -> bool {
        if self.packing.stop.is_due() {
            return false;
        }
        self.reset(at);
        let mut bin = 0;
        while bin < self.bins.bins.len() && self.tasks_missing > 0 {
            if self.cannot_fit(bin) {
                return false;
            }
            let start = self.found.picks.len();
            self.fill(bin);
            let bins = 1 + self.repetitions(start).min(self.bins.equal[bin] as u64 - 1);
            self.account(start, bins);
            let bins = usize::try_from(bins).unwrap_or(usize::MAX);
            self.found.patterns.push(Pattern {
                bin,
                bins,
                end: self.found.picks.len(),
            });
            bin += bins;
        }
        self.tasks_missing == 0
    }

    fn reset(&mut self, at: Fraction) {
        self.at = at;
        let groups = &self.groups.groups;
        self.missing.clear();
        self.missing.extend(groups.iter().map(|group| group.tasks));
        self.nodes_used.fill(0);
        self.listed.fill(false);
        self.found.picks.clear();
        self.found.patterns.clear();
        self.tasks_missing = self.missing.iter().sum();
        let sum = |need: fn(&Group) -> u64| {
            groups
                .iter()
                .map(|group| u128::from(need(group)) * u128::from(group.tasks))
                .sum()
        };
        self.memory_missing = sum(|group| group.memory);
        self.cpu_missing = sum(|group| group.cpu);
    }

    /// Whether the nodes from this one on have too little for the tasks that are left, even if no
    /// scrap of them stayed unused.
    fn cannot_fit(&self, bin: usize) -> bool {
        let needed = self
            .cpu_missing
            .saturating_mul(u128::from(self.at.numerator));
        self.memory_missing > self.bins.memory_from[bin]
            || needed > self.bins.cpu_from[bin].saturating_mul(u128::from(self.at.denominator))
    }

    /// How often what was just picked could be taken again. Jobs that may use only so many nodes
    /// take tasks in portions that depend on how many are left, so that they do not repeat.
    fn repetitions(&self, start: usize) -> u64 {
        let repeats = self.found.picks[start..].iter().map(|pick| {
            if self.job(pick.group).layout.max_nodes.is_some() {
                0
            } else {
                self.missing[pick.group] / pick.tasks
            }
        });
        repeats.min().unwrap_or(u64::MAX)
    }

    /// Takes what was picked off what is missing, for all nodes of the pattern. The first node's
    /// tasks have been taken off `missing` already.
    fn account(&mut self, start: usize, bins: u64) {
        for pick in &self.found.picks[start..] {
            let group = &self.groups.groups[pick.group];
            self.missing[pick.group] -= pick.tasks * (bins - 1);
            self.tasks_missing -= pick.tasks * bins;
            self.memory_missing -= u128::from(group.memory) * u128::from(pick.tasks * bins);
            self.cpu_missing -= u128::from(group.cpu) * u128::from(pick.tasks * bins);
        }
    }

    /// Fills one node: against the imbalance first.
    fn fill(&mut self, bin: usize) {
        let shape = self.bins.shape[bin];
        self.list(shape);
        let mut lists = std::mem::take(&mut self.lists[shape]);
        let mut open = self.open(bin);
        loop {
            let cpu_is_lower = u128::from(open.cpu_used) * u128::from(open.memory)
                <= u128::from(open.memory_used) * u128::from(open.cpu);
            let [first, second] = if cpu_is_lower { [0, 1] } else { [1, 0] };
            let taken = self.take_from(&mut lists[first], first, &mut open)
                || self.take_from(&mut lists[second], second, &mut open);
            if !taken {
                break;
            }
        }
        self.lists[shape] = lists;
    }

    /// Makes the lists of this shape of bins, unless they are made.
    fn list(&mut self, shape: usize) {
        if std::mem::replace(&mut self.listed[shape], true) {
            return;
        }
        let (cpu, memory) = self.bins.shapes[shape];
        let cpu = u128::from(cpu * self.at.denominator);
        let numerator = self.at.numerator;
        let groups = &self.groups.groups;
        let needs_more_cpu = |group: &Group| {
            u128::from(group.cpu * numerator) * u128::from(memory)
                > u128::from(group.first_memory) * cpu
        };
        let alive = |group: &usize| self.missing[*group] > 0;
        let by_cpu = (0..groups.len())
            .filter(alive)
            .filter(|group| needs_more_cpu(&groups[*group]));
        self.lists[shape][0].refill(by_cpu.map(|group| PackingEntry {
            sorted: groups[group].cpu * numerator,
            other: groups[group].first_memory,
            group,
        }));
        let by_memory = self
            .groups
            .by_memory
            .iter()
            .copied()
            .filter(alive)
            .filter(|group| !needs_more_cpu(&groups[*group]));
        self.lists[shape][1].refill(by_memory.map(|group| PackingEntry {
            sorted: groups[group].first_memory,
            other: groups[group].cpu * numerator,
            group,
        }));
    }

    fn open(&self, bin: usize) -> OpenBin {
        let place = &self.bins.bins[bin];
        let node = self.bins.nodes[bin];
        let pinned = self.packing.pinned;
        OpenBin {
            bin,
            cpu: place.cpu * self.at.denominator,
            cpu_used: place.cpu_pinned * self.at.numerator,
            memory: place.memory,
            memory_used: place.memory_pinned,
            rigid_left: pinned.rigid_left(node),
            cursors: Default::default(),
        }
    }

    /// Takes the first task of the list that fits, if there is one.
    fn take_from(&mut self, list: &mut List, which: usize, open: &mut OpenBin) -> bool {
        if let Some(pick) = open.cursors[which].pick {
            let group = self.found.picks[pick].group;
            if self.missing[group] > 0 && self.fits(group, 1, open, self.found.picks[pick].tasks) {
                let here = self.found.picks[pick].tasks;
                self.found.picks[pick].tasks += 1;
                self.take(group, 1, self.groups.groups[group].memory, open);
                self.take_devices(group, 1, open, here);
                return true;
            }
            open.cursors[which] = Cursor {
                place: open.cursors[which].place + 1,
                pick: None,
            };
        }
        let Some((place, tasks)) = self.find(list, which, open) else {
            return false;
        };
        let group = list.get(place).group;
        let member = &self.groups.groups[group];
        self.take(
            group,
            tasks,
            member.first_memory + member.memory * (tasks - 1),
            open,
        );
        self.take_devices(group, tasks, open, 0);
        self.nodes_used[group] += 1;
        open.cursors[which].pick = Some(self.found.picks.len());
        self.found.picks.push(Pick { group, tasks });
        true
    }

    /// The first entry at or after the cursor that fits, and how many of its tasks are put here at
    /// once. The cursor moves there, or to the end.
    fn find(&self, list: &mut List, which: usize, open: &mut OpenBin) -> Option<(usize, u64)> {
        let free_memory = open.memory.saturating_sub(open.memory_used);
        let free_cpu = open.cpu.saturating_sub(open.cpu_used);
        let (sorted, other) = if which == 0 {
            (free_cpu, free_memory)
        } else {
            (free_memory, free_cpu)
        };
        let mut from = open.cursors[which].place;
        loop {
            let Some(place) = list.first(from, sorted, other) else {
                open.cursors[which].place = usize::MAX;
                return None;
            };
            let group = list.get(place).group;
            if self.missing[group] == 0 {
                list.remove(place);
            } else {
                let tasks = self.portion(group);
                if tasks > 0 && self.fits(group, tasks, open, 0) {
                    open.cursors[which].place = place;
                    return Some((place, tasks));
                }
            }
            from = place + 1;
        }
    }

    /// How many tasks of a group are put on a node that is new to it at once: one, or as many as it
    /// takes for the rest to fit on the nodes that the job may still use.
    fn portion(&self, group: usize) -> u64 {
        match self.job(group).layout.max_nodes {
            None => 1,
            Some(max_nodes) => match u64::from(max_nodes.saturating_sub(self.nodes_used[group])) {
                0 => 0,
                nodes_left => self.missing[group].div_ceil(nodes_left),
            },
        }
    }

    /// Whether so many more tasks of the group fit beside `here` that the node has.
    fn fits(&self, group: usize, tasks: u64, open: &OpenBin, here: u64) -> bool {
        let member = &self.groups.groups[group];
        let first = if here == 0 {
            member.first_memory
        } else {
            member.memory
        };
        let memory = u128::from(first) + u128::from(member.memory) * u128::from(tasks - 1);
        let cpu = u128::from(member.cpu * self.at.numerator) * u128::from(tasks);
        u128::from(open.memory_used) + memory <= u128::from(open.memory)
            && cpu <= u128::from(open.cpu.saturating_sub(open.cpu_used))
            && (open.cpu > 0 || member.cpu == 0)
            && (!member.special || self.special_fits(group, tasks, open, here))
    }

    /// As `fits`, for what only special groups have.
    fn special_fits(&self, group: usize, tasks: u64, open: &OpenBin, here: u64) -> bool {
        let job = self.job(group);
        here + tasks <= u64::from(job.layout.tasks_per_node())
            && job.layout.allows(self.bins.nodes[open.bin])
            && (0..job.rigid_kinds()).all(|kind| {
                further(job, tasks, here, kind)
                    <= open.rigid_left.get(kind).copied().unwrap_or_default()
            })
    }

    /// Counts tasks of the group in on the open node.
    fn take(&mut self, group: usize, tasks: u64, memory: u64, open: &mut OpenBin) {
        let member = &self.groups.groups[group];
        self.missing[group] -= tasks;
        open.memory_used += memory;
        open.cpu_used += member.cpu * self.at.numerator * tasks;
    }

    /// Counts in what so many more tasks of a group with special rules take of the open node's
    /// further rigid resources, beside `here` that the node has.
    #[inline]
    fn take_devices(&self, group: usize, tasks: u64, open: &mut OpenBin, here: u64) {
        // Most nodes have none.
        if !open.rigid_left.is_empty() && self.groups.groups[group].special {
            let job = self.job(group);
            for (kind, left) in open.rigid_left.iter_mut().enumerate() {
                *left -= further(job, tasks, here, kind);
            }
        }
    }

    /// The first job of the group; the only one of a special group.
    fn job(&self, group: usize) -> &'a Job {
        self.packing.jobs[self.groups.members[self.groups.groups[group].first]]
    }
}

/// What so many more tasks of the job require of a further rigid resource on a node that has `here`
/// of them.
fn further(job: &Job, tasks: u64, here: u64, kind: usize) -> Amount {
    let on = |tasks: u64| job.rigid_on(u32::try_from(tasks).unwrap_or(u32::MAX), kind);
    on(here + tasks).minus(on(here))
}

impl PackedNodes {
    /// The mapping of every job. O(runs + picks).
    pub(super) fn mappings(&self, groups: &Groups, bins: &Bins, jobs: &[&Job]) -> Vec<Mapping> {
        // More runs than tasks or nodes there are never, and seldom many more than this.
        let first =
            |job: &&Job| Vec::with_capacity(bins.bins.len().min(job.tasks as usize).min(32));
        let mut runs: Vec<Vec<Run>> = jobs.iter().map(first).collect();
        // For each group, the member whose tasks are next, and how many of them are left.
        let mut next: Vec<(usize, u64)> = groups
            .groups
            .iter()
            .map(|group| {
                (
                    group.first,
                    u64::from(jobs[groups.members[group.first]].tasks),
                )
            })
            .collect();
        let mut start = 0;
        for pattern in &self.patterns {
            for bin in pattern.bin..pattern.bin + pattern.bins {
                for pick in &self.picks[start..pattern.end] {
                    let (member, left) = &mut next[pick.group];
                    let mut tasks = pick.tasks;
                    while tasks > 0 {
                        while *left == 0 {
                            *member += 1;
                            *left = u64::from(jobs[groups.members[*member]].tasks);
                        }
                        let taken = tasks.min(*left);
                        *left -= taken;
                        tasks -= taken;
                        let tasks = u32::try_from(taken).unwrap_or(u32::MAX);
                        runs[groups.members[*member]].push(Run {
                            node: bins.nodes[bin],
                            tasks,
                        });
                    }
                }
            }
            start = pattern.end;
        }
        runs.into_iter().map(Mapping::from_sorted).collect()
    }
}
