//! From a journal, of a simulation or of a live cluster.

mod gpus;
mod job;

use std::collections::BTreeMap;
use std::io::BufRead;

use dfrs_agent::publish::live_journal::BY_OTHERS;
use dfrs_core::{Amount, Bytes, Cores, Time};
use dfrs_journal::JournalReader;
use dfrs_proto::journal::{EventKind, JobOutcome, JournalEvent, PlatformNode};
use dfrs_sim::JobRecord;
use dfrs_sim::trace::{MAX_NODES, MAX_TASKS, NODE_CPU, NODE_MEMORY, Trace, TraceJob};

use super::log_jobs::{JournalFacts, LogJobs};
use crate::input::log_file::LogFile;
use crate::show::{TimeBase, number, sentence_about};
use gpus::{JournalGpus, has_others};
use job::JournalJob;

/// Times of live journals are UNIX seconds; no simulated one lasts until 1990.
const LIVE_FROM: f64 = 631_152_000.0;

pub(super) fn read(log: &LogFile, input: impl BufRead) -> Result<LogJobs, String> {
    let mut lives = JournalJobs::default();
    let mut reader = JournalReader::new(input);
    for event in &mut reader {
        let (line, event) = event.map_err(|error| format!("line {}: {error}", error.line()))?;
        if let Err(what) = lives.take(event) {
            let what = format!("line {line}: {what}");
            if log.strict {
                return Err(format!(
                    "{what}; dfrs check says more, or leave out --strict"
                ));
            }
            lives.malformed_events.push(what);
        }
    }
    let shape = NodeShape::of(&lives.platform)
        .ok_or("has no platform, or one without nodes; dfrs check says more")?;
    let nodes = log.nodes.unwrap_or(shape.count);
    lives.into_source(log, &shape, nodes)
}

/// The node that represents all.
struct NodeShape {
    cpu: f64,
    memory: f64,
    count: u32,
    gpus: JournalGpus,
    /// Whether all nodes are so, whatever their GPUs.
    alike: bool,
}

impl NodeShape {
    /// The most frequent shape, and as many nodes of it as have the CPU of all.
    fn of(nodes: &[PlatformNode]) -> Option<Self> {
        let mut shapes: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        let usable = |node: &&PlatformNode| node.cpu > 0.0 && node.mem >= 0.0;
        for node in nodes.iter().filter(usable) {
            let shape = (node.cpu.to_bits(), node.mem.to_bits());
            *shapes.entry(shape).or_default() += 1;
        }
        let (most_common, _) = shapes.iter().max_by_key(|(_, count)| **count)?;
        let (cpu, memory) = (f64::from_bits(most_common.0), f64::from_bits(most_common.1));
        let all: f64 = nodes.iter().filter(usable).map(|node| node.cpu).sum();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in range
        let count = (all / cpu).round().clamp(1.0, f64::from(MAX_NODES)) as u32;
        Some(Self {
            cpu,
            memory,
            count,
            gpus: JournalGpus::of(nodes.iter().filter(usable)),
            alike: shapes.len() == 1,
        })
    }
}

/// All jobs of a journal, in the order in which they came.
#[derive(Default)]
struct JournalJobs {
    platform: Vec<PlatformNode>,
    policy: String,
    /// When a writer last began, or saw other nodes: what ran then may have run before.
    began: Option<Time>,
    jobs: Vec<JournalJob>,
    /// The latest job of each id.
    latest: BTreeMap<String, usize>,
    resubmitted: usize,
    malformed_events: Vec<String>,
}

impl JournalJobs {
    fn take(&mut self, event: JournalEvent) -> Result<(), String> {
        let t = event.t;
        match event.kind {
            EventKind::Platform { policy, nodes, .. } => {
                self.platform = nodes;
                self.policy = policy;
                self.began = Some(t);
            }
            EventKind::Submit {
                job,
                tasks,
                cpu,
                mem,
                mem_per_node,
                runtime,
                most_tasks,
                devices,
            } => {
                let place = self.jobs.len();
                let mut life =
                    JournalJob::new(job.clone(), t, tasks, cpu, (mem, mem_per_node), runtime);
                life.is_moldable = most_tasks.is_some();
                life.devices = devices;
                if let Some(earlier) = self.latest.insert(job, place) {
                    if !self.jobs[earlier].is_over() {
                        return Err("a job is submitted that is in the system".into());
                    }
                    self.resubmitted += 1;
                    life.id = format!("{}#{}", life.id, place + 1);
                }
                self.jobs.push(life);
            }
            EventKind::Eligible { job, value, waited } => {
                self.job_mut(&job)?.set_eligible(t, value, waited)?;
            }
            EventKind::Start { job, nodes } => {
                let is_whole = self.began != Some(t);
                let by_others = event.reason.is_some_and(|why| why == BY_OTHERS);
                let life = self.job_mut(&job)?;
                life.start(t, &nodes)?;
                (life.is_whole, life.by_others) = (is_whole, by_others);
            }
            EventKind::Yield { job, value } => self.job_mut(&job)?.set_yield(t, value),
            EventKind::Pause { job, lost } => self.job_mut(&job)?.pause(t, lost)?,
            EventKind::Resume { job, nodes, stall } => {
                self.job_mut(&job)?.place(t, &nodes, stall, false)?;
            }
            EventKind::Migrate { job, nodes, stall } => {
                self.job_mut(&job)?.place(t, &nodes, stall, true)?;
            }
            EventKind::Finish { job, outcome } => {
                // A writer that begins finds earlier jobs gone: of some it knows no more than that.
                let found_gone = self.began == Some(t);
                let life = self.job_mut(&job)?;
                life.finish(t)?;
                life.is_whole &= !found_gone;
                life.end_time_unknown = found_gone && outcome == JobOutcome::Other;
            }
            EventKind::Refused { .. } | EventKind::Unknown => {}
        }
        Ok(())
    }

    fn job_mut(&mut self, job: &str) -> Result<&mut JournalJob, String> {
        self.latest
            .get(job)
            .and_then(|place| self.jobs.get_mut(*place))
            .ok_or_else(|| "an event is about a job that was not submitted".into())
    }

    fn into_source(self, log: &LogFile, shape: &NodeShape, nodes: u32) -> Result<LogJobs, String> {
        let mut jobs: Vec<(TraceJob, u32, JobRecord, JournalFacts)> = Vec::new();
        let (mut unfinished, mut never_ran, mut unseen, mut measured) = (0, 0, 0, 0);
        let mut with_other_devices = 0;
        let mut misfits = Vec::new();
        for life in &self.jobs {
            let Some(record) = life.record() else {
                unfinished += usize::from(!life.is_over());
                never_ran += usize::from(life.is_over());
                continue;
            };
            if life.end_time_unknown {
                unseen += 1;
                continue;
            }
            match on_node(life, shape) {
                Ok((job, cpus)) => {
                    measured += usize::from(life.is_measured());
                    with_other_devices += usize::from(has_others(&life.devices));
                    jobs.push((job, cpus, record, life.facts()));
                }
                Err(what) => misfits.push(format!("job {} {what}", life.id)),
            }
        }
        if let (true, Some(first)) = (log.strict, misfits.first()) {
            return Err(format!("{first}; leave out --strict to skip such jobs"));
        }
        jobs.sort_by_key(|(job, ..)| job.submit);
        let whole_cpus = whole(shape.cpu.floor().max(1.0));
        let live = jobs
            .first()
            .is_some_and(|(job, ..)| job.submit.seconds() > LIVE_FROM);
        let by_cpus = jobs.iter().map(|(job, cpus, ..)| TraceJob {
            tasks: *cpus,
            cpu: NODE_CPU,
            memory: Bytes::ZERO,
            ..job.clone()
        });
        let mut trace = Trace {
            jobs: jobs.iter().map(|(job, ..)| job.clone()).collect(),
            nodes: Some(nodes),
            has_memory: true,
            gpu_nodes: shape.gpus.nodes_of(nodes),
        };
        if whole_cpus > 1 {
            trace.count_cpus(whole_cpus);
        }
        let mut source = LogJobs {
            kind: "a journal of slurm-dfrs",
            batch: Some((
                Trace {
                    jobs: by_cpus.collect(),
                    ..Trace::default()
                },
                nodes.saturating_mul(whole_cpus),
            )),
            batch_unit: if whole_cpus == 1 {
                "nodes, one for each task"
            } else {
                "CPUs, wherever they are free (a job's memory counts as the CPUs that go with it)"
            },
            nodes,
            node_cpus: shape.cpu,
            node_memory: (shape.memory > 1e6).then_some(shape.memory),
            cpus: jobs.iter().map(|(_, cpus, ..)| f64::from(*cpus)).collect(),
            journal_facts: jobs.iter().map(|(.., facts)| *facts).collect(),
            as_it_was: Some((
                // Where DFRS only watches, what happened is not its policy's.
                match jobs.iter().all(|(.., facts)| facts.by_others) {
                    true => "as it was".to_owned(),
                    false => format!("as it was ({})", self.policy),
                },
                jobs.iter()
                    .map(|(_, _, record, _)| record.clone())
                    .collect(),
            )),
            trace,
            clock: if live {
                TimeBase::Utc
            } else {
                TimeBase::SinceStart
            },
            ..LogJobs::default()
        };
        if !shape.alike {
            source.assumed.push(format!(
                "The nodes of the journal differ. It is replayed on {nodes} nodes like most of them (CPU {}).",
                number(whole_cpus as usize)
            ));
        }
        if measured > 0 {
            source.assumed.push(format!("The journal does not know the run time of {} jobs: the progress that they made counts.", number(measured)));
        }
        source.assumed.push("In the curve of the CPU in use, as it was takes each job as if it had run from its first start at full speed.".into());
        let file = log.file;
        for caution in cautions(&source.trace, with_other_devices) {
            source.caution(file, Some(caution));
        }
        source.leave_out(
            file,
            "events that make no sense (dfrs check says more)",
            self.malformed_events.len(),
            &self.malformed_events,
        );
        source.leave_out(
            file,
            "jobs that need more than such nodes have",
            misfits.len(),
            &misfits,
        );
        source.leave_out(file, "jobs that had not ended", unfinished, &[]);
        source.leave_out(file, "jobs that ended before they started", never_ran, &[]);
        source.leave_out(
            file,
            "jobs that ended while the journal was not written",
            unseen,
            &[],
        );
        Ok(source)
    }
}

/// In sentences: what simulations make of jobs with devices.
fn cautions(trace: &Trace, with_other_devices: usize) -> Vec<String> {
    let with_gpus = trace.jobs.iter().filter(|job| job.gpus > Amount(0)).count();
    let counted = [
        (
            with_gpus,
            "had GPUs, which nothing shares under DFRS and EASY/shared, nor takes while a job is paused; EASY counts none, and each task of a job has an equal part.",
        ),
        (
            with_other_devices,
            "had devices other than GPUs, which count for nothing here: more of them may run at a time than there were.",
        ),
    ];
    let sentence = |(count, what)| sentence_about(count, trace.jobs.len(), what);
    counted.into_iter().filter_map(sentence).collect()
}

/// The job in shares of a node, and the CPUs that it takes from others under a batch scheduler.
fn on_node(life: &JournalJob, shape: &NodeShape) -> Result<(TraceJob, u32), String> {
    let (cpu, memory) = (
        life.cpu / shape.cpu,
        life.memory_of_task() / shape.memory.max(f64::MIN_POSITIVE),
    );
    if !(0.0..=1.0 + 1e-9).contains(&cpu) || !(0.0..=1.0 + 1e-9).contains(&memory) {
        return Err(format!(
            "needs {} of a node's CPU and {} of its memory for a task",
            life.cpu / shape.cpu,
            life.memory_of_task() / shape.memory
        ));
    }
    if !(1..=MAX_TASKS).contains(&life.tasks) {
        return Err(format!("has {} tasks", life.tasks));
    }
    // Precise enough: both are below 2^53.
    let of = |all: u64| all as f64;
    // Rounded down: three thirds of a node are one, and as many jobs as have room there are to have it.
    let parts = |share: f64, all: u64| whole_64(share * of(all)).min(all);
    let at_least = |cpus: f64| (cpus - 1e-9).ceil();
    let cpus = at_least(life.cpu)
        .max(at_least(memory * shape.cpu))
        .max(1.0);
    let gpus = shape.gpus.of_task(&life.devices, life.size())?;
    let job = TraceJob::new(
        &life.id,
        life.submit,
        life.tasks,
        Cores(parts(cpu, NODE_CPU.0).max(1)),
        Bytes(parts(memory, NODE_MEMORY.0)),
        life.runtime(),
    );
    let job = TraceJob { gpus, ..job };
    Ok((job, life.tasks.saturating_mul(whole(cpus))))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
fn whole(number: f64) -> u32 {
    number as u32
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
fn whole_64(number: f64) -> u64 {
    number as u64
}
