//! What a check finds, with the amounts and names that show it.

use serde::Serialize;

use super::text::{list, of_shares, of_swap, word, word_of_node};
use crate::model::{JobId, JobState, Mobility, NodeIndex, NodeState};
use crate::units::{Amount, Bytes};

/// How bad a violation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Severity {
    /// The plan can be carried out, but it is not what it should be.
    Warning,
    /// The plan must not be carried out.
    Error,
}

/// A resource of a node of which a job requires more than is left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shortage<T> {
    /// What the node has.
    pub capacity: T,
    /// What is in use there before the job arrives, by whomever.
    pub in_use: T,
    /// What the job requires there.
    pub required: T,
    /// The jobs that hold what is in use, ascending; the rest is held by others.
    pub holders: Vec<(JobId, T)>,
}

/// What is violated; as text what is wrong, without where.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
pub enum ViolationKind {
    /// The cluster's jobs are not ascending by identity.
    #[error("stands after job {after}; jobs must ascend")]
    JobsOutOfOrder {
        /// The job before this one.
        after: JobId,
    },
    /// A job has no task.
    #[error("the job has no task")]
    NoTasks,
    /// An action names a job that the cluster does not have.
    #[error("there is no such job")]
    UnknownJob,
    /// A mapping names a node that the cluster does not have.
    #[error("there is no such node among the {nodes}")]
    UnknownNode {
        /// How many nodes the cluster has.
        nodes: usize,
    },
    /// An action names a job with which something is under way.
    #[error("something is under way with the job")]
    Locked,
    /// An action names a job with tasks on a node that is down.
    #[error("the job has tasks there, and it is down")]
    OnNodeThatIsDown,
    /// The job is not in a state in which the action is possible.
    #[error("the job is {}, but must be {allowed}", word(.state))]
    WrongState {
        /// The state that it is in.
        state: JobState,
        /// The states in which the action is possible.
        allowed: &'static str,
    },
    /// The job's mobility does not allow the action.
    #[error("the job's mobility does not allow this: {0}")]
    Mobility(Mobility),
    /// A job that requires devices is to be parked, and would hold them.
    #[error("parked, the job would hold its devices: it may not be parked")]
    ParksDevices,
    /// A job is to be parked on a node whose swap does not hold it.
    #[error("swap: {}", of_swap(.0))]
    Swap(Shortage<Bytes>),
    /// A parked job is to come back elsewhere than where it is.
    #[error("a parked job can only come back where it is: {}", list(.parked.iter()))]
    ComesBackElsewhere {
        /// Where it is.
        parked: Vec<NamedNode>,
    },
    /// The mapping does not hold as many tasks as the job has.
    #[error("{placed} tasks are placed, but the job has {wanted}")]
    TaskCount {
        /// Tasks of the mapping.
        placed: u64,
        /// Tasks of the job.
        wanted: u32,
    },
    /// The mapping holds more tasks on the node than the job's layout allows.
    #[error("{placed} tasks there, but the job's layout allows {most}")]
    TasksPerNode {
        /// Tasks of the mapping on the node.
        placed: u32,
        /// The most that the layout allows.
        most: u32,
    },
    /// The mapping uses more nodes than the job's layout allows.
    #[error("on {placed} nodes, but the job's layout allows {most}")]
    NodeCount {
        /// Nodes of the mapping.
        placed: usize,
        /// The most that the layout allows.
        most: usize,
    },
    /// The job's layout does not allow the node.
    #[error("the job's layout does not allow the node")]
    NotEligible,
    /// The job may not have these nodes together.
    #[error("the job's layout does not allow these nodes together")]
    NotTogether,
    /// Tasks arrive on a node that takes none.
    #[error("the node is {} and takes no tasks", word_of_node(*.0))]
    NodeTakesNothing(NodeState),
    /// What arrives exceeds the node's memory.
    #[error("memory: {0}")]
    Memory(Shortage<Bytes>),
    /// What arrives exceeds a further rigid resource of the node.
    #[error("rigid resource {resource}: {shortage}")]
    Rigid {
        /// The resource's position in [`crate::Node::rigid`].
        resource: usize,
        /// How much of it is missing.
        shortage: Shortage<Amount>,
    },
    /// The shares on the node exceed its CPU.
    #[error("CPU: {}", of_shares(*.shared, *.capacity, .holders))]
    Shares {
        /// What the node has, in cores.
        capacity: f64,
        /// The sum of what jobs get there.
        shared: f64,
        /// What each job gets there, ascending by job.
        holders: Vec<(JobId, f64)>,
    },
    /// A yield is not between 0 and 1.
    #[error("the yield is {share}, but must be from 0 to 1")]
    YieldRange {
        /// The yield.
        share: f64,
    },
    /// A job that does not run is given a yield.
    #[error("is given the yield {share}, but is {}", word(.state))]
    YieldWithoutPlace {
        /// The yield.
        share: f64,
        /// The state that the job is in after the plan.
        state: JobState,
    },
    /// A job runs after a plan that sets yields, and is given none.
    #[error("the job runs and is given no yield")]
    NoYield,
}

impl ViolationKind {
    /// How bad it is.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::NoYield | Self::NoTasks => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Whether it is about what all jobs of a node have together.
    const fn is_about_amounts(&self) -> bool {
        matches!(
            self,
            Self::Memory(_) | Self::Swap(_) | Self::Rigid { .. } | Self::Shares { .. }
        )
    }

    /// The rule that is broken, in few words that no amounts or names change, for programs.
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::JobsOutOfOrder { .. } => "jobs in order",
            Self::NoTasks => "some tasks",
            Self::UnknownJob => "known job",
            Self::UnknownNode { .. } => "known node",
            Self::Locked => "not locked",
            Self::OnNodeThatIsDown => "not on a node that is down",
            Self::WrongState { .. } => "state",
            Self::Mobility(_) => "mobility",
            Self::ParksDevices => "no devices parked",
            Self::Swap(_) => "swap",
            Self::ComesBackElsewhere { .. } => "back in place",
            Self::TaskCount { .. } => "task count",
            Self::TasksPerNode { .. } => "tasks per node",
            Self::NodeCount { .. } => "node count",
            Self::NotEligible => "eligible node",
            Self::NotTogether => "nodes together",
            Self::NodeTakesNothing(_) => "node takes tasks",
            Self::Memory(_) => "memory",
            Self::Rigid { .. } => "rigid resource",
            Self::Shares { .. } => "shares",
            Self::YieldRange { .. } => "yield range",
            Self::YieldWithoutPlace { .. } => "yield with a place",
            Self::NoYield => "yield for all",
        }
    }
}

/// A node with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedNode {
    /// The node's position in the cluster.
    pub index: NodeIndex,
    /// The node's name; empty if there is no node at this position.
    pub name: String,
}

/// An action of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The action's position in the plan, counted from 0.
    pub index: usize,
    /// What it does, e.g. `start`.
    pub verb: &'static str,
}

/// One broken invariant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Violation {
    /// What is violated.
    pub kind: ViolationKind,
    /// At which action of the plan; `None`: of the whole.
    pub step: Option<Step>,
    /// By or for which job.
    pub job: Option<JobId>,
    /// On which node.
    pub node: Option<NamedNode>,
}

impl Violation {
    /// How bad it is.
    pub const fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// The jobs that a plan has to do without for it to break this rule no longer: the job by which
    /// or for which it does, or all that share what is exceeded.
    pub fn jobs(&self) -> impl Iterator<Item = JobId> + '_ {
        let holders = match &self.kind {
            ViolationKind::Shares { holders, .. } => holders.as_slice(),
            _ => &[],
        };
        self.job
            .into_iter()
            .chain(holders.iter().map(|(job, _)| *job))
    }
}

/// The jobs without which a plan with these violations is to be decided again, ascending, each
/// once. Where amounts are exceeded, all but the first such violation may follow from that one, and
/// all of them from other rules that are broken: its jobs are named only if there are no others.
pub fn jobs_at_fault(violations: &[Violation]) -> Vec<JobId> {
    let (amounts, rules): (Vec<&Violation>, Vec<&Violation>) = violations
        .iter()
        .partition(|violation| violation.kind.is_about_amounts());
    let of_rules = rules.iter().flat_map(|violation| violation.jobs());
    let mut jobs: Vec<JobId> = of_rules.collect();
    if jobs.is_empty() {
        jobs.extend(amounts.first().iter().flat_map(|first| first.jobs()));
    }
    jobs.sort_unstable();
    jobs.dedup();
    jobs
}
