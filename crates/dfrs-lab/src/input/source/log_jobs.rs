//! The jobs of a file, and what of it is left out.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use dfrs_core::{Span, Time};
use dfrs_sim::metrics::NODE_GB;
use dfrs_sim::trace::{Trace, TraceJob};
use dfrs_sim::{Batch, Cost, JobRecord, Scheduler, never_fits};

use super::left_out::{self, LeftOutCount};
use crate::input::log_file::{LogFile, LogPurpose};
use crate::overload;
use crate::show::TimeBase;

/// How many of the things that were left out are reported one by one.
const MAX_REPORTED: usize = 20;

/// The most load of a file that is replayed. Above it, the machine is not the one on which the jobs
/// ran. Small files, which are looked at less often than this, are replayed on any.
const MAX_LOAD: f64 = 1.5;
const MIN_JOB_VISITS: f64 = 1e7;

/// How often a simulation on any machine may look at a job because it is too small: that takes some
/// ten minutes.
const MAX_JOB_VISITS: f64 = 2e9;

/// What a dump of sacct is, for people.
pub const DUMP_KIND: &str = "a dump of Slurm's accounting";

/// What a journal says of a job besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalFacts {
    /// Whether its whole run is in the journal: it did not run when the writer began.
    pub is_whole: bool,
    /// Whether it was not started by DFRS.
    pub by_others: bool,
}

/// What happened, by name, if it is asked for and the trace says it of all jobs.
pub fn recorded(purpose: LogPurpose, trace: &Trace) -> Option<(String, Vec<JobRecord>)> {
    let records = match purpose {
        LogPurpose::Simulation => None,
        LogPurpose::Replay => trace.recorded_schedule(),
    };
    records.map(|records| ("as it was".to_owned(), records))
}

/// The jobs of a file that are simulated, and what it says of them besides.
#[derive(Default)]
pub struct LogJobs {
    /// What the file is, for people.
    pub kind: &'static str,
    /// The jobs as DFRS and batch schedulers that share nodes get them.
    pub trace: Trace,
    /// The same jobs in the same order, for batch schedulers that share no nodes, and the number of
    /// their nodes; none: they get those of all others.
    pub batch: Option<(Trace, u32)>,
    /// What batch schedulers count, for people.
    pub batch_unit: &'static str,
    /// Number of nodes.
    pub nodes: u32,
    /// CPUs of a node, in what the file counts; 1 where it counts nodes.
    pub node_cpus: f64,
    /// Memory of a node in bytes, where it is known.
    pub node_memory: Option<f64>,
    /// CPUs that each job had, in the same order.
    pub cpus: Vec<f64>,
    /// Run time of each job with no more than these CPUs, in the same order; empty: its run time.
    pub capped: Vec<Span>,
    /// What a journal says of each job besides, in the same order; empty if the file is none.
    pub journal_facts: Vec<JournalFacts>,
    /// What happened, by name, in the same order; none if the file does not say, or is not asked.
    pub as_it_was: Option<(String, Vec<JobRecord>)>,
    /// What times of the file mean.
    pub clock: TimeBase,
    /// What is not simulated.
    pub left_out: Vec<LeftOutCount>,
    /// What jobs did that no simulation here does, in sentences; the sentences are among what was
    /// assumed, too.
    pub not_simulated: Vec<String>,
    /// What was assumed, in sentences.
    pub assumed: Vec<String>,
    /// Lines for standard error.
    pub warnings: String,
}

impl LogJobs {
    /// Whether the file is a dump of sacct.
    pub fn is_dump(&self) -> bool {
        self.kind == DUMP_KIND
    }

    /// A cost in GB of this site's nodes in those of the simulator, whose nodes have [`NODE_GB`].
    pub fn in_real_gigabytes(&self, cost: Cost) -> Cost {
        let factor = self.node_gigabytes() / NODE_GB;
        #[allow(clippy::cast_possible_truncation)] // to a microsecond
        let per_gigabyte = Span((cost.per_gigabyte.0 as f64 * factor).round() as i64);
        Cost {
            per_gigabyte,
            ..cost
        }
    }

    /// Memory of a node in GB; the simulator's where it is not known.
    pub fn node_gigabytes(&self) -> f64 {
        self.node_memory.map_or(NODE_GB, |bytes| bytes / 1e9)
    }

    /// CPUs that each job had, in nodes.
    pub fn held(&self) -> Vec<f64> {
        let nodes = |cpus: &f64| cpus / self.node_cpus;
        self.cpus.iter().map(nodes).collect()
    }

    /// The jobs as DFRS gets them: caps hold them to their requests.
    pub fn for_dfrs(&self) -> Cow<'_, Trace> {
        let pairs = || self.trace.jobs.iter().zip(&self.capped);
        if pairs().all(|(job, capped)| job.runtime == *capped) {
            return Cow::Borrowed(&self.trace);
        }
        let jobs = pairs().map(|(job, capped)| TraceJob {
            runtime: *capped,
            ..job.clone()
        });
        Cow::Owned(Trace {
            jobs: jobs.collect(),
            ..self.trace
        })
    }

    /// The jobs as this batch scheduler gets them, and the number of its nodes.
    pub fn for_batch(&self, batch: Batch) -> (&Trace, u32) {
        match &self.batch {
            Some((trace, nodes)) if !batch.shares_nodes() => (trace, *nodes),
            _ => (&self.trace, self.nodes),
        }
    }

    /// The first submission.
    pub fn first(&self) -> Time {
        let first = self.trace.jobs.first();
        first.map_or(Time::default(), |job| job.submit)
    }

    /// The last submission.
    pub fn last(&self) -> Time {
        let last = self.trace.jobs.last();
        last.map_or(Time::default(), |job| job.submit)
    }

    /// Adds a line for standard error.
    pub(in crate::input) fn warn(&mut self, file: &Path, what: &str) {
        let _ = writeln!(self.warnings, "{}: {what}", file.display()); // a String takes all
    }

    /// Reports the note, if there is one, on standard error and on the page.
    pub(super) fn note(&mut self, file: &Path, what: Option<String>) {
        let Some(what) = what else { return };
        self.warn(file, &format!("note: {what}"));
        self.assumed.push(what);
    }

    /// Reports what is not simulated, if it is something, as [`Self::note`] does, and in the short
    /// table.
    pub(super) fn caution(&mut self, file: &Path, what: Option<String>) {
        self.not_simulated.extend(what.clone());
        self.note(file, what);
    }

    /// Reports how many are left out and why, and the first of them.
    pub(super) fn leave_out(&mut self, file: &Path, why: &str, count: usize, first: &[String]) {
        if count == 0 {
            return;
        }
        for what in first.iter().take(MAX_REPORTED) {
            self.warn(file, what);
        }
        self.warn(file, &format!("left out, {why}: {count}"));
        self.left_out.push(LeftOutCount {
            why: why.into(),
            count,
            core_seconds: None,
        });
    }

    /// Reports jobs that ran and ended but are left out, whose CPUs had so much time.
    pub(super) fn leave_out_ran(
        &mut self,
        file: &Path,
        why: &str,
        core_seconds: f64,
        first: &[String],
    ) {
        self.leave_out(file, why, first.len(), first);
        if let (Some(last), false) = (self.left_out.last_mut(), first.is_empty()) {
            last.core_seconds = Some(core_seconds);
        }
    }

    /// The jobs that are left, and the time of all CPUs that they had in seconds.
    fn kept(&self) -> (usize, f64) {
        let jobs = self.trace.jobs.iter().zip(&self.cpus);
        let core_seconds = jobs.map(|(job, cpus)| job.runtime.seconds() * cpus).sum();
        (self.trace.jobs.len(), core_seconds)
    }

    /// What part of the work is left out, in a sentence; none if all that ran and ended is.
    pub fn summary_of_left_out(&self) -> Option<String> {
        left_out::summary(&self.left_out, self.kept())
    }

    /// The share of these jobs in the core-hours of all jobs that ran and ended; none if they are
    /// no such jobs.
    pub fn share_of_left_out(&self, one: &LeftOutCount) -> Option<f64> {
        let all = left_out::core_seconds(&self.left_out) + self.kept().1;
        one.core_seconds
            .filter(|_| all > 0.0)
            .map(|part| part / all)
    }

    /// Reports all that is left out, at the end of the reading.
    pub fn report_left_out(&mut self, file: &Path) {
        if let Some(summary) = self.summary_of_left_out() {
            self.warn(file, &summary);
        }
    }

    /// Why one of these schedulers can never start the job at this position; none if all can.
    fn never_fits(&self, position: usize, schedulers: &[Scheduler]) -> Option<String> {
        schedulers.iter().find_map(|scheduler| {
            let (trace, nodes) = match scheduler {
                Scheduler::Batch(batch) => self.for_batch(*batch),
                Scheduler::Dfrs(_) => (&self.trace, self.nodes),
            };
            never_fits(&trace.jobs[position], scheduler, nodes, trace.gpu_nodes)
        })
    }

    /// Leaves out jobs that one of the schedulers can never start, so that all get the same jobs.
    pub(in crate::input) fn drop_unschedulable(
        &mut self,
        log: &LogFile,
        schedulers: &[Scheduler],
    ) -> Result<(), String> {
        let nodes = self.nodes;
        let mut keep = Vec::with_capacity(self.trace.jobs.len());
        let mut dropped = Vec::new();
        let mut core_seconds = 0.0;
        for (position, job) in self.trace.jobs.iter().enumerate() {
            let why = self.never_fits(position, schedulers);
            keep.push(why.is_none());
            if let Some(why) = why {
                core_seconds += self.cpus[position] * job.runtime.seconds();
                dropped.push(format!(
                    "job {} does not fit on {nodes} nodes ({why})",
                    job.id
                ));
            }
        }
        if let (true, Some(first)) = (log.strict, dropped.first()) {
            return Err(format!(
                "{first}; use more nodes, or leave out --strict to skip such jobs"
            ));
        }
        if !dropped.is_empty() {
            self.retain(&keep);
        }
        match (self.trace.jobs.is_empty(), dropped.is_empty()) {
            (true, true) => return Err("no job is left to replay".into()),
            (true, false) => return Err(format!("no job fits on {nodes} nodes; use more")),
            (false, _) => {}
        }
        let why = format!("jobs that do not fit on {nodes} nodes");
        // Jobs of a trace that are only simulated need not have run.
        match log.purpose == LogPurpose::Replay || self.is_dump() {
            true => self.leave_out_ran(log.file, &why, core_seconds, &dropped),
            false => self.leave_out(log.file, &why, dropped.len(), &dropped),
        }
        Ok(())
    }

    /// Refuses a machine that is far too small for the jobs: any may be tried as long as that has an
    /// end, but a replay is of the machine on which they ran.
    pub(in crate::input) fn refuse_overload(
        &self,
        purpose: LogPurpose,
        schedulers: &[Scheduler],
    ) -> Result<(), String> {
        let trace = self.for_dfrs(); // has the most work
        let refused = overload::of(&trace, self.nodes, schedulers).filter(|found| match purpose {
            LogPurpose::Simulation => found.job_checks > MAX_JOB_VISITS,
            LogPurpose::Replay => found.load > MAX_LOAD && found.job_checks > MIN_JOB_VISITS,
        });
        refused.map_or(Ok(()), |overload| Err(overload.to_string()))
    }

    fn retain(&mut self, keep: &[bool]) {
        fn only<T>(all: &mut Vec<T>, keep: &[bool]) {
            let mut keep = keep.iter();
            all.retain(|_| *keep.next().unwrap_or(&true));
        }
        only(&mut self.trace.jobs, keep);
        if let Some((batch, _)) = &mut self.batch {
            only(&mut batch.jobs, keep);
        }
        only(&mut self.cpus, keep);
        only(&mut self.capped, keep);
        only(&mut self.journal_facts, keep);
        if let Some((_, records)) = &mut self.as_it_was {
            only(records, keep);
        }
    }
}
