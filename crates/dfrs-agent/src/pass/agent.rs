//! What the scheduler knows between passes, and what it reaches the world by.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::{Blocked, Cluster, Histories, Plan, Span, Time, Violation, Yield, check};
use dfrs_proto::conf::Config;
use dfrs_proto::explain::LastDecision;
use dfrs_proto::journal::JobOutcome;
use dfrs_proto::message::NodeOrder;
use dfrs_proto::status::ActionCounts;

use super::MAX_SLEEP;
use super::act::give_back_partitions::GivingBack;
use super::act::orphaned::OrphanedJobs;
use super::act::resumptions::Resumptions;
use super::admit::admission::Admission;
use super::admit::limited_users::LimitedUsers;
use super::admit::settle_queue::SettleQueue;
use super::admit::submit_backoff::SubmitBackoff;
use super::decide::decision_backoff::DecisionBackoff;
use super::decide::partition_policies::PartitionPolicies;
use super::decide::remaps::Remaps;
use super::follow::JobLists;
use super::look::drains::Drains;
use super::look::lost::Lost;
use super::look::slow_nodes::SlowNodes;
use super::publish::ShownReasons;
use super::publish::daily::Daily;
use super::publish::persist::Saved;
use super::publish::shown::ShownYields;
use super::share::needs;
use crate::clock::Ahead;
use crate::daemons::{Daemons, NodeFacts, SwapEighths};
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::plan::actual::ActualCluster;
use crate::plan::cluster::PassFacts;
use crate::plan::excluded::Excluded;
use crate::plan::kept_memory::KeptMemory;
use crate::plan::planned::PlannedCluster;
use crate::plan::refusals::Refusals;
use crate::plan::weights::Weights;
use crate::probe::Probe;
use crate::publish::live_journal::{LiveJournal, Writer};
use crate::publish::node_orders::TerminatingJobs;
use crate::publish::recorder::Recorder;
use crate::publish::state::{State, Store};
use crate::slurm::observation::Observation;
use crate::slurm::port::Slurm;
use crate::slurm::records::ObservedNode;

/// What an agent reaches the world by.
pub struct Ports<S, D> {
    /// slurmctld.
    pub slurm: S,
    /// The node daemons.
    pub daemons: D,
    /// Where the state is kept.
    pub store: Box<dyn Store>,
    /// The journal, if there is one.
    pub journal: Option<Writer>,
    /// Where decisions are recorded for a closer look.
    pub recorder: Box<dyn Recorder>,
    /// Measures passes.
    pub probe: Box<dyn Probe>,
}

/// The scheduler's state between passes.
pub struct Agent<S, D> {
    pub(super) slurm: S,
    pub(super) config: Config,
    pub(super) probe: Box<dyn Probe>,
    /// What Slurm showed last.
    pub(super) seen: Observation,
    pub(super) looks: Looks,
    pub(super) ledger: Ledger,
    pub(super) lists: JobLists,
    pub(super) queue: WaitingJobs,
    pub(super) planner: Planner,
    pub(super) nodes: Nodes<D>,
    pub(super) publisher: Publisher,
    pub(super) giving_back: GiveBack,
}

/// When Slurm was looked at, and when it is to be.
pub(super) struct Looks {
    pub(super) at: Time,
    /// When this agent began.
    pub(super) began: Time,
    /// By how much the time given to the agent is ahead of Slurm's clock.
    pub(super) ahead: Ahead,
    pub(super) max_sleep: Span,
    pub(super) has_looked: bool,
    /// slurmctld was killed, and was not looked at since.
    pub(super) recovers: bool,
    pub(super) cores_hidden: Time,
    /// No sooner after that they are hidden again.
    pub(super) cores_interval: Span,
    pub(super) arrays_read: Time,
}

impl Looks {
    fn new(state: &State, now: Time) -> Self {
        Self {
            at: Time(0),
            began: now,
            ahead: state.head.ahead,
            max_sleep: MAX_SLEEP,
            has_looked: false,
            recovers: !state.head.in_order,
            cores_hidden: Time(0),
            cores_interval: Span(0),
            arrays_read: Time(0),
        }
    }
}

/// Jobs that wait: which of them Slurm would start, and which are decided about again when.
#[derive(Default)]
pub(super) struct WaitingJobs {
    pub(super) admission: Admission,
    /// Admission of arrays of which tasks are to get records.
    pub(super) array_admission: Admission,
    pub(super) limited_users: LimitedUsers,
    pub(super) settle_queue: SettleQueue,
    pub(super) submit_backoff: SubmitBackoff,
}

/// What decisions are made from, and what came of them.
pub(super) struct Planner {
    /// What jobs weigh beside each other, at this pass.
    pub(super) weights: Weights,
    /// When they are computed again.
    pub(super) weights_due: Time,
    pub(super) planned: PlannedCluster,
    pub(super) actual: ActualCluster,
    /// What each job that runs has.
    pub(super) shares: BTreeMap<u32, Yield>,
    /// What users have had lately; empty at first.
    pub(super) histories: Histories,
    pub(super) partition_policies: PartitionPolicies,
    pub(super) remaps: Remaps,
    pub(super) decision_backoff: DecisionBackoff,
    pub(super) excluded: Excluded,
    pub(super) refusals: Refusals,
    /// What says which rules a plan breaks.
    pub(super) check: fn(&Cluster, &Plan) -> Vec<Violation>,
    pub(super) blocked: BTreeMap<u32, Blocked>,
    /// What was last decided about each job that has not ended.
    pub(super) last_changes: BTreeMap<u32, LastDecision>,
    /// Jobs that are parked where others have reserved the nodes.
    pub(super) kept_away: BTreeSet<u32>,
    /// What is kept for jobs of other partitions.
    pub(super) kept_memory: KeptMemory,
}

/// The nodes: what they said, and what they were ordered.
pub(super) struct Nodes<D> {
    pub(super) daemons: D,
    /// What the nodes said last.
    pub(super) facts: Option<Arc<NodeFacts>>,
    pub(super) silent: BTreeSet<String>,
    /// Nodes that were down when they were last seen.
    pub(super) down: BTreeSet<String>,
    /// The nodes on which jobs may be parked, and how much of their counted swap parked jobs can
    /// have.
    pub(super) swap: SwapEighths,
    /// As they were when it was last decided.
    pub(super) at_decision: BTreeMap<String, ObservedNode>,
    /// The orders that were last sent to the nodes.
    pub(super) orders: BTreeMap<String, NodeOrder>,
    /// The orphaned jobs that nodes are queried about.
    pub(super) former: TerminatingJobs,
    pub(super) orphaned: OrphanedJobs,
    /// Jobs that are over and may have left an image, and the node that is to remove it.
    pub(super) void_images: BTreeMap<u32, String>,
    /// Jobs whose processes were still ending when they were last seen; nodes, and MiB that they
    /// may hold there although Slurm did not count them before.
    pub(super) ending: BTreeMap<u32, Vec<(u32, u64)>>,
    pub(super) resumptions: Resumptions,
    pub(super) slow_nodes: SlowNodes,
    pub(super) drains: Drains,
}

impl<D> Nodes<D> {
    fn new(daemons: D, void_images: BTreeMap<u32, String>) -> Self {
        Self {
            daemons,
            facts: None,
            silent: BTreeSet::new(),
            down: BTreeSet::new(),
            swap: SwapEighths::new(),
            at_decision: BTreeMap::new(),
            orders: BTreeMap::new(),
            former: TerminatingJobs::default(),
            orphaned: OrphanedJobs::default(),
            void_images,
            ending: BTreeMap::new(),
            resumptions: Resumptions::default(),
            slow_nodes: SlowNodes::default(),
            drains: Drains::default(),
        }
    }
}

/// What others are shown: users, the journal, the state file.
pub(super) struct Publisher {
    pub(super) saved: Saved,
    pub(super) journal: Option<LiveJournal>,
    pub(super) recorder: Box<dyn Recorder>,
    pub(super) reasons: ShownReasons,
    /// What Slurm's own tools show of the yields.
    pub(super) shown: ShownYields,
    /// Jobs that ended, for the journal.
    pub(super) ended: Vec<(u32, LedgerRecord, JobOutcome)>,
    /// What was done since this agent began.
    pub(super) done: ActionCounts,
    pub(super) daily: Daily,
    pub(super) lost: Lost,
}

/// Giving back: the whole cluster, or partitions.
pub(super) struct GiveBack {
    /// It gives everything back, and does nothing else.
    pub(super) everything: bool,
    /// Everything is given back, and the nodes have acknowledged it.
    pub(super) is_thaw_confirmed: bool,
    /// Partitions that it gives back while it schedules others.
    pub(super) partitions: GivingBack,
    /// Another agent has kept a state before this one.
    pub(super) has_begun_before: bool,
    /// Jobs whose giving back has panicked: they are left alone.
    pub(super) left_out: BTreeSet<u32>,
}

impl GiveBack {
    fn new(state: &State, config: &Config) -> Self {
        Self {
            everything: false,
            is_thaw_confirmed: false,
            partitions: GivingBack::of(state.dropped_partitions(config)),
            has_begun_before: !state.head.partitions.is_empty(),
            left_out: BTreeSet::new(),
        }
    }
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// An agent that goes on where `state` says.
    pub fn new(ports: Ports<S, D>, config: Config, state: State, now: Time) -> Self {
        let looks = Looks::new(&state, now);
        let giving_back = GiveBack::new(&state, &config);
        let mut ledger = state.ledger;
        needs::forget_needs(&mut ledger);
        let saved = Saved::new(ports.store, &ledger);
        let journal = ports.journal;
        let mut journal = journal.map(|writer| LiveJournal::resume(writer, &mut ledger));
        let strangers = journal.as_mut().map(LiveJournal::take_running_unknown_jobs);
        let shares = ledger.iter().map(|(id, record)| (id, record.share()));
        let shares = shares.filter(|(_, share)| share.0 > 0.0).collect();
        let planner = Planner {
            weights: Weights::default(),
            weights_due: Time::ZERO,
            planned: PlannedCluster::with(state.head.experience),
            actual: ActualCluster::default(),
            shares,
            histories: Histories::default(),
            partition_policies: PartitionPolicies::default(),
            remaps: Remaps::from(now + config.policy.settings.period),
            decision_backoff: DecisionBackoff::default(),
            excluded: Excluded::default(),
            refusals: Refusals::default(),
            check,
            blocked: BTreeMap::new(),
            last_changes: BTreeMap::new(),
            kept_away: BTreeSet::new(),
            kept_memory: KeptMemory::default(),
        };
        let publisher = Publisher {
            saved,
            journal,
            recorder: ports.recorder,
            reasons: ShownReasons::default(),
            shown: ShownYields::default(),
            ended: Vec::new(),
            done: ActionCounts::default(),
            daily: Daily::from(now),
            lost: Lost::of(strangers.unwrap_or_default()),
        };
        Self {
            slurm: ports.slurm,
            probe: ports.probe,
            seen: Observation::default().with_whole_nodes(config.whole_node_partitions()),
            looks,
            ledger,
            lists: JobLists::default(),
            queue: WaitingJobs::default(),
            planner,
            nodes: Nodes::new(ports.daemons, state.head.void_images),
            publisher,
            giving_back,
            config,
        }
    }

    /// What the core is given, at this time.
    pub(super) fn facts<'a>(&'a self, seen: &'a Observation, now: Time) -> PassFacts<'a> {
        PassFacts {
            seen,
            ledger: &self.ledger,
            config: &self.config,
            swap: &self.nodes.swap,
            ready: self.queue.admission.ready(),
            refusals: &self.planner.refusals,
            excluded: &self.planner.excluded,
            kept_memory: &self.planner.kept_memory,
            weights: self.planner.weights,
            now,
        }
    }
}
