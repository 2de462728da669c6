//! All policies on one trace.

use dfrs_core::Span;
use dfrs_sim::metrics::{Summary, compare_with_best};
use dfrs_sim::trace::Trace;
use dfrs_sim::{Ended, Scheduler, Settings, offline_bound};
use serde::Serialize;

use super::{Arguments, files};
use crate::runs::{Parts, Runs, digest};

/// All that a result depends on.
#[derive(Serialize)]
struct Run<'a> {
    trace: &'a str,
    policy: String,
    /// Printed for the developer: what is added to the settings is in it.
    settings: &'a str,
    stretch_bound: Span,
    #[serde(skip)]
    scheduler: &'a Scheduler,
}

/// All that the offline bound depends on.
#[derive(Serialize)]
struct Bound<'a> {
    bound_of: &'a str,
    nodes: u32,
    stretch_bound: Span,
}

/// Runs all policies, as many at once as there are cores, and returns them in the order asked.
pub fn all(
    runs: &mut Runs,
    arguments: &Arguments,
    trace: &Trace,
    settings: &Settings,
) -> Result<Vec<Summary>, String> {
    let digest = match arguments.results {
        Some(_) => digest(trace),
        None => String::new(),
    };
    let printed = format!("{settings:?}");
    let wanted: Vec<Run> = arguments
        .policies
        .iter()
        .map(|scheduler| Run {
            trace: &digest,
            policy: scheduler.to_string(),
            settings: &printed,
            stretch_bound: arguments.stretch_bound,
            scheduler,
        })
        .collect();
    let jobs = Parts {
        name: "jobs",
        each: trace.jobs.len(),
    };
    let mut results = runs.execute_parts("policies", &jobs, &wanted, |run, ended| {
        one(arguments, trace, run.scheduler, settings, ended)
    })?;
    if arguments.bound {
        let wanted = Bound {
            bound_of: &digest,
            nodes: settings.nodes,
            stretch_bound: arguments.stretch_bound,
        };
        let bounds = runs.execute("bound", &[wanted], |run| {
            Ok(offline_bound(trace, run.nodes, run.stretch_bound))
        })?;
        for (summary, bound) in results.iter_mut().zip(bounds.iter().cycle()) {
            summary.compare_with_bound(*bound);
        }
    }
    compare_with_best(&mut results);
    Ok(results)
}

fn one(
    arguments: &Arguments,
    trace: &Trace,
    policy: &Scheduler,
    settings: &Settings,
    ended: Ended,
) -> Result<Summary, String> {
    let wanted = files::Wanted {
        journal: arguments.journal.as_deref(),
        utilization: arguments.utilization_csv.as_deref(),
    };
    let trace_file = arguments.trace.display();
    let outcome =
        files::simulate(&wanted, trace, policy, settings, ended).map_err(|error| match error {
            files::Failure::File(error) => error,
            files::Failure::Simulation(error) => format!("{trace_file}: {policy}: {error}"),
        })?;
    let bound = arguments.stretch_bound;
    if let Some(path) = &arguments.jobs_csv {
        files::write_jobs(path, trace, &outcome, bound)?;
    }
    let (name, nodes) = (policy.to_string(), settings.nodes);
    Ok(Summary::new(name, trace, nodes, &outcome, bound))
}
