//! The trace as all policies get it, for every command that reads one.

mod model;
mod site;
pub(crate) mod source;

use std::fmt::Write;
use std::io::BufRead;
use std::path::Path;

use dfrs_core::Span;
use dfrs_sim::trace::{self, Trace};
use dfrs_sim::{Scheduler, never_fits};

use crate::overload;
pub use model::SwfModel;
pub use site::SiteOptions;
use source::SourceKind;

/// How many of the things that were left out are reported one by one.
const MAX_REPORTED: usize = 20;

/// How often a simulation may look at a job because the machine is too small: that takes some ten minutes.
const MAX_JOB_VISITS: f64 = 2e9;

/// Where a trace comes from, and how it is read.
pub struct TraceSource<'a> {
    /// Its file.
    pub trace: &'a Path,
    /// Number of nodes; none: what the file says.
    pub nodes: Option<u32>,
    /// What the processors and the memory of an SWF trace are on nodes.
    pub model: SwfModel,
    /// What a dump of sacct needs.
    pub site: &'a SiteOptions,
    /// Whether a malformed line, or a job that can never start, is refused and not left out.
    pub strict: bool,
    /// Time between remaps where it is not the policies' own.
    pub period: Option<Span>,
    /// CPUs of a node where the trace does not say.
    pub node_cpus: u32,
}

/// A trace, the number of nodes, and what users should know about them.
pub struct Input {
    /// The jobs that all policies can start; at least one.
    pub trace: Trace,
    /// Number of nodes.
    pub nodes: u32,
    /// Whether the file is a dump of sacct.
    pub is_dump: bool,
    /// For standard error, a line each.
    pub notes: String,
}

/// Reads the trace and leaves out what some of the policies can never start.
///
/// # Errors
///
/// One line: the file cannot be read or is no trace, the machine is far too small, or no job is left.
pub fn read(source: &TraceSource, policies: &[Scheduler]) -> Result<Input, String> {
    let file = source.trace.display();
    let (kind, mut trace, mut notes) = open_and_read(source)?;
    let nodes = source
        .nodes
        .or(trace.nodes)
        .ok_or_else(|| format!("{file}: does not say how many nodes there are; give --nodes"))?;
    let overload = overload::of(&trace, nodes, policies, source.period);
    if let Some(overload) = overload.filter(|overload| overload.job_checks > MAX_JOB_VISITS) {
        return Err(format!("{file}: {overload}"));
    }
    let unschedulable = drop_unschedulable(&mut trace, policies, nodes);
    if let (true, Some(first)) = (source.strict, unschedulable.first()) {
        return Err(format!(
            "{file}: {first}; use more nodes, or leave out --strict to skip such jobs"
        ));
    }
    for job in unschedulable.iter().take(MAX_REPORTED) {
        let _ = writeln!(notes, "{file}: {job}");
    }
    if !unschedulable.is_empty() {
        let _ = writeln!(
            notes,
            "{file}: jobs that can never start, left out: {}",
            unschedulable.len()
        );
    }
    if trace.jobs.is_empty() {
        return Err(format!("{file}: no job fits on {nodes} nodes; use more"));
    }
    let shares = policies
        .iter()
        .any(|policy| matches!(policy, Scheduler::Dfrs(_)));
    if shares && !trace.has_memory {
        let _ = writeln!(
            notes,
            "{file}: note: a plain SWF trace is run with jobs that require no memory and all of their processors; see --model"
        );
    }
    Ok(Input {
        trace,
        nodes,
        is_dump: kind == SourceKind::Dump,
        notes,
    })
}

/// A trace, or a dump of sacct as one, with which of them it is before and what users should know behind. The file is opened
/// once: there is nothing before the first line of a pipe.
fn open_and_read(source: &TraceSource) -> Result<(SourceKind, Trace, String), String> {
    let mut input = source::open(source.trace)?;
    let in_file = |error| format!("{}: {error}", source.trace.display());
    let kind = source::kind(&mut input).map_err(in_file)?;
    let (trace, notes) = match kind {
        SourceKind::Dump => dump(source, input),
        SourceKind::Trace => of_file(source, input),
        SourceKind::Journal => Err(in_file(
            "is a journal of slurm-dfrs, no trace; dfrs replay takes it".into(),
        )),
    }?;
    Ok((kind, trace, notes))
}

/// A trace with what users should know about it.
fn of_file(source: &TraceSource, input: impl BufRead) -> Result<(Trace, String), String> {
    let file = source.trace.display();
    let reading = trace::read(input, source.model.into(), source.strict)
        .map_err(|error| format!("{file}: {}", source::trace_error_text(&error)))?;
    let checked = source.site.for_no_dump("a trace (SWF or CSV)");
    checked.map_err(|error| format!("{file}: {error}"))?;
    let mut notes = String::new();
    if let Some(note) = source.site.note_for_no_dump() {
        let _ = writeln!(notes, "{file}: note: {note}"); // a String takes all
    }
    for bad in reading.bad.iter().take(MAX_REPORTED) {
        let _ = writeln!(notes, "{file}: {bad}");
    }
    if reading.bad_lines > 0 {
        let _ = writeln!(
            notes,
            "{file}: malformed lines, left out: {}",
            reading.bad_lines
        );
    }
    if let Some(odd) = reading.invalid_limits.note() {
        let _ = writeln!(notes, "{file}: note: {odd}");
    }
    let mut trace = reading.trace;
    trace.count_cpus(source.node_cpus);
    Ok((trace, notes))
}

/// A dump of sacct as a trace: a task on each node that a job had.
fn dump(source: &TraceSource, input: impl BufRead) -> Result<(Trace, String), String> {
    let (path, site) = (source.trace, (source.site, source.nodes));
    let in_file = |error| format!("{}: {error}", path.display());
    source.model.for_no_swf(source::DUMP).map_err(in_file)?;
    let mut read = source::accounting::read(path, input, site, source.strict).map_err(in_file)?;
    read.report_left_out(path);
    Ok((read.trace, read.warnings))
}

/// Leaves out the jobs that some of the policies can never start, so that all get the same jobs.
fn drop_unschedulable(trace: &mut Trace, policies: &[Scheduler], nodes: u32) -> Vec<String> {
    let mut dropped = Vec::new();
    let gpu_nodes = trace.gpu_nodes;
    trace.jobs.retain(|job| {
        let why = policies
            .iter()
            .find_map(|policy| never_fits(job, policy, nodes, gpu_nodes));
        if let Some(why) = &why {
            dropped.push(format!(
                "job {} does not fit on {nodes} nodes ({why})",
                job.id
            ));
        }
        why.is_none()
    });
    dropped
}
