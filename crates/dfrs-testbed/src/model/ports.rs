//! The model behind the agent's ports.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use dfrs_core::Time;
use dfrs_proto::journal::JobOutcome;

use super::cluster::ClusterModel;
use super::slurmctld::{JobEntry, NodeEntry};
use dfrs_agent::daemons::{Daemons, NodeFacts, OrderChanges};
use dfrs_agent::publish::state::{StateChanges, Store};
use dfrs_agent::slurm::devices::ObservedDevices;
use dfrs_agent::slurm::observation::{Observation, SnapshotDelta};
use dfrs_agent::slurm::port::{Ending, JobTimeLimit, LimitExtension, LogLevel, Slurm, SlurmError};
use dfrs_agent::slurm::records::{ObservedNode, ObservedPlace};

/// The number of retries in a row that no call needs: what Slurm refuses for the rest of a second
/// is requested ten times.
const MAX_RETRIES: u32 = 25;

/// A model that several ports reach.
pub type SharedModel = Rc<RefCell<ClusterModel>>;

/// slurmctld, as an agent for these partitions sees it.
pub struct SlurmPort {
    model: SharedModel,
    partitions: Vec<String>,
    /// The version of the records that was shown last.
    shown: Option<u64>,
}

impl SlurmPort {
    /// For these partitions.
    pub fn new(model: &SharedModel, partitions: Vec<String>) -> Self {
        Self {
            model: Rc::clone(model),
            partitions,
            shown: None,
        }
    }

    /// Does it, unless it is to be refused, and writes down that it was done.
    fn call<T>(
        &mut self,
        what: &str,
        job: u32,
        act: impl FnOnce(&mut ClusterModel) -> Result<T, SlurmError>,
    ) -> Result<T, SlurmError> {
        let mut model = self.model.borrow_mut();
        let later = Time(model.now.0 + model.settings.call.0);
        model.advance(later);
        model.take_refusal(what)?;
        let done = act(&mut model);
        let again = done.as_ref().is_err_and(SlurmError::is_transient);
        model.count_retries(what, job, again);
        let done = done?;
        model.note(format!("{what} {job}"));
        Ok(done)
    }
}

impl Slurm for SlurmPort {
    fn layout_problem(&mut self) -> Option<String> {
        None
    }
    fn is_primary(&mut self) -> bool {
        self.model.borrow().serves
    }
    fn last_update(&self) -> i64 {
        let model = self.model.borrow();
        if model.reports_changes_only && self.shown == Some(model.version) {
            return i64::MIN;
        }
        model.updates
    }
    fn observe(&mut self, seen: &mut Observation) -> Result<SnapshotDelta, SlurmError> {
        let mut model = self.model.borrow_mut();
        let before = self.shown.replace(model.version);
        let different = match before {
            Some(before) if before == model.version => SnapshotDelta::default(),
            Some(_) => model.show_changes(&self.partitions, seen),
            None => model.show_all(&self.partitions, seen),
        };
        model.check_free_devices(seen);
        Ok(different)
    }
    fn outcome(&mut self, job: u32, submit_time: i64) -> JobOutcome {
        self.model.borrow().outcome(job, submit_time)
    }
    fn may_start(&mut self, jobs: &[u32]) -> Vec<Result<(), SlurmError>> {
        let mut model = self.model.borrow_mut();
        model.gate_queries += jobs.len();
        jobs.iter().map(|job| model.gate(*job)).collect()
    }
    fn wait_for_room(&mut self, jobs: &[u32]) -> Vec<bool> {
        let model = self.model.borrow();
        jobs.iter().map(|job| model.gate(*job).is_ok()).collect()
    }
    fn split_array(&mut self, job: u32, max: u32) -> Result<(), SlurmError> {
        self.call("split", job, |model| model.split(job, max))
    }
    fn set_reasons(&mut self, _: &[(u32, Option<String>)]) {}
    fn show_yields(&mut self, _: &[(u32, Option<u32>)]) {}
    fn set_parked(&mut self, parked: &[(String, u32)]) {
        let mut model = self.model.borrow_mut();
        if model.slurmctld.set_parked(parked) {
            model.updated();
        }
    }
    fn start(&mut self, job: u32, places: &[ObservedPlace], whole: bool) -> Result<(), SlurmError> {
        self.call("start", job, |model| model.start(job, places, whole))
    }
    fn suspend(&mut self, job: u32) -> Result<(), SlurmError> {
        self.call("suspend", job, |model| model.suspend(job, false))
    }
    fn resume(&mut self, job: u32) -> Result<(), SlurmError> {
        self.call("resume", job, |model| model.resume(job))
    }
    /// No message of Slurm's is lost here, so that nothing is missing.
    fn repeat_resumption(&mut self, _: u32) -> Result<(), SlurmError> {
        Ok(())
    }
    fn release_memory(&mut self, job: u32) -> Result<Vec<u64>, SlurmError> {
        self.call("release", job, |model| model.release(job))
    }
    fn claim_memory(&mut self, job: u32, memory: &[u64]) -> Result<(), SlurmError> {
        self.call("claim", job, |model| model.claim(job, memory))
    }
    fn forget_preemption(&mut self, _: u32) -> Result<(), SlurmError> {
        Ok(()) // no job is preempted here
    }
    fn warn(&mut self, job: u32) -> Result<(), SlurmError> {
        self.call("warn", job, |model| model.warn(job))
    }
    fn requeue(&mut self, job: u32) -> Result<(), SlurmError> {
        self.call("requeue", job, |model| {
            model.expect_image(job);
            model.requeue(job)
        })
    }
    fn requeue_warned(
        &mut self,
        job: u32,
        submit_time: i64,
        was_warned: bool,
    ) -> Result<Ending, SlurmError> {
        self.call("requeue-warned", job, |model| {
            model.requeue_warned(job, submit_time, was_warned)
        })
    }
    fn abort_orphaned(&mut self, job: u32, node: &str) -> Result<(), SlurmError> {
        self.call("abort", job, |model| model.abort_orphaned(job, node))
    }
    fn clear_begin_time(&mut self, job: u32) -> Result<(), SlurmError> {
        self.call("clear", job, |model| model.clear_begin(job))
    }
    fn hide_cores(&mut self) -> bool {
        false
    }
    fn extend_time(&mut self, job: u32, seconds: u32) -> Result<JobTimeLimit, SlurmError> {
        self.call("extend", job, |model| model.extend(job, seconds))
    }
    fn take_back_time(&mut self, job: u32, extended: &LimitExtension) -> Result<(), SlurmError> {
        self.call("take-back", job, |model| model.take_back(job, extended))
    }
    fn count_cycle(&mut self, _: u32, _: u32, _: u32, _: u32) {}
    fn hand_over_to_backfill(&mut self) {
        self.model.borrow_mut().hide_from_backfill(Vec::new());
    }
    fn log(&self, level: LogLevel, message: &str) {
        if matches!(level, LogLevel::Error | LogLevel::Info) {
            let line = (level, message.to_owned());
            self.model.borrow_mut().lines.push(line);
        }
    }
}

/// The nodes' daemons.
pub struct DaemonsPort(pub SharedModel);

impl Daemons for DaemonsPort {
    fn set(&mut self, changes: OrderChanges, parking: BTreeMap<u32, Vec<String>>) {
        self.0.borrow_mut().set_orders(changes, parking);
    }
    fn facts(&self) -> Arc<NodeFacts> {
        self.0.borrow().delivery.facts()
    }
    fn has_acknowledged(&self, node: &str) -> bool {
        self.0.borrow().delivery.has_newest_orders(node)
    }
    fn stop(&mut self) {
        self.0.borrow_mut().stop_orders();
    }
}

/// Where the state is kept.
pub struct StorePort(pub SharedModel);

impl Store for StorePort {
    fn save(&mut self, changes: StateChanges) -> u64 {
        self.0.borrow_mut().persist(changes)
    }
    fn durable(&self) -> u64 {
        self.0.borrow().durable
    }
    fn wait(&mut self, number: u64) -> bool {
        self.durable() >= number
    }
    fn finish(&mut self) {}
}

impl ClusterModel {
    /// A call that is retried again and again requests what the agent could see is not so.
    fn count_retries(&mut self, what: &str, job: u32, again: bool) {
        let key = (job, what.to_owned());
        if !again {
            self.retries.remove(&key);
            return;
        }
        let count = self.retries.entry(key).or_default();
        *count += 1;
        if *count == MAX_RETRIES {
            let fault = format!("{what} {job} was retried {MAX_RETRIES} times");
            self.faults.push(fault);
        }
    }

    /// Keeps these changes and all before them, or, while the disk is full, remembers them for the
    /// next attempt.
    fn persist(&mut self, changes: StateChanges) -> u64 {
        let is_news = self.durable == self.submitted;
        self.submitted += 1;
        self.unkept.add(changes);
        // The store logs it once, until the state is written again.
        if self.disk_full && is_news {
            let line = "dfrs_state: no space left on device".to_owned();
            self.lines.push((LogLevel::Error, line));
        }
        self.try_persist();
        self.submitted
    }

    /// Keeps what is not kept yet.
    pub(super) fn try_persist(&mut self) {
        if !self.disk_full {
            std::mem::take(&mut self.unkept).apply_to(&mut self.kept);
            self.durable = self.submitted;
        }
    }

    /// Brings what was seen of these partitions up to date, as the shim's snapshot does. O(nodes +
    /// what changed and its places).
    fn show_changes(&mut self, partitions: &[String], seen: &mut Observation) -> SnapshotDelta {
        let changed = self.slurmctld.jobs.take_unseen();
        self.show(partitions, changed, seen)
    }

    /// All of these partitions, for an agent that has not looked before.
    fn show_all(&mut self, partitions: &[String], seen: &mut Observation) -> SnapshotDelta {
        self.slurmctld.jobs.take_unseen();
        self.held = HeldMemory::default();
        let all = seen.jobs().map(|job| job.id);
        let all = all.chain(self.slurmctld.jobs.keys().copied()).collect();
        self.show(partitions, all, seen)
    }

    fn show(
        &mut self,
        partitions: &[String],
        jobs: BTreeSet<u32>,
        seen: &mut Observation,
    ) -> SnapshotDelta {
        for id in &jobs {
            self.held
                .follow(*id, self.slurmctld.jobs.get(id), partitions);
        }
        let mut different = SnapshotDelta {
            nodes: self.show_nodes(partitions, seen),
            ..SnapshotDelta::default()
        };
        let is_shown = |job: &&JobEntry| {
            partitions.contains(&job.seen.partition)
                && (job.outcome.is_none() || job.seen.completing)
        };
        // What is shown of a job then depends on the time, too.
        let reserved = self.has_reservations();
        let jobs = if reserved {
            let known = seen.jobs().map(|job| job.id);
            known.chain(self.slurmctld.jobs.keys().copied()).collect()
        } else {
            jobs
        };
        for id in jobs {
            let job = self.slurmctld.jobs.get(&id).filter(is_shown);
            let shown = job.filter(|_| reserved).map(|job| self.shown_job(job));
            let job = shown.as_ref().or(job.map(|job| &job.seen));
            let job = job.map(|job| seen.as_starting(job.clone()));
            if seen.job(id) == job.as_ref() {
                continue;
            }
            different.jobs.insert(id);
            match job {
                Some(job) => seen.insert(job),
                None => drop(seen.remove(id)),
            }
        }
        different
    }

    /// Shows the nodes; true: some are different.
    fn show_nodes(&self, partitions: &[String], seen: &mut Observation) -> bool {
        let is_own = |node: &NodeEntry| partitions.contains(&node.partition) && !node.left;
        let nodes = self.slurmctld.nodes.iter();
        let shown = nodes
            .filter(|node| is_own(node) || self.held.holds(node.seen.index))
            .map(|node| ShownNode {
                up: !node.down && !node.drained && is_own(node),
                allocated_memory: self.held.allocated(node.seen.index)
                    + self.slurmctld.others_memory(node.seen.index),
                devices: self.shown_devices(node),
                node,
            });
        let shown: Vec<ShownNode<'_>> = shown.collect();
        let same = |(known, shown): (&ObservedNode, &ShownNode<'_>)| {
            let node = &shown.node.seen;
            known.index == node.index && known.name == node.name
        };
        let known = seen.nodes();
        if known.len() != shown.len() || !known.iter().zip(&shown).all(same) {
            seen.set_nodes(shown.iter().map(ShownNode::observed).collect());
            return true;
        }
        let pairs = known.iter().zip(&shown);
        let different = pairs.filter(|(known, shown)| !shown.is_like(known));
        let different: Vec<ObservedNode> = different.map(|(_, shown)| shown.observed()).collect();
        let any = !different.is_empty();
        seen.update_nodes(different);
        any
    }
}

/// A node as it is shown.
struct ShownNode<'a> {
    node: &'a NodeEntry,
    up: bool,
    allocated_memory: u64,
    devices: Vec<ObservedDevices>,
}

impl ShownNode<'_> {
    fn observed(&self) -> ObservedNode {
        ObservedNode {
            up: self.up,
            down: self.node.down,
            allocated_memory_mib: self.allocated_memory,
            devices: self.devices.clone(),
            ..self.node.seen.clone()
        }
    }

    fn is_like(&self, known: &ObservedNode) -> bool {
        let node = &self.node.seen;
        (known.up, known.down, known.allocated_memory_mib)
            == (self.up, self.node.down, self.allocated_memory)
            && (known.all_cpus, known.cpus, known.memory) == (node.all_cpus, node.cpus, node.memory)
            && known.devices == self.devices
    }
}

/// What jobs held on nodes when they were last shown.
#[derive(Debug, Default)]
pub(super) struct HeldMemory {
    by_job: BTreeMap<u32, HeldByJob>,
    /// By node: MiB that Slurm counts, and how many jobs of the shown partitions are there.
    by_node: BTreeMap<u32, (u64, u32)>,
}

/// What one job held: MiB by node, and whether it is of the shown partitions.
#[derive(Debug)]
struct HeldByJob {
    places: Vec<(u32, u64)>,
    is_ours: bool,
}

impl HeldMemory {
    fn follow(&mut self, id: u32, job: Option<&JobEntry>, partitions: &[String]) {
        if let Some(before) = self.by_job.remove(&id) {
            for (node, memory) in &before.places {
                let (allocated, jobs) = self.by_node.entry(*node).or_default();
                *allocated -= memory;
                *jobs -= u32::from(before.is_ours);
            }
        }
        let Some(job) = job.filter(|job| !job.seen.places.is_empty()) else {
            return;
        };
        let counted = |memory| if job.has_nodes() { memory } else { 0 };
        let places = job.seen.places.iter();
        let now = HeldByJob {
            places: places
                .map(|place| (place.node, counted(place.memory_mib)))
                .collect(),
            is_ours: partitions.contains(&job.seen.partition),
        };
        for (node, memory) in &now.places {
            let (allocated, jobs) = self.by_node.entry(*node).or_default();
            *allocated += memory;
            *jobs += u32::from(now.is_ours);
        }
        self.by_job.insert(id, now);
    }

    fn allocated(&self, node: u32) -> u64 {
        self.by_node.get(&node).map_or(0, |(memory, _)| *memory)
    }

    fn holds(&self, node: u32) -> bool {
        self.by_node.get(&node).is_some_and(|(_, jobs)| *jobs > 0)
    }
}
