//! Places of jobs with a rule about which nodes they may have together: sets of nodes that keep it
//! are tried one after the other, each as if it were all that the job may use.

use std::collections::BTreeSet;

use crate::model::{Cluster, Job, Layout, Mapping, NodeIndex};
use crate::node_set::NodeSet;
use crate::space::{quotient, share};
use crate::together::Together;
use crate::usage::{NodePreference, Usage};

use super::unions::Unions;
use super::{all_nodes, place};

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
    let mut before = slots(cluster, usage, job, CountedCpu::Idle);
    if let Some(found) = place_idle(cluster, usage, job, rule, &before) {
        return Some(found);
    }
    for counted in [CountedCpu::Capacity, CountedCpu::Any] {
        let slots = slots(cluster, usage, job, counted);
        if slots == before {
            continue;
        }
        let load = |node: NodeIndex| share(usage.load(node).0, usage.cpu(node).0);
        let search = Search { job, slots: &slots };
        let found = search.first(rule, &load, |set| place_in(cluster, usage, job, rule, set));
        if found.is_some() {
            return found;
        }
        before = slots;
    }
    None
}

/// A job that needs more groups than this is as well off on any nodes, and to look for more takes
/// long.
const MAX_FEW: u32 = 8;

/// A place of a job that is to have few of some sets of nodes, on few of them, if all its tasks find
/// idle CPU there. O(nodes log nodes), or O(nodes) if there is too little of it, for each of the
/// preferences that nodes differ in, beside a try of [`place`].
pub(super) fn place_in_few(cluster: &Cluster, usage: &Usage, job: &Job) -> Option<Mapping> {
    let groups = job.layout.few_of.clone()?;
    if job.tasks <= 1 || job.layout.nodes() <= 1 {
        return None;
    }
    let idle = slots(cluster, usage, job, CountedCpu::Idle);
    let rule = Together::AtMost(MAX_FEW, groups);
    place_idle(cluster, usage, job, &rule, &idle)
}

/// A place that keeps the rule and in which the job's tasks wait for no CPU: on the nodes that are
/// preferred most of those that have one. `idle`: how many tasks each node takes so.
fn place_idle(
    cluster: &Cluster,
    usage: &Usage,
    job: &Job,
    rule: &Together,
    idle: &[u32],
) -> Option<Mapping> {
    let total: u64 = idle.iter().map(|slots| u64::from(*slots)).sum();
    if total < u64::from(job.tasks) {
        return None;
    }
    let on = |slots: &[u32]| {
        let search = Search { job, slots };
        search.first(rule, &|_| 0.0, |set| {
            place_in(cluster, usage, job, rule, set)
        })
    };
    if !usage.has_preferences(job) {
        return on(idle);
    }
    let takers = (0..)
        .map(NodeIndex)
        .zip(idle)
        .filter(|(_, slots)| **slots > 0);
    let preferences: BTreeSet<NodePreference> = takers
        .map(|(node, _)| usage.preference(job, node))
        .collect();
    preferences.into_iter().find_map(|last| {
        let nodes = (0..).map(NodeIndex).zip(idle);
        let slots = nodes.map(|(node, slots)| match usage.preference(job, node) > last {
            true => 0,
            false => *slots,
        });
        on(&slots.collect::<Vec<u32>>())
    })
}

/// A place on nodes of this set, which keep the rule.
fn place_in(
    cluster: &Cluster,
    usage: &Usage,
    job: &Job,
    rule: &Together,
    set: NodeSet,
) -> Option<Mapping> {
    let layout = narrowed(&job.layout, set, rule);
    let job = job.clone();
    place(cluster, usage, &Job { layout, ..job })
}

/// As [`could_place`](super::could_place), for a job with a rule. O(nodes log nodes).
pub(super) fn could_place_grouped(cluster: &Cluster, usage: &Usage, job: &Job) -> bool {
    suffice(job, &slots(cluster, usage, job, CountedCpu::Any))
}

/// Whether some set of nodes that keeps the job's rule, or all nodes if it has none, takes all its
/// tasks, as far as it is known how many each takes. No set is made for it: O(nodes), and O(nodes
/// log nodes) for a rule about the number of groups.
pub(crate) fn suffice(job: &Job, slots: &[u32]) -> bool {
    let total: u64 = slots.iter().map(|slots| u64::from(*slots)).sum();
    let search = Search { job, slots };
    total >= u64::from(job.tasks)
        && match &job.layout.together {
            None => true,
            Some(_) if job.tasks == 0 => false,
            Some(Together::Consecutive(groups)) => search.windows(groups).next().is_some(),
            Some(Together::AtMost(most, groups)) => Unions::of(job, slots, *most, groups).suffice(),
        }
}

/// The fewest and the most nodes that the job may have.
pub(super) fn bounds(job: &Job) -> (usize, usize) {
    let tasks = job.tasks as usize;
    let least = job.layout.least_nodes() as usize;
    (least.min(tasks), job.layout.nodes().min(tasks))
}

/// How many tasks the node takes.
pub(super) fn slots_of(slots: &[u32], node: NodeIndex) -> u32 {
    slots.get(node.index()).copied().unwrap_or(0)
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
        few_of: None,
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

/// Nodes that follow each other, and of how many that do.
type NodeWindow<'s> = (&'s [NodeIndex], usize);

impl Search<'_> {
    /// What is found first on sets that take all tasks, those to be tried first first: those of the
    /// lowest load, then of the fewest nodes. A set is made when it is tried.
    fn first<T>(
        &self,
        rule: &Together,
        load: &dyn Fn(NodeIndex) -> f64,
        mut attempt: impl FnMut(NodeSet) -> Option<T>,
    ) -> Option<T> {
        if self.job.tasks == 0 {
            return None;
        }
        match rule {
            Together::Consecutive(groups) => {
                let mut windows = self.best_windows(groups, load).into_iter();
                windows.find_map(|window| attempt(window.iter().copied().collect()))
            }
            Together::AtMost(most, groups) => {
                let unions = Unions::of(self.job, self.slots, *most, groups);
                let mut choices = unions.choices(load);
                choices.find_map(|choice| attempt(unions.nodes(&choice)))
            }
        }
    }

    /// For each node the fewest from it on without a gap that take all tasks, those to be tried
    /// first first. Of equal ones those come first that break up the fewest nodes.
    fn best_windows<'s>(
        &'s self,
        groups: &'s [NodeSet],
        load: &dyn Fn(NodeIndex) -> f64,
    ) -> Vec<&'s [NodeIndex]> {
        let windows = self.windows(groups).map(|(window, stretch)| {
            let highest = window.iter().map(|node| load(*node)).fold(0.0, f64::max);
            (
                (highest.to_bits(), window.len(), stretch, window[0]),
                window,
            )
        });
        let mut found: Vec<_> = windows.collect();
        found.sort_unstable_by_key(|(key, _)| *key);
        found.into_iter().map(|(_, window)| window).collect()
    }

    /// For each node the fewest from it on without a gap that take all tasks. O(nodes) for all.
    fn windows<'s>(&'s self, groups: &'s [NodeSet]) -> impl Iterator<Item = NodeWindow<'s>> {
        let follows = |one: &NodeIndex, next: &NodeIndex| {
            one.0.checked_add(1) == Some(next.0) && self.takes(*one) && self.takes(*next)
        };
        let stretches = groups.iter().flat_map(move |group| group.chunk_by(follows));
        stretches.flat_map(|stretch| {
            let windows = self.windows_of(stretch);
            windows.map(|window| (window, stretch.len()))
        })
    }

    fn takes(&self, node: NodeIndex) -> bool {
        slots_of(self.slots, node) > 0
    }

    /// The windows within nodes that follow each other, of which all but a single one take tasks.
    /// O(nodes) for all.
    fn windows_of<'s>(&'s self, stretch: &'s [NodeIndex]) -> impl Iterator<Item = &'s [NodeIndex]> {
        let (least, most) = bounds(self.job);
        let wanted = u64::from(self.job.tasks);
        let slots = |place: usize| u64::from(slots_of(self.slots, stretch[place]));
        let (mut end, mut sum) = (0, 0);
        let enough = (0..stretch.len()).map_while(move |start| {
            while end < stretch.len() && (sum < wanted || end - start < least) {
                sum += slots(end);
                end += 1;
            }
            let is_enough = sum >= wanted && end - start >= least;
            sum = sum.saturating_sub(slots(start));
            is_enough.then_some(start..end)
        });
        enough
            .filter(move |window| window.len() <= most)
            .map(|window| &stretch[window])
    }
}
