//! One job as it is shown.

use dfrs_core::{NodeIndex, Progress, Rate, Span, Time, Yield};
use dfrs_proto::devices::DevicesByKind;
use dfrs_proto::journal::{EventKind, JobOutcome};
use dfrs_sim::metrics::{STRETCH_BOUND, bounded_stretch};

use super::JobKey;

/// How much of a text for people is kept, in characters.
const MAX_TEXT_CHARS: usize = 300;

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopPhase {
    Running,
    Paused,
    Waiting,
    Over(JobOutcome),
}

/// What happened to a job last, and why.
#[derive(Debug)]
pub struct LastChange {
    pub at: Time,
    pub what: &'static str,
    /// Empty if the journal does not say.
    pub why: String,
}

#[derive(Debug)]
pub struct TopJob {
    pub key: JobKey,
    pub id: String,
    pub submit: Time,
    pub tasks: u32,
    /// CPU need of one task.
    pub cpu: f64,
    /// Memory of one task, and once on each node.
    pub memory: (f64, f64),
    /// On each of its nodes.
    pub devices: DevicesByKind,
    /// Dedicated run time, where the journal says it.
    pub runtime: Option<Span>,
    pub phase: TopPhase,
    /// The last yield of the job, 0 to 1.
    pub share: f64,
    /// Positions of nodes with numbers of tasks; empty unless it runs.
    pub places: Vec<(usize, u32)>,
    pub pauses: u32,
    pub migrations: u32,
    pub last: LastChange,
    stalled_until: Time,
    progress: Progress,
}

impl TopJob {
    /// The job of a submission; none of any other event.
    pub fn submitted(key: JobKey, t: Time, kind: &EventKind) -> Option<Self> {
        let EventKind::Submit {
            job,
            tasks,
            cpu,
            mem,
            mem_per_node,
            devices,
            runtime,
            ..
        } = kind
        else {
            return None;
        };
        Some(Self {
            key,
            id: job.clone(),
            submit: t,
            tasks: *tasks,
            cpu: *cpu,
            memory: (*mem, *mem_per_node),
            devices: devices.clone(),
            runtime: *runtime,
            phase: TopPhase::Waiting,
            share: 0.0,
            places: Vec::new(),
            pauses: 0,
            migrations: 0,
            last: change(t, "submit", None),
            stalled_until: t,
            progress: Progress::new(t, None),
        })
    }

    pub(super) fn set_yield(&mut self, t: Time, value: f64) {
        self.progress.set_rate(t, Rate::of(Yield(value)));
        self.share = value.clamp(0.0, 1.0);
    }

    pub(super) fn pause(&mut self, t: Time, lost: bool, reason: Option<&str>) {
        self.progress.pause(t);
        if lost {
            self.progress.lose();
        }
        self.pauses += 1;
        self.last = change(t, "pause", reason);
    }

    /// Notes that the job starts, comes back or migrates.
    pub(super) fn place(
        &mut self,
        t: Time,
        nodes: &[NodeIndex],
        stall: Span,
        (what, reason): (&'static str, Option<&str>),
    ) {
        self.progress.place(t, stall);
        self.stalled_until = t + stall;
        self.places = counted(nodes);
        self.migrations += u32::from(what == "migrate");
        self.last = change(t, what, reason);
    }

    pub(super) fn finish(&mut self, t: Time, outcome: JobOutcome, reason: Option<&str>) {
        self.progress.pause(t);
        self.phase = TopPhase::Over(outcome);
        self.last = change(t, "finish", reason);
    }

    /// In one word.
    pub fn phase_at(&self, now: Time) -> &'static str {
        match self.phase {
            TopPhase::Running if now < self.stalled_until => "stalled",
            TopPhase::Running => "running",
            TopPhase::Paused => "paused",
            TopPhase::Waiting => "waiting",
            TopPhase::Over(JobOutcome::Completed) => "done",
            TopPhase::Over(JobOutcome::Cancelled) => "cancel",
            TopPhase::Over(JobOutcome::Failed) => "failed",
            TopPhase::Over(JobOutcome::Other) => "ended",
        }
    }

    pub fn is_over(&self) -> bool {
        matches!(self.phase, TopPhase::Over(_))
    }

    /// The yield of the job; none unless it runs.
    pub fn running_share(&self) -> Option<f64> {
        (self.phase == TopPhase::Running).then_some(self.share)
    }

    /// Dedicated run time done by now.
    pub fn virtual_time(&self, now: Time) -> Span {
        match self.phase {
            TopPhase::Running => self.progress.clone().virtual_time(now),
            _ => self.progress.counted(),
        }
    }

    /// Time in the system.
    pub fn flow_time(&self, now: Time) -> Span {
        let end = if self.is_over() { self.last.at } else { now };
        end.since(self.submit).max(Span::ZERO)
    }

    /// Time in the system over virtual time; none if it has done nothing.
    pub fn stretch(&self, now: Time) -> Option<f64> {
        let done = self.virtual_time(now);
        (done > Span::ZERO).then(|| self.flow_time(now).seconds() / done.seconds())
    }

    /// The stretch as metrics count it, which very short jobs do not distort; none if the job never
    /// ran.
    pub fn bounded_stretch(&self, now: Time) -> Option<f64> {
        let done = self.virtual_time(now);
        let ran = self.progress.had_place();
        ran.then(|| bounded_stretch(self.flow_time(now), done, STRETCH_BOUND))
    }

    /// The stretch of a job that is over.
    pub(super) fn stretch_at_end(&self) -> Option<f64> {
        self.bounded_stretch(self.last.at)
    }

    /// The part of its run time that is done, 0 to 1; none if it is not known.
    pub fn part_done(&self, now: Time) -> Option<f64> {
        let whole = self.runtime.filter(|whole| *whole > Span::ZERO)?;
        Some((self.virtual_time(now).seconds() / whole.seconds()).clamp(0.0, 1.0))
    }
}

/// Nodes with how many tasks they get.
fn counted(nodes: &[NodeIndex]) -> Vec<(usize, u32)> {
    let mut nodes: Vec<usize> = nodes.iter().map(|node| node.0 as usize).collect();
    nodes.sort_unstable();
    let groups = nodes.chunk_by(|one, other| one == other);
    let count = |group: &[usize]| u32::try_from(group.len()).unwrap_or(u32::MAX);
    groups.map(|group| (group[0], count(group))).collect()
}

fn change(at: Time, what: &'static str, reason: Option<&str>) -> LastChange {
    let why = reason.map(printable).unwrap_or_default();
    LastChange { at, what, why }
}

/// A text that spoils no line, and no memory.
pub fn printable(text: &str) -> String {
    let chars = text.chars().take(MAX_TEXT_CHARS);
    chars
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}
