//! The model of a cluster: slurmctld, its nodes, and what runs on them.

use std::collections::BTreeMap;

use dfrs_core::{Span, Time};

use super::devices::each_device;
use super::events::{EventQueue, ModelEvent};
use super::images::ModelImages;
use super::machine::ModelNode;
use super::messages::ModelDelivery;
use super::ports::HeldMemory;
use super::program::{JobProgram, ProgramOutcome};
use super::settings::ModelSettings;
use super::slurmctld::{JobEntry, NodeEntry, Slurmctld};
use super::work::ModelRun;
use dfrs_agent::publish::state::{State, StateChanges};
use dfrs_agent::slurm::port::LogLevel;
use dfrs_agent::slurm::records::ObservedNode;

pub(super) const SECOND: i64 = 1_000_000;
/// slurmctld pings its nodes and looks at time limits (`PERIODIC_TIMEOUT`, 30 s; pings: a third of
/// `SlurmdTimeout`).
pub(super) const PING: Span = Span(10 * SECOND);
/// Nodes say what they run when they come back, and after so many pings (`MAX_REG_FREQUENCY`,
/// ping_nodes.c).
const PINGS_TO_REGISTER: u32 = 20;
const BACKFILL: Span = Span(30 * SECOND);

/// A cluster. All its times are its own, which never go back; slurmctld's clock is apart from them.
#[derive(Default)]
pub struct ClusterModel {
    pub(super) settings: ModelSettings,
    pub(super) now: Time,
    /// slurmctld's clock less the model's time.
    pub(super) clock: Span,
    pub(super) queue: EventQueue,
    pub(super) slurmctld: Slurmctld,
    pub(super) saved: Slurmctld,
    pub(super) serves: bool,
    /// Since when slurmctld is there.
    pub(super) serves_since: Time,
    pub(super) updates: i64,
    /// Grows with every change of Slurm's records.
    pub(super) version: u64,
    /// Slurm's update times are given only if there is something to see, and not for the whole
    /// second.
    pub(super) reports_changes_only: bool,
    pub(super) machines: Vec<ModelNode>,
    /// Positions of machines by name.
    pub(super) positions: BTreeMap<String, u32>,
    /// Pings so far.
    pub(super) pings: u32,
    pub(super) programs: BTreeMap<u32, JobProgram>,
    /// How many of these are not over.
    pub(super) open: usize,
    pub(super) runs: BTreeMap<u64, ModelRun>,
    pub(super) launched: u64,
    /// Complete images whose processes are gone.
    pub(super) images: ModelImages,
    /// DFRS's state is lost, or was not kept for a while.
    pub(super) lost_state: bool,
    /// The way to the nodes.
    pub(super) delivery: ModelDelivery,
    /// Partitions that DFRS schedules now: Slurm's backfill leaves them alone.
    pub(super) hidden: Vec<String>,
    /// Messages with orders that get lost, of the next ones.
    pub(super) lose: u32,
    /// Calls into Slurm that fail with this error, of the next ones.
    pub(super) refuse: (u32, i32),
    /// How often in a row a call about a job was to be tried again.
    pub(super) retries: BTreeMap<(u32, String), u32>,
    /// What jobs held when they were last shown.
    pub(super) held: HeldMemory,
    /// What is kept of DFRS's state.
    pub(super) kept: State,
    /// What is kept as soon as the disk is not full.
    pub(super) unkept: StateChanges,
    /// Numbers of the changes that came last, and of the last ones that are kept.
    pub(super) submitted: u64,
    pub(super) durable: u64,
    pub(super) disk_full: bool,
    /// What was logged, since it was last taken.
    pub(super) lines: Vec<(LogLevel, String)>,
    /// The number of jobs queried at the gate, which may write their reasons, since it was last
    /// taken.
    pub(super) gate_queries: usize,
    /// What was done to jobs, since it was last taken: for the checks of a trial.
    pub(super) history: Vec<String>,
    /// What the agent has read wrong of free devices.
    pub(super) miscounts: Vec<String>,
    /// Rules of the model itself that the agent broke.
    pub(super) faults: Vec<String>,
}

impl ClusterModel {
    /// A cluster of these nodes, each in one partition, at this time; nothing runs yet.
    pub fn new(nodes: Vec<(ObservedNode, String)>, settings: ModelSettings, now: Time) -> Self {
        let machine =
            |(node, _): &(ObservedNode, String)| ModelNode::new(node.name.clone(), node.cpus);
        let machines = nodes.iter().map(machine).collect();
        let names = (0..).zip(nodes.iter().map(|(node, _)| node.name.clone()));
        let positions = names.map(|(index, name)| (name, index)).collect();
        let entry = |(seen, partition)| NodeEntry {
            devices: each_device(&seen),
            others: None,
            seen,
            partition,
            drained: false,
            down: false,
            set_down: false,
            reported_parked: 0,
            left: false,
            reserved: None,
            silent_since: None,
        };
        let slurmctld = Slurmctld {
            nodes: nodes.into_iter().map(entry).collect(),
            next_id: 1,
            ..Slurmctld::default()
        };
        let mut model = Self {
            delivery: ModelDelivery::new(settings.time_to_live),
            settings,
            now,
            saved: slurmctld.clone(),
            slurmctld,
            machines,
            positions,
            serves: true,
            serves_since: Time(0),
            ..Self::default()
        };
        model.updated();
        let save = model.settings.save_interval;
        for (after, event) in [
            (save, ModelEvent::Save),
            (PING, ModelEvent::Ping),
            (BACKFILL, ModelEvent::Backfill),
        ] {
            model.after(after, event);
        }
        model
    }

    /// The model's time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// What slurmctld's clock says.
    pub fn clock(&self) -> Time {
        Time(self.now.0 + self.clock.0)
    }

    /// The time of slurmctld's clock in UNIX seconds.
    pub fn clock_seconds(&self) -> i64 {
        self.clock().0.div_euclid(SECOND)
    }

    /// When something next happens by itself.
    pub fn next_event(&self) -> Option<Time> {
        self.queue.next()
    }

    /// Lets everything happen that happens until `until`, and sets the time.
    pub fn advance(&mut self, until: Time) {
        while let Some((at, event)) = self.queue.take(until) {
            self.now = self.now.max(at);
            self.handle(event);
        }
        self.now = self.now.max(until);
    }

    fn handle(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Launched(run) => self.launched(run),
            ModelEvent::Step(run) => self.begins_step(run),
            ModelEvent::Stopped(run, stops) => self.stopped(run, stops),
            ModelEvent::Phase(run, version) => self.next_phase(run, version),
            ModelEvent::Measured(run, node, version) => self.measured(run, node, version),
            ModelEvent::Finished(run, version) => self.finished(run, version),
            ModelEvent::Reported(run) => self.reported(run),
            ModelEvent::Gone(run, node) => self.gone(run, node),
            ModelEvent::Warned(run) => self.warned(run),
            ModelEvent::Due => self.look_at_due(),
            ModelEvent::Orders(node, message) => self.orders_arrive(node, message),
            ModelEvent::Queried(message) => self.query_arrives(message),
            ModelEvent::Unanswered(message) => self.unanswered(message),
            ModelEvent::Expires(node) => self.expire_orders(node),
            ModelEvent::Save => self.save_state(),
            ModelEvent::Ping => self.ping_nodes(),
            ModelEvent::Backfill => self.run_backfill(),
            ModelEvent::SubmitAgain(label) => self.resubmit(label),
            ModelEvent::Booted(node) => self.boot(node),
        }
    }

    fn save_state(&mut self) {
        if self.serves {
            self.slurmctld.save_to(&mut self.saved);
        }
        self.after(self.settings.save_interval, ModelEvent::Save);
    }

    fn ping_nodes(&mut self) {
        if self.serves {
            self.pings += 1;
            self.look_at_nodes(self.pings.is_multiple_of(PINGS_TO_REGISTER));
            self.resignal_end();
            self.look_at_limits();
        }
        self.after(PING, ModelEvent::Ping);
    }

    fn run_backfill(&mut self) {
        if self.serves {
            self.backfill();
        }
        self.after(BACKFILL, ModelEvent::Backfill);
    }

    pub(super) fn after(&mut self, span: Span, event: ModelEvent) {
        self.queue.add(Time(self.now.0 + span.0), event);
    }

    /// What usually takes so long, on the slowest of these nodes.
    pub(super) fn latency_on(
        &self,
        usual: Span,
        about: [u64; 3],
        nodes: impl Iterator<Item = u32>,
    ) -> Span {
        let slowness = nodes.filter_map(|node| Some(self.machines.get(node as usize)?.slowness));
        let times = i64::from(slowness.max().unwrap_or(1));
        Span(self.settings.latency(usual, about).0.saturating_mul(times))
    }

    /// Slurm's records changed.
    pub(super) fn updated(&mut self) {
        self.updates = self.clock_seconds();
        self.version += 1;
    }

    pub(super) fn note(&mut self, text: String) {
        self.history.push(text);
    }

    /// Job records by Slurm's id.
    pub fn jobs(&self) -> &BTreeMap<u32, JobEntry> {
        &self.slurmctld.jobs
    }

    /// Node records in the order of Slurm's node table.
    pub fn nodes(&self) -> &[NodeEntry] {
        &self.slurmctld.nodes
    }

    /// What was submitted, by label.
    pub fn programs(&self) -> &BTreeMap<u32, JobProgram> {
        &self.programs
    }

    /// How many submissions are not over for their users.
    pub fn open(&self) -> usize {
        self.open
    }

    /// What became of a submission is certain now.
    pub(super) fn close(&mut self, label: u32, outcome: ProgramOutcome) {
        let program = self.programs.get_mut(&label);
        if let Some(program) = program.filter(|program| program.outcome == ProgramOutcome::Open) {
            program.outcome = outcome;
            program.over_at_us = Some(self.now.0);
            self.open -= 1;
        }
    }

    /// Whether everything that was submitted is over, for the users and for slurmctld.
    pub fn is_idle(&self) -> bool {
        self.open == 0
            && self
                .slurmctld
                .jobs
                .values()
                .all(|job| job.outcome.is_some())
    }

    /// What was logged since the last call.
    pub fn take_lines(&mut self) -> Vec<(LogLevel, String)> {
        std::mem::take(&mut self.lines)
    }

    /// The number of jobs queried since the last call in the way that may write their reasons.
    pub fn take_gate_queries(&mut self) -> usize {
        std::mem::take(&mut self.gate_queries)
    }

    /// What was done to jobs since the last call, as text.
    pub fn take_history(&mut self) -> Vec<String> {
        std::mem::take(&mut self.history)
    }

    /// What the agent did that no slurmctld stands, since the last call.
    pub fn take_faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }

    /// DFRS's state as it is kept.
    pub fn kept(&self) -> &State {
        &self.kept
    }

    /// From now on Slurm's update times are given only if there is something to see: for a driver
    /// that spares an agent the looks that show nothing new.
    pub fn report_changes_only(&mut self) {
        self.reports_changes_only = true;
    }

    /// A number that grows with every change of Slurm's records.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether slurmctld runs.
    pub fn serves(&self) -> bool {
        self.serves
    }

    /// Whether this program did all of its work while slurmctld was away, and the end is not
    /// reported yet.
    pub fn is_end_unreported(&self, program: &JobProgram) -> bool {
        let ended = program
            .over_at_us
            .is_some_and(|at| at <= self.serves_since.0);
        program.outcome == ProgramOutcome::Finished
            && !program.reported
            && !program.forgotten
            && ended
    }

    /// Partitions that Slurm's own backfill leaves alone from now on.
    pub fn hide_from_backfill(&mut self, partitions: Vec<String>) {
        self.hidden = partitions;
    }
}
