//! Which groups of nodes take all tasks of a job that may have nodes of so many of them.

use std::cmp::Reverse;
use std::iter;

use crate::model::{Job, NodeIndex};
use crate::node_set::NodeSet;

use super::grouped::{bounds, slots_of};

/// So many groups are looked at in pairs, those that take most tasks.
const PAIRED: usize = 64;

/// A group, as far as it takes tasks of the job.
struct Part<'a> {
    nodes: &'a NodeSet,
    /// How many of its nodes take tasks.
    takers: usize,
    /// How many tasks each of them takes, as many of them as the job may use: the most first.
    slots: Vec<u32>,
    /// The sum of `slots`.
    tasks: u64,
}

/// Groups for a job, those that take most tasks first.
pub(super) struct Unions<'a> {
    /// How many tasks each node takes.
    slots: &'a [u32],
    parts: Vec<Part<'a>>,
    /// How many groups the job may have.
    most_groups: usize,
    /// How many tasks it has.
    wanted: u64,
    /// The fewest and the most nodes that it may have.
    bounds: (usize, usize),
}

/// Some of the parts, as they come to together.
#[derive(Default)]
struct GroupUnion {
    /// Their places among all.
    parts: Vec<usize>,
    takers: usize,
    /// As in [`Part`].
    slots: Vec<u32>,
}

impl<'a> Unions<'a> {
    /// O(nodes log nodes).
    pub(super) fn of(job: &Job, slots: &'a [u32], most_groups: u32, groups: &'a [NodeSet]) -> Self {
        let bounds = bounds(job);
        let part = |nodes: &'a NodeSet| {
            let found = nodes.iter().map(|node| slots_of(slots, *node));
            let mut found: Vec<u32> = found.filter(|slots| *slots > 0).collect();
            let takers = found.len();
            found.sort_unstable_by_key(|slots| Reverse(*slots));
            found.truncate(bounds.1);
            Part {
                nodes,
                takers,
                tasks: sum(&found),
                slots: found,
            }
        };
        let mut parts: Vec<Part<'a>> = groups.iter().map(part).collect();
        parts.retain(|part| part.tasks > 0);
        parts.sort_by_key(|part| Reverse(part.tasks));
        Self {
            slots,
            parts,
            most_groups: most_groups as usize,
            wanted: u64::from(job.tasks),
            bounds,
        }
    }

    /// Whether any groups were found that take all tasks.
    pub(super) fn suffice(&self) -> bool {
        self.most_groups > 0 && (self.alone().next().is_some() || self.several().next().is_some())
    }

    /// The places of groups that take all tasks. Single groups come first, those of the lowest load
    /// first, then those that take least beyond the job's tasks; then several.
    pub(super) fn choices<'s>(
        &'s self,
        load: &dyn Fn(NodeIndex) -> f64,
    ) -> impl Iterator<Item = Vec<usize>> + use<'s, 'a> {
        let alone = self.alone().filter(|_| self.most_groups > 0);
        let mut alone: Vec<(u64, u64, usize)> = alone
            .map(|place| {
                let highest = self.takers(place).map(load).fold(0.0, f64::max);
                (highest.to_bits(), self.parts[place].tasks, place)
            })
            .collect();
        alone.sort_unstable_by_key(|(load, tasks, place)| (*load, *tasks, self.first_of(*place)));
        let alone = alone.into_iter().map(|(.., place)| vec![place]);
        alone.chain(self.several())
    }

    /// The nodes of these groups that take tasks.
    pub(super) fn nodes(&self, choice: &[usize]) -> NodeSet {
        choice
            .iter()
            .flat_map(|place| self.takers(*place))
            .collect()
    }

    fn takers(&self, place: usize) -> impl Iterator<Item = NodeIndex> {
        let nodes = self.parts[place].nodes.iter().copied();
        nodes.filter(|node| slots_of(self.slots, *node) > 0)
    }

    fn first_of(&self, place: usize) -> Option<NodeIndex> {
        self.takers(place).next()
    }

    fn alone(&self) -> impl Iterator<Item = usize> {
        let (wanted, least) = (self.wanted, self.bounds.0);
        let parts = self.parts.iter().enumerate();
        parts
            .filter(move |(_, part)| part.tasks >= wanted && part.takers >= least)
            .map(|(place, _)| place)
    }

    /// Pairs; then groups one after the other that each add most tasks to those before; and then
    /// those that take most. All sets of many groups are too many to try.
    fn several(&self) -> impl Iterator<Item = Vec<usize>> {
        let paired = match self.most_groups {
            0 | 1 => 0,
            _ => self.parts.len().min(PAIRED),
        };
        let pairs = (0..paired).flat_map(move |one| (one + 1..paired).map(move |two| [one, two]));
        let pairs = pairs.filter(|pair| self.takes_all(pair.map(|place| &self.parts[place])));
        let further = self.most_groups > 2 || self.parts.len() > PAIRED && self.most_groups == 2;
        let by_gain = self.growing(further, |union| self.next_by_gain(union));
        let by_tasks = self.growing(further, |union| {
            let place = union.parts.len();
            (place < self.parts.len()).then_some(place)
        });
        pairs.map(Vec::from).chain(by_gain).chain(by_tasks)
    }

    /// Whether two groups take all tasks. O(nodes that the job may use).
    fn takes_all(&self, [one, other]: [&Part<'_>; 2]) -> bool {
        one.takers + other.takers >= self.bounds.0
            && one.tasks + other.tasks >= self.wanted
            && merged(&one.slots, &other.slots, self.bounds.1)
                .map(u64::from)
                .sum::<u64>()
                >= self.wanted
    }

    /// Groups one after the other, as many as the job may have, as far as they take all tasks.
    fn growing<'s>(
        &'s self,
        further: bool,
        next: impl Fn(&GroupUnion) -> Option<usize> + 's,
    ) -> impl Iterator<Item = Vec<usize>> + 's {
        let steps = if further { self.most_groups } else { 0 };
        let unions = iter::successors(Some(GroupUnion::default()), move |union| {
            (union.parts.len() < steps)
                .then(|| next(union))
                .flatten()
                .map(|place| self.grown(union, place))
        });
        let do_suffice = |union: &GroupUnion| {
            union.parts.len() > 1
                && union.takers >= self.bounds.0
                && sum(&union.slots) >= self.wanted
        };
        unions.filter(do_suffice).map(|union| union.parts)
    }

    /// Of the first groups the one that adds most tasks, and of equal ones most nodes.
    fn next_by_gain(&self, union: &GroupUnion) -> Option<usize> {
        let parts = self.parts.iter().enumerate().take(PAIRED);
        let others = parts.filter(|(place, _)| !union.parts.contains(place));
        let best = others.max_by_key(|(place, part)| {
            let tasks = merged(&union.slots, &part.slots, self.bounds.1);
            let tasks: u64 = tasks.map(u64::from).sum();
            (tasks, part.takers, Reverse(*place))
        });
        best.map(|(place, _)| place)
    }

    fn grown(&self, union: &GroupUnion, place: usize) -> GroupUnion {
        let part = &self.parts[place];
        let mut parts = union.parts.clone();
        parts.push(place);
        GroupUnion {
            parts,
            takers: union.takers + part.takers,
            slots: merged(&union.slots, &part.slots, self.bounds.1).collect(),
        }
    }
}

fn sum(slots: &[u32]) -> u64 {
    slots.iter().map(|slots| u64::from(*slots)).sum()
}

/// The greatest of two lists in descending order, so many of them, in descending order.
fn merged<'s>(
    one: &'s [u32],
    other: &'s [u32],
    most: usize,
) -> impl Iterator<Item = u32> + use<'s> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    let next = move || match other.peek() > one.peek() {
        true => other.next(),
        false => one.next(),
    };
    iter::from_fn(next).copied().take(most)
}
