//! Invariants of a cluster and of a plan, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{Cluster, Job, JobId, JobState, Mapping, Mobility, NodeIndex, NodeState, Part};
use crate::plan::{Action, Plan};
use crate::target::is_free;
use crate::usage::{SwapUsage, Usage};

/// How much CPU a node may seem to be exceeded by because shares are rounded: this fraction of its
/// capacity.
const ROUNDING: f64 = 1e-9;

/// How bad a violation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// The plan can be carried out, but it is not what it should be.
    Warning,
    /// The plan must not be carried out.
    Error,
}

/// What is violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ViolationKind {
    /// The cluster's jobs are not ascending by identity.
    JobsOutOfOrder,
    /// A job has no task.
    NoTasks,
    /// An action names a job that the cluster does not have.
    UnknownJob,
    /// A mapping names a node that the cluster does not have.
    UnknownNode,
    /// An action names a locked job, or one with tasks on a node that is down.
    NotOurs,
    /// The job is not in a state in which the action is possible.
    WrongState,
    /// The job's mobility does not allow the action.
    Mobility,
    /// A job is to be parked on a node whose swap does not hold it.
    Swap,
    /// A parked job is to come back elsewhere than where it is.
    ComesBackElsewhere,
    /// The mapping does not hold as many tasks as the job has.
    TaskCount,
    /// The mapping holds more tasks on the node than the job's layout allows.
    TasksPerNode,
    /// The mapping uses more nodes than the job's layout allows.
    NodeCount,
    /// The job's layout does not allow the node.
    NotEligible,
    /// Tasks arrive on a node that takes none.
    NodeTakesNothing,
    /// What arrives exceeds the node's memory.
    Memory,
    /// What arrives exceeds a further rigid resource of the node.
    Rigid,
    /// The shares on the node exceed its CPU, or a further fluid resource.
    Shares,
    /// A yield is not between 0 and 1.
    YieldRange,
    /// A job that does not run is given a yield.
    YieldWithoutPlace,
    /// A job runs after a plan that sets yields, and is given none.
    NoYield,
}

impl ViolationKind {
    /// How bad it is.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::NoYield | Self::NoTasks => Severity::Warning,
            _ => Severity::Error,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::JobsOutOfOrder => "jobs are not in ascending order",
            Self::NoTasks => "the job has no task",
            Self::UnknownJob => "the job is not known",
            Self::UnknownNode => "the node is not known",
            Self::NotOurs => "the job is locked or on a node that is down",
            Self::WrongState => "the job's state does not allow this",
            Self::Mobility => "the job's mobility does not allow this",
            Self::Swap => "the node's swap does not hold the job",
            Self::ComesBackElsewhere => "a parked job can only come back where it is",
            Self::TaskCount => "the mapping has another number of tasks than the job",
            Self::TasksPerNode => "more tasks on the node than the job's layout allows",
            Self::NodeCount => "more nodes than the job's layout allows",
            Self::NotEligible => "the job's layout does not allow the node",
            Self::NodeTakesNothing => "the node takes no tasks",
            Self::Memory => "memory is exceeded",
            Self::Rigid => "a rigid resource is exceeded",
            Self::Shares => "the shares exceed the node's capacity",
            Self::YieldRange => "the yield is not between 0 and 1",
            Self::YieldWithoutPlace => "a job that does not run is given a yield",
            Self::NoYield => "a running job is given no yield",
        }
    }
}

/// One broken invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// How bad it is.
    pub severity: Severity,
    /// What is violated.
    pub kind: ViolationKind,
    /// At which action of the plan, counted from 0; `None`: of the whole.
    pub step: Option<usize>,
    /// By or for which job.
    pub job: Option<JobId>,
    /// On which node.
    pub node: Option<NodeIndex>,
    /// By which kind of the job's tasks, if it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_kind: Option<usize>,
}

impl fmt::Display for Violation {
    /// One line, e.g. `error: action 3: job 17: node 2: memory is exceeded`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.severity {
            Severity::Warning => "warning: ",
            Severity::Error => "error: ",
        })?;
        if let Some(step) = self.step {
            write!(formatter, "action {step}: ")?;
        }
        if let Some(job) = self.job {
            write!(formatter, "job {job}: ")?;
        }
        if let Some(kind) = self.task_kind {
            write!(formatter, "task kind {kind}: ")?;
        }
        if let Some(node) = self.node {
            write!(formatter, "node {node}: ")?;
        }
        formatter.write_str(self.kind.text())
    }
}

/// Every invariant that the cluster breaks by itself: the order of jobs, task counts, node positions.
/// That a node's memory is exceeded is no violation; it can happen, and a plan must cope. O(jobs +
/// runs).
#[must_use]
pub fn check_cluster(cluster: &Cluster) -> Vec<Violation> {
    let mut checker = Checker::new(cluster);
    for pair in cluster.jobs.windows(2) {
        if pair[0].id >= pair[1].id {
            checker.report(ViolationKind::JobsOutOfOrder, Some(pair[1].id), None);
        }
    }
    for job in &cluster.jobs {
        for (number, tasks) in job.task_counts().enumerate() {
            if tasks == 0 {
                checker.report_kind(ViolationKind::NoTasks, job, number, None);
            }
        }
        if let Some(mapping) = job.mapping() {
            checker.check_count(job, mapping);
            checker.known_nodes(job, mapping);
        }
    }
    checker.violations
}

/// Every invariant that `plan` breaks when carried out on `cluster`, action by action. The layout of a
/// parked job that comes back to its nodes is not looked at: it may have changed, and the job has no
/// other place. O(actions × runs + nodes).
#[must_use]
pub fn check(cluster: &Cluster, plan: &Plan) -> Vec<Violation> {
    let mut checker = Checker::new(cluster);
    for (step, planned) in plan.actions.iter().enumerate() {
        checker.step = Some(step);
        checker.carry_out(&planned.action);
    }
    checker.step = None;
    checker.check_shares();
    checker.violations
}

/// Where a job was before it arrives.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// Nowhere.
    Queue,
    /// In the swap of these very nodes.
    Swap,
    /// On these nodes.
    Nodes(&'a Mapping),
}

/// The cluster as the actions so far have left it.
struct Checker<'a> {
    cluster: &'a Cluster,
    states: Vec<JobState>,
    yields: Vec<Option<f64>>,
    usage: Usage<'a>,
    swap: SwapUsage<'a>,
    step: Option<usize>,
    violations: Vec<Violation>,
}

impl<'a> Checker<'a> {
    fn new(cluster: &'a Cluster) -> Self {
        Self {
            cluster,
            states: cluster.jobs.iter().map(|job| job.state.clone()).collect(),
            yields: vec![None; cluster.jobs.len()],
            usage: Usage::of(cluster, None),
            swap: SwapUsage::of(cluster, &cluster.jobs),
            step: None,
            violations: Vec::new(),
        }
    }

    fn report(&mut self, kind: ViolationKind, job: Option<JobId>, node: Option<NodeIndex>) {
        self.violations.push(Violation {
            severity: kind.severity(),
            kind,
            step: self.step,
            job,
            node,
            task_kind: None,
        });
    }

    /// Reports what one kind of the job's tasks violates.
    fn report_kind(
        &mut self,
        kind: ViolationKind,
        job: &Job,
        number: usize,
        node: Option<NodeIndex>,
    ) {
        self.report(kind, Some(job.id), node);
        if let Some(last) = self.violations.last_mut() {
            last.task_kind = (!job.has_one_kind()).then_some(number);
        }
    }

    fn carry_out(&mut self, action: &Action) {
        let Some(place) = self.cluster.position(action.job()) else {
            return self.report(ViolationKind::UnknownJob, Some(action.job()), None);
        };
        let job = &self.cluster.jobs[place];
        if !is_free(self.cluster, job) {
            return self.report(ViolationKind::NotOurs, Some(job.id), None);
        }
        match action {
            Action::Start(_, mapping) => self.start(place, mapping),
            Action::Pause(_) => self.pause(place),
            Action::Resume(_, mapping) => self.resume(place, mapping),
            Action::Migrate(_, mapping) => self.migrate(place, mapping),
            Action::SetYield(_, share) => {
                self.yields[place] = Some(share.0);
                if !(0.0..=1.0).contains(&share.0) {
                    self.report(ViolationKind::YieldRange, Some(job.id), None);
                }
            }
        }
    }

    fn start(&mut self, place: usize, mapping: &Mapping) {
        let job = &self.cluster.jobs[place];
        if self.states[place] != JobState::Pending {
            self.report(ViolationKind::WrongState, Some(job.id), None);
        }
        self.arrive(place, mapping, Origin::Queue);
    }

    fn pause(&mut self, place: usize) {
        let job = &self.cluster.jobs[place];
        let JobState::Running(mapping) = std::mem::take(&mut self.states[place]) else {
            return self.report(ViolationKind::WrongState, Some(job.id), None);
        };
        self.usage.remove(job, &mapping);
        self.states[place] = match job.mobility {
            Mobility::Checkpoint => JobState::Paused,
            Mobility::Restart => JobState::Pending,
            Mobility::Never => {
                self.report(ViolationKind::Mobility, Some(job.id), None);
                JobState::Paused
            }
            Mobility::Park => {
                if !self.swap.fits(job, &mapping) {
                    self.report(ViolationKind::Swap, Some(job.id), None);
                }
                self.swap.add(job, &mapping);
                JobState::Parked(mapping)
            }
        };
    }

    fn resume(&mut self, place: usize, mapping: &Mapping) {
        let job = &self.cluster.jobs[place];
        let mut origin = Origin::Queue;
        match std::mem::take(&mut self.states[place]) {
            JobState::Paused => {}
            JobState::Parked(parked) => {
                self.swap.remove(job, &parked);
                if parked == *mapping {
                    origin = Origin::Swap;
                } else {
                    self.report(ViolationKind::ComesBackElsewhere, Some(job.id), None);
                }
            }
            JobState::Pending | JobState::Running(_) => {
                self.report(ViolationKind::WrongState, Some(job.id), None)
            }
        }
        self.arrive(place, mapping, origin);
    }

    fn migrate(&mut self, place: usize, mapping: &Mapping) {
        let job = &self.cluster.jobs[place];
        let JobState::Running(old) = std::mem::take(&mut self.states[place]) else {
            return self.report(ViolationKind::WrongState, Some(job.id), None);
        };
        if matches!(job.mobility, Mobility::Park | Mobility::Never) {
            self.report(ViolationKind::Mobility, Some(job.id), None);
        }
        self.usage.remove(job, &old);
        self.arrive(place, mapping, Origin::Nodes(&old));
    }

    /// The job's tasks take their places.
    fn arrive(&mut self, place: usize, mapping: &Mapping, origin: Origin<'_>) {
        let job = &self.cluster.jobs[place];
        self.check_count(job, mapping);
        if self.known_nodes(job, mapping) {
            // What is in the swap of nodes has no other place, whatever the layout has become.
            if !matches!(origin, Origin::Swap) {
                self.check_layout(job, mapping);
            }
            for part in mapping.parts() {
                let node = &self.cluster.nodes[part.node.index()];
                let stays = node.state == NodeState::Draining
                    && matches!(origin, Origin::Nodes(old) if no_more(part, old));
                if !node.is_up() && !stays {
                    self.report(
                        ViolationKind::NodeTakesNothing,
                        Some(job.id),
                        Some(part.node),
                    );
                }
                if self.usage.memory(part.node) + job.memory_of(part) > node.memory {
                    self.report(ViolationKind::Memory, Some(job.id), Some(part.node));
                }
                if !self.usage.rigid_fits(job, part) {
                    self.report(ViolationKind::Rigid, Some(job.id), Some(part.node));
                }
            }
        }
        self.usage.add(job, mapping);
        self.states[place] = JobState::Running(mapping.clone());
    }

    fn check_count(&mut self, job: &Job, mapping: &Mapping) {
        let kinds = mapping.kind_count().max(1 + job.further_kinds.len());
        let wanted = job.task_counts().chain(std::iter::repeat(0));
        for (number, wanted) in (0..kinds).zip(wanted) {
            let placed = mapping.parts().map(|part| u64::from(part.of_kind(number)));
            if placed.sum::<u64>() != u64::from(wanted) {
                self.report_kind(ViolationKind::TaskCount, job, number, None);
            }
        }
    }

    fn known_nodes(&mut self, job: &Job, mapping: &Mapping) -> bool {
        let unknown = mapping
            .nodes()
            .find(|node| self.cluster.node(*node).is_none());
        if let Some(node) = unknown {
            self.report(ViolationKind::UnknownNode, Some(job.id), Some(node));
        }
        unknown.is_none()
    }

    fn check_layout(&mut self, job: &Job, mapping: &Mapping) {
        for (number, layout) in job.layouts().enumerate() {
            let parts = mapping.parts().filter(move |part| part.of_kind(number) > 0);
            if parts.clone().count() > layout.nodes() {
                self.report_kind(ViolationKind::NodeCount, job, number, None);
            }
            for part in parts {
                if part.of_kind(number) > layout.tasks_per_node() {
                    self.report_kind(ViolationKind::TasksPerNode, job, number, Some(part.node));
                }
                if !layout.allows(part.node) {
                    self.report_kind(ViolationKind::NotEligible, job, number, Some(part.node));
                }
            }
        }
    }

    /// Shares after the whole plan; only jobs whose yield the plan sets are known.
    fn check_shares(&mut self) {
        if self.yields.iter().all(Option::is_none) {
            return;
        }
        let cluster = self.cluster;
        let resources = 1 + cluster
            .nodes
            .iter()
            .map(|node| node.fluid.len())
            .max()
            .unwrap_or(0);
        let mut shares = vec![0.0; cluster.nodes.len() * resources];
        for (place, job) in cluster.jobs.iter().enumerate() {
            let running = matches!(self.states[place], JobState::Running(_));
            match self.yields[place] {
                Some(_) if !running => {
                    self.report(ViolationKind::YieldWithoutPlace, Some(job.id), None)
                }
                None if running && is_free(cluster, job) => {
                    self.report(ViolationKind::NoYield, Some(job.id), None)
                }
                Some(share) => add_shares(&mut shares, resources, job, &self.states[place], share),
                None => {}
            }
        }
        for (row, share) in shares.into_iter().enumerate() {
            let node = &cluster.nodes[row / resources];
            let capacity = match row % resources {
                0 => node.cpu.0,
                resource => node.fluid.get(resource - 1).map_or(0, |amount| amount.0),
            };
            #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
            if share > capacity as f64 * (1.0 + ROUNDING) {
                let place = u32::try_from(row / resources).unwrap_or(u32::MAX);
                self.report(ViolationKind::Shares, None, Some(NodeIndex(place)));
            }
        }
    }
}

/// Whether the part has no more tasks of any kind than `old` has there.
fn no_more(part: Part<'_>, old: &Mapping) -> bool {
    let mut before = old.parts().filter(|before| before.node == part.node);
    before
        .any(|before| (0..part.tasks.len()).all(|kind| part.of_kind(kind) <= before.of_kind(kind)))
}

/// Adds what the job gets of each fluid resource of its nodes.
#[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
fn add_shares(shares: &mut [f64], resources: usize, job: &Job, state: &JobState, share: f64) {
    let JobState::Running(mapping) = state else {
        return;
    };
    for part in mapping.parts() {
        for resource in 0..resources {
            let need = job.need_of(part, resource);
            if let Some(sum) = shares.get_mut(part.node.index() * resources + resource) {
                *sum += share * need as f64;
            }
        }
    }
}
