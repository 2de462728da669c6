//! What the simulated world is like.

use clap::{Args, ValueEnum};
use dfrs_core::{Bytes, LeastYield, LoadCeiling, RunTimeHint, Span, Submission};
use dfrs_sim::trace::{NODE_CPUS, NODE_MEMORY, Trace, TraceJob, scaled};
use dfrs_sim::{
    Cost, CouplingLoss, Estimates, MobilityShares, Needs, Scheduler, SimSettings, false_limits,
    round_limits, use_less,
};

use crate::options::{OrNone, or_none, period, seconds};

/// The most swap of a node, in nodes' memory.
const MAX_SWAP: i64 = 1000;

/// Options about the world, the same for all policies.
#[derive(Args, Clone, Debug)]
pub struct SimOptions {
    /// Seconds in which a resumed or migrated job makes no progress
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    penalty: Span,
    /// Seconds between periodic remaps; left out: what the policy's name says, else 600. Not with a policy whose
    /// name says another
    #[arg(long, value_name = "SECONDS", value_parser = period)]
    period: Option<Span>,
    /// How jobs can move of which the trace does not say it: shares of the kinds checkpoint, park, restart and
    /// never, for example park=0.7,checkpoint=0.2,never=0.1; what is left to 1 is checkpoint, the papers' free moves
    #[arg(long, value_name = "KIND=SHARE,…", default_value = "checkpoint=1")]
    mobility: MobilityShares,
    /// What the kinds of jobs, and live latencies and faults, are drawn from
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// In place of the penalty for jobs that were parked: seconds (30), seconds for each GB of memory
    /// that the job has on a node, of which a whole node has 8 (2/GB), or both (30+2/GB)
    #[arg(long, value_name = "COST")]
    park_cost: Option<Cost>,
    /// In place of the penalty for jobs that were checkpointed, when they come back or migrate: as
    /// --park-cost
    #[arg(long, value_name = "COST")]
    checkpoint_cost: Option<Cost>,
    /// Swap of a node for parked jobs, as a multiple of its memory
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = swap)]
    swap: Bytes,
    /// How EASY and Conservative know how long jobs run
    #[arg(long, value_enum, default_value_t = KnownTimes::Perfect)]
    estimates: KnownTimes,
    /// What policies of DFRS that use run times (GreedyPMC) may know of them
    #[arg(long, value_enum, default_value_t = RunTimeHintArg::None)]
    run_time_hint: RunTimeHintArg,
    /// The least yield that policies of DFRS that have one (GreedyPMC) give jobs on several nodes,
    /// from 0.01 to 1, or none
    #[arg(long, value_name = "YIELD", default_value = "none", value_parser = or_none::<LeastYield>)]
    parallel_least_yield: OrNone<LeastYield>,
    /// The highest load that policies of DFRS give a node, in percent of its CPUs, or none: with 200% its jobs never
    /// need more than twice what it has
    #[arg(long, value_name = "PERCENT", default_value = "none", value_parser = or_none::<LoadCeiling>)]
    load_ceiling: OrNone<LoadCeiling>,
    /// Give each job without a time limit one as users do: its run time times a number from 1 to 5, drawn
    /// by --seed, and then the next of 15 minutes, 1 hour, 4 hours, 1 day and 1 week. For --estimates user
    /// and --run-time-hint
    #[arg(long)]
    round_limits: bool,
    /// Let such a share of the jobs, drawn by --seed, ask for a day whatever they need: limits that lie
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    false_limits: f64,
    /// Let jobs use less CPU than they asked for: in each of one to four phases a part between this and all,
    /// drawn by --seed. Decisions do not know it, unless --needs measured
    #[arg(long, value_name = "SHARE", default_value = "1", value_parser = hundredths)]
    least_use: u8,
    /// What CPU jobs count with in decisions of DFRS: what they asked for, or what they were seen to use, with
    /// headroom
    #[arg(long, value_enum, default_value_t = CountedNeeds::Requested)]
    needs: CountedNeeds,
    /// Let jobs on n nodes at yield y take 1 + LOSS (1 - y) log2 n times as long as the yield explains, as programs do whose
    /// tasks wait for each other: 2 was measured for steps of 1 ms, 0.2 for steps of 10 ms. Between powers of two
    /// log2 is linear here. Decisions do not know it
    #[arg(long, value_name = "LOSS", default_value = "0", value_parser = coupling_loss)]
    coupling_loss: CouplingLoss,
    /// CPUs of a node, for the batch schedulers that share nodes (EASY/shared and the like): a task has as
    /// many whole ones as its CPU need is. In a dump of sacct --cpus-per-node says it
    #[arg(long, value_name = "NUMBER", default_value_t = NODE_CPUS, conflicts_with = "cpus_per_node", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    node_cpus: u32,
    /// How many seconds a turn takes under EASY/gang2 and the like
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = period)]
    time_slice: Span,
    /// Leave equal jobs where they are in remaps, as the plugin does and the papers do not
    #[arg(long)]
    keep_equal_jobs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KnownTimes {
    /// Exactly
    Perfect,
    /// From their users: the requested time of SWF (field 9), the limit of CSV, the time limit in a dump of
    /// sacct; exactly where it is unknown
    User,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CountedNeeds {
    /// What they asked for
    Requested,
    /// What they were seen to use, with headroom
    Measured,
}

/// What is known of run times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunTimeHintArg {
    /// Nothing
    None,
    /// Which jobs are long, by the time limits of their users, as far as such limits have been true
    Limits,
}

impl From<RunTimeHintArg> for RunTimeHint {
    fn from(hint: RunTimeHintArg) -> Self {
        match hint {
            RunTimeHintArg::None => Self::Nothing,
            RunTimeHintArg::Limits => Self::Limits,
        }
    }
}

impl SimOptions {
    /// Time between remaps; none: the policies' own.
    pub fn period(&self) -> Option<Span> {
        self.period
    }

    /// The settings for so many nodes.
    pub fn settings(&self, nodes: u32) -> SimSettings {
        SimSettings {
            penalty: self.penalty,
            period: self.period,
            park_cost: self.park_cost,
            checkpoint_cost: self.checkpoint_cost,
            swap: self.swap,
            estimates: match self.estimates {
                KnownTimes::Perfect => Estimates::Perfect,
                KnownTimes::User => Estimates::User,
            },
            keep_equal_jobs: self.keep_equal_jobs,
            time_slice: self.time_slice,
            run_time_hint: self.run_time_hint.into(),
            parallel_least_yield: self.parallel_least_yield.0,
            load_ceiling: self.load_ceiling.0,
            needs: match self.needs {
                CountedNeeds::Requested => Needs::Requested,
                CountedNeeds::Measured => Needs::Measured,
            },
            coupling_loss: self.coupling_loss,
            ..SimSettings::new(nodes)
        }
    }

    /// The options without those that make no difference to this scheduler: two worlds that are
    /// equal then have the same schedules.
    pub fn relevant_to(&self, scheduler: &Scheduler) -> Self {
        let policy = match scheduler {
            Scheduler::Batch(_) => return self.for_batch(),
            Scheduler::Dfrs(policy) => policy,
        };
        let (run_time_hint, parallel_least_yield) = match policy.submission {
            Submission::LeastCostPreemption => (self.run_time_hint, self.parallel_least_yield),
            _ => (RunTimeHintArg::None, OrNone(None)),
        };
        let asks_users = run_time_hint != RunTimeHintArg::None || policy.reserves();
        Self {
            estimates: KnownTimes::Perfect,
            run_time_hint,
            parallel_least_yield,
            round_limits: self.round_limits && asks_users,
            false_limits: if asks_users { self.false_limits } else { 0.0 },
            time_slice: Span::ZERO,
            // A job that uses all of its request needs all of it.
            needs: if self.least_use == 100 {
                CountedNeeds::Requested
            } else {
                self.needs
            },
            ..self.clone()
        }
    }

    fn for_batch(&self) -> Self {
        let asks_users = self.estimates == KnownTimes::User;
        Self {
            penalty: Span::ZERO,
            period: None,
            mobility: MobilityShares::default(),
            seed: if asks_users { self.seed } else { 0 },
            park_cost: None,
            checkpoint_cost: None,
            swap: Bytes::ZERO,
            estimates: self.estimates,
            run_time_hint: RunTimeHintArg::None,
            parallel_least_yield: OrNone(None),
            load_ceiling: OrNone(None),
            round_limits: self.round_limits && asks_users,
            false_limits: if asks_users { self.false_limits } else { 0.0 },
            node_cpus: self.node_cpus,
            time_slice: self.time_slice,
            keep_equal_jobs: false,
            // A job that has its CPUs for itself is as fast, whatever it uses of them.
            least_use: 100,
            needs: CountedNeeds::Requested,
            // A job of a batch scheduler does not wait for CPU either, or for turns that are not
            // those of its other tasks.
            coupling_loss: CouplingLoss::NONE,
        }
    }

    /// What users should know about the estimates of the trace, and about options that have no
    /// effect.
    pub fn notes(&self, file: &str, trace: &Trace) -> String {
        if let Some(option) = self.unused_limit_option() {
            return format!(
                "{file}: note: of all schedulers only the policy default asks for time limits here, so {option} changes no other schedule; see --run-time-hint limits and --estimates user\n"
            );
        }
        let knows_none = trace.jobs.iter().all(|job| job.estimate.is_none());
        if self.run_time_hint == RunTimeHintArg::Limits && knows_none {
            return format!(
                "{file}: note: no job has a time limit, so --run-time-hint limits says nothing; see --round-limits\n"
            );
        }
        if self.estimates == KnownTimes::Perfect {
            return String::new();
        }
        let jobs = &trace.jobs;
        let unknown = jobs.iter().filter(|job| job.estimate.is_none()).count();
        let exceeded =
            |job: &&TraceJob| job.estimate.is_some_and(|estimate| estimate < job.runtime);
        let exceeded = jobs.iter().filter(exceeded).count();
        let mut notes = String::new();
        if unknown > 0 {
            notes += &format!(
                "{file}: note: jobs without an estimate, whose run times are taken as known: {unknown} of {}\n",
                jobs.len()
            );
        }
        if exceeded > 0 {
            notes += &format!(
                "{file}: note: jobs that ran longer than estimated, and are not stopped: {exceeded} of {}\n",
                jobs.len()
            );
        }
        notes
    }

    /// An option about limits that makes no difference but to the policies that always know them.
    fn unused_limit_option(&self) -> Option<&'static str> {
        let limits_unused =
            self.run_time_hint == RunTimeHintArg::None && self.estimates == KnownTimes::Perfect;
        let given = [
            ("--false-limits", self.false_limits > 0.0),
            ("--round-limits", self.round_limits),
        ];
        let found = given
            .iter()
            .find(|(_, is_given)| limits_unused && *is_given);
        found.map(|(option, _)| *option)
    }

    /// Whether jobs use less than they requested.
    pub fn uses_less(&self) -> bool {
        self.least_use < 100
    }

    /// Whether jobs on several nodes take longer than their yields explain.
    pub fn loses_by_coupling(&self) -> bool {
        !self.coupling_loss.is_none()
    }

    /// What is drawn follows from it.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// CPUs of a node where the trace does not say.
    pub fn node_cpus(&self) -> u32 {
        self.node_cpus
    }

    /// Draws what the jobs of the trace can do, and limits for those that have none if they are to have some.
    pub fn draw(&self, trace: &mut Trace) {
        if self.round_limits {
            round_limits(self.seed, trace);
        }
        if self.false_limits > 0.0 {
            false_limits(self.seed, self.false_limits, trace);
        }
        use_less(self.seed, self.least_use, trace);
        self.mobility.draw(self.seed, trace);
    }
}

/// A share.
fn share(text: &str) -> Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "allowed: a number from 0 to 1".into())
}

/// A share in hundredths, above 0.
fn hundredths(text: &str) -> Result<u8, String> {
    scaled(text.as_bytes(), 2)
        .and_then(|hundredths| u8::try_from(hundredths).ok())
        .filter(|hundredths| (1..=100).contains(hundredths))
        .ok_or_else(|| "allowed: a number from 0.01 to 1".into())
}

/// The most that a coupling loss may be.
const MAX_LOSS: u32 = 100;

fn coupling_loss(text: &str) -> Result<CouplingLoss, String> {
    scaled(text.as_bytes(), 2)
        .and_then(|hundredths| u32::try_from(hundredths).ok())
        .filter(|hundredths| *hundredths <= MAX_LOSS * 100)
        .map(CouplingLoss::from_hundredths)
        .ok_or_else(|| format!("allowed: a number from 0 to {MAX_LOSS}"))
}

/// A multiple of a node's memory.
pub fn swap(text: &str) -> Result<Bytes, String> {
    // A node's memory has 10^12 parts.
    scaled(text.as_bytes(), 6)
        .filter(|millionths| (0..=MAX_SWAP * 1_000_000).contains(millionths))
        .and_then(|millionths| u64::try_from(millionths).ok())
        .map(|millionths| Bytes(millionths * (NODE_MEMORY.0 / 1_000_000)))
        .ok_or_else(|| format!("allowed: a multiple of a node's memory, from 0 to {MAX_SWAP}"))
}
