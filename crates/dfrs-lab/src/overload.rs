//! Machines on which a simulation, or the search for the bound, would take so long that it seems to hang.

use std::path::Path;

use dfrs_core::{Periodic, Span};
use dfrs_sim::trace::{Trace, TraceJob};
use dfrs_sim::{Overload, Scheduler, never_fits};

/// How many jobs the search for the bound may look at where jobs pile up: that takes some minutes.
const MAX_JOB_VISITS: f64 = 1e10;

/// A machine that is too small, if any of the policies is of DFRS; batch schedulers alone run on any.
pub(crate) fn of(trace: &Trace, nodes: u32, policies: &[Scheduler]) -> Option<Overload> {
    let periods = policies.iter().filter_map(|policy| match policy {
        Scheduler::Dfrs(policy) if policy.periodic == Periodic::Nothing => Some(Span(i64::MAX)),
        Scheduler::Dfrs(policy) => Some(policy.settings.period),
        Scheduler::Batch(_) => None,
    });
    let shortest = periods.min()?;
    Overload::of(trace, nodes, shortest, |job: &TraceJob, nodes| {
        policies
            .iter()
            .all(|policy| never_fits(job, policy, nodes, trace.gpu_nodes).is_none())
    })
}

/// Refuses to search for the bound on a machine that is far too small. Where each job can use all nodes
/// there is no search.
///
/// # Errors
///
/// One line with the file, and what the machine lacks.
pub fn refuse_bound(file: &Path, trace: &Trace, nodes: u32) -> Result<(), String> {
    let all_nodes = f64::from(nodes);
    if trace.jobs.iter().all(|job| job.nodes_needed() >= all_nodes) {
        return Ok(());
    }
    match Overload::of(trace, nodes, Span(i64::MAX), |_, _| true) {
        Some(overload) if overload.job_checks > MAX_JOB_VISITS => {
            Err(format!("{}: {overload}", file.display()))
        }
        _ => Ok(()),
    }
}
