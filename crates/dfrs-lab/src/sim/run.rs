//! All policies on one trace.

use std::path::Path;

use dfrs_core::Span;
use dfrs_proto::journal::JournalEvent;
use dfrs_sim::metrics::{SimSummary, StrandedGpus, compare_with_best};
use dfrs_sim::trace::Trace;
use dfrs_sim::{
    HeldByOthers, OnJobEnd, Scheduler, SimOutcome, SimSettings, Sink, offline_bound,
    simulate_beside, simulate_with_progress,
};
use serde::Serialize;

use super::beside::UsedWithin;
use super::files::{self, EventObserver, SimFailure, SimOutputs};
use super::gantt::GanttBuilder;
use super::jobs::{self, Starts};
use super::live::{self, LiveOptions, LiveSimulation};
use crate::runs::{Parts, Runs, digest};

/// What is simulated, and what is asked for beside summaries.
pub struct SimPlan<'a> {
    /// The jobs, each of which can start under each policy.
    pub trace: &'a Trace,
    /// Where they come from, for errors.
    pub file: &'a Path,
    /// The schedulers, one after the other.
    pub policies: &'a [Scheduler],
    /// What the world is like.
    pub settings: &'a SimSettings,
    /// Whether policies of DFRS run live, too, and how.
    pub live: &'a LiveOptions,
    /// What jobs of other partitions hold of the nodes, if there are such; then all policies are of DFRS, and
    /// none runs live.
    pub others: Option<&'a HeldByOthers>,
    /// What live latencies and faults are drawn from.
    pub seed: u64,
    /// Shorter run times count as so long in stretches, above 0.
    pub stretch_bound: Span,
    /// Whether results are compared with the offline bound.
    pub with_bound: bool,
    /// What is written of the one policy; of its live run if there is one.
    pub outputs: SimOutputs<'a>,
}

/// All that a result depends on.
#[derive(Serialize)]
struct SimRun<'a> {
    trace: &'a str,
    policy: String,
    /// Printed for the developer, with those of the policy: what is added to the settings is in it.
    settings: String,
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
///
/// # Errors
///
/// One line: a simulation does not come to its end, or a file cannot be written.
pub fn all(runs: &mut Runs, plan: &SimPlan) -> Result<Vec<SimSummary>, String> {
    let (trace, settings) = (plan.trace, plan.settings);
    let digest = match runs.are_kept() {
        true => digest(trace),
        false => String::new(),
    };
    let printed = |scheduler: &Scheduler| match scheduler {
        Scheduler::Dfrs(policy) => format!("{settings:?} {:?}", policy.settings),
        Scheduler::Batch(_) => format!("{settings:?}"),
    };
    let live = plan.live.with_seed(plan.seed);
    let run = |scheduler, is_live: bool| SimRun {
        trace: &digest,
        policy: name(scheduler, is_live),
        settings: printed(scheduler),
        stretch_bound: plan.stretch_bound,
        live: is_live.then(|| format!("{live:?}")),
        scheduler,
    };
    let mut wanted: Vec<SimRun> = Vec::new();
    for scheduler in plan.policies {
        wanted.push(run(scheduler, false));
        if plan.live.live && matches!(scheduler, Scheduler::Dfrs(_)) {
            wanted.push(run(scheduler, true));
        }
    }
    let jobs = Parts {
        name: "jobs",
        each: trace.jobs.len(),
    };
    let mut results = runs.execute_parts("policies", &jobs, &wanted, |run, ended| {
        simulate_one(plan, run, &live, ended)
    })?;
    if plan.with_bound {
        let wanted = SimBound {
            bound_of: &digest,
            nodes: settings.nodes,
            stretch_bound: plan.stretch_bound,
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
    plan: &SimPlan,
    scheduler: &Scheduler,
    sink: Option<Sink>,
    ended: OnJobEnd,
) -> Result<SimOutcome, SimFailure> {
    let (trace, settings) = (plan.trace, plan.settings);
    let sink: Option<Sink> = match sink {
        Some(sink) => Some(&mut *sink),
        None => None,
    };
    let outcome = match (plan.others, scheduler) {
        (Some(others), Scheduler::Dfrs(policy)) => {
            simulate_beside(trace, policy, settings, others, sink, Some(&mut *ended))
        }
        _ => simulate_with_progress(trace, scheduler, settings, sink, Some(&mut *ended)),
    };
    Ok(outcome?)
}

fn simulate_one(
    plan: &SimPlan,
    run: &SimRun,
    live: &LiveSimulation,
    ended: OnJobEnd,
) -> Result<SimSummary, String> {
    let (trace, settings) = (plan.trace, plan.settings);
    // Files are of the live run if there is one.
    let wanted = match run.live.is_some() == plan.live.live {
        true => plan.outputs,
        false => SimOutputs::default(),
    };
    let simulation = |sink: Option<Sink>, ended: OnJobEnd| match (&run.live, run.scheduler) {
        (Some(_), Scheduler::Dfrs(policy)) => {
            live::simulate(live, trace, policy, settings, sink, ended)
        }
        (_, scheduler) => ideal(plan, scheduler, sink, ended),
    };
    let mut starts = wanted.jobs.map(|_| Starts::default());
    let mut places = wanted.gantt.map(|_| GanttBuilder::default());
    let mut used = plan.others.map(UsedWithin::window_of);
    let is_ideal = run.live.is_none() && plan.others.is_none();
    let mut stranded = is_ideal
        .then(|| StrandedGpus::of(trace, settings.nodes, run.scheduler))
        .flatten();
    let is_noticed = starts.is_some() || places.is_some() || used.is_some() || stranded.is_some();
    let mut notice = |event: &JournalEvent| {
        if let Some(starts) = &mut starts {
            starts.take(event);
        }
        if let Some(places) = &mut places {
            places.take(event);
        }
        if let Some(used) = &mut used {
            used.take(event);
        }
        if let Some(stranded) = &mut stranded {
            stranded.take(event);
        }
    };
    let notice: EventObserver = if is_noticed { Some(&mut notice) } else { None };
    let outcome =
        files::simulate(&wanted, notice, &simulation, ended).map_err(|error| match error {
            SimFailure::Line(error) => error,
            SimFailure::Simulation(error) => {
                format!("{}: {}: {error}", plan.file.display(), run.policy)
            }
        })?;
    let bound = plan.stretch_bound;
    if let (Some(path), Some(starts)) = (wanted.jobs, &starts) {
        jobs::write(path, trace, starts, &outcome, bound)?;
    }
    if let (Some(path), Some(places)) = (wanted.gantt, places) {
        places.write(path, &run.policy)?;
    }
    let name = run.policy.clone();
    let mut summary = SimSummary::new(name, trace, settings.nodes, &outcome, bound);
    if let (Some(others), Some(used)) = (plan.others, used) {
        used.finish(others, settings.nodes, &mut summary);
    }
    summary.stranded_gpus = stranded.map(|stranded| stranded.share());
    Ok(summary)
}
