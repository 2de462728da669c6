//! Violations as one line each, for administrators.

use std::cmp::Reverse;
use std::fmt::{self, Display};
use std::iter::Sum;
use std::ops::{Add, SubAssign};

use super::violation::{NamedNode, Severity, Shortage, Step, Violation};
use crate::model::{JobId, JobState, NodeState};
use crate::units::Bytes;

/// How many of many things a line lists.
const MAX_LISTED: usize = 4;

impl Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl Display for NamedNode {
    /// The name, or the position of a node that has none, e.g. `#7`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            return write!(formatter, "#{}", self.index);
        }
        formatter.write_str(&self.name)
    }
}

impl Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "action {} ({})", self.index, self.verb)
    }
}

impl Display for Violation {
    /// One line, e.g. `error: action 3 (start): job 17: node n2: memory: requires 20 GiB, but 50
    /// GiB of 64 GiB are in use (job 4 30 GiB, job 9 20 GiB): 6 GiB too much`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.severity())?;
        if let Some(step) = self.step {
            write!(formatter, "{step}: ")?;
        }
        if let Some(job) = self.job {
            write!(formatter, "job {job}: ")?;
        }
        if let Some(node) = &self.node {
            write!(formatter, "node {node}: ")?;
        }
        self.kind.fmt(formatter)
    }
}

/// What the swap of a node is short of.
pub(super) fn of_swap(shortage: &Shortage<Bytes>) -> String {
    match shortage.capacity.is_zero() {
        true => format!("requires {}, but the node has none", shortage.required),
        false => shortage.to_string(),
    }
}

/// How shares exceed a node's cores, and which jobs have them.
pub(super) fn of_shares(shared: f64, capacity: f64, holders: &[(JobId, f64)]) -> String {
    let holders = holders.iter();
    let holders = list(holders.map(|(job, share)| format!("job {job} {}", shown(*share))));
    let excess = shown(shared - capacity);
    let (shared, capacity) = (shown(shared), shown(capacity));
    format!("jobs get {shared} of {capacity} cores ({holders}): {excess} too much")
}

impl<T> Display for Shortage<T>
where
    T: Copy + Default + Display + Ord + Add<Output = T> + SubAssign + Sum,
{
    /// What is required, what is in use and by which jobs (the largest first), and how much that is
    /// too much.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (required, in_use, capacity) = (self.required, self.in_use, self.capacity);
        write!(
            formatter,
            "requires {required}, but {in_use} of {capacity} are in use"
        )?;
        let mut holders = self.holders.clone();
        holders.sort_by_key(|(job, held)| (Reverse(*held), *job));
        let mut others = in_use;
        others -= holders.iter().map(|(_, held)| *held).sum();
        let others = (others > T::default()).then(|| format!("others {others}"));
        let jobs = holders
            .iter()
            .map(|(job, held)| format!("job {job} {held}"));
        let described = list(jobs.chain(others));
        if !described.is_empty() {
            write!(formatter, " ({described})")?;
        }
        let mut excess = in_use + required;
        excess -= capacity;
        write!(formatter, ": {excess} too much")
    }
}

/// A share without what is due to rounding.
fn shown(share: f64) -> String {
    let rounded = (share * 1e6).round() / 1e6;
    match rounded > 0.0 || share <= 0.0 {
        true => rounded.to_string(),
        false => format!("{share:e}"),
    }
}

/// The first few, and how many more there are.
pub(super) fn list<T: Display>(all: impl Iterator<Item = T>) -> String {
    let all: Vec<String> = all.map(|one| one.to_string()).collect();
    let mut text = all[..all.len().min(MAX_LISTED)].join(", ");
    if all.len() > MAX_LISTED {
        text += &format!(" and {} more", all.len() - MAX_LISTED);
    }
    text
}

/// What a node may be used for, in one word.
pub(super) fn word_of_node(state: NodeState) -> &'static str {
    match state {
        NodeState::Up => "up",
        NodeState::Draining => "draining",
        NodeState::Down => "down",
    }
}

/// A state in one word.
pub(super) fn word(state: &JobState) -> &'static str {
    match state {
        JobState::Pending => "pending",
        JobState::Running(_) => "running",
        JobState::Paused => "paused",
        JobState::Parked(_) => "parked",
    }
}
