//! Runs on what jobs of other partitions leave of the same nodes.

use dfrs_core::{Span, Time};
use dfrs_proto::journal::JournalEvent;
use dfrs_sim::metrics::{SimSummary, Utilization, UtilizationStep};
use dfrs_sim::trace::NODE_CPUS;
use dfrs_sim::{Batch, HeldByOthers, Scheduler, SimSettings};

use crate::input::{self, LogFile, LogJobs, SiteOptions};

/// Reads the others' jobs and runs them alone; also returns what users should know, a line each.
/// The trace and the policies are what is to run beside them; the options are those of dumps, of which one file has
/// to be one where they are given.
///
/// # Errors
///
/// One line: a policy is of no use beside others, or the file is no such trace.
pub fn read(
    log: &LogFile,
    settings: &SimSettings,
    (own, policies): (&LogJobs, &[Scheduler]),
    site: &SiteOptions,
) -> Result<(HeldByOthers, String), String> {
    let easy = Scheduler::Batch(Batch::EasyShared);
    if let Some(Scheduler::Batch(batch)) = policies
        .iter()
        .find(|policy| matches!(policy, Scheduler::Batch(_)))
    {
        return Err(format!(
            "dfrs sim: --beside is for policies of DFRS, and {} would start its jobs where others start theirs; others run under {easy}",
            batch.name()
        ));
    }
    let others = input::read(log, &[easy])?;
    let in_file = |error: String| format!("{}: {error}", log.file.display());
    check_pair([own, &others], site, "the file of --beside").map_err(in_file)?;
    let held =
        HeldByOthers::run(&others.trace, settings).map_err(|error| in_file(error.to_string()))?;
    let notes = others.warnings + &note(log, &held, settings.nodes);
    Ok((held, notes))
}

/// Refuses options of dumps where none of two files is one, and GPUs that both use. `other`: what
/// the first of them is to its user.
///
/// # Errors
///
/// One line without the file's name.
pub(crate) fn check_pair(
    files: [&LogJobs; 2],
    site: &SiteOptions,
    other: &str,
) -> Result<(), String> {
    if files.iter().all(|file| !file.is_dump()) {
        site.for_no_dump(&format!("a trace (SWF or CSV), as {other},"))?;
    }
    if files.iter().all(|file| file.trace.has_gpus()) {
        return Err(
            "--beside knows no GPUs that both use; leave out --gpus-per-node, or the column gpus of one of the traces"
                .into(),
        );
    }
    Ok(())
}

/// What there is to use.
fn note(log: &LogFile, held: &HeldByOthers, nodes: u32) -> String {
    let (from, until) = held.window();
    let hours = until.since(from).seconds() / 3600.0;
    let all = hours * f64::from(nodes) * f64::from(log.node_cpus.unwrap_or(NODE_CPUS));
    let idle = all * (1.0 - held.utilization());
    format!(
        "{}: note: others' jobs: {} in {hours:.1} hours; of {all:.0} hours of CPUs {idle:.0} are idle\n",
        log.file.display(),
        held.outcome().jobs.len(),
    )
}

/// The CPU that jobs use within a time, from the events of their simulation.
pub struct UsedWithin {
    from: Time,
    until: Time,
    utilization: Utilization,
    steps: Vec<UtilizationStep>,
    last: Option<UtilizationStep>,
    /// Nodes times seconds.
    used: f64,
}

impl UsedWithin {
    /// Of the time in which these have jobs.
    pub fn window_of(others: &HeldByOthers) -> Self {
        let (from, until) = others.window();
        Self::between(from, until)
    }

    /// Of the time between these.
    pub fn between(from: Time, until: Time) -> Self {
        Self {
            from,
            until,
            utilization: Utilization::default(),
            steps: Vec::new(),
            last: None,
            used: 0.0,
        }
    }

    /// Takes the next event, in time order.
    pub fn take(&mut self, event: &JournalEvent) {
        self.utilization.take(event, &mut self.steps);
        self.add_steps();
    }

    /// Says in the summary what others alone hold of so many nodes, and both together.
    pub fn finish(self, others: &HeldByOthers, nodes: u32, summary: &mut SimSummary) {
        let all = f64::from(nodes) * self.until.since(self.from).seconds();
        let used = self.node_seconds();
        let ours = if all > 0.0 { used / all } else { 0.0 };
        summary.utilization_before = Some(others.utilization());
        summary.utilization_after = Some(others.utilization() + ours);
    }

    /// All of it, in nodes times seconds, when there are no more events.
    pub fn node_seconds(mut self) -> f64 {
        std::mem::take(&mut self.utilization).finish(&mut self.steps);
        self.add_steps();
        self.add_until(self.until);
        self.used
    }

    fn add_steps(&mut self) {
        for step in std::mem::take(&mut self.steps) {
            self.add_until(step.time);
            self.last = Some(step);
        }
    }

    /// What was used since the last step.
    fn add_until(&mut self, until: Time) {
        let Some(last) = self.last else { return };
        let length = until.min(self.until).since(last.time.max(self.from));
        if length > Span::ZERO {
            self.used += last.used * length.seconds();
        }
    }
}
