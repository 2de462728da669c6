//! The plugin's journal in the words of the trace: its ids and times, and fractions of a node.

use std::collections::BTreeMap;

use dfrs_core::{NodeIndex, Span, Time};
use dfrs_proto::journal::{EventKind, JournalEvent};
use dfrs_sim::trace::Trace;
use dfrs_testbed::model::{ClusterModel, ProgramOutcome};

use super::cluster::{index, label};
use crate::arriving::arriving;

/// What the journal says of one job.
#[derive(Clone, Debug, Default)]
pub struct LiveJobCounts {
    pub pauses: u32,
    pub migrations: u32,
    pub migrated_tasks: u64,
    nodes: Vec<NodeIndex>,
    share: f64,
    since: Option<Time>,
    allocated: f64,
}

impl LiveJobCounts {
    /// Run time that it could have done with the CPU that it had.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "far below 2^63 microseconds"
    )]
    pub fn allocated(&self) -> Span {
        Span(self.allocated as i64)
    }

    // Precise enough: far below 2^53 microseconds.
    fn count_until(&mut self, now: Time) {
        if let Some(since) = &mut self.since {
            self.allocated += (now.0 - since.0) as f64 * self.share;
            *since = now;
        }
    }

    fn start_on(&mut self, nodes: &[NodeIndex], now: Time) {
        self.count_until(now);
        self.since = Some(now);
        self.nodes = nodes.to_vec();
    }

    fn stop(&mut self, now: Time) {
        self.count_until(now);
        self.since = None;
    }

    fn take(&mut self, event: &EventKind, now: Time) {
        match event {
            EventKind::Start { nodes, .. } | EventKind::Resume { nodes, .. } => {
                self.start_on(nodes, now);
            }
            EventKind::Migrate { nodes, .. } => {
                self.migrations += 1;
                self.migrated_tasks += arriving(&self.nodes, nodes);
                self.start_on(nodes, now);
            }
            EventKind::Yield { value, .. } => {
                self.count_until(now);
                self.share = *value;
            }
            EventKind::Pause { .. } => {
                self.pauses += 1;
                self.stop(now);
            }
            EventKind::Finish { .. } => self.stop(now),
            EventKind::Platform { .. }
            | EventKind::Submit { .. }
            | EventKind::Eligible { .. }
            | EventKind::Refused { .. }
            | EventKind::Unknown => {}
        }
    }
}

/// Follows the plugin's journal.
pub struct Translator<'a> {
    trace: &'a Trace,
    /// The model's time at the trace's 0.
    zero: Time,
    /// Positions in the trace, by Slurm's ids. An id may be used again.
    jobs: BTreeMap<String, usize>,
    counts: Vec<LiveJobCounts>,
    /// CPU and memory of a node in the plugin's units.
    whole: (f64, f64),
}

impl<'a> Translator<'a> {
    pub fn new(trace: &'a Trace, zero: Time) -> Self {
        Self {
            trace,
            zero,
            jobs: BTreeMap::new(),
            counts: vec![LiveJobCounts::default(); trace.jobs.len()],
            whole: (1.0, 1.0),
        }
    }

    pub fn jobs(&self) -> usize {
        self.trace.jobs.len()
    }

    /// What was said of the job at this position.
    pub fn counts(&self, index: usize) -> &LiveJobCounts {
        &self.counts[index]
    }

    /// A time of the model on the clock of the trace.
    pub fn time(&self, time: Time) -> Time {
        Time(time.0 - self.zero.0)
    }

    /// The first job that has not ended.
    pub fn first_open(&self, model: &ClusterModel) -> String {
        let open = |index: &usize| {
            let program = model.programs().get(&label(*index));
            program.is_none_or(|program| program.outcome == ProgramOutcome::Open)
        };
        let first = (0..self.trace.jobs.len()).find(open);
        first.map_or(String::new(), |index| self.trace.jobs[index].id.clone())
    }

    /// The event in the words of the trace; `None` for a job that is not of it.
    pub fn translate(
        &mut self,
        mut event: JournalEvent,
        model: &ClusterModel,
    ) -> Option<JournalEvent> {
        event.t = self.time(event.t);
        match &mut event.kind {
            EventKind::Platform { nodes, .. } => {
                self.whole = nodes
                    .first()
                    .map_or((1.0, 1.0), |node| (node.cpu, node.mem));
                for node in nodes {
                    (node.cpu, node.mem) = (1.0, 1.0);
                }
            }
            EventKind::Submit { job, cpu, mem, .. } => {
                let id = job.parse().ok()?;
                let position = index(model.jobs().get(&id)?.label);
                self.jobs.insert(job.clone(), position);
                (*cpu, *mem) = (*cpu / self.whole.0, *mem / self.whole.1);
                job.clone_from(&self.trace.jobs.get(position)?.id);
            }
            EventKind::Unknown => {}
            kind => self.follow(kind, event.t)?,
        }
        Some(event)
    }

    fn follow(&mut self, kind: &mut EventKind, now: Time) -> Option<()> {
        let (EventKind::Eligible { job, .. }
        | EventKind::Refused { job, .. }
        | EventKind::Start { job, .. }
        | EventKind::Yield { job, .. }
        | EventKind::Pause { job, .. }
        | EventKind::Resume { job, .. }
        | EventKind::Migrate { job, .. }
        | EventKind::Finish { job, .. }) = kind
        else {
            return None;
        };
        let position = *self.jobs.get(job)?;
        job.clone_from(&self.trace.jobs.get(position)?.id);
        self.counts.get_mut(position)?.take(kind, now);
        Some(())
    }
}
