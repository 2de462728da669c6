//! Violations as one line each, for administrators.

use std::fmt::{self, Display};

use super::violation::{NamedNode, Severity, Shortage, Step, Violation, ViolationKind};
use crate::model::{JobState, NodeState};
use crate::units::{Amount, Bytes};

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

impl Display for ViolationKind {
    /// What is wrong, without where.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTasks => formatter.write_str("the job has no task"),
            Self::UnknownJob => formatter.write_str("there is no such job"),
            Self::Locked => formatter.write_str("something is under way with the job"),
            Self::OnNodeThatIsDown => {
                formatter.write_str("the job has tasks there, and it is down")
            }
            Self::NotEligible => formatter.write_str("the job's layout does not allow the node"),
            Self::NoYield => formatter.write_str("the job runs and is given no yield"),
            Self::JobsOutOfOrder { after } => {
                write!(formatter, "stands after job {after}; jobs must ascend")
            }
            Self::UnknownNode { nodes } => {
                write!(formatter, "there is no such node among the {nodes}")
            }
            Self::WrongState { state, allowed } => {
                write!(
                    formatter,
                    "the job is {}, but must be {allowed}",
                    word(state)
                )
            }
            Self::Mobility(mobility) => {
                write!(
                    formatter,
                    "the job's mobility does not allow this: {mobility}"
                )
            }
            Self::ComesBackElsewhere { parked } => {
                let parked = list(parked.iter());
                write!(
                    formatter,
                    "a parked job can only come back where it is: {parked}"
                )
            }
            _ => self.fmt_amounts(formatter),
        }
    }
}

impl ViolationKind {
    /// Writes violations that are about amounts.
    fn fmt_amounts(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaskCount { placed, wanted } => {
                write!(
                    formatter,
                    "{placed} tasks are placed, but the job has {wanted}"
                )
            }
            Self::TasksPerNode { placed, most } => {
                write!(
                    formatter,
                    "{placed} tasks there, but the job's layout allows {most}"
                )
            }
            Self::NodeCount { placed, most } => {
                write!(
                    formatter,
                    "on {placed} nodes, but the job's layout allows {most}"
                )
            }
            Self::NodeTakesNothing(state) => {
                let state = match state {
                    NodeState::Up => "up",
                    NodeState::Draining => "draining",
                    NodeState::Down => "down",
                };
                write!(formatter, "the node is {state} and takes no tasks")
            }
            Self::Swap(shortage) if shortage.capacity.is_zero() => {
                let required = shortage.required;
                write!(
                    formatter,
                    "swap: requires {required}, but the node has none"
                )
            }
            Self::Swap(shortage) => write!(formatter, "swap: {shortage}"),
            Self::Memory(shortage) => write!(formatter, "memory: {shortage}"),
            Self::Rigid { resource, shortage } => {
                write!(formatter, "rigid resource {resource}: {shortage}")
            }
            Self::YieldRange { share } => {
                write!(formatter, "the yield is {share}, but must be from 0 to 1")
            }
            Self::YieldWithoutPlace { share, state } => {
                write!(
                    formatter,
                    "is given the yield {share}, but is {}",
                    word(state)
                )
            }
            Self::Shares {
                capacity,
                shared,
                holders,
            } => {
                let holders = holders.iter();
                let holders = holders.map(|(job, share)| format!("job {job} {}", shown(*share)));
                let (shared, capacity, excess) =
                    (shown(*shared), shown(*capacity), shown(shared - capacity));
                let holders = list(holders);
                write!(
                    formatter,
                    "CPU: jobs get {shared} of {capacity} cores ({holders}): {excess} too much"
                )
            }
            _ => formatter.write_str(self.rule()),
        }
    }
}

impl Display for Shortage<Bytes> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(formatter, |bytes| bytes.0, Bytes)
    }
}

impl Display for Shortage<Amount> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(formatter, |amount| amount.0, Amount)
    }
}

impl<T: Copy + Display> Shortage<T> {
    /// Writes what is required, what is in use and by which jobs (the largest first), and how much
    /// that is too much.
    fn fmt_as(
        &self,
        formatter: &mut fmt::Formatter<'_>,
        number: fn(T) -> u64,
        unit: fn(u64) -> T,
    ) -> fmt::Result {
        let (required, in_use, capacity) = (self.required, self.in_use, self.capacity);
        write!(
            formatter,
            "requires {required}, but {in_use} of {capacity} are in use"
        )?;
        let mut holders = self.holders.clone();
        holders.sort_by_key(|(job, held)| (std::cmp::Reverse(number(*held)), *job));
        let by_jobs = holders.iter().map(|(_, held)| u128::from(number(*held)));
        let by_others = u128::from(number(in_use)).saturating_sub(by_jobs.sum());
        let by_others = u64::try_from(by_others).unwrap_or(u64::MAX);
        let others = (by_others > 0).then(|| format!("others {}", unit(by_others)));
        let jobs = holders
            .iter()
            .map(|(job, held)| format!("job {job} {held}"));
        let described = list(jobs.chain(others));
        if !described.is_empty() {
            write!(formatter, " ({described})")?;
        }
        let wanted = number(in_use).saturating_add(number(required));
        let excess = unit(wanted.saturating_sub(number(capacity)));
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
fn list<T: Display>(all: impl Iterator<Item = T>) -> String {
    let all: Vec<String> = all.map(|one| one.to_string()).collect();
    let mut text = all[..all.len().min(MAX_LISTED)].join(", ");
    if all.len() > MAX_LISTED {
        text += &format!(" and {} more", all.len() - MAX_LISTED);
    }
    text
}

/// A state in one word.
fn word(state: &JobState) -> &'static str {
    match state {
        JobState::Pending => "pending",
        JobState::Running(_) => "running",
        JobState::Paused => "paused",
        JobState::Parked(_) => "parked",
    }
}
