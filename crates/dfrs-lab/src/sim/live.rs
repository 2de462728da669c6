//! `--live`: the trace through the plugin's own agent, against the model of slurmctld and its nodes.

mod cluster;
mod faults;
mod journal;
mod latencies;

use std::time::{Duration, Instant};

use clap::Args;
use dfrs_core::{Policy, Span, Time};
use dfrs_sim::trace::Trace;
use dfrs_sim::{JobRecord, OnJobEnd, SimOutcome, SimSettings, SimulationError, Sink};
use dfrs_testbed::model::ClusterModel;
use dfrs_testbed::model::acts::Act;
use dfrs_testbed::simulation::{Driver, Journaling};

use super::files::SimFailure;
use cluster::LiveCluster;
use faults::Faults;
use journal::Translator;
use latencies::Latencies;

/// A simulation in which no job ends for so many times the longest run time, and two days, has come to
/// a halt.
const STUCK_AFTER_RUN_TIMES: i64 = 100;
/// So long after the last job has ended, all that it left is cleaned up.
const CLEANUP_TIME: Span = Span::from_seconds(600);

/// Options about the live simulation.
#[derive(Args, Clone, Debug)]
pub struct LiveOptions {
    /// Run each policy of DFRS also as the plugin would: its own code against a model of slurmctld
    /// and nodes, in which everything takes its time. The files that are written are of that run
    #[arg(long)]
    pub live: bool,
    /// A line of dfrs.conf for the live simulation, for example SettleTime=5; may be given many times
    #[arg(long, value_name = "KEY=VALUE", requires = "live")]
    live_conf: Vec<String>,
    /// Seconds that things take live: launch (prolog included), call (into slurmctld), message (to
    /// slurmd), orders (to dfrsd), probe (of what dfrsd says), kill (until the epilog is over), requeue
    #[arg(
        long,
        value_name = "NAME=SECONDS,…",
        default_value = "",
        requires = "live"
    )]
    latency: Latencies,
    /// How fast a node moves parked jobs to swap, in GB/s; a whole node has 8 GB
    #[arg(long, value_name = "GB/S", default_value = "0.5", requires = "live")]
    swap_speed: f64,
    /// How often what goes wrong while jobs are submitted, at moments that follow from --seed: fail
    /// (a node is without power for ten minutes), hang (it does not answer for five), slow (it
    /// takes ten times as long for everything, for ten), kill (slurmctld is killed, and back after 20 s)
    #[arg(
        long,
        value_name = "KIND=COUNT,…",
        default_value = "",
        requires = "live"
    )]
    faults: Faults,
}

/// All that a live simulation depends on beside the trace.
#[derive(Debug)]
pub struct LiveSimulation<'a> {
    options: &'a LiveOptions,
    seed: u64,
}

impl LiveOptions {
    /// With what latencies and faults are drawn from.
    pub fn with_seed(&self, seed: u64) -> LiveSimulation<'_> {
        LiveSimulation {
            options: self,
            seed,
        }
    }
}

/// The names and values of a list such as `launch=2,kill=1`.
fn named_values(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = text.split(',').filter(|part| !part.trim().is_empty());
    let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    pairs.map(|(name, value)| (name.trim(), value.trim()))
}

/// Simulates one policy. The sink gets the events of the plugin's journal, with the trace's names.
///
/// # Errors
///
/// One line.
pub fn simulate(
    live: &LiveSimulation,
    trace: &Trace,
    policy: &Policy,
    settings: &SimSettings,
    mut sink: Option<Sink>,
    ended: OnJobEnd,
) -> Result<SimOutcome, SimFailure> {
    let options = live.options;
    let cluster = LiveCluster::new(trace, settings, options.swap_speed)?;
    let conf = cluster.conf(policy, &options.live_conf)?;
    let mut timing = options.latency.settings();
    timing.jitter = Some(live.seed);
    let model: ClusterModel = cluster.model(timing, !options.faults.kill_slurmctld());
    let mut acts = cluster.submissions(trace, policy);
    acts.extend(
        options
            .faults
            .draw(live.seed, trace, settings.nodes, &cluster),
    );
    acts.sort_by_key(|(at, _)| *at);
    let mut run = LiveRun {
        driver: Driver::new(model, &conf, Journaling::On),
        translator: Translator::new(trace, cluster.trace_zero()),
        times: Vec::new(),
        open: trace.jobs.len(),
        submitted: 0,
    };
    run.driver.look_at_changes_only();
    for (at, act) in &acts {
        run.until(*at, &mut sink, ended)?;
        run.submitted += usize::from(matches!(act, Act::Submit(_)));
        run.driver.act(act);
    }
    run.finish(trace, policy, &mut sink, ended)?;
    Ok(run.outcome(trace))
}

struct LiveRun<'a> {
    driver: Driver,
    translator: Translator<'a>,
    /// Of each pass.
    times: Vec<Duration>,
    /// Jobs that have not ended.
    open: usize,
    submitted: usize,
}

impl LiveRun<'_> {
    fn until(
        &mut self,
        until: Time,
        sink: &mut Option<Sink>,
        ended: OnJobEnd,
    ) -> Result<(), SimFailure> {
        while !self.step(until, sink, ended)? {}
        Ok(())
    }

    fn step(
        &mut self,
        until: Time,
        sink: &mut Option<Sink>,
        ended: OnJobEnd,
    ) -> Result<bool, SimFailure> {
        let (passes, before) = (self.driver.passes(), Instant::now());
        let reached = self.driver.step(until);
        if self.driver.passes() > passes {
            self.times.push(before.elapsed());
            let model = self.driver.model();
            for (_, event) in self.driver.take_journal() {
                let event = self.translator.translate(event, &model.borrow());
                if let (Some(sink), Some(event)) = (sink.as_mut(), event) {
                    sink(&event).map_err(SimulationError::from)?;
                }
            }
        }
        let mut model = self.driver.model().borrow_mut();
        model.take_history();
        model.take_lines();
        let not_submitted = self.translator.jobs() - self.submitted;
        let open = model.open() + not_submitted;
        for _ in open..self.open {
            ended();
        }
        self.open = open;
        Ok(reached)
    }

    /// Until everything has ended and nothing of it is left.
    fn finish(
        &mut self,
        trace: &Trace,
        policy: &Policy,
        sink: &mut Option<Sink>,
        ended: OnJobEnd,
    ) -> Result<(), SimFailure> {
        let longest = trace.jobs.iter().map(|job| job.runtime.0).max();
        let stuck_after = STUCK_AFTER_RUN_TIMES * longest.unwrap_or(0) + 2 * 86_400_000_000;
        while self.open > 0 {
            let (open, now) = (self.open, self.now());
            let end = Time(now.0 + stuck_after);
            while self.open == open && !self.step(end, sink, ended)? {}
            if self.open == open {
                return Err(SimFailure::Simulation(SimulationError::Stuck {
                    id: self.translator.first_open(&self.driver.model().borrow()),
                    now: self.translator.time(self.now()),
                    scheduler: format!("{policy} live"),
                }));
            }
        }
        let end = Time(self.now().0 + CLEANUP_TIME.0);
        self.until(end, sink, ended)
    }

    fn now(&self) -> Time {
        self.driver.model().borrow().now()
    }

    fn outcome(self, trace: &Trace) -> SimOutcome {
        let model = self.driver.model().borrow();
        let mut outcome = SimOutcome::default();
        for time in &self.times {
            outcome.decisions.add(*time);
        }
        let records = trace.jobs.iter().enumerate();
        outcome.jobs = records
            .map(|(index, job)| {
                let program = &model.programs()[&cluster::label(index)];
                let counts = self.translator.counts(index);
                let at = |time: Option<i64>| self.translator.time(Time(time.unwrap_or(0)));
                JobRecord {
                    start: at(program.first_launch_us).max(job.submit),
                    finish: at(program.over_at_us),
                    pauses: counts.pauses,
                    migrations: counts.migrations,
                    migrated_tasks: counts.migrated_tasks,
                    stalled: Span((counts.allocated().0 - program.worked.0).max(0)),
                    ..JobRecord::default()
                }
            })
            .collect();
        outcome
    }
}
