//! One job as the check of a journal follows it.

use std::collections::BTreeMap;

use dfrs_core::{NodeIndex, Progress, Rate, Span, Time, Yield};

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalPhase {
    Waiting,
    Running,
    Paused,
}

impl JournalPhase {
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Paused => "paused",
        }
    }
}

/// One job of a journal.
#[derive(Debug)]
pub(super) struct Track {
    pub tasks: u32,
    /// As many as `tasks`, unless its size is chosen at its start.
    pub max_tasks: u32,
    pub cpu: f64,
    pub mem: f64,
    pub mem_per_node: f64,
    pub runtime: Option<Span>,
    pub phase: JournalPhase,
    /// The job's last yield event, if any.
    pub yielded: Option<f64>,
    /// Tasks on each node; empty unless it runs.
    pub places: BTreeMap<NodeIndex, u32>,
    pub progress: Progress,
}

impl Track {
    /// Takes a place at `t` and makes no progress for `stall`. Returns the nodes that it left.
    pub fn place(&mut self, t: Time, nodes: &[NodeIndex], stall: Option<Span>) -> Vec<NodeIndex> {
        self.progress.place(t, stall.unwrap_or_default());
        let left = self.leave();
        for node in nodes {
            *self.places.entry(*node).or_default() += 1;
        }
        self.phase = JournalPhase::Running;
        left
    }

    /// Gives up its place at `t`. Returns the nodes that it left.
    pub fn pause(&mut self, t: Time, lost: bool) -> Vec<NodeIndex> {
        self.progress.pause(t);
        self.phase = JournalPhase::Paused;
        if lost {
            self.progress.lose();
        }
        self.leave()
    }

    pub fn set_yield(&mut self, t: Time, value: f64) {
        self.progress.set_rate(t, Rate::of(Yield(value)));
        self.yielded = Some(value);
    }

    /// Dedicated run time done until `t`.
    pub fn virtual_time(&mut self, t: Time) -> Span {
        self.progress.virtual_time(t)
    }

    pub fn cpu_on(&self, tasks: u32) -> f64 {
        self.yielded.unwrap_or(0.0) * self.cpu * f64::from(tasks)
    }

    pub fn memory_on(&self, tasks: u32) -> f64 {
        self.mem * f64::from(tasks) + self.mem_per_node
    }

    fn leave(&mut self) -> Vec<NodeIndex> {
        std::mem::take(&mut self.places).into_keys().collect()
    }
}
