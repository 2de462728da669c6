//! Invariants of a cluster and of a plan, as data: each violation holds the amounts and names that
//! show it, so that its line is enough to find the cause.

mod arrival;
mod shares;
mod text;
mod violation;

use crate::model::{Cluster, JobId, JobState, Mapping, Mobility, NodeIndex, NodeState};
use crate::plan::{Action, Plan};
use crate::usage::{SwapUsage, Usage};

pub use violation::{NamedNode, Severity, Shortage, Step, Violation, ViolationKind, jobs_at_fault};

/// Every invariant that the cluster breaks by itself: the order of jobs, task counts, node
/// positions. That a node's memory is exceeded is no violation; it can happen, and a plan must
/// cope. O(jobs + runs).
#[must_use]
pub fn check_cluster(cluster: &Cluster) -> Vec<Violation> {
    let mut checker = Checker::new(cluster);
    for pair in cluster.jobs.windows(2) {
        if pair[0].id >= pair[1].id {
            let after = pair[0].id;
            checker.report(ViolationKind::JobsOutOfOrder { after }, pair[1].id);
        }
    }
    for job in &cluster.jobs {
        if job.tasks == 0 {
            checker.report(ViolationKind::NoTasks, job.id);
        }
        if let Some(mapping) = job.mapping() {
            checker.check_count(job, mapping);
            checker.known_nodes(job, mapping);
        }
    }
    checker.violations
}

/// Every invariant that `plan` breaks when carried out on `cluster`, action by action. The layout
/// of a parked job that comes back to its nodes is not looked at: it may have changed, and the job
/// has no other place. O(actions × runs + nodes), and O(jobs log runs) for each resource that is
/// exceeded.
#[must_use]
pub fn check(cluster: &Cluster, plan: &Plan) -> Vec<Violation> {
    let mut checker = Checker::new(cluster);
    for (index, planned) in plan.actions.iter().enumerate() {
        let verb = planned.action.verb();
        checker.step = Some(Step { index, verb });
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
    /// Of each of [`Cluster::jobs`].
    states: Vec<JobState>,
    /// Of each of [`Cluster::jobs`], if the plan sets it.
    yields: Vec<Option<f64>>,
    usage: Usage,
    swap: SwapUsage,
    step: Option<Step>,
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

    fn report(&mut self, kind: ViolationKind, job: JobId) {
        self.push(kind, Some(job), None);
    }

    fn report_on(&mut self, kind: ViolationKind, job: JobId, node: NodeIndex) {
        self.push(kind, Some(job), Some(node));
    }

    fn push(&mut self, kind: ViolationKind, job: Option<JobId>, node: Option<NodeIndex>) {
        self.violations.push(Violation {
            kind,
            step: self.step,
            job,
            node: node.map(|node| self.named(node)),
        });
    }

    fn named(&self, index: NodeIndex) -> NamedNode {
        let node = self.cluster.node(index);
        let name = node.map_or_else(String::new, |node| node.name.clone());
        NamedNode { index, name }
    }

    fn carry_out(&mut self, action: &Action) {
        let id = action.job();
        let Some(index) = self.cluster.position(id) else {
            return self.report(ViolationKind::UnknownJob, id);
        };
        if self.is_not_ours(index) {
            return;
        }
        match action {
            Action::Start(_, mapping) => self.start(index, mapping),
            Action::Pause(_) => self.pause(index),
            Action::Resume(_, mapping) => self.resume(index, mapping),
            Action::Migrate(_, mapping) => self.migrate(index, mapping),
            Action::SetYield(_, share) => {
                self.yields[index] = Some(share.0);
                if !(0.0..=1.0).contains(&share.0) {
                    self.report(ViolationKind::YieldRange { share: share.0 }, id);
                }
            }
        }
    }

    /// Reports a job that no plan may name: see [`crate::target::is_free`].
    fn is_not_ours(&mut self, index: usize) -> bool {
        let cluster = self.cluster;
        let job = &cluster.jobs[index];
        if job.locked {
            self.report(ViolationKind::Locked, job.id);
            return true;
        }
        let is_down = |node: &NodeIndex| cluster.state_of(*node) == NodeState::Down;
        let mut nodes = job.running_on().into_iter().flat_map(Mapping::nodes);
        let Some(node) = nodes.find(is_down) else {
            return false;
        };
        let kind = match cluster.node(node) {
            Some(_) => ViolationKind::OnNodeThatIsDown,
            None => self.unknown_node(),
        };
        self.report_on(kind, job.id, node);
        true
    }

    fn unknown_node(&self) -> ViolationKind {
        let nodes = self.cluster.nodes.len();
        ViolationKind::UnknownNode { nodes }
    }

    /// Takes the job's state away; the caller says which it is next.
    fn leave_state(&mut self, index: usize) -> JobState {
        std::mem::take(&mut self.states[index])
    }

    fn wrong_state(&mut self, job: JobId, state: JobState, allowed: &'static str) {
        self.report(ViolationKind::WrongState { state, allowed }, job);
    }

    fn start(&mut self, index: usize, mapping: &Mapping) {
        let state = self.leave_state(index);
        if state != JobState::Pending {
            self.wrong_state(self.cluster.jobs[index].id, state, "pending");
        }
        self.arrive(index, mapping, Origin::Queue);
    }

    fn pause(&mut self, index: usize) {
        let job = &self.cluster.jobs[index];
        let mapping = match self.leave_state(index) {
            JobState::Running(mapping) => mapping,
            state => return self.wrong_state(job.id, state, "running"),
        };
        self.usage.remove(job, &mapping);
        self.states[index] = match job.mobility {
            Mobility::Checkpoint | Mobility::Carry => JobState::Paused,
            Mobility::Restart => JobState::Pending,
            Mobility::Never => {
                self.report(ViolationKind::Mobility(job.mobility), job.id);
                JobState::Paused
            }
            Mobility::Park => {
                if job.requires_devices() {
                    self.report(ViolationKind::ParksDevices, job.id);
                }
                self.check_swap(job, &mapping);
                self.swap.add(job, &mapping);
                JobState::Parked(mapping)
            }
        };
    }

    fn resume(&mut self, index: usize, mapping: &Mapping) {
        let job = &self.cluster.jobs[index];
        let mut origin = Origin::Queue;
        match self.leave_state(index) {
            JobState::Paused => {}
            JobState::Parked(parked) => {
                self.swap.remove(job, &parked);
                if parked == *mapping {
                    origin = Origin::Swap;
                } else {
                    let parked = parked.nodes().map(|node| self.named(node)).collect();
                    self.report(ViolationKind::ComesBackElsewhere { parked }, job.id);
                }
            }
            state => self.wrong_state(job.id, state, "paused or parked"),
        }
        self.arrive(index, mapping, origin);
    }

    fn migrate(&mut self, index: usize, mapping: &Mapping) {
        let job = &self.cluster.jobs[index];
        let old = match self.leave_state(index) {
            JobState::Running(old) => old,
            state => return self.wrong_state(job.id, state, "running"),
        };
        if matches!(job.mobility, Mobility::Park | Mobility::Never) {
            self.report(ViolationKind::Mobility(job.mobility), job.id);
        }
        self.usage.remove(job, &old);
        self.arrive(index, mapping, Origin::Nodes(&old));
    }

    /// The job's tasks take their places.
    fn arrive(&mut self, index: usize, mapping: &Mapping, origin: Origin<'_>) {
        let job = &self.cluster.jobs[index];
        // What is in the swap of nodes has no other place, whatever the job has become: Slurm lets
        // it give up nodes.
        let may_choose = !matches!(origin, Origin::Swap);
        if may_choose {
            self.check_count(job, mapping);
        }
        if self.known_nodes(job, mapping) {
            if may_choose {
                self.check_layout(job, mapping);
            }
            for run in mapping.iter() {
                self.check_node(job, run, origin);
            }
        }
        self.usage.add(job, mapping);
        self.states[index] = JobState::Running(mapping.clone());
    }
}
