//! What a journal says of a cluster so far: its nodes, the jobs in the system, and sums.

mod job;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use dfrs_core::{NodeIndex, Span, Time};
use dfrs_journal::devices;
use dfrs_proto::devices::DevicesByKind;
use dfrs_proto::journal::{EventKind, JobOutcome, JournalEvent, PlatformNode};

pub use job::{TopJob, TopPhase, printable};

/// How many of the jobs that ended last are kept.
const MAX_ENDED: usize = 20;

/// A job's number in the order of submissions.
pub type JobKey = u64;

/// A node, and how many tasks of which jobs are on it.
#[derive(Debug)]
pub struct TopNode {
    pub name: String,
    /// Capacities, in the journal's units.
    pub cpu: f64,
    pub memory: f64,
    pub devices: DevicesByKind,
    pub jobs: BTreeMap<JobKey, u32>,
}

/// What jobs have of a node, or of all nodes, in the journal's units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TopUsage {
    /// CPU that jobs are given: yield times need.
    pub allocated: f64,
    /// CPU that they need.
    pub needed: f64,
    pub memory: f64,
}

/// Devices of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TopDevices {
    /// Held by jobs of the journal.
    pub held: u64,
    pub all: u64,
}

/// Sums since the journal began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub waiting: usize,
    pub running: usize,
    pub paused: usize,
    /// Jobs that ended, however they did.
    pub ended: u64,
    pub pauses: u64,
    pub migrations: u64,
    /// Jobs that completed, and the sum of their stretches.
    pub completed: u64,
    pub stretches: f64,
    /// Events about jobs or nodes that the journal has not named.
    pub unexpected_events: u64,
}

/// The cluster. An event costs what it is about: its job, and the nodes that this is on.
#[derive(Debug, Default)]
pub struct TopModel {
    pub policy: String,
    pub nodes: Vec<TopNode>,
    pub totals: Totals,
    /// When the last event happened.
    pub last: Option<Time>,
    jobs: BTreeMap<JobKey, TopJob>,
    keys: BTreeMap<String, JobKey>,
    next: JobKey,
    ended: VecDeque<TopJob>,
    /// Another file follows.
    restart_pending: bool,
}

impl TopModel {
    /// What follows is from the beginning of another file. If that begins with a platform, it says
    /// everything again; if not, the file was only cut, and goes on.
    pub fn mark_restart(&mut self) {
        self.restart_pending = true;
    }

    /// Takes the next event.
    pub fn follow(&mut self, event: &JournalEvent) {
        if std::mem::take(&mut self.restart_pending)
            && matches!(event.kind, EventKind::Platform { .. })
        {
            *self = Self::default();
        }
        let t = self.last.map_or(event.t, |last| last.max(event.t));
        self.last = Some(t);
        let known = match &event.kind {
            EventKind::Platform { policy, nodes, .. } => {
                self.policy = printable(policy);
                self.set_nodes(nodes);
                Some(())
            }
            EventKind::Submit { .. } => {
                self.submit(t, &event.kind);
                Some(())
            }
            EventKind::Eligible { .. } | EventKind::Refused { .. } | EventKind::Unknown => Some(()),
            other => self.change(t, other, event.reason.as_deref()),
        };
        if known.is_none() {
            self.totals.unexpected_events += 1;
        }
    }

    /// The jobs in the system in the order of their submission.
    pub fn jobs(&self) -> impl Iterator<Item = &TopJob> {
        self.jobs.values()
    }

    /// The jobs that ended last, the latest first.
    pub fn ended(&self) -> impl Iterator<Item = &TopJob> {
        self.ended.iter()
    }

    /// What jobs have of one node.
    pub fn usage(&self, node: &TopNode) -> TopUsage {
        let mut usage = TopUsage::default();
        for (key, tasks) in &node.jobs {
            if let Some(job) = self.jobs.get(key) {
                usage.add(job, *tasks, 1);
            }
        }
        usage
    }

    /// The devices of a node by name, and those that jobs of the journal hold there.
    pub fn devices<'a>(
        &'a self,
        node: &'a TopNode,
    ) -> impl Iterator<Item = (&'a str, TopDevices)> + use<'a> {
        let kinds = node.devices.iter();
        let named = kinds.filter(|(kind, _)| devices::name_of(kind) == *kind);
        named.map(|(name, all)| {
            let jobs = node.jobs.keys().filter_map(|key| self.jobs.get(key));
            let numbers = jobs.map(|job| devices::number_named(&job.devices, name));
            let (held, all) = (numbers.fold(0, u64::saturating_add), *all);
            (name.as_str(), TopDevices { held, all })
        })
    }

    /// The same of all nodes. O(nodes x their jobs) where nodes have devices.
    pub fn devices_of_all(&self) -> BTreeMap<&str, TopDevices> {
        let mut sums: BTreeMap<&str, TopDevices> = BTreeMap::new();
        for (name, devices) in self.nodes.iter().flat_map(|node| self.devices(node)) {
            let sum = sums.entry(name).or_default();
            sum.held = sum.held.saturating_add(devices.held);
            sum.all = sum.all.saturating_add(devices.all);
        }
        sums
    }

    /// What jobs have of all nodes.
    pub fn usage_of_all(&self) -> TopUsage {
        let mut usage = TopUsage::default();
        for job in self.jobs().filter(|job| job.phase == TopPhase::Running) {
            usage.add(job, job.tasks, job.places.len());
        }
        usage
    }

    /// Whether some job that this is true of has a place on the node.
    pub fn any_on(&self, node: &TopNode, is_meant: impl Fn(&TopJob) -> bool) -> bool {
        let mut jobs = node.jobs.keys().filter_map(|key| self.jobs.get(key));
        jobs.any(is_meant)
    }

    /// The same nodes in the same places, perhaps more after them, perhaps with other capacities.
    fn set_nodes(&mut self, nodes: &[PlatformNode]) {
        self.nodes.truncate(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            let (cpu, memory) = (node.cpu, node.mem);
            match self.nodes.get_mut(index) {
                Some(known) => {
                    known.name.clone_from(&node.name);
                    (known.cpu, known.memory) = (cpu, memory);
                    known.devices.clone_from(&node.devices);
                }
                None => self.nodes.push(TopNode {
                    name: node.name.clone(),
                    cpu,
                    memory,
                    devices: node.devices.clone(),
                    jobs: BTreeMap::new(),
                }),
            }
        }
    }

    fn submit(&mut self, t: Time, kind: &EventKind) {
        let Some(job) = TopJob::submitted(self.next, t, kind) else {
            return;
        };
        if let Some(old) = self.keys.insert(job.id.clone(), self.next) {
            self.totals.unexpected_events += 1;
            self.remove(old);
        }
        self.jobs.insert(self.next, job);
        self.next += 1;
        self.totals.waiting += 1;
    }

    /// An event about a job in the system; none if it is not there.
    fn change(&mut self, t: Time, kind: &EventKind, reason: Option<&str>) -> Option<()> {
        let key = *self.keys.get(kind.job()?)?;
        if let EventKind::Finish { job, outcome } = kind {
            self.keys.remove(job);
            self.finish(t, key, *outcome, reason);
            return Some(());
        }
        self.count(key, kind);
        let job = self.jobs.get_mut(&key)?;
        match kind {
            EventKind::Yield { value, .. } => job.set_yield(t, *value),
            EventKind::Pause { lost, .. } => {
                job.pause(t, *lost, reason);
                self.leave(key);
            }
            EventKind::Start { nodes, .. } => self.place(key, t, nodes, None, ("start", reason)),
            EventKind::Resume { nodes, stall, .. } => {
                self.place(key, t, nodes, *stall, ("resume", reason));
            }
            EventKind::Migrate { nodes, stall, .. } => {
                self.place(key, t, nodes, *stall, ("migrate", reason));
            }
            _ => {}
        }
        Some(())
    }

    /// Takes the job from the sum of its phase, and adds it to that of the next one.
    fn count(&mut self, key: JobKey, kind: &EventKind) {
        let next = match kind {
            EventKind::Pause { .. } => TopPhase::Paused,
            EventKind::Start { .. } | EventKind::Resume { .. } | EventKind::Migrate { .. } => {
                TopPhase::Running
            }
            _ => return,
        };
        match kind {
            EventKind::Pause { .. } => self.totals.pauses += 1,
            EventKind::Migrate { .. } => self.totals.migrations += 1,
            _ => {}
        }
        if let Some(job) = self.jobs.get_mut(&key) {
            self.totals.take(job.phase);
            job.phase = next;
            self.totals.add(next);
        }
    }

    fn place(
        &mut self,
        key: JobKey,
        t: Time,
        nodes: &[NodeIndex],
        stall: Option<Span>,
        what: (&'static str, Option<&str>),
    ) {
        self.leave(key);
        let Some(job) = self.jobs.get_mut(&key) else {
            return;
        };
        job.place(t, nodes, stall.unwrap_or_default(), what);
        for (node, tasks) in &job.places {
            match self.nodes.get_mut(*node) {
                Some(node) => _ = node.jobs.insert(key, *tasks),
                None => self.totals.unexpected_events += 1,
            }
        }
    }

    /// Gives up the job's places.
    fn leave(&mut self, key: JobKey) {
        let places = self
            .jobs
            .get_mut(&key)
            .map(|job| std::mem::take(&mut job.places));
        for (node, _) in places.unwrap_or_default() {
            if let Some(node) = self.nodes.get_mut(node) {
                node.jobs.remove(&key);
            }
        }
    }

    fn remove(&mut self, key: JobKey) -> Option<TopJob> {
        self.leave(key);
        let job = self.jobs.remove(&key)?;
        self.totals.take(job.phase);
        Some(job)
    }

    fn finish(&mut self, t: Time, key: JobKey, outcome: JobOutcome, reason: Option<&str>) {
        let Some(mut job) = self.remove(key) else {
            return;
        };
        job.finish(t, outcome, reason);
        self.totals.ended += 1;
        if let Some(stretch) = job.stretch_at_end().filter(|_| outcome.is_completed()) {
            self.totals.completed += 1;
            self.totals.stretches += stretch;
        }
        self.ended.push_front(job);
        self.ended.truncate(MAX_ENDED);
    }
}

impl Totals {
    fn of(&mut self, phase: TopPhase) -> Option<&mut usize> {
        match phase {
            TopPhase::Waiting => Some(&mut self.waiting),
            TopPhase::Running => Some(&mut self.running),
            TopPhase::Paused => Some(&mut self.paused),
            TopPhase::Over(_) => None,
        }
    }

    fn add(&mut self, phase: TopPhase) {
        if let Some(count) = self.of(phase) {
            *count += 1;
        }
    }

    fn take(&mut self, phase: TopPhase) {
        if let Some(count) = self.of(phase) {
            *count = count.saturating_sub(1);
        }
    }
}

impl TopUsage {
    fn add(&mut self, job: &TopJob, tasks: u32, nodes: usize) {
        let needed = job.cpu * f64::from(tasks);
        self.needed += needed;
        self.allocated += needed * job.share;
        // Precise enough: a number of nodes.
        let nodes = nodes as f64;
        self.memory += job.memory.0 * f64::from(tasks) + job.memory.1 * nodes;
    }
}
