//! All policies on one trace.

use dfrs_core::Span;
use dfrs_proto::journal::JournalEvent;
use dfrs_sim::metrics::{SimSummary, compare_with_best};
use dfrs_sim::trace::Trace;
use dfrs_sim::{
    OnJobEnd, Scheduler, SimOutcome, SimSettings, Sink, offline_bound, simulate_with_progress,
};
use serde::Serialize;

use super::SimArguments;
use super::files::{self, EventObserver, SimFailure};
use super::gantt::GanttBuilder;
use super::jobs::{self, Starts};
use super::live::{self, LiveSimulation};
use dfrs_lab::runs::{Parts, Runs, digest};

/// All that a result depends on.
#[derive(Serialize)]
struct SimRun<'a> {
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
struct SimBound<'a> {
    bound_of: &'a str,
    nodes: u32,
    stretch_bound: Span,
}

/// Runs all policies, as many at once as there are cores, and returns them in the requested order.
pub fn all(
    runs: &mut Runs,
    arguments: &SimArguments,
    policies: &[Scheduler],
    trace: &Trace,
    settings: &SimSettings,
) -> Result<Vec<SimSummary>, String> {
    let digest = match arguments.results {
        Some(_) => digest(trace),
        None => String::new(),
    };
    let printed = format!("{settings:?}");
    let live = arguments.live.with_seed(arguments.sim_options.seed());
    let run = |scheduler, is_live: bool| SimRun {
        trace: &digest,
        policy: name(scheduler, is_live),
        settings: &printed,
        stretch_bound: arguments.stretch_bound,
        live: is_live.then(|| format!("{live:?}")),
        scheduler,
    };
    let mut wanted: Vec<SimRun> = Vec::new();
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
        simulate_one(arguments, trace, run, (settings, &live), ended)
    })?;
    if arguments.bound {
        let wanted = SimBound {
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
    settings: &SimSettings,
    sink: Option<Sink>,
    ended: OnJobEnd,
) -> Result<SimOutcome, SimFailure> {
    let sink: Option<Sink> = match sink {
        Some(sink) => Some(&mut *sink),
        None => None,
    };
    let outcome = simulate_with_progress(trace, scheduler, settings, sink, Some(&mut *ended));
    Ok(outcome?)
}

fn simulate_one(
    arguments: &SimArguments,
    trace: &Trace,
    run: &SimRun,
    (settings, live): (&SimSettings, &LiveSimulation),
    ended: OnJobEnd,
) -> Result<SimSummary, String> {
    // Files are of the live run if there is one.
    let is_written = run.live.is_some() == arguments.live.live;
    let wanted = files::SimOutputs {
        journal: arguments.journal.as_deref().filter(|_| is_written),
        utilization: arguments.utilization_csv.as_deref().filter(|_| is_written),
    };
    let simulation = |sink: Option<Sink>, ended: OnJobEnd| match (&run.live, run.scheduler) {
        (Some(_), Scheduler::Dfrs(policy)) => {
            live::simulate(live, trace, policy, settings, sink, ended)
        }
        (_, scheduler) => ideal(trace, scheduler, settings, sink, ended),
    };
    let trace_file = arguments.trace.display();
    let jobs_csv = arguments.jobs_csv.as_ref().filter(|_| is_written);
    let gantt = arguments.gantt.as_ref().filter(|_| is_written);
    let mut starts = jobs_csv.map(|_| Starts::default());
    let mut places = gantt.map(|_| GanttBuilder::default());
    let is_noticed = starts.is_some() || places.is_some();
    let mut notice = |event: &JournalEvent| {
        if let Some(starts) = &mut starts {
            starts.take(event);
        }
        if let Some(places) = &mut places {
            places.take(event);
        }
    };
    let notice: EventObserver = if is_noticed { Some(&mut notice) } else { None };
    let outcome =
        files::simulate(&wanted, notice, &simulation, ended).map_err(|error| match error {
            SimFailure::Line(error) => error,
            SimFailure::Simulation(error) => format!("{trace_file}: {}: {error}", run.policy),
        })?;
    let bound = arguments.stretch_bound;
    if let (Some(path), Some(starts)) = (jobs_csv, &starts) {
        jobs::write(path, trace, starts, &outcome, bound)?;
    }
    if let (Some(path), Some(places)) = (gantt, places) {
        places.write(path, &run.policy)?;
    }
    let name = run.policy.clone();
    Ok(SimSummary::new(
        name,
        trace,
        settings.nodes,
        &outcome,
        bound,
    ))
}
