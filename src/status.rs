//! The status file (`docs/observing.md`): what is seen of DFRS from outside. Written at most about once a second, by
//! a thread of its own, from what is known between two passes.

use std::path::Path;
use std::time::{Duration, Instant};

use dfrs_agent::Counts;
use dfrs_agent::slurm::port::LogLevel;
use dfrs_core::Time;
use dfrs_proto::conf::{Config, Mode};
use dfrs_proto::status::{
    ActionCounts, BreakerStatus, JobMetrics, JournalStatus, MessageCounts, NodeCounts,
    StateFileStatus, Status, VERSION,
};

use crate::log::Log;
use crate::measures::{LockTimes, MeasureHistory, PassTimes};
use writer::StatusWriter;

mod file;
#[cfg(test)]
mod tests;
mod writer;

/// At least so long between two of them.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// So long even if nothing happens: a reader knows by it that DFRS is alive.
const MAX_INTERVAL: Duration = Duration::from_secs(10);
/// Names of silent nodes.
const MAX_NAMES: usize = 100;

/// What is known now.
#[derive(Default)]
pub struct StatusFacts {
    /// Whether it schedules.
    pub breaker: BreakerStatus,
    /// Jobs and nodes.
    pub counts: Counts,
    /// How jobs fare.
    pub job_metrics: JobMetrics,
    /// What was done with them.
    pub done: ActionCounts,
    /// The nodes whose dfrsd does not answer.
    pub silent: Vec<String>,
    /// Messages to the nodes.
    pub messages: MessageCounts,
    /// Of the passes.
    pub passes: PassTimes,
    /// Of the locks.
    pub locks: LockTimes,
    /// The state file.
    pub state_file: StateFileStatus,
    /// The journal, if there is one.
    pub journal: Option<JournalStatus>,
}

/// Writes it while DFRS runs with one configuration.
pub struct Reporter {
    /// None: there was no thread for it.
    writer: Option<StatusWriter>,
    memory: MeasureHistory,
    /// What stays as it is.
    frame: Status,
    written: Option<Instant>,
    /// What has happened by then, as a number that grows.
    happened: u64,
}

impl Reporter {
    /// Writes into this directory. `problem`: why DFRS is off although it is configured.
    pub fn start(
        directory: &Path,
        config: Option<&Config>,
        problem: Option<String>,
        log: &Log,
        now: Time,
    ) -> Self {
        let writer = StatusWriter::start(directory, log).inspect_err(|error| {
            log.write(LogLevel::Error, &format!("no status file: {error}"));
        });
        Self {
            writer: writer.ok(),
            memory: MeasureHistory::default(),
            frame: frame(config, problem, now),
            written: None,
            happened: 0,
        }
    }

    /// Whether one is to be written. `happened` grows with everything that a reader may want to know at once.
    pub fn is_due(&self, happened: u64, now: Instant) -> bool {
        let Some(written) = self.written else {
            return true;
        };
        let wait = if happened == self.happened {
            MAX_INTERVAL
        } else {
            MIN_INTERVAL
        };
        now - written >= wait
    }

    /// Has one written.
    pub fn report(&mut self, facts: StatusFacts, happened: u64, now: Time) {
        self.happened = happened;
        self.written = Some(Instant::now());
        self.write(facts, now);
    }

    /// Has the last one written, if there was one, and waits for it, though not for long.
    pub fn finish(&mut self, facts: StatusFacts, now: Time) {
        if self.written.is_some() {
            self.frame.running = false;
            self.write(facts, now);
        }
        self.writer = None;
    }

    fn write(&mut self, facts: StatusFacts, now: Time) {
        let Some(writer) = &self.writer else { return };
        let (passes, locks) = self
            .memory
            .report(&facts.passes, &facts.locks, Instant::now());
        writer.write(Status {
            written: now.seconds_to_the_millisecond(),
            breaker: facts.breaker,
            jobs: facts.counts.jobs,
            job_metrics: facts.job_metrics,
            done: facts.done,
            nodes: nodes(&facts.counts, facts.silent),
            devices: facts.counts.devices,
            messages: facts.messages,
            passes,
            locks,
            state_file: facts.state_file,
            journal: facts.journal,
            ..self.frame.clone()
        });
    }
}

fn frame(config: Option<&Config>, problem: Option<String>, now: Time) -> Status {
    let mode = config.map_or(Mode::Off, |config| config.mode);
    let active = config.filter(|_| mode != Mode::Off);
    Status {
        version: VERSION,
        software: env!("CARGO_PKG_VERSION").to_owned(),
        started: now.seconds_to_the_millisecond(),
        running: true,
        mode: mode.word().to_owned(),
        problem,
        policy: active.map_or_else(String::new, |config| config.policy.to_string()),
        partitions: active.map_or_else(Vec::new, Config::partition_names),
        moldable_partitions: active.map_or_else(Vec::new, Config::whole_node_partitions),
        ..Status::default()
    }
}

fn nodes(counts: &Counts, mut silent: Vec<String>) -> NodeCounts {
    let number = u32::try_from(silent.len()).unwrap_or(u32::MAX);
    silent.truncate(MAX_NAMES);
    NodeCounts {
        all: counts.nodes,
        up: counts.nodes_up,
        can_park: counts.nodes_can_park,
        silent: number,
        silent_names: silent,
    }
}
