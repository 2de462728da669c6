//! From a trace in SWF or CSV.

use std::io::BufRead;

use dfrs_sim::trace::{self, TraceError, TraceJob};

use super::kind::OR_A_DUMP;
use super::log_jobs::{LogJobs, recorded};
use crate::input::log_file::{LogFile, LogPurpose};
use crate::input::model::SwfModel;
use crate::show::number;

/// A trace whose jobs are the same to all schedulers.
pub(super) fn read(log: &LogFile, input: impl BufRead) -> Result<LogJobs, String> {
    let reading = trace::read(input, log.model.into(), log.strict)
        .map_err(|error| error_text(&error, log.purpose))?;
    let trace = reading.trace;
    let nodes = log
        .nodes
        .or(trace.nodes)
        .ok_or("does not say how many nodes there are; give --nodes")?;
    let has_memory = trace.has_memory;
    // In SWF the CPU need of a job is that of its processors, which are two on a node of HPC2N.
    let as_it_was = recorded(log.purpose, &trace);
    let (node_cpus, had): (f64, fn(&TraceJob) -> f64) = match log.model {
        SwfModel::Hpc2n if as_it_was.is_some() => (2.0, |job| 2.0 * job.nodes_needed()),
        _ => (1.0, |job| f64::from(job.tasks)),
    };
    let mut source = LogJobs {
        kind: "a trace (SWF or CSV)",
        batch_unit: "nodes, one for each task",
        nodes,
        node_cpus,
        cpus: trace.jobs.iter().map(had).collect(),
        as_it_was,
        trace,
        ..LogJobs::default()
    };
    let jobs = &source.trace.jobs;
    let started = jobs.iter().filter(|job| job.waited.is_some()).count();
    if log.purpose == LogPurpose::Replay && source.as_it_was.is_none() && started > 0 {
        source.assumed.push(format!(
            "The trace says of {} of {} jobs when they started; as it was is not shown, since it would not be all.",
            number(started),
            number(jobs.len())
        ));
    }
    if !has_memory {
        let assumed = "The trace does not say how much memory jobs require, so they require none, and a processor is a node. DFRS looks better than it is where memory is short (`--model`).";
        source.assumed.push(assumed.into());
    }
    source.note(log.file, reading.invalid_limits.note());
    let malformed: Vec<String> = reading.bad.iter().map(ToString::to_string).collect();
    source.leave_out(log.file, "malformed lines", reading.bad_lines, &malformed);
    Ok(source)
}

/// What is wrong with a trace, where a file of another kind would do as well.
fn error_text(error: &TraceError, purpose: LogPurpose) -> String {
    match (error, purpose) {
        (TraceError::Empty(_), LogPurpose::Simulation) => format!("{error}{OR_A_DUMP}"),
        (TraceError::Empty(_), LogPurpose::Replay) => format!("{error}{OR_A_DUMP}, or a journal"),
        _ => error.to_string(),
    }
}
