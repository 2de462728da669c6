//! What unit tests are made of: jobs, nodes, a configuration, and fakes of Slurm, of the node
//! daemons and of the other ports, whose records a test can set as it likes. A whole cluster with
//! latencies and faults is `dfrs-testbed`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;

use dfrs_core::{DecisionRecord, Need};
use dfrs_journal::JournalReader;
use dfrs_proto::conf::Config;
use dfrs_proto::journal::{JobOutcome, JournalEvent, JournalWriter};
use dfrs_proto::message::{JobOrder, NodeOrder, Share};

use crate::daemons::{Daemons, NodeFacts, OrderChanges};
use crate::probe::{Incident, PassDurations, PassPart, Probe};
use crate::publish::recorder::{Occasion, Recorder};
use crate::publish::state::{State, StateChanges, Store};
use crate::slurm::observation::{Observation, SnapshotDelta};
use crate::slurm::port::{Ending, JobTimeLimit, LimitExtension, LogLevel, Slurm, SlurmError};
use crate::slurm::records::{ObservedJob, ObservedNode, ObservedPlace, ObservedState};
use crate::slurm::request::Request;

/// A journal in memory.
#[derive(Clone, Default)]
pub struct FakeJournal(Rc<RefCell<Vec<u8>>>);

impl Write for FakeJournal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl FakeJournal {
    /// What writes it.
    pub fn writer(&self) -> JournalWriter<Box<dyn Write>> {
        JournalWriter::new(Box::new(self.clone()))
    }

    /// What was written.
    ///
    /// # Panics
    ///
    /// It is no UTF-8.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).expect("UTF-8")
    }

    /// The events with the numbers of their lines.
    ///
    /// # Panics
    ///
    /// It is no journal.
    pub fn events(&self) -> Vec<(usize, JournalEvent)> {
        JournalReader::new(self.0.borrow().as_slice())
            .collect::<Result<_, _>>()
            .expect("events")
    }
}

/// One step of splitmix64: all bits of the result depend on all bits of `state`.
pub fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Orders by which these nodes, of four CPUs, are queried about jobs' needs; each job is counted
/// with so many eighths of the node.
pub fn measuring_orders(nodes: &[(&str, &[(u32, u8)])]) -> OrderChanges {
    let job = |(id, eighths): &(u32, u8)| JobOrder {
        request: Some(Share::ONE),
        need: Need::from_eighths(*eighths),
        ..JobOrder::new(*id, Share::ONE)
    };
    let orders = nodes.iter().map(|(node, jobs)| {
        let jobs = jobs.iter().map(job).collect();
        let state = NodeOrder {
            cpus: 4,
            jobs,
            ..NodeOrder::default()
        };
        ((*node).to_owned(), state)
    });
    OrderChanges {
        changed: orders.collect(),
        ..OrderChanges::default()
    }
}

/// A pending batch job of `tasks` one-CPU tasks with 100 MiB each, in partition `dfrs`.
pub fn job(id: u32, tasks: u32) -> ObservedJob {
    ObservedJob {
        id,
        user: 1000,
        submit_seconds: 1000 + i64::from(id),
        partition: "dfrs".into(),
        comment: String::new(),
        state: ObservedState::Pending,
        completing: false,
        configuring: false,
        steps_alive: false,
        batch: true,
        requeue: true,
        held: false,
        on_hold: false,
        admin_hold: false,
        cron: false,
        holds_gres: false,
        component: false,
        array: 0,
        array_task: 0,
        array_throttle: 0,
        array_master: false,
        restarts: 0,
        request: Request {
            tasks,
            memory: 100,
            memory_per_cpu: true,
            ..Request::default()
        },
        starts_whole: false,
        warned: false,
        grace_end_seconds: 0,
        last_launch_seconds: 0,
        resumed_seconds: 0,
        eligible_seconds: 0,
        limit_minutes: 0,
        partition_max_minutes: 0,
        end_seconds: 0,
        free_until_seconds: 0,
        deadline_seconds: 0,
        reservation_end_seconds: 0,
        warn_seconds: 0,
        places: Vec::new(),
        priority: 1000,
    }
}

impl ObservedJob {
    /// The job with another request.
    #[must_use]
    pub fn requesting(mut self, change: impl FnOnce(&mut Request)) -> Self {
        change(&mut self.request);
        self
    }
}

/// Time limits are moved as `c_shim/requeue.c` moves them.
impl ObservedJob {
    /// `dfrs_job_extend_time()`. Returns what the limit was before.
    pub fn extend_limit(&mut self, seconds: u32) -> JobTimeLimit {
        let before = JobTimeLimit {
            minutes: self.limit_minutes,
            set_by: 0,
        };
        self.end_seconds += i64::from(seconds);
        self.limit_minutes += seconds / 60;
        before
    }

    /// `dfrs_job_take_back_time()`.
    pub fn take_back_limit(&mut self, extended: &LimitExtension) {
        let least = self.limit_minutes.min(extended.from.minutes.max(1));
        self.limit_minutes -= extended.minutes.min(self.limit_minutes - least);
    }
}

impl ObservedNode {
    /// An empty node of so many CPUs, with so many MiB, that takes new work; without devices, and
    /// as slurm.conf has it where it says no more.
    pub fn plain(index: u32, cpus: u32, memory_mib: u64) -> Self {
        Self {
            index,
            name: format!("n{index}"),
            up: true,
            down: false,
            all_cpus: cpus,
            cpus,
            others_cpus: 0,
            memory: memory_mib,
            allocated_memory_mib: 0,
            devices: Vec::new(),
            weight: 1,
            leaf_switch: None,
        }
    }
}

/// `count` nodes n0, n1, … with 4 CPUs and 1000 MiB.
pub fn nodes(count: u32) -> Vec<ObservedNode> {
    let node = |index| ObservedNode::plain(index, 4, 1000);
    (0..count).map(node).collect()
}

/// Partition `dfrs`, jobs park by default; the papers' policy, whose yields follow from the jobs
/// alone.
///
/// # Panics
///
/// Never: the text is a good configuration.
pub fn config() -> Config {
    let text = "Mode=full\nPolicy=GreedyPM*/per/OPT=MIN/MINVT=600\nSwapPerNode=10000\nCheckpointWait=5\n\
                Partition=dfrs Mobility=park\n";
    Config::parse(text, "dfrs.conf").expect("a good configuration")
}

/// What the fake of slurmctld holds.
#[derive(Default)]
pub struct FakeSlurmctld {
    /// Jobs by id.
    pub jobs: BTreeMap<u32, ObservedJob>,
    /// Nodes, ascending by index.
    pub nodes: Vec<ObservedNode>,
    /// How many devices of each kind jobs of other partitions hold on each node.
    pub devices_of_others: u64,
    /// MiB of each node that jobs of other partitions hold.
    pub memory_of_others: u64,
    /// Every call that changes something, as text.
    pub calls: Vec<String>,
    /// Jobs whose resumption was sent to their nodes again.
    pub repeated_resumptions: Vec<u32>,
    /// Every line logged at error level.
    pub errors: Vec<String>,
    /// Every line logged at info level.
    pub infos: Vec<String>,
    /// What squeue shows as the reason.
    pub reasons: BTreeMap<u32, String>,
    /// How many parked jobs nodes were said to have, call by call.
    pub parked: Vec<Vec<(String, u32)>>,
    /// Yields that were shown since this was last taken.
    pub shown: Vec<(u32, Option<u32>)>,
    /// Jobs that Slurm refuses to start.
    pub refuse_start: BTreeSet<u32>,
    /// On more nodes a limit forbids any job to start.
    pub max_nodes: Option<usize>,
    /// Slurm counts cores of running jobs: it refuses all starts.
    pub cores_counted: bool,
    /// The last look has shown that.
    cores_seen: bool,
    /// How many jobs of a user may have nodes at once.
    pub max_of_user: BTreeMap<u32, usize>,
    /// Jobs and arrays that wait for another job.
    pub dependent: BTreeSet<u32>,
    /// The number of queries about arrays.
    pub array_queries: usize,
    /// Jobs that, by their reasons, wait for something else than room.
    pub held_back: BTreeSet<u32>,
    /// A query whether jobs may start was made in a way that writes their reasons.
    pub gate_asked: bool,
    /// Jobs that have ended by themselves, and how.
    pub endings: BTreeMap<u32, Ending>,
    /// Panics at the next look.
    pub panic: bool,
    /// Panics at a call about one of these jobs.
    pub panic_about: BTreeSet<u32>,
    /// DFRS has given its partitions to backfill.
    pub handed_over: bool,
    /// Slurm's latest update, and its clock: UNIX seconds.
    pub updates: i64,
}

impl FakeSlurmctld {
    /// Ends a job: its places are free at once.
    pub fn end(&mut self, id: u32) {
        self.jobs.remove(&id);
        self.updates += 1;
    }

    /// A requeued job's last processes are gone.
    pub fn processes_gone(&mut self, id: u32) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.completing = false;
            job.places.clear();
            // As Slurm does when the last process of a requeued job has ended.
            job.submit_seconds += 1;
        }
    }

    /// The job's node fails: Slurm requeues it.
    pub fn lose_node(&mut self, id: u32) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.state = ObservedState::Pending;
            job.restarts += 1;
            job.places.clear();
        }
    }

    /// Whether the job's user has as many jobs with nodes as he may.
    fn is_at_limit(&self, id: u32) -> bool {
        let user = self.jobs[&id].user;
        let placed = self
            .jobs
            .values()
            .filter(|job| job.user == user && job.has_place());
        self.max_of_user
            .get(&user)
            .is_some_and(|max| placed.count() >= *max)
    }

    fn assert_memory_suffices(&self) {
        let suffices = |node: &ObservedNode| node.allocated_memory_mib <= node.memory;
        assert!(self.nodes.iter().all(suffices), "memory exceeded");
        let devices = |node: &ObservedNode| {
            let mut kinds = node.devices.iter();
            kinds.all(|devices| devices.allocated <= devices.count)
        };
        assert!(self.nodes.iter().all(devices), "a device has two holders");
    }

    fn count_memory(&mut self) {
        for node in &mut self.nodes {
            let jobs = self.jobs.values().filter(|job| !job.completing);
            for devices in &mut node.devices {
                let here = |job: &&ObservedJob| job.places.iter().any(|it| it.node == node.index);
                let asked = jobs.clone().filter(here);
                let asked = asked.flat_map(|job| &job.request.devices);
                let of_kind = asked.filter(|asked| asked.is_of(&devices.kind));
                let ours: u64 = of_kind.map(|asked| asked.count).sum();
                devices.allocated = ours + self.devices_of_others;
            }
            let places = jobs
                .flat_map(|job| &job.places)
                .filter(|place| place.node == node.index);
            let ours: u64 = places.map(|place| place.memory_mib).sum();
            node.allocated_memory_mib = ours + self.memory_of_others;
        }
    }
}

/// The fake behind the trait.
#[derive(Clone, Default)]
pub struct FakeSlurm(pub Rc<RefCell<FakeSlurmctld>>);

fn refused(text: &str) -> SlurmError {
    SlurmError {
        code: 1,
        text: text.into(),
    }
}

impl FakeSlurm {
    fn change(
        &self,
        id: u32,
        call: &str,
        from: ObservedState,
        change: impl FnOnce(&mut ObservedJob),
    ) -> Result<(), SlurmError> {
        let panics = self.0.borrow().panic_about.contains(&id);
        assert!(!panics, "injected panic about job {id}");
        let mut slurmctld = self.0.borrow_mut();
        slurmctld.calls.push(format!("{call} {id}"));
        let job = slurmctld
            .jobs
            .get_mut(&id)
            .filter(|job| job.state == from)
            .ok_or_else(|| refused("wrong state"))?;
        change(job);
        slurmctld.count_memory();
        Ok(())
    }
}

impl Slurm for FakeSlurm {
    fn layout_problem(&mut self) -> Option<String> {
        None
    }
    fn is_primary(&mut self) -> bool {
        true
    }
    fn last_update(&self) -> i64 {
        self.0.borrow().updates
    }
    fn observe(&mut self, seen: &mut Observation) -> Result<SnapshotDelta, SlurmError> {
        let mut slurmctld = self.0.borrow_mut();
        assert!(!slurmctld.panic, "injected panic");
        slurmctld.count_memory();
        slurmctld.cores_seen = slurmctld.cores_counted;
        Ok(seen.replace_all(slurmctld.jobs.values().cloned(), slurmctld.nodes.clone()))
    }
    fn outcome(&mut self, _: u32, _: i64) -> JobOutcome {
        JobOutcome::Completed
    }
    fn may_start(&mut self, jobs: &[u32]) -> Vec<Result<(), SlurmError>> {
        let mut slurmctld = self.0.borrow_mut();
        slurmctld.gate_asked = true;
        let answer = |id: &u32| match slurmctld.dependent.contains(id) {
            true => Err(refused("Job dependency is not yet satisfied")),
            false if slurmctld.is_at_limit(*id) => Err(SlurmError {
                code: crate::slurm::port::ACCOUNTING_POLICY,
                text: "Job violates accounting policy".to_owned(),
            }),
            false => Ok(()),
        };
        let answers = jobs.iter().map(answer).collect();
        slurmctld.array_queries += jobs
            .iter()
            .filter(|id| slurmctld.jobs[id].array_master)
            .count();
        answers
    }
    fn wait_for_room(&mut self, jobs: &[u32]) -> Vec<bool> {
        let held_back = &self.0.borrow().held_back;
        jobs.iter().map(|job| !held_back.contains(job)).collect()
    }
    fn split_array(&mut self, id: u32, max: u32) -> Result<(), SlurmError> {
        let call = format!("split {id} {max}");
        self.0.borrow_mut().calls.push(call);
        Ok(())
    }
    fn set_reasons(&mut self, reasons: &[(u32, Option<String>)]) {
        let mut slurmctld = self.0.borrow_mut();
        for (id, text) in reasons {
            match text {
                Some(text) => slurmctld.reasons.insert(*id, text.clone()),
                None => slurmctld.reasons.remove(id),
            };
        }
    }
    fn show_yields(&mut self, yields: &[(u32, Option<u32>)]) {
        self.0.borrow_mut().shown.extend_from_slice(yields);
    }
    fn set_parked(&mut self, parked: &[(String, u32)]) {
        self.0.borrow_mut().parked.push(parked.to_vec());
    }
    fn start(&mut self, id: u32, places: &[ObservedPlace], whole: bool) -> Result<(), SlurmError> {
        if self.0.borrow().refuse_start.contains(&id) || self.0.borrow().cores_counted {
            return Err(refused("Requested nodes are busy"));
        }
        if self.0.borrow().is_at_limit(id) {
            return Err(refused("Job violates accounting policy"));
        }
        if (self.0.borrow().max_nodes).is_some_and(|most| places.len() > most) {
            return Err(SlurmError {
                code: crate::slurm::port::ACCOUNTING_POLICY,
                text: "Job violates accounting policy".to_owned(),
            });
        }
        let now = self.0.borrow().updates;
        let sizes: Vec<(u32, u64)> = {
            let slurmctld = self.0.borrow();
            let nodes = slurmctld.nodes.iter();
            nodes.map(|node| (node.index, node.memory)).collect()
        };
        self.change(id, "start", ObservedState::Pending, |job| {
            job.last_launch_seconds = now;
            job.request.exclusive |= whole;
            if job.request.sized_by_nodes {
                job.request.tasks = places.iter().map(|place| place.tasks).sum();
            }
            let memory = |place: &ObservedPlace| {
                let units = if job.request.memory_per_cpu {
                    u64::from(place.tasks * job.request.cpus_per_task)
                } else {
                    1
                };
                let all = sizes.iter().find(|(index, _)| *index == place.node);
                let all = all.filter(|_| whole).map(|(_, memory)| *memory);
                ObservedPlace {
                    memory_mib: all.unwrap_or(job.request.memory * units),
                    ..place.clone()
                }
            };
            job.places = places.iter().map(memory).collect();
            job.state = ObservedState::Running;
        })?;
        self.0.borrow().assert_memory_suffices();
        Ok(())
    }
    fn suspend(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "suspend", ObservedState::Running, |job| {
            job.state = ObservedState::Suspended;
            job.resumed_seconds = 0;
        })
    }
    fn resume(&mut self, id: u32) -> Result<(), SlurmError> {
        let now = self.0.borrow().updates;
        self.change(id, "resume", ObservedState::Suspended, |job| {
            job.state = ObservedState::Running;
            job.resumed_seconds = now;
        })
    }
    fn repeat_resumption(&mut self, id: u32) -> Result<(), SlurmError> {
        self.0.borrow_mut().repeated_resumptions.push(id);
        Ok(())
    }
    fn release_memory(&mut self, id: u32) -> Result<Vec<u64>, SlurmError> {
        let mut released = Vec::new();
        self.change(id, "release", ObservedState::Suspended, |job| {
            released = job.places.iter().map(|place| place.memory_mib).collect();
            job.grace_end_seconds = 0;
            job.places.iter_mut().for_each(|place| place.memory_mib = 0);
        })?;
        Ok(released)
    }
    fn claim_memory(&mut self, id: u32, memory: &[u64]) -> Result<(), SlurmError> {
        let panics = self.0.borrow().panic_about.contains(&id);
        assert!(!panics, "injected panic about job {id}");
        let mut slurmctld = self.0.borrow_mut();
        slurmctld.calls.push(format!("claim {id}"));
        let job = slurmctld
            .jobs
            .get_mut(&id)
            .ok_or_else(|| refused("no such job"))?;
        job.places
            .iter_mut()
            .zip(memory)
            .for_each(|(place, amount)| place.memory_mib = *amount);
        slurmctld.count_memory();
        slurmctld.assert_memory_suffices();
        Ok(())
    }
    fn forget_preemption(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "forget preemption", ObservedState::Suspended, |job| {
            job.grace_end_seconds = 0;
        })
    }
    fn warn(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "warn", ObservedState::Running, |_| {})
    }
    fn requeue(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "requeue", ObservedState::Running, |job| {
            job.state = ObservedState::Pending;
            job.completing = true;
            job.restarts += 1;
            job.grace_end_seconds = 0;
        })
    }
    fn requeue_warned(&mut self, id: u32, _: i64, was_warned: bool) -> Result<Ending, SlurmError> {
        let ending = self.0.borrow_mut().endings.remove(&id);
        let Some(ending) = ending.filter(|_| was_warned) else {
            return Err(refused("Job/step already completing or completed"));
        };
        self.change(id, "requeue warned", ObservedState::Ended, |job| {
            job.state = ObservedState::Pending;
            job.restarts += 1;
        })?;
        Ok(ending)
    }
    fn abort_orphaned(&mut self, id: u32, node: &str) -> Result<(), SlurmError> {
        self.change(
            id,
            &format!("abort on {node}"),
            ObservedState::Pending,
            |_| {},
        )
    }
    fn clear_begin_time(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "clear", ObservedState::Pending, |_| {})
    }
    fn hide_cores(&mut self) -> bool {
        let mut slurmctld = self.0.borrow_mut();
        let seen = std::mem::take(&mut slurmctld.cores_seen);
        if seen {
            slurmctld.cores_counted = false;
            slurmctld.calls.push("hide".to_owned());
        }
        seen
    }
    fn extend_time(&mut self, id: u32, seconds: u32) -> Result<JobTimeLimit, SlurmError> {
        let mut slurmctld = self.0.borrow_mut();
        slurmctld.calls.push(format!("extend {id} {seconds}"));
        let job = slurmctld
            .jobs
            .get_mut(&id)
            .ok_or_else(|| refused("no job"))?;
        Ok(job.extend_limit(seconds))
    }
    fn take_back_time(&mut self, id: u32, extended: &LimitExtension) -> Result<(), SlurmError> {
        let call = format!("take back {}", extended.minutes);
        let is_over = |job: &ObservedJob| job.cron && job.state == ObservedState::Ended;
        let from = match self.0.borrow().jobs.get(&id).is_some_and(is_over) {
            true => ObservedState::Ended,
            false => ObservedState::Pending,
        };
        self.change(id, &call, from, |job| {
            job.take_back_limit(extended);
        })
    }
    fn count_cycle(&mut self, _: u32, _: u32, _: u32, _: u32) {}
    fn hand_over_to_backfill(&mut self) {
        self.0.borrow_mut().handed_over = true;
    }
    fn log(&self, level: LogLevel, message: &str) {
        match level {
            LogLevel::Error => self.0.borrow_mut().errors.push(message.into()),
            LogLevel::Info => self.0.borrow_mut().infos.push(message.into()),
            LogLevel::Verbose | LogLevel::Debug => {}
        }
    }
}

/// Node daemons that park as fast as they are set to, and do all else at once.
#[derive(Clone, Default)]
pub struct FakeDaemons(pub Rc<RefCell<FakeNodes>>);

/// What the fake of the nodes holds.
#[derive(Default)]
pub struct FakeNodes {
    /// The orders that they enforce.
    pub orders: BTreeMap<String, NodeOrder>,
    /// What they say.
    pub facts: NodeFacts,
    /// Nodes that have not got their newest orders.
    pub outdated: BTreeSet<String>,
    /// Their clock: seconds.
    pub now: i64,
    /// How long they take to park a job: seconds.
    pub parking_seconds: i64,
    /// Jobs whose memory does not leave RAM.
    pub cannot_be_parked: BTreeSet<u32>,
    /// Since when they are parking which job.
    parking_since: BTreeMap<u32, i64>,
}

impl FakeNodes {
    /// Sets the clock, and parks what they have worked on for long enough.
    pub fn advance(&mut self, now: i64) {
        self.now = now;
        let done = self
            .parking_since
            .iter()
            .filter(|(_, since)| now - **since >= self.parking_seconds);
        let done = done.map(|(job, _)| *job);
        (self.facts.stuck, self.facts.parked) =
            done.partition(|job| self.cannot_be_parked.contains(job));
    }
}

impl Daemons for FakeDaemons {
    fn set(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>) {
        let mut nodes = self.0.borrow_mut();
        changes.apply_to(&mut nodes.orders);
        let now = nodes.now;
        nodes
            .parking_since
            .retain(|job, _| parking.contains_key(job));
        for job in parking.into_keys() {
            nodes.parking_since.entry(job).or_insert(now);
        }
        nodes.advance(now);
    }
    fn facts(&self) -> Arc<NodeFacts> {
        Arc::new(self.0.borrow().facts.clone())
    }
    fn has_acknowledged(&self, node: &str) -> bool {
        !self.0.borrow().outdated.contains(node)
    }
    fn stop(&mut self) {}
}

/// Measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn begin(&mut self, _: PassPart) {}
    fn happened(&mut self, _: Incident) {}
    fn take_passes(&mut self) -> PassDurations {
        PassDurations::default()
    }
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn is_requested(&mut self) -> bool {
        false
    }

    fn save(&mut self, _: Occasion, _: &DecisionRecord<'_>) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// A store in memory; clones share it.
#[derive(Clone, Default)]
pub struct FakeStore(pub Rc<RefCell<State>>);

impl Store for FakeStore {
    fn save(&mut self, changes: StateChanges) -> u64 {
        changes.apply_to(&mut self.0.borrow_mut());
        0
    }
    fn durable(&self) -> u64 {
        0
    }
    fn wait(&mut self, _: u64) -> bool {
        true
    }
    fn finish(&mut self) {}
}
