//! Models of slurmctld, of the nodes and of where the state is kept. They decide nothing by chance and
//! have no clock of their own: the same acts at the same times lead to the same end.
//!
//! [`Model`] is a whole cluster with latencies and faults. What is in this file is smaller: records that
//! a unit test can set as it likes.

pub mod acts;
mod backfill;
mod calls;
mod dfrsd;
mod events;
mod gauge;
mod jobs;
mod lifecycle;
mod limits;
mod look;
mod machine;
mod needs;
mod ports;
mod program;
mod records;
mod reservations;
mod settings;
mod slurmctld;
mod whole;
mod work;

pub(crate) use dfrsd::SENT_AGAIN_AFTER;
pub use ports::{DaemonsPort, Shared, SlurmPort, StorePort};
pub use program::{Fate, Program, Submission};
pub use settings::Settings;
pub(crate) use settings::mix;
pub use slurmctld::{JobEntry, NodeEntry};
pub use whole::Model;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use dfrs_core::Need;
use dfrs_proto::conf::Config;
use dfrs_proto::journal::Outcome;
use dfrs_proto::message::{JobState, NodeState, Share};

use crate::daemons::{Daemons, NodeFacts, OrderChanges};
use crate::observation::{Observation, ObservedJob, ObservedNode, ObservedState, Place, Seen};
use crate::slurm::{Ending, Extended, Level, Limit, Slurm, SlurmError};
use crate::state::{Changes, State, Store};

/// Orders by which these nodes, of four CPUs, are asked what jobs need, each of which counts with so many eighths of
/// the node.
#[must_use]
pub fn asking(nodes: &[(&str, &[(u32, u8)])]) -> OrderChanges {
    let job = |(id, eighths): &(u32, u8)| JobState {
        request: Some(Share::ONE),
        need: Need::from_eighths(*eighths),
        ..JobState::new(*id, Share::ONE)
    };
    let orders = nodes.iter().map(|(node, jobs)| {
        let jobs = jobs.iter().map(job).collect();
        let state = NodeState {
            cpus: 4,
            jobs,
            ..NodeState::default()
        };
        ((*node).to_owned(), state)
    });
    OrderChanges {
        changed: orders.collect(),
        ..OrderChanges::default()
    }
}

/// A pending batch job of `tasks` one-CPU tasks with 100 MiB each, in partition `dfrs`.
#[must_use]
pub fn job(id: u32, tasks: u32) -> ObservedJob {
    ObservedJob {
        id,
        user: 1000,
        submit_time: 1000 + i64::from(id),
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
        array: 0,
        array_task: 0,
        array_throttle: 0,
        array_master: false,
        restarts: 0,
        tasks,
        cpus_per_task: 1,
        idle_cpus: 0,
        tasks_per_node: 0,
        min_nodes: 1,
        max_nodes: 0,
        partition_nodes: 0,
        memory: 100,
        memory_per_cpu: true,
        exclusive: false,
        starts_whole: false,
        refuses_others: false,
        label: 0,
        warned: false,
        special: None,
        last_launch: 0,
        resumed: 0,
        eligible_time: 0,
        limit_minutes: 0,
        partition_minutes: 0,
        end_time: 0,
        free_until: 0,
        deadline: 0,
        reservation_end: 0,
        warn_seconds: 0,
        places: Vec::new(),
        eligible: None,
        all_eligible: false,
        sized_by_nodes: false,
        priority: 1000,
    }
}

/// `count` nodes n0, n1, … with 4 CPUs and 1000 MiB.
#[must_use]
pub fn nodes(count: u32) -> Vec<ObservedNode> {
    let node = |index| ObservedNode {
        index,
        name: format!("n{index}"),
        up: true,
        down: false,
        all_cpus: 4,
        cpus: 4,
        memory: 1000,
        allocated_memory: 0,
    };
    (0..count).map(node).collect()
}

/// Partition `dfrs`, jobs park by default; the papers' policy, whose yields follow from the jobs alone.
///
/// # Panics
///
/// Never: the text is a good configuration.
#[must_use]
pub fn config() -> Config {
    let text = "Mode=full\nPolicy=GreedyPM*/per/OPT=MIN/MINVT=600\nSwapPerNode=10000\nCheckpointWait=5\n\
                Partition=dfrs Mobility=park\n";
    Config::parse(text, "dfrs.conf").expect("a good configuration")
}

/// What the model of slurmctld holds.
#[derive(Default)]
pub struct World {
    /// Jobs by id.
    pub jobs: BTreeMap<u32, ObservedJob>,
    /// Nodes, ascending by index.
    pub nodes: Vec<ObservedNode>,
    /// Every call that changes something, as text.
    pub calls: Vec<String>,
    /// Jobs whose nodes were told again that they go on.
    pub told_again: Vec<u32>,
    /// Every line logged at error level.
    pub errors: Vec<String>,
    /// Every line logged at info level.
    pub infos: Vec<String>,
    /// What squeue shows as the reason.
    pub reasons: BTreeMap<u32, String>,
    /// How many parked jobs nodes were said to have, call by call.
    pub parked: Vec<Vec<(String, u32)>>,
    /// Yields that were shown since somebody looked.
    pub shown: Vec<(u32, Option<u32>)>,
    /// Jobs that Slurm refuses to start.
    pub refuse_start: BTreeSet<u32>,
    /// On more nodes a limit forbids any job to start.
    pub most_nodes: Option<usize>,
    /// Slurm counts cores of running jobs: it refuses all starts.
    pub cores_counted: bool,
    /// The last look has shown that.
    cores_seen: bool,
    /// How many jobs of a user may have nodes at once.
    pub most_of_user: BTreeMap<u32, usize>,
    /// Jobs and arrays that wait for another job.
    pub dependent: BTreeSet<u32>,
    /// How often it was asked about an array.
    pub arrays_asked: usize,
    /// Jobs that, by their reasons, wait for something else than room.
    pub held_back: BTreeSet<u32>,
    /// Whether jobs may start was asked in a way that writes their reasons.
    pub gate_asked: bool,
    /// Jobs that have ended by themselves, and how.
    pub endings: BTreeMap<u32, Ending>,
    /// Panics at the next look.
    pub panic: bool,
    /// Panics when it is asked to do something about one of these jobs.
    pub panic_about: BTreeSet<u32>,
    /// DFRS has given its partitions to backfill.
    pub handed_over: bool,
    /// Slurm's latest update, and its clock: UNIX seconds.
    pub updates: i64,
}

impl World {
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
            job.submit_time += 1;
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
        self.most_of_user
            .get(&user)
            .is_some_and(|most| placed.count() >= *most)
    }

    fn count_memory(&mut self) {
        for node in &mut self.nodes {
            let jobs = self.jobs.values().filter(|job| !job.completing);
            let places = jobs
                .flat_map(|job| &job.places)
                .filter(|place| place.node == node.index);
            node.allocated_memory = places.map(|place| place.memory).sum();
        }
    }
}

/// The model behind the trait.
#[derive(Clone, Default)]
pub struct FakeSlurm(pub Rc<RefCell<World>>);

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
        assert!(!panics, "told to panic about job {id}");
        let mut world = self.0.borrow_mut();
        world.calls.push(format!("{call} {id}"));
        let job = world
            .jobs
            .get_mut(&id)
            .filter(|job| job.state == from)
            .ok_or_else(|| refused("wrong state"))?;
        change(job);
        world.count_memory();
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
    fn observe(&mut self, seen: &mut Observation) -> Result<Seen, SlurmError> {
        let mut world = self.0.borrow_mut();
        assert!(!world.panic, "told to panic");
        world.count_memory();
        world.cores_seen = world.cores_counted;
        Ok(seen.become_all(world.jobs.values().cloned(), world.nodes.clone()))
    }
    fn outcome(&mut self, _: u32, _: i64) -> Outcome {
        Outcome::Completed
    }
    fn may_start(&mut self, jobs: &[u32]) -> Vec<Result<(), SlurmError>> {
        let mut world = self.0.borrow_mut();
        world.gate_asked = true;
        let answer = |id: &u32| match world.dependent.contains(id) {
            true => Err(refused("Job dependency is not yet satisfied")),
            false if world.is_at_limit(*id) => Err(SlurmError {
                code: crate::slurm::ACCOUNTING_POLICY,
                text: "Job violates accounting policy".to_owned(),
            }),
            false => Ok(()),
        };
        let answers = jobs.iter().map(answer).collect();
        world.arrays_asked += jobs.iter().filter(|id| world.jobs[id].array_master).count();
        answers
    }
    fn wait_for_room(&mut self, jobs: &[u32]) -> Vec<bool> {
        let held_back = &self.0.borrow().held_back;
        jobs.iter().map(|job| !held_back.contains(job)).collect()
    }
    fn split_array(&mut self, id: u32, most: u32) -> Result<(), SlurmError> {
        let call = format!("split {id} {most}");
        self.0.borrow_mut().calls.push(call);
        Ok(())
    }
    fn set_reasons(&mut self, reasons: &[(u32, Option<String>)]) {
        let mut world = self.0.borrow_mut();
        for (id, text) in reasons {
            match text {
                Some(text) => world.reasons.insert(*id, text.clone()),
                None => world.reasons.remove(id),
            };
        }
    }
    fn show_yields(&mut self, yields: &[(u32, Option<u32>)]) {
        self.0.borrow_mut().shown.extend_from_slice(yields);
    }
    fn set_parked(&mut self, parked: &[(String, u32)]) {
        self.0.borrow_mut().parked.push(parked.to_vec());
    }
    fn start(&mut self, id: u32, places: &[Place], whole: bool) -> Result<(), SlurmError> {
        if self.0.borrow().refuse_start.contains(&id) || self.0.borrow().cores_counted {
            return Err(refused("Requested nodes are busy"));
        }
        if self.0.borrow().is_at_limit(id) {
            return Err(refused("Job violates accounting policy"));
        }
        if (self.0.borrow().most_nodes).is_some_and(|most| places.len() > most) {
            return Err(SlurmError {
                code: crate::slurm::ACCOUNTING_POLICY,
                text: "Job violates accounting policy".to_owned(),
            });
        }
        let now = self.0.borrow().updates;
        let sizes: Vec<(u32, u64)> = {
            let world = self.0.borrow();
            let nodes = world.nodes.iter();
            nodes.map(|node| (node.index, node.memory)).collect()
        };
        self.change(id, "start", ObservedState::Pending, |job| {
            job.last_launch = now;
            job.exclusive |= whole;
            if job.sized_by_nodes {
                job.tasks = places.iter().map(|place| place.tasks).sum();
            }
            let memory = |place: &Place| {
                let units = if job.memory_per_cpu {
                    u64::from(place.tasks * job.cpus_per_task)
                } else {
                    1
                };
                let all = sizes.iter().find(|(index, _)| *index == place.node);
                let all = all.filter(|_| whole).map(|(_, memory)| *memory);
                Place {
                    memory: all.unwrap_or(job.memory * units),
                    ..place.clone()
                }
            };
            job.places = places.iter().map(memory).collect();
            job.state = ObservedState::Running;
        })?;
        let world = self.0.borrow();
        assert!(
            world
                .nodes
                .iter()
                .all(|node| node.allocated_memory <= node.memory),
            "memory exceeded"
        );
        Ok(())
    }
    fn suspend(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "suspend", ObservedState::Running, |job| {
            job.state = ObservedState::Suspended;
            job.resumed = 0;
        })
    }
    fn resume(&mut self, id: u32) -> Result<(), SlurmError> {
        let now = self.0.borrow().updates;
        self.change(id, "resume", ObservedState::Suspended, |job| {
            job.state = ObservedState::Running;
            job.resumed = now;
        })
    }
    fn repeat_resumption(&mut self, id: u32) -> Result<(), SlurmError> {
        self.0.borrow_mut().told_again.push(id);
        Ok(())
    }
    fn release_memory(&mut self, id: u32) -> Result<Vec<u64>, SlurmError> {
        let mut released = Vec::new();
        self.change(id, "release", ObservedState::Suspended, |job| {
            released = job.places.iter().map(|place| place.memory).collect();
            job.places.iter_mut().for_each(|place| place.memory = 0);
        })?;
        Ok(released)
    }
    fn claim_memory(&mut self, id: u32, memory: &[u64]) -> Result<(), SlurmError> {
        let panics = self.0.borrow().panic_about.contains(&id);
        assert!(!panics, "told to panic about job {id}");
        let mut world = self.0.borrow_mut();
        world.calls.push(format!("claim {id}"));
        let job = world
            .jobs
            .get_mut(&id)
            .ok_or_else(|| refused("no such job"))?;
        job.places
            .iter_mut()
            .zip(memory)
            .for_each(|(place, amount)| place.memory = *amount);
        world.count_memory();
        assert!(
            world
                .nodes
                .iter()
                .all(|node| node.allocated_memory <= node.memory),
            "memory exceeded"
        );
        Ok(())
    }
    fn warn(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "warn", ObservedState::Running, |_| {})
    }
    fn requeue(&mut self, id: u32) -> Result<(), SlurmError> {
        self.change(id, "requeue", ObservedState::Running, |job| {
            job.state = ObservedState::Pending;
            job.completing = true;
            job.restarts += 1;
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
    fn abort_left_behind(&mut self, id: u32, node: &str) -> Result<(), SlurmError> {
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
        let mut world = self.0.borrow_mut();
        let seen = std::mem::take(&mut world.cores_seen);
        if seen {
            world.cores_counted = false;
            world.calls.push("hide".to_owned());
        }
        seen
    }
    fn extend_time(&mut self, id: u32, seconds: u32) -> Result<Limit, SlurmError> {
        let mut world = self.0.borrow_mut();
        world.calls.push(format!("extend {id} {seconds}"));
        let job = world.jobs.get_mut(&id).ok_or_else(|| refused("no job"))?;
        Ok(job.extend_limit(seconds))
    }
    fn take_back_time(&mut self, id: u32, extended: &Extended) -> Result<(), SlurmError> {
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
    fn log(&self, level: Level, message: &str) {
        match level {
            Level::Error => self.0.borrow_mut().errors.push(message.into()),
            Level::Info => self.0.borrow_mut().infos.push(message.into()),
            Level::Verbose | Level::Debug => {}
        }
    }
}

/// Node daemons that park as fast as they are told to, and do all else at once.
#[derive(Clone, Default)]
pub struct FakeDaemons(pub Rc<RefCell<FakeNodes>>);

/// What the model of the nodes holds.
#[derive(Default)]
pub struct FakeNodes {
    /// What they were told to enforce.
    pub orders: BTreeMap<String, NodeState>,
    /// What they say.
    pub facts: NodeFacts,
    /// Nodes that have not got their newest orders.
    pub unheard: BTreeSet<String>,
    /// Their clock: seconds.
    pub now: i64,
    /// How long they take to park a job: seconds.
    pub parking_takes: i64,
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
            .filter(|(_, since)| now - **since >= self.parking_takes);
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
    fn has_heard(&self, node: &str) -> bool {
        !self.0.borrow().unheard.contains(node)
    }
    fn stop(&mut self) {}
}

/// A store in memory; clones share it.
#[derive(Clone, Default)]
pub struct FakeStore(pub Rc<RefCell<State>>);

impl Store for FakeStore {
    fn save(&mut self, changes: Changes) -> u64 {
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
