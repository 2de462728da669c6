//! All runs that the chosen experiments need, each done once, and what is measured over them.

use std::collections::{BTreeMap, BTreeSet};

use dfrs_core::Span;
use dfrs_sim::metrics::{STRETCH_BOUND, SimSummary};
use dfrs_sim::offline_bound;
use dfrs_sim::{Scheduler, SimSettings, simulate};
use serde::Serialize;

use super::experiment::{Experiment, IPDPS};
use super::measure::{Measure, SampleStatistics};
use super::traces::{TraceId, TraceSet, Traces};
use crate::runs::Runs;

/// One trace under one policy. What makes no difference to the policy is 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ReproduceRun {
    pub trace: TraceId,
    pub policy: String,
    /// In seconds.
    pub penalty: u32,
    /// In seconds.
    pub period: u32,
}

impl ReproduceRun {
    /// `policy` must be the name of one. A batch scheduler knows neither penalty nor period.
    fn new(trace: TraceId, policy: &str, penalty: u32, period: Option<u32>) -> Self {
        let (penalty, period) = match scheduler(policy) {
            Ok(Scheduler::Dfrs(policy)) if policy.is_periodic() => {
                let own = u32::try_from(policy.settings.period.0 / 1_000_000).unwrap_or(u32::MAX);
                (penalty, period.unwrap_or(own))
            }
            Ok(Scheduler::Dfrs(_)) => (penalty, 0),
            _ => (0, 0),
        };
        Self {
            trace,
            policy: policy.into(),
            penalty,
            period,
        }
    }

    fn execute(&self, traces: &Traces) -> Result<SimSummary, String> {
        let (trace, nodes) = traces.get(self.trace)?;
        let period = (self.period > 0).then(|| Span::from_seconds(self.period.into()));
        let settings = SimSettings {
            penalty: Span::from_seconds(self.penalty.into()),
            ..SimSettings::new(nodes)
        };
        let in_run = |error: String| format!("{:?} under {}: {error}", self.trace, self.policy);
        let scheduler = scheduler(&self.policy)?
            .at_period(period)
            .at_penalty(settings.penalty);
        let outcome = simulate(&trace, &scheduler, &settings, None)
            .map_err(|error| in_run(error.to_string()))?;
        Ok(SimSummary::new(
            self.policy.clone(),
            &trace,
            nodes,
            &outcome,
            STRETCH_BOUND,
        ))
    }
}

fn scheduler(name: &str) -> Result<Scheduler, String> {
    name.parse::<Scheduler>().map_err(|error| error.to_string())
}

/// The offline bound of a trace.
#[derive(Serialize)]
struct ReproduceBound {
    bound_of: TraceId,
}

/// A cell of a figure or table: over which runs a measure is summed up.
#[derive(Clone, Copy, Debug)]
pub struct PaperCell<'a> {
    pub set: TraceSet,
    pub policy: &'a str,
    pub penalty: u32,
    /// None: the policy's own.
    pub period: Option<u32>,
    pub measure: Measure,
}

/// The results of all runs.
pub struct Results {
    pub traces: Traces,
    measured: BTreeMap<ReproduceRun, SimSummary>,
    bounds: BTreeMap<TraceId, f64>,
    /// By trace and penalty: the smallest of the largest stretches that the IPDPS paper's algorithms
    /// have.
    bests: BTreeMap<(TraceId, u32), f64>,
}

impl Results {
    /// Does what is not done yet.
    pub fn get(traces: Traces, chosen: &[&Experiment], runs: &mut Runs) -> Result<Self, String> {
        let wanted = wanted_runs(&traces, chosen);
        let bounds = wanted_bounds(&traces, chosen);
        // A result depends on the run and on what the trace is made from.
        let keys: Vec<(ReproduceBound, String)> = bounds
            .iter()
            .map(|id| (ReproduceBound { bound_of: *id }, traces.source(*id)))
            .collect();
        let values = runs.execute("offline bounds", &keys, |(bound, _)| {
            let (trace, nodes) = traces.get(bound.bound_of)?;
            Ok(offline_bound(&trace, nodes, STRETCH_BOUND))
        })?;
        let bounds = bounds.into_iter().zip(values).collect();
        let keys: Vec<(ReproduceRun, String)> = wanted
            .iter()
            .map(|run| (run.clone(), traces.source(run.trace)))
            .collect();
        let measured = runs.execute("simulations", &keys, |(run, _)| run.execute(&traces))?;
        let measured: BTreeMap<ReproduceRun, SimSummary> =
            wanted.into_iter().zip(measured).collect();
        Ok(Self {
            traces,
            bests: bests(&measured),
            measured,
            bounds,
        })
    }

    /// Average, deviation and maximum of the values of a cell. None if there are no traces, or if a run
    /// was not requested.
    pub fn spread(&self, query: &PaperCell) -> Option<SampleStatistics> {
        let traces = self.traces.of(query.set);
        let values = traces.iter().map(|trace| self.value(*trace, query));
        SampleStatistics::of(&values.collect::<Option<Vec<f64>>>()?)
    }

    /// All runs with what was measured on them.
    pub fn all(&self) -> impl Iterator<Item = (&ReproduceRun, &SimSummary, Option<f64>)> {
        self.measured
            .iter()
            .map(|(run, measured)| (run, measured, self.bounds.get(&run.trace).copied()))
    }

    fn value(&self, trace: TraceId, query: &PaperCell) -> Option<f64> {
        let run = ReproduceRun::new(trace, query.policy, query.penalty, query.period);
        let best = match query.measure {
            Measure::DegradationFromBest { penalty } => self.bests.get(&(trace, penalty)).copied(),
            _ => None,
        };
        let bound = self.bounds.get(&trace).copied();
        query.measure.of(self.measured.get(&run)?, bound, best)
    }
}

/// For each trace and penalty under which all of the IPDPS paper's algorithms were run: the smallest of
/// their largest stretches.
fn bests(measured: &BTreeMap<ReproduceRun, SimSummary>) -> BTreeMap<(TraceId, u32), f64> {
    let simulated: BTreeSet<(TraceId, u32)> = measured
        .keys()
        .flat_map(|run| [(run.trace, 0), (run.trace, run.penalty)])
        .collect();
    let best = |trace: TraceId, penalty: u32| {
        IPDPS
            .iter()
            .map(|policy| measured.get(&ReproduceRun::new(trace, policy, penalty, None)))
            .try_fold(f64::INFINITY, |best, run| {
                Some(best.min(run?.max_stretch_30s))
            })
    };
    simulated
        .into_iter()
        .filter_map(|(trace, penalty)| Some(((trace, penalty), best(trace, penalty)?)))
        .collect()
}

/// All runs of these experiments, the longest first, then trace by trace.
fn wanted_runs(traces: &Traces, chosen: &[&Experiment]) -> Vec<ReproduceRun> {
    let cells = chosen.iter().flat_map(|experiment| experiment.cells());
    let runs = cells.flat_map(|cell| {
        let traces = traces.of(cell.set).into_iter();
        traces.map(move |trace| ReproduceRun::new(trace, cell.policy, cell.penalty, cell.period))
    });
    let wanted: BTreeSet<ReproduceRun> = runs.collect();
    let mut wanted: Vec<ReproduceRun> = wanted.into_iter().collect();
    wanted.sort_by_key(|run| match run.trace {
        TraceId::Whole => (0, 0),
        TraceId::Unscaled(number) | TraceId::Scaled(number, _) => (1, number),
        TraceId::Week(week) => (2, week),
    });
    wanted
}

fn wanted_bounds(traces: &Traces, chosen: &[&Experiment]) -> Vec<TraceId> {
    let measure = Measure::DegradationFromBound;
    let wanted: BTreeSet<TraceId> = chosen
        .iter()
        .filter(|experiment| experiment.measures.contains(&measure))
        .flat_map(|experiment| experiment.sets)
        .flat_map(|set| traces.of(*set))
        .collect();
    wanted.into_iter().collect()
}
