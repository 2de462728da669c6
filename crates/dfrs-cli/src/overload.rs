//! Machines on which a simulation would take so long that it seems to hang.

use dfrs_core::{Periodic, Span};
use dfrs_sim::trace::{Trace, TraceJob};
use dfrs_sim::{Overload, Scheduler, never_fits};

/// A machine that is too small, if any of the policies shares its nodes: batch schedulers are fast on any.
/// `period` is the time between remaps where it is not the policies' own.
pub fn of(
    trace: &Trace,
    nodes: u32,
    policies: &[Scheduler],
    period: Option<Span>,
) -> Option<Overload> {
    let periods = policies.iter().filter_map(|policy| match policy {
        Scheduler::Dfrs(policy) if policy.periodic == Periodic::Nothing => Some(Span(i64::MAX)),
        Scheduler::Dfrs(policy) => Some(period.unwrap_or(policy.settings.period)),
        Scheduler::Batch(_) => None,
    });
    let shortest = periods.min()?;
    Overload::of(trace, nodes, shortest, |job: &TraceJob, nodes| {
        policies
            .iter()
            .all(|policy| never_fits(job, policy, nodes).is_none())
    })
}
