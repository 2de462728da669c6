//! What happens, as events of the journal. Units of CPU and memory are fractions of a node.

use dfrs_core::{JobId, Mapping, NodeIndex, Span, Time};
use dfrs_proto::devices::DevicesByKind;
use dfrs_proto::journal::{EventKind, JournalEvent, PlatformNode, VERSION, WriteError};

use crate::coupling::CouplingLoss;
use crate::sink::{OnJobEnd, Sink};
use crate::trace::{NODE_CPU, NODE_MEMORY, Trace, platform};

/// The journal of one simulation, if one is wanted.
pub(crate) struct TraceJournal<'a> {
    trace: &'a Trace,
    loss: CouplingLoss,
    sink: Option<Sink<'a>>,
    ended: Option<OnJobEnd<'a>>,
}

impl<'a> TraceJournal<'a> {
    /// The loss is that of the world in which things happen.
    pub fn new(
        trace: &'a Trace,
        loss: CouplingLoss,
        sink: Option<Sink<'a>>,
        ended: Option<OnJobEnd<'a>>,
    ) -> Self {
        Self {
            trace,
            loss,
            sink,
            ended,
        }
    }

    /// Whether events go anywhere.
    pub fn is_wanted(&self) -> bool {
        self.sink.is_some()
    }

    /// The first event, at 0: no job of a trace is submitted earlier.
    pub fn platform(
        &mut self,
        policy: String,
        period: Option<Span>,
        nodes: u32,
    ) -> Result<(), WriteError> {
        self.write(Time::default(), || {
            let nodes = platform(nodes).into_iter().map(|node| PlatformNode {
                name: node.name,
                cpu: share(node.cpu.0, NODE_CPU.0),
                mem: share(node.memory.0, NODE_MEMORY.0),
                // A trace says shares of a node's GPUs, and not how many there are.
                devices: DevicesByKind::new(),
            });
            EventKind::Platform {
                version: VERSION,
                policy,
                period,
                nodes: nodes.collect(),
            }
        })
    }

    pub fn submit(&mut self, id: JobId) -> Result<(), WriteError> {
        let job = job(self.trace, id);
        // A job that uses less than its need does more than its yield says, and a job that waits
        // for its other tasks does less.
        let yields_suffice = job.uses.is_empty() && (self.loss.is_none() || job.tasks == 1);
        self.about(job.submit, id, |job_id| EventKind::Submit {
            job: job_id,
            tasks: job.tasks,
            most_tasks: None,
            cpu: share(job.cpu.0, NODE_CPU.0),
            mem: share(job.memory.0, NODE_MEMORY.0),
            mem_per_node: 0.0,
            devices: DevicesByKind::new(),
            runtime: Some(job.runtime).filter(|_| yields_suffice),
        })
    }

    pub fn start(&mut self, t: Time, id: JobId, mapping: &Mapping) -> Result<(), WriteError> {
        self.about(t, id, |job| EventKind::Start {
            job,
            nodes: tasks(mapping),
        })
    }

    pub fn share(&mut self, t: Time, id: JobId, value: f64) -> Result<(), WriteError> {
        self.about(t, id, |job| EventKind::Yield { job, value })
    }

    pub fn pause(&mut self, t: Time, id: JobId, lost: bool) -> Result<(), WriteError> {
        self.about(t, id, |job| EventKind::Pause { job, lost })
    }

    pub fn resume(
        &mut self,
        t: Time,
        id: JobId,
        mapping: &Mapping,
        stall: Span,
    ) -> Result<(), WriteError> {
        self.about(t, id, |job| EventKind::Resume {
            job,
            nodes: tasks(mapping),
            stall: Some(stall),
        })
    }

    pub fn migrate(
        &mut self,
        t: Time,
        id: JobId,
        mapping: &Mapping,
        stall: Span,
    ) -> Result<(), WriteError> {
        self.about(t, id, |job| EventKind::Migrate {
            job,
            nodes: tasks(mapping),
            stall: Some(stall),
        })
    }

    pub fn finish(&mut self, t: Time, id: JobId) -> Result<(), WriteError> {
        if let Some(ended) = &mut self.ended {
            ended();
        }
        self.about(t, id, |job| EventKind::Finish {
            job,
            outcome: Default::default(),
        })
    }

    /// Writes an event of this job, whose name is given.
    fn about(
        &mut self,
        t: Time,
        id: JobId,
        event: impl FnOnce(String) -> EventKind,
    ) -> Result<(), WriteError> {
        let name = &job(self.trace, id).id;
        self.write(t, || event(name.clone()))
    }

    fn write(&mut self, t: Time, event: impl FnOnce() -> EventKind) -> Result<(), WriteError> {
        match &mut self.sink {
            Some(sink) => sink(&JournalEvent::new(t, event())),
            None => Ok(()),
        }
    }
}

/// The job at this position of the trace.
pub(crate) fn job(trace: &Trace, id: JobId) -> &crate::trace::TraceJob {
    &trace.jobs[position(id)]
}

/// A job's identity in a simulation is its position in the trace.
pub(crate) fn position(id: JobId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}

fn tasks(mapping: &Mapping) -> Vec<NodeIndex> {
    let runs = mapping.iter();
    runs.flat_map(|run| std::iter::repeat_n(run.node, run.tasks as usize))
        .collect()
}

// Precise enough: parts of a node are fewer than 2^53.
fn share(parts: u64, all: u64) -> f64 {
    parts as f64 / all as f64
}
