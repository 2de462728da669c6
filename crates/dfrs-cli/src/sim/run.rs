//! All policies on one trace.

use dfrs_core::Span;
use dfrs_proto::journal::Event;
use dfrs_sim::metrics::{Summary, compare_with_best};
use dfrs_sim::trace::Trace;
use dfrs_sim::{Ended, Outcome, Scheduler, Settings, Sink, offline_bound, simulate_and_tell};
use serde::Serialize;

use super::Arguments;
use super::files::{self, Failure, Notice};
use super::gantt::Places;
use super::jobs::{self, Starts};
use super::live::{self, Live};
use crate::runs::{Parts, Runs, digest};

/// All that a result depends on.
#[derive(Serialize)]
struct Run<'a> {
    trace: &'a str,
    policy: String,
    /// Printed for the developer: what is added to the settings is in it.
    settings: &'a str,
    stretch_bound: Span,
    /// Printed for the developer, too: those of the live simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<String>,
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
    policies: &[Scheduler],
    trace: &Trace,
    settings: &Settings,
) -> Result<Vec<Summary>, String> {
    let digest = match arguments.results {
        Some(_) => digest(trace),
        None => String::new(),
    };
    let printed = format!("{settings:?}");
    let live = arguments.live.with_seed(arguments.world.seed());
    let run = |scheduler, is_live: bool| Run {
        trace: &digest,
        policy: name(scheduler, is_live),
        settings: &printed,
        stretch_bound: arguments.stretch_bound,
        live: is_live.then(|| format!("{live:?}")),
        scheduler,
    };
    let mut wanted: Vec<Run> = Vec::new();
    for scheduler in policies {
        wanted.push(run(scheduler, false));
        if arguments.live.live && matches!(scheduler, Scheduler::Dfrs(_)) {
            wanted.push(run(scheduler, true));
        }
    }
    let jobs = Parts {
        name: "jobs",
        each: trace.jobs.len(),
    };
    let mut results = runs.execute_parts("policies", &jobs, &wanted, |run, ended| {
        one(arguments, trace, run, (settings, &live), ended)
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

/// What a run is called: the policy, and whether it runs as the plugin would.
fn name(scheduler: &Scheduler, is_live: bool) -> String {
    format!("{scheduler}{}", if is_live { " live" } else { "" })
}

fn ideal(
    trace: &Trace,
    scheduler: &Scheduler,
    settings: &Settings,
    sink: Option<Sink>,
    ended: Ended,
) -> Result<Outcome, Failure> {
    let sink: Option<Sink> = match sink {
        Some(sink) => Some(&mut *sink),
        None => None,
    };
    let outcome = simulate_and_tell(trace, scheduler, settings, sink, Some(&mut *ended));
    Ok(outcome?)
}

fn one(
    arguments: &Arguments,
    trace: &Trace,
    run: &Run,
    (settings, live): (&Settings, &Live),
    ended: Ended,
) -> Result<Summary, String> {
    // Files are of the live run if there is one.
    let is_written = run.live.is_some() == arguments.live.live;
    let wanted = files::Wanted {
        journal: arguments.journal.as_deref().filter(|_| is_written),
        utilization: arguments.utilization_csv.as_deref().filter(|_| is_written),
    };
    let simulation = |sink: Option<Sink>, ended: Ended| match (&run.live, run.scheduler) {
        (Some(_), Scheduler::Dfrs(policy)) => {
            live::simulate(live, trace, policy, settings, sink, ended)
        }
        (_, scheduler) => ideal(trace, scheduler, settings, sink, ended),
    };
    let trace_file = arguments.trace.display();
    let jobs_csv = arguments.jobs_csv.as_ref().filter(|_| is_written);
    let gantt = arguments.gantt.as_ref().filter(|_| is_written);
    let mut starts = jobs_csv.map(|_| Starts::default());
    let mut places = gantt.map(|_| Places::default());
    let is_noticed = starts.is_some() || places.is_some();
    let mut notice = |event: &Event| {
        if let Some(starts) = &mut starts {
            starts.take(event);
        }
        if let Some(places) = &mut places {
            places.take(event);
        }
    };
    let notice: Notice = if is_noticed { Some(&mut notice) } else { None };
    let outcome =
        files::simulate(&wanted, notice, &simulation, ended).map_err(|error| match error {
            Failure::Line(error) => error,
            Failure::Simulation(error) => format!("{trace_file}: {}: {error}", run.policy),
        })?;
    let bound = arguments.stretch_bound;
    if let (Some(path), Some(starts)) = (jobs_csv, &starts) {
        jobs::write(path, trace, starts, &outcome, bound)?;
    }
    if let (Some(path), Some(places)) = (gantt, places) {
        places.write(path, &run.policy)?;
    }
    let name = run.policy.clone();
    Ok(Summary::new(name, trace, settings.nodes, &outcome, bound))
}
