//! How small the maximum stretch of a trace can be at best.

use dfrs_core::Span;
use dfrs_sim::offline_bound_with_progress;
use dfrs_sim::trace::Trace;
use serde::Serialize;

use crate::input::{self, LogFile};
use crate::overload;
use crate::runs::progress;

/// The bound of a trace, and what it is of.
#[derive(Serialize)]
pub struct StretchBound {
    /// No schedule has a smaller maximum stretch.
    pub bound: f64,
    /// Number of jobs.
    pub jobs: usize,
    /// Number of nodes.
    pub nodes: u32,
    /// Shorter run times count as so long, in seconds.
    pub stretch_bound: f64,
}

/// The bound of the trace, by stretches of run times that count as at least so long, and what people should know, a
/// line each.
///
/// # Errors
///
/// One line: the trace cannot be read, or the machine is far too small.
pub fn of(log: &LogFile, stretch_bound: Span) -> Result<(StretchBound, String), String> {
    let input = input::read(log, &[])?;
    overload::refuse_bound(log.file, &input.trace, input.nodes)?;
    let found = StretchBound {
        bound: bound(&input.trace, input.nodes, stretch_bound),
        jobs: input.trace.jobs.len(),
        nodes: input.nodes,
        stretch_bound: stretch_bound.seconds(),
    };
    Ok((found, input.warnings))
}

/// The bound. A terminal shows how far it is known, but not how long the rest takes: one part of
/// the trace may take longer than all others.
fn bound(trace: &Trace, nodes: u32, stretch_bound: Span) -> f64 {
    let bar = progress::steps("bound", "jobs", trace.jobs.len());
    let mut on_progress = |jobs: usize, bound: f64| {
        bar.set_message(format!("bound {bound:.4} or more"));
        bar.set_position(jobs as u64);
    };
    let found = offline_bound_with_progress(trace, nodes, stretch_bound, &mut on_progress);
    bar.finish_and_clear();
    found
}
