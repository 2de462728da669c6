//! One pass of the scheduler: look, decide, act, send orders to the nodes. Everything between two
//! looks at Slurm is a function of the observation, the ledger and the time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dfrs_core::{Blocked, Cluster, Histories, Plan, Span, Time, Violation, Yield, check};
use dfrs_proto::conf::Config;
use dfrs_proto::explain::LastDecision;
use dfrs_proto::journal::JobOutcome;
use dfrs_proto::message::NodeOrder;

use crate::clock::Ahead;
use crate::daemons::{Daemons, NodeFacts, SwapEighths};
use crate::job::ledger::{Ledger, LedgerRecord};
use crate::plan::actual::ActualCluster;
use crate::plan::excluded::Excluded;
use crate::plan::planned::PlannedCluster;
use crate::plan::refusals::Refusals;
use crate::plan::weights::{MEDIAN_PERIOD, Weights};
use crate::probe::{PassPart, Probe};
use crate::publish::live_journal::{LiveJournal, Writer};
use crate::publish::node_orders::TerminatingJobs;
use crate::publish::recorder::Recorder;
use crate::publish::state::{Head, State, Store};
use crate::slurm::observation::Observation;
use crate::slurm::port::{LogLevel, Slurm, SlurmError};
use crate::slurm::records::ObservedNode;

mod act;
mod admission;
mod arrays;
mod counts;
mod daily;
mod decide;
mod decision_backoff;
mod drains;
mod events;
mod explanation;
mod follow;
mod give_back;
mod give_back_partitions;
mod left_behind;
mod limited_users;
mod look;
mod lost;
mod moldable;
mod needs;
mod persist;
mod publish;
mod record;
mod remaps;
mod reserved;
mod resumptions;
mod settle_queue;
mod share;
mod shown;
mod slow_nodes;
mod submit_backoff;
mod take_back;
mod warned;

use admission::Admission;
pub use counts::Counts;
use daily::Daily;
use decision_backoff::{DecisionBackoff, DecisionFailure};
use drains::Drains;
use follow::JobLists;
use give_back_partitions::GivingBack;
use left_behind::LeftBehind;
use limited_users::LimitedUsers;
use lost::Lost;
use moldable::Moldable;
use remaps::Remaps;
use resumptions::Resumptions;
use settle_queue::SettleQueue;
use shown::ShownYields;
use slow_nodes::SlowNodes;
use submit_backoff::SubmitBackoff;

const SECOND: i64 = 1_000_000;
/// Slurm is looked at after this time even if nothing seems to have changed (reservations start).
const MAX_SLEEP: Span = Span(5 * SECOND);
/// Starts in one pass: jobs that were submitted meanwhile are decided about before the others
/// start. Each start takes slurmctld a millisecond or a few.
const MAX_STARTS: u32 = 100;
/// Rounds of steps in one pass: what one step makes possible need not wait for the next pass.
const ROUNDS: usize = 4;

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
    slurm: S,
    config: Config,
    daemons: D,
    store: Box<dyn Store>,
    journal: Option<LiveJournal>,
    recorder: Box<dyn Recorder>,
    probe: Box<dyn Probe>,
    /// What Slurm showed last.
    seen: Observation,
    ledger: Ledger,
    lists: JobLists,
    admission: Admission,
    /// Admission of arrays of which tasks are to get records.
    array_admission: Admission,
    limited_users: LimitedUsers,
    /// What jobs weigh beside each other, at this pass.
    weights: Weights,
    /// When they are computed again.
    weights_due: Time,
    planned: PlannedCluster,
    actual: ActualCluster,
    /// What was last kept of each job.
    saved: BTreeMap<u32, LedgerRecord>,
    /// What was last kept beside the jobs, by this agent.
    head: Option<Head>,
    /// The number of the changes that were kept last.
    kept: u64,
    /// As they were when it was last decided.
    nodes: BTreeMap<String, ObservedNode>,
    blocked: BTreeMap<u32, Blocked>,
    moldable: Moldable,
    /// What squeue was last given to show; `None`: nothing of DFRS's.
    reasons: BTreeMap<u32, Option<String>>,
    reasons_set: Time,
    /// Reasons that squeue was not given yet.
    unset_reasons: BTreeSet<u32>,
    /// Jobs that are over, and whose reasons are to be dropped.
    gone: BTreeSet<u32>,
    /// What was last decided about each job that has not ended.
    last_changes: BTreeMap<u32, LastDecision>,
    /// What each job that runs has.
    shares: BTreeMap<u32, Yield>,
    /// What Slurm's own tools show of that.
    shown: ShownYields,
    ended: Vec<(u32, LedgerRecord, JobOutcome)>,
    /// The orders that were last sent to the nodes.
    orders: BTreeMap<String, NodeOrder>,
    /// What the nodes said last.
    facts: Option<Arc<NodeFacts>>,
    silent: BTreeSet<String>,
    /// The nodes on which jobs may be parked, and how much of their counted swap parked jobs can
    /// have.
    swap: SwapEighths,
    /// Nodes that were down when they were last seen.
    down: BTreeSet<String>,
    looked: Time,
    began: Time,
    /// By how much the time given to the agent is ahead of Slurm's clock.
    ahead: Ahead,
    max_sleep: Span,
    cores_hidden: Time,
    /// No sooner after that they are hidden again.
    cores_interval: Span,
    arrays_read: Time,
    daily: Daily,
    /// What users have had lately; empty at first.
    histories: Histories,
    /// What was done since this agent began.
    done: dfrs_proto::status::ActionCounts,
    /// slurmctld was killed, and was not looked at since.
    recovers: bool,
    has_looked: bool,
    lost: Lost,
    left_behind: LeftBehind,
    resumptions: Resumptions,
    /// The jobs left behind that nodes are queried about.
    former: TerminatingJobs,
    /// It gives back, and does nothing else.
    gives_back: bool,
    /// Everything is given back, and the nodes have acknowledged it.
    is_thaw_confirmed: bool,
    /// Partitions that it gives back while it schedules others.
    giving_back: GivingBack,
    /// Another agent has kept a state before this one.
    has_begun_before: bool,
    /// Jobs whose giving back has panicked: they are left alone.
    left_out: BTreeSet<u32>,
    /// A node changed since it was last decided.
    nodes_changed_since_decision: bool,
    /// A node changed since orders were last given.
    nodes_changed_since_orders: bool,
    capacity_freed: bool,
    /// Jobs whose processes were still ending when they were last seen; nodes, and MiB that they
    /// may hold there although Slurm did not count them before.
    ending: BTreeMap<u32, Vec<(u32, u64)>>,
    settle_queue: SettleQueue,
    submit_backoff: SubmitBackoff,
    remaps: Remaps,
    slow_nodes: SlowNodes,
    drains: Drains,
    decision_backoff: DecisionBackoff,
    excluded: Excluded,
    /// What says which rules a plan breaks.
    check: fn(&Cluster, &Plan) -> Vec<Violation>,
    refusals: Refusals,
    /// Jobs that are parked where others have reserved the nodes.
    kept_away: BTreeSet<u32>,
}

/// What one pass did, for statistics and tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassReport {
    /// Jobs that waited when it began.
    pub queue: u32,
    /// Jobs that decisions were about.
    pub depth: u32,
    /// Jobs that were started or came back.
    pub started: u32,
    /// There is more to do at once: the next pass need not wait.
    pub unfinished: bool,
    /// If its decision took too long and was ended: how many in a row were.
    pub ended_decisions: u32,
    /// If the plan broke a rule and was dropped, and no job was left to exclude for that: the
    /// number of such plans in a row.
    pub dropped_plans: u32,
}

impl<S: Slurm, D: Daemons> Agent<S, D> {
    /// An agent that goes on where `state` says.
    pub fn new(ports: Ports<S, D>, config: Config, state: State, now: Time) -> Self {
        let recovers = !state.in_order;
        let giving_back = GivingBack::of(state.dropped_partitions(&config));
        let has_begun_before = !state.partitions.is_empty();
        let mut ledger = state.ledger;
        needs::forget_needs(&mut ledger);
        let saved = ledger
            .iter()
            .map(|(id, record)| (id, record.clone()))
            .collect();
        let journal = ports.journal;
        let mut journal = journal.map(|writer| LiveJournal::resume(writer, &mut ledger));
        let strangers = journal.as_mut().map(LiveJournal::take_running_unknown_jobs);
        let shares = ledger.iter().map(|(id, record)| (id, record.share()));
        let shares = shares.filter(|(_, share)| share.0 > 0.0).collect();
        let first_remap = Time(now.0 + config.period.0);
        let seen = Observation::default().with_whole_nodes(config.moldable_names());
        Self {
            slurm: ports.slurm,
            config,
            daemons: ports.daemons,
            store: ports.store,
            journal,
            recorder: ports.recorder,
            probe: ports.probe,
            seen,
            saved,
            head: None,
            kept: 0,
            ledger,
            lists: JobLists::default(),
            admission: Admission::default(),
            array_admission: Admission::default(),
            limited_users: LimitedUsers::default(),
            weights: Weights::default(),
            weights_due: Time::ZERO,
            planned: PlannedCluster::with(state.experience),
            actual: ActualCluster::default(),
            facts: None,
            nodes: BTreeMap::new(),
            blocked: BTreeMap::new(),
            moldable: Moldable::default(),
            reasons: BTreeMap::new(),
            reasons_set: Time(0),
            unset_reasons: BTreeSet::new(),
            gone: BTreeSet::new(),
            last_changes: BTreeMap::new(),
            shares,
            shown: ShownYields::default(),
            ended: Vec::new(),
            orders: BTreeMap::new(),
            silent: BTreeSet::new(),
            swap: SwapEighths::new(),
            down: BTreeSet::new(),
            looked: Time(0),
            began: now,
            ahead: state.ahead,
            max_sleep: MAX_SLEEP,
            cores_hidden: Time(0),
            cores_interval: Span(0),
            arrays_read: Time(0),
            daily: Daily::from(now),
            histories: Histories::default(),
            done: dfrs_proto::status::ActionCounts::default(),
            recovers,
            has_looked: false,
            lost: Lost::of(strangers.unwrap_or_default()),
            left_behind: LeftBehind::default(),
            resumptions: Resumptions::default(),
            former: TerminatingJobs::default(),
            gives_back: false,
            is_thaw_confirmed: false,
            giving_back,
            has_begun_before,
            left_out: BTreeSet::new(),
            nodes_changed_since_decision: false,
            nodes_changed_since_orders: false,
            capacity_freed: false,
            ending: BTreeMap::new(),
            settle_queue: SettleQueue::default(),
            submit_backoff: SubmitBackoff::default(),
            remaps: Remaps::from(first_remap),
            slow_nodes: SlowNodes::default(),
            drains: Drains::default(),
            decision_backoff: DecisionBackoff::default(),
            excluded: Excluded::default(),
            check,
            refusals: Refusals::default(),
            kept_away: BTreeSet::new(),
        }
    }

    /// Slurm, for the passive mode and for tests.
    pub fn slurm(&mut self) -> &mut S {
        &mut self.slurm
    }

    /// Slurm was reconfigured: looks again at the next tick.
    pub fn refresh(&mut self) {
        self.looked = Time(0);
        self.cores_hidden = Time(0);
    }

    /// Sets by how much the time given to the agent is ahead of Slurm's clock from now on.
    pub fn set_ahead(&mut self, ahead: Ahead) {
        if ahead != self.ahead {
            let text = format!(
                "the clock was set back: from now on DFRS's own times, as in its journal, are {} s later",
                ahead.seconds()
            );
            self.slurm.log(LogLevel::Info, &text);
            self.ahead = ahead;
            self.looked = Time(0);
        }
    }

    /// Whether there may be something to do.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        self.due_at() <= now
    }

    /// When there is next something to do, as far as it is known now: Slurm's records may change
    /// before. A time in the past means at once.
    #[must_use]
    pub fn due_at(&self) -> Time {
        let looked = self.ahead.wall(self.looked);
        let changed = self.slurm.last_update() >= looked.0 / SECOND;
        let needs_changed = self.needs_changed();
        if changed || needs_changed || self.capacity_freed || self.lists.any_under_way() {
            return self.looked;
        }
        let foreseen = [
            self.lists.next(),
            self.admission.next(),
            self.array_admission.next(),
            self.settle_queue.next(),
            self.submit_backoff.next(),
            self.decision_backoff.next(),
            self.excluded.next(),
            self.moldable.next(),
            self.refusals.next(),
            Some(self.remaps.due()),
            self.giving_back.next(self.looked),
            self.left_behind.next(),
            self.resumptions.next(),
        ];
        let slept = Time(self.looked.0 + self.max_sleep.0);
        foreseen.into_iter().flatten().fold(slept, Time::min)
    }

    /// Sets the longest time between two looks at Slurm while nothing seems to have changed; for a
    /// driver that knows that nothing changes behind Slurm's update times.
    pub fn set_max_sleep(&mut self, longest: Span) {
        self.max_sleep = longest;
    }

    /// Looks, decides, acts, and sends orders to the nodes.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub fn pass(&mut self, now: Time) -> Result<PassReport, SlurmError> {
        self.pass_while(now, &|| true)
    }

    /// As [`Self::pass`], but a decision is ended as soon as it may not go on: it changes nothing.
    /// Its events are decided about later, and nothing else until then. Everything else is done as
    /// usual.
    ///
    /// # Errors
    ///
    /// Slurm could not be looked at.
    pub fn pass_while(
        &mut self,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<PassReport, SlurmError> {
        self.probe.begin(PassPart::Look);
        self.looked = now;
        self.learn_from_nodes(now);
        self.look(now)?;
        self.split_arrays(now)?;
        let mut seen = std::mem::take(&mut self.seen);
        let report = self.pass_with(&mut seen, now, may_go_on);
        self.seen = seen;
        report
    }

    fn pass_with(
        &mut self,
        seen: &mut Observation,
        now: Time,
        may_go_on: &dyn Fn() -> bool,
    ) -> Result<PassReport, SlurmError> {
        let mut report = PassReport {
            queue: self.lists.queue(),
            ..PassReport::default()
        };
        if now >= self.weights_due || self.weights == Weights::default() {
            self.weights = self.weights.followed(seen, &self.config);
            self.weights_due = now + MEDIAN_PERIOD;
        }
        self.follow_reservations(seen, now);
        self.hand_back_partitions(seen, now);
        self.hand_back_moldable(seen, now);
        self.follow(seen, now);
        self.probe.begin(PassPart::Ask);
        self.admit(seen, now);
        self.probe.begin(PassPart::Decide);
        let events = self.events(seen, now);
        let events = self.decision_backoff.join(events, now);
        report.depth = self.decide_about_moldable(seen, now);
        if !events.is_empty() {
            match self.decide(seen, &events, now, may_go_on) {
                Ok(depth) => report.depth = report.depth.saturating_add(depth),
                Err(failure @ DecisionFailure::Ended) => {
                    report.ended_decisions = self.decision_backoff.consecutive(failure);
                }
                Err(failure @ DecisionFailure::Dropped) => {
                    report.dropped_plans = self.decision_backoff.consecutive(failure);
                }
            }
        }
        self.follow(seen, now);
        self.probe.begin(PassPart::Note);
        self.save_durably();
        for _ in 0..ROUNDS {
            self.probe.begin(PassPart::Act);
            self.follow(seen, now);
            let (acted, started) = self.act(seen, MAX_STARTS - report.started, now);
            report.started += started;
            report.unfinished = report.started >= MAX_STARTS;
            if !acted || report.unfinished {
                break;
            }
            self.probe.begin(PassPart::Look);
            self.look_again(seen, now)?;
        }
        self.probe.begin(PassPart::Share);
        self.follow(seen, now);
        let places_changed = std::mem::take(&mut self.lists.places_changed);
        let nodes_differ = std::mem::take(&mut self.nodes_changed_since_orders);
        let changed = places_changed || nodes_differ || events.period;
        if changed {
            self.share(seen, now);
            self.follow(seen, now);
            self.lists.places_changed = false;
        }
        self.move_limits(seen, now);
        self.repeat_resumptions(seen, now);
        self.probe.begin(PassPart::Note);
        self.follow_giving_back(seen, now);
        self.publish(seen, changed, now);
        // What the journal says by now survives, too; it changes no place.
        self.follow(seen, now);
        self.lists.places_changed = false;
        self.save();
        self.log_daily_summary(now);
        Ok(report)
    }

    /// Stops the pusher and keeps the ledger. Returns the state if it could not be kept, for the
    /// next agent in this process.
    #[must_use]
    pub fn finish(&mut self, now: Time) -> Option<State> {
        self.ledger.count_until(self.shares.keys(), now);
        self.persist_in_order();
        self.daemons.stop();
        (self.store.durable() < self.kept).then(|| self.state())
    }
}

#[cfg(test)]
mod tests;
