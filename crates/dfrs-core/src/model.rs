//! What a decision looks at: nodes and jobs of one cluster at one instant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use crate::mapping::{Mapping, Run};
pub use crate::node_index::NodeIndex;
use crate::node_set::NodeSet;
use crate::together::{NodeGroups, Together};
use crate::units::{Amount, Bytes, Cores, Span, Time, Weight};

/// Identity of a job, unique within a cluster.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct JobId(pub u64);

impl fmt::Display for JobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// What a node may be used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NodeState {
    /// Takes new tasks.
    #[default]
    Up,
    /// Keeps its tasks and takes no new ones.
    Draining,
    /// Has no tasks and takes none. Jobs that still run there are left to the driver.
    Down,
}

/// One node. Needs and capacities are absolute; a node's fraction is derived.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Name as the driver has it.
    pub name: String,
    /// CPU capacity. A node without any takes only tasks without a CPU need.
    pub cpu: Cores,
    /// Memory capacity.
    pub memory: Bytes,
    /// Memory of parked jobs that the node's swap can hold; 0: nothing is parked on this node.
    pub swap: Bytes,
    /// Memory in use by what DFRS does not decide about (jobs that are ending, that a user
    /// suspended, or that another scheduler started).
    pub held_memory: Bytes,
    /// What of it jobs hold that have ended: it will be free in seconds.
    #[serde(default)]
    pub ending_memory: Bytes,
    /// Whether it takes tasks.
    pub state: NodeState,
    /// Of nodes with idle CPU for a task those of the lowest weight are taken first (Slurm:
    /// `Weight`).
    #[serde(default = "usual_weight")]
    pub weight: u32,
    /// Capacities of further rigid resources, which like memory are never exceeded; what is in use
    /// by others is already taken off. A resource that is not listed has capacity 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rigid: Vec<Amount>,
}

/// As in Slurm.
const fn usual_weight() -> u32 {
    1
}

impl Node {
    /// An empty node that takes tasks, has no swap and the weight that Slurm gives a node without one.
    pub fn new(name: impl Into<String>, cpu: Cores, memory: Bytes) -> Self {
        Self {
            name: name.into(),
            cpu,
            memory,
            weight: usual_weight(),
            ..Self::default()
        }
    }

    /// Memory that is there for DFRS: capacity less what others hold.
    pub const fn usable_memory(&self) -> Bytes {
        self.memory.minus(self.held_memory)
    }

    /// Whether it takes new tasks.
    pub fn is_up(&self) -> bool {
        self.state == NodeState::Up
    }
}

/// How a job can give up its place. Plans contain only what a job can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mobility {
    /// Keeps its progress across a restart: may be paused, come back anywhere, and migrate (the
    /// papers' model).
    #[default]
    Checkpoint,
    /// Its processes are written to image files and go on from them anywhere, without their help:
    /// may be paused, come back anywhere, and migrate, as with [`Self::Checkpoint`].
    Carry,
    /// May be frozen with its memory moved to the nodes' swap, and comes back on the same nodes or
    /// not at all; never migrates. No plan parks a job that requires devices, which it would hold
    /// on: it stays as with [`Self::Never`]. One that is parked all the same counts as without its
    /// devices, and comes back when they are free.
    Park,
    /// May be stopped and restarted anywhere, but loses its work; its virtual time starts again.
    Restart,
    /// Stays where it is until it ends.
    Never,
}

impl Mobility {
    /// All of them, from the one that allows least on.
    pub const ALL: [Self; 5] = [
        Self::Never,
        Self::Restart,
        Self::Park,
        Self::Carry,
        Self::Checkpoint,
    ];

    /// Whether the job can go on anywhere with its work: the papers' free move.
    pub const fn is_free(self) -> bool {
        matches!(self, Self::Checkpoint | Self::Carry)
    }
}

impl FromStr for Mobility {
    type Err = UnknownMobility;

    /// Reads what [`fmt::Display`] writes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|mobility| mobility.to_string() == text);
        found.ok_or(UnknownMobility)
    }
}

/// A word that is no [`Mobility`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownMobility;

impl fmt::Display for UnknownMobility {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("checkpoint, carry, park, restart or never")
    }
}

impl fmt::Display for Mobility {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Checkpoint => "checkpoint",
            Self::Carry => "carry",
            Self::Park => "park",
            Self::Restart => "restart",
            Self::Never => "never",
        })
    }
}

/// Where a job is in its life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobState {
    /// Submitted, never started (or restarted from nothing).
    #[default]
    Pending,
    /// Holds CPU and memory on these nodes.
    Running(Mapping),
    /// Gave up its place and may come back anywhere.
    Paused,
    /// Parked: frozen on these nodes, its memory in their swap; comes back on these nodes only.
    Parked(Mapping),
}

impl JobState {
    /// The nodes whose CPU and memory a job in this state holds.
    pub const fn running_on(&self) -> Option<&Mapping> {
        match self {
            Self::Running(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The nodes whose swap a job in this state holds.
    pub const fn parked_on(&self) -> Option<&Mapping> {
        match self {
            Self::Parked(mapping) => Some(mapping),
            _ => None,
        }
    }
}

/// Rules of the job's own about where its tasks may go.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Layout {
    /// At most this many tasks on one node; `None`: as many as fit.
    pub max_tasks_per_node: Option<u32>,
    /// At most this many nodes; `None`: any number.
    pub max_nodes: Option<u32>,
    /// At least this many nodes, and as many as there are tasks if these are fewer; `None`: any
    /// number. Greedy keeps to it, MCB8 does not.
    #[serde(default)]
    pub min_nodes: Option<u32>,
    /// Only these nodes; `None`: all.
    pub eligible: Option<NodeSet>,
    /// Which nodes it may have together; `None`: any. No node that this does not allow. MCB8 places
    /// jobs without such a rule only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
    /// Nodes that are taken first (Slurm: `--prefer`); `None`: it prefers none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred: Option<NodeSet>,
    /// Sets of nodes of which it is to have few (Slurm: the nodes of each leaf switch), no node in
    /// two of them, where that costs it no CPU; `None`: that does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub few_of: Option<NodeGroups>,
}

impl Layout {
    /// Whether tasks of the job may go to `node`. O(log n) of the set.
    #[inline]
    pub fn allows(&self, node: NodeIndex) -> bool {
        self.eligible
            .as_ref()
            .is_none_or(|nodes| nodes.contains(node))
    }

    /// The most tasks that one node may hold.
    #[inline]
    pub fn tasks_per_node(&self) -> u32 {
        self.max_tasks_per_node.unwrap_or(u32::MAX)
    }

    /// The fewest nodes that the job may use, 0 where that is not said.
    #[inline]
    pub fn least_nodes(&self) -> u32 {
        self.min_nodes.unwrap_or(0)
    }

    /// The most nodes that the job may use.
    #[inline]
    pub fn nodes(&self) -> usize {
        self.max_nodes.map_or(usize::MAX, |nodes| nodes as usize)
    }
}

/// One job, whose tasks are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Identity.
    pub id: JobId,
    /// Submission (release date). Ties in priority go to the earlier submission, then the lower id.
    pub submit: Time,
    /// Number of tasks, at least 1.
    pub tasks: u32,
    /// CPU need of one task: the most it can use.
    pub cpu: Cores,
    /// Memory requirement of one task.
    pub memory: Bytes,
    /// Memory required once on each node that the job uses, however many tasks it has there
    /// (Slurm's `--mem`); added to `memory` times tasks.
    pub memory_per_node: Bytes,
    /// Where its tasks may go.
    pub layout: Layout,
    /// How it can give up its place.
    pub mobility: Mobility,
    /// Integral of its yield since submission.
    pub virtual_time: Span,
    /// How much longer it has had places than its virtual time explains: what sharing CPU and
    /// coming back to a place have cost it, not negative.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub delay: Span,
    /// The longest run time that the user gave; `None`: nothing is known. The default policy uses
    /// it, others where this is set ([`crate::RunTimeHint`]); nothing is enforced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Span>,
    /// Where it is now, or will be when what is under way has finished.
    pub state: JobState,
    /// Something is under way with this job: it is planned around, and no action names it.
    pub locked: bool,
    /// Weight in priority and in shares.
    #[serde(default)]
    pub weight: Weight,
    /// The job was paused for longer than it is to be, or came back so and is to have something of
    /// it: its priority is infinite, as that of a job without virtual time. The driver sets this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starved: bool,
    /// How often it was paused or migrated within the last hour, for the policy's budget.
    #[serde(default)]
    pub recent_moves: u32,
    /// Requirements of one task in the nodes' further rigid resources ([`Node::rigid`]), kind by
    /// kind in the nodes' order; a kind that is not listed is not required.
    ///
    /// A job that requires any is taken to work on devices, such as GPUs, that would stand still
    /// while it waits for CPU: ceilings on load do not keep it out, and it has a least yield
    /// ([`crate::LeastYield::OF_DEVICES`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rigid: Vec<Amount>,
    /// Requirements in further rigid resources once on each node that the job uses, however many
    /// tasks it has there (Slurm's `--gres`, `--gpus-per-node`); added to `rigid` times tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rigid_per_node: Vec<Amount>,
}

impl Job {
    /// Whether it was never started, or is to begin from nothing, whatever virtual time it
    /// inherited.
    pub const fn never_ran(&self) -> bool {
        matches!(self.state, JobState::Pending)
    }

    /// A pending job with the papers' properties and no others; change the rest field by field.
    pub fn new(id: JobId, submit: Time, tasks: u32, cpu: Cores, memory: Bytes) -> Self {
        Self {
            id,
            submit,
            tasks,
            cpu,
            memory,
            ..Self::default()
        }
    }

    /// The nodes that it runs on, or is parked on.
    pub const fn mapping(&self) -> Option<&Mapping> {
        match &self.state {
            JobState::Running(mapping) | JobState::Parked(mapping) => Some(mapping),
            JobState::Pending | JobState::Paused => None,
        }
    }

    /// The nodes whose CPU and memory the job holds.
    pub const fn running_on(&self) -> Option<&Mapping> {
        self.state.running_on()
    }

    /// Whether it holds CPU and memory.
    pub const fn is_running(&self) -> bool {
        matches!(self.state, JobState::Running(_))
    }

    /// Whether it can go on anywhere with its work, so that it keeps no other job from a place.
    pub const fn moves_freely(&self) -> bool {
        self.mobility.is_free()
    }

    /// Time since its submission, never negative.
    pub fn flow_time(&self, now: Time) -> Span {
        now.since(self.submit).max(Span::ZERO)
    }
}

/// Everything a decision looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// All nodes; [`NodeIndex`] points here.
    pub nodes: Vec<Node>,
    /// All jobs in the system, ascending by id.
    pub jobs: Vec<Job>,
}

impl Cluster {
    /// The job of this identity. O(log j); relies on `jobs` being ascending.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.position(id).map(|place| &self.jobs[place])
    }

    /// The job of this identity, to change.
    #[must_use]
    pub fn job_mut(&mut self, id: JobId) -> Option<&mut Job> {
        self.position(id).map(|place| &mut self.jobs[place])
    }

    /// The node at this position.
    pub fn node(&self, node: NodeIndex) -> Option<&Node> {
        self.nodes.get(node.index())
    }

    /// What this node may be used for; nothing if there is none.
    pub(crate) fn state_of(&self, node: NodeIndex) -> NodeState {
        self.node(node).map_or(NodeState::Down, |node| node.state)
    }

    /// Position of the job in `jobs`.
    pub(crate) fn position(&self, id: JobId) -> Option<usize> {
        self.jobs.binary_search_by_key(&id, |job| job.id).ok()
    }

    /// Puts a job at its place in the order of identities; a job of the same identity is replaced
    /// and returned.
    pub fn insert(&mut self, job: Job) -> Option<Job> {
        match self.jobs.binary_search_by_key(&job.id, |other| other.id) {
            Ok(place) => Some(std::mem::replace(&mut self.jobs[place], job)),
            Err(place) => {
                self.jobs.insert(place, job);
                None
            }
        }
    }

    /// Takes a job out.
    pub fn remove(&mut self, id: JobId) -> Option<Job> {
        self.position(id).map(|place| self.jobs.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: u64) -> Job {
        Job::new(JobId(id), Time(10), 2, Cores(3), Bytes(5))
    }

    fn on_node_4() -> Mapping {
        Mapping::from_tasks([NodeIndex(4), NodeIndex(4)])
    }

    #[test]
    fn identities_and_kinds_are_shown() {
        assert_eq!(NodeIndex(4).to_string() + &JobId(7).to_string(), "47");
        let shown = Mobility::ALL.map(|mobility| mobility.to_string());
        assert_eq!(shown, ["never", "restart", "park", "carry", "checkpoint"]);
        assert_eq!(shown.map(|text| text.parse()), Mobility::ALL.map(Ok));
        assert_eq!("fly".parse::<Mobility>(), Err(UnknownMobility));
    }

    #[test]
    fn usable_memory_excludes_held_memory() {
        let mut node = Node::new("n", Cores(1), Bytes(8));
        node.held_memory = Bytes(3);
        assert_eq!(node.usable_memory(), Bytes(5));
        node.held_memory = Bytes(9);
        assert_eq!(node.usable_memory(), Bytes::ZERO);
        let mut takes_tasks = |state| {
            node.state = state;
            node.is_up()
        };
        let states = [NodeState::Up, NodeState::Draining, NodeState::Down];
        assert_eq!(states.map(&mut takes_tasks), [true, false, false]);
    }

    #[test]
    fn a_layout_without_rules_allows_everything() {
        let mut layout = Layout::default();
        assert!(layout.allows(NodeIndex(7)));
        assert_eq!(
            (layout.tasks_per_node(), layout.nodes()),
            (u32::MAX, usize::MAX)
        );
        layout.eligible = Some([2, 7].map(NodeIndex).into_iter().collect());
        layout.max_tasks_per_node = Some(3);
        layout.max_nodes = Some(5);
        assert!(layout.allows(NodeIndex(7)) && !layout.allows(NodeIndex(3)));
        assert_eq!((layout.tasks_per_node(), layout.nodes()), (3, 5));
    }

    #[test]
    fn only_running_jobs_hold_their_nodes() {
        let of = |state| {
            let job = Job { state, ..job(1) };
            let (mapping, held) = (job.mapping().cloned(), job.running_on().cloned());
            (mapping, held, job.is_running())
        };
        let place = Some(on_node_4());
        assert_eq!(of(JobState::Pending), (None, None, false));
        assert_eq!(of(JobState::Paused), (None, None, false));
        assert_eq!(
            of(JobState::Parked(on_node_4())),
            (place.clone(), None, false)
        );
        assert_eq!(
            of(JobState::Running(on_node_4())),
            (place.clone(), place, true)
        );
    }

    #[test]
    fn flow_time_begins_at_submission() {
        assert_eq!(job(1).flow_time(Time(25)), Span(15));
        assert_eq!(job(1).flow_time(Time(5)), Span::ZERO);
    }

    #[test]
    fn a_cluster_keeps_its_jobs_by_identity() {
        let mut cluster = Cluster::default();
        assert_eq!(cluster.node(NodeIndex(0)), None);
        cluster.nodes.push(Node::new("n", Cores(1), Bytes(8)));
        assert_eq!(cluster.node(NodeIndex(0)), Some(&cluster.nodes[0]));
        for id in [5, 2, 9] {
            assert_eq!(cluster.insert(job(id)), None);
        }
        let ids: Vec<u64> = cluster.jobs.iter().map(|job| job.id.0).collect();
        assert_eq!(ids, [2, 5, 9]);
        let changed = Job { tasks: 4, ..job(5) };
        assert_eq!(cluster.insert(changed.clone()), Some(job(5)));
        assert_eq!(cluster.job(JobId(5)), Some(&changed));
        cluster.job_mut(JobId(5)).expect("it is there").tasks = 2;
        assert_eq!(cluster.remove(JobId(5)), Some(job(5)));
        assert_eq!((cluster.remove(JobId(5)), cluster.jobs.len()), (None, 2));
        assert_eq!(cluster.job_mut(JobId(5)), None);
    }
}
