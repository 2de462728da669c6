//! From a trace in SWF or CSV.

use std::io::BufRead;

use dfrs_sim::trace::{self, MAX_NODES, TraceError, TraceJob};

use super::kind::trace_error_text;
use super::replay_file::ReplayFile;
use super::replay_source::ReplaySource;
use crate::input::model::SwfModel;
use crate::show::number;

/// A trace whose jobs are the same to all schedulers.
pub(super) fn read(wanted: &ReplayFile, input: impl BufRead) -> Result<ReplaySource, String> {
    let reading =
        trace::read(input, wanted.model.into(), wanted.strict).map_err(|error| match error {
            TraceError::Empty(_) => format!("{}, or a journal", trace_error_text(&error)),
            error => trace_error_text(&error),
        })?;
    let trace = reading.trace;
    let nodes = wanted
        .nodes
        .or(trace.nodes)
        .filter(|nodes| (1..=MAX_NODES).contains(nodes))
        .ok_or("does not say how many nodes there are; give --nodes")?;
    let has_memory = trace.has_memory;
    // In SWF the CPU need of a job is that of its processors, which are two on a node of HPC2N.
    let as_it_was = trace.recorded_schedule();
    let (node_cpus, had): (f64, fn(&TraceJob) -> f64) = match wanted.model {
        SwfModel::Hpc2n if as_it_was.is_some() => (2.0, |job| 2.0 * job.nodes_needed()),
        _ => (1.0, |job| f64::from(job.tasks)),
    };
    let mut source = ReplaySource {
        kind: "a trace (SWF or CSV)",
        batch: (trace.clone(), nodes),
        batch_unit: "nodes, one for each task",
        nodes,
        node_cpus,
        cpus: trace.jobs.iter().map(had).collect(),
        as_it_was: as_it_was.map(|records| ("as it was".to_owned(), records)),
        trace,
        ..ReplaySource::default()
    };
    let jobs = &source.trace.jobs;
    let started = jobs.iter().filter(|job| job.waited.is_some()).count();
    if source.as_it_was.is_none() && started > 0 {
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
    source.note(wanted.file, reading.invalid_limits.note());
    let malformed: Vec<String> = reading.bad.iter().map(ToString::to_string).collect();
    source.leave_out(
        wanted.file,
        "malformed lines",
        reading.bad_lines,
        &malformed,
    );
    Ok(source)
}
