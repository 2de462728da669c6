//! The check of everything that a journal promises.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::{NodeIndex, Progress, Span, Time};
use dfrs_proto::journal::{EventKind, JobOutcome, JournalEvent, PlatformNode};

use super::track::{JournalPhase, Track};
use super::violation::{JournalViolation, Violated};

/// Sums of memory may exceed a node by this share of it: decimal fractions do not add up exactly.
const MEMORY_ROUNDING: f64 = 1e-9;

/// Sums of CPU may exceed a node by this share of it.
const CPU_ROUNDING: f64 = 1e-6;

/// How far a completed job's progress may be from its run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// As a share of the run time.
    pub relative: f64,
    /// And this on top.
    pub absolute: Span,
}

impl Default for Tolerance {
    /// For computed journals: a millionth of the run time and a millisecond. A live journal whose
    /// run times were measured needs more.
    fn default() -> Self {
        Self {
            relative: 1e-6,
            absolute: Span(1000),
        }
    }
}

/// Everything that is wrong with these events, given with their line numbers, in their order: the
/// platform comes first and has nodes, times never decrease, jobs change state as jobs can, yields
/// are shares of running jobs, no node ever holds more memory or promises more CPU than it has, and
/// completed jobs of known run time have done exactly that. Events of one `t` take effect together.
/// A node that stays overfull is reported once. O(events × (nodes of the job + jobs on these
/// nodes)).
pub fn validate(
    events: impl IntoIterator<Item = (usize, JournalEvent)>,
    tolerance: Tolerance,
) -> Vec<JournalViolation> {
    let mut validator = Validator::new(tolerance);
    for (line, event) in events {
        validator.push(line, &event);
    }
    validator.finish()
}

/// [`validate()`], one event at a time.
#[derive(Debug)]
pub struct Validator {
    tolerance: Tolerance,
    nodes: Vec<NodeTrack>,
    jobs: BTreeMap<String, Track>,
    has_platform: bool,
    t: Time,
    line: usize,
    instant: Instant,
    violations: Vec<JournalViolation>,
}

#[derive(Debug)]
struct NodeTrack {
    node: PlatformNode,
    /// Jobs that have tasks here.
    jobs: BTreeSet<String>,
    memory_reported: bool,
    cpu_reported: bool,
}

/// What has to be looked at when all events of an instant are known.
#[derive(Debug, Default)]
struct Instant {
    nodes: BTreeSet<NodeIndex>,
    placed: BTreeMap<String, usize>,
    early_yields: Vec<(usize, String)>,
}

impl Validator {
    /// Nothing seen yet.
    pub fn new(tolerance: Tolerance) -> Self {
        Self {
            tolerance,
            nodes: Vec::new(),
            jobs: BTreeMap::new(),
            has_platform: false,
            t: Time(i64::MIN),
            line: 0,
            instant: Instant::default(),
            violations: Vec::new(),
        }
    }

    /// Takes the next event and the number of its line.
    pub fn push(&mut self, line: usize, event: &JournalEvent) {
        if event.t < self.t {
            // Judged as if it happened now; otherwise one slip would make everything after it
            // wrong.
            self.report(line, event.t, Violated::TimeOrder { before: self.t });
        } else if event.t > self.t {
            self.settle();
            self.t = event.t;
        }
        self.line = line;
        if !self.has_platform && !matches!(event.kind, EventKind::Platform { .. }) {
            self.has_platform = true; // said once
            self.violate(Violated::NoPlatform);
        }
        self.apply(&event.kind);
    }

    /// Everything found, after the last event. Jobs may still be in the system.
    #[must_use]
    pub fn finish(mut self) -> Vec<JournalViolation> {
        self.settle();
        self.violations
    }

    fn apply(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Platform { nodes, .. } => self.platform(nodes),
            EventKind::Submit {
                job,
                tasks,
                most_tasks,
                cpu,
                mem,
                mem_per_node,
                runtime,
                ..
            } => {
                let track = Track {
                    tasks: *tasks,
                    max_tasks: most_tasks.unwrap_or(*tasks),
                    cpu: *cpu,
                    mem: *mem,
                    mem_per_node: *mem_per_node,
                    runtime: *runtime,
                    phase: JournalPhase::Waiting,
                    yielded: None,
                    places: BTreeMap::new(),
                    progress: Progress::new(self.t, *runtime),
                };
                self.submit(job, track);
            }
            EventKind::Eligible { job, .. } => {
                self.in_phase(
                    "eligible",
                    job,
                    &[JournalPhase::Waiting],
                    JournalPhase::Waiting.name(),
                );
            }
            EventKind::Refused { job, nodes } => self.refused(job, nodes),
            EventKind::Start { job, nodes } => {
                self.place("start", job, nodes, None, JournalPhase::Waiting)
            }
            EventKind::Yield { job, value } => self.set_yield(job, *value),
            EventKind::Pause { job, lost } => self.pause(job, *lost),
            EventKind::Resume { job, nodes, stall } => {
                self.place("resume", job, nodes, *stall, JournalPhase::Paused);
            }
            EventKind::Migrate { job, nodes, stall } => {
                self.place("migrate", job, nodes, *stall, JournalPhase::Running);
            }
            EventKind::Finish { job, outcome } => self.end(job, *outcome),
            EventKind::Unknown => {}
        }
    }

    fn platform(&mut self, nodes: &[PlatformNode]) {
        self.has_platform = true;
        for (index, node) in nodes.iter().enumerate() {
            if node.cpu < 0.0 || node.mem < 0.0 {
                self.violate(Violated::BadNodeCapacity {
                    node: node.name.clone(),
                });
            }
            let Some(known) = self.nodes.get_mut(index) else {
                self.nodes.push(NodeTrack {
                    node: node.clone(),
                    jobs: BTreeSet::new(),
                    memory_reported: false,
                    cpu_reported: false,
                });
                continue;
            };
            let before = std::mem::replace(&mut known.node, node.clone()).name;
            if before != node.name {
                self.violate(Violated::PlatformChanged {
                    index,
                    before,
                    now: node.name.clone(),
                });
            }
        }
        for index in nodes.len()..self.nodes.len() {
            let before = self.nodes[index].node.name.clone();
            self.violate(Violated::PlatformChanged {
                index,
                before,
                now: "absent".into(),
            });
        }
        if self.nodes.is_empty() {
            self.violate(Violated::NoNodes);
        }
        let all = (0..).map(NodeIndex).take(self.nodes.len());
        self.instant.nodes.extend(all);
    }

    fn submit(&mut self, job: &str, track: Track) {
        let no_tasks = track.tasks == 0 || track.max_tasks < track.tasks;
        if no_tasks || track.cpu < 0.0 || track.mem < 0.0 || track.mem_per_node < 0.0 {
            self.violate(Violated::BadJob { job: job.into() });
        }
        if self.jobs.contains_key(job) {
            self.violate(Violated::SubmittedTwice { job: job.into() });
            return;
        }
        self.jobs.insert(job.into(), track);
    }

    fn place(
        &mut self,
        event: &'static str,
        job: &str,
        nodes: &[NodeIndex],
        stall: Option<Span>,
        from: JournalPhase,
    ) {
        if !self.in_phase(event, job, &[from], from.name()) || !self.fits_platform(job, nodes) {
            return;
        }
        let Some(track) = self.jobs.get_mut(job) else {
            return;
        };
        let left = track.place(self.t, nodes, stall);
        let taken: Vec<NodeIndex> = track.places.keys().copied().collect();
        let (placed, tasks) = (nodes.len(), track.tasks);
        let allowed = tasks..=track.max_tasks;
        if !u32::try_from(placed).is_ok_and(|placed| allowed.contains(&placed)) {
            self.violate(Violated::WrongTaskCount {
                job: job.into(),
                placed,
                tasks,
            });
        }
        self.leave(job, &left);
        for node in taken {
            self.node(node).jobs.insert(job.into());
            self.instant.nodes.insert(node);
        }
        self.instant.placed.insert(job.into(), self.line);
    }

    fn fits_platform(&mut self, job: &str, nodes: &[NodeIndex]) -> bool {
        let outside = nodes
            .iter()
            .find(|node| node.0 as usize >= self.nodes.len());
        let Some(NodeIndex(index)) = outside.copied() else {
            return true;
        };
        let last = i64::try_from(self.nodes.len()).unwrap_or(i64::MAX) - 1;
        self.violate(Violated::BadNode {
            job: job.into(),
            index,
            last,
        });
        false
    }

    fn refused(&mut self, job: &str, nodes: &[NodeIndex]) {
        let phases = [JournalPhase::Waiting, JournalPhase::Paused];
        if self.in_phase("refused", job, &phases, "waiting or paused") {
            self.fits_platform(job, nodes);
        }
    }

    fn pause(&mut self, job: &str, lost: bool) {
        if !self.in_phase("pause", job, &[JournalPhase::Running], "running") {
            return;
        }
        let Some(track) = self.jobs.get_mut(job) else {
            return;
        };
        let left = track.pause(self.t, lost);
        self.leave(job, &left);
    }

    fn set_yield(&mut self, job: &str, value: f64) {
        if !(0.0..=1.0).contains(&value) {
            self.violate(Violated::YieldRange {
                job: job.into(),
                value,
            });
        }
        let t = self.t;
        let Some(track) = self.jobs.get_mut(job) else {
            self.violate(Violated::UnknownJob {
                event: "yield",
                job: job.into(),
            });
            return;
        };
        track.set_yield(t, value);
        if track.phase == JournalPhase::Running {
            self.instant.nodes.extend(track.places.keys());
        } else {
            // Right if the job gets a place at this very instant, on a later line.
            self.instant.early_yields.push((self.line, job.into()));
        }
    }

    fn end(&mut self, job: &str, outcome: JobOutcome) {
        let (phases, allowed): (&[JournalPhase], _) = if outcome.is_completed() {
            (
                &[JournalPhase::Running],
                "running, or the outcome another than completed",
            )
        } else {
            (
                &[
                    JournalPhase::Waiting,
                    JournalPhase::Running,
                    JournalPhase::Paused,
                ],
                "in the system",
            )
        };
        if !self.in_phase("finish", job, phases, allowed) {
            return;
        }
        let Some(mut track) = self.jobs.remove(job) else {
            return;
        };
        if outcome.is_completed() {
            self.check_progress(job, &mut track);
        }
        let left: Vec<NodeIndex> = track.places.into_keys().collect();
        self.leave(job, &left);
        self.instant.placed.remove(job);
        self.instant
            .early_yields
            .retain(|(_, waiting)| waiting != job);
    }

    fn check_progress(&mut self, job: &str, track: &mut Track) {
        let Some(runtime) = track.runtime.map(Span::seconds) else {
            return;
        };
        let progress = track.virtual_time(self.t).seconds();
        let allowed = self.tolerance.relative * runtime + self.tolerance.absolute.seconds();
        if (progress - runtime).abs() > allowed {
            self.violate(Violated::Progress {
                job: job.into(),
                progress,
                runtime,
            });
        }
    }

    /// Whether the job is in the system and in one of these phases; reports it if not.
    fn in_phase(
        &mut self,
        event: &'static str,
        job: &str,
        phases: &[JournalPhase],
        allowed: &'static str,
    ) -> bool {
        let what = match self.jobs.get(job) {
            Some(track) if phases.contains(&track.phase) => return true,
            Some(track) => Violated::WrongPhase {
                event,
                job: job.into(),
                phase: track.phase.name(),
                allowed,
            },
            None => Violated::UnknownJob {
                event,
                job: job.into(),
            },
        };
        self.violate(what);
        false
    }

    fn leave(&mut self, job: &str, nodes: &[NodeIndex]) {
        for node in nodes {
            self.node(*node).jobs.remove(job);
            self.instant.nodes.insert(*node);
        }
    }

    /// A node that is known to exist: places are checked before they are taken.
    fn node(&mut self, node: NodeIndex) -> &mut NodeTrack {
        &mut self.nodes[node.0 as usize]
    }

    /// All events of the instant are known: what do they make of it together?
    fn settle(&mut self) {
        let instant = std::mem::take(&mut self.instant);
        for (line, job) in instant.early_yields {
            let Some(track) = self.jobs.get(&job) else {
                continue;
            };
            if track.phase != JournalPhase::Running {
                let what = Violated::WrongPhase {
                    event: "yield",
                    job,
                    phase: track.phase.name(),
                    allowed: JournalPhase::Running.name(),
                };
                self.report(line, self.t, what);
            }
        }
        for (job, line) in instant.placed {
            let track = self.jobs.get(&job);
            if track.is_some_and(|track| track.yielded.is_none()) {
                self.report(line, self.t, Violated::NoYield { job });
            }
        }
        for node in instant.nodes {
            self.check_node(node);
        }
    }

    fn check_node(&mut self, index: NodeIndex) {
        let (mut memory, mut cpu) = (0.0, 0.0);
        let track = &self.nodes[index.0 as usize];
        for job in track.jobs.iter().filter_map(|job| self.jobs.get(job)) {
            let tasks = job.places.get(&index).copied().unwrap_or(0);
            memory += job.memory_on(tasks);
            cpu += job.cpu_on(tasks);
        }
        let PlatformNode {
            name: node,
            cpu: cpus,
            mem,
            ..
        } = track.node.clone();
        let memory_over = memory > mem * (1.0 + MEMORY_ROUNDING);
        let cpu_over = cpu > cpus * (1.0 + CPU_ROUNDING);
        let track = self.node(index);
        let memory_known = std::mem::replace(&mut track.memory_reported, memory_over);
        let cpu_known = std::mem::replace(&mut track.cpu_reported, cpu_over);
        if memory_over && !memory_known {
            self.violate(Violated::Memory {
                node: node.clone(),
                used: memory,
                capacity: mem,
            });
        }
        if cpu_over && !cpu_known {
            self.violate(Violated::Cpu {
                node,
                used: cpu,
                capacity: cpus,
            });
        }
    }

    fn violate(&mut self, what: Violated) {
        self.report(self.line, self.t, what);
    }

    fn report(&mut self, line: usize, t: Time, what: Violated) {
        self.violations.push(JournalViolation { line, t, what });
    }
}
