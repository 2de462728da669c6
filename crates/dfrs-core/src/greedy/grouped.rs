//! Places of jobs with a rule about which nodes they may have together: sets of nodes that keep it
//! are tried one after the other, each as if it were all that the job may use.

use std::cmp::Reverse;

use crate::model::{Cluster, Job, Layout, Mapping, NodeIndex};
use crate::node_set::NodeSet;
use crate::space::{quotient, share};
use crate::together::Together;
use crate::usage::Usage;

use super::{all_nodes, could_place, place};

/// How much CPU of a node counts for the job: sets of nodes on which its tasks wait for none are
/// tried first, then sets of as many nodes as it takes where nothing else runs, and then all that
/// have the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedCpu {
    Idle,
    Capacity,
    Any,
}

/// As [`place`], for a job with this rule. O(nodes × nodes of the job) beside as many tries of it as
/// there are sets that could do, most often one.
pub(super) fn place_grouped(
    cluster: &Cluster,
    usage: &Usage,
    job: &Job,
    rule: &Together,
) -> Option<Mapping> {
    tries(cluster, usage, job, rule).find_map(|narrowed| place(cluster, usage, &narrowed))
}

/// As [`could_place`], for a job with this rule.
pub(super) fn could_place_grouped(
    cluster: &Cluster,
    usage: &Usage,
    job: &Job,
    rule: &Together,
) -> bool {
    tries(cluster, usage, job, rule).any(|narrowed| could_place(cluster, usage, &narrowed))
}

/// Whether some set of nodes that keeps the job's rule, or all nodes if it has none, takes all its
/// tasks, as far as it is known how many each takes. O(nodes log nodes).
pub(crate) fn suffice(job: &Job, slots: &[u32]) -> bool {
    let total: u64 = slots.iter().map(|slots| u64::from(*slots)).sum();
    let rule = job.layout.together.as_ref();
    total >= u64::from(job.tasks)
        && rule.is_none_or(|rule| !Search { job, slots }.sets(rule, |_| 0.0).is_empty())
}

/// The job as it is tried, with no rule but the nodes that it may use.
fn tries<'a>(
    cluster: &'a Cluster,
    usage: &'a Usage,
    job: &'a Job,
    rule: &'a Together,
) -> impl Iterator<Item = Job> + 'a {
    let mut before = Vec::new();
    let counted = [CountedCpu::Idle, CountedCpu::Capacity, CountedCpu::Any];
    let sets = counted.into_iter().flat_map(move |counted| {
        let slots = slots(cluster, usage, job, counted);
        if slots == before {
            return Vec::new();
        }
        let load = |node: NodeIndex| match counted {
            CountedCpu::Idle => 0.0,
            CountedCpu::Capacity | CountedCpu::Any => share(usage.load(node).0, usage.cpu(node).0),
        };
        let found = Search { job, slots: &slots }.sets(rule, load);
        before = slots;
        found
    });
    sets.map(move |set| Job {
        layout: narrowed(&job.layout, set, rule),
        ..job.clone()
    })
}

/// The layout that has the job on these nodes, and on all of them if they are to be consecutive.
fn narrowed(layout: &Layout, set: NodeSet, rule: &Together) -> Layout {
    let count = u32::try_from(set.len()).unwrap_or(u32::MAX);
    let all = matches!(rule, Together::Consecutive(_)).then_some(count);
    Layout {
        max_nodes: all.or(layout.max_nodes),
        min_nodes: all.or(layout.min_nodes),
        eligible: Some(set),
        together: None,
        ..layout.clone()
    }
}

/// How many tasks of the job each node takes. O(nodes).
fn slots(cluster: &Cluster, usage: &Usage, job: &Job, counted: CountedCpu) -> Vec<u32> {
    let limit = usage.limit(job);
    let mut slots = vec![0; cluster.nodes.len()];
    for node in all_nodes(cluster, job) {
        let (load, cpu) = (usage.load(node), usage.cpu(node));
        let by_cpu = match counted {
            CountedCpu::Idle => quotient(cpu.minus(load).0, job.cpu.0),
            CountedCpu::Capacity => quotient(cpu.0, job.cpu.0).max(1),
            CountedCpu::Any => u64::MAX,
        };
        let most = u32::try_from(by_cpu).unwrap_or(u32::MAX);
        slots[node.index()] = usage.slots(job, node, limit).min(most);
    }
    slots
}

/// Looks for sets of nodes.
struct Search<'a> {
    job: &'a Job,
    /// How many tasks each node takes.
    slots: &'a [u32],
}

impl Search<'_> {
    fn slots_of(&self, node: NodeIndex) -> u32 {
        self.slots.get(node.index()).copied().unwrap_or(0)
    }

    /// The fewest and the most nodes that the job may have.
    fn bounds(&self) -> (usize, usize) {
        let tasks = self.job.tasks as usize;
        let least = self.job.layout.least_nodes() as usize;
        (least.min(tasks), self.job.layout.nodes().min(tasks))
    }

    /// The sets that take all tasks, those to be tried first first: those of the lowest load, then
    /// of the fewest nodes.
    fn sets(&self, rule: &Together, load: impl Fn(NodeIndex) -> f64) -> Vec<NodeSet> {
        if self.job.tasks == 0 {
            return Vec::new();
        }
        match rule {
            Together::Consecutive(groups) => self.windows(groups, load),
            Together::AtMost(most, groups) => self.unions(*most as usize, groups, load),
        }
    }

    /// For each node the fewest from it on without a gap that take all tasks. Of equal ones those
    /// come first that break up the fewest nodes.
    fn windows(&self, groups: &[NodeSet], load: impl Fn(NodeIndex) -> f64) -> Vec<NodeSet> {
        let mut found = Vec::new();
        for group in groups {
            let follows = |one: &NodeIndex, next: &NodeIndex| {
                one.0.checked_add(1) == Some(next.0) && self.takes(*one) && self.takes(*next)
            };
            for stretch in group.chunk_by(follows) {
                for window in self.windows_of(stretch) {
                    let highest = window.iter().map(|node| load(*node)).fold(0.0, f64::max);
                    let key = (highest.to_bits(), window.len(), stretch.len(), window[0]);
                    found.push((key, window));
                }
            }
        }
        found.sort_unstable_by_key(|(key, _)| *key);
        let sets = found.into_iter();
        sets.map(|(_, window)| window.iter().copied().collect())
            .collect()
    }

    fn takes(&self, node: NodeIndex) -> bool {
        self.slots_of(node) > 0
    }

    /// The windows within nodes that follow each other, of which all but a single one take tasks.
    /// O(nodes).
    fn windows_of<'s>(&self, stretch: &'s [NodeIndex]) -> Vec<&'s [NodeIndex]> {
        let (least, most) = self.bounds();
        let wanted = u64::from(self.job.tasks);
        let mut found = Vec::new();
        let (mut end, mut sum) = (0, 0);
        for start in 0..stretch.len() {
            while end < stretch.len() && (sum < wanted || end - start < least) {
                sum += u64::from(self.slots_of(stretch[end]));
                end += 1;
            }
            if sum < wanted || end - start < least {
                break;
            }
            if end - start <= most {
                found.push(&stretch[start..end]);
            }
            sum -= u64::from(self.slots_of(stretch[start]));
        }
        found
    }

    /// Single groups, those that take least beyond the job's tasks first; then as few as do
    /// together, those that take most first.
    fn unions(
        &self,
        most: usize,
        groups: &[NodeSet],
        load: impl Fn(NodeIndex) -> f64,
    ) -> Vec<NodeSet> {
        let wanted = u64::from(self.job.tasks);
        let (least, _) = self.bounds();
        let mut usable: Vec<(u64, Vec<NodeIndex>)> = groups
            .iter()
            .map(|group| {
                let takers = group.iter().copied().filter(|node| self.takes(*node));
                let takers: Vec<NodeIndex> = takers.collect();
                (self.most_tasks(&takers), takers)
            })
            .filter(|(tasks, _)| *tasks > 0)
            .collect();
        if most == 0 {
            return Vec::new();
        }
        let alone = usable.iter();
        let alone = alone.filter(|(tasks, takers)| *tasks >= wanted && takers.len() >= least);
        let mut alone: Vec<(u64, u64, &[NodeIndex])> = alone
            .map(|(tasks, takers)| {
                let highest = takers.iter().map(|node| load(*node)).fold(0.0, f64::max);
                (highest.to_bits(), *tasks, &takers[..])
            })
            .collect();
        alone.sort_unstable();
        let mut found: Vec<NodeSet> = alone
            .into_iter()
            .map(|(.., takers)| takers.iter().copied().collect())
            .collect();
        usable.sort_by_key(|(tasks, _)| Reverse(*tasks));
        let (mut sum, mut union) = (0u64, Vec::new());
        for (number, (tasks, takers)) in (1..=most).zip(usable) {
            sum = sum.saturating_add(tasks);
            union.extend(takers);
            if number > 1 && sum >= wanted && union.len() >= least {
                found.push(union.iter().copied().collect());
            }
        }
        found
    }

    /// How many tasks these nodes take, as many of them as the job may use.
    fn most_tasks(&self, takers: &[NodeIndex]) -> u64 {
        let (_, most) = self.bounds();
        let mut slots: Vec<u32> = takers.iter().map(|node| self.slots_of(*node)).collect();
        if most < slots.len() {
            slots.sort_unstable_by_key(|slots| Reverse(*slots));
            slots.truncate(most);
        }
        slots.into_iter().map(u64::from).sum()
    }
}
